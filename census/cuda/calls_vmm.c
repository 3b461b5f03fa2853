// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Memory by handles, and the addresses it is mapped at. A handle's bytes leave
// when it has neither references nor mappings; it may be released while mapped.
// Its device is the one asked for and not the current one: there may be none.

#include "calls.h"
#include "frame.h"
#include "objects.h"
#include "place.h"
#include "report.h"

#include "../../libtelemetry/banned.h"

// ---- Handles --------------------------------------------------------------------

static void handle_made(uint64_t handle, int device, uint64_t bytes, unsigned class)
{
	cuda_object_made(&(struct cuda_object){
		.handle = handle,
		.bytes = bytes,
		.device = device,
		.refs = 1,
		.kind = CUDA_IS_HANDLE,
		.class = (uint8_t)class,
	});
}

unsigned cuda_on_mem_create(enum cuda_row row,
			    unsigned (*real)(unsigned long long *, size_t,
					     const struct CUmemAllocationProp_st *, unsigned long long),
			    unsigned long long *ret_handle, size_t bytes,
			    const struct CUmemAllocationProp_st *prop, unsigned long long flags)
{
	(void)row;
	unsigned result = real(ret_handle, bytes, prop, flags);
	if (!prop)
		return result;
	struct cuda_location location =
		((const struct cuda_allocation_prop *)(const void *)prop)->location;
	bool is_device = location.type == CUDA_LOCATION_DEVICE;
	int device = is_device ? location.id : cuda_device_or_first();
	if (result == CUDA_OUT_OF_MEMORY)
		cuda_count_refusal(device, bytes);
	if (result == CUDA_OK && ret_handle)
		handle_made(*ret_handle, device, bytes, is_device ? CUDA_VMM : CUDA_PINNED);
	return result;
}

unsigned cuda_on_mem_release(enum cuda_row row, unsigned (*real)(unsigned long long),
			     unsigned long long handle)
{
	(void)row;
	cuda_object_release(CUDA_IS_HANDLE, handle);
	return cuda_object_after(real(handle));
}

// One more reference, to a handle that may be new to us.
static void handle_retained(uint64_t handle)
{
	struct cuda_object object;
	if (!cuda_ledger_change(CUDA_IS_HANDLE, handle, 1, 0, 0, 0, 0, false, &object))
		handle_made(handle, cuda_device_or_first(), 0, CUDA_IMPORTED);
}

unsigned cuda_on_mem_retain_allocation_handle(enum cuda_row row,
					      unsigned (*real)(unsigned long long *, void *),
					      unsigned long long *ret_handle, void *address)
{
	(void)row;
	unsigned result = real(ret_handle, address);
	if (result == CUDA_OK && ret_handle)
		handle_retained(*ret_handle);
	return result;
}

unsigned cuda_on_mem_import_from_shareable_handle(enum cuda_row row,
						  unsigned (*real)(unsigned long long *, void *, unsigned),
						  unsigned long long *ret_handle, void *os_handle,
						  unsigned handle_type)
{
	(void)row;
	unsigned result = real(ret_handle, os_handle, handle_type);
	if (result == CUDA_OK && ret_handle)
		handle_retained(*ret_handle);
	return result;
}

// ---- Mappings ---------------------------------------------------------------------

unsigned cuda_on_mem_map(enum cuda_row row,
			 unsigned (*real)(unsigned long long, size_t, size_t, unsigned long long,
					  unsigned long long),
			 unsigned long long address, size_t bytes, size_t offset, unsigned long long handle,
			 unsigned long long flags)
{
	struct cuda_object object;
	(void)row;
	unsigned result = real(address, bytes, offset, handle, flags);
	if (result != CUDA_OK)
		return result;
	(void)cuda_ledger_change(CUDA_IS_HANDLE, handle, 0, 1, 0, 0, 0, false, &object);
	(void)cuda_object_put(&(struct cuda_object){
		.handle = address,
		.bytes = bytes,
		.parent = handle,
		.device = -1,
		.refs = 1,
		.kind = CUDA_IS_MAPPING,
		.class = CUDA_UNCOUNTED,
	});
	return result;
}

