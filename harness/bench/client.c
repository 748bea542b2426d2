/* SPDX-License-Identifier: MIT */
/* A client of a run: its connections and locks, one attempt, and what is made
 * of an attempt that failed, also where the data server may die and be replaced. */
#include "client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	SILENCES_MAX = 3,
	TROUBLE_MS = 30000, /* after which a client whose server may come back gives up */
	PAUSE_NS = 5000000,
	CONFIRM_MS = 100
};

void rr_runner_give_up(struct rr_runner *runner, enum rr_error_kind kind, const char *format, ...)
{
	struct rr_error *error = &runner->slot->error;
	va_list arguments;

	error->kind = kind;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	rr_board_stop(runner->board);
}

/* ---- What happens in an attempt ------------------------------------------ */

/* What the hooks of an attempt need. */
struct timed {
	struct rr_runner *runner;
	struct rr_target *target;
	const char *item; /* NULL, or what was put off */
	int64_t asked_ns, *entered_ns;
};

static struct rr_section *section_of_target(const struct timed *it)
{
	const struct rr_runner *runner = it->runner;

	return &runner->board->sections[it->target - runner->targets];
}

static void note_entry(void *context)
{
	struct timed *it = context;

	*it->entered_ns = rr_count_now_ns(it->runner);
	if (!it->runner->slot->first_ns)
		it->runner->slot->first_ns = *it->entered_ns;
	if (atomic_fetch_add(&section_of_target(it)->occupants, 1) > 0)
		it->runner->slot->overlaps++;
}

static void note_exit(void *context)
{
	struct timed *it = context;
	struct rr_runner *runner = it->runner;
	const struct rr_lock *lock = &runner->run->strategy->lock;
	int64_t lease_ns = runner->run->ttl_ms * INT64_C(1000000);

	atomic_fetch_sub(&section_of_target(it)->occupants, 1);
	if (!lock->lease)
		return;
	/* How long a lock is good for, clock drift between lock servers taken off. */
	if (lock->kind == RR_LOCK_QUORUM)
		lease_ns -= lease_ns / 100 + 2000000;
	else if (lock->leases_max)
		lease_ns *= lock->leases_max;
	if (rr_count_now_ns(runner) - it->asked_ns > lease_ns)
		runner->slot->overruns++;
}

/* The time is taken before anybody else can be let in. When the ring is full, the oldest time
 * gives way. */
static void note_exit_and_keep(void *context)
{
	const struct timed *it = context;
	const struct rr_hold hold = {
		.client = it->runner->number,
		.key = (int)(it->target - it->runner->targets),
		.asked_ns = it->asked_ns,
		.entered_ns = *it->entered_ns,
		.left_ns = rr_count_now_ns(it->runner),
	};
	struct rr_slot *slot = it->runner->slot;

	note_exit(context);
	slot->holds[slot->n_holds++ % it->runner->run->trace->most] = hold;
}

/* rr_get_add_set() of what was put off: SET and the item's end are one. */
static enum rdl_outcome increment_item(void *context)
{
	const struct timed *it = context;
	struct rr_client *client = &it->target->client;
	long long value;
	enum rdl_outcome outcome = rr_get_counter(client, &value);

	if (outcome != RDL_OK)
		return outcome;
	rr_work(client);
	return rdl_delay_queue_done(it->runner->queue, it->item, "SET %s %lld", it->target->counter,
				    value + 1);
}

/* Have so many replicas what was written over this link, within a tenth of a second? */
static bool confirm_by_replicas(void *context)
{
	const struct timed *it = context;
	struct rr_runner *runner = it->runner;
	const long wanted = runner->run->wait_replicas;
	struct rdl_reply reply;
	long long n;

	if (rdl_run(runner->data, &reply, "WAIT %ld %d", wanted, CONFIRM_MS) == RDL_OK &&
	    rdl_reply_number(&reply, &n) && n >= wanted)
		return true;
	runner->slot->unconfirmed++;
	return false;
}

/* ---- Opening and closing ------------------------------------------------- */

/* NULL after giving up. */
static struct rdl_link *connect_runner(struct rr_runner *runner, size_t server)
{
	const struct rdl_address *address = rr_run_address(runner->run, server);
	struct rdl_link *link = rdl_link_new(address, rr_run_timeout_ms(runner->run));
	char where[300];

	if (!link)
		rr_out_of_memory();
	rdl_link_set_driver(link, runner->run->driver);
	if (rdl_link_connect(link) == RDL_OK)
		return link;
	rdl_address_print(address, where, sizeof(where));
	rr_runner_give_up(runner, RR_ERROR_REDIS, "cannot reach %s: %.80s", where,
			  rdl_link_error(link));
	rdl_link_free(link);
	return NULL;
}

