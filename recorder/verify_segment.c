// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A segment, from a copy of its bytes: header, schema, latest rows, the sealed
// ring from head to tail, and what is open. Its process may be writing, so that
// a copy can be torn: what looks damaged while it lives is looked at again.

#include "verify.h"

#include "../libtelemetry/attach.h"
#include "../libtelemetry/identity.h"
#include "../libtelemetry/segment.h"
#include "../monitor/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

enum { TRIES = 5 };

struct segment {
	const struct rec_verify_options *options;
	uint8_t *bytes;
	size_t n_bytes;
	struct tele_layout layout;
	struct tele_identity identity;
	struct tele_schema *schema;
	struct tele_block block;
	struct mon_out found; // of this try
	uint64_t n_damaged, n_blocks, n_records;
};

static void tell(struct segment *segment, uint64_t offset, const char *what)
{
	char number[32];
	if (segment->n_damaged++ < REC_DAMAGES_TOLD)
		mon_out_format(&segment->found, "damaged at byte %s: %s\n", rec_number_text(offset, number), what);
}

static int copy_file(struct segment *segment, struct tele_error *ret_error)
{
	struct stat status;
	const char *path = segment->options->path;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return tele_fail(ret_error, -errno, "%s: %s", path, tele_strerror(-errno));
	int failed = fstat(fd, &status) != 0 || status.st_size > TELE_SEGMENT_BYTES_MAX ? TELE_ELIMIT : 0;
	size_t n_bytes = failed ? 0 : (size_t)status.st_size;
	uint8_t *bytes = realloc(segment->bytes, n_bytes + 1);
	if (!bytes)
		failed = -ENOMEM;
	else
		segment->bytes = bytes;
	segment->n_bytes = 0;
	while (!failed && segment->n_bytes < n_bytes) {
		ssize_t n = pread(fd, bytes + segment->n_bytes, n_bytes - segment->n_bytes, (off_t)segment->n_bytes);
		if (n > 0)
			segment->n_bytes += (size_t)n;
		else if (n == 0 || errno != EINTR)
			break;
	}
	close(fd);
	return failed ? tele_fail(ret_error, failed, "%s: %s", path, tele_strerror(failed)) : 0;
}

static bool is_within(const struct segment *segment, uint64_t offset, uint64_t n_bytes)
{
	return offset <= segment->n_bytes && n_bytes <= segment->n_bytes - offset;
}

static uint64_t control(const struct segment *segment, enum tele_control word)
{
	uint64_t value;
	memcpy(&value, segment->bytes + segment->layout.control_offset + 8u * word, sizeof(value));
	return value;
}

// Header and areas. False: nothing else can be looked at.
static bool check_header(struct segment *segment)
{
	uint64_t words[TELE_HEADER_WORDS];
	struct tele_error refusal;
	const struct tele_layout *layout = &segment->layout;
	if (segment->n_bytes < TELE_PAGE_BYTES) {
		tell(segment, segment->n_bytes, "cut short within its header page");
		return false;
	}
	memcpy(words, segment->bytes, sizeof(words));
	if (tele_header_decode(words, &segment->identity, &segment->layout, &refusal) != 0) {
		tell(segment, 0, refusal.text);
		return false;
	}
	bool is_right = layout->ring_bytes >= TELE_RING_BYTES_MIN && !(layout->ring_bytes & (layout->ring_bytes - 1));
	if (!is_right || !is_within(segment, layout->control_offset, 8u * (TELE_CONTROL_DRAINED + 1)) ||
	    !is_within(segment, layout->schema_offset, layout->schema_capacity_bytes) ||
	    !is_within(segment, layout->ring_offset, layout->ring_bytes) ||
	    !is_within(segment, layout->chunk_offset, 2 * layout->chunk_bytes)) {
		tell(segment, segment->n_bytes, "cut short: its areas lie beyond its end");
		return false;
	}
	return true;
}

static int check_schema(struct segment *segment, struct tele_error *ret_error)
{
	struct tele_error refusal;
	uint64_t n_bytes = control(segment, TELE_CONTROL_SCHEMA_BYTES);
	tele_schema_free(segment->schema);
	segment->schema = tele_schema_new();
	if (!segment->schema)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	if (n_bytes > segment->layout.schema_capacity_bytes) {
		tell(segment, segment->layout.control_offset + 8 * TELE_CONTROL_SCHEMA_BYTES,
		     "control page: more schema than there is room for");
		return 0;
	}
	int failed = tele_schema_parse(segment->schema, segment->bytes + segment->layout.schema_offset, (size_t)n_bytes,
				       &refusal);
	if (failed == -ENOMEM)
		return tele_fail(ret_error, failed, "out of memory");
	if (failed)
		tell(segment, segment->layout.schema_offset + segment->schema->parsed_bytes, refusal.text);
	else if (segment->schema->n_fields != control(segment, TELE_CONTROL_FIELDS))
		tell(segment, segment->layout.control_offset + 8 * TELE_CONTROL_FIELDS,
		     "control page: the schema has another number of fields");
	return 0;
}

static const char *judge_block(struct segment *segment, const struct tele_block_header *header,
			       const uint8_t *bytes, size_t n_bytes)
{
	if (header->type != TELE_BLOCK_DATA)
		return "a block that is neither data nor a pad";
	if (header->instance_id != segment->identity.instance_id)
		return "a block of another instance";
	if (header->schema_bytes > segment->schema->parsed_bytes)
		return "a block that rests on more schema than there is";
	return tele_block_decode(&segment->block, segment->schema->plan, bytes, n_bytes) ?
		       "the contents of a block make no sense" : NULL;
}

