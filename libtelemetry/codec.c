// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The row codec. A row is a mask of groups of eight fields that differ from
// their prediction, one byte for each such group that says which fields do, and
// a varint for each of those fields: plain fields in order first, then the few
// special ones (time, offsets, derived) in the plan's order, so that whatever a
// special field is predicted from has been decoded before it. A field that was
// known codes 0 for "unknown now"; one that was unknown codes its difference to
// the last known value, which may be 0.

#include "codec.h"

#include "error.h"
#include "varint.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "banned.h"

void tele_codec_init(struct tele_codec *codec, const struct tele_plan *plan, uint32_t n_fields,
		     uint64_t *words)
{
	TELE_ASSERT(n_fields <= plan->n_fields);
	codec->plan = plan;
	codec->n_fields = n_fields;
#if defined(__x86_64__)
	__builtin_cpu_init();
	codec->is_wide = __builtin_cpu_supports("avx2") != 0;
#else
	codec->is_wide = false;
#endif
	codec->last = words;
	codec->base = words + n_fields;
	codec->step = words + 2 * (size_t)n_fields;
	memset(codec->last, 0xff, n_fields * sizeof(uint64_t));
	memset(codec->base, 0, 2 * (size_t)n_fields * sizeof(uint64_t));
	codec->n_special = codec->n_predicted = 0;
	for (uint32_t k = 0; k < plan->n_special; k++) {
		uint16_t index = plan->special[k];
		if (index >= n_fields)
			continue;
		codec->special[codec->n_special++] = index;
		codec->n_predicted += plan->fields[index].predictor != TELE_PREDICT_DERIVED;
	}
}

// The prediction for a special field, given what is known of this row already.
static inline uint64_t predict_special(const struct tele_codec *codec, uint32_t index, const uint64_t *row)
{
	const struct tele_plan_field *field = &codec->plan->fields[index];
	uint64_t base = codec->base[index];
	if (field->predictor == TELE_PREDICT_DOD)
		return base + codec->step[index];
	if (field->predictor == TELE_PREDICT_OFFSET) {
		uint64_t reference = row[field->reference];
		return reference == TELE_UNKNOWN ? base : base + reference - codec->base[field->reference];
	}
	const struct tele_plan_invariant *invariant = &codec->plan->invariants[field->invariant];
	if (invariant->highest >= codec->n_fields)
		return base;
	uint64_t sum = tele_plan_derive(codec->plan, field->invariant, row);
	return sum == TELE_UNKNOWN ? base : sum;
}

// Differences are taken of values without the low bits that are always zero.
static inline uint64_t code_of(uint64_t value, uint64_t predicted, unsigned shift)
{
	return tele_zigzag((value >> shift) - (predicted >> shift));
}

static inline uint64_t value_of(uint64_t code, uint64_t predicted, unsigned shift)
{
	return ((predicted >> shift) + tele_unzigzag(code)) << shift;
}

// Whether a special field has to be coded; *ret_predicted is set where it may
// be needed.
static bool special_differs(const struct tele_codec *codec, uint32_t index, const uint64_t *row,
			    uint64_t *ret_predicted)
{
	uint64_t value = row[index];
	uint64_t last = codec->last[index];
	*ret_predicted = 0;
	if (value == TELE_UNKNOWN)
		return last != TELE_UNKNOWN;
	*ret_predicted = predict_special(codec, index, row);
	return last == TELE_UNKNOWN || value != *ret_predicted;
}

static inline size_t put_value(uint8_t *out, uint64_t value, uint64_t predicted, unsigned shift)
{
	return tele_varint_put(out, value == TELE_UNKNOWN ? 0 : code_of(value, predicted, shift));
}

// Notes a special field's new value, whether it was coded or predicted.
static inline void learn_special(struct tele_codec *codec, uint32_t index, uint64_t value)
{
	codec->last[index] = value;
	if (value != TELE_UNKNOWN) {
		// The first known value has no difference to learn from.
		codec->step[index] = codec->base[index] ? value - codec->base[index] : 0;
		codec->base[index] = value;
	}
}

