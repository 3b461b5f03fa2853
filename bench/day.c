// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Opening, seeking, replaying and reporting of long traces. The traces are
// made up: a day at 10 rows a second, an hour at 1,000.
//   bench/day make FILE HOURS HZ     makes one, for other uses

#include "bench/made_up.h"
#include "bench/measure.h"
#include "libtelemetry/block.h"
#include "libtelemetry/rollcall.h"
#include "libtelemetry/schema.h"
#include "libtelemetry/trace.h"
#include "recorder/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CANDIDATE_S 20 // a candidate begins so often, and ends half-way

static void check(int result, const struct tele_error *error)
{
	if (result >= 0)
		return;
	fprintf(stderr, "bench/day: %s\n", error->text);
	exit(1);
}

struct maker {
	struct tele_trace_writer *writer;
	struct tele_schema_writer schema;
	struct tele_plan plan;
	uint8_t schema_bytes[TELE_SCHEMA_BYTES_DEFAULT];
	struct tele_block_input input;
	uint64_t *rows, *last;
	struct tele_event events[TELE_BLOCK_EVENTS_MAX];
	struct tele_block_string strings[TELE_BLOCK_EVENTS_MAX];
	char texts[TELE_BLOCK_EVENTS_MAX][24];
	uint64_t seq, n_candidates, n_ended;
	void *scratch;
	uint8_t *block;
	size_t scratch_bytes, block_bytes;
};

static void flush(struct maker *maker)
{
	struct tele_error error;
	struct tele_block_input *input = &maker->input;
	if (input->n_rows == 0)
		return;
	int64_t n_bytes = tele_block_encode(input, maker->scratch, maker->scratch_bytes, maker->block,
					    maker->block_bytes);
	if (n_bytes < 0)
		abort();
	check(tele_trace_write_block(maker->writer, maker->block, (size_t)n_bytes, &error), &error);
	input->n_rows = input->n_events = input->n_strings = 0;
	input->first_seq = maker->seq;
}

static void add_event(struct maker *maker, unsigned type, uint64_t at_ns, uint64_t value)
{
	struct tele_block_input *input = &maker->input;
	char *text = maker->texts[input->n_strings];
	snprintf(text, sizeof(maker->texts[0]), "tile %llu", (unsigned long long)maker->n_candidates);
	const uint64_t id = (UINT64_C(1) << 32) + input->n_strings;
	maker->strings[input->n_strings++] = (struct tele_block_string){id, text, (uint32_t)strlen(text)};
	maker->events[input->n_events++] = (struct tele_event){
		.seq = maker->seq++,
		.at_ns = at_ns,
		.subject = maker->n_candidates,
		.value = value,
		.string_id = id,
		.type = type,
	};
}

static void add_row(struct maker *maker, uint64_t at_ns, uint64_t tick, unsigned hz)
{
	struct tele_block_input *input = &maker->input;
	uint64_t *row = maker->rows + (size_t)input->n_rows * input->n_fields;
	memcpy(row, maker->last, input->n_fields * sizeof(*row));
	make_up_row(row, at_ns, tick, hz, maker->last);
	row[TELE_ID_census_live_working_pools] = maker->n_ended;
	row[TELE_ID_census_live_working_bytes] = maker->n_ended << 20;
	row[TELE_ID_census_working_pools_allocated] = maker->n_ended;
	row[TELE_ID_host_rss_bytes] = row[TELE_ID_heap_mapped_bytes] + (5u << 20);
	row[TELE_ID_search_candidates_attempted] = maker->n_candidates;
	row[TELE_ID_search_candidates_linked] = maker->n_ended;
	row[TELE_ID_search_candidates_timed] = maker->n_ended;
	row[TELE_ID_search_open_candidates] = maker->n_candidates - maker->n_ended;
	memcpy(maker->last, row, input->n_fields * sizeof(*row));
	if (input->n_rows++ == 0)
		input->first_at_ns = at_ns;
	input->last_at_ns = at_ns;
	maker->seq++;
}

