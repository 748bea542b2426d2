/* SPDX-License-Identifier: MIT */
/*
 * Programs that wait: a client that asks for the same again and again, and hears the same,
 * is where it was before it asked. Whether that is so is not believed, but tried, with runs
 * of their own:
 *
 *	it asks once more, and then hears whatever was ever heard there instead: it does
 *	what it did before
 *	it asks for RR_LOOP_ROUNDS rounds: it does the same in each
 *	it asks for more and more rounds and is let in then: it does what it did before
 *
 * (Black-box checking: Peled, Vardi, Yannakakis. A hypothesis that is tested, and not
 * proved: a client that changes its mind beyond these rounds is not noticed.) A client
 * that changes its mind earlier is followed for so many rounds as that takes.
 */
#ifndef RR_LOOPS_H
#define RR_LOOPS_H

#include "program_run.h"

/* Tries what has not been tried yet. *again: something was learned, and the search has to
 * begin anew. False: the programs' problem, or a table's error. */
bool rr_loops_try(struct rr_programs *programs, bool *again);

/* How many loops are such. */
unsigned long rr_loops_closed(const struct rr_client_table *table);

#endif
