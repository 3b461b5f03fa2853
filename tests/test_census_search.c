// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Candidates and phases: handles, outcomes, the counts they lead to, and what
// is handed to the publisher at each boundary.

#define ROLLCALL_BUILDING
#include "../libtelemetry/rollcall.h"

#include "../census/census.h"
#include "support/fake_publisher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/in_child.h"

static struct tele_search_values search_now(void)
{
	struct tele_search_values values;
	CHECK(census_search_read(&values));
	return values;
}

static const struct fake_row *last_row(void)
{
	CHECK(fake.n_rows > 0 && fake.rows[fake.n_rows - 1].published);
	return &fake.rows[fake.n_rows - 1];
}

IN_CHILD(search_fields_are_unknown_until_the_first_candidate)
{
	struct tele_search_values values = search_now();
	CHECK(values.captured_at_ns == TELE_UNKNOWN);
	CHECK(values.candidates_attempted == TELE_UNKNOWN && values.phase == TELE_UNKNOWN);
	CHECK(fake.n_collectors == 0);
	rollcall_candidate_begin("a");
	CHECK(fake_collect("search", ROLLCALL_NO_INSTANCE, &values, sizeof(values)));
	CHECK(values.candidates_attempted == 1 && values.open_candidates == 1);
	CHECK(values.candidates_kept == 0 && values.phase == TELE_UNKNOWN);
}

IN_CHILD(search_fields_are_known_from_the_first_phase_on)
{
	CHECK(rollcall_phase("tile sizes") == 0);
	struct tele_search_values values = search_now();
	CHECK(values.candidates_attempted == 0);
	CHECK(values.phase == 1 && strcmp(fake.strings[0], "tile sizes") == 0);
	CHECK(last_row()->type == TELE_EVENT_PHASE && strcmp(last_row()->text, "tile sizes") == 0);
	CHECK(rollcall_phase(NULL) == 0);
	CHECK(search_now().phase == TELE_UNKNOWN);
}

IN_CHILD(a_phase_without_room_for_its_name_is_said_to_be_refused)
{
	fake.strings_full = true;
	CHECK(rollcall_phase("x") == -ENOSPC);
	CHECK(search_now().phase == TELE_UNKNOWN);
	CHECK(strcmp(last_row()->text, "x") == 0);
	fake.inactive = true;
	CHECK(rollcall_phase("y") == 0);
}

IN_CHILD(each_outcome_counts_on_its_axes)
{
	static const struct {
		enum rollcall_outcome outcome;
		size_t member;
		uint64_t linked, timed, kept;
	} cases[] = {
		{ROLLCALL_DECLINED, offsetof(struct tele_search_values, candidates_declined), 0, 0, 0},
		{ROLLCALL_LINK_FAILED, offsetof(struct tele_search_values, candidates_link_failed), 1, 0, 0},
		{ROLLCALL_NON_DISPATCHABLE, offsetof(struct tele_search_values, candidates_non_dispatchable), 2, 0, 0},
		{ROLLCALL_DEDUPLICATED, offsetof(struct tele_search_values, candidates_deduplicated), 3, 0, 0},
		{ROLLCALL_FAILED, offsetof(struct tele_search_values, candidates_failed), 4, 0, 0},
		{ROLLCALL_TIMED, offsetof(struct tele_search_values, candidates_timed), 5, 1, 0},
		{ROLLCALL_KEPT, offsetof(struct tele_search_values, candidates_kept), 6, 2, 1},
	};
	for (size_t i = 0; i < TELE_ARRAY_LEN(cases); i++) {
		uint64_t candidate = rollcall_candidate_begin("c");
		CHECK(rollcall_candidate_end(candidate, cases[i].outcome) == 0);
		struct tele_search_values values = search_now();
		uint64_t own;
		memcpy(&own, (char *)&values + cases[i].member, sizeof(own));
		CHECK(own == 1 && values.candidates_attempted == i + 1 && values.open_candidates == 0);
		CHECK(values.candidates_linked == cases[i].linked);
		CHECK(values.candidates_timed == cases[i].timed);
		CHECK(values.candidates_kept == cases[i].kept);
	}
}

