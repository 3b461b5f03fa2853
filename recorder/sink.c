// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Pieces. A full piece gets its index and trailer, then its new name, which
// never replaces a file, and only then the next one is created: at any moment
// each piece on the disk is a trace that can be read. The limit counts what the
// end of the piece will need, so that a piece does not exceed it.

#include "sink.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

enum { PIECES_MAX = 1000000 };

struct rec_sink {
	struct rec_sink_settings settings;
	struct tele_trace_writer *writer;
	uint64_t piece;
	uint64_t n_blocks; // of this piece
	uint64_t full_bytes; // of pieces before
	uint64_t first_kept, last_kept; // numbers of full pieces, there or not
	uint64_t n_full;		// of them, that are there
	uint64_t n_dropped;
};

static int name_of(const struct rec_sink *sink, uint64_t number, char *buffer, size_t size)
{
	int n = snprintf(buffer, size, "%s.%llu", sink->settings.path, (unsigned long long)number);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static bool is_regular_or_new(const char *path)
{
	struct stat status;
	return strcmp(path, "-") != 0 && (lstat(path, &status) != 0 || S_ISREG(status.st_mode));
}

uint64_t rec_sink_piece(const struct rec_sink *sink)
{
	return sink->piece;
}

uint64_t rec_sink_written_bytes(const struct rec_sink *sink)
{
	return sink->full_bytes + tele_trace_written_bytes(sink->writer);
}

uint64_t rec_sink_dropped(const struct rec_sink *sink)
{
	return sink->n_dropped;
}

// What is no trace is not ours to remove, whatever its name.
static bool is_trace(const char *path)
{
	char magic[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	bool is_ours = fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
		       memcmp(magic, "RCALLTR1", sizeof(magic)) == 0;
	if (fd >= 0)
		close(fd);
	return is_ours;
}

// Removes the oldest full piece. False when there is none.
static bool drop_oldest(struct rec_sink *sink)
{
	char path[4096];
	while (sink->first_kept <= sink->last_kept) {
		if (name_of(sink, sink->first_kept++, path, sizeof(path)) != 0 || !is_trace(path) || unlink(path) != 0)
			continue;
		sink->n_full -= sink->n_full > 0;
		sink->n_dropped++;
		return true;
	}
	return false;
}

static void drop_surplus(struct rec_sink *sink)
{
	while (sink->settings.n_keep && sink->n_full > sink->settings.n_keep && drop_oldest(sink))
		;
}

// Whether to try a write again, the oldest piece having made room for it.
static bool has_made_room(struct rec_sink *sink, int failed)
{
	bool is_full = failed == -ENOSPC || failed == -EDQUOT;
	return is_full && sink->settings.n_keep && drop_oldest(sink) && tele_trace_go_on(sink->writer);
}

int rec_sink_stream(struct rec_sink *sink, const struct tele_identity *identity,
		    const uint8_t *schema, size_t schema_bytes, struct tele_error *ret_error)
{
	int failed;
	do
		failed = tele_trace_write_stream(sink->writer, identity, schema, schema_bytes, ret_error);
	while (has_made_room(sink, failed));
	sink->n_blocks += !failed;
	return failed;
}

int rec_sink_growth(struct rec_sink *sink, uint64_t instance_id, const uint8_t *schema, size_t from,
		    size_t schema_bytes, struct tele_error *ret_error)
{
	int failed;
	do
		failed = tele_trace_write_growth(sink->writer, instance_id, schema, from, schema_bytes, ret_error);
	while (has_made_room(sink, failed));
	return failed;
}

int rec_sink_block(struct rec_sink *sink, const uint8_t *block, size_t block_bytes,
		   struct tele_error *ret_error)
{
	int failed;
	do
		failed = tele_trace_write_block(sink->writer, block, block_bytes, ret_error);
	while (has_made_room(sink, failed));
	sink->n_blocks += !failed;
	return failed;
}

int rec_sink_sync(struct rec_sink *sink, struct tele_error *ret_error)
{
	int failed;
	do
		failed = tele_trace_sync(sink->writer, ret_error);
	while (has_made_room(sink, failed));
	return failed;
}

// Gives the full piece the first free number.
static int rename_piece(struct rec_sink *sink, struct tele_error *ret_error)
{
	char path[4096];
	const char *from = sink->settings.path;
	for (uint64_t number = sink->last_kept + 1; number < PIECES_MAX; number++) {
		int failed = name_of(sink, number, path, sizeof(path));
		if (failed)
			return tele_fail(ret_error, failed, "%s: %s", from, tele_strerror(failed));
		int result = renameat2(AT_FDCWD, from, AT_FDCWD, path, RENAME_NOREPLACE);
		if (result != 0 && (errno == EINVAL || errno == ENOSYS))
			result = access(path, F_OK) == 0 ? (errno = EEXIST, -1) : rename(from, path);
		if (result == 0) {
			sink->last_kept = number;
			sink->n_full++;
			return 0;
		}
		if (errno != EEXIST)
			return tele_fail(ret_error, -errno, "cannot rename %s to %s: %s", from, path,
					 tele_strerror(-errno));
	}
	return tele_fail(ret_error, -EEXIST, "%s: more than %d pieces", from, PIECES_MAX);
}

// Pieces of an earlier recording of that name: numbers go on behind them, and
// with `replace` they are counted among those to keep.
static int find_pieces(struct rec_sink *sink, struct tele_error *ret_error)
{
	const char *path = sink->settings.path, *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const size_t name_len = strlen(name);
	char folder[4096];
	uint64_t lowest = UINT64_MAX;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	DIR *entries = opendir(folder);
	if (!entries)
		return tele_fail(ret_error, -errno, "%s: %s", folder, tele_strerror(-errno));
	for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
		const char *digits = entry->d_name + name_len + 1;
		if (strncmp(entry->d_name, name, name_len) != 0 || entry->d_name[name_len] != '.' || digits[0] < '1' ||
		    digits[0] > '9' || digits[strspn(digits, "0123456789")] || strlen(digits) > 6)
			continue;
		uint64_t number = strtoull(digits, NULL, 10);
		sink->last_kept = tele_max_u64(sink->last_kept, number);
		lowest = tele_min_u64(lowest, number);
		char piece[4096];
		sink->n_full += sink->settings.replace && name_of(sink, number, piece, sizeof(piece)) == 0 && is_trace(piece);
	}
	closedir(entries);
	sink->first_kept = sink->settings.replace && lowest != UINT64_MAX ? lowest : sink->last_kept + 1;
	return 0;
}

// An earlier recording that was cut off is a piece, too: with `replace` it is
// named as one and not removed.
static int begin_pieces(struct rec_sink *sink, struct tele_error *ret_error)
{
	const char *path = sink->settings.path;
	if (!is_regular_or_new(path))
		return tele_fail(ret_error, -EINVAL, "%s is not a regular file, and so cannot be recorded in pieces", path);
	int failed = find_pieces(sink, ret_error);
	if (failed || !sink->settings.replace || access(path, F_OK) != 0)
		return failed;
	if (tele_trace_is_being_written(path))
		return tele_fail(ret_error, -EBUSY, "%s: another recorder is writing to it", path);
	failed = rename_piece(sink, ret_error);
	if (!failed)
		drop_surplus(sink);
	return failed;
}

int rec_sink_open(const struct rec_sink_settings *settings, struct rec_sink **ret_sink,
		  struct tele_error *ret_error)
{
	struct rec_sink *sink = calloc(1, sizeof(*sink));
	if (!sink)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	sink->settings = *settings;
	sink->first_kept = 1;
	int failed = settings->max_bytes ? begin_pieces(sink, ret_error) : 0;
	if (!failed)
		failed = tele_trace_create(settings->path, settings->replace, &sink->writer, ret_error);
	if (failed) {
		free(sink);
		return failed;
	}
	*ret_sink = sink;
	return 0;
}

int rec_sink_end(struct rec_sink *sink, struct tele_error *ret_error)
{
	int failed = sink->settings.before_end ? sink->settings.before_end(sink->settings.context, ret_error) : 0;
	while (!failed) {
		failed = tele_trace_end(sink->writer, ret_error);
		if (!has_made_room(sink, failed))
			break;
		failed = 0;
	}
	return failed;
}

static int next_piece(struct rec_sink *sink, struct tele_error *ret_error)
{
	int failed = rec_sink_end(sink, ret_error);
	if (failed)
		return failed;
	uint64_t full_bytes = rec_sink_written_bytes(sink);
	struct tele_trace_writer *full = sink->writer;
	failed = rename_piece(sink, ret_error);
	drop_surplus(sink);
	while (!failed) {
		failed = tele_trace_create(sink->settings.path, false, &sink->writer, ret_error);
		if (failed != -ENOSPC || !sink->settings.n_keep || !drop_oldest(sink))
			break;
		failed = 0;
	}
	if (failed)
		return failed; // the full one stays open, and is closed in the end
	sink->full_bytes = full_bytes;
	sink->n_blocks = 0;
	sink->piece++;
	return tele_trace_finish(full, ret_error);
}

int rec_sink_make_room(struct rec_sink *sink, size_t n_bytes, struct tele_error *ret_error)
{
	uint64_t max_bytes = sink->settings.max_bytes;
	if (max_bytes == 0 || sink->n_blocks == 0 ||
	    tele_trace_bytes_with(sink->writer, n_bytes) <= max_bytes)
		return 0;
	return next_piece(sink, ret_error);
}

int rec_sink_close(struct rec_sink *sink, struct tele_error *ret_error)
{
	if (!sink)
		return 0;
	int failed = tele_trace_finish(sink->writer, ret_error);
	free(sink);
	return failed;
}
