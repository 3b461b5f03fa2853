// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Decoding of blocks, which are foreign bytes: nothing is used before it is
// checked against what is left, all sizes come from limits of the format, and a
// payload must end exactly where its last string does. The checksum says that a
// block is what somebody wrote; it does not say that he meant well.

#include "block.h"

#include "block_wire.h"
#include "crc32c.h"
#include "error.h"
#include "varint.h"

#include <errno.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

// Bytes that may be read beyond the payload by loads of eight.
#define SLACK_BYTES 16
// LZ4 cannot make more than this of one byte.
#define LZ4_RATIO_MAX 255

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

static bool get_varint(struct cursor *cursor, uint64_t *ret_value)
{
	size_t len = tele_varint_get(cursor->at, (size_t)(cursor->end - cursor->at), ret_value);
	cursor->at += len;
	return len > 0;
}

static bool get_bytes(struct cursor *cursor, size_t n_bytes, const uint8_t **ret_bytes)
{
	if ((size_t)(cursor->end - cursor->at) < n_bytes)
		return false;
	*ret_bytes = cursor->at;
	cursor->at += n_bytes;
	return true;
}

int64_t tele_block_size(const uint8_t *bytes, size_t n_bytes, struct tele_block_header *ret_header)
{
	struct tele_block_header header;
	if (n_bytes < sizeof(header))
		return TELE_ETRUNCATED;
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != TELE_BLOCK_MAGIC)
		return TELE_EMAGIC;
	if (header.type == 0 || header.codec > TELE_CODEC_LZ4 ||
	    header.stored_bytes > TELE_BLOCK_BYTES_MAX - TELE_BLOCK_HEADER_BYTES ||
	    header.raw_bytes > TELE_BLOCK_RAW_BYTES_MAX ||
	    header.n_rows > TELE_BLOCK_ROWS_MAX || header.n_events > TELE_BLOCK_EVENTS_MAX ||
	    header.n_strings > TELE_BLOCK_STRINGS_MAX || header.n_fields > TELE_FIELDS_MAX ||
	    header.first_seq > UINT64_MAX - header.n_rows - header.n_events)
		return TELE_ELIMIT;
	if (header.codec == TELE_CODEC_STORED ?
		    header.raw_bytes != header.stored_bytes :
		    header.raw_bytes / LZ4_RATIO_MAX > header.stored_bytes)
		return TELE_ELIMIT;
	*ret_header = header;
	return (int64_t)tele_align_up(sizeof(header) + (size_t)header.stored_bytes, 8);
}

int64_t tele_block_check(const uint8_t *bytes, size_t n_bytes, struct tele_block_header *ret_header)
{
	struct tele_block_header header;
	int64_t block_bytes = tele_block_size(bytes, n_bytes, &header);
	if (block_bytes < 0)
		return block_bytes;
	if ((uint64_t)block_bytes > n_bytes)
		return TELE_ETRUNCATED;
	struct tele_block_header zeroed = header;
	zeroed.checksum = 0;
	uint32_t crc = tele_crc32c(0, &zeroed, sizeof(zeroed));
	crc = tele_crc32c(crc, bytes + sizeof(header), header.stored_bytes);
	if (crc != header.checksum)
		return TELE_ECHECKSUM;
	for (size_t i = sizeof(header) + header.stored_bytes; i < (size_t)block_bytes; i++)
		if (bytes[i])
			return TELE_EDAMAGED;
	*ret_header = header;
	return block_bytes;
}

// Grows an array to hold `wanted` items. Its contents are not kept.
static int reserve(void **array, size_t *capacity, size_t wanted, size_t item_bytes)
{
	if (wanted <= *capacity)
		return 0;
	void *grown = malloc(wanted * item_bytes);
	if (!grown)
		return -ENOMEM;
	free(*array);
	*array = grown;
	*capacity = wanted;
	return 0;
}

static int reserve_all(struct tele_block *block, const struct tele_block_header *header)
{
	// The block holds nothing while storage changes hands.
	memset(&block->header, 0, sizeof(block->header));
	if (reserve((void **)&block->columns, &block->columns_words,
		    (size_t)header->n_fields * header->n_rows, sizeof(*block->columns)) ||
	    reserve((void **)&block->events, &block->events_count, header->n_events,
		    sizeof(*block->events)) ||
	    reserve((void **)&block->strings, &block->strings_count, header->n_strings,
		    sizeof(*block->strings)) ||
	    reserve((void **)&block->sequence, &block->sequence_count,
		    (size_t)header->n_rows + header->n_events, sizeof(*block->sequence)) ||
	    reserve((void **)&block->raw, &block->raw_bytes, (size_t)header->raw_bytes + SLACK_BYTES, 1))
		return -ENOMEM;
	return 0;
}

