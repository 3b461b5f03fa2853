// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What keys do, without a terminal: the state of the interactive monitor over a
// model made by hand.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "support/app_fixture.h"

static void the_first_row_is_selected_and_arrows_stop_at_the_ends(void **state)
{
	(void)state;
	assert_int_equal(app.view.selected, id_of(0));
	press(MON_KEY_UP);
	assert_int_equal(app.view.selected, id_of(0));
	press(MON_KEY_DOWN);
	assert_int_equal(app.view.selected, id_of(1));
	press(MON_KEY_END);
	press(MON_KEY_DOWN);
	assert_int_equal(app.view.selected, id_of(SERVERS - 1));
	press(MON_KEY_HOME);
	assert_int_equal(app.view.selected, id_of(0));
}

static void selection_follows_the_process_when_the_order_changes(void **state)
{
	(void)state;
	press(MON_KEY_DOWN);
	press(MON_KEY_INVERT);
	press(MON_KEY_SORT);
	assert_int_equal(app.view.selected, id_of(1));
	assert_int_equal(app.view.sort, MON_COLUMN_LABEL);
	assert_true(app.view.is_inverted);
}

static void enter_opens_escape_goes_back_and_never_quits(void **state)
{
	(void)state;
	press(MON_KEY_DOWN);
	press(MON_KEY_OPEN);
	assert_int_equal(app.view.opened, id_of(1));
	press(MON_KEY_HELP);
	assert_true(app.view.is_help);
	press(MON_KEY_BACK);
	assert_false(app.view.is_help);
	assert_int_equal(app.view.opened, id_of(1));
	press(MON_KEY_BACK);
	assert_int_equal(app.view.opened, 0);
	press(MON_KEY_BACK);
	assert_false(app.is_quit);
	press(MON_KEY_QUIT);
	assert_true(app.is_quit);
}

static void find_goes_to_the_next_match_and_wraps(void **state)
{
	(void)state;
	press(MON_KEY_FIND);
	type("server d");
	assert_string_equal(app.view.entry, "server d");
	press(MON_KEY_OPEN);
	assert_int_equal(app.view.selected, id_of(3));
	assert_int_equal(app.view.opened, 0);
	press(MON_KEY_FIND);
	type("server");
	press(MON_KEY_OPEN);
	assert_int_equal(app.view.selected, id_of(4));
	press(MON_KEY_FIND_NEXT);
	assert_int_equal(app.view.selected, id_of(0));
	press(MON_KEY_FIND_PREVIOUS);
	assert_int_equal(app.view.selected, id_of(4));
	press(MON_KEY_FIND);
	type("101");
	press(MON_KEY_OPEN);
	assert_int_equal(app.view.selected, id_of(1));
}

static void what_is_typed_into_an_entry_is_text_and_no_key(void **state)
{
	(void)state;
	press(MON_KEY_FIND);
	type("quit");
	assert_false(app.is_quit);
	assert_string_equal(app.view.entry, "quit");
	mon_app_key(&app, (struct mon_input){.key = MON_KEY_BACK}, NULL); // Backspace
	assert_string_equal(app.view.entry, "qui");
	mon_app_key(&app, (struct mon_input){.key = MON_KEY_CHAR, .ch = 0x202e}, NULL);
	assert_string_equal(app.view.entry, "qui");
	for (int i = 0; i < 200; i++)
		type("x");
	press(MON_KEY_OPEN);
	assert_string_equal(app.view.note, "not found");
	press(MON_KEY_FIND);
	mon_app_key(&app, (struct mon_input){.key = MON_KEY_BACK, .ch = 0x1b}, NULL);
	assert_int_equal(app.entry, MON_ENTRY_NONE);
}

