// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// CSV: the first line names the columns, each further line is a row. A line is
// cut into cells in place, one at a time from left to right, so that what is
// wrong has a line and a column. A cell in double quotes may hold commas, and a
// quote where it is doubled; it ends on its line.

#include "import_formats.h"
#include "import_number.h"

#include "../monitor/utf8.h"

#include <errno.h>
#include <inttypes.h>

#include "../libtelemetry/banned.h"

enum { COLUMNS_MAX = TELE_FIELDS_MAX, QUOTED_MAX = 40 };
#define TIME_UNIT_NS (UINT64_C(1) << TELE_TIME_SHIFT)

enum column_kind { COLUMN_TIME, COLUMN_CANDIDATE, COLUMN_PHASE, COLUMN_OUTCOME, COLUMN_FIELD };

struct column {
	enum column_kind kind;
	uint32_t position; // FIELD
	unsigned unit;
	char *name;
};

struct csv {
	struct rec_lines *lines;
	struct rec_builder *builder;
	struct tele_error *error;
	struct column *columns;
	uint32_t n_columns;
	uint64_t *values;
	bool has_time, has_rows;
	uint64_t last_ns;
};

// A line on its way through the cells.
struct cells {
	char *at; // NULL: the line is over
	uint32_t number; // of the cell that came last, from 1
};

static int fail_at(const struct csv *csv, uint32_t column, const char *what, const char *cell)
{
	char name[80] = "";
	if (column && column <= csv->n_columns)
		snprintf(name, sizeof(name), " (%.60s)", csv->columns[column - 1].name);
	return tele_fail(csv->error, TELE_ESYNTAX, "line %" PRIu64 ", column %" PRIu32 "%s: %s%.*s%s%s",
			 csv->lines->number, column, name, cell ? "'" : "", QUOTED_MAX, cell ? cell : "",
			 cell ? "' " : "", what);
}

// Undoes the quotes of the cell at `text`; *ret_after is the comma or end behind
// it. False: a quote is missing or misplaced.
static bool unquote(char *text, char **ret_after)
{
	char *from = text + 1, *to = text;
	for (;;) {
		if (*from == '\0')
			return false;
		if (*from == '"' && from[1] != '"')
			break;
		from += *from == '"';
		*to++ = *from++;
	}
	*ret_after = from + 1;
	char after = from[1];
	*to = '\0';
	return after == ',' || after == '\0';
}

// The next cell, or NULL with *ret_result 0 at the end of the line or an error.
static char *next_cell(const struct csv *csv, struct cells *cells, int *ret_result)
{
	char *text = cells->at, *after;
	*ret_result = 0;
	if (!text)
		return NULL;
	cells->number++;
	if (*text == '"') {
		if (!unquote(text, &after)) {
			*ret_result = fail_at(csv, cells->number, "a double quote is missing or misplaced", NULL);
			return NULL;
		}
	} else {
		after = text + strcspn(text, ",");
	}
	cells->at = *after ? after + 1 : NULL;
	*after = '\0';
	return text;
}

// Checks what holds for every line. Returns 0 or an error.
static int check_line(const struct csv *csv, const char *line, size_t len)
{
	const char *nul = memchr(line, '\0', len);
	uint32_t column = 1;
	if (nul) {
		for (const char *at = line; at < nul; at++)
			column += *at == ',';
		return fail_at(csv, column, "a NUL byte is not text", NULL);
	}
	for (const char *at = line; *at;) {
		if (!(*at & 0x80)) {
			column += *at++ == ',';
			continue;
		}
		if (mon_utf8_next(&at) == MON_CHAR_INVALID)
			return fail_at(csv, column, "not UTF-8", NULL);
	}
	return 0;
}

// ---- The first line -------------------------------------------------------------

static int compare_names(const void *a, const void *b)
{
	const struct column *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);
	return order ? order : (*x > *y) - (*x < *y);
}

