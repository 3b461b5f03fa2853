// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The kinds of series that the verdict must be quiet about, or find. Each is a
// few lines, so that the error rates of docs/verdict.md can be read together
// with what was simulated.

#include "noise.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static uint64_t next(struct series_rng *rng)
{
	uint64_t a = rng->state[0], b = rng->state[1];
	rng->state[0] = b;
	a ^= a << 23;
	rng->state[1] = a ^ b ^ (a >> 18) ^ (b >> 5);
	return rng->state[1] + b;
}

void series_seed(struct series_rng *rng, uint64_t seed)
{
	*rng = (struct series_rng){.state = {seed * 0x9e3779b97f4a7c15u + 1, seed ^ 0xd1b54a32d192ed03u}};
	for (int i = 0; i < 20; i++)
		next(rng);
}

double series_uniform(struct series_rng *rng)
{
	return (double)(next(rng) >> 11) * 0x1p-53;
}

double series_gauss(struct series_rng *rng)
{
	if (rng->has_spare) {
		rng->has_spare = false;
		return rng->spare;
	}
	double r = sqrt(-2 * log(1 - series_uniform(rng))), angle = 2 * PI * series_uniform(rng);
	rng->spare = r * sin(angle);
	rng->has_spare = true;
	return r * cos(angle);
}

#define U() series_uniform(rng)
#define N() series_gauss(rng)
#define MAKE(name) static void name(struct series_rng *rng, size_t n, double p, double *y, double *ret_slope)

static double student3(struct series_rng *rng)
{
	double a = N(), b = N(), c = N(), d = N();
	return d / sqrt((a * a + b * b + c * c) / 3) / sqrt(3.0);
}

MAKE(white)
{
	(void)p;
	for (size_t i = 0; i < n; i++)
		y[i] = N();
	*ret_slope = 0;
}

MAKE(ar)
{
	double state = N();
	double scale = sqrt(1 - p * p);
	for (size_t i = 0; i < n; i++) {
		y[i] = state;
		state = p * state + scale * N();
	}
	*ret_slope = 0;
}

MAKE(ar_any)
{
	(void)p;
	ar(rng, n, 0.95 * U(), y, ret_slope);
}

MAKE(ar_rounded)
{
	ar(rng, n, p, y, ret_slope);
	for (size_t i = 0; i < n; i++)
		y[i] = round(2 * y[i]);
}

MAKE(ar_white)
{
	ar(rng, n, p, y, ret_slope);
	for (size_t i = 0; i < n; i++)
		y[i] += N();
}

MAKE(sparse_integer)
{
	for (size_t i = 0; i < n; i++)
		y[i] = U() < p ? 1 + floor(3 * U()) : 0;
	*ret_slope = 0;
}

MAKE(heavy)
{
	for (size_t i = 0; i < n; i++)
		y[i] = N() * (U() < p ? 8 : 1) / sqrt(1 + 63 * p);
	*ret_slope = 0;
}

MAKE(heavy_t3)
{
	(void)p;
	for (size_t i = 0; i < n; i++)
		y[i] = student3(rng);
	*ret_slope = 0;
}

// Now and then a plateau far above the rest.
MAKE(bursts)
{
	size_t left = 0;
	double height = 0;
	for (size_t i = 0; i < n; i++) {
		if (left == 0 && U() < p) {
			left = 1 + (size_t)(10 * U());
			height = 5 + 20 * U();
		}
		y[i] = (left ? height : 0) + 0.2 * N();
		left -= left > 0;
	}
	*ret_slope = 0;
}

// Climbs by 1 a point, is swept to the floor with probability `p` / n.
MAKE(teeth_random)
{
	double level = floor(U() * (double)n / p);
	for (size_t i = 0; i < n; i++) {
		level = U() < p / (double)n ? 0 : level + 1;
		y[i] = level;
	}
	*ret_slope = 0;
}

// Falls with probability p a point to one of five floor levels.
MAKE(teeth_ragged)
{
	double level = 0;
	for (size_t i = 0; i < n; i++) {
		level = U() < p ? floor(5 * U()) : level + 1;
		y[i] = level;
	}
	*ret_slope = 0;
}

// n / p points a tooth.
MAKE(teeth_periodic)
{
	size_t period = (size_t)((double)n / p) + 2, phase = (size_t)(U() * (double)period);
	for (size_t i = 0; i < n; i++)
		y[i] = (double)((i + phase) % period);
	*ret_slope = 0;
}

MAKE(teeth_noisy)
{
	teeth_periodic(rng, n, p, y, ret_slope);
	for (size_t i = 0; i < n; i++)
		y[i] += 0.1 * (double)n / p * N();
}

