// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Functions that cannot be used safely. Include this last in a .c file: from
// then on their names do not compile. `make lint` checks that each .c file
// outside tests/ and examples/ does.

#ifndef TELE_BANNED_H
#define TELE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat strncpy strncat stpcpy sprintf vsprintf
#pragma GCC poison strtok gets asctime ctime localtime gmtime
#pragma GCC poison atoi atol atoll

#endif
