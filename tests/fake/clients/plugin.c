// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A plugin that is linked to the driver.

#define LINKED
#include "work.h"

int plugin_work(void);
int plugin_work(void)
{
	return find_linked() || work();
}
