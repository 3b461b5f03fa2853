// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A block being made: rows of one width, events, and the texts that they use. It
// is sealed when any of them is full, or the rows become wider. A row that is
// not kept is remembered until the next one, since the last of all is kept.

#include "thin.h"

#include "../libtelemetry/block.h"
#include "../libtelemetry/segment.h"
#include "../libtelemetry/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

enum { TEXTS_BYTES = TELE_BLOCK_STRINGS_MAX * (TELE_STRING_BYTES_MAX + 1) };

struct rec_thin {
	uint64_t instance_id, every_ns;
	rec_emit_fn emit;
	void *context;
	struct tele_block source;
	const struct tele_plan *plan;

	bool has_next;
	uint64_t next_seq; // of the source
	uint64_t boundary_seq; // of the source: the row of a candidate event; 0 - 1: none
	bool has_kept;
	uint64_t kept_at_ns; // time of the last row that was kept for its time

	uint64_t first_seq, seq; // as the trace counts
	uint64_t provisional_end; // seq up to which a provisional block was made
	uint32_t n_fields, schema_bytes;
	uint64_t first_at_ns, last_at_ns;
	uint64_t *rows;
	size_t rows_words;
	uint32_t n_rows;
	struct tele_event *events;
	uint32_t n_events;
	struct tele_block_string *strings;
	uint32_t n_strings;
	char *texts; // of strings, one after the other
	size_t texts_used;

	uint64_t *last_row; // not kept; last_fields 0: none
	uint32_t last_fields;

	void *scratch;
	size_t scratch_bytes;
	uint8_t *block;
	size_t block_capacity;
};

static void begin_block(struct rec_thin *thin)
{
	thin->first_seq = thin->seq;
	thin->n_rows = thin->n_events = thin->n_strings = 0;
	thin->texts_used = 0;
	thin->first_at_ns = UINT64_MAX;
	thin->last_at_ns = 0;
}

struct rec_thin *rec_thin_new(uint64_t instance_id, uint64_t every_ns, rec_emit_fn emit, void *context)
{
	struct rec_thin *thin = calloc(1, sizeof(*thin));
	if (!thin)
		return NULL;
	*thin = (struct rec_thin){
		.instance_id = instance_id,
		.every_ns = every_ns,
		.emit = emit,
		.context = context,
		.boundary_seq = UINT64_MAX,
	};
	thin->events = malloc(TELE_BLOCK_EVENTS_MAX * sizeof(*thin->events));
	thin->strings = malloc(TELE_BLOCK_STRINGS_MAX * sizeof(*thin->strings));
	thin->texts = malloc(TEXTS_BYTES);
	thin->last_row = malloc(TELE_FIELDS_MAX * sizeof(*thin->last_row));
	if (!thin->events || !thin->strings || !thin->texts || !thin->last_row) {
		rec_thin_free(thin);
		return NULL;
	}
	begin_block(thin);
	return thin;
}

void rec_thin_free(struct rec_thin *thin)
{
	if (!thin)
		return;
	tele_block_free(&thin->source);
	free(thin->rows);
	free(thin->events);
	free(thin->strings);
	free(thin->texts);
	free(thin->last_row);
	free(thin->scratch);
	free(thin->block);
	free(thin);
}

static int reserve(void **memory, size_t *capacity, size_t wanted, size_t item_bytes)
{
	if (wanted <= *capacity)
		return 0;
	void *grown = realloc(*memory, wanted * item_bytes);
	if (!grown)
		return -ENOMEM;
	*memory = grown;
	*capacity = wanted;
	return 0;
}

