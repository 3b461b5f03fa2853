// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Segments of a liar: a whole segment with schema, rows, sealed blocks and slots
// of a killed process, to which the input does something: words and bytes of
// every area, frames, blocks and schema records whose checksums are put right,
// and cuts. Some of it happens while it is read. Every way to read it is gone
// through: latest row, blocks, records; what comes must be readable, and the
// numbers of records rise.

#include "libtelemetry/attach.h"
#include "libtelemetry/block.h"
#include "libtelemetry/crc32c.h"
#include "libtelemetry/schema_wire.h"
#include "tests/support/ring_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS_MAX 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static struct tele_layout layout;
static uint8_t *whole; // the segment as it was made
static uint64_t instance_id;
static char path[64];
static int fd;
static size_t changed_from, changed_to;

static void remove_file(void)
{
	unlink(path);
}

static void start(void)
{
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, true);
	test_ring_grow(ring, true);
	test_ring_steps(ring, 300);
	test_ring_grow(ring, false);
	test_ring_steps(ring, 40);
	test_ring_claim(ring, "a boundary", true, true);
	layout = ring->file.layout;
	instance_id = ring->identity.instance_id;
	whole = malloc(layout.segment_bytes);
	if (!whole)
		abort();
	memcpy(whole, ring->file.bytes, layout.segment_bytes);
	test_ring_free(ring);
	snprintf(path, sizeof(path), "/dev/shm/rollcall-fuzz-%d.rcs", (int)getpid());
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || pwrite(fd, whole, layout.segment_bytes, 0) != (ssize_t)layout.segment_bytes)
		abort();
	atexit(remove_file);
}

static void put(uint64_t offset, const void *bytes, size_t n_bytes)
{
	if (offset >= layout.segment_bytes)
		return;
	n_bytes = tele_min_u64(n_bytes, layout.segment_bytes - offset);
	if (pwrite(fd, bytes, n_bytes, (off_t)offset) != (ssize_t)n_bytes)
		abort();
	changed_from = tele_min_u64(changed_from, offset);
	changed_to = tele_max_u64(changed_to, offset + n_bytes);
}

static uint64_t word_at(uint64_t offset)
{
	uint64_t word = 0;
	if (pread(fd, &word, sizeof(word), (off_t)offset) < 0)
		abort();
	return word;
}

// ---- What the input does ----------------------------------------------------------

static void put_header_word(const uint8_t *bytes, size_t n_bytes)
{
	uint64_t words[TELE_HEADER_WORDS];
	memcpy(words, whole, sizeof(words));
	for (; n_bytes >= 9; n_bytes -= 9, bytes += 9)
		memcpy(&words[bytes[0] % (TELE_HEADER_WORDS - 1)], bytes + 1, 8);
	words[TELE_HEADER_WORDS - 1] = tele_crc32c(0, words, sizeof(words) - 8);
	put(0, words, sizeof(words));
}

// A block with this payload at the end of the ring, and the tail behind it.
static void put_block(const uint8_t *bytes, size_t n_bytes)
{
	static uint8_t block[TELE_BLOCK_HEADER_BYTES + 512];
	struct tele_block_header header = {0};
	size_t head = tele_min_u64(n_bytes, sizeof(header));
	memcpy(&header, bytes, head);
	header.type = header.type & 1 ? TELE_BLOCK_DATA : (uint8_t)(header.type % 6);
	header.codec &= 1;
	header.stored_bytes = (uint32_t)(n_bytes - head);
	header.raw_bytes = header.codec ? header.raw_bytes % 65536 : header.stored_bytes;
	header.n_rows %= TELE_BLOCK_ROWS_MAX + 1;
	header.n_fields %= 256;
	header.instance_id = instance_id;
	memcpy(block + TELE_BLOCK_HEADER_BYTES, bytes + head, n_bytes - head);
	size_t block_bytes = tele_block_finish(&header, block);
	uint64_t tail_offset = layout.control_offset + 8 * TELE_CONTROL_TAIL;
	uint64_t tail = word_at(tail_offset);
	put(layout.ring_offset + (tail & (layout.ring_bytes - 1)), block, block_bytes);
	tail += block_bytes;
	put(tail_offset, &tail, sizeof(tail));
}

// A schema record at the end of what is committed.
static void put_schema(const uint8_t *bytes, size_t n_bytes)
{
	uint8_t record[264] = {0};
	uint64_t committed_offset = layout.control_offset + 8 * TELE_CONTROL_SCHEMA_BYTES;
	uint64_t committed = word_at(committed_offset);
	struct tele_schema_head head = {
		.bytes = (uint16_t)tele_align_up(sizeof(head) + n_bytes - 1, 8),
		.type = bytes[0],
	};
	if (head.bytes > sizeof(record))
		return;
	memcpy(record + sizeof(head), bytes + 1, n_bytes - 1);
	memcpy(record, &head, sizeof(head));
	head.checksum = tele_crc32c(0, record, head.bytes);
	memcpy(record, &head, sizeof(head));
	put(layout.schema_offset + committed, record, head.bytes);
	committed += head.bytes;
	put(committed_offset, &committed, sizeof(committed));
}

