// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Summaries of a source that is an array.

#include "../recorder/summary.h"

#include "../libtelemetry/schema.h"
#include "../libtelemetry/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RECORDS_MAX = 16, FIELDS_MAX = 256 };

struct array_source {
	struct tele_source source;
	struct tele_instance instance;
	struct tele_plan *plan;
	struct tele_strings *strings;
	struct tele_record records[RECORDS_MAX];
	uint64_t rows[RECORDS_MAX][FIELDS_MAX];
	size_t n_records, at;
};

static int next_record(struct tele_source *source, struct tele_record *ret_record,
		       struct tele_error *ret_error)
{
	struct array_source *array = (struct array_source *)source;
	(void)ret_error;
	if (array->at == array->n_records)
		return 0;
	*ret_record = array->records[array->at++];
	return 1;
}

static const struct tele_source_ops array_ops = {.next = next_record};

static int set_up(void **state)
{
	static uint8_t bytes[TELE_SCHEMA_BYTES_DEFAULT];
	struct array_source *array = calloc(1, sizeof(*array));
	array->plan = malloc(sizeof(*array->plan));
	tele_plan_init(array->plan);
	struct tele_schema_writer writer = {
		.bytes = bytes, .capacity_bytes = sizeof(bytes), .plan = array->plan};
	assert_int_equal(tele_schema_write_start(&writer, bytes, sizeof(bytes), array->plan), 0);
	assert_true(tele_schema_write_instance(&writer, TELE_SECTION_DEVICE, 3, TELE_NO_INSTANCE) > 0);
	assert_true(tele_schema_write_app(&writer, "queue", TELE_GAUGE, TELE_COUNT) > 0);
	array->source.ops = &array_ops;
	array->strings = tele_strings_new();
	array->instance.strings = array->strings;
	tele_strings_define(array->strings, 1, "explore", 7);
	tele_strings_define(array->strings, 7, "tile=8", 6);
	array->instance.schema = tele_schema_new();
	assert_int_equal(tele_schema_parse(array->instance.schema, bytes, writer.used_bytes, NULL), 0);
	assert_true(array->instance.schema->n_fields <= FIELDS_MAX);
	*state = array;
	return 0;
}

static int tear_down(void **state)
{
	struct array_source *array = *state;
	tele_schema_free(array->instance.schema);
	tele_strings_free(array->strings);
	free(array->plan);
	free(array);
	return 0;
}

// Adds a row in which everything is unknown but its time.
static uint64_t *add_row(struct array_source *array, uint64_t at_ns)
{
	size_t i = array->n_records++;
	uint64_t *row = array->rows[i];
	for (size_t f = 0; f < FIELDS_MAX; f++)
		row[f] = TELE_UNKNOWN;
	row[0] = at_ns;
	array->records[i] = (struct tele_record){
		.kind = TELE_RECORD_ROW,
		.instance = &array->instance,
		.row = row,
		.n_fields = array->instance.schema->n_fields,
	};
	return row;
}

static void add_event(struct array_source *array, uint32_t type, uint64_t string_id, uint64_t at_ns)
{
	array->records[array->n_records++] = (struct tele_record){
		.kind = TELE_RECORD_EVENT,
		.instance = &array->instance,
		.event = {.type = type, .string_id = string_id, .at_ns = at_ns},
	};
}

static void set(struct array_source *array, uint64_t *row, const char *name, uint64_t value)
{
	int64_t at = tele_schema_find(array->instance.schema, name);
	assert_true(at >= 0);
	row[at] = value;
}

static const struct rec_class *class_of(const struct rec_summary *summary, const char *name)
{
	for (size_t i = 0; i < summary->n_classes; i++)
		if (strcmp(summary->classes[i].name, name) == 0)
			return &summary->classes[i];
	fail_msg("no class %s", name);
	return NULL;
}

static void a_class_has_its_first_peak_and_last_figure(void **state)
{
	struct array_source *array = *state;
	struct rec_summaries summaries = {0};
	const uint64_t pools[] = {2, 9, 4};
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t *row = add_row(array, (i + 1) << 20);
		set(array, row, "device[3].live_working_pools", pools[i]);
		set(array, row, "census.contexts_created", 10 + i);
		set(array, row, "census.contexts_released", 3);
		set(array, row, "app.queue", 7 - i);
	}
	assert_int_equal(rec_summarise(&array->source, &summaries, NULL), 0);
	assert_int_equal(summaries.n_items, 1);
	const struct rec_class *working = class_of(&summaries.items[0], "device[3].working_pools");
	assert_int_equal(working->first, 2);
	assert_int_equal(working->peak, 9);
	assert_int_equal(working->last, 4);
	const struct rec_class *contexts = class_of(&summaries.items[0], "contexts");
	assert_int_equal(contexts->first, 7);
	assert_int_equal(contexts->last, 9);
	assert_int_equal(class_of(&summaries.items[0], "app.queue")->peak, 7);
	assert_int_equal(summaries.items[0].first_at_ns, 1 << 20);
	assert_int_equal(summaries.items[0].last_at_ns, 3 << 20);
	rec_summaries_fini(&summaries);
}

