// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `doctor`: one row a check, each a function that looks and says what
// it found and what to do. Nothing is changed; what is made for a test is
// removed again.

#include "doctor.h"

#include "commands.h"
#include "text.h"

#include <stdarg.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

void cli_finding(struct cli_findings *findings, enum cli_health health, const char *what,
		 const char *format, ...)
{
	static const char *const words[] = {"ok", "warn", "fail"};
	static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m"};
	char text[600];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	findings->n[health]++;
	printf("%s%-4s%s  %-16s  %s\n", findings->has_colour ? colours[health] : "", words[health],
	       findings->has_colour ? "\033[0m" : "", what, cli_clean(text));
}

int cli_doctor(const struct cli_call *call)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	struct cli_findings findings = {0};
	int status = cli_expect_operands(call, 0, 0, "nothing");
	if (status != CLI_OK)
		return status;
	findings.has_colour = isatty(STDOUT_FILENO) && !(no_color && *no_color) && term &&
			      strcmp(term, "dumb") != 0;
	cli_check_directory(&findings);
	cli_check_kernel(&findings);
	cli_check_programs(&findings);
	cli_check_cuda(&findings);
	cli_check_terminal(&findings);
	printf("\n%u ok, %u warnings, %u failures\n", findings.n[CLI_HEALTHY], findings.n[CLI_WARNING],
	       findings.n[CLI_FAILING]);
	status = cli_finish_output(call);
	return findings.n[CLI_FAILING] ? CLI_FAILED : status;
}
