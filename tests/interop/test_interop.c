/* SPDX-License-Identifier: MIT */
/*
 * Our locks and those of other libraries on one key: each is respected by the
 * other, and together they count exactly.
 */
#include "../peer_process.h"

#include <criterion/parameterized.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A peer may take long to start, on a busy machine. */
enum { TTL_MS = 600000, THEIR_SIDE = 1000, CLIENTS = 2, NODES_MAX = 5 };

/* The key that redis-semaphore makes of "interop"; any would do for the rest. */
#define LOCK "mutex:interop"

/* A peer and one of our locks. `nodes` servers hold the lock; five of them are
 * servers of its own, one is the data server. */
struct pair {
	const char *peer;
	bool quorum; /* ours is rdl_quorum, else rdl_lock */
	size_t nodes;
};

static const struct pair pairs[] = {
	{ "redis-py", false, 1 },     { "redis-py", true, 1 },     { "redis-semaphore", false, 1 },
	{ "node-redlock", false, 1 }, { "node-redlock", true, 1 }, { "node-redlock", true, 5 },
};

enum { N_PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

static struct support support;

static struct criterion_test_params each_pair(void)
{
	static size_t numbers[N_PAIRS];

	for (size_t i = 0; i < N_PAIRS; i++)
		numbers[i] = i;
	return cr_make_param_array(size_t, numbers, N_PAIRS, NULL);
}

static size_t first_node(const struct pair *pair)
{
	return pair->nodes > 1 ? 1 : 0;
}

/* Servers for a pair whose peer is installed. */
static const struct pair *begin(size_t number)
{
	const struct pair *pair = &pairs[number];

	peer_need(pair->peer);
	support_open(&support, first_node(pair) + pair->nodes);
	return pair;
}

/* ---- Our side ------------------------------------------------------------ */

struct ours {
	const struct pair *pair;
	struct rdl_link *nodes[NODES_MAX];
	struct rdl_lock *lock;
	struct rdl_quorum *quorum;
};

static void ours_open(struct ours *ours, const struct pair *pair)
{
	*ours = (struct ours){ .pair = pair };
	for (size_t i = 0; i < pair->nodes; i++)
		ours->nodes[i] = support_link(&support, first_node(pair) + i);
	if (pair->quorum)
		ours->quorum = rdl_quorum_new(ours->nodes, pair->nodes, LOCK, 1000);
	else
		ours->lock = rdl_lock_new(ours->nodes[0], LOCK);
	cr_assert(ours->quorum || ours->lock);
}

static void ours_close(struct ours *ours)
{
	rdl_lock_free(ours->lock);
	rdl_quorum_free(ours->quorum);
	for (size_t i = 0; i < ours->pair->nodes; i++)
		rdl_link_free(ours->nodes[i]);
}

static enum rdl_outcome ours_try(struct ours *ours)
{
	return ours->quorum ? rdl_quorum_try(ours->quorum, TTL_MS) :
			      rdl_lock_try(ours->lock, TTL_MS);
}

static enum rdl_outcome ours_release(struct ours *ours)
{
	return ours->quorum ? rdl_quorum_release(ours->quorum) : rdl_lock_release(ours->lock);
}

/* ---- Their side ---------------------------------------------------------- */

/* Starts a peer with these words, and the sockets it needs after them. */
static void peer_begin(struct peer_process *peer, const struct pair *pair,
		       const char *const words[])
{
	const char *all[24] = { pair->peer };
	const size_t n_sockets = first_node(pair) + pair->nodes;
	size_t n = 1;

	for (size_t i = 0; words[i]; i++)
		all[n++] = words[i];
	for (size_t i = 0; i < n_sockets; i++)
		all[n++] = support.cluster.servers[i].address.host;
	peer_start(peer, all);
}

/* A peer that asks once for the lock; was it granted? */
static bool peer_holds(struct peer_process *peer, const struct pair *pair)
{
	const char *const words[] = { "hold", LOCK, NULL };

	peer_begin(peer, pair, words);
	return peer_says(peer, "acquired");
}

/* ---- One holds, the other asks -------------------------------------------- */

ParameterizedTestParameters(interop, what_a_peer_holds_is_busy_for_us)
{
	return each_pair();
}

ParameterizedTest(size_t *number, interop, what_a_peer_holds_is_busy_for_us)
{
	const struct pair *pair = begin(*number);
	struct peer_process peer;
	struct ours ours;

	ours_open(&ours, pair);
	cr_assert(peer_holds(&peer, pair), "%s", pair->peer);
	cr_assert_eq(ours_try(&ours), RDL_BUSY, "%s", pair->peer);
	cr_assert_eq(ours_release(&ours), RDL_LOST, "%s", pair->peer);
	for (size_t i = 0; i < pair->nodes; i++)
		cr_assert_str_eq(support_ask(ours.nodes[i], "EXISTS", LOCK), "1",
				 "%s: its lock was removed", pair->peer);
	cr_assert_eq(peer_end(&peer), 0, "%s", pair->peer);
	cr_assert_eq(ours_try(&ours), RDL_OK, "%s did not give it back", pair->peer);
	cr_assert_eq(ours_release(&ours), RDL_OK);
	ours_close(&ours);
	support_close(&support);
}

ParameterizedTestParameters(interop, what_we_hold_is_refused_to_a_peer)
{
	return each_pair();
}

ParameterizedTest(size_t *number, interop, what_we_hold_is_refused_to_a_peer)
{
	const struct pair *pair = begin(*number);
	struct peer_process peer;
	struct ours ours;

	ours_open(&ours, pair);
	cr_assert_eq(ours_try(&ours), RDL_OK);
	cr_assert_not(peer_holds(&peer, pair), "%s", pair->peer);
	cr_assert_eq(peer_end(&peer), 0, "%s", pair->peer);
	cr_assert_eq(ours_release(&ours), RDL_OK, "%s removed our lock", pair->peer);
	cr_assert(peer_holds(&peer, pair), "%s", pair->peer);
	cr_assert_eq(peer_end(&peer), 0, "%s", pair->peer);
	ours_close(&ours);
	support_close(&support);
}

/* ---- Under load ------------------------------------------------------------ */

struct counting {
	pthread_t thread;
	const struct pair *pair;
	unsigned seed;
	long done;
	_Atomic bool *is_over; /* the peer is through */
};

static long count_now(struct rdl_link *link)
{
	return strtol(support_ask(link, "GET", "counter"), NULL, 10);
}

static void take(struct counting *counting, struct ours *ours)
{
	enum rdl_outcome outcome;

	while ((outcome = ours_try(ours)) == RDL_BUSY)
		rdl_sleep_ns(ours->nodes[0], 400000 + rand_r(&counting->seed) % 4000000);
	cr_assert_eq(outcome, RDL_OK);
}

static void add_one(struct rdl_link *data)
{
	struct rdl_reply reply;
	long long value = 0;

	cr_assert_eq(rdl_run(data, &reply, "GET counter"), RDL_OK);
	cr_assert(rdl_reply_is_nil(&reply) || rdl_reply_number(&reply, &value));
	cr_assert_eq(rdl_run(data, &reply, "SET counter %lld", value + 1), RDL_OK);
}

static void *count(void *argument)
{
	struct counting *counting = argument;
	struct rdl_link *data = support_link(&support, 0);
	struct ours ours;

	ours_open(&ours, counting->pair);
	for (; !*counting->is_over; counting->done++) {
		take(counting, &ours);
		add_one(data);
		cr_assert_eq(ours_release(&ours), RDL_OK);
		rdl_sleep_ns(data, 1000000); /* the peer asks every 5 ms */
	}
	ours_close(&ours);
	rdl_link_free(data);
	return NULL;
}

ParameterizedTestParameters(interop, together_they_count_exactly)
{
	return each_pair();
}

ParameterizedTest(size_t *number, interop, together_they_count_exactly)
{
	static const char *const words[] = { "count", "2", "1000", "0", "counter", LOCK, NULL };
	const struct pair *pair = begin(*number);
	struct rdl_link *data = support_link(&support, 0);
	struct counting all[CLIENTS];
	_Atomic bool is_over = false;
	struct peer_process peer;
	long ours = 0;

	peer_begin(&peer, pair, words);
	/* From before it has connected until it is through. */
	for (unsigned i = 0; i < CLIENTS; i++) {
		all[i] = (struct counting){ .pair = pair, .seed = i, .is_over = &is_over };
		cr_assert_eq(pthread_create(&all[i].thread, NULL, count, &all[i]), 0);
	}
	json_decref(peer_answer(&peer));
	is_over = true;
	for (size_t i = 0; i < CLIENTS; i++) {
		pthread_join(all[i].thread, NULL);
		ours += all[i].done;
	}
	cr_assert_eq(peer_end(&peer), 0, "%s", pair->peer);
	cr_assert_eq(count_now(data), THEIR_SIDE + ours, "%s, %ld of ours", pair->peer, ours);
	cr_assert_gt(ours, 0);
	rdl_link_free(data);
	support_close(&support);
}
