// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Plain memory of the device and of the host. Bytes are those asked for; what
// the driver rounds up stays in the residual. Out-parameters are read only after
// a success, and only where there are any.

#include "calls.h"
#include "objects.h"
#include "place.h"
#include "report.h"

#include "../../libtelemetry/rollcall.h"

#include "../../libtelemetry/banned.h"

static void note_refusal(unsigned result, uint64_t bytes)
{
	if (result == CUDA_OUT_OF_MEMORY)
		cuda_count_refusal(cuda_device_or_first(), bytes);
}

static uint64_t of_pointer(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

// ---- Device memory ------------------------------------------------------------

unsigned cuda_on_mem_alloc(enum cuda_row row, unsigned (*real)(unsigned long long *, size_t),
			   unsigned long long *ret_address, size_t bytes)
{
	(void)row;
	unsigned result = real(ret_address, bytes);
	note_refusal(result, bytes);
	if (result == CUDA_OK && ret_address)
		cuda_object_made_here(CUDA_IS_POINTER, CUDA_LINEAR, *ret_address, bytes,
				      CUDA_ENDS_WITH_PARENT);
	return result;
}

unsigned cuda_on_mem_alloc_pitch(enum cuda_row row,
				 unsigned (*real)(unsigned long long *, size_t *, size_t, size_t, unsigned),
				 unsigned long long *ret_address, size_t *ret_pitch, size_t width_bytes,
				 size_t height, unsigned element_bytes)
{
	(void)row;
	unsigned result = real(ret_address, ret_pitch, width_bytes, height, element_bytes);
	note_refusal(result, width_bytes * height);
	if (result == CUDA_OK && ret_address && ret_pitch)
		cuda_object_made_here(CUDA_IS_POINTER, CUDA_LINEAR, *ret_address, *ret_pitch * height,
				      CUDA_ENDS_WITH_PARENT);
	return result;
}

unsigned cuda_on_mem_alloc_managed(enum cuda_row row,
				   unsigned (*real)(unsigned long long *, size_t, unsigned),
				   unsigned long long *ret_address, size_t bytes, unsigned flags)
{
	(void)row;
	unsigned result = real(ret_address, bytes, flags);
	note_refusal(result, bytes);
	if (result == CUDA_OK && ret_address)
		cuda_object_made_here(CUDA_IS_POINTER, CUDA_MANAGED, *ret_address, bytes,
				      CUDA_ENDS_WITH_PARENT);
	return result;
}

unsigned cuda_on_mem_free(enum cuda_row row, unsigned (*real)(unsigned long long),
			  unsigned long long address)
{
	(void)row;
	if (address == 0)
		return real(address);
	(void)cuda_object_take(CUDA_IS_POINTER, address);
	return cuda_object_after(real(address));
}

unsigned cuda_on_mem_get_info(enum cuda_row row, unsigned (*real)(size_t *, size_t *), size_t *ret_free,
			      size_t *ret_total)
{
	struct cuda_place place;
	(void)row;
	unsigned result = real(ret_free, ret_total);
	// Either may be NULL: some ask for one.
	if (result == CUDA_OK && ret_free && ret_total && *ret_free <= *ret_total && cuda_place_now(&place)) {
		cuda_device_seen(place.device);
		(void)rollcall_device_memory(place.device, *ret_total - *ret_free, *ret_total);
	}
	return result;
}

// ---- Host memory -----------------------------------------------------------------

// What ends with its context: the driver's list has cuMemAllocHost only.
unsigned cuda_on_mem_alloc_host(enum cuda_row row, unsigned (*real)(void **, size_t), void **ret_pointer,
				size_t bytes)
{
	(void)row;
	unsigned result = real(ret_pointer, bytes);
	note_refusal(result, bytes);
	if (result == CUDA_OK && ret_pointer)
		cuda_object_made_here(CUDA_IS_HOST, CUDA_PINNED, of_pointer(*ret_pointer), bytes,
				      CUDA_ENDS_WITH_PARENT);
	return result;
}

unsigned cuda_on_mem_host_alloc(enum cuda_row row, unsigned (*real)(void **, size_t, unsigned),
				void **ret_pointer, size_t bytes, unsigned flags)
{
	(void)row;
	unsigned result = real(ret_pointer, bytes, flags);
	note_refusal(result, bytes);
	if (result == CUDA_OK && ret_pointer)
		cuda_object_made_here(CUDA_IS_HOST, CUDA_PINNED, of_pointer(*ret_pointer), bytes, 0);
	return result;
}

unsigned cuda_on_mem_free_host(enum cuda_row row, unsigned (*real)(void *), void *pointer)
{
	(void)row;
	if (!pointer)
		return real(pointer);
	(void)cuda_object_take(CUDA_IS_HOST, of_pointer(pointer));
	return cuda_object_after(real(pointer));
}

unsigned cuda_on_mem_host_register(enum cuda_row row, unsigned (*real)(void *, size_t, unsigned),
				   void *pointer, size_t bytes, unsigned flags)
{
	(void)row;
	unsigned result = real(pointer, bytes, flags);
	if (result == CUDA_OK)
		cuda_object_made_here(CUDA_IS_REGISTERED, CUDA_REGISTERED, of_pointer(pointer), bytes, 0);
	return result;
}

unsigned cuda_on_mem_host_unregister(enum cuda_row row, unsigned (*real)(void *), void *pointer)
{
	(void)row;
	(void)cuda_object_take(CUDA_IS_REGISTERED, of_pointer(pointer));
	return cuda_object_after(real(pointer));
}
