// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The books and residency. Every bucket of the schema is one bar against
// mapped; what is not resident is drawn in another character. Prediction and
// RSS share one scale, and the residual below them is split into its parts.

#include "view_parts.h"

#include <stdio.h>

#include "format.h"

#include "../libtelemetry/banned.h"

#define NAME_COLUMNS  13
#define SPARK_COLUMNS 8
#define SPARK_WIDTH   54 // of a block that has room for trends
#define AGE_SHOWN_NS UINT64_C(2000000000)

struct bar_row {
	const char *name;
	unsigned style;
	bool is_resident;
	uint64_t bytes, whole_bytes;
	int64_t position; // of the field, for its trend and its change; -1: none
};

// The trend behind a row, or what has changed since the mark, in the columns
// from x to the end of the pen.
static void draw_trend(struct mon_pen *pen, int x, const struct bar_row *row)
{
	char change[MON_NUMBER_BYTES];
	if (row->position < 0)
		return;
	mon_pen_change(pen, row->position, true, change, sizeof(change));
	if (change[0])
		mon_draw_right(pen->grid, x, pen->y, SPARK_COLUMNS + 1, MON_BOLD, change);
	else
		mon_pen_spark(pen, x + 1, SPARK_COLUMNS, (struct mon_series){false, (uint32_t)row->position});
}

// "live         ███████▌             734.1M  59.7%  ⡠⠔⠊"
static void draw_bar_row(struct mon_pen *pen, const struct bar_row *row, bool has_share)
{
	char bytes[MON_NUMBER_BYTES], share[MON_NUMBER_BYTES];
	int columns = mon_bytes_columns(pen->units);
	int share_columns = has_share ? 7 : 0;
	int trend_columns = pen->width >= SPARK_WIDTH ? SPARK_COLUMNS + 2 : 0;
	int bar_width = pen->width - NAME_COLUMNS - columns - 2 - share_columns - trend_columns;
	int x = pen->x;
	mon_draw_text(pen->grid, x, pen->y, NAME_COLUMNS - 1, MON_DIM, row->name);
	x += NAME_COLUMNS;
	if (bar_width > 60)
		bar_width = 60;
	if (bar_width > 0) {
		mon_draw_bar(pen->grid, x, pen->y, bar_width, row->style, row->is_resident,
			     row->bytes, row->whole_bytes);
		x += bar_width + 1;
	}
	mon_draw_right(pen->grid, x, pen->y, columns, MON_NORMAL,
		       mon_format_bytes(row->bytes, pen->units, bytes, sizeof(bytes)));
	x += columns;
	if (has_share)
		mon_draw_right(
			pen->grid, x, pen->y, share_columns, MON_DIM,
			mon_format_share(row->bytes, row->whole_bytes, share, sizeof(share)));
	if (trend_columns)
		draw_trend(pen, x + share_columns, row);
}

static void draw_heap_title(struct mon_pen *pen, const struct analysis_books *books)
{
	char mapped[MON_NUMBER_BYTES], off[MON_NUMBER_BYTES], rest[128];
	mon_format_bytes(books->mapped_bytes, pen->units, mapped, sizeof(mapped));
	unsigned style = MON_NORMAL;
	if (!books->is_known) {
		snprintf(rest, sizeof(rest), "mapped %s, not all buckets are known", mapped);
		style = MON_WARN;
	} else if (books->is_balanced) {
		snprintf(rest, sizeof(rest), "mapped %s, balanced to the byte", mapped);
	} else {
		snprintf(rest, sizeof(rest), "mapped %s, out of balance by %s", mapped,
			 mon_format_signed_bytes(books->unexplained_bytes, pen->units, off,
						 sizeof(off)));
		style = MON_BAD;
	}
	mon_draw_title(pen, "HEAP", rest, style);
	pen->y--;
	mon_pen_field(pen, "Mapped from the kernel: the buckets add up to it, checked on every row");
	pen->y++;
}

void mon_draw_heap(struct mon_pen *pen)
{
	const struct tele_schema *schema = pen->process->instance->schema;
	const struct mon_row *row = mon_process_latest(pen->process);
	const struct analysis_books *books = &pen->process->derived.books;
	if (books->mapped_bytes == TELE_UNKNOWN) {
		mon_draw_title(pen, "HEAP", "n/a: another malloc, or no books yet", MON_DIM);
		return;
	}
	draw_heap_title(pen, books);
	for (uint32_t i = 0; i < schema->n_fields && i < row->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		if (field->bucket == TELE_BUCKET_NONE || field->bucket == TELE_BUCKET_TOTAL ||
		    field->kind == TELE_RETIRED)
			continue;
		bool is_resident = field->resident != TELE_RESIDENT_NO;
		struct bar_row bar = {.name = field->label,
				      .style = is_resident ? MON_ACCENT : MON_DIM,
				      .is_resident = is_resident,
				      .bytes = row->values[i],
				      .whole_bytes = books->mapped_bytes,
				      .position = i};
		draw_bar_row(pen, &bar, true);
		mon_pen_field(pen, "%s%s", field->help,
			      is_resident ? "; resident" : "; not resident, drawn as shade");
		pen->y++;
	}
}

