// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The table of keys as an array, for whoever shows it.

#include "keys.h"

#include <stdio.h>
#include <string.h>

#include "../libtelemetry/banned.h"

static const struct mon_key_row rows[MON_KEY_COUNT] = {
#define MON_KEY(ID, shown_, ch, other, special, other_special, group_, word_, help_)               \
	[MON_KEY_##ID] = {shown_, word_, help_, MON_GROUP_##group_},
#include "keys.def"
};

const struct mon_key_row *mon_key_row(enum mon_key key)
{
	return key < MON_KEY_COUNT && rows[key].shown ? &rows[key] : NULL;
}

const char *mon_key_name(enum mon_key key, char *buffer, size_t size)
{
	const struct mon_key_row *row = mon_key_row(key);
	TELE_ASSERT(row);
	// A comma may be the name itself.
	int len = 1 + (int)strcspn(row->shown + 1, ",");
	snprintf(buffer, size, "%.*s", len, row->shown);
	return buffer;
}

const char *mon_key_group_title(enum mon_key_group group)
{
	static const char *const titles[MON_GROUP_COUNT] = {
		[MON_GROUP_LIST] = "In a list",
		[MON_GROUP_PROCESS] = "In a process",
		[MON_GROUP_TIME] = "Time",
		[MON_GROUP_EVERYWHERE] = "Everywhere",
	};
	TELE_ASSERT(group < MON_GROUP_COUNT);
	return titles[group];
}
