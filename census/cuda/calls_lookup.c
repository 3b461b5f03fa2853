// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The driver's beginning and its own look-up. What cuGetProcAddress gives is
// exchanged by the address and never by name and version, so that which version
// belongs to which symbol stays the driver's business. It answers with success
// and no address for what it does not have; the status word may be missing.

#include "calls.h"
#include "lookup.h"
#include "report.h"

#include "../driver.h"

#include <string.h>

#include "../../libtelemetry/banned.h"

unsigned cuda_on_init(enum cuda_row row, unsigned (*real)(unsigned), unsigned flags)
{
	(void)row;
	unsigned result = real(flags);
	if (result == CUDA_OK)
		rollcall_driver_started();
	return result;
}

static bool is_counted_base(const char *name)
{
	for (unsigned row = 0; name && row < CUDA_ROWS; row++)
		if (cuda_entries[row].wrapper && strcmp(cuda_entries[row].base, name) == 0)
			return true;
	return false;
}

static unsigned exchange(unsigned result, const char *name, void **ret_function)
{
	if (result != CUDA_OK || !ret_function || !*ret_function)
		return result;
	bool is_known;
	void *wrapper = cuda_wrapper_of(*ret_function, &is_known);
	if (wrapper) {
		*ret_function = wrapper;
		cuda_note_handed_out(wrapper, true);
	} else if (!is_known && is_counted_base(name)) {
		cuda_tally(CUDA_MISMATCHES);
	}
	return result;
}

unsigned cuda_on_get_proc_address(enum cuda_row row,
				  unsigned (*real)(const char *, void **, int, uint64_t), const char *name,
				  void **ret_function, int version, uint64_t flags)
{
	(void)row;
	return exchange(real(name, ret_function, version, flags), name, ret_function);
}

unsigned cuda_on_get_proc_address_v2(enum cuda_row row,
				     unsigned (*real)(const char *, void **, int, uint64_t, unsigned *),
				     const char *name, void **ret_function, int version, uint64_t flags,
				     unsigned *ret_status)
{
	(void)row;
	return exchange(real(name, ret_function, version, flags, ret_status), name, ret_function);
}
