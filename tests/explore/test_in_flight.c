/* SPDX-License-Identifier: MIT */
/* Several commands on their way at once, and commands that arrive late. */
#include <stdlib.h>
#include <string.h>

#include "strangers.h"

/* ---- Dekker's flags over two servers ------------------------------------------ */

struct flags {
	size_t mine; /* the server with this client's flag */
	bool waits;  /* reads the other's when its own is there */
};

static bool sends_one_after_the_other;

/* The first to come has the first server. */
static enum rdl_outcome open_flags(struct rr_client *client)
{
	struct flags *flags = calloc(1, sizeof(*flags));
	struct rdl_reply reply;

	client->state = flags;
	if (!flags || rdl_run(client->data, &reply, "INCR members") != RDL_OK)
		return RDL_ERROR;
	flags->mine = (size_t)reply.integer % 2;
	return RDL_OK;
}

/* A command on a server of its own; its reply comes when it comes. */
static enum rdl_outcome send_words(struct rdl_link *link, const char *command, const char *key)
{
	const enum rdl_outcome outcome = strcmp(command, "SET") == 0 ?
						 rdl_queue(link, "SET %s up", key) :
						 rdl_queue(link, "GET %s", key);

	return outcome == RDL_OK ? rdl_flush(link) : outcome;
}

static enum rdl_outcome lower(struct rr_client *client)
{
	const struct flags *flags = client->state;
	struct rdl_reply reply;

	return rdl_run(client->lock_nodes[flags->mine], &reply, "DEL %s", client->lock);
}

/* Raises its flag and looks at the other's. */
static enum rdl_outcome raise_flag(struct rr_client *client)
{
	const struct flags *flags = client->state;
	struct rdl_link *mine = client->lock_nodes[flags->mine];
	struct rdl_link *other = client->lock_nodes[1 - flags->mine];
	struct rdl_reply raised, seen;

	send_words(mine, "SET", client->lock);
	if (sends_one_after_the_other)
		rdl_receive(mine, &raised);
	send_words(other, "GET", client->lock);
	if (!sends_one_after_the_other)
		rdl_receive(mine, &raised);
	if (rdl_receive(other, &seen) != RDL_OK)
		return RDL_ERROR;
	if (rdl_reply_is_nil(&seen))
		return RDL_OK;
	lower(client);
	return RDL_BUSY;
}

static void close_flags(struct rr_client *client)
{
	free(client->state);
}

static const struct rr_strategy dekker = {
	.name = "dekker",
	.lock = { RR_LOCK_QUORUM, .servers = 2 },
	.open = open_flags,
	.acquire = raise_flag,
	.increment = rr_get_add_set,
	.release = lower,
	.close = close_flags,
};

/* Each command waits for the reply to the one before: one sees the other's flag. */
Test(in_flight, flags_raised_before_the_others_are_read_exclude)
{
	sends_one_after_the_other = true;
	stranger_assert(&dekker, (struct rr_explore_config){ .n_clients = 2 }, 0);
}

/* Both on their way: each may be read before the other's flag is up. */
Test(in_flight, flags_on_two_servers_do_not_exclude)
{
	sends_one_after_the_other = false;
	stranger_assert(&dekker, (struct rr_explore_config){ .n_clients = 2 },
			RR_BREAKS_EXCLUSION | RR_BREAKS_COUNT);
}

/* ---- Late commands -------------------------------------------------------------- */

/* A client that died with its SET on its way: the lease ends, others count on, and
 * then it arrives. */
Test(in_flight, a_write_that_arrives_late_undoes_an_increment)
{
	const struct rr_strategy *lock = rr_strategy_find("lua-delifequals");
	struct rr_explore_config config = { .increments = 2,
					    .budget = { .of = { [RR_CRASHES] = 1 } } };

	stranger_assert(lock, config, 0);
	config.budget.of[RR_LATE_COMMANDS] = 1;
	stranger_assert(lock, config, RR_BREAKS_COUNT);
}

/* ---- Behind a reply that was lost ------------------------------------------------- */

/* Two commands in one write. If the first reply is lost, nobody knows of the second. */
static enum rdl_outcome count_behind_another(struct rr_client *client)
{
	struct rdl_reply first, second;

	if (rdl_queue(client->data, "SET half done") != RDL_OK ||
	    rdl_queue(client->data, "INCR %s", client->counter) != RDL_OK ||
	    rdl_flush(client->data) != RDL_OK || rdl_receive(client->data, &first) != RDL_OK)
		return RDL_ERROR;
	return rdl_receive(client->data, &second);
}

static const struct rr_strategy behind_another = {
	.name = "behind-another",
	.increment = count_behind_another,
};

/* The server had both before the connection broke, or only the first: the increment of
 * which its client believes that it was not done may have been. */
Test(in_flight, what_is_behind_a_lost_reply_may_have_been_executed)
{
	struct rr_explore_config config = { .n_clients = 2 };

	stranger_assert(&behind_another, config, 0);
	config.budget.of[RR_LOST_REPLIES] = 1;
	stranger_assert(&behind_another, config, RR_BREAKS_COUNT);
}