IN_CHILD(an_outcome_that_does_not_exist_is_refused_and_ends_nothing)
{
	uint64_t candidate = rollcall_candidate_begin("c");
	CHECK(rollcall_candidate_end(candidate, (enum rollcall_outcome)0) == -EINVAL);
	CHECK(rollcall_candidate_end(candidate, (enum rollcall_outcome)8) == -EINVAL);
	CHECK(rollcall_candidate_end(candidate, (enum rollcall_outcome)-1) == -EINVAL);
	CHECK(search_now().open_candidates == 1);
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_FAILED) == 0);
}

IN_CHILD(a_candidate_ends_once)
{
	uint64_t candidate = rollcall_candidate_begin("c");
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_FAILED) == 0);
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_FAILED) == -ENOENT);
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_KEPT) == -ENOENT);
	CHECK(rollcall_candidate_end(0, ROLLCALL_KEPT) == -ENOENT);
	CHECK(rollcall_candidate_end(candidate + 1, ROLLCALL_KEPT) == -ENOENT);
	CHECK(rollcall_candidate_end(UINT64_MAX, ROLLCALL_KEPT) == -ENOENT);
	CHECK(search_now().candidates_failed == 1 && fake.n_rows == 2);
}

IN_CHILD(a_timed_candidate_may_be_kept_and_no_count_falls)
{
	uint64_t candidate = rollcall_candidate_begin("c");
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_TIMED) == 0);
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_TIMED) == -ENOENT);
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_FAILED) == -ENOENT);
	struct tele_search_values timed = search_now();
	CHECK(timed.candidates_timed == 1 && timed.candidates_kept == 0);
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_KEPT) == 0);
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_KEPT) == -ENOENT);
	struct tele_search_values kept = search_now();
	CHECK(kept.candidates_timed == 1 && kept.candidates_kept == 1 && kept.candidates_linked == 1);
	CHECK(last_row()->value == TELE_OUTCOME_KEPT && strcmp(last_row()->text, "c") == 0);
}

IN_CHILD(several_candidates_are_open_at_once_and_handles_are_never_used_again)
{
	uint64_t a = rollcall_candidate_begin("a"), b = rollcall_candidate_begin("b");
	CHECK(a > 0 && b > 0 && a != b);
	CHECK(rollcall_candidate_end(a, ROLLCALL_DECLINED) == 0);
	uint64_t c = rollcall_candidate_begin("a");
	CHECK(c != a && c != b);
	CHECK(search_now().open_candidates == 2);
	CHECK(rollcall_candidate_end(b, ROLLCALL_DECLINED) == 0);
	CHECK(strcmp(last_row()->text, "b") == 0);
}

