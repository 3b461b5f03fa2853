// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Finding segments. A directory is read only when its owner is the user its
// name says (or, given by name, anyone's that nobody else may write into), and
// a file only when its owner is the directory's. What was open stays open: a
// refresh of fifty processes is fifty small reads. Among many users none can
// crowd out another: names are counted first, and each gets an equal share of
// the descriptors there are, or less where it wants less.

#include "discover.h"

#include "attach_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"

#define SEGMENTS_MAX 16384
#define ENTRIES_MAX  65536 // names looked at in a directory
#define SPARE_FDS    64	   // descriptors that are left to everything else

struct scan {
	struct tele_found_list *list;
	uint32_t *by_path; // the items there were before, in order of their paths
	size_t n_before;
	int changes;
};

// A directory among those of all users.
struct user {
	uid_t uid;
	uint32_t n_segments;
};

int tele_default_directory(char *buffer, size_t size)
{
	const char *given = secure_getenv("ROLLCALL_DIR");
	int len = given && *given ? snprintf(buffer, size, "%s", given)
				  : snprintf(buffer, size, "/dev/shm/rollcall-%u", (unsigned)geteuid());
	return len < 0 || (size_t)len >= size ? -ENAMETOOLONG : 0;
}

static bool is_segment_name(const char *name)
{
	size_t digits = strspn(name, "0123456789");
	size_t hex = digits && name[digits] == '.' ? strspn(name + digits + 1, "0123456789abcdef") : 0;
	return hex == 16 && strcmp(name + digits + 1 + hex, ".rcs") == 0;
}

static int compare_index(const void *left, const void *right, void *list)
{
	const struct tele_found *items = ((const struct tele_found_list *)list)->items;
	return strcmp(items[*(const uint32_t *)left].path, items[*(const uint32_t *)right].path);
}

// Puts the items there are in order of their paths, to be found again.
static int start_scan(struct scan *scan, struct tele_found_list *list)
{
	*scan = (struct scan){.list = list, .n_before = list->n_items};
	if (!list->schemas)
		list->schemas = tele_schema_pool_new();
	scan->by_path = list->schemas ? calloc(list->n_items + 1, sizeof(*scan->by_path)) : NULL;
	if (!scan->by_path)
		return -ENOMEM;
	for (size_t i = 0; i < list->n_items; i++) {
		scan->by_path[i] = (uint32_t)i;
		list->items[i].is_seen = false;
	}
	qsort_r(scan->by_path, list->n_items, sizeof(*scan->by_path), compare_index, list);
	return 0;
}

