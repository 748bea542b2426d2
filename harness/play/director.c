/* SPDX-License-Identifier: MIT */
#include "director.h"

#include <stdio.h>
#include <stdlib.h>

/* An rr_ask: what was chosen before, and then a key. */
static struct rr_move ask(void *context, struct rr_rehearsal *rehearsal,
			  const struct rr_view *view)
{
	struct rr_director *director = context;
	struct rr_move move;

	if (director->next < director->n_moves)
		return director->moves[director->next++];
	rr_rehearsal_judge(rehearsal);
	director->reached |= rr_goal_is_reached(rehearsal);
	if (director->n_moves == RR_STEPS_MAX ||
	    !rr_director_key(director, rehearsal, view, &move))
		return (struct rr_move){ .kind = RR_MOVE_STOP };
	director->moves[director->n_moves++] = move;
	director->next = director->n_moves;
	return move;
}

/* One execution, up to a wish; at its end one is waited for. */
static enum rr_exit go_through(struct rr_director *director,
			       struct rr_rehearsal *rehearsal,
			       const struct rr_rehearsal_setup *setup,
			       struct rr_cluster *cluster)
{
	struct rr_move none;
	enum rr_exit code;

	director->next = 0;
	director->wish = RR_WISH_ON;
	code = rr_rehearsal_run(rehearsal, setup, cluster, ask, director);
	if (code != RR_EXIT_OK)
		return code;
	director->reached |= rr_goal_is_reached(rehearsal);
	rr_director_key(director, rehearsal, NULL, &none);
	return code;
}

/* Once more the last screen's result, where it stays to be read. Before the end
 * a lock that is held would count as one that was left. */
static void sum_up(const struct rr_director *director,
		   const struct rr_rehearsal *rehearsal)
{
	char verdict[300];

	rr_trace_verdict(&rehearsal->trace, verdict, sizeof(verdict));
	printf("\n%s: %s\n", rehearsal->setup.strategy->name,
	       rr_goal_text(rehearsal->setup.strategy));
	printf("%s, after %zu choice%s", director->reached ? "reached" :
							    "not reached",
	       director->n_moves, director->n_moves == 1 ? "" : "s");
	if (rehearsal->result.end == RR_GATE_DONE)
		printf("; at the end: %s", verdict);
	putchar('\n');
}

enum rr_exit rr_direct(const struct rr_rehearsal_setup *setup,
		       struct rr_cluster *cluster)
{
	struct rr_director *director = calloc(1, sizeof(*director));
	struct rr_rehearsal *rehearsal = calloc(1, sizeof(*rehearsal));
	struct rr_signals *signals = &cluster->session->signals;
	enum rr_exit code = RR_EXIT_INTERNAL;

	if (!director || !rehearsal) {
		rr_complain(code, "out of memory");
	} else if (!rr_terminal_open(&director->terminal, signals)) {
		code = rr_complain(RR_EXIT_USAGE,
				   "--interactive needs a terminal");
	} else {
		do {
			rr_rehearsal_close(rehearsal);
			code = go_through(director, rehearsal, setup, cluster);
		} while (code == RR_EXIT_OK &&
			 director->wish == RR_WISH_AGAIN);
		rr_terminal_close(&director->terminal);
		if (signals->interrupted)
			code = RR_EXIT_INTERRUPTED;
		else if (code != RR_EXIT_OK)
			rr_complain(code, "%s", rehearsal->error);
		else
			sum_up(director, rehearsal);
	}
	if (rehearsal)
		rr_rehearsal_close(rehearsal);
	free(rehearsal);
	free(director);
	return code;
}
