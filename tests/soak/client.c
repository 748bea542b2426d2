/* SPDX-License-Identifier: MIT */
/* A client of the soak: takes a lock of a kind drawn at random, reads, works for a
 * moment, writes, gives it back; or puts an item into the delay queue, or does one. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/machine.h"
#include "soak.h"

enum {
	HOLD_MAX_MS = 10000,
	NODE_TIMEOUT_MS = 200,
	QUEUE_HOLD_MS = 800,
	QUEUE_LIMIT = 4, /* of takes: then an item is dead, and somebody revives it */
	WORK_US = 2000,
	LONG_WORK_MS = SOAK_TTL_MS + SOAK_TTL_MS / 4,
	CROWD_MS = 250, /* so long many clients want the same lock */
	ID_SIZE = 32
};

/* Its number rises with each read. */
static const char read_script[] =
	"return {redis.call('INCR', KEYS[1]), redis.call('GET', KEYS[2]) or '0'}";

/* Nothing if somebody has read since. */
static const char write_script[] =
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
	"redis.call('SET', KEYS[2], ARGV[2]) "
	"redis.call('BITFIELD', KEYS[3], 'OVERFLOW', 'SAT', 'INCRBY', 'u2', '#' .. ARGV[3], 1) "
	"return 1";

struct client {
	const struct soak *soak;
	int number;
	struct rr_random random;
	struct rdl_link *data, *nodes[SOAK_NODES];
	struct rdl_lock *token, *fenced;
	struct rdl_renewed *renewed;
	struct rdl_reentrant *reentrant;
	struct rdl_fair *fair;
	struct rdl_quorum *quorum;
	struct rdl_delay_queue *queue;
	long long grant; /* number of the fenced lock, when it was got last */
};

/* ---- The locks under one hat ------------------------------------------------------ */

static enum rdl_outcome acquire_twice(struct client *client, const struct rdl_policy *policy)
{
	const enum rdl_outcome outcome = rdl_reentrant_acquire(client->reentrant, SOAK_TTL_MS,
							       policy);

	if (outcome != RDL_OK)
		return outcome;
	return rdl_reentrant_acquire(client->reentrant, SOAK_TTL_MS, policy);
}

static enum rdl_outcome release_all(struct rdl_reentrant *lock)
{
	enum rdl_outcome outcome = RDL_LOST;

	for (int i = 0; i < 4 && rdl_reentrant_depth(lock) > 0; i++)
		outcome = rdl_reentrant_release(lock);
	return outcome;
}

static enum rdl_outcome acquire(struct client *client, enum soak_kind kind)
{
	const struct rdl_policy policy = { .wait_ms = SOAK_WAIT_MS };

	switch (kind) {
	case SOAK_TOKEN:
		return rdl_lock_acquire(client->token, SOAK_TTL_MS, &policy);
	case SOAK_RENEWED:
		return rdl_renewed_acquire(client->renewed, SOAK_TTL_MS, &policy);
	case SOAK_REENTRANT:
		return acquire_twice(client, &policy);
	case SOAK_FAIR:
		return rdl_fair_acquire(client->fair, SOAK_TTL_MS, &policy);
	case SOAK_QUORUM:
		return rdl_quorum_acquire(client->quorum, SOAK_TTL_MS, &policy);
	default:
		return rdl_lock_acquire_fenced(client->fenced, SOAK_TTL_MS, &policy,
					       &client->grant);
	}
}

static long remaining_ms(const struct client *client, enum soak_kind kind)
{
	switch (kind) {
	case SOAK_TOKEN:
		return rdl_lock_remaining_ms(client->token);
	case SOAK_RENEWED:
		return rdl_renewed_remaining_ms(client->renewed);
	case SOAK_REENTRANT:
		return rdl_reentrant_remaining_ms(client->reentrant);
	case SOAK_FAIR:
		return rdl_fair_remaining_ms(client->fair);
	case SOAK_QUORUM:
		return rdl_quorum_remaining_ms(client->quorum);
	default:
		return rdl_lock_remaining_ms(client->fenced);
	}
}

static enum rdl_outcome release(struct client *client, enum soak_kind kind)
{
	switch (kind) {
	case SOAK_TOKEN:
		return rdl_lock_release(client->token);
	case SOAK_RENEWED:
		return rdl_renewed_release(client->renewed);
	case SOAK_REENTRANT:
		return release_all(client->reentrant);
	case SOAK_FAIR:
		return rdl_fair_release(client->fair);
	case SOAK_QUORUM:
		return rdl_quorum_release(client->quorum);
	default:
		return rdl_lock_release(client->fenced);
	}
}

/* ---- An effect under a lock ------------------------------------------------------- */

