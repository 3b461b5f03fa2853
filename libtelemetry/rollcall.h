/* SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Rollcall developers
 *
 * rollcall.h: what a program tells Rollcall about itself.
 *
 * Everything here is optional and safe to call from any thread. The functions
 * are weak: a program compiled with this header and without the library builds
 * and runs, and every call does nothing and returns 0 (or the null handle).
 * Start it under `rollcall run`, or link it with `pkg-config --libs rollcall`,
 * and the same calls count. (A non-PIE executable resolves weak symbols when it
 * is linked, so it needs the latter. With ROLLCALL_STRONG defined the symbols
 * are not weak: the program then needs the library.)
 *
 * No call fails the program: where something cannot be counted it is counted
 * as refused and a negative errno value is returned, which may be ignored.
 * Nothing here prints, exits or calls malloc. After fork() the child starts
 * with an empty census of its own; its parent's is untouched.
 */
#ifndef ROLLCALL_H
#define ROLLCALL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROLLCALL_VERSION "0.1.0"

/* A value that is not known. It is published as such, never as 0. */
#define ROLLCALL_UNKNOWN UINT64_MAX

#if defined(ROLLCALL_BUILDING)
#define ROLLCALL_API __attribute__((visibility("default")))
#elif defined(ROLLCALL_STRONG)
#define ROLLCALL_API
#else
#define ROLLCALL_API __attribute__((weak))
#endif

/* ---- Pools -------------------------------------------------------------- */

/* What a pool is for. Working pools belong to a context or a candidate,
 * constant ones are shared and stay, staging ones carry transfers. */
enum rollcall_label {
	ROLLCALL_UNLABELLED = 0,
	ROLLCALL_WORKING = 1,
	ROLLCALL_CONSTANT = 2,
	ROLLCALL_STAGING = 3
};

/* Records pool `pool` of device `device` as live with `bytes` bytes.
 * Recording a pool that is live replaces its size and label: a pool grown in
 * place is one live pool, and not a new allocation. The same number on two
 * devices is two pools. With ROLLCALL_UNLABELLED, the label and owner pushed
 * by rollcall_label_push on this thread apply, if any.
 * Returns 0, or -ENOMEM when the table cannot grow (counted as refused). */
ROLLCALL_API int rollcall_record_pool(int device, uint64_t pool,
	enum rollcall_label label, uint64_t bytes);

/* Drops a pool from the live set and counts one free. Idempotent: a pool that
 * is not live is left alone. Returns 1 when it was live, else 0. */
ROLLCALL_API int rollcall_forget_pool(int device, uint64_t pool);

/* ---- Contexts and code modules ------------------------------------------ */

ROLLCALL_API int rollcall_context_created(int device);
ROLLCALL_API int rollcall_context_released(int device);
ROLLCALL_API int rollcall_module_loaded(int device);
ROLLCALL_API int rollcall_module_unloaded(int device);

/* Device memory as the program last observed it, in bytes; either may be
 * ROLLCALL_UNKNOWN. */
ROLLCALL_API int rollcall_device_memory(int device, uint64_t used_bytes,
	uint64_t total_bytes);

/* Name and UUID of a device, at most 255 bytes each; NULL leaves one as it
 * is. Copied. */
ROLLCALL_API int rollcall_device_name(int device, const char *name,
	const char *uuid);

/* ---- Owners and labels --------------------------------------------------- */

/* Opens an owner (a context of the program's own) and returns its id, > 0; 0
 * when it cannot be counted. Pools recorded with that owner that are still
 * live after rollcall_owner_close(id) are counted as `outlived`. */
ROLLCALL_API uint64_t rollcall_owner_open(const char *name);
ROLLCALL_API int rollcall_owner_close(uint64_t owner);

/* Attaches label and owner (0: none) to what this thread records or allocates
 * until the matching pop. Nests 16 deep; deeper pushes return -EOVERFLOW and
 * need their pop all the same. */
ROLLCALL_API int rollcall_label_push(enum rollcall_label label, uint64_t owner);
ROLLCALL_API int rollcall_label_pop(void);

/* Gives label and owner to a live pool after the fact, by its address or
 * number, on whichever device it is. Returns 1 when one was found. */
ROLLCALL_API int rollcall_label_ptr(const void *ptr, enum rollcall_label label,
	uint64_t owner);

/* ---- The search ----------------------------------------------------------- */

enum rollcall_outcome {
	ROLLCALL_DECLINED = 1,		/* turned down before it was compiled */
	ROLLCALL_LINK_FAILED = 2,	/* did not compile, link or load */
	ROLLCALL_NON_DISPATCHABLE = 3,	/* loaded, and could not be run */
	ROLLCALL_DEDUPLICATED = 4,	/* the same code as an earlier one */
	ROLLCALL_FAILED = 5,		/* ran, and was wrong or gave an error */
	ROLLCALL_TIMED = 6,
	ROLLCALL_KEPT = 7		/* timed, and kept */
};

