// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Contexts, and what ends with them: plain and managed memory, cuMemAllocHost's,
// arrays, modules, states of the linker, external memory. Memory of pools and of
// handles does not, nor do libraries. A primary context is reset by its last
// release, or by a reset, which leaves its references alone. Somebody may hold
// one by a path we do not see, so after what looks like the last release the
// driver is asked.

#include "calls.h"
#include "frame.h"
#include "objects.h"
#include "place.h"
#include "report.h"

#include "../driver.h"

#include "../../libtelemetry/banned.h"

static uint64_t of_context(const struct CUctx_st *context)
{
	return (uint64_t)(uintptr_t)context;
}

// ---- Created ones -----------------------------------------------------------------

static unsigned created(unsigned result, struct CUctx_st **ret_context, int device)
{
	if (result == CUDA_OUT_OF_MEMORY)
		cuda_count_refusal(device, 0);
	if (result == CUDA_OK && ret_context)
		cuda_context_made(of_context(*ret_context), device);
	return result;
}

unsigned cuda_on_ctx_create(enum cuda_row row, unsigned (*real)(struct CUctx_st **, unsigned, int),
			    struct CUctx_st **ret_context, unsigned flags, int device)
{
	(void)row;
	return created(real(ret_context, flags, device), ret_context, device);
}

unsigned cuda_on_ctx_create_v3(enum cuda_row row,
			       unsigned (*real)(struct CUctx_st **, struct CUexecAffinityParam_st *, int,
						unsigned, int),
			       struct CUctx_st **ret_context, struct CUexecAffinityParam_st *affinity,
			       int n_affinity, unsigned flags, int device)
{
	(void)row;
	return created(real(ret_context, affinity, n_affinity, flags, device), ret_context, device);
}

unsigned cuda_on_ctx_create_v4(enum cuda_row row,
			       unsigned (*real)(struct CUctx_st **, struct CUctxCreateParams_st *, unsigned,
						int),
			       struct CUctx_st **ret_context, struct CUctxCreateParams_st *params,
			       unsigned flags, int device)
{
	(void)row;
	return created(real(ret_context, params, flags, device), ret_context, device);
}

// Ends a context by a call that destroys it.
static unsigned destroy(unsigned (*real)(struct CUctx_st *), struct CUctx_st *context)
{
	struct cuda_object object;
	cuda_places_change();
	if (cuda_ledger_find(CUDA_IS_CONTEXT, of_context(context), &object) && object.class != CUDA_CONTEXT)
		return real(context); // a primary one's, which this cannot end
	(void)cuda_object_take(CUDA_IS_CONTEXT, of_context(context));
	cuda_object_take_others(of_context(context));
	unsigned result = real(context);
	cuda_object_others_after(result == CUDA_OK);
	return cuda_object_after(result);
}

unsigned cuda_on_ctx_destroy(enum cuda_row row, unsigned (*real)(struct CUctx_st *),
			     struct CUctx_st *context)
{
	(void)row;
	return destroy(real, context);
}

// ---- Usage counts, from before there was a stack of contexts ----------------------------

unsigned cuda_on_ctx_attach(enum cuda_row row, unsigned (*real)(struct CUctx_st **, unsigned),
			    struct CUctx_st **ret_context, unsigned flags)
{
	struct cuda_object object;
	(void)row;
	unsigned result = real(ret_context, flags);
	if (result == CUDA_OK && ret_context)
		(void)cuda_ledger_change(CUDA_IS_CONTEXT, of_context(*ret_context), 1, 0, 0, 0, 0, false,
					 &object);
	return result;
}

unsigned cuda_on_ctx_detach(enum cuda_row row, unsigned (*real)(struct CUctx_st *), struct CUctx_st *context)
{
	struct cuda_object object;
	(void)row;
	if (!cuda_ledger_find(CUDA_IS_CONTEXT, of_context(context), &object) || object.refs <= 1)
		return destroy(real, context);
	unsigned result = real(context);
	if (result == CUDA_OK)
		(void)cuda_ledger_change(CUDA_IS_CONTEXT, of_context(context), -1, 0, 0, 0, 0, false, &object);
	return result;
}

// ---- Primary ones -----------------------------------------------------------------------

unsigned cuda_on_device_primary_ctx_retain(enum cuda_row row, unsigned (*real)(struct CUctx_st **, int),
					   struct CUctx_st **ret_context, int device)
{
	(void)row;
	unsigned result = real(ret_context, device);
	if (result == CUDA_OUT_OF_MEMORY)
		cuda_count_refusal(device, 0);
	if (result == CUDA_OK)
		cuda_primary_retained(device, ret_context ? of_context(*ret_context) : 0);
	return result;
}

// What a call may end with a primary context is taken out before it, as far as
// one can tell; afterwards the driver says what became of it. Children that
// another thread put back meanwhile go too.
static void primary_called(int device, bool may_be_over, bool otherwise)
{
	cuda_object_others_after(may_be_over && !cuda_primary_settle(device, otherwise));
	if (cuda_primary_is_active(device))
		return;
	cuda_object_take_others(cuda_primary_key(device));
	cuda_object_others_after(true);
}

unsigned cuda_on_device_primary_ctx_release(enum cuda_row row, unsigned (*real)(int), int device)
{
	(void)row;
	cuda_places_change();
	bool was_held = cuda_primary_references(device) > 0;
	bool is_last = cuda_primary_let_go(device);
	if (is_last)
		cuda_object_take_others(cuda_primary_key(device));
	unsigned result = real(device);
	if (result != CUDA_OK && was_held)
		cuda_primary_keep(device);
	primary_called(device, result == CUDA_OK, !is_last);
	return result;
}

unsigned cuda_on_device_primary_ctx_reset(enum cuda_row row, unsigned (*real)(int), int device)
{
	(void)row;
	cuda_places_change();
	cuda_object_take_others(cuda_primary_key(device));
	unsigned result = real(device);
	primary_called(device, result == CUDA_OK, false);
	return result;
}

// ---- Green ones, which hold a reference of the primary one -----------------------------------

unsigned cuda_on_green_ctx_create(enum cuda_row row,
				  unsigned (*real)(struct CUgreenCtx_st **, struct CUdevResourceDesc_st *, int,
						   unsigned),
				  struct CUgreenCtx_st **ret_context, struct CUdevResourceDesc_st *resources,
				  int device, unsigned flags)
{
	(void)row;
	unsigned result = real(ret_context, resources, device, flags);
	if (result != CUDA_OK || !ret_context)
		return result;
	cuda_object_made(&(struct cuda_object){
		.handle = (uint64_t)(uintptr_t)*ret_context,
		.device = device,
		.refs = 1,
		.kind = CUDA_IS_GREEN,
		.class = CUDA_GREEN,
	});
	cuda_primary_retained(device, 0);
	return result;
}

unsigned cuda_on_green_ctx_destroy(enum cuda_row row, unsigned (*real)(struct CUgreenCtx_st *),
				   struct CUgreenCtx_st *context)
{
	(void)row;
	cuda_places_change();
	if (!cuda_object_take(CUDA_IS_GREEN, (uint64_t)(uintptr_t)context))
		return cuda_object_after(real(context));
	int device = cuda_self.taken.object.device;
	bool is_last = cuda_primary_let_go(device);
	if (is_last)
		cuda_object_take_others(cuda_primary_key(device));
	unsigned result = real(context);
	if (result != CUDA_OK)
		cuda_primary_keep(device);
	primary_called(device, result == CUDA_OK, !is_last);
	return cuda_object_after(result);
}