// Which fields differ, a bit each, in groups of eight. Two at a time; returns the
// number of groups that it did.
#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint32_t compare_wide(const uint64_t *row, const uint64_t *last,
							     uint32_t n_full, uint8_t *ret_groups)
{
	uint32_t g = 0;
	const __m256i *x = (const __m256i *)(const void *)row;
	const __m256i *y = (const __m256i *)(const void *)last;
#define EQUAL_FOUR(i) \
	((unsigned)_mm256_movemask_pd(_mm256_castsi256_pd( \
		 _mm256_cmpeq_epi64(_mm256_loadu_si256(x + (i)), _mm256_loadu_si256(y + (i))))) \
	 << (4 * (i)))
	for (; g + 2 <= n_full; g += 2, x += 4, y += 4) {
		uint16_t differ = (uint16_t)~(EQUAL_FOUR(0) | EQUAL_FOUR(1) | EQUAL_FOUR(2) | EQUAL_FOUR(3));
		memcpy(ret_groups + g, &differ, sizeof(differ));
	}
#undef EQUAL_FOUR
	return g;
}

// Of four fields, 32 bits of all ones for each that is equal: both its halves are.
static inline __m128i equal_four(const __m128i *x, const __m128i *y)
{
	__m128 a = _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_loadu_si128(x), _mm_loadu_si128(y)));
	__m128 b = _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_loadu_si128(x + 1), _mm_loadu_si128(y + 1)));
	return _mm_castps_si128(_mm_and_ps(_mm_shuffle_ps(a, b, 0x88), _mm_shuffle_ps(a, b, 0xdd)));
}

// Of eight, 16 bits each.
static inline __m128i equal_eight(const uint64_t *a, const uint64_t *b)
{
	const __m128i *x = (const __m128i *)(const void *)a;
	const __m128i *y = (const __m128i *)(const void *)b;
	return _mm_packs_epi32(equal_four(x, y), equal_four(x + 2, y + 2));
}

static inline uint32_t compare_full(const uint64_t *row, const uint64_t *last, uint32_t n_full,
				    uint8_t *ret_groups)
{
	uint32_t g = 0;
	for (; g + 2 <= n_full; g += 2, row += 16, last += 16) {
		__m128i equal = _mm_packs_epi16(equal_eight(row, last), equal_eight(row + 8, last + 8));
		uint16_t differ = (uint16_t)~_mm_movemask_epi8(equal);
		memcpy(ret_groups + g, &differ, sizeof(differ));
	}
	return g;
}
#else
static inline uint32_t compare_full(const uint64_t *row, const uint64_t *last, uint32_t n_full,
				    uint8_t *ret_groups)
{
	for (uint32_t g = 0; g < n_full; g++, row += 8, last += 8) {
		unsigned mask = 0;
		for (unsigned i = 0; i < 8; i++)
			mask |= (unsigned)(row[i] != last[i]) << i;
		ret_groups[g] = (uint8_t)mask;
	}
	return n_full;
}
#endif

static inline void compare_rows(const struct tele_codec *codec, const uint64_t *row, uint8_t *ret_groups)
{
	const uint64_t *last = codec->last;
	uint32_t n_fields = codec->n_fields;
#if defined(__x86_64__)
	uint32_t g = codec->is_wide ? compare_wide(row, last, n_fields / 8, ret_groups) :
				      compare_full(row, last, n_fields / 8, ret_groups);
#else
	uint32_t g = compare_full(row, last, n_fields / 8, ret_groups);
#endif
	for (; g * 8 < n_fields; g++) {
		unsigned mask = 0;
		for (uint32_t i = g * 8; i < n_fields && i < g * 8 + 8; i++)
			mask |= (unsigned)(row[i] != last[i]) << (i % 8);
		ret_groups[g] = (uint8_t)mask;
	}
}

// Which of the n groups (up to 64) are not empty, a bit each. Reads up to the
// next multiple of sixteen.
static inline uint64_t filled_groups(const uint8_t *groups, uint32_t n)
{
	uint64_t mask = 0;
#if defined(__x86_64__)
	for (uint32_t g = 0; g < n; g += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(groups + g));
		unsigned empty = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
		mask |= (uint64_t)(uint16_t)~empty << g;
	}
#else
	for (uint32_t g = 0; g < n; g++)
		mask |= (uint64_t)(groups[g] != 0) << g;
#endif
	return n == 64 ? mask : mask & ((UINT64_C(1) << n) - 1);
}

