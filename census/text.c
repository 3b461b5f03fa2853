// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The census as a line of text and as a JSON object. Written without stdio, so
// that a program may call it anywhere, and without a locale.

#include "census.h"

#include <string.h>

#include "../libtelemetry/banned.h"

// What fits is stored, all of it is counted.
struct writer {
	char *buffer;
	size_t size;
	size_t length;
};

static void put_char(struct writer *writer, char c)
{
	if (writer->length + 1 < writer->size)
		writer->buffer[writer->length] = c;
	writer->length++;
}

static void put_text(struct writer *writer, const char *text)
{
	for (; *text; text++)
		put_char(writer, *text);
}

static void put_number(struct writer *writer, uint64_t value)
{
	char digits[20];
	size_t n = 0;
	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n > 0)
		put_char(writer, digits[--n]);
}

// In MiB with one decimal, rounded as printf rounds: to nearest, ties to even.
static void put_mib(struct writer *writer, uint64_t bytes)
{
	const uint64_t mask = (UINT64_C(1) << 20) - 1;
	uint64_t rest = (bytes & mask) * 10;
	uint64_t tenths = (bytes >> 20) * 10 + (rest >> 20);
	uint64_t beyond = rest & mask;
	if (beyond > (mask + 1) / 2 || (beyond == (mask + 1) / 2 && (tenths & 1)))
		tenths++;
	put_number(writer, tenths / 10);
	put_char(writer, '.');
	put_char(writer, (char)('0' + tenths % 10));
	put_text(writer, " MiB");
}

static int finish(struct writer *writer)
{
	if (writer->size > 0)
		writer->buffer[writer->length < writer->size ? writer->length : writer->size - 1] = '\0';
	return (int)writer->length;
}

static void put_label(struct writer *writer, const char *before, uint64_t pools, const char *label,
		      uint64_t bytes)
{
	put_text(writer, before);
	put_number(writer, pools);
	put_text(writer, label);
	put_mib(writer, bytes);
	put_char(writer, ')');
}

static void put_three(struct writer *writer, const char *name, uint64_t left, const char *kind,
		      uint64_t up, const char *up_name, uint64_t down, const char *down_name)
{
	put_text(writer, name);
	put_number(writer, left);
	put_text(writer, kind);
	put_number(writer, up);
	put_text(writer, up_name);
	put_number(writer, down);
	put_text(writer, down_name);
}

int rollcall_census_text(const struct rollcall_census *c, char *buffer, size_t size)
{
	struct writer writer = {buffer, size, 0};
	uint64_t allocated = c->working_pools_allocated + c->constant_pools_allocated +
			     c->staging_pools_allocated + c->unlabelled_pools_allocated;
	put_text(&writer, "pools ");
	put_number(&writer, rollcall_census_live_pools(c));
	put_label(&writer, " live = ", c->live_working_pools, " working (", c->live_working_bytes);
	put_label(&writer, " + ", c->live_constant_pools, " constant (", c->live_constant_bytes);
	if (c->live_staging_pools)
		put_label(&writer, " + ", c->live_staging_pools, " staging (", c->live_staging_bytes);
	if (c->live_unlabelled_pools)
		put_label(&writer, " + ", c->live_unlabelled_pools, " unlabelled (",
			  c->live_unlabelled_bytes);
	put_text(&writer, "; ");
	put_number(&writer, allocated);
	put_text(&writer, " allocated, ");
	put_number(&writer, c->pools_freed);
	put_text(&writer, " freed; peak ");
	put_mib(&writer, c->peak_pool_bytes);
	put_three(&writer, " | contexts ", rollcall_census_unreleased_contexts(c), " unreleased (",
		  c->contexts_created, " created, ", c->contexts_released, " released)");
	put_three(&writer, " | modules ", rollcall_census_live_modules(c), " live (",
		  c->modules_loaded, " loaded, ", c->modules_unloaded, " unloaded)");
	return finish(&writer);
}

int rollcall_census_json(const struct rollcall_census *c, char *buffer, size_t size)
{
#define KEY(member) {#member, offsetof(struct rollcall_census, member)}
	static const struct {
		char name[32];
		size_t offset;
	} keys[] = {
		KEY(live_working_pools),       KEY(live_working_bytes),
		KEY(live_constant_pools),      KEY(live_constant_bytes),
		KEY(live_staging_pools),       KEY(live_staging_bytes),
		KEY(live_unlabelled_pools),    KEY(live_unlabelled_bytes),
		KEY(working_pools_allocated),  KEY(constant_pools_allocated),
		KEY(staging_pools_allocated),  KEY(unlabelled_pools_allocated),
		KEY(pools_freed),	       KEY(contexts_created),
		KEY(contexts_released),	       KEY(modules_loaded),
		KEY(modules_unloaded),	       KEY(peak_pool_bytes),
		KEY(outlived_pools),	       KEY(outlived_bytes),
	};
#undef KEY
	_Static_assert(TELE_ARRAY_LEN(keys) * sizeof(uint64_t) == sizeof(struct rollcall_census),
		       "every member has its key");
	struct writer writer = {buffer, size, 0};
	for (size_t i = 0; i < TELE_ARRAY_LEN(keys); i++) {
		uint64_t value;
		memcpy(&value, (const char *)c + keys[i].offset, sizeof(value));
		put_text(&writer, i == 0 ? "{\"" : ",\"");
		put_text(&writer, keys[i].name);
		put_text(&writer, "\":");
		if (value == ROLLCALL_UNKNOWN)
			put_text(&writer, "null");
		else
			put_number(&writer, value);
	}
	put_char(&writer, '}');
	return finish(&writer);
}