static void make(const char *path, double hours, unsigned hz)
{
	struct maker *maker = calloc(1, sizeof(*maker));
	struct tele_error error;
	const struct tele_identity identity = {
		.instance_id = 4711,
		.pid = 4711,
		.start_ticks = 1,
		.created_at_ns = 1024,
		.created_realtime_ns = UINT64_C(1700000000000000000),
		.period_ns = 1000000000u / hz,
		.comm = "made_up",
		.label = "made up",
	};
	if (!maker || tele_schema_write_start(&maker->schema, maker->schema_bytes, sizeof(maker->schema_bytes), &maker->plan))
		abort();
	const uint32_t n_fields = maker->plan.n_fields;
	maker->scratch_bytes = tele_block_scratch_bytes(n_fields);
	maker->block_bytes = tele_block_bytes_max(n_fields, TELE_BLOCK_ROWS_MAX, TELE_BLOCK_EVENTS_MAX, TELE_BLOCK_EVENTS_MAX);
	maker->scratch = malloc(maker->scratch_bytes);
	maker->block = malloc(maker->block_bytes);
	maker->rows = calloc((size_t)TELE_BLOCK_ROWS_MAX * n_fields, sizeof(*maker->rows));
	maker->last = calloc(n_fields, sizeof(*maker->last));
	if (!maker->scratch || !maker->block || !maker->rows || !maker->last)
		abort();
	maker->input = (struct tele_block_input){
		.instance_id = identity.instance_id,
		.plan = &maker->plan,
		.n_fields = n_fields,
		.schema_bytes = (uint32_t)maker->schema.used_bytes,
		.rows = maker->rows,
		.row_stride = n_fields,
		.events = maker->events,
		.strings = maker->strings,
	};
	check(tele_trace_create(path, true, &maker->writer, &error), &error);
	check(tele_trace_write_stream(maker->writer, &identity, maker->schema_bytes, maker->schema.used_bytes, &error), &error);
	const uint64_t n_ticks = (uint64_t)(hours * 3600 * hz), period = (uint64_t)hz * CANDIDATE_S;
	for (uint64_t tick = 0; tick < n_ticks; tick++) {
		uint64_t at_ns = (tick + 1) * (1000000000u / hz) / 1024 * 1024;
		if (maker->input.n_rows >= TELE_BLOCK_ROWS_MAX)
			flush(maker);
		if (tick % period == 0) {
			maker->n_candidates++;
			add_event(maker, TELE_EVENT_CANDIDATE_BEGIN, at_ns, 0);
		} else if (tick % period == period / 2) {
			maker->n_ended++;
			add_event(maker, TELE_EVENT_CANDIDATE_END, at_ns, ROLLCALL_TIMED);
		}
		add_row(maker, at_ns, tick, hz);
	}
	flush(maker);
	check(tele_trace_finish(maker->writer, &error), &error);
	free(maker->scratch);
	free(maker->block);
	free(maker->rows);
	free(maker->last);
	free(maker);
}

static void measure_open(const char *path, const char *name, const char *goal)
{
	struct tele_error error;
	struct tele_source *source;
	uint64_t start = now_ns();
	for (int i = 0; i < 10; i++) {
		check(tele_trace_open(path, &source, &error), &error);
		tele_source_close(source);
	}
	printf("%-24s open      %10.3f ms          %s\n", name, (double)(now_ns() - start) / 1e7, goal);
}

static void measure_seek(const char *path, const char *name)
{
	struct tele_error error;
	struct tele_source *source;
	struct tele_record record;
	struct tele_trace_info info;
	check(tele_trace_open(path, &source, &error), &error);
	tele_trace_get_info(source, &info);
	uint64_t span_ns = info.last_at_ns - info.first_at_ns, start = now_ns();
	for (uint64_t i = 0; i < 200; i++) {
		check(tele_trace_seek(source, info.first_at_ns + span_ns / 211 * (i * 79 % 211), &error), &error);
		do
			check(tele_source_next(source, &record, &error), &error);
		while (record.kind != TELE_RECORD_ROW);
	}
	printf("%-24s seek      %10.1f us          goal 100\n", name, (double)(now_ns() - start) / 200 / 1e3);
	start = now_ns();
	for (uint64_t i = 0; i < 50; i++)
		check(tele_trace_seek_candidate(source, 4711, 1 + i * 3, &error), &error);
	printf("%-24s candidate %10.1f us\n", name, (double)(now_ns() - start) / 50 / 1e3);
	tele_source_close(source);
}

static void measure_replay(const char *path, const char *name)
{
	struct tele_error error;
	struct tele_source *source;
	struct tele_record record;
	uint64_t n_rows = 0, n_samples = 0, sum = 0;
	check(tele_trace_open(path, &source, &error), &error);
	uint64_t start = now_ns();
	int got;
	while ((got = tele_source_next(source, &record, &error)) > 0)
		if (record.kind == TELE_RECORD_ROW) {
			n_rows++;
			n_samples += record.n_fields;
			sum += record.row[0];
		}
	check(got, &error);
	uint64_t ns = now_ns() - start;
	printf("%-24s replay    %10.0f M samples/s  goal 500   (%llu rows of %llu fields, %.2f s)%s\n", name,
	       (double)n_samples * 1e3 / (double)ns, (unsigned long long)n_rows,
	       (unsigned long long)(n_rows ? n_samples / n_rows : 0), (double)ns / 1e9, sum ? "" : ".");
	tele_source_close(source);
}

static void measure_report(const char *path, const char *name, const char *goal)
{
	struct tele_error error;
	struct mon_out out = {0};
	const struct rec_report_options options = {.path = path, .is_ascii = true};
	uint64_t start = now_ns();
	check(rec_report(&options, &out, &error), &error);
	printf("%-24s report    %10.2f s           %s\n", name, (double)(now_ns() - start) / 1e9, goal);
	mon_out_fini(&out);
}

int main(int argc, char **argv)
{
	char path[256];
	if (argc == 5 && strcmp(argv[1], "make") == 0) {
		make(argv[2], strtod(argv[3], NULL), (unsigned)strtoul(argv[4], NULL, 10));
		return 0;
	}
	temporary_path(path, sizeof(path));
	make(path, 24, 10);
	measure_open(path, "a day at 10 Hz", "goal: milliseconds");
	measure_seek(path, "a day at 10 Hz");
	measure_replay(path, "a day at 10 Hz");
	measure_report(path, "a day at 10 Hz", "goal under 1");
	make(path, 1, 1000);
	measure_open(path, "an hour at 1 kHz", "goal 1");
	measure_seek(path, "an hour at 1 kHz");
	measure_replay(path, "an hour at 1 kHz");
	measure_report(path, "an hour at 1 kHz", "");
	unlink(path);
	return 0;
}
