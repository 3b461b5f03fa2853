// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The merged live source. Each process is an item that is asked in turn what is
// new: its instance once, then its state, its schema's growth and its latest
// row; a followed one passes on what its ring source says. Rings are closed
// only when their process goes away, since models point at their instances.

#include "live.h"

#include "outside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../libtelemetry/banned.h"

struct item {
	uint64_t instance_id;
	struct tele_attach *attach;  // the found list's
	struct tele_source *ring;    // followed
	struct tele_source *retired; // a ring that failed: models point at its instance
	bool is_told, is_asked;	     // the row of this refresh was asked for
	bool is_last;		     // all was asked for after the process had died
	bool is_found;		     // by this refresh
	bool is_moved;		     // the instance that was told has gone, another has come
	bool is_refused;	     // could not be followed; the latest row will do
	enum tele_state state;
	uint64_t lost, seq;
	uint32_t n_fields;
};

struct mon_live {
	struct tele_source source;
	char directory[512];
	bool has_directory, follow_all;
	struct tele_found_list found;
	struct item *items;
	uint32_t n_items, capacity, at;
	uint64_t *gone;
	uint32_t n_gone;
	uint64_t row[TELE_FIELDS_MAX];
	struct mon_outside *outside; // NULL: not asked for
	bool is_outside_asked, is_outside_told, has_outside_row;
	uint32_t n_outside_fields;
};

static struct item *find_item(const struct mon_live *live, uint64_t instance_id)
{
	for (uint32_t i = 0; i < live->n_items; i++)
		if (live->items[i].instance_id == instance_id)
			return &live->items[i];
	return NULL;
}

static void close_item(struct item *item)
{
	tele_source_close(item->ring);
	tele_source_close(item->retired);
}

// A second attachment: the source takes it over, the found list keeps its own.
static bool open_ring(const struct item *item, struct tele_source **ret_source)
{
	struct tele_attach *attach;
	if (tele_attach_reopen(item->attach, &attach, NULL))
		return false;
	if (tele_attach_instance(attach)->identity.instance_id == item->instance_id &&
	    tele_ring_source_open(attach, false, ret_source, NULL) == 0)
		return true;
	tele_attach_close(attach);
	return false;
}

static void follow_item(struct item *item)
{
	if (item->ring || item->is_refused)
		return;
	item->is_refused = !open_ring(item, &item->ring);
	item->is_last = false;
}

// What is new of an item that is not followed: 1 with a record, 0 nothing.
static int next_of_latest(struct mon_live *live, struct item *item, struct tele_record *ret_record)
{
	struct tele_instance *instance = tele_attach_instance(item->attach);
	struct tele_record record = {.instance = instance};
	uint32_t n_fields = 0;
	uint64_t seq = 0;
	if (!item->is_told) {
		item->is_told = true;
		item->is_last = false;
		item->state = instance->state;
		item->lost = instance->lost;
		item->n_fields = instance->schema->n_fields;
		item->seq = UINT64_MAX;
		record.kind = TELE_RECORD_INSTANCE;
		*ret_record = record;
		return 1;
	}
	if (item->state != instance->state || item->lost != instance->lost) {
		item->state = instance->state;
		item->lost = instance->lost;
		record.kind = TELE_RECORD_STATE;
		*ret_record = record;
		return 1;
	}
	if (item->n_fields != instance->schema->n_fields) {
		item->n_fields = instance->schema->n_fields;
		record.kind = TELE_RECORD_SCHEMA;
		*ret_record = record;
		return 1;
	}
	// The last row of a dead process stays what it is.
	if (item->is_asked || (item->is_last && !tele_state_is_alive(instance->state)))
		return 0;
	item->is_asked = true;
	item->is_last = !tele_state_is_alive(instance->state);
	if (tele_attach_latest(item->attach, live->row, TELE_FIELDS_MAX, &n_fields, &seq, NULL) ||
	    seq == item->seq)
		return 0;
	item->seq = seq;
	record.kind = TELE_RECORD_ROW;
	record.seq = seq;
	record.row = live->row;
	record.n_fields = n_fields;
	*ret_record = record;
	return 1;
}

