// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What changed from a to b, class by class, along the axis that tells most of
// the class: that of the side on which it grows. The judgement of each side is
// its verdict's; peaks are those of all rows.

#include "diff.h"

#include "../analysis/compare.h"
#include "../monitor/json.h"
#include "diff_side.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "../libtelemetry/banned.h"

// One class on both sides.
struct pair {
	const char *name;
	unsigned unit;
	enum analysis_axis axis;
	struct analysis_side sides[2];
	struct rec_diff_class figures[2];
	struct analysis_change change;
};

struct diff {
	const struct rec_diff_options *options;
	struct rec_side sides[2];
	struct mon_out *out;
};

static const struct analysis_verdict *find(const struct rec_side *side, int class_index, int axis)
{
	for (size_t i = 0; i < side->n_list; i++) {
		const struct analysis_verdict *verdict = &side->list[i];
		bool is_it = axis < 0 ? verdict->is_headline : (int)verdict->axis == axis;
		if (is_it && (int)verdict->class_index == class_index)
			return verdict;
	}
	return NULL;
}

static void fill_side(const struct rec_side *side, int class_index, enum analysis_axis axis,
		      struct analysis_side *ret_side, struct rec_diff_class *ret_figures)
{
	*ret_side = (struct analysis_side){.n_points = 0};
	*ret_figures = (struct rec_diff_class){0};
	if (class_index < 0 || (size_t)class_index >= side->n_classes || !side->classes[class_index].is_known)
		return;
	*ret_figures = side->classes[class_index];
	const struct analysis_verdicts *engine = analysis_watch_engine(side->watch);
	analysis_summarize(analysis_verdicts_history(engine, (size_t)class_index, axis), ret_side);
	const struct analysis_verdict *verdict = find(side, class_index, (int)axis);
	if (verdict)
		ret_side->growth = verdict->growth;
}

static void compare(struct diff *diff, const char *name, unsigned unit, struct pair *ret_pair)
{
	int classes[2];
	const struct analysis_verdict *heads[2];
	for (int s = 0; s < 2; s++) {
		classes[s] = analysis_classes_find(analysis_watch_classes(diff->sides[s].watch), name);
		heads[s] = find(&diff->sides[s], classes[s], -1);
	}
	bool b_grows = heads[1] && analysis_shape_grows(heads[1]->growth.shape);
	bool a_grows = heads[0] && analysis_shape_grows(heads[0]->growth.shape);
	const struct analysis_verdict *head = heads[1] && (!heads[0] || (b_grows && !a_grows)) ? heads[1] : heads[0];
	*ret_pair = (struct pair){.name = name, .unit = unit, .axis = head ? head->axis : ANALYSIS_TIME};
	for (int s = 0; s < 2; s++)
		fill_side(&diff->sides[s], classes[s], ret_pair->axis, &ret_pair->sides[s], &ret_pair->figures[s]);
	analysis_compare(&ret_pair->sides[0], &ret_pair->sides[1], &ret_pair->change);
}

// Whether there is anything to say: a class that was never anything is left out.
static bool is_worth(const struct pair *pair)
{
	const struct rec_diff_class *a = &pair->figures[0], *b = &pair->figures[1];
	return (a->is_known && (a->peak || a->last)) || (b->is_known && (b->peak || b->last));
}

// Devices that have classes of their own. Of one alone they say nothing that
// the process's do not.
static bool has_devices(const struct analysis_classes *classes)
{
	uint32_t first = TELE_NO_INSTANCE;
	for (size_t i = 0; i < classes->n_items; i++) {
		uint32_t device = analysis_classes_device(classes, i);
		if (device != TELE_NO_INSTANCE && first != TELE_NO_INSTANCE && device != first)
			return true;
		first = device != TELE_NO_INSTANCE ? device : first;
	}
	return false;
}

typedef void (*pair_fn)(struct diff *diff, const struct pair *pair, bool is_first);