MAKE(teeth_height)
{
	double mean = (double)n / p, level = 0, limit = mean * (0.5 + U());
	for (size_t i = 0; i < n; i++) {
		if (level >= limit) {
			level = 0;
			limit = mean * (0.5 + U());
		}
		y[i] = level++;
	}
	*ret_slope = 0;
}

MAKE(warm_up)
{
	double height = 10 + 20 * U();
	for (size_t i = 0; i < n; i++)
		y[i] = height * (1 - exp(-(double)i * p / (double)n)) + N();
	*ret_slope = 0;
}

MAKE(warm_up_integer)
{
	for (size_t i = 0; i < n; i++)
		y[i] = round(50 * (1 - exp(-(double)i * p / (double)n)));
	(void)rng;
	*ret_slope = 0;
}

MAKE(warm_up_ar)
{
	ar(rng, n, 0.8, y, ret_slope);
	for (size_t i = 0; i < n; i++)
		y[i] += 20 * (1 - exp(-(double)i * p / (double)n));
}

// At least ten sigma, then flat from the share p of the points on.
MAKE(ramp_stops)
{
	double height = 10 + 15 * U();
	for (size_t i = 0; i < n; i++)
		y[i] = height * fmin((double)i / (p * (double)n), 1) + N();
	*ret_slope = 0;
}

// 3 to 6 phases; p: 1 variance differs, 2 level, 3 both.
MAKE(phases)
{
	size_t count = 3 + (size_t)(4 * U()), at = 0;
	for (size_t k = 0; k < count; k++) {
		double sd = (int)p & 1 ? exp(N()) : 1, level = (int)p & 2 ? 3 * N() : 0;
		size_t to = k + 1 == count ? n : at + 2 + (size_t)(2.0 * U() * (double)(n - at) / (double)(count - k));
		for (; at < to && at < n; at++)
			y[at] = level + sd * N();
	}
	*ret_slope = 0;
}

MAKE(one_step)
{
	size_t at = (size_t)((0.1 + 0.8 * U()) * (double)n);
	for (size_t i = 0; i < n; i++)
		y[i] = N() + (i >= at ? p : 0);
	*ret_slope = 0;
}

MAKE(telegraph)
{
	double level = 0;
	for (size_t i = 0; i < n; i++) {
		if (U() < p)
			level = 1 - level;
		y[i] = 5 * level + 0.1 * N();
	}
	*ret_slope = 0;
}

MAKE(sine)
{
	double phase = 2 * PI * U();
	for (size_t i = 0; i < n; i++)
		y[i] = 3 * sin(phase + 2 * PI * p * (double)i / (double)n) + N();
	*ret_slope = 0;
}

MAKE(plus_minus_one)
{
	for (size_t i = 0; i < n; i++)
		y[i] = 5 + floor(3 * U()) - 1;
	(void)p;
	*ret_slope = 0;
}

MAKE(early_steps)
{
	double level = 0;
	for (size_t i = 0; i < n; i++) {
		if ((double)i < (double)n * p && U() < 0.3)
			level += 1;
		y[i] = level;
	}
	*ret_slope = 0;
}

// The highest of what random candidates needed so far, never given back: p is
// 0 for sizes that are even in a range, else log-normal with that sigma.
MAKE(high_water)
{
	double highest = 0;
	for (size_t i = 0; i < n; i++) {
		highest = fmax(highest, p > 0 ? exp(p * N()) : U());
		y[i] = 1000 * highest;
	}
	*ret_slope = 0;
}

MAKE(high_water_noisy)
{
	high_water(rng, n, p, y, ret_slope);
	for (size_t i = 0; i < n; i++)
		y[i] += 20 * N();
}

// Peaks that grow fourfold over a floor that does not. Each other point (by
// chance if p is 0) is a peak.
MAKE(peaks_grow)
{
	for (size_t i = 0; i < n; i++) {
		double peak = p > 0 ? (double)(i % (size_t)p) : U() < 0.5 ? 0 : 10 * U();
		y[i] = (1 + 3 * (double)i / (double)n) * peak + 0.1 * N();
	}
	*ret_slope = 0;
}

// A fall with fixed probability a point: few teeth at 50 points.
MAKE(teeth_rate)
{
	teeth_random(rng, n, p * (double)n, y, ret_slope);
}

MAKE(slope_white)
{
	for (size_t i = 0; i < n; i++)
		y[i] = p * (double)i + N();
	*ret_slope = p;
}

static double any_slope(struct series_rng *rng)
{
	return 0.02 * pow(20, U());
}

