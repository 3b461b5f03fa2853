// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Labels, phases, names and error texts come from other processes and may hold
// anything. What is not certainly a visible character becomes '?': control
// characters (C0, DEL, C1 and so every escape), invalid UTF-8, marks that set
// the direction of text, and characters without any shape of their own, which
// could make two different labels look the same.

#include "utf8.h"

#include <wchar.h>

#include "monitor.h"

#include "../libtelemetry/banned.h"

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

// Bytes of the sequence that starts with `first`, 0 when none does.
static unsigned sequence_bytes(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	if (first >= 0xf0 && first <= 0xf4)
		return 4;
	return 0;
}

uint32_t mon_utf8_next(const char **text)
{
	static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *bytes = (const unsigned char *)*text;
	unsigned n = sequence_bytes(bytes[0]);
	if (bytes[0] == 0)
		return 0;
	if (n == 1) {
		*text += 1;
		return bytes[0];
	}
	uint32_t ch = n ? bytes[0] & (0x7fu >> n) : 0;
	for (unsigned i = 1; i < n; i++) {
		if (!is_continuation(bytes[i])) {
			n = 0;
			break;
		}
		ch = ch << 6 | (bytes[i] & 0x3fu);
	}
	if (n == 0 || ch < smallest[n] || ch > 0x10ffff || (ch >= 0xd800 && ch <= 0xdfff)) {
		*text += 1;
		return MON_CHAR_INVALID;
	}
	*text += n;
	return ch;
}

size_t mon_utf8_put(uint32_t ch, char bytes[MON_CHAR_BYTES_MAX])
{
	if (ch < 0x80) {
		bytes[0] = (char)ch;
		return 1;
	}
	if (ch < 0x800) {
		bytes[0] = (char)(0xc0 | ch >> 6);
		bytes[1] = (char)(0x80 | (ch & 0x3f));
		return 2;
	}
	if (ch < 0x10000) {
		bytes[0] = (char)(0xe0 | ch >> 12);
		bytes[1] = (char)(0x80 | (ch >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (ch & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | (ch >> 18 & 7));
	bytes[1] = (char)(0x80 | (ch >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (ch >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (ch & 0x3f));
	return 4;
}

bool mon_char_is_safe(uint32_t ch)
{
	static const struct {
		uint32_t first, last;
	} unsafe[] = {
		{0x00, 0x1f},		{0x7f, 0x9f},	    {0xad, 0xad},	{0x034f, 0x034f},
		{0x0600, 0x0605},	{0x061c, 0x061c},   {0x06dd, 0x06dd},	{0x070f, 0x070f},
		{0x115f, 0x1160},	{0x17b4, 0x17b5},   {0x180b, 0x180f},	{0x200b, 0x200f},
		{0x2028, 0x202e},	{0x2060, 0x206f},   {0x3164, 0x3164},	{0xd800, 0xdfff},
		{0xfdd0, 0xfdef},	{0xfeff, 0xfeff},   {0xffa0, 0xffa0},	{0xfff0, 0xfffb},
		{0xfffe, 0xffff},	{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
		{0x10ffff, UINT32_MAX},
	};
	if (ch >= 0x20 && ch < 0x7f)
		return true;
	for (size_t i = 0; i < TELE_ARRAY_LEN(unsafe); i++)
		if (ch >= unsafe[i].first && ch <= unsafe[i].last)
			return false;
	return true;
}

int mon_char_width(uint32_t ch)
{
	if (ch >= 0x20 && ch < 0x7f)
		return 1;
	return mon_char_is_safe(ch) ? wcwidth((wchar_t)ch) : -1;
}

char *mon_text_clean(const char *text, bool is_ascii, char *buffer, size_t size)
{
	size_t used = 0;
	TELE_ASSERT(size > 0);
	for (;;) {
		char bytes[MON_CHAR_BYTES_MAX];
		uint32_t ch = mon_utf8_next(&text);
		if (ch == 0)
			break;
		if (!mon_char_is_safe(ch) || (is_ascii && ch >= 0x80))
			ch = '?';
		size_t n = mon_utf8_put(ch, bytes);
		if (used + n >= size)
			break;
		memcpy(buffer + used, bytes, n);
		used += n;
	}
	buffer[used] = '\0';
	return buffer;
}
