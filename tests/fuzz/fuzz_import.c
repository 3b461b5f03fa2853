// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Texts of a liar through import, and what they become through the reader: a
// text is refused in one line, or its trace is whole and holds as many rows as
// import said. The first byte chooses the format.

#include "recorder/import.h"

#include "libtelemetry/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static uint64_t count_rows(const char *path)
{
	struct tele_source *source;
	struct tele_record record;
	struct tele_trace_info info;
	uint64_t n_rows = 0;
	int got;
	if (tele_trace_open(path, &source, NULL) != 0)
		abort();
	while ((got = tele_source_next(source, &record, NULL)) > 0)
		n_rows += record.kind == TELE_RECORD_ROW;
	tele_trace_get_info(source, &info);
	if (got < 0 || !info.is_complete)
		abort();
	tele_source_close(source);
	return n_rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct rec_import_result result;
	struct tele_trace_writer *writer;
	struct tele_error error = {0};
	char path[64];
	if (n_bytes < 1 || n_bytes > 1u << 16)
		return 0;
	int text = memfd_create("text", MFD_CLOEXEC);
	if (text < 0 || write(text, data + 1, n_bytes - 1) != (ssize_t)(n_bytes - 1) ||
	    lseek(text, 0, SEEK_SET) != 0)
		abort();
	snprintf(path, sizeof(path), "/dev/shm/rollcall-fuzz-%d.rct", (int)getpid());
	if (tele_trace_create(path, true, &writer, NULL) != 0)
		abort();
	enum rec_import_format format = data[0] & 1 ? REC_IMPORT_CENSUS_LOG : REC_IMPORT_CSV;
	int failed = rec_import_stream(text, "fuzz", format, writer, &result, &error);
	if (failed && (!error.text[0] || strchr(error.text, '\n')))
		abort();
	if (tele_trace_finish(writer, NULL) != 0 || (!failed && count_rows(path) != result.n_rows))
		abort();
	unlink(path);
	close(text);
	return 0;
}
