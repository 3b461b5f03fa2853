// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// RSS minus predicted residency, and its parts. RSS is anonymous, file and
// shared memory; the prediction speaks of the malloc's part of the anonymous
// memory. What Rollcall itself touched (its pages, and its segment, which the
// kernel counts as shared memory) is told apart, so that a reader can take it
// off. What is left after all measured parts is `other`.
//
// The prediction calls no page resident that was never touched or was given
// back. Where the malloc's mappings may have huge pages a touched page makes 511
// others resident: those the malloc itself counts, and they are no error.

#include "residency.h"

#include "../libtelemetry/banned.h"

static const struct analysis_signed unknown = {0};

// plus - less, or unknown when one of them is. Saturates.
static struct analysis_signed minus(struct analysis_signed plus, struct analysis_signed less)
{
	struct analysis_signed result = {.is_known = plus.is_known && less.is_known};
	if (!result.is_known)
		return unknown;
	if (__builtin_sub_overflow(plus.value, less.value, &result.value))
		result.value = plus.value < 0 ? INT64_MIN : INT64_MAX;
	return result;
}

static struct analysis_signed of(uint64_t value)
{
	if (value == TELE_UNKNOWN)
		return unknown;
	return (struct analysis_signed){.is_known = true,
					.value = (int64_t)tele_min_u64(value, INT64_MAX)};
}

// a - b, not below 0: a prediction is a size.
static uint64_t less_down_to_zero(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void predict(struct analysis_residency *residency, const struct analysis_books *books)
{
	residency->predicted_bytes = TELE_UNKNOWN;
	residency->predicted_floor_bytes = TELE_UNKNOWN;
	if (!books->is_known)
		return;
	residency->predicted_bytes =
		less_down_to_zero(books->mapped_bytes, books->not_resident_bytes);
	residency->predicted_floor_bytes =
		less_down_to_zero(residency->predicted_bytes, books->retained_bytes);
}

// Rollcall's own part: its pages, and as much of its segment as the shared
// memory can hold.
static void split_own(struct analysis_residency *residency, uint64_t own_pages_bytes,
		      uint64_t segment_bytes, uint64_t shmem_bytes)
{
	residency->shmem_bytes = of(shmem_bytes);
	residency->own_bytes = of(own_pages_bytes);
	if (own_pages_bytes == TELE_UNKNOWN || segment_bytes == TELE_UNKNOWN ||
	    shmem_bytes == TELE_UNKNOWN)
		return;
	struct analysis_signed mapped_segment = of(tele_min_u64(segment_bytes, shmem_bytes));
	struct analysis_signed negative = minus(of(0), mapped_segment);
	residency->shmem_bytes = minus(residency->shmem_bytes, mapped_segment);
	residency->own_bytes = minus(residency->own_bytes, negative);
}

void analysis_residency_read(const struct tele_schema *schema, const uint64_t *row,
			     uint32_t n_fields, struct analysis_residency *ret_residency)
{
	struct analysis_books books;
	analysis_books_read(schema, row, n_fields, &books);
	analysis_residency_of_books(schema, row, n_fields, &books, ret_residency);
}

void analysis_residency_of_books(const struct tele_schema *schema, const uint64_t *row,
				 uint32_t n_fields, const struct analysis_books *books,
				 struct analysis_residency *ret_residency)
{
	struct analysis_residency residency = {0};
	predict(&residency, books);

#define VALUE(id) tele_schema_value(schema, TELE_ID_##id, TELE_NO_INSTANCE, row, n_fields)
	residency.rss_bytes = VALUE(host_rss_bytes);
	residency.residual_bytes =
		analysis_difference(residency.rss_bytes, residency.predicted_bytes);
	residency.untouched_bytes = minus(of(0), of(VALUE(heap_untouched_bytes)));
	if (VALUE(heap_huge_resident_bytes) != 0)
		residency.huge_bytes = of(VALUE(heap_huge_resident_bytes));
	residency.file_bytes = of(VALUE(host_file_bytes));
	split_own(&residency, VALUE(self_resident_bytes), VALUE(self_segment_bytes),
		  VALUE(host_shmem_bytes));
	residency.other_bytes = minus(residency.residual_bytes, residency.untouched_bytes);
	residency.other_bytes = minus(residency.other_bytes, residency.file_bytes);
	residency.other_bytes = minus(residency.other_bytes, residency.shmem_bytes);
	residency.other_bytes = minus(residency.other_bytes, residency.own_bytes);
	residency.error_bytes =
		minus(analysis_difference(VALUE(heap_resident_bytes), residency.predicted_bytes),
		      residency.untouched_bytes);
	if (residency.huge_bytes.is_known) {
		residency.other_bytes = minus(residency.other_bytes, residency.huge_bytes);
		residency.error_bytes = minus(residency.error_bytes, residency.huge_bytes);
	}
#undef VALUE
	*ret_residency = residency;
}

struct analysis_signed analysis_residual_read(const struct tele_schema *schema, const uint64_t *row,
					      uint32_t n_fields)
{
	struct analysis_residency residency;
	struct analysis_books books;
	uint64_t rss_bytes = tele_schema_value(schema, TELE_ID_host_rss_bytes, TELE_NO_INSTANCE, row, n_fields);
	if (rss_bytes == TELE_UNKNOWN)
		return unknown;
	analysis_books_read(schema, row, n_fields, &books);
	predict(&residency, &books);
	return analysis_difference(rss_bytes, residency.predicted_bytes);
}
