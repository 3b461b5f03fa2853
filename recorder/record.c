// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The recorder: for each process it follows, a stream block with its identity
// and schema, then the ring's sealed blocks as they are (or thinned), and at
// each sync a provisional block of what is not sealed yet, which a later block
// of the same sequence numbers supersedes. A block is never written before the
// schema it rests on, in each piece anew. What a schema grows by comes alone;
// the whole of it once more at the end of the piece.

#include "record.h"

#include "follower.h"
#include "observer.h"
#include "outside.h"
#include "sink.h"

#include "../libtelemetry/discover.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

#define SYNC_NS 2000000000u
#define STREAM_BYTES 1024u // what a stream block has beside the schema, at most

struct rec_recorder {
	struct rec_settings settings;
	struct rec_sink *sink;
	struct rec_observer *observer;
	struct rec_outside *outside;
	struct tele_found_list list;
	struct rec_followers followers;
	uint64_t synced_at_ns;
	bool must_sync; // a new process has something on the way
	bool has_failed;
	// What thinned blocks are of, while they are made.
	struct rec_follower *current;
	struct tele_attach *current_attach;
};

static struct tele_attach *attach_of(const struct rec_recorder *recorder, uint64_t instance_id)
{
	for (size_t i = 0; i < recorder->list.n_items; i++) {
		struct tele_attach *attach = recorder->list.items[i].attach;
		if (attach && tele_attach_instance(attach)->identity.instance_id == instance_id)
			return attach;
	}
	return NULL;
}

// The schema of one that grew, as a whole.
static int write_whole(struct rec_recorder *recorder, struct rec_follower *follower,
		       struct tele_attach *attach, struct tele_error *ret_error)
{
	size_t schema_bytes;
	const uint8_t *schema = tele_attach_schema_bytes(attach, &schema_bytes);
	if (!follower->has_grown || follower->piece != rec_sink_piece(recorder->sink))
		return 0;
	follower->has_grown = false;
	follower->schema_bytes = schema_bytes;
	return rec_sink_stream(recorder->sink, &tele_attach_instance(attach)->identity, schema, schema_bytes,
			       ret_error);
}

static int end_piece(void *context, struct tele_error *ret_error)
{
	struct rec_recorder *recorder = context;
	int result = 0;
	for (size_t i = 0; i < recorder->followers.n_items && result == 0; i++) {
		struct rec_follower *follower = recorder->followers.items[i];
		struct tele_attach *attach =
			follower->has_grown ? attach_of(recorder, follower->instance_id) : NULL;
		if (attach)
			result = write_whole(recorder, follower, attach, ret_error);
	}
	return result;
}

// Makes room in the piece for a block of the process, its schema, and what
// end_piece will write.
static int make_room(struct rec_recorder *recorder, const struct tele_attach *attach, size_t block_bytes,
		     struct tele_error *ret_error)
{
	size_t n_bytes;
	(void)tele_attach_schema_bytes(attach, &n_bytes);
	n_bytes += block_bytes + STREAM_BYTES + rec_observer_bytes(recorder->observer);
	n_bytes += rec_outside_bytes(recorder->outside);
	for (size_t i = 0; i < recorder->followers.n_items; i++)
		if (recorder->followers.items[i]->has_grown)
			n_bytes += recorder->followers.items[i]->schema_bytes + STREAM_BYTES;
	return rec_sink_make_room(recorder->sink, n_bytes, ret_error);
}

int rec_open(const struct rec_settings *settings, struct rec_recorder **ret_recorder,
	     struct tele_error *ret_error)
{
	struct rec_recorder *recorder = calloc(1, sizeof(*recorder));
	if (!recorder)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	recorder->settings = *settings;
	const struct rec_sink_settings sink = {
		.path = settings->path,
		.replace = settings->replace,
		.max_bytes = settings->max_bytes,
		.n_keep = settings->n_keep,
		.before_end = end_piece,
		.context = recorder,
	};
	recorder->observer = rec_observer_new();
	recorder->outside = rec_outside_new();
	int result = recorder->observer && recorder->outside
			     ? rec_sink_open(&sink, &recorder->sink, ret_error)
			     : tele_fail(ret_error, -ENOMEM, "out of memory");
	if (result < 0) {
		rec_outside_free(recorder->outside);
		rec_observer_free(recorder->observer);
		free(recorder);
		return result;
	}
	*ret_recorder = recorder;
	return 0;
}

