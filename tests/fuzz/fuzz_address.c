/* SPDX-License-Identifier: MIT */
/*
 * URIs of servers. One that is refused has to say why in one line; one that is
 * accepted has to be printed without its password, and read again from that as
 * the same place.
 */
#include "fuzz.h"
#include "redislock.h"

static void check_address(const struct rdl_address *address)
{
	demand(memchr(address->host, '\0', sizeof(address->host)) != NULL);
	demand(memchr(address->user, '\0', sizeof(address->user)) != NULL);
	demand(memchr(address->password, '\0', sizeof(address->password)) != NULL);
	demand(address->host[0] && address->db >= 0);
	demand(address->port >= 1 && address->port <= 65535);
}

/* Bytes that are escaped in a host are printed as they are, and may mean
 * something else then. */
static bool is_plain(const char *host)
{
	return !host[strcspn(host, "%/@:[]?,")];
}

static void check_again(const struct rdl_address *address)
{
	char text[1400], error[128];
	struct rdl_address again;

	rdl_address_print(address, text, sizeof(text));
	if (!address->is_unix && !(is_plain(address->host) && is_plain(address->service)))
		return;
	demand(rdl_address_parse(&again, text, error, sizeof(error)));
	demand(again.is_unix == address->is_unix && again.db == address->db &&
	       again.port == address->port && again.kind == address->kind &&
	       again.is_tls == address->is_tls && strcmp(again.more, address->more) == 0 &&
	       strcmp(again.service, address->service) == 0 &&
	       strcmp(again.host, address->host) == 0);
	demand(!again.user[0] && !again.password[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *uri = string_of(data, size), error[128] = "";
	struct rdl_address address;

	if (rdl_address_parse(&address, uri, error, sizeof(error))) {
		check_address(&address);
		check_again(&address);
	} else {
		demand(error[0] && strlen(error) < sizeof(error));
	}
	free(uri);
	return 0;
}
