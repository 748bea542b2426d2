/* SPDX-License-Identifier: MIT */
/* What a token lock stores: who holds it, as a value nobody else can guess. */
#ifndef RL_TOKEN_H
#define RL_TOKEN_H

#include <stdbool.h>

enum { RL_TOKEN_BYTES = 20, RL_TOKEN_SIZE = 2 * RL_TOKEN_BYTES + 1 };

/* A fresh token in hexadecimal, straight from the kernel: there is no state
 * that a forked child could share. False when the kernel has none to give. */
bool rl_token_fresh(char token[RL_TOKEN_SIZE]);

/*
 * Compare and delete: KEYS[1] goes only if it holds ARGV[1]. One script,
 * because between a GET and a DEL the lease may run out and the key may
 * become somebody else's.
 */
extern const char rl_compare_and_delete[];

#endif
