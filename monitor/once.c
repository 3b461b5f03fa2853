// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The monitor without a terminal: one screen as text, one reading as JSON, or a
// row of readings. Live and replayed go through the same model and the same
// views, so that the same rows give the same bytes.

#include "monitor.h"

#include <errno.h>
#include <langinfo.h>
#include <string.h>
#include <time.h>

#include "../libtelemetry/trace.h"
#include "cursor.h"
#include "feed.h"
#include "hook.h"
#include "json.h"
#include "live.h"
#include "progress.h"
#include "screens.h"
#include "settings.h"
#include "text.h"
#include "view.h"

#include "../libtelemetry/banned.h"

#define WIDTH_DEFAULT  80
#define HEIGHT_DEFAULT 24

bool mon_is_utf8_locale(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static int check_select(const struct mon_model *model, const struct mon_options *options,
			struct tele_error *ret_error)
{
	char text[256];
	if (!options->select || mon_model_select(model, options->select))
		return 0;
	return tele_fail(ret_error, TELE_ENOTFOUND,
			 "no process has the PID or label '%.60s': `rollcall list` shows what there is",
			 mon_text_clean(options->select, options->is_ascii, text, sizeof(text)));
}

static int write_screen(struct mon_model *model, const struct mon_options *options,
			struct mon_out *out, struct tele_error *ret_error)
{
	struct mon_view view;
	struct mon_grid grid = {0};
	struct mon_settings settings;
	mon_settings_init(&settings);
	int status = check_select(model, options, ret_error);
	if (status == 0)
		status = mon_settings_apply(&settings, options, ret_error);
	if (status)
		return status;
	mon_model_settle(model);
	mon_view_init(&view);
	view.is_text = true;
	view.is_ascii = options->is_ascii;
	mon_settings_to_view(&settings, &view);
	const struct mon_process *process = mon_feed_first_opened(model, options->select);
	if (options->view)
		view.screen = mon_screen_find(options->view);
	if (!process && view.screen != MON_SCREEN_OVERVIEW)
		return tele_fail(ret_error, TELE_ENOTFOUND,
				 "there are several processes, or none: say which by PID or LABEL");
	if (!options->view || view.screen != MON_SCREEN_OVERVIEW)
		view.opened = process ? process->identity.instance_id : 0;
	status = mon_grid_reset(&grid, options->width ? (int)options->width : WIDTH_DEFAULT,
				options->height ? (int)options->height : HEIGHT_DEFAULT,
				options->is_ascii);
	if (status == 0) {
		mon_view_draw(&grid, model, &view);
		mon_text_write(&grid, out);
		status = mon_out_status(out);
	}
	mon_grid_fini(&grid);
	return status ? tele_fail(ret_error, status, "out of memory") : 0;
}

static int write_json(struct mon_model *model, const struct mon_options *options,
		      struct mon_out *out, struct tele_error *ret_error)
{
	int status = check_select(model, options, ret_error);
	if (status)
		return status;
	mon_model_settle(model);
	mon_json_write(out, model, options->select);
	status = mon_out_status(out);
	return status ? tele_fail(ret_error, status, "out of memory") : 0;
}

typedef int (*write_fn)(struct mon_model *model, const struct mon_options *options,
			struct mon_out *out, struct tele_error *ret_error);

static int live_reading(const struct mon_options *options, bool follow_all, write_fn write_reading,
			struct mon_out *out, struct tele_error *ret_error)
{
	struct mon_live *live = NULL;
	struct mon_model model;
	mon_feed_init(&model, follow_all ? MON_HISTORY_FULL : MON_HISTORY_SHORT, options);
	int status = mon_live_open(options->directory, follow_all, &live, ret_error);
	if (status == 0)
		status = mon_live_ask_outside(live, ret_error);
	if (status == 0)
		status = mon_feed_live(live, &model, NULL, MON_FOLLOW_HEAPS, ret_error);
	if (status == 0)
		status = write_reading(&model, options, out, ret_error);
	// Whatever grows now has turned since nobody looked.
	if (status == 0)
		mon_hook_run(options->on_growing, &model, options->select);
	mon_model_fini(&model);
	mon_live_close(live);
	return status;
}

static int go_to_point(struct mon_cursor *cursor, const struct mon_options *options,
		       struct tele_error *ret_error)
{
	struct mon_at at;
	const struct mon_target target = {.kind = MON_TARGET_END, .select = options->select};
	if (!options->at)
		return mon_cursor_go(cursor, &target, ret_error);
	int status = mon_at_parse(options->at, &at, ret_error);
	if (status)
		return status;
	status = mon_cursor_to_point(cursor, &at, target, ret_error);
	if (status == 0 && at.is_candidate)
		return tele_fail(ret_error, TELE_ENOTFOUND, "the trace ends before candidate %llu",
				 (unsigned long long)at.candidate);
	return status;
}

static int replay_reading(const struct mon_options *options, write_fn write_reading,
			  struct mon_out *out, struct tele_error *ret_error)
{
	struct tele_source *source = NULL;
	struct mon_model model;
	struct mon_cursor cursor;
	struct mon_progress progress;
	mon_feed_init(&model, MON_HISTORY_FULL, options);
	mon_progress_init(&progress, options->file);
	int status = tele_trace_open(options->file, &source, ret_error);
	mon_cursor_init(&cursor, source, &model);
	cursor.progress = &progress;
	progress.source = source;
	if (status == 0)
		status = go_to_point(&cursor, options, ret_error);
	mon_progress_end(&progress);
	if (status >= 0)
		status = write_reading(&model, options, out, ret_error);
	mon_model_fini(&model);
	tele_source_close(source);
	return status;
}

int mon_top_once(const struct mon_options *options, struct mon_out *out,
		 struct tele_error *ret_error)
{
	return live_reading(options, true, write_screen, out, ret_error);
}

int mon_replay_once(const struct mon_options *options, struct mon_out *out,
		    struct tele_error *ret_error)
{
	return replay_reading(options, write_screen, out, ret_error);
}

int mon_top_json(const struct mon_options *options, struct mon_out *out,
		 struct tele_error *ret_error)
{
	return live_reading(options, false, write_json, out, ret_error);
}

int mon_replay_json(const struct mon_options *options, struct mon_out *out,
		    struct tele_error *ret_error)
{
	return replay_reading(options, write_json, out, ret_error);
}

static void sleep_ms(uint64_t ms)
{
	struct timespec time = {.tv_sec = (time_t)(ms / 1000),
				.tv_nsec = (long)(ms % 1000) * 1000000};
	nanosleep(&time, NULL);
}

int mon_top_batch(const struct mon_options *options, uint64_t n_readings, mon_write_fn write,
		  void *context, struct tele_error *ret_error)
{
	struct mon_live *live = NULL;
	struct mon_model model;
	struct mon_out out = {0};
	uint64_t interval_ms =
		options->interval_ms ? options->interval_ms : MON_INTERVAL_MS_DEFAULT;
	mon_feed_init(&model, MON_HISTORY_SHORT, options);
	int status = mon_live_open(options->directory, false, &live, ret_error);
	if (status == 0)
		status = mon_live_ask_outside(live, ret_error);
	for (uint64_t n = 0; status == 0 && (n_readings == 0 || n < n_readings); n++) {
		if (n)
			sleep_ms(interval_ms);
		status = mon_feed_live(live, &model, NULL, MON_FOLLOW_HEAPS, ret_error);
		// A process that is not there yet, or not any more, is an empty reading.
		out.n_bytes = 0;
		mon_model_settle(&model);
		mon_hook_run(options->on_growing, &model, options->select);
		mon_json_write(&out, &model, options->select);
		if (status == 0)
			status = mon_out_status(&out) ? tele_fail(ret_error, -ENOMEM, "out of memory") : 0;
		if (status == 0)
			status = write(context, out.bytes, out.n_bytes);
	}
	mon_out_fini(&out);
	mon_model_fini(&model);
	mon_live_close(live);
	return status;
}
