// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// For verbs that make a file.

#ifndef CLI_DRAFT_H
#define CLI_DRAFT_H

// From here on a signal that ends the command removes the draft that it makes
// (recorder/draft.h); a reader that leaves and a limit of size are errors of
// writing.
void cli_leave_no_draft(void);

#endif
