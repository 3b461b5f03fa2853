// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Memory that is somebody else's: opened from another process, imported from
// another interface. It counts as imported, with no bytes of its own. And memory
// of graphs, which exists while a graph runs: no call ends it, so it is counted
// as it is added, and its addresses are remembered only that a free of one is
// not taken for a free of something unknown.

#include "calls.h"
#include "objects.h"
#include "place.h"
#include "report.h"

#include "../../libtelemetry/banned.h"

// ---- Other processes -------------------------------------------------------------

// Opening a handle again gives the same address.
unsigned cuda_on_ipc_open_mem_handle(enum cuda_row row,
				     unsigned (*real)(unsigned long long *, struct CUipcMemHandle_st,
						      unsigned),
				     unsigned long long *ret_address, struct CUipcMemHandle_st handle,
				     unsigned flags)
{
	struct cuda_object object;
	(void)row;
	unsigned result = real(ret_address, handle, flags);
	if (result != CUDA_OK || !ret_address)
		return result;
	if (cuda_ledger_find(CUDA_IS_POINTER, *ret_address, &object) && (object.flags & CUDA_IS_IPC) &&
	    cuda_ledger_change(CUDA_IS_POINTER, *ret_address, 1, 0, 0, 0, 0, false, &object))
		return result;
	cuda_object_made_here(CUDA_IS_POINTER, CUDA_IMPORTED, *ret_address, 0, CUDA_IS_IPC);
	return result;
}

unsigned cuda_on_ipc_close_mem_handle(enum cuda_row row, unsigned (*real)(unsigned long long),
				      unsigned long long address)
{
	(void)row;
	cuda_object_release(CUDA_IS_POINTER, address);
	return cuda_object_after(real(address));
}

// ---- Other interfaces --------------------------------------------------------------

unsigned cuda_on_import_external_memory(enum cuda_row row,
					unsigned (*real)(struct CUextMemory_st **,
							 const struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st *),
					struct CUextMemory_st **ret_memory,
					const struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st *descriptor)
{
	(void)row;
	unsigned result = real(ret_memory, descriptor);
	if (result == CUDA_OK && ret_memory)
		cuda_object_made_here(CUDA_IS_EXTERNAL, CUDA_IMPORTED, (uint64_t)(uintptr_t)*ret_memory, 0,
				      CUDA_ENDS_WITH_PARENT);
	return result;
}

// A mapped buffer is freed by cuMemFree, also after what it was mapped from is gone.
unsigned cuda_on_external_memory_get_mapped_buffer(
	enum cuda_row row,
	unsigned (*real)(unsigned long long *, struct CUextMemory_st *,
			 const struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC_st *),
	unsigned long long *ret_address, struct CUextMemory_st *memory,
	const struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC_st *descriptor)
{
	(void)row;
	unsigned result = real(ret_address, memory, descriptor);
	if (result == CUDA_OK && ret_address)
		cuda_object_made_here(CUDA_IS_POINTER, CUDA_IMPORTED, *ret_address, 0, 0);
	return result;
}

unsigned cuda_on_external_memory_get_mapped_mipmapped_array(
	enum cuda_row row,
	unsigned (*real)(struct CUmipmappedArray_st **, struct CUextMemory_st *,
			 const struct CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_st *),
	struct CUmipmappedArray_st **ret_array, struct CUextMemory_st *memory,
	const struct CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_st *descriptor)
{
	(void)row;
	unsigned result = real(ret_array, memory, descriptor);
	if (result == CUDA_OK && ret_array)
		cuda_object_made_here(CUDA_IS_MIPMAP, CUDA_IMPORTED, (uint64_t)(uintptr_t)*ret_array, 0,
				      CUDA_ENDS_WITH_PARENT);
	return result;
}

unsigned cuda_on_destroy_external_memory(enum cuda_row row, unsigned (*real)(struct CUextMemory_st *),
					 struct CUextMemory_st *memory)
{
	(void)row;
	(void)cuda_object_take(CUDA_IS_EXTERNAL, (uint64_t)(uintptr_t)memory);
	return cuda_object_after(real(memory));
}

// ---- Graphs ---------------------------------------------------------------------------

static void node_added(const struct cuda_alloc_node *node)
{
	int device = node->pool.location.type == CUDA_LOCATION_DEVICE ? node->pool.location.id
								      : cuda_device_or_first();
	cuda_object_made(&(struct cuda_object){
		.handle = node->address,
		.bytes = node->bytes,
		.device = device,
		.refs = 1,
		.kind = CUDA_IS_POINTER,
		.class = CUDA_GRAPH,
	});
}

unsigned cuda_on_graph_add_mem_alloc_node(
	enum cuda_row row,
	unsigned (*real)(struct CUgraphNode_st **, struct CUgraph_st *, struct CUgraphNode_st *const *, size_t,
			 struct CUDA_MEM_ALLOC_NODE_PARAMS_v1_st *),
	struct CUgraphNode_st **ret_node, struct CUgraph_st *graph, struct CUgraphNode_st *const *dependencies,
	size_t n_dependencies, struct CUDA_MEM_ALLOC_NODE_PARAMS_v1_st *params)
{
	(void)row;
	unsigned result = real(ret_node, graph, dependencies, n_dependencies, params);
	if (result == CUDA_OK && params)
		node_added((const struct cuda_alloc_node *)(void *)params);
	return result;
}

static void any_node_added(unsigned result, const void *params)
{
	const struct cuda_node *node = params;
	if (result == CUDA_OK && node && node->type == CUDA_NODE_MEM_ALLOC)
		node_added(&node->alloc);
}

unsigned cuda_on_graph_add_node(enum cuda_row row,
				unsigned (*real)(struct CUgraphNode_st **, struct CUgraph_st *,
						 struct CUgraphNode_st *const *, size_t,
						 struct CUgraphNodeParams_st *),
				struct CUgraphNode_st **ret_node, struct CUgraph_st *graph,
				struct CUgraphNode_st *const *dependencies, size_t n_dependencies,
				struct CUgraphNodeParams_st *params)
{
	(void)row;
	unsigned result = real(ret_node, graph, dependencies, n_dependencies, params);
	any_node_added(result, params);
	return result;
}

unsigned cuda_on_graph_add_node_v2(enum cuda_row row,
				   unsigned (*real)(struct CUgraphNode_st **, struct CUgraph_st *,
						    struct CUgraphNode_st *const *,
						    const struct CUgraphEdgeData_st *, size_t,
						    struct CUgraphNodeParams_st *),
				   struct CUgraphNode_st **ret_node, struct CUgraph_st *graph,
				   struct CUgraphNode_st *const *dependencies,
				   const struct CUgraphEdgeData_st *edges, size_t n_dependencies,
				   struct CUgraphNodeParams_st *params)
{
	(void)row;
	unsigned result = real(ret_node, graph, dependencies, edges, n_dependencies, params);
	any_node_added(result, params);
	return result;
}