// Writes the mask of groups and the groups that are not empty; ret_masks gets
// the mask by words.
static inline size_t put_groups(uint8_t *out, const uint8_t *groups, uint32_t n_groups, uint64_t *ret_masks)
{
	size_t mask_bytes = (n_groups + 7) / 8;
	size_t used = mask_bytes;
	for (uint32_t first = 0; first < n_groups; first += 64) {
		uint32_t n = n_groups - first < 64 ? n_groups - first : 64;
		uint64_t mask = filled_groups(groups + first, n);
		ret_masks[first / 64] = mask;
		for (uint32_t g = 0; g < n; g += 8)
			out[(first + g) / 8] = (uint8_t)(mask >> g);
		for (; mask; mask &= mask - 1)
			out[used++] = groups[first + (unsigned)__builtin_ctzll(mask)];
	}
	return used;
}

// Writes the changed plain fields of the groups of one word of the mask.
static inline size_t put_plain(struct tele_codec *codec, const uint64_t *row, const uint8_t *groups,
			       uint32_t first_group, uint64_t group_mask, uint8_t *out)
{
	const struct tele_plan *plan = codec->plan;
	size_t used = 0;
	for (; group_mask; group_mask &= group_mask - 1) {
		uint32_t g = first_group + (unsigned)__builtin_ctzll(group_mask);
		unsigned mask = groups[g] & (unsigned)(uint8_t)~plan->special_mask[g];
		for (; mask; mask &= mask - 1) {
			uint32_t index = g * 8 + (unsigned)__builtin_ctz(mask);
			uint64_t value = row[index];
			used += put_value(out + used, value, codec->base[index],
					  plan->fields[index].shift);
			codec->last[index] = value;
			if (value != TELE_UNKNOWN)
				codec->base[index] = value;
		}
	}
	return used;
}

// Whether none of the terms differs from the row before.
static inline bool is_settled(const struct tele_codec *codec, const struct tele_plan_invariant *invariant,
			      const uint8_t *groups)
{
	uint64_t differ;
	memcpy(&differ, groups + invariant->first_group, sizeof(differ));
	return invariant->terms_mask && invariant->highest < codec->n_fields && !(differ & invariant->terms_mask);
}

// Codes the special field where it differs from its prediction, and sets its bit
// in `groups` accordingly. Returns the bytes written.
static inline size_t put_special(const struct tele_codec *codec, uint32_t index, const uint64_t *row,
				 uint8_t *groups, uint8_t *out)
{
	uint64_t predicted;
	unsigned bit = 1u << (index % 8);
	if (!special_differs(codec, index, row, &predicted)) {
		groups[index / 8] &= (uint8_t)~bit;
		return 0;
	}
	groups[index / 8] |= (uint8_t)bit;
	return put_value(out, row[index], predicted, codec->plan->fields[index].shift);
}

// The same of a derived one, which nothing is predicted from. Most of the time
// neither it nor a term has changed, and the sum need not be taken.
static inline size_t put_derived(struct tele_codec *codec, uint32_t index, const uint64_t *row,
				 uint8_t *groups, uint8_t *out)
{
	const struct tele_plan *plan = codec->plan;
	bool has_changed = groups[index / 8] >> (index % 8) & 1;
	if (!has_changed && codec->step[index] &&
	    is_settled(codec, &plan->invariants[plan->fields[index].invariant], groups))
		return 0;
	size_t used = put_special(codec, index, row, groups, out);
	codec->step[index] = used == 0 && row[index] != TELE_UNKNOWN;
	codec->last[index] = row[index];
	if (row[index] != TELE_UNKNOWN)
		codec->base[index] = row[index];
	return used;
}

