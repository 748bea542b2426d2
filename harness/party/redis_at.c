/* SPDX-License-Identifier: MIT */
#include "redis_at.h"

#include <ctype.h>
#include <limits.h>
#include <netdb.h>
#include <stdlib.h>

/* ---- As --redis-at has it -------------------------------------------------------------- */

/* "6379", of 1 to 65535. */
static bool is_port(const char *text)
{
	const size_t n = strspn(text, "0123456789");

	return n > 0 && n <= 5 && text[n] == '\0' && text[0] != '0' && atoi(text) <= 65535;
}

bool rr_redis_at_read(const char *text, char address[RR_ADDRESS_SIZE])
{
	const size_t path_max = sizeof(((struct sockaddr_un *)0)->sun_path);
	const char *path = strncmp(text, "unix:", 5) == 0 ? text + 5 : text;
	const char *colon = strrchr(text, ':');
	const size_t n_host = colon ? (size_t)(colon - text) : 0;
	char host[RR_HOST_MAX + 1];
	struct in6_addr of_v6;

	if (path[0] == '/' || (path != text && path[0] == '@')) {
		while (path[0] == '/' && path[1] == '/')
			path++;
		snprintf(address, RR_ADDRESS_SIZE, "%s", path);
		return path[1] && strlen(path) < path_max;
	}
	if (path != text || n_host == 0 || n_host > RR_HOST_MAX || !is_port(colon + 1))
		return false;
	for (size_t i = 0; i <= n_host; i++)
		host[i] = i < n_host ? (char)tolower((unsigned char)text[i]) : '\0';
	if (host[0] == '[') {
		/* Written as the kernel's addresses are. */
		host[n_host - 1] = '\0';
		if (text[n_host - 1] != ']' || inet_pton(AF_INET6, host + 1, &of_v6) != 1)
			return false;
		union rr_socket_address of = { .in6 = { .sin6_family = AF_INET6,
							.sin6_addr = of_v6 } };
		static const struct rr_redis_at none;

		of.in6.sin6_port = htons((uint16_t)atoi(colon + 1));
		rr_address_write(&none, &of, address);
		return true;
	}
	snprintf(address, RR_ADDRESS_SIZE, "%s:%s", host, colon + 1);
	return strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == n_host;
}

void rr_redis_at_resolve(char path[RR_ADDRESS_SIZE])
{
	char directory[RR_ADDRESS_SIZE], whole[2 * PATH_MAX];
	char *name;

	if (path[0] != '/')
		return;
	snprintf(directory, sizeof(directory), "%s", path);
	name = strrchr(directory, '/');
	*name++ = '\0';
	/* Nothing need be there. */
	if (!realpath(path, whole)) {
		if (!realpath(directory[0] ? directory : "/", whole))
			return;
		if (strcmp(whole, "/") != 0)
			strcat(whole, "/");
		strcat(whole, name);
	}
	if (strlen(whole) < RR_ADDRESS_SIZE)
		memcpy(path, whole, strlen(whole) + 1);
}

static void add_alias(struct rr_redis_at *named, unsigned of, const char *address,
		      bool is_unresolved)
{
	struct rr_alias *alias = &named->aliases[named->n];

	if (named->n == RR_ALIASES_MAX)
		return;
	named->n++;
	alias->of = of;
	alias->is_unresolved = is_unresolved;
	snprintf(alias->address, sizeof(alias->address), "%s", address);
}

void rr_redis_places_add(struct rr_redis_places *places, const char *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct rr_redis_at *named = &places->named;
	char address[RR_ADDRESS_SIZE], host[RR_ADDRESS_SIZE], its[RR_ADDRESS_SIZE];
	char resolved[RR_ADDRESS_SIZE];
	union rr_socket_address of = { .bytes = "" };
	struct addrinfo *found = NULL;
	bool is_unresolved = false;
	char *port;
	int which;

	if (!rr_redis_at_read(text, address) || rr_redis_at_find(named, address) >= 0)
		return;
	snprintf(resolved, sizeof(resolved), "%s", address);
	rr_redis_at_resolve(resolved);
	snprintf(host, sizeof(host), "%s", address);
	port = strrchr(host, ':');
	if (address[0] != '/' && address[0] != '@' && address[0] != '[') {
		*port++ = '\0';
		is_unresolved = getaddrinfo(host, port, &hints, &found) != 0;
	}
	/* Two names of one address are one Redis, with all that either has; and two paths of one
	 * socket. */
	which = rr_redis_at_find(named, resolved);
	for (const struct addrinfo *at = found; at && which < 0; at = at->ai_next) {
		memcpy(&of, at->ai_addr, at->ai_addrlen);
		rr_address_write(named, &of, its);
		which = rr_redis_at_find(named, its);
	}
	if (which < 0)
		which = (int)named->n_places++;
	/* As it is given, too: the library does not follow links. */
	add_alias(named, (unsigned)which, address, is_unresolved);
	if (rr_redis_at_find(named, resolved) < 0)
		add_alias(named, (unsigned)which, resolved, false);
	for (const struct addrinfo *at = found; at; at = at->ai_next) {
		memcpy(&of, at->ai_addr, at->ai_addrlen);
		rr_address_write(named, &of, its);
		if (rr_redis_at_find(named, its) < 0)
			add_alias(named, (unsigned)which, its, false);
	}
	if (found)
		freeaddrinfo(found);
}

/* ---- Whether it is one Redis ----------------------------------------------------------- */

bool rr_redis_places_take(struct rr_redis_places *places, const char *address,
			  char other[RR_ADDRESS_SIZE])
{
	const int which = rr_redis_at_find(&places->named, address);
	const bool are_apart = places->named.n_places > 1;
	bool is_known = false, is_other = are_apart && which < 0;

	for (size_t i = 0; i < places->n_led; i++) {
		const char *led = places->led[i];
		const bool is_same = are_apart || rr_addresses_are_same(led, address) ||
				     (which >= 0 && rr_redis_at_find(&places->named, led) == which);

		is_known |= strcmp(led, address) == 0;
		if (!is_same && !is_other)
			snprintf(other, RR_ADDRESS_SIZE, "%s", led);
		is_other |= !is_same;
	}
	if (!is_known && places->n_led < RR_NOTES_MAX)
		snprintf(places->led[places->n_led++], RR_ADDRESS_SIZE, "%s", address);
	return !is_other;
}