static void work(struct client *client)
{
	const long us = (long)rr_random_below(&client->random, WORK_US);

	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

/* Under the renewed lock for longer than its lease now and then. */
static void work_under(struct client *client, enum soak_kind kind)
{
	if (kind == SOAK_RENEWED && rr_random_below(&client->random, 200) == 0)
		nanosleep(&(struct timespec){ LONG_WORK_MS / 1000, LONG_WORK_MS % 1000 * 1000000 },
			  NULL);
	else
		work(client);
}

static enum rdl_outcome read_count(struct client *client, enum soak_kind kind, long long *number,
				   long long *count)
{
	char fence[SOAK_KEY], key[SOAK_KEY];
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	soak_key(fence, kind, "reads");
	soak_key(key, kind, "count");
	outcome = rdl_run_script(client->data, &reply, read_script, "2 %s %s", fence, key);
	if (outcome == RDL_OK &&
	    (reply.length != 2 || !rdl_reply_number(&reply.elements[0], number) ||
	     !rdl_reply_number(&reply.elements[1], count)))
		return RDL_ERROR;
	return outcome;
}

static enum rdl_outcome write_count(struct client *client, enum soak_kind kind, long long number,
				    long long count, long effect)
{
	char fence[SOAK_KEY], key[SOAK_KEY], effects[SOAK_KEY];
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	soak_key(fence, kind, "reads");
	soak_key(key, kind, "count");
	soak_effects_key(effects, kind, client->number);
	outcome = rdl_run_script(client->data, &reply, write_script, "3 %s %s %s %lld %lld %ld",
				 fence, key, effects, number, count, effect);
	if (outcome == RDL_OK && reply.integer == 0)
		return RDL_LOST;
	return outcome;
}

static void have_effect(struct client *client, enum soak_kind kind)
{
	struct soak_books *books = client->soak->books;
	long long number, count;
	long effect;

	if (read_count(client, kind, &number, &count) != RDL_OK) {
		atomic_fetch_add(&books->counts[kind].failed, 1);
		return;
	}
	work_under(client, kind);
	effect = soak_books_begin(books, kind, client->number);
	if (effect >= 0)
		soak_books_end(books, kind, client->number, effect,
			       write_count(client, kind, number, count + 1, effect));
}

/* The same with what the library has for it; how often it is done is known only
 * within bounds. */
static void write_fenced(struct client *client)
{
	struct soak_books *books = client->soak->books;
	struct rdl_reply reply;
	long long value = 0;
	char text[24];

	if (rdl_fenced_get(client->data, "soak:value", client->grant, &reply) != RDL_OK ||
	    (!rdl_reply_is_nil(&reply) && !rdl_reply_number(&reply, &value)))
		return;
	work(client);
	snprintf(text, sizeof(text), "%lld", value + 1);
	atomic_fetch_add(&books->value_sent, 1);
	if (rdl_fenced_set(client->data, "soak:value", client->grant, text) == RDL_OK)
		atomic_fetch_add(&books->value_done, 1);
}

static void use_lock(struct client *client, enum soak_kind kind)
{
	struct soak_books *books = client->soak->books;
	const enum rdl_outcome outcome = acquire(client, kind);
	/* The time first: then the lease ends later than is written down. */
	const long long now_ns = rr_clock_ns();
	const long left_ms = outcome == RDL_OK ? remaining_ms(client, kind) : 0;
	long long until_ns;

	if (left_ms == 0) {
		atomic_fetch_add(outcome == RDL_ERROR || outcome == RDL_UNKNOWN ?
					 &books->counts[kind].failed :
					 &books->counts[kind].busy,
				 1);
		release(client, kind);
		return;
	}
	until_ns = soak_books_hold(books, kind, now_ns, left_ms);
	have_effect(client, kind);
	if (kind == SOAK_FENCED)
		write_fenced(client);
	soak_books_leave(books, kind, until_ns);
	if (release(client, kind) == RDL_LOST)
		atomic_fetch_add(&books->counts[kind].lost, 1);
}

/* ---- The delay queue ------------------------------------------------------------- */

static void put_item(struct client *client)
{
	struct soak_books *books = client->soak->books;
	const long delay_ms = (long)rr_random_below(&client->random, 20);
	const long item = soak_books_begin(books, SOAK_QUEUE, client->number);
	char id[ID_SIZE];

	if (item < 0)
		return;
	snprintf(id, sizeof(id), "%d:%ld", client->number, item);
	soak_books_end(books, SOAK_QUEUE, client->number, item,
		       rdl_delay_queue_put(client->queue, id, delay_ms));
}

/* Whoever looks revives the dead: each item is done in the end. */
static void revive_dead(struct client *client)
{
	char id[ID_SIZE];

	if (rdl_delay_queue_dead(client->queue, 0, id, sizeof(id)) == RDL_OK)
		rdl_delay_queue_revive(client->queue, id, 0);
}

/* The effect is that of the item, whoever does it. Some are given back, or held longer. */
static void do_item(struct client *client)
{
	struct soak_counts *counts = &client->soak->books->counts[SOAK_QUEUE];
	char id[ID_SIZE], key[SOAK_KEY], place[ID_SIZE];
	enum rdl_outcome outcome = rdl_delay_queue_take(client->queue, QUEUE_HOLD_MS, id,
							sizeof(id));
	int owner;
	long item;

	if (outcome != RDL_OK || sscanf(id, "%d:%ld", &owner, &item) != 2)
		return;
	atomic_fetch_add(&counts->held, 1);
	if (rr_random_below(&client->random, 4) == 0) {
		rdl_delay_queue_give_back(client->queue, id,
					  (long)rr_random_below(&client->random, 20));
		revive_dead(client);
		return;
	}
	if (rr_random_below(&client->random, 4) == 0)
		rdl_delay_queue_prolong(client->queue, id, QUEUE_HOLD_MS);
	work(client);
	soak_effects_key(key, SOAK_QUEUE, owner);
	snprintf(place, sizeof(place), "#%ld", item);
	outcome = rdl_delay_queue_done(client->queue, id, "BITFIELD %s OVERFLOW SAT INCRBY u2 %s 1",
				       key, place);
	if (outcome == RDL_LOST)
		atomic_fetch_add(&counts->lost, 1);
}

/* ---- Life ------------------------------------------------------------------------ */

static bool open_links(struct client *client)
{
	client->data = rdl_link_new(&client->soak->addresses[0], SOAK_TIMEOUT_MS);
	for (int i = 0; i < SOAK_NODES; i++) {
		client->nodes[i] = rdl_link_new(&client->soak->addresses[1 + i], SOAK_TIMEOUT_MS);
		if (!client->nodes[i])
			return false;
	}
	return client->data != NULL;
}

static bool open_locks(struct client *client)
{
	char keys[SOAK_KINDS][SOAK_KEY];

	for (int kind = 0; kind < SOAK_KINDS; kind++)
		soak_key(keys[kind], kind, "lock");
	client->token = rdl_lock_new(client->data, keys[SOAK_TOKEN]);
	client->fenced = rdl_lock_new(client->data, keys[SOAK_FENCED]);
	client->renewed = rdl_renewed_new(client->data, keys[SOAK_RENEWED], HOLD_MAX_MS);
	client->reentrant = rdl_reentrant_new(client->data, keys[SOAK_REENTRANT]);
	client->fair = rdl_fair_new(client->data, keys[SOAK_FAIR], NULL);
	client->quorum = rdl_quorum_new(client->nodes, SOAK_NODES, keys[SOAK_QUORUM],
					NODE_TIMEOUT_MS);
	client->queue = rdl_delay_queue_new(client->data, "soak:queue");
	if (client->queue)
		rdl_delay_queue_set_limit(client->queue, QUEUE_LIMIT);
	return client->token && client->fenced && client->renewed && client->reentrant &&
	       client->fair && client->quorum && client->queue;
}

static void close_client(struct client *client)
{
	rdl_lock_free(client->token);
	rdl_lock_free(client->fenced);
	rdl_renewed_free(client->renewed);
	rdl_reentrant_free(client->reentrant);
	rdl_fair_free(client->fair);
	rdl_quorum_free(client->quorum);
	rdl_delay_queue_free(client->queue);
	rdl_link_free(client->data);
	for (int i = 0; i < SOAK_NODES; i++)
		rdl_link_free(client->nodes[i]);
}

/* Half of the time what all others want at the moment. */
static enum soak_kind choose_kind(struct client *client)
{
	if (rr_random_below(&client->random, 2))
		return (enum soak_kind)(rr_clock_ns() / 1000000 / CROWD_MS % SOAK_KINDS);
	return (enum soak_kind)rr_random_below(&client->random, SOAK_KINDS);
}

int soak_client(const struct soak *soak, int client_number, uint64_t seed)
{
	struct client client = { .soak = soak, .number = client_number, .random = { seed } };
	const bool is_open = open_links(&client) && open_locks(&client);

	while (is_open && !atomic_load(&soak->books->is_over)) {
		const enum soak_kind kind = choose_kind(&client);

		if (kind != SOAK_QUEUE) {
			use_lock(&client, kind);
		} else {
			put_item(&client);
			do_item(&client);
			do_item(&client);
		}
	}
	close_client(&client);
	return is_open ? 0 : 1;
}
