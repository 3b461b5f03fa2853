// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Half a file is litter. The handler does only what a handler may.

#include "draft.h"

#include "../recorder/draft.h"

#include <signal.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static void end_by_signal(int number)
{
	const char *draft = rec_draft_now();
	if (draft)
		unlink(draft);
	signal(number, SIG_DFL);
	raise(number);
}

void cli_leave_no_draft(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < TELE_ARRAY_LEN(numbers); i++)
		if (signal(numbers[i], end_by_signal) == SIG_IGN)
			signal(numbers[i], SIG_IGN);
}
