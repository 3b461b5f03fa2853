// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Bytes are gathered and written 64 KiB at a time, a file's to its draft.

#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

#define BUFFER_BYTES (64u << 10)

static const char *name_of(const struct rec_outfile *file)
{
	return strcmp(file->draft.path, "-") == 0 ? "standard output" : file->draft.path;
}

static int fail(const struct rec_outfile *file, int code, struct tele_error *ret_error)
{
	return tele_fail(ret_error, code, "%s: %s", name_of(file), tele_strerror(code));
}

int rec_outfile_open_fd(struct rec_outfile *file, int fd, const char *path, struct tele_error *ret_error)
{
	*file = (struct rec_outfile){.fd = fd, .draft.path = path, .bytes = malloc(BUFFER_BYTES)};
	return file->bytes ? 0 : fail(file, -ENOMEM, ret_error);
}

int rec_outfile_open(struct rec_outfile *file, const char *path, const char *input, bool replace,
		     struct tele_error *ret_error)
{
	if (rec_outfile_open_fd(file, STDOUT_FILENO, path, ret_error) < 0)
		return -ENOMEM;
	int failed = rec_draft_open(&file->draft, path, input, replace, ret_error);
	if (!failed && strcmp(file->draft.path, "-") != 0) {
		file->fd = open(rec_draft_written(&file->draft), O_WRONLY | O_CLOEXEC | O_NOCTTY);
		failed = file->fd < 0 ? fail(file, -errno, ret_error) : 0;
	}
	if (!failed)
		rec_draft_keep_mode(&file->draft);
	if (!failed && file->draft.name && !file->draft.mode) {
		mode_t mask = umask(0);
		umask(mask);
		(void)fchmod(file->fd, 0666 & ~mask);
	}
	if (failed) {
		rec_draft_drop(&file->draft);
		free(file->bytes);
		*file = (struct rec_outfile){.fd = -1};
	}
	return failed;
}

static void write_out(struct rec_outfile *file, const char *bytes, size_t n_bytes)
{
	while (n_bytes > 0 && !file->failure.code) {
		ssize_t n = write(file->fd, bytes, n_bytes);
		if (n > 0) {
			bytes += n;
			n_bytes -= (size_t)n;
			file->written_bytes += (uint64_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			struct pollfd waited = {.fd = file->fd, .events = POLLOUT};
			(void)poll(&waited, 1, -1);
		} else if (n == 0 || errno != EINTR) {
			int code = n == 0 ? -ENOSPC : -errno;
			tele_fail(&file->failure, code, "%s: cannot write: %s", name_of(file), tele_strerror(code));
		}
	}
}

// Room for a few bytes.
static char *reserve(struct rec_outfile *file, size_t n_bytes)
{
	if (BUFFER_BYTES - file->n_bytes < n_bytes) {
		write_out(file, file->bytes, file->n_bytes);
		file->n_bytes = 0;
	}
	return file->bytes + file->n_bytes;
}

void rec_outfile_put(struct rec_outfile *file, const char *bytes, size_t n_bytes)
{
	if (n_bytes > BUFFER_BYTES / 2) {
		reserve(file, BUFFER_BYTES);
		write_out(file, bytes, n_bytes);
		return;
	}
	memcpy(reserve(file, n_bytes), bytes, n_bytes);
	file->n_bytes += n_bytes;
}

void rec_outfile_text(struct rec_outfile *file, const char *text)
{
	rec_outfile_put(file, text, strlen(text));
}

// Writes the digits of value, at least `n_least`, to the end of `end`; returns
// where they begin.
static char *digits_of(uint64_t value, unsigned n_least, char *end)
{
	char *at = end;
	while (value || at > end - n_least) {
		*--at = (char)('0' + value % 10);
		value /= 10;
	}
	return at;
}

void rec_outfile_u64(struct rec_outfile *file, uint64_t value)
{
	char text[24];
	char *at = digits_of(value, 1, text + sizeof(text));
	rec_outfile_put(file, at, (size_t)(text + sizeof(text) - at));
}

void rec_outfile_i64(struct rec_outfile *file, int64_t value)
{
	if (value < 0)
		rec_outfile_put(file, "-", 1);
	rec_outfile_u64(file, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void rec_outfile_decimal(struct rec_outfile *file, uint64_t value, unsigned digits)
{
	char text[40];
	char *end = text + sizeof(text);
	TELE_ASSERT(digits <= 9);
	while (digits > 0 && value % 10 == 0) {
		value /= 10;
		digits--;
	}
	char *at = digits_of(value, digits + 1, end);
	rec_outfile_put(file, at, (size_t)(end - at) - digits);
	if (digits > 0) {
		rec_outfile_put(file, ".", 1);
		rec_outfile_put(file, end - digits, digits);
	}
}

int rec_outfile_status(const struct rec_outfile *file, struct tele_error *ret_error)
{
	if (file->failure.code && ret_error)
		*ret_error = file->failure;
	return file->failure.code;
}

int rec_outfile_flush(struct rec_outfile *file, struct tele_error *ret_error)
{
	write_out(file, file->bytes, file->n_bytes);
	file->n_bytes = 0;
	return rec_outfile_status(file, ret_error);
}

int rec_outfile_close(struct rec_outfile *file, bool is_good, struct tele_error *ret_error)
{
	if (file->fd < 0)
		return 0;
	int result = is_good ? rec_outfile_flush(file, ret_error) : 0;
	bool is_ours = strcmp(file->draft.path, "-") != 0;
	if (is_ours && close(file->fd) != 0 && errno != EINTR && result == 0 && is_good)
		result = fail(file, -errno, ret_error);
	if (is_good && result == 0)
		result = rec_draft_place(&file->draft, ret_error);
	rec_draft_drop(&file->draft);
	free(file->bytes);
	*file = (struct rec_outfile){.fd = -1};
	return result;
}
