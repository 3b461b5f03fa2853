// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See trace_scan.h. One buffer holds the bytes from the block at hand on; it is
// filled no further than a block needs, so that a pipe is never waited for
// longer than it takes. After damage the next block is looked for at every
// multiple of eight, by magic and then by checksum. What that may cost is
// bounded: a file made to waste time is given up.

#include "trace_scan.h"

#include "crc32c.h"
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"

#define READ_BYTES (64u << 10)
#define HEADER_BYTES_MAX (1u << 20)
#define WASTED_BYTES_MAX (UINT64_C(256) << 20)

void tele_scan_note(struct tele_scan *scan, uint64_t offset, const char *what)
{
	if (scan->damaged_at != UINT64_MAX)
		return;
	scan->damaged_at = offset;
	snprintf(scan->damage, sizeof(scan->damage), "at byte %llu: %s", (unsigned long long)offset,
		 what);
}

static int read_some(struct tele_scan *scan, struct tele_error *ret_error)
{
	for (;;) {
		size_t room = scan->capacity - scan->end;
		uint64_t at = scan->offset + (scan->end - scan->start);
		ssize_t n = scan->is_regular ?
				    pread(scan->fd, scan->buffer + scan->end, room, (off_t)at) :
				    read(scan->fd, scan->buffer + scan->end, room);
		if (n >= 0) {
			scan->end += (size_t)n;
			scan->is_at_end = n == 0;
			return 0;
		}
		if (errno == EAGAIN) {
			struct pollfd waited = {.fd = scan->fd, .events = POLLIN};
			(void)poll(&waited, 1, -1);
		} else if (errno != EINTR) {
			return tele_fail(ret_error, -errno, "%s: cannot read: %s", scan->path,
					 tele_strerror(-errno));
		}
	}
}

// Sees that `wanted` bytes are buffered, where the input has them. Returns how
// many are, or an error.
static int64_t fill(struct tele_scan *scan, size_t wanted, struct tele_error *ret_error)
{
	if (scan->start > 0 && scan->capacity - scan->start < wanted) {
		memmove(scan->buffer, scan->buffer + scan->start, scan->end - scan->start);
		scan->end -= scan->start;
		scan->start = 0;
	}
	if (scan->capacity < wanted) {
		size_t capacity = tele_align_up(wanted, READ_BYTES) + READ_BYTES;
		uint8_t *grown = realloc(scan->buffer, capacity);
		if (!grown)
			return tele_fail(ret_error, -ENOMEM, "%s: %s", scan->path,
					 tele_strerror(-ENOMEM));
		scan->buffer = grown;
		scan->capacity = capacity;
	}
	while (scan->end - scan->start < wanted && !scan->is_at_end) {
		int failed = read_some(scan, ret_error);
		if (failed)
			return failed;
	}
	return (int64_t)(scan->end - scan->start);
}

static void advance(struct tele_scan *scan, size_t n_bytes)
{
	scan->start += n_bytes;
	scan->offset += n_bytes;
	if (scan->start == scan->end)
		scan->start = scan->end = 0;
}

void tele_scan_rewind(struct tele_scan *scan, uint64_t offset)
{
	uint64_t buffered = scan->end - scan->start;
	scan->taken_bytes = 0;
	if (offset >= scan->offset && offset - scan->offset < buffered) {
		advance(scan, (size_t)(offset - scan->offset));
		return;
	}
	scan->start = scan->end = 0;
	scan->offset = offset;
	scan->is_at_end = false;
}

static bool is_trailer(const uint8_t *bytes, struct tele_trace_trailer *ret_trailer)
{
	memcpy(ret_trailer, bytes, sizeof(*ret_trailer));
	return ret_trailer->magic == TELE_TRACE_END_MAGIC &&
	       ret_trailer->checksum ==
		       tele_crc32c(0, ret_trailer, offsetof(struct tele_trace_trailer, checksum));
}

// Takes the block that begins the buffer. Returns its bytes, an error of
// reading (set in *ret_io), or why there is none.
static int64_t take_block(struct tele_scan *scan, const uint8_t **ret_block,
			  struct tele_block_header *ret_header, int *ret_io,
			  struct tele_error *ret_error)
{
	int64_t have = fill(scan, TELE_BLOCK_HEADER_BYTES, ret_error);
	*ret_io = have < 0 ? (int)have : 0;
	if (have < 0)
		return have;
	int64_t size = tele_block_size(scan->buffer + scan->start, (size_t)have, ret_header);
	if (size < 0)
		return size;
	have = fill(scan, (size_t)size, ret_error);
	*ret_io = have < 0 ? (int)have : 0;
	if (have < 0)
		return have;
	const uint8_t *block = scan->buffer + scan->start;
	int64_t checked = tele_block_check(block, (size_t)have, ret_header);
	if (checked < 0) {
		scan->wasted_bytes += (uint64_t)size;
		return checked;
	}
	*ret_block = block;
	scan->taken_bytes = (size_t)checked;
	return checked;
}

