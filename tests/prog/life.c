// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// life HOW: publishes, prints its pid, sets app.last to 7 and ends in that way.

#include <rollcall.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void *last_thread(void *nothing)
{
	usleep(1000);
	return nothing;
}

static void live_on(const char *text)
{
	rollcall_mark(text);
	rollcall_flush();
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	for (;;)
		pause();
}

static void end(const char *how)
{
	pthread_t thread;
	if (strcmp(how, "exit") == 0)
		exit(0);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "_Exit") == 0)
		_Exit(0);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(how, "abort") == 0)
		signal(SIGABRT, SIG_DFL), abort();
	if (strcmp(how, "exec") == 0)
		execl("/bin/sleep", "sleep", "60", (char *)NULL);
	if (strcmp(how, "failed_exec") == 0 && execl("/nowhere/at/all", "all", (char *)NULL) < 0)
		live_on("still here");
	if (strcmp(how, "thread") == 0) {
		pthread_create(&thread, NULL, last_thread, NULL);
		pthread_exit(NULL);
	}
	if (strcmp(how, "daemon") == 0 && daemon(1, 1) == 0)
		live_on("a daemon");
	if (strcmp(how, "environment") == 0) {
		setenv("ROLLCALL", "off", 1);
		setenv("ROLLCALL_DIR", "/nowhere", 1);
		clearenv();
		if (fork() != 0)
			pause();
		live_on("a child");
	}
	if (strcmp(how, "limit") == 0) {
		struct rlimit limit = {.rlim_cur = 16384, .rlim_max = RLIM_INFINITY};
		setrlimit(RLIMIT_FSIZE, &limit);
		for (int i = 0; i < 50; i++)
			rollcall_flush();
		live_on("limited");
	}
	if (strcmp(how, "pause") == 0)
		live_on("paused");
}

int main(int argc, char **argv)
{
	rollcall_mark("alive");
	rollcall_flush();
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	rollcall_gauge_set(rollcall_gauge("last", ROLLCALL_COUNT), 7);
	if (argc > 1)
		end(argv[1]);
	return 0;
}
