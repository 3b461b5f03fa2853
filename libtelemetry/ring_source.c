// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A live segment as a source of records. Sealed blocks come first, then what is
// open; a record that was told from the open chunk is not told again when its
// block is sealed. Between two rounds the control page is read once: that is
// where growth of the schema and changes of state are seen.

#include "attach_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

// Blocks that tell nothing new, one after the other, before the caller gets a
// word in: a writer of ours makes two of them at most.
#define ROUNDS_MAX 64

enum stage {
	STAGE_INSTANCE, // nothing told yet
	STAGE_IDLE,	// look for more
	STAGE_BLOCK,	// telling a sealed block
	STAGE_OPEN,	// telling open rows
};

struct ring_source {
	struct tele_source source;
	struct tele_attach *attach;
	enum stage stage;
	bool is_schema_told;
	bool from_now;
	enum tele_state told_state;
	uint64_t next_seq; // of the next record to tell
	uint32_t position; // in the block's sequence
	uint32_t open_row, open_event;
	uint64_t *row;
	size_t row_capacity;
	struct tele_block block;
};

static int reserve_row(struct ring_source *self, size_t n_fields)
{
	if (n_fields <= self->row_capacity)
		return 0;
	uint64_t *grown = realloc(self->row, n_fields * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	self->row = grown;
	self->row_capacity = n_fields;
	return 0;
}

static void define_strings(struct ring_source *self, const struct tele_block_string *strings,
			   uint32_t n_strings)
{
	tele_strings_forget_transient(self->attach->strings);
	for (uint32_t i = 0; i < n_strings; i++)
		tele_strings_define(self->attach->strings, strings[i].id, strings[i].text,
				    strings[i].len);
}

static void start_record(struct ring_source *self, struct tele_record *record,
			 enum tele_record_kind kind)
{
	memset(record, 0, sizeof(*record));
	record->kind = kind;
	record->instance = &self->attach->instance;
}

static int tell_gap(struct ring_source *self, struct tele_record *ret_record, uint64_t to)
{
	start_record(self, ret_record, TELE_RECORD_GAP);
	ret_record->gap_from = self->next_seq;
	ret_record->gap_to = to;
	// Counted here and not where blocks are read: what was told from the open
	// chunk is not lost when its sealed block is overwritten.
	self->attach->instance.lost += to - self->next_seq;
	self->next_seq = to;
	return 1;
}

static int tell_event(struct ring_source *self, struct tele_record *ret_record,
		      const struct tele_event *event, uint64_t seq)
{
	start_record(self, ret_record, TELE_RECORD_EVENT);
	ret_record->event = *event;
	ret_record->event.seq = seq;
	ret_record->seq = seq;
	self->next_seq = seq + 1;
	return 1;
}

static int tell_row(struct ring_source *self, struct tele_record *ret_record, const uint64_t *row,
		    uint32_t n_fields, uint64_t seq)
{
	start_record(self, ret_record, TELE_RECORD_ROW);
	ret_record->row = row;
	ret_record->n_fields = n_fields;
	ret_record->seq = seq;
	self->next_seq = seq + 1;
	return 1;
}

static int tell_from_block(struct ring_source *self, struct tele_record *ret_record)
{
	const struct tele_block_header *header = &self->block.header;
	uint32_t n_records = (uint32_t)header->n_rows + header->n_events;
	while (self->position < n_records) {
		uint64_t seq = header->first_seq + self->position;
		if (seq < self->next_seq) {
			self->position++;
			continue;
		}
		if (self->next_seq && seq > self->next_seq)
			return tell_gap(self, ret_record, seq);
		uint16_t what = self->block.sequence[self->position++];
		if (what & TELE_BLOCK_IS_EVENT)
			return tell_event(self, ret_record,
					  &self->block.events[what & ~TELE_BLOCK_IS_EVENT], seq);
		tele_block_row(&self->block, what, self->row);
		return tell_row(self, ret_record, self->row, header->n_fields, seq);
	}
	self->stage = STAGE_IDLE;
	return 0;
}

static int tell_from_open(struct ring_source *self, struct tele_record *ret_record)
{
	const struct tele_open_rows *open = &self->attach->open;
	for (;;) {
		bool has_row = self->open_row < open->n_rows;
		bool has_event = self->open_event < open->n_events;
		if (!has_row && !has_event) {
			self->stage = STAGE_IDLE;
			return 0;
		}
		uint64_t row_seq = has_row ? open->row_seqs[self->open_row] : UINT64_MAX;
		uint64_t event_seq = has_event ? open->events[self->open_event].seq : UINT64_MAX;
		uint64_t seq = tele_min_u64(row_seq, event_seq);
		if (self->next_seq && seq > self->next_seq)
			return tell_gap(self, ret_record, seq);
		bool is_event = event_seq < row_seq;
		uint32_t index = is_event ? self->open_event++ : self->open_row++;
		if (seq < self->next_seq)
			continue;
		if (is_event)
			return tell_event(self, ret_record, &open->events[index], seq);
		return tell_row(self, ret_record, open->rows + (size_t)index * open->n_fields,
				open->n_fields, seq);
	}
}

// Where a source starts that shall tell the latest row only: what is open is
// read, and everything before its last row counts as told.
static int skip_history(struct ring_source *self, struct tele_error *ret_error)
{
	struct tele_attach *attach = self->attach;
	const struct tele_open_rows *open = &attach->open;
	int found = tele_attach_read_open(attach, ret_error);
	if (found <= 0)
		return found;
	if (open->n_rows == 0)
		return 0; // just sealed: the history is told after all
	self->next_seq = open->row_seqs[open->n_rows - 1];
	attach->next_seq = open->first_seq;
	return 0;
}

// Finds something to tell. 1 when a stage other than idle was entered.
static int look_for_more(struct ring_source *self, struct tele_error *ret_error)
{
	size_t block_bytes;
	struct tele_attach *attach = self->attach;
	for (int tries = 0; tries < 3; tries++) {
		int found = tele_attach_next_sealed(attach, &block_bytes, ret_error);
		if (found < 0)
			return found;
		if (found) {
			int failed = tele_block_decode(&self->block, attach->instance.schema->plan,
						       attach->block, block_bytes);
			if (!failed)
				failed = reserve_row(self, self->block.header.n_fields);
			if (failed == -ENOMEM)
				return tele_fail(ret_error, failed, "no memory");
			if (failed)
				continue; // foreign damage: its records become a gap
			define_strings(self, self->block.strings, self->block.header.n_strings);
			self->position = 0;
			self->stage = STAGE_BLOCK;
			return 1;
		}
		found = tele_attach_read_open(attach, ret_error);
		if (found <= 0)
			return found;
		const struct tele_open_rows *open = &attach->open;
		uint64_t end = open->first_seq + open->n_rows + open->n_events;
		if (end <= self->next_seq || end == open->first_seq)
			return 0;
		bool is_sealed_since = self->next_seq && open->first_seq > self->next_seq;
		if (is_sealed_since && tries < 2)
			continue;
		define_strings(self, open->strings, open->n_strings);
		self->open_row = self->open_event = 0;
		self->stage = STAGE_OPEN;
		return 1;
	}
	return 0;
}

static int tell_changes(struct ring_source *self, struct tele_record *ret_record,
			struct tele_error *ret_error)
{
	int grown = tele_attach_refresh(self->attach, ret_error);
	if (grown < 0)
		return grown;
	if (grown || !self->is_schema_told) {
		self->is_schema_told = true;
		start_record(self, ret_record, TELE_RECORD_SCHEMA);
		return 1;
	}
	return 0;
}

static int ring_next(struct tele_source *source, struct tele_record *ret_record,
		     struct tele_error *ret_error)
{
	struct ring_source *self = (struct ring_source *)source;
	if (self->stage == STAGE_INSTANCE) {
		self->stage = STAGE_IDLE;
		self->told_state = self->attach->instance.state;
		start_record(self, ret_record, TELE_RECORD_INSTANCE);
		return 1;
	}
	for (int round = 0; round < ROUNDS_MAX; round++) {
		int told = 0;
		if (self->stage == STAGE_BLOCK)
			told = tell_from_block(self, ret_record);
		else if (self->stage == STAGE_OPEN)
			told = tell_from_open(self, ret_record);
		if (told)
			return told;
		told = tell_changes(self, ret_record, ret_error);
		if (told)
			return told;
		if (self->from_now) {
			self->from_now = false;
			told = skip_history(self, ret_error);
			if (told < 0)
				return told;
		}
		size_t schema_before = self->attach->pooled->n_bytes;
		told = look_for_more(self, ret_error);
		if (told < 0)
			return told;
		if (self->attach->pooled->n_bytes != schema_before) {
			// Grown while looking: to be told before its rows.
			start_record(self, ret_record, TELE_RECORD_SCHEMA);
			return 1;
		}
		if (told)
			continue;
		if (self->told_state != self->attach->instance.state) {
			self->told_state = self->attach->instance.state;
			start_record(self, ret_record, TELE_RECORD_STATE);
			return 1;
		}
		return 0;
	}
	return 0;
}

bool tele_ring_source_trim(struct tele_source *source)
{
	struct ring_source *self = (struct ring_source *)source;
	struct tele_attach *attach = self->attach;
	if (self->stage == STAGE_BLOCK || self->stage == STAGE_OPEN)
		return false;
	tele_block_free(&self->block);
	tele_open_rows_free(&attach->open);
	free(attach->block);
	attach->block = NULL;
	attach->block_capacity_bytes = 0;
	return true;
}

static void ring_close(struct tele_source *source)
{
	struct ring_source *self = (struct ring_source *)source;
	tele_attach_close(self->attach);
	tele_block_free(&self->block);
	free(self->row);
	free(self);
}

int tele_ring_source_open(struct tele_attach *attach, bool from_now,
			  struct tele_source **ret_source, struct tele_error *ret_error)
{
	static const struct tele_source_ops ops = {.next = ring_next, .close = ring_close};
	struct ring_source *self = calloc(1, sizeof(*self));
	if (!self)
		return tele_fail(ret_error, -ENOMEM, "no memory");
	self->source.ops = &ops;
	self->source.is_live = true;
	self->attach = attach;
	self->from_now = from_now;
	self->stage = STAGE_INSTANCE;
	self->next_seq = attach->next_seq;
	*ret_source = &self->source;
	return 0;
}
