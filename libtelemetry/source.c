// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What all sources share: names of states, and strings of an instance.

#include "source.h"

#include "strings.h"

#include "banned.h"

const char *tele_state_name(unsigned state)
{
	switch (state) {
#define X(name, value, text) \
	case name:           \
		return text;
		TELE_STATE_MAP(X)
#undef X
	default:
		return "?";
	}
}

bool tele_state_is_alive(unsigned state)
{
	return state == TELE_STARTING || state == TELE_LIVE || state == TELE_PARKED ||
	       state == TELE_LIVE_UNLOCKED || state == TELE_STALE;
}

const char *tele_instance_string(const struct tele_instance *instance, uint64_t id)
{
	return instance->strings ? tele_strings_get(instance->strings, id) : NULL;
}