size_t tele_codec_encode(struct tele_codec *codec, const uint64_t *row, uint8_t *out)
{
	const uint32_t n_groups = (codec->n_fields + 7) / 8;
	uint8_t groups[TELE_FIELDS_MAX / 8 + 8];
	uint64_t masks[TELE_FIELDS_MAX / 8 / 64];
	uint8_t special_codes[9 * TELE_SPECIAL_MAX + 8];
	size_t special_bytes = 0;

	compare_rows(codec, row, groups);
	uint32_t k = 0;
	for (; k < codec->n_predicted; k++)
		special_bytes += put_special(codec, codec->special[k], row, groups, special_codes + special_bytes);
	for (; k < codec->n_special; k++)
		special_bytes += put_derived(codec, codec->special[k], row, groups, special_codes + special_bytes);
	size_t used = put_groups(out, groups, n_groups, masks);
	for (uint32_t first = 0; first < n_groups; first += 64)
		used += put_plain(codec, row, groups, first, masks[first / 64], out + used);
	for (size_t at = 0; at < special_bytes; at += 8) // few: no call
		memcpy(out + used + at, special_codes + at, 8);
	for (k = 0; k < codec->n_predicted; k++)
		learn_special(codec, codec->special[k], row[codec->special[k]]);
	return used + special_bytes;
}

// Reads one coded value. 0 where it is cut off or cannot be.
static size_t get_value(const struct tele_codec *codec, uint32_t index, uint64_t predicted,
			const uint8_t *bytes, size_t n_bytes, uint64_t *ret_value)
{
	uint64_t code;
	size_t len = tele_varint_get(bytes, n_bytes, &code);
	if (len == 0)
		return 0;
	if (code == 0 && codec->last[index] != TELE_UNKNOWN)
		*ret_value = TELE_UNKNOWN;
	else
		*ret_value = value_of(code, predicted, codec->plan->fields[index].shift);
	return len;
}

// Reads the masks. Returns the bytes used, or 0 where they are cut off or name
// a field beyond the row.
static size_t get_groups(const uint8_t *bytes, size_t n_bytes, uint32_t n_fields, uint8_t *ret_groups)
{
	uint32_t n_groups = (n_fields + 7) / 8;
	size_t used = (n_groups + 7) / 8;
	if (used > n_bytes)
		return 0;
	if (n_groups % 8 && bytes[used - 1] >> (n_groups % 8))
		return 0;
	for (uint32_t g = 0; g < n_groups; g++) {
		ret_groups[g] = 0;
		if (!(bytes[g / 8] >> (g % 8) & 1))
			continue;
		if (used >= n_bytes)
			return 0;
		ret_groups[g] = bytes[used++];
	}
	if (n_fields % 8 && ret_groups[n_groups - 1] >> (n_fields % 8))
		return 0;
	return used;
}

int64_t tele_codec_decode(struct tele_codec *codec, const uint8_t *bytes, size_t n_bytes,
			  uint64_t *ret_row)
{
	const struct tele_plan *plan = codec->plan;
	const uint32_t n_fields = codec->n_fields;
	const uint32_t n_groups = (n_fields + 7) / 8;
	uint8_t groups[TELE_FIELDS_MAX / 8];
	size_t used = get_groups(bytes, n_bytes, n_fields, groups);

	if (used == 0)
		return TELE_EDAMAGED;
	memcpy(ret_row, codec->last, n_fields * sizeof(*ret_row));
	for (uint32_t g = 0; g < n_groups; g++) {
		unsigned mask = groups[g] & (unsigned)(uint8_t)~plan->special_mask[g];
		for (; mask; mask &= mask - 1) {
			uint32_t index = g * 8 + (unsigned)__builtin_ctz(mask);
			size_t len = get_value(codec, index, codec->base[index], bytes + used,
					       n_bytes - used, &ret_row[index]);
			if (len == 0)
				return TELE_EDAMAGED;
			used += len;
			codec->last[index] = ret_row[index];
			if (ret_row[index] != TELE_UNKNOWN)
				codec->base[index] = ret_row[index];
		}
	}
	for (uint32_t k = 0; k < codec->n_special; k++) {
		uint32_t index = codec->special[k];
		bool is_coded = groups[index / 8] >> (index % 8) & 1;
		if (is_coded) {
			size_t len = get_value(codec, index, predict_special(codec, index, ret_row),
					       bytes + used, n_bytes - used, &ret_row[index]);
			if (len == 0)
				return TELE_EDAMAGED;
			used += len;
		} else if (codec->last[index] != TELE_UNKNOWN) {
			ret_row[index] = predict_special(codec, index, ret_row);
		}
	}
	for (uint32_t k = 0; k < codec->n_special; k++)
		learn_special(codec, codec->special[k], ret_row[codec->special[k]]);
	return (int64_t)used;
}
