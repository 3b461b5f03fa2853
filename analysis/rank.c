// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// From judged tracks to a ranked list: which axis tells best, what a class
// explains of its total, and when a limit is reached.
//
// Shares use one linear estimator, the total's window, axis and rho, for the
// total and for every part, so that parts and what is unexplained add up to
// the whole. Two slopes that were chosen apart must not be divided.

#include <math.h>

#include "engine.h"

#include "../libtelemetry/banned.h"

#define FAR_WINDOWS 20

// Everything judged, before it is ranked.
struct look {
	const struct analysis_verdicts *engine;
	enum analysis_look look;
	struct analysis_verdict *list;
	int index[ANALYSIS_CLASSES_MAX][ANALYSIS_AXIS_COUNT]; // into list, or -1
	int headline[ANALYSIS_CLASSES_MAX];                   // an axis, or -1
	bool is_growing[ANALYSIS_CLASSES_MAX];                // on its headline axis
};

static struct analysis_verdict *find(const struct look *look, int class_index, int axis)
{
	if (class_index < 0 || axis < 0 || look->index[class_index][axis] < 0)
		return NULL;
	return &look->list[look->index[class_index][axis]];
}

static bool grows(const struct analysis_verdict *verdict)
{
	return verdict && analysis_shape_grows(verdict->growth.shape);
}

static void blank(struct analysis_verdict *verdict, unsigned class_index, enum analysis_axis axis)
{
	*verdict = (struct analysis_verdict){
		.class_index = class_index,
		.axis = axis,
		.turned_at_s = NAN,
		.share = NAN,
		.unexplained = NAN,
		.by_outcome = {.between = NAN, .blame = ANALYSIS_BLAME_UNKNOWN},
		.forecast = NAN,
		.forecast_low = NAN,
		.forecast_high = NAN,
		.forecast_seconds = NAN,
		.capacity_bytes = TELE_UNKNOWN,
		.each_bytes = NAN,
		.each_low_bytes = NAN,
		.each_high_bytes = NAN,
	};
	for (unsigned outcome = 0; outcome < TELE_OUTCOME_COUNT; outcome++)
		verdict->by_outcome.growth[outcome] = NAN;
}

static bool is_total(const struct analysis_verdicts *engine, int class_index)
{
	for (size_t i = 0; i < engine->n_classes; i++)
		if (engine->classes[i]->class.total_class == class_index)
			return true;
	return false;
}

// What is left out is told at once, judged or not.
static void set_left_out(const struct analysis_history *history, struct analysis_growth *ret)
{
	ret->n_gaps = history->n_gaps;
	ret->n_index_restarts = history->n_index_restarts;
	ret->n_left_out = history->n_left_out;
	if (ret->shape == ANALYSIS_NOT_ENOUGH_DATA || ret->points == 0) {
		ret->points = analysis_history_points(history);
		ret->window = history->n_points > 0 ? history->last_x - history->first_x : 0;
	}
}

static size_t judge_all(struct look *look, size_t max)
{
	const struct analysis_verdicts *engine = look->engine;
	size_t n = 0;

	for (unsigned i = 0; i < engine->n_classes; i++) {
		for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++) {
			const struct analysis_track *track = &engine->classes[i]->tracks[axis];
			struct analysis_verdict *verdict = &look->list[n];

			look->index[i][axis] = -1;
			if (n == max || analysis_history_points(&track->history) < (axis == ANALYSIS_TIME ? 1 : 2))
				continue;
			blank(verdict, i, (enum analysis_axis)axis);
			verdict->is_total = is_total(engine, (int)i);
			if (look->look == ANALYSIS_FINAL) {
				analysis_judge_track(engine, engine->classes[i], (enum analysis_axis)axis,
						     &verdict->growth);
			} else {
				verdict->growth = track->shown;
				analysis_growth_widen(&track->history, &verdict->growth);
				verdict->is_so_far = grows(verdict);
				set_left_out(&track->history, &verdict->growth);
			}
			verdict->turned_at_row = engine->classes[i]->turned_at_row;
			verdict->turned_at_s = engine->classes[i]->turned_at_s;
			look->index[i][axis] = (int)n++;
		}
	}
	return n;
}

