// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Keys as what they mean, from keys.def. No curses here.

#ifndef MON_KEYS_H
#define MON_KEYS_H

#include "../libtelemetry/base.h"

enum mon_key {
	MON_KEY_NONE, // nothing was pressed
	MON_KEY_CHAR, // a character without a meaning of its own
	MON_KEY_RESIZE,
	MON_KEY_GONE,  // the terminal was closed
	MON_KEY_CLICK, // the mouse: at x, y
#define MON_KEY(ID, ...) MON_KEY_##ID,
#include "keys.def"
	MON_KEY_COUNT
};

enum mon_key_group {
	MON_GROUP_LIST,
	MON_GROUP_PROCESS,
	MON_GROUP_TIME,
	MON_GROUP_EVERYWHERE,
	MON_GROUP_COUNT
};

// What a click hit, as drawing told (mon_view_add_hit).
enum mon_hit_kind {
	MON_HIT_NONE,
	MON_HIT_KEY,	// value is an enum mon_key: the click is that key
	MON_HIT_ROW,	// value is the number of a row
	MON_HIT_COLUMN, // value is the number of a column
	MON_HIT_FILTER, // the filter at the foot
	MON_HIT_VIEW,	// value is an enum mon_screen
	MON_HIT_TRACK	// of time: value is its first column, and its width << 32
};

struct mon_input {
	enum mon_key key;
	uint32_t ch;		  // the character, where there is one, for text entry
	unsigned n_rows;	  // of UP and DOWN, by the wheel; 0 is one row
	int x, y;		  // CLICK
	enum mon_hit_kind hit;	  // CLICK, filled in by mon_app_key
	uint64_t hit_value;
};

struct mon_key_row {
	const char *shown, *word, *help; // `shown`: all names, "?, h, F1"
	enum mon_key_group group;
};

// The row of a key that is in the table; NULL for another.
const struct mon_key_row *mon_key_row(enum mon_key key);

// The first of its names, "?".
const char *mon_key_name(enum mon_key key, char *buffer, size_t size);

// The name of the key that was pressed, which may be another than the first:
// the character, else the name of a key that is none, "F6"; "" for none.
const char *mon_input_name(const struct mon_input *input, char *buffer, size_t size);

const char *mon_key_group_title(enum mon_key_group group);

#endif
