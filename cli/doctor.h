// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The checks of `rollcall doctor`, in groups. Each prints its findings.

#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "../libtelemetry/base.h"

enum cli_health { CLI_HEALTHY, CLI_WARNING, CLI_FAILING, CLI_HEALTH_COUNT };

struct cli_findings {
	unsigned n[CLI_HEALTH_COUNT];
	bool has_colour;
};

// Prints one line: health, what was checked, and a sentence that ends in what
// to do unless all is well.
void cli_finding(struct cli_findings *findings, enum cli_health health, const char *what,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

// Shared memory and the directory of segments.
void cli_check_directory(struct cli_findings *findings);

// System calls and files of the kernel that the publisher uses.
void cli_check_kernel(struct cli_findings *findings);

// The preload libraries, and the library of `serve`.
void cli_check_programs(struct cli_findings *findings);

// CUDA: the driver, its management library, the census of its calls, and the
// self-report of each process that is seen.
void cli_check_cuda(struct cli_findings *findings);

void cli_check_terminal(struct cli_findings *findings);

#endif