// Every class of a, then those of b alone, for which `changed` is as asked.
static unsigned each_pair(struct diff *diff, bool with_changed, bool with_same, pair_fn tell)
{
	unsigned n = 0;
	bool with_devices = has_devices(analysis_watch_classes(diff->sides[0].watch)) ||
			    has_devices(analysis_watch_classes(diff->sides[1].watch));
	for (int s = 0; s < 2; s++) {
		const struct analysis_classes *classes = analysis_watch_classes(diff->sides[s].watch);
		const struct analysis_classes *others = analysis_watch_classes(diff->sides[0].watch);
		for (size_t i = 0; i < classes->n_items; i++) {
			struct pair pair;
			if ((s == 1 && analysis_classes_find(others, classes->items[i].name) >= 0) ||
			    (!with_devices && analysis_classes_device(classes, i) != TELE_NO_INSTANCE))
				continue;
			compare(diff, classes->items[i].name, classes->items[i].unit, &pair);
			bool is_same = pair.change.kind == ANALYSIS_SAME;
			if (is_worth(&pair) && (is_same ? with_same : with_changed))
				tell(diff, &pair, n++ == 0);
		}
	}
	return n;
}

// ---- Text -----------------------------------------------------------------------

static void put_number(struct mon_out *out, double value, unsigned unit)
{
	char text[32];
	const char *sign = value < 0 ? "-" : "";
	double magnitude = fabs(value);
	if (isnan(value))
		mon_out_text(out, "n/a");
	else if (unit == TELE_BYTES)
		mon_out_format(out, "%s%s", sign, mon_format_size(magnitude, MON_UNITS_IEC, text, sizeof(text)));
	else
		mon_out_format(out, magnitude == floor(magnitude) ? "%s%.0f" : "%s%.3g", sign, magnitude);
}

static void put_both(struct diff *diff, const char *what, double a, double b, unsigned unit)
{
	mon_out_text(diff->out, what);
	put_number(diff->out, a, unit);
	mon_out_text(diff->out, " -> ");
	put_number(diff->out, b, unit);
}

static const char *per_axis(enum analysis_axis axis)
{
	static const char *const phrases[] = {"a second", "per attempted", "per linked", "per timed", "per kept"};
	return phrases[axis];
}

// NAN where it is not known.
static double slope_of(const struct analysis_side *side)
{
	return side->n_points == 0 || side->growth.shape == ANALYSIS_NOT_ENOUGH_DATA ? NAN : side->growth.slope;
}

static void put_shapes(struct diff *diff, const struct pair *pair)
{
	const struct analysis_growth *a = &pair->sides[0].growth, *b = &pair->sides[1].growth;
	const char *before = pair->figures[0].is_known ? analysis_shape_name(a->shape) : "absent";
	const char *after = pair->figures[1].is_known ? analysis_shape_name(b->shape) : "absent";
	if (strcmp(before, after) == 0)
		mon_out_format(diff->out, "%s", before);
	else
		mon_out_format(diff->out, "%s -> %s", before, after);
	if (a->slope != 0 || b->slope != 0) {
		put_both(diff, ", slope ", slope_of(&pair->sides[0]), slope_of(&pair->sides[1]), pair->unit);
		mon_out_format(diff->out, " %s", per_axis(pair->axis));
	}
}

static void print_pair(struct diff *diff, const struct pair *pair, bool is_first)
{
	char name[ANALYSIS_CLASS_NAME_MAX];
	const struct rec_diff_class *a = &pair->figures[0], *b = &pair->figures[1];
	if (is_first)
		mon_out_text(diff->out, "\n");
	mon_out_format(diff->out, "  %-26s %-16s ", mon_text_clean(pair->name, diff->options->is_ascii, name, sizeof(name)),
		       analysis_change_name(pair->change.kind));
	put_shapes(diff, pair);
	if (a->is_known && b->is_known) {
		put_both(diff, "; level ", pair->sides[0].mean, pair->sides[1].mean, pair->unit);
		put_both(diff, ", peak ", (double)a->peak, (double)b->peak, pair->unit);
		put_both(diff, ", last ", (double)a->last, (double)b->last, pair->unit);
	} else {
		mon_out_text(diff->out, "; peak ");
		put_number(diff->out, (double)(a->is_known ? a : b)->peak, pair->unit);
	}
	mon_out_text(diff->out, "\n");
}

