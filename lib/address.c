/* SPDX-License-Identifier: MIT */
/*
 * Where a server is: URIs, read and printed. A message never holds a piece of a
 * URI: who writes one wrong may have written the password there.
 */
#include "address.h"
#include "tls.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum { DEFAULT_PORT = 6379, SENTINEL_PORT = 26379 };

static bool refuse_address(char *error, size_t error_size, const char *why)
{
	snprintf(error, error_size, "%s", why);
	return false;
}

/* Copies [from, end) with %XX decoded; false when it does not fit, a %-escape is
 * none, or it is that of the byte 0, which would cut the text. */
static bool decode_escapes(char *to, size_t size, const char *from, const char *end)
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
		to[n++] = (char)strtol((char[]){ from[1], from[2], 0 }, NULL, 16);
		if (to[n - 1] == '\0')
			return false;
		from += 3;
	}
	to[n] = '\0';
	return true;
}

/* The whole of [from, end) as a number in [min, max]. */
static bool parse_digits(int *to, const char *from, const char *end, long min, long max)
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

static bool parse_unix(struct rdl_address *address, const char *rest, char *error,
		       size_t error_size)
{
	const size_t path_max = sizeof(((struct sockaddr_un *)0)->sun_path);
	const char *query = strchr(rest, '?');
	const char *end = query ? query : rest + strlen(rest);

	address->is_unix = true;
	if (end == rest || (size_t)(end - rest) >= path_max)
		return refuse_address(error, error_size,
				      "a socket path after unix:// has 1 to 107 bytes");
	memcpy(address->host, rest, (size_t)(end - rest));
	if (query && (strncmp(query, "?db=", 4) != 0 ||
		      !parse_digits(&address->db, query + 4, query + strlen(query), 0, INT_MAX)))
		return refuse_address(error, error_size,
				      "what follows a socket path is ?db= and a number");
	return true;
}

static bool parse_user(struct rdl_address *address, const char *from, const char *at)
{
	const char *colon = memchr(from, ':', (size_t)(at - from));

	if (!colon)
		return decode_escapes(address->user, sizeof(address->user), from, at);
	return decode_escapes(address->user, sizeof(address->user), from, colon) &&
	       decode_escapes(address->password, sizeof(address->password), colon + 1, at);
}

