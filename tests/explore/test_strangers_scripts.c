/* SPDX-License-Identifier: MIT */
/* Locks whose scripts do not say what they do, and locks that go by the time. */
#include <stdio.h>
#include <string.h>

#include "strangers.h"

static const char *take_script, *give_script;

static enum rdl_outcome run_script(struct rr_client *client, const char *script,
				   struct rdl_reply *reply)
{
	return rdl_run(client->data, reply, "EVAL %s 0 %s %ld", script, client->lock,
		       client->ttl_ms);
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = run_script(client, take_script, &reply);

	return stranger_won(outcome, &reply);
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	return run_script(client, give_script, &reply);
}

static const struct rr_strategy *scripts(const char *name, const char *take, const char *give)
{
	static struct rr_strategy strategy;

	take_script = take;
	give_script = give;
	strategy = stranger_named(name, acquire);
	strategy.release = release;
	return &strategy;
}

/* ---- What a script does not say -------------------------------------------- */

Test(strangers, script_writes_a_key_that_it_does_not_declare)
{
	const struct rr_strategy *strategy =
		scripts("undeclared", "return redis.call('SETNX', ARGV[1]..':x', '1')",
			"redis.call('DEL', ARGV[1]..':x') return 0");

	stranger_assert(strategy, NO_FAULT, 0);
	stranger_assert(strategy, ONE_CRASH, RR_DEADLOCKS);
}

Test(strangers, script_calls_by_another_name)
{
	const struct rr_strategy *strategy = scripts("local-call",
						     "local call = redis.call "
						     "return call('SE'..'TNX', ARGV[1], '1')",
						     "local call = redis['ca'..'ll'] "
						     "return call('DEL', ARGV[1])");

	stranger_assert(strategy, NO_FAULT, 0);
	stranger_assert(strategy, ONE_CRASH, RR_DEADLOCKS);
}

/* Everybody who asks gets it. */
Test(strangers, script_that_grants_to_all_by_another_name)
{
	stranger_assert(scripts("grants-to-all",
				"local call = redis.call "
				"call('SET', ARGV[1], '1') return 1",
				"local call = redis.call "
				"return call('DEL', ARGV[1])"),
			(struct rr_explore_config){ .increments = 1 },
			RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION | RR_BREAKS_OWNERSHIP);
}

Test(strangers, script_that_sets_a_lease_survives_a_crash)
{
	struct rr_strategy strategy = *scripts("lease-in-a-script",
					       "local r = redis.pcall('SET', ARGV[1], '1', 'NX', "
					       "'PX', ARGV[2]) return r and 1 or 0",
					       "redis.call('DEL', ARGV[1]) return 0");

	strategy.lock.lease = RR_LEASE_IN_MS;
	stranger_assert(&strategy, NO_FAULT, 0);
	stranger_assert(&strategy, ONE_CRASH, 0);
}

/* ---- The server's time ------------------------------------------------------ */

/* The lock is a number: until when it is held, by the server's clock. Who crashes
 * is waited for, and nobody is stuck. */
Test(strangers, script_compares_with_the_servers_time)
{
	struct rr_strategy strategy = *scripts("servers-time",
					       "local now = tonumber(redis.call('TIME')[1]) "
					       "local till = redis.call('GET', ARGV[1]) "
					       "if till and tonumber(till) > now then return 0 end "
					       "redis.call('SET', ARGV[1], "
					       "string.format('%d', now + ARGV[2] / 1000 + 1)) "
					       "return 1",
					       "redis.call('DEL', ARGV[1]) return 0");

	strategy.lock.lease = RR_LEASE_IN_MS;
	stranger_assert(&strategy, NO_FAULT, 0);
	stranger_assert(&strategy, ONE_CRASH, 0);
	stranger_assert(&strategy,
			(struct rr_explore_config){ .budget.of[RR_PAUSES] = 1, .separate = true },
			RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION | RR_BREAKS_OWNERSHIP);
}

/* ---- Scripts by their hashes ------------------------------------------------ */

/* "return redis.call('SETNX', KEYS[1], '1')" */
#define TAKE "return redis.call('SETNX', KEYS[1], '1')"

static const char *sha1_of_take(struct rdl_link *link)
{
	static char sha1[41];
	struct rdl_reply reply;

	rdl_run(link, &reply, "SCRIPT LOAD %s", TAKE);
	snprintf(sha1, sizeof(sha1), "%s", reply.text ? reply.text : "");
	return sha1;
}

static char known_sha1[41];

/* As most clients do it: by the hash, and if it is not known the whole. */
static enum rdl_outcome acquire_by_hash(struct rr_client *client)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_run(client->data, &reply, "EVALSHA %s 1 %s", known_sha1,
					   client->lock);

	if (outcome == RDL_ERROR && reply.type == RDL_REPLY_FAILED &&
	    strncmp(reply.text, "NOSCRIPT", 8) == 0)
		outcome = rdl_run(client->data, &reply, "EVAL %s 1 %s", TAKE, client->lock);
	return stranger_won(outcome, &reply);
}

static void learn_hash(void)
{
	struct stage stage;
	struct rdl_link *link;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	stage_server(&stage, "any", (struct rr_server_options){ 0 });
	link = stage_link(&stage, 0);
	snprintf(known_sha1, sizeof(known_sha1), "%s", sha1_of_take(link));
	rdl_link_free(link);
	stage_close(&stage);
}

Test(strangers, script_that_is_sent_whole_where_its_hash_is_not_known)
{
	const struct rr_strategy strategy = stranger_named("by-hash", acquire_by_hash);

	learn_hash();
	stranger_assert(&strategy, NO_FAULT, 0);
	stranger_assert(&strategy, ONE_CRASH, RR_DEADLOCKS);
}

/* ---- Functions -------------------------------------------------------------- */

static enum rdl_outcome load_functions(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "FUNCTION LOAD REPLACE %s",
		       "#!lua name=mine\n"
		       "redis.register_function('take', function(keys) "
		       "return redis.call('SETNX', keys[1], '1') end)");
}

static enum rdl_outcome acquire_by_function(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "FCALL take 1 %s",
						 client->lock);

	return stranger_won(outcome, &reply);
}

Test(strangers, function_that_takes_a_lock)
{
	struct rr_strategy strategy = stranger_named("by-function", acquire_by_function);

	strategy.open = load_functions;
	stranger_assert(&strategy, NO_FAULT, 0);
	stranger_assert(&strategy, ONE_CRASH, RR_DEADLOCKS);
}
