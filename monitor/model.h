// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the monitor knows: one mon_process for each instance that a source told
// of, built from records and nothing else. No clock and no I/O: `now` is the
// time of the newest row, so live and replayed records give the same model.

#ifndef MON_MODEL_H
#define MON_MODEL_H

#include "../analysis/derived.h"
#include "../analysis/watch.h"
#include "../libtelemetry/base.h"
#include "../libtelemetry/source.h"

#define MON_LOG_MAX	   256
#define MON_PHASES_MAX	   64
#define MON_CANDIDATES_MAX 512
#define MON_HISTORY_FULL   2048 // rows kept of a process whose history is wanted
#define MON_HISTORY_SHORT  24	// and of one of which only the latest is
#define MON_HISTORY_MIN	   8

// Rates are taken over the rows of this time.
#define MON_RATE_WINDOW_NS UINT64_C(20000000000)

struct mon_row {
	uint64_t seq;
	uint64_t at_ns; // monotonic
	uint32_t n_fields;
	bool is_after_gap; // records before it are missing
	uint64_t *values;  // shared by models, and never changed
};

// What the census held at a moment; TELE_UNKNOWN where it does not say.
struct mon_holdings {
	uint64_t pools, pool_bytes;
	uint64_t contexts, modules; // differences, as two's complement
};

// A candidate of the search, as its events told it.
struct mon_candidate {
	uint64_t handle;
	uint64_t number;		 // how many were attempted with it; TELE_UNKNOWN
	uint64_t begin_at_ns, end_at_ns; // TELE_UNKNOWN when not seen
	uint64_t begin_seq, end_seq;	 // of the rows at these boundaries; or 0
	unsigned outcome;		 // enum tele_outcome
	unsigned phase;			 // number of the phase, from 1; 0: none was seen
	bool is_shared;			 // others were open meanwhile: who left what is unknown
	// At its begin and end, and the least of what was held up to the begin of
	// the next: some programs clear up behind the end.
	struct mon_holdings at_begin, at_end, least_after;
	char label[256];
};

// A phase of the search. Number n stands at n % MAX.
struct mon_phase {
	uint64_t at_ns;
	char name[64];
};

// Something worth a line in the log. Candidates are not: they have their own.
struct mon_log_entry {
	uint64_t at_ns;
	uint64_t subject, value;
	uint64_t candidate; // how many were attempted by then; TELE_UNKNOWN
	uint32_t type;	    // enum tele_event_type
	uint32_t n_joined;  // more of the kind, of which this is the last
	char text[256];
};

enum mon_mark {
	MON_MARK_NONE,
	MON_MARK_GROWING,
	MON_MARK_QUIET,	 // flat, bounded, one step, draining
	MON_MARK_UNKNOWN // not enough data
};

// Points of a course, oldest first, evenly spaced as far as rows allow.
#define MON_TREND_POINTS 20

struct mon_trend {
	struct mon_trend_point {
		uint64_t at_ns, bytes;
	} points[MON_TREND_POINTS];
	uint32_t n;
	uint64_t spacing_ns;
};

// A line on the process screen: one class, or all that is not known yet.
struct mon_verdict {
	enum mon_mark mark;
	enum analysis_shape shape;
	bool is_effect; // of what the program holds: heap, residual, RSS
	char text[ANALYSIS_SENTENCE_MAX];
};

struct mon_process {
	struct tele_identity identity;
	const struct tele_instance *instance; // the source's: schema, strings
	enum tele_state state;
	uint64_t lost;	    // records known to be missing
	bool is_superseded; // replaced, and a newer segment has its identity
	bool has_evidence;  // candidates or census records were seen
	uint64_t n_rows;    // rows seen
	uint64_t next_seq;  // records before it were taken in
	bool is_settled;    // what mon_model_settle fills is up to date

	// Rows in order of seq, thinned towards the past: the recent half is
	// exact. history[n_history - 1] is the latest. Where history_max is below
	// MON_HISTORY_FULL, only processes with a search or a census have more
	// than that one.
	struct mon_row *history;
	uint32_t n_history, history_max, history_capacity;

