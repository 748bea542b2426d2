/* SPDX-License-Identifier: MIT */
/*
 * What ends are compared by: programs that say whether they have printed the same, and what the
 * user asks for.
 */
#ifndef RR_COMPARISON_H
#define RR_COMPARISON_H

#include "client/client.h"

/* What the user expects of final data: a command, and the reply to it. */
struct rr_expected {
	const struct rdl_command *asked;
	const char *value; /* as redis-cli prints it, or bare */
};

/* When the successor of a crashed client runs: at once, or when whatever the dead one has left may
 * be called old. */
enum rr_successor { RR_SUCCESSOR_NOW, RR_SUCCESSOR_LATER, RR_SUCCESSORS };
#define RR_SUCCESSOR_LATER_NS (INT64_C(86400) * 1000000000)

/* What is compared, and how. */
struct rr_comparison {
	bool is_partial;     /* serial executions may have the faults of what is judged */
	bool strict_exits;   /* no client may fail that fails in no serial order */
	bool restarts;       /* a client that crashed is run once more, and its work counts once, */
	bool allows_repeats; /* or twice */
	/* Of programs that may crash: the same ones, at once and long afterwards. */
	struct rr_explored_programs successors[RR_SUCCESSORS];
	/* Looks at final data, and fails if they are wrong; `init` NULL = there is none. */
	struct rr_explored_programs checker;
	const char *const *ignored; /* patterns of keys that are not compared */
	size_t n_ignored;
	const struct rr_expected *expected; /* of the data, if all end well */
	size_t n_expected;
	/* Faults that tests plant: differences from all serial orders that are excused. */
	enum { RR_PLANT_EXCUSED_DATA = 1, RR_PLANT_EXCUSED_OUTPUTS = 2 } plants;
};

#endif
