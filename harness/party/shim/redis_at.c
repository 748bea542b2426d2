/* SPDX-License-Identifier: MIT */
/*
 * Where a program takes Redis to be (party/redis_at.h). Connections to Redis are led to redrace's server;
 * a host name that has no address here, and that is one of Redis, gets an address of its own.
 */
#include "shim.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static bool is_stream(int fd)
{
	socklen_t size = sizeof(int);
	int type = 0;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	struct rr_program_page *page = rr_shim_page();
	struct rr_redis_at *at = page ? &page->redis_at : NULL;
	union rr_socket_address of = { .bytes = "" };
	char text[RR_ADDRESS_SIZE];
	enum rr_leads leads;

	if (!at || !address || !is_stream(fd))
		return RR_SHIM_NEXT(connect)(fd, address, size);
	/* A whole struct sockaddr_storage is more. */
	memcpy(&of, address, size < sizeof(of.un) ? size : sizeof(of.un));
	if (of.any.sa_family != AF_INET && of.any.sa_family != AF_INET6 &&
	    of.any.sa_family != AF_UNIX)
		return RR_SHIM_NEXT(connect)(fd, address, size);
	rr_address_write(at, &of, text);
	leads = rr_redis_at_leads(at, &of, text);
	if (leads == RR_LEADS_ELSEWHERE)
		return RR_SHIM_NEXT(connect)(fd, address, size);
	if (leads == RR_LEADS_NOWHERE) {
		rr_note_add(at->lost, text);
		errno = EHOSTUNREACH;
		return -1;
	}
	rr_note_add(at->led, text);
	return rr_redis_at_lead(at, fd, text, of.any.sa_family, RR_SHIM_NEXT(connect));
}

/* ---- Names ----------------------------------------------------------------------------- */

/* Does --redis-at name this host, at the port of a service or at any? *is_lost: it has no address
 * here, which redrace has found out. */
static bool is_named(const struct rr_redis_at *at, const char *host, const char *service,
		     bool *is_lost)
{
	const size_t length = strlen(host);
	bool is = false;

	for (unsigned i = 0; i < at->n; i++) {
		const char *address = at->aliases[i].address;

		if (strncasecmp(address, host, length) != 0 || address[length] != ':' ||
		    (service && strcmp(address + length + 1, service) != 0))
			continue;
		is = true;
		*is_lost |= at->aliases[i].is_unresolved;
	}
	return is;
}

/* Is that a name of a Redis, if no address is known? */
static bool is_of_redis(const char *host, const char *service)
{
	return (service && (strcmp(service, "6379") == 0 || strcmp(service, "redis") == 0)) ||
	       strcasestr(host, "redis") || strcasestr(host, "valkey");
}

/* The C library's own. Its connections meanwhile do not count as the program's (party/touched.h). */
static int look_up(const char *host, const char *service, const struct addrinfo *hints,
		   struct addrinfo **found)
{
	struct rr_program_page *page = rr_shim_page();
	_Atomic int *mark = NULL;
	int code;

	for (int i = 0; i < RR_LOOKUPS_MAX && !mark; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&page->lookups[i], &none, rr_shim_real_tid()))
			mark = &page->lookups[i];
	}
	code = RR_SHIM_NEXT(getaddrinfo)(host, service, hints, found);
	if (mark)
		atomic_store(mark, 0);
	return code;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
		struct addrinfo **found)
{
	struct rr_program_page *page = rr_shim_page();
	struct rr_redis_at *at = page ? &page->redis_at : NULL;
	const size_t length = host ? strlen(host) : 0;
	struct addrinfo with = { .ai_family = AF_UNSPEC };
	const bool has_port = service && service[0] &&
			      service[strspn(service, "0123456789")] == '\0';
	char name[RR_HOST_MAX + 1], text[INET6_ADDRSTRLEN], lost[RR_ADDRESS_SIZE];
	bool is_lost = false, is;
	uint32_t address;
	int code = EAI_NONAME;

	if (!at || length == 0 || length > RR_HOST_MAX)
		return RR_SHIM_NEXT(getaddrinfo)(host, service, hints, found);
	is = is_named(at, host, service, &is_lost);
	if (!is_lost)
		code = look_up(host, service, hints, found);
	if (code != EAI_NONAME && code != EAI_AGAIN && code != EAI_FAIL && code != EAI_NODATA)
		return code;
	for (size_t i = 0; i <= length; i++)
		name[i] = (char)(host[i] >= 'A' && host[i] <= 'Z' ? host[i] + 'a' - 'A' : host[i]);
	if ((!is && !is_of_redis(name, service)) || name[strspn(name, "0123456789.")] == '\0' ||
	    (hints && (hints->ai_flags & AI_NUMERICHOST))) {
		snprintf(lost, sizeof(lost), "%s%s%s", name, has_port ? ":" : "",
			 has_port ? service : "");
		rr_note_add(at->lost, lost);
		return code;
	}
	rr_note_add(at->hosts, name);
	address = rr_host_address(name);
	if (hints)
		with = *hints;
	with.ai_flags = (with.ai_flags | AI_NUMERICHOST) & ~AI_ADDRCONFIG;
	snprintf(text, sizeof(text), "%s%u.%u.%u.%u", with.ai_family == AF_INET6 ? "::ffff:" : "",
		 address >> 24, address >> 16 & 0xff, address >> 8 & 0xff, address & 0xff);
	return RR_SHIM_NEXT(getaddrinfo)(text, service, &with, found);
}
