// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Prefix varints: 1 to 9 bytes, the length in the trailing zero bits of the
// first byte (1: one byte, 10: two, ... 00000000: nine), the value above them,
// little-endian. Unlike a continuation bit it is read with one load.

#ifndef TELE_VARINT_H
#define TELE_VARINT_H

#include "base.h"

#include <string.h>

#define TELE_VARINT_BYTES_MAX 9

// Writes value at out, which has 9 bytes of room whatever the length is.
// Returns the length.
static inline size_t tele_varint_put(uint8_t *out, uint64_t value)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
	unsigned len = (bits * 37 + 222) >> 8; // ceil(bits / 7) for 1..63
	if (TELE_UNLIKELY(bits > 56)) {
		out[0] = 0;
		memcpy(out + 1, &value, 8);
		return 9;
	}
	uint64_t word = ((value << 1) | 1) << (len - 1);
	memcpy(out, &word, 8);
	return len;
}

// Reads a value at bytes, of which n_bytes may be read. Returns the length, or
// 0 when the value is cut off.
static inline size_t tele_varint_get(const uint8_t *bytes, size_t n_bytes, uint64_t *ret_value)
{
	uint64_t word = 0;
	if (TELE_LIKELY(n_bytes >= 9)) {
		memcpy(&word, bytes, 8);
	} else {
		if (n_bytes == 0)
			return 0;
		memcpy(&word, bytes, n_bytes < 8 ? n_bytes : 8);
	}
	if (TELE_UNLIKELY((word & 0xff) == 0)) {
		if (n_bytes < 9)
			return 0;
		memcpy(ret_value, bytes + 1, 8);
		return 9;
	}
	unsigned len = (unsigned)__builtin_ctzll(word) + 1;
	if (len > n_bytes)
		return 0;
	*ret_value = (word >> len) & (UINT64_MAX >> (64 - 7 * len));
	return len;
}

// Small signed numbers as small unsigned ones.
static inline uint64_t tele_zigzag(uint64_t difference)
{
	return (difference << 1) ^ (0 - (difference >> 63));
}

static inline uint64_t tele_unzigzag(uint64_t code)
{
	return (code >> 1) ^ (0 - (code & 1));
}

#endif
