// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How often the verdict is wrong, by simulation with fresh seeds: a confusion
// table over every kind of tests/support/series.c, the two mixtures of the
// goals, and what a judgement costs.
//
//   verdict [series a cell, 300] [seed, from the clock] [part of a kind's name]

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../analysis/growth.h"
#include "../tests/support/noise.h"

static double values[SERIES_POINTS_MAX];

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void judge_values(size_t n, struct analysis_growth *ret)
{
	struct analysis_history history;

	analysis_history_init(&history);
	for (size_t i = 0; i < n; i++)
		analysis_history_add(&history, (double)i, values[i], true);
	analysis_judge(&history, ret);
}

struct tally {
	unsigned shapes[ANALYSIS_SHAPE_COUNT];
	unsigned n, n_grow, n_held;
	double bias;
};

static void run(const struct series_kind *kind, struct series_rng *rng, size_t n, struct tally *tally)
{
	struct analysis_growth growth;
	double slope;

	kind->make(rng, n, kind->parameter, values, &slope);
	judge_values(n, &growth);
	tally->n++;
	tally->shapes[growth.shape]++;
	if (analysis_shape_grows(growth.shape)) {
		tally->n_grow++;
		tally->n_held += growth.slope_low <= slope * (1 + 1e-9) && slope * (1 - 1e-9) <= growth.slope_high;
		tally->bias += slope ? growth.slope / slope - 1 : 0;
	}
}

static double percent(unsigned part, unsigned whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static const size_t quiet_sizes[] = {50, 120, 400, 1500, 5000};
static const size_t sharp_sizes[] = {60, 100, 200, 400, 1500, 5000};

static int quiet_table(unsigned cell, struct series_rng *rng, const char *only)
{
	int n_over = 0;

	printf("%% called growing or stepping, by points; then all shapes pooled (%%)\n");
	printf("%-28s %6s %6s %6s %6s %6s | %5s %5s %5s %5s %5s %5s %5s\n", "quiet kind", "50", "120", "400", "1500",
	       "5000", "n/e", "flat", "1time", "bound", "grow", "step", "drain");
	for (size_t i = 0; i < series_kinds_count; i++) {
		const struct series_kind *kind = &series_kinds[i];
		struct tally all = {.n = 0};

		if (kind->class == SERIES_SHARP || (only && !strstr(kind->name, only)))
			continue;
		printf("%-28s", kind->name);
		for (size_t s = 0; s < sizeof(quiet_sizes) / sizeof(quiet_sizes[0]); s++) {
			struct tally tally = {.n = 0};
			for (unsigned k = 0; k < cell; k++)
				run(kind, rng, quiet_sizes[s], &tally);
			printf(" %6.2f", percent(tally.n_grow, tally.n));
			for (int shape = 0; shape < ANALYSIS_SHAPE_COUNT; shape++)
				all.shapes[shape] += tally.shapes[shape];
			all.n += tally.n;
			all.n_grow += tally.n_grow;
		}
		printf(" |");
		for (int shape = 0; shape < ANALYSIS_SHAPE_COUNT; shape++)
			printf(" %5.1f", percent(all.shapes[shape], all.n));
		double limit = kind->class == SERIES_QUIET ? 1 : kind->class == SERIES_QUIET_LEVEL ? 2 : 100;
		bool is_over = percent(all.n_grow, all.n) > limit;
		printf("%s\n", is_over ? "  OVER" : "");
		n_over += is_over;
		fflush(stdout);
	}
	return n_over;
}

static void sharp_table(unsigned cell, struct series_rng *rng, const char *only)
{
	printf("\n%% detected / %% of the 95 %% intervals that hold the slope at the end, by points; bias of the slope\n");
	printf("%-28s %11s %11s %11s %11s %11s %11s\n", "sharp kind", "60", "100", "200", "400", "1500", "5000");
	for (size_t i = 0; i < series_kinds_count; i++) {
		const struct series_kind *kind = &series_kinds[i];

		if (kind->class != SERIES_SHARP || (only && !strstr(kind->name, only)))
			continue;
		printf("%-28s", kind->name);
		struct tally tally = {.n = 0};
		for (size_t s = 0; s < sizeof(sharp_sizes) / sizeof(sharp_sizes[0]); s++) {
			tally = (struct tally){.n = 0};
			for (unsigned k = 0; k < cell; k++)
				run(kind, rng, sharp_sizes[s], &tally);
			printf("  %5.1f/%4.0f", percent(tally.n_grow, tally.n), percent(tally.n_held, tally.n_grow));
		}
		printf("  %+5.1f %%\n", tally.n_grow ? 100 * tally.bias / tally.n_grow : 0);
		fflush(stdout);
	}
}

static size_t log_uniform(struct series_rng *rng, double low, double high)
{
	return (size_t)(low * pow(high / low, series_uniform(rng)));
}

static void mixtures(unsigned n_series, struct series_rng *rng)
{
	static const char *const quiet[] = {"white",	     "ar 0 to 0.95", "heavy t3", "bursts 3 %", "teeth random, mean n/8",
					    "warm-up tau n/6"};
	struct tally tally = {.n = 0};

	for (unsigned k = 0; k < n_series; k++) {
		const char *name = quiet[(size_t)(6 * series_uniform(rng))];
		run(series_find(name), rng, log_uniform(rng, 50, 5000), &tally);
	}
	printf("\nquiet mixture, 50 to 5,000 points: %.2f %% false of %u (goal: at most 1)\n",
	       percent(tally.n_grow, tally.n), tally.n);
	tally = (struct tally){.n = 0};
	for (unsigned k = 0; k < n_series; k++)
		run(series_find("mixture 0.02 to 0.4"), rng, log_uniform(rng, 100, 5000), &tally);
	printf("sharp mixture, 100 to 5,000 points: %.2f %% detected (goal: 99.5), %.1f %% of the intervals hold (goal: 94)\n",
	       percent(tally.n_grow, tally.n), percent(tally.n_held, tally.n_grow));
}

int main(int argc, char **argv)
{
	unsigned cell = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 300;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
	const char *only = argc > 3 ? argv[3] : NULL;
	struct series_rng rng;

	series_seed(&rng, seed);
	printf("verdict: %u series a cell, seed %llu\n", cell, (unsigned long long)seed);
	double started_s = now_s();
	int n_over = quiet_table(cell, &rng, only);
	sharp_table(cell, &rng, only);
	if (!only)
		mixtures(10 * cell, &rng);
	printf("%d quiet kinds over their goal; %.1f s\n", n_over, now_s() - started_s);
	return 0;
}
