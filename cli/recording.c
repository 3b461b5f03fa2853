// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A recorder seen from the command line, and the one line that tells how it
// goes. Until there is something to record it is looked for often, so that a
// recorder that is killed early has the first rows on the disk.

#include "recording.h"

#include "text.h"

#include <errno.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

int cli_recording_open(struct cli_recording *recording, const struct cli_call *call,
		       const struct cli_record_options *options)
{
	struct tele_error error;
	recording->call = call;
	recording->path = options->path;
	recording->has_progress = options->has_progress && isatty(STDERR_FILENO);
	recording->started_at_ns = cli_now_ns();
	recording->choice.since_ns = recording->started_at_ns;
	const struct rec_settings settings = {
		.path = options->path,
		.replace = options->replace,
		.max_bytes = options->max_bytes,
		.n_keep = options->n_keep,
		.every_ns = options->every_ns,
		.wants = cli_choice_wants,
		.forget = cli_choice_forget,
		.context = &recording->choice,
	};
	int result = rec_open(&settings, &recording->recorder, &error);
	if (result == -EBUSY)
		return cli_fail_with(call, &error, "choose another name, or end that one first");
	if (result == -EEXIST)
		return cli_fail_with(call, &error, "choose another name, or replace it with --force");
	if (result < 0)
		return cli_fail_with(call, &error, "choose another file with room and permission");
	return CLI_OK;
}

static void show_progress(struct cli_recording *recording, const struct rec_progress *progress)
{
	char written[CLI_SIZE_TEXT];
	char rate[CLI_SIZE_TEXT];
	char line[256];
	uint64_t now_ns = cli_now_ns();
	if (recording->has_line && now_ns - recording->said_at_ns < 900000000u)
		return;
	if (recording->has_line)
		recording->bytes_per_s = (progress->written_bytes - recording->said_bytes) * 1000000000u /
					 (now_ns - recording->said_at_ns);
	recording->said_at_ns = now_ns;
	recording->said_bytes = progress->written_bytes;
	recording->has_line = true;
	int n = snprintf(line, sizeof(line),
			 "\r\033[K%llu process%s, %llu rows, %s, %s/s, lost %llu",
			 (unsigned long long)progress->n_processes, progress->n_processes == 1 ? "" : "es",
			 (unsigned long long)progress->n_rows,
			 cli_bytes_text(progress->written_bytes, written),
			 cli_bytes_text(recording->bytes_per_s, rate), (unsigned long long)progress->lost);
	ssize_t ignored = write(STDERR_FILENO, line, (size_t)n);
	(void)ignored;
}

static void clear_progress(struct cli_recording *recording)
{
	if (!recording->has_line)
		return;
	ssize_t ignored = write(STDERR_FILENO, "\r\033[K", 4);
	(void)ignored;
	recording->has_line = false;
}

int cli_recording_step(struct cli_recording *recording, bool *ret_is_over)
{
	struct tele_error error;
	struct rec_progress progress;
	if (rec_step(recording->recorder, cli_now_ns(), &error) < 0) {
		clear_progress(recording);
		return cli_fail_with(recording->call, &error,
				     "what was recorded before is whole and can be read");
	}
	rec_get_progress(recording->recorder, &progress);
	recording->has_rows |= progress.n_rows > 0;
	if (recording->has_progress)
		show_progress(recording, &progress);
	if (ret_is_over)
		*ret_is_over = progress.n_processes > 0 && progress.n_alive == 0;
	return CLI_OK;
}

int cli_recording_wait_ms(const struct cli_recording *recording)
{
	bool is_early = cli_now_ns() - recording->started_at_ns < 5000000000u;
	return !recording->has_rows && is_early ? CLI_STEP_MS / 10 : CLI_STEP_MS;
}

static void say_result(const struct cli_recording *recording, const struct rec_progress *progress)
{
	char written[CLI_SIZE_TEXT];
	char pieces[80] = "";
	if (progress->n_dropped)
		snprintf(pieces, sizeof(pieces), " in %llu pieces, of which the oldest %llu were removed",
			 (unsigned long long)progress->n_pieces, (unsigned long long)progress->n_dropped);
	else if (progress->n_pieces > 1)
		snprintf(pieces, sizeof(pieces), " in %llu pieces", (unsigned long long)progress->n_pieces);
	cli_note(recording->call, "%s holds %llu process%s, %llu rows, %s%s%s",
		 strcmp(recording->path, "-") == 0 ? "the trace" : recording->path,
		 (unsigned long long)progress->n_processes, progress->n_processes == 1 ? "" : "es",
		 (unsigned long long)progress->n_rows, cli_bytes_text(progress->written_bytes, written), pieces,
		 progress->lost ? "; some records were lost" : "");
}

int cli_recording_close(struct cli_recording *recording, int status)
{
	struct tele_error error;
	struct rec_progress progress;
	clear_progress(recording);
	int result = rec_close(recording->recorder, &progress, &error);
	recording->recorder = NULL;
	cli_choice_fini(&recording->choice);
	if (status != CLI_OK)
		return status;
	if (result < 0)
		return cli_fail_with(recording->call, &error,
				     "what was recorded before is whole and can be read");
	say_result(recording, &progress);
	return CLI_OK;
}
