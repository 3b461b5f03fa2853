// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Making a segment. The file is born without a name (O_TMPFILE), is given all
// its pages at once (so that no later store can meet a full file system), is
// filled and locked, and only then linked: a name never points at half a
// segment, and a crash before that leaves nothing behind. The lock is a POSIX
// record lock: it goes with the process whatever kills it, is not inherited by
// fork, and readers can probe it from another user or PID namespace.

#include "segment_create.h"

#include "../segment.h"
#include "process.h"
#include "publisher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../banned.h"

#define TMPFS_FILESYSTEM 0x01021994

// Opens the directory, or makes it. Only a directory that is ours and that
// nobody else may write into will do: /dev/shm is sticky, so anyone could have
// made one under our name before us.
static int open_directory(const char *path, const char **ret_what)
{
	struct stat status;
	*ret_what = "make directory";
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	*ret_what = "open directory";
	int fd = tele_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd < 0)
		return fd;
	*ret_what = "trust directory";
	if (fstat(fd, &status) < 0 || status.st_uid != geteuid() || (status.st_mode & 022)) {
		close(fd);
		return TELE_EUNSAFE;
	}
	return fd;
}

static int lock_whole_file(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	return fcntl(fd, F_SETLK, &lock) < 0 ? -errno : 0;
}

// Takes the next n_bytes of the file, whole pages.
static uint64_t take(uint64_t *at, size_t n_bytes)
{
	uint64_t offset = *at;
	*at += tele_align_up(n_bytes, TELE_PAGE_BYTES);
	return offset;
}

static void lay_out(struct tele_layout *layout, size_t ring_bytes)
{
	uint64_t at = TELE_PAGE_BYTES; // the header
	size_t latest_bytes = tele_align_up(TELE_LATEST_SLOT_BYTES(TELE_SEGMENT_FIELDS_MAX), 128);
	*layout = (struct tele_layout){
		.schema_capacity_bytes = TELE_SCHEMA_BYTES_DEFAULT,
		.fields_capacity = TELE_SEGMENT_FIELDS_MAX,
		.latest_slot_bytes = latest_bytes,
		.slot_bytes = TELE_SLOT_BYTES,
		.n_slots = TELE_SLOTS,
		.chunk_bytes = TELE_CHUNK_BYTES,
		.ring_bytes = ring_bytes,
		.block_bytes_max = tele_min_u64(ring_bytes / 4, TELE_BLOCK_BYTES_MAX),
		.rows_per_block = TELE_CHUNK_ROWS_MAX,
	};
	layout->control_offset = take(&at, TELE_PAGE_BYTES);
	layout->schema_offset = take(&at, TELE_SCHEMA_BYTES_DEFAULT);
	layout->latest_offset = take(&at, 2 * latest_bytes);
	layout->slots_offset = take(&at, (size_t)TELE_SLOTS * TELE_SLOT_BYTES);
	layout->chunk_offset = take(&at, 2 * (size_t)TELE_CHUNK_BYTES);
	layout->ring_offset = take(&at, ring_bytes);
	layout->segment_bytes = at;
}

// Gives the file its size and all its pages. SIGXFSZ is blocked in the
// publisher thread, so that a limit is an error and not a signal.
static int allocate(int fd, struct tele_layout *layout, size_t ring_bytes)
{
	int failed;
	for (;;) {
		lay_out(layout, ring_bytes);
		do {
			failed = posix_fallocate(fd, 0, (off_t)layout->segment_bytes);
		} while (failed == EINTR);
		bool is_room = failed == ENOSPC || failed == EFBIG || failed == ENOMEM;
		if (!is_room || ring_bytes <= TELE_RING_BYTES_MIN)
			return -failed;
		ring_bytes /= 2;
	}
}

