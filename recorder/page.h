// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What `rollcall serve` answers: a model of live processes as metrics. Pure: the
// same model and time give the same page.

#ifndef REC_PAGE_H
#define REC_PAGE_H

#include "../monitor/model.h"
#include "../monitor/out.h"
#include "metrics.h"

#define REC_PAGE_PROCESSES_MAX 256
#define REC_PAGE_APP_FIELDS_MAX 256 // of a process

struct rec_page_options {
	enum rec_metric_syntax syntax;
	uint64_t now_ns;    // monotonic
	uint64_t linger_ns; // how long a dead process's last reading is shown
};

// Writes the whole page. Alive processes come before dead ones and newer before
// older; those beyond REC_PAGE_PROCESSES_MAX are counted and left out. The model
// must be settled.
void rec_page_write(struct mon_out *out, const struct mon_model *model, const struct rec_page_options *options);

// How many processes the page shows.
uint32_t rec_page_count(const struct mon_model *model, const struct rec_page_options *options);

#endif