// Sees that the piece has the schema so far, `at_least` bytes of it.
static int announce(struct rec_recorder *recorder, struct rec_follower *follower,
		    struct tele_attach *attach, size_t at_least, struct tele_error *ret_error)
{
	size_t schema_bytes;
	const struct tele_identity *identity = &tele_attach_instance(attach)->identity;
	const uint8_t *schema = tele_attach_schema_bytes(attach, &schema_bytes);
	if (at_least > schema_bytes) {
		int result = tele_attach_refresh(attach, ret_error);
		if (result < 0)
			return result;
		schema = tele_attach_schema_bytes(attach, &schema_bytes);
	}
	if (follower->schema_bytes >= schema_bytes)
		return 0;
	bool is_growth = follower->schema_bytes > 0;
	int result = is_growth ? rec_sink_growth(recorder->sink, identity->instance_id, schema,
						 follower->schema_bytes, schema_bytes, ret_error) :
				 rec_sink_stream(recorder->sink, identity, schema, schema_bytes, ret_error);
	if (result < 0)
		return result;
	follower->schema_bytes = schema_bytes;
	follower->has_grown |= is_growth;
	return 0;
}

// Forgets what an earlier piece held.
static void enter_piece(const struct rec_recorder *recorder, struct rec_follower *follower)
{
	if (follower->piece == rec_sink_piece(recorder->sink))
		return;
	follower->piece = rec_sink_piece(recorder->sink);
	follower->schema_bytes = 0;
	follower->has_grown = false;
	follower->state = TELE_STARTING;
}

static int append(struct rec_recorder *recorder, struct rec_follower *follower,
		  struct tele_attach *attach, const uint8_t *block, size_t block_bytes,
		  bool is_provisional, struct tele_error *ret_error)
{
	struct tele_block_header header;
	memcpy(&header, block, sizeof(header));
	uint64_t end_seq = header.first_seq + header.n_rows + header.n_events;
	if (is_provisional && end_seq == follower->provisional_end_seq)
		return 0;
	int result = make_room(recorder, attach, block_bytes, ret_error);
	enter_piece(recorder, follower);
	if (result == 0 && (header.schema_bytes > follower->schema_bytes || follower->schema_bytes == 0))
		result = announce(recorder, follower, attach, header.schema_bytes, ret_error);
	if (result == 0)
		result = rec_sink_block(recorder->sink, block, block_bytes, ret_error);
	if (result < 0)
		return result;
	recorder->must_sync |= follower->n_rows + follower->n_provisional_rows == 0;
	// Where the sealed block was lost, the provisional one stays.
	if (header.first_seq >= follower->provisional_end_seq)
		follower->n_rows += follower->n_provisional_rows;
	follower->n_provisional_rows = is_provisional ? header.n_rows : 0;
	if (is_provisional)
		follower->provisional_end_seq = end_seq;
	else
		follower->n_rows += header.n_rows;
	return 0;
}

static int take_thinned(void *context, const uint8_t *block, size_t block_bytes, bool is_provisional,
			struct tele_error *ret_error)
{
	struct rec_recorder *recorder = context;
	return append(recorder, recorder->current, recorder->current_attach, block, block_bytes, is_provisional,
		      ret_error);
}

static int take_gap(struct rec_recorder *recorder, struct rec_follower *follower,
		    const struct tele_instance *instance, uint64_t from, uint64_t to, struct tele_error *ret_error)
{
	int result = 0;
	uint64_t first = from;
	follower->lost += to - from;
	if (follower->thin)
		result = rec_thin_gap(follower->thin, to - from, &first, ret_error);
	return result < 0 ? result : rec_observer_gap(recorder->observer, instance, first, first + (to - from),
						      recorder->sink, ret_error);
}

