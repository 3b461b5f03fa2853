// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The interactive loop: wait for a key or for the next refresh, whichever comes
// first; take records in; draw if anything could look different. Signals end
// the wait and are acted on here, so that the terminal is always given back.

#include "monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "hook.h"
#include "input.h"
#include "paint.h"

#include "../libtelemetry/banned.h"

#define NS_PER_MS UINT64_C(1000000)
#define TICK_MS	  50	  // while a replay plays
#define IDLE_MS	  3600000 // while nothing can change by itself

static volatile sig_atomic_t caught_signal;

static volatile sig_atomic_t is_continued;

static void on_signal(int number)
{
	caught_signal = number;
}

static void on_continue(int number)
{
	(void)number;
	is_continued = 1;
}

static const int ending_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

// Signals that end the monitor are blocked except while it waits.
struct signals {
	struct sigaction before[TELE_ARRAY_LEN(ending_signals)], continue_before;
	sigset_t mask_before, mask_waiting;
};

static void take_signals(struct signals *signals)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t ending;
	sigemptyset(&action.sa_mask);
	sigemptyset(&ending);
	caught_signal = 0;
	is_continued = 0;
	const struct sigaction on_cont = {.sa_handler = on_continue};
	sigaction(SIGCONT, &on_cont, &signals->continue_before);
	for (size_t i = 0; i < TELE_ARRAY_LEN(ending_signals); i++) {
		sigaction(ending_signals[i], &action, &signals->before[i]);
		sigaddset(&ending, ending_signals[i]);
	}
	sigprocmask(SIG_BLOCK, &ending, &signals->mask_before);
	signals->mask_waiting = signals->mask_before;
	for (size_t i = 0; i < TELE_ARRAY_LEN(ending_signals); i++)
		sigdelset(&signals->mask_waiting, ending_signals[i]);
}

static void give_signals_back(const struct signals *signals)
{
	for (size_t i = 0; i < TELE_ARRAY_LEN(ending_signals); i++)
		sigaction(ending_signals[i], &signals->before[i], NULL);
	sigaction(SIGCONT, &signals->continue_before, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask_before, NULL);
}

static uint64_t clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct loop {
	struct mon_app app;
	struct mon_paint *paint;
	struct mon_grid grid;
	FILE *keys; // the terminal, where keys come from
	bool owns_keys;
	struct signals signals;
	struct mon_progress progress; // of a replay
	uint64_t refresh_at_ns, ticked_at_ns;
	uint64_t drawn_changes;
	bool is_dirty; // the view has changed
};

// Keys come from the terminal even when standard input is the trace.
static int open_keys(struct loop *loop, struct tele_error *ret_error)
{
	if (!isatty(STDOUT_FILENO))
		return tele_fail(
			ret_error, -ENOTTY,
			"standard output is not a terminal: use --once for text or --json");
	loop->keys = stdin;
	if (isatty(STDIN_FILENO))
		return 0;
	int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC);
	loop->keys = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!loop->keys) {
		if (fd >= 0)
			close(fd);
		return tele_fail(ret_error, -ENOTTY,
				 "there is no terminal to read keys from: use --once for text");
	}
	loop->owns_keys = true;
	return 0;
}

static int draw(struct loop *loop)
{
	struct mon_app *app = &loop->app;
	const struct mon_model *model = mon_app_shown(app);
	int width, height;
	if (app->is_redraw)
		mon_paint_forget(loop->paint);
	else if (!loop->is_dirty && loop->drawn_changes == app->model.n_changes)
		return 0;
	mon_paint_set_colours(loop->paint, (enum mon_colours)app->settings.colours);
	mon_paint_set_mouse(loop->paint, app->settings.mouse);
	mon_paint_size(loop->paint, &width, &height);
	app->height = height;
	app->is_redraw = false;
	const struct mon_player *player = mon_app_player(app);
	app->view.transport = player ? &player->transport : NULL;
	loop->is_dirty = false;
	loop->drawn_changes = app->model.n_changes;
	int failed = mon_grid_reset(&loop->grid, width, height, app->view.is_ascii);
	if (failed)
		return failed;
	mon_view_draw(&loop->grid, model, &app->view);
	return mon_paint_draw(loop->paint, &loop->grid);
}

// The foot of the last picture says what is waited for; the next picture is
// drawn when it is there.
static void show_at_foot(void *context, const char *text)
{
	struct loop *loop = context;
	struct mon_grid *grid = &loop->grid;
	if (!text || grid->height == 0)
		return;
	mon_draw_format(grid, 0, grid->height - 1, grid->width, MON_WARN, " %-*s", grid->width, text);
	mon_paint_draw(loop->paint, grid);
}

static uint64_t interval_ns(const struct mon_app *app)
{
	return app->settings.interval_ms * NS_PER_MS;
}

// Takes in what the time that passed has brought.
static int advance(struct loop *loop, struct tele_error *ret_error)
{
	struct mon_app *app = &loop->app;
	uint64_t now_ns = clock_ns();
	int status = 0;
	if (app->player) {
		bool was_playing = app->player->transport.is_playing;
		status = mon_player_tick(app->player, now_ns - loop->ticked_at_ns, ret_error);
		loop->is_dirty |= was_playing;
	} else if (now_ns >= loop->refresh_at_ns) {
		status = mon_feed_live(app->live, &app->model, app->is_frozen ? &app->frozen : NULL,
				       MON_FOLLOW_SEARCHES, ret_error);
		loop->refresh_at_ns = now_ns + interval_ns(app);
		mon_time_refresh(app);
	}
	// A shorter interval counts at once.
	loop->refresh_at_ns = tele_min_u64(loop->refresh_at_ns, now_ns + interval_ns(app));
	loop->ticked_at_ns = now_ns;
	if (status >= 0)
		mon_app_settle(app);
	if (app->live)
		mon_hook_run(app->options->on_growing, &app->model, app->options->select);
	return status;
}

