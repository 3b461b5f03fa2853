// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A program that does to its census what its standard input says, one command
// a line, and answers each with a line. It ends at the end of its input.

#include <rollcall.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static enum rollcall_outcome outcome_of(const char *name)
{
	static const char *const names[] = {"", "declined", "link_failed", "non_dispatchable",
					    "deduplicated", "failed", "timed", "kept"};
	for (int i = 1; i < 8; i++)
		if (strcmp(name, names[i]) == 0)
			return (enum rollcall_outcome)i;
	return 0;
}

// A row that is surely there: on a machine with much to do the publisher may
// come later than one call waits.
static int flush(void)
{
	int result;
	int tries = 100;
	do {
		result = rollcall_flush();
	} while (result == -EAGAIN && --tries);
	return result;
}

static unsigned label_of(const char *word)
{
	if (!word)
		return ROLLCALL_WORKING;
	return strcmp(word, "staging") == 0 ? ROLLCALL_STAGING : ROLLCALL_CONSTANT;
}

// n candidates that are timed, each leaving a pool of 1 MiB of which the last
// 1,000 stay; not faster than their boundaries can be taken.
static void search(unsigned n)
{
	static uint64_t pool = 1000000;
	for (unsigned i = 0; i < n; i++) {
		char label[40];
		snprintf(label, sizeof(label), "candidate %u", i);
		uint64_t candidate = rollcall_candidate_begin(label);
		rollcall_record_pool(0, pool++, ROLLCALL_WORKING, 1 << 20);
		rollcall_forget_pool(0, pool - 1001);
		rollcall_candidate_end(candidate, ROLLCALL_TIMED);
		if (i % 20 == 19)
			rollcall_flush();
	}
}

// Forks a child that publishes and waits to be killed.
static long fork_one(void)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		rollcall_mark("a child");
		for (;;)
			pause();
	}
	return (long)pid;
}

static void answer(char *line)
{
	char *words[5] = {0};
	int n = 0;
	line[strcspn(line, "\n")] = '\0';
	char *name = strchr(line, ':'); // the rest of the line is one text
	if (name)
		*name++ = '\0';
	for (char *word = strtok(line, " "); word && n < 5; word = strtok(NULL, " "))
		words[n++] = word;
	const char *verb = n ? words[0] : "";
	unsigned long long a = words[1] ? strtoull(words[1], NULL, 10) : 0;
	unsigned long long b = words[2] ? strtoull(words[2], NULL, 10) : 0;
	long long result = 0;
	if (strcmp(verb, "pool") == 0) // pool NUMBER BYTES [constant|staging]
		result = rollcall_record_pool(0, a, label_of(words[3]), b);
	else if (strcmp(verb, "forget") == 0)
		result = rollcall_forget_pool(0, a);
	else if (strcmp(verb, "context") == 0)
		result = rollcall_context_created(0);
	else if (strcmp(verb, "module") == 0)
		result = rollcall_module_loaded(0);
	else if (strcmp(verb, "begin") == 0)
		result = (long long)rollcall_candidate_begin(name ? name : "");
	else if (strcmp(verb, "end") == 0)
		result = rollcall_candidate_end(a, outcome_of(words[2] ? words[2] : ""));
	else if (strcmp(verb, "phase") == 0)
		result = rollcall_phase(name);
	else if (strcmp(verb, "gauge") == 0)
		rollcall_gauge_set(rollcall_gauge(words[1], ROLLCALL_COUNT), b);
	else if (strcmp(verb, "search") == 0)
		search((unsigned)a);
	else if (strcmp(verb, "fork") == 0)
		result = fork_one();
	else if (strcmp(verb, "flush") == 0)
		result = flush();
	else if (strcmp(verb, "die") == 0)
		raise(SIGKILL);
	else if (strcmp(verb, "exec") == 0)
		result = execl("/proc/self/exe", "script", (char *)NULL);
	else if (strcmp(verb, "path") == 0)
		printf("%s ", rollcall_segment_path() ? rollcall_segment_path() : "none");
	else
		result = -1000;
	printf("%lld\n", result);
	fflush(stdout);
}

int main(void)
{
	char line[1024];
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		answer(line);
	return 0;
}