static struct tele_found *find_path(const struct scan *scan, const char *path)
{
	size_t low = 0;
	size_t high = scan->n_before;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct tele_found *item = &scan->list->items[scan->by_path[middle]];
		int order = strcmp(item->path, path);
		if (order == 0)
			return item;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static struct tele_found *append(struct tele_found_list *list)
{
	if (list->n_items == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 16;
		struct tele_found *grown = realloc(list->items, capacity * sizeof(*grown));
		if (!grown)
			return NULL;
		list->items = grown;
		list->capacity = capacity;
	}
	struct tele_found *item = &list->items[list->n_items++];
	memset(item, 0, sizeof(*item));
	return item;
}

// Opens (again) what is not open. 1 when that succeeded. What the directory's
// name leads to by now does not matter: the file is opened in the directory that
// was checked, and its owner is that of the file that is open.
static int open_item(const struct tele_found_list *list, struct tele_found *item, int directory_fd,
		     const char *name, uid_t owner)
{
	struct tele_attach *attach;
	if (tele_attach_open_at(directory_fd, name, item->path, list->schemas, &attach, &item->error))
		return 0;
	if (attach->owner != owner) {
		tele_attach_close(attach);
		tele_fail(&item->error, TELE_EUNSAFE, "%s does not belong to its directory's owner",
			  item->path);
		return 0;
	}
	item->attach = attach;
	item->error.code = 0;
	item->error.text[0] = '\0';
	return 1;
}

int tele_open_directory(const char *directory, uid_t owner, uid_t *ret_owner,
			struct tele_error *ret_error)
{
	struct stat status;
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return tele_fail(ret_error, -errno, "cannot open %s: %s", directory, strerrordesc_np(errno));
	bool is_known = fstat(fd, &status) == 0;
	bool is_of_other = owner != (uid_t)-1 && status.st_uid != owner;
	if (is_known && !is_of_other && !(status.st_mode & 022)) {
		*ret_owner = status.st_uid;
		return fd;
	}
	close(fd);
	if (is_known && is_of_other)
		return tele_fail(ret_error, TELE_EUNSAFE, "%s does not belong to user %u", directory,
				 (unsigned)owner);
	return tele_fail(ret_error, TELE_EUNSAFE,
			 "others may write into %s; make it yours alone (chmod 700)", directory);
}

// The item of that path, a new one where there is none. NULL: no memory.
static struct tele_found *take_path(struct scan *scan, const char *path)
{
	struct tele_found *item = find_path(scan, path);
	if (!item) {
		item = append(scan->list);
		if (!item)
			return NULL;
		snprintf(item->path, sizeof(item->path), "%s", path);
		scan->changes++;
	}
	item->is_seen = true;
	return item;
}

static void note_left_out(struct scan *scan, const char *directory, uint32_t n_taken, bool has_more)
{
	struct tele_found *item = has_more ? take_path(scan, directory) : NULL;
	if (item)
		tele_fail(&item->error, TELE_ELIMIT, "%s holds more segments than the %u that are read",
			  directory, n_taken);
}

// At most n_max segments of one directory, of `owner`, or of anyone (-1).
static int scan_directory(struct scan *scan, const char *directory, uid_t owner, uint32_t n_max,
			  struct tele_error *ret_error)
{
	uint32_t n_taken = 0;
	uint32_t n_entries = 0;
	bool has_more = false;
	uid_t found_owner;
	int fd = tele_open_directory(directory, owner, &found_owner, ret_error);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	DIR *entries = fdopendir(fd);
	if (!entries) {
		close(fd);
		return tele_fail(ret_error, -ENOMEM, "no memory");
	}
	for (struct dirent *entry; !has_more && (entry = readdir(entries)) != NULL;) {
		char path[sizeof(scan->list->items->path)];
		if (++n_entries > ENTRIES_MAX)
			has_more = true;
		if (!is_segment_name(entry->d_name) ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) >= sizeof(path))
			continue;
		has_more = has_more || n_taken == n_max;
		struct tele_found *item = has_more ? NULL : take_path(scan, path);
		if (!item)
			break;
		n_taken++;
		if (item->attach)
			tele_attach_refresh(item->attach, &item->error);
		else
			scan->changes += open_item(scan->list, item, fd, entry->d_name, found_owner);
	}
	note_left_out(scan, directory, n_taken, has_more);
	closedir(entries);
	return 0;
}

// ---- All users --------------------------------------------------------------------

static void user_directory(uid_t uid, char path[64])
{
	snprintf(path, 64, "/dev/shm/rollcall-%u", (unsigned)uid);
}

// How many segments a user has, as far as names tell.
static uint32_t count_segments(uid_t uid)
{
	char path[64];
	uint32_t n = 0;
	uint32_t n_entries = 0;
	uid_t owner;
	user_directory(uid, path);
	int fd = tele_open_directory(path, uid, &owner, NULL);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	if (!entries) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	for (struct dirent *entry; n_entries < ENTRIES_MAX && (entry = readdir(entries)) != NULL; n_entries++)
		n += is_segment_name(entry->d_name);
	closedir(entries);
	return n;
}

// Those who have segments. Returns their number, or an error.
static int64_t find_users(struct user **ret_users, struct tele_error *ret_error)
{
	struct user *users = NULL;
	size_t n_users = 0;
	DIR *entries = opendir("/dev/shm");
	if (!entries)
		return errno == ENOENT ? 0 : tele_fail(ret_error, -errno, "cannot open /dev/shm: %s",
						       strerrordesc_np(errno));
	for (struct dirent *entry; n_users < SEGMENTS_MAX && (entry = readdir(entries)) != NULL;) {
		char *end;
		if (strncmp(entry->d_name, "rollcall-", 9) != 0 || entry->d_name[9] < '0' ||
		    entry->d_name[9] > '9')
			continue;
		unsigned long uid = strtoul(entry->d_name + 9, &end, 10);
		uint32_t n = *end || uid >= (uid_t)-1 ? 0 : count_segments((uid_t)uid);
		struct user *grown = n ? realloc(users, (n_users + 1) * sizeof(*users)) : NULL;
		if (!grown)
			continue;
		users = grown;
		users[n_users++] = (struct user){.uid = (uid_t)uid, .n_segments = n};
	}
	closedir(entries);
	*ret_users = users;
	return (int64_t)n_users;
}

