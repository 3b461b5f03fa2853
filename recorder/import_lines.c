// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One buffer: what was given out stands before `start`, what is read and not
// given out between `start` and `end`. It grows up to the longest line allowed,
// so that a file without a line end costs no more than that.

#include "import_lines.h"

#include <errno.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static int fail(struct tele_error *ret_error, int code)
{
	return tele_fail(ret_error, code, "cannot read the input: %s", tele_strerror(code));
}

// Reads once. 1: there is more now; 0: the end; or -errno.
static int read_more(struct rec_lines *lines)
{
	for (;;) {
		ssize_t got = read(lines->fd, lines->bytes + lines->end, lines->capacity - lines->end);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		lines->is_at_end = got == 0;
		lines->end += (size_t)got;
		return got > 0;
	}
}

int rec_lines_init(struct rec_lines *lines, int fd, struct tele_error *ret_error)
{
	*lines = (struct rec_lines){.fd = fd, .capacity = REC_LINES_HEAD_BYTES};
	lines->bytes = malloc(lines->capacity + 1);
	if (!lines->bytes)
		return fail(ret_error, -ENOMEM);
	while (lines->end < REC_LINES_HEAD_BYTES) {
		int got = read_more(lines);
		if (got < 0) {
			rec_lines_fini(lines);
			return fail(ret_error, got);
		}
		if (got == 0)
			break;
	}
	lines->head_hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
	for (size_t i = 0; i < lines->end; i++)
		lines->head_hash = (lines->head_hash ^ (uint8_t)lines->bytes[i]) * UINT64_C(0x100000001b3);
	return 0;
}

void rec_lines_fini(struct rec_lines *lines)
{
	free(lines->bytes);
	*lines = (struct rec_lines){.fd = -1};
}

// Makes room behind what is there. 0, -ENOMEM, or TELE_ELIMIT: the line is too
// long.
static int make_room(struct rec_lines *lines)
{
	memmove(lines->bytes, lines->bytes + lines->start, lines->end - lines->start);
	lines->end -= lines->start;
	lines->start = 0;
	if (lines->end < lines->capacity)
		return 0;
	// One byte more than a line may have shows that it has too many.
	size_t wanted = 2 * lines->capacity < REC_LINE_BYTES_MAX ? 2 * lines->capacity : REC_LINE_BYTES_MAX + 2;
	if (wanted <= lines->capacity)
		return TELE_ELIMIT;
	char *grown = realloc(lines->bytes, wanted + 1);
	if (!grown)
		return -ENOMEM;
	lines->bytes = grown;
	lines->capacity = wanted;
	return 0;
}

// Drops what is read of a line that is too long, up to its end. 0 or -errno.
static int skip_rest(struct rec_lines *lines)
{
	for (;;) {
		char *newline = memchr(lines->bytes + lines->start, '\n', lines->end - lines->start);
		if (newline) {
			lines->start = (size_t)(newline - lines->bytes);
			return 0;
		}
		lines->start = lines->end = 0;
		int got = read_more(lines);
		if (got <= 0)
			return got;
	}
}

int rec_lines_next(struct rec_lines *lines, bool skips_long, char **ret_line, size_t *ret_len,
		   struct tele_error *ret_error)
{
	size_t searched = 0; // of what is there, without a line end
	for (;;) {
		char *from = lines->bytes + lines->start;
		char *newline = memchr(from + searched, '\n', lines->end - lines->start - searched);
		size_t len = newline ? (size_t)(newline - from) : lines->end - lines->start;
		if (newline || (lines->is_at_end && len > 0)) {
			lines->number++;
			lines->start += len + (newline != NULL);
			if (len > 0 && from[len - 1] == '\r')
				len--;
			from[len] = '\0';
			*ret_line = from;
			*ret_len = len;
			return 1;
		}
		if (lines->is_at_end)
			return 0;
		searched = len;
		int result = lines->end < lines->capacity && lines->start == 0 ? 0 : make_room(lines);
		if (result == TELE_ELIMIT && !skips_long)
			return tele_fail(ret_error, TELE_ESYNTAX, "line %llu is longer than %u KiB",
					 (unsigned long long)lines->number + 1, REC_LINE_BYTES_MAX >> 10);
		if (result == TELE_ELIMIT) {
			result = skip_rest(lines);
			searched = 0;
		} else if (result == 0) {
			result = read_more(lines);
		}
		if (result < 0)
			return fail(ret_error, result);
	}
}
