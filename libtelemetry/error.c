// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Error texts, and the assertion that stops the process. The map of our own
// codes is the table in error.h, so that no code can be without a text.

#include "error.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"

const char *tele_strerror(int code)
{
	switch (code) {
#define X(name, value, text) \
	case name:           \
		return text;
		TELE_ERROR_MAP(X)
#undef X
	default:
		break;
	}
	const char *text = strerrordesc_np(code < 0 ? -code : code);
	return text ? text : "unknown error";
}

int tele_fail(struct tele_error *ret_error, int code, const char *format, ...)
{
	if (ret_error) {
		va_list arguments;
		ret_error->code = code;
		va_start(arguments, format);
		vsnprintf(ret_error->text, sizeof(ret_error->text), format, arguments);
		va_end(arguments);
	}
	return code;
}

static void write_all(const char *text)
{
	ssize_t ignored = write(2, text, strlen(text));
	(void)ignored;
}

_Noreturn void tele_assert_failed(const char *expression, const char *file, int line)
{
	char digits[16];
	size_t at = sizeof(digits) - 1;
	unsigned rest = line > 0 ? (unsigned)line : 0;
	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest && at > 0);
	write_all("rollcall: internal check failed: ");
	write_all(expression);
	write_all(" at ");
	write_all(file);
	write_all(":");
	write_all(digits + at);
	write_all("\n");
	abort();
}
