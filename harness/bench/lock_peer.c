/* SPDX-License-Identifier: MIT */
#include "lock_peer.h"

#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/child.h"

#define RUNNER "harness/bench/peers/run"

/* Slower than a hundred increments per second is no measurement. */
enum { STARTUP_MS = 60000, INCREMENT_MS = 10, ARGUMENTS_MAX = 32 };

/* The peer's answer, its last line of JSON; NULL when it gave none. */
static json_t *answer(const struct rr_child *child)
{
	char line[512];

	if (!rr_child_exited(child, 0) ||
	    !rr_child_line(child, "{", line, sizeof(line)))
		return NULL;
	return json_loads(line, 0, NULL);
}

static enum rr_exit no_answer(const struct rr_lock_peer *peer,
			      const struct rr_child *child)
{
	char line[512];

	if (!rr_child_line(child, "", line, sizeof(line)))
		snprintf(line, sizeof(line), "it ended without a word");
	if (rr_child_exited(child, RR_EXIT_SKIPPED))
		return rr_complain(RR_EXIT_SKIPPED, "%s is left out: %s",
				   peer->name, line);
	return rr_complain(RR_EXIT_INTERNAL, "%s failed: %s", peer->name,
			   line);
}

enum rr_exit rr_lock_peer_probe(const struct rr_lock_peer *peer,
				struct rr_signals *signals,
				struct rr_lock_peer_versions *versions)
{
	const char *const argv[] = { RUNNER, peer->name, "versions", NULL };
	const char *name, *runtime;
	struct rr_child child;
	enum rr_exit code;
	json_t *said;

	if (access(RUNNER, X_OK) != 0)
		return rr_complain(RR_EXIT_USAGE,
				   "there is no %s here; run it in the project's root, as make bench-peers does",
				   RUNNER);
	code = rr_child_run(&child, argv, -1, STARTUP_MS, signals);
	if (code != RR_EXIT_OK)
		return code;
	said = answer(&child);
	if (json_unpack(said, "{s:s, s:s}", "peer", &name, "runtime",
			&runtime) != 0) {
		json_decref(said);
		return no_answer(peer, &child);
	}
	snprintf(versions->peer, sizeof(versions->peer), "%s", name);
	snprintf(versions->runtime, sizeof(versions->runtime), "%s", runtime);
	json_decref(said);
	return RR_EXIT_OK;
}

static enum rr_exit judge(const struct rr_lock_peer *peer,
			  const struct rr_lock_peer_run *run,
			  const struct rr_child *child, double *per_s)
{
	json_t *said = answer(child);
	json_int_t final;
	const int unpacked = json_unpack(said, "{s:F, s:I}",
					 "increments_per_s", per_s, "final",
					 &final);

	json_decref(said);
	if (unpacked != 0)
		return no_answer(peer, child);
	if (final != run->increments + run->warmup)
		return rr_complain(RR_EXIT_VIOLATED,
				   "%s counted to %lld instead of %ld",
				   peer->name, (long long)final,
				   run->increments + run->warmup);
	return RR_EXIT_OK;
}

enum rr_exit rr_lock_peer_count(const struct rr_lock_peer *peer,
				const struct rr_lock_peer_run *run,
				double *per_s)
{
	const struct rr_cluster *cluster = run->cluster;
	const long total = run->increments + run->warmup;
	char clients[16], increments[24], warmup[24], lock[RR_KEY_SIZE + 8];
	const char *argv[ARGUMENTS_MAX] = {
		RUNNER, peer->name, "count", clients, increments, warmup,
		run->counter, lock,
	};
	struct rr_child child;
	enum rr_exit code;
	size_t n = 0;

	snprintf(clients, sizeof(clients), "%d", run->clients);
	snprintf(increments, sizeof(increments), "%ld", run->increments);
	snprintf(warmup, sizeof(warmup), "%ld", run->warmup);
	/* The prefix that one of the peers cannot do without. */
	snprintf(lock, sizeof(lock), "mutex:%s", run->counter);
	while (argv[n])
		n++;
	for (size_t i = 0; i <= peer->lock_servers; i++)
		argv[n + i] = cluster->servers[i].address.host;
	code = rr_child_run(&child, argv, cluster->options.cpu,
			    STARTUP_MS + total * INCREMENT_MS,
			    &cluster->session->signals);
	return code == RR_EXIT_OK ? judge(peer, run, &child, per_s) : code;
}
