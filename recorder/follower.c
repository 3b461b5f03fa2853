// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The set is sorted by id, which is random, so that it is found by halves. An id
// never comes back once its segment is gone, so nothing is forgotten that could
// be asked for again.

#include "follower.h"

#include "process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

// Where the id is, or would be.
static size_t place_of(const struct rec_followers *followers, uint64_t instance_id)
{
	size_t low = 0, high = followers->n_items;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (followers->items[middle]->instance_id < instance_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct rec_follower *rec_followers_find(const struct rec_followers *followers, uint64_t instance_id)
{
	size_t at = place_of(followers, instance_id);
	bool is_found = at < followers->n_items && followers->items[at]->instance_id == instance_id;
	return is_found ? followers->items[at] : NULL;
}

struct rec_follower *rec_followers_need(struct rec_followers *followers, uint64_t instance_id,
					bool *ret_is_new)
{
	struct rec_follower *follower = rec_followers_find(followers, instance_id);
	*ret_is_new = !follower;
	if (follower)
		return follower;
	if (followers->n_items == followers->capacity) {
		size_t capacity = followers->capacity ? 2 * followers->capacity : 32;
		void *grown = realloc(followers->items, capacity * sizeof(struct rec_follower *));
		if (!grown)
			return NULL;
		followers->items = grown;
		followers->capacity = capacity;
	}
	follower = calloc(1, sizeof(*follower));
	if (!follower)
		return NULL;
	size_t at = place_of(followers, instance_id);
	memmove(followers->items + at + 1, followers->items + at,
		(followers->n_items - at) * sizeof(struct rec_follower *));
	followers->items[at] = follower;
	followers->n_items++;
	follower->instance_id = instance_id;
	return follower;
}

bool rec_follower_may_return(const struct rec_follower *follower)
{
	return follower->may_return && rec_process_is(follower->pid, follower->start_ticks);
}

static void free_follower(struct rec_follower *follower)
{
	rec_thin_free(follower->thin);
	free(follower);
}

void rec_followers_prune(struct rec_followers *followers,
			 void (*forget)(void *context, uint64_t instance_id), void *context)
{
	size_t kept = 0;
	for (size_t i = 0; i < followers->n_items; i++) {
		struct rec_follower *follower = followers->items[i];
		if (follower->is_there || rec_follower_may_return(follower)) {
			followers->items[kept++] = follower;
			continue;
		}
		if (follower->is_wanted) {
			followers->n_processes++;
			followers->n_rows += follower->n_rows + follower->n_provisional_rows;
			followers->lost += follower->lost;
			if (forget)
				forget(context, follower->instance_id);
		}
		free_follower(follower);
	}
	followers->n_items = kept;
}

void rec_followers_fini(struct rec_followers *followers)
{
	for (size_t i = 0; i < followers->n_items; i++)
		free_follower(followers->items[i]);
	free(followers->items);
	*followers = (struct rec_followers){0};
}
