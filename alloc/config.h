// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The knobs: ROLLCALL_MALLOC holds a comma-separated list of them.
//
//   decay_ms=N    how long a page stays after its last block went (200)
//   keep=yes      give nothing back but on malloc_trim (no)
//   huge=never    ask for no huge pages, so that a touched page is one page
//   huge=always   ask for them
//   huge=system   leave it to the system's setting
//   abort=no      say a misuse and go on (yes)

#ifndef ALLOC_CONFIG_H
#define ALLOC_CONFIG_H

#include "../libtelemetry/base.h"

enum alloc_huge {
	ALLOC_HUGE_NEVER,
	ALLOC_HUGE_ALWAYS,
	ALLOC_HUGE_SYSTEM,
};

struct alloc_config {
	uint64_t decay_ns;
	bool keeps;
	bool aborts;
	enum alloc_huge huge;
};

// Defaults until the constructor has read the environment; then constant but
// for mallopt, which writes single members.
extern struct alloc_config alloc_config;

// Parses such a list over the defaults. Unknown words are skipped. Returns how
// many there were.
int alloc_config_parse(struct alloc_config *config, const char *text);

#endif
