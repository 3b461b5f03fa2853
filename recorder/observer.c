// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The observer's blocks hold events only, so its schema is empty. Its stream
// block comes before its first data block; a trace in which nothing was
// observed has neither.

#include "observer.h"

#include "../libtelemetry/identity.h"
#include "../libtelemetry/schema.h"
#include "../libtelemetry/segment.h"
#include "../monitor/outside.h"

#include <inttypes.h>

#include "../libtelemetry/banned.h"

// An event with its text takes at most so many bytes in a block.
enum { EVENTS_MAX = 128, EVENT_BYTES = 96 };

struct rec_observer {
	struct tele_identity identity;
	bool is_announced; // its stream block is written,
	uint64_t piece;	   // in this piece
	uint64_t next_seq;
	uint32_t n_events;
	struct tele_event events[EVENTS_MAX];
	char texts[EVENTS_MAX][20];
	struct tele_block_string strings[EVENTS_MAX];
	uint32_t n_strings;
	struct tele_plan *plan;
	size_t scratch_bytes, block_bytes;
	void *scratch;
	uint8_t *block;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct rec_observer *rec_observer_new(void)
{
	struct rec_observer *observer = calloc(1, sizeof(*observer));
	if (!observer)
		return NULL;
	observer->scratch_bytes = tele_block_scratch_bytes(0);
	observer->block_bytes = tele_block_bytes_max(0, 0, EVENTS_MAX, EVENTS_MAX);
	observer->plan = malloc(sizeof(*observer->plan));
	observer->scratch = malloc(observer->scratch_bytes);
	observer->block = malloc(observer->block_bytes);
	if (!observer->plan || !observer->scratch || !observer->block ||
	    !mon_observer_identity("recorder", &observer->identity)) {
		rec_observer_free(observer);
		return NULL;
	}
	tele_plan_init(observer->plan);
	return observer;
}

void rec_observer_free(struct rec_observer *observer)
{
	if (!observer)
		return;
	free(observer->plan);
	free(observer->scratch);
	free(observer->block);
	free(observer);
}

size_t rec_observer_bytes(const struct rec_observer *observer)
{
	return 2 * TELE_BLOCK_HEADER_BYTES + TELE_HEADER_WORDS * 8 + observer->n_events * EVENT_BYTES;
}

int rec_observer_flush(struct rec_observer *observer, struct rec_sink *sink,
		       struct tele_error *ret_error)
{
	if (observer->n_events == 0)
		return 0;
	if (!observer->is_announced || observer->piece != rec_sink_piece(sink)) {
		static const uint8_t no_schema[8];
		int result = rec_sink_stream(sink, &observer->identity, no_schema, 0, ret_error);
		if (result < 0)
			return result;
		observer->is_announced = true;
		observer->piece = rec_sink_piece(sink);
	}
	const struct tele_block_input input = {
		.instance_id = observer->identity.instance_id,
		.plan = observer->plan,
		.first_seq = observer->next_seq - observer->n_events,
		.first_at_ns = observer->events[0].at_ns,
		.last_at_ns = observer->events[observer->n_events - 1].at_ns,
		.events = observer->events,
		.n_events = observer->n_events,
		.strings = observer->strings,
		.n_strings = observer->n_strings,
	};
	int64_t block_bytes = tele_block_encode(&input, observer->scratch, observer->scratch_bytes,
						observer->block, observer->block_bytes);
	TELE_ASSERT(block_bytes > 0);
	observer->n_events = observer->n_strings = 0;
	return rec_sink_block(sink, observer->block, (size_t)block_bytes, ret_error);
}

static int note(struct rec_observer *observer, struct tele_event event,
		struct rec_sink *sink, struct tele_error *ret_error)
{
	if (observer->n_events == EVENTS_MAX) {
		int result = rec_observer_flush(observer, sink, ret_error);
		if (result < 0)
			return result;
	}
	event.seq = observer->next_seq++;
	event.at_ns = clock_ns(CLOCK_MONOTONIC) & TELE_TIME_MASK;
	observer->events[observer->n_events++] = event;
	return 0;
}

int rec_observer_state(struct rec_observer *observer, const struct tele_instance *instance,
		       struct rec_sink *sink, struct tele_error *ret_error)
{
	const struct tele_event event = {
		.type = TELE_EVENT_STATE,
		.subject = instance->identity.instance_id,
		.value = instance->state,
	};
	mon_observer_join(&observer->identity, &instance->identity);
	return note(observer, event, sink, ret_error);
}

int rec_observer_gap(struct rec_observer *observer, const struct tele_instance *instance,
		     uint64_t gap_from, uint64_t gap_to, struct rec_sink *sink,
		     struct tele_error *ret_error)
{
	struct tele_event event = {
		.type = TELE_EVENT_GAP,
		.subject = gap_from,
		.value = gap_to - gap_from,
		.string_id = TELE_STRING_TRANSIENT + observer->n_strings,
	};
	int result = note(observer, event, sink, ret_error);
	if (result < 0)
		return result;
	// The text says whose records they were.
	char *text = observer->texts[observer->n_strings];
	snprintf(text, sizeof(observer->texts[0]), "%016" PRIx64, instance->identity.instance_id);
	observer->strings[observer->n_strings++] = (struct tele_block_string){
		.id = event.string_id,
		.text = text,
		.len = (uint32_t)strlen(text),
	};
	return 0;
}
