// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Opening the driver as any program may: dlopen, dlsym, cuInit, the primary
// context of the first device.

#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct search_driver driver;

enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

static int find_functions(void *library)
{
	static const char *const names[] = {
#define X(name, symbol, params) #symbol,
		SEARCH_FUNCTIONS(X)
#undef X
	};
	void **functions = (void **)&driver;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		functions[i] = dlsym(library, names[i]);
		if (!functions[i]) {
			fprintf(stderr, "cudasearch: the driver has no %s\n", names[i]);
			return -1;
		}
	}
	return 0;
}

const char *search_driver_text(unsigned result)
{
	const char *text = NULL;

	if (!driver.error_text || driver.error_text(result, &text) != 0 || !text)
		return "an error without a name";
	return text;
}

int search_driver_open(void)
{
	int major = 0, minor = 0;
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

	if (!library) {
		fprintf(stderr, "cudasearch: there is no CUDA driver: %s\n", dlerror());
		return -1;
	}
	if (find_functions(library) < 0)
		return -1;
	unsigned result = driver.init(0);
	if (result == 0)
		result = driver.get_device(&driver.device, 0);
	if (result == 0)
		result = driver.get_name(driver.device_name, sizeof(driver.device_name), driver.device);
	if (result == 0)
		result = driver.retain(&driver.context, driver.device);
	if (result == 0)
		result = driver.set_current(driver.context);
	if (result != 0) {
		fprintf(stderr, "cudasearch: the driver does not start: %s\n", search_driver_text(result));
		return -1;
	}
	driver.attribute(&major, CAPABILITY_MAJOR, driver.device);
	driver.attribute(&minor, CAPABILITY_MINOR, driver.device);
	driver.capability = major * 10 + minor;
	driver.is_fake = strncmp(driver.device_name, "Fake", 4) == 0;
	return 0;
}

void search_driver_close(void)
{
	if (driver.context)
		driver.release(driver.device);
}
