// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Pools by label, contexts and modules, over all devices and for each. Labels
// come from the schema: any field live_LABEL_pools is one, so a label of a
// later version has its row too. A label that never had a pool is left out.

#include "view_parts.h"

#include <stdio.h>
#include <string.h>

#include "format.h"
#include "outside.h"

#include "../libtelemetry/banned.h"

#define LABELS_MAX    16
#define SPARK_COLUMNS 8
#define TREND_COLUMNS 20 // a small chart, and the slope
#define TREND_WIDTH   54 // of a block that has room for it
#define DEVICES_MAX 64

struct label {
	char name[32];
	uint64_t live, live_bytes, allocated;
};

// Where the census stands: its section, and the instance, or TELE_NO_INSTANCE.
struct place {
	const char *section;
	uint32_t instance;
};

static int64_t position_of(const struct mon_process *process, const struct place *place, const char *format,
			   const char *label)
{
	char field[64], name[128];
	snprintf(field, sizeof(field), format, label);
	if (place->instance == TELE_NO_INSTANCE)
		snprintf(name, sizeof(name), "%s.%s", place->section, field);
	else
		snprintf(name, sizeof(name), "%s[%u].%s", place->section, place->instance, field);
	return tele_schema_find(process->instance->schema, name);
}

static uint64_t value_of(const struct mon_process *process, const struct place *place,
			 const char *format, const char *label)
{
	const struct mon_row *row = mon_process_latest(process);
	int64_t position = position_of(process, place, format, label);
	return position >= 0 && position < row->n_fields ? row->values[position] : TELE_UNKNOWN;
}

// The LABEL of live_LABEL_pools; false for any other name.
static bool label_of(const struct tele_field *field, char *buffer, size_t size)
{
	size_t len = strlen(field->name);
	if (len <= 11 || len - 11 >= size || memcmp(field->name, "live_", 5) != 0 ||
	    strcmp(field->name + len - 6, "_pools") != 0)
		return false;
	memcpy(buffer, field->name + 5, len - 11);
	buffer[len - 11] = '\0';
	return strchr(buffer, '%') == NULL;
}

static uint32_t read_labels(const struct mon_process *process, const struct place *place,
			    struct label labels[LABELS_MAX])
{
	const struct tele_schema *schema = process->instance->schema;
	uint32_t n_labels = 0;
	for (uint32_t i = 0; i < schema->n_fields && n_labels < LABELS_MAX; i++) {
		const struct tele_field *field = &schema->fields[i];
		struct label *label = &labels[n_labels];
		if (field->instance != place->instance ||
		    strcmp(field->section, place->section) != 0 ||
		    !label_of(field, label->name, sizeof(label->name)))
			continue;
		label->live = value_of(process, place, "live_%s_pools", label->name);
		label->live_bytes = value_of(process, place, "live_%s_bytes", label->name);
		label->allocated = value_of(process, place, "%s_pools_allocated", label->name);
		if (label->live != TELE_UNKNOWN && (label->live || label->allocated))
			n_labels++;
	}
	return n_labels;
}

static uint64_t sum_bytes(const struct label *labels, uint32_t n_labels)
{
	uint64_t sum_bytes = 0;
	for (uint32_t i = 0; i < n_labels; i++)
		if (labels[i].live_bytes == TELE_UNKNOWN ||
		    __builtin_add_overflow(sum_bytes, labels[i].live_bytes, &sum_bytes))
			return TELE_UNKNOWN;
	return sum_bytes;
}