// ---- Residency ----------------------------------------------------------------

static void draw_part(struct mon_pen *pen, const char *name, struct analysis_signed bytes,
		      unsigned style, const char *help)
{
	char text[MON_NUMBER_BYTES];
	int columns = mon_bytes_columns(pen->units) + 1;
	int x = pen->x + NAME_COLUMNS;
	mon_draw_text(pen->grid, pen->x, pen->y, NAME_COLUMNS - 1, MON_DIM, name);
	mon_draw_right(pen->grid, x, pen->y, columns, style,
		       mon_format_signed_bytes(bytes, pen->units, text, sizeof(text)));
	mon_pen_field(pen, "%s", help);
	pen->y++;
}

// The parts of the residual, two beside each other; huge pages where there are any.
static void draw_parts(struct mon_pen *pen, const struct analysis_residency *residency)
{
	const struct {
		const char *name;
		struct analysis_signed bytes;
		const char *help;
	} parts[] = {
		{"  untouched", residency->untouched_bytes,
		 "Asked for and never written, so not resident: counts against the residual"},
		{"  file", residency->file_bytes, "Resident pages of files: the program, its libraries, its maps"},
		{"  shmem", residency->shmem_bytes, "Resident shared memory"},
		{"  ours", residency->own_bytes, "Rollcall's own pages in the process"},
		{"  other", residency->other_bytes,
		 "The rest: stacks, other allocators, what the program mapped itself"},
		{"  huge pages", residency->huge_bytes,
		 "Of the residual: what huge pages hold beyond what was touched"},
	};
	int part_columns = NAME_COLUMNS + mon_bytes_columns(pen->units) + 1;
	int n_beside = pen->width >= 2 * part_columns + 2 ? 2 : 1;
	bool has_huge = residency->huge_bytes.is_known && residency->huge_bytes.value > 0;
	int top = pen->y, n_parts = (int)TELE_ARRAY_LEN(parts) - !has_huge;
	int n_lines = (n_parts + n_beside - 1) / n_beside;
	for (int i = 0; i < n_parts; i++) {
		struct mon_pen part = *pen;
		part.y = top + i % n_lines;
		part.x += i / n_lines * (part_columns + 2);
		part.width = part_columns;
		draw_part(&part, parts[i].name, parts[i].bytes, MON_NORMAL, parts[i].help);
	}
	pen->y = top + n_lines;
}

static void format_error(const struct analysis_residency *residency, char *buffer, size_t size)
{
	if (!residency->error_bytes.is_known || residency->predicted_bytes == 0 ||
	    residency->predicted_bytes == TELE_UNKNOWN)
		snprintf(buffer, size, "%s", "");
	else
		snprintf(buffer, size, "error of the prediction in our mappings %+.2f%%",
			 100.0 * (double)residency->error_bytes.value /
				 (double)residency->predicted_bytes);
}

void mon_draw_residency(struct mon_pen *pen)
{
	const struct analysis_residency *residency = &pen->process->derived.residency;
	const struct mon_row *row = mon_process_latest(pen->process);
	uint64_t measured_at_ns =
		mon_process_field(pen->process, TELE_ID_heap_resident_captured_at_ns);
	char rest[96] = "", age[MON_NUMBER_BYTES];
	if (residency->rss_bytes == TELE_UNKNOWN && residency->predicted_bytes == TELE_UNKNOWN)
		return;
	if (measured_at_ns < row->at_ns && row->at_ns - measured_at_ns > AGE_SHOWN_NS)
		snprintf(rest, sizeof(rest), "untouched measured %s ago",
			 mon_format_duration(row->at_ns - measured_at_ns, age, sizeof(age)));
	mon_draw_title(pen, "RESIDENCY", rest, MON_DIM);
	uint64_t whole_bytes = residency->rss_bytes == TELE_UNKNOWN ? 0 : residency->rss_bytes;
	if (residency->predicted_bytes != TELE_UNKNOWN)
		whole_bytes = tele_max_u64(whole_bytes, residency->predicted_bytes);
	struct bar_row predicted = {"predicted", MON_ACCENT, true, residency->predicted_bytes, whole_bytes, -1};
	struct bar_row rss = {"RSS", MON_NORMAL, true, residency->rss_bytes, whole_bytes,
			      tele_schema_position(pen->process->instance->schema, TELE_ID_host_rss_bytes,
						   TELE_NO_INSTANCE)};
	draw_bar_row(pen, &predicted, false);
	mon_pen_field(pen, "What should be resident: mapped, less virgin, less returned");
	pen->y++;
	draw_bar_row(pen, &rss, false);
	mon_pen_field(pen, "What the kernel says is resident, of the whole process");
	pen->y++;
	draw_part(pen, "residual", residency->residual_bytes, MON_BOLD,
		  "RSS less what was predicted: memory outside of the malloc, split below");
	draw_parts(pen, residency);
	format_error(residency, rest, sizeof(rest));
	if (rest[0])
		mon_draw_text(pen->grid, pen->x, pen->y++, pen->width, MON_DIM, rest);
}
