// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// cuGetProcAddress of the fake driver: of the symbols of a name, the newest that
// is not newer than the version asked for; the per-thread-stream one where the
// flags ask for that and there is one. An unknown name, or one that came later,
// is a success without an address. With FAKE_GPA_DISTINCT it gives addresses
// that dlsym does not: a jump to each function.

#include "driver.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	const char *base, *symbol;
	int version;
	bool is_per_thread;
	void *function, *thunk;
};

API(cuGetProcAddress, const char *name, void **ret_function, int version, uint64_t flags);
API(cuGetProcAddress_v2, const char *name, void **ret_function, int version, uint64_t flags,
    unsigned *ret_status);

#if defined(__x86_64__)
#define JUMP(symbol) "jmp " #symbol
#else
#define JUMP(symbol) "b " #symbol
#endif
#define FAKE_EXPORT(base, version, symbol, variant) \
	__asm__(".text\n.p2align 4\nfake_thunk_" #symbol ":\n" JUMP(symbol) "\n"); \
	extern char fake_thunk_##symbol[] __attribute__((visibility("hidden"))); \
	extern char fake_at_##symbol[] __asm__(#symbol);
#include "exports.def"

static const struct entry entries[] = {
#define FAKE_EXPORT(base, version, symbol, variant) \
	{#base, #symbol, version, variant, fake_at_##symbol, fake_thunk_##symbol},
#include "exports.def"
};

#define N_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static const struct entry *find(const char *name, int version, bool is_per_thread, bool *ret_is_known)
{
	const struct entry *best = NULL;
	*ret_is_known = false;
	for (size_t i = 0; i < N_ENTRIES; i++) {
		const struct entry *entry = &entries[i];
		if (strcmp(entry->base, name) != 0 || entry->version > fake_version)
			continue;
		*ret_is_known = true;
		if (entry->version > version || (entry->is_per_thread && !is_per_thread))
			continue;
		bool is_better = !best || entry->version > best->version ||
				 (entry->version == best->version && entry->is_per_thread);
		if (is_better)
			best = entry;
	}
	return best;
}

static unsigned look_up(const char *name, void **ret_function, int version, uint64_t flags,
			unsigned *ret_status)
{
	bool is_known;
	if (!name || !ret_function || version > fake_version || flags > 2)
		return INVALID_VALUE;
	const struct entry *entry = find(name, version, flags == 2, &is_known);
	*ret_function = !entry ? NULL : getenv("FAKE_GPA_DISTINCT") ? entry->thunk : entry->function;
	if (ret_status)
		*ret_status = entry ? 0 : is_known ? 2 : 1;
	return OK;
}

unsigned cuGetProcAddress(const char *name, void **ret_function, int version, uint64_t flags)
{
	return look_up(name, ret_function, version, flags, NULL);
}

unsigned cuGetProcAddress_v2(const char *name, void **ret_function, int version, uint64_t flags,
			     unsigned *ret_status)
{
	return look_up(name, ret_function, version, flags, ret_status);
}
