// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The parsers of import, and hostile texts through the whole of it: each ends
// with a trace that can be read or with an error, and nothing else.

#include "../recorder/check_rule.h"
#include "../recorder/import_formats.h"
#include "../recorder/import_number.h"
#include "../recorder/import_search.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void whole_numbers_are_exact_or_none(void **state)
{
	static const char *const none[] = {"",    "-1",  "+1",  " 1", "1 ",	"1.5", "1.05", ".0", "0x1",
					   "1e3", "nan", "1,0", "1_0", "18446744073709551616", "99999999999999999999"};
	uint64_t value = 7;
	(void)state;
	assert_true(rec_parse_whole("0", &value) && value == 0);
	assert_true(rec_parse_whole("007", &value) && value == 7);
	assert_true(rec_parse_whole("12.000", &value) && value == 12);
	assert_true(rec_parse_whole("18446744073709551615", &value) && value == UINT64_MAX);
	assert_true(rec_parse_whole("9007199254740993", &value) && value == 9007199254740993u);
	value = 7;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (rec_parse_whole(none[i], &value) || value != 7)
			fail_msg("'%s' is no whole number", none[i]);
}

static void seconds_are_exact_to_the_nanosecond(void **state)
{
	static const char *const none[] = {"", "-1", "nan", "inf", "1s", "1:00", "0x10", "1.2.3", "1e", "1e400", "18446744074", ".5"};
	uint64_t ns;
	(void)state;
	assert_true(rec_parse_seconds("1.000000001", &ns) && ns == 1000000001);
	assert_true(rec_parse_seconds("1785300000.123456789987", &ns) && ns == 1785300000123456789);
	assert_true(rec_parse_seconds("5.", &ns) && ns == 5000000000);
	assert_true(rec_parse_seconds("1e-05", &ns) && ns == 10000);
	assert_true(rec_parse_seconds("1.5e3", &ns) && ns == 1500000000000);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (rec_parse_seconds(none[i], &ns))
			fail_msg("'%s' is no time", none[i]);
}

static void sizes_of_a_log_are_rounded_to_bytes(void **state)
{
	uint64_t bytes;
	(void)state;
	assert_string_equal(rec_scan_bytes("11354.8 MiB) + 1", &bytes), ") + 1");
	assert_int_equal(bytes, 11906370765);
	assert_string_equal(rec_scan_bytes("9.3MiB", &bytes), "");
	assert_int_equal(bytes, 9751757);
	assert_non_null(rec_scan_bytes("0.0 B", &bytes));
	assert_int_equal(bytes, 0);
	assert_non_null(rec_scan_bytes("3 GiB", &bytes));
	assert_true(bytes == (uint64_t)3 << 30);
	assert_null(rec_scan_bytes("9 MB", &bytes));
	assert_null(rec_scan_bytes("MiB", &bytes));
	assert_null(rec_scan_bytes("18446744073709551615 TiB", &bytes));
}

#define CENSUS                                                                                                   \
	"autotune: census after F_preset[bs=256]: pools 83 live = 82 working (11354.8 MiB) + 1 constant (9.3 MiB); " \
	"83 allocated, 0 freed; peak 11364.1 MiB | contexts 86 unreleased (86 created, 0 released) | modules 5 "   \
	"live (82 loaded, 77 unloaded)"

static void a_census_line_is_read_with_and_without_its_peak(void **state)
{
	struct rec_census_line line;
	char older[400];
	(void)state;
	assert_int_equal(rec_census_parse(CENSUS, &line), 1);
	assert_string_equal(line.label, "F_preset[bs=256]");
	assert_int_equal(line.working_pools, 82);
	assert_int_equal(line.constant_pools, 1);
	assert_true(line.has_peak);
	assert_int_equal(line.contexts_created, 86);
	assert_int_equal(line.modules_loaded, 82);
	assert_int_equal(line.modules_unloaded, 77);
	const char *peak = strstr(CENSUS, "; peak");
	snprintf(older, sizeof(older), "[info] %.*s%s\n", (int)(peak - CENSUS), CENSUS, strchr(peak, '|') - 1);
	assert_int_equal(rec_census_parse(older, &line), 1);
	assert_false(line.has_peak);
	assert_int_equal(line.pools_allocated, 83);
}

static void a_duplicate_line_is_told_from_noise(void **state)
{
	struct rec_census_line line;
	(void)state;
	assert_int_equal(rec_census_parse("autotune: W_preset[bs=64]: dedup (digest 6bf339c4/84848ff5)", &line), 1);
	assert_true(line.is_dedup);
	assert_string_equal(line.label, "W_preset[bs=64]");
	assert_int_equal(rec_census_parse("autotune: W_preset[bs=64]: timed 3 ms", &line), 0);
	assert_int_equal(rec_census_parse("", &line), 0);
	assert_int_equal(rec_census_parse("autotune: : dedup (digest 0/0)", &line), 0);
}