// Encodes what there is and hands it on.
static int emit(struct rec_thin *thin, bool is_provisional, struct tele_error *ret_error)
{
	size_t scratch_bytes = tele_block_scratch_bytes(thin->n_fields);
	size_t block_bytes = tele_block_bytes_max(thin->n_fields, thin->n_rows, thin->n_events, thin->n_strings);
	if (reserve(&thin->scratch, &thin->scratch_bytes, scratch_bytes, 1) ||
	    reserve((void **)&thin->block, &thin->block_capacity, block_bytes, 1))
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	const struct tele_block_input input = {
		.instance_id = thin->instance_id,
		.plan = thin->plan,
		.n_fields = thin->n_fields,
		.schema_bytes = thin->schema_bytes,
		.flags = is_provisional ? TELE_BLOCK_PROVISIONAL : 0,
		.first_seq = thin->first_seq,
		.first_at_ns = thin->first_at_ns,
		.last_at_ns = thin->last_at_ns,
		.rows = thin->rows,
		.row_stride = thin->n_fields,
		.n_rows = thin->n_rows,
		.events = thin->events,
		.n_events = thin->n_events,
		.strings = thin->strings,
		.n_strings = thin->n_strings,
	};
	int64_t n_bytes = tele_block_encode(&input, thin->scratch, thin->scratch_bytes, thin->block,
					    thin->block_capacity);
	if (n_bytes < 0)
		return tele_fail(ret_error, (int)n_bytes, "cannot encode a block: %s", tele_strerror((int)n_bytes));
	return thin->emit(thin->context, thin->block, (size_t)n_bytes, is_provisional, ret_error);
}

static int seal(struct rec_thin *thin, struct tele_error *ret_error)
{
	int failed = thin->n_rows + thin->n_events ? emit(thin, false, ret_error) : 0;
	begin_block(thin);
	return failed;
}

static void note_time(struct rec_thin *thin, uint64_t at_ns)
{
	thin->first_at_ns = tele_min_u64(thin->first_at_ns, at_ns);
	thin->last_at_ns = tele_max_u64(thin->last_at_ns, at_ns);
}

static void define(struct rec_thin *thin, uint64_t id, const struct tele_block_string *string)
{
	memcpy(thin->texts + thin->texts_used, string->text, string->len);
	thin->strings[thin->n_strings++] = (struct tele_block_string){
		.id = id,
		.text = thin->texts + thin->texts_used,
		.len = string->len,
	};
	thin->texts_used += string->len;
}

static bool is_defined(const struct rec_thin *thin, uint64_t id)
{
	for (uint32_t i = 0; i < thin->n_strings; i++)
		if (thin->strings[i].id == id)
			return true;
	return false;
}

// Rows use strings as well, so those that last are all taken over.
static void take_lasting_strings(struct rec_thin *thin)
{
	for (uint32_t i = 0; i < thin->source.header.n_strings; i++) {
		const struct tele_block_string *string = &thin->source.strings[i];
		if (!TELE_STRING_IS_TRANSIENT(string->id) && string->id && !is_defined(thin, string->id))
			define(thin, string->id, string);
	}
}

// Makes room for one record more of `n_fields`, and its text.
static int make_room(struct rec_thin *thin, uint32_t n_fields, struct tele_error *ret_error)
{
	bool is_full = thin->n_rows == TELE_BLOCK_ROWS_MAX || thin->n_events == TELE_BLOCK_EVENTS_MAX ||
		       thin->n_strings + 1 >= TELE_BLOCK_STRINGS_MAX;
	bool is_wider = thin->n_rows && n_fields && n_fields != thin->n_fields;
	if (is_full || is_wider) {
		int failed = seal(thin, ret_error);
		if (failed)
			return failed;
		take_lasting_strings(thin);
	}
	if (n_fields && thin->n_rows == 0)
		thin->n_fields = n_fields;
	if (reserve((void **)&thin->rows, &thin->rows_words, (size_t)thin->n_fields * TELE_BLOCK_ROWS_MAX,
		    sizeof(*thin->rows)))
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	return 0;
}

static int keep_row(struct rec_thin *thin, const uint64_t *row, uint32_t n_fields, struct tele_error *ret_error)
{
	int failed = make_room(thin, n_fields, ret_error);
	if (failed)
		return failed;
	memcpy(thin->rows + (size_t)thin->n_rows++ * n_fields, row, n_fields * sizeof(*row));
	note_time(thin, row[0]);
	thin->seq++;
	thin->last_fields = 0;
	return 0;
}

