// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The trace is made beside its place and put there when it is whole, so that a
// bad line leaves nothing behind and an old trace untouched. What cannot be
// renamed into place (standard output, a device) gets a copy.

#include "import.h"

#include "import_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

int rec_import_stream(int fd, const char *label, enum rec_import_format format,
		      struct tele_trace_writer *writer, struct rec_import_result *ret_result,
		      struct tele_error *ret_error)
{
	struct rec_lines lines;
	char note[TELE_STRING_BYTES_MAX + 1];
	bool is_census = format == REC_IMPORT_CENSUS_LOG;
	*ret_result = (struct rec_import_result){0};
	int result = rec_lines_init(&lines, fd, ret_error);
	if (result < 0)
		return result;
	struct tele_identity identity = {
		.instance_id = lines.head_hash ? lines.head_hash : 1,
		.is_untimed = is_census,
		.comm = "import",
	};
	snprintf(identity.label, sizeof(identity.label), "%s", label);
	snprintf(note, sizeof(note), is_census ? "imported from a census log without times, MiB rounded to a tenth: %.160s"
					       : "imported from CSV: %.160s", label);
	struct rec_builder *builder = rec_builder_new(writer, &identity, note);
	if (!builder)
		result = tele_fail(ret_error, -ENOMEM, "out of memory for an import");
	else if (is_census)
		result = rec_import_census(&lines, builder, ret_result, ret_error);
	else
		result = rec_import_csv(&lines, builder, ret_result, ret_error);
	if (result >= 0)
		result = rec_builder_finish(builder, ret_error);
	if (builder) {
		ret_result->n_rows = rec_builder_rows(builder);
		ret_result->n_candidates = rec_builder_candidates(builder);
	}
	rec_builder_free(builder);
	rec_lines_fini(&lines);
	return result;
}

// ---- Where it goes ----------------------------------------------------------------

struct target {
	const char *path;
	bool is_copied; // cannot be renamed into place
	char *draft;	// where the trace is made
};

static int fail_path(struct tele_error *ret_error, int code, const char *path)
{
	return tele_fail(ret_error, code, "%s: %s", path, tele_strerror(code));
}

static int draft_open(struct target *target, const char *path, bool replace, struct tele_trace_writer **ret_writer,
		      struct tele_error *ret_error)
{
	struct stat status;
	bool is_stdout = strcmp(path, "-") == 0;
	bool is_there = !is_stdout && stat(path, &status) == 0;
	const char *directory = getenv("TMPDIR");
	*target = (struct target){.path = path, .is_copied = is_stdout || (is_there && !S_ISREG(status.st_mode))};
	if (is_there && S_ISDIR(status.st_mode))
		return fail_path(ret_error, -EISDIR, path);
	if (is_there && S_ISREG(status.st_mode) && !replace)
		return fail_path(ret_error, -EEXIST, path);
	int len = target->is_copied
			  ? asprintf(&target->draft, "%s/rollcall-import-XXXXXX", directory && *directory ? directory : "/tmp")
			  : asprintf(&target->draft, "%s.XXXXXX", path);
	if (len < 0) {
		target->draft = NULL;
		return fail_path(ret_error, -ENOMEM, path);
	}
	int fd = mkostemp(target->draft, O_CLOEXEC);
	if (fd < 0) {
		int code = -errno;
		free(target->draft);
		target->draft = NULL;
		return fail_path(ret_error, code, target->is_copied ? "a temporary file" : path);
	}
	close(fd);
	return tele_trace_create(target->draft, true, ret_writer, ret_error);
}

static int write_all(int fd, const char *bytes, size_t n_bytes)
{
	while (n_bytes > 0) {
		ssize_t n = write(fd, bytes, n_bytes);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			bytes += n;
			n_bytes -= (size_t)n;
		}
	}
	return 0;
}

static int copy(const struct target *target, struct tele_error *ret_error)
{
	char buffer[1 << 16];
	bool is_stdout = strcmp(target->path, "-") == 0;
	int from = open(target->draft, O_RDONLY | O_CLOEXEC);
	int to = is_stdout ? STDOUT_FILENO : open(target->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int result = from < 0 || to < 0 ? -errno : 0;
	while (result == 0) {
		ssize_t n = read(from, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			result = n < 0 ? -errno : 0;
			break;
		}
		result = write_all(to, buffer, (size_t)n);
	}
	if (from >= 0)
		close(from);
	if (to >= 0 && !is_stdout && close(to) < 0 && result == 0)
		result = -errno;
	return result < 0 ? fail_path(ret_error, result, is_stdout ? "standard output" : target->path) : 0;
}

// Puts the trace where it shall be. An output that came into being meanwhile is
// left alone, unless it may be replaced.
static int put_in_place(const struct target *target, bool replace, struct tele_error *ret_error)
{
	if (target->is_copied)
		return copy(target, ret_error);
	int failed = replace ? rename(target->draft, target->path) : link(target->draft, target->path);
	// Some file systems have no links.
	if (failed && !replace && (errno == EPERM || errno == EOPNOTSUPP))
		failed = rename(target->draft, target->path);
	return failed ? fail_path(ret_error, -errno, target->path) : 0;
}

int rec_import(const struct rec_import_options *options, struct rec_import_result *ret_result,
	       struct tele_error *ret_error)
{
	struct target target;
	struct tele_trace_writer *writer = NULL;
	struct stat status;
	bool is_stdin = strcmp(options->input, "-") == 0;
	*ret_result = (struct rec_import_result){0};
	int fd = is_stdin ? STDIN_FILENO : open(options->input, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return fail_path(ret_error, -errno, options->input);
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		close(fd);
		return fail_path(ret_error, -EISDIR, options->input);
	}
	int result = draft_open(&target, options->output, options->replace, &writer, ret_error);
	if (result == 0)
		result = rec_import_stream(fd, is_stdin ? "stdin" : base_name(options->input), options->format, writer,
					   ret_result, ret_error);
	if (writer) {
		int finished = tele_trace_finish(writer, result < 0 ? NULL : ret_error);
		result = result < 0 ? result : finished;
	}
	if (result == 0)
		result = put_in_place(&target, options->replace, ret_error);
	if (target.draft)
		unlink(target.draft);
	free(target.draft);
	if (!is_stdin)
		close(fd);
	return result;
}
