// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A live hostile writer (tests/prog/hostile.c) under the eyes of everything that
// reads segments: the monitor's source with its model, screens and JSON, and the
// recorder. Its lies are shown as what they are; nothing crashes, nothing waits,
// memory stays bounded, and no control character comes through.

#include "libtelemetry/discover.h"
#include "libtelemetry/trace.h"
#include "monitor/feed.h"
#include "monitor/json.h"
#include "monitor/utf8.h"
#include "monitor/view.h"
#include "recorder/record.h"
#include "tests/support/folder.h"
#include "tests/support/mode.h"
#include "tests/support/ring_fixture.h"

#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define WRITERS 2

static char directory[TEST_FOLDER_BYTES], template_path[TEST_PATH_BYTES];
static pid_t writers[WRITERS];

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t until_ns(void)
{
	return now_ns() + (test_is_soak() ? 60 : 1) * UINT64_C(1000000000);
}

static void write_template(void)
{
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, false);
	test_ring_grow(ring, true);
	test_ring_steps(ring, 700);
	test_ring_claim(ring, "a boundary", true, true);
	FILE *file = fopen(template_path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(ring->file.bytes, 1, ring->file.layout.segment_bytes, file),
			 ring->file.layout.segment_bytes);
	fclose(file);
	test_ring_free(ring);
}

static pid_t start_writer(unsigned seed)
{
	char self[512], program[600], number[32];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(program, sizeof(program), "%s/prog/hostile", self);
	snprintf(number, sizeof(number), "%u", seed);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); // it never ends by itself
		if (!freopen("/dev/null", "w", stdout))
			_exit(126);
		execl(program, "hostile", directory, template_path, number, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static int start(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	if (!test_folder_make(test_folder_of_segments(), directory))
		return -1;
	snprintf(template_path, sizeof(template_path), "%s/template", directory);
	write_template();
	for (unsigned i = 0; i < WRITERS; i++)
		writers[i] = start_writer(i + 1);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	int failed = 0;
	for (unsigned i = 0; i < WRITERS; i++) {
		int status;
		kill(writers[i], SIGKILL);
		waitpid(writers[i], &status, 0);
		// It must have been lying until now.
		failed |= !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
	}
	test_folder_clear(directory);
	return test_folder_remove(directory) || failed ? -1 : 0;
}

static void check_grid(const struct mon_grid *grid)
{
	for (int y = 0; y < grid->height; y++) {
		for (int x = 0; x < grid->width; x++) {
			const struct mon_cell *cell = mon_grid_at(grid, x, y);
			assert_true(cell->ch == 0 || mon_char_is_safe(cell->ch));
			assert_true(cell->mark == 0 || mon_char_is_safe(cell->mark));
		}
	}
}

static void look(struct mon_model *model, struct mon_grid *grid)
{
	struct mon_view view;
	struct mon_out out = {0};
	mon_model_settle(model);
	mon_view_init(&view);
	assert_int_equal(mon_grid_reset(grid, 120, 40, false), 0);
	mon_view_draw(grid, model, &view);
	check_grid(grid);
	for (uint32_t i = 0; i < model->n_processes; i++) {
		view.opened = model->processes[i]->identity.instance_id;
		assert_int_equal(mon_grid_reset(grid, 120, 40, false), 0);
		mon_view_draw(grid, model, &view);
		check_grid(grid);
	}
	mon_json_write(&out, model, NULL);
	for (size_t i = 0; i < out.n_bytes; i++)
		assert_true((uint8_t)out.bytes[i] >= 0x20 || out.bytes[i] == '\n');
	mon_out_fini(&out);
}

static void monitor(bool follow_all)
{
	static const struct mon_options options;
	struct mon_live *live;
	struct mon_model model;
	struct mon_grid grid = {0};
	unsigned long n_looks = 0, n_read = 0;
	mon_feed_init(&model, MON_HISTORY_SHORT, &options);
	assert_int_equal(mon_live_open(directory, follow_all, &live, NULL), 0);
	for (uint64_t until = until_ns(); now_ns() < until; n_looks++) {
		assert_true(mon_feed_live(live, &model, NULL, MON_FOLLOW_HEAPS, NULL) >= 0);
		n_read += model.n_processes;
		look(&model, &grid);
	}
	mon_model_fini(&model);
	mon_live_close(live);
	mon_grid_fini(&grid);
	// Now and then its lies are good enough to be read.
	assert_true(n_read > 0);
	if (test_is_soak())
		printf("soak: hostile_%s screens=%lu processes=%lu failures=0\n",
		       follow_all ? "followed" : "listed", n_looks, n_read);
}

static void a_list_of_liars_is_drawn(void **state)
{
	(void)state;
	monitor(false);
}

static void liars_are_followed_through_their_history(void **state)
{
	(void)state;
	monitor(true);
}

static bool wants_all(void *context, const struct tele_instance *instance)
{
	(void)context;
	(void)instance;
	return true;
}

// Whatever was recorded is a trace that its reader accepts.
static unsigned long count_records(const char *path)
{
	struct tele_source *source;
	struct tele_record record;
	unsigned long n = 0;
	int got;
	assert_int_equal(tele_trace_open(path, &source, NULL), 0);
	while ((got = tele_source_next(source, &record, NULL)) > 0)
		n++;
	assert_int_equal(got, 0);
	tele_source_close(source);
	return n;
}

static void what_liars_say_is_recorded_into_a_sound_trace(void **state)
{
	(void)state;
	char path[TEST_PATH_BYTES];
	struct rec_recorder *recorder;
	struct tele_error error = {0};
	unsigned long n_steps = 0;
	snprintf(path, sizeof(path), "%s/lies.rct", directory);
	const struct rec_settings settings = {.path = path, .directory = directory, .wants = wants_all};
	assert_int_equal(rec_open(&settings, &recorder, NULL), 0);
	for (uint64_t until = until_ns(); now_ns() < until; n_steps++) {
		// Each step a sync, with a provisional block.
		if (rec_step(recorder, n_steps * UINT64_C(3000000000), &error) < 0)
			fail_msg("%s", error.text);
		struct stat file;
		if (stat(path, &file) == 0 && file.st_size > (64 << 20))
			break;
	}
	if (rec_close(recorder, NULL, &error) < 0)
		fail_msg("%s", error.text);
	unsigned long n_records = count_records(path);
	assert_true(n_records > 0);
	if (test_is_soak())
		printf("soak: hostile_recorded steps=%lu records=%lu failures=0\n", n_steps, n_records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_list_of_liars_is_drawn, start, stop),
		cmocka_unit_test_setup_teardown(liars_are_followed_through_their_history, start, stop),
		cmocka_unit_test_setup_teardown(what_liars_say_is_recorded_into_a_sound_trace, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
