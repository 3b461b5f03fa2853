// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How the cost of a row grows with its fields, of which half change: publishing
// it, sealing 256 of it, the history of a MiB, and reading that. bench/curves.

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

#define ROWS_MAX 400000

static void fail(const char *what)
{
	fprintf(stderr, "bench/curves: cannot %s\n", what);
	exit(1);
}

// Every other field changes, one in four of those by much.
static void next_row(uint64_t *row, uint32_t n_fields, uint64_t tick)
{
	row[0] = ((UINT64_C(1) << 44) + tick * 1000000 + random_next() % 60000) & TELE_TIME_MASK;
	for (uint32_t f = 1; f < n_fields; f += 2)
		row[f] += f % 8 == 1 ? random_next() % 65536 : random_next() % 4;
}

static uint64_t read_all(const char *path, double *ret_ms)
{
	struct tele_attach *attach;
	struct tele_source *source = NULL;
	struct tele_record record;
	uint64_t n = 0;
	uint64_t begin = now_ns();
	if (tele_attach_open(path, &attach, NULL) || tele_ring_source_open(attach, false, &source, NULL))
		fail("read it");
	while (tele_source_next(source, &record, NULL) > 0)
		n += record.kind == TELE_RECORD_ROW;
	*ret_ms = (double)(now_ns() - begin) / 1e6;
	tele_source_close(source);
	return n;
}

static void measure(uint32_t n_fields)
{
	static uint8_t schema[TELE_SCHEMA_BYTES_DEFAULT];
	static struct tele_plan plan;
	static uint64_t row[TELE_FIELDS_MAX];
	static const struct tele_settings settings = {.label = "bench", .period_ns = 1000000};
	struct tele_schema_writer writer;
	struct tele_identity identity;
	struct tele_segment_file file;
	struct tele_ring ring = {0};
	const char *what = "";
	char directory[] = "/dev/shm/bench.XXXXXX";
	tele_has_own_table = true;
	tele_identity_of_self(&settings, tele_random_id(), 0, &identity);
	if (!mkdtemp(directory) || tele_schema_write_start(&writer, schema, sizeof(schema), &plan))
		fail("start");
	while (plan.n_fields < n_fields) {
		char name[32];
		snprintf(name, sizeof(name), "f%u", plan.n_fields);
		if (tele_schema_write_app(&writer, name, TELE_GAUGE, TELE_COUNT) < 0)
			fail("add a field");
	}
	plan.n_fields = n_fields;
	if (tele_segment_create(&identity, directory, TELE_RING_BYTES_DEFAULT, schema, writer.used_bytes, &file, &what) ||
	    tele_ring_init(&ring, &file, &plan, identity.instance_id, (uint32_t)writer.used_bytes))
		fail(what);
	tele_ring_control(&ring, TELE_CONTROL_STATE, TELE_LIVE);
	tele_ring_control(&ring, TELE_CONTROL_HEARTBEAT, now_ns());
	memset(row, 0, sizeof(row));
	uint64_t spent_ns = 0, seal_ns = 0, n_rows = 0, n_seals = 0;
	while (ring.tail < 2 * TELE_RING_BYTES_DEFAULT && n_rows < ROWS_MAX) {
		next_row(row, n_fields, n_rows++);
		uint64_t tail = ring.tail;
		uint64_t begin = now_ns();
		tele_ring_commit(&ring, &(struct tele_commit){.row = row});
		uint64_t ns = now_ns() - begin;
		if (ring.tail == tail) {
			spent_ns += ns;
		} else {
			seal_ns += ns;
			n_seals++;
		}
	}
	double ms;
	uint64_t n_kept = read_all(file.path, &ms);
	printf("%5u fields: %7.0f ns a row, %7.0f us a seal, %7llu rows in 1 MiB (%4.1f B/row), read in %6.1f ms\n", n_fields,
	       (double)spent_ns / (double)(n_rows - n_seals), n_seals ? (double)seal_ns / (double)n_seals / 1e3 : 0.0,
	       (unsigned long long)n_kept, (double)ring.tail / (double)n_rows, ms);
	tele_ring_fini(&ring);
	unlink(file.path);
	rmdir(directory);
	close(file.fd);
}

int main(void)
{
	static const uint32_t sizes[] = {16, 32, 64, 128, 256, 512, 1024};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		measure(sizes[i]);
	return 0;
}
