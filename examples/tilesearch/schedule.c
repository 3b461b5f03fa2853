// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The space that is searched: loop order, tile sizes, unrolling, optimisation
// level, instruction set, packing. A draw is mostly sensible, as a tuner's
// presets are, and sometimes not: a tile that does not divide the matrix, a
// footprint beyond the cache, an instruction set of some other processor, a
// 16-bit copy of B that costs too much precision. Nothing here decides by
// chance what becomes of a schedule; chance only proposes.

#include "schedule.h"

#include <stdio.h>
#include <string.h>

static const char *const orders[] = { "ijk", "ikj", "jik", "jki", "kij", "kji" };
static const char axis_names[TILE_AXES] = { 'i', 'j', 'k' };
static const uint8_t unrolls[] = { 1, 2, 4, 8 };

static const struct {
	const char *name;
	const char *flags[2];
} levels[] = {
	{ "O2s", { "-O2", "-fno-tree-vectorize" } },
	{ "O2", { "-O2", NULL } },
	{ "O2v", { "-O2", "-ftree-vectorize" } },
	{ "O3", { "-O3", NULL } },
};

static const struct {
	const char *name;
	const char *flags[2];
	unsigned lanes; // floats in a register, for the model
} isas[] = {
#if defined(__x86_64__)
	{ "v1", { "-march=x86-64", NULL }, 4 },
	{ "v2", { "-march=x86-64-v2", NULL }, 4 },
	{ "v3", { "-march=x86-64-v3", NULL }, 8 },
	{ "v4", { "-march=x86-64-v4", NULL }, 12 },
	// Multiply-adds of four operands, which few processors ever had.
	{ "fma4", { "-mavx", "-mfma4" }, 8 },
#else
	{ "base", { NULL, NULL }, 4 },
#endif
};

enum {
	N_ORDERS = sizeof(orders) / sizeof(orders[0]),
	N_UNROLLS = sizeof(unrolls) / sizeof(unrolls[0]),
	N_LEVELS = sizeof(levels) / sizeof(levels[0]),
	N_ISAS = sizeof(isas) / sizeof(isas[0]),
	TILE_LEAST = 8,
	TILE_MOST = 128,
};

static uint16_t draw_tile(struct common_random *random, unsigned n)
{
	// Round numbers, whether they fit or not.
	static const uint16_t round_tiles[] = { 10, 20, 40, 50, 80, 100 };
	uint16_t fitting[TILE_MOST];
	uint32_t n_fitting = 0;

	if (common_random_below(random, 100) < 2)
		return round_tiles[common_random_below(random, sizeof(round_tiles) / sizeof(round_tiles[0]))];
	for (unsigned tile = TILE_LEAST; tile <= TILE_MOST && tile <= n; tile++)
		if (n % tile == 0)
			fitting[n_fitting++] = (uint16_t)tile;
	return n_fitting ? fitting[common_random_below(random, n_fitting)] : (uint16_t)n;
}

static uint8_t draw_isa(struct common_random *random)
{
	if (N_ISAS == 1)
		return 0;
	if (common_random_below(random, 100) < 7)
		return N_ISAS - 1;
	return (uint8_t)common_random_below(random, N_ISAS - 1);
}

static uint8_t draw_pack(struct common_random *random)
{
	uint32_t chance = common_random_below(random, 100);
	return chance < 24 ? TILE_PACK_NONE : chance < 50 ? TILE_PACK_POOL : chance < 72 ? TILE_PACK_STACK : TILE_PACK_BF16;
}

void tile_schedule_draw(struct common_random *random, unsigned n, struct tile_schedule *ret_schedule)
{
	struct tile_schedule schedule;

	memset(&schedule, 0, sizeof(schedule));
	schedule.order = (uint8_t)common_random_below(random, N_ORDERS);
	for (int axis = 0; axis < TILE_AXES; axis++)
		schedule.tile[axis] = draw_tile(random, n);
	schedule.unroll = unrolls[common_random_below(random, N_UNROLLS)];
	schedule.level = (uint8_t)common_random_below(random, N_LEVELS);
	schedule.isa = draw_isa(random);
	schedule.pack = draw_pack(random);
	schedule.relaxed = (uint8_t)common_random_below(random, 2);
	*ret_schedule = schedule;
}

void tile_schedule_reflag(struct common_random *random, const struct tile_schedule *parent,
		struct tile_schedule *ret_schedule)
{
	struct tile_schedule schedule = *parent;

	schedule.level = (uint8_t)common_random_below(random, N_LEVELS);
	schedule.relaxed = (uint8_t)common_random_below(random, 2);
	*ret_schedule = schedule;
}

void tile_schedule_vary(struct common_random *random, const struct tile_schedule *parent, unsigned n,
		struct tile_schedule *ret_schedule)
{
	struct tile_schedule schedule = *parent;
	uint32_t changes = 1 + common_random_below(random, 2);

