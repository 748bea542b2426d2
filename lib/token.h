/* SPDX-License-Identifier: MIT */
/* How a token lock is given back; rl_token_fresh() makes what it stores. */
#ifndef RL_TOKEN_H
#define RL_TOKEN_H

/*
 * Compare and delete: KEYS[1] goes only if it holds ARGV[1]. One script,
 * because between a GET and a DEL the lease may run out and the key may
 * become somebody else's.
 */
extern const char rl_compare_and_delete[];

#endif
