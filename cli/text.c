// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One line for one thing. A message is built in a buffer, cleaned as a whole
// (names, labels and paths in it are foreign) and written with one write(2), so
// that two processes that share a terminal do not mix their lines.

#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

// Bytes of the well-formed, harmless character at `text`, or 0.
static size_t character_bytes(const unsigned char *text)
{
	if (text[0] >= 0x20 && text[0] < 0x7f)
		return 1;
	size_t n_more;
	uint32_t point;
	if (text[0] >= 0xc2 && text[0] <= 0xdf) {
		n_more = 1;
		point = text[0] & 0x1fu;
	} else if (text[0] >= 0xe0 && text[0] <= 0xef) {
		n_more = 2;
		point = text[0] & 0x0fu;
	} else if (text[0] >= 0xf0 && text[0] <= 0xf4) {
		n_more = 3;
		point = text[0] & 0x07u;
	} else {
		return 0;
	}
	for (size_t i = 1; i <= n_more; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3fu);
	}
	static const uint32_t smallest[4] = {0, 0x80, 0x800, 0x10000};
	bool is_wrong = point < smallest[n_more] || point > 0x10ffff ||
			(point >= 0xd800 && point <= 0xdfff);
	// C1 controls; marks that turn the direction of what follows.
	bool acts = point < 0xa0 || point == 0x200e || point == 0x200f ||
		    (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) ||
		    point == 0xfeff;
	return is_wrong || acts ? 0 : n_more + 1;
}

char *cli_clean(char *text)
{
	unsigned char *at = (unsigned char *)text;
	while (*at) {
		size_t n_bytes = character_bytes(at);
		if (n_bytes == 0) {
			*at = '?';
			n_bytes = 1;
		}
		at += n_bytes;
	}
	return text;
}

char *cli_cut(char *text, size_t columns)
{
	size_t n = 0;
	for (char *at = text; *at; at++) {
		if (((unsigned char)*at & 0xc0) == 0x80)
			continue;
		if (n++ == columns) {
			*at = '\0';
			break;
		}
	}
	return text;
}

static void say(const struct cli_call *call, const char *format, va_list arguments)
{
	char line[2048];
	int at = call ? snprintf(line, sizeof(line), "rollcall %s: ", call->verb->name)
		      : snprintf(line, sizeof(line), "rollcall: ");
	size_t used = (size_t)at;
	int more = vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);
	if (more > 0)
		used = strlen(line);
	line[used] = '\0';
	cli_clean(line);
	line[used] = '\n';
	ssize_t ignored = write(STDERR_FILENO, line, used + 1);
	(void)ignored;
}

int cli_fail(const struct cli_call *call, int status, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say(call, format, arguments);
	va_end(arguments);
	return status;
}

void cli_note(const struct cli_call *call, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say(call, format, arguments);
	va_end(arguments);
}

int cli_fail_with(const struct cli_call *call, const struct tele_error *error,
		  const char *what_to_do)
{
	return cli_fail(call, CLI_FAILED, "%s%s%s", error->text, what_to_do ? "; " : "",
			what_to_do ? what_to_do : "");
}

char *cli_bytes_text(uint64_t bytes, char buffer[CLI_SIZE_TEXT])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	if (bytes == TELE_UNKNOWN) {
		snprintf(buffer, CLI_SIZE_TEXT, "n/a");
		return buffer;
	}
	size_t unit = 0;
	double value = (double)bytes;
	while (value >= 1023.95 && unit + 1 < TELE_ARRAY_LEN(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(buffer, CLI_SIZE_TEXT, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return buffer;
}

char *cli_duration_text(uint64_t ns, char buffer[CLI_SIZE_TEXT])
{
	uint64_t s = ns / 1000000000u;
	if (ns == TELE_UNKNOWN)
		snprintf(buffer, CLI_SIZE_TEXT, "n/a");
	else if (s < 60)
		snprintf(buffer, CLI_SIZE_TEXT, "%us", (unsigned)s);
	else if (s < 3600)
		snprintf(buffer, CLI_SIZE_TEXT, "%um%02us", (unsigned)(s / 60), (unsigned)(s % 60));
	else if (s < 86400)
		snprintf(buffer, CLI_SIZE_TEXT, "%uh%02um", (unsigned)(s / 3600), (unsigned)(s / 60 % 60));
	else
		snprintf(buffer, CLI_SIZE_TEXT, "%ud%02uh", (unsigned)(s / 86400 % 1000000),
			 (unsigned)(s / 3600 % 24));
	return buffer;
}

int cli_fail_output(const struct cli_call *call, int code)
{
	bool is_full = code == -ENOSPC || code == -EDQUOT;
	return cli_fail(call, CLI_FAILED, "cannot write to standard output: %s%s", tele_strerror(code),
			is_full ? "; free some space there" : "");
}

int cli_finish_output(const struct cli_call *call)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return CLI_OK;
	return cli_fail_output(call, -errno);
}

uint64_t cli_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
