/* SPDX-License-Identifier: MIT */
/*
 * Where a program takes Redis to be. A connection to port 6379 of any address, or to what --redis-at
 * names, leads to redrace's server instead. The preloaded library leads it (shim/redis_at.c, which includes
 * this file, too), so that it does so where redrace may not look into a program, and before it is known
 * whether redrace may. Of programs that have not loaded it, the kernel asks redrace about each connect(2)
 * (outside.h).
 *
 * An address is a text, as --redis-at takes it: "10.0.0.5:6379", "[2001:db8::5]:6379", "redis:6379",
 * "/run/redis.sock", or "@name" for an abstract unix socket.
 */
#ifndef RR_REDIS_AT_H
#define RR_REDIS_AT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

/* REDIS_PORT: of a Redis, unless it is told another one. REDIS_AT_MAX: times --redis-at. ALIASES_MAX:
 * of these, with the addresses that their names have. NOTES_MAX: texts of one kind that the library
 * tells redrace. PLACE_DATABASES: of each Redis, as many as it has unless it is told another number. */
enum {
	RR_REDIS_PORT = 6379,
	RR_ADDRESS_SIZE = 256,
	RR_HOST_MAX = 180,
	RR_REDIS_AT_MAX = 8,
	RR_ALIASES_MAX = 32,
	RR_NOTES_MAX = 16,
	RR_PLACE_DATABASES = 16
};

union rr_socket_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	char bytes[sizeof(struct sockaddr_un) + 1]; /* a path may be without its NUL */
};

/* Written once by any thread of any process. */
struct rr_note {
	_Atomic int state; /* 0 = free, 1 = is being written, 2 = is there */
	char text[RR_ADDRESS_SIZE];
};

/* In the page of a program (program_page.h). Each --redis-at is a place of its own, whose data are kept
 * apart: redrace's server has a port and a path for each. Without the option there is one place. */
struct rr_redis_at {
	unsigned n_places;
	unsigned ports[RR_REDIS_AT_MAX];
	char paths[RR_REDIS_AT_MAX][sizeof(((struct sockaddr_un *)0)->sun_path)];
	unsigned n;
	struct rr_alias {
		unsigned of;        /* its place */
		bool is_unresolved; /* a name that has no address here */
		char address[RR_ADDRESS_SIZE];
	} aliases[RR_ALIASES_MAX];
	struct rr_note led[RR_NOTES_MAX];   /* addresses from which the library has led one */
	struct rr_note hosts[RR_NOTES_MAX]; /* names to which it has given an address */
	struct rr_note lost[RR_NOTES_MAX];  /* names that have none, with the port if it is known */
};

/* Where a connection leads to: the last one is a name that got an address for its Redis, at another
 * port. */
enum rr_leads { RR_LEADS_ELSEWHERE, RR_LEADS_TO_REDIS, RR_LEADS_NOWHERE };

/* Adds a text to a list of RR_NOTES_MAX, once; a list that is full takes no more. */
static inline void rr_note_add(struct rr_note *list, const char *text)
{
	for (int i = 0; i < RR_NOTES_MAX; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&list[i].state, &none, 1)) {
			snprintf(list[i].text, sizeof(list[i].text), "%s", text);
			atomic_store(&list[i].state, 2);
			return;
		}
		if (none == 2 && strcmp(list[i].text, text) == 0)
			return;
	}
}

/* The text of one; NULL = there is none (yet). */
static inline const char *rr_note_text(const struct rr_note *note)
{
	return atomic_load(&note->state) == 2 ? note->text : NULL;
}

/* The address of a name that has none, in host order: the same in each run, of 127.128.0.0 to
 * 127.227.255.254, where nothing else is. */
static inline uint32_t rr_host_address(const char *name)
{
	uint32_t digest = 0x811c9dc5;

	for (; *name; name++)
		digest = (digest ^ (unsigned char)*name) * 0x01000193;
	return 127U << 24 | (128 + (digest >> 16) % 100) << 16 | (digest >> 8 & 0xff) << 8 |
	       (1 + digest % 254);
}

/* The name to which the library has given this address; NULL = none. */
static inline const char *rr_host_of(const struct rr_redis_at *at, uint32_t address)
{
	for (int i = 0; i < RR_NOTES_MAX; i++) {
		const char *name = rr_note_text(&at->hosts[i]);

		if (name && rr_host_address(name) == address)
			return name;
	}
	return NULL;
}

/* Is it one of IPv4, also inside IPv6? *address is in host order. */
static inline bool rr_address_of_v4(const union rr_socket_address *of, uint32_t *address)
{
	if (of->any.sa_family == AF_INET)
		*address = of->in.sin_addr.s_addr;
	else if (of->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&of->in6.sin6_addr))
		memcpy(address, &of->in6.sin6_addr.s6_addr[12], sizeof(*address));
	else
		return false;
	*address = ntohl(*address);
	return true;
}

/* 0 = it has none. */
static inline unsigned rr_address_port(const union rr_socket_address *of)
{
	switch (of->any.sa_family) {
	case AF_INET:
		return ntohs(of->in.sin_port);
	case AF_INET6:
		return ntohs(of->in6.sin6_port);
	default:
		return 0;
	}
}