static void print_side(struct diff *diff, int s)
{
	char text[300];
	const struct rec_side *side = &diff->sides[s];
	const char *path = s ? diff->options->b : diff->options->a;
	const char *place = s ? diff->options->after : diff->options->before;
	mon_out_format(diff->out, "%c  %s", "AB"[s], mon_text_clean(path, diff->options->is_ascii, text, sizeof(text)));
	if (place)
		mon_out_format(diff->out, " %s %s", s ? "from" : "up to", place);
	mon_out_format(diff->out, ": %s, ", mon_text_clean(side->identity.label[0] ? side->identity.label : side->identity.comm,
							   diff->options->is_ascii, text, sizeof(text)));
	if (side->identity.pid)
		mon_out_format(diff->out, "PID %" PRIu64 ", ", side->identity.pid);
	mon_out_format(diff->out, "%" PRIu64 " rows", side->n_rows);
	if (!side->identity.is_untimed)
		mon_out_format(diff->out, ", %.1f s", (double)(side->last_at_ns - side->first_at_ns) / 1e9);
	if (side->lost)
		mon_out_format(diff->out, ", %" PRIu64 " lost", side->lost);
	if (!side->is_complete)
		mon_out_format(diff->out, ", incomplete%s%s", side->damage[0] ? ": " : "", side->damage);
	mon_out_text(diff->out, "\n");
}

static void print_candidates(struct diff *diff)
{
	const struct rec_side *a = &diff->sides[0], *b = &diff->sides[1];
	char text[300];
	if (a->n_ended == 0 && b->n_ended == 0)
		return;
	mon_out_format(diff->out, "\n  %-26s %12s %12s\n", "candidates ended", "A", "B");
	for (unsigned i = TELE_OUTCOME_OPEN + 1; i < TELE_OUTCOME_COUNT; i++)
		if (a->outcomes[i] || b->outcomes[i])
			mon_out_format(diff->out, "  %-26s %12" PRIu64 " %12" PRIu64 "\n", tele_outcome_name(i), a->outcomes[i],
				       b->outcomes[i]);
	mon_out_format(diff->out, "  %-26s %12" PRIu64 " %12" PRIu64 "\n", "in all", a->n_ended, b->n_ended);
	mon_out_format(diff->out, "\n  %" PRIu64 " of the same label in both, %" PRIu64 " in A alone, %" PRIu64 " in B alone",
		       b->n_matched, a->n_ended - b->n_matched, b->n_ended - b->n_matched);
	mon_out_format(diff->out, "; %" PRIu64 " of another outcome\n", b->n_changed);
	for (uint64_t i = 0; i < b->n_changed && i < REC_CHANGED_MAX; i++)
		mon_out_format(diff->out, "    %s: %s -> %s\n",
			       mon_text_clean(b->changed[i].label, diff->options->is_ascii, text, sizeof(text)),
			       tele_outcome_name(b->changed[i].before), tele_outcome_name(b->changed[i].after));
	if (b->n_changed > REC_CHANGED_MAX)
		mon_out_format(diff->out, "    and %" PRIu64 " more\n", b->n_changed - REC_CHANGED_MAX);
}

static void print_diff(struct diff *diff)
{
	for (int s = 0; s < 2; s++)
		print_side(diff, s);
	unsigned n = each_pair(diff, true, false, print_pair);
	if (n == 0)
		mon_out_text(diff->out, "\n  no class changed\n");
	each_pair(diff, false, true, print_pair);
	print_candidates(diff);
}

// ---- JSON -----------------------------------------------------------------------

static void put_double(struct diff *diff, const char *key, double value)
{
	if (isfinite(value))
		mon_out_format(diff->out, ",\"%s\":%.17g", key, value);
	else
		mon_out_format(diff->out, ",\"%s\":null", key);
}

static void write_pair_side(struct diff *diff, const struct pair *pair, int s)
{
	const struct analysis_side *side = &pair->sides[s];
	const struct rec_diff_class *figures = &pair->figures[s];
	mon_out_format(diff->out, ",\"%c\":", "ab"[s]);
	if (!figures->is_known) {
		mon_out_text(diff->out, "null");
		return;
	}
	mon_out_format(diff->out, "{\"shape\":\"%s\"", analysis_shape_name(side->growth.shape));
	double known = slope_of(side) - slope_of(side); // 0, or NAN
	put_double(diff, "slope", side->growth.slope + known);
	put_double(diff, "slope_low", side->growth.slope_low + known);
	put_double(diff, "slope_high", side->growth.slope_high + known);
	put_double(diff, "level", side->n_points ? side->mean : NAN);
	mon_out_format(diff->out, ",\"points\":%" PRIu64 ",\"peak\":%" PRId64 ",\"last\":%" PRId64 "}", side->n_points,
		       figures->peak, figures->last);
}

