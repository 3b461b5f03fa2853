// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A pipe whose end must be known before its beginning is written goes through a
// temporary file, so that memory stays what it is.

#include "export_input.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static int open_temporary(struct tele_error *ret_error)
{
	const char *folder = getenv("TMPDIR");
	char *path;
	if (!folder || !*folder)
		folder = access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
	if (asprintf(&path, "%s/rollcall-XXXXXX", folder) < 0)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		fd = tele_fail(ret_error, -errno, "a temporary file in %s: %s", folder, tele_strerror(-errno));
	else
		unlink(path);
	free(path);
	return fd;
}

static int copy(int from, int to, struct tele_error *ret_error)
{
	char buffer[1 << 16];
	for (;;) {
		ssize_t n = read(from, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tele_fail(ret_error, -errno, "standard input: %s", tele_strerror(-errno));
		if (n == 0)
			return 0;
		for (ssize_t done = 0; done < n;) {
			ssize_t written = write(to, buffer + done, (size_t)(n - done));
			if (written < 0 && errno != EINTR)
				return tele_fail(ret_error, -errno, "a temporary file: %s; set TMPDIR to a folder with room",
						 tele_strerror(-errno));
			done += written > 0 ? written : 0;
		}
	}
}

int rec_export_input(const char *path, bool needs_file, struct tele_source **ret_source,
		     struct tele_error *ret_error)
{
	char name[64];
	struct tele_error error = {0};
	if (!needs_file || strcmp(path, "-") != 0)
		return tele_trace_open_once(path, ret_source, ret_error);
	int fd = open_temporary(ret_error);
	int result = fd < 0 ? fd : copy(STDIN_FILENO, fd, ret_error);
	if (result == 0) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		result = tele_trace_open_once(name, ret_source, &error);
		if (result < 0) {
			bool is_named = strncmp(error.text, name, strlen(name)) == 0;
			tele_fail(ret_error, result, "%s%s", is_named ? "standard input" : "",
				  error.text + (is_named ? strlen(name) : 0));
		}
	}
	if (fd >= 0)
		close(fd);
	return result;
}
