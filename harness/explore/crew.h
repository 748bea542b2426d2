/* SPDX-License-Identifier: MIT */
/*
 * The jobs that share a search: processes, each on a processor and with servers
 * of its own. They end with the program, whatever becomes of it.
 */
#ifndef RR_CREW_H
#define RR_CREW_H

#include "explore.h"

enum { RR_CREW_MAX = 64 };

struct rr_crew;

/*
 * `n` jobs, RR_CREW_MAX at most, the first of which has the world that rr_explore()
 * is given. Before any thread exists and before the caller is pinned. Servers
 * are started when a search first needs them, as `options` says but for the
 * processor. NULL: complained of. Free it before the session is closed; NULL
 * is safe.
 */
struct rr_crew *rr_crew_new(struct rr_session *session, int n,
			    const struct rr_world_options *options);
void rr_crew_free(struct rr_crew *crew);

/*
 * rr_explore() of a search in parts, which begin at depth `split`. While it runs
 * the calling thread, the only one of the process, waits and tells
 * `config->progress`. That a job does not come to its end is
 * RR_EXIT_INTERNAL.
 */
enum rr_exit rr_crew_explore(struct rr_crew *crew, struct rr_world *world,
			     const struct rr_explore_config *config,
			     size_t split, struct rr_explore_result *result);

#endif
