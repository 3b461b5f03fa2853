// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A socket to listen on, from what the user typed.

#ifndef CLI_LISTEN_H
#define CLI_LISTEN_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"

struct cli_listen {
	int fd;
	char address[80]; // "127.0.0.1:9464", "[::1]:9464", as bound
	bool is_loopback;
};

// Listens on "HOST:PORT": a name or IPv4 address, an IPv6 address in brackets,
// or none for all addresses. Returns 0, TELE_ESYNTAX for anything else, or
// -EADDRINUSE, -EACCES, -EADDRNOTAVAIL, ... with what is wrong.
int cli_listen(const char *text, struct cli_listen *ret_listen, struct tele_error *ret_error);

#endif