static void a_census_line_cut_anywhere_is_damaged_and_nothing_worse(void **state)
{
	struct rec_census_line line;
	char cut[sizeof(CENSUS)];
	size_t prefix = strlen("autotune: census after ");
	(void)state;
	for (size_t len = 0; len < sizeof(CENSUS) - 1; len++) {
		memcpy(cut, CENSUS, len);
		cut[len] = '\0';
		assert_int_equal(rec_census_parse(cut, &line), len < prefix ? 0 : TELE_ESYNTAX);
	}
	for (size_t at = prefix; at < sizeof(CENSUS) - 1; at++) {
		memcpy(cut, CENSUS, sizeof(CENSUS));
		cut[at] = '\xff';
		assert_int_equal(rec_census_parse(cut, &line), TELE_ESYNTAX);
	}
}

static void candidates_are_told_apart_by_label_while_open(void **state)
{
	struct rec_search search;
	struct rec_boundary boundary;
	(void)state;
	assert_int_equal(rec_search_init(&search), 0);
	rec_search_take(&search, "a", TELE_OUTCOME_OPEN, false, &boundary);
	assert_false(boundary.is_none);
	uint64_t a = boundary.handle;
	rec_search_take(&search, "b", TELE_OUTCOME_OPEN, false, &boundary);
	assert_true(boundary.handle != a);
	rec_search_take(&search, "a", TELE_OUTCOME_OPEN, false, &boundary);
	assert_true(boundary.is_none);
	assert_int_equal(search.values.open_candidates, 2);
	rec_search_take(&search, "a", TELE_OUTCOME_KEPT, false, &boundary);
	assert_true(boundary.handle == a);
	rec_search_take(&search, "a", TELE_OUTCOME_KEPT, false, &boundary);
	assert_true(boundary.is_none);
	rec_search_take(&search, "a", TELE_OUTCOME_KEPT, true, &boundary);
	assert_false(boundary.is_none);
	assert_int_equal(search.values.candidates_attempted, 3);
	assert_int_equal(search.values.candidates_linked, 2);
	assert_int_equal(search.values.candidates_timed, 2);
	assert_int_equal(search.values.open_candidates, 1);
	for (int i = 0; i < 3 * REC_OPEN_MAX; i++) {
		char label[16];
		snprintf(label, sizeof(label), "%d", i);
		rec_search_take(&search, label, TELE_OUTCOME_OPEN, false, &boundary);
		assert_false(boundary.is_none);
	}
	assert_int_equal(search.values.open_candidates, 1 + 3 * REC_OPEN_MAX);
	rec_search_fini(&search);
}

