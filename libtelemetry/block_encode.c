// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Encoding of data blocks: columns of differences to a prediction, each packed
// with as few bits as pays, what does not fit listed beside, then LZ4 over the
// whole. All mode bytes stand together at the front, so that a column that
// does as predicted costs one byte of a run. This runs in foreign processes:
// no allocation, no stdio, no state but the caller's scratch. A column never
// takes more than 64 bits a row, which bounds everything.

#include "block.h"

#include "block_wire.h"
#include "error.h"
#include "varint.h"

#include <errno.h>
#include <string.h>

#include "banned.h"

// Writers of words and varints may write this far beyond what they fill.
#define SLACK_BYTES 16
#define COLUMN_HEAD_BYTES_MAX (TELE_BLOCK_ROWS_MAX / 8 + 9 + 9 + 1 + 2)
#define EVENT_BYTES_MAX (5 * 9 + 5)
#define STRING_HEAD_BYTES_MAX (9 + 1)

struct workspace {
	uint64_t values[TELE_BLOCK_ROWS_MAX];
	uint64_t other[TELE_BLOCK_ROWS_MAX];
	uint64_t aux[TELE_BLOCK_ROWS_MAX];
	uint64_t residuals[TELE_BLOCK_ROWS_MAX];
	uint64_t codes[TELE_BLOCK_ROWS_MAX];
	uint8_t is_unknown[TELE_BLOCK_ROWS_MAX];
	uint64_t changed[TELE_FIELDS_MAX]; // bits in which a field ever differs
};

// How the codes of a column are stored.
struct packing {
	uint64_t base;
	uint32_t n_exceptions;
	uint32_t cost_bits;
	uint8_t width;
};

static size_t raw_bytes_max(uint32_t n_fields, uint32_t n_rows, uint32_t n_events, uint32_t n_strings)
{
	size_t column = 1 + COLUMN_HEAD_BYTES_MAX + 8 * (size_t)n_rows;
	size_t strings = (size_t)n_strings * (STRING_HEAD_BYTES_MAX + TELE_STRING_BYTES_MAX);
	return (n_rows ? n_fields * column : 0) + (size_t)n_events * EVENT_BYTES_MAX + strings;
}

size_t tele_block_scratch_bytes(uint32_t n_fields)
{
	return tele_block_pack_state_bytes() + tele_align_up(sizeof(struct workspace), 64) +
	       raw_bytes_max(n_fields, TELE_BLOCK_ROWS_MAX, TELE_BLOCK_EVENTS_MAX,
			     TELE_BLOCK_STRINGS_MAX) +
	       SLACK_BYTES + 64;
}

size_t tele_block_bytes_max(uint32_t n_fields, uint32_t n_rows, uint32_t n_events, uint32_t n_strings)
{
	size_t bytes = TELE_BLOCK_HEADER_BYTES +
		       tele_align_up(raw_bytes_max(n_fields, n_rows, n_events, n_strings), 8);
	return bytes < TELE_BLOCK_BYTES_MAX ? bytes : TELE_BLOCK_BYTES_MAX;
}

static void gather(const struct tele_block_input *input, uint32_t field, uint64_t *ret_column)
{
	const uint64_t *at = input->rows + field;
	for (uint32_t r = 0; r < input->n_rows; r++, at += input->row_stride)
		ret_column[r] = *at;
}

// Finds the fields that stand still, row by row: most do, and columns are slow
// to gather.
static void find_changed(const struct tele_block_input *input, uint64_t *ret_changed)
{
	const uint64_t *first = input->rows;
	memset(ret_changed, 0, input->n_fields * sizeof(*ret_changed));
	for (uint32_t r = 1; r < input->n_rows; r++) {
		const uint64_t *row = first + r * input->row_stride;
		for (uint32_t f = 0; f < input->n_fields; f++)
			ret_changed[f] |= row[f] ^ first[f];
	}
}

// Prepares what an OFFSET or DERIVED column is predicted from. Returns aux, or
// NULL where rows of this block lack it.
static const uint64_t *prepare_aux(const struct tele_block_input *input, uint32_t index,
				   struct workspace *work)
{
	const struct tele_plan_field *field = &input->plan->fields[index];
	if (field->predictor == TELE_PREDICT_OFFSET) {
		gather(input, field->reference, work->other);
		tele_aux_of_reference(work->other, input->n_rows, work->aux);
		return work->aux;
	}
	if (field->predictor != TELE_PREDICT_DERIVED)
		return NULL;
	const struct tele_plan_invariant *invariant = &input->plan->invariants[field->invariant];
	if (!tele_terms_are_within(invariant, input->n_fields))
		return NULL;
	memset(work->aux, 0, input->n_rows * sizeof(work->aux[0]));
	memset(work->is_unknown, 0, input->n_rows);
	for (uint32_t i = 0; i < invariant->n_terms; i++) {
		gather(input, invariant->terms[i].index, work->other);
		tele_aux_add_term(work->other, invariant->terms[i].sign, input->n_rows, work->aux,
				  work->is_unknown);
	}
	for (uint32_t r = 0; r < input->n_rows; r++)
		if (work->is_unknown[r])
			work->aux[r] = TELE_UNKNOWN;
	return work->aux;
}

