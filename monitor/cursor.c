// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Moving through a source. One record is held back at most: the first that lies
// beyond the point that was asked for. Going back is going forward from an
// earlier point, so that a screen never depends on the way that led to it.

#include "cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/trace.h"
#include "past.h"
#include "progress.h"

#include "../libtelemetry/banned.h"

void mon_cursor_init(struct mon_cursor *cursor, struct tele_source *source, struct mon_model *model)
{
	*cursor = (struct mon_cursor){
		.source = source, .model = model, .position = {.first_at_ns = TELE_UNKNOWN}};
}

// 1 with a pending record, 0 at the end, or an error.
static int fetch(struct mon_cursor *cursor, struct tele_error *ret_error)
{
	struct tele_record *record = &cursor->pending;
	int got;
	if (cursor->has_pending)
		return 1;
	if (cursor->past) {
		got = mon_past_next(cursor->past, record, &cursor->told);
		if (got < 0)
			tele_fail(ret_error, got, "out of memory");
	} else {
		got = tele_source_next(cursor->source, record, ret_error);
	}
	cursor->has_pending = got == 1;
	cursor->is_ended = got == 0;
	if (got != 1 || cursor->past)
		return got;
	cursor->told = (struct mon_told){.state = record->instance->state, .lost = record->instance->lost};
	if (record->kind == TELE_RECORD_EVENT && record->event.string_id)
		cursor->told.text = tele_instance_string(record->instance, record->event.string_id);
	return 1;
}

// Time of the pending record; 0 for one that has none.
static uint64_t pending_at_ns(const struct mon_cursor *cursor)
{
	const struct tele_record *record = &cursor->pending;
	if (record->kind == TELE_RECORD_ROW)
		return record->n_fields && record->row[0] != TELE_UNKNOWN ? record->row[0] : 0;
	return record->kind == TELE_RECORD_EVENT ? record->event.at_ns : 0;
}

static int apply(struct mon_cursor *cursor, struct tele_error *ret_error)
{
	struct mon_position *position = &cursor->position;
	uint64_t at_ns = pending_at_ns(cursor);
	if (at_ns && position->first_at_ns == TELE_UNKNOWN)
		position->first_at_ns = at_ns;
	position->last_at_ns = tele_max_u64(position->last_at_ns, at_ns);
	position->is_on_row = cursor->pending.kind == TELE_RECORD_ROW;
	position->n_rows += position->is_on_row;
	position->n_records++;
	cursor->has_pending = false;
	mon_progress_step(cursor->progress, cursor);
	int failed = mon_model_apply_told(cursor->model, &cursor->pending, &cursor->told);
	if (!failed && cursor->past)
		failed = mon_past_applied(cursor->past, cursor);
	return failed ? tele_fail(ret_error, failed, "out of memory") : 0;
}

// ---- Targets ------------------------------------------------------------------

static bool is_meant(const struct mon_target *target, const struct mon_process *process)
{
	if (target->instance_id)
		return process->identity.instance_id == target->instance_id;
	return !target->select || mon_identity_match(&process->identity, target->select) > 0;
}

uint64_t mon_process_ended(const struct mon_process *process)
{
	uint64_t attempted = mon_process_field(process, TELE_ID_search_candidates_attempted);
	uint64_t n_open = mon_process_field(process, TELE_ID_search_open_candidates);
	if (attempted == TELE_UNKNOWN)
		return TELE_UNKNOWN;
	return n_open == TELE_UNKNOWN || n_open > attempted ? attempted : attempted - n_open;
}

static uint64_t count_of(const struct mon_process *process, enum mon_target_kind kind)
{
	switch (kind) {
	case MON_TARGET_ROW:
		return process->n_rows;
	case MON_TARGET_CANDIDATE:
		return mon_process_ended(process);
	case MON_TARGET_PHASE:
		return process->n_phases;
	case MON_TARGET_LOG:
		return process->n_log;
	default:
		return TELE_UNKNOWN;
	}
}

uint64_t mon_target_count(const struct mon_target *target, const struct mon_model *model,
			  const struct mon_position *position)
{
	uint64_t most = TELE_UNKNOWN;
	if (target->kind == MON_TARGET_ROW && !target->instance_id && !target->select)
		return position->n_rows;
	for (uint32_t i = 0; i < model->n_processes; i++) {
		uint64_t n = is_meant(target, model->processes[i])
				     ? count_of(model->processes[i], target->kind)
				     : TELE_UNKNOWN;
		if (n != TELE_UNKNOWN && (most == TELE_UNKNOWN || n > most))
			most = n;
	}
	return most;
}

bool mon_target_is_passed(const struct mon_target *target, const struct mon_model *model,
			  const struct mon_position *position)
{
	if (target->kind == MON_TARGET_END)
		return false;
	if (target->kind == MON_TARGET_TIME)
		return position->last_at_ns > target->value;
	uint64_t n = mon_target_count(target, model, position);
	if (n == TELE_UNKNOWN)
		return false;
	if (target->kind == MON_TARGET_ROW && position->is_on_row)
		return n > target->value;
	return n >= target->value;
}

