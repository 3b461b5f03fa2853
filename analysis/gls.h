// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Least squares for series whose noise remembers itself: the noise is an
// AR(1) process whose rho is estimated, from white noise (0) to a random walk
// (exactly 1). Everything else in this folder stands on these functions.

#ifndef ANALYSIS_GLS_H
#define ANALYSIS_GLS_H

#include "../libtelemetry/base.h"

#define ANALYSIS_COLUMNS_MAX 9
#define ANALYSIS_POINTS_MAX 136

// The columns of a model: column[0] is the constant, always.
struct analysis_design {
	unsigned n_points;
	unsigned n_columns;
	const double *column[ANALYSIS_COLUMNS_MAX];
};

struct analysis_fit {
	unsigned n_columns;
	double rho;
	double df;  // degrees of freedom after the correlation is paid for
	double sse; // of the quasi-differenced series
	double variance; // of one quasi-difference
	double value[ANALYSIS_COLUMNS_MAX];
	double inverse[ANALYSIS_COLUMNS_MAX][ANALYSIS_COLUMNS_MAX];
};

// Fits y at the given rho in [0, 1]. At rho = 1 the constant cannot be had and
// is 0. False if the columns are not independent or there are too few points.
bool analysis_gls(const double *y, const struct analysis_design *design, double rho, struct analysis_fit *ret);

// Fits y by ordinary least squares and estimates rho of what is left, corrected
// for the bias of a fitted trend. `is_cautious` raises it by one standard error.
// Returns rho, in [0, 1]; 1 if nothing can be fitted.
double analysis_rho(const double *y, const struct analysis_design *design, bool is_cautious);

// Both: the fit at the estimated rho.
bool analysis_fit_adaptive(const double *y, const struct analysis_design *design, bool is_cautious,
			   struct analysis_fit *ret);

// Standard error of one coefficient.
double analysis_fit_error(const struct analysis_fit *fit, unsigned column);

#endif
