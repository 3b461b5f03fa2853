// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The list of candidates, for the keys that act on its rows.

#ifndef MON_VIEW_CANDIDATES_H
#define MON_VIEW_CANDIDATES_H

#include "view.h"

// The candidate of the selected row; NULL for none.
const struct mon_candidate *mon_candidates_selected(const struct mon_process *process, const struct mon_view *view);

// The next row whose label holds the text, round and round; -1 for none.
int mon_candidates_find(const struct mon_process *process, const struct mon_view *view, const char *text,
			bool is_back);

#endif