// Differences of the known rows. Returns how many there are.
static uint32_t take_differences(const struct tele_block_input *input, uint32_t index,
				 struct workspace *work)
{
	const struct tele_plan_field *field = &input->plan->fields[index];
	const unsigned shift = field->shift;
	uint32_t n = 0;
	if (field->predictor == TELE_PREDICT_DELTA) {
		uint64_t last = 0;
		for (uint32_t r = 0; r < input->n_rows; r++) {
			uint64_t value = work->values[r];
			uint64_t reduced = value >> shift;
			work->residuals[n] = reduced - last;
			if (value != TELE_UNKNOWN) {
				last = reduced;
				n++;
			}
		}
		return n;
	}
	struct tele_predict predict = {
		.predictor = field->predictor,
		.aux = prepare_aux(input, index, work),
	};
	for (uint32_t r = 0; r < input->n_rows; r++) {
		uint64_t value = work->values[r];
		if (value == TELE_UNKNOWN)
			continue;
		value = value >> shift << shift;
		work->residuals[n++] = (value >> shift) - (tele_predict_row(&predict, r) >> shift);
		tele_predict_learn(&predict, r, value);
	}
	return n;
}

static uint32_t exception_position_bits(uint32_t n_exceptions, uint32_t n_codes)
{
	uint32_t bitmap_bytes = (n_codes + 7) / 8;
	return 8 * (n_exceptions < bitmap_bytes ? n_exceptions : bitmap_bytes);
}

// Finds the cheapest width for codes of which counts[b] take b bits.
static void choose_width(const uint32_t counts[65], uint32_t n_codes, struct packing *packing)
{
	unsigned widest = 64;
	while (widest > 0 && counts[widest] == 0)
		widest--;
	packing->width = (uint8_t)(widest > TELE_COLUMN_WIDTH_MAX ? 64 : widest);
	packing->n_exceptions = 0;
	packing->cost_bits = packing->width * n_codes;
	uint32_t n_exceptions = 0;
	for (unsigned width = widest; width-- > 0;) {
		n_exceptions += counts[width + 1];
		if (width > TELE_COLUMN_WIDTH_MAX)
			continue;
		uint32_t cost = width * n_codes + exception_position_bits(n_exceptions, n_codes) + 8;
		for (unsigned bits = width + 1; bits <= widest && cost < packing->cost_bits; bits++) {
			unsigned rest = bits - width;
			cost += counts[bits] * 8 * (rest > 56 ? 9 : (rest + 6) / 7);
		}
		if (cost < packing->cost_bits) {
			packing->width = (uint8_t)width;
			packing->n_exceptions = n_exceptions;
			packing->cost_bits = cost;
		}
	}
}

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

static struct packing try_base(const uint64_t *residuals, uint32_t n_codes, uint64_t base)
{
	struct packing packing = {.base = base};
	uint32_t counts[65] = {0};
	for (uint32_t i = 0; i < n_codes; i++)
		counts[bits_of(tele_zigzag(residuals[i] - base))]++;
	choose_width(counts, n_codes, &packing);
	if (base)
		packing.cost_bits += 8 * ((bits_of(tele_zigzag(base)) + 6) / 7);
	return packing;
}

// A typical difference: the median of nine, taken evenly.
static uint64_t typical_of(const uint64_t *residuals, uint32_t n_codes)
{
	int64_t picked[9];
	uint32_t n = 0;
	for (uint32_t k = 0; k < 9; k++) {
		int64_t value = (int64_t)residuals[(uint64_t)k * n_codes / 9];
		uint32_t at = n++;
		for (; at > 0 && picked[at - 1] > value; at--)
			picked[at] = picked[at - 1];
		picked[at] = value;
	}
	return (uint64_t)picked[4];
}

static struct packing choose_packing(const uint64_t *residuals, uint32_t n_codes)
{
	struct packing plain = try_base(residuals, n_codes, 0);
	uint64_t typical = n_codes ? typical_of(residuals, n_codes) : 0;
	if (typical == 0)
		return plain;
	struct packing based = try_base(residuals, n_codes, typical);
	return based.cost_bits < plain.cost_bits ? based : plain;
}

