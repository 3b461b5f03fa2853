// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Every fuzz target over its committed corpus and over changes of it that are
// the same each time. Each runs in a process of its own (tests/fuzz/replay.c);
// the input that kills one is left in NAME.last beside it.

#include "tests/support/mode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// Runs one target; `n_runs` changed inputs, in a soak a hundred times as many.
static void replay(const char *name, unsigned long n_runs)
{
	char self[512], command[1600];
	unsigned long n_executions = 0;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	if (test_is_soak())
		n_runs *= 100;
	snprintf(command, sizeof(command), "'%s/fuzz/%s' tests/fuzz/corpus/%s %lu 20 2>&1", self, name, name,
		 n_runs);
	FILE *output = popen(command, "r");
	assert_non_null(output);
	char line[512];
	while (fgets(line, sizeof(line), output))
		if (sscanf(line, "executions=%lu", &n_executions) != 1)
			print_message("%s", line);
	assert_int_equal(pclose(output), 0);
	assert_true(n_executions > n_runs);
	if (test_is_soak())
		printf("soak: replay_%s executions=%lu crashes=0\n", name, n_executions);
}

static void a_segment_of_a_liar_is_read_or_refused(void **state)
{
	(void)state;
	replay("fuzz_attach", 2000);
}

static void a_schema_of_a_liar_is_sound_or_refused(void **state)
{
	(void)state;
	replay("fuzz_schema", 4000);
}

static void blocks_of_a_liar_are_decoded_or_refused(void **state)
{
	(void)state;
	replay("fuzz_block", 10000);
}

static void traces_of_a_liar_are_read_to_their_end(void **state)
{
	(void)state;
	replay("fuzz_trace", 2000);
}

static void tables_and_logs_of_a_liar_are_imported_or_refused(void **state)
{
	(void)state;
	replay("fuzz_import", 2000);
}

static void no_text_of_a_liar_reaches_a_terminal_as_it_is(void **state)
{
	(void)state;
	replay("fuzz_text", 600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_segment_of_a_liar_is_read_or_refused),
		cmocka_unit_test(a_schema_of_a_liar_is_sound_or_refused),
		cmocka_unit_test(blocks_of_a_liar_are_decoded_or_refused),
		cmocka_unit_test(traces_of_a_liar_are_read_to_their_end),
		cmocka_unit_test(tables_and_logs_of_a_liar_are_imported_or_refused),
		cmocka_unit_test(no_text_of_a_liar_reaches_a_terminal_as_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