// Relative width of the interval: the axis that explains the class best has
// the least.
static double width(const struct analysis_growth *growth)
{
	double of_slope = (growth->slope_high - growth->slope_low) / growth->slope;

	if (!(growth->slope > 0))
		return INFINITY;
	return fmax(of_slope, 1e-6); // below, all axes are exact
}

static int growing_axis(const struct look *look, int class_index)
{
	static const int order[] = {ANALYSIS_LINKED, ANALYSIS_ATTEMPTED, ANALYSIS_TIMED, ANALYSIS_KEPT, ANALYSIS_TIME};
	const struct analysis_verdicts *engine = look->engine;
	bool growing[ANALYSIS_AXIS_COUNT];
	int best = -1;
	double best_width = INFINITY;

	for (int axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
		growing[axis] = grows(find(look, class_index, axis));
	if (!analysis_class_grows(engine, engine->classes[class_index], growing))
		return -1;
	for (size_t k = 0; k < TELE_ARRAY_LEN(order); k++) {
		const struct analysis_verdict *verdict = find(look, class_index, order[k]);
		if (!grows(verdict))
			continue;
		// Candidates are what a search can be changed by: time must be better
		// by far.
		double limit = order[k] == ANALYSIS_TIME ? 0.4 : 0.9;
		if (best < 0 || width(&verdict->growth) < limit * best_width) {
			best = order[k];
			best_width = width(&verdict->growth);
		}
	}
	return best;
}

static int quiet_axis(const struct look *look, int class_index)
{
	static const int order[] = {ANALYSIS_ATTEMPTED, ANALYSIS_LINKED, ANALYSIS_TIME, ANALYSIS_TIMED, ANALYSIS_KEPT};
	int first = -1;

	for (size_t k = 0; k < TELE_ARRAY_LEN(order); k++) {
		const struct analysis_verdict *verdict = find(look, class_index, order[k]);
		if (!verdict)
			continue;
		if (first < 0)
			first = order[k];
		if (verdict->growth.shape != ANALYSIS_NOT_ENOUGH_DATA && !grows(verdict))
			return order[k];
	}
	return first;
}

static void choose_headlines(struct look *look)
{
	const struct analysis_verdicts *engine = look->engine;
	size_t n = engine->n_classes;

	for (size_t i = 0; i < n; i++) {
		int axis = growing_axis(look, (int)i);
		look->is_growing[i] = axis >= 0;
		look->headline[i] = axis >= 0 ? axis : quiet_axis(look, (int)i);
	}
	// An axis that grows where its class does not is not believed.
	for (size_t i = 0; i < n; i++) {
		for (int axis = 0; axis < ANALYSIS_AXIS_COUNT && !look->is_growing[i]; axis++) {
			struct analysis_verdict *verdict = find(look, (int)i, axis);
			if (!grows(verdict))
				continue;
			verdict->growth.shape = ANALYSIS_NOT_ENOUGH_DATA;
			verdict->growth.slope = verdict->growth.slope_low = verdict->growth.slope_high = 0;
			verdict->is_so_far = false;
		}
	}
	// Bytes follow their count, so that one sentence can speak of both.
	for (size_t i = 0; i < n; i++) {
		int bytes = engine->classes[i]->class.bytes_class;
		if (bytes >= 0 && look->is_growing[i] && look->is_growing[bytes] &&
		    grows(find(look, bytes, look->headline[i]))) {
			look->headline[bytes] = look->headline[i];
			find(look, bytes, look->headline[i])->is_covered = true;
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct analysis_verdict *verdict = find(look, (int)i, look->headline[i]);
		if (verdict)
			verdict->is_headline = true;
	}
}

static void set_each(const struct look *look, struct analysis_verdict *verdict)
{
	const struct analysis_class *class = &look->engine->classes[verdict->class_index]->class;
	const struct analysis_verdict *bytes = find(look, class->bytes_class, (int)verdict->axis);

	if (!grows(verdict) || !grows(bytes) || !(verdict->growth.slope > 0))
		return;
	verdict->each_window = bytes->growth.window;
	verdict->each_bytes = bytes->growth.slope / verdict->growth.slope;
	verdict->each_low_bytes = bytes->growth.slope_low / verdict->growth.slope;
	verdict->each_high_bytes = bytes->growth.slope_high / verdict->growth.slope;
}

// A share speaks of the class, whatever axis tells best of it.
static void set_share(const struct look *look, int class_index, double share)
{
	for (int axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++) {
		struct analysis_verdict *verdict = find(look, class_index, axis);
		if (verdict)
			verdict->share = share;
	}
}

// Shares of one total that grows, on one axis.
static void share_out(const struct look *look, int total_index, int axis)
{
	const struct analysis_verdicts *engine = look->engine;
	struct analysis_verdict *total = find(look, total_index, axis);
	const struct analysis_history *whole = &engine->classes[total_index]->tracks[axis].history;
	double from = total->growth.from, rho = analysis_rho_from(whole, from), slope, explained = 0;

	if (!analysis_slope_from(whole, from, rho, &slope) || !(slope > 0))
		return;
	for (size_t i = 0; i < engine->n_classes; i++) {
		const struct analysis_history *part = &engine->classes[i]->tracks[axis].history;
		double part_slope;

		if (engine->classes[i]->class.total_class != total_index ||
		    !analysis_slope_from(part, from + whole->first_x - part->first_x, rho, &part_slope))
			continue;
		explained += part_slope / slope;
		set_share(look, (int)i, part_slope / slope);
		for (size_t k = 0; k < engine->n_classes; k++)
			if (engine->classes[k]->class.bytes_class == (int)i)
				set_share(look, (int)k, part_slope / slope);
	}
	total->unexplained = 1 - explained;
}

static const struct analysis_verdict *total_of(const struct look *look, const struct analysis_verdict *verdict)
{
	return find(look, look->engine->classes[verdict->class_index]->class.total_class, (int)verdict->axis);
}

// The verdict whose level meets the limit, and the limit.
static const struct analysis_verdict *limited(const struct look *look, const struct analysis_verdict *verdict,
					      uint64_t *ret_bytes)
{
	const struct analysis_class_state *state = look->engine->classes[verdict->class_index];
	const struct analysis_verdict *bytes = find(look, state->class.bytes_class, (int)verdict->axis);

	if (state->class.unit != TELE_BYTES) {
		if (!grows(bytes))
			return NULL;
		return limited(look, bytes, ret_bytes);
	}
	*ret_bytes = state->capacity_bytes;
	if (*ret_bytes != TELE_UNKNOWN)
		return verdict;
	const struct analysis_verdict *total = total_of(look, verdict);
	if (!total)
		return NULL;
	*ret_bytes = look->engine->classes[total->class_index]->capacity_bytes;
	return *ret_bytes == TELE_UNKNOWN ? NULL : total;
}

static double seconds_per_x(const struct analysis_verdicts *engine, enum analysis_axis axis)
{
	const struct analysis_pace *pace = &engine->pace[axis];

	if (axis == ANALYSIS_TIME)
		return 1;
	if (!pace->has_first || !(pace->last_x > pace->first_x))
		return NAN;
	return (pace->last_s - pace->first_s) / (pace->last_x - pace->first_x);
}

static void set_forecast(const struct look *look, struct analysis_verdict *verdict)
{
	uint64_t capacity;
	const struct analysis_verdict *level = limited(look, verdict, &capacity);
	if (!grows(verdict) || !level)
		return;
	verdict->capacity_bytes = capacity;
	double now = look->engine->classes[level->class_index]->value, room = (double)capacity - now;
	if (room < 0) {
		verdict->over_by_bytes = (uint64_t)(-room);
		return;
	}
	// The whole's own rate, where it has one: other classes fill it too.
	const struct analysis_verdict *rate = grows(level) ? level : find(look, (int)verdict->class_index, (int)verdict->axis);
	const struct analysis_class *class = &look->engine->classes[verdict->class_index]->class;
	if (!grows(level) && class->unit != TELE_BYTES)
		rate = find(look, class->bytes_class, (int)verdict->axis);
	if (!grows(rate) || !(rate->growth.slope_low > 0))
		return;
	// Peaks reach the limit first.
	const struct analysis_growth *growth = &rate->growth;
	double peaks = fmax(level->growth.level_high - level->growth.last, 0);
	room = fmax(room - peaks, 0);
	if (growth->shape == ANALYSIS_STEPPING) {
		verdict->forecast = ceil(room / growth->step_height) * growth->step_gap;
	} else {
		verdict->forecast = room / growth->slope;
	}
	verdict->forecast_low = room / growth->slope_high;
	verdict->forecast_high = room / growth->slope_low;
	if (verdict->forecast > FAR_WINDOWS * growth->window) {
		verdict->forecast = verdict->forecast_low = FAR_WINDOWS * growth->window;
		verdict->forecast_high = INFINITY;
		verdict->forecast_is_bound = true;
	}
	verdict->forecast_seconds = verdict->forecast * seconds_per_x(look->engine, verdict->axis);
}

// What a class weighs in the ranking.
struct weight {
	bool is_growing, is_effect, is_total;
	double bytes, count;
};

static struct weight weigh(const struct look *look, int class_index)
{
	const struct analysis_class *class = &look->engine->classes[class_index]->class;
	const struct analysis_verdict *head = find(look, class_index, look->headline[class_index]);
	struct weight weight = {.is_growing = look->is_growing[class_index]};

	if (!head || !weight.is_growing)
		return weight;
	const struct analysis_verdict *bytes = head;
	if (class->unit != TELE_BYTES) {
		bytes = find(look, class->bytes_class, (int)head->axis);
		weight.count = head->growth.slope * head->growth.window;
	}
	weight.is_total = head->is_total;
	weight.is_effect = class->is_effect;
	weight.bytes = grows(bytes) ? bytes->growth.slope * bytes->growth.window : 0;
	return weight;
}

static bool goes_before(const struct weight *a, const struct weight *b)
{
	if (a->is_growing != b->is_growing)
		return a->is_growing;
	if (a->is_effect != b->is_effect)
		return b->is_effect;
	if (a->is_total != b->is_total)
		return b->is_total;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes;
	return a->count > b->count;
}

// Puts the verdicts in the order of their classes' weights, a class's headline
// first. Equal weights keep the order of classes.
static void rank(struct look *look, size_t n)
{
	struct weight weights[ANALYSIS_CLASSES_MAX];
	uint16_t classes[ANALYSIS_CLASSES_MAX], order[ANALYSIS_CLASSES_MAX * ANALYSIS_AXIS_COUNT];
	size_t n_classes = look->engine->n_classes, n_ordered = 0;

	for (size_t i = 0; i < n_classes; i++) {
		size_t k = i;
		weights[i] = weigh(look, (int)i);
		for (; k > 0 && goes_before(&weights[i], &weights[classes[k - 1]]); k--)
			classes[k] = classes[k - 1];
		classes[k] = (uint16_t)i;
	}
	for (size_t k = 0; k < n_classes; k++) {
		const int *index = look->index[classes[k]];
		int headline = look->headline[classes[k]];
		if (headline >= 0)
			order[n_ordered++] = (uint16_t)index[headline];
		for (int axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
			if (axis != headline && index[axis] >= 0)
				order[n_ordered++] = (uint16_t)index[axis];
	}
	TELE_ASSERT(n_ordered == n);
	// order[k] is where the k-th comes from: follow its cycles in place.
	for (size_t k = 0; k < n; k++) {
		if (order[k] == k)
			continue;
		struct analysis_verdict first = look->list[k];
		size_t at = k;
		while (order[at] != k) {
			size_t from = order[at];
			look->list[at] = look->list[from];
			order[at] = (uint16_t)at;
			at = from;
		}
		look->list[at] = first;
		order[at] = (uint16_t)at;
	}
}

size_t analysis_verdicts_list(const struct analysis_verdicts *engine, enum analysis_look how,
			      struct analysis_verdict *ret, size_t max)
{
	struct look look = {.engine = engine, .look = how, .list = ret};
	size_t n = judge_all(&look, max);

	choose_headlines(&look);
	for (size_t k = 0; k < n; k++) {
		struct analysis_verdict *verdict = &ret[k];
		set_each(&look, verdict);
		set_forecast(&look, verdict);
		if (verdict->is_total && verdict->is_headline && look.is_growing[verdict->class_index])
			share_out(&look, (int)verdict->class_index, (int)verdict->axis);
		if (grows(verdict))
			analysis_split_by_outcome(&engine->outcomes, engine->classes[verdict->class_index]->outcomes,
						  &verdict->by_outcome);
	}
	rank(&look, n);
	return n;
}
