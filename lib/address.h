/* SPDX-License-Identifier: MIT */
/* The nodes that an address names, one by one. */
#ifndef RL_ADDRESS_H
#define RL_ADDRESS_H

#include "redislock.h"

enum { RL_NODES_MAX = 16 };

/* The address of the `i`-th Sentinel or node, as a server's, with user and
 * password. False: there are fewer. */
bool rl_address_node(const struct rl_address *address, size_t i, struct rl_address *node);

#endif
