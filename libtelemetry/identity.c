// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The 64 header words. Their places never change: a later version may add
// words, and every version keeps magic, byte order mark, version and checksum
// where they are, so that any reader can say what it is that it cannot read.

#include "identity.h"

#include "crc32c.h"

#include <string.h>

#include "banned.h"

#define CLOCK_ID_MONOTONIC 1u
#define COMM_BYTES 16

enum word {
	W_MAGIC = 0,
	W_ENDIAN = 1,
	W_VERSION = 2, // major:16 minor:16 words:32
	W_INCOMPATIBLE = 3,
	W_COMPATIBLE = 4,
	W_SEGMENT_BYTES = 5,
	W_INSTANCE = 7,
	W_BOOT_ID = 9, // two
	W_PID = 11,
	W_START_TICKS = 12,
	W_PID_NAMESPACE = 13,
	W_EUID = 14,
	W_PARENT_INSTANCE = 15,
	W_CREATED_AT = 16,
	W_CREATED_REALTIME = 17,
	W_CLOCK = 18, // clock id:32, zero:32
	W_SCHEMA_OFFSET = 19,
	W_SCHEMA_CAPACITY = 20,
	W_FIELDS_CAPACITY = 22,
	W_LATEST_OFFSET = 23,
	W_CHUNK_OFFSET = 24,
	W_CHUNK_BYTES = 25,
	W_RING_OFFSET = 26,
	W_RING_BYTES = 27,
	W_CONTROL_OFFSET = 28,
	W_BLOCK_LIMITS = 29, // bytes:32 rows:32
	W_COMM = 30,	     // two
	W_LABEL = 32,	     // sixteen
	W_SLOTS_OFFSET = 48,
	W_SLOTS = 49, // bytes:32 number:32
	W_PARENT_PID = 50,
	W_LATEST_SLOT_BYTES = 51,
	W_PERIOD = 52,
	W_CHECKSUM = 63,
};

static uint64_t pair(uint64_t low, uint64_t high)
{
	return (low & UINT32_MAX) | high << 32;
}

void tele_header_encode(const struct tele_identity *identity, const struct tele_layout *layout,
			uint64_t ret_words[TELE_HEADER_WORDS])
{
	static const struct tele_layout none;
	uint64_t *w = ret_words;
	if (!layout)
		layout = &none;
	memset(w, 0, TELE_HEADER_WORDS * sizeof(*w));
	w[W_MAGIC] = TELE_SEGMENT_MAGIC;
	w[W_ENDIAN] = TELE_ENDIAN_MARK;
	w[W_VERSION] = pair(TELE_FORMAT_MAJOR | TELE_FORMAT_MINOR << 16, TELE_HEADER_WORDS);
	w[W_COMPATIBLE] = (identity->is_observer ? TELE_COMPATIBLE_OBSERVER : 0) |
			  (identity->is_untimed ? TELE_COMPATIBLE_UNTIMED : 0);
	w[W_SEGMENT_BYTES] = layout->segment_bytes;
	w[W_INSTANCE] = identity->instance_id;
	w[W_BOOT_ID] = identity->boot_id[0];
	w[W_BOOT_ID + 1] = identity->boot_id[1];
	w[W_PID] = identity->pid;
	w[W_START_TICKS] = identity->start_ticks;
	w[W_PID_NAMESPACE] = identity->pid_namespace;
	w[W_EUID] = identity->euid;
	w[W_PARENT_INSTANCE] = identity->parent_instance_id;
	w[W_CREATED_AT] = identity->created_at_ns;
	w[W_CREATED_REALTIME] = identity->created_realtime_ns;
	w[W_CLOCK] = pair(CLOCK_ID_MONOTONIC, 0);
	w[W_SCHEMA_OFFSET] = layout->schema_offset;
	w[W_SCHEMA_CAPACITY] = layout->schema_capacity_bytes;
	w[W_FIELDS_CAPACITY] = layout->fields_capacity;
	w[W_LATEST_OFFSET] = layout->latest_offset;
	w[W_CHUNK_OFFSET] = layout->chunk_offset;
	w[W_CHUNK_BYTES] = layout->chunk_bytes;
	w[W_RING_OFFSET] = layout->ring_offset;
	w[W_RING_BYTES] = layout->ring_bytes;
	w[W_CONTROL_OFFSET] = layout->control_offset;
	w[W_BLOCK_LIMITS] = pair(layout->block_bytes_max, layout->rows_per_block);
	memcpy(&w[W_COMM], identity->comm, COMM_BYTES);
	memcpy(&w[W_LABEL], identity->label, sizeof(identity->label));
	w[W_SLOTS_OFFSET] = layout->slots_offset;
	w[W_SLOTS] = pair(layout->slot_bytes, layout->n_slots);
	w[W_PARENT_PID] = identity->parent_pid;
	w[W_LATEST_SLOT_BYTES] = layout->latest_slot_bytes;
	w[W_PERIOD] = identity->period_ns;
	w[W_CHECKSUM] = tele_crc32c(0, w, W_CHECKSUM * sizeof(*w));
}

