// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// OCANNL's census log. A census line is a candidate's end; whether it was a
// duplicate is said by another line, before it or after, so a census is held
// back until the next one. The log has no time: rows get times that give their
// order and nothing else, and the instance says so.

#include "import_formats.h"
#include "import_number.h"

#include "../monitor/utf8.h"

#include <errno.h>
#include <inttypes.h>

#include "../libtelemetry/banned.h"

// Far apart, and a multiple of what the format keeps of a time.
#define STEP_NS (UINT64_C(1) << 30)

// ---- One line -------------------------------------------------------------------

// Walks over `word`; *at is NULL from the first that is missing.
static void expect(const char **at, const char *word)
{
	size_t len = strlen(word);
	if (*at)
		*at = strncmp(*at, word, len) == 0 ? *at + len : NULL;
}

static void take_count(const char **at, uint64_t *ret_value)
{
	char digits[21];
	size_t len = *at ? strspn(*at, "0123456789") : 0;
	if (len == 0 || len >= sizeof(digits)) {
		*at = NULL;
		return;
	}
	memcpy(digits, *at, len);
	digits[len] = '\0';
	*at = rec_parse_whole(digits, ret_value) ? *at + len : NULL;
}

static void take_bytes(const char **at, uint64_t *ret_bytes)
{
	if (*at)
		*at = rec_scan_bytes(*at, ret_bytes);
}

static bool take_label(const char *from, const char *to, char label[256])
{
	size_t len = (size_t)(to - from);
	if (len == 0 || len > 255)
		return false;
	memcpy(label, from, len);
	label[len] = '\0';
	for (const char *at = label; *at;)
		if (mon_utf8_next(&at) == MON_CHAR_INVALID)
			return false;
	return true;
}

// The last place of `word` in the text, since a label may hold anything.
static const char *find_last(const char *text, const char *word)
{
	const char *found = NULL;
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		found = at;
	return found;
}

static int parse_census(const char *text, struct rec_census_line *line)
{
	uint64_t unreleased, live_modules;
	const char *at = find_last(text, ": pools ");
	if (!at || !take_label(text, at, line->label))
		return TELE_ESYNTAX;
	expect(&at, ": pools ");
	take_count(&at, &line->live_pools);
	expect(&at, " live = ");
	take_count(&at, &line->working_pools);
	expect(&at, " working (");
	take_bytes(&at, &line->working_bytes);
	expect(&at, ") + ");
	take_count(&at, &line->constant_pools);
	expect(&at, " constant (");
	take_bytes(&at, &line->constant_bytes);
	expect(&at, "); ");
	take_count(&at, &line->pools_allocated);
	expect(&at, " allocated, ");
	take_count(&at, &line->pools_freed);
	expect(&at, " freed");
	line->has_peak = at && strncmp(at, "; peak ", 7) == 0;
	if (line->has_peak) {
		at += 7;
		take_bytes(&at, &line->peak_bytes);
	}
	expect(&at, " | contexts ");
	take_count(&at, &unreleased);
	expect(&at, " unreleased (");
	take_count(&at, &line->contexts_created);
	expect(&at, " created, ");
	take_count(&at, &line->contexts_released);
	expect(&at, " released) | modules ");
	take_count(&at, &live_modules);
	expect(&at, " live (");
	take_count(&at, &line->modules_loaded);
	expect(&at, " loaded, ");
	take_count(&at, &line->modules_unloaded);
	expect(&at, " unloaded)");
	return at ? 1 : TELE_ESYNTAX;
}

int rec_census_parse(const char *line, struct rec_census_line *ret_line)
{
	*ret_line = (struct rec_census_line){0};
	const char *at = strstr(line, "autotune: ");
	if (!at)
		return 0;
	at += strlen("autotune: ");
	if (strncmp(at, "census after ", 13) == 0)
		return parse_census(at + 13, ret_line);
	const char *dedup = find_last(at, ": dedup (digest ");
	ret_line->is_dedup = dedup && take_label(at, dedup, ret_line->label);
	return ret_line->is_dedup;
}

// ---- The log --------------------------------------------------------------------

// The fields of a census, in the order of `values_of`.
static const char *const field_names[] = {
	"census.live_working_pools",   "census.live_working_bytes",    "census.live_constant_pools",
	"census.live_constant_bytes",  "census.live_staging_pools",    "census.live_staging_bytes",
	"census.live_unlabelled_pools", "census.live_unlabelled_bytes", "census.pools_freed",
	"census.peak_pool_bytes",      "census.contexts_created",      "census.contexts_released",
	"census.modules_loaded",       "census.modules_unloaded",
};
enum { N_FIELDS = TELE_ARRAY_LEN(field_names) };

