// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The ledger. An object belongs to the shard that its key hashes to; the
// shard's lock guards its table and, of every device, the cell that counts the
// shard's objects. Open addressing with linear probing; removal shifts back, so
// there are no graves; pages of its own that grow and shrink with what lives.
//
// Invariants: no free entry lies between an entry's home and its place; a cell
// counts exactly the entries of its shard, plus what CUDA_GRAPH ever added.
//
// What has settled is found without looking at entries: of unlabelled pools each
// cell counts those of the last eight epochs by epoch; the others have settled.

#include "ledger.h"

#include "lock.h"

#include "../driver.h"

#include <errno.h>
#include <sys/mman.h>

#include "../../libtelemetry/banned.h"

#define SHARDS 16
#define ENTRIES_MIN 64
#define ENTRIES_KEPT 1024 // not worth giving back and asking for again
#define YOUNG CUDA_EPOCHS_TO_SETTLE
#define SECONDS_AN_EPOCH 8

_Static_assert(sizeof(struct cuda_object) == 56, "without padding");

struct cell {
	struct sums {
		_Atomic uint64_t live, bytes, total;
	} of[CUDA_CLASSES];
	_Atomic uint64_t unlabelled, unlabelled_bytes;
	struct young {
		_Atomic uint64_t epoch, n, bytes;
	} young[YOUNG];
};

struct shard {
	_Alignas(64) struct cuda_lock lock;
	struct cuda_object *entries; // `capacity` of them, a power of two, or NULL
	size_t capacity;
	size_t n;
};

static struct shard shards[SHARDS];
static struct cell cells[CUDA_SLOTS][SHARDS];
static _Atomic uint64_t contexts_closed;
static _Atomic uint64_t started_at_s;

static uint64_t hash_of(unsigned kind, uint64_t handle)
{
	unsigned __int128 product = (unsigned __int128)(handle ^ UINT64_C(0xA0761D6478BD642F)) *
				    (kind * UINT64_C(0x9E3779B97F4A7C16) + UINT64_C(0xD6E8FEB86659FD93));
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static struct shard *shard_of(uint64_t hash)
{
	return &shards[hash >> 60];
}

// ---- Counting, under the shard's lock --------------------------------------------

// One writer at a time, so a load and a store do; readers pair with release.
static void add(_Atomic uint64_t *word, uint64_t n)
{
	atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) + n,
			      memory_order_release);
}

static void count_unlabelled(struct cell *cell, const struct cuda_object *object, bool is_new,
			     uint64_t sign, uint64_t bytes)
{
	struct young *young = &cell->young[object->epoch % YOUNG];
	add(&cell->unlabelled, sign);
	add(&cell->unlabelled_bytes, bytes);
	uint64_t epoch = atomic_load_explicit(&young->epoch, memory_order_relaxed);
	if (TELE_UNLIKELY(is_new && epoch < object->epoch)) {
		atomic_store_explicit(&young->n, 0, memory_order_relaxed);
		atomic_store_explicit(&young->bytes, 0, memory_order_relaxed);
		atomic_store_explicit(&young->epoch, object->epoch, memory_order_release);
		epoch = object->epoch;
	}
	if (epoch != object->epoch)
		return;
	add(&young->n, sign);
	add(&young->bytes, bytes);
}

static inline void count(const struct shard *shard, const struct cuda_object *object, bool is_new,
			 uint64_t sign)
{
	struct cell *cell = &cells[cuda_slot_of(object->device)][shard - shards];
	uint64_t bytes = sign == 1 ? object->bytes : 0 - object->bytes;
	if (object->class == CUDA_GRAPH && !is_new)
		return;
	struct sums *sums = &cell->of[object->class];
	add(&sums->live, sign);
	add(&sums->bytes, bytes);
	if (is_new)
		add(&sums->total, 1);
	if (object->class < CUDA_CLASSES_OF_POOLS && object->label == 0)
		count_unlabelled(cell, object, is_new, sign, bytes);
}

// ---- The table of a shard ----------------------------------------------------------

static struct cuda_object *find(const struct shard *shard, uint64_t hash, unsigned kind, uint64_t handle)
{
	if (!shard->entries)
		return NULL;
	size_t mask = shard->capacity - 1;
	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct cuda_object *entry = &shard->entries[i];
		if (!entry->kind)
			return NULL;
		if (entry->handle == handle && entry->kind == kind)
			return entry;
	}
}