static void pausing_keeps_sampling_below_a_picture_that_stands_still(void **state)
{
	(void)state;
	press(MON_KEY_PAUSE);
	assert_true(app.view.is_paused);
	fixture_row(&app.model, fixtures[0], 50 * FIXTURE_S);
	mon_app_settle(&app);
	assert_int_equal(mon_app_shown(&app)->now_ns, 10 * FIXTURE_S);
	assert_int_equal(app.model.now_ns, 50 * FIXTURE_S);
	press(MON_KEY_DOWN);
	assert_int_equal(app.view.selected, id_of(1));
	press(MON_KEY_PAUSE);
	assert_int_equal(mon_app_shown(&app)->now_ns, 50 * FIXTURE_S);
}

static void units_go_round(void **state)
{
	(void)state;
	for (int i = 0; i < MON_UNITS_COUNT; i++)
		press(MON_KEY_UNITS);
	assert_int_equal(app.view.units, MON_UNITS_IEC);
}

static void a_selected_process_that_goes_away_leaves_a_valid_selection(void **state)
{
	(void)state;
	press(MON_KEY_END);
	mon_model_forget(&app.model, app.view.selected);
	mon_app_settle(&app);
	assert_non_null(mon_model_find(&app.model, app.view.selected));
}

static void views_go_round_and_their_numbers_go_there(void **state)
{
	char shown[32];
	(void)state;
	snprintf(shown, sizeof(shown), "1 to %d", MON_SCREEN_COUNT - 1);
	assert_string_equal(mon_key_row(MON_KEY_VIEW)->shown, shown);
	press(MON_KEY_NEXT_VIEW);
	assert_non_null(strstr(app.view.note, "has no meaning in the list"));
	press(MON_KEY_OPEN);
	enum mon_screen first = mon_view_screen(&app.view);
	for (int i = 0; i < MON_SCREEN_COUNT - 1; i++)
		press(MON_KEY_NEXT_VIEW);
	assert_int_equal(mon_view_screen(&app.view), first);
	press(MON_KEY_PREVIOUS_VIEW);
	assert_int_equal(mon_view_screen(&app.view), MON_SCREEN_COUNT - 1);
	assert_int_equal(mon_app_key(&app, (struct mon_input){.key = MON_KEY_VIEW, .ch = '1'}, NULL), 0);
	assert_int_equal(mon_view_screen(&app.view), first);
}

// Nothing is swallowed: a key changes what is seen, or is answered.
static void every_key_is_taken_or_answered_everywhere(void **state)
{
	(void)state;
	for (int screen = 0; screen < 3; screen++) {
		for (int key = MON_KEY_CLICK + 1; key < MON_KEY_COUNT; key++) {
			if (key == MON_KEY_SAVE) // writes a file
				continue;
			app.view.opened = screen == 1 ? id_of(0) : 0;
			app.view.is_help = screen == 2;
			app.entry = MON_ENTRY_NONE;
			press((enum mon_key)key);
			draw();
		}
	}
}

