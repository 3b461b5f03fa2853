// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Writing of traces. The file only ever grows by whole blocks: `written_bytes`
// is the end of the last one, and a write that fails half-way is cut back to
// it. After a failure nothing more is written, the index included, since the
// blocks before are found without it. Every 1,024 blocks their index follows,
// so that a writer needs no more memory after a week than at its start.

#include "trace.h"

#include "crc32c.h"
#include "identity.h"
#include "trace_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"

struct tele_trace_writer {
	int fd;
	bool is_regular; // can be synced and cut back
	bool is_owned;	 // the descriptor is ours to close
	bool is_ended;	 // index and trailer are written
	bool is_torn;	 // a failed write could not be cut back
	char *path;
	uint64_t written_bytes;
	uint64_t n_blocks;
	uint64_t index_offset; // of the last index block, or 0
	uint32_t n_entries;
	struct tele_error failure; // the first one; code 0: none
	uint8_t *payload;	   // of a block that is being made
	uint8_t *block;
	size_t payload_capacity, block_capacity;
	void *pack_state;
	struct tele_trace_entry entries[TELE_TRACE_INDEX_BLOCKS];
};

static int fail(struct tele_trace_writer *writer, int code, const char *what, struct tele_error *ret_error)
{
	tele_fail(&writer->failure, code, "%s: %s at byte %llu: %s", writer->path, what,
		  (unsigned long long)writer->written_bytes, tele_strerror(code));
	if (ret_error)
		*ret_error = writer->failure;
	return code;
}

static int repeat_failure(const struct tele_trace_writer *writer, struct tele_error *ret_error)
{
	if (ret_error)
		*ret_error = writer->failure;
	return writer->failure.code;
}

