// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Digits are added up in integers; a double never stands between a file and a
// counter. Only an exponent, which no counter has, goes by way of strtold.

#include "import_number.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

#define NS_PER_S UINT64_C(1000000000)

// Digits at `text`. Returns what follows them, or NULL where there are none or
// too many.
static const char *scan_digits(const char *text, uint64_t *ret_value)
{
	uint64_t value = 0;
	const char *at = text;
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return NULL;
	*ret_value = value;
	return at == text ? NULL : at;
}

bool rec_parse_whole(const char *text, uint64_t *ret_value)
{
	uint64_t value;
	const char *at = scan_digits(text, &value);
	if (!at)
		return false;
	if (*at == '.')
		at += 1 + strspn(at + 1, "0");
	if (*at)
		return false;
	*ret_value = value;
	return true;
}

static bool parse_exponent(const char *text, uint64_t *ret_ns)
{
	char *end;
	errno = 0;
	long double seconds = strtold(text, &end);
	if (*end || !(seconds >= 0) || seconds >= 1.8e10L)
		return false;
	*ret_ns = (uint64_t)(seconds * 1e9L);
	return true;
}

bool rec_parse_seconds(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds, ns = 0;
	if (text[0] < '0' || text[0] > '9' || text[strspn(text, "0123456789.eE+-")])
		return false;
	if (text[strcspn(text, "eE")])
		return parse_exponent(text, ret_ns);
	const char *at = scan_digits(text, &seconds);
	if (!at || (*at && *at != '.'))
		return false;
	if (*at == '.')
		at++;
	for (uint64_t unit = NS_PER_S / 10; *at >= '0' && *at <= '9'; at++, unit /= 10)
		ns += unit * (uint64_t)(*at - '0');
	if (*at || seconds >= UINT64_MAX / NS_PER_S)
		return false;
	*ret_ns = seconds * NS_PER_S + ns;
	return true;
}

const char *rec_scan_bytes(const char *text, uint64_t *ret_bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	uint64_t whole, tenths = 0, scale = 1;
	const char *at = scan_digits(text, &whole);
	if (!at)
		return NULL;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++)
			if (scale < 1000000) {
				tenths = 10 * tenths + (uint64_t)(*at - '0');
				scale *= 10;
			}
	at += *at == ' ';
	for (unsigned i = 0; i < TELE_ARRAY_LEN(units); i++) {
		size_t len = strlen(units[i]);
		if (strncmp(at, units[i], len) != 0)
			continue;
		uint64_t unit = UINT64_C(1) << (10 * i);
		if (whole > UINT64_MAX / 2 / unit)
			return NULL;
		*ret_bytes = whole * unit + (tenths * unit + scale / 2) / scale;
		return at + len;
	}
	return NULL;
}
