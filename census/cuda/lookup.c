// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The dlsym behind ours is the next in the chain of preloads, so that another
// one's hook behind us keeps working: what it answers for a name of the driver
// is taken for the driver's. We look nothing up by RTLD_NEXT (a stub that loads
// the driver itself may be next) and never load a driver.
//
// No lock of ours is ever held: the loader's own, which dlsym, dladdr and dlopen
// take, may be held by a thread that waits for us.

#include "lookup.h"

#include "frame.h"
#include "place.h"
#include "report.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "../../libtelemetry/banned.h"

#define MAP_PLACES 1024 // a power of two, at least four times 2 * CUDA_ROWS

typedef void *(*dlsym_fn)(void *, const char *);
typedef unsigned (*gpa_fn)(const char *, void **, int, uint64_t);
typedef unsigned (*gpa_v2_fn)(const char *, void **, int, uint64_t, unsigned *);

// Read by the assembly of dlsym.c.
_Atomic(dlsym_fn) cuda_next_dlsym;

struct known {
	_Atomic uintptr_t address; // 0: free
	_Atomic uint32_t row_plus_1;
};
static struct known known[MAP_PLACES];
_Atomic(void *) cuda_functions[CUDA_ROWS];
_Atomic uint8_t cuda_is_handed_out[CUDA_ROWS];
static _Atomic bool is_adopted;
_Atomic uintptr_t cuda_driver_from, cuda_driver_to;
static _Atomic bool is_off;

void cuda_lookup_off(void)
{
	atomic_store_explicit(&is_off, true, memory_order_relaxed);
}

bool cuda_is_off(void)
{
	return atomic_load_explicit(&is_off, memory_order_relaxed);
}

// ---- The dlsym behind ours ---------------------------------------------------------

// A sanitizer's runtime may call dlsym before it has set itself up.
__attribute__((no_sanitize("address", "thread", "undefined"))) void cuda_find_dlsym(void)
{
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
	if (atomic_load_explicit(&cuda_next_dlsym, memory_order_acquire))
		return;
	dlsym_fn libcs = NULL;
	for (size_t i = 0; i < TELE_ARRAY_LEN(versions) && !libcs; i++)
		libcs = (dlsym_fn)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	TELE_ASSERT(libcs != NULL);
	dlsym_fn next = (dlsym_fn)libcs(RTLD_NEXT, "dlsym");
	atomic_store_explicit(&cuda_next_dlsym, next ? next : libcs, memory_order_release);
}

static void *ask(void *handle, const char *name)
{
	cuda_find_dlsym();
	return atomic_load_explicit(&cuda_next_dlsym, memory_order_acquire)(handle, name);
}

// ---- Known addresses ------------------------------------------------------------------

