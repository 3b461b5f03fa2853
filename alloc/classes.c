// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The tables of size classes. A span's slack sums into nothing narrower than 32
// bits, so what limits a slot's slack is the width of its state: one byte for
// slots up to 1 KiB, two above, less the two values that mean not live.

#include "classes.h"

#include "sys.h"

#include "../libtelemetry/banned.h"

size_t alloc_page_bytes;
struct alloc_class alloc_classes[ALLOC_CLASS_COUNT];
uint16_t alloc_small_magazine[ALLOC_NARROW_BYTES / 16 + 1];
uint16_t alloc_middle_magazine[ALLOC_SLOT_BYTES_MAX / 128 + 1];

static uint32_t slot_bytes_of(uint32_t class)
{
	if (class <= 8)
		return 16 * class;
	if (class > 60)
		return 16384 + 4096 * (class - 60);
	if (class > 56)
		return 8192 + 2048 * (class - 56);
	uint32_t octave = (class - 9) / 8;
	uint32_t step = (class - 9) % 8 + 1;
	return (128u << octave) + (16u << octave) * step;
}

static uint32_t magazine_slots_of(uint32_t slot_bytes)
{
	uint32_t slots = (slot_bytes <= 1024 ? 32768 : 16384) / slot_bytes;
	return slots > 128 ? 128 : slots < 2 ? 2 : slots;
}

void alloc_classes_init(void)
{
	alloc_page_bytes = alloc_sys_page_bytes();
	for (uint32_t c = 1; c < ALLOC_CLASS_COUNT; c++) {
		struct alloc_class *class = &alloc_classes[c];
		class->slot_bytes = slot_bytes_of(c);
		// 4,095 because the counts of a word have 12 bits.
		class->n_slots = ALLOC_SPAN_BYTES / class->slot_bytes;
		if (class->n_slots > 4095)
			class->n_slots = 4095;
		class->reciprocal = (uint32_t)((((uint64_t)1 << 32) + class->slot_bytes - 1) / class->slot_bytes);
		bool narrow = class->slot_bytes <= ALLOC_NARROW_BYTES;
		class->slack_max_bytes = narrow ? 255 - ALLOC_STATE_LIVE : 65535 - ALLOC_STATE_LIVE;
		class->magazine_slots = magazine_slots_of(class->slot_bytes);
		class->states_at = (uint32_t)tele_align_up((class->n_slots + 63) / 64 * 8, 64);
		uint32_t states_bytes = class->n_slots * (narrow ? 1 : 2);
		class->table_bytes = class->states_at + (uint32_t)tele_align_up(states_bytes, 64);
	}
	uint32_t c = 1;
	for (uint32_t i = 0; i < TELE_ARRAY_LEN(alloc_small_magazine); i++) {
		while (alloc_classes[c].slot_bytes < i * 16)
			c++;
		alloc_small_magazine[i] = (uint16_t)(c * ALLOC_MAGAZINE_BYTES);
	}
	c = 1;
	for (uint32_t i = 0; i < TELE_ARRAY_LEN(alloc_middle_magazine); i++) {
		while (alloc_classes[c].slot_bytes < i * 128)
			c++;
		alloc_middle_magazine[i] = (uint16_t)(c * ALLOC_MAGAZINE_BYTES);
	}
	TELE_ASSERT(alloc_classes[ALLOC_CLASS_COUNT - 1].slot_bytes == ALLOC_SLOT_BYTES_MAX);
}

uint32_t alloc_class_aligned(size_t size_bytes, size_t align)
{
	if (size_bytes > ALLOC_SLOT_BYTES_MAX)
		return 0;
	for (uint32_t c = alloc_class_of(size_bytes); c < ALLOC_CLASS_COUNT; c++) {
		const struct alloc_class *class = &alloc_classes[c];
		if ((class->slot_bytes & (align - 1)) == 0 && class->slot_bytes - size_bytes <= class->slack_max_bytes)
			return c;
	}
	return 0;
}
