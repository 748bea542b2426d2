/* SPDX-License-Identifier: MIT */
/*
 * Programs that poll are followed for some rounds, and the states where they are left
 * count as unknown. In some of them nobody else will ever do anything: then polling goes
 * on in vain for ever, which is no progress.
 */
#ifndef RR_POLLING_H
#define RR_POLLING_H

#include "graph.h"

/* As often in a row as a program has to do the same before that is believed. */
enum { RR_POLLS_IN_VAIN = 200 };

/*
 * Marks such states (RR_STATE_STARVED), before the graph is analysed: all who are alive
 * only poll, no time will pass by itself, and when they are followed further none of
 * them comes to an end and, unless there is but one, none changes what the others would
 * hear. False: product->error.
 */
bool rr_graph_follow_polling(struct rr_graph *graph);

#endif
