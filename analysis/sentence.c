// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The one sentence a verdict is shown as. Every number in it is the verdict's
// own; nothing is said that was not judged.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"

#include "../libtelemetry/banned.h"

struct text {
	char *buf;
	size_t size_bytes, len;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
	char *at = text->len < text->size_bytes ? text->buf + text->len : NULL;
	va_list arguments;

	va_start(arguments, format);
	int len = vsnprintf(at, at ? text->size_bytes - text->len : 0, format, arguments);
	va_end(arguments);
	text->len += len > 0 ? (size_t)len : 0;
}

static const char *const byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

static unsigned byte_unit(double bytes)
{
	unsigned unit = 0;

	for (bytes = fabs(bytes); bytes >= 1023.5 && unit + 1 < TELE_ARRAY_LEN(byte_units); unit++)
		bytes /= 1024;
	return unit;
}

// Three figures that matter: 102, 11.9, 1.25.
static void put_figures(struct text *text, double value)
{
	double size = fabs(value);

	put(text, "%.*f", size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : 2, value);
}

static void put_bytes(struct text *text, double bytes)
{
	unsigned unit = byte_unit(bytes);

	put_figures(text, bytes / exp2(10.0 * unit));
	put(text, " %s", byte_units[unit]);
}

// Counts go to two decimals, smaller ones to two figures.
static void put_count(struct text *text, double value)
{
	if (value != 0 && fabs(value) < 0.095)
		put(text, "%.2g", value);
	else
		put(text, "%.2f", value);
}

static void put_range(struct text *text, bool is_bytes, double scale_by, double low, double high)
{
	if (is_bytes) {
		double scale = exp2(10.0 * byte_unit(scale_by));
		put_figures(text, low / scale);
		put(text, " to ");
		put_figures(text, high / scale);
	} else {
		put_count(text, low);
		put(text, " to ");
		put_count(text, high);
	}
}

static void put_seconds(struct text *text, double seconds)
{
	if (seconds < 99.5)
		put(text, "%.0f s", seconds);
	else if (seconds < 99.5 * 60)
		put(text, "%.0f min", seconds / 60);
	else if (seconds < 48 * 3600.0)
		put(text, "%.0f h", seconds / 3600);
	else
		put(text, "%.0f days", seconds / 86400);
}

// "working_pools" is "working pools", "rss_bytes" is "RSS". The program's own
// names stay as they are.
static void put_name(struct text *text, const char *name)
{
	char blank = strncmp(name, "app.", 4) == 0 ? '_' : ' ';
	if (strcmp(name, "rss_bytes") == 0)
		name = "RSS";
	for (; *name; name++)
		put(text, "%c", *name == '_' ? blank : *name);
}

// Names of one thing take "grows": what the program registered, and RSS.
static bool is_plural(const char *name)
{
	size_t len = strlen(name);
	return !strstr(name, "app.") && strcmp(name, "rss_bytes") != 0 && len > 0 && name[len - 1] == 's';
}

static void put_extent(struct text *text, enum analysis_axis axis, double window)
{
	if (axis == ANALYSIS_TIME)
		put_seconds(text, window);
	else
		put(text, "%.0f candidate%s", window, window == 1 ? "" : "s");
}

static const char *axis_phrase(enum analysis_axis axis)
{
	switch (axis) {
	case ANALYSIS_TIME:
		return "second";
	case ANALYSIS_ATTEMPTED:
		return "attempted candidate";
	case ANALYSIS_LINKED:
		return "linked candidate";
	case ANALYSIS_TIMED:
		return "timed candidate";
	case ANALYSIS_KEPT:
		return "kept candidate";
	case ANALYSIS_AXIS_COUNT:
		break;
	}
	return "?";
}

// "device_used_bytes" is "device", "rss_bytes" is "RSS".
static void put_total_name(struct text *text, const char *name)
{
	char short_name[ANALYSIS_CLASS_NAME_MAX];
	size_t len = strlen(name);

	memcpy(short_name, name, len + 1);
	if (len > 6 && strcmp(short_name + len - 6, "_bytes") == 0)
		short_name[len -= 6] = '\0';
	if (len > 5 && strcmp(short_name + len - 5, "_used") == 0)
		short_name[len -= 5] = '\0';
	if (len > 5 && strcmp(short_name + len - 5, ".used") == 0)
		short_name[len -= 5] = '\0';
	if (strcmp(short_name, "rss") == 0)
		put(text, "RSS");
	else
		put_name(text, short_name);
}