static void a_refusal_names_the_key_that_was_pressed(void **state)
{
	static const struct {
		struct mon_input input;
		bool is_opened;
		const char *note;
	} presses[] = {
		{{.key = MON_KEY_VIEW, .ch = '7'}, false, "7 (views) has no meaning in the list"},
		{{.key = MON_KEY_VIEW, .ch = '7'}, true, "there is no view 7: 1 to 6"},
		{{.key = MON_KEY_VIEW, .ch = '9'}, true, "there is no view 9: 1 to 6"},
		{{.key = MON_KEY_TREE, .ch = 't'}, true, "t (forward) has no meaning in this view of a process"},
		{{.key = MON_KEY_TREE}, true, "F5 (forward) has no meaning in this view of a process"},
		{{.key = MON_KEY_STEP_FORWARD}, true, "right (forward) has no meaning in this view of a process"},
		{{.key = MON_KEY_STEP_BACK, .ch = 'T'}, false, "T (back) has no meaning in the list"},
		{{.key = MON_KEY_STEP_BACK}, false, "left (back) has no meaning in the list"},
		{{.key = MON_KEY_SORT, .ch = 's'}, true, "s (sort) has no meaning in this view of a process"},
		{{.key = MON_KEY_SORT}, true, "F6 (sort) has no meaning in this view of a process"},
		{{.key = MON_KEY_EVENT_BACK, .ch = ','}, false, ", (event) has no meaning in the list"},
		{{.key = MON_KEY_CHAR, .ch = 'a'}, false, "a has no meaning: ? lists the keys that have one"},
		{{.key = MON_KEY_CHAR, .ch = 0x3bb}, false, "\u03bb has no meaning: ? lists the keys that have one"},
		{{.key = MON_KEY_CHAR, .ch = 1}, false, "Ctrl-A has no meaning: ? lists the keys that have one"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(presses) / sizeof(presses[0]); i++) {
		app.view.opened = presses[i].is_opened ? id_of(0) : 0;
		assert_int_equal(mon_app_key(&app, presses[i].input, NULL), 0);
		assert_string_equal(app.view.note, presses[i].note);
	}
}

static void keys_of_a_replay_say_that_they_have_no_meaning_live(void **state)
{
	(void)state;
	for (int key = MON_KEY_STEP_BACK; key <= MON_KEY_JUMP; key++) {
		press((enum mon_key)key);
		assert_int_equal(app.entry, MON_ENTRY_NONE);
		assert_non_null(strstr(app.view.note, "has no meaning in the list"));
	}
}

static void a_next_match_without_a_search_says_how_to_search_in_any_list(void **state)
{
	(void)state;
	app.view.opened = id_of(0);
	app.view.screen = MON_SCREEN_CANDIDATES;
	press(MON_KEY_FIND_NEXT);
	assert_string_equal(app.view.note, "nothing to find again: / finds");
}

// Candidates and log are searched, filtered and sorted by the same keys.
static void a_log_is_searched_and_sorted_as_any_list(void **state)
{
	static const char *const names[] = {"one", "two", "three"};
	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		fixture_event(&app.model, fixtures[0], TELE_EVENT_PHASE, (20 + i) * FIXTURE_S, i, 0, names[i]);
	fixture_row(&app.model, fixtures[0], 30 * FIXTURE_S);
	mon_app_settle(&app);
	app.view.opened = id_of(0);
	app.view.screen = MON_SCREEN_LOG;
	press(MON_KEY_FIND);
	type("two");
	press(MON_KEY_OPEN);
	assert_int_equal(app.view.lens.at[MON_SCREEN_LOG], 1);
	press(MON_KEY_FIND);
	type("four");
	press(MON_KEY_OPEN);
	assert_string_equal(app.view.note, "not found");
	press(MON_KEY_SORT);
	press(MON_KEY_SORT);
	assert_int_equal(app.view.lens.sort[MON_SCREEN_LOG], 2);
	press(MON_KEY_SORT); // the last has no title
	assert_int_equal(app.view.lens.sort[MON_SCREEN_LOG], 0);
	press(MON_KEY_SORT_BACK);
	assert_int_equal(app.view.lens.sort[MON_SCREEN_LOG], 2);
	draw();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(the_first_row_is_selected_and_arrows_stop_at_the_ends),
		TEST(selection_follows_the_process_when_the_order_changes),
		TEST(enter_opens_escape_goes_back_and_never_quits),
		TEST(find_goes_to_the_next_match_and_wraps),
		TEST(a_next_match_without_a_search_says_how_to_search_in_any_list),
		TEST(what_is_typed_into_an_entry_is_text_and_no_key),
		TEST(pausing_keeps_sampling_below_a_picture_that_stands_still),
		TEST(units_go_round),
		TEST(a_selected_process_that_goes_away_leaves_a_valid_selection),
		TEST(views_go_round_and_their_numbers_go_there),
		TEST(every_key_is_taken_or_answered_everywhere),
		TEST(a_refusal_names_the_key_that_was_pressed),
		TEST(a_log_is_searched_and_sorted_as_any_list),
		TEST(keys_of_a_replay_say_that_they_have_no_meaning_live),
	};
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
