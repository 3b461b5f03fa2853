// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// JSON: escapes of any bytes, exact integers, null for unknown, and the keys of
// the contract in one literal object.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "../monitor/json.h"
#include "support/mon_fixture.h"

static void assert_string(const char *text, const char *expected)
{
	struct mon_out out = {0};
	mon_json_string(&out, text);
	assert_string_equal(out.bytes, expected);
	mon_out_fini(&out);
}

static void any_bytes_make_a_valid_string(void **state)
{
	(void)state;
	assert_string("plain", "\"plain\"");
	assert_string("", "\"\"");
	assert_string(NULL, "null");
	assert_string("a\"b\\c", "\"a\\\"b\\\\c\"");
	assert_string("\x01\x1b\n\x7f", "\"\\u0001\\u001b\\u000a\\u007f\"");
	assert_string("\xc2\x9b", "\"\\u009b\"");
	assert_string("\xe2\x80\xae", "\"\\u202e\"");
	assert_string("\xff\xc0\xaf", "\"\\ufffd\\ufffd\\ufffd\"");
	assert_string("λ日😀", "\"λ日😀\"");
	assert_string("\xf3\xa0\x81\x81", "\"\\udb40\\udc41\""); // a tag character
}

static void integers_are_exact_and_unknown_is_null(void **state)
{
	struct mon_out out = {0};
	(void)state;
	mon_json_u64(&out, UINT64_MAX - 1);
	mon_out_text(&out, " ");
	mon_json_u64(&out, UINT64_C(9007199254740993));
	mon_out_text(&out, " ");
	mon_json_u64(&out, TELE_UNKNOWN);
	assert_string_equal(out.bytes, "18446744073709551614 9007199254740993 null");
	mon_out_fini(&out);
}

static void no_process_is_an_empty_array(void **state)
{
	struct mon_model model;
	struct mon_out out = {0};
	(void)state;
	mon_model_init(&model, MON_HISTORY_SHORT);
	mon_json_write(&out, &model, NULL);
	assert_string_equal(out.bytes, "[]\n");
	mon_out_fini(&out);
	mon_model_fini(&model);
}

static void assert_holds(const struct mon_out *out, const char *part)
{
	if (!strstr(out->bytes, part))
		fail_msg("%s is not in %s", part, out->bytes);
}

static void a_process_has_the_keys_of_the_contract(void **state)
{
	struct mon_model model;
	struct mon_out out = {0};
	(void)state;
	mon_model_init(&model, MON_HISTORY_SHORT);
	struct fixture *fixture = fixture_search(&model, 4711, 82);
	mon_model_settle(&model);
	mon_json_write(&out, &model, NULL);
	assert_holds(&out, "[{\"pid\":4711,\"start_ticks\":81711,\"label\":\"tune gpt2_mini\","
			   "\"state\":\"live\",\"captured_at_ns\":86016000000,\"lost\":0,"
			   "\"fields\":{\"self.captured_at_ns\":86016000000,");
	assert_holds(&out, "\"census.live_working_pools\":82,");
	assert_holds(&out, "\"device[0].name\":\"Tile 5070 Ti\",\"device[0].uuid\":null");
	assert_holds(&out, "\"search.phase\":\"B\"");
	assert_holds(&out, "\"heap.mallocs\":null,");
	assert_holds(&out, "\"app.queue_depth\":12}");
	assert_holds(&out, "\"derived\":{\"balanced\":true,\"unexplained_bytes\":0,"
			   "\"predicted_resident_bytes\":871576370,");
	assert_holds(&out, "\"residual_untouched_bytes\":-6291456,");
	assert_holds(&out, "\"live_pools\":83,\"live_pool_bytes\":8780041664,\"live_modules\":3,"
			   "\"unreleased_contexts\":86,\"residual_huge_bytes\":null,\"unattributed_bytes\":null,\"overhead_bytes\":null,\"foreign_bytes\":null}");
	assert_holds(&out, "\"candidates\":{\"open\":1,\"declined\":82,\"link_failed\":13,"
			   "\"non_dispatchable\":0,\"deduplicated\":0,\"failed\":0,\"timed\":61,"
			   "\"kept\":8,\"phase\":\"B\"},\"verdicts\":[{\"class\":\"working_pools\",\"axis\":\"linked\","
			   "\"shape\":\"growing\",\"slope\":");
	assert_holds(&out, ",\"unit\":\"count\",\"points\":");
	assert_holds(&out, ",\"by_outcome\":{\"declined\":");
	assert_holds(&out, "\"forecast_candidates\":3");
	assert_holds(&out, "\"sentence\":\"working pools grow so far: +1.00 per linked candidate, +102 MiB each (95 %: ");
	assert_holds(&out, "\"is_headline\":true,\"is_so_far\":true,\"blame\":");
	mon_out_fini(&out);
	mon_model_fini(&model);
	fixture_free(fixture);
}

static void a_process_before_its_first_row_is_all_null(void **state)
{
	struct mon_model model;
	struct mon_out out = {0};
	(void)state;
	mon_model_init(&model, MON_HISTORY_SHORT);
	struct fixture *fixture = fixture_new(5, "new\x1b[0m");
	fixture_tell(&model, fixture);
	mon_model_settle(&model);
	mon_json_write(&out, &model, NULL);
	assert_holds(&out, "\"label\":\"new\\u001b[0m\"");
	assert_holds(&out, "\"captured_at_ns\":null");
	assert_holds(&out, "\"heap.live_bytes\":null");
	assert_holds(&out, "\"balanced\":null,\"unexplained_bytes\":null,"
			   "\"predicted_resident_bytes\":null");
	assert_holds(&out, "\"live_pools\":null");
	mon_out_fini(&out);
	mon_model_fini(&model);
	fixture_free(fixture);
}

static void select_picks_and_unreadable_segments_come_last(void **state)
{
	struct mon_model model;
	struct mon_out out = {0};
	(void)state;
	mon_model_init(&model, MON_HISTORY_SHORT);
	struct fixture *a = fixture_new(5, "one"), *b = fixture_new(6, "two");
	fixture_tell(&model, a);
	fixture_tell(&model, b);
	mon_model_add_unreadable(&model, "/dev/shm/x.rcs", "not a Rollcall file");
	mon_model_settle(&model);
	mon_json_write(&out, &model, "two");
	assert_null(strstr(out.bytes, "\"pid\":5,"));
	assert_non_null(strstr(out.bytes, "\"pid\":6,"));
	out.n_bytes = 0;
	mon_json_write(&out, &model, NULL);
	assert_holds(&out, "\"state\":\"unreadable\"");
	assert_holds(&out, "\"path\":\"/dev/shm/x.rcs\",\"error\":\"not a Rollcall file\"}]\n");
	mon_out_fini(&out);
	mon_model_fini(&model);
	fixture_free(a);
	fixture_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_bytes_make_a_valid_string),
		cmocka_unit_test(integers_are_exact_and_unknown_is_null),
		cmocka_unit_test(no_process_is_an_empty_array),
		cmocka_unit_test(a_process_has_the_keys_of_the_contract),
		cmocka_unit_test(a_process_before_its_first_row_is_all_null),
		cmocka_unit_test(select_picks_and_unreadable_segments_come_last),
	};
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