// The trend of a class and its slope, or what a field has changed since the mark,
// in TREND_COLUMNS from x on.
static void draw_trend(struct mon_pen *pen, int x, const char *class_name, int64_t position)
{
	char text[MON_NUMBER_BYTES];
	int class_index = mon_series_class(pen->process, class_name);
	mon_pen_change(pen, position, false, text, sizeof(text));
	if (text[0]) {
		mon_draw_right(pen->grid, x, pen->y, TREND_COLUMNS, MON_BOLD, text);
		return;
	}
	if (class_index < 0)
		return;
	mon_pen_spark(pen, x, SPARK_COLUMNS, (struct mon_series){true, (uint32_t)class_index});
	const struct analysis_verdict *verdict =
		mon_series_verdict(pen->process, (uint32_t)class_index, pen->axis);
	bool is_growing = verdict && analysis_shape_grows(verdict->growth.shape);
	mon_series_slope(pen->process, (uint32_t)class_index, pen->axis, pen->units, text, sizeof(text));
	mon_draw_text(pen->grid, x + SPARK_COLUMNS + 1, pen->y, TREND_COLUMNS - SPARK_COLUMNS - 1,
		      is_growing ? MON_BAD : MON_DIM, text);
}

static int trend_columns(const struct mon_pen *pen)
{
	return pen->width >= TREND_WIDTH ? TREND_COLUMNS : 0;
}

// What slopes are per, above their columns.
static void draw_axis(struct mon_pen *pen)
{
	static const char *const texts[ANALYSIS_AXIS_COUNT] = {"a second", "attempted", "per linked", "per timed",
							       "per kept"};
	bool is_change = mon_lens_has_difference(&pen->view->lens, pen->process);
	if (trend_columns(pen))
		mon_draw_right(pen->grid, pen->x + pen->width - TREND_COLUMNS, pen->y, TREND_COLUMNS, MON_DIM,
			       is_change ? "since mark" : texts[pen->axis]);
}

// "working       82 ████████████      11.09G  ⡀⡠⠔⠊ +1.00"
static void draw_label(struct mon_pen *pen, const struct place *place, const struct label *label,
		       uint64_t whole_bytes)
{
	char live[MON_NUMBER_BYTES], bytes[MON_NUMBER_BYTES], allocated[MON_NUMBER_BYTES];
	char class_name[ANALYSIS_CLASS_NAME_MAX];
	int columns = mon_bytes_columns(pen->units), trend = trend_columns(pen);
	int bar_width = pen->width - 12 - 7 - columns - 2 - (trend ? trend + 1 : 0);
	int x = pen->x;
	if (bar_width > 60)
		bar_width = 60;
	mon_draw_text(pen->grid, x, pen->y, 11, MON_DIM, label->name);
	x += 12;
	mon_draw_right(pen->grid, x, pen->y, 6, MON_BOLD,
		       mon_format_count(label->live, live, sizeof(live)));
	x += 7;
	if (bar_width > 0) {
		mon_draw_bar(pen->grid, x, pen->y, bar_width, MON_ACCENT, true, label->live_bytes,
			     whole_bytes);
		x += bar_width + 1;
	}
	mon_draw_right(pen->grid, x, pen->y, columns, MON_NORMAL,
		       mon_format_bytes(label->live_bytes, pen->units, bytes, sizeof(bytes)));
	if (place->instance == TELE_NO_INSTANCE)
		snprintf(class_name, sizeof(class_name), "%.31s_pools", label->name);
	else
		snprintf(class_name, sizeof(class_name), "device[%u].%.31s_pools", place->instance, label->name);
	if (trend)
		draw_trend(pen, pen->x + pen->width - trend, class_name,
			   position_of(pen->process, place, "live_%s_pools", label->name));
	mon_pen_field(pen, "%s pools: %s live, %s allocated since the start, %s", label->name, live,
		      mon_format_count(label->allocated, allocated, sizeof(allocated)), bytes);
	pen->y++;
}

// `rest` in as many columns as there are, less `but` at the end.
static void draw_fact(struct mon_pen *pen, const char *name, const char *number, const char *rest, int but)
{
	mon_draw_text(pen->grid, pen->x, pen->y, 11, MON_DIM, name);
	mon_draw_right(pen->grid, pen->x + 12, pen->y, 6, MON_BOLD, number);
	mon_draw_text(pen->grid, pen->x + 19, pen->y, pen->width - 19 - but, MON_NORMAL, rest);
}