/* Writes an address as a text. A path that is relative stays so. */
static inline void rr_address_write(const struct rr_redis_at *at, const union rr_socket_address *of,
				    char text[RR_ADDRESS_SIZE])
{
	const unsigned port = rr_address_port(of);
	const char *path = of->un.sun_path, *name;
	char host[INET6_ADDRSTRLEN] = "";
	uint32_t v4;

	if (of->any.sa_family == AF_UNIX) {
		snprintf(text, RR_ADDRESS_SIZE, "%s%s", path[0] ? "" : "@",
			 path[0] ? path : path + 1);
	} else if (rr_address_of_v4(of, &v4)) {
		name = rr_host_of(at, v4);
		v4 = htonl(v4);
		inet_ntop(AF_INET, &v4, host, sizeof(host));
		snprintf(text, RR_ADDRESS_SIZE, "%.180s:%u", name ? name : host, port);
	} else {
		inet_ntop(AF_INET6, &of->in6.sin6_addr, host, sizeof(host));
		snprintf(text, RR_ADDRESS_SIZE, "[%s]:%u", host, port);
	}
}

/* Of an address of this machine its port, with the colon; NULL = it is another one. */
static inline const char *rr_address_local_port(const char *address)
{
	/* 127.0.1.1 is the host's own name in Debian's /etc/hosts. */
	static const char *const hosts[] = { "localhost:", "127.0.0.1:", "127.0.1.1:",
					     "[::1]:",     "[::]:",      "0.0.0.0:" };

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		if (strncmp(address, hosts[i], strlen(hosts[i])) == 0)
			return address + strlen(hosts[i]) - 1;
	}
	return NULL;
}

/* Are both the same Redis? All forms of localhost are one. */
static inline bool rr_addresses_are_same(const char *a, const char *b)
{
	const char *port_a = rr_address_local_port(a), *port_b = rr_address_local_port(b);

	return strcmp(a, b) == 0 || (port_a && port_b && strcmp(port_a, port_b) == 0);
}

/* The place of the --redis-at that names it; -1 = none does. */
static inline int rr_redis_at_find(const struct rr_redis_at *at, const char *address)
{
	for (unsigned i = 0; i < at->n; i++) {
		if (rr_addresses_are_same(at->aliases[i].address, address))
			return (int)at->aliases[i].of;
	}
	return -1;
}

/* Where does a connection of this address, and its text, lead to? */
static inline enum rr_leads rr_redis_at_leads(const struct rr_redis_at *at,
					      const union rr_socket_address *of, const char *text)
{
	uint32_t v4;

	if (rr_address_port(of) == RR_REDIS_PORT || rr_redis_at_find(at, text) >= 0)
		return RR_LEADS_TO_REDIS;
	return rr_address_of_v4(of, &v4) && rr_host_of(at, v4) ? RR_LEADS_NOWHERE :
								 RR_LEADS_ELSEWHERE;
}

/* Connects a socket to redrace's server instead of that address, which is a text and a family. Returns
 * what connect(2) does. */
static inline int rr_redis_at_lead(const struct rr_redis_at *at, int fd, const char *address,
				   sa_family_t family,
				   int (*connect_to)(int, const struct sockaddr *, socklen_t))
{
	const int found = rr_redis_at_find(at, address);
	const unsigned place = found < 0 ? 0 : (unsigned)found, port = at->ports[place];
	union rr_socket_address own = { .any.sa_family = family };
	socklen_t size = sizeof(own.in);
	const int no = 0;

	if (family == AF_UNIX) {
		memcpy(own.un.sun_path, at->paths[place], sizeof(own.un.sun_path));
		size = sizeof(own.un);
	} else if (family == AF_INET6) {
		/* The server listens in IPv4. */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
		own.in6.sin6_port = htons((uint16_t)port);
		own.in6.sin6_addr.s6_addr[10] = own.in6.sin6_addr.s6_addr[11] = 0xff;
		own.in6.sin6_addr.s6_addr[12] = 127;
		own.in6.sin6_addr.s6_addr[15] = 1;
		size = sizeof(own.in6);
	} else {
		own.in.sin_port = htons((uint16_t)port);
		own.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	return connect_to(fd, &own.any, size);
}

/* ---- What a check says of it (redis_at.c); not for the library ------------------------- */

/* Of all programs of a check. */
struct rr_redis_places {
	struct rr_redis_at named;
	size_t n_led; /* addresses from which a connection was led */
	char led[RR_NOTES_MAX][RR_ADDRESS_SIZE];
	/* Where a Redis may be that no option names: the first other address to which a program has
	 * begun a stream, and the first name without an address; "" = none. */
	char other[RR_ADDRESS_SIZE], lost[RR_ADDRESS_SIZE];
};

/* Reads one as --redis-at has it: HOST:PORT, unix:PATH or an absolute path. False: it is none, or too
 * long. */
bool rr_redis_at_read(const char *text, char address[RR_ADDRESS_SIZE]);

/* Follows the symbolic links of a path from "/" on, of which the last part need not be there. Any other
 * address stays as it is. */
void rr_redis_at_resolve(char path[RR_ADDRESS_SIZE]);

/* Adds one that was read, and the addresses that its name has, which are looked up. */
void rr_redis_places_add(struct rr_redis_places *places, const char *text);

/* A connection is led from this address. False: it is none of the places, or a second Redis although
 * there are none; `other` is the address of the first one. */
bool rr_redis_places_take(struct rr_redis_places *places, const char *address,
			  char other[RR_ADDRESS_SIZE]);

#endif
