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
	MON_KEY_GONE, // the terminal was closed
#define MON_KEY(ID, ...) MON_KEY_##ID,
#include "keys.def"
	MON_KEY_COUNT
};

// What was pressed: `ch` is the character, where there is one, for text entry.
struct mon_input {
	enum mon_key key;
	uint32_t ch;
};

enum mon_key_group { MON_GROUP_LIST, MON_GROUP_EVERYWHERE, MON_GROUP_REPLAY, MON_GROUP_COUNT };

#endif