// The log knows two labels, so there are no pools of the others. What it says
// was allocated follows from what lives and what was freed.
static void values_of(const struct rec_census_line *line, uint64_t ret_values[N_FIELDS])
{
	const uint64_t values[N_FIELDS] = {
		line->working_pools, line->working_bytes, line->constant_pools, line->constant_bytes,
		0, 0, 0, 0,
		line->pools_freed, line->has_peak ? line->peak_bytes : TELE_UNKNOWN,
		line->contexts_created, line->contexts_released,
		line->modules_loaded, line->modules_unloaded,
	};
	memcpy(ret_values, values, sizeof(values));
}

struct log {
	struct rec_builder *builder;
	struct tele_error *error;
	int64_t positions[N_FIELDS];
	uint64_t *values; // a row, by position
	uint64_t n_rows;
	// What waits for the next line: a census, or a candidate that is known only
	// as a duplicate.
	bool has_census, has_dedup, is_dedup;
	struct rec_census_line census;
	char dedup[256];
};

static int add_row(struct log *log, const char *label, unsigned outcome, const struct rec_census_line *census)
{
	uint64_t values[N_FIELDS];
	memset(values, 0xff, sizeof(values));
	if (census)
		values_of(census, values);
	for (size_t i = 0; i < N_FIELDS; i++)
		log->values[log->positions[i]] = values[i];
	const struct rec_builder_row row = {
		.at_ns = ++log->n_rows * STEP_NS,
		.candidate = label,
		.outcome = outcome,
		.is_new = true,
		.values = log->values,
	};
	return rec_builder_add(log->builder, &row, log->error);
}

static int flush_census(struct log *log)
{
	if (!log->has_census)
		return 0;
	log->has_census = false;
	return add_row(log, log->census.label, log->is_dedup ? TELE_OUTCOME_DEDUPLICATED : TELE_OUTCOME_TIMED,
		       &log->census);
}

// A duplicate that no census tells of is a candidate all the same.
static int flush_dedup(struct log *log)
{
	if (!log->has_dedup)
		return 0;
	log->has_dedup = false;
	return add_row(log, log->dedup, TELE_OUTCOME_DEDUPLICATED, NULL);
}

static int take_census(struct log *log, const struct rec_census_line *line)
{
	int result = flush_census(log);
	bool is_dedup = log->has_dedup && strcmp(log->dedup, line->label) == 0;
	log->has_dedup &= !is_dedup;
	if (result == 0)
		result = flush_dedup(log);
	log->census = *line;
	log->has_census = true;
	log->is_dedup = is_dedup;
	return result;
}

static int take_dedup(struct log *log, const struct rec_census_line *line)
{
	if (log->has_census && !log->is_dedup && strcmp(log->census.label, line->label) == 0) {
		log->is_dedup = true;
		return 0;
	}
	int result = flush_census(log);
	if (result == 0)
		result = flush_dedup(log);
	memcpy(log->dedup, line->label, sizeof(log->dedup));
	log->has_dedup = true;
	return result;
}

static int take_line(struct log *log, const char *text, uint64_t number, struct rec_import_result *result)
{
	struct rec_census_line line;
	int kind = rec_census_parse(text, &line);
	if (kind == 0) {
		result->n_skipped++;
		return 0;
	}
	if (kind < 0) {
		if (result->n_damaged++ == 0)
			result->damaged_line = number;
		return 0;
	}
	return line.is_dedup ? take_dedup(log, &line) : take_census(log, &line);
}

int rec_import_census(struct rec_lines *lines, struct rec_builder *builder, struct rec_import_result *result,
		      struct tele_error *ret_error)
{
	struct log log = {.builder = builder, .error = ret_error};
	char *text;
	size_t len;
	int got = 0;
	for (size_t i = 0; i < N_FIELDS; i++) {
		log.positions[i] = rec_builder_field(builder, field_names[i]);
		TELE_ASSERT(log.positions[i] >= 0);
	}
	log.values = malloc(rec_builder_fields(builder) * sizeof(*log.values));
	if (!log.values)
		return tele_fail(ret_error, -ENOMEM, "out of memory for a row");
	while (got >= 0 && (got = rec_lines_next(lines, true, &text, &len, ret_error)) > 0)
		got = take_line(&log, text, lines->number, result);
	if (got == 0)
		got = flush_census(&log);
	if (got == 0)
		got = flush_dedup(&log);
	result->n_lines = lines->number;
	if (got == 0 && log.n_rows == 0)
		got = result->n_damaged
			      ? tele_fail(ret_error, TELE_ESYNTAX, "line %" PRIu64 ": a census line that is not whole, and no other",
					  result->damaged_line)
			      : tele_fail(ret_error, TELE_ESYNTAX, "line %" PRIu64 ": the log ends without an `autotune: census after` line",
					  lines->number);
	free(log.values);
	return got;
}