// Takes everything new of one process. An error of its segment ends only its
// own recording, and 1 is returned; an error of the trace is returned.
static int drain(struct rec_recorder *recorder, struct rec_follower *follower,
		 struct tele_attach *attach, bool with_provisional, struct tele_error *ret_error)
{
	const struct tele_instance *instance = tele_attach_instance(attach);
	recorder->current = follower;
	recorder->current_attach = attach;
	for (;;) {
		const uint8_t *block;
		size_t block_bytes;
		bool is_provisional;
		uint64_t gap_from = 0;
		uint64_t gap_to = 0;
		int got = tele_attach_next_block(attach, with_provisional, &block, &block_bytes,
						 &is_provisional, &gap_from, &gap_to, NULL);
		if (got < 0)
			return got == TELE_ENOTREADY || got == TELE_EOVERRUN ? 0 : 1;
		int result = 0;
		if (gap_to > gap_from)
			result = take_gap(recorder, follower, instance, gap_from, gap_to, ret_error);
		if (result == 0 && got == 1 && follower->thin)
			result = rec_thin_take(follower->thin, instance->schema, block, block_bytes, ret_error);
		else if (result == 0 && got == 1)
			result = append(recorder, follower, attach, block, block_bytes, is_provisional,
					ret_error);
		if (result < 0 || got == 0)
			return result;
	}
}

// What is over is written to its end, and its schema as a whole if it grew.
static int finish(struct rec_recorder *recorder, struct rec_follower *follower,
		  struct tele_attach *attach, struct tele_error *ret_error)
{
	int result = follower->thin ? rec_thin_flush(follower->thin, true, ret_error) : 0;
	follower->is_done = true;
	return result < 0 ? result : write_whole(recorder, follower, attach, ret_error);
}

static int follow_wanted(struct rec_recorder *recorder, struct rec_follower *follower,
			 struct tele_attach *attach, bool is_sync, struct tele_error *ret_error)
{
	const struct tele_instance *instance = tele_attach_instance(attach);
	// The state was read before the records, so an ended process has no more.
	enum tele_state state = instance->state;
	bool is_over = !tele_state_is_alive(state);
	bool is_first = follower->n_rows + follower->n_provisional_rows == 0;
	int result = make_room(recorder, attach, 0, ret_error);
	enter_piece(recorder, follower);
	if (result == 0 && follower->schema_bytes == 0)
		result = announce(recorder, follower, attach, 0, ret_error);
	if (result == 0)
		result = drain(recorder, follower, attach, is_sync || is_over || is_first, ret_error);
	if (result < 0)
		return result;
	bool is_unreadable = result == 1;
	result = 0;
	if (is_over || is_unreadable)
		result = finish(recorder, follower, attach, ret_error);
	else if (follower->thin && (is_sync || is_first))
		result = rec_thin_flush(follower->thin, false, ret_error);
	if (result < 0)
		return result;
	follower->may_return = state == TELE_REPLACED;
	if (state == follower->state)
		return 0;
	follower->state = state;
	return rec_observer_state(recorder->observer, instance, recorder->sink, ret_error);
}

static int follow(struct rec_recorder *recorder, struct tele_attach *attach, bool is_sync,
		  struct tele_error *ret_error)
{
	const struct tele_instance *instance = tele_attach_instance(attach);
	const struct tele_identity *identity = &instance->identity;
	bool is_new;
	struct rec_follower *follower =
		rec_followers_need(&recorder->followers, identity->instance_id, &is_new);
	if (!follower)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	follower->is_there = true;
	if (is_new) {
		follower->pid = identity->pid;
		follower->start_ticks = identity->start_ticks;
		follower->state = TELE_STARTING;
		follower->is_wanted = recorder->settings.wants(recorder->settings.context, instance);
		if (follower->is_wanted && recorder->settings.every_ns) {
			follower->thin = rec_thin_new(identity->instance_id, recorder->settings.every_ns,
						      take_thinned, recorder);
			if (!follower->thin)
				return tele_fail(ret_error, -ENOMEM, "out of memory");
		}
	}
	if (!follower->is_wanted || follower->is_done)
		return 0;
	return follow_wanted(recorder, follower, attach, is_sync, ret_error);
}