static size_t home_of(uintptr_t address)
{
	return (address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 54;
}

static enum cuda_row row_of(const void *pointer)
{
	uintptr_t address = (uintptr_t)pointer;
	for (size_t i = home_of(address), n = 0; n < MAP_PLACES; i = (i + 1) % MAP_PLACES, n++) {
		uintptr_t there = atomic_load_explicit(&known[i].address, memory_order_acquire);
		if (there == 0)
			break;
		if (there == address)
			return (enum cuda_row)(atomic_load_explicit(&known[i].row_plus_1,
								     memory_order_acquire) - 1);
	}
	return CUDA_ROWS;
}

// A place is claimed by its address and then given its row; until then row_of
// says row -1 mod 2^32, which is no row.
static void learn(const void *pointer, enum cuda_row row)
{
	uintptr_t address = (uintptr_t)pointer;
	for (size_t i = home_of(address), n = 0; n < MAP_PLACES; i = (i + 1) % MAP_PLACES, n++) {
		uintptr_t there = 0;
		bool is_ours = atomic_compare_exchange_strong_explicit(
			&known[i].address, &there, address, memory_order_acq_rel, memory_order_acquire);
		uint32_t none = 0;
		if (is_ours || there == address) {
			// The first row of an address keeps it: names may share a function.
			atomic_compare_exchange_strong_explicit(&known[i].row_plus_1, &none,
								(uint32_t)row + 1, memory_order_acq_rel,
								memory_order_acquire);
			return;
		}
	}
}

void *cuda_wrapper_of(const void *address, bool *ret_is_known)
{
	enum cuda_row row = row_of(address);
	if (ret_is_known)
		*ret_is_known = row < CUDA_ROWS;
	return row < CUDA_ROWS ? cuda_entries[row].wrapper : NULL;
}

// ---- Adopting a driver -----------------------------------------------------------------

static void learn_by_name(void *driver, bool only_old)
{
	for (unsigned row = 0; row < CUDA_ROWS; row++) {
		if (!cuda_entries[row].wrapper != only_old)
			continue;
		void *function = ask(driver, cuda_entries[row].symbol);
		if (!function || function == cuda_entries[row].wrapper)
			continue;
		learn(function, (enum cuda_row)row);
		atomic_store_explicit(&cuda_functions[row], function, memory_order_release);
	}
}

// What cuGetProcAddress gives may be other addresses than dlsym's.
static void learn_by_gpa(void)
{
	gpa_v2_fn gpa_v2 = (gpa_v2_fn)atomic_load_explicit(&cuda_functions[CUDA_ROW_cuGetProcAddress_v2],
							   memory_order_acquire);
	gpa_fn gpa = (gpa_fn)atomic_load_explicit(&cuda_functions[CUDA_ROW_cuGetProcAddress],
						  memory_order_acquire);
	for (unsigned row = 0; row < CUDA_ROWS && (gpa_v2 || gpa); row++) {
		const struct cuda_entry *entry = &cuda_entries[row];
		uint64_t flags = entry->is_per_thread ? CUDA_GPA_PER_THREAD_STREAM : CUDA_GPA_DEFAULT;
		unsigned status = 0;
		void *function = NULL;
		unsigned failed = gpa_v2 ? gpa_v2(entry->base, &function, entry->version, flags, &status)
					 : gpa(entry->base, &function, entry->version, flags);
		if (failed || !function || !entry->wrapper)
			continue;
		void *by_name = NULL;
		learn(function, (enum cuda_row)row);
		atomic_compare_exchange_strong_explicit(&cuda_functions[row], &by_name, function,
							memory_order_acq_rel, memory_order_acquire);
	}
}

static void find_helpers(void *driver)
{
	static const char *const names[CUDA_HELPERS][2] = {
		[CUDA_CTX_GET_CURRENT] = {"cuCtxGetCurrent"},
		[CUDA_CTX_GET_DEVICE] = {"cuCtxGetDevice"},
		[CUDA_PRIMARY_CTX_GET_STATE] = {"cuDevicePrimaryCtxGetState"},
		[CUDA_STREAM_IS_CAPTURING] = {"cuStreamIsCapturing"},
		[CUDA_STREAM_IS_CAPTURING_PER_THREAD] = {"cuStreamIsCapturing_ptsz", "cuStreamIsCapturing"},
		[CUDA_DEVICE_GET_UUID] = {"cuDeviceGetUuid_v2", "cuDeviceGetUuid"},
		[CUDA_DEVICE_GET_NAME] = {"cuDeviceGetName"},
		[CUDA_POINTER_GET_ATTRIBUTE] = {"cuPointerGetAttribute"},
		[CUDA_DEVICE_GET_COUNT] = {"cuDeviceGetCount"},
		[CUDA_STREAM_GET_DEVICE] = {"cuStreamGetDevice"}, // since 12.8
	};
	for (unsigned i = 0; i < CUDA_HELPERS; i++) {
		void *function = ask(driver, names[i][0]);
		if (!function && names[i][1])
			function = ask(driver, names[i][1]);
		atomic_store_explicit(&cuda_helpers[i], function, memory_order_release);
	}
}

static void count_entry_points(void)
{
	uint64_t n = 0;
	for (unsigned row = 0; row < CUDA_ROWS; row++)
		n += cuda_entries[row].wrapper && atomic_load_explicit(&cuda_functions[row], memory_order_relaxed);
	atomic_store_explicit(&cuda_entry_points, n, memory_order_relaxed);
}

struct extent {
	uintptr_t base;
	uintptr_t from, to;
};

static int measure(struct dl_phdr_info *object, size_t size, void *context)
{
	struct extent *extent = context;
	(void)size;
	if (object->dlpi_addr != extent->base)
		return 0;
	extent->from = UINTPTR_MAX;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		if (part->p_type != PT_LOAD)
			continue;
		uintptr_t from = object->dlpi_addr + part->p_vaddr;
		extent->from = from < extent->from ? from : extent->from;
		extent->to = from + part->p_memsz > extent->to ? from + part->p_memsz : extent->to;
	}
	return 1;
}

