// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Views: pure functions from (model, what the user chose, size) to cells. The
// model must be settled. Nothing here depends on the wall clock, or on whether
// records are live or replayed.

#ifndef MON_VIEW_H
#define MON_VIEW_H

#include "cells.h"
#include "keys.h"
#include "lens.h"
#include "model.h"
#include "monitor.h"

#define MON_WIDTH_MIN  40
#define MON_HEIGHT_MIN 12

// Columns of the overview, in the order in which they stand.
enum mon_column {
	MON_COLUMN_PID,
	MON_COLUMN_LABEL,
	MON_COLUMN_STATE,
	MON_COLUMN_UP,
	MON_COLUMN_MAPPED,
	MON_COLUMN_LIVE,
	MON_COLUMN_PREDICTED,
	MON_COLUMN_RSS,
	MON_COLUMN_RESIDUAL,
	MON_COLUMN_POOLS,
	MON_COLUMN_POOL_BYTES,
	MON_COLUMN_CONTEXTS,
	MON_COLUMN_MODULES,
	MON_COLUMN_CANDIDATES,
	MON_COLUMN_HISTORY,
	MON_COLUMN_VERDICT,
	MON_COLUMN_COUNT
};

// Views. The overview is what is shown while no process is opened; the others
// are those of a process, in the order of Tab. Each has a row in screens.c.
enum mon_screen {
	MON_SCREEN_OVERVIEW,
	MON_SCREEN_PROCESS,
	MON_SCREEN_TRENDS,
	MON_SCREEN_CANDIDATES,
	MON_SCREEN_CLASSES,
	MON_SCREEN_DEVICES,
	MON_SCREEN_LOG,
	MON_SCREEN_COUNT
};

// A part of the screen that can be clicked: a key's name, rows of a table (the
// hit's value is that of the first row, plus the row that was hit), a column.
struct mon_hit {
	int x, y, width, height;
	enum mon_hit_kind kind;
	uint64_t value;
};

#define MON_HITS_MAX 64

#define MON_TRANSPORT_PHASES 16

// Where a replay stands, or a live process that is paused; shown as a line of
// its own.
struct mon_transport {
	const char *file; // NULL when live
	bool is_live, is_following; // the newest row is shown: no line
	bool is_playing;
	double speed;
	uint64_t position_ns, length_ns;  // since the first record
	uint64_t candidate, n_candidates; // ended by now, and in all; TELE_UNKNOWN
	uint64_t phase_at_ns[MON_TRANSPORT_PHASES]; // since the first record
	unsigned n_phases;
	uint64_t n_gaps; // by now
};

// What the user chose. All zero, sorted by PID, is a valid start; mon_view_init
// gives the usual one.
struct mon_view {
	uint64_t opened;   // instance id of the process on the screen; 0: the overview
	uint64_t selected; // instance id of the selected row of the overview
	enum mon_screen screen; // of the opened process
	bool is_help;
	int scroll; // first row of the list, or first line of the process or help
	enum mon_column sort;
	bool is_inverted;
	bool is_tree, is_dead_hidden; // of the overview
	bool has_user;		      // the overview shows only this user's
	uint64_t user;
	uint64_t interval_ms; // between refreshes, to be shown; 0: do not show it
	enum mon_units units;
	bool is_ascii;
	bool is_text; // for a pipe: nothing selected, no keys at the foot
	bool is_blocks; // no braille: the terminal's font has none
	bool is_paused;
	char entry_prompt[32]; // text entry at the foot; "" for none
	char entry[64];
	char note[256]; // one sentence at the foot, our own text or cleaned
	struct mon_lens lens; // of the views of a process
	char filters[MON_SCREEN_COUNT][64]; // of each view; "" shows all
	const struct mon_transport *transport;
	// Set by drawing:
	bool is_absent; // at this point of a replay the opened process has not started
	bool has_more; // lines below the screen
	char about[256]; // what is selected, in one sentence; "" for nothing
	struct mon_hit hits[MON_HITS_MAX];
	unsigned n_hits;
};

void mon_view_init(struct mon_view *view);

// What is shown, and so what keys are for: the overview while nothing is opened,
// or the opened process is absent.
enum mon_screen mon_view_screen(const struct mon_view *view);

// While drawing: says what a click on this part of the screen means. Later ones
// lie above earlier ones. Those that find no room cannot be clicked.
void mon_view_add_hit(struct mon_view *view, int x, int y, int width, int height,
		      enum mon_hit_kind kind, uint64_t value);

// What was hit, as the last drawing said; MON_HIT_NONE for nothing.
enum mon_hit_kind mon_view_hit(const struct mon_view *view, int x, int y, uint64_t *ret_value);

// Draws the whole screen on a grid that was reset to its size. Corrects
// view->scroll to what can be shown and sets view->has_more.
void mon_view_draw(struct mon_grid *grid, const struct mon_model *model, struct mon_view *view);

// Processes that the overview lists at most.
#define MON_OVERVIEW_ROWS_MAX 4096

// The instance ids of the overview's rows in the order in which they are shown.
// Fills at most `capacity` and returns how many rows there are.
uint32_t mon_overview_order(const struct mon_model *model, const struct mon_view *view,
			    uint64_t *ret_ids, uint32_t capacity);

// The instance id of the overview's row `row`, as hits count them; 0 for one
// that is no process.
uint64_t mon_overview_row(const struct mon_model *model, const struct mon_view *view, uint64_t row);

// Whether a process is meant by a text to find or to filter by: its PID, or a
// part of its label or name; capitals do not matter.
bool mon_overview_matches(const struct mon_process *process, const char *text);

// Rows of the list that fit on a screen of this height.
int mon_overview_page(const struct mon_view *view, int height);

const char *mon_column_title(enum mon_column column);

#endif
