// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Schemas that many processes have in common, parsed once. Fifty programs with
// one library carry the same bytes; what they parse to is 100 KiB each time.
// Not for several threads at once.

#ifndef TELE_SCHEMA_POOL_H
#define TELE_SCHEMA_POOL_H

#include "schema.h"

struct tele_schema_pool;

// A schema as its bytes tell it. Never changes; one that grows is another.
struct tele_pooled_schema {
	struct tele_schema *schema;
	uint8_t *bytes;
	size_t n_bytes;
	// Private:
	struct tele_schema_pool *pool; // NULL: shared with nobody
	struct tele_pooled_schema *next;
	uint32_t checksum;
	unsigned n_users;
};

// NULL when there is no memory.
struct tele_schema_pool *tele_schema_pool_new(void);

// The pool goes once the last of its schemas is put back. Takes NULL.
void tele_schema_pool_free(struct tele_schema_pool *pool);

// The schema of these bytes, which are copied. `pool` NULL: one of its own.
// Returns 0; or the error of parsing, with *ret_pooled untouched.
int tele_schema_pool_get(struct tele_schema_pool *pool, const uint8_t *bytes, size_t n_bytes,
			 struct tele_pooled_schema **ret_pooled, struct tele_error *ret_error);

// Takes NULL.
void tele_schema_pool_put(struct tele_pooled_schema *pooled);

#endif
