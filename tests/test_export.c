// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Parts of exports: patterns, numbers as text, the spill, names of metrics, and
// the page of `serve` with more processes than it shows.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../recorder/export_format.h"
#include "../recorder/page.h"
#include "support/folder.h"
#include "support/mon_fixture.h"

static bool matches(const char *pattern, const char *text)
{
	return rec_pattern_match(pattern, strlen(pattern), text);
}

static void patterns_have_stars_and_question_marks(void **state)
{
	(void)state;
	assert_true(matches("heap.*", "heap.live_bytes"));
	assert_true(matches("*", ""));
	assert_true(matches("", ""));
	assert_true(matches("*bytes", "heap.live_bytes"));
	assert_true(matches("*live*", "census.live_pools"));
	assert_true(matches("device[?].*", "device[0].name"));
	assert_true(matches("a*b*c", "aXbXbXc"));
	assert_false(matches("a*b*c", "aXbXbX"));
	assert_false(matches("heap", "heap.live_bytes"));
	assert_false(matches("?", ""));
	assert_false(matches("device[?].*", "device[10].name"));
	assert_true(rec_pattern_match("heap.*,x", 6, "heap.live_bytes"));
}

static void numbers_are_exact(void **state)
{
	struct rec_outfile out;
	char text[400] = "";
	int ends[2];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(rec_outfile_open_fd(&out, ends[1], "-", NULL), 0);
	rec_outfile_u64(&out, 0);
	rec_outfile_text(&out, " ");
	rec_outfile_u64(&out, UINT64_MAX);
	rec_outfile_text(&out, " ");
	rec_outfile_i64(&out, INT64_MIN);
	rec_outfile_text(&out, " ");
	rec_outfile_decimal(&out, 0, 9);
	rec_outfile_text(&out, " ");
	rec_outfile_decimal(&out, 1, 9);
	rec_outfile_text(&out, " ");
	rec_outfile_decimal(&out, UINT64_C(1500000000), 9);
	rec_outfile_text(&out, " ");
	rec_outfile_decimal(&out, UINT64_MAX, 9);
	rec_outfile_text(&out, " ");
	rec_outfile_decimal(&out, 120, 3);
	assert_int_equal(rec_outfile_flush(&out, NULL), 0);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "0 18446744073709551615 -9223372036854775808 0 0.000000001 1.5 18446744073.709551615 0.12");
	assert_int_equal(rec_outfile_close(&out, false, NULL), 0);
	close(ends[0]);
	close(ends[1]);
}

