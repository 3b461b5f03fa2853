// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Cells as arrays, and the clipping of outliers. The clip is three times the
// larger of the median deviation and 0.4 of the root mean square: the median
// alone is 0 for sparse integers and would clip every event of a slow counter.

#include "series.h"

#include <math.h>

#include "../libtelemetry/banned.h"

void analysis_series_make(const struct analysis_history *history, struct analysis_series *ret)
{
	double scale = history->last_x > 0 ? 1 / history->last_x : 1;
	unsigned m = history->n_cells;

	TELE_ASSERT(!history->has_pending && m <= ANALYSIS_CELLS);
	if (m > 0 && history->cells[m - 1].n * 2 < history->points_per_cell)
		m--;
	ret->n_cells = m;
	ret->never_falls = history->n_falls == 0;
	ret->never_rises = history->n_rises == 0;
	for (unsigned i = 0; i < m; i++) {
		const struct analysis_cell *cell = &history->cells[i];
		ret->n[i] = cell->n;
		ret->x[i] = cell->sum_x / cell->n * scale;
		ret->y[i] = cell->sum_y / cell->n;
		ret->low[i] = cell->low_y;
		ret->low_x[i] = cell->low_x * scale;
		ret->high[i] = cell->high_y;
		ret->high_x[i] = cell->high_x * scale;
	}
}

void analysis_series_negate(struct analysis_series *series)
{
	bool never_falls = series->never_falls;

	series->never_falls = series->never_rises;
	series->never_rises = never_falls;
	for (unsigned i = 0; i < series->n_cells; i++) {
		double low = series->low[i], low_x = series->low_x[i];
		series->y[i] = -series->y[i];
		series->low[i] = -series->high[i];
		series->high[i] = -low;
		series->low_x[i] = series->high_x[i];
		series->high_x[i] = low_x;
	}
}

double analysis_series_range(const struct analysis_series *series, unsigned from)
{
	double low = series->low[from], high = series->high[from];

	for (unsigned i = from + 1; i < series->n_cells; i++) {
		low = fmin(low, series->low[i]);
		high = fmax(high, series->high[i]);
	}
	return high - low;
}

// The upper median by quickselect; reorders v.
static double median(double *v, unsigned m)
{
	unsigned low = 0, high = m - 1, want = m / 2;

	while (low < high) {
		double pivot = v[(low + high) / 2];
		unsigned i = low, j = high;
		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				double swap = v[i];
				v[i++] = v[j];
				v[j] = swap;
				if (j == 0)
					break;
				j--;
			}
		}
		if (want <= j)
			high = j;
		else if (want >= i)
			low = i;
		else
			break;
	}
	return v[want];
}

double analysis_winsorise(const double *x, const double *y, unsigned m, double *ret_y)
{
	double left[ANALYSIS_CELLS], size[ANALYSIS_CELLS], unclipped = 1;

	TELE_ASSERT(m > 0 && m <= ANALYSIS_CELLS);
	for (unsigned i = 0; i < m; i++)
		ret_y[i] = y[i];
	for (unsigned round = 0; round < 3; round++) {
		double mean_x = 0, mean_y = 0, sxx = 0, sxy = 0, squares = 0;
		unsigned n_inside = 0;

		for (unsigned i = 0; i < m; i++) {
			mean_x += x[i] / m;
			mean_y += ret_y[i] / m;
		}
		for (unsigned i = 0; i < m; i++) {
			sxx += (x[i] - mean_x) * (x[i] - mean_x);
			sxy += (x[i] - mean_x) * (ret_y[i] - mean_y);
		}
		double slope = sxx > 0 ? sxy / sxx : 0;
		for (unsigned i = 0; i < m; i++) {
			left[i] = y[i] - mean_y - slope * (x[i] - mean_x);
			size[i] = fabs(left[i]);
			squares += left[i] * left[i];
		}
		double limit = 3 * fmax(1.4826 * median(size, m), 0.4 * sqrt(squares / m));
		for (unsigned i = 0; i < m; i++) {
			double line = y[i] - left[i];
			if (fabs(left[i]) <= limit) {
				n_inside++;
				ret_y[i] = y[i];
			} else {
				ret_y[i] = line + copysign(limit, left[i]);
			}
		}
		unclipped = (double)n_inside / m;
	}
	return fmax(unclipped, 1.0 / m);
}
