// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One row a view: its name, how it is drawn, what keys do in it, and which of
// them the foot names.

#include "screens.h"

#include <stdio.h>
#include <string.h>

#include "app.h"
#include "view_parts.h"
#include "view_roll.h"

#include "../libtelemetry/banned.h"

#define OVERVIEW "overview"

static const struct mon_screen_row rows[MON_SCREEN_COUNT] = {
	[MON_SCREEN_OVERVIEW] = {NULL,
				 mon_overview_draw,
				 mon_overview_key,
				 {MON_KEY_OPEN, MON_KEY_FIND, MON_KEY_FILTER, MON_KEY_SORT, MON_KEY_TREE,
				  MON_KEY_PAUSE, MON_KEY_UNITS},
				 NULL},
	[MON_SCREEN_PROCESS] = {"process",
				mon_process_draw,
				mon_views_key,
				{MON_KEY_BACK, MON_KEY_NEXT_VIEW, MON_KEY_PAUSE, MON_KEY_STEP_BACK,
				 MON_KEY_AXIS, MON_KEY_ZOOM_IN, MON_KEY_MARK, MON_KEY_UNITS},
				NULL},
	[MON_SCREEN_TRENDS] = {"trends",
			       mon_trends_draw,
			       mon_views_key,
			       {MON_KEY_BACK, MON_KEY_NEXT_VIEW, MON_KEY_PAUSE, MON_KEY_STEP_BACK, MON_KEY_AXIS,
				MON_KEY_ZOOM_IN, MON_KEY_ZOOM_OUT, MON_KEY_UNITS},
			       NULL},
	[MON_SCREEN_CANDIDATES] = {"candidates",
				   mon_candidates_draw,
				   mon_views_key,
				   {MON_KEY_BACK, MON_KEY_NEXT_VIEW, MON_KEY_SORT, MON_KEY_FIND, MON_KEY_FILTER,
				    MON_KEY_PAUSE},
				   &mon_candidates_roll},
	[MON_SCREEN_CLASSES] = {"classes",
				mon_classes_draw,
				mon_views_key,
				{MON_KEY_BACK, MON_KEY_NEXT_VIEW, MON_KEY_SORT, MON_KEY_INVERT, MON_KEY_PAUSE,
				 MON_KEY_UNITS},
				&mon_classes_roll},
	[MON_SCREEN_DEVICES] = {"devices",
				mon_devices_draw,
				mon_views_key,
				{MON_KEY_BACK, MON_KEY_NEXT_VIEW, MON_KEY_PAUSE, MON_KEY_AXIS, MON_KEY_MARK,
				 MON_KEY_UNITS},
				NULL},
	[MON_SCREEN_LOG] = {"log",
			    mon_log_draw,
			    mon_views_key,
			    {MON_KEY_BACK, MON_KEY_NEXT_VIEW, MON_KEY_SORT, MON_KEY_FIND, MON_KEY_FILTER,
			     MON_KEY_PAUSE, MON_KEY_OPEN},
			    &mon_log_roll},
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

enum mon_screen mon_screen_find(const char *name)
{
	int screen = MON_SCREEN_OVERVIEW;
	if (strcmp(name, OVERVIEW) == 0)
		return MON_SCREEN_OVERVIEW;
	while (screen < MON_SCREEN_COUNT && (!rows[screen].name || strcmp(rows[screen].name, name) != 0))
		screen++;
	return (enum mon_screen)screen;
}

bool mon_has_view(const char *name)
{
	return mon_screen_find(name) != MON_SCREEN_COUNT;
}

const char *mon_view_names(char *buffer, size_t size)
{
	size_t len = (size_t)snprintf(buffer, size, OVERVIEW);
	for (int i = MON_SCREEN_OVERVIEW + 1; i < MON_SCREEN_COUNT && len < size; i++)
		len += (size_t)snprintf(buffer + len, size - len, ", %s", rows[i].name);
	return buffer;
}
