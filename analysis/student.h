// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Student's t for any positive degrees of freedom, not only whole ones: the
// effective number of points of a correlated series is rarely whole.

#ifndef ANALYSIS_STUDENT_H
#define ANALYSIS_STUDENT_H

#include "../libtelemetry/base.h"

// P(T > t) for t >= 0 and df > 0.
double analysis_student_tail(double t, double df);

// The t whose upper tail at df has the probability that the normal's has at
// `sigmas` (> 0). Never below `sigmas`.
double analysis_student_at(double sigmas, double df);

// Whether t exceeds analysis_student_at(sigmas, df), without computing that
// where the answer is plain.
bool analysis_student_exceeds(double t, double sigmas, double df);

#endif
