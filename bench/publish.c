// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What it costs to publish a row of 64 fields, and to read a segment:
// bench/publish [rows]. With `rows`, only that many rows are published, at
// 1,000 Hz, for a count of instructions.

#include "bench/made_up.h"
#include "bench/measure.h"
#include "libtelemetry/attach.h"
#include "libtelemetry/publish/process.h"
#include "libtelemetry/publish/ring.h"
#include "libtelemetry/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELDS 64
#define ROUNDS 7
#define ROWS 4096

struct segment {
	struct tele_segment_file file;
	struct tele_ring ring;
	struct tele_plan plan;
	struct tele_schema_writer writer;
	uint8_t schema[TELE_SCHEMA_BYTES_DEFAULT];
	char directory[64];
};

static uint64_t rows[ROWS][TELE_ID_COUNT];

static void make_rows(unsigned rate_hz)
{
	uint64_t time = UINT64_C(1) << 44;
	memset(rows[0], 0, sizeof(rows[0]));
	for (unsigned r = 0; r < ROWS; r++) {
		uint64_t jitter = 60000 + random_next() % 30000 + random_next() % 16000;
		if (r)
			memcpy(rows[r], rows[r - 1], sizeof(rows[r]));
		make_up_row(rows[r], (time + jitter) & TELE_TIME_MASK, r, rate_hz, rows[r ? r - 1 : 0]);
		time += 1000000000u / rate_hz;
	}
}

static void start(struct segment *segment)
{
	const char *what = "";
	static const struct tele_settings settings = {.label = "bench", .period_ns = 1000000};
	struct tele_identity identity;
	memset(segment, 0, sizeof(*segment));
	tele_has_own_table = true;
	snprintf(segment->directory, sizeof(segment->directory), "/dev/shm/bench.XXXXXX");
	tele_identity_of_self(&settings, tele_random_id(), 0, &identity);
	if (!mkdtemp(segment->directory) ||
	    tele_schema_write_start(&segment->writer, segment->schema, sizeof(segment->schema), &segment->plan) ||
	    tele_segment_create(&identity, segment->directory, TELE_RING_BYTES_DEFAULT, segment->schema,
				segment->writer.used_bytes, &segment->file, &what)) {
		fprintf(stderr, "bench/publish: cannot %s\n", what);
		exit(1);
	}
	segment->plan.n_fields = FIELDS; // rows may be shorter than their schema
	if (tele_ring_init(&segment->ring, &segment->file, &segment->plan, identity.instance_id,
			   (uint32_t)segment->writer.used_bytes))
		exit(1);
	tele_ring_control(&segment->ring, TELE_CONTROL_STATE, TELE_LIVE);
}

static void end(struct segment *segment)
{
	tele_ring_fini(&segment->ring);
	unlink(segment->file.path);
	rmdir(segment->directory);
	close(segment->file.fd);
}

static void publish(struct segment *segment, size_t from, size_t to)
{
	for (size_t r = from; r < to; r++)
		tele_ring_commit(&segment->ring, &(struct tele_commit){.row = rows[r]});
}