// Goes to the next place where a block or the trailer may begin. Returns 1, 0
// at the end of the input, or an error.
static int resync(struct tele_scan *scan, struct tele_error *ret_error)
{
	for (;;) {
		int64_t have = fill(scan, 8 + sizeof(struct tele_trace_trailer), ret_error);
		if (have < 0)
			return (int)have;
		if (have < (int64_t)(8 + sizeof(struct tele_trace_trailer))) {
			advance(scan, (size_t)have);
			return 0;
		}
		advance(scan, 8);
		const uint8_t *at = scan->buffer + scan->start;
		uint32_t block_magic;
		uint64_t end_magic;
		memcpy(&block_magic, at, sizeof(block_magic));
		memcpy(&end_magic, at + offsetof(struct tele_trace_trailer, magic), sizeof(end_magic));
		if (block_magic == TELE_BLOCK_MAGIC || end_magic == TELE_TRACE_END_MAGIC)
			return 1;
	}
}

int64_t tele_scan_next(struct tele_scan *scan, const uint8_t **ret_block,
		       struct tele_block_header *ret_header, struct tele_error *ret_error)
{
	struct tele_trace_trailer trailer;
	advance(scan, scan->taken_bytes);
	scan->taken_bytes = 0;
	while (!scan->is_ended) {
		int io;
		int64_t have = fill(scan, sizeof(trailer), ret_error);
		if (have < 0)
			return have;
		if (have == 0)
			break;
		if (have >= (int64_t)sizeof(trailer) && is_trailer(scan->buffer + scan->start, &trailer)) {
			scan->is_ended = true;
			advance(scan, sizeof(trailer));
			have = fill(scan, 1, ret_error);
			if (have > 0)
				tele_scan_note(scan, scan->offset, "bytes after the trailer");
			return have < 0 ? have : 0;
		}
		int64_t taken = take_block(scan, ret_block, ret_header, &io, ret_error);
		if (taken > 0 || io)
			return taken;
		tele_scan_note(scan, scan->offset,
			       taken == TELE_EMAGIC ? "no block where one should be" :
						      tele_strerror((int)taken));
		if (scan->wasted_bytes > WASTED_BYTES_MAX + 4 * scan->offset)
			break;
		int found = resync(scan, ret_error);
		if (found <= 0)
			return found;
	}
	return 0;
}

int64_t tele_scan_at(struct tele_scan *scan, uint64_t offset, const uint8_t **ret_block,
		     struct tele_block_header *ret_header, struct tele_error *ret_error)
{
	int io;
	tele_scan_rewind(scan, offset);
	int64_t taken = take_block(scan, ret_block, ret_header, &io, ret_error);
	if (taken > 0 || io)
		return taken;
	tele_scan_note(scan, offset, tele_strerror((int)taken));
	return 0;
}

static int check_header(struct tele_scan *scan, struct tele_error *ret_error)
{
	struct tele_trace_header header;
	memcpy(&header, scan->buffer + scan->start, sizeof(header));
	bool is_whole = header.magic == TELE_TRACE_MAGIC && header.endian_mark == TELE_ENDIAN_MARK &&
			header.checksum == tele_crc32c(0, &header, offsetof(struct tele_trace_header, checksum));
	if (is_whole && header.major != TELE_TRACE_MAJOR)
		return tele_fail(ret_error, TELE_EVERSION,
				 "%s: trace of format %u.%u, and this is a reader of format %d.%d",
				 scan->path, header.major, header.minor, TELE_TRACE_MAJOR,
				 TELE_TRACE_MINOR);
	if (is_whole && header.incompatible)
		return tele_fail(ret_error, TELE_EVERSION,
				 "%s: trace of format %u.%u needs feature bit %d, which format %d.%d lacks",
				 scan->path, header.major, header.minor,
				 __builtin_ctzll(header.incompatible), TELE_TRACE_MAJOR,
				 TELE_TRACE_MINOR);
	if (is_whole && header.header_bytes >= sizeof(header) && header.header_bytes % 8 == 0 &&
	    header.header_bytes <= HEADER_BYTES_MAX) {
		scan->blocks_begin = header.header_bytes;
		scan->major = header.major;
		scan->minor = header.minor;
		scan->created_realtime_ns = header.created_realtime_ns;
		return 0;
	}
	if (header.magic == TELE_TRACE_MAGIC && header.endian_mark == __builtin_bswap64(TELE_ENDIAN_MARK))
		return tele_fail(ret_error, TELE_EVERSION, "%s: trace in another byte order", scan->path);
	// A damaged header page costs nothing but its date, where a block follows.
	struct tele_block_header block;
	int64_t have = fill(scan, TELE_TRACE_HEADER_BYTES + TELE_BLOCK_HEADER_BYTES, ret_error);
	if (have < 0)
		return (int)have;
	if (have >= TELE_TRACE_HEADER_BYTES + TELE_BLOCK_HEADER_BYTES &&
	    tele_block_size(scan->buffer + scan->start + TELE_TRACE_HEADER_BYTES,
			    TELE_BLOCK_HEADER_BYTES, &block) > 0) {
		scan->blocks_begin = TELE_TRACE_HEADER_BYTES;
		scan->major = 1;
		tele_scan_note(scan, 0, "header page damaged");
		return 0;
	}
	return tele_fail(ret_error, TELE_EMAGIC, "%s: not a Rollcall trace", scan->path);
}