static int take_row(struct rec_thin *thin, uint32_t number, uint64_t seq, struct tele_error *ret_error)
{
	const uint32_t n_fields = thin->source.header.n_fields;
	if (n_fields == 0)
		return 0;
	tele_block_row(&thin->source, number, thin->last_row);
	thin->last_fields = n_fields;
	uint64_t at_ns = thin->last_row[0];
	bool is_due = !thin->has_kept || at_ns < thin->kept_at_ns || at_ns - thin->kept_at_ns >= thin->every_ns;
	if (is_due) {
		// A grid, not a distance: a little late each time would add up.
		uint64_t late_ns = thin->has_kept && at_ns >= thin->kept_at_ns ? (at_ns - thin->kept_at_ns) % thin->every_ns : 0;
		thin->kept_at_ns = at_ns - late_ns;
		thin->has_kept = true;
	}
	return is_due || seq == thin->boundary_seq ? keep_row(thin, thin->last_row, n_fields, ret_error) : 0;
}

static int take_event(struct rec_thin *thin, const struct tele_event *event, struct tele_error *ret_error)
{
	int failed = make_room(thin, 0, ret_error);
	if (failed)
		return failed;
	struct tele_event kept = *event;
	kept.seq = thin->seq++;
	if (TELE_STRING_IS_TRANSIENT(event->string_id)) {
		kept.string_id = 0;
		for (uint32_t i = 0; i < thin->source.header.n_strings; i++)
			if (thin->source.strings[i].id == event->string_id) {
				kept.string_id = TELE_STRING_TRANSIENT + thin->n_strings;
				define(thin, kept.string_id, &thin->source.strings[i]);
				break;
			}
	}
	thin->events[thin->n_events++] = kept;
	note_time(thin, event->at_ns);
	if (event->type == TELE_EVENT_CANDIDATE_BEGIN || event->type == TELE_EVENT_CANDIDATE_END)
		thin->boundary_seq = event->seq + 1;
	return 0;
}

int rec_thin_take(struct rec_thin *thin, const struct tele_schema *schema, const uint8_t *block,
		  size_t block_bytes, struct tele_error *ret_error)
{
	struct tele_block_header header;
	memcpy(&header, block, sizeof(header));
	uint64_t end = header.first_seq + header.n_rows + header.n_events;
	if (thin->has_next && end <= thin->next_seq)
		return 0;
	thin->plan = schema->plan;
	int failed = tele_block_decode(&thin->source, schema->plan, block, block_bytes);
	if (failed == -ENOMEM)
		return tele_fail(ret_error, failed, "out of memory");
	uint64_t from = thin->has_next ? tele_max_u64(thin->next_seq, header.first_seq) : header.first_seq;
	thin->next_seq = end;
	thin->has_next = true;
	if (failed) {
		uint64_t first;
		return rec_thin_gap(thin, end - from, &first, ret_error);
	}
	if (thin->n_strings + header.n_strings > TELE_BLOCK_STRINGS_MAX && (failed = seal(thin, ret_error)) != 0)
		return failed;
	take_lasting_strings(thin);
	thin->schema_bytes = header.schema_bytes > thin->schema_bytes ? header.schema_bytes : thin->schema_bytes;
	for (uint64_t seq = from; seq < end && !failed; seq++) {
		uint32_t which = thin->source.sequence[seq - header.first_seq];
		if (which & TELE_BLOCK_IS_EVENT)
			failed = take_event(thin, &thin->source.events[which & ~TELE_BLOCK_IS_EVENT], ret_error);
		else
			failed = take_row(thin, which, seq, ret_error);
	}
	return failed;
}

int rec_thin_gap(struct rec_thin *thin, uint64_t n_lost, uint64_t *ret_first, struct tele_error *ret_error)
{
	// A block holds numbers without a gap, so what there is ends here.
	int failed = seal(thin, ret_error);
	*ret_first = thin->seq;
	thin->seq += n_lost;
	begin_block(thin);
	return failed;
}

int rec_thin_flush(struct rec_thin *thin, bool is_end, struct tele_error *ret_error)
{
	int failed = 0;
	if (is_end && thin->last_fields)
		failed = keep_row(thin, thin->last_row, thin->last_fields, ret_error);
	if (failed || thin->seq == thin->first_seq)
		return failed;
	if (is_end)
		return seal(thin, ret_error);
	if (thin->seq == thin->provisional_end)
		return 0;
	thin->provisional_end = thin->seq;
	return emit(thin, true, ret_error);
}