// Two columns of one name, or of two names of one field (device.x, device[0].x).
static int check_duplicates(const struct csv *csv)
{
	const struct column **sorted = malloc(csv->n_columns * sizeof(*sorted));
	int result = 0;
	uint32_t duplicate = UINT32_MAX;
	if (!sorted)
		return tele_fail(csv->error, -ENOMEM, "out of memory for columns");
	for (uint32_t i = 0; i < csv->n_columns; i++)
		sorted[i] = &csv->columns[i];
	qsort(sorted, csv->n_columns, sizeof(*sorted), compare_names);
	for (uint32_t i = 1; i < csv->n_columns; i++)
		if (strcmp(sorted[i]->name, sorted[i - 1]->name) == 0) {
			uint32_t number = (uint32_t)(sorted[i] - csv->columns);
			duplicate = number < duplicate ? number : duplicate;
		}
	if (duplicate != UINT32_MAX)
		result = fail_at(csv, duplicate + 1, "the column is there twice", NULL);
	free(sorted);
	return result;
}

static int add_column(struct csv *csv, const char *name)
{
	static const struct {
		const char *name;
		enum column_kind kind;
	} known[] = {
		{"time_s", COLUMN_TIME},
		{"candidate", COLUMN_CANDIDATE},
		{"phase", COLUMN_PHASE},
		{"outcome", COLUMN_OUTCOME},
	};
	uint32_t number = csv->n_columns + 1;
	struct column column = {.kind = COLUMN_FIELD};
	if (number > COLUMNS_MAX)
		return fail_at(csv, number, "more columns than " TELE_STRINGIFY(TELE_FIELDS_MAX), NULL);
	if (!*name)
		return fail_at(csv, number, "the column has no name", NULL);
	column.name = strdup(name);
	if (!column.name)
		return tele_fail(csv->error, -ENOMEM, "out of memory for columns");
	for (size_t i = 0; i < TELE_ARRAY_LEN(known); i++)
		if (strcmp(name, known[i].name) == 0)
			column.kind = known[i].kind;
	csv->has_time |= column.kind == COLUMN_TIME;
	csv->columns[csv->n_columns++] = column;
	return 0;
}

// Finds a place for every column. After the names are known to be different.
static int place_columns(struct csv *csv)
{
	bool *is_taken = calloc(TELE_FIELDS_MAX, sizeof(*is_taken));
	int result = is_taken ? 0 : tele_fail(csv->error, -ENOMEM, "out of memory for columns");
	for (uint32_t i = 0; i < csv->n_columns && result == 0; i++) {
		struct column *column = &csv->columns[i];
		if (column->kind == COLUMN_CANDIDATE)
			rec_builder_expect_search(csv->builder);
		if (column->kind != COLUMN_FIELD)
			continue;
		int64_t position = rec_builder_field(csv->builder, column->name);
		if (position < 0) {
			result = fail_at(csv, i + 1, "the name is longer than 63 characters, or there are too many fields", NULL);
			break;
		}
		if (is_taken[position])
			result = fail_at(csv, i + 1, "the column is there twice, under another spelling", NULL);
		is_taken[position] = true;
		column->position = (uint32_t)position;
		column->unit = rec_builder_unit(csv->builder, position);
	}
	free(is_taken);
	return result;
}

static int read_names(struct csv *csv)
{
	char *line, *cell;
	size_t len;
	int result = rec_lines_next(csv->lines, false, &line, &len, csv->error);
	if (result == 0)
		return tele_fail(csv->error, TELE_ESYNTAX, "line 1: the file is empty");
	if (result < 0)
		return result;
	if (strncmp(line, "\xef\xbb\xbf", 3) == 0) {
		line += 3; // a byte order mark
		len -= 3;
	}
	result = check_line(csv, line, len);
	struct cells cells = {.at = line};
	while (result == 0 && (cell = next_cell(csv, &cells, &result)) != NULL)
		result = add_column(csv, cell);
	if (result == 0)
		result = check_duplicates(csv);
	if (result == 0 && !csv->has_time)
		return tele_fail(csv->error, TELE_ESYNTAX, "line 1: there is no column time_s");
	return result < 0 ? result : place_columns(csv);
}

// ---- Rows -----------------------------------------------------------------------

