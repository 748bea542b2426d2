/* SPDX-License-Identifier: MIT */
/* Strategies that nobody here has written for the explorer: locks made of whatever
 * Redis has. */
#ifndef RR_TEST_STRANGERS_H
#define RR_TEST_STRANGERS_H

#include "../cluster/stage.h"
#include "explore/explore.h"

/* A lock of two commands, each with the lock's key in it as "%s". The first answers
 * `taken` if the client has it now. */
struct stranger_lock {
	const char *name;
	const char *take, *give;
	long long taken;
};

/* A strategy that is made of that: valid until the next one is. */
const struct rr_strategy *stranger_of(const struct stranger_lock *lock);

/* A lock that is taken by `acquire` and given back by DEL; the rest is for who makes
 * the strategy to add. */
struct rr_strategy stranger_named(const char *name,
				  enum rdl_outcome (*acquire)(struct rr_client *));

/* SETNX of the lock's key, and DEL. */
enum rdl_outcome stranger_set_lock(struct rr_client *client);
enum rdl_outcome stranger_delete_lock(struct rr_client *client);

/* Of a command that answers 1 to who gets the lock. */
enum rdl_outcome stranger_won(enum rdl_outcome outcome, const struct rdl_reply *reply);

#define NO_FAULT                   \
	(struct rr_explore_config) \
	{                          \
		.increments = 2    \
	}
#define ONE_CRASH                          \
	(struct rr_explore_config)         \
	{                                  \
		.budget.of[RR_CRASHES] = 1 \
	}

/* Explores with two clients and one increment each, unless `config` says more, on
 * servers of its own. */
enum rr_exit stranger_explore(const struct rr_strategy *strategy, struct rr_explore_config config,
			      struct rr_explore_result *result);

/* And expects the verdict: `breaks` and nothing else; `safe` if it is 0. */
void stranger_assert(const struct rr_strategy *strategy, struct rr_explore_config config,
		     unsigned breaks);

/* Two are found inside, or the search says that it does not know: by an error or by
 * its rounds. `number`: of the case, for the message. */
void stranger_assert_never_safe(const struct rr_strategy *strategy, struct rr_explore_config config,
				int number);

/* All states seen, nothing broken, and a mutant noticed. */
bool stranger_is_safe(const struct rr_explore_result *result);

#endif
