// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Which fields are buckets, and which of them are resident, is said by the
// schema a row comes with and by nothing else. The numbers are another
// process's and may be anything, so differences are taken as a magnitude and
// a direction, and saturate instead of wrapping.

#include "books.h"

#include "../libtelemetry/banned.h"

static void add_known(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum) || *sum == TELE_UNKNOWN)
		*sum = TELE_UNKNOWN - 1;
}

static void read_bucket(struct analysis_books *books, const struct tele_field *field,
			uint64_t value, struct analysis_wide *accounted)
{
	if (field->bucket < TELE_BUCKET_COUNT) {
		uint64_t *bucket_bytes = &books->bucket_bytes[field->bucket];
		if (*bucket_bytes == TELE_UNKNOWN)
			*bucket_bytes = 0;
		add_known(bucket_bytes, value);
	} else {
		add_known(&books->unnamed_bytes, value);
	}
	analysis_wide_add(accounted, value, 1);
	if (field->resident == TELE_RESIDENT_NO)
		add_known(&books->not_resident_bytes, value);
	else if (field->resident == TELE_RESIDENT_RETAINED)
		add_known(&books->retained_bytes, value);
}

void analysis_books_read(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
			 struct analysis_books *ret_books)
{
	struct analysis_books books = {.mapped_bytes = TELE_UNKNOWN};
	struct analysis_wide accounted = {0};
	bool has_unknown = false;
	for (unsigned i = 0; i < TELE_BUCKET_COUNT; i++)
		books.bucket_bytes[i] = TELE_UNKNOWN;
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		if (field->bucket == TELE_BUCKET_NONE || field->kind == TELE_RETIRED)
			continue;
		uint64_t value = i < n_fields ? row[i] : TELE_UNKNOWN;
		if (field->bucket == TELE_BUCKET_TOTAL)
			books.mapped_bytes = value;
		else if (value == TELE_UNKNOWN)
			has_unknown = true;
		else
			read_bucket(&books, field, value, &accounted);
	}
	books.is_known = books.mapped_bytes != TELE_UNKNOWN && !has_unknown;
	if (books.is_known) {
		struct analysis_wide off = {0};
		analysis_wide_add(&off, books.mapped_bytes, 1);
		analysis_wide_add_wide(&off, &accounted, -1);
		books.unexplained_bytes.is_known = true;
		books.unexplained_bytes.value = analysis_wide_to_i64(&off);
		books.is_balanced = books.unexplained_bytes.value == 0;
	}
	*ret_books = books;
}

unsigned analysis_bucket_residency(const struct tele_schema *schema, unsigned bucket)
{
	for (uint32_t i = 0; i < schema->n_fields; i++)
		if (schema->fields[i].bucket == bucket)
			return schema->fields[i].resident;
	return TELE_RESIDENT_NO;
}

// Whether invariant `number` can be judged on this row; ret_off is by how much
// its target differs.
static bool judge(const struct tele_plan_invariant *invariant, const uint64_t *row,
		  uint32_t n_fields, int64_t *ret_off)
{
	struct analysis_wide off = {0};
	if (invariant->target >= n_fields || row[invariant->target] == TELE_UNKNOWN)
		return false;
	analysis_wide_add(&off, row[invariant->target], 1);
	for (uint32_t i = 0; i < invariant->n_terms; i++) {
		uint32_t index = invariant->terms[i].index;
		if (index >= n_fields || row[index] == TELE_UNKNOWN)
			return false;
		analysis_wide_add(&off, row[index], -invariant->terms[i].sign);
	}
	*ret_off = analysis_wide_to_i64(&off);
	return true;
}

uint32_t analysis_invariants_check(const struct tele_schema *schema, const uint64_t *row,
				   uint32_t n_fields, struct analysis_broken *ret_broken,
				   uint32_t capacity)
{
	uint32_t n_broken = 0;
	for (uint32_t i = 0; i < schema->plan->n_invariants; i++) {
		const struct tele_plan_invariant *invariant = &schema->plan->invariants[i];
		int64_t off;
		if (!judge(invariant, row, n_fields, &off) || off == 0)
			continue;
		if (n_broken < capacity)
			ret_broken[n_broken] =
				(struct analysis_broken){.target = invariant->target, .off = off};
		n_broken++;
	}
	return n_broken;
}
