/* SPDX-License-Identifier: MIT */
/*
 * Every strategy, in the order in which `list` and `bench` show them.
 * To add one: its file next to this one, a line here, and a row in expected.c.
 */
#include <string.h>

#include "strategy.h"

/* clang-format off */
#define RR_STRATEGIES(strategy) \
	strategy(rr_none) \
	strategy(rr_local_mutex) \
	strategy(rr_local_mutex_per_op) \
	strategy(rr_setnx) \
	strategy(rr_setnx_expire) \
	strategy(rr_setnx_expire_all) \
	strategy(rr_setnx_expire_multi) \
	strategy(rr_setnx_del_takeover) \
	strategy(rr_setnx_getset) \
	strategy(rr_setnx_getset_checked) \
	strategy(rr_watch_getset) \
	strategy(rr_incr_lock) \
	strategy(rr_incr_lock_all) \
	strategy(rr_set_nx_ex) \
	strategy(rr_get_compare_del) \
	strategy(rr_lua_delifequals) \
	strategy(rr_lua_library) \
	strategy(rr_semaphore_lease) \
	strategy(rr_rwlock)           \
	strategy(rr_lua_pipelined) \
	strategy(rr_lua_renewed) \
	strategy(rr_native_cad) \
	strategy(rr_fenced) \
	strategy(rr_fair_queue) \
	strategy(rr_reentrant_naive) \
	strategy(rr_reentrant) \
	strategy(rr_multi) \
	strategy(rr_multi_watch_split) \
	strategy(rr_multi_watch) \
	strategy(rr_watch_library) \
	strategy(rr_lua_incr) \
	strategy(rr_incr) \
	strategy(rr_redlock) \
	strategy(rr_redlock_parallel) \
	strategy(rr_redlock_covering)
/* clang-format on */

#define DECLARE(strategy) extern const struct rr_strategy strategy;
#define ADDRESS(strategy) &strategy,

RR_STRATEGIES(DECLARE)

const struct rr_strategy *const rr_strategies[] = { RR_STRATEGIES(ADDRESS) };
const size_t rr_n_strategies = sizeof(rr_strategies) / sizeof(rr_strategies[0]);

const char *const rr_lock_kind_names[RR_LOCK_KINDS] = {
	[RR_LOCK_NONE] = "none",       [RR_LOCK_MUTEX] = "mutex",
	[RR_LOCK_KEY] = "key",         [RR_LOCK_TIMESTAMP] = "timestamp",
	[RR_LOCK_COUNTER] = "counter", [RR_LOCK_QUORUM] = "quorum",
	[RR_LOCK_QUEUE] = "queue",
};

const struct rr_strategy *rr_strategy_find(const char *name)
{
	for (size_t i = 0; i < rr_n_strategies; i++) {
		if (strcmp(rr_strategies[i]->name, name) == 0)
			return rr_strategies[i];
	}
	return NULL;
}

const char *rr_strategy_name(size_t index)
{
	return index < rr_n_strategies ? rr_strategies[index]->name : NULL;
}

bool rr_was_refused(const struct rr_strategy *strategy, enum rdl_outcome outcome, bool has_entered)
{
	return outcome == RDL_BUSY ||
	       (outcome == RDL_ERROR && !has_entered && strategy->lock.kind == RR_LOCK_QUORUM);
}
