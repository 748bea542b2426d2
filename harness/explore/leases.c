/* SPDX-License-Identifier: MIT */
/* What only the servers can say: when leases end, and whether anything has been
 * written. */
#include <stdlib.h>
#include <string.h>

#include "access_inside.h"

/* Redis removes a key when more than its time has passed. */
#define PAST_THE_END_NS INT64_C(1000000)

static bool is_key_of(const struct rr_name *name, int server)
{
	return name->server == server && name->text[0] != RR_NO_KEY;
}

static bool ask(struct rr_access *access, int server)
{
	struct rl_link *link = access->links[server];

	for (size_t i = 1; i < access->n_names; i++) {
		const struct rr_name *name = &access->names[i];

		if (is_key_of(name, server) &&
		    rl_queue(link, "PTTL %s", name->text) != RL_OK)
			return false;
	}
	return rl_flush(link) == RL_OK;
}

static bool hear(struct rl_link *link, int64_t *end_ns)
{
	struct rl_reply reply;

	if (rl_receive(link, &reply) != RL_OK)
		return false;
	if (reply.integer >= 0)
		*end_ns = reply.integer * 1000000 + PAST_THE_END_NS;
	else
		*end_ns = reply.integer == -1 ? RR_NEVER : RR_ABSENT_KEY;
	return true;
}

bool rr_access_read_ends(struct rr_access *access,
			 int64_t ends_ns[RR_NAMES_MAX])
{
	for (size_t i = 0; i < access->n_servers; i++) {
		if (!ask(access, (int)i))
			return false;
	}
	for (size_t i = 0; i < RR_NAMES_MAX; i++)
		ends_ns[i] = RR_ABSENT_KEY;
	for (size_t i = 1; i < access->n_names; i++) {
		const int server = access->names[i].server;

		if (server >= 0 && is_key_of(&access->names[i], server) &&
		    !hear(access->links[server], &ends_ns[i]))
			return false;
	}
	return true;
}

int64_t rr_access_first_end(const int64_t ends_ns[RR_NAMES_MAX])
{
	int64_t first_ns = RR_NEVER;

	for (size_t i = 0; i < RR_NAMES_MAX; i++) {
		if (ends_ns[i] >= 0 && ends_ns[i] < first_ns)
			first_ns = ends_ns[i];
	}
	return first_ns;
}

uint64_t rr_access_ends_within(const int64_t ends_ns[RR_NAMES_MAX],
			       int64_t duration_ns)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < RR_NAMES_MAX; i++) {
		if (ends_ns[i] >= 0 && ends_ns[i] <= duration_ns)
			bits |= UINT64_C(3) << i;
	}
	return bits;
}

long long rr_access_changes(struct rr_access *access, int server)
{
	static const char field[] = "rdb_changes_since_last_save:";
	struct rl_reply reply;
	const char *found;

	if (server < 0 || rl_run(access->links[server], &reply,
				 "INFO persistence") != RL_OK)
		return -1;
	found = reply.text ? strstr(reply.text, field) : NULL;
	return found ? atoll(found + sizeof(field) - 1) : -1;
}
