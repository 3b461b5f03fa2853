// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The fake driver inside. One lock over everything: it is a model, not fast. An
// exported function begins with BEGIN, which checks the driver's state, lets an
// ordered failure happen and takes the lock, and returns through END.
//
// Environment: FAKE_DEVICES (2), FAKE_CAPACITY_MIB of each device (12288),
// FAKE_CONTEXT_BYTES and FAKE_MODULE_BYTES that the driver takes for itself,
// FAKE_FREE_DELAY_US between giving memory up and returning, FAKE_FAIL_NTH and
// FAKE_FAIL_RESULT, FAKE_GPA_DISTINCT (cuGetProcAddress gives other addresses
// than dlsym), FAKE_WSL, FAKE_NESTED, FAKE_CONSTRUCTOR, FAKE_LEDGER (a file that gets a JSON line
// for every call that changed something).

#ifndef TESTS_FAKE_DRIVER_H
#define TESTS_FAKE_DRIVER_H

#include "fake.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API(name, ...)                                                            \
	__attribute__((visibility("default"))) unsigned name(__VA_ARGS__);        \
	unsigned name(__VA_ARGS__)

enum {
	OK = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	DEINITIALIZED = 4,
	NO_DEVICE = 100,
	INVALID_DEVICE = 101,
	INVALID_CONTEXT = 201,
	INVALID_HANDLE = 400,
	NOT_FOUND = 500,
	CONTEXT_IS_DESTROYED = 709,
	NOT_PERMITTED = 800,
	NOT_SUPPORTED = 801
};

enum kind {
	LINEAR = 1, // and pitched
	MANAGED,
	ASYNC,
	IMPORTED_POINTER,
	GRAPH_POINTER,
	HOST_POINTER,
	REGISTERED,
	HANDLE,
	MULTICAST,
	MAPPING,
	RESERVATION,
	MEMORY_POOL,
	ARRAY,
	MIPMAP,
	CONTEXT,
	GREEN,
	MODULE,
	LIBRARY,
	LINK,
	EXTERNAL,
	STREAM,
	EVENT,
	FUNCTION,
	GRAPH,
	NODE
};

struct object {
	uint64_t handle;
	uint64_t bytes;
	uint64_t serial;
	struct object *next; // of its place in the table
	struct object *newer, *older; // of all
	struct object *context; // it ends with
	struct object *of;	// pool, handle, library
	enum kind kind;
	int device;
	unsigned refs, mappings;
	bool is_host;	   // memory of the host: pools and handles
	bool is_imported;
	bool is_dying;	   // a pool, destroyed in use
	bool is_primary;
	bool is_default;   // a device's own pool
	bool is_alias;	   // a green context's CUcontext
	bool is_capturing; // a stream
	uint64_t used, reserved, pending; // of a pool
};

extern uint64_t fake_context_bytes, fake_module_bytes;
extern int fake_version, fake_n_devices;

// 0, or what the call must return at once. Takes the lock when 0.
unsigned fake_begin(const char *name, bool needs_init);
// Lets the lock go.
unsigned fake_end(const char *name, unsigned result);
void fake_lock(void);
void fake_unlock(void);

#define BEGIN()                                           \
	do {                                              \
		unsigned failed_ = fake_begin(__func__, true); \
		if (failed_)                              \
			return failed_;                   \
	} while (0)
#define END(result) return fake_end(__func__, (result))

// ---- The ledger (ledger.c) ---------------------------------------------------------

// Opens the file of FAKE_LEDGER, if there is one.
void fake_open_ledger(void);
// Writes what the driver holds after this call; under the lock.
void fake_note_call(const char *name, unsigned result);

// ---- Objects, under the lock -----------------------------------------------------

// A new object with a handle that may have been another's: the last one given
// back comes first. `bytes` of address space for kinds that have addresses.
struct object *fake_make(enum kind kind, int device, uint64_t bytes, struct object *context);
struct object *fake_make_at(enum kind kind, uint64_t handle, int device, uint64_t bytes,
			    struct object *context);
struct object *fake_find(enum kind kind, uint64_t handle);
// Any kind of device pointer.
struct object *fake_find_pointer(uint64_t address);
// Ends it and gives its device memory back.
void fake_end_object(struct object *object);
// Ends the object of that handle, or returns `otherwise`.
unsigned fake_destroy(enum kind kind, uint64_t handle, unsigned otherwise);
// Calls `each` for all objects; it may end the one it is given.
void fake_each(void (*each)(struct object *, void *), void *context);
void *fake_pointer(const struct object *object);

// Ends an allocation of a pool, and the pool with its last one when it was
// destroyed before.
void fake_end_async(struct object *object);

// Device memory: counts it in, or says OUT_OF_MEMORY.
unsigned fake_take_memory(int device, uint64_t bytes);
uint64_t fake_used_bytes(int device);
uint64_t fake_capacity_bytes(void);

// Sleeps as FAKE_FREE_DELAY_US says, without the lock.
void fake_delay(void);

// ---- Contexts, under the lock --------------------------------------------------------

// The calling thread's context, or NULL with the error to return.
struct object *fake_current(unsigned *ret_error);
// The same, alive again if it is a primary one that was reset.
struct object *fake_current_device(unsigned *ret_error, int *ret_device);
struct object *fake_primary(int device);
uint64_t fake_primary_references(int device);
bool fake_primary_is_active(int device);

// ---- Graphs ------------------------------------------------------------------------------

uint64_t fake_graph_allocations(int device);
uint64_t fake_graph_bytes(int device);
bool fake_stream_is_capturing(uint64_t stream);
// Adds a node that allocates: its address is the graph's for good.
unsigned fake_add_node(uint64_t *ret_address, int device, uint64_t bytes);

#endif