/* Begins a candidate and returns its handle, > 0 and never used again in this
 * process. Several may be open at once, on any threads. `label` is copied, at
 * most 255 bytes of it. */
ROLLCALL_API uint64_t rollcall_candidate_begin(const char *label);

/* Ends a candidate. One that ended as ROLLCALL_TIMED may be ended once more as
 * ROLLCALL_KEPT. Returns 0; -EINVAL for an outcome that does not exist;
 * -ENOENT for a handle that is not open. */
ROLLCALL_API int rollcall_candidate_end(uint64_t candidate,
	enum rollcall_outcome outcome);

/* Names the phase (arm) of the search that begins now. */
ROLLCALL_API int rollcall_phase(const char *name);

/* A note in the log, at most 255 bytes. */
ROLLCALL_API int rollcall_mark(const char *text);

/* ---- The program's own numbers -------------------------------------------- */

enum rollcall_unit { ROLLCALL_COUNT = 0, ROLLCALL_BYTES = 1, ROLLCALL_NS = 2 };

/* Registers app.NAME (letters, digits, _ and ., at most 63) and returns its
 * id, > 0; the same name gives the same id. A gauge starts unknown, a counter
 * at 0. Returns 0 for a bad name, or when there is no room (counted). */
ROLLCALL_API uint32_t rollcall_gauge(const char *name, enum rollcall_unit unit);
ROLLCALL_API uint32_t rollcall_counter(const char *name, enum rollcall_unit unit);

/* Sets a gauge; adds to a counter. Id 0 is ignored. Wait-free. */
ROLLCALL_API void rollcall_gauge_set(uint32_t gauge, uint64_t value);
ROLLCALL_API void rollcall_counter_add(uint32_t counter, uint64_t amount);

/* ---- Reading the census ---------------------------------------------------- */

/* One reading. live_* come from the table of pools and are exact; the others
 * are cumulative. Grows at its end only: pass its size. */
struct rollcall_census {
	uint64_t live_working_pools, live_working_bytes;
	uint64_t live_constant_pools, live_constant_bytes;
	uint64_t live_staging_pools, live_staging_bytes;
	uint64_t live_unlabelled_pools, live_unlabelled_bytes;
	uint64_t working_pools_allocated, constant_pools_allocated;
	uint64_t staging_pools_allocated, unlabelled_pools_allocated;
	uint64_t pools_freed;
	uint64_t contexts_created, contexts_released;
	uint64_t modules_loaded, modules_unloaded;
	uint64_t peak_pool_bytes;
	uint64_t outlived_pools, outlived_bytes;
};

/* Reads the census of all devices, or of one (-1: all). The counts of one
 * shard are of one moment, and so are all of them unless the program changes
 * them faster than they can be read twice. Takes no lock. Returns 0; -ENOENT
 * for a device never named (*ret_census is then all zero). */
ROLLCALL_API int rollcall_census_snapshot(int device,
	struct rollcall_census *ret_census, size_t size);

ROLLCALL_API int rollcall_census_equal(const struct rollcall_census *a,
	const struct rollcall_census *b, size_t size);

/* Sums over the labels. */
ROLLCALL_API uint64_t rollcall_census_live_pools(const struct rollcall_census *c);
ROLLCALL_API uint64_t rollcall_census_live_pool_bytes(const struct rollcall_census *c);

/* Created minus released. Not a live count: a context that was never released
 * explicitly may be gone all the same. */
ROLLCALL_API uint64_t rollcall_census_unreleased_contexts(const struct rollcall_census *c);

/* Loaded minus unloaded: genuinely live. */
ROLLCALL_API uint64_t rollcall_census_live_modules(const struct rollcall_census *c);

/* The census as one line of text, or as one JSON object, NUL-terminated and
 * cut at `size`. Returns the length it would have had. */
ROLLCALL_API int rollcall_census_text(const struct rollcall_census *c,
	char *buffer, size_t size);
ROLLCALL_API int rollcall_census_json(const struct rollcall_census *c,
	char *buffer, size_t size);

/* Rebases peak_pool_bytes, of all devices or of one, to what is live now. */
ROLLCALL_API int rollcall_census_reset_peak(int device);

/* ---- The books of the malloc ------------------------------------------------ */

/* Every mapped byte is in exactly one bucket. Grows at its end only. */
struct rollcall_heap_books {
	uint64_t mapped_bytes, live_bytes, rounding_bytes, cache_bytes;
	uint64_t span_free_bytes, returned_bytes, virgin_bytes;
	uint64_t hysteresis_bytes, segment_overhead_bytes;
	uint64_t large_count, spans_assigned, settled;
	uint64_t mallocs, frees, peak_live_bytes;
};

/* Reads the books. Returns 0; -ENODATA when Rollcall's malloc is not the
 * process's, and every member is then ROLLCALL_UNKNOWN. */
ROLLCALL_API int rollcall_heap_books(struct rollcall_heap_books *ret_books,
	size_t size);

