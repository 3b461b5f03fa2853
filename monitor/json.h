// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The model as JSON: what `list --json`, `top --json` and `report --json`
// print. Keys never change meaning; numbers are exact; unknown is null.

#ifndef MON_JSON_H
#define MON_JSON_H

#include "model.h"
#include "out.h"

// A JSON string of foreign bytes: what mon_text_clean would replace comes as
// \uXXXX, a byte that is not UTF-8 as \ufffd. NULL gives null.
void mon_json_string(struct mon_out *out, const char *text);

// An integer, or null when it is TELE_UNKNOWN.
void mon_json_u64(struct mon_out *out, uint64_t value);

// A number so that reading it gives the same double back; NAN and infinity,
// which JSON does not have, are null.
void mon_json_double(struct mon_out *out, double value);

// The verdicts of a watch as an array, in their order. `watch` may be NULL.
void mon_json_verdicts(struct mon_out *out, const struct analysis_watch *watch,
		       const struct analysis_verdict *verdicts, size_t n_verdicts);

// One process as an object, without a line end. The model must be settled.
void mon_json_process(struct mon_out *out, const struct mon_process *process);

// All listed processes, and then unreadable segments, as an array on one line.
// With `select` (not NULL), only processes that match it.
void mon_json_write(struct mon_out *out, const struct mon_model *model, const char *select);

#endif
