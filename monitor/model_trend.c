// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The course of a process in a handful of points, evenly over the time that was
// seen: when they are full every other one goes and the gaps double. The rows
// that are kept cannot give it, being dense at the end and thin before.

#include "model.h"

#include "../libtelemetry/banned.h"

uint64_t mon_process_course_bytes(const struct mon_process *process, const struct mon_row *row)
{
	static const enum tele_field_id labels[] = {
		TELE_ID_census_live_working_bytes, TELE_ID_census_live_constant_bytes,
		TELE_ID_census_live_staging_bytes, TELE_ID_census_live_unlabelled_bytes};
	const struct tele_schema *schema = process->instance->schema;
	uint64_t sum = TELE_UNKNOWN;
	for (size_t i = 0; i < TELE_ARRAY_LEN(labels); i++) {
		uint64_t bytes =
			tele_schema_value(schema, labels[i], TELE_NO_INSTANCE, row->values, row->n_fields);
		if (bytes != TELE_UNKNOWN)
			sum = sum == TELE_UNKNOWN ? bytes : sum + bytes;
	}
	return sum != TELE_UNKNOWN ? sum
				   : tele_schema_value(schema, TELE_ID_host_rss_bytes, TELE_NO_INSTANCE,
						       row->values, row->n_fields);
}

void mon_trend_take(struct mon_trend *trend, uint64_t at_ns, uint64_t bytes)
{
	if (bytes == TELE_UNKNOWN)
		return;
	if (trend->n && at_ns < trend->points[trend->n - 1].at_ns + trend->spacing_ns)
		return;
	if (trend->n == MON_TREND_POINTS) {
		trend->n = MON_TREND_POINTS / 2;
		for (uint32_t i = 0; i < trend->n; i++)
			trend->points[i] = trend->points[2 * i];
		trend->spacing_ns = (at_ns - trend->points[0].at_ns) / MON_TREND_POINTS;
	}
	trend->points[trend->n++] = (struct mon_trend_point){at_ns, bytes};
}

uint64_t mon_trend_at(const struct mon_trend *trend, uint64_t at_ns)
{
	TELE_ASSERT(trend->n > 0);
	uint32_t i = trend->n - 1;
	while (i > 0 && trend->points[i].at_ns > at_ns)
		i--;
	return trend->points[i].bytes;
}
