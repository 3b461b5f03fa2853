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

int rec_draft_open(struct rec_draft *draft, const char *path, const char *input, bool replace,
		   struct tele_error *ret_error)
{
	struct stat there;
	*draft = (struct rec_draft){.path = path, .written = path, .replace = replace};
	if (strcmp(path, "-") == 0)
		return 0;
	bool is_there = stat(path, &there) == 0;
	int failed = is_there ? check_place(draft, &there, input, ret_error) : 0;
	if (failed || (is_there && !S_ISREG(there.st_mode)))
		return failed;
	char *name;
	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return fail(path, -ENOMEM, ret_error);
	int fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		failed = fail(path, -errno, ret_error);
		free(name);
		return failed;
	}
	close(fd);
	draft->written = draft->name = name;
	draft_now = name;
	return 0;
}

int rec_draft_place(struct rec_draft *draft, struct tele_error *ret_error)
{
	if (!draft->name)
		return 0;
	int failed = draft->replace ? rename(draft->name, draft->path) : link(draft->name, draft->path);
	// Some file systems have no links.
	if (failed && !draft->replace && (errno == EPERM || errno == EOPNOTSUPP))
		failed = rename(draft->name, draft->path);
	return failed ? fail(draft->path, -errno, ret_error) : 0;
}

void rec_draft_drop(struct rec_draft *draft)
{
	if (!draft->name)
		return;
	unlink(draft->name);
	draft_now = NULL;
	free(draft->name);
	draft->name = NULL;
	draft->written = draft->path;
}
