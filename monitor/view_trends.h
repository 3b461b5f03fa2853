// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The classes that Trends lists, for the keys that act on them.

#ifndef MON_VIEW_TRENDS_H
#define MON_VIEW_TRENDS_H

#include "view.h"

// The next class whose name holds the text, round and round; -1 for none.
int mon_trends_find(const struct mon_process *process, const struct mon_view *view, const char *text, bool is_back);

#endif
