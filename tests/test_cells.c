// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Cells: clipping, wide and combining characters, hostile text, bars, and the
// one filter that all foreign text goes through.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../monitor/cells.h"
#include "../monitor/format.h"
#include "../monitor/text.h"
#include "../monitor/utf8.h"

static struct mon_grid grid;

static void fresh(int width, int height, bool is_ascii)
{
	assert_int_equal(mon_grid_reset(&grid, width, height, is_ascii), 0);
}

static void assert_shows(const char *expected)
{
	struct mon_out out = {0};
	mon_text_write(&grid, &out);
	assert_string_equal(out.bytes ? out.bytes : "", expected);
	mon_out_fini(&out);
}

static void text_is_clipped_at_every_edge(void **state)
{
	(void)state;
	fresh(5, 2, false);
	mon_draw_text(&grid, -2, 0, 10, MON_NORMAL, "abcdef");
	mon_draw_text(&grid, 3, 1, 10, MON_NORMAL, "xyz");
	mon_draw_text(&grid, 0, 2, 10, MON_NORMAL, "below");
	mon_draw_text(&grid, 0, -1, 10, MON_NORMAL, "above");
	mon_draw_text(&grid, 9, 0, 10, MON_NORMAL, "beyond");
	assert_shows("cdef\n   xy\n");
}

static void text_that_is_cut_says_so(void **state)
{
	(void)state;
	fresh(10, 1, false);
	assert_int_equal(mon_draw_text(&grid, 0, 0, 4, MON_NORMAL, "abcdef"), 4);
	assert_shows("abc…\n");
	fresh(10, 1, true);
	mon_draw_text(&grid, 0, 0, 4, MON_NORMAL, "abcdef");
	assert_shows("abc~\n");
	fresh(10, 1, false);
	mon_draw_text(&grid, 0, 0, 4, MON_NORMAL, "abcd");
	assert_shows("abcd\n");
}

static void a_wide_character_takes_two_cells_and_is_never_halved(void **state)
{
	(void)state;
	fresh(6, 1, false);
	assert_int_equal(mon_draw_text(&grid, 0, 0, 6, MON_NORMAL, "日本語"), 6);
	assert_int_equal(mon_grid_at(&grid, 1, 0)->ch, 0);
	assert_shows("日本語\n");
	mon_draw_text(&grid, 1, 0, 1, MON_NORMAL, "x");
	assert_shows(" x本語\n");
	fresh(5, 1, false);
	mon_draw_text(&grid, 0, 0, 9, MON_NORMAL, "日本語");
	assert_shows("日本\n");
	fresh(6, 1, false);
	assert_int_equal(mon_draw_text(&grid, 0, 0, 4, MON_NORMAL, "日本語"), 3);
	assert_shows("日…\n");
}

static void a_combining_mark_joins_the_character_before_it(void **state)
{
	(void)state;
	fresh(4, 1, false);
	assert_int_equal(mon_draw_text(&grid, 0, 0, 4, MON_NORMAL, "e\xcc\x81x"), 2);
	assert_int_equal(mon_grid_at(&grid, 0, 0)->mark, 0x301);
	assert_shows("e\xcc\x81x\n");
	// A second mark is dropped, a mark without a character too.
	fresh(4, 1, false);
	mon_draw_text(&grid, 0, 0, 4, MON_NORMAL,
		      "\xcc\x81"
		      "e\xcc\x81\xcc\x82");
	assert_shows("e\xcc\x81\n");
}

static void hostile_text_becomes_question_marks(void **state)
{
	char clean[64];
	(void)state;
	assert_string_equal(mon_text_clean("a\x1b[31mb", false, clean, sizeof(clean)), "a?[31mb");
	assert_string_equal(mon_text_clean("tab\tnl\ncr\r\x7f", false, clean, sizeof(clean)),
			    "tab?nl?cr??");
	assert_string_equal(mon_text_clean("\xc2\x9b", false, clean, sizeof(clean)), "?");
	assert_string_equal(
		mon_text_clean("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b", false, clean, sizeof(clean)),
		"???");
	assert_string_equal(mon_text_clean("\xff\xc0\xaf\xed\xa0\x80", false, clean, sizeof(clean)),
			    "??????");
	assert_string_equal(mon_text_clean("λ日", true, clean, sizeof(clean)), "??");
	assert_string_equal(mon_text_clean("λ日", false, clean, sizeof(clean)), "λ日");
	assert_string_equal(mon_text_clean("λ日x", false, clean, 5), "λ");
	assert_string_equal(mon_text_clean("\xe6\x97", false, clean, sizeof(clean)), "??");
}

static void any_bytes_come_out_as_valid_clean_text(void **state)
{
	unsigned seed = 1;
	(void)state;
	for (int round = 0; round < 20000; round++) {
		char bytes[24], clean[40], again[40];
		for (size_t i = 0; i < sizeof(bytes) - 1; i++)
			bytes[i] = (char)(rand_r(&seed) % 255 + 1);
		bytes[sizeof(bytes) - 1] = '\0';
		mon_text_clean(bytes, false, clean, sizeof(clean));
		mon_text_clean(clean, false, again, sizeof(again));
		assert_string_equal(clean, again);
		const char *rest = clean;
		for (uint32_t ch = mon_utf8_next(&rest); ch; ch = mon_utf8_next(&rest))
			assert_true(mon_char_is_safe(ch));
		fresh(10, 1, false);
		mon_draw_text(&grid, 0, 0, 10, MON_NORMAL, bytes);
	}
}

static void every_character_is_written_as_it_is_read(void **state)
{
	(void)state;
	for (uint32_t ch = 1; ch <= 0x10ffff; ch++) {
		char bytes[MON_CHAR_BYTES_MAX + 1] = {0};
		const char *rest = bytes;
		if (ch >= 0xd800 && ch <= 0xdfff)
			continue;
		mon_utf8_put(ch, bytes);
		assert_int_equal(mon_utf8_next(&rest), ch);
	}
}

