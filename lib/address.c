/* SPDX-License-Identifier: MIT */
/* Where a server is: redis:// and unix:// URIs, read and printed. */
#include "redislock.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum { DEFAULT_PORT = 6379 };

static bool refuse_address(char *error, size_t error_size, const char *what,
			   const char *where)
{
	snprintf(error, error_size, "%s '%s'", what, where);
	return false;
}

/* Copies [from, end) with %XX decoded; false when it does not fit or a
 * %-escape is none. */
static bool decode_escapes(char *to, size_t size, const char *from,
			   const char *end)
{
	size_t n = 0;

	while (from < end) {
		if (n + 1 >= size)
			return false;
		if (*from != '%') {
			to[n++] = *from++;
			continue;
		}
		if (end - from < 3 || !isxdigit((unsigned char)from[1]) ||
		    !isxdigit((unsigned char)from[2]))
			return false;
		to[n++] = (char)strtol((char[]){ from[1], from[2], 0 }, NULL,
				       16);
		from += 3;
	}
	to[n] = '\0';
	return true;
}

/* The whole of [from, end) as a number in [min, max]. */
static bool parse_digits(int *to, const char *from, const char *end, long min,
			 long max)
{
	long value = 0;

	if (from == end)
		return false;
	for (; from < end; from++) {
		if (!isdigit((unsigned char)*from))
			return false;
		value = value * 10 + (*from - '0');
		if (value > max)
			return false;
	}
	*to = (int)value;
	return value >= min;
}

static bool parse_unix(struct rl_address *address, const char *rest,
		       char *error, size_t error_size)
{
	const size_t path_max = sizeof(((struct sockaddr_un *)0)->sun_path);
	const char *query = strchr(rest, '?');
	const char *end = query ? query : rest + strlen(rest);

	address->is_unix = true;
	if (end == rest || (size_t)(end - rest) >= path_max)
		return refuse_address(error, error_size,
				      "a socket path has 1 to 107 bytes, not",
				      rest);
	memcpy(address->host, rest, (size_t)(end - rest));
	if (query && (strncmp(query, "?db=", 4) != 0 ||
		      !parse_digits(&address->db, query + 4,
				    query + strlen(query), 0, INT_MAX)))
		return refuse_address(error, error_size, "expected ?db=N, got",
				      query);
	return true;
}

static bool parse_user(struct rl_address *address, const char *from,
		       const char *at)
{
	const char *colon = memchr(from, ':', (size_t)(at - from));

	if (!colon)
		return decode_escapes(address->user, sizeof(address->user),
				      from, at);
	return decode_escapes(address->user, sizeof(address->user), from,
			      colon) &&
	       decode_escapes(address->password, sizeof(address->password),
			      colon + 1, at);
}

static bool parse_host(struct rl_address *address, const char *from,
		       const char *end)
{
	const char *colon = NULL;

	if (from < end && *from == '[') {
		const char *close = memchr(from, ']', (size_t)(end - from));

		if (!close || (close + 1 < end && close[1] != ':'))
			return false;
		if (close + 1 < end)
			colon = close + 1;
		if (!decode_escapes(address->host, sizeof(address->host),
				    from + 1, close))
			return false;
	} else {
		colon = memchr(from, ':', (size_t)(end - from));
		if (!decode_escapes(address->host, sizeof(address->host), from,
				    colon ? colon : end))
			return false;
	}
	if (address->host[0] == '\0')
		return false;
	return !colon || parse_digits(&address->port, colon + 1, end, 1, 65535);
}

static bool parse_tcp(struct rl_address *address, const char *rest,
		      char *error, size_t error_size)
{
	const char *at = strrchr(rest, '@');
	const char *host = at ? at + 1 : rest;
	const char *slash = strchr(host, '/');
	const char *end = host + strlen(host);

	if (at && !parse_user(address, rest, at))
		return refuse_address(error, error_size,
				      "cannot read user and password before",
				      at);
	if (!parse_host(address, host, slash ? slash : end))
		return refuse_address(error, error_size,
				      "expected HOST[:PORT], got", host);
	if (slash && slash[1] != '\0' &&
	    !parse_digits(&address->db, slash + 1, end, 0, INT_MAX))
		return refuse_address(error, error_size,
				      "expected a database number, got",
				      slash + 1);
	return true;
}

bool rl_address_parse(struct rl_address *address, const char *uri, char *error,
		      size_t error_size)
{
	*address = (struct rl_address){ .port = DEFAULT_PORT };
	if (strncmp(uri, "unix://", 7) == 0)
		return parse_unix(address, uri + 7, error, error_size);
	if (strncmp(uri, "redis://", 8) == 0)
		return parse_tcp(address, uri + 8, error, error_size);
	snprintf(error, error_size,
		 "expected redis://[user[:password]@]host[:port][/db] or unix://PATH[?db=N]");
	return false;
}

void rl_address_print(const struct rl_address *address, char *buffer,
		      size_t size)
{
	const bool is_v6 = strchr(address->host, ':') != NULL;

	if (address->is_unix && address->db)
		snprintf(buffer, size, "unix://%s?db=%d", address->host,
			 address->db);
	else if (address->is_unix)
		snprintf(buffer, size, "unix://%s", address->host);
	else
		snprintf(buffer, size, "redis://%s%s%s:%d/%d",
			 is_v6 ? "[" : "", address->host, is_v6 ? "]" : "",
			 address->port, address->db);
}
