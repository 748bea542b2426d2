/* SPDX-License-Identifier: MIT */
#include "look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MS = 2000 };

#define JITTER_NS INT64_C(100000000)

/* ---- Asking ------------------------------------------------------------------------ */

static bool answers(struct rr_scenery *scenery, int server)
{
	return rr_cluster_state(scenery->cluster, server) == RR_SERVER_RUNNING;
}

static void hang_up(struct rr_scenery *scenery, int server)
{
	rr_wire_close(scenery->wires[server]);
	scenery->wires[server] = NULL;
}

bool rr_look_ask(struct rr_scenery *scenery, int server, size_t n,
		 const char *const words[], char text[RR_REPLY_TEXT_SIZE])
{
	size_t lengths[RR_WORDS_MAX];
	char error[200];

	for (size_t i = 0; i < n; i++)
		lengths[i] = strlen(words[i]);
	/* A connection that a fault has closed is opened again, once. */
	for (int i = 0; i < 2 && answers(scenery, server); i++) {
		struct rr_wire **wire = &scenery->wires[server];

		if (!*wire)
			*wire = rr_wire_open(
				rr_cluster_address(scenery->cluster, server),
				error, sizeof(error));
		if (*wire && rr_wire_send(*wire, n, words, lengths) &&
		    rr_wire_read(*wire, ANSWER_MS, text) == RR_WIRE_REPLY)
			return true;
		hang_up(scenery, server);
	}
	return false;
}

/* How a key of each type is read whole. */
static const struct {
	const char *type;
	size_t n;
	const char *words[5]; /* NULL = the key */
} readers[] = {
	{ "string", 2, { "GET", NULL } },
	{ "list", 4, { "LRANGE", NULL, "0", "-1" } },
	{ "set", 2, { "SMEMBERS", NULL } },
	{ "hash", 2, { "HGETALL", NULL } },
	{ "zset", 5, { "ZRANGE", NULL, "0", "-1", "WITHSCORES" } },
};

bool rr_look_read(struct rr_scenery *scenery, int server, const char *key,
		  char text[RR_REPLY_TEXT_SIZE])
{
	const char *const type[] = { "TYPE", key };

	if (!rr_look_ask(scenery, server, 2, type, text))
		return false;
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		const char *words[5];

		if (strcmp(text, readers[i].type) != 0)
			continue;
		for (size_t w = 0; w < readers[i].n; w++)
			words[w] =
				readers[i].words[w] ? readers[i].words[w] : key;
		return rr_look_ask(scenery, server, readers[i].n, words, text);
	}
	snprintf(text, RR_REPLY_TEXT_SIZE, "(nil)");
	return true;
}

int rr_look_split(const struct rr_scenery *scenery, const char *key,
		  char name[RR_VALUE_SIZE])
{
	const char *at = strrchr(key, '@');
	int server = 0;

	for (size_t i = 0; at && i < scenery->race->n_servers; i++) {
		if (strcmp(scenery->race->servers[i].name, at + 1) == 0)
			server = (int)i;
	}
	snprintf(name, RR_VALUE_SIZE, "%.*s",
		 at ? (int)(at - key) : (int)strlen(key), key);
	return server;
}

/* When a key's lease ends, in virtual time; -1 = never, or it is not there. */
static bool read_end(struct rr_scenery *scenery, int server, const char *key,
		     int64_t *ends_ns)
{
	const char *const words[] = { "PTTL", key };
	char text[RR_REPLY_TEXT_SIZE];
	long long left_ms;

	if (!rr_look_ask(scenery, server, 2, words, text))
		return false;
	left_ms = atoll(text + strcspn(text, "-0123456789"));
	*ends_ns = left_ms < 0 ? -1 :
				 rr_cluster_now_ns(scenery->cluster) +
					 left_ms * INT64_C(1000000);
	return true;
}

bool rr_look_read_shown(struct rr_scenery *scenery, const char *key,
			char value[RR_VALUE_SIZE])
{
	char name[RR_VALUE_SIZE], text[RR_REPLY_TEXT_SIZE];
	const int server = rr_look_split(scenery, key, name);

	if (!rr_look_read(scenery, server, name, text))
		return false;
	snprintf(value, RR_VALUE_SIZE, "%.*s", RR_VALUE_SIZE - 1, text);
	return true;
}

/* ---- Looking -------------------------------------------------------------------------- */

/* One key, as it is or as it must have become while nobody could be asked. */
static void look_at(struct rr_scenery *scenery, size_t i)
{
	int64_t *ends_ns = &scenery->ends_ns[i];
	char name[RR_VALUE_SIZE];
	const int server = rr_look_split(scenery, scenery->race->keys[i], name);

	if (rr_look_read_shown(scenery, scenery->race->keys[i],
			       scenery->keys[i]) &&
	    read_end(scenery, server, name, ends_ns))
		return;
	if (*ends_ns >= 0 && rr_cluster_now_ns(scenery->cluster) > *ends_ns)
		snprintf(scenery->keys[i], RR_VALUE_SIZE, "(nil)");
}

void rr_scenery_look(struct rr_scenery *scenery, char *keys[RR_KEYS_SHOWN_MAX])
{
	for (size_t i = 0; i < scenery->race->n_keys; i++) {
		look_at(scenery, i);
		keys[i] = strdup(scenery->keys[i]);
	}
}

/* By a clock that goes on, one end is never read twice the same. */
static void settle_end(const struct rr_scenery *scenery, int64_t before_ns,
		       int64_t *ends_ns)
{
	if (!rr_cluster_has_time(scenery->cluster) && before_ns >= 0 &&
	    *ends_ns >= 0 && llabs(*ends_ns - before_ns) < JITTER_NS)
		*ends_ns = before_ns;
}

void rr_scenery_look_at_lock(struct rr_scenery *scenery, int actor,
			     struct rr_observer *observer,
			     char remark[RR_REMARK_SIZE])
{
	const char *key = scenery->race->lock;
	const int64_t now_ns = rr_cluster_now_ns(scenery->cluster);
	char name[RR_VALUE_SIZE], text[RR_REPLY_TEXT_SIZE];
	struct rr_lock_state lock = { .expires_ns = -1 };
	int server;

	if (!key)
		return;
	server = rr_look_split(scenery, key, name);
	if (!rr_look_read(scenery, server, name, text))
		return;
	snprintf(lock.value, sizeof(lock.value), "%.*s", RR_VALUE_SIZE - 1,
		 text);
	if (!read_end(scenery, server, name, &lock.expires_ns))
		return;
	settle_end(scenery, observer->lock.expires_ns, &lock.expires_ns);
	rr_observer_lock(observer, actor, &lock, now_ns / 1000000000, remark);
}

void rr_scenery_close(struct rr_scenery *scenery)
{
	for (int i = 0; i < RR_RACE_SERVERS_MAX; i++)
		hang_up(scenery, i);
}
