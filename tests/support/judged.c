// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Rows of a trace as rows of the engine: what is live is what was created less
// what was released, and unknown if either is.

#include "judged.h"

#include <stdlib.h>

static const struct analysis_class classes[JUDGED_CLASSES] = {
	[JUDGED_WORKING_POOLS] = {"working_pools", TELE_COUNT, JUDGED_WORKING_BYTES, ANALYSIS_NO_CLASS, false},
	[JUDGED_WORKING_BYTES] = {"working_bytes", TELE_BYTES, ANALYSIS_NO_CLASS, JUDGED_DEVICE_USED, false},
	[JUDGED_CONSTANT_POOLS] = {"constant_pools", TELE_COUNT, JUDGED_CONSTANT_BYTES, ANALYSIS_NO_CLASS, false},
	[JUDGED_CONSTANT_BYTES] = {"constant_bytes", TELE_BYTES, ANALYSIS_NO_CLASS, JUDGED_DEVICE_USED, false},
	[JUDGED_CONTEXTS] = {"contexts", TELE_COUNT, ANALYSIS_NO_CLASS, ANALYSIS_NO_CLASS, false},
	[JUDGED_MODULES] = {"modules", TELE_COUNT, ANALYSIS_NO_CLASS, ANALYSIS_NO_CLASS, false},
	[JUDGED_DEVICE_USED] = {"device_used_bytes", TELE_BYTES, ANALYSIS_NO_CLASS, ANALYSIS_NO_CLASS, false},
};

struct feed {
	struct judged *judged;
	unsigned last, candidate;
	bool is_done;
};

static uint64_t live(uint64_t created, uint64_t released)
{
	return created == TELE_UNKNOWN || released == TELE_UNKNOWN ? TELE_UNKNOWN : created - released;
}

static void note_turns(struct feed *feed)
{
	struct judged *judged = feed->judged;

	judged->n = analysis_verdicts_list(judged->engine, ANALYSIS_LIVE, judged->list, JUDGED_LIST_MAX);
	for (int class = 0; class < JUDGED_CLASSES; class++) {
		const struct analysis_verdict *verdict = judged_headline(judged, (enum judged_class)class);
		if (verdict && analysis_shape_grows(verdict->growth.shape) && !judged->turned_at_candidate[class])
			judged->turned_at_candidate[class] = feed->candidate;
	}
}

static void take(void *context, const struct trace_row *trace)
{
	struct feed *feed = context;
	const uint64_t *v = trace->values;
	const uint64_t values[JUDGED_CLASSES] = {
		[JUDGED_WORKING_POOLS] = v[TRACE_WORKING_POOLS],
		[JUDGED_WORKING_BYTES] = v[TRACE_WORKING_BYTES],
		[JUDGED_CONSTANT_POOLS] = v[TRACE_CONSTANT_POOLS],
		[JUDGED_CONSTANT_BYTES] = v[TRACE_CONSTANT_BYTES],
		[JUDGED_CONTEXTS] = live(v[TRACE_CONTEXTS_CREATED], v[TRACE_CONTEXTS_RELEASED]),
		[JUDGED_MODULES] = live(v[TRACE_MODULES_LOADED], v[TRACE_MODULES_UNLOADED]),
		[JUDGED_DEVICE_USED] = v[TRACE_DEVICE_USED],
	};
	struct analysis_row row = {.time_s = trace->time_s, .values = values};

	if (feed->is_done)
		return;
	for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
		row.counts[axis] = TELE_UNKNOWN;
	if (trace->is_begin)
		row.boundary = ANALYSIS_CANDIDATE_BEGIN;
	if (trace->outcome) {
		row.boundary = ANALYSIS_CANDIDATE_END;
		row.outcome = (unsigned)tele_outcome_of(trace->outcome);
	}
	row.is_inside = trace->candidate && !trace->outcome;
	if (trace->candidate)
		feed->candidate = trace->candidate;
	analysis_verdicts_set_capacity(feed->judged->engine, JUDGED_DEVICE_USED, v[TRACE_DEVICE_TOTAL]);
	if (analysis_verdicts_row(feed->judged->engine, &row))
		note_turns(feed);
	feed->is_done = trace->outcome && trace->candidate == feed->last;
}

void judged_make(struct judged *ret, const char *name, uint64_t seed, unsigned last, enum analysis_look look)
{
	struct feed feed = {.judged = ret, .last = last};

	*ret = (struct judged){.n = 0};
	if (analysis_verdicts_new(classes, JUDGED_CLASSES, &ret->engine) < 0 || !trace_make(name, seed, take, &feed))
		abort();
	ret->n = analysis_verdicts_list(ret->engine, look, ret->list, JUDGED_LIST_MAX);
}

void judged_free(struct judged *judged)
{
	analysis_verdicts_free(judged->engine);
}

const struct analysis_verdict *judged_headline(const struct judged *judged, enum judged_class class)
{
	for (size_t i = 0; i < judged->n; i++)
		if (judged->list[i].class_index == class && judged->list[i].is_headline)
			return &judged->list[i];
	return NULL;
}

const struct analysis_verdict *judged_on(const struct judged *judged, enum judged_class class, enum analysis_axis axis)
{
	for (size_t i = 0; i < judged->n; i++)
		if (judged->list[i].class_index == class && judged->list[i].axis == axis)
			return &judged->list[i];
	return NULL;
}
