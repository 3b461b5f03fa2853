// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Code of the fake driver: modules of a context, libraries of none, states of
// the linker. A library's module cannot be unloaded by itself.

#include "driver.h"

static unsigned load(uint64_t *ret_module, const void *code)
{
	unsigned error;
	int device;
	struct object *context = fake_current_device(&error, &device);
	if (!context)
		return error;
	if (!code || !ret_module)
		return INVALID_VALUE;
	unsigned failed = fake_take_memory(device, fake_module_bytes);
	if (failed)
		return failed;
	*ret_module = fake_make(MODULE, device, 0, context)->handle;
	return OK;
}

API(cuModuleLoad, uint64_t *ret_module, const char *path)
{
	BEGIN();
	END(load(ret_module, path));
}

API(cuModuleLoadData, uint64_t *ret_module, const void *code)
{
	BEGIN();
	END(load(ret_module, code));
}

API(cuModuleLoadDataEx, uint64_t *ret_module, const void *code, unsigned n, void *options, void **values)
{
	(void)n;
	(void)options;
	(void)values;
	BEGIN();
	END(load(ret_module, code));
}

API(cuModuleLoadFatBinary, uint64_t *ret_module, const void *code)
{
	BEGIN();
	END(load(ret_module, code));
}

API(cuModuleUnload, uint64_t handle)
{
	BEGIN();
	struct object *module = fake_find(MODULE, handle);
	if (!module)
		END(INVALID_HANDLE);
	if (module->of)
		END(NOT_PERMITTED);
	fake_end_object(module);
	fake_delay();
	END(OK);
}

API(cuModuleGetFunction, uint64_t *ret_function, uint64_t handle, const char *name)
{
	BEGIN();
	if (!fake_find(MODULE, handle))
		END(INVALID_HANDLE);
	if (!name)
		END(NOT_FOUND);
	*ret_function = handle + 8; // launched, it does nothing
	END(OK);
}

API(cuModuleGetLoadingMode, int *ret_mode)
{
	BEGIN();
	*ret_mode = 2; // lazy
	END(OK);
}

API(cuLibraryLoadData, uint64_t *ret_library, const void *code, void *options, void **values, unsigned n,
    void *library_options, void **library_values, unsigned n_library)
{
	(void)options;
	(void)values;
	(void)n;
	(void)library_options;
	(void)library_values;
	(void)n_library;
	BEGIN();
	if (!code)
		END(INVALID_VALUE);
	*ret_library = fake_make(LIBRARY, -1, 0, NULL)->handle;
	END(OK);
}

API(cuLibraryLoadFromFile, uint64_t *ret_library, const char *path, void *options, void **values, unsigned n,
    void *library_options, void **library_values, unsigned n_library)
{
	(void)options;
	(void)values;
	(void)n;
	(void)library_options;
	(void)library_values;
	(void)n_library;
	BEGIN();
	if (!path)
		END(INVALID_VALUE);
	*ret_library = fake_make(LIBRARY, -1, 0, NULL)->handle;
	END(OK);
}

struct ending {
	struct object *library;
	struct object *found; // a module of it
};

static void find_module_of(struct object *object, void *context)
{
	struct ending *ending = context;
	if (object->kind == MODULE && object->of == ending->library)
		ending->found = object;
}

API(cuLibraryUnload, uint64_t handle)
{
	BEGIN();
	struct object *library = fake_find(LIBRARY, handle);
	if (!library)
		END(INVALID_HANDLE);
	struct ending ending = {.library = library};
	do {
		ending.found = NULL;
		fake_each(find_module_of, &ending);
		if (ending.found)
			fake_end_object(ending.found);
	} while (ending.found);
	fake_end_object(library);
	END(OK);
}

API(cuLibraryGetModule, uint64_t *ret_module, uint64_t handle)
{
	unsigned error;
	int device;
	BEGIN();
	struct object *library = fake_find(LIBRARY, handle);
	struct object *context = fake_current_device(&error, &device);
	if (!library)
		END(INVALID_HANDLE);
	if (!context)
		END(error);
	struct object *module = fake_make(MODULE, device, 0, context);
	module->of = library;
	*ret_module = module->handle;
	END(OK);
}

static unsigned make_link(uint64_t *ret_state)
{
	unsigned error;
	int device;
	struct object *context = fake_current_device(&error, &device);
	if (!context)
		return error;
	*ret_state = fake_make(LINK, device, 0, context)->handle;
	return OK;
}

API(cuLinkCreate, unsigned n, void *options, void **values, uint64_t *ret_state)
{
	(void)n;
	(void)options;
	(void)values;
	BEGIN();
	END(make_link(ret_state));
}

API(cuLinkCreate_v2, unsigned n, void *options, void **values, uint64_t *ret_state)
{
	(void)n;
	(void)options;
	(void)values;
	BEGIN();
	END(make_link(ret_state));
}

API(cuLinkAddData_v2, uint64_t state, int type, void *data, size_t bytes, const char *name, unsigned n,
    void *options, void **values)
{
	(void)type;
	(void)data;
	(void)bytes;
	(void)name;
	(void)n;
	(void)options;
	(void)values;
	BEGIN();
	END(fake_find(LINK, state) ? OK : INVALID_HANDLE);
}

API(cuLinkComplete, uint64_t state, void **ret_code, size_t *ret_bytes)
{
	static char code[16];
	BEGIN();
	if (!fake_find(LINK, state))
		END(INVALID_HANDLE);
	*ret_code = code;
	*ret_bytes = sizeof(code);
	END(OK);
}

API(cuLinkDestroy, uint64_t state)
{
	BEGIN();
	END(fake_destroy(LINK, state, INVALID_HANDLE));
}
