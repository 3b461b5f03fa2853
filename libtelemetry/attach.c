// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Opening a segment and reading what changes in it: the control page, the
// state, the schema, the latest row. Every byte is foreign: a hostile or broken
// writer can make us report lies, and nothing worse. Offsets are checked once
// against the size of the file, and each read may still come up short.

#include "attach_private.h"
#include "fence.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"

#define STALE_LEAST_NS 1000000000u
#define STALE_PERIODS 5
#define LATEST_TRIES 100

int tele_attach_pread(const struct tele_attach *attach, void *bytes, size_t n_bytes, uint64_t offset)
{
	size_t done = 0;
	while (done < n_bytes) {
		ssize_t n = pread(attach->fd, (uint8_t *)bytes + done, n_bytes - done,
				  (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return TELE_ETRUNCATED;
		done += (size_t)n;
	}
	// What is read next is read after this: pairs with the writer's releases.
	tele_fence_acquire();
	return 0;
}

static bool is_inside(uint64_t offset, uint64_t n_bytes, uint64_t file_bytes)
{
	return offset >= TELE_PAGE_BYTES && offset % 8 == 0 && n_bytes <= file_bytes &&
	       offset <= file_bytes - n_bytes;
}

static int check_layout(const struct tele_layout *layout, uint64_t file_bytes,
			struct tele_error *ret_error)
{
	uint64_t ring = layout->ring_bytes;
	if (layout->segment_bytes > file_bytes)
		return tele_fail(ret_error, TELE_ETRUNCATED, "segment of %llu bytes is cut at %llu",
				 (unsigned long long)layout->segment_bytes,
				 (unsigned long long)file_bytes);
	bool is_sane = ring >= TELE_RING_BYTES_MIN && ring <= TELE_RING_BYTES_MAX &&
		       (ring & (ring - 1)) == 0 && layout->fields_capacity <= TELE_FIELDS_MAX &&
		       layout->schema_capacity_bytes <= TELE_SCHEMA_BYTES_MAX &&
		       layout->latest_slot_bytes <= UINT32_MAX &&
		       layout->latest_slot_bytes >= TELE_LATEST_SLOT_BYTES(layout->fields_capacity) &&
		       layout->chunk_bytes >= TELE_CHUNK_HEADER_BYTES &&
		       layout->chunk_bytes <= (16u << 20) && layout->n_slots <= 4096 &&
		       layout->slot_bytes >= 8 * TELE_SLOT_PARTS && layout->slot_bytes <= 65536 &&
		       layout->slot_bytes % 8 == 0 &&
		       is_inside(layout->control_offset, TELE_PAGE_BYTES, file_bytes) &&
		       is_inside(layout->schema_offset, layout->schema_capacity_bytes, file_bytes) &&
		       is_inside(layout->latest_offset, 2 * layout->latest_slot_bytes, file_bytes) &&
		       is_inside(layout->chunk_offset, 2 * layout->chunk_bytes, file_bytes) &&
		       is_inside(layout->slots_offset, layout->n_slots * layout->slot_bytes, file_bytes) &&
		       is_inside(layout->ring_offset, ring, file_bytes);
	if (!is_sane)
		return tele_fail(ret_error, TELE_EDAMAGED, "segment header with impossible offsets");
	return 0;
}

// The file `name` of a directory; `path` is what it is called in errors.
static int open_file(int directory_fd, const char *name, const char *path,
		     struct tele_attach *attach, uint64_t *ret_file_bytes,
		     struct tele_error *ret_error)
{
	struct stat status;
	attach->fd = openat(directory_fd, name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (attach->fd < 0)
		return tele_fail(ret_error, -errno, "cannot open %s: %s", path, strerrordesc_np(errno));
	if (fstat(attach->fd, &status) < 0)
		return tele_fail(ret_error, -errno, "cannot stat %s", path);
	if (!S_ISREG(status.st_mode) || status.st_nlink > 1)
		return tele_fail(ret_error, TELE_EUNSAFE, "%s is not a plain file of one name", path);
	if ((uint64_t)status.st_size < TELE_SEGMENT_BYTES_MIN)
		return tele_fail(ret_error, TELE_ETRUNCATED, "%s is too short for a segment", path);
	if ((uint64_t)status.st_size > TELE_SEGMENT_BYTES_MAX)
		return tele_fail(ret_error, TELE_ELIMIT, "%s is too long for a segment", path);
	attach->owner = status.st_uid;
	*ret_file_bytes = (uint64_t)status.st_size;
	return 0;
}

static int read_header(struct tele_attach *attach, uint64_t file_bytes, struct tele_error *ret_error)
{
	uint64_t words[TELE_HEADER_WORDS];
	int failed = tele_attach_pread(attach, words, sizeof(words), 0);
	if (failed)
		return tele_fail(ret_error, failed, "cannot read the header of %s: %s", attach->path,
				 tele_strerror(failed));
	failed = tele_header_decode(words, &attach->instance.identity, &attach->layout, ret_error);
	if (failed)
		return failed;
	return check_layout(&attach->layout, file_bytes, ret_error);
}

int tele_attach_open_at(int directory_fd, const char *name, const char *path,
			struct tele_schema_pool *schemas, struct tele_attach **ret_attach,
			struct tele_error *ret_error)
{
	uint64_t file_bytes = 0;
	struct tele_attach *attach = calloc(1, sizeof(*attach));
	if (!attach)
		return tele_fail(ret_error, -ENOMEM, "no memory");
	attach->fd = -1;
	int failed = tele_fail(ret_error, -ENAMETOOLONG, "path too long: %.64s...", path);
	if ((size_t)snprintf(attach->path, sizeof(attach->path), "%s", path) >= sizeof(attach->path))
		goto fail;
	failed = open_file(directory_fd, name, path, attach, &file_bytes, ret_error);
	if (!failed)
		failed = read_header(attach, file_bytes, ret_error);
	if (failed)
		goto fail;
	attach->strings = tele_strings_new();
	attach->instance.strings = attach->strings;
	attach->schemas = schemas;
	// Of the pool from the start, empty as it is: so the pool lasts as long as this.
	failed = attach->strings ? tele_schema_pool_get(schemas, NULL, 0, &attach->pooled, ret_error)
				 : tele_fail(ret_error, -ENOMEM, "no memory");
	if (failed)
		goto fail;
	attach->instance.schema = attach->pooled->schema;
	failed = tele_attach_refresh(attach, ret_error);
	if (failed < 0)
		goto fail;
	attach->ring_cursor = attach->control[TELE_CONTROL_HEAD];
	// Where nothing was sealed yet, all is there from the first record on, and
	// what is missed of it later is lost.
	attach->next_seq = attach->control[TELE_CONTROL_TAIL] == 0 ? 1 : 0;
	*ret_attach = attach;
	return 0;
fail:
	tele_attach_close(attach);
	return failed;
}

int tele_attach_open(const char *path, struct tele_attach **ret_attach, struct tele_error *ret_error)
{
	return tele_attach_open_at(AT_FDCWD, path, path, NULL, ret_attach, ret_error);
}

int tele_attach_reopen(const struct tele_attach *attach, struct tele_attach **ret_attach,
		       struct tele_error *ret_error)
{
	return tele_attach_open_at(AT_FDCWD, attach->path, attach->path, attach->schemas, ret_attach,
				   ret_error);
}

void tele_attach_close(struct tele_attach *attach)
{
	if (!attach)
		return;
	if (attach->fd >= 0)
		close(attach->fd);
	tele_open_rows_free(&attach->open);
	tele_schema_pool_put(attach->pooled);
	tele_strings_free(attach->strings);
	free(attach->block);
	free(attach->scratch);
	free(attach->provisional);
	free(attach);
}

struct tele_instance *tele_attach_instance(struct tele_attach *attach)
{
	return &attach->instance;
}

const char *tele_attach_path(const struct tele_attach *attach)
{
	return attach->path;
}

uint64_t tele_attach_segment_bytes(const struct tele_attach *attach)
{
	return attach->layout.segment_bytes;
}

bool tele_attach_is_evidence(const struct tele_attach *attach)
{
	// What stands in a slot has not come to the publisher yet, who would say so.
	return attach->control[TELE_CONTROL_EVIDENCE] != 0 ||
	       attach->control[TELE_CONTROL_CLAIMED] != attach->control[TELE_CONTROL_DRAINED];
}

uint64_t tele_attach_heartbeat_ns(const struct tele_attach *attach)
{
	return attach->control[TELE_CONTROL_HEARTBEAT];
}

uint64_t tele_attach_rows_published(const struct tele_attach *attach)
{
	return attach->control[TELE_CONTROL_ROWS];
}

const uint8_t *tele_attach_schema_bytes(const struct tele_attach *attach, size_t *ret_bytes)
{
	*ret_bytes = attach->pooled->n_bytes;
	return attach->pooled->bytes;
}

int tele_attach_read_control(struct tele_attach *attach)
{
	return tele_attach_pread(attach, attach->control, sizeof(attach->control),
				 attach->layout.control_offset);
}

int tele_attach_read_schema(struct tele_attach *attach, struct tele_error *ret_error)
{
	struct tele_pooled_schema *grown;
	const struct tele_pooled_schema *before = attach->pooled;
	uint64_t committed = attach->control[TELE_CONTROL_SCHEMA_BYTES];
	if (committed <= before->n_bytes)
		return 0;
	if (committed > attach->layout.schema_capacity_bytes)
		return tele_fail(ret_error, TELE_EDAMAGED, "schema longer than its area");
	uint8_t *bytes = malloc(committed);
	if (!bytes)
		return tele_fail(ret_error, -ENOMEM, "no memory");
	// What was read once is not asked for again: it may not change.
	memcpy(bytes, before->bytes, before->n_bytes);
	int failed = tele_attach_pread(attach, bytes + before->n_bytes, committed - before->n_bytes,
				       attach->layout.schema_offset + before->n_bytes);
	if (failed)
		tele_fail(ret_error, failed, "cannot read the schema of %s: %s", attach->path,
			  tele_strerror(failed));
	else
		failed = tele_schema_pool_get(attach->schemas, bytes, committed, &grown, ret_error);
	free(bytes);
	if (failed)
		return failed;
	tele_schema_pool_put(attach->pooled);
	attach->pooled = grown;
	attach->instance.schema = grown->schema;
	return 1;
}

// ---- State ------------------------------------------------------------------------

// Field 22 of /proc/PID/stat, or 0 when there is no such process.
static uint64_t start_ticks_of(uint64_t pid)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	const char *at = strrchr(text, ')');
	if (at && at[1] == ' ' && at[2] == 'Z')
		return 0; // a zombie publishes nothing any more
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

// In another PID namespace its number means nothing here, and what its lock and
// heartbeat say is all there is.
static bool is_of_other_namespace(const struct tele_identity *identity)
{
	struct stat status;
	return identity->pid_namespace && stat("/proc/self/ns/pid", &status) == 0 &&
	       status.st_ino != identity->pid_namespace;
}

static bool is_process_alive(const struct tele_identity *identity)
{
	return identity->start_ticks && start_ticks_of(identity->pid) == identity->start_ticks;
}

bool tele_attach_is_locked(const struct tele_attach *attach)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	return fcntl(attach->fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool tele_attach_is_heartbeat_old(const struct tele_attach *attach)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	uint64_t heartbeat = attach->control[TELE_CONTROL_HEARTBEAT];
	uint64_t period = attach->instance.identity.period_ns;
	uint64_t limit = period > UINT64_MAX / STALE_PERIODS ? UINT64_MAX : period * STALE_PERIODS;
	return now_ns > heartbeat && now_ns - heartbeat > tele_max_u64(limit, STALE_LEAST_NS);
}

bool tele_attach_is_of_other_boot(const struct tele_attach *attach)
{
	static uint64_t boot[2];
	const struct tele_identity *identity = &attach->instance.identity;
	if (!boot[0] && !boot[1]) {
		char text[64] = "";
		int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		if (n > 0)
			tele_boot_id_parse(text, boot);
	}
	return (boot[0] || boot[1]) &&
	       (boot[0] != identity->boot_id[0] || boot[1] != identity->boot_id[1]);
}

static enum tele_state state_of(const struct tele_attach *attach)
{
	const struct tele_identity *identity = &attach->instance.identity;
	uint64_t written = attach->control[TELE_CONTROL_STATE];
	if (written == TELE_EXITED || written == TELE_REPLACED)
		return (enum tele_state)written;
	if (tele_attach_is_of_other_boot(attach))
		return TELE_KILLED;
	if (written == TELE_LIVE && tele_attach_is_locked(attach))
		return tele_attach_is_heartbeat_old(attach) ? TELE_STALE : TELE_LIVE;
	if (written == TELE_STARTING && tele_attach_is_locked(attach))
		return TELE_STARTING;
	bool is_hidden = is_of_other_namespace(identity);
	bool is_alive = !is_hidden && is_process_alive(identity);
	if (written == TELE_LIVE && !tele_attach_is_heartbeat_old(attach) && (is_alive || is_hidden))
		return TELE_LIVE_UNLOCKED;
	if (written == TELE_PARKED && is_hidden)
		return TELE_PARKED;
	if (!is_alive)
		return attach->control[TELE_CONTROL_EXEC] ? TELE_REPLACED : TELE_KILLED;
	if (written == TELE_PARKED || written == TELE_DISABLED)
		return (enum tele_state)written;
	return TELE_REPLACED;
}

int tele_attach_refresh(struct tele_attach *attach, struct tele_error *ret_error)
{
	int failed = tele_attach_read_control(attach);
	// Of a process that is gone, its last words: the page may be from before.
	if (!failed && !tele_state_is_alive(state_of(attach)))
		failed = tele_attach_read_control(attach);
	if (failed) {
		attach->instance.state = TELE_UNREADABLE;
		return tele_fail(ret_error, failed, "cannot read %s: %s", attach->path,
				 tele_strerror(failed));
	}
	attach->instance.state = state_of(attach);
	return tele_attach_read_schema(attach, ret_error);
}

// ---- The latest row -----------------------------------------------------------------

static int try_latest(struct tele_attach *attach, uint64_t *ret_row, size_t capacity,
		      uint32_t *ret_n_fields, uint64_t *ret_seq)
{
	uint64_t latest, front[TELE_LATEST_HEADER_WORDS], again[TELE_LATEST_HEADER_WORDS];
	const struct tele_layout *layout = &attach->layout;
	int failed = tele_attach_pread(attach, &latest, sizeof(latest),
				       layout->control_offset + 8 * TELE_CONTROL_LATEST);
	if (failed)
		return failed;
	if (latest == 0)
		return TELE_ENOTREADY;
	uint64_t offset = layout->latest_offset + (latest & 1) * layout->latest_slot_bytes;
	failed = tele_attach_pread(attach, front, sizeof(front), offset);
	if (failed)
		return failed;
	if (front[0] == 0)
		return TELE_EOVERRUN;
	uint64_t n_fields = tele_min_u64(front[1], layout->fields_capacity);
	n_fields = tele_min_u64(n_fields, capacity);
	failed = tele_attach_pread(attach, ret_row, n_fields * 8, offset + sizeof(front));
	if (!failed)
		failed = tele_attach_pread(attach, again, sizeof(again), offset);
	if (failed)
		return failed;
	// Both: the words of one read come in any order, and the number of fields may
	// have been looked at before seq was.
	if (again[0] != front[0] || again[1] != front[1])
		return TELE_EOVERRUN;
	*ret_n_fields = (uint32_t)n_fields;
	*ret_seq = front[0];
	return 0;
}

// Whether the row names a string whose text is not known yet.
static bool lacks_text(const struct tele_attach *attach, const uint64_t *row, uint32_t n_fields)
{
	const struct tele_schema *schema = attach->instance.schema;
	for (uint32_t i = 0; i < n_fields && i < schema->n_fields; i++)
		if (schema->fields[i].unit == TELE_STRING && row[i] != TELE_UNKNOWN && row[i] != 0 &&
		    !tele_strings_get(attach->strings, row[i]))
			return true;
	return false;
}

// What only the open chunk tells: texts that its rows use, and of a dead process
// the boundaries that nobody drained, of which the last carries the last row.
static void take_open(struct tele_attach *attach, uint64_t *row, size_t capacity,
		      uint32_t *n_fields, uint64_t *seq)
{
	const struct tele_open_rows *open = &attach->open;
	if (tele_attach_read_open(attach, NULL) != 1)
		return;
	for (uint32_t i = 0; i < open->n_strings; i++)
		if (open->strings[i].id < TELE_STRING_TRANSIENT)
			tele_strings_define(attach->strings, open->strings[i].id,
					    open->strings[i].text, open->strings[i].len);
	if (tele_state_is_alive(attach->instance.state) || open->n_rows == 0 ||
	    open->row_seqs[open->n_rows - 1] <= *seq)
		return;
	*n_fields = (uint32_t)tele_min_u64(open->n_fields, capacity);
	*seq = open->row_seqs[open->n_rows - 1];
	memcpy(row, open->rows + (size_t)(open->n_rows - 1) * open->n_fields, *n_fields * sizeof(*row));
}

int tele_attach_latest_stored(struct tele_attach *attach, uint64_t *ret_row, size_t capacity,
			      uint32_t *ret_n_fields, uint64_t *ret_seq)
{
	int failed = TELE_EOVERRUN;
	for (int i = 0; i < LATEST_TRIES && failed == TELE_EOVERRUN; i++)
		failed = try_latest(attach, ret_row, capacity, ret_n_fields, ret_seq);
	return failed;
}

int tele_attach_latest(struct tele_attach *attach, uint64_t *ret_row, size_t capacity,
		       uint32_t *ret_n_fields, uint64_t *ret_seq, struct tele_error *ret_error)
{
	int failed = tele_attach_latest_stored(attach, ret_row, capacity, ret_n_fields, ret_seq);
	bool is_alive = tele_state_is_alive(attach->instance.state);
	if (failed == TELE_ENOTREADY && !is_alive) {
		// Killed between its first row and the word that tells of it?
		*ret_n_fields = 0;
		*ret_seq = 0;
		take_open(attach, ret_row, capacity, ret_n_fields, ret_seq);
		failed = *ret_seq ? 0 : failed;
	} else if (!failed && (!is_alive || lacks_text(attach, ret_row, *ret_n_fields))) {
		take_open(attach, ret_row, capacity, ret_n_fields, ret_seq);
	}
	// A dead one tells nothing new, and need not be asked again.
	if (is_alive)
		tele_open_rows_trim(&attach->open);
	else
		tele_open_rows_free(&attach->open);
	if (failed)
		return tele_fail(ret_error, failed, "latest row of %s: %s", attach->path,
				 tele_strerror(failed));
	return 0;
}
