/* SPDX-License-Identifier: MIT */
/* Bits for keys, servers and mutexes. A key has two: for its value, and next to
 * that for its lease, which may be set anew without touching the value. */
#include <stdio.h>
#include <string.h>

#include "access_inside.h"

static size_t find(const struct rr_access *access, int server, const char *text)
{
	size_t i = 1;

	while (i < access->n_names && (access->names[i].server != server ||
				       strcmp(access->names[i].text, text)))
		i++;
	return i;
}

static void put(struct rr_access *access, int server, const char *text)
{
	struct rr_name *name = &access->names[access->n_names++];

	name->server = server;
	snprintf(name->text, sizeof(name->text), "%s", text);
}

/* Those for which no bit is left share the last one: they conflict more. */
static uint64_t bit_of(struct rr_access *access, int server, const char *text,
		       bool has_lease)
{
	static const char lease[] = { RR_NO_KEY, 'l', '\0' };
	const size_t i = find(access, server, text);

	if (i < access->n_names)
		return UINT64_C(1) << i;
	if (i + has_lease >= RR_NAMES_MAX)
		return UINT64_C(1) << RR_NAMES_MAX;
	put(access, server, text);
	if (has_lease) {
		access->leases |= UINT64_C(2) << i;
		put(access, server, lease);
	}
	return UINT64_C(1) << i;
}

uint64_t rr_access_bit(struct rr_access *access, int server, const char *key)
{
	return bit_of(access, server, key, true);
}

uint64_t rr_names_lease(const struct rr_access *access, uint64_t keys)
{
	return keys << 1 & access->leases;
}

uint64_t rr_names_server(struct rr_access *access, int server)
{
	static const char name[] = { RR_NO_KEY, '\0' };

	return bit_of(access, server, name, false);
}

uint64_t rr_names_mutex(struct rr_access *access, const struct rl_mutex *mutex)
{
	char name[RR_KEY_NAME_SIZE];

	snprintf(name, sizeof(name), "%p", (const void *)mutex);
	return bit_of(access, -1, name, false);
}
