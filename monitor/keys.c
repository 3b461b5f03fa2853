// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The table of keys as an array, for whoever shows it.

#include "keys.h"

#include <stdio.h>
#include <string.h>

#include "utf8.h"

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

// The length of the first of names. A comma may be the name itself.
static int name_len(const char *names)
{
	return 1 + (int)strcspn(names + 1, ",");
}

const char *mon_key_name(enum mon_key key, char *buffer, size_t size)
{
	const struct mon_key_row *row = mon_key_row(key);
	TELE_ASSERT(row);
	snprintf(buffer, size, "%.*s", name_len(row->shown), row->shown);
	return buffer;
}

const char *mon_input_name(const struct mon_input *input, char *buffer, size_t size)
{
	const struct mon_key_row *row = mon_key_row(input->key);
	char bytes[MON_CHAR_BYTES_MAX];
	if (input->ch > ' ' && input->ch != 0x7f) {
		snprintf(buffer, size, "%.*s", (int)mon_utf8_put(input->ch, bytes), bytes);
		return buffer;
	}
	// Names of one letter are characters, which this is not.
	const char *name = row ? row->shown : "";
	while (name[0] && name_len(name) == 1 && name[1])
		name += strlen(", ") + 1;
	if (name[0])
		snprintf(buffer, size, "%.*s", name_len(name), name);
	else if (input->ch)
		snprintf(buffer, size, "Ctrl-%c", (int)(input->ch ^ 0x40));
	else
		buffer[0] = '\0';
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