// Writes it all, or as much as goes. Returns 0 or -errno.
static int write_all(struct tele_trace_writer *writer, const uint8_t *bytes, size_t n_bytes)
{
	size_t done = 0;
	while (done < n_bytes) {
		ssize_t n = writer->is_regular ? pwrite(writer->fd, bytes + done, n_bytes - done,
							(off_t)(writer->written_bytes + done)) :
						 write(writer->fd, bytes + done, n_bytes - done);
		if (n > 0) {
			done += (size_t)n;
		} else if (n == 0) {
			return -ENOSPC;
		} else if (errno == EAGAIN) {
			struct pollfd waited = {.fd = writer->fd, .events = POLLOUT};
			(void)poll(&waited, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static int append(struct tele_trace_writer *writer, const void *bytes, size_t n_bytes,
		  struct tele_error *ret_error)
{
	int failed = write_all(writer, bytes, n_bytes);
	if (failed) {
		// What cannot be cut back is found out by its checksum.
		writer->is_torn = !writer->is_regular || ftruncate(writer->fd, (off_t)writer->written_bytes) != 0;
		return fail(writer, failed, "cannot write", ret_error);
	}
	writer->written_bytes += n_bytes;
	return 0;
}

static int write_header(struct tele_trace_writer *writer, struct tele_error *ret_error)
{
	union {
		struct tele_trace_header header;
		uint8_t bytes[TELE_TRACE_HEADER_BYTES];
	} page;
	struct timespec monotonic, realtime;
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	clock_gettime(CLOCK_REALTIME, &realtime);
	memset(&page, 0, sizeof(page));
	page.header = (struct tele_trace_header){
		.magic = TELE_TRACE_MAGIC,
		.endian_mark = TELE_ENDIAN_MARK,
		.major = TELE_TRACE_MAJOR,
		.minor = TELE_TRACE_MINOR,
		.header_bytes = TELE_TRACE_HEADER_BYTES,
		.created_realtime_ns =
			(uint64_t)realtime.tv_sec * 1000000000u + (uint64_t)realtime.tv_nsec,
		.created_at_ns =
			(uint64_t)monotonic.tv_sec * 1000000000u + (uint64_t)monotonic.tv_nsec,
	};
	page.header.checksum =
		tele_crc32c(0, &page.header, offsetof(struct tele_trace_header, checksum));
	return append(writer, &page, sizeof(page), ret_error);
}

// Where locks do not work, nobody is writing.
bool tele_trace_is_being_written(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool is_locked = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	close(fd);
	return is_locked;
}

// Opens what can be written to: a new file, an old one that may be replaced, or
// something that is no regular file. Returns the descriptor or -errno.
static int open_for_writing(const char *path, bool replace, bool *ret_is_new)
{
	struct stat status;
	*ret_is_new = false;
	bool is_there = stat(path, &status) == 0;
	if (is_there && !S_ISREG(status.st_mode)) {
		int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return fd < 0 ? -errno : fd;
	}
	if (replace && is_there && tele_trace_is_being_written(path))
		return -EBUSY;
	// Unlinked, not emptied: whoever still reads the old one goes on.
	if (replace && unlink(path) != 0 && errno != ENOENT)
		return -errno;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	*ret_is_new = fd >= 0;
	if (fd < 0)
		return -errno;
	(void)flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

static void drop(struct tele_trace_writer *writer)
{
	if (writer->is_owned)
		close(writer->fd);
	free(writer->path);
	free(writer->payload);
	free(writer->block);
	free(writer->pack_state);
	free(writer);
}

int tele_trace_create(const char *path, bool replace, struct tele_trace_writer **ret_writer,
		      struct tele_error *ret_error)
{
	const bool is_stdout = strcmp(path, "-") == 0;
	bool is_new = false;
	struct stat status;
	struct tele_trace_writer *writer = calloc(1, sizeof(*writer));
	if (!writer)
		return tele_fail(ret_error, -ENOMEM, "%s: %s", path, tele_strerror(-ENOMEM));
	writer->fd = -1;
	writer->path = strdup(is_stdout ? "standard output" : path);
	writer->pack_state = malloc(tele_block_pack_state_bytes());
	int failed = !writer->path || !writer->pack_state ? -ENOMEM : 0;
	if (!failed) {
		writer->fd = is_stdout ? STDOUT_FILENO : open_for_writing(path, replace, &is_new);
		failed = writer->fd < 0 ? writer->fd : 0;
	}
	writer->is_owned = !failed && !is_stdout;
	if (!failed && !is_stdout && fstat(writer->fd, &status) == 0)
		writer->is_regular = S_ISREG(status.st_mode);
	if (failed == -EBUSY)
		tele_fail(ret_error, failed, "%s: another recorder is writing to it", path);
	else if (failed)
		tele_fail(ret_error, failed, "%s: %s", path, tele_strerror(failed));
	else
		failed = write_header(writer, ret_error);
	if (failed) {
		if (is_new)
			unlink(path);
		drop(writer);
		return failed;
	}
	*ret_writer = writer;
	return 0;
}

static int reserve(uint8_t **bytes, size_t *capacity, size_t wanted)
{
	if (wanted <= *capacity)
		return 0;
	void *grown = realloc(*bytes, wanted);
	if (!grown)
		return -ENOMEM;
	*bytes = grown;
	*capacity = wanted;
	return 0;
}

// Packs writer->payload into a block and appends it.
static int append_payload(struct tele_trace_writer *writer, struct tele_block_header *header,
			  size_t payload_bytes, struct tele_error *ret_error)
{
	size_t block_bytes = TELE_BLOCK_HEADER_BYTES + tele_align_up(payload_bytes, 8);
	int failed = reserve(&writer->block, &writer->block_capacity, block_bytes);
	if (!failed)
		failed = tele_block_pack(header, writer->payload, payload_bytes, writer->pack_state,
					 writer->block, block_bytes);
	if (failed)
		return fail(writer, failed, "cannot make a block", ret_error);
	return append(writer, writer->block, tele_block_finish(header, writer->block), ret_error);
}

static int write_index(struct tele_trace_writer *writer, struct tele_error *ret_error)
{
	struct tele_trace_index index = {
		.previous_offset = writer->index_offset,
		.n_entries = writer->n_entries,
		.entry_bytes = sizeof(writer->entries[0]),
	};
	size_t entries_bytes = writer->n_entries * sizeof(writer->entries[0]);
	struct tele_block_header header = {.type = TELE_BLOCK_INDEX};
	uint64_t offset = writer->written_bytes;
	if (reserve(&writer->payload, &writer->payload_capacity, sizeof(index) + entries_bytes))
		return fail(writer, -ENOMEM, "cannot make an index", ret_error);
	memcpy(writer->payload, &index, sizeof(index));
	memcpy(writer->payload + sizeof(index), writer->entries, entries_bytes);
	int failed = append_payload(writer, &header, sizeof(index) + entries_bytes, ret_error);
	if (failed)
		return failed;
	writer->index_offset = offset;
	writer->n_entries = 0;
	return 0;
}

// Makes room in the list for the next block. Before that block rather than
// after the last one, so that a write that fails can be tried again.
static int make_room(struct tele_trace_writer *writer, struct tele_error *ret_error)
{
	if (writer->failure.code)
		return repeat_failure(writer, ret_error);
	return writer->n_entries == TELE_TRACE_INDEX_BLOCKS ? write_index(writer, ret_error) : 0;
}

// Notes a block that was appended at `offset`.
static void note_block(struct tele_trace_writer *writer, const struct tele_block_header *header,
		       uint64_t offset)
{
	TELE_ASSERT(writer->n_entries < TELE_TRACE_INDEX_BLOCKS);
	writer->entries[writer->n_entries++] = tele_trace_entry_of(header, offset);
	writer->n_blocks++;
}

// Appends the block of writer->payload, of an instance's schema.
static int append_schema(struct tele_trace_writer *writer, struct tele_block_header *header,
			 size_t payload_bytes, struct tele_error *ret_error)
{
	uint64_t offset = writer->written_bytes;
	int failed = append_payload(writer, header, payload_bytes, ret_error);
	if (!failed)
		note_block(writer, header, offset);
	return failed;
}

int tele_trace_write_stream(struct tele_trace_writer *writer, const struct tele_identity *identity,
			    const uint8_t *schema, size_t schema_bytes, struct tele_error *ret_error)
{
	uint64_t words[TELE_HEADER_WORDS];
	int failed = make_room(writer, ret_error);
	if (failed)
		return failed;
	if (schema_bytes > TELE_SCHEMA_BYTES_MAX)
		return tele_fail(ret_error, TELE_ELIMIT, "%s: a schema of %zu bytes", writer->path,
				 schema_bytes);
	struct tele_block_header header = {
		.type = TELE_BLOCK_STREAM,
		.instance_id = identity->instance_id,
		.first_at_ns = identity->created_at_ns,
		.last_at_ns = identity->created_at_ns,
		.schema_bytes = (uint32_t)schema_bytes,
	};
	tele_header_encode(identity, NULL, words);
	if (reserve(&writer->payload, &writer->payload_capacity, sizeof(words) + schema_bytes))
		return fail(writer, -ENOMEM, "cannot make a stream block", ret_error);
	memcpy(writer->payload, words, sizeof(words));
	if (schema_bytes)
		memcpy(writer->payload + sizeof(words), schema, schema_bytes);
	return append_schema(writer, &header, sizeof(words) + schema_bytes, ret_error);
}

int tele_trace_write_growth(struct tele_trace_writer *writer, uint64_t instance_id, const uint8_t *schema,
			    size_t from, size_t schema_bytes, struct tele_error *ret_error)
{
	int failed = make_room(writer, ret_error);
	if (failed)
		return failed;
	TELE_ASSERT(from <= schema_bytes);
	if (schema_bytes > TELE_SCHEMA_BYTES_MAX)
		return tele_fail(ret_error, TELE_ELIMIT, "%s: a schema of %zu bytes", writer->path,
				 schema_bytes);
	const struct tele_trace_growth growth = {.from = (uint32_t)from};
	struct tele_block_header header = {
		.type = TELE_BLOCK_GROWTH,
		.instance_id = instance_id,
		.schema_bytes = (uint32_t)schema_bytes,
	};
	size_t payload_bytes = sizeof(growth) + schema_bytes - from;
	if (reserve(&writer->payload, &writer->payload_capacity, payload_bytes))
		return fail(writer, -ENOMEM, "cannot make a growth block", ret_error);
	memcpy(writer->payload, &growth, sizeof(growth));
	memcpy(writer->payload + sizeof(growth), schema + from, schema_bytes - from);
	return append_schema(writer, &header, payload_bytes, ret_error);
}

int tele_trace_write_block(struct tele_trace_writer *writer, const uint8_t *block, size_t block_bytes,
			   struct tele_error *ret_error)
{
	struct tele_block_header header;
	int failed = make_room(writer, ret_error);
	if (failed)
		return failed;
	int64_t size = tele_block_size(block, block_bytes, &header);
	if (size < 0 || (uint64_t)size != block_bytes || !tele_trace_is_indexed(header.type))
		return tele_fail(ret_error, TELE_EDAMAGED, "%s: not a whole block", writer->path);
	uint64_t offset = writer->written_bytes;
	failed = append(writer, block, block_bytes, ret_error);
	if (!failed)
		note_block(writer, &header, offset);
	return failed;
}

bool tele_trace_go_on(struct tele_trace_writer *writer)
{
	if (writer->is_torn)
		return false;
	writer->failure = (struct tele_error){0};
	return true;
}

uint64_t tele_trace_bytes_with(const struct tele_trace_writer *writer, size_t n_bytes)
{
	// The index of one block more, as if LZ4 made nothing of it and it were two.
	size_t index_bytes = 2 * (TELE_BLOCK_HEADER_BYTES + sizeof(struct tele_trace_index)) +
			     (writer->n_entries + 1) * sizeof(writer->entries[0]);
	return writer->written_bytes + n_bytes + index_bytes + sizeof(struct tele_trace_trailer);
}

int tele_trace_sync(struct tele_trace_writer *writer, struct tele_error *ret_error)
{
	if (writer->failure.code)
		return repeat_failure(writer, ret_error);
	if (!writer->is_regular)
		return 0;
	struct stat status;
	if (writer->is_owned && fstat(writer->fd, &status) == 0 && status.st_nlink == 0)
		return fail(writer, -ENOENT, "the file was removed while it was written", ret_error);
	while (fdatasync(writer->fd) != 0) {
		if (errno == EINVAL || errno == EROFS)
			return 0;
		if (errno != EINTR)
			return fail(writer, -errno, "cannot sync", ret_error);
	}
	return 0;
}

uint64_t tele_trace_written_bytes(const struct tele_trace_writer *writer)
{
	return writer->written_bytes;
}

int tele_trace_end(struct tele_trace_writer *writer, struct tele_error *ret_error)
{
	if (writer->is_ended)
		return 0;
	if (writer->failure.code)
		return repeat_failure(writer, ret_error);
	if (writer->n_entries > 0 || writer->index_offset == 0) {
		int failed = write_index(writer, ret_error);
		if (failed)
			return failed;
	}
	struct tele_trace_trailer trailer = {
		.index_offset = writer->index_offset,
		.n_blocks = writer->n_blocks,
		.magic = TELE_TRACE_END_MAGIC,
	};
	trailer.checksum = tele_crc32c(0, &trailer, offsetof(struct tele_trace_trailer, checksum));
	int failed = append(writer, &trailer, sizeof(trailer), ret_error);
	writer->is_ended = !failed;
	return failed ? failed : tele_trace_sync(writer, ret_error);
}

int tele_trace_finish(struct tele_trace_writer *writer, struct tele_error *ret_error)
{
	if (!writer)
		return 0;
	int failed = tele_trace_end(writer, ret_error);
	if (writer->is_owned) {
		writer->is_owned = false;
		if (close(writer->fd) != 0 && !failed && errno != EINTR)
			failed = fail(writer, -errno, "cannot close", ret_error);
	}
	drop(writer);
	return failed;
}