static void open_target(struct rr_runner *runner, int i)
{
	const struct rr_run *run = runner->run;
	struct rr_target *target = &runner->targets[i];

	rr_keys_counter(target->counter, run->prefix, i);
	rr_keys_lock(target->lock, run->prefix, i);
	target->client = (struct rr_client){
		.data = runner->data,
		.lock_nodes = runner->lock_nodes,
		.n_lock_nodes = runner->n_lock_nodes,
		.counter = target->counter,
		.lock = target->lock,
		.mutex = &runner->mutexes[i],
		.ttl_ms = run->ttl_ms,
		.hold_us = run->hold_us,
	};
	if (run->strategy->open && run->strategy->open(&target->client) != RDL_OK)
		rr_out_of_memory();
}

bool rr_runner_open(struct rr_runner *runner)
{
	const struct rr_run *run = runner->run;
	char queue[RR_KEY_SIZE];

	/* Of an attempt, and of one at what was put off. */
	runner->hooks[0] = (struct rr_attempt_hooks){
		.enter = note_entry,
		.leave = run->trace ? note_exit_and_keep : note_exit,
	};
	if (run->wait_replicas && run->strategy->lock.kind != RR_LOCK_QUORUM)
		runner->hooks[0].confirm = confirm_by_replicas;
	runner->hooks[1] = runner->hooks[0];
	runner->hooks[1].increment = increment_item;
	runner->random.state = run->seed + (uint64_t)runner->number;
	runner->data = connect_runner(runner, 0);
	for (size_t i = 0; runner->data && i < run->strategy->lock.servers; i++) {
		runner->lock_nodes[i] = connect_runner(runner, 1 + i);
		if (!runner->lock_nodes[i])
			return false;
		runner->n_lock_nodes++;
	}
	if (!runner->data)
		return false;
	runner->targets = rr_calloc((size_t)run->keys, sizeof(*runner->targets));
	for (int i = 0; i < run->keys; i++)
		open_target(runner, i);
	if (run->policy == RR_POLICY_DELAY_QUEUE) {
		rr_keys_queue(queue, run->prefix);
		runner->queue = rdl_delay_queue_new(runner->data, queue);
		if (!runner->queue)
			rr_out_of_memory();
	}
	return true;
}

void rr_runner_close(struct rr_runner *runner)
{
	const struct rr_strategy *strategy = runner->run->strategy;

	for (int i = 0; runner->targets && strategy->close && i < runner->run->keys; i++)
		strategy->close(&runner->targets[i].client);
	free(runner->targets);
	rdl_delay_queue_free(runner->queue);
	for (size_t i = 0; i < runner->n_lock_nodes; i++)
		rdl_link_free(runner->lock_nodes[i]);
	rdl_link_free(runner->data);
}

uint64_t rr_runner_commands(const struct rr_runner *runner)
{
	uint64_t commands = rdl_link_commands(runner->data);

	for (size_t i = 0; i < runner->n_lock_nodes; i++)
		commands += rdl_link_commands(runner->lock_nodes[i]);
	return commands;
}

/* ---- One attempt --------------------------------------------------------- */

/* Does the last attempt hold its lock still, because the release failed? */
static bool has_kept_lock(const struct rr_runner *runner)
{
	return runner->released == RDL_ERROR || runner->released == RDL_UNKNOWN;
}

enum rdl_outcome rr_runner_attempt(struct rr_runner *runner, struct rr_target *target,
				   const char *item, int64_t *entered_ns)
{
	const struct rr_strategy *strategy = runner->run->strategy;
	struct timed it = {
		.runner = runner, .target = target, .item = item, .entered_ns = entered_ns
	};
	struct rr_attempt attempt = { .strategy = strategy,
				      .client = &target->client,
				      .hooks = &runner->hooks[item != NULL],
				      .context = &it };
	enum rdl_outcome outcome;

	if (strategy->acquire)
		it.asked_ns = rr_count_now_ns(runner);
	target->client.given_back = RDL_OK;
	outcome = rr_attempt_make(&attempt);
	runner->entered = attempt.entered;
	/* A release that writes, too, answers for the increment; when that failed nothing is
	 * known of the lock. */
	runner->released = !strategy->writes_at_release ? attempt.released :
			   outcome == RDL_OK            ? target->client.given_back :
							  RDL_OK;
	if (has_kept_lock(runner))
		rr_runner_check_server(runner, target, runner->released);
	return outcome;
}

/* ---- Failures ------------------------------------------------------------ */

/* What went wrong in the last attempt: with the lock servers, or with the data
 * server at `where`. */