static int text_fd(const void *text, size_t n_bytes)
{
	int fd = memfd_create("text", MFD_CLOEXEC);
	assert_true(fd >= 0 && write(fd, text, n_bytes) == (ssize_t)n_bytes && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static void lines_end_with_lf_crlf_or_the_file(void **state)
{
	static const char *const expected[] = {"a", "", "b c", "d\rd", "", "e"};
	struct rec_lines lines;
	char *line;
	size_t len;
	(void)state;
	int fd = text_fd("a\n\r\nb c\r\nd\rd\n\ne", 15);
	assert_int_equal(rec_lines_init(&lines, fd, NULL), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_int_equal(rec_lines_next(&lines, false, &line, &len, NULL), 1);
		assert_string_equal(line, expected[i]);
		assert_int_equal(len, strlen(expected[i]));
		assert_int_equal(lines.number, i + 1);
	}
	assert_int_equal(rec_lines_next(&lines, false, &line, &len, NULL), 0);
	rec_lines_fini(&lines);
	close(fd);
}

static void a_line_of_any_length_is_given_out_skipped_or_refused(void **state)
{
	size_t n_bytes = 3 * (size_t)REC_LINE_BYTES_MAX;
	char *text = malloc(n_bytes), *line;
	struct rec_lines lines;
	size_t len;
	(void)state;
	for (size_t at = REC_LINE_BYTES_MAX - 2; at <= REC_LINE_BYTES_MAX + 2; at++) {
		memset(text, 'x', n_bytes);
		text[at] = '\n';
		memcpy(text + n_bytes - 5, "\nlast", 5);
		for (int skips = 0; skips < 2; skips++) {
			int fd = text_fd(text, n_bytes);
			assert_int_equal(rec_lines_init(&lines, fd, NULL), 0);
			int got = rec_lines_next(&lines, skips, &line, &len, NULL);
			if (at <= REC_LINE_BYTES_MAX)
				assert_true(got == 1 && len == at);
			else
				assert_true(got == (skips ? 1 : TELE_ESYNTAX) || (got == 1 && len == at));
			if (skips) {
				assert_int_equal(rec_lines_next(&lines, true, &line, &len, NULL), 1);
				assert_int_equal(len, 0);
				assert_int_equal(rec_lines_next(&lines, true, &line, &len, NULL), 1);
				assert_string_equal(line, "last");
				assert_int_equal(lines.number, 3);
			}
			rec_lines_fini(&lines);
			close(fd);
		}
	}
	free(text);
}

static int import_text(const void *text, size_t n_bytes, enum rec_import_format format)
{
	struct rec_import_result result;
	struct tele_trace_writer *writer;
	struct tele_error error = {0};
	int fd = text_fd(text, n_bytes);
	assert_int_equal(tele_trace_create("/dev/null", false, &writer, NULL), 0);
	int got = rec_import_stream(fd, "text", format, writer, &result, &error);
	if (got < 0)
		assert_true(error.text[0] && !strchr(error.text, '\n'));
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	close(fd);
	return got;
}

static void every_change_of_a_table_is_a_table_or_an_error(void **state)
{
	static const char table[] = "time_s,candidate,outcome,phase,census.live_working_pools,device[1].name,app.q\n"
				    "0.5,\"a,1\",,A,3,\"x\"\"y\",\n1.5,\"a,1\",timed,B,4,z,9\n";
	static const char bytes[] = {'\0', '\n', ',', '"', '9', '-', '\x1b', '\xff', '['};
	char changed[sizeof(table)];
	(void)state;
	assert_int_equal(import_text(table, sizeof(table) - 1, REC_IMPORT_CSV), 0);
	for (size_t at = 0; at < sizeof(table) - 1; at++) {
		(void)import_text(table, at, REC_IMPORT_CSV);
		for (size_t k = 0; k < sizeof(bytes); k++) {
			memcpy(changed, table, sizeof(table));
			changed[at] = bytes[k];
			(void)import_text(changed, sizeof(table) - 1, REC_IMPORT_CSV);
		}
	}
}

static void rules_are_of_one_form(void **state)
{
	static const char *const bad[] = {"", "a", "a<=", "<=1/s", "a<=1", "a<=x/s", "a<=1/", "a<=1/x", "a<=-1/s", "a<1/s",
					  "a<=1MB/s", "a<=1e3/s", "a<=1 MiB/s", "a<=0x1/s", "a<=nan/s"};
	struct rec_rule rule;
	struct tele_error error;
	(void)state;
	assert_int_equal(rec_rule_parse(REC_RULE_MAX_GROWTH, "working_bytes<=1.5MiB/linked", &rule, &error), 0);
	assert_string_equal(rule.name, "working_bytes");
	assert_int_equal(rule.axis, ANALYSIS_LINKED);
	assert_true(rule.limit == 1.5 * 1048576 && rule.has_unit);
	assert_int_equal(rec_rule_parse(REC_RULE_MAX_GROWTH, "rss_bytes<=0/s", &rule, &error), 0);
	assert_int_equal(rule.axis, ANALYSIS_TIME);
	assert_false(rule.has_unit);
	assert_int_equal(rec_rule_parse(REC_RULE_MAX, "device[1].used_bytes<=12227MiB", &rule, &error), 0);
	assert_int_equal(rule.limit_value, (uint64_t)12227 << 20);
	assert_int_equal(rec_rule_parse(REC_RULE_MAX, "app.x<=18446744073709551614", &rule, &error), 0);
	assert_true(rule.limit_value == UINT64_MAX - 1);
	assert_int_equal(rec_rule_parse(REC_RULE_MAX, "app.x<=99999999999999999999TiB", &rule, &error), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (rec_rule_parse(REC_RULE_MAX_GROWTH, bad[i], &rule, &error) != TELE_ESYNTAX)
			fail_msg("'%s' is no rule", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_exact_or_none),
		cmocka_unit_test(seconds_are_exact_to_the_nanosecond),
		cmocka_unit_test(sizes_of_a_log_are_rounded_to_bytes),
		cmocka_unit_test(a_census_line_is_read_with_and_without_its_peak),
		cmocka_unit_test(a_duplicate_line_is_told_from_noise),
		cmocka_unit_test(a_census_line_cut_anywhere_is_damaged_and_nothing_worse),
		cmocka_unit_test(candidates_are_told_apart_by_label_while_open),
		cmocka_unit_test(lines_end_with_lf_crlf_or_the_file),
		cmocka_unit_test(a_line_of_any_length_is_given_out_skipped_or_refused),
		cmocka_unit_test(every_change_of_a_table_is_a_table_or_an_error),
		cmocka_unit_test(rules_are_of_one_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