	struct mon_trend trend; // of mon_process_course_bytes

	struct mon_candidate *candidates; // a ring: number n stands at n % MAX
	uint64_t n_candidates;		  // ever seen
	struct mon_log_entry *log;	  // the same
	uint64_t n_log;
	struct mon_phase *phases; // the same; the last is the present one
	uint64_t n_phases;
	uint64_t boundary_seq, boundary_candidate; // the row of an event, and whose
	bool boundary_is_end;
	uint64_t after_candidate; // number + 1 of the one that ended last; 0: another began
	bool is_after_gap;  // the next row is
	uint64_t n_gaps;
	uint64_t grown[ANALYSIS_CLASSES_MAX / 64]; // classes that the log last said grow

	struct analysis_watch *watch; // owned; NULL in a copy and of an observer
	uint64_t told[ANALYSIS_CLASSES_MAX / 64]; // classes that --on was run for

	// Filled by mon_model_settle, from the latest row:
	struct analysis_derived derived;
	uint32_t n_broken; // invariants that the latest row breaks
	struct analysis_broken broken[4];
	struct analysis_verdict *judged; // owned; ranked; NULL in a copy
	uint32_t n_judged;
	uint64_t judged_at_ns;
	// Owned; growing ones first. Only of processes with MON_HISTORY_FULL.
	struct mon_verdict *verdicts;
	uint32_t n_verdicts;
	enum mon_mark mark; // of the phrase
	char phrase[160];   // the verdict in a few words, for the overview
	char phrase_more[48]; // goes on after it, where there is room: ", full in ~6"
	double growth;	    // of the first class, in the window; 0 unless it grows
};

// A segment that could not be read.
struct mon_unreadable {
	char path[512];
	char why[256];
};

struct mon_model {
	struct mon_process **processes; // in order of appearance
	uint32_t n_processes, capacity;
	struct mon_unreadable *unreadable;
	uint32_t n_unreadable, unreadable_capacity;
	uint64_t now_ns;	     // monotonic time of the newest row
	uint64_t realtime_offset_ns; // of that row; TELE_UNKNOWN
	uint64_t n_changes;	     // grows whenever something could look different
	uint32_t history_max;	     // of processes to come
	enum analysis_look look;     // how verdicts are asked for; LIVE
	struct analysis_limits limits; // none
};

// history_max: rows kept of each process.
void mon_model_init(struct mon_model *model, uint32_t history_max);
void mon_model_fini(struct mon_model *model);

// Forgets everything but history_max, look and limits, which are the caller's
// to set after init: before a source starts over.
void mon_model_clear(struct mon_model *model);

// Makes *ret_copy (not initialised) a model of its own with the same content,
// for a screen that stands still while the other goes on. Returns 0 or -ENOMEM,
// with nothing to fini.
int mon_model_copy(const struct mon_model *model, struct mon_model *ret_copy);

// The same for a model that goes on from there by itself: watches are copied,
// too. Rows are shared, which is most of it.
int mon_model_fork(const struct mon_model *model, struct mon_model *ret_copy);

// Shares a row's values with another row; drops them when the last lets go.
void mon_row_hold(const struct mon_row *row);
void mon_row_drop(struct mon_row *row);

// Takes one record in. An INSTANCE record of an instance that is known starts
// it over. Copies what it keeps, except the instance itself, which has to stay
// until the model is cleared or mon_model_forget. Returns 0 or -ENOMEM.
int mon_model_apply(struct mon_model *model, const struct tele_record *record);

// What a record said beside itself when it was new: for records that are told
// again, whose instance has moved on meanwhile.
struct mon_told {
	const char *text; // of an event; NULL for none
	enum tele_state state;
	uint64_t lost;
};

int mon_model_apply_told(struct mon_model *model, const struct tele_record *record,
			 const struct mon_told *told);

// Keeps MON_HISTORY_FULL rows of this process from now on. Returns 0 or -ENOMEM.
int mon_model_want_history(struct mon_model *model, uint64_t instance_id);