static void a_file_appears_when_it_is_whole(void **state)
{
	char folder[TEST_FOLDER_BYTES], path[TEST_PATH_BYTES];
	struct rec_outfile out;
	struct stat status;
	(void)state;
	assert_true(test_folder_make(NULL, folder));
	snprintf(path, sizeof(path), "%s/out", folder);
	assert_int_equal(rec_outfile_open(&out, path, NULL, false, NULL), 0);
	rec_outfile_text(&out, "half");
	assert_int_equal(stat(path, &status), -1);
	assert_int_equal(rec_outfile_close(&out, false, NULL), 0);
	assert_int_equal(stat(path, &status), -1);
	assert_int_equal(rec_outfile_open(&out, path, NULL, false, NULL), 0);
	rec_outfile_text(&out, "whole");
	assert_int_equal(rec_outfile_close(&out, true, NULL), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 5);
	assert_int_equal(rec_outfile_open(&out, path, NULL, false, NULL), -EEXIST);
	assert_int_equal(rec_outfile_open(&out, path, NULL, true, NULL), 0);
	assert_int_equal(rec_outfile_close(&out, false, NULL), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(test_folder_remove(folder), 0);
}

// ---- The spill --------------------------------------------------------------------

struct read_back {
	uint64_t next, step;
	size_t n_bytes;
};

static int take(void *context, const uint8_t *bytes, size_t n_bytes)
{
	struct read_back *back = context;
	assert_int_equal(n_bytes % sizeof(uint64_t), 0);
	for (size_t at = 0; at < n_bytes; at += sizeof(uint64_t)) {
		uint64_t value;
		memcpy(&value, bytes + at, sizeof(value));
		assert_int_equal(value, back->next);
		back->next += back->step;
	}
	back->n_bytes += n_bytes;
	return 0;
}

static int refuse(void *context, const uint8_t *bytes, size_t n_bytes)
{
	(void)context;
	(void)bytes;
	(void)n_bytes;
	return -EIO;
}

static void streams_that_grow_together_come_back_apart(void **state)
{
	enum { STREAMS = 7, ROUNDS = 30000 };
	struct rec_stream streams[STREAMS] = {0};
	struct rec_spill *spill = rec_spill_new();
	(void)state;
	for (uint64_t k = 0; k < ROUNDS; k++)
		for (uint64_t i = 1; i < STREAMS; i++) {
			uint64_t value = k * i;
			if (k % i == 0)
				assert_int_equal(rec_spill_put(spill, &streams[i], &value, sizeof(value), NULL), 0);
		}
	for (int again = 0; again < 2; again++)
		for (uint64_t i = 0; i < STREAMS; i++) {
			struct read_back back = {.step = i * i};
			assert_int_equal(rec_spill_read(spill, &streams[i], take, &back, NULL), 0);
			assert_int_equal(back.n_bytes, i ? (ROUNDS + i - 1) / i * sizeof(uint64_t) : 0);
		}
	assert_int_equal(rec_spill_read(spill, &streams[1], refuse, NULL, NULL), -EIO);
	for (int i = 0; i < STREAMS; i++)
		rec_stream_fini(&streams[i]);
	rec_spill_free(spill);
	rec_spill_free(NULL);
}

static void a_spill_without_a_folder_says_so(void **state)
{
	struct rec_stream stream = {0};
	struct rec_spill *spill = rec_spill_new();
	struct tele_error error = {0};
	uint8_t bytes[4096] = {0};
	int result = 0;
	(void)state;
	char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
	setenv("TMPDIR", "/nonexistent", 1);
	for (int i = 0; i < 10 && result == 0; i++)
		result = rec_spill_put(spill, &stream, bytes, sizeof(bytes), &error);
	if (before)
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	free(before);
	assert_int_equal(result, -ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent"));
	rec_stream_fini(&stream);
	rec_spill_free(spill);
}

// ---- Metrics ----------------------------------------------------------------------

static void assert_metric(const char *section, const char *name, unsigned kind, unsigned unit, const char *expected,
			  enum rec_metric_type type)
{
	struct rec_metric metric;
	const struct tele_field field = {
		.section = section, .name = name, .help = "", .instance = TELE_NO_INSTANCE, .kind = (uint8_t)kind, .unit = (uint8_t)unit,
	};
	assert_true(rec_metric_of_field(&field, &metric));
	assert_string_equal(metric.name, expected);
	assert_int_equal(metric.type, type);
	assert_true(metric.help[0]);
}

static void names_are_in_base_units(void **state)
{
	(void)state;
	assert_metric("heap", "live_bytes", TELE_GAUGE, TELE_BYTES, "rollcall_heap_live_bytes", REC_METRIC_GAUGE);
	assert_metric("heap", "mallocs", TELE_COUNTER, TELE_COUNT, "rollcall_heap_mallocs", REC_METRIC_COUNTER);
	assert_metric("self", "publish_ns", TELE_COUNTER, TELE_NS, "rollcall_self_publish_seconds", REC_METRIC_COUNTER);
	assert_metric("host", "smaps_captured_at_ns", TELE_TIMESTAMP, TELE_TIME_NS,
		      "rollcall_host_smaps_captured_timestamp_seconds", REC_METRIC_GAUGE);
	assert_metric("search", "phase", TELE_STATE, TELE_STRING, "rollcall_search_phase", REC_METRIC_INFO);
	assert_metric("heap", "large_count", TELE_GAUGE, TELE_COUNT, "rollcall_heap_large", REC_METRIC_GAUGE);
	assert_metric("census", "contexts_created", TELE_COUNTER, TELE_COUNT, "rollcall_census_contexts_created", REC_METRIC_COUNTER);
	assert_metric("app", "queue", TELE_GAUGE, TELE_BYTES, "rollcall_app_queue_bytes", REC_METRIC_GAUGE);
	assert_metric("app", "x.total", TELE_COUNTER, TELE_COUNT, "rollcall_app_x", REC_METRIC_COUNTER);
	assert_metric("app", "a_sum", TELE_GAUGE, TELE_COUNT, "rollcall_app_a_sum_value", REC_METRIC_GAUGE);
	assert_metric("app", "\xff\"{}", TELE_GAUGE, TELE_COUNT, "rollcall_app_____", REC_METRIC_GAUGE);
	char longest[600];
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	struct rec_metric metric;
	const struct tele_field field = {.section = "app", .name = longest, .help = "h", .kind = TELE_COUNTER, .unit = TELE_TIME_NS};
	assert_true(rec_metric_of_field(&field, &metric));
	assert_true(strlen(metric.name) < REC_METRIC_NAME_MAX - 8);
	const struct tele_field retired = {.section = "a", .name = "b", .help = "h", .kind = TELE_RETIRED};
	assert_false(rec_metric_of_field(&retired, &metric));
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;
	for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
		n++;
	return n;
}

static void a_page_is_bounded_and_says_what_it_leaves_out(void **state)
{
	enum { PROCESSES = REC_PAGE_PROCESSES_MAX + 40 };
	struct fixture *fixtures[PROCESSES];
	struct mon_model model;
	struct mon_out out = {0};
	(void)state;
	mon_model_init(&model, MON_HISTORY_SHORT);
	for (uint64_t i = 0; i < PROCESSES; i++) {
		char label[32];
		snprintf(label, sizeof(label), "p%llu", (unsigned long long)i);
		fixtures[i] = fixture_new(1000 + i, label);
		fixture_tell(&model, fixtures[i]);
		fixture_set(fixtures[i], "host.rss_bytes", 4096 * i);
		fixture_row(&model, fixtures[i], 5 * FIXTURE_S);
		if (i < 50)
			fixture_state(&model, fixtures[i], TELE_KILLED);
	}
	mon_model_settle(&model);
	struct rec_page_options options = {REC_METRICS_OPENMETRICS, 6 * FIXTURE_S, 100 * FIXTURE_S};
	rec_page_write(&out, &model, &options);
	assert_int_equal(mon_out_status(&out), 0);
	assert_int_equal(count(out.bytes, "\nrollcall_up{"), REC_PAGE_PROCESSES_MAX);
	assert_int_equal(count(out.bytes, "\nrollcall_host_rss_bytes{"), REC_PAGE_PROCESSES_MAX);
	assert_int_equal(count(out.bytes, "# TYPE rollcall_host_rss_bytes gauge\n"), 1);
	assert_int_equal(count(out.bytes, "rollcall_host_pss_bytes"), 0);
	assert_non_null(strstr(out.bytes, "\nrollcall_processes_left_out 40\n"));
	// Those that are alive come first.
	assert_int_equal(count(out.bytes, "state=\"live\"") + count(out.bytes, "state=\"starting\""), PROCESSES - 50);
	assert_string_equal(out.bytes + out.n_bytes - 6, "# EOF\n");
	assert_int_equal(rec_page_count(&model, &options), REC_PAGE_PROCESSES_MAX);
	mon_out_fini(&out);
	// The dead are forgotten after a while.
	options.now_ns = 200 * FIXTURE_S;
	options.syntax = REC_METRICS_PROMETHEUS;
	rec_page_write(&out, &model, &options);
	assert_int_equal(count(out.bytes, "\nrollcall_up{"), PROCESSES - 50);
	assert_non_null(strstr(out.bytes, "\nrollcall_processes_left_out 0\n"));
	assert_int_equal(count(out.bytes, "# EOF") + count(out.bytes, "# UNIT"), 0);
	mon_out_fini(&out);
	mon_model_fini(&model);
	for (int i = 0; i < PROCESSES; i++)
		fixture_free(fixtures[i]);
}

static void what_a_leaking_search_does_is_on_the_page(void **state)
{
	struct mon_model model;
	struct mon_out out = {0};
	(void)state;
	mon_model_init(&model, MON_HISTORY_FULL);
	struct fixture *fixture = fixture_search(&model, 4711, 60);
	mon_model_settle(&model);
	const struct rec_page_options options = {REC_METRICS_OPENMETRICS, model.now_ns, FIXTURE_S};
	rec_page_write(&out, &model, &options);
	assert_non_null(strstr(out.bytes, "class=\"working_pools\",axis=\"linked\",shape=\"growing\"} 1\n"));
	assert_non_null(strstr(out.bytes, "\nrollcall_verdict_slope{pid=\"4711\""));
	assert_non_null(strstr(out.bytes, "\nrollcall_device_used_bytes{pid=\"4711\""));
	assert_non_null(strstr(out.bytes, ",device=\"0\"} "));
	mon_out_fini(&out);
	mon_model_fini(&model);
	fixture_free(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_have_stars_and_question_marks),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(a_file_appears_when_it_is_whole),
		cmocka_unit_test(streams_that_grow_together_come_back_apart),
		cmocka_unit_test(a_spill_without_a_folder_says_so),
		cmocka_unit_test(names_are_in_base_units),
		cmocka_unit_test(a_page_is_bounded_and_says_what_it_leaves_out),
		cmocka_unit_test(what_a_leaking_search_does_is_on_the_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