static void write_pair(struct diff *diff, const struct pair *pair, bool is_first)
{
	mon_out_text(diff->out, is_first ? "{\"class\":" : ",{\"class\":");
	mon_json_string(diff->out, pair->name);
	mon_out_format(diff->out, ",\"unit\":\"%s\",\"axis\":\"%s\",\"change\":\"%s\"", tele_unit_name(pair->unit),
		       analysis_axis_name(pair->axis), analysis_change_name(pair->change.kind));
	for (int s = 0; s < 2; s++)
		write_pair_side(diff, pair, s);
	mon_out_text(diff->out, "}");
}

static void write_side(struct diff *diff, int s)
{
	const struct rec_side *side = &diff->sides[s];
	mon_out_format(diff->out, "\"%c\":{\"path\":", "ab"[s]);
	mon_json_string(diff->out, s ? diff->options->b : diff->options->a);
	mon_out_text(diff->out, ",\"pid\":");
	mon_json_u64(diff->out, side->identity.pid ? side->identity.pid : TELE_UNKNOWN);
	mon_out_text(diff->out, ",\"label\":");
	mon_json_string(diff->out, side->identity.label);
	mon_out_format(diff->out, ",\"rows\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"is_complete\":%s,\"outcomes\":{", side->n_rows,
		       side->lost, side->is_complete ? "true" : "false");
	for (unsigned i = TELE_OUTCOME_OPEN + 1; i < TELE_OUTCOME_COUNT; i++)
		mon_out_format(diff->out, "%s\"%s\":%" PRIu64, i > TELE_OUTCOME_OPEN + 1 ? "," : "", tele_outcome_name(i),
			       side->outcomes[i]);
	mon_out_text(diff->out, "}},");
}

static void write_diff(struct diff *diff)
{
	const struct rec_side *a = &diff->sides[0], *b = &diff->sides[1];
	mon_out_text(diff->out, "{");
	for (int s = 0; s < 2; s++)
		write_side(diff, s);
	mon_out_text(diff->out, "\"classes\":[");
	each_pair(diff, true, true, write_pair);
	mon_out_format(diff->out, "],\"candidates\":{\"matched\":%" PRIu64 ",\"only_a\":%" PRIu64 ",\"only_b\":%" PRIu64
		       ",\"changed\":%" PRIu64 ",\"examples\":[", b->n_matched, a->n_ended - b->n_matched,
		       b->n_ended - b->n_matched, b->n_changed);
	for (uint64_t i = 0; i < b->n_changed && i < REC_CHANGED_MAX; i++) {
		mon_out_text(diff->out, i ? ",{\"label\":" : "{\"label\":");
		mon_json_string(diff->out, b->changed[i].label);
		mon_out_format(diff->out, ",\"a\":\"%s\",\"b\":\"%s\"}", tele_outcome_name(b->changed[i].before),
			       tele_outcome_name(b->changed[i].after));
	}
	mon_out_text(diff->out, "]}}\n");
}

int rec_diff(const struct rec_diff_options *options, struct mon_out *out, struct tele_error *ret_error)
{
	struct diff diff = {.options = options, .out = out};
	struct rec_part parts[2] = {0};
	int result = 0;
	if (options->before) {
		parts[0].has_end = true;
		result = mon_at_parse(options->before, &parts[0].end, ret_error);
	}
	if (result >= 0 && options->after) {
		parts[1].has_begin = true;
		result = mon_at_parse(options->after, &parts[1].begin, ret_error);
	}
	if (result >= 0)
		result = rec_side_read(&diff.sides[0], options->a, &parts[0], options->select, NULL, ret_error);
	if (result >= 0)
		result = rec_side_read(&diff.sides[1], options->b, &parts[1], options->select, &diff.sides[0], ret_error);
	if (result >= 0 && options->is_json)
		write_diff(&diff);
	else if (result >= 0)
		print_diff(&diff);
	for (int s = 0; s < 2; s++)
		rec_side_fini(&diff.sides[s]);
	if (result >= 0 && (result = mon_out_status(out)) < 0)
		tele_fail(ret_error, result, "out of memory for the output");
	return result;
}
