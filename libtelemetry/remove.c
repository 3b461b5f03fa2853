// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Removing segments of dead processes, for root also those of others. A path is
// not trusted twice: its directory may by now be a link to somewhere else. So
// the directory is opened and checked again, the name is looked up in it, and
// it goes only where it leads to the very file that was judged. In the moment
// left, only the directory's owner can change what the name means, and loses at
// most another file of that directory.

#include "attach_private.h"
#include "discover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"

#define ABANDONED_S 60

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

// Opens the directory of a path. Returns the descriptor, or an error.
static int open_parent(const char *path, const char **ret_name, uid_t *ret_owner,
		       struct tele_error *ret_error)
{
	char directory[sizeof(((struct tele_found *)0)->path)];
	const char *slash = strrchr(path, '/');
	if (!slash || slash == path || !slash[1])
		return tele_fail(ret_error, TELE_EUNSAFE, "%s is not a segment's path", path);
	memcpy(directory, path, (size_t)(slash - path));
	directory[slash - path] = '\0';
	*ret_name = slash + 1;
	return tele_open_directory(directory, (uid_t)-1, ret_owner, ret_error);
}

bool tele_found_is_abandoned(const struct tele_found *found, uint64_t *ret_bytes)
{
	const char *name;
	uid_t owner;
	struct stat file;
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int directory_fd = open_parent(found->path, &name, &owner, NULL);
	int fd = directory_fd < 0 ? -1
				  : openat(directory_fd, name,
					   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (directory_fd >= 0)
		close(directory_fd);
	if (fd < 0)
		return false;
	bool is_free = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
	bool is_old = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == owner &&
		      time(NULL) - file.st_mtime > ABANDONED_S;
	close(fd);
	if (is_free && is_old)
		*ret_bytes = (uint64_t)file.st_size;
	return is_free && is_old;
}

int tele_found_remove(const struct tele_found *found, struct tele_error *ret_error)
{
	const char *name;
	uid_t owner;
	struct stat named;
	struct stat judged;
	int failed = 0;
	int directory_fd = open_parent(found->path, &name, &owner, ret_error);
	if (directory_fd < 0)
		return directory_fd;
	if (fstatat(directory_fd, name, &named, AT_SYMLINK_NOFOLLOW) != 0)
		failed = -errno;
	else if (found->attach)
		failed = fstat(found->attach->fd, &judged) != 0 || judged.st_dev != named.st_dev ||
					 judged.st_ino != named.st_ino
				 ? TELE_EUNSAFE
				 : 0;
	else
		failed = S_ISREG(named.st_mode) && named.st_uid == owner ? 0 : TELE_EUNSAFE;
	if (!failed && unlinkat(directory_fd, name, 0) != 0)
		failed = -errno;
	close(directory_fd);
	return failed ? tele_fail(ret_error, failed, "cannot remove %s: %s", found->path,
				  tele_strerror(failed))
		      : 0;
}
