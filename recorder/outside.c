// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Rows are kept as wide as they can become, unknown beyond the schema of their
// time, so that rows of before and after its growth make one block.

#include "outside.h"

#include "../libtelemetry/block.h"
#include "../libtelemetry/segment.h"
#include "../monitor/outside.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../libtelemetry/banned.h"

enum { ROWS_MAX = 8, STREAM_BYTES = 1024 };

struct rec_outside {
	struct mon_outside *asked;
	size_t schema_bytes; // announced,
	uint64_t piece;	     // in this piece
	uint64_t first_seq;
	uint32_t n_rows;
	uint64_t rows[ROWS_MAX][MON_OUTSIDE_FIELDS];
	size_t scratch_bytes, block_bytes;
	void *scratch;
	uint8_t *block;
};

struct rec_outside *rec_outside_new(void)
{
	struct rec_outside *outside = calloc(1, sizeof(*outside));
	if (!outside)
		return NULL;
	outside->scratch_bytes = tele_block_scratch_bytes(MON_OUTSIDE_FIELDS);
	outside->block_bytes = tele_block_bytes_max(MON_OUTSIDE_FIELDS, ROWS_MAX, 0, 0);
	outside->asked = mon_outside_new();
	outside->scratch = malloc(outside->scratch_bytes);
	outside->block = malloc(outside->block_bytes);
	if (outside->asked && outside->scratch && outside->block)
		return outside;
	rec_outside_free(outside);
	return NULL;
}

void rec_outside_free(struct rec_outside *outside)
{
	if (!outside)
		return;
	mon_outside_free(outside->asked);
	free(outside->scratch);
	free(outside->block);
	free(outside);
}

static bool is_recorded(const struct rec_followers *followers, uint64_t instance_id)
{
	for (size_t i = 0; i < followers->n_items; i++)
		if (followers->items[i]->instance_id == instance_id)
			return followers->items[i]->is_wanted && !followers->items[i]->is_done;
	return false;
}

int rec_outside_ask(struct rec_outside *outside, const struct tele_found_list *list,
		    const struct rec_followers *followers, struct rec_sink *sink,
		    struct tele_error *ret_error)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!mon_outside_begin(outside->asked, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec))
		return 0;
	for (size_t i = 0; i < list->n_items; i++) {
		struct tele_attach *attach = list->items[i].attach;
		if (attach && is_recorded(followers, tele_attach_instance(attach)->identity.instance_id))
			mon_outside_add(outside->asked, attach);
	}
	if (!mon_outside_end(outside->asked))
		return 0;
	int result = outside->n_rows == ROWS_MAX ? rec_outside_flush(outside, sink, ret_error) : 0;
	if (result < 0)
		return result;
	uint64_t seq;
	memcpy(outside->rows[outside->n_rows], mon_outside_row(outside->asked, &seq), sizeof(outside->rows[0]));
	if (outside->n_rows++ == 0)
		outside->first_seq = seq;
	return 0;
}

size_t rec_outside_bytes(const struct rec_outside *outside)
{
	size_t schema_bytes;
	(void)mon_outside_schema_bytes(outside->asked, &schema_bytes);
	uint32_t n_fields = mon_outside_plan(outside->asked)->n_fields;
	if (outside->n_rows == 0)
		return 0;
	return tele_block_bytes_max(n_fields, outside->n_rows, 0, 0) + schema_bytes + STREAM_BYTES;
}

int rec_outside_flush(struct rec_outside *outside, struct rec_sink *sink, struct tele_error *ret_error)
{
	size_t schema_bytes;
	const uint8_t *schema = mon_outside_schema_bytes(outside->asked, &schema_bytes);
	const struct tele_identity *identity = &mon_outside_instance(outside->asked)->identity;
	const struct tele_plan *plan = mon_outside_plan(outside->asked);
	if (outside->n_rows == 0)
		return 0;
	if (outside->schema_bytes != schema_bytes || outside->piece != rec_sink_piece(sink)) {
		int result = rec_sink_stream(sink, identity, schema, schema_bytes, ret_error);
		if (result < 0)
			return result;
		outside->schema_bytes = schema_bytes;
		outside->piece = rec_sink_piece(sink);
	}
	const struct tele_block_input input = {
		.instance_id = identity->instance_id,
		.plan = plan,
		.n_fields = plan->n_fields,
		.schema_bytes = (uint32_t)schema_bytes,
		.first_seq = outside->first_seq,
		.first_at_ns = outside->rows[0][0],
		.last_at_ns = outside->rows[outside->n_rows - 1][0],
		.rows = outside->rows[0],
		.row_stride = MON_OUTSIDE_FIELDS,
		.n_rows = outside->n_rows,
	};
	int64_t block_bytes = tele_block_encode(&input, outside->scratch, outside->scratch_bytes,
						outside->block, outside->block_bytes);
	TELE_ASSERT(block_bytes > 0);
	outside->n_rows = 0;
	return rec_sink_block(sink, outside->block, (size_t)block_bytes, ret_error);
}