static int check(const uint64_t *w, struct tele_error *ret_error)
{
	unsigned major = (unsigned)(w[W_VERSION] & 0xffff);
	unsigned minor = (unsigned)(w[W_VERSION] >> 16 & 0xffff);
	if (w[W_MAGIC] != TELE_SEGMENT_MAGIC)
		return tele_fail(ret_error, TELE_EMAGIC, "not a Rollcall header");
	if (w[W_ENDIAN] != TELE_ENDIAN_MARK)
		return tele_fail(ret_error, TELE_EVERSION, "header in another byte order");
	if (major != TELE_FORMAT_MAJOR)
		return tele_fail(ret_error, TELE_EVERSION,
				 "header of format %u.%u, and this is a reader of format %d.%d", major,
				 minor, TELE_FORMAT_MAJOR, TELE_FORMAT_MINOR);
	if (w[W_CHECKSUM] != tele_crc32c(0, w, W_CHECKSUM * sizeof(*w)))
		return tele_fail(ret_error, TELE_ECHECKSUM, "checksum of the header does not match");
	if (w[W_INCOMPATIBLE])
		return tele_fail(ret_error, TELE_EVERSION,
				 "header of format %u.%u needs feature bit %d, which format %d.%d lacks",
				 major, minor, __builtin_ctzll(w[W_INCOMPATIBLE]), TELE_FORMAT_MAJOR,
				 TELE_FORMAT_MINOR);
	return 0;
}

int tele_header_decode(const uint64_t words[TELE_HEADER_WORDS], struct tele_identity *ret_identity,
		       struct tele_layout *ret_layout, struct tele_error *ret_error)
{
	const uint64_t *w = words;
	int failed = check(w, ret_error);
	if (failed)
		return failed;
	*ret_identity = (struct tele_identity){
		.instance_id = w[W_INSTANCE],
		.parent_instance_id = w[W_PARENT_INSTANCE],
		.boot_id = {w[W_BOOT_ID], w[W_BOOT_ID + 1]},
		.pid = w[W_PID],
		.parent_pid = w[W_PARENT_PID],
		.start_ticks = w[W_START_TICKS],
		.pid_namespace = w[W_PID_NAMESPACE],
		.euid = w[W_EUID],
		.created_at_ns = w[W_CREATED_AT],
		.created_realtime_ns = w[W_CREATED_REALTIME],
		.period_ns = w[W_PERIOD],
		.is_observer = w[W_COMPATIBLE] & TELE_COMPATIBLE_OBSERVER,
		.is_untimed = w[W_COMPATIBLE] & TELE_COMPATIBLE_UNTIMED,
	};
	memcpy(ret_identity->comm, &w[W_COMM], COMM_BYTES);
	memcpy(ret_identity->label, &w[W_LABEL], sizeof(ret_identity->label));
	ret_identity->label[sizeof(ret_identity->label) - 1] = '\0';
	if (!ret_layout)
		return 0;
	*ret_layout = (struct tele_layout){
		.segment_bytes = w[W_SEGMENT_BYTES],
		.schema_offset = w[W_SCHEMA_OFFSET],
		.schema_capacity_bytes = w[W_SCHEMA_CAPACITY],
		.fields_capacity = w[W_FIELDS_CAPACITY],
		.latest_offset = w[W_LATEST_OFFSET],
		.latest_slot_bytes = w[W_LATEST_SLOT_BYTES],
		.chunk_offset = w[W_CHUNK_OFFSET],
		.chunk_bytes = w[W_CHUNK_BYTES],
		.ring_offset = w[W_RING_OFFSET],
		.ring_bytes = w[W_RING_BYTES],
		.control_offset = w[W_CONTROL_OFFSET],
		.block_bytes_max = w[W_BLOCK_LIMITS] & UINT32_MAX,
		.rows_per_block = w[W_BLOCK_LIMITS] >> 32,
		.slots_offset = w[W_SLOTS_OFFSET],
		.slot_bytes = w[W_SLOTS] & UINT32_MAX,
		.n_slots = w[W_SLOTS] >> 32,
	};
	return 0;
}

void tele_boot_id_parse(const char *text, uint64_t ret_id[2])
{
	unsigned digits = 0;
	ret_id[0] = ret_id[1] = 0;
	for (const char *at = text; *at && digits < 32; at++) {
		unsigned value;
		if (*at >= '0' && *at <= '9')
			value = (unsigned)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			value = (unsigned)(*at - 'a') + 10;
		else
			continue;
		ret_id[digits / 16] = ret_id[digits / 16] << 4 | value;
		digits++;
	}
}