static void unknown_is_neither_zero_nor_a_peak(void **state)
{
	struct array_source *array = *state;
	struct rec_summaries summaries = {0};
	set(array, add_row(array, 1024), "census.modules_loaded", 5);
	uint64_t *row = add_row(array, 2048);
	set(array, row, "census.modules_loaded", 8);
	set(array, row, "census.modules_unloaded", 6);
	add_row(array, 3072);
	assert_int_equal(rec_summarise(&array->source, &summaries, NULL), 0);
	const struct rec_class *modules = class_of(&summaries.items[0], "modules");
	assert_int_equal(modules->first, 2);
	assert_int_equal(modules->peak, 2);
	assert_false(modules->is_last_known);
	assert_false(class_of(&summaries.items[0], "rss_bytes")->is_known);
	assert_true(summaries.items[0].n_attempted == TELE_UNKNOWN);
	rec_summaries_fini(&summaries);
}

static void timed_leaves_out_what_was_kept(void **state)
{
	struct array_source *array = *state;
	struct rec_summaries summaries = {0};
	uint64_t *row = add_row(array, 1024);
	set(array, row, "search.candidates_attempted", 12);
	set(array, row, "search.candidates_linked", 9);
	set(array, row, "search.candidates_timed", 6);
	set(array, row, "search.candidates_kept", 2);
	set(array, row, "search.candidates_declined", 3);
	add_row(array, 2048); // the search collector had nothing to say
	assert_int_equal(rec_summarise(&array->source, &summaries, NULL), 0);
	const struct rec_summary *summary = &summaries.items[0];
	assert_int_equal(summary->n_attempted, 12);
	assert_int_equal(summary->outcomes[TELE_OUTCOME_TIMED], 4);
	assert_int_equal(summary->outcomes[TELE_OUTCOME_KEPT], 2);
	assert_int_equal(summary->outcomes[TELE_OUTCOME_DECLINED], 3);
	assert_true(summary->outcomes[TELE_OUTCOME_FAILED] == TELE_UNKNOWN);
	rec_summaries_fini(&summaries);
}

static void a_phase_ends_where_the_next_begins(void **state)
{
	struct array_source *array = *state;
	struct rec_summaries summaries = {0};
	add_event(array, TELE_EVENT_CANDIDATE_BEGIN, 9, 1024);
	add_event(array, TELE_EVENT_PHASE, 1, 2048);
	add_event(array, TELE_EVENT_CANDIDATE_BEGIN, 5, 3072);
	add_event(array, TELE_EVENT_CANDIDATE_BEGIN, 6, 4096);
	add_event(array, TELE_EVENT_PHASE, 2, 5120);
	add_event(array, TELE_EVENT_CANDIDATE_END, 7, 6144);
	assert_int_equal(rec_summarise(&array->source, &summaries, NULL), 0);
	const struct rec_summary *summary = &summaries.items[0];
	assert_int_equal(summary->n_phases, 2);
	assert_int_equal(summary->phases[0].n_candidates, 2);
	assert_int_equal(summary->phases[0].end_at_ns, 5120);
	assert_int_equal(summary->phases[1].n_candidates, 0);
	assert_int_equal(summary->phases[1].end_at_ns, 6144);
	assert_string_equal(summary->phases[0].name, "explore");
	assert_string_equal(summary->phases[1].name, "");
	assert_string_equal(summary->last_candidate, "tile=8");
	assert_int_equal(summary->last_candidate_event, TELE_EVENT_CANDIDATE_END);
	rec_summaries_fini(&summaries);
}

static void observers_are_left_out(void **state)
{
	struct array_source *array = *state;
	struct rec_summaries summaries = {0};
	array->instance.identity.is_observer = true;
	add_event(array, TELE_EVENT_STATE, 0, 1024);
	assert_int_equal(rec_summarise(&array->source, &summaries, NULL), 0);
	assert_int_equal(summaries.n_items, 0);
	rec_summaries_fini(&summaries);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_class_has_its_first_peak_and_last_figure, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unknown_is_neither_zero_nor_a_peak, set_up, tear_down),
		cmocka_unit_test_setup_teardown(timed_leaves_out_what_was_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_phase_ends_where_the_next_begins, set_up, tear_down),
		cmocka_unit_test_setup_teardown(observers_are_left_out, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
