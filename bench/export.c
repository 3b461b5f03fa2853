// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How fast a trace becomes each format: bench/export [TRACE]. Without a trace,
// one of made-up rows, a minute at 1,000 a second. Everything is written to
// /dev/null, so that it is the exporter that is measured. Reading has a goal;
// what the formats add to it has none.

#include "bench/made_up.h"
#include "bench/measure.h"
#include "libtelemetry/schema.h"
#include "libtelemetry/trace.h"
#include "recorder/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 60000, RATE_HZ = 1000 };

static const char *const formats[] = {
#define X(id, name) name,
	REC_EXPORT_FORMAT_MAP(X)
#undef X
};

static void must(bool is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "bench/export: %s\n", what);
	exit(1);
}

static void write_block(struct tele_trace_writer *writer, const struct tele_schema_writer *schema, uint64_t *rows,
			uint64_t first, uint32_t n_rows)
{
	static uint8_t out[TELE_BLOCK_BYTES_MAX];
	static void *scratch;
	const uint32_t n_fields = schema->plan->n_fields;
	size_t scratch_bytes = tele_block_scratch_bytes(n_fields);
	if (!scratch)
		scratch = malloc(scratch_bytes);
	must(scratch, "no memory");
	const struct tele_block_input input = {
		.instance_id = 1,
		.plan = schema->plan,
		.n_fields = n_fields,
		.schema_bytes = (uint32_t)schema->used_bytes,
		.first_seq = first,
		.first_at_ns = rows[0],
		.last_at_ns = rows[(n_rows - 1) * n_fields],
		.rows = rows,
		.row_stride = n_fields,
		.n_rows = n_rows,
	};
	int64_t bytes = tele_block_encode(&input, scratch, scratch_bytes, out, sizeof(out));
	must(bytes > 0 && tele_trace_write_block(writer, out, (size_t)bytes, NULL) == 0, "cannot write a block");
}

static void make_trace(const char *path)
{
	static uint8_t schema_bytes[TELE_SCHEMA_BYTES_DEFAULT];
	static struct tele_plan plan;
	struct tele_schema_writer schema;
	struct tele_trace_writer *writer;
	const struct tele_identity identity = {.instance_id = 1, .pid = 4711, .label = "made up", .created_at_ns = 1};
	must(tele_schema_write_start(&schema, schema_bytes, sizeof(schema_bytes), &plan) == 0, "schema");
	must(tele_trace_create(path, true, &writer, NULL) == 0, "cannot make a trace");
	must(tele_trace_write_stream(writer, &identity, schema_bytes, schema.used_bytes, NULL) == 0, "stream");
	uint64_t *rows = calloc(TELE_BLOCK_ROWS_MAX + 1, plan.n_fields * sizeof(*rows));
	must(rows, "no memory");
	uint64_t *last = rows + (size_t)TELE_BLOCK_ROWS_MAX * plan.n_fields;
	uint64_t at_ns = UINT64_C(1) << 44;
	for (uint64_t first = 0; first < ROWS; first += TELE_BLOCK_ROWS_MAX) {
		for (uint64_t r = 0; r < TELE_BLOCK_ROWS_MAX; r++, at_ns += 1000000000 / RATE_HZ) {
			uint64_t *row = rows + r * plan.n_fields;
			memcpy(row, last, plan.n_fields * sizeof(*row));
			make_up_row(row, (at_ns + random_next() % 50000) & TELE_TIME_MASK, first + r, RATE_HZ, last);
			memcpy(last, row, plan.n_fields * sizeof(*row));
		}
		write_block(writer, &schema, rows, first, TELE_BLOCK_ROWS_MAX);
	}
	must(tele_trace_finish(writer, NULL) == 0, "cannot finish");
	free(rows);
}

// Rows are counted with all their fields; the bytes read are the trace's.
static void measure_reading(const char *path)
{
	struct tele_source *source;
	struct tele_record record;
	struct tele_trace_info info;
	uint64_t n_samples = 0, n_rows = 0;
	uint64_t start = now_ns();
	must(tele_trace_open_once(path, &source, NULL) == 0, "cannot open the trace");
	uint64_t opened = now_ns();
	while (tele_source_next(source, &record, NULL) > 0) {
		n_rows += record.kind == TELE_RECORD_ROW;
		n_samples += record.kind == TELE_RECORD_ROW ? record.n_fields : 0;
	}
	double seconds = (double)(now_ns() - opened) / 1e9;
	tele_trace_get_info(source, &info);
	tele_source_close(source);
	printf("%-12s opened in %.2f ms; %9.0f rows/s %8.1f M samples/s          goal 500 M samples/s\n", "read once",
	       (double)(opened - start) / 1e6, (double)n_rows / seconds, (double)n_samples / seconds / 1e6);
}

// In a process of its own, for its memory.
static void measure(const char *path, unsigned format)
{
	struct rusage usage;
	int status;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		struct rec_export_result result;
		struct tele_error error = {0};
		const struct rec_export_options options = {
			.input = path, .output = "/dev/null", .format = (enum rec_export_format)format};
		uint64_t start = now_ns();
		must(rec_export(&options, &result, &error) == 0, error.text);
		double s = (double)(now_ns() - start) / 1e9;
		printf("%-12s %9.0f rows/s %8.1f MB/s written", formats[format], (double)result.n_rows / s,
		       (double)result.written_bytes / s / 1e6);
		fflush(stdout);
		_exit(0);
	}
	must(wait4(child, &status, 0, &usage) == child && status == 0, "an export failed");
	printf("%8ld KiB resident\n", usage.ru_maxrss);
}

int main(int argc, char **argv)
{
	char path[256];
	const char *trace = argc > 1 ? argv[1] : path;
	temporary_path(path, sizeof(path));
	if (argc < 2)
		make_trace(path);
	measure_reading(trace);
	for (unsigned format = 0; format < sizeof(formats) / sizeof(formats[0]); format++)
		measure(trace, format);
	if (argc < 2)
		unlink(path);
	return 0;
}