static int step(struct rec_recorder *recorder, bool is_sync, struct tele_error *ret_error)
{
	int result = tele_discover(recorder->settings.directory, &recorder->list, ret_error);
	if (result < 0)
		return result;
	for (size_t i = 0; i < recorder->followers.n_items; i++)
		recorder->followers.items[i]->is_there = false;
	for (size_t i = 0; i < recorder->list.n_items; i++) {
		if (!recorder->list.items[i].attach)
			continue;
		result = follow(recorder, recorder->list.items[i].attach, is_sync, ret_error);
		if (result < 0)
			return result;
	}
	result = rec_outside_ask(recorder->outside, &recorder->list, &recorder->followers, recorder->sink,
				 ret_error);
	if (result < 0)
		return result;
	rec_followers_prune(&recorder->followers, recorder->settings.forget, recorder->settings.context);
	if (!is_sync && !recorder->must_sync)
		return 0;
	recorder->must_sync = false;
	result = rec_observer_flush(recorder->observer, recorder->sink, ret_error);
	if (result == 0)
		result = rec_outside_flush(recorder->outside, recorder->sink, ret_error);
	return result < 0 ? result : rec_sink_sync(recorder->sink, ret_error);
}

int rec_step(struct rec_recorder *recorder, uint64_t now_ns, struct tele_error *ret_error)
{
	TELE_ASSERT(!recorder->has_failed);
	bool is_sync = now_ns - recorder->synced_at_ns >= SYNC_NS;
	if (is_sync)
		recorder->synced_at_ns = now_ns;
	int result = step(recorder, is_sync, ret_error);
	recorder->has_failed = result < 0;
	return result;
}

void rec_get_progress(const struct rec_recorder *recorder, struct rec_progress *ret_progress)
{
	struct rec_progress progress = {
		.n_processes = recorder->followers.n_processes,
		.n_rows = recorder->followers.n_rows,
		.lost = recorder->followers.lost,
		.written_bytes = rec_sink_written_bytes(recorder->sink),
		.n_pieces = rec_sink_piece(recorder->sink) + 1,
		.n_dropped = rec_sink_dropped(recorder->sink),
	};
	for (size_t i = 0; i < recorder->followers.n_items; i++) {
		const struct rec_follower *follower = recorder->followers.items[i];
		if (!follower->is_wanted)
			continue;
		progress.n_processes++;
		progress.n_alive += !follower->is_done || rec_follower_may_return(follower);
		progress.n_rows += follower->n_rows + follower->n_provisional_rows;
		progress.lost += follower->lost;
	}
	*ret_progress = progress;
}

// What was thinned of those that still run.
static int flush_thinned(struct rec_recorder *recorder, struct tele_error *ret_error)
{
	int result = 0;
	for (size_t i = 0; i < recorder->followers.n_items && result == 0; i++) {
		recorder->current = recorder->followers.items[i];
		recorder->current_attach = attach_of(recorder, recorder->current->instance_id);
		if (recorder->current->thin && recorder->current_attach && !recorder->current->is_done)
			result = rec_thin_flush(recorder->current->thin, true, ret_error);
	}
	return result;
}

int rec_close(struct rec_recorder *recorder, struct rec_progress *ret_progress,
	      struct tele_error *ret_error)
{
	int result = recorder->has_failed ? 0 : step(recorder, true, ret_error);
	if (result == 0 && !recorder->has_failed)
		result = flush_thinned(recorder, ret_error);
	if (result == 0 && !recorder->has_failed)
		result = rec_sink_end(recorder->sink, ret_error);
	bool is_failed = recorder->has_failed || result < 0;
	if (ret_progress)
		rec_get_progress(recorder, ret_progress);
	int closed = rec_sink_close(recorder->sink, is_failed ? NULL : ret_error);
	tele_found_list_close(&recorder->list);
	rec_observer_free(recorder->observer);
	rec_outside_free(recorder->outside);
	rec_followers_fini(&recorder->followers);
	free(recorder);
	return is_failed ? result : closed;
}