static void describe_failure(const struct rr_runner *runner, const struct rr_target *target,
			     const char *where, char *text, size_t size)
{
	const struct rr_strategy *strategy = runner->run->strategy;
	const char *why = rdl_link_error(runner->data);
	const bool kept = target && has_kept_lock(runner);
	const bool is_of_lock = target && (!runner->entered || kept);
	char *trailer;

	if (is_of_lock && strategy->error)
		snprintf(text, size, "%s", strategy->error(&target->client));
	else if (is_of_lock && strategy->lock.kind == RR_LOCK_QUORUM)
		snprintf(text, size, "too few of the lock servers answered in time");
	else
		snprintf(text, size, "%s%.200s: %.150s",
			 kept ? "the lock cannot be released: " : "", where,
			 why[0] ? why : "not the reply that was expected");
	/* Where in a script, "@user_script:1", looks like the end of a user's name. */
	trailer = strstr(text, " script: ");
	if (trailer)
		*trailer = '\0';
}

/* Does `why` say that the server lacks or forbids a command, also of a script? Then it will never
 * say anything else. */
static bool is_refusal(const char *why)
{
	static const char *const refusals[] = {
		"NOPERM",
		"ERR unknown command",
		"The user executing the script can't run this command",
		"Unknown Redis command called from script",
		"Unknown command called from script",
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (strstr(why, refusals[i]))
			return true;
	}
	return false;
}

/* The run is over, or nothing has worked for too long. */
static bool is_hopeless(struct rr_runner *runner)
{
	const int64_t now_ns = rr_count_now_ns(runner);
	const char *why = rdl_link_error(runner->data);

	if (runner->troubled_ns == 0)
		runner->troubled_ns = now_ns;
	if (rr_board_is_stopped(runner->board))
		return true;
	if (now_ns - runner->troubled_ns <= TROUBLE_MS * INT64_C(1000000))
		return false;
	rr_runner_give_up(runner, RR_ERROR_REDIS, "nothing has worked for %d s: %.200s",
			  TROUBLE_MS / 1000, why[0] ? why : "too few lock servers answered");
	return true;
}

/*
 * Waits a little. Where the primary may be another by now, for a new connection to
 * whoever it is; it is open before anything is asked for, because a lease is
 * counted from the request, and to find a primary may take longer than that.
 */
static bool come_back(struct rr_runner *runner)
{
	/* Of lock servers that stand alone a majority is left; the data server is none of
	 * them. */
	const bool moves = runner->run->formation->kind != RR_TOPOLOGY_ALONE;

	if (moves)
		rdl_link_disconnect(runner->data);
	do {
		if (is_hopeless(runner))
			return false;
		rdl_sleep_ns(runner->data, PAUSE_NS);
	} while (moves && rdl_link_connect(runner->data) != RDL_OK);
	return true;
}

bool rr_runner_may_endure(struct rr_runner *runner, enum rdl_outcome outcome)
{
	const bool is_undone = outcome == RDL_ERROR || (outcome == RDL_LOST && !runner->entered);

	if (!runner->run->formation)
		return false;
	if (!is_undone) {
		runner->troubled_ns = 0;
		return false;
	}
	if (outcome == RDL_ERROR && is_refusal(rdl_link_error(runner->data)))
		return false;
	return come_back(runner);
}

void rr_runner_check_server(struct rr_runner *runner, const struct rr_target *target,
			    enum rdl_outcome outcome)
{
	char where[300], why[400];

	rdl_address_print(rr_run_address(runner->run, 0), where, sizeof(where));
	describe_failure(runner, target, where, why, sizeof(why));
	/* It is no reason to give up where servers may die. The next attempt connects anew, to
	 * whoever is the primary then. */
	if (runner->run->formation && !(outcome == RDL_ERROR && is_refusal(why))) {
		come_back(runner);
		return;
	}
	/* Unless it was allowed at first: then something has happened. */
	if (outcome == RDL_ERROR && is_refusal(why) && !atomic_load(&runner->board->works))
		rr_runner_give_up(runner, RR_ERROR_SKIPPED, "skipped: %s", why);
	else if (outcome == RDL_ERROR)
		rr_runner_give_up(runner, RR_ERROR_REDIS, "stopped: %s", why);
	else if (rdl_link_connect(runner->data) != RDL_OK)
		rr_runner_give_up(runner, RR_ERROR_REDIS, "the server at %s is gone: %.80s", where,
				  rdl_link_error(runner->data));
	else if (++runner->silences == SILENCES_MAX)
		rr_runner_give_up(runner, RR_ERROR_REDIS,
				  "gave up after %d replies in a row were lost: %s", SILENCES_MAX,
				  why);
}