// Packs the low bits of n_codes codes. Returns the end; up to 8 bytes beyond
// are written.
static uint8_t *pack_bits(uint8_t *out, const uint64_t *codes, uint32_t n_codes, unsigned width)
{
	if (width == 64) {
		memcpy(out, codes, n_codes * sizeof(*codes));
		return out + n_codes * sizeof(*codes);
	}
	const uint64_t mask = (UINT64_C(1) << width) - 1;
	uint64_t word = 0;
	unsigned filled = 0;
	for (uint32_t i = 0; i < n_codes; i++) {
		word |= (codes[i] & mask) << filled;
		filled += width;
		memcpy(out, &word, 8);
		out += filled / 8;
		word = filled == 64 ? 0 : word >> (filled & ~7u);
		filled &= 7;
	}
	if (filled)
		*out++ = (uint8_t)word;
	return out;
}

static uint8_t *put_exceptions(uint8_t *out, const uint64_t *codes, uint32_t n_codes,
			       const struct packing *packing)
{
	const uint32_t bitmap_bytes = (n_codes + 7) / 8;
	const bool is_bitmap = packing->n_exceptions >= bitmap_bytes;
	out += tele_varint_put(out, packing->n_exceptions);
	uint8_t *positions = out;
	if (is_bitmap)
		memset(positions, 0, bitmap_bytes);
	out += is_bitmap ? bitmap_bytes : packing->n_exceptions;
	for (uint32_t i = 0; i < n_codes; i++) {
		uint64_t rest = codes[i] >> packing->width;
		if (rest == 0)
			continue;
		if (is_bitmap)
			positions[i / 8] |= (uint8_t)(1u << (i % 8));
		else
			*positions++ = (uint8_t)i;
		out += tele_varint_put(out, rest);
	}
	return out;
}

// A plain column that stands still is its first value, if that.
static uint8_t *put_constant(uint64_t value, unsigned shift, uint8_t *out, uint8_t *ret_mode)
{
	*ret_mode = 0;
	if (value == TELE_UNKNOWN) {
		*ret_mode = TELE_COLUMN_ALL_UNKNOWN;
	} else if (value >> shift) {
		*ret_mode = TELE_COLUMN_FIRST;
		out += tele_varint_put(out, tele_zigzag(value >> shift));
	}
	return out;
}

// Writes the body of column `index` and its mode byte.
static uint8_t *put_column(const struct tele_block_input *input, uint32_t index,
			   struct workspace *work, uint8_t *out, uint8_t *ret_mode)
{
	unsigned mode = 0;
	const struct tele_plan_field *field = &input->plan->fields[index];
	if (work->changed[index] == 0 && field->predictor == TELE_PREDICT_DELTA)
		return put_constant(input->rows[index], field->shift, out, ret_mode);
	gather(input, index, work->values);
	uint32_t n_known = take_differences(input, index, work);
	if (n_known == 0) {
		*ret_mode = TELE_COLUMN_ALL_UNKNOWN;
		return out;
	}
	if (n_known < input->n_rows) {
		uint32_t bitmap_bytes = (input->n_rows + 7) / 8;
		mode |= TELE_COLUMN_UNKNOWN;
		memset(out, 0, bitmap_bytes);
		for (uint32_t r = 0; r < input->n_rows; r++)
			if (work->values[r] == TELE_UNKNOWN)
				out[r / 8] |= (uint8_t)(1u << (r % 8));
		out += bitmap_bytes;
	}
	if (work->residuals[0]) {
		mode |= TELE_COLUMN_FIRST;
		out += tele_varint_put(out, tele_zigzag(work->residuals[0]));
	}
	const uint32_t n_codes = n_known - 1;
	uint64_t any = 0;
	for (uint32_t i = 0; i < n_codes; i++)
		any |= work->residuals[1 + i];
	if (any == 0) {
		*ret_mode = (uint8_t)mode;
		return out;
	}
	struct packing packing = choose_packing(work->residuals + 1, n_codes);
	for (uint32_t i = 0; i < n_codes; i++)
		work->codes[i] = tele_zigzag(work->residuals[1 + i] - packing.base);
	if (packing.base) {
		mode |= TELE_COLUMN_BASE;
		out += tele_varint_put(out, tele_zigzag(packing.base));
	}
	if (packing.width) {
		mode |= TELE_COLUMN_WIDTH;
		*out++ = packing.width;
		out = pack_bits(out, work->codes, n_codes, packing.width);
	}
	if (packing.n_exceptions) {
		mode |= TELE_COLUMN_EXCEPTIONS;
		out = put_exceptions(out, work->codes, n_codes, &packing);
	}
	*ret_mode = (uint8_t)mode;
	return out;
}

