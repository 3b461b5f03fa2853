// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A list of what is in use, found again by checksum, length and bytes. It holds
// as many entries as there are different programs, so a list is enough.

#include "schema_pool.h"

#include "crc32c.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

struct tele_schema_pool {
	struct tele_pooled_schema *first;
	bool is_closed; // by its owner; what is in use keeps it
};

struct tele_schema_pool *tele_schema_pool_new(void)
{
	return calloc(1, sizeof(struct tele_schema_pool));
}

void tele_schema_pool_free(struct tele_schema_pool *pool)
{
	if (!pool)
		return;
	pool->is_closed = true;
	if (!pool->first)
		free(pool);
}

static struct tele_pooled_schema *find(const struct tele_schema_pool *pool, const uint8_t *bytes,
				       size_t n_bytes, uint32_t checksum)
{
	struct tele_pooled_schema *pooled = pool->first;
	while (pooled && (pooled->checksum != checksum || pooled->n_bytes != n_bytes ||
			  memcmp(pooled->bytes, bytes, n_bytes) != 0))
		pooled = pooled->next;
	return pooled;
}

static void free_schema(struct tele_pooled_schema *pooled)
{
	tele_schema_free(pooled->schema);
	free(pooled->bytes);
	free(pooled);
}

int tele_schema_pool_get(struct tele_schema_pool *pool, const uint8_t *bytes, size_t n_bytes,
			 struct tele_pooled_schema **ret_pooled, struct tele_error *ret_error)
{
	uint32_t checksum = n_bytes ? tele_crc32c(0, bytes, n_bytes) : 0;
	struct tele_pooled_schema *pooled = pool && n_bytes ? find(pool, bytes, n_bytes, checksum) : NULL;
	if (pooled) {
		pooled->n_users++;
		*ret_pooled = pooled;
		return 0;
	}
	pooled = calloc(1, sizeof(*pooled));
	if (!pooled)
		return tele_fail(ret_error, -ENOMEM, "no memory");
	*pooled = (struct tele_pooled_schema){.schema = tele_schema_new(),
					      .bytes = malloc(n_bytes + 1),
					      .n_bytes = n_bytes,
					      .pool = pool,
					      .checksum = checksum,
					      .n_users = 1};
	int failed = pooled->schema && pooled->bytes ? 0 : tele_fail(ret_error, -ENOMEM, "no memory");
	if (!failed && n_bytes) {
		memcpy(pooled->bytes, bytes, n_bytes);
		failed = tele_schema_parse(pooled->schema, pooled->bytes, n_bytes, ret_error);
	}
	if (failed) {
		free_schema(pooled);
		return failed;
	}
	if (pool) {
		pooled->next = pool->first;
		pool->first = pooled;
	}
	*ret_pooled = pooled;
	return 0;
}

void tele_schema_pool_put(struct tele_pooled_schema *pooled)
{
	if (!pooled)
		return;
	TELE_ASSERT(pooled->n_users > 0);
	if (--pooled->n_users > 0)
		return;
	struct tele_schema_pool *pool = pooled->pool;
	if (pool) {
		struct tele_pooled_schema **link = &pool->first;
		while (*link != pooled)
			link = &(*link)->next;
		*link = pooled->next;
	}
	free_schema(pooled);
	if (pool && pool->is_closed && !pool->first)
		free(pool);
}
