/* SPDX-License-Identifier: MIT */
/* The nodes that an address names, one by one. */
#ifndef RDL_ADDRESS_H
#define RDL_ADDRESS_H

#include "redislock.h"

enum { RDL_NODES_MAX = 16 };

/* The address of the `i`-th Sentinel or node, as a server's, with user and
 * password. False: there are fewer. */
bool rdl_address_node(const struct rdl_address *address, size_t i, struct rdl_address *node);

#endif
