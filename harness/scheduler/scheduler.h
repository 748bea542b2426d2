/* SPDX-License-Identifier: MIT */
/*
 * Clients as fibers, one visible operation at a time; what other folders include.
 *
 *	attempt.h     one attempt at an increment, and what comes between two
 *	client_run.h  a client that runs alone, fed with what it waits for
 *	counting.h    a strategy's clients as such a program
 *	asker.h       a server that is asked one question after another
 *	transitions.h what can happen next, and as often as which budget allows
 *	words.h       the same in words
 *	actions.h     what that consists of
 *	free_replay.h a path of a search, gone by real clients: the judge
 */
#ifndef RR_SCHEDULER_H
#define RR_SCHEDULER_H

#include "attempt.h"
#include "counting.h"
#include "free_replay.h"
#include "words.h"
#include "renaming.h"
#include "servers.h"
#include "times.h"

#endif
