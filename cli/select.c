// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Words to processes. A number is only ever a PID; a label is what the user
// sees in the list, so a part of it that is long enough will do.

#include "select.h"

#include "../recorder/process.h"

#include "../libtelemetry/banned.h"

enum { ANCESTORS_MAX = 64 };

bool cli_is_selected(const struct tele_identity *identity, const char *word)
{
	char *end;
	unsigned long long number = strtoull(word, &end, 10);
	if (word[0] >= '0' && word[0] <= '9' && *end == '\0')
		return identity->pid == number;
	if (strcmp(identity->label, word) == 0 || strcmp(identity->comm, word) == 0)
		return true;
	return strlen(word) >= 3 && strstr(identity->label, word) != NULL;
}

bool cli_is_descendant(pid_t pid, pid_t root)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (pid == root)
			return true;
		uint64_t parent;
		if (!rec_process_stat((uint64_t)pid, &parent, NULL))
			return false;
		pid = (pid_t)parent;
	}
	return false;
}