// Takes out one mapping, and its handle where that ends with it.
static bool take_mapping(uint64_t address, uint64_t *ret_bytes)
{
	struct cuda_taken *taken = &cuda_self.taken;
	struct cuda_object mapping, handle;
	if (!cuda_ledger_take(CUDA_IS_MAPPING, address, &mapping))
		return false;
	*ret_bytes = mapping.bytes;
	if (!cuda_batch_add(&taken->others, &mapping))
		return false;
	if (cuda_ledger_change(CUDA_IS_HANDLE, mapping.parent, 0, -1, 0, 0, 0, true, &handle) ==
		    CUDA_CHANGE_ENDED &&
	    !cuda_batch_add(&taken->handles, &handle))
		cuda_object_gone(&handle);
	return true;
}

// A range may hold several mappings, each of them whole.
unsigned cuda_on_mem_unmap(enum cuda_row row, unsigned (*real)(unsigned long long, size_t),
			   unsigned long long address, size_t bytes)
{
	uint64_t taken_bytes = 0, length = 0;
	(void)row;
	while (taken_bytes < bytes && take_mapping(address + taken_bytes, &length) && length > 0)
		taken_bytes += length;
	unsigned result = real(address, bytes);
	if (result == CUDA_OK && taken_bytes < bytes)
		cuda_tally(CUDA_UNKNOWN_FREES);
	cuda_object_others_after(result == CUDA_OK);
	return result;
}

// ---- Address space ------------------------------------------------------------------

unsigned cuda_on_mem_address_reserve(enum cuda_row row,
				     unsigned (*real)(unsigned long long *, size_t, size_t,
						      unsigned long long, unsigned long long),
				     unsigned long long *ret_address, size_t bytes, size_t alignment,
				     unsigned long long address, unsigned long long flags)
{
	(void)row;
	unsigned result = real(ret_address, bytes, alignment, address, flags);
	if (result == CUDA_OK && ret_address)
		cuda_object_made(&(struct cuda_object){
			.handle = *ret_address,
			.bytes = bytes,
			.device = cuda_device_or_first(),
			.refs = 1,
			.kind = CUDA_IS_RESERVATION,
			.class = CUDA_RESERVED,
		});
	return result;
}

unsigned cuda_on_mem_address_free(enum cuda_row row, unsigned (*real)(unsigned long long, size_t),
				  unsigned long long address, size_t bytes)
{
	(void)row;
	(void)cuda_object_take(CUDA_IS_RESERVATION, address);
	return cuda_object_after(real(address, bytes));
}

// ---- Multicast -------------------------------------------------------------------------

unsigned cuda_on_multicast_create(enum cuda_row row,
				  unsigned (*real)(unsigned long long *,
						   const struct CUmulticastObjectProp_st *),
				  unsigned long long *ret_multicast, const struct CUmulticastObjectProp_st *prop)
{
	(void)row;
	unsigned result = real(ret_multicast, prop);
	if (result == CUDA_OK && ret_multicast)
		handle_made(*ret_multicast, -1, 0, CUDA_MULTICAST);
	return result;
}

static void bind(uint64_t multicast, int64_t bytes)
{
	struct cuda_object object;
	(void)cuda_ledger_change(CUDA_IS_HANDLE, multicast, 0, 0, bytes, 0, 0, false, &object);
}

unsigned cuda_on_multicast_bind_mem(enum cuda_row row,
				    unsigned (*real)(unsigned long long, size_t, unsigned long long, size_t,
						     size_t, unsigned long long),
				    unsigned long long multicast, size_t multicast_offset,
				    unsigned long long memory, size_t memory_offset, size_t bytes,
				    unsigned long long flags)
{
	(void)row;
	unsigned result = real(multicast, multicast_offset, memory, memory_offset, bytes, flags);
	if (result == CUDA_OK)
		bind(multicast, (int64_t)bytes);
	return result;
}

unsigned cuda_on_multicast_bind_addr(enum cuda_row row,
				     unsigned (*real)(unsigned long long, size_t, unsigned long long, size_t,
						      unsigned long long),
				     unsigned long long multicast, size_t multicast_offset,
				     unsigned long long address, size_t bytes, unsigned long long flags)
{
	(void)row;
	unsigned result = real(multicast, multicast_offset, address, bytes, flags);
	if (result == CUDA_OK)
		bind(multicast, (int64_t)bytes);
	return result;
}

unsigned cuda_on_multicast_unbind(enum cuda_row row,
				  unsigned (*real)(unsigned long long, int, size_t, size_t),
				  unsigned long long multicast, int device, size_t multicast_offset,
				  size_t bytes)
{
	(void)row;
	unsigned result = real(multicast, device, multicast_offset, bytes);
	if (result == CUDA_OK)
		bind(multicast, -(int64_t)bytes);
	return result;
}
