// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The buffer of all outputs. It doubles as it grows and always ends in a NUL
// that is not counted; after a failed allocation it takes nothing more, so that
// a half line is never mistaken for a whole one.

#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

void mon_out_fini(struct mon_out *out)
{
	free(out->bytes);
	*out = (struct mon_out){0};
}

static bool reserve(struct mon_out *out, size_t more_bytes)
{
	if (out->is_failed)
		return false;
	size_t need = out->n_bytes + more_bytes + 1;
	if (need <= out->capacity)
		return true;
	size_t capacity = out->capacity ? out->capacity : 1024;
	while (capacity < need)
		capacity *= 2;
	char *bytes = realloc(out->bytes, capacity);
	if (!bytes) {
		out->is_failed = true;
		return false;
	}
	out->bytes = bytes;
	out->capacity = capacity;
	return true;
}

void mon_out_bytes(struct mon_out *out, const char *bytes, size_t n_bytes)
{
	if (!reserve(out, n_bytes))
		return;
	if (n_bytes)
		memcpy(out->bytes + out->n_bytes, bytes, n_bytes);
	out->n_bytes += n_bytes;
	out->bytes[out->n_bytes] = '\0';
}

void mon_out_text(struct mon_out *out, const char *text)
{
	mon_out_bytes(out, text, strlen(text));
}

void mon_out_format(struct mon_out *out, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int len = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	TELE_ASSERT(len >= 0);
	if (!reserve(out, (size_t)len))
		return;
	va_start(arguments, format);
	vsnprintf(out->bytes + out->n_bytes, (size_t)len + 1, format, arguments);
	va_end(arguments);
	out->n_bytes += (size_t)len;
}

int mon_out_status(const struct mon_out *out)
{
	return out->is_failed ? -ENOMEM : 0;
}
