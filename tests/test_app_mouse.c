// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What clicks do, and what is typed: filter, user, interval, search.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "support/app_fixture.h"

static void a_click_selects_a_row_and_opens_the_selected_one(void **state)
{
	(void)state;
	click(20, 4);
	assert_int_equal(app.view.selected, id_of(2));
	assert_int_equal(app.view.opened, 0);
	click(20, 4);
	assert_int_equal(app.view.opened, id_of(2));
}

static void a_click_on_a_title_sorts_and_another_inverts(void **state)
{
	(void)state;
	click(11, 1);
	assert_int_equal(app.view.sort, MON_COLUMN_LABEL);
	assert_false(app.view.is_inverted);
	click(11, 1);
	assert_true(app.view.is_inverted);
	click(5, 1);
	assert_int_equal(app.view.sort, MON_COLUMN_PID);
	assert_false(app.view.is_inverted);
}

static void a_click_at_the_foot_is_the_key_that_stands_there(void **state)
{
	(void)state;
	for (int x = 0; x < 80 && !app.view.is_help; x++) {
		draw();
		uint64_t value = 0;
		if (mon_view_hit(&app.view, x, 23, &value) == MON_HIT_KEY && value == MON_KEY_HELP)
			click(x, 23);
	}
	assert_true(app.view.is_help);
	click(1, 23); // Esc back
	assert_false(app.view.is_help);
	click(40, 15); // nothing is there
	click(4000, -7);
	assert_false(app.is_quit);
}

// What is typed is of the screen it was begun on.
static void a_click_on_something_leaves_what_is_being_typed(void **state)
{
	(void)state;
	press(MON_KEY_FILTER);
	type("server b");
	click(40, 15); // nothing is there
	assert_int_equal(app.entry, MON_ENTRY_FILTER);
	click(20, 4);
	assert_int_equal(app.entry, MON_ENTRY_NONE);
	assert_string_equal(app.view.entry_prompt, "");
	click(20, 4);
	assert_int_equal(app.view.opened, id_of(2));
	for (int screen = 0; screen < MON_SCREEN_COUNT; screen++)
		assert_string_equal(app.view.filters[screen], "");
	app.view.screen = MON_SCREEN_CANDIDATES;
	press(MON_KEY_FIND);
	type("x");
	for (int x = 0; x < 80 && mon_view_screen(&app.view) == MON_SCREEN_CANDIDATES; x++)
		click(x, 1);
	assert_int_equal(mon_view_screen(&app.view), MON_SCREEN_PROCESS);
	press(MON_KEY_OPEN);
	assert_string_equal(app.find, "");
}

static void what_is_being_typed_goes_with_its_screen(void **state)
{
	static int somewhere;
	(void)state;
	press(MON_KEY_DOWN);
	press(MON_KEY_OPEN);
	app.view.screen = MON_SCREEN_LOG;
	press(MON_KEY_FILTER);
	type("fork");
	mon_model_forget(&app.model, id_of(1));
	app.live = (struct mon_live *)(void *)&somewhere; // only whether it is there is looked at
	mon_app_settle(&app);
	app.live = NULL;
	assert_int_equal(app.view.opened, 0);
	assert_int_equal(app.entry, MON_ENTRY_NONE);
	assert_string_equal(app.view.filters[MON_SCREEN_OVERVIEW], "");
}

// Before it started, a replay shows the list, and keys are for what is shown.
static void keys_are_for_the_list_while_the_opened_process_is_absent(void **state)
{
	(void)state;
	app.view.opened = 12345;
	app.view.screen = MON_SCREEN_LOG;
	click(20, 4);
	assert_int_equal(app.view.selected, id_of(2));
	press(MON_KEY_NEXT_VIEW);
	assert_non_null(strstr(app.view.note, "has no meaning in the list"));
	click(20, 4);
	assert_int_equal(app.view.opened, 12345); // a key lay between
	click(20, 4);
	assert_int_equal(app.view.opened, id_of(2));
	draw();
	assert_int_equal(mon_view_screen(&app.view), MON_SCREEN_LOG);
}

static void the_wheel_moves_three_rows(void **state)
{
	(void)state;
	assert_int_equal(
		mon_app_key(&app, (struct mon_input){.key = MON_KEY_DOWN, .n_rows = 3}, NULL), 0);
	assert_int_equal(app.view.selected, id_of(3));
}

static void a_filter_is_typed_shown_and_clicked_away(void **state)
{
	uint64_t ids[8];
	(void)state;
	press(MON_KEY_FILTER);
	type("er C");
	press(MON_KEY_OPEN);
	assert_int_equal(mon_overview_order(&app.model, &app.view, ids, 8), 1);
	assert_int_equal(app.view.selected, id_of(2));
	press(MON_KEY_FILTER);
	assert_string_equal(app.view.entry, "er C"); // to be changed
	press(MON_KEY_OPEN);
	click(2, 23);
	assert_int_equal(mon_overview_order(&app.model, &app.view, ids, 8), SERVERS);
}

static void a_user_is_a_name_or_a_number_and_nothing_is_all(void **state)
{
	uint64_t ids[8];
	(void)state;
	press(MON_KEY_USER);
	type("root");
	press(MON_KEY_OPEN);
	assert_int_equal(mon_overview_order(&app.model, &app.view, ids, 8), SERVERS);
	press(MON_KEY_USER);
	type("4294");
	press(MON_KEY_OPEN);
	assert_int_equal(mon_overview_order(&app.model, &app.view, ids, 8), 0);
	press(MON_KEY_USER);
	type("no such one");
	press(MON_KEY_OPEN);
	assert_non_null(strstr(app.view.note, "no such user"));
	press(MON_KEY_USER);
	press(MON_KEY_OPEN);
	assert_false(app.view.has_user);
}

static void an_interval_is_typed_with_its_unit(void **state)
{
	static const struct {
		const char *text;
		unsigned ms;
	} intervals[] = {{"0.5", 500}, {"200ms", 200}, {"2s", 2000}, {"20ms", 20}, {"60", 60000}};
	static const char *const bad[] = {"0", "19ms", "61", "nan", "1h", "x", "-1"};
	static int somewhere;
	(void)state;
	app.live = (struct mon_live *)(void *)&somewhere; // only whether it is there is looked at
	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		press(MON_KEY_INTERVAL);
		app.view.entry[0] = '\0';
		type(intervals[i].text);
		press(MON_KEY_OPEN);
		assert_int_equal(app.settings.interval_ms, intervals[i].ms);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		press(MON_KEY_INTERVAL);
		app.view.entry[0] = '\0';
		type(bad[i]);
		press(MON_KEY_OPEN);
		assert_int_equal(app.settings.interval_ms, 60000);
		assert_non_null(strstr(app.view.note, "20ms to 60s"));
	}
	app.live = NULL;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(a_click_selects_a_row_and_opens_the_selected_one),
		TEST(a_click_on_a_title_sorts_and_another_inverts),
		TEST(a_click_at_the_foot_is_the_key_that_stands_there),
		TEST(a_click_on_something_leaves_what_is_being_typed),
		TEST(what_is_being_typed_goes_with_its_screen),
		TEST(keys_are_for_the_list_while_the_opened_process_is_absent),
		TEST(the_wheel_moves_three_rows),
		TEST(a_filter_is_typed_shown_and_clicked_away),
		TEST(a_user_is_a_name_or_a_number_and_nothing_is_all),
		TEST(an_interval_is_typed_with_its_unit),
	};
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
