// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The configuration: what is written is read again, whatever stands in the file
// gives settings or one sentence, and nothing is written unasked.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../monitor/app.h"
#include "support/folder.h"

static char folder[TEST_FOLDER_BYTES], path[TEST_PATH_BYTES];

static int start(void **state)
{
	(void)state;
	if (!test_folder_make(NULL, folder))
		return -1;
	setenv("XDG_CONFIG_HOME", folder, 1);
	return mon_settings_path(path, sizeof(path));
}

static int stop(void **state)
{
	(void)state;
	unlink(path);
	rmdir(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	return test_folder_remove(folder);
}

static void put(const char *text, size_t n_bytes)
{
	char parent[TEST_PATH_BYTES];
	snprintf(parent, sizeof(parent), "%s/rollcall", folder);
	mkdir(parent, 0700);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n_bytes, file), n_bytes);
	assert_int_equal(fclose(file), 0);
}

static void what_is_written_is_read_again(void **state)
{
	struct mon_settings written, read;
	struct stat status;
	(void)state;
	for (unsigned i = 0; i < 24; i++) {
		memset(&written, 0, sizeof(written));
		written = (struct mon_settings){.units = i % MON_UNITS_COUNT,
						.colours = i % MON_COLOURS_COUNT,
						.mouse = i % 2,
						.sort = i % MON_COLUMN_COUNT,
						.invert = i / 2 % 2,
						.tree = i / 4 % 2,
						.dead = i / 8 % 2,
						.interval_ms = 20 + i};
		assert_int_equal(mon_settings_write(path, &written, NULL), 0);
		mon_settings_init(&read);
		assert_int_equal(mon_settings_read(path, &read, NULL), 0);
		assert_memory_equal(&written, &read, sizeof(read));
	}
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void a_hostile_file_is_one_sentence_and_the_usual_settings(void **state)
{
	static char long_line[70000];
	static const struct {
		const char *text;
		size_t n_bytes;
		const char *says;
	} files[] = {
#define TEXT(text) text, sizeof(text) - 1
		{TEXT("units = si\nunits\n"), ":2: a setting is `name = value`"},
		{TEXT("units = furlongs\n"), ":1: units is not 'furlongs' but iec, si or plain"},
		{TEXT("# fine\n\nshoe_size = 46\n"), ":3: there is no setting 'shoe_size'"},
		{TEXT("interval_ms = 19\n"), ":1: interval_ms is not '19' but 20 to 60000"},
		{TEXT("interval_ms = 99999999999999999999999\n"), "20 to 60000"},
		{TEXT("interval_ms = -5\n"), "20 to 60000"},
		{TEXT("interval_ms = 100 \x1b]0;owned\x07\n"), "'100 ?]0;owned?'"},
		{TEXT("sort = \xff\xfe\n"), "PID, LABEL"},
		{TEXT("units = si\0\nunits = iec\n"), "is no text"},
		{TEXT("= si\n"), "there is no setting ''"},
		{long_line, 1000, ":1: the line is too long"},
		{long_line, sizeof(long_line), "is no file of at most 64 KiB"},
#undef TEXT
	};
	(void)state;
	memset(long_line, 'a', sizeof(long_line));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct mon_settings settings, usual;
		struct tele_error error = {0};
		mon_settings_init(&usual);
		mon_settings_init(&settings);
		put(files[i].text, files[i].n_bytes);
		assert_true(mon_settings_read(path, &settings, &error) < 0);
		if (!strstr(error.text, files[i].says))
			fail_msg("file %zu: '%s' does not say '%s'", i, error.text, files[i].says);
		assert_null(strchr(error.text, 0x1b));
		assert_memory_equal(&settings, &usual, sizeof(settings));
	}
}

static void what_is_no_file_is_refused_at_once(void **state)
{
	struct mon_settings settings;
	char parent[TEST_PATH_BYTES];
	(void)state;
	mon_settings_init(&settings);
	assert_int_equal(mon_settings_read(path, &settings, NULL), 0); // not there
	snprintf(parent, sizeof(parent), "%s/rollcall", folder);
	mkdir(parent, 0700);
	assert_int_equal(mkfifo(path, 0600), 0); // must not block
	assert_true(mon_settings_read(path, &settings, NULL) < 0);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(mon_settings_read(path, &settings, NULL) < 0);
	assert_true(mon_settings_write(path, &settings, NULL) < 0);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_true(mon_settings_read(path, &settings, NULL) < 0);
}

