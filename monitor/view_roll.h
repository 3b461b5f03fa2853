// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A roll: a list of what happened to a process, such as its candidates, that is
// filtered, searched, put in order, selected and drawn in one way. What tells one
// from another is its row of functions. Things have numbers, from 0; the latest
// are known.

#ifndef MON_VIEW_ROLL_H
#define MON_VIEW_ROLL_H

#include "view_table.h"

#define MON_ROLL_ROWS_MAX 512

struct mon_roll {
	enum mon_screen screen;
	const struct mon_table_column *columns; // each with a title sorts
	int n_columns;
	// The rest is NULL where a view draws its rows itself and is only sorted.
	const char *empty; // said when nothing happened yet
	uint32_t n_known;  // most things that are known, at most MON_ROLL_ROWS_MAX
	uint64_t (*count)(const struct mon_process *process); // ever
	// What find and filter look at.
	bool (*has_text)(const struct mon_process *process, uint64_t number, const char *text);
	// The row's number or text, by which the column sorts.
	void (*set_key)(const struct mon_process *process, uint64_t number, int column, struct mon_table_row *row);
	void (*draw_row)(const struct mon_table *table, const struct mon_process *process, uint32_t row,
			 uint64_t number);
	// One sentence about the selected thing, for the foot.
	void (*tell)(const struct mon_process *process, uint64_t number, char *buffer, size_t size);
	// The moment it leads to; TELE_UNKNOWN for none.
	uint64_t (*at_ns)(const struct mon_process *process, uint64_t number);
};

// The selected thing's moment, TELE_UNKNOWN for none.
uint64_t mon_roll_selected_at_ns(const struct mon_roll *roll, const struct mon_process *process,
				 const struct mon_view *view);

// The next row with `text`, or the one before, round and round; -1: none.
int mon_roll_find(const struct mon_roll *roll, const struct mon_process *process, const struct mon_view *view,
		  const char *text, bool is_back);

void mon_roll_draw(const struct mon_roll *roll, struct mon_grid *grid, const struct mon_process *process,
		   struct mon_view *view, int y, int height);

extern const struct mon_roll mon_candidates_roll, mon_classes_roll, mon_log_roll;

#endif
