// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The device side of `audit` and of `doctor`: what the CUDA census counted,
// what the driver says, and what is left between the two.

#ifndef CLI_DEVICES_H
#define CLI_DEVICES_H

#include "../libtelemetry/attach.h"

struct cli_reading {
	const struct tele_instance *instance;
	const uint64_t *row;
	uint32_t n_fields;
};

// Prints the devices of a reading, and returns how many there were.
unsigned cli_print_devices(const struct cli_reading *reading);

#endif
