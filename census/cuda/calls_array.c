// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Arrays. The driver does not say what an array takes, so its bytes are
// estimated from extent and format: a mipmapped one takes a third more than its
// largest level. Of sparse and deferred ones no byte is there yet, and of a
// format we do not know none is counted, and that this was so.

#include "calls.h"
#include "objects.h"
#include "place.h"
#include "report.h"

#include "../../libtelemetry/banned.h"

// Bytes of one channel; 0 for block-compressed, planar and unknown formats.
static uint64_t channel_bytes(unsigned format, unsigned *ret_n_channels)
{
	switch (format) {
	case 0x01: // integers of 8 bits, without and with sign
	case 0x08:
		return 1;
	case 0x02: // of 16 bits
	case 0x09:
	case 0x10: // half
		return 2;
	case 0x03: // of 32 bits
	case 0x0a:
	case 0x20: // float
		return 4;
	default:
		break;
	}
	// Normalised integers of 8 and 16 bits, without and with sign, whose format
	// says how many channels there are: 1, 2, 4.
	if (format >= 0xc0 && format <= 0xcb) {
		*ret_n_channels = 1u << (format - 0xc0) % 3;
		return (format - 0xc0) / 3 % 2 ? 2 : 1;
	}
	return 0;
}

static uint64_t at_least_one(uint64_t extent)
{
	return extent ? extent : 1;
}

static uint64_t estimate(const struct cuda_array_3d *array)
{
	unsigned n_channels = array->n_channels;
	uint64_t bytes = channel_bytes(array->format, &n_channels);
	if (bytes == 0)
		cuda_tally(CUDA_UNESTIMATED);
	if (array->flags & (CUDA_ARRAY_SPARSE | CUDA_ARRAY_DEFERRED))
		return 0;
	return array->width * at_least_one(array->height) * at_least_one(array->depth) * n_channels * bytes;
}

static void made(unsigned kind, const void *handle, uint64_t bytes)
{
	cuda_object_made_here(kind, CUDA_ARRAY, (uint64_t)(uintptr_t)handle, bytes, CUDA_ENDS_WITH_PARENT);
}

static void note_refusal(unsigned result)
{
	if (result == CUDA_OUT_OF_MEMORY)
		cuda_count_refusal(cuda_device_or_first(), 0);
}

unsigned cuda_on_array_create(enum cuda_row row,
			      unsigned (*real)(struct CUarray_st **, const struct CUDA_ARRAY_DESCRIPTOR_st *),
			      struct CUarray_st **ret_handle, const struct CUDA_ARRAY_DESCRIPTOR_st *descriptor)
{
	(void)row;
	unsigned result = real(ret_handle, descriptor);
	note_refusal(result);
	if (result == CUDA_OK && ret_handle && descriptor) {
		const struct cuda_array *array = (const struct cuda_array *)(const void *)descriptor;
		const struct cuda_array_3d whole = {
			.width = array->width,
			.height = array->height,
			.format = array->format,
			.n_channels = array->n_channels,
		};
		made(CUDA_IS_ARRAY, *ret_handle, estimate(&whole));
	}
	return result;
}

unsigned cuda_on_array_3d_create(enum cuda_row row,
				 unsigned (*real)(struct CUarray_st **,
						  const struct CUDA_ARRAY3D_DESCRIPTOR_st *),
				 struct CUarray_st **ret_handle,
				 const struct CUDA_ARRAY3D_DESCRIPTOR_st *descriptor)
{
	(void)row;
	unsigned result = real(ret_handle, descriptor);
	note_refusal(result);
	if (result == CUDA_OK && ret_handle && descriptor)
		made(CUDA_IS_ARRAY, *ret_handle,
		     estimate((const struct cuda_array_3d *)(const void *)descriptor));
	return result;
}

unsigned cuda_on_mipmapped_array_create(enum cuda_row row,
					unsigned (*real)(struct CUmipmappedArray_st **,
							 const struct CUDA_ARRAY3D_DESCRIPTOR_st *, unsigned),
					struct CUmipmappedArray_st **ret_handle,
					const struct CUDA_ARRAY3D_DESCRIPTOR_st *descriptor, unsigned n_levels)
{
	(void)row;
	unsigned result = real(ret_handle, descriptor, n_levels);
	note_refusal(result);
	if (result == CUDA_OK && ret_handle && descriptor) {
		uint64_t bytes = estimate((const struct cuda_array_3d *)(const void *)descriptor);
		made(CUDA_IS_MIPMAP, *ret_handle, bytes + bytes / 3);
	}
	return result;
}

unsigned cuda_on_array_destroy(enum cuda_row row, unsigned (*real)(struct CUarray_st *),
			       struct CUarray_st *array)
{
	(void)row;
	(void)cuda_object_take(CUDA_IS_ARRAY, (uint64_t)(uintptr_t)array);
	return cuda_object_after(real(array));
}

unsigned cuda_on_mipmapped_array_destroy(enum cuda_row row, unsigned (*real)(struct CUmipmappedArray_st *),
					 struct CUmipmappedArray_st *array)
{
	(void)row;
	(void)cuda_object_take(CUDA_IS_MIPMAP, (uint64_t)(uintptr_t)array);
	return cuda_object_after(real(array));
}
