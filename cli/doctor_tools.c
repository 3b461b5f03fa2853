// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Checks of what runs on the system: our libraries in other programs, the
// terminal.

#include "doctor.h"

#include "http.h"
#include "spawn.h"
#include "text.h"

#include "../monitor/monitor.h"

#include <dlfcn.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static bool has_library(const char *name)
{
	void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (library)
		dlclose(library);
	return library != NULL;
}

void cli_check_programs(struct cli_findings *findings)
{
	struct cli_libraries libraries;
	struct tele_error error;
	if (cli_find_libraries(&libraries, &error) < 0)
		cli_finding(findings, CLI_FAILING, "library", "%s", error.text);
	else if (cli_probe_preload(libraries.core, &error) < 0)
		cli_finding(findings, CLI_FAILING, "library", "%s; build Rollcall on this machine", error.text);
	else
		cli_finding(findings, CLI_HEALTHY, "library", "programs start with %s", libraries.core);
	const char *off = getenv("ROLLCALL");
	if (off && strcmp(off, "off") == 0)
		cli_finding(findings, CLI_WARNING, "ROLLCALL=off", "nothing publishes; unset ROLLCALL");
	if (has_library(CLI_HTTP_LIBRARY))
		cli_finding(findings, CLI_HEALTHY, "serve", CLI_HTTP_LIBRARY " is there");
	else
		cli_finding(findings, CLI_WARNING, "serve", "`rollcall serve` needs " CLI_HTTP_LIBRARY
			    "; install Debian's package libmicrohttpd12 to feed Prometheus");
}

void cli_check_terminal(struct cli_findings *findings)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");
	struct winsize size;
	if (mon_is_utf8_locale())
		cli_finding(findings, CLI_HEALTHY, "locale", "%s: bars in Unicode", nl_langinfo(CODESET));
	else
		cli_finding(findings, CLI_WARNING, "locale",
			    "%s: bars in ASCII; set LC_CTYPE=C.UTF-8 for finer ones", nl_langinfo(CODESET));
	if (!isatty(STDOUT_FILENO)) {
		cli_finding(findings, CLI_HEALTHY, "terminal", "none on standard output: screens are printed as text");
		return;
	}
	if (!term || !*term || strcmp(term, "dumb") == 0)
		cli_finding(findings, CLI_WARNING, "terminal",
			    "TERM is %s: no live screen; set TERM to what your terminal is, such as xterm-256color",
			    term && *term ? term : "not set");
	else
		cli_finding(findings, CLI_HEALTHY, "terminal", "%s%s", term,
			    no_color && *no_color ? ", NO_COLOR is set" : "");
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
		bool is_small = size.ws_col < 80 || size.ws_row < 24;
		cli_finding(findings, is_small ? CLI_WARNING : CLI_HEALTHY, "terminal size", "%ux%u%s", size.ws_col,
			    size.ws_row, is_small ? "; from 80x24 on everything fits" : "");
	}
}
