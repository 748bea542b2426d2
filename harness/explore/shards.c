/* SPDX-License-Identifier: MIT */
#include "shards.h"

#include <limits.h>

#include "counterexample.h"
#include "crew.h"

/*
 * SPLIT: two clients with faults have some twenty parts there, three have fifty,
 * enough to share out evenly. Above it every order is tried, which costs some
 * runs that are blocked further down: many where the whole is small. So whether
 * it is small is found out first, whatever the number of jobs, and then there
 * are no parts.
 */
enum { SPLIT = 4, SMALL = 500 };

void rr_shards_init(struct rr_shards *shards)
{
	atomic_init(&shards->next, 0);
	atomic_init(&shards->schedules, 0);
	atomic_init(&shards->failing, ULONG_MAX);
	atomic_init(&shards->is_over, false);
}

/* A claim that it has not come to yet stays its own. */
bool rr_shards_claim(void *context, unsigned long part)
{
	struct rr_share *share = context;

	if (share->split == 0)
		return true;
	if (!share->has_claim || share->claim < part)
		share->claim = atomic_fetch_add(&share->shards->next, 1);
	share->has_claim = true;
	share->n_claimed += share->claim == part;
	return share->claim == part;
}

void rr_shards_note_failure(struct rr_shards *shards, unsigned long part)
{
	unsigned long first = atomic_load(&shards->failing);

	while (part < first &&
	       !atomic_compare_exchange_weak(&shards->failing, &first, part))
		continue;
}

/* ---- A whole search ------------------------------------------------------- */

enum rr_exit rr_explore_start(struct rr_world *world,
			      const struct rr_explore_config *config,
			      char error[RR_WORLD_ERROR])
{
	const size_t n = rr_explore_servers(config);
	const struct rr_server_options plain = { 0 };
	enum rr_exit code = RR_EXIT_OK;

	rr_world_reset(world);
	for (size_t i = 0; i < n && code == RR_EXIT_OK; i++) {
		char name[RR_SERVER_NAME];
		int server;

		rr_counterexample_server_name(name, i);
		code = rr_world_declare(world, name, &plain, &server, error);
	}
	return code == RR_EXIT_OK ? rr_world_start(world, error) : code;
}

static enum rr_exit explore(struct rr_world *world,
			    const struct rr_explore_config *config,
			    struct rr_share *share,
			    struct rr_explore_result *result)
{
	struct rr_shards shards;
	enum rr_exit code;

	rr_shards_init(&shards);
	share->shards = &shards;
	*result = (struct rr_explore_result){ 0 };
	code = rr_explore_start(world, config, result->error);
	if (code == RR_EXIT_OK)
		code = rr_explore_share(world, config, share, result);
	return code;
}

enum rr_exit rr_explore(struct rr_world *world,
			const struct rr_explore_config *config,
			struct rr_explore_result *result)
{
	const bool draws = config->random.runs > 0;
	struct rr_share small = { .most_runs = draws ? 0 : SMALL };
	struct rr_share all = { .split = SPLIT };
	enum rr_exit code = explore(world, config, &small, result);
	const double seconds = result->seconds;

	if (code != RR_EXIT_OK || !small.gave_up)
		return code;
	rr_explore_release(result);
	if (config->crew)
		code = rr_crew_explore(config->crew, world, config, SPLIT,
				       result);
	else
		code = explore(world, config, &all, result);
	result->seconds += seconds;
	return code;
}