static void place(struct shard *shard, uint64_t hash, const struct cuda_object *object)
{
	size_t mask = shard->capacity - 1;
	size_t i = hash & mask;
	while (shard->entries[i].kind)
		i = (i + 1) & mask;
	shard->entries[i] = *object;
}

static int resize(struct shard *shard, size_t capacity)
{
	TELE_ASSERT(capacity > shard->n && (capacity & (capacity - 1)) == 0);
	struct cuda_object *old = shard->entries;
	size_t old_capacity = shard->capacity;
	void *pages = mmap(NULL, capacity * sizeof(struct cuda_object), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return -ENOMEM;
	shard->entries = pages;
	shard->capacity = capacity;
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i].kind)
			place(shard, hash_of(old[i].kind, old[i].handle), &old[i]);
	if (old)
		munmap(old, old_capacity * sizeof(struct cuda_object));
	return 0;
}

static int insert(struct shard *shard, uint64_t hash, const struct cuda_object *object)
{
	if ((shard->n + 1) * 4 > shard->capacity * 3) {
		int failed = resize(shard, shard->capacity ? shard->capacity * 2 : ENTRIES_MIN);
		// Fuller than it likes to be is still right: probing needs one free entry.
		if (failed && shard->n + 1 >= shard->capacity)
			return failed;
	}
	place(shard, hash, object);
	shard->n++;
	return 0;
}

static void remove_entry(struct shard *shard, struct cuda_object *entry)
{
	TELE_ASSERT(shard->n > 0 && entry->kind);
	size_t mask = shard->capacity - 1;
	size_t hole = (size_t)(entry - shard->entries);
	for (size_t i = (hole + 1) & mask; shard->entries[i].kind; i = (i + 1) & mask) {
		size_t home = hash_of(shard->entries[i].kind, shard->entries[i].handle) & mask;
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			shard->entries[hole] = shard->entries[i];
			hole = i;
		}
	}
	shard->entries[hole] = (struct cuda_object){0};
	shard->n--;
}

static void shrink(struct shard *shard)
{
	// Without memory for a smaller table the larger one stays.
	if (shard->capacity > ENTRIES_KEPT && shard->n * 8 < shard->capacity)
		(void)resize(shard, shard->capacity / 4 > ENTRIES_KEPT ? shard->capacity / 4 : ENTRIES_KEPT);
}

// ---- Objects -------------------------------------------------------------------------

bool cuda_ledger_put(const struct cuda_object *object, bool is_new, struct cuda_object *ret_old,
		     bool *ret_failed)
{
	TELE_ASSERT(object->kind != 0 && object->class < CUDA_CLASSES);
	uint64_t hash = hash_of(object->kind, object->handle);
	struct shard *shard = shard_of(hash);
	*ret_failed = false;
	cuda_lock(&shard->lock);
	struct cuda_object *entry = find(shard, hash, object->kind, object->handle);
	bool is_replaced = entry != NULL;
	if (entry) {
		*ret_old = *entry;
		count(shard, entry, false, UINT64_MAX);
		*entry = *object;
	} else {
		*ret_failed = insert(shard, hash, object) < 0;
	}
	if (!*ret_failed)
		count(shard, object, is_new, 1);
	cuda_unlock(&shard->lock);
	return is_replaced;
}

bool cuda_ledger_take(unsigned kind, uint64_t handle, struct cuda_object *ret_object)
{
	uint64_t hash = hash_of(kind, handle);
	struct shard *shard = shard_of(hash);
	cuda_lock(&shard->lock);
	struct cuda_object *entry = find(shard, hash, kind, handle);
	bool found = entry && entry->class != CUDA_GRAPH;
	if (entry)
		*ret_object = *entry;
	if (found) {
		count(shard, entry, false, UINT64_MAX);
		remove_entry(shard, entry);
		shrink(shard);
	}
	cuda_unlock(&shard->lock);
	return found;
}

bool cuda_ledger_find(unsigned kind, uint64_t handle, struct cuda_object *ret_object)
{
	uint64_t hash = hash_of(kind, handle);
	struct shard *shard = shard_of(hash);
	cuda_lock(&shard->lock);
	const struct cuda_object *entry = find(shard, hash, kind, handle);
	if (entry)
		*ret_object = *entry;
	cuda_unlock(&shard->lock);
	return entry != NULL;
}

