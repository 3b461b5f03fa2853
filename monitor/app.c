// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What keys do. Each acts at once on the data in hand. A key goes to text entry
// if there is one, else to the view, to the keys that mean the same everywhere,
// to time; whoever takes it first has it.

#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screens.h"
#include "utf8.h"

#include "../libtelemetry/banned.h"

#define LINES_MAX 4096

const struct mon_model *mon_app_shown(const struct mon_app *app)
{
	if (app->focus.source && app->view.opened)
		return &app->focused;
	return app->is_frozen ? &app->frozen : &app->model;
}

void mon_app_note(struct mon_app *app, const char *text)
{
	mon_text_clean(text, app->view.is_ascii, app->view.note, sizeof(app->view.note));
}

void mon_app_open(struct mon_app *app, uint64_t instance_id)
{
	struct tele_error error = {0};
	if (!instance_id)
		return;
	app->view.opened = instance_id;
	app->view.selected = instance_id;
	app->view.scroll = 0;
	mon_time_focus(app, instance_id);
	if (!app->live)
		return;
	if (!app->focus.source && mon_model_want_history(&app->model, instance_id))
		return;
	if (mon_live_follow(app->live, instance_id, &error) < 0 ||
	    mon_feed_more(app->live, &app->model, &error) < 0)
		mon_app_note(app, error.text);
	mon_model_settle(&app->model);
}

// Text that is being typed is of the screen that stands below it, and goes with it.
static void stop_entry(struct mon_app *app)
{
	app->entry = MON_ENTRY_NONE;
	app->view.entry_prompt[0] = '\0';
}

static void close_process(struct mon_app *app)
{
	stop_entry(app);
	app->view.opened = 0;
	app->view.scroll = 0;
	mon_time_blur(app);
	if (app->player)
		app->player->instance_id = 0;
}

void mon_app_open_first(struct mon_app *app)
{
	const struct mon_process *process = NULL;
	mon_model_settle(&app->model);
	if (app->options->select)
		process = mon_model_select(&app->model, app->options->select);
	else if (app->player)
		process = mon_feed_first_opened(&app->model, NULL);
	if (process)
		mon_app_open(app, process->identity.instance_id);
}

// ---- Text entry ---------------------------------------------------------------

void mon_app_start_entry(struct mon_app *app, enum mon_entry entry, const char *prompt,
			 const char *text)
{
	app->entry = entry;
	snprintf(app->view.entry, sizeof(app->view.entry), "%s", text);
	snprintf(app->view.entry_prompt, sizeof(app->view.entry_prompt), "%s", prompt);
}

// "200ms", "0.5s", "2": seconds without a unit.
static void set_interval(struct mon_app *app, const char *text)
{
	char *end;
	double value = strtod(text, &end);
	if (strcmp(end, "ms") != 0)
		value *= 1000;
	if (end == text || (end[0] && strcmp(end, "s") != 0 && strcmp(end, "ms") != 0) ||
	    !(value >= MON_INTERVAL_MS_MIN && value <= MON_INTERVAL_MS_MAX)) {
		mon_app_note(app, "an interval is 20ms to 60s, such as 0.5s or 200ms");
		return;
	}
	app->settings.interval_ms = (unsigned)value;
	app->view.interval_ms = app->settings.interval_ms;
}

static int finish_entry(struct mon_app *app, struct tele_error *ret_error)
{
	enum mon_entry entry = app->entry;
	const char *text = app->view.entry;
	stop_entry(app);
	if (entry == MON_ENTRY_FILTER) {
		char *filter = app->view.filters[mon_view_screen(&app->view)];
		memcpy(filter, text, sizeof(app->view.filters[0]));
		app->view.scroll = 0;
		mon_overview_select(app, 0);
	} else if (entry == MON_ENTRY_USER) {
		mon_overview_user(app, text);
	} else if (entry == MON_ENTRY_INTERVAL && text[0]) {
		set_interval(app, text);
	} else if (entry == MON_ENTRY_FIND && text[0]) {
		memcpy(app->find, text, sizeof(app->find));
		return mon_app_key(app, (struct mon_input){.key = MON_KEY_FIND_NEXT}, ret_error);
	} else if (entry == MON_ENTRY_JUMP && text[0]) {
		mon_time_jump(app, text);
	}
	return 0;
}

