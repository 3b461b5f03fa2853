// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Size classes: 16 bytes apart up to 128, then eight an octave up to 8 KiB, four
// up to 32 KiB. A written block leaves no page of its slot untouched. The tables
// are filled once by alloc_classes_init; until then every size maps to class 0,
// whose magazines are always empty.

#ifndef ALLOC_CLASSES_H
#define ALLOC_CLASSES_H

#include "words.h"

#define ALLOC_NARROW_BYTES 1024u // slots up to this size keep their slack in one byte
#define ALLOC_SLOT_BYTES_MAX 32768u

struct alloc_class {
	uint32_t slot_bytes;
	uint32_t n_slots;
	uint32_t reciprocal;	 // 2^32 / slot_bytes, rounded up; see alloc_slot_of
	uint32_t slack_max_bytes; // the most a slot of the class can remember
	uint32_t magazine_slots; // how many free slots a thread keeps
	uint32_t table_bytes;	 // bits for foreign frees, then one state a slot
	uint32_t states_at;	 // where in the table the states begin
};

// The kernel's page size; set by alloc_classes_init.
extern size_t alloc_page_bytes;

extern struct alloc_class alloc_classes[ALLOC_CLASS_COUNT];

// By size in steps of 16 bytes: the class times the size of a magazine, which is
// where a heap has the magazine of the class.
#define ALLOC_MAGAZINE_BYTES 32u
extern uint16_t alloc_magazine_at[ALLOC_SLOT_BYTES_MAX / 16 + 1];

// Fills the tables. Called once, before any other thread allocates.
void alloc_classes_init(void);

// The class of a request of at most ALLOC_SLOT_BYTES_MAX.
static inline uint32_t alloc_class_of(size_t size_bytes)
{
	return alloc_magazine_at[(size_bytes + 15) >> 4] / ALLOC_MAGAZINE_BYTES;
}

// The first class whose slots are multiples of `align` (a power of two) and can
// remember the slack of such a request; 0 when none is.
uint32_t alloc_class_aligned(size_t size_bytes, size_t align);

#endif