int tele_block_unpack(const struct tele_block_header *header, const uint8_t *payload, uint8_t *ret_raw)
{
	if (header->codec == TELE_CODEC_STORED) {
		memcpy(ret_raw, payload, header->raw_bytes);
		return 0;
	}
	int unpacked = LZ4_decompress_safe((const char *)payload, (char *)ret_raw,
					   (int)header->stored_bytes, (int)header->raw_bytes);
	return unpacked >= 0 && (uint32_t)unpacked == header->raw_bytes ? 0 : TELE_EDAMAGED;
}

static void unpack_bits(const uint8_t *packed, uint32_t n_codes, unsigned width, uint64_t *ret_codes)
{
	if (width == 64) {
		memcpy(ret_codes, packed, n_codes * sizeof(*ret_codes));
		return;
	}
	const uint64_t mask = (UINT64_C(1) << width) - 1;
	size_t bit = 0;
	for (uint32_t i = 0; i < n_codes; i++, bit += width) {
		uint64_t word;
		memcpy(&word, packed + bit / 8, 8);
		ret_codes[i] = word >> (bit % 8) & mask;
	}
}

// Adds the exceptions to codes of `width` bits.
static int get_exceptions(struct cursor *cursor, uint64_t *codes, uint32_t n_codes, unsigned width)
{
	uint64_t n_exceptions;
	const uint8_t *positions;
	const uint32_t bitmap_bytes = (n_codes + 7) / 8;
	if (!get_varint(cursor, &n_exceptions) || n_exceptions == 0 || n_exceptions > n_codes || width == 64)
		return TELE_EDAMAGED;
	const bool is_bitmap = n_exceptions >= bitmap_bytes;
	if (!get_bytes(cursor, is_bitmap ? bitmap_bytes : n_exceptions, &positions))
		return TELE_EDAMAGED;
	if (is_bitmap) {
		uint64_t n_set = 0;
		for (uint32_t i = 0; i < bitmap_bytes; i++)
			n_set += (uint64_t)__builtin_popcount(positions[i]);
		if (n_set != n_exceptions || (n_codes % 8 && positions[bitmap_bytes - 1] >> (n_codes % 8)))
			return TELE_EDAMAGED;
	}
	uint32_t next = 0;
	for (uint32_t k = 0; k < n_exceptions; k++) {
		uint32_t position = next;
		uint64_t rest;
		if (!is_bitmap)
			position = positions[k];
		else
			while (!(positions[position / 8] >> (position % 8) & 1))
				position++;
		if (position < next || position >= n_codes || !get_varint(cursor, &rest) ||
		    rest << width >> width != rest)
			return TELE_EDAMAGED;
		codes[position] |= rest << width;
		next = position + 1;
	}
	return 0;
}

// Reads the differences of a column's n_known rows.
static int get_differences(struct cursor *cursor, unsigned mode, uint32_t n_known, uint64_t *ret_residuals)
{
	uint64_t code = 0;
	uint64_t base = 0;
	const uint32_t n_codes = n_known - 1;
	uint64_t *codes = ret_residuals + 1;

	if ((mode & TELE_COLUMN_FIRST) && !get_varint(cursor, &code))
		return TELE_EDAMAGED;
	ret_residuals[0] = tele_unzigzag(code);
	code = 0;
	if ((mode & TELE_COLUMN_BASE) && !get_varint(cursor, &code))
		return TELE_EDAMAGED;
	base = tele_unzigzag(code);
	unsigned width = 0;
	if (mode & TELE_COLUMN_WIDTH) {
		const uint8_t *at;
		if (!get_bytes(cursor, 1, &at))
			return TELE_EDAMAGED;
		width = at[0];
		if (width == 0 || (width > TELE_COLUMN_WIDTH_MAX && width != 64) ||
		    !get_bytes(cursor, ((size_t)n_codes * width + 7) / 8, &at))
			return TELE_EDAMAGED;
		unpack_bits(at, n_codes, width, codes);
	} else {
		memset(codes, 0, n_codes * sizeof(*codes));
	}
	if (mode & TELE_COLUMN_EXCEPTIONS) {
		int failed = get_exceptions(cursor, codes, n_codes, width);
		if (failed)
			return failed;
	}
	for (uint32_t i = 0; i < n_codes; i++)
		codes[i] = tele_unzigzag(codes[i]) + base;
	return 0;
}