static bool parse_host(struct rdl_address *address, const char *from, const char *end)
{
	const char *colon = NULL;

	if (from < end && *from == '[') {
		const char *close = memchr(from, ']', (size_t)(end - from));

		if (!close || (close + 1 < end && close[1] != ':'))
			return false;
		if (close + 1 < end)
			colon = close + 1;
		if (!decode_escapes(address->host, sizeof(address->host), from + 1, close))
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

/* ---- Lists of hosts ----------------------------------------------------- */

/* The first into host and port, the others, looked at, into `more`. */
static bool parse_hosts(struct rdl_address *address, const char *from, const char *end)
{
	const char *comma = memchr(from, ',', (size_t)(end - from));
	struct rdl_address scratch;
	size_t n = 1;

	if (!parse_host(address, from, comma ? comma : end))
		return false;
	if (!comma)
		return true;
	if ((size_t)(end - comma) > sizeof(address->more))
		return false;
	memcpy(address->more, comma + 1, (size_t)(end - comma - 1));
	while (comma && n++ < RDL_NODES_MAX) {
		from = comma + 1;
		comma = memchr(from, ',', (size_t)(end - from));
		if (!parse_host(&scratch, from, comma ? comma : end))
			return false;
	}
	return !comma;
}

bool rdl_address_node(const struct rdl_address *address, size_t i, struct rdl_address *node)
{
	const char *from = address->more, *end;

	*node = *address;
	node->kind = RDL_ADDRESS_SERVER;
	node->db = 0;
	node->more[0] = node->service[0] = '\0';
	if (i == 0)
		return true;
	node->port = address->kind == RDL_ADDRESS_SENTINEL ? SENTINEL_PORT : DEFAULT_PORT;
	while (from && --i > 0) {
		from = strchr(from, ',');
		from += from != NULL;
	}
	if (!from || !*from)
		return false;
	end = strchr(from, ',');
	return parse_host(node, from, end ? end : from + strlen(from));
}

/* ---- Forms -------------------------------------------------------------- */

/* What follows the hosts, from its slash on to `end`; no slash: it is `end`. */
static bool parse_db(struct rdl_address *address, const char *slash, const char *end)
{
	return end - slash <= 1 || parse_digits(&address->db, slash + 1, end, 0, INT_MAX);
}

static bool parse_service(struct rdl_address *address, const char *slash, const char *end)
{
	const char *from = slash + (slash < end);
	const char *db = memchr(from, '/', (size_t)(end - from));

	if (!db)
		db = end;
	return db > from && decode_escapes(address->service, sizeof(address->service), from, db) &&
	       parse_db(address, db, end);
}

static bool parse_nothing(struct rdl_address *address, const char *slash, const char *end)
{
	(void)address;
	return end - slash <= 1;
}

/* ---- What TLS needs ------------------------------------------------------ */

static bool parse_parameter(struct rdl_address *address, const char *from, const char *end)
{
	const struct {
		const char *name;
		char *to;
		size_t size;
	} parameters[] = {
		{ "ca=", address->ca, sizeof(address->ca) },
		{ "cert=", address->cert, sizeof(address->cert) },
		{ "key=", address->key, sizeof(address->key) },
		{ "sni=", address->sni, sizeof(address->sni) },
	};

	if (end - from == 9 && memcmp(from, "verify=no", 9) == 0) {
		address->is_unverified = true;
		return true;
	}
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
		const size_t n = strlen(parameters[i].name);

		if ((size_t)(end - from) > n && memcmp(from, parameters[i].name, n) == 0)
			return decode_escapes(parameters[i].to, parameters[i].size, from + n, end);
	}
	return false;
}

/* NAME=VALUE&... behind the question mark. A certificate has a key. */
static bool parse_parameters(struct rdl_address *address, const char *from)
{
	while (*from) {
		const char *end = from + strcspn(from, "&");

		if (!parse_parameter(address, from, end))
			return false;
		from = end + (*end == '&');
	}
	return !address->cert[0] == !address->key[0];
}

/* ---- One form of them ---------------------------------------------------- */

static const struct form {
	const char *rest_of_scheme; /* behind "redis", or "rediss" with TLS */
	enum rdl_address_kind kind;
	int port;
	bool (*parse_rest)(struct rdl_address *address, const char *slash, const char *end);
	const char *bad_rest;
} forms[] = {
	{ "://", RDL_ADDRESS_SERVER, DEFAULT_PORT, parse_db,
	  "a database after the host is a number" },
	{ "+sentinel://", RDL_ADDRESS_SENTINEL, SENTINEL_PORT, parse_service,
	  "expected redis+sentinel://HOST[:PORT][,HOST[:PORT]...]/SERVICE[/DB]" },
	{ "+cluster://", RDL_ADDRESS_CLUSTER, DEFAULT_PORT, parse_nothing,
	  "nothing follows the hosts of redis+cluster://: a cluster has one database" },
};

static bool parse_form(struct rdl_address *address, const struct form *form, const char *rest,
		       char *error, size_t error_size)
{
	const char *at = strrchr(rest, '@');
	const char *host = at ? at + 1 : rest;
	const char *query = strchr(host, '?');
	const char *end = query ? query : host + strlen(host);
	const char *slash = memchr(host, '/', (size_t)(end - host));
	bool good;

	if (!slash)
		slash = end;
	address->kind = form->kind;
	address->port = form->port;
	if (at && !parse_user(address, rest, at))
		return refuse_address(
			error, error_size,
			"cannot read user and password before the '@': % in them is followed by two hexadecimal digits that are not 00, and 127 and 255 bytes are the most");
	good = form->kind == RDL_ADDRESS_SERVER ? !memchr(host, ',', (size_t)(slash - host)) &&
							  parse_host(address, host, slash) :
						  parse_hosts(address, host, slash);
	if (!good)
		return refuse_address(
			error, error_size,
			form->kind == RDL_ADDRESS_SERVER ?
				"expected HOST[:PORT] after the scheme, a port being 1 to 65535" :
				"expected HOST[:PORT][,HOST[:PORT]...] after the scheme, 16 at most, a port being 1 to 65535");
	if (query && !address->is_tls)
		return refuse_address(error, error_size, "what follows a ? is for rediss://");
	if (query && !parse_parameters(address, query + 1))
		return refuse_address(
			error, error_size,
			"what follows the ? of rediss:// is ca=FILE, cert=FILE and key=FILE, sni=NAME or verify=no, with & between them");
	return form->parse_rest(address, slash, end) ||
	       refuse_address(error, error_size, form->bad_rest);
}

bool rdl_address_parse(struct rdl_address *address, const char *uri, char *error, size_t error_size)
{
	*address = (struct rdl_address){ .port = DEFAULT_PORT };
	if (strncmp(uri, "unix://", 7) == 0)
		return parse_unix(address, uri + 7, error, error_size);
	address->is_tls = strncmp(uri, "rediss", 6) == 0;
	if (address->is_tls && !RDL_HAS_TLS)
		return refuse_address(
			error, error_size,
			"rediss:// needs TLS, which this was built without: install libssl-dev (OpenSSL's headers) and build it again");
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *rest = uri + 5 + address->is_tls;
		const size_t length = strlen(forms[i].rest_of_scheme);

		if (strncmp(uri, "redis", 5) == 0 &&
		    strncmp(rest, forms[i].rest_of_scheme, length) == 0)
			return parse_form(address, &forms[i], rest + length, error, error_size);
	}
	return refuse_address(
		error, error_size,
		"expected redis://[user[:password]@]host[:port][/db], unix://PATH[?db=N], redis+sentinel://HOSTS/SERVICE or redis+cluster://HOSTS");
}

