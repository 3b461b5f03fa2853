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
uint16_t alloc_magazine_at[ALLOC_SLOT_BYTES_MAX / 16 + 1];

// Eight an octave, four beyond 8 KiB; and a page or half a page with a header
// (1040, 2112, 4368), which would waste most, and which divide a span with next
// to no rest. Each is a multiple of its distance to the one below or ends that
// far into a page: so the last byte of a block lies on the last page of its slot.
static const uint16_t slot_bytes_of[ALLOC_CLASS_COUNT] = {
	0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384,
	416, 448, 480, 512, 576, 640, 704, 768, 832, 896, 960, 1024, 1040, 1152, 1280, 1408, 1536, 1664,
	1792, 1920, 2048, 2112, 2304, 2560, 2816, 3072, 3328, 3584, 3840, 4096, 4368, 4608, 5120, 5632,
	6144, 6656, 7168, 7680, 8192, 10240, 12288, 14336, 16384, 20480, 24576, 28672, 32768,
};

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
		class->slot_bytes = slot_bytes_of[c];
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
	for (uint32_t i = 0; i < TELE_ARRAY_LEN(alloc_magazine_at); i++) {
		while (alloc_classes[c].slot_bytes < i * 16)
			c++;
		alloc_magazine_at[i] = (uint16_t)(c * ALLOC_MAGAZINE_BYTES);
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
