// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the overview lists: rows in their order, and what a column says of one.
// Private to the overview.

#ifndef MON_VIEW_LIST_H
#define MON_VIEW_LIST_H

#include "view.h"

// ---- Rows ---------------------------------------------------------------------

#define MON_LIST_DEPTH_MAX 16

// A process, the total of a tree (below its members), or what cannot be read.
struct mon_list_row {
	const struct mon_process *process;	 // NULL for the other two
	const struct mon_unreadable *unreadable; // NULL for the other two
	const struct mon_process *root;		 // of a total: whose tree it sums up
	uint32_t n_members;			 // of a total
	unsigned depth;				 // 0 for a root, and without a tree
	uint32_t rails;	   // bit d: at depth d + 1 more siblings follow below
	uint32_t tree_end; // of a total: first and one past the last row it sums up
	uint32_t tree_begin;
};

struct mon_list {
	struct mon_list_row *rows;
	uint32_t n_rows;
	uint32_t n_left_out; // processes that filter, user or H keep out
};

// The rows of the list as the view wants them. Without memory it is empty.
void mon_list_build(struct mon_list *list, const struct mon_model *model, const struct mon_view *view);
void mon_list_fini(struct mon_list *list);

// ---- Columns ------------------------------------------------------------------

struct mon_column_row {
	const char *title;
	int width;	// of its own; 0: that of a size, -1: a size with its sign
	bool is_right; // aligned
	bool is_summed; // has a total
	const char *help; // one sentence, for the foot
};

const struct mon_column_row *mon_column_row(enum mon_column column);

// The number of a column, for order and totals; unknown for a text.
struct analysis_signed mon_column_value(const struct mon_process *process, enum mon_column column);

// The number as it is shown. Fills `buffer` and returns it, or "-".
const char *mon_column_format(enum mon_column column, struct analysis_signed value,
			      enum mon_units units, char *buffer, size_t size);

// What the column says of a process, as text; may be the process's own, raw.
const char *mon_column_text(const struct mon_process *process, enum mon_column column,
			    enum mon_units units, char *buffer, size_t size);

// The sum of a column over the members of a total; unknown unless one is known.
struct analysis_signed mon_list_total(const struct mon_list *list, const struct mon_list_row *total,
				      enum mon_column column);

#endif
