// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Traces of a minute, ten minutes and an hour at 1,000 rows of 64 fields a
// second: what it costs to write one, to open it with and without its end, to
// find a moment in it, to play it back, and to export it (the minute only). The hour takes 30 MB in TMPDIR and a
// few seconds to make; bench/trace SECONDS does one length.

#include "bench/made_up.h"
#include "bench/measure.h"
#include "libtelemetry/block.h"
#include "libtelemetry/identity.h"
#include "libtelemetry/schema.h"
#include "libtelemetry/trace.h"
#include "recorder/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIELDS	64
#define RATE_HZ 1000
#define SEEKS	101
#define ROUNDS	5

static char path[256];
static struct tele_schema_writer writer;
static struct tele_plan plan;
static uint8_t schema[TELE_SCHEMA_BYTES_DEFAULT];

static void fail(const char *what)
{
	fprintf(stderr, "bench/trace: cannot %s\n", what);
	unlink(path);
	exit(1);
}

// ---- Writing ----------------------------------------------------------------------

static uint64_t first_at_ns, last_at_ns;

static void encode(struct tele_trace_writer *trace, uint64_t (*rows)[TELE_ID_COUNT], size_t n, uint64_t seq,
		   uint64_t *spent_ns)
{
	static void *scratch;
	static uint8_t *out;
	size_t scratch_bytes = tele_block_scratch_bytes(FIELDS);
	size_t capacity = tele_block_bytes_max(FIELDS, TELE_BLOCK_ROWS_MAX, 0, 0);
	if (!scratch && (!(scratch = malloc(scratch_bytes)) || !(out = malloc(capacity))))
		fail("get memory");
	const struct tele_block_input input = {
		.instance_id = 1,
		.plan = &plan,
		.n_fields = FIELDS,
		.schema_bytes = (uint32_t)writer.used_bytes,
		.first_seq = seq,
		.first_at_ns = rows[0][0],
		.last_at_ns = rows[n - 1][0],
		.rows = rows[0],
		.row_stride = TELE_ID_COUNT,
		.n_rows = (uint32_t)n,
	};
	uint64_t begin = now_ns();
	int64_t n_bytes = tele_block_encode(&input, scratch, scratch_bytes, out, capacity);
	if (n_bytes < 0 || tele_trace_write_block(trace, out, (size_t)n_bytes, NULL))
		fail("write a block");
	*spent_ns += now_ns() - begin;
}

// Returns the rows.
static uint64_t write_trace(unsigned seconds)
{
	static uint64_t rows[TELE_BLOCK_ROWS_MAX + 1][TELE_ID_COUNT];
	const struct tele_identity identity = {.instance_id = 1, .label = "bench", .created_at_ns = 1, .period_ns = 1000000};
	struct tele_trace_writer *trace;
	struct stat file;
	uint64_t time = UINT64_C(1) << 44;
	uint64_t n_rows = (uint64_t)seconds * RATE_HZ;
	uint64_t spent_ns = 0;
	if (tele_schema_write_start(&writer, schema, sizeof(schema), &plan) || tele_trace_create(path, true, &trace, NULL) ||
	    tele_trace_write_stream(trace, &identity, schema, writer.used_bytes, NULL))
		fail("create a trace");
	memset(rows, 0, sizeof(rows));
	for (uint64_t r = 0; r < n_rows; r++) {
		size_t at = r % TELE_BLOCK_ROWS_MAX;
		uint64_t *row = rows[at];
		const uint64_t *last = at ? rows[at - 1] : rows[TELE_BLOCK_ROWS_MAX];
		uint64_t jitter = 60000 + random_next() % 30000 + random_next() % 16000;
		memcpy(row, last, sizeof(rows[0]));
		make_up_row(row, (time + jitter) & TELE_TIME_MASK, r, RATE_HZ, last);
		time += 1000000000u / RATE_HZ;
		if (r == 0)
			first_at_ns = row[0];
		last_at_ns = row[0];
		if (at + 1 < TELE_BLOCK_ROWS_MAX && r + 1 < n_rows)
			continue;
		encode(trace, rows, at + 1, r + 1 - at, &spent_ns);
		memcpy(rows[TELE_BLOCK_ROWS_MAX], row, sizeof(rows[0]));
	}
	if (tele_trace_finish(trace, NULL) || stat(path, &file))
		fail("end a trace");
	printf("  write                  %9.0f ns/row      %.1f B/row in the file, %.1f MiB\n",
	       (double)spent_ns / (double)n_rows, (double)file.st_size / (double)n_rows, (double)file.st_size / 1048576);
	return n_rows;
}

