// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// An engine of four classes and the rows of a search for it: pools and their
// bytes, what else there is, and the total of the bytes.

#ifndef SUPPORT_ENGINE_H
#define SUPPORT_ENGINE_H

#include <math.h>
#include <string.h>

#include "../../analysis/verdict.h"

enum { POOLS, BYTES, OTHER, TOTAL, CLASSES };
#define LIST_MAX (CLASSES * ANALYSIS_AXIS_COUNT)

static const struct analysis_class classes[CLASSES] = {
	[POOLS] = {"working_pools", TELE_COUNT, BYTES, ANALYSIS_NO_CLASS, false},
	[BYTES] = {"working_bytes", TELE_BYTES, ANALYSIS_NO_CLASS, TOTAL, false},
	[OTHER] = {"constant_bytes", TELE_BYTES, ANALYSIS_NO_CLASS, TOTAL, false},
	[TOTAL] = {"device_used_bytes", TELE_BYTES, ANALYSIS_NO_CLASS, ANALYSIS_NO_CLASS, false},
};

static struct analysis_verdicts *engine;
static struct analysis_verdict list[LIST_MAX];
static size_t n_listed;
static uint64_t values[CLASSES];
static struct analysis_row row;
static uint64_t attempted;

static inline int set_up(void **state)
{
	(void)state;
	if (analysis_verdicts_new(classes, CLASSES, &engine) < 0)
		return -1;
	memset(values, 0, sizeof(values));
	row = (struct analysis_row){.values = values};
	for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
		row.counts[axis] = TELE_UNKNOWN;
	attempted = 0;
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	analysis_verdicts_free(engine);
	return 0;
}

static inline void send(enum analysis_boundary boundary, unsigned outcome)
{
	row.time_s += 0.1;
	row.boundary = boundary;
	row.outcome = outcome;
	row.is_inside = boundary == ANALYSIS_CANDIDATE_BEGIN;
	values[TOTAL] = values[BYTES] == TELE_UNKNOWN || values[OTHER] == TELE_UNKNOWN ? TELE_UNKNOWN
										       : values[BYTES] + values[OTHER];
	analysis_verdicts_row(engine, &row);
}

// One candidate that allocates `pools` of 1 MiB.
static inline void candidate(unsigned outcome, uint64_t pools)
{
	send(ANALYSIS_CANDIDATE_BEGIN, 0);
	values[POOLS] += pools;
	if (values[BYTES] != TELE_UNKNOWN)
		values[BYTES] += pools << 20;
	attempted++;
	send(ANALYSIS_CANDIDATE_END, outcome);
}

static inline void look(enum analysis_look how)
{
	n_listed = analysis_verdicts_list(engine, how, list, LIST_MAX);
}

static inline const struct analysis_verdict *headline(unsigned class)
{
	for (size_t i = 0; i < n_listed; i++)
		if (list[i].class_index == class && list[i].is_headline)
			return &list[i];
	return NULL;
}

static inline void assert_near(double value, double want, double within)
{
	if (!(fabs(value - want) <= within)) {
		print_error("%g is not within %g of %g\n", value, within, want);
		fail();
	}
}

// A test with an engine of its own.
#define WITH_ENGINE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