IN_CHILD(a_boundary_carries_search_census_and_devices_as_they_were_there)
{
	rollcall_record_pool(3, 1, ROLLCALL_WORKING, 100);
	rollcall_device_memory(3, 40, 50);
	uint64_t candidate = rollcall_candidate_begin("tile=8");
	rollcall_record_pool(3, 2, ROLLCALL_WORKING, 7);
	rollcall_candidate_end(candidate, ROLLCALL_TIMED);
	rollcall_forget_pool(3, 1);

	CHECK(fake.n_rows == 2);
	const struct fake_row *begin = &fake.rows[0], *end = &fake.rows[1];
	CHECK(begin->type == TELE_EVENT_CANDIDATE_BEGIN && begin->subject == candidate);
	CHECK(strcmp(begin->text, "tile=8") == 0 && strcmp(end->text, "tile=8") == 0);
	CHECK(end->type == TELE_EVENT_CANDIDATE_END && end->value == TELE_OUTCOME_TIMED);
	CHECK(begin->published && end->published);
	struct tele_census_values census;
	struct tele_device_values device;
	struct tele_search_values search;
	const struct fake_part *part = fake_part_of(begin, TELE_SECTION_CENSUS, ROLLCALL_NO_INSTANCE);
	CHECK(part && part->n_values * 8 == sizeof(census));
	memcpy(&census, part->values, sizeof(census));
	CHECK(census.live_working_pools == 1 && census.live_working_bytes == 100);
	part = fake_part_of(end, TELE_SECTION_CENSUS, ROLLCALL_NO_INSTANCE);
	memcpy(&census, part->values, sizeof(census));
	CHECK(census.live_working_pools == 2 && census.live_working_bytes == 107);
	CHECK(census.pools_freed == 0 && census.peak_pool_bytes == 107);
	part = fake_part_of(end, TELE_SECTION_DEVICE, 3);
	CHECK(part && part->n_values * 8 == sizeof(device));
	memcpy(&device, part->values, sizeof(device));
	CHECK(device.live_working_bytes == 107 && device.used_bytes == 40 && device.total_bytes == 50);
	CHECK(device.captured_at_ns == census.captured_at_ns);
	CHECK(device.memory_captured_at_ns <= device.captured_at_ns);
	part = fake_part_of(end, TELE_SECTION_SEARCH, ROLLCALL_NO_INSTANCE);
	CHECK(part && part->n_values * 8 == sizeof(search));
	memcpy(&search, part->values, sizeof(search));
	CHECK(search.candidates_timed == 1 && search.open_candidates == 0);
}

IN_CHILD(a_boundary_of_a_program_without_pools_leaves_the_census_unknown)
{
	rollcall_candidate_begin("a");
	CHECK(last_row()->n_parts == 1);
	CHECK(fake_part_of(last_row(), TELE_SECTION_SEARCH, ROLLCALL_NO_INSTANCE));
}

IN_CHILD(a_full_boundary_slot_takes_as_many_devices_as_fit)
{
	for (int device = 0; device < 30; device++)
		rollcall_record_pool(device, 1, ROLLCALL_WORKING, (uint64_t)device);
	fake.parts_max = 7;
	rollcall_candidate_begin("a");
	CHECK(last_row()->n_parts == 7);
	CHECK(fake_part_of(last_row(), TELE_SECTION_DEVICE, 4));
	CHECK(!fake_part_of(last_row(), TELE_SECTION_DEVICE, 5));
	CHECK(fake_part_of(last_row(), TELE_SECTION_CENSUS, ROLLCALL_NO_INSTANCE)->values[1] == 30);
}

IN_CHILD(a_boundary_without_a_slot_is_counted_all_the_same)
{
	fake.slots_full = true;
	uint64_t candidate = rollcall_candidate_begin("a");
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_KEPT) == 0);
	fake.inactive = true;
	candidate = rollcall_candidate_begin("a");
	CHECK(candidate > 0 && rollcall_candidate_end(candidate, ROLLCALL_KEPT) == 0);
	CHECK(search_now().candidates_kept == 2 && fake.n_rows == 0);
}

IN_CHILD(labels_are_cut_at_255_bytes_and_not_inside_a_character)
{
	char label[600];
	memset(label, 'a', sizeof(label));
	memcpy(label + 254, "\xE2\x82\xAC", 3);
	label[599] = '\0';
	rollcall_candidate_begin(label);
	CHECK(strlen(last_row()->text) == 254);
	label[254] = label[255] = label[256] = 'b';
	rollcall_candidate_begin(label);
	CHECK(strlen(last_row()->text) == 255);
	rollcall_candidate_begin(NULL);
	CHECK(last_row()->text[0] == '\0');
}

