// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The census through the real publisher, read back from the segment as a
// monitor would. The program runs itself again as the publishing process,
// since its environment counts from the start.

#define ROLLCALL_BUILDING
#include "../libtelemetry/rollcall.h"

#include "../libtelemetry/attach.h"
#include "../libtelemetry/collector.h"
#include "../libtelemetry/fields.h"
#include "../libtelemetry/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/in_child.h"

#define CANDIDATES 20

static _Atomic pid_t tended_by;

static void tend(void *context)
{
	*(_Atomic pid_t *)context = gettid();
}

// What a collector wants to have done is done by the publisher's thread, soon.
static int be_tended(void)
{
	const struct rollcall_collector collector = {
		.size = sizeof(collector),
		.version = ROLLCALL_COLLECTOR_VERSION,
		.section = "heap",
		.instance = ROLLCALL_NO_INSTANCE,
		.n_values = 1,
		.context = &tended_by,
		.tend = tend,
	};
	CHECK(rollcall_collector_register(&collector) >= 0);
	CHECK(tended_by == 0);
	rollcall_tend();
	for (int i = 0; i < 5000 && tended_by == 0; i++)
		usleep(1000);
	CHECK(tended_by != 0 && tended_by != gettid());
	return 0;
}

// The publishing process: a small search that keeps every pool it made.
static int publish(void)
{
	rollcall_device_name(0, "card", "GPU-0");
	rollcall_device_memory(0, 500, 1000);
	rollcall_phase("first");
	uint64_t owner = rollcall_owner_open("keeper");
	for (uint64_t i = 1; i <= CANDIDATES; i++) {
		uint64_t candidate = rollcall_candidate_begin("c");
		rollcall_context_created(0);
		rollcall_label_push(ROLLCALL_WORKING, owner);
		rollcall_record_pool(0, i, ROLLCALL_UNLABELLED, 100);
		rollcall_label_pop();
		rollcall_candidate_end(candidate, ROLLCALL_TIMED);
	}
	rollcall_owner_close(owner);
	CHECK(rollcall_flush() == 0);
	CHECK(be_tended() == 0);
	pid_t pid = fork();
	if (pid == 0) { // has nothing to say, and leaves no evidence
		usleep(10000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	CHECK(rollcall_segment_path() != NULL);
	printf("%s\n", rollcall_segment_path());
	return 0;
}

static char directory[TEST_FOLDER_BYTES];
static char path[256];

static int make_segment(void **state)
{
	(void)state;
	if (!test_folder_make(test_folder_of_segments(), directory))
		return -1;
	int ends[2];
	if (pipe(ends) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		char self[32];
		snprintf(self, sizeof(self), "%d", (int)getpid());
		setenv("ROLLCALL_ROOT", self, 1);
		setenv("ROLLCALL_DIR", directory, 1);
		dup2(ends[1], 1);
		execl("/proc/self/exe", "test_publisher_census", "publish", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	ssize_t len = read(ends[0], path, sizeof(path) - 1);
	close(ends[0]);
	int status = -1;
	if (waitpid(pid, &status, 0) != pid || status != 0 || len <= 1)
		return -1;
	path[len - 1] = '\0';
	return 0;
}

static int remove_segment(void **state)
{
	(void)state;
	unlink(path);
	return test_folder_remove(directory);
}

static struct tele_source *open_source(struct tele_instance **ret_instance)
{
	struct tele_attach *attach;
	struct tele_source *source;
	struct tele_error error;
	int failed = tele_attach_open(path, &attach, &error);
	if (failed)
		fail_msg("%s: %s", tele_strerror(failed), error.text);
	assert_true(tele_attach_is_evidence(attach));
	*ret_instance = tele_attach_instance(attach);
	assert_int_equal(tele_ring_source_open(attach, false, &source, &error), 0);
	return source;
}

static void each_boundary_row_holds_the_census_of_that_boundary(void **state)
{
	(void)state;
	struct tele_instance *instance;
	struct tele_source *source = open_source(&instance);
	struct tele_record record;
	struct tele_error error;
	uint64_t begun = 0, ended = 0, boundary_seq = 0, freed_before = 0;
	while (tele_source_next(source, &record, &error) == 1) {
		if (record.kind == TELE_RECORD_EVENT) {
			begun += record.event.type == TELE_EVENT_CANDIDATE_BEGIN;
			ended += record.event.type == TELE_EVENT_CANDIDATE_END;
			bool is_boundary = record.event.type == TELE_EVENT_CANDIDATE_BEGIN ||
					   record.event.type == TELE_EVENT_CANDIDATE_END;
			boundary_seq = is_boundary ? record.seq : 0;
		}
		if (record.kind != TELE_RECORD_ROW || boundary_seq == 0 || record.seq != boundary_seq + 1)
			continue;
		const uint64_t *row = record.row;
		assert_int_equal(row[TELE_ID_search_candidates_attempted], begun);
		assert_int_equal(row[TELE_ID_search_candidates_timed], ended);
		assert_int_equal(row[TELE_ID_search_open_candidates], begun - ended);
		if (ended > 0) {
			assert_int_equal(row[TELE_ID_census_live_working_pools], ended);
			assert_int_equal(row[TELE_ID_census_live_working_bytes], 100 * ended);
			assert_true(row[TELE_ID_census_pools_freed] >= freed_before);
		}
		assert_int_equal(row[TELE_ID_census_contexts_released],
				 ended > 0 ? 0 : row[TELE_ID_census_contexts_released]);
	}
	assert_int_equal(begun, CANDIDATES);
	assert_int_equal(ended, CANDIDATES);
	assert_int_equal(instance->lost, 0);
	tele_source_close(source);
}

static uint64_t value_of(const struct tele_instance *instance, const uint64_t *row, const char *name)
{
	int64_t i = tele_schema_find(instance->schema, name);
	assert_true(i >= 0);
	return row[i];
}

static void the_last_row_holds_devices_owners_and_their_names(void **state)
{
	(void)state;
	struct tele_instance *instance;
	struct tele_source *source = open_source(&instance);
	static uint64_t row[4096];
	struct tele_record record;
	struct tele_error error;
	bool is_closed_seen = false;
	while (tele_source_next(source, &record, &error) == 1) {
		if (record.kind == TELE_RECORD_ROW)
			memcpy(row, record.row, record.n_fields * sizeof(uint64_t));
		if (record.kind == TELE_RECORD_EVENT && record.event.type == TELE_EVENT_OWNER_CLOSED) {
			is_closed_seen = true;
			assert_int_equal(record.event.value, CANDIDATES);
			assert_string_equal(tele_instance_string(instance, record.event.string_id), "keeper");
		}
	}
	assert_true(is_closed_seen);
	assert_int_equal(value_of(instance, row, "device[0].live_working_pools"), CANDIDATES);
	assert_int_equal(value_of(instance, row, "device[0].used_bytes"), 500);
	assert_int_equal(value_of(instance, row, "owner[0].live_pools"), CANDIDATES);
	assert_int_equal(value_of(instance, row, "owner[0].open"), 0);
	assert_int_equal(row[TELE_ID_census_outlived_pools], CANDIDATES);
	assert_string_equal(
		tele_instance_string(instance, value_of(instance, row, "device[0].name")), "card");
	assert_string_equal(
		tele_instance_string(instance, value_of(instance, row, "owner[0].name")), "keeper");
	assert_string_equal(tele_instance_string(instance, row[TELE_ID_search_phase]), "first");
	tele_source_close(source);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "publish") == 0)
		return publish();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_boundary_row_holds_the_census_of_that_boundary),
		cmocka_unit_test(the_last_row_holds_devices_owners_and_their_names),
	};
	return cmocka_run_group_tests(tests, make_segment, remove_segment);
}
