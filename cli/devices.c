// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Device memory of a process, term by term. `live` is what the census counted.
// `overhead` is what the driver says that the process has, less that: contexts,
// code, pools' slack, rounding, and everything that was not seen; it needs the
// management library. Without that, `unattributed` is what everybody had at the
// program's last look, less live. What is not known is not shown as a number.

#include "devices.h"

#include "text.h"

#include "../libtelemetry/strings.h"
#include "../monitor/nvml.h"

#include <inttypes.h>

#include "../libtelemetry/banned.h"

enum { DEVICES_MAX = 64 };

static uint64_t value(const struct cli_reading *reading, enum tele_field_id id, uint32_t device)
{
	return tele_schema_value(reading->instance->schema, id, device, reading->row, reading->n_fields);
}

static const char *string(const struct cli_reading *reading, enum tele_field_id id, uint32_t device)
{
	uint64_t number = value(reading, id, device);
	return number == TELE_UNKNOWN ? NULL : tele_strings_get(reading->instance->strings, number);
}

static void print_bytes(const char *name, uint64_t bytes, uint64_t n, const char *what)
{
	char size[CLI_SIZE_TEXT];
	printf("    %-14s %14s", name, cli_bytes_text(bytes, size));
	if (n != TELE_UNKNOWN)
		printf("  %6" PRIu64 "  %s\n", n, what);
	else
		printf("  %6s  %s\n", "", what);
}

// A difference, signed: the two figures are of two moments.
static void print_rest(const char *name, uint64_t whole, uint64_t part, const char *what)
{
	char size[CLI_SIZE_TEXT], text[CLI_SIZE_TEXT + 1] = "n/a";
	if (whole != TELE_UNKNOWN && part != TELE_UNKNOWN) {
		cli_bytes_text(whole >= part ? whole - part : part - whole, size);
		snprintf(text, sizeof(text), "%s%s", whole >= part ? "" : "-", size);
	}
	printf("    %-14s %14s  %6s  %s\n", name, text, "", what);
}

static const struct {
	enum tele_field_id bytes, pools;
	const char *name, *what;
	bool is_part; // of live
} terms[] = {
#define TERM(class, name, what, is_part) \
	{TELE_ID_driver_##class##_bytes, TELE_ID_driver_##class##_pools, name, what, is_part}
	TERM(linear, "  linear", "cuMemAlloc", true),
	TERM(async, "  async", "cuMemAllocAsync", true),
	TERM(vmm, "  vmm", "cuMemCreate", true),
	TERM(array, "  arrays", "estimated", true),
	TERM(settled, "  settled", "of live: unlabelled and old; a guess", false),
	TERM(managed, "managed", "wherever it resides; not in live", false),
	TERM(pinned, "pinned", "of the host", false),
	TERM(registered, "registered", "of the host", false),
#undef TERM
};

static void print_device(const struct cli_reading *reading, uint32_t device, struct mon_nvml *nvml)
{
	const char *name = string(reading, TELE_ID_device_name, device);
	const char *uuid = string(reading, TELE_ID_device_uuid, device);
	char label[300];
	uint64_t live = value(reading, TELE_ID_driver_live_bytes, device);
	snprintf(label, sizeof(label), "%s  %s", name ? name : "?", uuid ? uuid : "");
	printf("\n  device %" PRIu32 "  %s\n", device, cli_clean(label));
	print_bytes("live", live, value(reading, TELE_ID_driver_live_pools, device), "allocations");
	for (size_t i = 0; i < TELE_ARRAY_LEN(terms); i++) {
		uint64_t pools = value(reading, terms[i].pools, device);
		if (pools != 0 && pools != TELE_UNKNOWN)
			print_bytes(terms[i].name, value(reading, terms[i].bytes, device), pools, terms[i].what);
	}
	printf("    %-14s %14s  %6" PRIu64 "  (primary: %" PRIu64 " references), %" PRIu64 " modules\n", "contexts", "",
	       value(reading, TELE_ID_driver_contexts, device),
	       value(reading, TELE_ID_driver_primary_references, device),
	       value(reading, TELE_ID_driver_modules, device));
	struct mon_nvml_device told = {TELE_UNKNOWN, TELE_UNKNOWN, TELE_UNKNOWN, TELE_UNKNOWN};
	if (nvml && uuid)
		(void)mon_nvml_read(nvml, uuid, &reading->instance->identity, &told);
	uint64_t used = told.used_bytes != TELE_UNKNOWN ? told.used_bytes
							: value(reading, TELE_ID_device_used_bytes, device);
	print_bytes("process", told.process_bytes, TELE_UNKNOWN, "what the driver says this process has");
	print_rest("overhead", told.process_bytes, live, "process less live: contexts, code, slack, what was not seen");
	print_bytes("used", used, TELE_UNKNOWN, "of the device, by everybody");
	if (told.process_bytes != TELE_UNKNOWN)
		print_rest("foreign", used, told.all_processes_bytes, "used less all processes");
	else
		print_rest("unattributed", used, live, "used less live");
}

unsigned cli_print_devices(const struct cli_reading *reading)
{
	const char *why;
	unsigned n = 0;
	struct mon_nvml *nvml = NULL;
	for (uint32_t device = 0; device < DEVICES_MAX; device++) {
		if (value(reading, TELE_ID_driver_captured_at_ns, device) == TELE_UNKNOWN)
			continue;
		if (n++ == 0)
			nvml = mon_nvml_open(&why);
		print_device(reading, device, nvml);
	}
	if (n > 0 && !nvml)
		printf("    (%s)\n", why);
	mon_nvml_close(nvml);
	return n;
}
