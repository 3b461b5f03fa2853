// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The size classes of the malloc: what each holds, and how much of what it took
// from the kernel is in use.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "view_roll.h"

#include "../libtelemetry/banned.h"

#define CLASSES_MAX 256

enum column { SLOT, LIVE, FREE, SPANS, LIVE_BYTES, ROUNDING, RETURNED, SHARE, BAR, COLUMN_COUNT };

static const struct mon_table_column columns[COLUMN_COUNT] = {
	[SLOT] = {"SLOT", 7, false, 9, false},		[LIVE] = {"LIVE", 7, false, 8, false},
	[FREE] = {"FREE", 7, false, 5, false},		[SPANS] = {"SPANS", 5, false, 3, false},
	[LIVE_BYTES] = {"IN USE", 7, false, 7, true}, [ROUNDING] = {"ROUND", 7, false, 1, true},
	[RETURNED] = {"RETURNED", 8, false, 2, true}, [SHARE] = {"USED", 6, false, 6, false},
	[BAR] = {"OF ITS SLOTS", 0, true, 4, false},
};

const struct mon_roll mon_classes_roll = {
	.screen = MON_SCREEN_CLASSES, .columns = columns, .n_columns = COLUMN_COUNT};

struct size_class {
	uint64_t slot_bytes, live, free, spans, rounding_bytes, returned_bytes, live_bytes;
};

static struct size_class read_class(const struct mon_process *process, uint32_t instance)
{
#define VALUE(name) mon_process_value(process, TELE_ID_class_##name, instance)
	struct size_class class = {VALUE(slot_bytes), VALUE(live_slots), VALUE(free_slots), VALUE(spans),
				   VALUE(rounding_bytes), VALUE(returned_bytes), TELE_UNKNOWN};
#undef VALUE
	if (class.live != TELE_UNKNOWN && class.slot_bytes != TELE_UNKNOWN &&
	    __builtin_mul_overflow(class.live, class.slot_bytes, &class.live_bytes))
		class.live_bytes = TELE_UNKNOWN;
	return class;
}

static double share_of(const struct size_class *class)
{
	if (class->live == TELE_UNKNOWN || class->free == TELE_UNKNOWN || class->live + class->free == 0)
		return NAN;
	return (double)class->live / (double)(class->live + class->free);
}

static double key_of(const struct size_class *class, int column)
{
	uint64_t value;
	switch (column) {
	case LIVE:
		value = class->live;
		break;
	case FREE:
		value = class->free;
		break;
	case SPANS:
		value = class->spans;
		break;
	case LIVE_BYTES:
		value = class->live_bytes;
		break;
	case ROUNDING:
		value = class->rounding_bytes;
		break;
	case RETURNED:
		value = class->returned_bytes;
		break;
	case SHARE:
	case BAR:
		return share_of(class);
	default:
		// The smallest first.
		return class->slot_bytes == TELE_UNKNOWN ? NAN : -(double)class->slot_bytes;
	}
	return value == TELE_UNKNOWN ? NAN : (double)value;
}

static void draw_row(const struct mon_table *table, uint32_t row, const struct size_class *class)
{
	enum mon_units units = table->view->units;
	char text[MON_NUMBER_BYTES];
	int x, y, width;
	bool is_used = class->live != 0;
	unsigned style = is_used ? MON_NORMAL : MON_DIM;
#define COUNT(column, value) mon_table_cell(table, row, column, style, mon_format_count(value, text, sizeof(text)))
#define BYTES(column, value)                                                                                           \
	mon_table_cell(table, row, column, style, mon_format_bytes(value, units, text, sizeof(text)))
	mon_table_cell(table, row, SLOT, is_used ? MON_BOLD : MON_DIM,
		       mon_format_bytes(class->slot_bytes, units, text, sizeof(text)));
	COUNT(LIVE, class->live);
	COUNT(FREE, class->free);
	COUNT(SPANS, class->spans);
	BYTES(LIVE_BYTES, class->live_bytes);
	BYTES(ROUNDING, class->rounding_bytes);
	BYTES(RETURNED, class->returned_bytes);
#undef COUNT
#undef BYTES
	bool has_share = !isnan(share_of(class));
	mon_table_cell(table, row, SHARE, style,
		       has_share ? mon_format_share(class->live, class->live + class->free, text, sizeof(text)) : "");
	if (!has_share || !mon_table_place(table, row, BAR, &x, &y, &width))
		return;
	// What is free and resident is drawn in the other character behind it.
	mon_draw_bar(table->grid, x, y, width, MON_DIM, false, 1, 1);
	mon_draw_bar(table->grid, x, y, width, MON_ACCENT, true, class->live, class->live + class->free);
}

static void draw_title(struct mon_grid *grid, const struct mon_view *view, const struct mon_process *process, int y)
{
	char mapped[MON_NUMBER_BYTES], large[MON_NUMBER_BYTES], spans[MON_NUMBER_BYTES];
	mon_format_bytes(mon_process_field(process, TELE_ID_heap_mapped_bytes), view->units, mapped, sizeof(mapped));
	mon_format_count(mon_process_field(process, TELE_ID_heap_large_count), large, sizeof(large));
	mon_format_count(mon_process_field(process, TELE_ID_heap_spans_assigned), spans, sizeof(spans));
	mon_draw_format(grid, 1, y, grid->width - 2, MON_NORMAL,
			"mapped %s   %s spans serve classes   %s large blocks beside them", mapped,
			spans, large);
}

void mon_classes_draw(struct mon_grid *grid, const struct mon_model *model, const struct mon_process *process,
		      struct mon_view *view, int y, int height)
{
	uint32_t instances[CLASSES_MAX];
	struct size_class classes[CLASSES_MAX];
	struct mon_table_row rows[CLASSES_MAX];
	uint32_t n_found = mon_process_instances(process, TELE_SECTION_CLASS, instances, CLASSES_MAX), n_rows = 0;
	(void)model;
	view->about[0] = '\0';
	for (uint32_t i = 0; i < n_found && i < CLASSES_MAX; i++) {
		classes[i] = read_class(process, instances[i]);
		// One that never served a block says nothing.
		if (classes[i].slot_bytes == TELE_UNKNOWN || (classes[i].spans == 0 && classes[i].live == 0))
			continue;
		rows[n_rows++] = (struct mon_table_row){
			.number = key_of(&classes[i], view->lens.sort[MON_SCREEN_CLASSES]), .index = i};
	}
	if (n_rows == 0) {
		mon_draw_text(grid, 2, y + 1, grid->width - 4, MON_DIM,
			      "n/a: another malloc (rollcall run gives it ours), or no books yet");
		return;
	}
	mon_table_sort(rows, n_rows, view->lens.is_inverted[MON_SCREEN_CLASSES]);
	draw_title(grid, view, process, y);
	int shown = mon_has_about(view, height) ? height - 1 : height;
	struct mon_table table = {.grid = grid,
				  .view = view,
				  .x = 1,
				  .y = y + 1,
				  .width = grid->width - 2,
				  .height = shown - 1,
				  .columns = columns,
				  .n_columns = COLUMN_COUNT,
				  .n_rows = n_rows};
	mon_table_follow(view, rows, n_rows, 0);
	mon_table_start(&table);
	for (uint32_t row = table.first; row < table.end; row++)
		draw_row(&table, row, &classes[rows[row].index]);
	mon_table_finish(&table);
	snprintf(view->about, sizeof(view->about),
		 "Slots in use and free, spans, bytes beyond what was asked, bytes given back");
	mon_about_draw(grid, view, y, height);
}