// Rows without the sealing between them, then all together.
static void measure_publishing(unsigned rate_hz)
{
	static struct segment segment;
	double row_ns[ROUNDS], all_ns[ROUNDS], seal_us[ROUNDS];
	make_rows(rate_hz);
	uint64_t bytes = 0;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t sealing = 0;
		uint64_t n_seals = 0;
		start(&segment);
		publish(&segment, 0, 512); // pages in
		uint64_t tail = segment.ring.tail;
		uint64_t begin = now_ns();
		for (size_t r = 512; r < ROWS; r += 64) {
			publish(&segment, r, r + 64);
			if (segment.ring.n_rows <= TELE_CHUNK_ROWS_MAX - 64)
				continue;
			uint64_t before = now_ns();
			tele_ring_seal(&segment.ring);
			sealing += now_ns() - before;
			n_seals++;
		}
		uint64_t all = now_ns() - begin;
		bytes = segment.ring.tail - tail;
		row_ns[i] = (double)(all - sealing) / (ROWS - 512);
		all_ns[i] = (double)all / (ROWS - 512);
		seal_us[i] = (double)sealing / 1e3 / (double)n_seals;
		end(&segment);
	}
	printf("publish a row, %4u Hz            %8.1f ns        goal   100 ns%s\n", rate_hz, median(row_ns, ROUNDS),
	       rate_hz == 1000 ? "" : " (at 1000 Hz)");
	printf("publish a row with sealing, %4u Hz %6.1f ns\n", rate_hz, median(all_ns, ROUNDS));
	printf("seal a chunk, %4u Hz             %8.1f us        goal    50 us\n", rate_hz, median(seal_us, ROUNDS));
	printf("sealed, %4u Hz                   %8.2f bytes/row  %.3f bytes/sample, goal %.2f\n", rate_hz,
	       (double)bytes / (ROWS - 512), (double)bytes / (ROWS - 512) / FIELDS,
	       rate_hz == 1000 ? 0.20 : rate_hz == 100 ? 0.35 : 0.50);
	printf("history in 1 MiB, %4u Hz         %8.1f min       goal %.1f min\n", rate_hz,
	       1048576.0 / ((double)bytes / (ROWS - 512)) / rate_hz / 60,
	       rate_hz == 1000 ? 1.25 : rate_hz == 100 ? 7.0 : 25.0);
}

static uint64_t read_to_the_end(struct tele_source *source)
{
	struct tele_record record;
	uint64_t n = 0;
	while (tele_source_next(source, &record, NULL) > 0)
		n += record.kind == TELE_RECORD_ROW;
	return n;
}

static void measure_reading(void)
{
	static struct segment segment;
	static uint64_t row[TELE_FIELDS_MAX];
	double first_ms[ROUNDS], whole_ms[ROUNDS], latest_us[ROUNDS];
	uint64_t n_rows = 0;
	start(&segment);
	while (segment.ring.tail < 2u << 20) // the ring is full
		publish(&segment, 0, ROWS);
	publish(&segment, 0, 100);
	tele_ring_control(&segment.ring, TELE_CONTROL_HEARTBEAT, now_ns() + UINT64_C(60000000000));
	for (int i = 0; i < ROUNDS; i++) {
		struct tele_attach *attach;
		struct tele_source *source;
		uint32_t n_fields;
		uint64_t seq;
		uint64_t begin = now_ns();
		if (tele_attach_open(segment.file.path, &attach, NULL) ||
		    tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, NULL))
			exit(1);
		first_ms[i] = (double)(now_ns() - begin) / 1e6;
		begin = now_ns();
		for (int k = 0; k < 1000; k++)
			tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, NULL);
		latest_us[i] = (double)(now_ns() - begin) / 1e6;
		begin = now_ns();
		if (tele_ring_source_open(attach, false, &source, NULL))
			exit(1);
		n_rows = read_to_the_end(source);
		whole_ms[i] = (double)(now_ns() - begin) / 1e6;
		tele_source_close(source);
	}
	printf("attach to the first row           %8.3f ms        goal  5 ms\n", median(first_ms, ROUNDS));
	printf("attach to the whole history       %8.1f ms        goal 50 ms   (%llu rows)\n", median(whole_ms, ROUNDS),
	       (unsigned long long)n_rows);
	printf("read the latest row               %8.2f us        goal  5 us\n", median(latest_us, ROUNDS));
	end(&segment);
}

int main(int argc, char **argv)
{
	static struct segment segment;
	if (argc > 1) {
		size_t n = strtoul(argv[1], NULL, 10);
		make_rows(1000);
		start(&segment);
		publish(&segment, 0, n < ROWS ? n : ROWS);
		end(&segment);
		return 0;
	}
	measure_publishing(20);
	measure_publishing(100);
	measure_publishing(1000);
	measure_reading();
	return 0;
}
