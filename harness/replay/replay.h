/* SPDX-License-Identifier: MIT */
/*
 * A schedule, carried out by real clients on real servers (free_replay.h), and its words: actions
 * (actions.h), transitions and faults (transitions.h), how they are written (words.h).
 *
 * No table and no search is known here.
 */
#ifndef RR_REPLAY_H
#define RR_REPLAY_H

#include "actions.h"
#include "free_replay.h"
#include "transitions.h"
#include "words.h"

#endif
