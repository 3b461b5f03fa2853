// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One thread serves all connections without waiting for any: an answer is made
// whole before it is sent, so that a client that reads slowly costs its buffer
// and nothing else. Connections, their idle time, and the bytes that wait in all
// such buffers are bounded: a page of a crowded host has some MiB.

#include "http.h"

#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

enum { CONNECTIONS_MAX = 256, CONNECTIONS_OF_ONE_MAX = 128, IDLE_S = 10, REQUEST_BYTES_MAX = 16 << 10 };
#define WAITING_BYTES_MAX (UINT64_C(64) << 20)

#define CALLS(X)                          \
	X(MHD_start_daemon)               \
	X(MHD_stop_daemon)                \
	X(MHD_create_response_from_buffer_with_free_callback_cls) \
	X(MHD_add_response_header)        \
	X(MHD_queue_response)             \
	X(MHD_destroy_response)           \
	X(MHD_lookup_connection_value)

struct cli_http {
	void *library;
	struct MHD_Daemon *daemon;
	cli_http_fn answer;
	void *context;
	uint64_t waiting_bytes; // made and not sent yet; the serving thread's
#define X(name) __typeof__(&name) name;
	CALLS(X)
#undef X
};

static int load(struct cli_http *http, struct tele_error *ret_error)
{
	http->library = dlopen(CLI_HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!http->library)
		return tele_fail(ret_error, -ELIBACC, "libmicrohttpd is not installed");
#define X(name)                                                                                    \
	*(void **)&http->name = dlsym(http->library, #name);                                       \
	if (!http->name)                                                                           \
		return tele_fail(ret_error, -ELIBACC, "libmicrohttpd lacks " #name);
	CALLS(X)
#undef X
	return 0;
}

// An answer that is on its way.
struct sent {
	struct cli_http *http;
	struct mon_out body;
};

static void forget(void *context)
{
	struct sent *sent = context;
	sent->http->waiting_bytes -= sent->body.n_bytes;
	mon_out_fini(&sent->body);
	free(sent);
}

static enum MHD_Result queue(struct cli_http *http, struct MHD_Connection *connection,
			     struct cli_http_answer *answer)
{
	bool is_refused = answer->status == 405;
	struct sent *sent = malloc(sizeof(*sent));
	if (!sent) {
		mon_out_fini(&answer->body);
		return MHD_NO;
	}
	*sent = (struct sent){http, answer->body};
	http->waiting_bytes += sent->body.n_bytes;
	struct MHD_Response *response = http->MHD_create_response_from_buffer_with_free_callback_cls(
		sent->body.n_bytes, sent->body.bytes, forget, sent);
	if (!response) {
		forget(sent);
		return MHD_NO;
	}
	http->MHD_add_response_header(response, "Content-Type", answer->content_type);
	http->MHD_add_response_header(response, "Vary", "Accept");
	if (is_refused)
		http->MHD_add_response_header(response, "Allow", "GET, HEAD");
	enum MHD_Result result = http->MHD_queue_response(connection, answer->status, response);
	http->MHD_destroy_response(response);
	return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
			      const char *version, const char *upload, size_t *upload_bytes, void **state)
{
	struct cli_http *http = context;
	struct cli_http_answer answer = {.status = 200, .content_type = "text/plain; charset=utf-8"};
	static int seen;
	(void)version;
	(void)upload;
	// The first call has the headers alone; what is uploaded is thrown away.
	if (!*state || *upload_bytes) {
		*state = &seen;
		*upload_bytes = 0;
		return MHD_YES;
	}
	const char *accept = http->MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
	bool is_read = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
	if (is_read && http->waiting_bytes > WAITING_BYTES_MAX) {
		answer.status = 503;
		mon_out_text(&answer.body, "too many readers that do not read; try again later\n");
	} else if (is_read) {
		http->answer(http->context, path, accept ? accept : "", &answer);
	} else {
		answer.status = 405;
		mon_out_text(&answer.body, "only GET and HEAD\n");
	}
	if (mon_out_status(&answer.body) < 0)
		answer.status = 500;
	return queue(http, connection, &answer);
}

int cli_http_start(int fd, cli_http_fn answer, void *context, struct cli_http **ret_http,
		   struct tele_error *ret_error)
{
	struct cli_http *http = calloc(1, sizeof(*http));
	int result = http ? load(http, ret_error) : tele_fail(ret_error, -ENOMEM, "out of memory");
	if (result == 0) {
		http->answer = answer;
		http->context = context;
		http->daemon = http->MHD_start_daemon(
			MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, handle, http, MHD_OPTION_LISTEN_SOCKET, fd,
			MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
			(unsigned)CONNECTIONS_OF_ONE_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES_MAX, MHD_OPTION_END);
		if (!http->daemon)
			result = tele_fail(ret_error, errno ? -errno : -EIO, "libmicrohttpd does not start: %s",
					   tele_strerror(errno ? -errno : -EIO));
	}
	if (result < 0) {
		close(fd);
		cli_http_stop(http);
		return result;
	}
	*ret_http = http;
	return 0;
}

void cli_http_stop(struct cli_http *http)
{
	if (!http)
		return;
	if (http->daemon)
		http->MHD_stop_daemon(http->daemon);
	if (http->library)
		dlclose(http->library);
	free(http);
}

// The q of a media range whose parameters begin at `at`, in thousandths.
static unsigned quality_of(const char *at, const char *end)
{
	while ((at = memchr(at, ';', (size_t)(end - at))) != NULL) {
		at++;
		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		if (end - at > 2 && (*at | 32) == 'q' && at[1] == '=')
			return (unsigned)(strtod(at + 2, NULL) * 1000);
	}
	return 1000;
}

bool cli_http_prefers_openmetrics(const char *accept)
{
	unsigned openmetrics = 0, plain = 0;
	while (*accept) {
		static const char wanted[] = "application/openmetrics-text", other[] = "text/plain";
		accept += strspn(accept, " \t,");
		const char *end = accept + strcspn(accept, ",");
		size_t len = (size_t)(end - accept);
		size_t name_len = strcspn(accept, ";, \t");
		unsigned quality = quality_of(accept, end);
		if (name_len == sizeof(wanted) - 1 && len >= name_len && strncasecmp(accept, wanted, name_len) == 0)
			openmetrics = quality > openmetrics ? quality : openmetrics;
		else if (name_len == sizeof(other) - 1 && len >= name_len && strncasecmp(accept, other, name_len) == 0)
			plain = quality > plain ? quality : plain;
		accept = end;
	}
	return openmetrics > 0 && openmetrics >= plain;
}
