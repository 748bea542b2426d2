/* SPDX-License-Identifier: MIT */
/*
 * What the fair lock does on the server. KEYS: the lock, the line, and perhaps
 * the key whose value comes along. ARGV: our token, OBJECT:ATTEMPT:TTL, its
 * lease in milliseconds, and 1 if it may stand in line already.
 */
#ifndef RL_FAIR_SCRIPTS_H
#define RL_FAIR_SCRIPTS_H

/* {1, value}: ours, from now on for the whole lease. {0}: in line. */
extern const char rl_fair_ask[];

/* 1: it was ours; the first in line who listens has it now. */
extern const char rl_fair_give_back[];

/* The same, and out of the line. */
extern const char rl_fair_leave[];

#endif