static int next_of_item(struct mon_live *live, struct item *item, struct tele_record *ret_record)
{
	if (item->ring && item->is_last)
		return 0;
	if (item->ring) {
		int got = tele_source_next(item->ring, ret_record, NULL);
		if (got == 0 && !tele_state_is_alive(tele_attach_instance(item->attach)->state))
			item->is_last = tele_ring_source_trim(item->ring);
		if (got >= 0)
			return got;
		// Damaged: the latest row is all there is.
		item->retired = item->ring;
		item->ring = NULL;
		item->is_refused = true;
		item->is_told = false;
	}
	return next_of_latest(live, item, ret_record);
}

static bool ask_outside(struct mon_live *live)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!mon_outside_begin(live->outside, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec))
		return false;
	for (uint32_t i = 0; i < live->n_items; i++)
		mon_outside_add(live->outside, live->items[i].attach);
	return mon_outside_end(live->outside);
}

// The observer's row after those of the processes, once a refresh at most.
static int next_of_outside(struct mon_live *live, struct tele_record *ret_record)
{
	if (!live->outside)
		return 0;
	if (!live->is_outside_asked)
		live->has_outside_row = ask_outside(live);
	live->is_outside_asked = true;
	if (!live->has_outside_row)
		return 0;
	struct tele_instance *instance = mon_outside_instance(live->outside);
	*ret_record = (struct tele_record){.kind = TELE_RECORD_ROW, .instance = instance};
	if (!live->is_outside_told) {
		live->is_outside_told = true;
		ret_record->kind = TELE_RECORD_INSTANCE;
		return 1;
	}
	if (live->n_outside_fields != instance->schema->n_fields) {
		live->n_outside_fields = instance->schema->n_fields;
		ret_record->kind = TELE_RECORD_SCHEMA;
		return 1;
	}
	live->has_outside_row = false;
	ret_record->row = mon_outside_row(live->outside, &ret_record->seq);
	ret_record->n_fields = instance->schema->n_fields;
	return 1;
}

static int live_next(struct tele_source *source, struct tele_record *ret_record,
		     struct tele_error *ret_error)
{
	struct mon_live *live = (struct mon_live *)source;
	(void)ret_error;
	while (live->at < live->n_items) {
		if (next_of_item(live, &live->items[live->at], ret_record) == 1)
			return 1;
		live->at++;
	}
	return next_of_outside(live, ret_record);
}

static void live_close(struct tele_source *source)
{
	mon_live_close((struct mon_live *)source);
}

static const struct tele_source_ops ops = {.next = live_next, .close = live_close};

int mon_live_open(const char *directory, bool follow_all, struct mon_live **ret_live,
		  struct tele_error *ret_error)
{
	struct mon_live *live = calloc(1, sizeof(*live));
	if (!live)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	live->source = (struct tele_source){.ops = &ops, .is_live = true};
	live->follow_all = follow_all;
	if (directory) {
		live->has_directory = true;
		if (strlen(directory) >= sizeof(live->directory)) {
			free(live);
			return tele_fail(ret_error, -ENAMETOOLONG,
					 "the directory's name is too long");
		}
		memcpy(live->directory, directory, strlen(directory) + 1);
	}
	*ret_live = live;
	return 0;
}

int mon_live_ask_outside(struct mon_live *live, struct tele_error *ret_error)
{
	live->outside = mon_outside_new();
	return live->outside ? 0 : tele_fail(ret_error, -ENOMEM, "out of memory");
}