static int link_file(int fd, int directory_fd, const char *name)
{
	char self[64];
	snprintf(self, sizeof(self), "/proc/thread-self/fd/%d", fd);
	return linkat(AT_FDCWD, self, directory_fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static uint8_t *map_file(int fd, size_t bytes, bool is_written)
{
	int flags = is_written ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, is_written ? -1 : fd, 0);
	if (mapped == MAP_FAILED)
		return NULL;
	madvise(mapped, bytes, MADV_DONTFORK);
	madvise(mapped, bytes, MADV_NOHUGEPAGE);
	return mapped;
}

// In write mode header and schema go out before the file has a name.
static int write_start(const struct tele_segment_file *file, size_t schema_bytes)
{
	size_t bytes = file->layout.schema_offset + schema_bytes;
	ssize_t written = file->is_written ? pwrite(file->fd, file->bytes, bytes, 0) : (ssize_t)bytes;
	return written == (ssize_t)bytes ? 0 : written < 0 ? -errno : -ENOSPC;
}

static int make_in(int directory_fd, const struct tele_identity *identity, size_t ring_bytes,
		   const uint8_t *schema, size_t schema_bytes, struct tele_segment_file *file,
		   const char *directory, const char **ret_what)
{
	uint64_t header[TELE_HEADER_WORDS];
	char name[64];
	*ret_what = "create segment";
	int fd = tele_open(directory_fd, ".", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0)
		return fd;
	file->fd = fd;
	*ret_what = "find room for the segment";
	int failed = allocate(fd, &file->layout, ring_bytes);
	if (failed)
		goto fail;
	*ret_what = "map segment";
	failed = -ENOMEM;
	file->bytes = map_file(fd, file->layout.segment_bytes, file->is_written);
	if (!file->bytes)
		goto fail;
	tele_header_encode(identity, &file->layout, header);
	memcpy(file->bytes, header, sizeof(header));
	TELE_ASSERT(schema_bytes <= file->layout.schema_capacity_bytes);
	memcpy(file->bytes + file->layout.schema_offset, schema, schema_bytes);
	*ret_what = "write segment";
	failed = write_start(file, schema_bytes);
	if (failed)
		goto fail;
	*ret_what = "lock segment";
	failed = lock_whole_file(fd);
	if (failed && failed != -ENOLCK && failed != -ENOSYS)
		goto fail;
	snprintf(name, sizeof(name), "%llu.%016llx.rcs", (unsigned long long)identity->pid,
		 (unsigned long long)identity->instance_id);
	*ret_what = "name segment";
	failed = -ENAMETOOLONG;
	if ((size_t)snprintf(file->path, sizeof(file->path), "%s/%s", directory, name) >= sizeof(file->path))
		goto fail;
	failed = link_file(fd, directory_fd, name);
	if (failed)
		goto fail;
	return 0;
fail:
	if (file->bytes)
		munmap(file->bytes, file->layout.segment_bytes);
	file->bytes = NULL;
	close(fd);
	return failed;
}

int tele_segment_create(const struct tele_identity *identity, const char *directory,
			size_t ring_bytes, const uint8_t *schema, size_t schema_bytes,
			struct tele_segment_file *ret_file, const char **ret_what)
{
	memset(ret_file, 0, sizeof(*ret_file));
	int directory_fd = open_directory(directory, ret_what);
	if (directory_fd < 0)
		return directory_fd;
	struct statfs status;
	ret_file->is_written =
		fstatfs(directory_fd, &status) == 0 && status.f_type != TMPFS_FILESYSTEM;
	// In a table that is not ours, somebody else's file may take our number.
	if (ret_file->is_written && !tele_has_own_table) {
		*ret_what = "write segments off tmpfs";
		close(directory_fd);
		return -ENOSYS;
	}
	int failed = make_in(directory_fd, identity, ring_bytes, schema, schema_bytes, ret_file,
			     directory, ret_what);
	close(directory_fd);
	return failed;
}

int tele_segment_relock(struct tele_segment_file *file)
{
	struct stat status;
	uint64_t header[TELE_HEADER_WORDS];
	int fd = tele_open(AT_FDCWD, file->path, O_RDWR | O_NOFOLLOW, 0);
	file->fd = -1; // went with the thread
	if (fd < 0)
		return fd;
	// The same path may lead elsewhere in a new mount namespace.
	if (fstat(fd, &status) < 0 || (uint64_t)status.st_size != file->layout.segment_bytes ||
	    pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header, file->bytes, sizeof(header)) != 0) {
		close(fd);
		return -ESTALE;
	}
	int failed = lock_whole_file(fd);
	if (failed && failed != -ENOLCK && failed != -ENOSYS) {
		close(fd);
		return failed;
	}
	file->fd = fd;
	return 0;
}