/* ---- Publishing --------------------------------------------------------------- */

/* Publishes a row now instead of at the next tick and waits for it, at most
 * 100 ms. Returns 0, -EAGAIN when it did not come in time, -ENODATA when this
 * process does not publish. */
ROLLCALL_API int rollcall_flush(void);

/* The path of this process's segment, or NULL while it does not publish. */
ROLLCALL_API const char *rollcall_segment_path(void);

#if !defined(ROLLCALL_BUILDING) && !defined(ROLLCALL_STRONG)
/* Each call through the header asks first whether the function is there. */
#define ROLLCALL_CALL_(f, nothing, ...) (f ? f(__VA_ARGS__) : (nothing))
#define rollcall_record_pool(...) ROLLCALL_CALL_(rollcall_record_pool, 0, __VA_ARGS__)
#define rollcall_forget_pool(...) ROLLCALL_CALL_(rollcall_forget_pool, 0, __VA_ARGS__)
#define rollcall_context_created(...) ROLLCALL_CALL_(rollcall_context_created, 0, __VA_ARGS__)
#define rollcall_context_released(...) ROLLCALL_CALL_(rollcall_context_released, 0, __VA_ARGS__)
#define rollcall_module_loaded(...) ROLLCALL_CALL_(rollcall_module_loaded, 0, __VA_ARGS__)
#define rollcall_module_unloaded(...) ROLLCALL_CALL_(rollcall_module_unloaded, 0, __VA_ARGS__)
#define rollcall_device_memory(...) ROLLCALL_CALL_(rollcall_device_memory, 0, __VA_ARGS__)
#define rollcall_device_name(...) ROLLCALL_CALL_(rollcall_device_name, 0, __VA_ARGS__)
#define rollcall_owner_open(...) ROLLCALL_CALL_(rollcall_owner_open, 0, __VA_ARGS__)
#define rollcall_owner_close(...) ROLLCALL_CALL_(rollcall_owner_close, 0, __VA_ARGS__)
#define rollcall_label_push(...) ROLLCALL_CALL_(rollcall_label_push, 0, __VA_ARGS__)
#define rollcall_label_pop() (rollcall_label_pop ? rollcall_label_pop() : 0)
#define rollcall_label_ptr(...) ROLLCALL_CALL_(rollcall_label_ptr, 0, __VA_ARGS__)
#define rollcall_candidate_begin(...) ROLLCALL_CALL_(rollcall_candidate_begin, 0, __VA_ARGS__)
#define rollcall_candidate_end(...) ROLLCALL_CALL_(rollcall_candidate_end, 0, __VA_ARGS__)
#define rollcall_phase(...) ROLLCALL_CALL_(rollcall_phase, 0, __VA_ARGS__)
#define rollcall_mark(...) ROLLCALL_CALL_(rollcall_mark, 0, __VA_ARGS__)
#define rollcall_gauge(...) ROLLCALL_CALL_(rollcall_gauge, 0, __VA_ARGS__)
#define rollcall_counter(...) ROLLCALL_CALL_(rollcall_counter, 0, __VA_ARGS__)
#define rollcall_gauge_set(...) (rollcall_gauge_set ? rollcall_gauge_set(__VA_ARGS__) : (void)0)
#define rollcall_counter_add(...) (rollcall_counter_add ? rollcall_counter_add(__VA_ARGS__) : (void)0)
#define rollcall_census_snapshot(...) ROLLCALL_CALL_(rollcall_census_snapshot, -61, __VA_ARGS__)
#define rollcall_census_equal(...) ROLLCALL_CALL_(rollcall_census_equal, 0, __VA_ARGS__)
#define rollcall_census_live_pools(...) ROLLCALL_CALL_(rollcall_census_live_pools, 0, __VA_ARGS__)
#define rollcall_census_live_pool_bytes(...) ROLLCALL_CALL_(rollcall_census_live_pool_bytes, 0, __VA_ARGS__)
#define rollcall_census_unreleased_contexts(...) ROLLCALL_CALL_(rollcall_census_unreleased_contexts, 0, __VA_ARGS__)
#define rollcall_census_live_modules(...) ROLLCALL_CALL_(rollcall_census_live_modules, 0, __VA_ARGS__)
#define rollcall_census_text(...) ROLLCALL_CALL_(rollcall_census_text, 0, __VA_ARGS__)
#define rollcall_census_json(...) ROLLCALL_CALL_(rollcall_census_json, 0, __VA_ARGS__)
#define rollcall_census_reset_peak(...) ROLLCALL_CALL_(rollcall_census_reset_peak, 0, __VA_ARGS__)
#define rollcall_heap_books(...) ROLLCALL_CALL_(rollcall_heap_books, -61, __VA_ARGS__)
#define rollcall_flush() (rollcall_flush ? rollcall_flush() : -61)
#define rollcall_segment_path() (rollcall_segment_path ? rollcall_segment_path() : (const char *)0)
#endif

#ifdef __cplusplus
}
#endif

#endif
