// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// HTTP for `serve`, by libmicrohttpd. The library is loaded when it is asked
// for: it brings ten others with it, which no other verb should pay for.

#ifndef CLI_HTTP_H
#define CLI_HTTP_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"
#include "../monitor/out.h"

#define CLI_HTTP_LIBRARY "libmicrohttpd.so.12"

struct cli_http;

struct cli_http_answer {
	unsigned status; // 200
	const char *content_type;
	struct mon_out body;
};

// Answers a GET of a path (without its query); `accept` is that header, or "".
// Called in the server's own thread, one call at a time. 404 comes with an empty
// answer.
typedef void (*cli_http_fn)(void *context, const char *path, const char *accept, struct cli_http_answer *answer);

// Serves on a listening socket, which it takes over. -ELIBACC: the library is
// not installed.
int cli_http_start(int fd, cli_http_fn answer, void *context, struct cli_http **ret_http,
		   struct tele_error *ret_error);

// Ends all connections. Takes NULL.
void cli_http_stop(struct cli_http *http);

// Whether a client that accepts this takes OpenMetrics no less than plain text.
bool cli_http_prefers_openmetrics(const char *accept);

#endif
