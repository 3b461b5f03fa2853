// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the management library is asked, and what is made of its answers: those
// of a fake one, which says what a file says.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../monitor/nvml.h"
#include "support/folder.h"
#include "support/skip.h"

#define A "GPU-aaaa"
#define B "GPU-bbbb"

static char folder[TEST_FOLDER_BYTES], path[TEST_PATH_BYTES];
static const struct tele_identity nobody = {.pid = 7};
static struct mon_nvml *nvml;

// The library beside the test's program is the one that is found by its name.
static int start_all(void **state)
{
	char library[4096];
	ssize_t n = readlink("/proc/self/exe", library, sizeof(library) - 64);
	(void)state;
	assert_true(n > 0);
	library[n] = '\0';
	*strrchr(library, '/') = '\0';
	snprintf(strrchr(library, '/'), 40, "/fake/libnvidia-ml.so.1");
	assert_non_null(dlopen(library, RTLD_NOW));
	assert_true(test_folder_make(NULL, folder));
	snprintf(path, sizeof(path), "%s/nvml", folder);
	return setenv("FAKE_NVML", path, 1);
}

static int end_all(void **state)
{
	(void)state;
	unlink(path);
	return test_folder_remove(folder);
}

static void say(const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int start(void **state)
{
	const char *why;
	(void)state;
	say("");
	nvml = mon_nvml_open(&why);
	assert_non_null(nvml);
	return 0;
}

static int end(void **state)
{
	(void)state;
	mon_nvml_close(nvml);
	return 0;
}

static struct mon_nvml_device read_of(const char *uuid, uint64_t pid)
{
	struct mon_nvml_device device;
	assert_true(mon_nvml_read(nvml, uuid, &(struct tele_identity){.pid = pid}, &device));
	return device;
}

static void each_process_has_what_it_has_on_each_device(void **state)
{
	(void)state;
	say("device " A " 1000 300\ndevice " B " 2000 500\n"
	    "process " A " 7 100\nprocess " A " 8 150\nprocess " B " 7 400\n");
	assert_int_equal(mon_nvml_devices(nvml), 2);
	struct mon_nvml_device device = read_of(A, 7);
	assert_int_equal(device.process_bytes, 100);
	assert_int_equal(device.all_processes_bytes, 250);
	assert_int_equal(device.used_bytes, 300);
	assert_int_equal(device.total_bytes, 1000);
	assert_int_equal(read_of(A, 8).process_bytes, 150);
	assert_int_equal(read_of(B, 7).process_bytes, 400);
	assert_int_equal(read_of(B, 7).all_processes_bytes, 400);
	assert_true(read_of(B, 8).process_bytes == TELE_UNKNOWN);
	assert_false(mon_nvml_read(nvml, "GPU-cccc", &nobody, &device));
}

static void a_process_comes_and_goes(void **state)
{
	(void)state;
	say("device " A " 1000 0\n");
	assert_true(read_of(A, 7).process_bytes == TELE_UNKNOWN);
	assert_int_equal(read_of(A, 7).all_processes_bytes, 0);
	say("device " A " 1000 100\nprocess " A " 7 100\n");
	assert_int_equal(read_of(A, 7).process_bytes, 100);
	say("device " A " 1000 0\n");
	assert_true(read_of(A, 7).process_bytes == TELE_UNKNOWN);
}

static void a_size_that_is_not_told_is_unknown_and_so_is_a_sum_with_it(void **state)
{
	(void)state;
	say("device " A " 1000 300\nprocess " A " 7 100\nprocess " A " 8 -\n");
	assert_int_equal(read_of(A, 7).process_bytes, 100);
	assert_true(read_of(A, 7).all_processes_bytes == TELE_UNKNOWN);
	assert_true(read_of(A, 8).process_bytes == TELE_UNKNOWN);
}

static void a_client_of_mps_is_in_a_list_of_its_own(void **state)
{
	(void)state;
	say("device " A " 1000 300\nprocess " A " 1 20\nmps " A " 7 100\n");
	assert_int_equal(read_of(A, 7).process_bytes, 100);
	assert_int_equal(read_of(A, 7).all_processes_bytes, 120);
}

// A failed list is no empty one: nothing was told of how much all have.
static void what_fails_is_unknown(void **state)
{
	struct mon_nvml_device device;
	(void)state;
	say("device " A " 1000 300\nprocess " A " 7 100\nfail nvmlDeviceGetComputeRunningProcesses_v3 999\n");
	device = read_of(A, 7);
	assert_true(device.process_bytes == TELE_UNKNOWN && device.all_processes_bytes == TELE_UNKNOWN);
	assert_int_equal(device.used_bytes, 300);
	say("device " A " 1000 300\nprocess " A " 7 100\nfail nvmlDeviceGetMemoryInfo 3\n");
	device = read_of(A, 7);
	assert_true(device.used_bytes == TELE_UNKNOWN && device.total_bytes == TELE_UNKNOWN);
	assert_int_equal(device.process_bytes, 100);
	// Without MPS there is no such list.
	say("device " A " 1000 300\nprocess " A " 7 100\nfail nvmlDeviceGetMPSComputeRunningProcesses_v3 3\n");
	device = read_of(A, 7);
	assert_int_equal(device.all_processes_bytes, 100);
	say("device " A " 1000 300\nfail nvmlDeviceGetCount_v2 15\n");
	assert_int_equal(mon_nvml_devices(nvml), 0);
	assert_false(mon_nvml_read(nvml, A, &nobody, &device));
	say("device " A " 1000 300\nfail nvmlDeviceGetUUID 15\n");
	assert_false(mon_nvml_read(nvml, A, &nobody, &device));
	say("device " A " 1000 300\n");
	assert_true(mon_nvml_read(nvml, A, &nobody, &device));
}

static void a_list_that_grows_between_two_calls_is_asked_for_again(void **state)
{
	(void)state;
	say("device " A " 1000 300\nprocess " A " 7 100\ngrow 3\n");
	assert_int_equal(read_of(A, 7).process_bytes, 100);
	// One that never stops growing is given up.
	say("device " A " 1000 300\nprocess " A " 7 100\ngrow 1000\n");
	assert_true(read_of(A, 7).process_bytes == TELE_UNKNOWN);
	assert_true(read_of(A, 7).all_processes_bytes == TELE_UNKNOWN);
	assert_int_equal(read_of(A, 7).used_bytes, 300);
}

// A process of a container is told by the host's number, and says its own.
static void a_process_in_another_namespace_is_known_by_both_numbers(void **state)
{
	int ready[2];
	char text[200], name[64], byte;
	struct stat namespace;
	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid_t outer = fork();
	if (outer == 0) {
		// The first of the new namespace tells its number out here by its end of the pipe.
		pid_t inner = unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0 ? fork() : -1;
		if (inner == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		ssize_t n = write(ready[1], &inner, sizeof(inner));
		pause();
		_exit(n < 0);
	}
	pid_t pid = -1;
	assert_int_equal(read(ready[0], &pid, sizeof(pid)), sizeof(pid));
	snprintf(name, sizeof(name), "/proc/%d/ns/pid", pid);
	bool is_there = pid > 0 && stat(name, &namespace) == 0;
	if (is_there) {
		struct mon_nvml_device device;
		struct tele_identity process = {.pid = 1, .pid_namespace = namespace.st_ino};
		snprintf(text, sizeof(text), "device " A " 1000 300\nprocess " A " 1 50\nprocess " A " %d 100\n", pid);
		say(text);
		assert_true(mon_nvml_read(nvml, A, &process, &device));
		assert_int_equal(device.process_bytes, 100);
		process.pid = 2; // nobody there
		assert_true(mon_nvml_read(nvml, A, &process, &device));
		assert_true(device.process_bytes == TELE_UNKNOWN);
	}
	kill(outer, SIGKILL);
	waitpid(outer, NULL, 0);
	close(ready[1]);
	(void)read(ready[0], &byte, 1);
	close(ready[0]);
	if (!is_there)
		skip_because("no user or PID namespaces");
}

static void without_a_driver_there_is_no_library(void **state)
{
	const char *why = NULL;
	(void)state;
	unsetenv("FAKE_NVML");
	assert_null(mon_nvml_open(&why));
	assert_string_equal(why, "it finds no driver loaded");
	setenv("FAKE_NVML", path, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_process_has_what_it_has_on_each_device),
		TEST(a_process_comes_and_goes),
		TEST(a_size_that_is_not_told_is_unknown_and_so_is_a_sum_with_it),
		TEST(a_client_of_mps_is_in_a_list_of_its_own),
		TEST(what_fails_is_unknown),
		TEST(a_list_that_grows_between_two_calls_is_asked_for_again),
		TEST(a_process_in_another_namespace_is_known_by_both_numbers),
		cmocka_unit_test(without_a_driver_there_is_no_library),
	};
	return cmocka_run_group_tests(tests, start_all, end_all);
}
