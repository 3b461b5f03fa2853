// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A draft has the name of its place with six letters behind, so that it is on
// the same file system, and nobody else's. It is linked into place where nothing
// may be replaced, since a link never replaces.

#include "draft.h"

#include "../libtelemetry/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static const char *volatile draft_now;

const char *rec_draft_now(void)
{
	return draft_now;
}

static int fail(const char *path, int code, struct tele_error *ret_error)
{
	return tele_fail(ret_error, code, "%s: %s", path, tele_strerror(code));
}

static int check_place(const struct rec_draft *draft, const struct stat *there, const char *input,
		       struct tele_error *ret_error)
{
	struct stat status;
	bool has_input = input && strcmp(input, "-") != 0 && stat(input, &status) == 0;
	if (S_ISDIR(there->st_mode))
		return fail(draft->path, -EISDIR, ret_error);
	if (!S_ISREG(there->st_mode))
		return 0;
	if (has_input && status.st_dev == there->st_dev && status.st_ino == there->st_ino)
		return tele_fail(ret_error, -EINVAL, "%s is the input itself", draft->path);
	if (!draft->replace)
		return fail(draft->path, -EEXIST, ret_error);
	if (tele_trace_is_being_written(draft->path))
		return tele_fail(ret_error, -EBUSY, "%s: a recorder is writing to it", draft->path);
	return 0;
}

// Whether it is another name of standard output, which is written to where it is:
// opened anew, a file would be written from its beginning.
static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/fd/1") == 0 ||
	       strcmp(path, "/proc/self/fd/1") == 0;
}

static int make(struct rec_draft *draft, char *name, const char *told_path, struct tele_error *ret_error)
{
	int fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		int failed = fail(told_path, -errno, ret_error);
		free(name);
		return failed;
	}
	close(fd);
	draft->name = name;
	draft_now = name;
	return 0;
}

int rec_draft_open(struct rec_draft *draft, const char *path, const char *input, bool replace,
		   struct tele_error *ret_error)
{
	struct stat there, link;
	*draft = (struct rec_draft){.path = path, .replace = replace};
	if (is_stdout(path)) {
		draft->path = "-";
		return 0;
	}
	bool is_there = stat(path, &there) == 0;
	int missing = is_there ? 0 : errno;
	if (!is_there && lstat(path, &link) == 0 && S_ISLNK(link.st_mode))
		return missing == ENOENT ? tele_fail(ret_error, -ENOENT, "%s is a link to what is not there", path)
					 : fail(path, -missing, ret_error);
	int failed = is_there ? check_place(draft, &there, input, ret_error) : 0;
	if (failed || (is_there && !S_ISREG(there.st_mode)))
		return failed;
	draft->place = is_there ? realpath(path, NULL) : strdup(path);
	char *name;
	if (!draft->place || asprintf(&name, "%s.XXXXXX", draft->place) < 0)
		failed = fail(path, draft->place ? -ENOMEM : -errno, ret_error);
	else
		failed = make(draft, name, path, ret_error);
	if (failed) {
		free(draft->place);
		draft->place = NULL;
	}
	return failed;
}

int rec_draft_make_temporary(struct rec_draft *draft, struct tele_error *ret_error)
{
	const char *directory = getenv("TMPDIR");
	char *name;
	if (asprintf(&name, "%s/rollcall-XXXXXX", directory && *directory ? directory : "/tmp") < 0)
		return fail("a temporary file", -ENOMEM, ret_error);
	return make(draft, name, "a temporary file", ret_error);
}

void rec_draft_keep_mode(struct rec_draft *draft)
{
	struct stat there;
	if (draft->place && stat(draft->place, &there) == 0)
		draft->mode = there.st_mode & 0777;
}

int rec_draft_place(struct rec_draft *draft, struct tele_error *ret_error)
{
	struct stat there;
	if (!draft->place)
		return 0;
	if (draft->mode) {
		bool is_owned = stat(draft->place, &there) == 0 && chown(draft->name, there.st_uid, there.st_gid) == 0;
		// What its group might do is nothing for ours.
		(void)chmod(draft->name, is_owned ? draft->mode : draft->mode & ~(uint32_t)070);
	}
	int failed = draft->replace ? rename(draft->name, draft->place) : link(draft->name, draft->place);
	// Some file systems have no links.
	if (failed && !draft->replace && (errno == EPERM || errno == EOPNOTSUPP))
		failed = rename(draft->name, draft->place);
	return failed ? fail(draft->path, -errno, ret_error) : 0;
}

void rec_draft_drop(struct rec_draft *draft)
{
	if (!draft->name)
		return;
	unlink(draft->name);
	draft_now = NULL;
	free(draft->name);
	free(draft->place);
	draft->name = draft->place = NULL;
}