uint32_t tele_fair_share(const uint32_t *wants, size_t n_wants, uint32_t budget)
{
	uint32_t share = 0;
	for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
		uint64_t sum = 0;
		for (size_t i = 0; i < n_wants; i++)
			sum += tele_min_u64(wants[i], share | bit);
		if (sum <= budget)
			share |= bit;
	}
	return share;
}

// Root sees every user's directory, when its owner is whom its name says.
static int scan_all_users(struct scan *scan, uint32_t budget, struct tele_error *ret_error)
{
	struct user *users = NULL;
	int64_t n_users = find_users(&users, ret_error);
	if (n_users <= 0)
		return (int)n_users;
	uint32_t *wants = malloc((size_t)n_users * sizeof(*wants));
	for (int64_t i = 0; wants && i < n_users; i++)
		wants[i] = users[i].n_segments;
	uint32_t share = wants ? tele_fair_share(wants, (size_t)n_users, budget) : 0;
	free(wants);
	for (int64_t i = 0; i < n_users; i++) {
		char path[64];
		user_directory(users[i].uid, path);
		scan_directory(scan, path, users[i].uid, (uint32_t)tele_min_u64(share, TELE_SEGMENTS_OF_OWNER),
			       NULL);
	}
	free(users);
	return 0;
}

// How many segments may be open at a time.
static uint32_t descriptor_budget(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > SEGMENTS_MAX + SPARE_FDS)
		return SEGMENTS_MAX;
	return limit.rlim_cur > 2 * SPARE_FDS ? (uint32_t)limit.rlim_cur - SPARE_FDS : SPARE_FDS;
}

// By creation, then by path: unreadable ones last.
static int compare_found(const void *left, const void *right)
{
	const struct tele_found *a = left;
	const struct tele_found *b = right;
	uint64_t a_at = a->attach ? a->attach->instance.identity.created_realtime_ns : UINT64_MAX;
	uint64_t b_at = b->attach ? b->attach->instance.identity.created_realtime_ns : UINT64_MAX;
	if (a_at != b_at)
		return a_at < b_at ? -1 : 1;
	return strcmp(a->path, b->path);
}

static void drop_unseen(struct scan *scan)
{
	struct tele_found_list *list = scan->list;
	size_t n_kept = 0;
	for (size_t i = 0; i < list->n_items; i++) {
		if (list->items[i].is_seen) {
			list->items[n_kept++] = list->items[i];
			continue;
		}
		tele_attach_close(list->items[i].attach);
		scan->changes++;
	}
	list->n_items = n_kept;
	if (n_kept > 1)
		qsort(list->items, n_kept, sizeof(*list->items), compare_found);
}

int tele_discover(const char *directory, struct tele_found_list *list, struct tele_error *ret_error)
{
	char own[512];
	struct scan scan;
	int failed = start_scan(&scan, list);
	if (failed)
		return tele_fail(ret_error, failed, "no memory");
	const char *given = secure_getenv("ROLLCALL_DIR");
	uint32_t budget = descriptor_budget();
	if (!directory && geteuid() == 0 && !(given && *given)) {
		failed = scan_all_users(&scan, budget, ret_error);
	} else {
		failed = directory ? 0 : tele_default_directory(own, sizeof(own));
		if (failed)
			tele_fail(ret_error, failed, "ROLLCALL_DIR is too long");
		else
			failed = scan_directory(&scan, directory ? directory : own, (uid_t)-1, budget,
						ret_error);
	}
	if (!failed)
		drop_unseen(&scan);
	free(scan.by_path);
	return failed ? failed : scan.changes;
}

void tele_found_list_close(struct tele_found_list *list)
{
	for (size_t i = 0; i < list->n_items; i++)
		tele_attach_close(list->items[i].attach);
	free(list->items);
	tele_schema_pool_free(list->schemas);
	*list = (struct tele_found_list){0};
}
