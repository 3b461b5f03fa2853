// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The monitor as the command sees it: a terminal program over live processes
// or a trace, and the same screens and readings as text and JSON. Source ->
// model -> pure views -> cells -> painter (paint.c) or text (text.c): a live
// frame and its replay are the same screen.

#ifndef MON_MONITOR_H
#define MON_MONITOR_H

#include "../analysis/watch.h"
#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"
#include "out.h"

enum mon_units {
	MON_UNITS_IEC,	 // 1.20G is 1.20 * 2^30 bytes
	MON_UNITS_SI,	 // 1.29G is 1.29 * 10^9 bytes
	MON_UNITS_PLAIN, // 1288490188
	MON_UNITS_COUNT
};

enum mon_colours {
	MON_COLOURS_AUTO, // dark or light, as far as the environment tells
	MON_COLOURS_DARK,
	MON_COLOURS_LIGHT,
	MON_COLOURS_NONE,
	MON_COLOURS_COUNT
};

#define MON_INTERVAL_MS_DEFAULT 1000
#define MON_INTERVAL_MS_MIN	20
#define MON_INTERVAL_MS_MAX	60000

// What to show. All zero is a good default.
struct mon_options {
	const char *directory;	// where processes publish; NULL: this user's
	const char *select;	// PID or LABEL of the process to open; NULL: the overview
	const char *file;	// replay: the trace; "-" is standard input
	const char *at;		// replay: where to stop; NULL: the end. mon_at_parse
	uint64_t interval_ms;	// between refreshes; 0: the default
	const char *view;	// as text: the view of the process, by name; NULL: the first
	uint32_t width, height; // of a screen as text, in cells; 0: 80 x 24
	bool is_ascii;		// text without any character beyond ASCII
	// Settings as "name=value", NULL at the end, over those of the
	// configuration, which only the interactive monitor reads; NULL: none.
	const char *const *set;
	const struct analysis_limits *limits; // for forecasts; NULL: mon_limits_init's
	bool is_final; // replay as JSON: judge the whole run at once
	// What a shell runs when a class turns to growing; NULL: nothing. top only,
	// with ROLLCALL_VERDICT_PID, _LABEL, _CLASS and _SENTENCE in its
	// environment; nothing waits for it.
	const char *on_growing;
};

// What this machine tells: its memory, and the boot that rows must be of.
void mon_limits_init(struct analysis_limits *limits);

// Whether a view has that name; mon_view_names lists them: "overview, process, ...".
bool mon_has_view(const char *name);
const char *mon_view_names(char *buffer, size_t size);

// Whether the locale's codeset is UTF-8, after setlocale: else set is_ascii.
bool mon_is_utf8_locale(void);

// The interactive monitor on this terminal, over live processes or a trace.
// Returns 0 when the user quit, 128 + N after signal N, or an error whose text
// says what to do; the terminal is as it was before in every case.
int mon_top(const struct mon_options *options, struct tele_error *ret_error);
int mon_replay(const struct mon_options *options, struct tele_error *ret_error);

// Writes the configuration with what `set` and interval_ms say, over what it
// said before, and its path into `path`.
int mon_save_settings(const struct mon_options *options, char *path, size_t size,
		      struct tele_error *ret_error);

// Whether a word of `set` names a setting and its value: 0 or TELE_ESYNTAX.
int mon_check_setting(const char *word, struct tele_error *ret_error);

// One screen as text: blanks at ends of lines and empty lines at the end are
// left out. With `select`, that process's screen, else the overview.
// TELE_ENOTFOUND when nothing matches `select` or `at`.
int mon_top_once(const struct mon_options *options, struct mon_out *out,
		 struct tele_error *ret_error);
int mon_replay_once(const struct mon_options *options, struct mon_out *out,
		    struct tele_error *ret_error);

// One reading as a JSON array on one line; with `select`, of the processes
// that match it.
int mon_top_json(const struct mon_options *options, struct mon_out *out,
		 struct tele_error *ret_error);
int mon_replay_json(const struct mon_options *options, struct mon_out *out,
		    struct tele_error *ret_error);

// n_readings readings (0: until `write` fails), one JSON array on each line,
// interval_ms apart. `write` returns 0, or a negative code that ends it and is
// returned, without a word in *ret_error.
typedef int (*mon_write_fn)(void *context, const char *bytes, size_t n_bytes);
int mon_top_batch(const struct mon_options *options, uint64_t n_readings, mon_write_fn write,
		  void *context, struct tele_error *ret_error);

// A point of a trace: "67s", "67.5s", "1:07", "1:02:03" are times since its
// first record; "61" or "#61" is the row after which 61 candidates have ended.
// Returns 0 or TELE_ESYNTAX.
struct mon_at {
	bool is_candidate;
	uint64_t candidate;
	uint64_t offset_ns;
};
int mon_at_parse(const char *text, struct mon_at *ret_at, struct tele_error *ret_error);

// Text from another process made safe for a terminal: control characters,
// escapes, invalid UTF-8 and characters that reorder or hide text become '?'.
// Cut at size, at a whole character. Returns buffer, which is valid UTF-8, or
// ASCII with is_ascii; it may be text itself, which never becomes longer.
char *mon_text_clean(const char *text, bool is_ascii, char *buffer, size_t size);

// A size in at most 7 columns with its unit, "1.20G"; "n/a" when unknown.
char *mon_format_bytes(uint64_t bytes, enum mon_units units, char *buffer, size_t size);

// The same of what was calculated: below 0 it is 0, above 2^64 as large as can be.
char *mon_format_size(double bytes, enum mon_units units, char *buffer, size_t size);

#endif
