// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The part of the model that takes in what happened between rows. Private to
// model.c.

#ifndef MON_MODEL_EVENTS_H
#define MON_MODEL_EVENTS_H

#include "model.h"

// An event with its text, or NULL. Returns 0 or -ENOMEM.
int mon_events_take(struct mon_process *process, const struct tele_record *record, const char *text);

// Missing records. One that was told already changes nothing.
int mon_events_gap(struct mon_process *process, const struct tele_record *record);

// The latest row has come: what was held at a boundary of a candidate.
void mon_events_row(struct mon_process *process);

// The watch has said that classes turned: a line in the log for each.
int mon_events_turned(struct mon_process *process);

#endif
