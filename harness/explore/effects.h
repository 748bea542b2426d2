/* SPDX-License-Identifier: MIT */
/* What a command's name and its reply say about what it did. */
#ifndef RR_EFFECTS_H
#define RR_EFFECTS_H

#include "gate_trace.h"

/* Is it this command, in any case? */
bool rr_op_is(const struct rr_op *op, const char *name);

/* Does it touch nothing that others could notice? */
bool rr_op_is_local(const struct rr_op *op);

/* False: the reply proves that it has written nothing. */
bool rr_op_has_written(const struct rr_op *op, const struct rl_reply *reply);

/* Does it set leases and leave values as they are? */
bool rr_op_sets_lease(const struct rr_op *op, const char *script);

/* Could it make a difference to it, when it writes nothing, how long a key has
 * left? */
bool rr_op_knows_lease(const struct rr_op *op);

/* Does what it did depend on when it was? It sets a lease, or reads what is left
 * of one, or a clock. `script`: the text of the one that it ran, NULL = unknown. */
bool rr_op_is_timed(const struct rr_op *op, const char *script,
		    bool has_written);

#endif
