// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Finding segments. A directory is read only when its owner is the user its
// name says (or, given by name, anyone's that nobody else may write into), and
// a file only when its owner is the directory's. What was open stays open: a
// refresh of fifty processes is fifty small reads.

#include "discover.h"

#include "attach_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"

#define SEGMENTS_MAX 16384

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

static struct tele_found *find_path(struct tele_found_list *list, const char *path)
{
	for (size_t i = 0; i < list->n_items; i++)
		if (strcmp(list->items[i].path, path) == 0)
			return &list->items[i];
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
static int open_item(struct tele_found *item, int directory_fd, const char *name, uid_t owner)
{
	struct tele_attach *attach;
	if (tele_attach_open_at(directory_fd, name, item->path, &attach, &item->error))
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

// One directory, of `owner`, or of anyone (-1). Returns changes, or an error.
static int scan_directory(const char *directory, uid_t owner, struct tele_found_list *list,
			  bool *ret_seen, size_t seen_capacity, struct tele_error *ret_error)
{
	struct stat status;
	int changes = 0;
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return tele_fail(ret_error, -errno, "cannot open %s: %s", directory, strerrordesc_np(errno));
	bool is_known = fstat(fd, &status) == 0;
	if (is_known && owner != (uid_t)-1 && status.st_uid != owner) {
		close(fd);
		return tele_fail(ret_error, TELE_EUNSAFE, "%s does not belong to user %u", directory,
				 (unsigned)owner);
	}
	if (!is_known || (status.st_mode & 022)) {
		close(fd);
		return tele_fail(ret_error, TELE_EUNSAFE,
				 "others may write into %s; make it yours alone (chmod 700)", directory);
	}
	DIR *entries = fdopendir(fd);
	if (!entries) {
		close(fd);
		return tele_fail(ret_error, -ENOMEM, "no memory");
	}
	for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
		char path[512];
		if (!is_segment_name(entry->d_name) || list->n_items >= SEGMENTS_MAX ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) >= sizeof(path))
			continue;
		struct tele_found *item = find_path(list, path);
		if (!item) {
			item = append(list);
			if (!item)
				break;
			memcpy(item->path, path, sizeof(path));
			changes++;
		}
		if (item->attach)
			tele_attach_refresh(item->attach, &item->error);
		else
			changes += open_item(item, fd, entry->d_name, status.st_uid);
		size_t index = (size_t)(item - list->items);
		if (index < seen_capacity)
			ret_seen[index] = true;
	}
	closedir(entries);
	return changes;
}

// Root sees every user's directory, when its owner is whom its name says.
static int scan_all_users(struct tele_found_list *list, bool *seen, size_t seen_capacity,
			  struct tele_error *ret_error)
{
	int changes = 0;
	DIR *entries = opendir("/dev/shm");
	if (!entries)
		return errno == ENOENT ? 0 : tele_fail(ret_error, -errno, "cannot open /dev/shm: %s",
						       strerrordesc_np(errno));
	for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
		char path[512];
		char *end;
		if (strncmp(entry->d_name, "rollcall-", 9) != 0 || entry->d_name[9] < '0' ||
		    entry->d_name[9] > '9')
			continue;
		unsigned long uid = strtoul(entry->d_name + 9, &end, 10);
		snprintf(path, sizeof(path), "/dev/shm/%s", entry->d_name);
		if (*end || uid >= (uid_t)-1)
			continue;
		int changed = scan_directory(path, (uid_t)uid, list, seen, seen_capacity, NULL);
		changes += changed > 0 ? changed : 0;
	}
	closedir(entries);
	return changes;
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

int tele_discover(const char *directory, struct tele_found_list *list, struct tele_error *ret_error)
{
	char own[512];
	int changes;
	bool *seen = calloc(SEGMENTS_MAX, sizeof(*seen));
	if (!seen)
		return tele_fail(ret_error, -ENOMEM, "no memory");
	const char *given = secure_getenv("ROLLCALL_DIR");
	if (!directory && geteuid() == 0 && !(given && *given)) {
		changes = scan_all_users(list, seen, SEGMENTS_MAX, ret_error);
	} else {
		changes = directory ? 0 : tele_default_directory(own, sizeof(own));
		if (changes == 0)
			changes = scan_directory(directory ? directory : own, (uid_t)-1, list, seen,
						 SEGMENTS_MAX, ret_error);
		else
			tele_fail(ret_error, changes, "ROLLCALL_DIR is too long");
	}
	if (changes >= 0) {
		size_t kept = 0;
		for (size_t i = 0; i < list->n_items; i++) {
			if (seen[i]) {
				list->items[kept++] = list->items[i];
				continue;
			}
			tele_attach_close(list->items[i].attach);
			changes++;
		}
		list->n_items = kept;
		if (kept > 1)
			qsort(list->items, kept, sizeof(*list->items), compare_found);
	}
	free(seen);
	return changes;
}

void tele_found_list_close(struct tele_found_list *list)
{
	for (size_t i = 0; i < list->n_items; i++)
		tele_attach_close(list->items[i].attach);
	free(list->items);
	*list = (struct tele_found_list){0};
}

bool tele_is_removable(struct tele_attach *attach)
{
	struct tele_error error;
	if (tele_attach_refresh(attach, &error) < 0)
		return false;
	enum tele_state state = attach->instance.state;
	if (tele_attach_is_locked(attach))
		return false;
	if (state == TELE_EXITED)
		return true;
	// A replaced one lives on as another program, and never publishes here again.
	if (state != TELE_KILLED && state != TELE_REPLACED)
		return false;
	// That a process is gone may be wrong where its /proc is another one's.
	return tele_attach_is_heartbeat_old(attach) || tele_attach_is_of_other_boot(attach);
}
