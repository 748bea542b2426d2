/* SPDX-License-Identifier: MIT */
#include "replace.h"

#include <signal.h>
#include <unistd.h>

/* Claims the next kill when so much of the run is done. */
static bool is_due(const struct rr_runner *runner)
{
	const struct rr_run *run = runner->run;
	struct rr_board *board = runner->board;
	long kills = atomic_load(&board->kills);

	if (kills >= run->kill_workers ||
	    rr_board_done(board) * (uint64_t)(run->kill_workers + 1) <
		    (uint64_t)(kills + 1) * (uint64_t)run->increments)
		return false;
	return atomic_compare_exchange_strong(&board->kills, &kills, kills + 1);
}

void rr_replace_die_if_due(struct rr_runner *runner)
{
	if (!is_due(runner))
		return;
	rr_runner_leave(runner);
	rr_usage_stop(&runner->board->usage[runner->number]);
	atomic_fetch_add(&runner->slot->deaths, 1);
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

bool rr_replace_was_planned(const struct rr_run *run, struct rr_board *board,
			    int process, int status)
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