bool mon_live_outside_row(const struct mon_live *live, struct tele_record *ret_record)
{
	if (!live->outside || live->n_outside_fields == 0 || live->has_outside_row)
		return false;
	*ret_record = (struct tele_record){
		.kind = TELE_RECORD_ROW,
		.instance = mon_outside_instance(live->outside),
		.n_fields = live->n_outside_fields,
	};
	ret_record->row = mon_outside_row(live->outside, &ret_record->seq);
	return true;
}

struct tele_source *mon_live_source(struct mon_live *live)
{
	return &live->source;
}

void mon_live_close(struct mon_live *live)
{
	if (!live)
		return;
	for (uint32_t i = 0; i < live->n_items; i++)
		close_item(&live->items[i]);
	tele_found_list_close(&live->found);
	mon_outside_free(live->outside);
	free(live->items);
	free(live->gone);
	free(live);
}

static struct item *add_item(struct mon_live *live, uint64_t instance_id)
{
	if (live->n_items == live->capacity) {
		uint32_t capacity = live->capacity ? live->capacity * 2 : 16;
		struct item *items = realloc(live->items, capacity * sizeof(*items));
		if (!items)
			return NULL;
		live->items = items;
		uint64_t *gone = realloc(live->gone, capacity * sizeof(*gone));
		if (!gone)
			return NULL;
		live->gone = gone;
		live->capacity = capacity;
	}
	struct item *item = &live->items[live->n_items++];
	*item = (struct item){.instance_id = instance_id};
	return item;
}

static void drop_gone(struct mon_live *live)
{
	uint32_t n_kept = 0;
	live->n_gone = 0;
	for (uint32_t i = 0; i < live->n_items; i++) {
		struct item *item = &live->items[i];
		if (!item->is_found || item->is_moved)
			live->gone[live->n_gone++] = item->instance_id;
		item->is_moved = false;
		if (item->is_found)
			live->items[n_kept++] = *item;
		else
			close_item(item);
	}
	live->n_items = n_kept;
}

int mon_live_refresh(struct mon_live *live, struct tele_error *ret_error)
{
	int status = tele_discover(live->has_directory ? live->directory : NULL, &live->found,
				   ret_error);
	if (status < 0)
		return status;
	for (uint32_t i = 0; i < live->n_items; i++)
		live->items[i].is_found = false;
	for (size_t i = 0; i < live->found.n_items; i++) {
		struct tele_attach *attach = live->found.items[i].attach;
		if (!attach)
			continue;
		uint64_t id = tele_attach_instance(attach)->identity.instance_id;
		struct item *item = find_item(live, id);
		if (!item)
			item = add_item(live, id);
		if (!item)
			return tele_fail(ret_error, -ENOMEM, "out of memory");
		if (item->is_found)
			continue; // a copy of a segment
		if (item->attach && item->attach != attach && !item->ring) {
			item->is_told = false;
			item->is_moved = true;
		}
		item->attach = attach;
		item->is_found = true;
		item->is_asked = false;
		if (live->follow_all)
			follow_item(item);
	}
	drop_gone(live);
	live->is_outside_asked = false;
	live->at = 0;
	return 0;
}

const uint64_t *mon_live_gone(const struct mon_live *live, uint32_t *ret_n_gone)
{
	*ret_n_gone = live->n_gone;
	return live->gone;
}

int mon_live_follow(struct mon_live *live, uint64_t instance_id, struct tele_error *ret_error)
{
	struct item *item = find_item(live, instance_id);
	if (!item)
		return tele_fail(ret_error, TELE_ENOTFOUND, "the process has gone");
	bool was_followed = item->ring != NULL;
	follow_item(item);
	live->at = 0;
	return item->ring && !was_followed;
}

bool mon_live_ring(const struct mon_live *live, uint64_t instance_id, struct tele_source **ret_source)
{
	const struct item *item = find_item(live, instance_id);
	return item && item->attach && open_ring(item, ret_source);
}

const struct tele_found_list *mon_live_found(const struct mon_live *live)
{
	return &live->found;
}