static void blanks_comments_and_line_ends_of_any_kind_are_taken(void **state)
{
	static const char text[] = "# a comment\r\n\r\n  units\t= \tsi \r\nsort=rss\nmouse = off";
	struct mon_settings settings;
	(void)state;
	mon_settings_init(&settings);
	put(text, sizeof(text) - 1);
	assert_int_equal(mon_settings_read(path, &settings, NULL), 0);
	assert_int_equal(settings.units, MON_UNITS_SI);
	assert_int_equal(settings.sort, MON_COLUMN_RSS);
	assert_int_equal(settings.mouse, 0);
}

static void a_link_is_written_through_and_stays_one(void **state)
{
	struct mon_settings settings;
	struct stat status;
	char target[TEST_PATH_BYTES];
	(void)state;
	mon_settings_init(&settings);
	put("", 0);
	snprintf(target, sizeof(target), "%s/real", folder);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(mon_settings_write(path, &settings, NULL), 0);
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(stat(target, &status), 0);
	assert_true(status.st_size > 100);
	assert_int_equal(unlink(target), 0);
}

static void the_command_line_stands_above_the_file(void **state)
{
	static const char *const set[] = {"units=plain", "sort=mod", NULL};
	const struct mon_options options = {.set = set, .interval_ms = 250};
	struct mon_settings settings;
	char saved[TEST_PATH_BYTES];
	(void)state;
	put("units = si\ntree = on\n", 21);
	assert_int_equal(mon_save_settings(&options, saved, sizeof(saved), NULL), 0);
	assert_string_equal(saved, path);
	mon_settings_init(&settings);
	assert_int_equal(mon_settings_read(path, &settings, NULL), 0);
	assert_int_equal(settings.units, MON_UNITS_PLAIN);
	assert_int_equal(settings.sort, MON_COLUMN_MODULES);
	assert_int_equal(settings.tree, 1);
	assert_int_equal(settings.interval_ms, 250);
	assert_true(mon_check_setting("units", NULL) < 0);
	assert_true(mon_check_setting("units=", NULL) < 0);
	assert_int_equal(mon_check_setting("units=iec", NULL), 0);
}

static void only_the_key_writes_and_it_says_where(void **state)
{
	static const struct mon_options options;
	static struct mon_app app;
	struct mon_settings settings;
	(void)state;
	app = (struct mon_app){.options = &options, .height = 24};
	mon_model_init(&app.model, MON_HISTORY_SHORT);
	mon_settings_init(&app.settings);
	mon_settings_to_view(&app.settings, &app.view);
	for (int key = MON_KEY_OPEN; key < MON_KEY_COUNT; key++)
		if (key != MON_KEY_SAVE && key != MON_KEY_PAUSE)
			assert_int_equal(
				mon_app_key(&app, (struct mon_input){.key = (enum mon_key)key}, NULL), 0);
	assert_true(access(path, F_OK) != 0);
	assert_int_equal(mon_app_key(&app, (struct mon_input){.ch = 0x1b, .key = MON_KEY_BACK}, NULL), 0);
	app.view.units = MON_UNITS_SI;
	app.entry = MON_ENTRY_NONE;
	assert_int_equal(mon_app_key(&app, (struct mon_input){.key = MON_KEY_SAVE}, NULL), 0);
	assert_non_null(strstr(app.view.note, path));
	assert_int_equal(mon_settings_read(path, &settings, NULL), 0);
	assert_int_equal(settings.units, MON_UNITS_SI);
	mon_model_fini(&app.model);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_is_read_again),
		TEST(a_hostile_file_is_one_sentence_and_the_usual_settings),
		TEST(what_is_no_file_is_refused_at_once),
		TEST(blanks_comments_and_line_ends_of_any_kind_are_taken),
		TEST(a_link_is_written_through_and_stays_one),
		TEST(the_command_line_stands_above_the_file),
		TEST(only_the_key_writes_and_it_says_where),
	};
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