enum cuda_change cuda_ledger_change(unsigned kind, uint64_t handle, int refs, int mappings,
				    int64_t bytes, unsigned flags_on, unsigned flags_off, bool may_end,
				    struct cuda_object *ret_object)
{
	uint64_t hash = hash_of(kind, handle);
	struct shard *shard = shard_of(hash);
	enum cuda_change change = CUDA_CHANGE_NONE;
	cuda_lock(&shard->lock);
	struct cuda_object *entry = find(shard, hash, kind, handle);
	// What the program releases too often stays at none.
	if (entry && (int64_t)entry->refs + refs >= 0 && (int64_t)entry->mappings + mappings >= 0 &&
	    (int64_t)entry->bytes + bytes >= 0) {
		count(shard, entry, false, UINT64_MAX);
		entry->refs = (uint32_t)((int64_t)entry->refs + refs);
		entry->mappings = (uint32_t)((int64_t)entry->mappings + mappings);
		entry->bytes = (uint64_t)((int64_t)entry->bytes + bytes);
		entry->flags = (uint8_t)((entry->flags | flags_on) & ~flags_off);
		*ret_object = *entry;
		change = CUDA_CHANGE_MADE;
		if (may_end && entry->refs == 0 && entry->mappings == 0) {
			remove_entry(shard, entry);
			shrink(shard);
			change = CUDA_CHANGE_ENDED;
		} else {
			count(shard, entry, false, 1);
		}
	}
	cuda_unlock(&shard->lock);
	return change;
}

bool cuda_ledger_label(unsigned kind, uint64_t handle, unsigned label, struct cuda_object *ret_object)
{
	uint64_t hash = hash_of(kind, handle);
	struct shard *shard = shard_of(hash);
	cuda_lock(&shard->lock);
	struct cuda_object *entry = find(shard, hash, kind, handle);
	if (entry) {
		count(shard, entry, false, UINT64_MAX);
		entry->label = (uint8_t)label;
		count(shard, entry, false, 1);
		*ret_object = *entry;
	}
	cuda_unlock(&shard->lock);
	return entry != NULL;
}

// ---- Batches ----------------------------------------------------------------------------

#define PAGE_OBJECTS 1170 // in 64 KiB

struct cuda_page {
	struct cuda_page *next;
	size_t n;
	struct cuda_object objects[PAGE_OBJECTS];
};

static struct cuda_object *batch_slot(struct cuda_batch *batch)
{
	if (!batch->first || batch->first->n == PAGE_OBJECTS) {
		struct cuda_page *page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			return NULL;
		page->next = batch->first;
		batch->first = page;
	}
	batch->n++;
	return &batch->first->objects[batch->first->n++];
}

bool cuda_batch_add(struct cuda_batch *batch, const struct cuda_object *object)
{
	struct cuda_object *slot = batch_slot(batch);
	if (slot)
		*slot = *object;
	return slot != NULL;
}

static bool take_from_shard(struct shard *shard, uint64_t parent, struct cuda_batch *batch)
{
	for (size_t i = 0; i < shard->capacity;) {
		struct cuda_object *entry = &shard->entries[i];
		if (!entry->kind || entry->parent != parent || !(entry->flags & CUDA_ENDS_WITH_PARENT)) {
			i++;
			continue;
		}
		if (!cuda_batch_add(batch, entry))
			return false;
		count(shard, entry, false, UINT64_MAX);
		remove_entry(shard, entry); // and look again at what came here
	}
	shrink(shard);
	return true;
}

bool cuda_ledger_take_children(uint64_t parent, struct cuda_batch *batch)
{
	bool is_whole = true;
	for (unsigned i = 0; i < SHARDS && is_whole; i++) {
		cuda_lock(&shards[i].lock);
		is_whole = take_from_shard(&shards[i], parent, batch);
		cuda_unlock(&shards[i].lock);
	}
	return is_whole;
}

void cuda_batch_end(struct cuda_batch *batch, void (*each)(const struct cuda_object *))
{
	while (batch->first) {
		struct cuda_page *page = batch->first;
		for (size_t i = 0; i < page->n; i++)
			each(&page->objects[i]);
		batch->first = page->next;
		munmap(page, sizeof(*page));
	}
	batch->n = 0;
}