// Helpers and functions are in place before anybody can find the driver adopted.
static void adopt(void *driver, const struct link_map *map)
{
	struct extent extent = {.base = map->l_addr};
	dl_iterate_phdr(measure, &extent);
	cuda_self.depth++; // what the driver calls meanwhile is not the program's
	find_helpers(driver);
	learn_by_name(driver, false);
	learn_by_gpa();
	learn_by_name(driver, true);
	cuda_self.depth--;
	atomic_store_explicit(&cuda_driver_from, extent.from, memory_order_relaxed);
	atomic_store_explicit(&cuda_driver_to, extent.to, memory_order_relaxed);
	count_entry_points();
	if (!atomic_exchange_explicit(&is_adopted, true, memory_order_acq_rel))
		cuda_report_process();
}

static bool is_driver_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strncmp(slash ? slash + 1 : path, "libcuda.so", 10) == 0;
}

// Pins the object of that path and adopts it when it is loaded.
static bool adopt_path(const char *path)
{
	struct link_map *map = NULL;
	if (!is_driver_name(path))
		return false;
	void *driver = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (!driver || dlinfo(driver, RTLD_DI_LINKMAP, &map) < 0 || !ask(driver, "cuInit"))
		return false;
	adopt(driver, map);
	return true;
}

static int note_driver(struct dl_phdr_info *object, size_t size, void *context)
{
	(void)size;
	if (!object->dlpi_name || !is_driver_name(object->dlpi_name))
		return 0;
	size_t length = strlen(object->dlpi_name);
	if (length >= PATH_MAX)
		return 0;
	memcpy(context, object->dlpi_name, length + 1);
	return 1;
}

static bool adopt_loaded(void)
{
	char path[PATH_MAX];
	return dl_iterate_phdr(note_driver, path) && adopt_path(path);
}

// ---- Answers -----------------------------------------------------------------------------

// A stub in or behind the caller's object, such as one that loads the driver at
// its first call. What it calls in the end comes through us.
static void *ask_beside(enum cuda_row row, const void *caller)
{
	Dl_info object;
	const char *name = cuda_entries[row].symbol;
	void *function = NULL;
	if (dladdr(caller, &object) && object.dli_fname) {
		void *handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		if (handle) {
			function = ask(handle, name);
			dlclose(handle);
		}
	}
	if (!function || function == cuda_entries[row].wrapper)
		function = ask(RTLD_NEXT, name);
	return function == cuda_entries[row].wrapper ? NULL : function;
}

void *cuda_driver_function(enum cuda_row row, const void *caller, bool *ret_is_driver)
{
	void *function = atomic_load_explicit(&cuda_functions[row], memory_order_acquire);
	*ret_is_driver = true;
	if (TELE_LIKELY(function != NULL))
		return function;
	if (!atomic_load_explicit(&is_adopted, memory_order_acquire) && adopt_loaded()) {
		function = atomic_load_explicit(&cuda_functions[row], memory_order_acquire);
		if (function)
			return function;
	}
	*ret_is_driver = false;
	return ask_beside(row, caller);
}