// A number that is the difference of two counters: contexts and modules.
struct balance {
	const char *name, *up, *down; // of the fields
	const char *wide, *narrow;    // with both counts, and with the first
	const char *help;
};

static const struct balance contexts = {
	"contexts", "contexts_created", "contexts_released", "unreleased (%s created, %s released)",
	"of %s unreleased",
	"Contexts not explicitly released: no live count, drivers may release some"};
static const struct balance modules = {"modules", "modules_loaded", "modules_unloaded",
				       "live (%s loaded, %s unloaded)", "of %s still loaded",
				       "Code modules loaded and not unloaded"};

static struct analysis_signed marked_balance(const struct mon_pen *pen, const struct place *place,
					     const struct balance *balance)
{
	return analysis_difference(mon_pen_marked(pen, position_of(pen->process, place, "%s", balance->up)),
				   mon_pen_marked(pen, position_of(pen->process, place, "%s", balance->down)));
}

static void draw_balance(struct mon_pen *pen, const struct place *place, const struct balance *balance)
{
	char number[MON_NUMBER_BYTES], ups[MON_NUMBER_BYTES], downs[MON_NUMBER_BYTES], rest[96];
	char class_name[ANALYSIS_CLASS_NAME_MAX];
	uint64_t up = value_of(pen->process, place, "%s", balance->up);
	uint64_t down = value_of(pen->process, place, "%s", balance->down);
	struct analysis_signed now = analysis_difference(up, down), then = marked_balance(pen, place, balance);
	int trend_x = pen->x + pen->width - TREND_COLUMNS;
	mon_format_count(up, ups, sizeof(ups));
	mon_format_count(down, downs, sizeof(downs));
	if (pen->width < 64)
		snprintf(rest, sizeof(rest), balance->narrow, ups);
	else
		snprintf(rest, sizeof(rest), balance->wide, ups, downs);
	draw_fact(pen, balance->name, mon_format_signed_count(now, number, sizeof(number)), rest,
		  trend_columns(pen));
	if (place->instance == TELE_NO_INSTANCE)
		snprintf(class_name, sizeof(class_name), "%s", balance->name);
	else
		snprintf(class_name, sizeof(class_name), "device[%u].%s", place->instance, balance->name);
	if (trend_columns(pen) && !mon_lens_has_difference(&pen->view->lens, pen->process)) {
		draw_trend(pen, trend_x, class_name, -1);
	} else if (trend_columns(pen) && then.is_known && now.is_known) {
		snprintf(number, sizeof(number), "%+lld", (long long)(now.value - then.value));
		mon_draw_right(pen->grid, trend_x, pen->y, TREND_COLUMNS, MON_BOLD, number);
	}
	mon_pen_field(pen, "%s", balance->help);
	pen->y++;
}

static void draw_outlived(struct mon_pen *pen)
{
	uint64_t n_pools = mon_process_field(pen->process, TELE_ID_census_outlived_pools);
	char number[MON_NUMBER_BYTES], bytes[MON_NUMBER_BYTES], rest[96];
	if (n_pools == 0 || n_pools == TELE_UNKNOWN)
		return;
	mon_format_bytes(mon_process_field(pen->process, TELE_ID_census_outlived_bytes), pen->units,
			 bytes, sizeof(bytes));
	snprintf(rest, sizeof(rest), "after their owner closed, %s", bytes);
	draw_fact(pen, "outlived", mon_format_count(n_pools, number, sizeof(number)), rest, 0);
	mon_pen_field(pen, "Pools still allocated after their owner closed; Devices lists the owners");
	pen->y++;
}

