// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The labels a thread has pushed. The stack is the thread's own, so nothing is
// shared and nothing is locked but for the owner's look-up. Pushes beyond its
// depth are only counted, so that each needs its pop and the labels below come
// back in order.

#include "census.h"

#include <errno.h>

#include "../libtelemetry/publish/publisher.h"

#include "../libtelemetry/banned.h"

static _Thread_local struct {
	uint32_t depth; // pushes minus pops, those without a place included
	struct census_tag tags[CENSUS_STACK_DEEP];
} stack;

struct census_tag census_tag_pushed(void)
{
	if (TELE_LIKELY(stack.depth == 0))
		return (struct census_tag){0};
	uint32_t top = stack.depth < CENSUS_STACK_DEEP ? stack.depth : CENSUS_STACK_DEEP;
	return stack.tags[top - 1];
}

int rollcall_label_push(enum rollcall_label label, uint64_t owner)
{
	tele_publisher_touch();
	struct census_tag tag = {.label = (uint32_t)label};
	int rc = 0;
	if ((unsigned)label >= CENSUS_LABELS) {
		tag.label = ROLLCALL_UNLABELLED;
		rc = -EINVAL;
	}
	if (owner) {
		if (census_owner_find(owner, &tag.owner_index))
			tag.owner_id = owner;
		else
			rc = -ENOENT;
	}
	if (stack.depth >= CENSUS_STACK_DEEP)
		rc = -EOVERFLOW;
	else
		stack.tags[stack.depth] = tag;
	if (stack.depth < UINT32_MAX)
		stack.depth++;
	if (rc < 0)
		tele_count_refused();
	return rc;
}

int rollcall_label_pop(void)
{
	tele_publisher_touch();
	if (stack.depth == 0)
		return -EINVAL;
	stack.depth--;
	return 0;
}