// Brings what follows from the rows up to date (derived, broken, has_evidence,
// verdicts, is_superseded): once after a batch of records, before views.
void mon_model_settle(struct mon_model *model);

// Drops a process whose instance goes away. An unknown id is ignored.
void mon_model_forget(struct mon_model *model, uint64_t instance_id);

// The list of unreadable segments, as it is now.
void mon_model_clear_unreadable(struct mon_model *model);
int mon_model_add_unreadable(struct mon_model *model, const char *path, const char *why);

struct mon_process *mon_model_find(const struct mon_model *model, uint64_t instance_id);

// How well an identity matches PID or LABEL text: 0 not at all; more is better:
// a part of the label, label or name, pid.
unsigned mon_identity_match(const struct tele_identity *identity, const char *text);

// The process that PID or LABEL text means: the best match, alive before dead,
// newest first. NULL when none matches.
struct mon_process *mon_model_select(const struct mon_model *model, const char *text);

// A class as screens call it: "working_pools" is "working pools". Returns buffer.
const char *mon_class_text(const char *name, char *buffer, size_t size);

// Asks the watch anew and puts its answer in words. Part of settling.
void mon_process_judge(struct mon_process *process);
void mon_process_forget_verdicts(struct mon_process *process);

// Whether a list shows it: not when it is superseded and holds no evidence, or
// is no process.
bool mon_process_is_listed(const struct mon_process *process);

// The latest row, or NULL before the first.
const struct mon_row *mon_process_latest(const struct mon_process *process);

// A field of the latest row; TELE_UNKNOWN when it is not there. The first is for
// sections that exist once, the other for instances.
uint64_t mon_process_field(const struct mon_process *process, enum tele_field_id id);
uint64_t mon_process_value(const struct mon_process *process, enum tele_field_id id,
			   uint32_t instance);

// The text of a field of unit STRING, raw: clean it. NULL when unknown.
const char *mon_process_string(const struct mon_process *process, enum tele_field_id id,
			       uint32_t instance);

// What the trend in the list is of: bytes of live pools, without a census what
// is resident. TELE_UNKNOWN where the row has neither.
uint64_t mon_process_course_bytes(const struct mon_process *process, const struct mon_row *row);

void mon_trend_take(struct mon_trend *trend, uint64_t at_ns, uint64_t bytes);

// The value at a time: that of the last point not after it. Not for an empty one.
uint64_t mon_trend_at(const struct mon_trend *trend, uint64_t at_ns);

// Growth of a counter a second over the last MON_RATE_WINDOW_NS of rows; -1
// when it cannot be told.
double mon_process_rate(const struct mon_process *process, enum tele_field_id id,
			uint32_t instance);

// The instance numbers of a section in the process's latest row: fills at most
// `capacity` and returns how many there are.
uint32_t mon_process_instances(const struct mon_process *process, enum tele_section section,
			       uint32_t *ret_instances, uint32_t capacity);

// The newest candidate that is open, else the newest; NULL when none was seen.
const struct mon_candidate *mon_process_candidate(const struct mon_process *process);

// Candidate n of those ever seen, from 0; NULL for one that was forgotten.
const struct mon_candidate *mon_process_candidate_at(const struct mon_process *process, uint64_t n);

// What a candidate left behind: held at its end, less what was given back right
// behind it, less what was held at its begin. Of one that is open, so far.
// Unknown where a figure is missing or others were open meanwhile.
struct mon_left {
	struct analysis_signed pools, pool_bytes, contexts, modules;
};
void mon_candidate_left(const struct mon_process *process, const struct mon_candidate *candidate,
			struct mon_left *ret_left);

// Phase n, from 1; NULL for one that was forgotten or never was.
const struct mon_phase *mon_process_phase_at(const struct mon_process *process, uint64_t n);

// Counts by final outcome: `timed` without `kept`, OPEN for those begun and not
// ended. TELE_UNKNOWN before the first candidate.
uint64_t mon_process_outcomes(const struct mon_process *process, unsigned outcome);

// The phase, raw; NULL when there is none.
const char *mon_process_phase(const struct mon_process *process);

#endif
