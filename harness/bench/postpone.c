/* SPDX-License-Identifier: MIT */
/* --wait delay-queue: what is refused is put off, and done later by whoever is
 * free; workers that die with it (--kill-workers), and others in their
 * place. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

enum { ITEM_SIZE = 96, HOLD_MS = 1000 };

/* ---- Items --------------------------------------------------------------- */

/* What an item's id says. Client and count make it unique; the start is known
 * to all clients, for they are on one machine. */
struct item {
	int client;
	unsigned long long count; /* among those of its client */
	int key;
	long long start_ns; /* when it was first asked for */
};

static bool parse_item(struct item *item, const char *id, int n_keys)
{
	return sscanf(id, "%d-%llu-%d-%lld", &item->client, &item->count, &item->key,
		      &item->start_ns) == 4 &&
	       item->key >= 0 && item->key < n_keys;
}

/* ---- Workers that die on purpose ----------------------------------------- */

static void die_if_due(struct rr_runner *runner)
{
	/* Claims the next kill when so much of the run is done. */
	const struct rr_run *run = runner->run;
	struct rr_board *board = runner->board;
	long kills = atomic_load(&board->kills);

	if (kills >= run->kill_workers || rr_board_done(board) * (uint64_t)(run->kill_workers + 1) <
						  (uint64_t)(kills + 1) * (uint64_t)run->increments)
		return;
	if (!atomic_compare_exchange_strong(&board->kills, &kills, kills + 1))
		return;
	runner->slot->commands += rr_runner_commands(runner) - runner->commands_before;
	rr_usage_add(&runner->board->usage[runner->number], 1);
	atomic_fetch_add(&runner->slot->deaths, 1);
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

bool rr_postpone_died_on_purpose(const struct rr_run *run, struct rr_board *board, int process,
				 int status)
{
	struct rr_slot *slot = &board->slots[process * run->threads];

	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL ||
	    slot->replaced == atomic_load(&slot->deaths))
		return false;
	slot->replaced++;
	for (int i = 0; i < 1 + run->threads; i++)
		sem_post(&board->go);
	return true;
}

/* ---- Our own increments -------------------------------------------------- */

/* As long as the longest back-off; nobody is idle meanwhile. */
static long delay_ms(const struct rr_run *run)
{
	return 1 + run->strategy->wait.max_us / 1000;
}

static void put_off(struct rr_runner *runner, const struct rr_target *target, int64_t start_ns)
{
	const struct item item = {
		.client = runner->number,
		.count = atomic_load(&runner->slot->handled),
		.key = (int)(target - runner->targets),
		.start_ns = start_ns,
	};
	enum rdl_outcome outcome;
	char id[ITEM_SIZE];

	snprintf(id, ITEM_SIZE, "%d-%llu-%d-%lld", item.client, item.count, item.key,
		 item.start_ns);
	outcome = rdl_delay_queue_put(runner->queue, id, delay_ms(runner->run));
	if (outcome == RDL_UNKNOWN)
		runner->slot->unsettled++;
	if (outcome != RDL_OK)
		rr_runner_check_server(runner, NULL, outcome);
}

/* ---- What others, or we, have put off ------------------------------------ */

/* Takes what has been due the longest and does it, until the hold runs out:
 * then it goes back by itself. False: nothing is due. */
static bool do_taken(struct rr_runner *runner)
{
	const struct rr_run *run = runner->run;
	/* Long enough to get the lock and do the work, short enough to wait for when somebody
	 * has died. */
	const long held_ms = (run->ttl_ms < HOLD_MS ? run->ttl_ms : HOLD_MS) +
			     2 * run->hold_us / 1000;
	struct item item;
	struct rr_target *target;
	char id[ITEM_SIZE];
	int64_t end_ns, entered_ns = 0;
	enum rdl_outcome outcome = rdl_delay_queue_take(runner->queue, held_ms, id, sizeof(id));

	if (outcome == RDL_BUSY)
		return false;
	if (outcome == RDL_OK && !parse_item(&item, id, run->keys))
		outcome = RDL_ERROR;
	if (outcome != RDL_OK) {
		rr_runner_check_server(runner, NULL, outcome);
		return false;
	}
	die_if_due(runner);
	target = &runner->targets[item.key];
	end_ns = rr_count_now_ns(runner) + held_ms * INT64_C(1000000);
	outcome = rr_count_insist(runner, target, id, end_ns, &entered_ns);
	/* An item counts when it is done, and for whoever did it; what was not done goes back. A
	 * lost reply leaves open which. */
	if (outcome == RDL_OK) {
		rr_count_note(runner, target, outcome, item.start_ns, entered_ns,
			      rr_count_now_ns(runner));
		return true;
	}
	if (outcome == RDL_UNKNOWN)
		runner->slot->unsettled++;
	if (outcome != RDL_BUSY && !(outcome == RDL_LOST && runner->entered))
		rr_runner_check_server(runner, target, outcome);
	return true;
}

/* ---- The loop ------------------------------------------------------------ */

static bool is_through(const struct rr_runner *runner, size_t client)
{
	const long share = rr_count_share(runner->board, client, runner->run->increments);

	return atomic_load(&runner->board->slots[client].handled) >= (uint64_t)share;
}

/* First whether anybody can still put something off, then whether something is
 * there: the other way round, it could come in between. Over, too, when more
 * has been done than was asked for: what is done twice may be so for ever. */
static bool is_over(struct rr_runner *runner)
{
	long long due, processing;
	enum rdl_outcome outcome;

	if (rr_board_done(runner->board) > (uint64_t)runner->run->increments)
		return true;
	for (size_t i = 0; i < runner->board->n_clients; i++) {
		if (!is_through(runner, i))
			return false;
	}
	outcome = rdl_delay_queue_length(runner->queue, &due, &processing);
	if (outcome != RDL_OK)
		rr_runner_check_server(runner, NULL, outcome);
	return outcome == RDL_OK && due == 0 && processing == 0;
}

void rr_postpone(struct rr_runner *runner)
{
	const size_t self = (size_t)runner->number;
	struct rr_slot *slot = runner->slot;

	if (!runner->resumes)
		slot->start_ns = rr_count_now_ns(runner);
	while (!is_through(runner, self) && !rr_board_is_stopped(runner->board)) {
		struct rr_target *target = rr_count_choose(runner);
		const int64_t start_ns = rr_count_now_ns(runner);
		int64_t entered_ns = start_ns;
		const enum rdl_outcome outcome = rr_runner_attempt(runner, target, NULL,
								   &entered_ns);

		if (rr_count_may_retry(runner, outcome)) {
			rr_count_note_refusals(runner->slot, 1);
			put_off(runner, target, start_ns);
		} else {
			rr_count_note(runner, target, outcome, start_ns, entered_ns,
				      rr_count_now_ns(runner));
		}
		atomic_fetch_add(&runner->slot->handled, 1);
		do_taken(runner);
	}
	if (slot->handled > 0 && !rr_board_is_stopped(runner->board))
		rr_count_note_first_done(runner->board);
	while (!rr_board_is_stopped(runner->board)) {
		if (do_taken(runner))
			continue;
		if (is_over(runner))
			break;
		rdl_sleep_ns(runner->data, delay_ms(runner->run) * INT64_C(1000000));
	}
	slot->end_ns = rr_count_now_ns(runner);
}
