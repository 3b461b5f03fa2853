// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Verdicts as JSON: the keys of the contract, then what else the judge knows.
// Doubles are written so that they come back bit for bit, since a live reading
// and a replay are compared to the last digit.

#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../libtelemetry/banned.h"

void mon_json_double(struct mon_out *out, double value)
{
	char text[40];
	if (!isfinite(value)) {
		mon_out_text(out, "null");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	mon_out_text(out, text);
}

static void write_double(struct mon_out *out, const char *key, double value)
{
	mon_out_format(out, ",\"%s\":", key);
	mon_json_double(out, value);
}

static void write_u64(struct mon_out *out, const char *key, uint64_t value)
{
	mon_out_format(out, ",\"%s\":", key);
	mon_json_u64(out, value);
}

static void write_by_outcome(struct mon_out *out, const struct analysis_by_outcome *by_outcome)
{
	mon_out_text(out, ",\"by_outcome\":{");
	for (unsigned outcome = TELE_OUTCOME_OPEN + 1; outcome < TELE_OUTCOME_COUNT; outcome++) {
		mon_out_format(out, "\"%s\":", tele_outcome_name(outcome));
		mon_json_double(out, by_outcome->growth[outcome]);
		mon_out_text(out, ",");
	}
	mon_out_text(out, "\"between\":");
	mon_json_double(out, by_outcome->between);
	mon_out_text(out, "}");
}

static const char *blame_text(int blame)
{
	switch (blame) {
	case ANALYSIS_BLAME_UNKNOWN:
		return NULL;
	case ANALYSIS_BLAME_MIXED:
		return "mixed";
	case ANALYSIS_BLAME_BETWEEN:
		return "between";
	default:
		return tele_outcome_name((unsigned)blame);
	}
}

static void write_verdict(struct mon_out *out, const struct analysis_verdicts *engine,
			  const struct analysis_verdict *verdict)
{
	const struct analysis_class *class = analysis_verdicts_class(engine, verdict->class_index);
	const struct analysis_growth *growth = &verdict->growth;
	// What was not judged has no slope and no band.
	double known = growth->shape == ANALYSIS_NOT_ENOUGH_DATA ? NAN : 0;
	char sentence[ANALYSIS_SENTENCE_MAX];
	mon_out_text(out, "{\"class\":");
	mon_json_string(out, class->name);
	mon_out_format(out, ",\"axis\":\"%s\",\"shape\":\"%s\"", analysis_axis_name(verdict->axis),
		       analysis_shape_name(growth->shape));
	write_double(out, "slope", growth->slope + known);
	write_double(out, "slope_low", growth->slope_low + known);
	write_double(out, "slope_high", growth->slope_high + known);
	mon_out_format(out, ",\"unit\":\"%s\"", tele_unit_name(class->unit));
	write_u64(out, "points", growth->points);
	write_double(out, "window", growth->window);
	write_double(out, "low", growth->low + known);
	write_double(out, "high", growth->high + known);
	write_by_outcome(out, &verdict->by_outcome);
	write_double(out, "share", verdict->share);
	write_double(out, "forecast_candidates", verdict->axis == ANALYSIS_TIME ? NAN : verdict->forecast);
	write_double(out, "forecast_seconds", verdict->forecast_seconds);
	analysis_sentence(engine, verdict, sentence, sizeof(sentence));
	mon_out_text(out, ",\"sentence\":");
	mon_json_string(out, sentence);
	mon_out_format(out, ",\"is_headline\":%s,\"is_so_far\":%s,\"blame\":", verdict->is_headline ? "true" : "false",
		       verdict->is_so_far ? "true" : "false");
	mon_json_string(out, blame_text(verdict->by_outcome.blame));
	write_double(out, "unexplained", verdict->unexplained);
	write_u64(out, "capacity_bytes", verdict->capacity_bytes);
	write_u64(out, "over_by_bytes", verdict->over_by_bytes);
	write_double(out, "turned_at_s", verdict->turned_at_s);
	write_u64(out, "turned_at_row", verdict->turned_at_row ? verdict->turned_at_row : TELE_UNKNOWN);
	write_u64(out, "gaps", growth->n_gaps);
	write_u64(out, "left_out", growth->n_left_out);
	mon_out_text(out, "}");
}

void mon_json_verdicts(struct mon_out *out, const struct analysis_watch *watch,
		       const struct analysis_verdict *verdicts, size_t n_verdicts)
{
	mon_out_text(out, "[");
	for (size_t i = 0; watch && i < n_verdicts; i++) {
		if (i)
			mon_out_text(out, ",");
		write_verdict(out, analysis_watch_engine(watch), &verdicts[i]);
	}
	mon_out_text(out, "]");
}