// Frames at the end of the newest chunk; of the newest, since the other is not read.
static void put_frames(const uint8_t *bytes, size_t n_bytes)
{
	bool is_second = word_at(layout.chunk_offset + layout.chunk_bytes) > word_at(layout.chunk_offset);
	uint64_t chunk = layout.chunk_offset + is_second * layout.chunk_bytes;
	uint64_t used = word_at(chunk + 8 * TELE_CHUNK_USED);
	put(chunk + TELE_CHUNK_HEADER_BYTES + (used & UINT32_MAX) % layout.chunk_bytes, bytes, n_bytes);
	used += n_bytes;
	put(chunk + 8 * TELE_CHUNK_USED, &used, sizeof(used));
}

static void cut(uint64_t at)
{
	if (ftruncate(fd, (off_t)at) != 0)
		abort();
	changed_from = tele_min_u64(changed_from, at);
	changed_to = layout.segment_bytes;
}

static void act(unsigned kind, const uint8_t *bytes, size_t n_bytes)
{
	const uint64_t areas[] = {layout.control_offset, layout.schema_offset, layout.latest_offset,
				  layout.chunk_offset, layout.slots_offset, layout.ring_offset};
	if (kind < TELE_ARRAY_LEN(areas) && n_bytes >= 3)
		put(areas[kind] + (bytes[0] | (uint64_t)bytes[1] << 8), bytes + 2, n_bytes - 2);
	else if (kind == 6 && n_bytes >= 2)
		put(layout.control_offset + bytes[0] % 72 * UINT64_C(8), bytes + 1, n_bytes - 1);
	else if (kind == 7)
		put_header_word(bytes, n_bytes);
	else if (kind == 8 && n_bytes)
		put_block(bytes, n_bytes);
	else if (kind == 9 && n_bytes)
		put_schema(bytes, n_bytes);
	else if (kind == 10)
		put_frames(bytes, n_bytes);
	else if (kind == 11 && n_bytes >= 2)
		cut((bytes[0] | (uint64_t)bytes[1] << 8) * 64);
}

// Does what stands before a piece of kind 15, or all. Returns what is left.
static size_t act_on(const uint8_t **data, size_t n_bytes)
{
	while (n_bytes >= 2) {
		unsigned kind = (*data)[0] % 16;
		size_t len = tele_min_u64((*data)[1], n_bytes - 2);
		const uint8_t *piece = *data + 2;
		*data += 2 + len;
		n_bytes -= 2 + len;
		if (kind == 15)
			return n_bytes;
		act(kind, piece, len);
	}
	return 0;
}

static void restore(void)
{
	if (ftruncate(fd, (off_t)layout.segment_bytes) != 0)
		abort();
	if (changed_from < changed_to)
		put(changed_from, whole + changed_from, changed_to - changed_from);
	changed_from = SIZE_MAX;
	changed_to = 0;
}

// ---- Reading ------------------------------------------------------------------------

static volatile uint64_t sink;

static void touch(const struct tele_record *record)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < record->n_fields; i++)
		sum += record->row[i];
	if (record->kind == TELE_RECORD_EVENT) {
		const char *text = tele_instance_string(record->instance, record->event.string_id);
		sum += text ? strlen(text) : 0;
	}
	sink = sum;
}

static void read_blocks(struct tele_attach *attach)
{
	const uint8_t *block;
	size_t block_bytes;
	bool is_provisional;
	uint64_t from, to;
	for (int i = 0; i < 1000; i++) {
		if (tele_attach_next_block(attach, true, &block, &block_bytes, &is_provisional, &from, &to,
					   NULL) != 1)
			return;
		for (size_t at = 0; at < block_bytes; at++)
			sink += block[at];
	}
}

static void read_records(const uint8_t **data, size_t *n_bytes)
{
	struct tele_attach *attach;
	struct tele_source *source;
	struct tele_record record;
	uint64_t next_seq = 0;
	if (tele_attach_open(path, &attach, NULL) != 0)
		return;
	if (tele_ring_source_open(attach, false, &source, NULL) != 0)
		abort();
	for (int i = 0; i < RECORDS_MAX && tele_source_next(source, &record, NULL) == 1; i++) {
		if (record.kind == TELE_RECORD_ROW || record.kind == TELE_RECORD_EVENT) {
			if (record.seq < next_seq)
				abort();
			next_seq = record.seq + 1;
			touch(&record);
		}
		if (i == 5)
			*n_bytes = act_on(data, *n_bytes);
	}
	tele_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static uint64_t row[TELE_FIELDS_MAX];
	struct tele_attach *attach;
	uint32_t n_fields = 0;
	uint64_t seq;
	if (!whole)
		start();
	n_bytes = act_on(&data, n_bytes);
	if (tele_attach_open(path, &attach, NULL) == 0) {
		if (tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, NULL) == 0)
			for (uint32_t i = 0; i < n_fields; i++)
				sink += row[i];
		n_bytes = act_on(&data, n_bytes);
		(void)tele_attach_refresh(attach, NULL);
		read_blocks(attach);
		tele_attach_close(attach);
	}
	read_records(&data, &n_bytes);
	restore();
	return 0;
}