// How many states are kept is bounded by the open ones and the window.
IN_CHILD(a_million_candidates_take_bounded_memory)
{
	fake.keep_no_rows = true;
	uint64_t first = rollcall_candidate_begin("open for ever");
	uint64_t timed = rollcall_candidate_begin("timed long ago");
	CHECK(rollcall_candidate_end(timed, ROLLCALL_TIMED) == 0);
	uint64_t last = 0;
	for (int i = 0; i < 1000000; i++) {
		last = rollcall_candidate_begin("c");
		CHECK(rollcall_candidate_end(last, i % 3 ? ROLLCALL_TIMED : ROLLCALL_DECLINED) == 0);
	}
	CHECK(rollcall_candidate_end(timed, ROLLCALL_KEPT) == -ENOENT);
	last = rollcall_candidate_begin("c");
	CHECK(rollcall_candidate_end(last, ROLLCALL_TIMED) == 0);
	for (int i = 0; i < CENSUS_TIMED_WINDOW - 1; i++)
		CHECK(rollcall_candidate_end(rollcall_candidate_begin("c"), ROLLCALL_TIMED) == 0);
	CHECK(rollcall_candidate_end(last, ROLLCALL_KEPT) == 0);
	CHECK(rollcall_candidate_end(first, ROLLCALL_TIMED) == 0);
	long resident_pages = 0, ignored = 0;
	FILE *statm = fopen("/proc/self/statm", "r");
	CHECK(statm && fscanf(statm, "%ld %ld", &ignored, &resident_pages) == 2);
	fclose(statm);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CHECK(resident_pages * sysconf(_SC_PAGESIZE) < 16 << 20);
#endif
}

static bool is_even(uint64_t key, uint64_t value, uint64_t context)
{
	CHECK(value == key + context);
	return key % 2 == 0;
}

IN_CHILD(a_map_keeps_all_it_should_through_sweeps_and_removals)
{
	struct census_map map = {0};
	CHECK(census_map_find(&map, 1) == NULL);
	for (uint64_t key = 1; key <= 10000; key++)
		CHECK(census_map_insert(&map, key, key + 5) == 0);
	size_t before = map.capacity;
	census_map_sweep(&map, is_even, 5);
	CHECK(map.n == 5000 && map.capacity <= before);
	for (uint64_t key = 1; key <= 10000; key++) {
		uint64_t *value = census_map_find(&map, key);
		CHECK((value != NULL) == (key % 2 == 0));
		if (key % 4 == 0)
			census_map_remove(&map, key);
	}
	for (uint64_t key = 1; key <= 10000; key++)
		CHECK((census_map_find(&map, key) != NULL) == (key % 4 == 2));
	census_map_clear(&map);
	CHECK(census_map_find(&map, 2) == NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(search_fields_are_unknown_until_the_first_candidate),
		cmocka_unit_test(search_fields_are_known_from_the_first_phase_on),
		cmocka_unit_test(a_phase_without_room_for_its_name_is_said_to_be_refused),
		cmocka_unit_test(each_outcome_counts_on_its_axes),
		cmocka_unit_test(an_outcome_that_does_not_exist_is_refused_and_ends_nothing),
		cmocka_unit_test(a_candidate_ends_once),
		cmocka_unit_test(a_timed_candidate_may_be_kept_and_no_count_falls),
		cmocka_unit_test(several_candidates_are_open_at_once_and_handles_are_never_used_again),
		cmocka_unit_test(a_boundary_carries_search_census_and_devices_as_they_were_there),
		cmocka_unit_test(a_boundary_of_a_program_without_pools_leaves_the_census_unknown),
		cmocka_unit_test(a_full_boundary_slot_takes_as_many_devices_as_fit),
		cmocka_unit_test(a_boundary_without_a_slot_is_counted_all_the_same),
		cmocka_unit_test(labels_are_cut_at_255_bytes_and_not_inside_a_character),
		cmocka_unit_test(a_million_candidates_take_bounded_memory),
		cmocka_unit_test(a_map_keeps_all_it_should_through_sweeps_and_removals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