static int take_time(struct csv *csv, uint32_t number, const char *cell, uint64_t *ret_at_ns)
{
	uint64_t ns;
	if (!*cell)
		return fail_at(csv, number, "a row needs a time", NULL);
	if (!rec_parse_seconds(cell, &ns))
		return fail_at(csv, number, "is not a time in decimal seconds from 0 on", cell);
	if (csv->has_rows && ns < csv->last_ns)
		return fail_at(csv, number, "goes back behind the row before", cell);
	csv->last_ns = ns;
	// Readers take a time of 0 for none.
	*ret_at_ns = tele_max_u64(ns, TIME_UNIT_NS) & TELE_TIME_MASK;
	return 0;
}

static int take_value(struct csv *csv, uint32_t number, const char *cell)
{
	const struct column *column = &csv->columns[number - 1];
	uint64_t *value = &csv->values[column->position];
	if (!*cell) {
		*value = TELE_UNKNOWN;
		return 0;
	}
	if (column->unit == TELE_STRING) {
		int64_t id = rec_builder_text(csv->builder, cell);
		if (id < 0)
			return fail_at(csv, number, "is one text too many", cell);
		*value = (uint64_t)id;
		return 0;
	}
	if (rec_parse_whole(cell, value))
		return 0;
	return fail_at(csv, number, "is not a whole number from 0 to 2^64 - 1", cell);
}

static int take_cell(struct csv *csv, uint32_t number, char *cell, struct rec_builder_row *row)
{
	int outcome;
	if (number > csv->n_columns)
		return fail_at(csv, number, "more cells than the first line has", NULL);
	switch (csv->columns[number - 1].kind) {
	case COLUMN_TIME:
		return take_time(csv, number, cell, &row->at_ns);
	case COLUMN_CANDIDATE:
		row->candidate = *cell ? cell : NULL;
		return 0;
	case COLUMN_PHASE:
		row->phase = *cell ? cell : NULL;
		return 0;
	case COLUMN_OUTCOME:
		outcome = *cell ? tele_outcome_of(cell) : TELE_OUTCOME_OPEN;
		if (outcome < 0)
			return fail_at(csv, number,
				       "is none of declined, link_failed, non_dispatchable, deduplicated, failed, timed, kept",
				       cell);
		row->outcome = (unsigned)outcome;
		return 0;
	default:
		return take_value(csv, number, cell);
	}
}

static int take_line(struct csv *csv, char *line, size_t len)
{
	struct rec_builder_row row = {.values = csv->values};
	struct cells cells = {.at = line};
	char *cell;
	int result = check_line(csv, line, len);
	while (result == 0 && (cell = next_cell(csv, &cells, &result)) != NULL)
		result = take_cell(csv, cells.number, cell, &row);
	if (result < 0)
		return result;
	if (cells.number < csv->n_columns)
		return fail_at(csv, cells.number + 1, "the line has fewer cells than the first", NULL);
	if (row.outcome && !row.candidate) {
		uint32_t number = 1;
		while (csv->columns[number - 1].kind != COLUMN_OUTCOME)
			number++;
		return fail_at(csv, number, "an outcome needs a candidate", NULL);
	}
	csv->has_rows = true;
	return rec_builder_add(csv->builder, &row, csv->error);
}

int rec_import_csv(struct rec_lines *lines, struct rec_builder *builder, struct rec_import_result *result,
		   struct tele_error *ret_error)
{
	struct csv csv = {.lines = lines, .builder = builder, .error = ret_error};
	char *line;
	size_t len;
	csv.columns = calloc(COLUMNS_MAX, sizeof(*csv.columns));
	csv.values = calloc(TELE_FIELDS_MAX, sizeof(*csv.values));
	int got = csv.columns && csv.values ? read_names(&csv) : tele_fail(ret_error, -ENOMEM, "out of memory for columns");
	while (got >= 0 && (got = rec_lines_next(lines, false, &line, &len, ret_error)) > 0)
		if (len > 0)
			got = take_line(&csv, line, len);
	if (got == 0 && !csv.has_rows)
		got = tele_fail(ret_error, TELE_ESYNTAX, "line %" PRIu64 ": no row follows the names of the columns",
				lines->number);
	result->n_lines = lines->number;
	for (uint32_t i = 0; i < csv.n_columns; i++)
		free(csv.columns[i].name);
	free(csv.columns);
	free(csv.values);
	return got;
}
