// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the recorder remembers of each instance that it found, for as long as the
// instance's segment is there: a recording of weeks needs no more memory than
// what can be seen at a time.

#ifndef REC_FOLLOWER_H
#define REC_FOLLOWER_H

#include "../libtelemetry/source.h"
#include "thin.h"

struct rec_follower {
	uint64_t instance_id;
	uint64_t pid, start_ticks;
	bool is_wanted;
	bool is_done;	 // ended, and everything of it is written
	bool is_there;	 // its segment was found in this step
	bool may_return; // replaced by exec: another instance of it may come
	enum tele_state state; // as last noted
	uint64_t piece;	     // that the next two speak of
	size_t schema_bytes; // written
	bool has_grown;	     // by growth blocks: the whole is to be written at the end
	uint64_t n_rows;     // of blocks that no later one supersedes
	uint64_t n_provisional_rows;
	uint64_t provisional_end_seq; // of the last provisional block written
	uint64_t lost;
	struct rec_thin *thin; // or NULL
};

// All zero is an empty set.
struct rec_followers {
	struct rec_follower **items; // by instance id
	size_t n_items, capacity;
	// Of those that were let go.
	uint64_t n_processes, n_rows, lost;
};

// Finds or adds (all zero but its id). NULL: no memory. The address stays.
struct rec_follower *rec_followers_need(struct rec_followers *followers, uint64_t instance_id,
					bool *ret_is_new);

struct rec_follower *rec_followers_find(const struct rec_followers *followers, uint64_t instance_id);

// Lets those go whose segment was not there, adding them to the sums. `forget`
// (may be NULL) is told each that was wanted. One whose process goes on as
// another program stays.
void rec_followers_prune(struct rec_followers *followers,
			 void (*forget)(void *context, uint64_t instance_id), void *context);

// Whether the process of a replaced instance still runs: its next program may
// publish.
bool rec_follower_may_return(const struct rec_follower *follower);

void rec_followers_fini(struct rec_followers *followers);

#endif
