// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The tables of schema/*.def as arrays. A wrong row is a compile error on its
// own line; the static asserts below hold the record structs to the arrays.

#include "fields.h"

#include <string.h>

#include "banned.h"

#define TELE_FIELD(section_, name_, kind_, unit_, bucket_, memory_, resident_, age_, since_, label_, help_) \
	_Static_assert(sizeof(label_) <= 13, "the label of " #section_ "." #name_ " is too long");          \
	_Static_assert(offsetof(struct tele_##section_##_values, name_) % 8 == 0, "padding in " #section_);
#include "schema/all.def"

#define TELE_FIELD(section_, name_, kind_, unit_, bucket_, memory_, resident_, age_, since_, label_, help_) +1
enum {
	N_self = 0
#include "schema/self.def"
	,
	N_heap = 0
#include "schema/heap.def"
	,
	N_census = 0
#include "schema/census.def"
	,
	N_host = 0
#include "schema/host.def"
	,
	N_search = 0
#include "schema/search.def"
	,
	N_app = 0
#include "schema/app.def"
	,
	N_device = 0
#include "schema/device.def"
	,
	N_class = 0
#include "schema/class.def"
	,
	N_owner = 0
#include "schema/owner.def"
	,
	N_driver = 0
#include "schema/driver.def"
	,
	N_cuda = 0
#include "schema/cuda.def"
	,
	N_outside = 0
#include "schema/outside.def"
};
#undef TELE_FIELD

#define TELE_SECTION(ID, name, scope, help)                         \
	_Static_assert(sizeof(struct tele_##name##_values) == N_##name * 8, \
		       "padding in section " #name);
#include "schema/sections.def"

#define TELE_FIELD(section_, name_, kind_, unit_, bucket_, memory_, resident_, age_, since_, label_, help_) \
	[TELE_ID_##section_##_##name_] = {                                                                  \
		.name = #name_,                                                                              \
		.label = label_,                                                                             \
		.help = help_,                                                                               \
		.section = SECTION_##section_,                                                               \
		.index_in_section = offsetof(struct tele_##section_##_values, name_) / 8,                    \
		.age_id = TELE_ID_##section_##_##age_,                                                       \
		.since = since_,                                                                             \
		.kind = TELE_##kind_,                                                                        \
		.unit = TELE_##unit_,                                                                        \
		.bucket = TELE_BUCKET_##bucket_,                                                             \
		.memory = TELE_MEMORY_##memory_,                                                             \
		.resident = TELE_RESIDENT_##resident_,                                                       \
	},

// Sections under their lower-case names, for the rows above.
enum {
#define TELE_SECTION(ID, name, scope, help) SECTION_##name = TELE_SECTION_##ID,
#include "schema/sections.def"
};

const struct tele_builtin_field tele_builtin_fields[TELE_ID_COUNT] = {
#include "schema/all.def"
};

const struct tele_builtin_section tele_builtin_sections[TELE_SECTION_COUNT] = {
#define TELE_SECTION(ID, name_, scope_, help_)                 \
	[TELE_SECTION_##ID] = {                                \
		.name = #name_,                                \
		.help = help_,                                 \
		.scope = TELE_SCOPE_##scope_,                  \
		.first_id = TELE_ID_##name_##_captured_at_ns,  \
		.n_fields = N_##name_,                         \
	},
#include "schema/sections.def"
};

#define PLUS(section, name) {TELE_ID_##section##_##name, 1},
#define MINUS(section, name) {TELE_ID_##section##_##name, -1},
const struct tele_builtin_invariant tele_builtin_invariants[] = {
#define TELE_INVARIANT(section_, target_, ...)                   \
	{                                                        \
		.section = SECTION_##section_,                   \
		.target_id = TELE_ID_##section_##_##target_,     \
		.terms = {__VA_ARGS__},                          \
	},
#include "schema/invariants.def"
};
#undef PLUS
#undef MINUS

const size_t tele_builtin_invariants_count = TELE_ARRAY_LEN(tele_builtin_invariants);

static const struct {
	const char *name;
	bool linked;
	bool timed;
} outcomes[TELE_OUTCOME_COUNT] = {
	{"open", false, false},
#define TELE_OUTCOME(ID, name, linked, timed) {#name, linked, timed},
#include "schema/outcomes.def"
};

const char *tele_outcome_name(unsigned outcome)
{
	return outcome < TELE_OUTCOME_COUNT ? outcomes[outcome].name : "?";
}

int tele_outcome_of(const char *name)
{
	for (int i = 1; i < TELE_OUTCOME_COUNT; i++)
		if (strcmp(name, outcomes[i].name) == 0)
			return i;
	return -1;
}

bool tele_outcome_is_linked(unsigned outcome)
{
	return outcome < TELE_OUTCOME_COUNT && outcomes[outcome].linked;
}

bool tele_outcome_is_timed(unsigned outcome)
{
	return outcome < TELE_OUTCOME_COUNT && outcomes[outcome].timed;
}

static const char *name_at(const char *const *names, size_t n_names, unsigned index)
{
	return index < n_names ? names[index] : "?";
}

const char *tele_kind_name(unsigned kind)
{
	static const char *const names[TELE_KIND_COUNT] = {
		"gauge", "counter", "peak", "timestamp", "state", "retired"};
	return name_at(names, TELE_KIND_COUNT, kind);
}

const char *tele_unit_name(unsigned unit)
{
	static const char *const names[TELE_UNIT_COUNT] = {"bytes", "count", "ns", "time_ns", "string"};
	return name_at(names, TELE_UNIT_COUNT, unit);
}

const char *tele_bucket_name(unsigned bucket)
{
	static const char *const names[TELE_BUCKET_COUNT] = {
		"none",	    "total",	"live",	  "rounding",	"cache",
		"span_free", "returned", "virgin", "hysteresis", "segment_overhead"};
	return name_at(names, TELE_BUCKET_COUNT, bucket);
}

const char *tele_memory_name(unsigned memory)
{
	static const char *const names[TELE_MEMORY_COUNT] = {"host", "pinned", "device", "managed"};
	return name_at(names, TELE_MEMORY_COUNT, memory);
}

const char *tele_resident_name(unsigned resident)
{
	static const char *const names[TELE_RESIDENT_COUNT] = {"no", "yes", "retained"};
	return name_at(names, TELE_RESIDENT_COUNT, resident);
}
