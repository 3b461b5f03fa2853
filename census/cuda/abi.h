// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What of the CUDA driver's ABI the census reads, declared by hand so that
// building needs no toolkit. tests/test_cuda_abi.c holds it to the toolkit's own
// headers where they are installed. Structures that appear in prototypes go by
// the driver's tags and stay opaque; ours are read by way of a cast.

#ifndef CENSUS_CUDA_ABI_H
#define CENSUS_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

enum {
	CUDA_OK = 0,
	CUDA_INVALID_VALUE = 1,
	CUDA_OUT_OF_MEMORY = 2,
	CUDA_NOT_INITIALIZED = 3,
	CUDA_DEINITIALIZED = 4,
	CUDA_NO_DEVICE = 100,
	CUDA_INVALID_DEVICE = 101,
	CUDA_INVALID_CONTEXT = 201,
	CUDA_NOT_FOUND = 500,
	CUDA_CONTEXT_IS_DESTROYED = 709,
	CUDA_NOT_PERMITTED = 800,
	CUDA_NOT_SUPPORTED = 801
};

enum { CUDA_LOCATION_DEVICE = 1 };
enum { CUDA_ALLOCATION_PINNED = 1 };
enum { CUDA_NODE_MEM_ALLOC = 10 };
enum { CUDA_CAPTURE_NONE = 0 };
enum { CUDA_POINTER_DEVICE_ORDINAL = 9 };
enum { CUDA_STREAM_PER_THREAD = 2 }; // the last of the handles that are no stream of one's own
enum { CUDA_GPA_DEFAULT = 0, CUDA_GPA_PER_THREAD_STREAM = 2 };
enum { CUDA_ARRAY_SPARSE = 0x40, CUDA_ARRAY_DEFERRED = 0x80 };

struct cuda_location {
	int type, id;
};

struct cuda_allocation_prop {
	unsigned type, handle_types;
	struct cuda_location location;
	void *security;
	unsigned char flags[8];
};
_Static_assert(sizeof(struct cuda_allocation_prop) == 32, "as the driver has it");

struct cuda_pool_props {
	unsigned type, handle_types;
	struct cuda_location location;
	void *security;
	size_t max_bytes;
	unsigned short usage;
	unsigned char reserved[54];
};
_Static_assert(sizeof(struct cuda_pool_props) == 88, "as the driver has it");

struct cuda_alloc_node {
	struct cuda_pool_props pool;
	const void *access;
	size_t n_access;
	size_t bytes;
	unsigned long long address;
};
_Static_assert(sizeof(struct cuda_alloc_node) == 120, "as the driver has it");

// The head of the parameters of any node; what follows depends on the type.
struct cuda_node {
	unsigned type;
	int reserved[3];
	struct cuda_alloc_node alloc;
};

struct cuda_array {
	size_t width, height;
	unsigned format, n_channels;
};
_Static_assert(sizeof(struct cuda_array) == 24, "as the driver has it");

struct cuda_array_3d {
	size_t width, height, depth;
	unsigned format, n_channels, flags;
};
_Static_assert(sizeof(struct cuda_array_3d) == 40, "as the driver has it");

struct cuda_uuid {
	unsigned char bytes[16];
};

// Given by value, so it must be whole; the toolkit's header has it too.
#ifndef __cuda_cuda_h__
struct CUipcMemHandle_st {
	char reserved[64];
};
#endif

struct CUDA_ARRAY3D_DESCRIPTOR_st;
struct CUDA_ARRAY_DESCRIPTOR_st;
struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC_st;
struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st;
struct CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_st;
struct CUDA_MEM_ALLOC_NODE_PARAMS_v1_st;
struct CUarray_st;
struct CUctxCreateParams_st;
struct CUctx_st;
struct CUdevResourceDesc_st;
struct CUexecAffinityParam_st;
struct CUextMemory_st;
struct CUgraphEdgeData_st;
struct CUgraphNodeParams_st;
struct CUgraphNode_st;
struct CUgraph_st;
struct CUgreenCtx_st;
struct CUlib_st;
struct CUlinkState_st;
struct CUmemAllocationProp_st;
struct CUmemLocation_st;
struct CUmemPoolHandle_st;
struct CUmemPoolProps_st;
struct CUmemPoolPtrExportData_st;
struct CUmipmappedArray_st;
struct CUmod_st;
struct CUmulticastObjectProp_st;
struct CUstream_st;
struct CUuuid_st;

#endif
