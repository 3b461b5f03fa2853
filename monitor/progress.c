// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How far it is: the share of the file that was read, of which the share of the
// tape that the cursor has passed. While a trace is opened the second is almost
// all, in a jump the first. A pipe has no length, and its records are counted.
// The clock is looked at now and then only: a record costs microseconds.

#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../libtelemetry/trace.h"
#include "cursor.h"
#include "monitor.h"
#include "past.h"
#include "utf8.h"

#include "../libtelemetry/banned.h"

#define AFTER_NS      UINT64_C(500000000)
#define EVERY_NS      UINT64_C(100000000)
#define STEPS_A_CLOCK 64
#define NAME_BYTES    40
#define LINE_COLUMNS  72

static uint64_t clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// A line that went round the edge could not be erased.
static int fitting_bytes(const char *text, int n_columns)
{
	const char *end = text;
	for (const char *next = text; *next; end = next) {
		n_columns -= mon_char_width(mon_utf8_next(&next));
		if (n_columns < 0)
			break;
	}
	return (int)(end - text);
}

static void show_on_stderr(void *context, const char *text)
{
	(void)context;
	struct winsize size = {0};
	bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
	int n_bytes = text ? fitting_bytes(text, is_known ? size.ws_col - 1 : LINE_COLUMNS) : 0;
	fprintf(stderr, "\r\033[K%.*s", n_bytes, text ? text : "");
	fflush(stderr);
}

void mon_progress_init(struct mon_progress *progress, const char *file)
{
	*progress = (struct mon_progress){.show = isatty(STDERR_FILENO) ? show_on_stderr : NULL,
					  .file = file,
					  .after_ns = AFTER_NS};
}

static void show(struct mon_progress *progress, const struct mon_cursor *cursor)
{
	struct tele_trace_info info;
	char name[NAME_BYTES], text[NAME_BYTES + 48];
	const char *slash = strrchr(progress->file, '/');
	uint64_t n_records = cursor->position.n_records;
	tele_trace_get_info(progress->source, &info);
	mon_text_clean(slash ? slash + 1 : progress->file, true, name, sizeof(name));
	if (strcmp(name, "-") == 0)
		snprintf(name, sizeof(name), "standard input");
	if (info.file_bytes == 0) {
		snprintf(text, sizeof(text), "reading %s  %llu records", name, (unsigned long long)n_records);
	} else {
		uint64_t n_taped = cursor->past ? mon_tape_records(cursor->past->tape) : 0;
		double share = (double)info.read_bytes / (double)info.file_bytes;
		if (n_taped > 0)
			share *= (double)n_records / (double)n_taped;
		snprintf(text, sizeof(text), "reading %s  %.0f %%", name, share * 100);
	}
	progress->show(progress->context, text);
}

void mon_progress_step(struct mon_progress *progress, const struct mon_cursor *cursor)
{
	if (!progress || !progress->show || progress->n_steps++ % STEPS_A_CLOCK != 0)
		return;
	uint64_t now_ns = clock_ns();
	if (!progress->began_at_ns)
		progress->began_at_ns = now_ns;
	if (now_ns - progress->began_at_ns < progress->after_ns || now_ns - progress->shown_at_ns < EVERY_NS)
		return;
	progress->shown_at_ns = now_ns;
	show(progress, cursor);
}

void mon_progress_end(struct mon_progress *progress)
{
	if (!progress)
		return;
	if (progress->shown_at_ns)
		progress->show(progress->context, NULL);
	progress->began_at_ns = progress->shown_at_ns = 0;
	progress->n_steps = 0;
}