// ---- Reading ----------------------------------------------------------------------------

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

void cuda_ledger_read(unsigned slot, struct cuda_counts *ret_counts)
{
	struct cuda_counts sum = {0};
	uint32_t now = cuda_epoch();
	TELE_ASSERT(slot < CUDA_SLOTS);
	for (unsigned i = 0; i < SHARDS; i++) {
		const struct cell *cell = &cells[slot][i];
		for (unsigned class = 0; class < CUDA_CLASSES; class ++) {
			sum.live[class] += load(&cell->of[class].live);
			sum.bytes[class] += load(&cell->of[class].bytes);
			sum.total[class] += load(&cell->of[class].total);
		}
		sum.settled += load(&cell->unlabelled);
		sum.settled_bytes += load(&cell->unlabelled_bytes);
		for (unsigned j = 0; j < YOUNG; j++) {
			if (load(&cell->young[j].epoch) + YOUNG <= now)
				continue;
			sum.settled -= load(&cell->young[j].n);
			sum.settled_bytes -= load(&cell->young[j].bytes);
		}
	}
	// Read while calls were under way, differences can be short of nothing.
	if ((int64_t)sum.settled < 0 || (int64_t)sum.settled_bytes < 0)
		sum.settled = sum.settled_bytes = 0;
	*ret_counts = sum;
}

uint32_t cuda_epoch(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	uint64_t start = atomic_load_explicit(&started_at_s, memory_order_relaxed);
	if (TELE_UNLIKELY(start == 0)) {
		uint64_t first = (uint64_t)now.tv_sec + 1;
		if (atomic_compare_exchange_strong_explicit(&started_at_s, &start, first,
							    memory_order_relaxed, memory_order_relaxed))
			start = first;
	}
	uint64_t seconds = (uint64_t)now.tv_sec + 1 - start;
	return (uint32_t)(YOUNG + seconds / SECONDS_AN_EPOCH + rollcall_driver_owners_closed() +
			  atomic_load_explicit(&contexts_closed, memory_order_relaxed));
}

void cuda_context_closed(void)
{
	atomic_fetch_add_explicit(&contexts_closed, 1, memory_order_relaxed);
}

// ---- fork -----------------------------------------------------------------------------------

void cuda_ledger_lock(void)
{
	for (unsigned i = 0; i < SHARDS; i++)
		cuda_lock(&shards[i].lock);
}

void cuda_ledger_unlock(void)
{
	for (unsigned i = SHARDS; i > 0; i--)
		cuda_unlock(&shards[i - 1].lock);
}

static void reset_cell(struct cell *cell)
{
	for (unsigned class = 0; class < CUDA_CLASSES; class ++) {
		atomic_store_explicit(&cell->of[class].live, 0, memory_order_relaxed);
		atomic_store_explicit(&cell->of[class].bytes, 0, memory_order_relaxed);
		atomic_store_explicit(&cell->of[class].total, 0, memory_order_relaxed);
	}
	atomic_store_explicit(&cell->unlabelled, 0, memory_order_relaxed);
	atomic_store_explicit(&cell->unlabelled_bytes, 0, memory_order_relaxed);
	for (unsigned j = 0; j < YOUNG; j++) {
		atomic_store_explicit(&cell->young[j].epoch, 0, memory_order_relaxed);
		atomic_store_explicit(&cell->young[j].n, 0, memory_order_relaxed);
		atomic_store_explicit(&cell->young[j].bytes, 0, memory_order_relaxed);
	}
}

void cuda_ledger_reset(void)
{
	for (unsigned i = 0; i < SHARDS; i++) {
		if (shards[i].entries) {
			munmap(shards[i].entries, shards[i].capacity * sizeof(struct cuda_object));
			for (unsigned slot = 0; slot < CUDA_SLOTS; slot++)
				reset_cell(&cells[slot][i]);
		}
		shards[i].entries = NULL;
		shards[i].capacity = shards[i].n = 0;
	}
}

void cuda_ledger_renew_locks(void)
{
	for (unsigned i = 0; i < SHARDS; i++)
		atomic_store_explicit(&shards[i].lock.word, 0, memory_order_relaxed);
}
