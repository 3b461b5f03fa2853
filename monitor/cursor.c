// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Moving through a source. One record is held back at most: the first that lies
// beyond the point that was asked for. Going back is going forward from the
// start, so that a screen never depends on the way that led to it.

#include "cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/trace.h"

#include "../libtelemetry/banned.h"

void mon_cursor_init(struct mon_cursor *cursor, struct tele_source *source, struct mon_model *model)
{
	*cursor =
		(struct mon_cursor){.source = source, .model = model, .first_at_ns = TELE_UNKNOWN};
}

// 1 with a pending record, 0 at the end, or an error.
static int fetch(struct mon_cursor *cursor, struct tele_error *ret_error)
{
	if (cursor->has_pending)
		return 1;
	int got = tele_source_next(cursor->source, &cursor->pending, ret_error);
	cursor->has_pending = got == 1;
	cursor->is_ended = got == 0;
	return got;
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
	uint64_t at_ns = pending_at_ns(cursor);
	if (at_ns && cursor->first_at_ns == TELE_UNKNOWN)
		cursor->first_at_ns = at_ns;
	if (cursor->pending.kind == TELE_RECORD_ROW)
		cursor->n_rows++;
	cursor->has_pending = false;
	int failed = mon_model_apply(cursor->model, &cursor->pending);
	return failed ? tele_fail(ret_error, failed, "out of memory") : 0;
}

int mon_cursor_to_time(struct mon_cursor *cursor, uint64_t at_ns, struct tele_error *ret_error)
{
	for (;;) {
		int got = fetch(cursor, ret_error);
		if (got != 1)
			return got;
		if (pending_at_ns(cursor) > at_ns)
			return 1;
		got = apply(cursor, ret_error);
		if (got)
			return got;
	}
}

int mon_cursor_to_end(struct mon_cursor *cursor, struct tele_error *ret_error)
{
	return mon_cursor_to_time(cursor, UINT64_MAX, ret_error);
}

int mon_cursor_to_row(struct mon_cursor *cursor, uint64_t n_rows, struct tele_error *ret_error)
{
	while (cursor->n_rows < n_rows) {
		int got = fetch(cursor, ret_error);
		if (got == 1)
			got = apply(cursor, ret_error) ? -ENOMEM : 1;
		if (got != 1)
			return got;
	}
	return 1;
}

uint64_t mon_process_ended(const struct mon_process *process)
{
	uint64_t attempted = mon_process_field(process, TELE_ID_search_candidates_attempted);
	uint64_t n_open = mon_process_field(process, TELE_ID_search_open_candidates);
	if (attempted == TELE_UNKNOWN)
		return TELE_UNKNOWN;
	return n_open == TELE_UNKNOWN || n_open > attempted ? attempted : attempted - n_open;
}

int mon_cursor_to_candidate(struct mon_cursor *cursor, uint64_t candidate, const char *select,
			    struct tele_error *ret_error)
{
	for (;;) {
		int got = fetch(cursor, ret_error);
		if (got != 1)
			return got;
		bool is_row = cursor->pending.kind == TELE_RECORD_ROW;
		const struct tele_identity *identity = &cursor->pending.instance->identity;
		bool is_meant = !select || mon_identity_match(identity, select) > 0;
		uint64_t instance_id = identity->instance_id;
		got = apply(cursor, ret_error);
		if (got)
			return got;
		if (!is_row || !is_meant)
			continue;
		const struct mon_process *process = mon_model_find(cursor->model, instance_id);
		uint64_t n_ended = process ? mon_process_ended(process) : TELE_UNKNOWN;
		if (n_ended != TELE_UNKNOWN && n_ended >= candidate)
			return 1;
	}
}

int mon_cursor_to_point(struct mon_cursor *cursor, const struct mon_at *at, const char *select,
			struct tele_error *ret_error)
{
	if (at->is_candidate)
		return mon_cursor_to_candidate(cursor, at->candidate, select, ret_error);
	// The first record with a time says where time starts.
	while (cursor->first_at_ns == TELE_UNKNOWN) {
		int got = fetch(cursor, ret_error);
		if (got == 1)
			got = apply(cursor, ret_error) ? -ENOMEM : 1;
		if (got != 1)
			return got;
	}
	uint64_t at_ns;
	if (__builtin_add_overflow(cursor->first_at_ns, at->offset_ns, &at_ns))
		at_ns = UINT64_MAX;
	return mon_cursor_to_time(cursor, at_ns, ret_error);
}

int mon_cursor_restart(struct mon_cursor *cursor, struct tele_error *ret_error)
{
	int failed = tele_trace_seek(cursor->source, 0, ret_error);
	if (failed < 0)
		return failed;
	mon_model_clear(cursor->model);
	mon_cursor_init(cursor, cursor->source, cursor->model);
	return 0;
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
