// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// CRC-32C. On x86-64 the SSE4.2 instruction is looked for once, at run time;
// on ARM it is used where the compiler may assume it. Elsewhere eight tables
// take eight bytes at a time. The tables are filled by whoever comes first;
// whoever comes meanwhile goes bit by bit, so nobody ever waits: this runs in
// foreign processes, in forked children too.

#include "crc32c.h"

#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

#include "banned.h"

#define POLYNOMIAL 0x82f63b78u // reflected

enum { TABLE_EMPTY, TABLE_BEING_FILLED, TABLE_READY };

static uint32_t table[8][256];
static atomic_int table_state;

static uint32_t step_bits(uint32_t crc)
{
	for (int bit = 0; bit < 8; bit++)
		crc = (crc >> 1) ^ (POLYNOMIAL & (0 - (crc & 1)));
	return crc;
}

static void fill_table(void)
{
	for (uint32_t i = 0; i < 256; i++)
		table[0][i] = step_bits(i);
	for (int k = 1; k < 8; k++)
		for (uint32_t i = 0; i < 256; i++)
			table[k][i] = (table[k - 1][i] >> 8) ^ table[0][table[k - 1][i] & 0xff];
}

static bool table_is_ready(void)
{
	// Pairs with the release below.
	int state = atomic_load_explicit(&table_state, memory_order_acquire);
	if (state == TABLE_READY)
		return true;
	if (state != TABLE_EMPTY ||
	    !atomic_compare_exchange_strong(&table_state, &state, TABLE_BEING_FILLED))
		return false;
	fill_table();
	// Pairs with the acquire above.
	atomic_store_explicit(&table_state, TABLE_READY, memory_order_release);
	return true;
}

uint32_t tele_crc32c_by_table(uint32_t crc, const void *bytes, size_t n_bytes)
{
	const uint8_t *at = bytes;
	crc = ~crc;
	if (!table_is_ready()) {
		for (; n_bytes > 0; n_bytes--)
			crc = step_bits(crc ^ *at++);
		return ~crc;
	}
	for (; n_bytes >= 8; n_bytes -= 8, at += 8) {
		uint64_t word;
		memcpy(&word, at, 8);
		word ^= crc;
		crc = table[7][word & 0xff] ^ table[6][word >> 8 & 0xff] ^
		      table[5][word >> 16 & 0xff] ^ table[4][word >> 24 & 0xff] ^
		      table[3][word >> 32 & 0xff] ^ table[2][word >> 40 & 0xff] ^
		      table[1][word >> 48 & 0xff] ^ table[0][word >> 56];
	}
	for (; n_bytes > 0; n_bytes--)
		crc = (crc >> 8) ^ table[0][(crc ^ *at++) & 0xff];
	return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(uint32_t crc, const uint8_t *at,
								       size_t n_bytes)
{
	uint64_t wide = ~crc;
	for (; n_bytes >= 8; n_bytes -= 8, at += 8) {
		unsigned long long word;
		memcpy(&word, at, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	uint32_t narrow = (uint32_t)wide;
	for (; n_bytes > 0; n_bytes--)
		narrow = __builtin_ia32_crc32qi(narrow, *at++);
	return ~narrow;
}

// cpuid is slow in a virtual machine, so its answer is kept: 0 not asked yet,
// 1 absent, 2 present.
static bool has_instruction(void)
{
	static atomic_int answer;
	// No order needed: any thread finds the same.
	int known = atomic_load_explicit(&answer, memory_order_relaxed);
	if (known == 0) {
		unsigned a, b, c = 0, d;
		known = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2) ? 2 : 1;
		atomic_store_explicit(&answer, known, memory_order_relaxed);
	}
	return known == 2;
}

uint32_t tele_crc32c(uint32_t crc, const void *bytes, size_t n_bytes)
{
	if (TELE_LIKELY(has_instruction()))
		return crc_by_instruction(crc, bytes, n_bytes);
	return tele_crc32c_by_table(crc, bytes, n_bytes);
}

#elif defined(__ARM_FEATURE_CRC32)

uint32_t tele_crc32c(uint32_t crc, const void *bytes, size_t n_bytes)
{
	const uint8_t *at = bytes;
	crc = ~crc;
	for (; n_bytes >= 8; n_bytes -= 8, at += 8) {
		uint64_t word;
		memcpy(&word, at, 8);
		crc = __crc32cd(crc, word);
	}
	for (; n_bytes > 0; n_bytes--)
		crc = __crc32cb(crc, *at++);
	return ~crc;
}

#else

uint32_t tele_crc32c(uint32_t crc, const void *bytes, size_t n_bytes)
{
	return tele_crc32c_by_table(crc, bytes, n_bytes);
}

#endif