// Whether the cursor, which had not passed the target, is there. With a record
// pending, for a time.
static bool is_reached(const struct mon_cursor *cursor, const struct mon_target *target)
{
	if (target->kind == MON_TARGET_END)
		return false;
	if (target->kind == MON_TARGET_TIME)
		return pending_at_ns(cursor) > target->value;
	// Candidates are told by rows, and a phase or an event is shown by the row
	// that follows.
	if (!cursor->position.is_on_row)
		return false;
	uint64_t n = mon_target_count(target, cursor->model, &cursor->position);
	return n != TELE_UNKNOWN && n >= target->value;
}

static int start_over(struct mon_cursor *cursor, struct tele_error *ret_error)
{
	int failed = tele_trace_seek(cursor->source, 0, ret_error);
	if (failed < 0)
		return failed;
	mon_model_clear(cursor->model);
	struct mon_progress *progress = cursor->progress;
	mon_cursor_init(cursor, cursor->source, cursor->model);
	cursor->progress = progress;
	return 0;
}

int mon_cursor_go(struct mon_cursor *cursor, const struct mon_target *target,
		  struct tele_error *ret_error)
{
	bool is_passed = mon_target_is_passed(target, cursor->model, &cursor->position);
	if (cursor->past && mon_past_leap(cursor->past, cursor, target, is_passed))
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	if (is_passed && !cursor->past) {
		int failed = start_over(cursor, ret_error);
		if (failed)
			return failed;
	}
	for (;;) {
		if (target->kind != MON_TARGET_TIME && is_reached(cursor, target))
			return 1;
		int got = fetch(cursor, ret_error);
		if (got != 1)
			return got;
		if (target->kind == MON_TARGET_TIME && is_reached(cursor, target))
			return 1;
		got = apply(cursor, ret_error);
		if (got)
			return got;
	}
}

int mon_cursor_to_point(struct mon_cursor *cursor, const struct mon_at *at, struct mon_target target,
			struct tele_error *ret_error)
{
	target.kind = at->is_candidate ? MON_TARGET_CANDIDATE : MON_TARGET_TIME;
	target.value = at->candidate;
	if (at->is_candidate)
		return mon_cursor_go(cursor, &target, ret_error);
	// The first record with a time says where time starts.
	while (cursor->position.first_at_ns == TELE_UNKNOWN) {
		int got = fetch(cursor, ret_error);
		if (got == 1)
			got = apply(cursor, ret_error) ? -ENOMEM : 1;
		if (got != 1)
			return got;
	}
	if (__builtin_add_overflow(cursor->position.first_at_ns, at->offset_ns, &target.value))
		target.value = UINT64_MAX;
	return mon_cursor_go(cursor, &target, ret_error);
}

// ---- Points -------------------------------------------------------------------

// Digits from *text on; false when there are none or too many.
static bool parse_number(const char **text, uint64_t *ret_number)
{
	uint64_t number = 0;
	const char *at = *text;
	if (*at < '0' || *at > '9' || strspn(at, "0123456789") > 15)
		return false;
	for (; *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	*text = at;
	*ret_number = number;
	return true;
}

// What follows a decimal point, in ns.
static uint64_t parse_fraction(const char **text)
{
	uint64_t fraction_ns = 0, digit_ns = 100000000;
	for (; **text >= '0' && **text <= '9'; (*text)++, digit_ns /= 10)
		fraction_ns += (uint64_t)(**text - '0') * digit_ns;
	return fraction_ns;
}

int mon_at_parse(const char *text, struct mon_at *ret_at, struct tele_error *ret_error)
{
	struct mon_at at = {0};
	const char *rest = text[0] == '#' ? text + 1 : text;
	uint64_t number = 0, seconds = 0;
	unsigned n_parts = 0;
	if (!parse_number(&rest, &number))
		goto bad;
	if (*rest == '\0') {
		at.is_candidate = true;
		at.candidate = number;
		*ret_at = at;
		return 0;
	}
	if (text[0] == '#')
		goto bad;
	seconds = number;
	while (*rest == ':' && n_parts++ < 2) {
		rest++;
		if (!parse_number(&rest, &number) || number > 59 || seconds > UINT64_C(100000000))
			goto bad;
		seconds = seconds * 60 + number;
	}
	if (*rest == '.') {
		rest++;
		at.offset_ns = parse_fraction(&rest);
	}
	if (n_parts == 0 && *rest++ != 's')
		goto bad;
	if (*rest != '\0' || seconds > UINT64_C(10000000000))
		goto bad;
	at.offset_ns += seconds * 1000000000;
	*ret_at = at;
	return 0;
bad:
	return tele_fail(ret_error, TELE_ESYNTAX,
			 "'%.40s' is no point of a trace: give a candidate (61) or a time since "
			 "its start (67s, 1:07)",
			 text);
}
