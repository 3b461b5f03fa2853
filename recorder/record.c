// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The recorder: for each process it follows, a stream block with its identity
// and schema, then the ring's sealed blocks as they are, and at each sync a
// provisional block of what is not sealed yet, which a later block of the same
// sequence numbers supersedes. A block is never written before the schema it
// rests on.

#include "record.h"

#include "observer.h"
#include "process.h"

#include "../libtelemetry/discover.h"
#include "../libtelemetry/trace.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

#define SYNC_NS 2000000000u

// One instance that was found.
struct follower {
	uint64_t instance_id;
	uint64_t pid, start_ticks;
	bool is_wanted;
	bool is_done; // ended, and everything of it is written
	bool may_return; // replaced by exec: another instance of it may come
	enum tele_state state; // as last noted
	size_t schema_bytes; // written
	uint64_t n_rows; // of blocks that no later one supersedes
	uint64_t n_provisional_rows;
	uint64_t provisional_end_seq; // of the last provisional block written
	uint64_t lost;
};

struct rec_recorder {
	struct rec_settings settings;
	struct tele_trace_writer *writer;
	struct rec_observer *observer;
	struct tele_found_list list;
	struct follower *followers;
	size_t n_followers, capacity;
	uint64_t synced_at_ns;
	bool has_failed;
};

int rec_open(const struct rec_settings *settings, struct rec_recorder **ret_recorder,
	     struct tele_error *ret_error)
{
	struct rec_recorder *recorder = calloc(1, sizeof(*recorder));
	if (!recorder)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	recorder->settings = *settings;
	recorder->observer = rec_observer_new();
	int result = recorder->observer
			     ? tele_trace_create(settings->path, settings->replace, &recorder->writer, ret_error)
			     : tele_fail(ret_error, -ENOMEM, "out of memory");
	if (result < 0) {
		rec_observer_free(recorder->observer);
		free(recorder);
		return result;
	}
	*ret_recorder = recorder;
	return 0;
}

static struct follower *follower_of(struct rec_recorder *recorder, const struct tele_instance *instance)
{
	const struct tele_identity *identity = &instance->identity;
	for (size_t i = 0; i < recorder->n_followers; i++)
		if (recorder->followers[i].instance_id == identity->instance_id)
			return &recorder->followers[i];
	if (recorder->n_followers == recorder->capacity) {
		size_t capacity = recorder->capacity ? 2 * recorder->capacity : 32;
		void *grown = realloc(recorder->followers, capacity * sizeof(recorder->followers[0]));
		if (!grown)
			return NULL;
		recorder->followers = grown;
		recorder->capacity = capacity;
	}
	struct follower *follower = &recorder->followers[recorder->n_followers++];
	*follower = (struct follower){
		.instance_id = identity->instance_id,
		.pid = identity->pid,
		.start_ticks = identity->start_ticks,
		.is_wanted = recorder->settings.wants(recorder->settings.context, instance),
		.state = TELE_STARTING,
	};
	return follower;
}

// Writes the schema so far, unless it is written already.
static int announce(struct rec_recorder *recorder, struct follower *follower,
		    struct tele_attach *attach, size_t at_least, struct tele_error *ret_error)
{
	size_t schema_bytes;
	const uint8_t *schema = tele_attach_schema_bytes(attach, &schema_bytes);
	if (follower->schema_bytes >= schema_bytes && at_least > schema_bytes) {
		int result = tele_attach_refresh(attach, ret_error);
		if (result < 0)
			return result;
		schema = tele_attach_schema_bytes(attach, &schema_bytes);
	}
	if (follower->schema_bytes >= schema_bytes)
		return 0;
	int result = tele_trace_write_stream(recorder->writer, &tele_attach_instance(attach)->identity,
					     schema, schema_bytes, ret_error);
	if (result == 0)
		follower->schema_bytes = schema_bytes;
	return result;
}

