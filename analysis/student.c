// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The tail of Student's t is half a regularised incomplete beta function, by
// its continued fraction (Lentz's method). The quantile starts at Wallace's
// approximation, which is too large, and is polished by Newton steps on the
// logarithm of the tail, which is nearly straight in log t.

#include "student.h"

#include <math.h>

#include "../libtelemetry/banned.h"

static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);

	d = 1 / (fabs(d) < tiny ? tiny : d);
	double result = d;
	for (int i = 1; i <= 200; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
		const double step[2] = {even, odd};
		double change = 1;

		for (int j = 0; j < 2; j++) {
			d = 1 + step[j] * d;
			c = 1 + step[j] / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			change = d * c;
			result *= change;
		}
		if (fabs(change - 1) < 1e-12)
			break;
	}
	return result;
}

static double log_gamma(double x)
{
	int sign;
	return lgamma_r(x, &sign);
}

double analysis_student_tail(double t, double df)
{
	TELE_ASSERT(t >= 0 && df > 0);
	double a = df / 2, b = 0.5, x = df / (df + t * t);

	if (x >= 1)
		return 0.5;
	double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return 0.5 * front * beta_fraction(a, b, x) / a;
	return 0.5 * (1 - front * beta_fraction(b, a, 1 - x) / b);
}

double analysis_student_at(double sigmas, double df)
{
	TELE_ASSERT(sigmas > 0 && df > 0);
	double u = sigmas * (8 * df + 3) / (8 * df + 1);
	double t = sqrt(df * expm1(u * u / df));

	if (df > 60 || !isfinite(t))
		return t > sigmas ? t : sigmas;
	double tail = 0.5 * erfc(sigmas / sqrt(2));
	double scale = exp(log_gamma((df + 1) / 2) - log_gamma(df / 2)) / sqrt(df * 3.14159265358979323846);
	for (int i = 0; i < 12; i++) {
		double p = analysis_student_tail(t, df);
		double density = scale * pow(1 + t * t / df, -(df + 1) / 2);
		double step = p * log(p / tail) / (density * t);

		t *= exp(step);
		if (fabs(step) < 1e-9)
			break;
	}
	return t > sigmas ? t : sigmas;
}

bool analysis_student_exceeds(double t, double sigmas, double df)
{
	if (!(t > sigmas))
		return false;
	return t > analysis_student_at(sigmas, df);
}