// The sealed blocks from head to tail. After a damaged one there is no next.
static void check_ring(struct segment *segment)
{
	const struct tele_layout *layout = &segment->layout;
	uint64_t at = control(segment, TELE_CONTROL_HEAD), tail = control(segment, TELE_CONTROL_TAIL), next_seq = 0;
	segment->n_blocks = segment->n_records = 0;
	if (tail < at || tail - at > layout->ring_bytes) {
		tell(segment, layout->control_offset + 8 * TELE_CONTROL_HEAD, "control page: head and tail of the ring");
		return;
	}
	while (at < tail) {
		struct tele_block_header header;
		char what[160];
		uint64_t place = at & (layout->ring_bytes - 1), to_wrap = layout->ring_bytes - place;
		uint64_t offset = layout->ring_offset + place;
		uint64_t room = tele_min_u64(to_wrap, tail - at);
		if (to_wrap < TELE_BLOCK_HEADER_BYTES) {
			at += to_wrap;
			continue;
		}
		int64_t n = tele_block_size(segment->bytes + offset, (size_t)room, &header);
		if (n > 0 && header.type == TELE_BLOCK_PAD) {
			at += to_wrap;
			continue;
		}
		n = tele_block_check(segment->bytes + offset, (size_t)room, &header);
		const char *wrong = n < 0 ? tele_strerror((int)n) :
					    judge_block(segment, &header, segment->bytes + offset, (size_t)n);
		if (!wrong && next_seq && header.first_seq < next_seq)
			wrong = "records that came before";
		if (wrong) {
			snprintf(what, sizeof(what), "block %" PRIu64 " of the sealed ring: %s", segment->n_blocks + 1, wrong);
			tell(segment, offset, what);
		}
		if (n < 0)
			return;
		next_seq = header.first_seq + header.n_rows + header.n_events;
		segment->n_blocks++;
		segment->n_records += (uint64_t)header.n_rows + header.n_events;
		at += (uint64_t)n;
	}
}

// What is not sealed yet, as a recorder would take it.
static void check_open(struct segment *segment, struct tele_attach *attach)
{
	for (;;) {
		const uint8_t *block;
		size_t block_bytes;
		bool is_provisional;
		uint64_t gap_from, gap_to;
		struct tele_error refusal;
		int got = tele_attach_next_block(attach, true, &block, &block_bytes, &is_provisional, &gap_from, &gap_to,
						 &refusal);
		if (got < 0 && got != TELE_ENOTREADY && got != TELE_EOVERRUN)
			tell(segment, segment->layout.chunk_offset, "open chunk: its frames make no sense");
		if (got <= 0)
			return;
		if (is_provisional) {
			struct tele_block_header header;
			memcpy(&header, block, sizeof(header));
			segment->n_records += (uint64_t)header.n_rows + header.n_events;
		}
	}
}

// One copy, looked at. *ret_is_alive: it may look otherwise in the next one.
static int try_once(struct segment *segment, bool *ret_is_alive, struct tele_error *ret_error)
{
	struct tele_attach *attach = NULL;
	mon_out_fini(&segment->found);
	segment->n_damaged = 0;
	*ret_is_alive = false;
	int failed = copy_file(segment, ret_error);
	if (failed || !check_header(segment))
		return failed;
	failed = check_schema(segment, ret_error);
	if (failed)
		return failed;
	check_ring(segment);
	struct tele_error refusal;
	if (tele_attach_open(segment->options->path, &attach, &refusal) == 0) {
		*ret_is_alive = tele_state_is_alive(tele_attach_instance(attach)->state);
		check_open(segment, attach);
	} else if (segment->n_damaged == 0) {
		tell(segment, 0, refusal.text);
	}
	tele_attach_close(attach);
	return 0;
}

int rec_verify_segment(const struct rec_verify_options *options, struct mon_out *out,
		       struct tele_error *ret_error)
{
	struct segment segment = {.options = options};
	char name[400], bytes[32], blocks[32], records[32];
	bool is_alive = true;
	int result = options->repair ? tele_fail(ret_error, -EINVAL,
						 "%s is a segment, of which `rollcall record` takes what is whole",
						 options->path) : 0;
	for (int i = 0; i < TRIES && is_alive && result == 0 && (i == 0 || segment.n_damaged > 0); i++)
		result = try_once(&segment, &is_alive, ret_error);
	if (result == 0) {
		rec_number_text(segment.n_blocks, blocks);
		rec_number_text(segment.n_records, records);
		mon_out_format(out, "%s: a segment, %s bytes\n",
			       mon_text_clean(options->path, options->is_ascii, name, sizeof(name)),
			       rec_number_text(segment.n_bytes, bytes));
		if (segment.found.n_bytes)
			mon_out_bytes(out, segment.found.bytes, segment.found.n_bytes);
		if (segment.n_damaged > REC_DAMAGES_TOLD)
			mon_out_format(out, "and %" PRIu64 " more places\n", segment.n_damaged - REC_DAMAGES_TOLD);
		if (segment.n_damaged)
			mon_out_format(out, "recoverable: %s blocks, with %s records; `rollcall record` takes them\n", blocks,
				       records);
		else
			mon_out_format(out, "whole: %s blocks, %s records\n", blocks, records);
		result = segment.n_damaged > 0;
	}
	mon_out_fini(&segment.found);
	tele_block_free(&segment.block);
	tele_schema_free(segment.schema);
	free(segment.bytes);
	return result;
}