static int read_header(struct tele_scan *scan, struct tele_error *ret_error)
{
	int64_t have = fill(scan, TELE_TRACE_HEADER_BYTES, ret_error);
	if (have < 0)
		return (int)have;
	uint64_t magic = 0;
	size_t known = have < 8 ? (size_t)have : 8;
	memcpy(&magic, scan->buffer + scan->start, known);
	bool may_be_ours = memcmp(&magic, "RCALLTR1", known) == 0;
	if (have == 0)
		return tele_fail(ret_error, TELE_ETRUNCATED, "%s: empty", scan->path);
	if (have < TELE_TRACE_HEADER_BYTES)
		return may_be_ours ? tele_fail(ret_error, TELE_ETRUNCATED,
					       "%s: trace cut short within its header page", scan->path) :
				     tele_fail(ret_error, TELE_EMAGIC, "%s: not a Rollcall trace", scan->path);
	int failed = check_header(scan, ret_error);
	if (failed)
		return failed;
	have = fill(scan, (size_t)scan->blocks_begin, ret_error);
	if (have < 0)
		return (int)have;
	if ((uint64_t)have < scan->blocks_begin)
		return tele_fail(ret_error, TELE_ETRUNCATED,
				 "%s: trace cut short within its header page", scan->path);
	advance(scan, (size_t)scan->blocks_begin);
	return 0;
}

int tele_scan_open(struct tele_scan *scan, const char *path, struct tele_error *ret_error)
{
	const bool is_stdin = strcmp(path, "-") == 0;
	struct stat status;
	*scan = (struct tele_scan){.damaged_at = UINT64_MAX, .is_owned = !is_stdin};
	scan->path = strdup(is_stdin ? "standard input" : path);
	if (!scan->path)
		return tele_fail(ret_error, -ENOMEM, "%s: %s", path, tele_strerror(-ENOMEM));
	scan->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int failed = scan->fd < 0 || fstat(scan->fd, &status) != 0 ? -errno : 0;
	if (!failed && S_ISDIR(status.st_mode))
		failed = -EISDIR;
	if (failed) {
		tele_fail(ret_error, failed, "%s: %s", scan->path, tele_strerror(failed));
	} else {
		scan->is_regular = !is_stdin && S_ISREG(status.st_mode);
		scan->file_bytes = scan->is_regular ? (uint64_t)status.st_size : 0;
		failed = read_header(scan, ret_error);
	}
	if (failed)
		tele_scan_close(scan);
	return failed;
}

void tele_scan_close(struct tele_scan *scan)
{
	if (scan->is_owned && scan->fd >= 0)
		close(scan->fd);
	free(scan->path);
	free(scan->buffer);
	*scan = (struct tele_scan){.fd = -1};
}

// Reads the index block at `offset` to the end of entries[*n_left]. Returns 1
// and the offset of the index before it, 0 where it is not whole or does not
// fit what is left, or an error.
static int read_index(struct tele_scan *scan, uint64_t offset, struct tele_trace_entry *entries,
		      uint64_t *n_left, uint64_t *ret_previous, struct tele_error *ret_error)
{
	const uint8_t *block;
	struct tele_block_header header;
	struct tele_trace_index index;
	int64_t taken = tele_scan_at(scan, offset, &block, &header, ret_error);
	if (taken <= 0)
		return (int)taken;
	if (header.type != TELE_BLOCK_INDEX || header.raw_bytes < sizeof(index) ||
	    header.raw_bytes > sizeof(index) + TELE_TRACE_INDEX_BLOCKS * sizeof(*entries))
		return 0;
	uint8_t raw[sizeof(index) + TELE_TRACE_INDEX_BLOCKS * sizeof(*entries)];
	if (tele_block_unpack(&header, block + TELE_BLOCK_HEADER_BYTES, raw) != 0)
		return 0;
	memcpy(&index, raw, sizeof(index));
	if (index.entry_bytes != sizeof(*entries) || index.n_entries > *n_left ||
	    sizeof(index) + (uint64_t)index.n_entries * sizeof(*entries) != header.raw_bytes)
		return 0;
	*n_left -= index.n_entries;
	memcpy(entries + *n_left, raw + sizeof(index), index.n_entries * sizeof(*entries));
	*ret_previous = index.previous_offset;
	return 1;
}