// Slope log-uniform 0.02 to 0.4; noise of one of four kinds.
MAKE(slope_mixture)
{
	double slope = any_slope(rng), state = N();
	unsigned noise = (unsigned)(4 * U());
	for (size_t i = 0; i < n; i++) {
		double e;
		switch (noise) {
		case 0:
			e = N();
			break;
		case 1:
			e = student3(rng);
			break;
		case 2:
			e = sqrt(12.0) * (U() - 0.5);
			break;
		default:
			e = state;
			state = 0.3 * state + sqrt(1 - 0.09) * N();
			break;
		}
		y[i] = slope * (double)i + e;
	}
	(void)p;
	*ret_slope = slope;
}

MAKE(slope_heavy)
{
	heavy(rng, n, 0.05, y, ret_slope);
	for (size_t i = 0; i < n; i++)
		y[i] += p * (double)i;
	*ret_slope = p;
}

MAKE(slope_ar5)
{
	ar(rng, n, 0.5, y, ret_slope);
	for (size_t i = 0; i < n; i++)
		y[i] += p * (double)i;
	*ret_slope = p;
}

MAKE(slope_ar8)
{
	ar(rng, n, 0.8, y, ret_slope);
	for (size_t i = 0; i < n; i++)
		y[i] += p * (double)i;
	*ret_slope = p;
}

MAKE(counter)
{
	double level = 0;
	for (size_t i = 0; i < n; i++) {
		level += U() < p;
		y[i] = level;
	}
	*ret_slope = p;
}

MAKE(exact)
{
	(void)rng;
	for (size_t i = 0; i < n; i++)
		y[i] = p * (double)i;
	*ret_slope = p;
}

MAKE(teeth_rising)
{
	size_t period = n / 8 < 40 ? (n / 8 > 3 ? n / 8 : 3) : 40;
	for (size_t i = 0; i < n; i++)
		y[i] = (double)(i % period) + 2 * (double)(i / period) + p * N();
	*ret_slope = 2.0 / (double)period;
}

MAKE(teeth_random_rising)
{
	double level = 0, floor_level = 0;
	for (size_t i = 0; i < n; i++) {
		if (U() < p) {
			floor_level += 1;
			level = floor_level;
		} else {
			level += 1;
		}
		y[i] = level;
	}
	*ret_slope = floor_level / (double)n; // the floor is exact, not its rate
}

MAKE(starts_late)
{
	for (size_t i = 0; i < n; i++)
		y[i] = p * fmax(0, (double)i - (double)(n / 2)) + N();
	*ret_slope = p;
}

MAKE(slope_and_step)
{
	size_t at = (size_t)((0.2 + 0.6 * U()) * (double)n);
	for (size_t i = 0; i < n; i++)
		y[i] = p * (double)i + N() + (i >= at ? 3 : 0);
	*ret_slope = p;
}

MAKE(slope_after_warm_up)
{
	for (size_t i = 0; i < n; i++)
		y[i] = p * (double)i + N() + 20 * (1 - exp(-(double)i * 12 / (double)n));
	*ret_slope = p;
}

MAKE(rate_changes)
{
	double level = 0;
	for (size_t i = 0; i < n; i++) {
		level += U() < (i < n / 2 ? p : 3 * p);
		y[i] = level;
	}
	*ret_slope = 3 * p;
}

MAKE(slope_bursts)
{
	bursts(rng, n, 0.03, y, ret_slope);
	for (size_t i = 0; i < n; i++)
		y[i] += p * (double)i;
	*ret_slope = p;
}

