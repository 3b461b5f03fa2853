// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Saying things: errors in one line, notes in one line, and text of other
// processes without anything a terminal would act upon.

#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"
#include "commands.h"

// Writes "rollcall VERB: TEXT" as exactly one line to standard error, with
// control characters, escapes and broken UTF-8 replaced by '?'. Returns
// `status`, so that a failure is one statement. The format says what, why, and
// what to do, separated by commas or semicolons.
int cli_fail(const struct cli_call *call, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

// The same for something that does not end the verb.
void cli_note(const struct cli_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

// The same for a struct tele_error: its text, and `what_to_do` (may be NULL).
int cli_fail_with(const struct cli_call *call, const struct tele_error *error,
		  const char *what_to_do);

// mon_text_clean in place: ASCII alone where the locale is not UTF-8. Returns
// text.
char *cli_clean(char *text);

// Cuts a text at `columns` characters (of UTF-8) in place. Returns text.
char *cli_cut(char *text, size_t columns);

// "1.2 GiB" into buffer; "n/a" for TELE_UNKNOWN. Returns buffer.
#define CLI_SIZE_TEXT 24
char *cli_bytes_text(uint64_t bytes, char buffer[CLI_SIZE_TEXT]);

// "2m11s", "3h02m", "58s", "4d03h".
char *cli_duration_text(uint64_t ns, char buffer[CLI_SIZE_TEXT]);

// Says that standard output took no more, and why; returns CLI_FAILED.
int cli_fail_output(const struct cli_call *call, int code);

// Standard output, flushed. CLI_OK, or CLI_FAILED after having said why not.
int cli_finish_output(const struct cli_call *call);

// CLOCK_MONOTONIC in ns.
uint64_t cli_now_ns(void);

#endif
