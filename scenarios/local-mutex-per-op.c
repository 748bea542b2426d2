/* SPDX-License-Identifier: MIT */
/*
 * The mutex taken in the Read method and again in the Write method, as
 * document 000 proposes.
 *
 *	A: lock    A> GET counter      => "41"    A: unlock
 *	B: lock    B> GET counter      => "41"    B: unlock
 *	A: lock    A> SET counter 42   => OK      A: unlock
 *	B: lock    B> SET counter 42   => OK      B: unlock    A's is gone
 *
 * Guarantees: commands on a shared connection do not mix (LM-2).
 * Does not guarantee the count: between the two methods the mutex is free.
 */
#include "strategy.h"

static enum rdl_outcome read_method(struct rr_client *client, long long *value)
{
	enum rdl_outcome outcome;

	rdl_mutex_lock(client->data, client->mutex);
	outcome = rr_get_counter(client, value);
	rdl_mutex_unlock(client->data, client->mutex);
	return outcome;
}

static enum rdl_outcome write_method(struct rr_client *client, long long value)
{
	enum rdl_outcome outcome;

	rdl_mutex_lock(client->data, client->mutex);
	outcome = rr_set_counter(client, value);
	rdl_mutex_unlock(client->data, client->mutex);
	return outcome;
}

static enum rdl_outcome increment(struct rr_client *client)
{
	long long value;
	enum rdl_outcome outcome = read_method(client, &value);

	if (outcome != RDL_OK)
		return outcome;
	rr_work(client); /* RACE: the mutex is free here (LM-1) */
	return write_method(client, value + 1);
}

const struct rr_strategy rr_local_mutex_per_op = {
	.name = "local-mutex-per-op",
	.summary = "lock, GET, unlock, lock, SET, unlock",
	.document = "000",
	.group = RR_BROKEN,
	.remedy = "multi-watch",
	.is_basic = true,
	.lock = { .kind = RR_LOCK_MUTEX },
	.increment = increment,
};
