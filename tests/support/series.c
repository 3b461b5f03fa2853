// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See series.h.

#include "series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_series *test_series_new(uint64_t number)
{
	struct test_series *series = calloc(1, sizeof(*series));
	if (!series)
		abort();
	series->identity = (struct tele_identity){
		.instance_id = number,
		.pid = 1000 + number,
		.start_ticks = 77,
		.created_at_ns = test_series_at_ns(0),
		.period_ns = TEST_SERIES_PERIOD_NS,
		.is_observer = number >= 1000,
		.comm = "series",
	};
	snprintf(series->identity.label, sizeof(series->identity.label), "series %llu",
		 (unsigned long long)number);
	if (tele_schema_write_start(&series->writer, series->schema, sizeof(series->schema), &series->plan))
		abort();
	series->scratch_bytes = tele_block_scratch_bytes(series->plan.n_fields);
	series->scratch = malloc(series->scratch_bytes);
	if (!series->scratch)
		abort();
	return series;
}

void test_series_free(struct test_series *series)
{
	free(series->scratch);
	free(series);
}

bool test_series_is_event(uint64_t seq)
{
	return seq % 10 == 7;
}

uint64_t test_series_at_ns(uint64_t seq)
{
	return (seq + 1000) * TEST_SERIES_PERIOD_NS;
}

void test_series_row(const struct test_series *series, uint64_t seq, uint64_t *ret_row)
{
	for (uint32_t f = 0; f < series->plan.n_fields; f++) {
		uint64_t value;
		if (f == 0)
			value = test_series_at_ns(seq);
		else if (f % 4 == 0)
			value = seq * f * 1024 + series->identity.instance_id;
		else if (f % 7 == 0)
			value = (seq * f) % 5 ? f : TELE_UNKNOWN;
		else
			value = f % 3 ? 0 : TELE_UNKNOWN;
		uint64_t mask = (UINT64_C(1) << series->plan.fields[f].shift) - 1;
		ret_row[f] = value == TELE_UNKNOWN ? value : value & ~mask;
	}
}

static uint64_t string_id(uint64_t seq)
{
	return seq % 20 == 7 ? (UINT64_C(1) << 32) + seq : 1 + seq % 3;
}

static size_t string_text(uint64_t seq, char text[32])
{
	uint64_t id = string_id(seq);
	if (id >> 32)
		return (size_t)snprintf(text, 32, "once %llu", (unsigned long long)seq);
	return (size_t)snprintf(text, 32, "for ever %llu", (unsigned long long)id);
}

static struct tele_event event_of(uint64_t seq)
{
	return (struct tele_event){
		.seq = seq,
		.at_ns = test_series_at_ns(seq),
		.subject = seq / 3,
		.value = seq % 4 ? seq : TELE_UNKNOWN,
		.string_id = string_id(seq),
		.type = TELE_EVENT_MARK,
	};
}

uint8_t *test_series_block(struct test_series *series, uint64_t from, uint64_t to, uint16_t flags,
			   size_t *ret_bytes)
{
	uint32_t n_fields = series->plan.n_fields;
	uint64_t *rows = malloc((to - from) * n_fields * sizeof(*rows));
	static struct tele_event events[TELE_BLOCK_EVENTS_MAX];
	static struct tele_block_string strings[TELE_BLOCK_ROWS_MAX];
	static char texts[TELE_BLOCK_ROWS_MAX][32];
	struct tele_block_input input = {
		.instance_id = series->identity.instance_id,
		.plan = &series->plan,
		.n_fields = n_fields,
		.schema_bytes = (uint32_t)series->writer.used_bytes,
		.flags = flags,
		.first_seq = from,
		.first_at_ns = test_series_at_ns(from),
		.last_at_ns = test_series_at_ns(to - 1),
		.rows = rows,
		.row_stride = n_fields,
		.events = events,
		.strings = strings,
	};
	for (uint64_t seq = from; seq < to; seq++) {
		if (!test_series_is_event(seq)) {
			test_series_row(series, seq, rows + (size_t)input.n_rows++ * n_fields);
			continue;
		}
		struct tele_block_string *string = &strings[input.n_strings];
		events[input.n_events++] = event_of(seq);
		string->id = string_id(seq);
		string->text = texts[input.n_strings];
		string->len = (uint32_t)string_text(seq, texts[input.n_strings++]);
	}
	size_t capacity = tele_block_bytes_max(n_fields, input.n_rows, input.n_events, input.n_strings);
	uint8_t *block = malloc(capacity);
	int64_t n = block && rows ? tele_block_encode(&input, series->scratch, series->scratch_bytes,
						      block, capacity) :
				    -1;
	if (n < 0)
		abort();
	free(rows);
	*ret_bytes = (size_t)n;
	return block;
}

int test_series_write_stream(const struct test_series *series, struct tele_trace_writer *writer)
{
	return tele_trace_write_stream(writer, &series->identity, series->schema,
				       series->writer.used_bytes, NULL);
}

int test_series_write(struct test_series *series, struct tele_trace_writer *writer, uint64_t from,
		      uint64_t to, uint16_t flags)
{
	size_t n_bytes;
	uint8_t *block = test_series_block(series, from, to, flags, &n_bytes);
	int failed = tele_trace_write_block(writer, block, n_bytes, NULL);
	free(block);
	return failed;
}

bool test_series_is_right(const struct test_series *series, const struct tele_record *record)
{
	static uint64_t row[TELE_FIELDS_MAX];
	char text[32];
	if (record->instance->identity.instance_id != series->identity.instance_id)
		return false;
	if (record->kind == TELE_RECORD_ROW) {
		test_series_row(series, record->seq, row);
		return !test_series_is_event(record->seq) &&
		       record->n_fields == series->plan.n_fields &&
		       memcmp(row, record->row, record->n_fields * sizeof(*row)) == 0;
	}
	struct tele_event expected = event_of(record->seq);
	const struct tele_event *event = &record->event;
	(void)string_text(record->seq, text);
	const char *found = tele_instance_string(record->instance, event->string_id);
	return record->kind == TELE_RECORD_EVENT && test_series_is_event(record->seq) &&
	       event->seq == expected.seq && event->at_ns == expected.at_ns &&
	       event->subject == expected.subject && event->value == expected.value &&
	       event->type == expected.type && event->string_id == expected.string_id && found &&
	       strcmp(found, text) == 0;
}
