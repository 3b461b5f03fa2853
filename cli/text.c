// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One line for one thing. A message is built in a buffer, cleaned as a whole
// (names, labels and paths in it are foreign) and written with one write(2), so
// that two processes that share a terminal do not mix their lines.

#include "text.h"

#include "../monitor/monitor.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

char *cli_clean(char *text)
{
	// Cleaned text is never longer, so it can take the place of what it was.
	return mon_text_clean(text, !mon_is_utf8_locale(), text, strlen(text) + 1);
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
	if (more < 0)
		line[used] = '\0';
	used = strlen(cli_clean(line));
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
