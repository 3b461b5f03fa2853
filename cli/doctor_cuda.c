// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Checks of the CUDA census: whether programs start with it, what else stands in
// its way, and what it says of itself in each process that uses the driver. A
// process that has the driver mapped and of which nothing was counted is the
// worst case, and is looked for from outside.

#include "doctor.h"

#include "devices.h"
#include "spawn.h"
#include "text.h"

#include "../libtelemetry/discover.h"
#include "../monitor/nvml.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

// ---- The machine -----------------------------------------------------------------

static void check_libraries(struct cli_findings *findings)
{
	struct cli_libraries libraries;
	struct tele_error error;
	char preload[2 * PATH_MAX + 2];
	if (cli_find_libraries(&libraries, &error) < 0)
		return; // said already
	if (!libraries.cuda[0]) {
		cli_finding(findings, CLI_WARNING, "CUDA census",
			    "librollcall-cuda.so is not beside librollcall.so.0: the driver's calls are not counted; "
			    "install it");
		return;
	}
	snprintf(preload, sizeof(preload), "%s:%s", libraries.core, libraries.cuda);
	if (cli_probe_preload(preload, &error) < 0)
		cli_finding(findings, CLI_FAILING, "CUDA census", "%s; use --no-cuda", error.text);
	else
		cli_finding(findings, CLI_HEALTHY, "CUDA census", "programs start with %s", libraries.cuda);
}

// Another dlsym beside ours keeps look-ups from us.
static void check_global_preload(struct cli_findings *findings)
{
	char text[PATH_MAX + 200];
	if (cli_has_global_hook(text, sizeof(text)))
		cli_finding(findings, CLI_WARNING, "ld.so.preload", "%s", text);
}

static void check_driver(struct cli_findings *findings)
{
	const char *why;
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!driver) {
		cli_finding(findings, CLI_HEALTHY, "CUDA", "not here, and not needed");
		return;
	}
	cli_finding(findings, CLI_HEALTHY, "CUDA", "libcuda.so.1 is there");
	dlclose(driver);
	struct mon_nvml *nvml = mon_nvml_open(&why);
	if (nvml)
		cli_finding(findings, CLI_HEALTHY, "NVML", "tells of %u devices: overhead can be shown",
			    mon_nvml_devices(nvml));
	else
		cli_finding(findings, CLI_WARNING, "NVML",
			    "%s: what the driver takes for itself stays unknown; `unattributed` is shown instead", why);
	mon_nvml_close(nvml);
}

// ---- Processes ---------------------------------------------------------------------

// How many copies of the driver a process has mapped; 0 also where its maps
// cannot be read.
static unsigned count_drivers(uint64_t pid)
{
	char path[64], line[4400];
	unsigned n = 0;
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/maps", pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *name = strrchr(line, '/');
		const char *offset = strchr(line, ' ');
		offset = offset ? strchr(offset + 1, ' ') : NULL;
		// The first mapping of each copy begins at the file's beginning.
		n += name && strncmp(name, "/libcuda.so", 11) == 0 && offset &&
		     strtoull(offset, NULL, 16) == 0;
	}
	if (file)
		fclose(file);
	return n;
}

static uint64_t value(const struct cli_reading *reading, enum tele_field_id id)
{
	return tele_schema_value(reading->instance->schema, id, 0, reading->row, reading->n_fields);
}

static const struct {
	enum tele_field_id id;
	const char *what;
} doubts[] = {
	{TELE_ID_cuda_identity_mismatch, "addresses that were not the driver's (another hook behind ours?)"},
	{TELE_ID_cuda_foreign_libcuda, "look-ups in a second copy of the driver, which is not counted"},
	{TELE_ID_cuda_unknown_frees, "frees of what was not known (made before we came, or by a hidden path)"},
	{TELE_ID_cuda_untracked, "objects that could not be remembered for want of memory"},
	{TELE_ID_cuda_unplaced_allocations, "allocations whose device could not be told"},
	{TELE_ID_cuda_rules_refused, "rules of ROLLCALL_LABELS that were not understood"},
};

static void report_process(struct cli_findings *findings, const struct cli_reading *reading, unsigned n_drivers)
{
	char what[24];
	uint64_t calls = value(reading, TELE_ID_cuda_calls);
	snprintf(what, sizeof(what), "CUDA %" PRIu64, reading->instance->identity.pid);
	if (calls == TELE_UNKNOWN || calls == 0) {
		if (n_drivers > 0)
			cli_finding(findings, CLI_WARNING, what,
				    "has the driver mapped, but none of its calls came through the census: it was "
				    "started without --cuda, or opens the driver by RTLD_DEEPBIND or dlmopen");
		return;
	}
	cli_finding(findings, CLI_HEALTHY, what,
		    "%" PRIu64 " calls counted, %" PRIu64 " entry points; reached by symbol %" PRIu64
		    ", by cuGetProcAddress %" PRIu64 "; %" PRIu64 " contexts discovered",
		    calls, value(reading, TELE_ID_cuda_entry_points),
		    value(reading, TELE_ID_cuda_resolved_by_symbol), value(reading, TELE_ID_cuda_resolved_by_gpa),
		    value(reading, TELE_ID_cuda_discovered_contexts));
	if (n_drivers > 1)
		cli_finding(findings, CLI_WARNING, what, "has %u copies of the driver mapped; one is counted",
			    n_drivers);
	for (size_t i = 0; i < TELE_ARRAY_LEN(doubts); i++) {
		uint64_t n = value(reading, doubts[i].id);
		if (n > 0 && n != TELE_UNKNOWN)
			cli_finding(findings, CLI_WARNING, what, "%" PRIu64 " %s; figures may be short by these", n,
				    doubts[i].what);
	}
}

static void check_processes(struct cli_findings *findings)
{
	static uint64_t row[TELE_FIELDS_MAX];
	struct tele_found_list list = {0};
	struct tele_error error;
	uint64_t seq;
	if (tele_discover(NULL, &list, &error) < 0)
		return; // the directory was checked
	for (size_t i = 0; i < list.n_items; i++) {
		struct cli_reading reading = {.row = row};
		if (!list.items[i].attach)
			continue;
		reading.instance = tele_attach_instance(list.items[i].attach);
		if (!tele_state_is_alive(reading.instance->state) ||
		    tele_attach_latest(list.items[i].attach, row, TELE_ARRAY_LEN(row), &reading.n_fields, &seq,
				       &error) < 0)
			continue;
		report_process(findings, &reading, count_drivers(reading.instance->identity.pid));
	}
	tele_found_list_close(&list);
}

void cli_check_cuda(struct cli_findings *findings)
{
	check_driver(findings);
	check_libraries(findings);
	check_global_preload(findings);
	check_processes(findings);
}