static int64_t wait_ms(const struct loop *loop)
{
	uint64_t now_ns = clock_ns();
	if (loop->app.player)
		return loop->app.player->transport.is_playing ? TICK_MS : IDLE_MS;
	if (now_ns >= loop->refresh_at_ns)
		return 0;
	return (int64_t)((loop->refresh_at_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

static int run(struct loop *loop, struct tele_error *ret_error)
{
	struct mon_app *app = &loop->app;
	int fd = fileno(loop->keys);
	loop->is_dirty = true;
	while (!app->is_quit) {
		int status = draw(loop);
		if (status)
			return tele_fail(ret_error, status, "out of memory");
		struct mon_input input =
			mon_input_wait(fd, wait_ms(loop), &loop->signals.mask_waiting);
		if (caught_signal)
			return 128 + caught_signal;
		if (input.key == MON_KEY_GONE)
			return 128 + SIGHUP;
		if (is_continued) {
			is_continued = 0;
			mon_paint_resume(loop->paint);
			app->is_redraw = true;
		}
		loop->is_dirty |= input.key != MON_KEY_NONE;
		status = mon_app_key(app, input, ret_error);
		if (app->is_suspend) {
			app->is_suspend = false;
			raise(SIGTSTP);
		}
		if (status == 0)
			status = advance(loop, ret_error);
		if (status < 0)
			return status;
	}
	return 0;
}

// Settings: the usual ones, the configuration's, those of the command line. A
// configuration that cannot be read is named at the foot and not used.
static int start_app(struct loop *loop, const struct mon_options *options, struct tele_error *ret_error)
{
	struct mon_app *app = &loop->app;
	struct tele_error error = {0};
	char path[512];
	app->options = options;
	mon_view_init(&app->view);
	app->view.is_ascii = options->is_ascii;
	// The font of the Linux console has no braille.
	const char *term = getenv("TERM");
	app->view.is_blocks = term && strncmp(term, "linux", 5) == 0;
	mon_settings_init(&app->settings);
	if (mon_settings_path(path, sizeof(path)) == 0 && mon_settings_read(path, &app->settings, &error))
		mon_app_note(app, error.text);
	int status = mon_settings_apply(&app->settings, options, ret_error);
	mon_settings_to_view(&app->settings, &app->view);
	if (!options->file)
		app->view.interval_ms = app->settings.interval_ms;
	return status;
}

// Runs the loop on the terminal, once records were taken in for the first time.
static int run_on_terminal(struct loop *loop, struct tele_error *ret_error)
{
	take_signals(&loop->signals);
	int status = mon_paint_open(NULL, stdout, loop->keys, &loop->paint, ret_error);
	if (status == 0) {
		mon_app_open_first(&loop->app);
		mon_app_settle(&loop->app);
		loop->ticked_at_ns = clock_ns();
		status = run(loop, ret_error);
	}
	mon_paint_close(loop->paint);
	give_signals_back(&loop->signals);
	return status;
}

static void stop_app(struct loop *loop)
{
	struct mon_app *app = &loop->app;
	mon_time_blur(app);
	mon_lens_set_mark(&app->view.lens, NULL);
	if (app->is_frozen)
		mon_model_fini(&app->frozen);
	mon_model_fini(&app->model);
	mon_grid_fini(&loop->grid);
	mon_live_close(app->live);
	if (loop->owns_keys)
		fclose(loop->keys);
}

int mon_top(const struct mon_options *options, struct tele_error *ret_error)
{
	struct loop loop = {0};
	struct mon_app *app = &loop.app;
	char text[256];
	mon_feed_init(&app->model, MON_HISTORY_SHORT, options);
	int status = open_keys(&loop, ret_error);
	if (status == 0)
		status = start_app(&loop, options, ret_error);
	if (status == 0)
		status = mon_live_open(options->directory, false, &app->live, ret_error);
	if (status == 0)
		status = mon_live_ask_outside(app->live, ret_error);
	if (status == 0)
		status = mon_feed_live(app->live, &app->model, NULL, MON_FOLLOW_SEARCHES, ret_error);
	loop.refresh_at_ns = clock_ns() + interval_ns(app);
	if (status == 0 && options->select && !mon_model_select(&app->model, options->select))
		status = tele_fail(ret_error, TELE_ENOTFOUND,
				   "no process has the PID or label '%.60s': `rollcall list` shows "
				   "what there is",
				   mon_text_clean(options->select, options->is_ascii, text, sizeof(text)));
	if (status == 0)
		status = run_on_terminal(&loop, ret_error);
	stop_app(&loop);
	return status;
}

int mon_replay(const struct mon_options *options, struct tele_error *ret_error)
{
	struct loop loop = {0};
	struct mon_player player;
	struct mon_app *app = &loop.app;
	struct mon_at at;
	mon_feed_init(&app->model, MON_HISTORY_FULL, options);
	mon_progress_init(&loop.progress, options->file);
	int status = open_keys(&loop, ret_error);
	if (status == 0)
		status = start_app(&loop, options, ret_error);
	if (status == 0 && options->at)
		status = mon_at_parse(options->at, &at, ret_error);
	if (status == 0)
		status = mon_player_open(&player, options->file, &app->model, &loop.progress, ret_error);
	if (status == 0) {
		app->player = &player;
		if (options->at)
			status = mon_player_jump(&player, &at, ret_error);
		loop.progress.show = show_at_foot;
		loop.progress.context = &loop;
		if (status == 0)
			status = run_on_terminal(&loop, ret_error);
		mon_model_clear(&app->model);
		mon_player_close(&player);
	}
	stop_app(&loop);
	return status;
}