// Invariants that do not hold, the books apart: they have a line of their own.
static void draw_broken(struct mon_pen *pen)
{
	const struct tele_schema *schema = pen->process->instance->schema;
	for (uint32_t i = 0; i < pen->process->n_broken; i++) {
		char name[200];
		if (i >= TELE_ARRAY_LEN(pen->process->broken))
			break;
		const struct analysis_broken *broken = &pen->process->broken[i];
		if (schema->fields[broken->target].bucket == TELE_BUCKET_TOTAL)
			continue;
		tele_field_full_name(&schema->fields[broken->target], name, sizeof(name));
		mon_draw_format(pen->grid, pen->x, pen->y++, pen->width, MON_BAD,
				"%.120s does not add up: off by %+lld", name,
				(long long)broken->off);
	}
}

void mon_draw_census(struct mon_pen *pen)
{
	const struct place place = {"census", TELE_NO_INSTANCE};
	struct label labels[LABELS_MAX];
	char freed[MON_NUMBER_BYTES], peak[MON_NUMBER_BYTES], rest[128];
	const struct analysis_derived *derived = &pen->process->derived;
	uint32_t n_labels = read_labels(pen->process, &place, labels);
	if (n_labels == 0 && derived->live_pools == TELE_UNKNOWN &&
	    !derived->unreleased_contexts.is_known && !derived->live_modules.is_known) {
		mon_draw_title(pen, "CENSUS", "n/a: no pool, context or module was recorded",
			       MON_DIM);
		return;
	}
	mon_format_count(mon_process_field(pen->process, TELE_ID_census_pools_freed), freed,
			 sizeof(freed));
	mon_format_bytes(mon_process_field(pen->process, TELE_ID_census_peak_pool_bytes),
			 pen->units, peak, sizeof(peak));
	snprintf(rest, sizeof(rest), "%s%s freed, peak %s", pen->width < 64 ? "" : "live pools by label, ", freed, peak);
	draw_axis(pen);
	struct mon_pen title = *pen;
	title.width -= trend_columns(pen);
	mon_draw_title(&title, "CENSUS", rest, MON_NORMAL);
	pen->y++;
	uint64_t whole_bytes = sum_bytes(labels, n_labels);
	for (uint32_t i = 0; i < n_labels; i++)
		draw_label(pen, &place, &labels[i], whole_bytes);
	draw_balance(pen, &place, &contexts);
	draw_balance(pen, &place, &modules);
	draw_outlived(pen);
	draw_broken(pen);
}

// ---- Devices ------------------------------------------------------------------

static void draw_device_title(struct mon_pen *pen, uint32_t instance, uint64_t used_bytes,
			      uint64_t total_bytes)
{
	char title[32], used[MON_NUMBER_BYTES], total[MON_NUMBER_BYTES];
	const char *name = mon_process_string(pen->process, TELE_ID_device_name, instance);
	int end = pen->x + pen->width;
	snprintf(title, sizeof(title), "DEVICE %u", instance);
	int x = pen->x + mon_draw_text(pen->grid, pen->x, pen->y, pen->width, MON_TITLE, title) + 2;
	if (name)
		x += mon_draw_text(pen->grid, x, pen->y, (end - x) / 2, MON_NORMAL, name) + 2;
	mon_format_bytes(used_bytes, pen->units, used, sizeof(used));
	mon_format_bytes(total_bytes, pen->units, total, sizeof(total));
	bool is_over = used_bytes != TELE_UNKNOWN && total_bytes != TELE_UNKNOWN &&
		       used_bytes > total_bytes;
	if (used_bytes == TELE_UNKNOWN && total_bytes == TELE_UNKNOWN)
		mon_draw_text(pen->grid, x, pen->y, end - x, MON_DIM, "its memory was not observed");
	else
		mon_draw_format(pen->grid, x, pen->y, end - x, is_over ? MON_BAD : MON_NORMAL,
				"used %s of %s%s", used, total, is_over ? ", over" : "");
	mon_pen_field(pen, "Memory of the device in use by everybody, as last observed");
	pen->y++;
}

