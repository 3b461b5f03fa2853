// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See array_source.h. Each instance has a cursor over its rows and one over its
// events; the next record is the earliest of what the cursors stand at, and
// within an instance the one with the lower number.

#include "array_source.h"

#include "strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

struct stream {
	struct tele_instance instance; // first: what a record points at
	struct tele_array_instance input;
	struct tele_strings *strings;
	size_t row, event;
	uint64_t next_seq;
	bool is_announced, has_schema_told, is_live_told, has_started, is_end_told;
};

struct array {
	struct tele_source source; // first
	size_t n_streams;
	struct stream streams[];
};

static bool is_exhausted(const struct stream *stream)
{
	return stream->row >= stream->input.n_rows && stream->event >= stream->input.n_events;
}

static uint64_t row_seq(const struct stream *stream)
{
	return stream->input.row_seqs ? stream->input.row_seqs[stream->row] : stream->next_seq;
}

// Whether an event is next; its number or time in *ret_seq, *ret_at_ns.
static bool event_is_next(const struct stream *stream, uint64_t *ret_seq, uint64_t *ret_at_ns)
{
	bool has_row = stream->row < stream->input.n_rows;
	bool has_event = stream->event < stream->input.n_events;
	const struct tele_event *event = has_event ? &stream->input.events[stream->event] : NULL;
	if (event && (!has_row || event->seq <= row_seq(stream))) {
		*ret_seq = event->seq;
		*ret_at_ns = event->at_ns;
		return true;
	}
	*ret_seq = row_seq(stream);
	*ret_at_ns = stream->input.n_fields ? stream->input.rows[stream->row * stream->input.n_fields] : 0;
	return false;
}

static struct stream *choose(struct array *array)
{
	struct stream *chosen = NULL;
	uint64_t chosen_at_ns = UINT64_MAX;
	for (size_t i = 0; i < array->n_streams; i++) {
		struct stream *stream = &array->streams[i];
		uint64_t seq, at_ns;
		if (!stream->is_announced || !stream->has_schema_told)
			return stream;
		if (is_exhausted(stream))
			continue;
		(void)event_is_next(stream, &seq, &at_ns);
		if (!chosen || at_ns < chosen_at_ns) {
			chosen = stream;
			chosen_at_ns = at_ns;
		}
	}
	for (size_t i = 0; !chosen && i < array->n_streams; i++)
		if (!array->streams[i].is_end_told)
			chosen = &array->streams[i];
	return chosen;
}

// A record about the instance itself, if one is due. Returns 1 or 0.
static int tell_instance(struct stream *stream, struct tele_record *ret_record)
{
	*ret_record = (struct tele_record){.instance = &stream->instance};
	if (!stream->is_announced) {
		stream->is_announced = true;
		ret_record->kind = TELE_RECORD_INSTANCE;
	} else if (!stream->has_schema_told) {
		stream->has_schema_told = true;
		ret_record->kind = TELE_RECORD_SCHEMA;
	} else if (is_exhausted(stream) || !stream->is_live_told) {
		stream->is_end_told = is_exhausted(stream);
		stream->is_live_told = true;
		stream->instance.state = stream->is_end_told ? stream->input.state : TELE_LIVE;
		ret_record->kind = TELE_RECORD_STATE;
	} else {
		return 0;
	}
	return 1;
}

static int next_record(struct tele_source *source, struct tele_record *ret_record,
		       struct tele_error *ret_error)
{
	struct array *array = (struct array *)source;
	struct stream *stream = choose(array);
	uint64_t seq, at_ns;
	(void)ret_error;
	if (!stream)
		return 0;
	if (tell_instance(stream, ret_record))
		return 1;
	bool is_event = event_is_next(stream, &seq, &at_ns);
	if (stream->has_started && seq > stream->next_seq) {
		ret_record->kind = TELE_RECORD_GAP;
		ret_record->gap_from = stream->next_seq;
		ret_record->gap_to = seq;
		stream->instance.lost += seq - stream->next_seq;
		stream->next_seq = seq;
		return 1;
	}
	stream->has_started = true;
	stream->next_seq = seq + 1;
	ret_record->seq = seq;
	if (is_event) {
		ret_record->kind = TELE_RECORD_EVENT;
		ret_record->event = stream->input.events[stream->event++];
	} else {
		ret_record->kind = TELE_RECORD_ROW;
		ret_record->n_fields = stream->input.n_fields;
		ret_record->row = stream->input.rows + stream->row++ * stream->input.n_fields;
	}
	return 1;
}

static void close_array(struct tele_source *source)
{
	struct array *array = (struct array *)source;
	for (size_t i = 0; i < array->n_streams; i++) {
		tele_schema_free(array->streams[i].instance.schema);
		tele_strings_free(array->streams[i].strings);
	}
	free(array);
}

static const struct tele_source_ops array_ops = {.next = next_record, .close = close_array};

static int open_stream(struct stream *stream, const struct tele_array_instance *input,
		       struct tele_error *ret_error)
{
	stream->input = *input;
	stream->next_seq = input->first_seq;
	stream->strings = tele_strings_new();
	stream->instance = (struct tele_instance){
		.identity = input->identity,
		.schema = tele_schema_new(),
		.strings = stream->strings,
		.state = TELE_STARTING,
	};
	if (!stream->strings || !stream->instance.schema)
		return tele_fail(ret_error, -ENOMEM, "%s", tele_strerror(-ENOMEM));
	for (size_t i = 0; i < input->n_strings; i++) {
		const struct tele_block_string *string = &input->strings[i];
		int failed = tele_strings_define(stream->strings, string->id, string->text, string->len);
		if (failed)
			return tele_fail(ret_error, failed, "string %zu: %s", i, tele_strerror(failed));
	}
	return tele_schema_parse(stream->instance.schema, input->schema, input->schema_bytes, ret_error);
}

int tele_array_source_open(const struct tele_array_instance *instances, size_t n_instances,
			   struct tele_source **ret_source, struct tele_error *ret_error)
{
	struct array *array = calloc(1, sizeof(*array) + n_instances * sizeof(array->streams[0]));
	if (!array)
		return tele_fail(ret_error, -ENOMEM, "%s", tele_strerror(-ENOMEM));
	array->source.ops = &array_ops;
	array->n_streams = n_instances;
	for (size_t i = 0; i < n_instances; i++) {
		int failed = open_stream(&array->streams[i], &instances[i], ret_error);
		if (failed) {
			close_array(&array->source);
			return failed;
		}
	}
	*ret_source = &array->source;
	return 0;
}
