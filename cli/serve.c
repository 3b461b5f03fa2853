// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `serve`. The main thread takes in what processes publish, once a
// second, so that verdicts rest on every row however seldom somebody asks; the
// server's thread makes pages of it. A lock stands between the two.

#include "commands.h"
#include "http.h"
#include "limits.h"
#include "listen.h"
#include "text.h"

#include "../libtelemetry/rollcall.h"
#include "../monitor/feed.h"
#include "../recorder/page.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

#define FEED_MS 1000
#define FRESH_NS UINT64_C(200000000) // a page younger than this is given out again
#define LINGER_S_DEFAULT 300

struct server {
	pthread_mutex_t lock; // of everything below
	struct mon_live *live;
	struct mon_model model;
	uint64_t linger_ns;
	uint64_t fed_at_ns;
	struct tele_error error; // of the last feed; code 0: none
	struct mon_out pages[2]; // by syntax
	uint64_t page_at_ns[2];
};

// Takes in what is new, under the lock.
static void feed(struct server *server, uint64_t now_ns)
{
	struct tele_error error = {0};
	int status = mon_feed_live(server->live, &server->model, NULL, MON_FOLLOW_HEAPS, &error);
	server->error = error;
	server->error.code = status < 0 ? status : 0;
	server->fed_at_ns = now_ns;
}

static struct rec_page_options page_options(const struct server *server, enum rec_metric_syntax syntax)
{
	return (struct rec_page_options){syntax, cli_now_ns(), server->linger_ns};
}

static void answer_metrics(struct server *server, const char *accept, struct cli_http_answer *answer)
{
	bool is_open = cli_http_prefers_openmetrics(accept);
	enum rec_metric_syntax syntax = is_open ? REC_METRICS_OPENMETRICS : REC_METRICS_PROMETHEUS;
	uint64_t now_ns = cli_now_ns();
	struct mon_out *page = &server->pages[syntax];
	if (page->n_bytes == 0 || now_ns - server->page_at_ns[syntax] > FRESH_NS) {
		if (now_ns - server->fed_at_ns > FRESH_NS)
			feed(server, now_ns);
		const struct rec_page_options options = page_options(server, syntax);
		mon_model_settle(&server->model);
		mon_out_fini(page);
		rec_page_write(page, &server->model, &options);
		server->page_at_ns[syntax] = now_ns;
	}
	answer->content_type = is_open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
				       : "text/plain; version=0.0.4; charset=utf-8";
	if (mon_out_status(page) == 0)
		mon_out_bytes(&answer->body, page->bytes, page->n_bytes);
	answer->body.is_failed |= page->is_failed;
}

static void answer_root(struct server *server, struct cli_http_answer *answer)
{
	const struct rec_page_options options = page_options(server, REC_METRICS_PROMETHEUS);
	mon_model_settle(&server->model);
	uint32_t n = rec_page_count(&server->model, &options);
	mon_out_format(&answer->body,
		       "rollcall %s: the memory of %u process%s on this host\n\n"
		       "/metrics   for Prometheus: OpenMetrics 1.0.0, or text 0.0.4\n"
		       "/healthz   ok, as long as processes can be found\n",
		       ROLLCALL_VERSION, n, n == 1 ? "" : "es");
}

static void answer(void *context, const char *path, const char *accept, struct cli_http_answer *ret_answer)
{
	struct server *server = context;
	pthread_mutex_lock(&server->lock);
	if (strcmp(path, "/metrics") == 0) {
		answer_metrics(server, accept, ret_answer);
	} else if (strcmp(path, "/") == 0) {
		answer_root(server, ret_answer);
	} else if (strcmp(path, "/healthz") == 0) {
		ret_answer->status = server->error.code ? 503 : 200;
		mon_out_format(&ret_answer->body, "%s\n", server->error.code ? server->error.text : "ok");
	} else {
		ret_answer->status = 404;
		mon_out_text(&ret_answer->body, "there are /, /metrics and /healthz\n");
	}
	pthread_mutex_unlock(&server->lock);
}

static int open_server(struct server *server, const struct analysis_limits *limits, struct tele_error *ret_error)
{
	const struct mon_options options = {.limits = limits};
	pthread_mutex_init(&server->lock, NULL);
	mon_feed_init(&server->model, MON_HISTORY_SHORT, &options);
	int status = mon_live_open(NULL, false, &server->live, ret_error);
	if (status == 0)
		status = mon_live_ask_outside(server->live, ret_error);
	if (status < 0)
		return status;
	feed(server, cli_now_ns());
	if (server->error.code && ret_error)
		*ret_error = server->error;
	return server->error.code;
}

static void close_server(struct server *server)
{
	mon_model_fini(&server->model);
	mon_live_close(server->live);
	mon_out_fini(&server->pages[0]);
	mon_out_fini(&server->pages[1]);
	pthread_mutex_destroy(&server->lock);
}

// Until a signal says that it is enough.
static void serve(struct server *server, int signals)
{
	struct pollfd ended = {.fd = signals, .events = POLLIN};
	while (poll(&ended, 1, FEED_MS) <= 0) {
		pthread_mutex_lock(&server->lock);
		feed(server, cli_now_ns());
		pthread_mutex_unlock(&server->lock);
	}
}

// Blocked in all threads: the server's comes later.
static int catch_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static const char *advice(int code)
{
	switch (code) {
	case -EADDRINUSE:
		return "name another port with --listen, or end what listens there";
	case -EACCES:
		return "ports below 1024 are for root; name another";
	case -EADDRNOTAVAIL:
		return "name an address of this host";
	case -ELIBACC:
		return "install Debian's package libmicrohttpd12";
	default:
		return "see `rollcall doctor`";
	}
}

int cli_serve(const struct cli_call *call)
{
	static struct server server;
	struct cli_listen listener;
	struct cli_http *http = NULL;
	struct analysis_limits limits;
	struct tele_error error = {0};
	uint64_t linger_s = LINGER_S_DEFAULT;
	const char *where = call->values[CLI_serve_listen] ? call->values[CLI_serve_listen] : "127.0.0.1:9464";
	if (cli_expect_operands(call, 0, 0, "") != CLI_OK || cli_limits(call, CLI_serve_capacity, &limits) != CLI_OK ||
	    cli_number(call, CLI_serve_linger, 0, 365 * 86400, &linger_s) != CLI_OK)
		return CLI_USAGE;
	int signals = catch_signals();
	int result = cli_listen(where, &listener, &error);
	if (result == TELE_ESYNTAX)
		return cli_fail(call, CLI_USAGE, "%s", error.text);
	if (result < 0)
		return cli_fail_with(call, &error, advice(result));
	server.linger_ns = linger_s * 1000000000u;
	result = open_server(&server, &limits, &error);
	if (result == 0)
		result = cli_http_start(listener.fd, answer, &server, &http, &error);
	if (result == 0) {
		cli_note(call, "listening on http://%s/metrics", listener.address);
		if (!listener.is_loopback)
			cli_note(call, "%s is not a loopback address: whoever reaches it can read labels and figures of all processes",
				 listener.address);
		serve(&server, signals);
		cli_http_stop(http);
	}
	close_server(&server);
	close(signals);
	return result < 0 ? cli_fail_with(call, &error, advice(result)) : CLI_OK;
}