// What observers told of the device; nothing where they did not.
static void draw_residuals(struct mon_pen *pen, uint32_t instance)
{
	struct analysis_signed overhead, foreign;
	char number[MON_NUMBER_BYTES];
	int columns = mon_bytes_columns(pen->units) + 1;
	mon_outside_residuals(pen->model, pen->process, instance, &overhead, &foreign);
	const struct {
		struct analysis_signed bytes;
		const char *name, *what;
	} lines[] = {
		{overhead, "overhead", "contexts, code, slack, what was not seen"},
		{foreign, "foreign", "of no process that the driver tells of"},
	};
	for (size_t i = 0; i < TELE_ARRAY_LEN(lines); i++) {
		if (!lines[i].bytes.is_known)
			continue;
		mon_draw_text(pen->grid, pen->x, pen->y, 11, MON_DIM, lines[i].name);
		mon_draw_right(pen->grid, pen->x + 12, pen->y, columns, MON_NORMAL,
			       mon_format_signed_bytes(lines[i].bytes, pen->units, number, sizeof(number)));
		mon_draw_text(pen->grid, pen->x + 14 + columns, pen->y, pen->width - 14 - columns, MON_DIM,
			      lines[i].what);
		pen->y++;
	}
}

// The pools of the only device are those of the census above.
static void draw_device(struct mon_pen *pen, uint32_t instance, bool is_only, bool has_balances)
{
	const struct place place = {"device", instance};
	struct label labels[LABELS_MAX];
	uint64_t used_bytes = mon_process_value(pen->process, TELE_ID_device_used_bytes, instance);
	uint64_t total_bytes =
		mon_process_value(pen->process, TELE_ID_device_total_bytes, instance);
	uint32_t n_labels = read_labels(pen->process, &place, labels);
	uint64_t pool_bytes = sum_bytes(labels, n_labels);
	uint64_t whole_bytes = total_bytes == TELE_UNKNOWN ? pool_bytes : total_bytes;
	draw_device_title(pen, instance, used_bytes, total_bytes);
	for (uint32_t i = 0; i < n_labels && !is_only; i++)
		draw_label(pen, &place, &labels[i], whole_bytes);
	if (has_balances) {
		draw_balance(pen, &place, &contexts);
		draw_balance(pen, &place, &modules);
	}
	draw_residuals(pen, instance);
	if (used_bytes == TELE_UNKNOWN || pool_bytes == TELE_UNKNOWN || used_bytes <= pool_bytes)
		return;
	char other[MON_NUMBER_BYTES];
	int columns = mon_bytes_columns(pen->units);
	mon_draw_text(pen->grid, pen->x, pen->y, 11, MON_DIM, "other");
	mon_draw_right(pen->grid, pen->x + 12, pen->y, columns, MON_NORMAL,
		       mon_format_bytes(used_bytes - pool_bytes, pen->units, other, sizeof(other)));
	mon_draw_text(pen->grid, pen->x + 14 + columns, pen->y, pen->width - 14 - columns, MON_DIM,
		      "driver and other processes");
	pen->y++;
}

void mon_draw_devices(struct mon_pen *pen)
{
	uint32_t devices[DEVICES_MAX];
	uint32_t n_devices =
		mon_process_instances(pen->process, TELE_SECTION_DEVICE, devices, DEVICES_MAX);
	for (uint32_t i = 0; i < n_devices && i < DEVICES_MAX; i++)
		draw_device(pen, devices[i], n_devices == 1, false);
}

void mon_draw_all_devices(struct mon_pen *pen)
{
	uint32_t devices[DEVICES_MAX];
	uint32_t n_devices =
		mon_process_instances(pen->process, TELE_SECTION_DEVICE, devices, DEVICES_MAX);
	for (uint32_t i = 0; i < n_devices && i < DEVICES_MAX; i++) {
		draw_device(pen, devices[i], n_devices == 1, n_devices > 1);
		pen->y += i + 1 < n_devices;
	}
}
