// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Keys by the table in keys.def. curses reads and decodes, but waiting is done
// here: a signal ends the wait at once, and a terminal that is gone is told from
// one where nobody types.

#include "input.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>

#include "../libtelemetry/banned.h"

#define KEY_NONE (-1)

static const struct {
	enum mon_key key;
	int ch, other_ch;
	int special, other_special;
} bindings[] = {
#define MON_KEY(ID, shown, ch_, other_ch_, special_, other_special_, group, word, help)            \
	{MON_KEY_##ID, ch_, other_ch_, KEY_##special_, KEY_##other_special_},
#include "keys.def"
};

#define WHEEL_ROWS 3

static struct mon_input mouse_input(void)
{
	MEVENT event;
	if (getmouse(&event) != OK)
		return (struct mon_input){.key = MON_KEY_CHAR};
	if (event.bstate & BUTTON4_PRESSED)
		return (struct mon_input){.key = MON_KEY_UP, .n_rows = WHEEL_ROWS};
	if (event.bstate & BUTTON5_PRESSED)
		return (struct mon_input){.key = MON_KEY_DOWN, .n_rows = WHEEL_ROWS};
	return (struct mon_input){.key = MON_KEY_CLICK, .x = event.x, .y = event.y};
}

static struct mon_input special_input(int code)
{
	if (code == KEY_RESIZE)
		return (struct mon_input){.key = MON_KEY_RESIZE};
	if (code == KEY_MOUSE)
		return mouse_input();
	for (size_t i = 0; i < TELE_ARRAY_LEN(bindings); i++)
		if (code == bindings[i].special || code == bindings[i].other_special)
			return (struct mon_input){.key = bindings[i].key};
	return (struct mon_input){.key = MON_KEY_CHAR};
}

static struct mon_input char_input(uint32_t ch)
{
	struct mon_input input = {.key = MON_KEY_CHAR, .ch = ch};
	for (size_t i = 0; i < TELE_ARRAY_LEN(bindings); i++)
		if (ch && ((int)ch == bindings[i].ch || (int)ch == bindings[i].other_ch))
			input.key = bindings[i].key;
	if (ch >= '1' && ch <= '9')
		input.key = MON_KEY_VIEW;
	return input;
}

// What curses has already, or MON_KEY_NONE.
static struct mon_input take(void)
{
	wint_t ch = 0;
	int kind = get_wch(&ch);
	if (kind == KEY_CODE_YES)
		return special_input((int)ch);
	return kind == OK ? char_input((uint32_t)ch) : (struct mon_input){.key = MON_KEY_NONE};
}

struct mon_input mon_input_wait(int fd, int64_t timeout_ms, const sigset_t *mask)
{
	static int n_empty; // ready and nothing there: the end of a closed terminal
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	struct timespec timeout = {.tv_sec = timeout_ms / 1000,
				   .tv_nsec = timeout_ms % 1000 * 1000000};
	struct mon_input input = take();
	if (input.key != MON_KEY_NONE)
		return input;
	int n_ready = ppoll(&poll_fd, 1, &timeout, mask);
	if (n_ready > 0 && (poll_fd.revents & (POLLHUP | POLLERR | POLLNVAL)))
		return (struct mon_input){.key = MON_KEY_GONE};
	input = take();
	n_empty = n_ready > 0 && input.key == MON_KEY_NONE ? n_empty + 1 : 0;
	if (n_empty > 50)
		input.key = MON_KEY_GONE;
	return input;
}
