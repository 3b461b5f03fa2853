// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The log of a process, for the keys that act on its lines.

#ifndef MON_VIEW_LOG_H
#define MON_VIEW_LOG_H

#include "view.h"

// The line of the selected row; NULL for none.
const struct mon_log_entry *mon_log_selected(const struct mon_process *process, const struct mon_view *view);

#endif
