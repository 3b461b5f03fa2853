// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The trace is a draft until it is whole, so that a bad line leaves nothing
// behind and an old trace untouched. What cannot be renamed into place (standard
// output, a device) gets a copy.

#include "import.h"

#include "draft.h"
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

static int fail_path(struct tele_error *ret_error, int code, const char *path)
{
	return tele_fail(ret_error, code, "%s: %s", path, tele_strerror(code));
}

// What cannot be a draft beside its place is made in a temporary file.
static int open_target(struct rec_draft *draft, const struct rec_import_options *options,
		       struct tele_trace_writer **ret_writer, struct tele_error *ret_error)
{
	int failed = rec_draft_open(draft, options->output, options->input, options->replace, ret_error);
	if (!failed && !draft->name)
		failed = rec_draft_make_temporary(draft, ret_error);
	return failed ? failed : tele_trace_create(draft->name, true, ret_writer, ret_error);
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

static int copy(const struct rec_draft *draft, struct tele_error *ret_error)
{
	char buffer[1 << 16];
	const char *path = draft->path;
	bool is_stdout = strcmp(path, "-") == 0;
	int from = open(draft->name, O_RDONLY | O_CLOEXEC);
	int to = is_stdout ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
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
	return result < 0 ? fail_path(ret_error, result, is_stdout ? "standard output" : path) : 0;
}

int rec_import(const struct rec_import_options *options, struct rec_import_result *ret_result,
	       struct tele_error *ret_error)
{
	struct rec_draft draft;
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
	int result = open_target(&draft, options, &writer, ret_error);
	if (result == 0)
		result = rec_import_stream(fd, is_stdin ? "stdin" : base_name(options->input), options->format, writer,
					   ret_result, ret_error);
	if (writer) {
		int finished = tele_trace_finish(writer, result < 0 ? NULL : ret_error);
		result = result < 0 ? result : finished;
	}
	if (result == 0)
		result = draft.place ? rec_draft_place(&draft, ret_error) : copy(&draft, ret_error);
	rec_draft_drop(&draft);
	if (!is_stdin)
		close(fd);
	return result;
}
