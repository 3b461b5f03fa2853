// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One loop nest over tiles and one inside a tile, both in the schedule's order.
// The outermost loop inside a tile takes `unroll` steps at a time, so that the
// innermost statement stands there that often and shares its loads. The tile of
// B is packed as soon as its two coordinates are known, so an order with i
// innermost among the tiles packs it once and not once for each i.

#include "emit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct sink {
	char *text;
	size_t size_bytes;
	size_t len;
};

__attribute__((format(printf, 2, 3)))
static void put(struct sink *sink, const char *format, ...)
{
	va_list arguments;
	size_t room_bytes = sink->len < sink->size_bytes ? sink->size_bytes - sink->len : 0;

	va_start(arguments, format);
	int len = vsnprintf(room_bytes ? sink->text + sink->len : NULL, room_bytes, format, arguments);
	va_end(arguments);
	sink->len += len > 0 ? (size_t)len : 0;
}

static unsigned tile_of(const struct tile_schedule *schedule, char letter)
{
	return schedule->tile[letter == 'i' ? TILE_I : letter == 'j' ? TILE_J : TILE_K];
}

static void put_head(struct sink *sink, const struct tile_schedule *schedule, unsigned n)
{
	put(sink, "enum { N = %u, TI = %u, TJ = %u, TK = %u };\n", n, schedule->tile[TILE_I], schedule->tile[TILE_J],
			schedule->tile[TILE_K]);
	if (schedule->pack == TILE_PACK_BF16)
		put(sink, "static inline unsigned short narrow(float f)\n"
			"{ unsigned u; __builtin_memcpy(&u, &f, 4); return (unsigned short)(u >> 16); }\n"
			"static inline float widen(unsigned short h)\n"
			"{ unsigned u = (unsigned)h << 16; float f; __builtin_memcpy(&f, &u, 4); return f; }\n");
	put(sink, "void " TILE_KERNEL_NAME "(const float *restrict a, const float *restrict b,\n"
		"\tfloat *restrict c, void *restrict room)\n{\n");
	if (schedule->pack == TILE_PACK_STACK)
		put(sink, "\t(void)room;\n\tfloat panel[TK * TJ] __attribute__((aligned(64)));\n");
	else if (schedule->pack == TILE_PACK_POOL)
		put(sink, "\tfloat *restrict panel = room;\n");
	else if (schedule->pack == TILE_PACK_BF16)
		put(sink, "\tunsigned short *restrict panel = room;\n");
	else
		put(sink, "\t(void)room;\n");
	put(sink, "\tfor (long x = 0; x < (long)N * N; x++)\n\t\tc[x] = 0.0f;\n");
}

static void put_packing(struct sink *sink, const struct tile_schedule *schedule)
{
	const char *element = "b[(k0 + k) * N + j0 + j]";

	put(sink, "\tfor (long k = 0; k < TK; k++)\n\tfor (long j = 0; j < TJ; j++)\n");
	if (schedule->pack == TILE_PACK_BF16)
		put(sink, "\t\tpanel[k * TJ + j] = narrow(%s);\n", element);
	else
		put(sink, "\t\tpanel[k * TJ + j] = %s;\n", element);
}

static void put_statement(struct sink *sink, const struct tile_schedule *schedule, char unrolled, unsigned step)
{
	unsigned i = unrolled == 'i' ? step : 0, j = unrolled == 'j' ? step : 0, k = unrolled == 'k' ? step : 0;

	put(sink, "\t\tc[(i + %u) * N + j + %u] += a[(i + %u) * N + k + %u] * ", i, j, i, k);
	if (schedule->pack == TILE_PACK_NONE)
		put(sink, "b[(k + %u) * N + j + %u];\n", k, j);
	else if (schedule->pack == TILE_PACK_BF16)
		put(sink, "widen(panel[(k + %u - k0) * TJ + j + %u - j0]);\n", k, j);
	else
		put(sink, "panel[(k + %u - k0) * TJ + j + %u - j0];\n", k, j);
}

int tile_emit(const struct tile_schedule *schedule, unsigned n, char *ret_source, size_t size_bytes)
{
	struct sink sink = { .text = ret_source, .size_bytes = size_bytes };
	const char *order = tile_schedule_order(schedule);
	int coordinates_of_b = 0;

	put_head(&sink, schedule, n);
	for (int depth = 0; depth < TILE_AXES; depth++) {
		char axis = order[depth];
		put(&sink, "\tfor (long %c0 = 0; %c0 < N; %c0 += %u) {\n", axis, axis, axis, tile_of(schedule, axis));
		coordinates_of_b += axis != 'i';
		if (coordinates_of_b == 2 && axis != 'i' && schedule->pack != TILE_PACK_NONE)
			put_packing(&sink, schedule);
	}
	for (int depth = 0; depth < TILE_AXES; depth++) {
		char axis = order[depth];
		put(&sink, "\tfor (long %c = %c0; %c < %c0 + %u; %c += %u)\n", axis, axis, axis, axis,
				tile_of(schedule, axis), axis, depth == 0 ? schedule->unroll : 1u);
	}
	put(&sink, "\t{\n");
	for (unsigned step = 0; step < schedule->unroll; step++)
		put_statement(&sink, schedule, order[0], step);
	put(&sink, "\t}\n\t}}}\n}\n");
	return sink.len < size_bytes ? (int)sink.len : -EOVERFLOW;
}