// ---- Reading ----------------------------------------------------------------------

static double open_ms(void)
{
	double values[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		struct tele_source *source;
		uint64_t begin = now_ns();
		if (tele_trace_open(path, &source, NULL))
			fail("open it");
		values[i] = (double)(now_ns() - begin) / 1e6;
		tele_source_close(source);
	}
	return median(values, ROUNDS);
}

// To the first row at or after a moment, decoded.
static double seek_us(void)
{
	double values[SEEKS];
	struct tele_source *source;
	struct tele_record record;
	if (tele_trace_open(path, &source, NULL))
		fail("open it");
	for (int i = 0; i < SEEKS; i++) {
		uint64_t at_ns = first_at_ns + random_next() % (last_at_ns - first_at_ns);
		uint64_t begin = now_ns();
		if (tele_trace_seek(source, at_ns, NULL))
			fail("find a moment");
		while (tele_source_next(source, &record, NULL) > 0 && record.kind != TELE_RECORD_ROW)
			continue;
		values[i] = (double)(now_ns() - begin) / 1e3;
	}
	tele_source_close(source);
	return median(values, SEEKS);
}

static volatile uint64_t sink;

static double replay_rows(uint64_t n_rows)
{
	struct tele_source *source;
	struct tele_record record;
	uint64_t n = 0;
	if (tele_trace_open(path, &source, NULL))
		fail("open it");
	uint64_t begin = now_ns();
	while (tele_source_next(source, &record, NULL) > 0) {
		if (record.kind == TELE_RECORD_ROW) {
			n++;
			sink += record.row[1];
		}
	}
	double seconds = (double)(now_ns() - begin) / 1e9;
	tele_source_close(source);
	if (n != n_rows)
		fail("read every row");
	return (double)n_rows / seconds;
}

static void measure_export(enum rec_export_format format, const char *name)
{
	const struct rec_export_options options = {.input = path, .output = "/dev/null", .replace = true, .format = format};
	struct rec_export_result result;
	struct tele_error error = {0};
	uint64_t begin = now_ns();
	if (rec_export(&options, &result, &error)) {
		fprintf(stderr, "%s\n", error.text);
		fail("export it");
	}
	double seconds = (double)(now_ns() - begin) / 1e9;
	printf("  export %-12s    %9.1f M samples/s (%.0f k rows/s)\n", name,
	       (double)result.n_rows * FIELDS / seconds / 1e6, (double)result.n_rows / seconds / 1e3);
}

static void measure(unsigned seconds)
{
	struct stat file;
	printf("%u s at %u Hz, %u fields\n", seconds, RATE_HZ, FIELDS);
	uint64_t n_rows = write_trace(seconds);
	printf("  open                   %9.3f ms          goal 1 ms for an hour\n", open_ms());
	double rate = replay_rows(n_rows);
	printf("  replay                 %9.0f M samples/s goal 500, all fields, row by row (%.1f M rows/s)\n",
	       rate * FIELDS / 1e6, rate / 1e6);
	printf("  seek to a moment       %9.1f us          goal 100 us\n", seek_us());
	if (seconds <= 60) {
		measure_export(REC_EXPORT_CSV, "csv");
		measure_export(REC_EXPORT_JSONL, "jsonl");
		measure_export(REC_EXPORT_OPENMETRICS, "openmetrics");
		measure_export(REC_EXPORT_PERFETTO, "perfetto");
	}
	if (stat(path, &file) || truncate(path, file.st_size - 100))
		fail("cut it");
	printf("  open without its end   %9.3f ms          goal 50 ms for an hour\n", open_ms());
	unlink(path);
}

int main(int argc, char **argv)
{
	temporary_path(path, sizeof(path));
	if (argc > 1) {
		measure((unsigned)strtoul(argv[1], NULL, 10));
		return 0;
	}
	measure(60);
	measure(600);
	measure(3600);
	return 0;
}
