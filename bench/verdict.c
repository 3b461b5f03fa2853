// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How often the verdict is wrong, by simulation with fresh seeds: a confusion
// table over every kind of tests/support/noise.c, the two mixtures of the
// goals, and what a judgement costs.
//
//   verdict [series a cell, 300] [seed, from the clock] [part of a kind's name]

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

#include "../analysis/verdict.h"
#include "../tests/support/noise.h"

static double values[SERIES_POINTS_MAX];

// Of this thread alone, so that a busy machine does not count.
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
		tally->bias += slope > 0 ? growth.slope / slope - 1 : 0;
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

// Feeds one series to an engine as a search of n candidates. Returns the row at
// which it first turned to growing, or 0; *ret_at_end tells whether it still is.
static size_t watch(size_t n, bool *ret_at_end)
{
	static const struct analysis_class class = {
		.name = "app.series", .unit = TELE_COUNT, .bytes_class = ANALYSIS_NO_CLASS, .total_class = ANALYSIS_NO_CLASS};
	struct analysis_verdicts *engine;
	struct analysis_verdict list[ANALYSIS_AXIS_COUNT];
	size_t first = 0;

	*ret_at_end = false;
	if (analysis_verdicts_new(&class, 1, &engine) < 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t value = (uint64_t)(int64_t)llround(1000 * values[i]);
		struct analysis_row row = {.time_s = NAN, .values = &value, .boundary = ANALYSIS_CANDIDATE_END};
		row.outcome = TELE_OUTCOME_DECLINED;
		for (size_t axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
			row.counts[axis] = axis == ANALYSIS_ATTEMPTED ? i : TELE_UNKNOWN;
		if (analysis_verdicts_row(engine, &row) && !first)
			first = i + 1;
	}
	size_t n_verdicts = analysis_verdicts_list(engine, ANALYSIS_LIVE, list, ANALYSIS_AXIS_COUNT);
	*ret_at_end = n_verdicts > 0 && analysis_shape_grows(list[0].growth.shape);
	analysis_verdicts_free(engine);
	return first;
}

static int compare_sizes(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return x < y ? -1 : x > y;
}

static void live_table(unsigned n_runs, struct series_rng *rng)
{
	static const char *const kinds[] = {"white", "plus or minus one", "ar 0.6", "ar 0.9", "ar 0.95", "heavy 5 % x8",
					    "bursts 3 %", "phases of level", "one step of 3 sigma", "teeth periodic n/8",
					    "warm-up tau n/12", "exact", "counter p = 0.49", "counter p = 0.2",
					    "white, 0.1", "white, 0.02"};
	size_t *rows = calloc(n_runs, sizeof(*rows));

	printf("\nlive, 300 candidates: %% ever called growing, %% at the end; candidates until then, median (95th of 100)\n");
	for (size_t k = 0; rows && k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const struct series_kind *kind = series_find(kinds[k]);
		unsigned n_ever = 0, n_end = 0;
		double slope;

		for (unsigned run_i = 0; run_i < n_runs; run_i++) {
			bool at_end;
			kind->make(rng, 300, kind->parameter, values, &slope);
			size_t first = watch(300, &at_end);
			if (first)
				rows[n_ever++] = first;
			n_end += at_end;
		}
		qsort(rows, n_ever, sizeof(*rows), compare_sizes);
		printf("%-28s %6.1f %6.1f   %zu (%zu)\n", kinds[k], percent(n_ever, n_runs), percent(n_end, n_runs),
		       n_ever ? rows[n_ever / 2] : 0, n_ever ? rows[n_ever * 95 / 100] : 0);
	}
	free(rows);
}

static double outcome_noise(struct series_rng *rng, unsigned noise, size_t i)
{
	switch (noise) {
	case 1:
		return floor(3 * series_uniform(rng)) - 1;
	case 2:
		return series_gauss(rng);
	case 3:
		return (double)(i % 37);
	default:
		return 0;
	}
}

// One search that leaks after `failed` candidates (0), between (1), or after
// all (2). Returns who is blamed.
static int blame(struct series_rng *rng, size_t n, unsigned leak, unsigned noise)
{
	static struct analysis_outcomes outcomes;
	static struct analysis_class_outcomes class;
	struct analysis_by_outcome split;
	double share = 0.2 + 0.2 * series_uniform(rng), level = 0, before = 0;

	analysis_outcomes_fini(&outcomes);
	analysis_class_outcomes_fini(&class);
	analysis_outcomes_init(&outcomes);
	for (size_t i = 0; i < n; i++) {
		bool merged, failed = series_uniform(rng) < share;
		unsigned outcome = failed ? TELE_OUTCOME_FAILED
				   : series_uniform(rng) < 0.4 ? TELE_OUTCOME_DECLINED
							       : TELE_OUTCOME_TIMED;
		level += leak == 1;
		if (i > 0)
			analysis_class_outcomes_between(&class, level + outcome_noise(rng, noise, i) - before);
		analysis_class_outcomes_close(&class, true);
		level += leak == 2 || (leak == 0 && failed);
		before = level + outcome_noise(rng, noise, i);
		analysis_outcomes_end(&outcomes, outcome, &merged);
		analysis_class_outcomes_end(&outcomes, &class, outcome, merged, true, before);
	}
	analysis_split_by_outcome(&outcomes, &class, &split);
	return split.blame;
}

static void blame_table(unsigned n_runs, struct series_rng *rng)
{
	static const char *const noises[] = {"none", "+-1", "Gauss 1", "teeth of 37"};
	static const size_t sizes[] = {60, 300, 3000};
	static const int right[] = {TELE_OUTCOME_FAILED, ANALYSIS_BLAME_BETWEEN, ANALYSIS_BLAME_MIXED};

	printf("\nby outcome: %% blamed right (%% blamed wrong) for a leak after failed / between / after all\n");
	for (unsigned noise = 0; noise < 4; noise++) {
		printf("%-12s", noises[noise]);
		for (size_t s = 0; s < 3; s++) {
			printf("  n=%zu", sizes[s]);
			for (unsigned leak = 0; leak < 3; leak++) {
				unsigned n_right = 0, n_wrong = 0;
				for (unsigned k = 0; k < n_runs; k++) {
					int found = blame(rng, sizes[s], leak, noise);
					n_right += found == right[leak];
					n_wrong += found != right[leak] && (found > 0 || found == ANALYSIS_BLAME_BETWEEN);
				}
				printf(" %3.0f(%.1f)", percent(n_right, n_runs), percent(n_wrong, n_runs));
			}
		}
		printf("\n");
	}
}

// One leaking class of each kind of noise and many quiet ones.
static void fill_row(struct series_rng *rng, uint64_t candidate, size_t n_classes, uint64_t *row_values)
{
	for (size_t c = 0; c < n_classes; c++) {
		double level = 1e6;
		if (c % 4 == 0)
			level += 1000 * series_gauss(rng); // swings
		else if (c % 4 == 1)
			level += (double)(candidate * 100); // leaks
		else if (c % 4 == 2)
			level += (double)(100 * (candidate % 37)); // teeth
		row_values[c] = (uint64_t)level;
	}
}

#define CLASSES 40

static void cost_offline(struct series_rng *rng)
{
	static struct analysis_history histories[CLASSES];
	static uint64_t rows[10000][CLASSES];
	struct analysis_growth growth;

	for (uint64_t i = 0; i < 10000; i++)
		fill_row(rng, i, CLASSES, rows[i]);
	double started_s = worked_s();
	for (size_t c = 0; c < CLASSES; c++)
		analysis_history_init(&histories[c]);
	for (uint64_t i = 0; i < 10000; i++)
		for (size_t c = 0; c < CLASSES; c++)
			analysis_history_add(&histories[c], (double)i, (double)rows[i][c], true);
	double added_s = worked_s();
	for (size_t c = 0; c < CLASSES; c++)
		analysis_judge(&histories[c], &growth);
	double judged_s = worked_s();
	printf("\n10,000 candidates x 40 classes: %.1f ms (goal: 50), of it %.1f ns a point, "
	       "%.1f us a judgement; %zu bytes a class and axis\n",
	       1e3 * (judged_s - started_s), 1e9 * (added_s - started_s) / (10000 * CLASSES),
	       1e6 * (judged_s - added_s) / CLASSES, sizeof(struct analysis_history));
}

static void cost_live(struct series_rng *rng, unsigned n_rows)
{
	static struct analysis_class classes[CLASSES];
	static struct analysis_verdict list[CLASSES * ANALYSIS_AXIS_COUNT];
	struct analysis_verdicts *engine;
	uint64_t row_values[CLASSES];
	double spent_s = 0, worst_s = 0;

	for (size_t c = 0; c < CLASSES; c++) {
		classes[c] = (struct analysis_class){.unit = TELE_BYTES, .bytes_class = -1, .total_class = -1};
		snprintf(classes[c].name, sizeof(classes[c].name), "class_%zu", c);
	}
	if (analysis_verdicts_new(classes, CLASSES, &engine) < 0)
		return;
	for (uint64_t i = 0; i < n_rows; i++) {
		struct analysis_row row = {.time_s = 0.1 * (double)i, .values = row_values};
		row.boundary = ANALYSIS_CANDIDATE_END;
		row.outcome = i % 3 ? TELE_OUTCOME_TIMED : TELE_OUTCOME_DECLINED;
		for (size_t axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
			row.counts[axis] = TELE_UNKNOWN;
		fill_row(rng, i, CLASSES, row_values);
		double started_s = worked_s();
		analysis_verdicts_row(engine, &row);
		double took_s = worked_s() - started_s;
		spent_s += took_s;
		worst_s = took_s > worst_s ? took_s : worst_s;
	}
	double started_s = worked_s();
	size_t n = analysis_verdicts_list(engine, ANALYSIS_LIVE, list, sizeof(list) / sizeof(list[0]));
	printf("live, %u rows of 40 classes, a candidate's end each: %.1f us a row on average (goal: 100), "
	       "%.0f us at worst; a list of %zu verdicts %.0f us\n",
	       n_rows, 1e6 * spent_s / n_rows, 1e6 * worst_s, n, 1e6 * (worked_s() - started_s));
	analysis_verdicts_free(engine);
}

int main(int argc, char **argv)
{
	unsigned cell = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 300;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
	const char *only = argc > 3 ? argv[3] : NULL;
	struct series_rng rng;

	series_seed(&rng, seed);
	printf("verdict: %u series a cell, seed %llu\n", cell, (unsigned long long)seed);
	double started_s = worked_s();
	int n_over = quiet_table(cell, &rng, only);
	sharp_table(cell, &rng, only);
	if (!only) {
		mixtures(10 * cell, &rng);
		live_table(cell, &rng);
		blame_table(cell / 2, &rng);
		cost_offline(&rng);
		cost_live(&rng, 300);
		cost_live(&rng, 10000);
	}
	printf("%d quiet kinds over their goal; %.1f s\n", n_over, worked_s() - started_s);
	return 0;
}
