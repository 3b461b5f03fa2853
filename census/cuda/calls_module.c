// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Code. A module belongs to a context; a library belongs to none and its code
// comes to a device when it is needed, so bytes move with no event: they are
// part of the residual. What finds a function or a kernel changes no count.

#include "calls.h"
#include "objects.h"
#include "place.h"
#include "report.h"

#include "../../libtelemetry/banned.h"

static unsigned loaded(unsigned result, struct CUmod_st **ret_module)
{
	if (result == CUDA_OUT_OF_MEMORY)
		cuda_count_refusal(cuda_device_or_first(), 0);
	if (result == CUDA_OK && ret_module)
		cuda_object_made_here(CUDA_IS_MODULE, CUDA_MODULE, (uint64_t)(uintptr_t)*ret_module, 0,
				      CUDA_ENDS_WITH_PARENT);
	return result;
}

unsigned cuda_on_module_load(enum cuda_row row, unsigned (*real)(struct CUmod_st **, const char *),
			     struct CUmod_st **ret_module, const char *path)
{
	(void)row;
	return loaded(real(ret_module, path), ret_module);
}

unsigned cuda_on_module_load_data(enum cuda_row row, unsigned (*real)(struct CUmod_st **, const void *),
				  struct CUmod_st **ret_module, const void *code)
{
	(void)row;
	return loaded(real(ret_module, code), ret_module);
}

unsigned cuda_on_module_load_data_ex(enum cuda_row row,
				     unsigned (*real)(struct CUmod_st **, const void *, unsigned, unsigned *,
						      void **),
				     struct CUmod_st **ret_module, const void *code, unsigned n_options,
				     unsigned *options, void **values)
{
	(void)row;
	return loaded(real(ret_module, code, n_options, options, values), ret_module);
}

unsigned cuda_on_module_load_fat_binary(enum cuda_row row,
					unsigned (*real)(struct CUmod_st **, const void *),
					struct CUmod_st **ret_module, const void *code)
{
	(void)row;
	return loaded(real(ret_module, code), ret_module);
}

// The driver refuses for a library's module, which is not ours to count.
unsigned cuda_on_module_unload(enum cuda_row row, unsigned (*real)(struct CUmod_st *),
			       struct CUmod_st *module)
{
	(void)row;
	(void)cuda_object_take(CUDA_IS_MODULE, (uint64_t)(uintptr_t)module);
	return cuda_object_after(real(module));
}

// ---- Libraries ---------------------------------------------------------------------

static unsigned library_loaded(unsigned result, struct CUlib_st **ret_library)
{
	if (result == CUDA_OK && ret_library)
		cuda_object_made(&(struct cuda_object){
			.handle = (uint64_t)(uintptr_t)*ret_library,
			.device = -1,
			.refs = 1,
			.kind = CUDA_IS_LIBRARY,
			.class = CUDA_LIBRARY,
		});
	return result;
}

unsigned cuda_on_library_load_data(enum cuda_row row,
				   unsigned (*real)(struct CUlib_st **, const void *, unsigned *, void **,
						    unsigned, unsigned *, void **, unsigned),
				   struct CUlib_st **ret_library, const void *code, unsigned *options,
				   void **values, unsigned n_options, unsigned *library_options,
				   void **library_values, unsigned n_library_options)
{
	(void)row;
	return library_loaded(real(ret_library, code, options, values, n_options, library_options,
				   library_values, n_library_options),
			      ret_library);
}

unsigned cuda_on_library_load_from_file(enum cuda_row row,
					unsigned (*real)(struct CUlib_st **, const char *, unsigned *,
							 void **, unsigned, unsigned *, void **, unsigned),
					struct CUlib_st **ret_library, const char *path, unsigned *options,
					void **values, unsigned n_options, unsigned *library_options,
					void **library_values, unsigned n_library_options)
{
	(void)row;
	return library_loaded(real(ret_library, path, options, values, n_options, library_options,
				   library_values, n_library_options),
			      ret_library);
}

unsigned cuda_on_library_unload(enum cuda_row row, unsigned (*real)(struct CUlib_st *),
				struct CUlib_st *library)
{
	(void)row;
	(void)cuda_object_take(CUDA_IS_LIBRARY, (uint64_t)(uintptr_t)library);
	return cuda_object_after(real(library));
}

// ---- The linker -----------------------------------------------------------------------

unsigned cuda_on_link_create(enum cuda_row row,
			     unsigned (*real)(unsigned, unsigned *, void **, struct CUlinkState_st **),
			     unsigned n_options, unsigned *options, void **values,
			     struct CUlinkState_st **ret_state)
{
	(void)row;
	unsigned result = real(n_options, options, values, ret_state);
	if (result == CUDA_OK && ret_state)
		cuda_object_made_here(CUDA_IS_LINK, CUDA_LINK, (uint64_t)(uintptr_t)*ret_state, 0,
				      CUDA_ENDS_WITH_PARENT);
	return result;
}

unsigned cuda_on_link_destroy(enum cuda_row row, unsigned (*real)(struct CUlinkState_st *),
			      struct CUlinkState_st *state)
{
	(void)row;
	(void)cuda_object_take(CUDA_IS_LINK, (uint64_t)(uintptr_t)state);
	return cuda_object_after(real(state));
}