static void bars_fill_in_eighths(void **state)
{
	(void)state;
	fresh(4, 1, false);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, true, 50, 100);
	assert_shows("██\n");
	fresh(4, 1, false);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, true, 19, 32);
	assert_shows("██▍\n");
	fresh(4, 1, false);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, true, 1, UINT64_MAX - 1);
	assert_shows("▏\n");
	fresh(4, 1, false);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, true, UINT64_MAX - 1, 3);
	assert_shows("████\n");
	fresh(4, 1, false);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, false, 50, 100);
	assert_shows("░░\n");
	fresh(4, 1, true);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, true, 50, 100);
	assert_shows("##\n");
	fresh(4, 1, true);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, false, 50, 100);
	assert_shows("..\n");
}

static void unknown_and_empty_bars_are_not_drawn(void **state)
{
	(void)state;
	fresh(4, 1, false);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, true, TELE_UNKNOWN, 100);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, true, 5, TELE_UNKNOWN);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, true, 5, 0);
	mon_draw_bar(&grid, 0, 0, 4, MON_ACCENT, true, 0, 5);
	assert_shows("");
}

static void sizes_keep_their_width(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{0, "0B"},
		{1023, "1023B"},
		{1024, "1.00K"},
		{10239, "10.0K"},
		{1048575, "1.00M"},
		{(UINT64_C(1) << 30) * 12 - 1, "12.0G"},
		{UINT64_MAX - 1, "16.0E"},
		{TELE_UNKNOWN, "n/a"},
	};
	char text[MON_NUMBER_BYTES];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
			mon_format_bytes(cases[i].bytes, MON_UNITS_IEC, text, sizeof(text)),
			cases[i].text);
	for (uint64_t bytes = 1; bytes < UINT64_MAX / 3; bytes = bytes * 2 + bytes / 7 + 1) {
		assert_true(strlen(mon_format_bytes(bytes, MON_UNITS_IEC, text, sizeof(text))) <=
			    7);
		assert_true(strlen(mon_format_bytes(bytes, MON_UNITS_SI, text, sizeof(text))) <= 7);
		assert_true(strlen(mon_format_count(bytes, text, sizeof(text))) <= 6);
	}
	assert_string_equal(mon_format_size(1536, MON_UNITS_IEC, text, sizeof(text)), "1.50K");
	assert_string_equal(mon_format_size(-1, MON_UNITS_IEC, text, sizeof(text)), "0B");
	assert_string_equal(mon_format_size(1e30, MON_UNITS_IEC, text, sizeof(text)), "16.0E");
	assert_string_equal(mon_format_seconds(61.5, text, sizeof(text)), "1m01s");
	assert_string_equal(mon_format_seconds(1e300, text, sizeof(text)), "213503d23h");
	assert_string_equal(mon_format_bytes(1500, MON_UNITS_SI, text, sizeof(text)), "1.50K");
	assert_string_equal(mon_format_bytes(1500, MON_UNITS_PLAIN, text, sizeof(text)), "1500");
}

static void durations_and_rates_read_well(void **state)
{
	const uint64_t s = 1000000000;
	char text[MON_NUMBER_BYTES];
	(void)state;
	assert_string_equal(mon_format_duration(58 * s, text, sizeof(text)), "58s");
	assert_string_equal(mon_format_elapsed(0, text, sizeof(text)), "0ns");
	assert_string_equal(mon_format_elapsed(370751, text, sizeof(text)), "371us");
	assert_string_equal(mon_format_elapsed(1652010, text, sizeof(text)), "1.65ms");
	assert_string_equal(mon_format_elapsed(999499999, text, sizeof(text)), "999ms");
	assert_string_equal(mon_format_elapsed(999500000, text, sizeof(text)), "1.00s");
	assert_string_equal(mon_format_elapsed(59900 * s / 1000, text, sizeof(text)), "59.9s");
	assert_string_equal(mon_format_elapsed(131 * s, text, sizeof(text)), "2m11s");
	assert_string_equal(mon_format_elapsed(TELE_UNKNOWN, text, sizeof(text)), "n/a");
	assert_string_equal(mon_format_duration(131 * s, text, sizeof(text)), "2m11s");
	assert_string_equal(mon_format_duration(10920 * s, text, sizeof(text)), "3h02m");
	assert_string_equal(mon_format_duration(4 * 86400 * s, text, sizeof(text)), "4d00h");
	assert_string_equal(mon_format_rate(2.1, text, sizeof(text)), "2.1/s");
	assert_string_equal(mon_format_rate(0.2, text, sizeof(text)), "12.0/min");
	assert_string_equal(mon_format_rate(-1, text, sizeof(text)), "n/a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_clipped_at_every_edge),
		cmocka_unit_test(text_that_is_cut_says_so),
		cmocka_unit_test(a_wide_character_takes_two_cells_and_is_never_halved),
		cmocka_unit_test(a_combining_mark_joins_the_character_before_it),
		cmocka_unit_test(hostile_text_becomes_question_marks),
		cmocka_unit_test(any_bytes_come_out_as_valid_clean_text),
		cmocka_unit_test(every_character_is_written_as_it_is_read),
		cmocka_unit_test(bars_fill_in_eighths),
		cmocka_unit_test(unknown_and_empty_bars_are_not_drawn),
		cmocka_unit_test(sizes_keep_their_width),
		cmocka_unit_test(durations_and_rates_read_well),
	};
	setlocale(LC_CTYPE, "C.UTF-8");
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	mon_grid_fini(&grid);
	return failed;
}
