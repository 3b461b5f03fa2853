// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What this process publishes beside the built-in sections: collectors and the
// program's own gauges, in the order in which they came. Registered on any
// thread; read by the publisher thread without a lock.

#ifndef TELE_REGISTRY_H
#define TELE_REGISTRY_H

#include "../base.h"
#include "../collector.h"
#include "../schema.h"

#define TELE_REGISTRY_MAX 1024
#define TELE_APP_NAME_BYTES 64

struct tele_registered {
	bool is_app;
	unsigned section;
	uint32_t instance;
	uint32_t position; // of its first field in every row of this process
	struct rollcall_collector collector;
	struct {
		char name[TELE_APP_NAME_BYTES];
		unsigned kind, unit;
		_Atomic uint64_t value;
	} app;
};

// Entries that are complete; entries [0, count) never change again.
uint32_t tele_registry_count(void);
struct tele_registered *tele_registry_at(uint32_t index);

// Registers app.NAME. Returns its number + 1, or 0 when the name is bad or
// there is no room (counted).
uint32_t tele_registry_app(const char *name, unsigned kind, unsigned unit);

// Calls what collectors want to have done between two ticks. The publisher's.
void tele_registry_tend(void);

// The collector of a PROCESS section, or NULL.
const struct rollcall_collector *tele_registry_find(unsigned section);

// Writes the schema of all entries from `from` on into writer, which holds the
// PROCESS sections and the entries before. Positions come out as registered.
void tele_registry_write(struct tele_schema_writer *writer, uint32_t from, uint32_t to);

// Around fork(): the registry is whole in the child.
void tele_registry_lock(void);
void tele_registry_unlock(void);

// Bytes that are resident of the registry's memory, or TELE_UNKNOWN.
uint64_t tele_registry_resident_bytes(void);

// In the child of a fork: gauges become unknown, counters 0.
void tele_registry_reset_values(void);

// ---- Interned strings -----------------------------------------------------------

// The text of an id from tele_intern, or NULL.
const char *tele_intern_text(uint64_t id, size_t *ret_len);
uint64_t tele_intern_resident_bytes(void);
void tele_intern_lock(void);
void tele_intern_unlock(void);

#endif