void cuda_note_handed_out(const void *wrapper, bool by_gpa)
{
	cuda_tally(by_gpa ? CUDA_BY_GPA : CUDA_BY_SYMBOL);
	for (unsigned row = 0; row < CUDA_ROWS; row++)
		if (cuda_entries[row].wrapper == wrapper)
			atomic_store_explicit(&cuda_is_handed_out[row], 1, memory_order_relaxed);
}

void cuda_note_called(enum cuda_row row)
{
	if (TELE_UNLIKELY(!atomic_load_explicit(&cuda_is_handed_out[row], memory_order_relaxed)) &&
	    !atomic_exchange_explicit(&cuda_is_handed_out[row], 1, memory_order_relaxed))
		cuda_tally(CUDA_BY_SYMBOL);
}

static bool is_row_name(const char *name)
{
	for (unsigned row = 0; row < CUDA_ROWS; row++)
		if (cuda_entries[row].wrapper && strcmp(cuda_entries[row].symbol, name) == 0)
			return true;
	return false;
}

// Whether a caller is the driver or one of its vendor's own libraries.
static bool is_vendor(const void *caller)
{
	Dl_info object;
	if (cuda_is_inside_driver(caller))
		return true;
	if (!dladdr(caller, &object) || !object.dli_fname)
		return false;
	const char *slash = strrchr(object.dli_fname, '/');
	const char *name = slash ? slash + 1 : object.dli_fname;
	return strncmp(name, "libcuda.so", 10) == 0 || strncmp(name, "libnvidia-", 10) == 0;
}

struct cuda_decision {
	void *answer;
	unsigned long is_decided;
};
struct cuda_decision cuda_dlsym_decide(void *handle, const char *name, const void *caller);

// What it is to answer where the look-up found a wrapper of ours: we are in
// everybody's way, and there only where the driver is.
static struct cuda_decision decide_ours(enum cuda_row row, const void *caller)
{
	bool is_driver;
	if (!cuda_driver_function(row, caller, &is_driver))
		return (struct cuda_decision){NULL, 1};
	cuda_note_handed_out(cuda_entries[row].wrapper, false);
	return (struct cuda_decision){cuda_entries[row].wrapper, 1};
}

static void *adopt_and_find(const void *found, bool *ret_is_foreign)
{
	Dl_info object;
	bool is_known;
	void *wrapper = cuda_wrapper_of(found, &is_known);
	*ret_is_foreign = false;
	if (is_known || !dladdr(found, &object) || !object.dli_fname)
		return wrapper;
	if (atomic_load_explicit(&is_adopted, memory_order_acquire)) {
		*ret_is_foreign = is_driver_name(object.dli_fname);
		return NULL;
	}
	return adopt_path(object.dli_fname) || adopt_loaded() ? cuda_wrapper_of(found, NULL) : NULL;
}

// What dlsym answers for a name that may be the driver's. Undecided: the real
// one answers, with the caller as its caller.
struct cuda_decision cuda_dlsym_decide(void *handle, const char *name, const void *caller)
{
	const struct cuda_decision undecided = {NULL, 0};
	bool is_foreign;
	if (cuda_is_off() || !is_row_name(name) || is_vendor(caller))
		return undecided;
	void *found = ask(handle, name);
	if (!found)
		return undecided;
	for (unsigned row = 0; row < CUDA_ROWS; row++)
		if (cuda_entries[row].wrapper == found)
			return decide_ours((enum cuda_row)row, caller);
	void *wrapper = adopt_and_find(found, &is_foreign);
	if (is_foreign)
		cuda_tally(CUDA_FOREIGN);
	if (!wrapper)
		return undecided;
	cuda_note_handed_out(wrapper, false);
	return (struct cuda_decision){wrapper, 1};
}
