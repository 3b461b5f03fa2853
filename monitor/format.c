// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Numbers for people. A size has three digits and a unit below 1,000 of it,
// four where that saves a step; what would round up to the next unit is shown
// in that unit, so that no number is ever wider than its column.

#include "format.h"

#include <stdio.h>
#include <time.h>

#include "../libtelemetry/banned.h"

#define NS_PER_S UINT64_C(1000000000)

int mon_bytes_columns(enum mon_units units)
{
	return units == MON_UNITS_PLAIN ? 15 : 7;
}

static void scale(uint64_t value, double step, const char *units, char *buffer, size_t size)
{
	double scaled = (double)value;
	unsigned unit = 0;
	while (scaled >= step || (unit > 0 && scaled + 0.05 >= step)) {
		scaled /= step;
		unit++;
	}
	if (unit == 0)
		snprintf(buffer, size, "%llu%.1s", (unsigned long long)value, units);
	else
		snprintf(buffer, size, scaled < 9.995 ? "%.2f%.1s" : "%.1f%.1s", scaled,
			 units + unit);
}

char *mon_format_bytes(uint64_t bytes, enum mon_units units, char *buffer, size_t size)
{
	if (bytes == TELE_UNKNOWN)
		snprintf(buffer, size, "n/a");
	else if (units == MON_UNITS_PLAIN)
		snprintf(buffer, size, "%llu", (unsigned long long)bytes);
	else
		scale(bytes, units == MON_UNITS_SI ? 1000.0 : 1024.0, "BKMGTPE", buffer, size);
	return buffer;
}

// Converts within range: forecasts and slopes may lie anywhere.
static uint64_t to_u64(double value)
{
	if (!(value > 0))
		return 0;
	return value >= 0x1p64 ? TELE_UNKNOWN - 1 : (uint64_t)value;
}

char *mon_format_size(double bytes, enum mon_units units, char *buffer, size_t size)
{
	return mon_format_bytes(to_u64(bytes), units, buffer, size);
}

char *mon_format_seconds(double seconds, char *buffer, size_t size)
{
	return mon_format_duration(to_u64(seconds * 1e9), buffer, size);
}

char *mon_format_signed_bytes(struct analysis_signed bytes, enum mon_units units, char *buffer,
			      size_t size)
{
	char magnitude[MON_NUMBER_BYTES];
	if (!bytes.is_known) {
		snprintf(buffer, size, "n/a");
		return buffer;
	}
	uint64_t value = (uint64_t)bytes.value;
	if (bytes.value < 0)
		value = UINT64_C(0) - value;
	mon_format_bytes(value, units, magnitude, sizeof(magnitude));
	snprintf(buffer, size, "%c%s", bytes.value < 0 ? '-' : '+', magnitude);
	return buffer;
}

char *mon_format_count(uint64_t count, char *buffer, size_t size)
{
	if (count == TELE_UNKNOWN)
		snprintf(buffer, size, "n/a");
	else if (count < 1000000)
		snprintf(buffer, size, "%llu", (unsigned long long)count);
	else
		scale(count, 1000.0, "\0KMGTPE", buffer, size);
	return buffer;
}

char *mon_format_signed_count(struct analysis_signed count, char *buffer, size_t size)
{
	if (!count.is_known)
		snprintf(buffer, size, "n/a");
	else if (count.value >= 0)
		mon_format_count((uint64_t)count.value, buffer, size);
	else
		snprintf(buffer, size, "%lld", (long long)count.value);
	return buffer;
}

char *mon_format_duration(uint64_t ns, char *buffer, size_t size)
{
	unsigned long long s = ns / NS_PER_S;
	if (ns == TELE_UNKNOWN)
		snprintf(buffer, size, "n/a");
	else if (s < 60)
		snprintf(buffer, size, "%llus", s);
	else if (s < 3600)
		snprintf(buffer, size, "%llum%02llus", s / 60, s % 60);
	else if (s < 86400)
		snprintf(buffer, size, "%lluh%02llum", s / 3600, s / 60 % 60);
	else
		snprintf(buffer, size, "%llud%02lluh", s / 86400, s / 3600 % 24);
	return buffer;
}

char *mon_format_elapsed(uint64_t ns, char *buffer, size_t size)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned unit = 0;
	double value = (double)ns;
	while (unit + 1 < TELE_ARRAY_LEN(units) && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	if (ns == TELE_UNKNOWN || (unit == 3 && value >= 59.95))
		return mon_format_duration(ns, buffer, size);
	int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
	snprintf(buffer, size, "%.*f%s", decimals, value, units[unit]);
	return buffer;
}

char *mon_format_rate(double per_second, char *buffer, size_t size)
{
	if (!(per_second >= 0))
		snprintf(buffer, size, "n/a");
	else if (per_second == 0 || per_second >= 0.95)
		snprintf(buffer, size, per_second < 99.95 ? "%.1f/s" : "%.0f/s", per_second);
	else
		snprintf(buffer, size, "%.1f/min", per_second * 60);
	return buffer;
}

char *mon_format_clock(uint64_t realtime_ns, char *buffer, size_t size)
{
	time_t seconds = (time_t)(realtime_ns / NS_PER_S);
	struct tm local;
	if (!localtime_r(&seconds, &local))
		snprintf(buffer, size, "n/a");
	else
		snprintf(buffer, size, "%02d:%02d:%02d", local.tm_hour, local.tm_min, local.tm_sec);
	return buffer;
}

char *mon_format_share(uint64_t part, uint64_t whole, char *buffer, size_t size)
{
	if (part == TELE_UNKNOWN || whole == TELE_UNKNOWN || whole == 0)
		snprintf(buffer, size, "%s", "");
	else
		snprintf(buffer, size, "%.1f%%", 100.0 * (double)part / (double)whole);
	return buffer;
}
