// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Each stream is a chain of chunks in the file. A chunk is written when it is
// full, and its head says where the next one of its stream is: that place is
// taken at the same moment, so that no list of chunks is kept. A put is never
// split, and only the last chunk of a stream is still in memory.

#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

enum { CHUNK_BYTES = 4096, FIRST_BYTES = 128 };

struct chunk {
	uint64_t next_at;
	uint32_t n_bytes;
	uint32_t reserved;
	uint8_t bytes[CHUNK_BYTES];
};

struct rec_spill {
	int fd; // -1: nothing was spilled
	uint64_t end_at;
	struct chunk chunk; // scratch
};

struct rec_spill *rec_spill_new(void)
{
	struct rec_spill *spill = calloc(1, sizeof(*spill));
	if (!spill)
		return NULL;
	spill->fd = -1;
	spill->end_at = sizeof(struct chunk); // 0 is no place
	return spill;
}

void rec_spill_free(struct rec_spill *spill)
{
	if (spill && spill->fd >= 0)
		close(spill->fd);
	free(spill);
}

void rec_stream_fini(struct rec_stream *stream)
{
	free(stream->bytes);
	*stream = (struct rec_stream){0};
}

static int open_file(struct rec_spill *spill, struct tele_error *ret_error)
{
	const char *folder = getenv("TMPDIR");
	if (!folder || !*folder)
		folder = access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
	spill->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (spill->fd < 0) {
		char *path;
		if (asprintf(&path, "%s/rollcall-XXXXXX", folder) < 0)
			return tele_fail(ret_error, -ENOMEM, "out of memory");
		spill->fd = mkostemp(path, O_CLOEXEC);
		if (spill->fd >= 0)
			unlink(path);
		free(path);
	}
	if (spill->fd < 0)
		return tele_fail(ret_error, -errno, "a temporary file in %s: %s", folder, tele_strerror(-errno));
	return 0;
}

static int write_chunk(struct rec_spill *spill, uint64_t at, struct tele_error *ret_error)
{
	const uint8_t *bytes = (const uint8_t *)&spill->chunk;
	size_t done = 0;
	while (done < sizeof(spill->chunk)) {
		ssize_t n = pwrite(spill->fd, bytes + done, sizeof(spill->chunk) - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return tele_fail(ret_error, n == 0 ? -ENOSPC : -errno, "a temporary file: %s; set TMPDIR to a folder with room",
					 tele_strerror(n == 0 ? -ENOSPC : -errno));
		done += (size_t)n;
	}
	return 0;
}

static int flush(struct rec_spill *spill, struct rec_stream *stream, struct tele_error *ret_error)
{
	if (spill->fd < 0) {
		int failed = open_file(spill, ret_error);
		if (failed)
			return failed;
	}
	uint64_t at = stream->next_at;
	if (at == 0) {
		at = stream->first_at = spill->end_at;
		spill->end_at += sizeof(spill->chunk);
	}
	stream->next_at = spill->end_at;
	spill->end_at += sizeof(spill->chunk);
	memset(&spill->chunk, 0, sizeof(spill->chunk));
	spill->chunk.next_at = stream->next_at;
	spill->chunk.n_bytes = stream->n_bytes;
	memcpy(spill->chunk.bytes, stream->bytes, stream->n_bytes);
	stream->n_bytes = 0;
	return write_chunk(spill, at, ret_error);
}

int rec_spill_put(struct rec_spill *spill, struct rec_stream *stream, const void *bytes, size_t n_bytes,
		  struct tele_error *ret_error)
{
	TELE_ASSERT(n_bytes <= CHUNK_BYTES);
	if (stream->n_bytes + n_bytes > CHUNK_BYTES) {
		int failed = flush(spill, stream, ret_error);
		if (failed)
			return failed;
	}
	if (stream->n_bytes + n_bytes > stream->capacity) {
		uint32_t capacity = stream->capacity ? stream->capacity : FIRST_BYTES;
		while (capacity < stream->n_bytes + n_bytes)
			capacity *= 2;
		uint8_t *grown = realloc(stream->bytes, capacity);
		if (!grown)
			return tele_fail(ret_error, -ENOMEM, "out of memory");
		stream->bytes = grown;
		stream->capacity = capacity;
	}
	memcpy(stream->bytes + stream->n_bytes, bytes, n_bytes);
	stream->n_bytes += (uint32_t)n_bytes;
	return 0;
}

int rec_spill_read(struct rec_spill *spill, const struct rec_stream *stream, rec_spill_take_fn take, void *context,
		   struct tele_error *ret_error)
{
	uint64_t at = stream->first_at;
	while (at != 0 && at != stream->next_at) {
		uint8_t *bytes = (uint8_t *)&spill->chunk;
		size_t done = 0;
		while (done < sizeof(spill->chunk)) {
			ssize_t n = pread(spill->fd, bytes + done, sizeof(spill->chunk) - done, (off_t)(at + done));
			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				return tele_fail(ret_error, n < 0 ? -errno : -EIO, "a temporary file: cannot read");
			done += (size_t)n;
		}
		int result = take(context, spill->chunk.bytes, spill->chunk.n_bytes);
		if (result < 0)
			return result;
		at = spill->chunk.next_at;
	}
	return stream->n_bytes ? take(context, stream->bytes, stream->n_bytes) : 0;
}
