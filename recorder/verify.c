// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Which kind a file is: a segment by its magic, and anything else is held
// against the trace format, which says best what is wrong with it.

#include "verify.h"

#include "../libtelemetry/identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

char *rec_number_text(uint64_t number, char buffer[32])
{
	char digits[24];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number), at = 0;
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buffer[at++] = ',';
		buffer[at++] = digits[i];
	}
	buffer[at] = '\0';
	return buffer;
}

static bool is_segment(const char *path)
{
	uint64_t magic = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool is_read = pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic);
	close(fd);
	return is_read && magic == TELE_SEGMENT_MAGIC;
}

int rec_verify(const struct rec_verify_options *options, struct mon_out *out,
	       struct tele_error *ret_error)
{
	bool is_of_segment = is_segment(options->path);
	int result = is_of_segment ? rec_verify_segment(options, out, ret_error)
				   : rec_verify_trace(options, out, ret_error);
	int status = mon_out_status(out);
	return result < 0 || status == 0 ? result : tele_fail(ret_error, status, "out of memory");
}