const struct series_kind series_kinds[] = {
	{"white", SERIES_QUIET, white, 0},
	{"sparse integer", SERIES_QUIET, sparse_integer, 0.05},
	{"ar 0.3", SERIES_QUIET, ar, 0.3},
	{"ar 0.6", SERIES_QUIET, ar, 0.6},
	{"ar 0.8", SERIES_QUIET, ar, 0.8},
	{"ar 0.9", SERIES_QUIET, ar, 0.9},
	{"ar 0.9 rounded", SERIES_QUIET, ar_rounded, 0.9},
	{"ar 0.95", SERIES_QUIET, ar, 0.95},
	{"ar 0 to 0.95", SERIES_QUIET, ar_any, 0},
	{"heavy 5 % x8", SERIES_QUIET, heavy, 0.05},
	{"heavy t3", SERIES_QUIET, heavy_t3, 0},
	{"bursts 3 %", SERIES_QUIET, bursts, 0.03},
	{"bursts 10 %", SERIES_QUIET, bursts, 0.1},
	{"teeth random, mean n/8", SERIES_QUIET, teeth_random, 8},
	{"teeth random, mean n/12", SERIES_QUIET, teeth_random, 12},
	{"teeth periodic n/8", SERIES_QUIET, teeth_periodic, 8},
	{"teeth noisy n/8", SERIES_QUIET, teeth_noisy, 8},
	{"teeth of random height", SERIES_QUIET, teeth_height, 10},
	{"teeth ragged, fall p = 1/6", SERIES_QUIET, teeth_ragged, 1.0 / 6},
	{"warm-up tau n/12", SERIES_QUIET, warm_up, 12},
	{"warm-up tau n/6", SERIES_QUIET, warm_up, 6},
	{"warm-up tau n/4", SERIES_QUIET, warm_up, 4},
	{"warm-up integer n/8", SERIES_QUIET, warm_up_integer, 8},
	{"warm-up + ar 0.8", SERIES_QUIET, warm_up_ar, 10},
	{"ramp that stops at n/2", SERIES_QUIET, ramp_stops, 0.5},
	{"growth that stopped at 2n/3", SERIES_QUIET, ramp_stops, 2.0 / 3},
	{"phases of variance", SERIES_QUIET, phases, 1},
	{"phases of level", SERIES_QUIET_LEVEL, phases, 2},
	{"phases of both", SERIES_QUIET_LEVEL, phases, 3},
	{"one step of 3 sigma", SERIES_QUIET, one_step, 3},
	{"telegraph", SERIES_QUIET, telegraph, 0.2},
	{"sine, 5 periods", SERIES_QUIET, sine, 5},
	{"plus or minus one", SERIES_QUIET, plus_minus_one, 0},
	{"early steps", SERIES_QUIET, early_steps, 0.3},
	{"high water, even sizes", SERIES_QUIET, high_water, 0},
	{"high water, log-normal 0.3", SERIES_QUIET, high_water, 0.3},
	{"high water, log-normal 1", SERIES_QUIET, high_water, 1},
	{"high water + noise, even", SERIES_HARD, high_water_noisy, 0},
	{"high water + noise, 0.3", SERIES_HARD, high_water_noisy, 0.3},
	{"peaks grow, teeth of 5", SERIES_QUIET, peaks_grow, 5},
	{"peaks grow, random", SERIES_QUIET, peaks_grow, 0},
	{"one step of 1 sigma", SERIES_HARD, one_step, 1},
	{"ar 0.95 + white", SERIES_HARD, ar_white, 0.95},
	{"teeth ragged, fall p = 1/12", SERIES_HARD, teeth_ragged, 1.0 / 12},
	{"teeth, fall p = 1/25", SERIES_HARD, teeth_rate, 0.04},
	{"white, 0.02", SERIES_SHARP, slope_white, 0.02},
	{"white, 0.05", SERIES_SHARP, slope_white, 0.05},
	{"white, 0.1", SERIES_SHARP, slope_white, 0.1},
	{"mixture 0.02 to 0.4", SERIES_SHARP, slope_mixture, 0},
	{"heavy, 0.02", SERIES_SHARP, slope_heavy, 0.02},
	{"ar 0.5, 0.05", SERIES_SHARP, slope_ar5, 0.05},
	{"ar 0.8, 0.1", SERIES_SHARP, slope_ar8, 0.1},
	{"counter p = 0.05", SERIES_SHARP, counter, 0.05},
	{"counter p = 0.2", SERIES_SHARP, counter, 0.2},
	{"counter p = 0.49", SERIES_SHARP, counter, 0.49},
	{"exact", SERIES_SHARP, exact, 1},
	{"teeth, floor +2", SERIES_SHARP, teeth_rising, 0},
	{"teeth, floor +2, noisy", SERIES_SHARP, teeth_rising, 0.5},
	{"teeth random, floor +1", SERIES_SHARP, teeth_random_rising, 1.0 / 12},
	{"starts at n/2, 0.05", SERIES_SHARP, starts_late, 0.05},
	{"slope 0.05 and 3 sigma step", SERIES_SHARP, slope_and_step, 0.05},
	{"0.1 after a warm-up", SERIES_SHARP, slope_after_warm_up, 0.1},
	{"rate 0.1 then 0.3", SERIES_SHARP, rate_changes, 0.1},
	{"bursts, 0.15", SERIES_SHARP, slope_bursts, 0.15},
};
const size_t series_kinds_count = sizeof(series_kinds) / sizeof(series_kinds[0]);

const struct series_kind *series_find(const char *name)
{
	for (size_t i = 0; i < series_kinds_count; i++)
		if (strcmp(series_kinds[i].name, name) == 0)
			return &series_kinds[i];
	return NULL;
}