static void erase_char(char *text)
{
	size_t len = strlen(text);
	while (len > 0 && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
		len--;
	text[len > 0 ? len - 1 : 0] = '\0';
}

static int entry_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error)
{
	char bytes[MON_CHAR_BYTES_MAX];
	size_t len = strlen(app->view.entry);
	if (input.key == MON_KEY_OPEN)
		return finish_entry(app, ret_error);
	if (input.ch == 0x1b) {
		stop_entry(app);
	} else if (input.ch == 0x7f || input.ch == 0x08 ||
		   (input.key == MON_KEY_BACK && input.ch == 0)) {
		erase_char(app->view.entry);
	} else if (input.ch && mon_char_is_safe(input.ch)) {
		size_t n = mon_utf8_put(input.ch, bytes);
		if (len + n < sizeof(app->view.entry)) {
			memcpy(app->view.entry + len, bytes, n);
			app->view.entry[len + n] = '\0';
		}
	}
	return 0;
}

// ---- Keys that mean the same everywhere ---------------------------------------

static void go_back(struct mon_app *app)
{
	if (app->view.is_help) {
		app->view.is_help = false;
		app->view.scroll = 0;
	} else if (app->view.opened) {
		close_process(app);
	}
}

// Lines of a screen that is longer than the terminal. Drawing corrects what goes
// too far.
static bool scroll(struct mon_app *app, struct mon_input input)
{
	int page = app->height > 4 ? app->height - 4 : 1;
	int n_rows = input.n_rows ? (int)input.n_rows : 1;
	switch (input.key) {
	case MON_KEY_UP:
		app->view.scroll -= n_rows;
		break;
	case MON_KEY_DOWN:
		app->view.scroll += n_rows;
		break;
	case MON_KEY_PAGE_UP:
		app->view.scroll -= page;
		break;
	case MON_KEY_PAGE_DOWN:
		app->view.scroll += page;
		break;
	case MON_KEY_HOME:
		app->view.scroll = 0;
		break;
	case MON_KEY_END:
		app->view.scroll = LINES_MAX;
		break;
	default:
		return false;
	}
	if (app->view.scroll < 0)
		app->view.scroll = 0;
	return true;
}

// The views of a process, round and round.
static bool change_view(struct mon_app *app, struct mon_input input)
{
	int first = MON_SCREEN_OVERVIEW + 1, n = MON_SCREEN_COUNT - first;
	int at = (int)mon_view_screen(&app->view) - first;
	char text[64];
	if (at < 0)
		return false;
	if (input.key == MON_KEY_VIEW && (input.ch < '1' || input.ch >= '1' + (uint32_t)n)) {
		snprintf(text, sizeof(text), "there is no view %c: 1 to %d", (int)input.ch, n);
		mon_app_note(app, text);
		return true;
	}
	if (input.key == MON_KEY_NEXT_VIEW)
		at = (at + 1) % n;
	else if (input.key == MON_KEY_PREVIOUS_VIEW)
		at = (at + n - 1) % n;
	else
		at = (int)(input.ch - '1');
	app->view.screen = (enum mon_screen)(first + at);
	app->view.scroll = 0;
	return true;
}

static void start_interval(struct mon_app *app)
{
	char text[24];
	if (!app->live) {
		mon_app_note(app, "a trace has its own rows: < and > change the speed");
		return;
	}
	snprintf(text, sizeof(text), "%ums", app->settings.interval_ms);
	mon_app_start_entry(app, MON_ENTRY_INTERVAL, "refresh every (0.5s, 200ms):", text);
}

static void next_colours(struct mon_app *app)
{
	static const char *const notes[MON_COLOURS_COUNT] = {
		"colours: as the terminal says", "colours: for a dark background",
		"colours: for a light background", "colours: none"};
	app->settings.colours = (app->settings.colours + 1) % MON_COLOURS_COUNT;
	mon_app_note(app, notes[app->settings.colours]);
}

static void toggle_mouse(struct mon_app *app)
{
	app->settings.mouse = !app->settings.mouse;
	mon_app_note(app, app->settings.mouse ? "mouse: clicks sort, select and open"
					      : "mouse: the terminal's, to select text");
}

static void save(struct mon_app *app)
{
	char path[512], text[640];
	struct tele_error error = {0};
	mon_settings_from_view(&app->settings, &app->view);
	if (mon_settings_path(path, sizeof(path)))
		mon_app_note(app, "neither XDG_CONFIG_HOME nor HOME says where to");
	else if (mon_settings_write(path, &app->settings, &error))
		mon_app_note(app, error.text);
	else {
		snprintf(text, sizeof(text), "written: %s", path);
		mon_app_note(app, text);
	}
}

// Keys that change how things are shown.
static bool setting_key(struct mon_app *app, enum mon_key key)
{
	switch (key) {
	case MON_KEY_UNITS:
		app->view.units = (enum mon_units)((app->view.units + 1) % MON_UNITS_COUNT);
		return true;
	case MON_KEY_INTERVAL:
		start_interval(app);
		return true;
	case MON_KEY_COLOURS:
		next_colours(app);
		return true;
	case MON_KEY_MOUSE:
		toggle_mouse(app);
		return true;
	case MON_KEY_SAVE:
		save(app);
		return true;
	default:
		return false;
	}
}