// The column's differences become its values.
static void add_up(const struct tele_plan_field *field, const uint64_t *aux, const uint8_t *unknown,
		   const uint64_t *residuals, uint32_t n_rows, uint64_t *ret_column)
{
	const unsigned shift = field->shift;
	struct tele_predict predict = {.predictor = field->predictor, .aux = aux};
	if (field->predictor == TELE_PREDICT_DELTA && !unknown) {
		uint64_t reduced = 0;
		for (uint32_t r = 0; r < n_rows; r++) {
			reduced += residuals[r];
			ret_column[r] = reduced << shift;
		}
		return;
	}
	for (uint32_t r = 0; r < n_rows; r++) {
		if (unknown && unknown[r / 8] >> (r % 8) & 1) {
			ret_column[r] = TELE_UNKNOWN;
			continue;
		}
		uint64_t predicted = tele_predict_row(&predict, r) >> shift;
		uint64_t value = (predicted + *residuals++) << shift;
		tele_predict_learn(&predict, r, value);
		ret_column[r] = value;
	}
}

// Columns that come before `index` and that it is predicted from, or NULL.
static const uint64_t *prepare_aux(const struct tele_block *block, const struct tele_plan *plan,
				   uint32_t index, uint64_t *aux)
{
	const struct tele_plan_field *field = &plan->fields[index];
	const uint32_t n_rows = block->header.n_rows;
	uint8_t is_unknown[TELE_BLOCK_ROWS_MAX];
	if (field->predictor == TELE_PREDICT_OFFSET) {
		tele_aux_of_reference(block->columns + (size_t)field->reference * n_rows, n_rows, aux);
		return aux;
	}
	if (field->predictor != TELE_PREDICT_DERIVED)
		return NULL;
	const struct tele_plan_invariant *invariant = &plan->invariants[field->invariant];
	if (!tele_terms_are_within(invariant, block->header.n_fields))
		return NULL;
	memset(aux, 0, n_rows * sizeof(*aux));
	memset(is_unknown, 0, n_rows);
	for (uint32_t i = 0; i < invariant->n_terms; i++)
		tele_aux_add_term(block->columns + (size_t)invariant->terms[i].index * n_rows,
				  invariant->terms[i].sign, n_rows, aux, is_unknown);
	for (uint32_t r = 0; r < n_rows; r++)
		if (is_unknown[r])
			aux[r] = TELE_UNKNOWN;
	return aux;
}

static int get_column(struct cursor *cursor, const struct tele_block *block,
		      const struct tele_plan *plan, uint32_t index, unsigned mode)
{
	const uint32_t n_rows = block->header.n_rows;
	uint64_t *column = block->columns + (size_t)index * n_rows;
	uint64_t residuals[TELE_BLOCK_ROWS_MAX];
	uint64_t aux[TELE_BLOCK_ROWS_MAX];
	const uint8_t *unknown = NULL;
	uint32_t n_known = n_rows;

	if (mode == TELE_COLUMN_ALL_UNKNOWN) {
		memset(column, 0xff, n_rows * sizeof(*column));
		return 0;
	}
	if (mode == 0 && plan->fields[index].predictor == TELE_PREDICT_DELTA) {
		memset(column, 0, n_rows * sizeof(*column));
		return 0;
	}
	if (mode & ~(unsigned)TELE_COLUMN_MODES || mode & TELE_COLUMN_ALL_UNKNOWN)
		return TELE_EDAMAGED;
	if (mode & TELE_COLUMN_UNKNOWN) {
		uint32_t bitmap_bytes = (n_rows + 7) / 8;
		if (!get_bytes(cursor, bitmap_bytes, &unknown))
			return TELE_EDAMAGED;
		if (n_rows % 8 && unknown[bitmap_bytes - 1] >> (n_rows % 8))
			return TELE_EDAMAGED;
		for (uint32_t i = 0; i < bitmap_bytes; i++)
			n_known -= (uint32_t)__builtin_popcount(unknown[i]);
		if (n_known == 0)
			return TELE_EDAMAGED;
	}
	int failed = get_differences(cursor, mode, n_known, residuals);
	if (failed)
		return failed;
	add_up(&plan->fields[index], prepare_aux(block, plan, index, aux), unknown, residuals, n_rows,
	       column);
	return 0;
}

static int get_columns(struct cursor *cursor, const struct tele_block *block, const struct tele_plan *plan)
{
	const uint8_t *modes;
	if (block->header.n_rows == 0)
		return 0;
	if (!get_bytes(cursor, block->header.n_fields, &modes))
		return TELE_EDAMAGED;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t f = 0; f < block->header.n_fields; f++)
			if (tele_column_is_of_pass(plan, f, pass)) {
				int failed = get_column(cursor, block, plan, f, modes[f]);
				if (failed)
					return failed;
			}
	return 0;
}