static uint8_t *put_events(const struct tele_block_input *input, uint8_t *out)
{
	const struct tele_event *events = input->events;
	uint64_t expected = input->first_seq;
	uint64_t time = input->first_at_ns >> 10;
	uint64_t subject = 0;
	uint64_t string_id = 0;
	for (uint32_t i = 0; i < input->n_events; i++) {
		out += tele_varint_put(out, events[i].seq - expected);
		expected = events[i].seq + 1;
	}
	for (uint32_t i = 0; i < input->n_events; i++)
		out += tele_varint_put(out, events[i].type);
	for (uint32_t i = 0; i < input->n_events; i++) {
		out += tele_varint_put(out, tele_zigzag((events[i].at_ns >> 10) - time));
		time = events[i].at_ns >> 10;
	}
	for (uint32_t i = 0; i < input->n_events; i++) {
		out += tele_varint_put(out, tele_zigzag(events[i].subject - subject));
		subject = events[i].subject;
	}
	for (uint32_t i = 0; i < input->n_events; i++)
		out += tele_varint_put(out, events[i].value + 1);
	for (uint32_t i = 0; i < input->n_events; i++) {
		out += tele_varint_put(out, tele_zigzag(events[i].string_id - string_id));
		string_id = events[i].string_id;
	}
	return out;
}

static uint8_t *put_strings(const struct tele_block_input *input, uint8_t *out)
{
	const struct tele_block_string *strings = input->strings;
	uint64_t id = 0;
	for (uint32_t i = 0; i < input->n_strings; i++) {
		out += tele_varint_put(out, tele_zigzag(strings[i].id - id));
		id = strings[i].id;
	}
	for (uint32_t i = 0; i < input->n_strings; i++)
		*out++ = (uint8_t)strings[i].len;
	for (uint32_t i = 0; i < input->n_strings; i++) {
		memcpy(out, strings[i].text, strings[i].len);
		out += strings[i].len;
	}
	return out;
}

static int check_input(const struct tele_block_input *input)
{
	if (input->n_fields > input->plan->n_fields || input->n_rows > TELE_BLOCK_ROWS_MAX ||
	    input->n_events > TELE_BLOCK_EVENTS_MAX || input->n_strings > TELE_BLOCK_STRINGS_MAX)
		return TELE_ELIMIT;
	for (uint32_t i = 0; i < input->n_strings; i++)
		if (input->strings[i].len > TELE_STRING_BYTES_MAX)
			return TELE_ELIMIT;
	uint64_t end = input->first_seq + input->n_rows + input->n_events;
	uint64_t expected = input->first_seq;
	for (uint32_t i = 0; i < input->n_events; i++) {
		if (input->events[i].seq < expected || input->events[i].seq >= end)
			return TELE_EDAMAGED;
		expected = input->events[i].seq + 1;
	}
	return end < input->first_seq ? TELE_ELIMIT : 0;
}

static size_t put_payload(const struct tele_block_input *input, struct workspace *work, uint8_t *raw)
{
	uint8_t *out = raw;
	if (input->n_rows) {
		uint8_t *modes = out;
		out += input->n_fields;
		find_changed(input, work->changed);
		for (int pass = 0; pass < 2; pass++)
			for (uint32_t f = 0; f < input->n_fields; f++)
				if (tele_column_is_of_pass(input->plan, f, pass))
					out = put_column(input, f, work, out, &modes[f]);
	}
	out = put_events(input, out);
	out = put_strings(input, out);
	return (size_t)(out - raw);
}

int64_t tele_block_encode(const struct tele_block_input *input, void *scratch, size_t scratch_bytes,
			  uint8_t *out, size_t capacity)
{
	int refused = check_input(input);
	if (refused)
		return refused;
	TELE_ASSERT(scratch_bytes >= tele_block_scratch_bytes(input->n_fields));
	uint8_t *aligned = (uint8_t *)scratch + (0 - (uintptr_t)scratch % 64) % 64;
	void *state = aligned;
	void *work = aligned + tele_block_pack_state_bytes();
	uint8_t *raw = aligned + tele_block_pack_state_bytes() + tele_align_up(sizeof(struct workspace), 64);

	size_t raw_bytes = put_payload(input, work, raw);
	TELE_ASSERT(raw_bytes <= raw_bytes_max(input->n_fields, input->n_rows, input->n_events,
					       input->n_strings));
	if (capacity < TELE_BLOCK_HEADER_BYTES)
		return -ENOSPC;
	struct tele_block_header header = {
		.type = TELE_BLOCK_DATA,
		.flags = input->flags,
		.instance_id = input->instance_id,
		.n_rows = (uint16_t)input->n_rows,
		.n_events = (uint16_t)input->n_events,
		.n_fields = (uint16_t)input->n_fields,
		.n_strings = (uint16_t)input->n_strings,
		.first_seq = input->first_seq,
		.first_at_ns = input->first_at_ns,
		.last_at_ns = input->last_at_ns,
		.schema_bytes = input->schema_bytes,
	};
	int packed = tele_block_pack(&header, raw, raw_bytes, state, out, capacity);
	return packed ? packed : (int64_t)tele_block_finish(&header, out);
}
