// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What every block has, whatever is in it: a payload, under LZ4 where that makes
// it smaller, the header before it and the padding and checksum over it. Runs in
// foreign processes, as block_encode.c does: no allocation, LZ4's state by the
// caller.

#include "block.h"

#include "crc32c.h"
#include "error.h"

#include <errno.h>
#include <lz4.h>
#include <string.h>

#include "banned.h"

size_t tele_block_pack_state_bytes(void)
{
	return tele_align_up((size_t)LZ4_sizeofState(), 64);
}

int tele_block_pack(struct tele_block_header *header, const uint8_t *raw, size_t raw_bytes,
		    void *state, uint8_t *out, size_t capacity)
{
	if (raw_bytes > TELE_BLOCK_RAW_BYTES_MAX)
		return TELE_ELIMIT;
	// Room for the padding is part of it: the end of a block is a multiple of 8.
	size_t room = capacity < TELE_BLOCK_BYTES_MAX ? capacity : TELE_BLOCK_BYTES_MAX;
	room &= ~(size_t)7;
	if (room < TELE_BLOCK_HEADER_BYTES)
		return -ENOSPC;
	room -= TELE_BLOCK_HEADER_BYTES;
	header->raw_bytes = (uint32_t)raw_bytes;
	uint8_t *payload = out + TELE_BLOCK_HEADER_BYTES;
	size_t wanted = raw_bytes < room ? raw_bytes : room;
	int packed = raw_bytes < 2 ? 0 :
				     LZ4_compress_fast_extState(state, (const char *)raw,
								(char *)payload, (int)raw_bytes,
								(int)wanted, 1);
	if (packed > 0 && (size_t)packed < raw_bytes) {
		header->codec = TELE_CODEC_LZ4;
		header->stored_bytes = (uint32_t)packed;
		return 0;
	}
	if (raw_bytes > room)
		return capacity < TELE_BLOCK_BYTES_MAX ? -ENOSPC : TELE_ELIMIT;
	header->codec = TELE_CODEC_STORED;
	header->stored_bytes = (uint32_t)raw_bytes;
	memcpy(payload, raw, raw_bytes);
	return 0;
}

size_t tele_block_finish(struct tele_block_header *header, uint8_t *out)
{
	size_t used = TELE_BLOCK_HEADER_BYTES + (size_t)header->stored_bytes;
	size_t block_bytes = tele_align_up(used, 8);
	header->magic = TELE_BLOCK_MAGIC;
	header->checksum = 0;
	memset(out + used, 0, block_bytes - used);
	memcpy(out, header, sizeof(*header));
	header->checksum = tele_crc32c(0, out, used);
	memcpy(out, header, sizeof(*header));
	return block_bytes;
}
