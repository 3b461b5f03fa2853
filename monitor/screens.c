// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One row a view: its name, how it is drawn, what keys do in it, and which of
// them the foot names.

#include "screens.h"

#include "app.h"
#include "view_parts.h"

#include "../libtelemetry/banned.h"

static const struct mon_screen_row rows[MON_SCREEN_COUNT] = {
	[MON_SCREEN_OVERVIEW] = {NULL,
				 mon_overview_draw,
				 mon_overview_key,
				 {MON_KEY_OPEN, MON_KEY_FIND, MON_KEY_FILTER, MON_KEY_SORT, MON_KEY_TREE,
				  MON_KEY_PAUSE, MON_KEY_UNITS}},
	[MON_SCREEN_PROCESS] = {"process",
				mon_process_draw,
				NULL,
				{MON_KEY_BACK, MON_KEY_NEXT_VIEW, MON_KEY_PAUSE, MON_KEY_UNITS}},
};

const struct mon_screen_row *mon_screen_row(enum mon_screen screen)
{
	TELE_ASSERT(screen < MON_SCREEN_COUNT);
	return &rows[screen];
}

const struct mon_screen_row *mon_screen(const struct mon_view *view)
{
	return mon_screen_row(mon_view_screen(view));
}