static bool common_key(struct mon_app *app, struct mon_input input)
{
	switch (input.key) {
	case MON_KEY_QUIT:
		app->is_quit = true;
		return true;
	case MON_KEY_BACK:
		go_back(app);
		return true;
	case MON_KEY_HELP:
		app->view.is_help = !app->view.is_help;
		app->view.scroll = 0;
		return true;
	case MON_KEY_SUSPEND:
		app->is_suspend = true;
		return true;
	case MON_KEY_REDRAW:
		app->is_redraw = true;
		return true;
	case MON_KEY_NEXT_VIEW:
	case MON_KEY_PREVIOUS_VIEW:
	case MON_KEY_VIEW:
		return change_view(app, input);
	default:
		return setting_key(app, input.key) || scroll(app, input);
	}
}

// Says that a key has no meaning where it was pressed, or nowhere. `key` is what
// it would have meant there.
static void answer(struct mon_app *app, const struct mon_input *pressed, enum mon_key key)
{
	char text[128], name[16];
	const struct mon_key_row *row = mon_key_row(key);
	mon_input_name(pressed, name, sizeof(name));
	if (!name[0])
		return;
	bool is_list = mon_view_screen(&app->view) == MON_SCREEN_OVERVIEW;
	const char *where = app->view.is_help ? "the help" : is_list ? "the list" : "this view of a process";
	if (row)
		snprintf(text, sizeof(text), "%s (%s) has no meaning in %s", name, row->word, where);
	else
		snprintf(text, sizeof(text), "%s has no meaning: ? lists the keys that have one", name);
	mon_app_note(app, text);
}

// A click becomes the key that it hit, or is told what it hit. One that hits
// something leaves what is being typed, as Esc does.
static void resolve_click(struct mon_app *app, struct mon_input *input)
{
	input->hit = mon_view_hit(&app->view, input->x, input->y, &input->hit_value);
	if (input->hit != MON_HIT_NONE)
		stop_entry(app);
	if (input->hit == MON_HIT_FILTER && input->hit_value == 0)
		app->view.filters[mon_view_screen(&app->view)][0] = '\0';
	else if (input->hit == MON_HIT_FILTER && input->hit_value == 1)
		app->view.has_user = false;
	else if (input->hit == MON_HIT_FILTER)
		app->view.is_dead_hidden = false;
	else if (input->hit == MON_HIT_KEY)
		*input = (struct mon_input){.key = (enum mon_key)input->hit_value};
}

int mon_app_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error)
{
	int taken = 0;
	if (input.key == MON_KEY_NONE || input.key == MON_KEY_RESIZE)
		return 0;
	app->view.note[0] = '\0';
	if (input.key == MON_KEY_CLICK)
		resolve_click(app, &input);
	else
		app->clicked = 0;
	if (app->entry != MON_ENTRY_NONE)
		return entry_key(app, input, ret_error);
	const struct mon_input pressed = input;
	// One key, as in atop: a tree where there are parents, else forward.
	if (input.key == MON_KEY_TREE && mon_view_screen(&app->view) != MON_SCREEN_OVERVIEW)
		input.key = MON_KEY_STEP_FORWARD;
	const struct mon_screen_row *screen = mon_screen(&app->view);
	if (screen->key && !app->view.is_help)
		taken = screen->key(app, input, ret_error);
	if (taken == 0)
		taken = common_key(app, input);
	if (taken == 0 && !app->view.is_help)
		taken = mon_time_key(app, input, ret_error);
	if (taken == 0)
		answer(app, &pressed, input.key);
	return taken < 0 ? taken : 0;
}

void mon_app_settle(struct mon_app *app)
{
	mon_model_settle(&app->model);
	if (app->is_frozen)
		mon_model_settle(&app->frozen);
	if (app->focus.source)
		mon_model_settle(&app->focused);
	const struct mon_model *model = app->is_frozen ? &app->frozen : &app->model;
	const struct mon_process *opened =
		app->view.opened ? mon_model_find(model, app->view.opened) : NULL;
	const char *select = app->options->select;
	if (app->view.opened && !opened && app->live) {
		close_process(app);
		mon_app_note(app, "the process has gone from the list");
	}
	if (opened && select && app->live && !app->is_frozen &&
	    !tele_state_is_alive(opened->state)) {
		const struct mon_process *next = mon_model_select(model, select);
		if (next && next != opened && tele_state_is_alive(next->state)) {
			mon_app_open(app, next->identity.instance_id);
			mon_app_note(app, "started again");
		}
	}
	if (!mon_model_find(model, app->view.selected))
		mon_overview_select(app, 0);
}
