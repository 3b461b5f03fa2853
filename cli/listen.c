// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The address is taken apart by hand, so that what is wrong with it can be said;
// only a name goes to the resolver.

#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

enum { BACKLOG = 128, HOST_BYTES = 256 };

static int refuse(const char *text, const char *why, struct tele_error *ret_error)
{
	return tele_fail(ret_error, TELE_ESYNTAX, "--listen %.100s: %s; give HOST:PORT or [IPV6]:PORT", text, why);
}

// Splits it. 0 or TELE_ESYNTAX.
static int take_apart(const char *text, char host[HOST_BYTES], const char **ret_port, struct tele_error *ret_error)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	if (strchr(text, '/') || strncmp(text, "unix:", 5) == 0)
		return refuse(text, "Unix sockets are not for Prometheus, which scrapes TCP", ret_error);
	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")] || strlen(colon + 1) > 5 ||
	    strtoul(colon + 1, NULL, 10) > 65535)
		return refuse(text, "a port from 0 to 65535 is missing", ret_error);
	if (len >= HOST_BYTES)
		return refuse(text, "the host is too long", ret_error);
	bool is_bracketed = len >= 2 && text[0] == '[' && text[len - 1] == ']';
	if (!is_bracketed && (memchr(text, ':', len) || memchr(text, '[', len) || memchr(text, ']', len)))
		return refuse(text, "an IPv6 address goes into brackets", ret_error);
	snprintf(host, HOST_BYTES, "%.*s", (int)(is_bracketed ? len - 2 : len), text + is_bracketed);
	*ret_port = colon + 1;
	return 0;
}

static int open_socket(const struct addrinfo *found)
{
	int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int yes = 1, no = 0;
	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (found->ai_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
		int code = -errno;
		close(fd);
		return code;
	}
	return fd;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static void describe(struct cli_listen *listener)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);
	char host[64] = "?", port[8] = "?";
	if (getsockname(listener->fd, (struct sockaddr *)&address, &len) == 0)
		getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
	bool is_v6 = address.ss_family == AF_INET6;
	snprintf(listener->address, sizeof(listener->address), is_v6 ? "[%s]:%s" : "%s:%s", host, port);
	listener->is_loopback = is_loopback(&address);
}

int cli_listen(const char *text, struct cli_listen *ret_listen, struct tele_error *ret_error)
{
	char host[HOST_BYTES];
	const char *port = "";
	struct addrinfo *found = NULL;
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	int result = take_apart(text, host, &port, ret_error);
	if (result < 0)
		return result;
	int unresolved = getaddrinfo(host[0] ? host : NULL, port, &hints, &found);
	if (unresolved)
		return tele_fail(ret_error, TELE_ESYNTAX, "--listen %s: %s", text, gai_strerror(unresolved));
	result = open_socket(found);
	freeaddrinfo(found);
	if (result < 0)
		return tele_fail(ret_error, result, "cannot listen on %s: %s", text, tele_strerror(result));
	ret_listen->fd = result;
	describe(ret_listen);
	return 0;
}
