// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Bytes and time a row takes in open chunks and in blocks: bench/codec [TRACE].
// Without a trace the rows are made up: a heap that works in bursts, with the
// wake-up jitter of a real timer, at 20, 100 and 1000 rows a second.

#include "bench/made_up.h"
#include "bench/measure.h"
#include "bench/recorded.h"
#include "libtelemetry/block.h"
#include "libtelemetry/codec.h"
#include "libtelemetry/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_ROWS 64

struct series {
	const struct tele_plan *plan;
	uint32_t n_fields;
	size_t n_rows;
	uint64_t *rows;
};

static void print_line(const char *name, const char *what, size_t n_rows, uint32_t n_fields,
		       size_t n_bytes, uint64_t encode_ns, uint64_t decode_ns)
{
	double rows = (double)n_rows;
	printf("%-10s %-7s %8zu rows %4u fields %8.1f B/row %7.4f B/sample %7.0f ns/row enc %7.0f dec\n",
	       name, what, n_rows, n_fields, (double)n_bytes / rows,
	       (double)n_bytes / rows / n_fields, (double)encode_ns / rows, (double)decode_ns / rows);
}

static void measure_rows(const char *name, const struct series *series)
{
	uint64_t *words = must(malloc(TELE_CODEC_WORDS(series->n_fields) * sizeof(*words)));
	uint64_t *row = must(malloc((series->n_fields + 1) * sizeof(*row)));
	uint8_t *out = must(malloc(CHUNK_ROWS * TELE_ROW_BYTES_MAX(series->n_fields)));
	uint64_t encode_ns = 0, decode_ns = 0;
	size_t n_bytes = 0;
	for (size_t begin = 0; begin < series->n_rows; begin += CHUNK_ROWS) {
		struct tele_codec codec;
		size_t end = begin + CHUNK_ROWS < series->n_rows ? begin + CHUNK_ROWS : series->n_rows;
		size_t used = 0, at = 0;
		uint64_t start = now_ns();
		tele_codec_init(&codec, series->plan, series->n_fields, words);
		for (size_t r = begin; r < end; r++)
			used += tele_codec_encode(&codec, series->rows + r * series->n_fields, out + used);
		encode_ns += now_ns() - start;
		n_bytes += used;
		start = now_ns();
		tele_codec_init(&codec, series->plan, series->n_fields, words);
		while (at < used)
			at += (size_t)tele_codec_decode(&codec, out + at, used - at, row);
		decode_ns += now_ns() - start;
	}
	print_line(name, "rows", series->n_rows, series->n_fields, n_bytes, encode_ns, decode_ns);
	free(words);
	free(row);
	free(out);
}

static void measure_blocks(const char *name, const struct series *series)
{
	size_t scratch_bytes = tele_block_scratch_bytes(series->n_fields);
	size_t capacity = tele_block_bytes_max(series->n_fields, TELE_BLOCK_ROWS_MAX, 0, 0);
	void *scratch = must(malloc(scratch_bytes));
	uint8_t *out = must(malloc(capacity));
	struct tele_block block = {0};
	uint64_t encode_ns = 0, decode_ns = 0;
	size_t n_bytes = 0;
	for (size_t begin = 0; begin < series->n_rows; begin += TELE_BLOCK_ROWS_MAX) {
		size_t n = series->n_rows - begin < TELE_BLOCK_ROWS_MAX ? series->n_rows - begin :
									  TELE_BLOCK_ROWS_MAX;
		const uint64_t *rows = series->rows + begin * series->n_fields;
		struct tele_block_input input = {
			.plan = series->plan,
			.n_fields = series->n_fields,
			.first_seq = begin,
			.first_at_ns = rows[0],
			.last_at_ns = rows[(n - 1) * series->n_fields],
			.rows = rows,
			.row_stride = series->n_fields,
			.n_rows = (uint32_t)n,
		};
		uint64_t start = now_ns();
		int64_t bytes = tele_block_encode(&input, scratch, scratch_bytes, out, capacity);
		encode_ns += now_ns() - start;
		if (bytes < 0)
			exit(1);
		n_bytes += (size_t)bytes;
		start = now_ns();
		if (tele_block_decode(&block, series->plan, out, (size_t)bytes) != 0)
			exit(1);
		decode_ns += now_ns() - start;
	}
	print_line(name, "blocks", series->n_rows, series->n_fields, n_bytes, encode_ns, decode_ns);
	tele_block_free(&block);
	free(scratch);
	free(out);
}

static void measure(const char *name, const struct series *series)
{
	if (series->n_rows == 0)
		return;
	measure_rows(name, series);
	measure_blocks(name, series);
}

static void make_up(const char *name, unsigned rate_hz, size_t n_rows)
{
	static uint8_t schema[TELE_SCHEMA_BYTES_DEFAULT];
	static struct tele_plan plan;
	struct tele_schema_writer writer;
	if (tele_schema_write_start(&writer, schema, sizeof(schema), &plan) != 0)
		exit(1);
	struct series series = {.plan = &plan, .n_fields = plan.n_fields, .n_rows = n_rows};
	series.rows = must(calloc(n_rows, plan.n_fields * sizeof(*series.rows)));
	uint64_t time = UINT64_C(1) << 44;
	const uint64_t *last = series.rows;
	for (size_t r = 0; r < n_rows; r++) {
		uint64_t *row = series.rows + r * plan.n_fields;
		memcpy(row, last, plan.n_fields * sizeof(*row));
		uint64_t jitter = 60000 + random_next() % 30000 + random_next() % 16000;
		make_up_row(row, (time + jitter) & TELE_TIME_MASK, r, rate_hz, last);
		time += 1000000000u / rate_hz;
		last = row;
	}
	measure(name, &series);
	free(series.rows);
}

static void measure_trace(const char *path)
{
	uint64_t start = now_ns();
	struct recorded recorded = recorded_read(path);
	printf("%-10s read in %.1f ms\n", "trace", (double)(now_ns() - start) / 1e6);
	const struct series series = {.plan = recorded.plan,
				      .n_fields = recorded.n_fields,
				      .n_rows = recorded.n_rows,
				      .rows = recorded.rows};
	measure("trace", &series);
	free(recorded.rows);
	tele_source_close(recorded.source);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		measure_trace(argv[1]);
		return 0;
	}
	make_up("20 Hz", 20, 12000);
	make_up("100 Hz", 100, 30000);
	make_up("1000 Hz", 1000, 60000);
	return 0;
}