	while (changes-- > 0) {
		uint32_t which = common_random_below(random, 9);
		if (which < TILE_AXES)
			schedule.tile[which] = draw_tile(random, n);
		else if (which == 3)
			schedule.order = (uint8_t)common_random_below(random, N_ORDERS);
		else if (which == 4)
			schedule.unroll = unrolls[common_random_below(random, N_UNROLLS)];
		else if (which == 5)
			schedule.level = (uint8_t)common_random_below(random, N_LEVELS);
		else if (which == 6)
			schedule.isa = draw_isa(random);
		else if (which == 7)
			schedule.pack = draw_pack(random);
		else
			schedule.relaxed ^= 1;
	}
	*ret_schedule = schedule;
}

void tile_schedule_label(const struct tile_schedule *schedule, char ret_label[LABEL_BYTES])
{
	static const char *const packs[TILE_PACKS] = { "", "_pool", "_stack", "_bf16" };

	snprintf(ret_label, LABEL_BYTES, "%s_t%ux%ux%u_u%u_%s%s_%s%s", orders[schedule->order],
			schedule->tile[TILE_I], schedule->tile[TILE_J], schedule->tile[TILE_K], schedule->unroll,
			levels[schedule->level].name, schedule->relaxed ? "r" : "", isas[schedule->isa].name,
			packs[schedule->pack]);
}

static enum tile_axis axis_of(char letter)
{
	return letter == 'i' ? TILE_I : letter == 'j' ? TILE_J : TILE_K;
}

static unsigned footprint_bytes(const struct tile_schedule *schedule)
{
	unsigned i = schedule->tile[TILE_I], j = schedule->tile[TILE_J], k = schedule->tile[TILE_K];
	return (unsigned)sizeof(float) * (i * k + k * j + i * j);
}

int tile_schedule_refuse(const struct tile_schedule *schedule, unsigned n, char *ret_why, size_t why_bytes)
{
	for (int axis = 0; axis < TILE_AXES; axis++) {
		unsigned tile = schedule->tile[axis];
		if (tile > n || n % tile != 0) {
			snprintf(ret_why, why_bytes, "tile %u of %c does not divide %u", tile, axis_names[axis], n);
			return 1;
		}
	}
	unsigned unrolled = schedule->tile[axis_of(orders[schedule->order][0])];
	if (unrolled % schedule->unroll != 0) {
		snprintf(ret_why, why_bytes, "unrolling by %u does not divide tile %u", schedule->unroll, unrolled);
		return 1;
	}
	if (footprint_bytes(schedule) > TILE_CACHE_BUDGET_BYTES) {
		snprintf(ret_why, why_bytes, "tiles of %u KiB exceed the cache budget of %d KiB",
				footprint_bytes(schedule) / 1024, TILE_CACHE_BUDGET_BYTES / 1024);
		return 1;
	}
	return 0;
}

double tile_schedule_model(const struct tile_schedule *schedule)
{
	char innermost = orders[schedule->order][2];
	double lanes = isas[schedule->isa].lanes;
	double score = 1.0;

	if (innermost == 'i')
		score = 0.5;
	else if ((innermost == 'j' || schedule->relaxed) && schedule->level >= 1)
		score = lanes;
	score *= 1.0 + 0.2 * schedule->unroll;
	score *= schedule->pack == TILE_PACK_NONE ? 1.0 : 1.1;
	score *= footprint_bytes(schedule) < 48 * 1024 ? 1.0 : 0.8;
	// Long rows of the innermost loop amortise its start.
	return score * (1.0 - 4.0 / schedule->tile[axis_of(innermost)]);
}

const char *tile_schedule_order(const struct tile_schedule *schedule)
{
	return orders[schedule->order];
}

size_t tile_schedule_flags(const struct tile_schedule *schedule, const char *ret_flags[TILE_FLAGS_MAX])
{
	// Not -ffast-math: it would also change the floating-point mode of
	// whoever loads the module.
	static const char *const relaxed[] = { "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math" };
	size_t n = 0;

	for (int i = 0; i < 2; i++)
		if (levels[schedule->level].flags[i])
			ret_flags[n++] = levels[schedule->level].flags[i];
	for (int i = 0; i < 2; i++)
		if (isas[schedule->isa].flags[i])
			ret_flags[n++] = isas[schedule->isa].flags[i];
	for (size_t i = 0; schedule->relaxed && i < sizeof(relaxed) / sizeof(relaxed[0]); i++)
		ret_flags[n++] = relaxed[i];
	return n;
}

const char *tile_schedule_missing_isa(const struct tile_schedule *schedule)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	switch (schedule->isa) {
	case 0:
		return NULL;
	case 1:
		return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") ? NULL : "SSE4.2";
	case 2:
		if (!__builtin_cpu_supports("avx2"))
			return "AVX2";
		return __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") ? NULL : "FMA";
	case 3:
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
				__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
				__builtin_cpu_supports("avx512cd") ? NULL : "AVX-512";
	default:
		return __builtin_cpu_supports("fma4") ? NULL : "FMA4";
	}
#else
	(void)schedule;
	return NULL;
#endif
}
