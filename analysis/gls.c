// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Feasible GLS after Perron and Yabu (2009): ordinary least squares, rho from
// the residuals, the least biased rho that errs on the side of more memory,
// and a jump to exactly 1 near 1. There the test of a slope is that of a mean
// of differences, which no stationary series passes by chance, and which is
// the exact model of a counter that rises now and then. So one test is safe
// from white noise to a random walk.

#include "gls.h"

#include <math.h>

#include "../libtelemetry/banned.h"

// Solves A b = v for symmetric positive A, and inverts A. In place by Cholesky.
static bool solve(double a[][ANALYSIS_COLUMNS_MAX], const double *v, unsigned first, unsigned p,
		  struct analysis_fit *ret)
{
	double l[ANALYSIS_COLUMNS_MAX][ANALYSIS_COLUMNS_MAX] = {{0}};
	double inverse[ANALYSIS_COLUMNS_MAX][ANALYSIS_COLUMNS_MAX] = {{0}};

	for (unsigned i = first; i < p; i++) {
		for (unsigned j = first; j <= i; j++) {
			double sum = a[i][j];
			for (unsigned k = first; k < j; k++)
				sum -= l[i][k] * l[j][k];
			if (i != j)
				l[i][j] = sum / l[j][j];
			else if (sum <= 1e-11 * a[i][i] || a[i][i] <= 0)
				return false;
			else
				l[i][i] = sqrt(sum);
		}
	}
	// inverse = L^-1, lower
	for (unsigned j = first; j < p; j++) {
		for (unsigned i = j; i < p; i++) {
			double sum = i == j ? 1 : 0;
			for (unsigned k = j; k < i; k++)
				sum -= l[i][k] * inverse[k][j];
			inverse[i][j] = sum / l[i][i];
		}
	}
	for (unsigned i = 0; i < p; i++) {
		ret->value[i] = 0;
		for (unsigned j = 0; j < p; j++) {
			double sum = 0;
			for (unsigned k = i > j ? i : j; k < p; k++)
				sum += inverse[k][i] * inverse[k][j];
			ret->inverse[i][j] = i < first || j < first ? 0 : sum;
		}
	}
	for (unsigned i = first; i < p; i++)
		for (unsigned j = first; j < p; j++)
			ret->value[i] += ret->inverse[i][j] * v[j];
	return true;
}

// The i-th quasi-differenced row: y_i - rho y_(i-1), and the same of each column.
static double row_at(const double *y, const struct analysis_design *design, double rho, unsigned i, double *ret_x)
{
	unsigned p = design->n_columns;

	if (i == 0) {
		double weight = sqrt(1 - rho * rho);
		for (unsigned c = 0; c < p; c++)
			ret_x[c] = weight * design->column[c][0];
		return weight * y[0];
	}
	for (unsigned c = 0; c < p; c++)
		ret_x[c] = design->column[c][i] - rho * design->column[c][i - 1];
	return y[i] - rho * y[i - 1];
}

bool analysis_gls(const double *y, const struct analysis_design *design, double rho, struct analysis_fit *ret)
{
	unsigned m = design->n_points, p = design->n_columns;
	unsigned first = rho >= 1 ? 1 : 0; // the constant, and the first row, go at 1
	double a[ANALYSIS_COLUMNS_MAX][ANALYSIS_COLUMNS_MAX] = {{0}}, v[ANALYSIS_COLUMNS_MAX] = {0};
	double x[ANALYSIS_COLUMNS_MAX];

	TELE_ASSERT(m <= ANALYSIS_POINTS_MAX && p >= 1 && p <= ANALYSIS_COLUMNS_MAX && rho >= 0 && rho <= 1);
	if (m < p + 2)
		return false;
	for (unsigned i = first; i < m; i++) {
		double value = row_at(y, design, rho, i, x);
		for (unsigned c = first; c < p; c++) {
			v[c] += x[c] * value;
			for (unsigned d = first; d <= c; d++)
				a[c][d] += x[c] * x[d];
		}
	}
	*ret = (struct analysis_fit){.n_columns = p, .rho = rho};
	if (!solve(a, v, first, p, ret))
		return false;
	double lagged = 0, before = 0;
	for (unsigned i = first; i < m; i++) {
		double left = row_at(y, design, rho, i, x);
		for (unsigned c = first; c < p; c++)
			left -= ret->value[c] * x[c];
		ret->sse += left * left;
		lagged += left * before;
		before = left;
	}
	double n = (double)(m - first) - (double)(p - first);
	ret->variance = ret->sse / n;
	if (rho >= 1) {
		if (lagged > 0)
			ret->variance += 2 * lagged / n; // cells are averages of a walk
		ret->df = m - 2;
	} else {
		ret->df = fmax(3, (m - 2) * (1 - rho) / (1 + rho));
	}
	return true;
}

double analysis_rho(const double *y, const struct analysis_design *design, bool is_cautious)
{
	double m = design->n_points, p = design->n_columns;
	struct analysis_fit ols;
	double before = 0, before2 = 0, sum0 = 0, sum1 = 0, sum2 = 0;

	if (!analysis_gls(y, design, 0, &ols))
		return 1;
	for (unsigned i = 0; i < design->n_points; i++) {
		double left = y[i];
		for (unsigned c = 0; c < design->n_columns; c++)
			left -= ols.value[c] * design->column[c][i];
		sum0 += left * left;
		sum1 += left * before;
		sum2 += left * before2;
		before2 = before;
		before = left;
	}
	if (sum0 <= 0)
		return 0;
	double r1 = sum1 / sum0, r2 = sum2 / sum0, rho = r1;
	if (r1 > 0.4 && r2 > 0) {
		// White noise on top of an AR(1) hides its memory: its lags fall as
		// q, not as r1. Give rho the long-run variance that q implies.
		double q = fmin(1 - 1 / sqrt(m), (r2 / r1 + 2 / m) / (1 - 4 / m));
		if (q > r1) {
			double ratio = 1 + 2 * r1 / (1 - q);
			rho = fmax(rho, (ratio - 1) / (ratio + 1));
		}
	}
	rho = (rho + p / m) / (1 - (p + 2) / m);
	if (is_cautious && fabs(rho) < 1)
		rho += sqrt((1 - rho * rho) / m);
	if (rho >= 1 - 1 / sqrt(m))
		return 1;
	return fmax(rho, 0);
}

bool analysis_fit_adaptive(const double *y, const struct analysis_design *design, bool is_cautious,
			   struct analysis_fit *ret)
{
	return analysis_gls(y, design, analysis_rho(y, design, is_cautious), ret);
}

double analysis_fit_error(const struct analysis_fit *fit, unsigned column)
{
	return sqrt(fit->variance * fit->inverse[column][column]);
}
