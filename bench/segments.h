// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Segments of processes that publish rows of a heap, for benchmarks: a child
// holds them, so that their locks are somebody else's, and publishes one more
// row in each whenever it is asked.

#ifndef BENCH_SEGMENTS_H
#define BENCH_SEGMENTS_H

#include "bench/made_up.h"
#include "bench/measure.h"
#include "libtelemetry/publish/process.h"
#include "libtelemetry/publish/ring.h"
#include "libtelemetry/schema.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct segments {
	char directory[64];
	pid_t child;
	int ask, answer; // one byte each way is one row in each segment
};

// A row before the first: what nobody measured is unknown.
static inline void segments_first_row(uint64_t *row)
{
	memset(row, 0xff, TELE_ID_COUNT * sizeof(*row));
	for (unsigned id = 0; id < TELE_ID_heap_settled; id++)
		row[id] = 0;
}

static inline void segments_hold(const char *directory, unsigned n, unsigned n_rows, int ask, int answer)
{
	static uint8_t schema[TELE_SCHEMA_BYTES_DEFAULT];
	static struct tele_plan plan;
	struct tele_schema_writer writer;
	struct tele_segment_file *files = calloc(n, sizeof(*files));
	struct tele_ring *rings = calloc(n, sizeof(*rings));
	uint64_t (*rows)[TELE_ID_COUNT] = calloc(n, sizeof(*rows));
	const char *what = "";
	char byte = 0;
	tele_has_own_table = true;
	if (!files || !rings || !rows || tele_schema_write_start(&writer, schema, sizeof(schema), &plan))
		_exit(1);
	for (unsigned i = 0; i < n; i++) {
		struct tele_settings settings = {.period_ns = 100000000};
		struct tele_identity identity;
		snprintf(settings.label, sizeof(settings.label), "server number %u", i);
		tele_identity_of_self(&settings, tele_random_id(), 0, &identity);
		if (tele_segment_create(&identity, directory, TELE_RING_BYTES_MIN, schema, writer.used_bytes, &files[i], &what) ||
		    tele_ring_init(&rings[i], &files[i], &plan, identity.instance_id, (uint32_t)writer.used_bytes))
			_exit(1);
		tele_ring_control(&rings[i], TELE_CONTROL_STATE, TELE_LIVE);
		segments_first_row(rows[i]);
	}
	for (uint64_t tick = 0; tick < n_rows || read(ask, &byte, 1) == 1; tick++) {
		for (unsigned i = 0; i < n; i++) {
			uint64_t last[TELE_ID_COUNT];
			memcpy(last, rows[i], sizeof(last));
			make_up_row(rows[i], now_ns() & TELE_TIME_MASK, tick + 100, 10, last);
			rows[i][TELE_ID_host_rss_bytes] = (20u << 20) + tick % 50 * 4096;
			tele_ring_commit(&rings[i], &(struct tele_commit){.row = rows[i]});
			tele_ring_control(&rings[i], TELE_CONTROL_HEARTBEAT, now_ns());
		}
		if (tick + 1 >= n_rows && write(answer, "", 1) != 1)
			break;
	}
	_exit(0);
}

// n segments with n_rows rows each. Ends the program when that does not work.
static inline void segments_start(struct segments *self, unsigned n, unsigned n_rows)
{
	int asks[2], answers[2];
	char byte;
	snprintf(self->directory, sizeof(self->directory), "/dev/shm/bench.XXXXXX");
	if (!mkdtemp(self->directory) || pipe(asks) || pipe(answers) || (self->child = fork()) < 0)
		exit(1);
	if (self->child == 0) {
		close(asks[1]);
		close(answers[0]);
		segments_hold(self->directory, n, n_rows, asks[0], answers[1]);
	}
	close(asks[0]);
	close(answers[1]);
	self->ask = asks[1];
	self->answer = answers[0];
	if (read(self->answer, &byte, 1) != 1) {
		fprintf(stderr, "bench: cannot publish in %s\n", self->directory);
		exit(1);
	}
}

static inline void segments_publish(struct segments *self)
{
	char byte;
	if (write(self->ask, "", 1) != 1 || read(self->answer, &byte, 1) != 1)
		exit(1);
}

static inline void segments_end(struct segments *self)
{
	char command[100];
	kill(self->child, SIGKILL);
	waitpid(self->child, NULL, 0);
	close(self->ask);
	close(self->answer);
	snprintf(command, sizeof(command), "rm -rf '%s'", self->directory);
	if (system(command) != 0)
		exit(1);
}

#endif
