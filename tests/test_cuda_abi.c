// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The hand-made declarations against the CUDA toolkit's own, where it is
// installed: every prototype of the table in every version, every structure
// that is read, and every symbol against the driver's stub. Compiling is most
// of the test.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/skip.h"

#if defined(__has_include)
#if __has_include(<cudaTypedefs.h>)
#define HAS_TOOLKIT 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#pragma GCC diagnostic pop
#endif
#endif

#include "../census/cuda/abi.h"

#if defined(HAS_TOOLKIT) && CUDA_VERSION >= 13000
#define IS_COMPARED 1

#define PFN_legacy(base, version) PFN_##base##_v##version
#define PFN_ptsz(base, version) PFN_##base##_v##version##_ptsz
#define CHECK_PROTOTYPE(symbol, base, version, variant, params)                                    \
	typedef unsigned(*our_##symbol) params;                                                    \
	_Static_assert(__builtin_types_compatible_p(our_##symbol, PFN_##variant(base, version)),    \
		       #symbol " is declared otherwise");
#define CUDA_CALL(symbol, base, version, variant, body, params, args)                              \
	CHECK_PROTOTYPE(symbol, base, version, variant, params)
#define CUDA_PASS(symbol, base, version, variant, params, args)                                    \
	CHECK_PROTOTYPE(symbol, base, version, variant, params)
#define CUDA_OLD(symbol, base, version)
#include "../census/cuda_calls.def"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, our_member, theirs, their_member)                                         \
	_Static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member), #theirs "." #their_member)

SAME_SIZE(struct cuda_location, CUmemLocation);
SAME_PLACE(struct cuda_location, id, CUmemLocation, id);
SAME_SIZE(struct cuda_allocation_prop, CUmemAllocationProp);
SAME_PLACE(struct cuda_allocation_prop, location, CUmemAllocationProp, location);
SAME_SIZE(struct cuda_pool_props, CUmemPoolProps);
SAME_PLACE(struct cuda_pool_props, location, CUmemPoolProps, location);
SAME_SIZE(struct cuda_alloc_node, CUDA_MEM_ALLOC_NODE_PARAMS);
SAME_PLACE(struct cuda_alloc_node, bytes, CUDA_MEM_ALLOC_NODE_PARAMS, bytesize);
SAME_PLACE(struct cuda_alloc_node, address, CUDA_MEM_ALLOC_NODE_PARAMS, dptr);
SAME_PLACE(struct cuda_node, alloc, CUgraphNodeParams, alloc);
SAME_SIZE(struct cuda_array, CUDA_ARRAY_DESCRIPTOR_v2);
SAME_PLACE(struct cuda_array, format, CUDA_ARRAY_DESCRIPTOR_v2, Format);
SAME_PLACE(struct cuda_array, n_channels, CUDA_ARRAY_DESCRIPTOR_v2, NumChannels);
SAME_SIZE(struct cuda_array_3d, CUDA_ARRAY3D_DESCRIPTOR_v2);
SAME_PLACE(struct cuda_array_3d, depth, CUDA_ARRAY3D_DESCRIPTOR_v2, Depth);
SAME_PLACE(struct cuda_array_3d, format, CUDA_ARRAY3D_DESCRIPTOR_v2, Format);
SAME_PLACE(struct cuda_array_3d, n_channels, CUDA_ARRAY3D_DESCRIPTOR_v2, NumChannels);
SAME_PLACE(struct cuda_array_3d, flags, CUDA_ARRAY3D_DESCRIPTOR_v2, Flags);
SAME_SIZE(struct cuda_uuid, CUuuid);

_Static_assert((int)CUDA_OK == CUDA_SUCCESS, "");
_Static_assert((int)CUDA_INVALID_VALUE == CUDA_ERROR_INVALID_VALUE, "");
_Static_assert((int)CUDA_OUT_OF_MEMORY == CUDA_ERROR_OUT_OF_MEMORY, "");
_Static_assert((int)CUDA_NOT_INITIALIZED == CUDA_ERROR_NOT_INITIALIZED, "");
_Static_assert((int)CUDA_DEINITIALIZED == CUDA_ERROR_DEINITIALIZED, "");
_Static_assert((int)CUDA_NO_DEVICE == CUDA_ERROR_NO_DEVICE, "");
_Static_assert((int)CUDA_INVALID_DEVICE == CUDA_ERROR_INVALID_DEVICE, "");
_Static_assert((int)CUDA_INVALID_CONTEXT == CUDA_ERROR_INVALID_CONTEXT, "");
_Static_assert((int)CUDA_NOT_FOUND == CUDA_ERROR_NOT_FOUND, "");
_Static_assert((int)CUDA_CONTEXT_IS_DESTROYED == CUDA_ERROR_CONTEXT_IS_DESTROYED, "");
_Static_assert((int)CUDA_NOT_PERMITTED == CUDA_ERROR_NOT_PERMITTED, "");
_Static_assert((int)CUDA_NOT_SUPPORTED == CUDA_ERROR_NOT_SUPPORTED, "");
_Static_assert((int)CUDA_LOCATION_DEVICE == CU_MEM_LOCATION_TYPE_DEVICE, "");
_Static_assert((int)CUDA_ALLOCATION_PINNED == CU_MEM_ALLOCATION_TYPE_PINNED, "");
_Static_assert((int)CUDA_NODE_MEM_ALLOC == CU_GRAPH_NODE_TYPE_MEM_ALLOC, "");
_Static_assert((int)CUDA_CAPTURE_NONE == CU_STREAM_CAPTURE_STATUS_NONE, "");
_Static_assert((int)CUDA_GPA_DEFAULT == CU_GET_PROC_ADDRESS_DEFAULT, "");
_Static_assert((int)CUDA_GPA_PER_THREAD_STREAM == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, "");
_Static_assert((int)CUDA_ARRAY_SPARSE == CUDA_ARRAY3D_SPARSE, "");
_Static_assert((int)CUDA_ARRAY_DEFERRED == CUDA_ARRAY3D_DEFERRED_MAPPING, "");
#endif

static void every_prototype_is_the_toolkits(void **state)
{
	(void)state;
#ifndef IS_COMPARED
	skip_because("no headers of CUDA 13 or later here (see CUDA_INCLUDE in the Makefile)");
#endif
}

// Every symbol of the table is in the stub that the toolkit links against.
static void every_symbol_is_in_the_drivers_stub(void **state)
{
	(void)state;
	static const char stub[] = "/usr/local/cuda/lib64/stubs/libcuda.so";
	static const char *const names[] = {
#define CUDA_CALL(symbol, base, version, variant, body, params, args) #symbol,
#define CUDA_PASS(symbol, base, version, variant, params, args) #symbol,
#define CUDA_OLD(symbol, base, version) #symbol,
#include "../census/cuda_calls.def"
	};
	FILE *file = fopen(stub, "rb");
	if (!file)
		skip_because("no libcuda.so of a CUDA toolkit here to be linked against");
	static char bytes[8 << 20];
	size_t n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_int_equal(sizeof(names) / sizeof(names[0]), 90);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char wanted[96];
		int length = snprintf(wanted, sizeof(wanted), "%c%s", '\0', names[i]);
		if (!memmem(bytes, n, wanted, (size_t)length + 1))
			fail_msg("the stub lacks %s", names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_prototype_is_the_toolkits),
		cmocka_unit_test(every_symbol_is_in_the_drivers_stub),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
