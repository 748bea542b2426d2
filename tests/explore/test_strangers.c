/* SPDX-License-Identifier: MIT */
/* Locks of a command that takes and one that gives back. */
#include <criterion/parameterized.h>

#include "strangers.h"

static const struct stranger_lock locks[] = {
	{ "setnx", "SETNX %s 1", "DEL %s", 1 },
	{ "hsetnx", "HSETNX %s f 1", "HDEL %s f", 1 },
	{ "sadd", "SADD %s m", "SREM %s m", 1 },
	{ "zadd", "ZADD %s NX 1 m", "ZREM %s m", 1 },
	{ "msetnx", "MSETNX %s 1 more 1", "DEL %s more", 1 },
	{ "setbit", "SETBIT %s 7 1", "SETBIT %s 7 0", 0 },
	{ "pfadd", "PFADD %s m", "DEL %s", 1 },
	{ "xadd", "XADD %s 1-1 f 1", "DEL %s", 1 },
	{ "xgroup", "XGROUP CREATE %s g 0 MKSTREAM", "DEL %s", 1 },
	{ "set-get", "SETNX %s x", "GETDEL %s", 1 },
	{ "hincrby", "HSETNX %s f 1", "DEL %s", 1 },
	{ "geoadd", "GEOADD %s NX 1 1 m", "DEL %s", 1 },
	{ "unlink", "SET %s 1 NX", "UNLINK %s", 1 },
};

enum { LOCKS = sizeof(locks) / sizeof(locks[0]) };

ParameterizedTestParameters(strangers, lock_of_one_command)
{
	static int numbers[LOCKS];

	for (int i = 0; i < LOCKS; i++)
		numbers[i] = i;
	return cr_make_param_array(int, numbers, LOCKS);
}

/* None has a lease. Whoever is refused leaves what there is: nobody's lock is
 * changed by another. */
ParameterizedTest(const int *number, strangers, lock_of_one_command, .timeout = 600)
{
	const struct rr_strategy *strategy = stranger_of(&locks[*number]);

	stranger_assert(strategy, (struct rr_explore_config){ .increments = 2 }, 0);
	stranger_assert(strategy, (struct rr_explore_config){ .budget.of[RR_CRASHES] = 1 },
			RR_DEADLOCKS);
}