static int append(struct rec_recorder *recorder, struct follower *follower,
		  struct tele_attach *attach, const uint8_t *block, size_t block_bytes,
		  bool is_provisional, struct tele_error *ret_error)
{
	struct tele_block_header header;
	int result = 0;
	memcpy(&header, block, sizeof(header));
	uint64_t end_seq = header.first_seq + header.n_rows + header.n_events;
	if (is_provisional && end_seq == follower->provisional_end_seq)
		return 0;
	if (header.schema_bytes > follower->schema_bytes)
		result = announce(recorder, follower, attach, header.schema_bytes, ret_error);
	if (result == 0)
		result = tele_trace_write_block(recorder->writer, block, block_bytes, ret_error);
	if (result < 0)
		return result;
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

// Takes everything new of one process. An error of its segment ends only its
// own recording; an error of the trace is returned.
static int drain(struct rec_recorder *recorder, struct follower *follower,
		 struct tele_attach *attach, bool with_provisional, struct tele_error *ret_error)
{
	const struct tele_instance *instance = tele_attach_instance(attach);
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
		if (gap_to > gap_from) {
			follower->lost += gap_to - gap_from;
			result = rec_observer_gap(recorder->observer, instance, gap_from, gap_to,
						  recorder->writer, ret_error);
		}
		if (result == 0 && got == 1)
			result = append(recorder, follower, attach, block, block_bytes, is_provisional,
					ret_error);
		if (result < 0 || got == 0)
			return result;
	}
}

static int follow(struct rec_recorder *recorder, struct tele_attach *attach, bool is_sync,
		  struct tele_error *ret_error)
{
	const struct tele_instance *instance = tele_attach_instance(attach);
	struct follower *follower = follower_of(recorder, instance);
	if (!follower)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	if (!follower->is_wanted || follower->is_done)
		return 0;
	// The state was read before the records, so an ended process has no more.
	enum tele_state state = instance->state;
	bool is_over = !tele_state_is_alive(state);
	int result = 0;
	if (follower->schema_bytes == 0)
		result = announce(recorder, follower, attach, 0, ret_error);
	if (result == 0)
		result = drain(recorder, follower, attach, is_sync || is_over, ret_error);
	if (result < 0)
		return result;
	bool is_unreadable = result == 1;
	if (state != follower->state) {
		result = rec_observer_state(recorder->observer, instance, recorder->writer, ret_error);
		follower->state = state;
	}
	follower->is_done = is_over || is_unreadable;
	follower->may_return = state == TELE_REPLACED;
	return result < 0 ? result : 0;
}

static int step(struct rec_recorder *recorder, bool is_sync, struct tele_error *ret_error)
{
	int result = tele_discover(recorder->settings.directory, &recorder->list, ret_error);
	if (result < 0)
		return result;
	for (size_t i = 0; i < recorder->list.n_items; i++) {
		if (!recorder->list.items[i].attach)
			continue;
		result = follow(recorder, recorder->list.items[i].attach, is_sync, ret_error);
		if (result < 0)
			return result;
	}
	if (!is_sync)
		return 0;
	result = rec_observer_flush(recorder->observer, recorder->writer, ret_error);
	return result < 0 ? result : tele_trace_sync(recorder->writer, ret_error);
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

// Whether the process of a replaced instance still runs: its next program may
// publish.
static bool is_between_programs(const struct follower *follower)
{
	return follower->may_return && rec_process_is(follower->pid, follower->start_ticks);
}

void rec_get_progress(const struct rec_recorder *recorder, struct rec_progress *ret_progress)
{
	struct rec_progress progress = {
		.written_bytes = tele_trace_written_bytes(recorder->writer),
	};
	for (size_t i = 0; i < recorder->n_followers; i++) {
		const struct follower *follower = &recorder->followers[i];
		if (!follower->is_wanted)
			continue;
		progress.n_processes++;
		progress.n_alive += !follower->is_done || is_between_programs(follower);
		progress.n_rows += follower->n_rows + follower->n_provisional_rows;
		progress.lost += follower->lost;
	}
	*ret_progress = progress;
}

int rec_close(struct rec_recorder *recorder, struct tele_error *ret_error)
{
	int result = recorder->has_failed ? 0 : step(recorder, true, ret_error);
	int finished = tele_trace_finish(recorder->writer, result < 0 ? NULL : ret_error);
	if (result == 0 && !recorder->has_failed)
		result = finished;
	tele_found_list_close(&recorder->list);
	rec_observer_free(recorder->observer);
	free(recorder->followers);
	free(recorder);
	return result;
}
