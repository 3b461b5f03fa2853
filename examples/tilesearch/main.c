// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// tilesearch: a real search for a fast matrix multiplication, to be watched.
//
// It knows rollcall.h and nothing else of Rollcall, as any program would. Its
// own ledger says the same as the census, by other means. A signal only leaves
// a note; the search reads it, cleans up and then dies of that signal, so that
// no temporary file stays and whoever waits for it learns the truth.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "options.h"
#include "resource.h"
#include "search.h"

static volatile sig_atomic_t stop_signal;

// A wait that began just after the check misses the signal, so there is an alarm
// every second from then on.
static void note_signal(int number)
{
	if (number != SIGALRM)
		stop_signal = number;
	alarm(1);
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	// No SA_RESTART: waits are to end.
	struct sigaction note = { .sa_handler = note_signal };

	sigemptyset(&note.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction old;
		// What nohup and shells have set aside stays so.
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &note, NULL);
	}
	sigaction(SIGALRM, &note, NULL);
	// A reader that went away is seen when a line cannot be written.
	signal(SIGPIPE, SIG_IGN);
}

static void print_books(const char *when)
{
	struct rollcall_census census;
	char title[64], text[1024];

	snprintf(title, sizeof(title), "tilesearch: ledger %s:", when);
	tile_ledger_print(stdout, title);
	if (rollcall_census_snapshot(-1, &census, sizeof(census)) == 0 &&
			rollcall_census_text(&census, text, sizeof(text)) > 0)
		printf("tilesearch: census %s: %s\n", when, text);
}

static int search_and_report(const struct tile_options *options, struct tile_compiler *compiler)
{
	struct tile_search search;

	int r = tile_search_run(&search, options, compiler);
	if (r == -EINTR && stop_signal)
		printf("tilesearch: stopped by signal %d after %u candidates\n", (int)stop_signal, search.common.n_begun);
	tile_search_report(&search);
	print_books("after the search");
	tile_search_close(&search);
	print_books("at exit");
	return r;
}

int main(int n_arguments, char **arguments)
{
	struct tile_options options;
	struct tile_compiler compiler;
	char why[512];

	tile_options_parse(n_arguments, arguments, &options);
	setvbuf(stdout, NULL, _IOLBF, 0);
	catch_signals();
	int r = tile_compiler_open(&compiler, &stop_signal, why, sizeof(why));
	if (r < 0 && !stop_signal) {
		fprintf(stderr, "tilesearch: %s\n", why);
		return 1;
	}
	if (r == 0) {
		r = search_and_report(&options, &compiler);
		tile_compiler_close(&compiler);
	}
	if (stop_signal) {
		fflush(stdout);
		signal(stop_signal, SIG_DFL);
		raise(stop_signal);
	}
	if (r < 0 && r != -EINTR)
		fprintf(stderr, "tilesearch: %s\n", strerror(-r));
	return r < 0 || ferror(stdout) || fflush(stdout) != 0;
}