static void put_slope(struct text *text, const struct analysis_class *class, const struct analysis_verdict *verdict)
{
	const struct analysis_growth *growth = &verdict->growth;
	bool is_bytes = class->unit == TELE_BYTES;

	put(text, ": %s", growth->slope >= 0 ? "+" : "");
	if (is_bytes)
		put_bytes(text, growth->slope);
	else
		put_count(text, growth->slope);
	put(text, " per %s", axis_phrase(verdict->axis));
	if (isnan(verdict->each_bytes)) {
		put(text, " (95 %%: ");
		put_range(text, is_bytes, growth->slope, growth->slope_low, growth->slope_high);
	} else {
		put(text, ", +");
		put_bytes(text, verdict->each_bytes);
		put(text, " each (95 %%: ");
		put_range(text, true, verdict->each_bytes, verdict->each_low_bytes, verdict->each_high_bytes);
	}
	put(text, ", ");
	put_extent(text, verdict->axis, isnan(verdict->each_bytes) ? growth->window : verdict->each_window);
	put(text, ")");
}

static void put_share(struct text *text, const struct analysis_verdicts *engine, const struct analysis_class *class,
		      double share)
{
	if (isnan(share) || class->total_class < 0)
		return;
	put(text, ", %.1f %% of ", 100 * share);
	put_total_name(text, engine->classes[class->total_class]->class.name);
	put(text, " growth");
}

static void put_forecast(struct text *text, const struct analysis_verdict *verdict)
{
	if (verdict->capacity_bytes == TELE_UNKNOWN)
		return;
	if (verdict->over_by_bytes > 0) {
		put(text, "; ");
		put_bytes(text, (double)verdict->capacity_bytes);
		put(text, " reached, over by ");
		put_bytes(text, (double)verdict->over_by_bytes);
		return;
	}
	if (isnan(verdict->forecast))
		return;
	put(text, "; ");
	put_bytes(text, (double)verdict->capacity_bytes);
	put(text, " reached in %s ", verdict->forecast_is_bound ? "more than" : "about");
	if (verdict->axis == ANALYSIS_TIME) {
		put_seconds(text, verdict->forecast);
		return;
	}
	double candidates = round(verdict->forecast);
	put(text, "%.0f %s%s", candidates, axis_phrase(verdict->axis), candidates == 1 ? "" : "s");
}

static void put_blame(struct text *text, const struct analysis_verdict *verdict)
{
	if (verdict->by_outcome.blame == ANALYSIS_BLAME_BETWEEN) {
		put(text, "; between candidates only");
	} else if (verdict->by_outcome.blame > 0) {
		put(text, "; after ");
		put_name(text, tele_outcome_name((unsigned)verdict->by_outcome.blame));
		put(text, " candidates only");
	}
}

static void put_band(struct text *text, const struct analysis_class *class, const struct analysis_verdict *verdict)
{
	double low = verdict->growth.low, high = verdict->growth.high;

	put(text, ": ");
	if (class->unit == TELE_BYTES) {
		put_bytes(text, low);
		if (high != low) {
			put(text, " to ");
			put_bytes(text, high);
		}
	} else {
		put(text, "%.0f", low);
		if (high != low)
			put(text, " to %.0f", high);
	}
	put(text, " (");
	put_extent(text, verdict->axis, verdict->growth.window);
	put(text, ")");
}

size_t analysis_sentence(const struct analysis_verdicts *engine, const struct analysis_verdict *verdict, char *buf,
			 size_t size_bytes)
{
	struct text text = {buf, size_bytes, 0};
	const struct analysis_class *class = &engine->classes[verdict->class_index]->class;
	bool is_many = is_plural(class->name);
	double share = verdict->share;

	if (size_bytes > 0)
		buf[0] = '\0';
	put_name(&text, class->name);
	switch (verdict->growth.shape) {
	case ANALYSIS_GROWING:
	case ANALYSIS_STEPPING:
		put(&text, verdict->growth.shape == ANALYSIS_STEPPING ? " grow%s by steps%s" : " grow%s%s", is_many ? "" : "s",
		    verdict->is_so_far ? " so far" : "");
		put_slope(&text, class, verdict);
		if (class->unit != TELE_BYTES && class->bytes_class >= 0)
			class = &engine->classes[class->bytes_class]->class;
		put_share(&text, engine, class, share);
		put_forecast(&text, verdict);
		put_blame(&text, verdict);
		break;
	case ANALYSIS_DRAINING:
		put(&text, " drain%s", is_many ? "" : "s");
		put_slope(&text, class, verdict);
		break;
	case ANALYSIS_NOT_ENOUGH_DATA:
		put(&text, ": not enough data (");
		put_extent(&text, verdict->axis, verdict->growth.window);
		put(&text, ")");
		break;
	case ANALYSIS_FLAT:
	case ANALYSIS_ONE_TIME:
	case ANALYSIS_BOUNDED:
	case ANALYSIS_SHAPE_COUNT:
		put(&text, " %s %s", is_many ? "are" : "is",
		    verdict->growth.shape == ANALYSIS_FLAT	? "flat"
		    : verdict->growth.shape == ANALYSIS_BOUNDED ? "bounded"
								: "flat after one step");
		put_band(&text, class, verdict);
		break;
	}
	return text.len;
}