static int read_indexes(struct tele_scan *scan, const struct tele_trace_trailer *trailer,
			struct tele_trace_entry *entries, struct tele_error *ret_error)
{
	uint64_t n_left = trailer->n_blocks;
	uint64_t limit = scan->file_bytes;
	uint64_t offset = trailer->index_offset;
	while (offset != 0) {
		if (offset >= limit || offset % 8 || offset < scan->blocks_begin)
			return 0;
		limit = offset;
		int found = read_index(scan, offset, entries, &n_left, &offset, ret_error);
		if (found <= 0)
			return found;
	}
	for (uint64_t i = 0; i < trailer->n_blocks; i++)
		if (entries[i].offset < scan->blocks_begin || entries[i].offset >= trailer->index_offset ||
		    (i > 0 && entries[i].offset <= entries[i - 1].offset))
			return 0;
	return n_left == 0;
}

// Reads the trailer. Returns 1, 0 where there is none, or an error.
static int read_trailer(struct tele_scan *scan, struct tele_trace_trailer *ret_trailer,
			struct tele_error *ret_error)
{
	TELE_ASSERT(scan->is_regular);
	if (scan->file_bytes < scan->blocks_begin + sizeof(*ret_trailer))
		return 0;
	tele_scan_rewind(scan, scan->file_bytes - sizeof(*ret_trailer));
	int64_t have = fill(scan, sizeof(*ret_trailer), ret_error);
	if (have < 0)
		return (int)have;
	return have >= (int64_t)sizeof(*ret_trailer) && is_trailer(scan->buffer + scan->start, ret_trailer) &&
	       ret_trailer->n_blocks <= scan->file_bytes / TELE_BLOCK_HEADER_BYTES;
}

int tele_scan_index_schemas(struct tele_scan *scan, tele_scan_place_fn take, void *context,
			    struct tele_error *ret_error)
{
	struct tele_trace_trailer trailer;
	struct tele_trace_entry entries[TELE_TRACE_INDEX_BLOCKS];
	int found = read_trailer(scan, &trailer, ret_error);
	if (found <= 0)
		return found;
	uint64_t limit = scan->file_bytes;
	uint64_t offset = trailer.index_offset;
	while (offset != 0) {
		uint64_t n_left = TELE_TRACE_INDEX_BLOCKS;
		if (offset >= limit || offset % 8 || offset < scan->blocks_begin)
			return 0;
		limit = offset;
		found = read_index(scan, offset, entries, &n_left, &offset, ret_error);
		if (found <= 0)
			return found;
		for (uint64_t i = TELE_TRACE_INDEX_BLOCKS; i-- > n_left;) {
			bool is_inside = entries[i].offset >= scan->blocks_begin && entries[i].offset < limit;
			bool is_schema = entries[i].type == TELE_BLOCK_STREAM || entries[i].type == TELE_BLOCK_GROWTH;
			if (!is_schema || !is_inside)
				continue;
			int failed = take(context, entries[i].offset, ret_error);
			if (failed)
				return failed;
		}
	}
	return 1;
}

int tele_scan_index(struct tele_scan *scan, struct tele_trace_entry **ret_entries,
		    uint64_t *ret_n_entries, struct tele_error *ret_error)
{
	struct tele_trace_trailer trailer;
	int found = read_trailer(scan, &trailer, ret_error);
	if (found <= 0)
		return found;
	struct tele_trace_entry *entries = malloc((trailer.n_blocks + 1) * sizeof(*entries));
	if (!entries)
		return tele_fail(ret_error, -ENOMEM, "%s: %s", scan->path, tele_strerror(-ENOMEM));
	found = read_indexes(scan, &trailer, entries, ret_error);
	if (found <= 0) {
		free(entries);
		return found;
	}
	scan->is_ended = true;
	*ret_entries = entries;
	*ret_n_entries = trailer.n_blocks;
	return 1;
}