/* ---- Printing ----------------------------------------------------------- */

static void print_unix(const struct rdl_address *address, char *buffer, size_t size)
{
	if (address->db)
		snprintf(buffer, size, "unix://%s?db=%d", address->host, address->db);
	else
		snprintf(buffer, size, "unix://%s", address->host);
}

/* "HOST:PORT", and what else there is. */
static void print_hosts(const struct rdl_address *address, char *buffer, size_t size)
{
	const bool is_v6 = strchr(address->host, ':') != NULL;

	snprintf(buffer, size, "%s%s%s:%d%s%s", is_v6 ? "[" : "", address->host, is_v6 ? "]" : "",
		 address->port, address->more[0] ? "," : "", address->more);
}

void rdl_address_print(const struct rdl_address *address, char *buffer, size_t size)
{
	char hosts[sizeof(address->host) + sizeof(address->more) + 16];
	const char *tls = address->is_tls ? "s" : "";
	char db[16] = "";

	if (address->is_unix) {
		print_unix(address, buffer, size);
		return;
	}
	print_hosts(address, hosts, sizeof(hosts));
	if (address->db)
		snprintf(db, sizeof(db), "/%d", address->db);
	if (address->kind == RDL_ADDRESS_SENTINEL)
		snprintf(buffer, size, "redis%s+sentinel://%s/%s%s", tls, hosts, address->service,
			 db);
	else if (address->kind == RDL_ADDRESS_CLUSTER)
		snprintf(buffer, size, "redis%s+cluster://%s", tls, hosts);
	else
		snprintf(buffer, size, "redis%s://%s/%d", tls, hosts, address->db);
}
