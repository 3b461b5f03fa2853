// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Names of events, from the table in event.h.

#include "event.h"

#include "banned.h"

const char *tele_event_name(unsigned type)
{
	switch (type) {
#define X(name, value, text) \
	case name:           \
		return text;
		TELE_EVENT_MAP(X)
#undef X
	default:
		return "?";
	}
}