static int get_events(struct cursor *cursor, const struct tele_block *block)
{
	struct tele_event *events = block->events;
	const uint32_t n_events = block->header.n_events;
	const uint64_t end = block->header.first_seq + block->header.n_rows + n_events;
	uint64_t expected = block->header.first_seq;
	uint64_t time = block->header.first_at_ns >> 10;
	uint64_t subject = 0, string_id = 0, value;

	for (uint32_t i = 0; i < n_events; i++) {
		if (!get_varint(cursor, &value) || value >= end - expected)
			return TELE_EDAMAGED;
		events[i].seq = expected + value;
		expected = events[i].seq + 1;
	}
	for (uint32_t i = 0; i < n_events; i++) {
		if (!get_varint(cursor, &value) || value > UINT32_MAX)
			return TELE_EDAMAGED;
		events[i].type = (uint32_t)value;
	}
	for (uint32_t i = 0; i < n_events; i++) {
		if (!get_varint(cursor, &value))
			return TELE_EDAMAGED;
		time += tele_unzigzag(value);
		events[i].at_ns = time << 10;
	}
	for (uint32_t i = 0; i < n_events; i++) {
		if (!get_varint(cursor, &value))
			return TELE_EDAMAGED;
		subject += tele_unzigzag(value);
		events[i].subject = subject;
	}
	for (uint32_t i = 0; i < n_events; i++) {
		if (!get_varint(cursor, &value))
			return TELE_EDAMAGED;
		events[i].value = value - 1;
	}
	for (uint32_t i = 0; i < n_events; i++) {
		if (!get_varint(cursor, &value))
			return TELE_EDAMAGED;
		string_id += tele_unzigzag(value);
		events[i].string_id = string_id;
	}
	return 0;
}

static int get_strings(struct cursor *cursor, const struct tele_block *block)
{
	struct tele_block_string *strings = block->strings;
	const uint8_t *bytes;
	uint64_t id = 0, value;
	for (uint32_t i = 0; i < block->header.n_strings; i++) {
		if (!get_varint(cursor, &value))
			return TELE_EDAMAGED;
		id += tele_unzigzag(value);
		strings[i].id = id;
	}
	if (!get_bytes(cursor, block->header.n_strings, &bytes))
		return TELE_EDAMAGED;
	for (uint32_t i = 0; i < block->header.n_strings; i++)
		strings[i].len = bytes[i];
	for (uint32_t i = 0; i < block->header.n_strings; i++) {
		if (!get_bytes(cursor, strings[i].len, &bytes))
			return TELE_EDAMAGED;
		strings[i].text = (const char *)bytes;
	}
	return 0;
}

static void number_records(const struct tele_block *block)
{
	uint32_t n_records = (uint32_t)block->header.n_rows + block->header.n_events;
	uint32_t event = 0, row = 0;
	for (uint32_t k = 0; k < n_records; k++) {
		if (event < block->header.n_events &&
		    block->events[event].seq == block->header.first_seq + k)
			block->sequence[k] = (uint16_t)(TELE_BLOCK_IS_EVENT | event++);
		else
			block->sequence[k] = (uint16_t)row++;
	}
}

int tele_block_decode(struct tele_block *block, const struct tele_plan *plan, const uint8_t *bytes,
		      size_t n_bytes)
{
	struct tele_block_header header;
	int64_t block_bytes = tele_block_size(bytes, n_bytes, &header);
	if (block_bytes < 0)
		return (int)block_bytes;
	if ((uint64_t)block_bytes > n_bytes)
		return TELE_ETRUNCATED;
	if (header.type != TELE_BLOCK_DATA)
		return TELE_EDAMAGED;
	if (header.n_rows && header.n_fields > plan->n_fields)
		return TELE_ENOTREADY;
	int failed = reserve_all(block, &header);
	if (failed)
		return failed;
	failed = tele_block_unpack(&header, bytes + sizeof(header), block->raw);
	if (failed)
		return failed;
	memset(block->raw + header.raw_bytes, 0, SLACK_BYTES);

	struct cursor cursor = {.at = block->raw, .end = block->raw + header.raw_bytes};
	block->header = header;
	failed = get_columns(&cursor, block, plan);
	if (!failed)
		failed = get_events(&cursor, block);
	if (!failed)
		failed = get_strings(&cursor, block);
	if (!failed && cursor.at != cursor.end)
		failed = TELE_EDAMAGED;
	if (failed) {
		memset(&block->header, 0, sizeof(block->header));
		return failed;
	}
	number_records(block);
	return 0;
}

void tele_block_row(const struct tele_block *block, uint32_t row, uint64_t *ret_row)
{
	const uint32_t n_rows = block->header.n_rows;
	TELE_ASSERT(row < n_rows);
	for (uint32_t f = 0; f < block->header.n_fields; f++)
		ret_row[f] = block->columns[(size_t)f * n_rows + row];
}

void tele_block_free(struct tele_block *block)
{
	free(block->columns);
	free(block->events);
	free(block->strings);
	free(block->sequence);
	free(block->raw);
	memset(block, 0, sizeof(*block));
}
