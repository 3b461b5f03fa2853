// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Each device with its pools by label, then the owners of pools: those that
// closed and left something behind first, since that is what outlived them.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "view_parts.h"

#include "../libtelemetry/banned.h"

#define OWNERS_MAX 512

struct owner {
	uint64_t id, is_open, pools, bytes;
	uint32_t instance;
};

static uint64_t owner_value(const struct mon_pen *pen, enum tele_field_id id, uint32_t instance)
{
	return mon_process_value(pen->process, id, instance);
}

// Those that closed first, then by bytes.
static int compare(const void *a_pointer, const void *b_pointer)
{
	const struct owner *a = a_pointer, *b = b_pointer;
	if ((a->is_open == 0) != (b->is_open == 0))
		return a->is_open == 0 ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static uint32_t read_owners(const struct mon_pen *pen, struct owner owners[OWNERS_MAX])
{
	uint32_t instances[OWNERS_MAX], n_owners = 0;
	uint32_t n = mon_process_instances(pen->process, TELE_SECTION_OWNER, instances, OWNERS_MAX);
	for (uint32_t i = 0; i < n && i < OWNERS_MAX; i++) {
		struct owner owner = {.id = owner_value(pen, TELE_ID_owner_id, instances[i]),
				      .is_open = owner_value(pen, TELE_ID_owner_open, instances[i]),
				      .pools = owner_value(pen, TELE_ID_owner_live_pools, instances[i]),
				      .bytes = owner_value(pen, TELE_ID_owner_live_bytes, instances[i]),
				      .instance = instances[i]};
		// A slot that nobody uses.
		if (owner.id == TELE_UNKNOWN || (owner.is_open == 0 && owner.pools == 0))
			continue;
		owners[n_owners++] = owner;
	}
	qsort(owners, n_owners, sizeof(owners[0]), compare);
	return n_owners;
}

static void draw_owner(struct mon_pen *pen, const struct owner *owner)
{
	char pools[MON_NUMBER_BYTES], bytes[MON_NUMBER_BYTES];
	int columns = mon_bytes_columns(pen->units);
	const char *name = mon_process_string(pen->process, TELE_ID_owner_name, owner->instance);
	bool is_left = owner->is_open == 0;
	unsigned style = is_left ? MON_BAD : MON_NORMAL;
	int name_width = pen->width - 8 - 7 - columns - 2;
	mon_draw_text(pen->grid, pen->x, pen->y, 7, is_left ? MON_BAD : MON_GOOD, is_left ? "closed" : "open");
	mon_draw_text(pen->grid, pen->x + 8, pen->y, name_width, style, name ? name : "n/a");
	mon_draw_right(pen->grid, pen->x + 8 + name_width, pen->y, 7, style,
		       mon_format_count(owner->pools, pools, sizeof(pools)));
	mon_draw_right(pen->grid, pen->x + 15 + name_width, pen->y, columns + 1, style,
		       mon_format_bytes(owner->bytes, pen->units, bytes, sizeof(bytes)));
	mon_pen_field(pen, is_left ? "Owner %llu closed and left %s pools: they have outlived it"
				   : "Owner %llu is open and holds %s pools",
		      (unsigned long long)owner->id, pools);
	pen->y++;
}

static void draw_owners(struct mon_pen *pen)
{
	struct owner owners[OWNERS_MAX];
	uint32_t n_owners = read_owners(pen, owners);
	char n_open[MON_NUMBER_BYTES], pools[MON_NUMBER_BYTES], bytes[MON_NUMBER_BYTES], rest[160];
	uint64_t outlived = mon_process_field(pen->process, TELE_ID_census_outlived_pools);
	mon_format_count(mon_process_field(pen->process, TELE_ID_census_owners_open), n_open, sizeof(n_open));
	mon_format_count(outlived, pools, sizeof(pools));
	mon_format_bytes(mon_process_field(pen->process, TELE_ID_census_outlived_bytes), pen->units, bytes,
			 sizeof(bytes));
	if (n_owners == 0 && (outlived == TELE_UNKNOWN || outlived == 0)) {
		mon_draw_title(pen, "OWNERS", "none: rollcall_owner_open names who pools belong to", MON_DIM);
		return;
	}
	snprintf(rest, sizeof(rest), "%s open; %s pools, %s outlived their owner", n_open, pools, bytes);
	mon_draw_title(pen, "OWNERS", rest, outlived && outlived != TELE_UNKNOWN ? MON_BAD : MON_NORMAL);
	if (n_owners == 0) {
		mon_draw_text(pen->grid, pen->x, pen->y++, pen->width, MON_DIM,
			      "Their names are gone: a slot is used again once its owner is closed.");
		return;
	}
	int columns = mon_bytes_columns(pen->units);
	mon_draw_text(pen->grid, pen->x, pen->y, pen->width, MON_TITLE, "STATE   OWNER");
	mon_draw_right(pen->grid, pen->x, pen->y, pen->width - columns - 2, MON_TITLE, "POOLS");
	mon_draw_right(pen->grid, pen->x, pen->y++, pen->width - 1, MON_TITLE, "BYTES");
	for (uint32_t i = 0; i < n_owners; i++)
		draw_owner(pen, &owners[i]);
}

static void draw_blocks(struct mon_pen *pen)
{
	mon_draw_census(pen);
	pen->y++;
	int before = pen->y;
	mon_draw_all_devices(pen);
	pen->y += pen->y > before;
	draw_owners(pen);
	pen->y++;
}

void mon_devices_draw(struct mon_grid *grid, const struct mon_model *model, const struct mon_process *process,
		      struct mon_view *view, int y, int height)
{
	mon_sheet_draw(grid, model, process, view, y, height, draw_blocks);
}
