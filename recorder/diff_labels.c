// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A table with open addressing that holds two kinds of keys: a label's hash,
// which counts how often it came, and that hash with the number mixed in, which
// is one candidate. Two labels of one hash in a million are not worth more.

#include "diff_labels.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

void rec_labels_fini(struct rec_labels *labels)
{
	free(labels->slots);
	*labels = (struct rec_labels){0};
}

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	return (value ^ value >> 29) | 1; // 0 is free
}

static uint64_t hash_of(const char *label)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *label; label++)
		hash = (hash ^ (uint8_t)*label) * UINT64_C(0x100000001b3);
	return mix(hash);
}

static struct rec_label *slot_of(const struct rec_labels *labels, uint64_t key)
{
	size_t at = key >> 1 & (labels->n_slots - 1);
	while (labels->slots[at].key && labels->slots[at].key != key)
		at = (at + 1) & (labels->n_slots - 1);
	return &labels->slots[at];
}

// Room for two more keys: 1; 0: no more than this; or -ENOMEM.
static int make_room(struct rec_labels *labels)
{
	struct rec_labels grown = {.n_slots = labels->n_slots ? 2 * labels->n_slots : 256};
	if (2 * (labels->n_used + 2) <= labels->n_slots)
		return 1;
	if (grown.n_slots > 2 * REC_LABELS_MAX) {
		labels->is_full = true;
		return 0;
	}
	grown.slots = calloc(grown.n_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < labels->n_slots; i++)
		if (labels->slots[i].key)
			*slot_of(&grown, labels->slots[i].key) = labels->slots[i];
	grown.n_used = labels->n_used;
	free(labels->slots);
	*labels = grown;
	return 1;
}

int rec_labels_add(struct rec_labels *labels, const char *label, unsigned outcome, uint64_t *ret_key)
{
	int result = make_room(labels);
	if (result <= 0)
		return result;
	uint64_t key = hash_of(label);
	struct rec_label *count = slot_of(labels, key);
	labels->n_used += count->key == 0;
	count->key = key;
	uint64_t candidate_key = mix(key + 2 * ++count->n * UINT64_C(0x100000001b3));
	struct rec_label *candidate = slot_of(labels, candidate_key);
	labels->n_used += candidate->key == 0;
	*candidate = (struct rec_label){.key = candidate_key, .outcome = outcome};
	*ret_key = candidate_key;
	return 1;
}

unsigned rec_labels_find(const struct rec_labels *labels, uint64_t key)
{
	return labels->n_slots ? slot_of(labels, key)->outcome : 0;
}
