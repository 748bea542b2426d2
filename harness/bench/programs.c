/* SPDX-License-Identifier: MIT */
/* Programs of others that count too: redis-benchmark, and locks that people
 * use. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "cluster/cluster.h"
#include "comparison.h"

#define RUNNER "harness/bench/peers/run"

/* Slower than twenty increments per second is no measurement. Code that node
 * compiles while it runs was at its full speed after so many increments; fewer
 * are warmed up by as many. */
enum {
	BENCHMARK_MS = 120000,
	STARTUP_MS = 60000,
	INCREMENT_MS = 50,
	ARGUMENTS_MAX = 32,
	PEER_WARMUP = 3000,
};

/* On the processor of the servers. */
static bool run_pinned(struct rr_comparison *comparison, struct rr_child *child,
		       const char *const argv[], long limit_ms)
{
	return rr_child_run(child, argv, comparison->cluster.options.cpu, limit_ms,
			    &comparison->session->signals, comparison->error);
}

/* ---- redis-benchmark ----------------------------------------------------- */

/* The figure in the line "INCR","57636.89",... */
static double parse_rate(const struct rr_child *child)
{
	static const char begin[] = "\"INCR\",\"";
	char line[256];

	if (!rr_child_line(child, begin, line, sizeof(line)))
		return 0;
	return strtod(line + strlen(begin), NULL);
}

bool rr_redis_benchmark_run(struct rr_comparison *comparison, struct rr_series *series,
			    double *per_s)
{
	const struct rl_address *data = rr_cluster_address(&comparison->cluster, 0);
	struct rr_error *error = comparison->error;
	char clients[16], requests[24];
	const char *const argv[] = {
		"redis-benchmark", "-s", data->host, "-t",    "incr", "-c",
		clients,           "-n", requests,   "--csv", NULL,
	};
	struct rr_child child;

	snprintf(clients, sizeof(clients), "%d", series->clients);
	snprintf(requests, sizeof(requests), "%ld", series->increments);
	if (!run_pinned(comparison, &child, argv, BENCHMARK_MS))
		return false;
	if (rr_child_exited(&child, RR_CHILD_NOT_FOUND))
		return rr_error_set(
			error, RR_ERROR_SKIPPED,
			"redis-benchmark is not on PATH; install redis-tools (make deps)");
	*per_s = parse_rate(&child);
	return *per_s > 0 ||
	       rr_error_set(error, RR_ERROR_INTERNAL, "redis-benchmark gave no result");
}

/* ---- Locks of others ----------------------------------------------------- */

/* The peer's answer, its last line of JSON; NULL when it gave none. */
static json_t *parse_answer(const struct rr_child *child)
{
	char line[512];

	if (!rr_child_exited(child, 0) || !rr_child_line(child, "{", line, sizeof(line)))
		return NULL;
	return json_loads(line, 0, NULL);
}

static bool fail_without_answer(const struct rr_lock_peer *peer, const struct rr_child *child,
				struct rr_error *error)
{
	char line[512];

	if (!rr_child_line(child, "", line, sizeof(line)))
		snprintf(line, sizeof(line), "it ended without a message");
	if (rr_child_exited(child, RR_EXIT_SKIPPED))
		return rr_error_set(error, RR_ERROR_SKIPPED, "%s is left out: %s", peer->name,
				    line);
	return rr_error_set(error, RR_ERROR_INTERNAL, "%s failed: %s", peer->name, line);
}

bool rr_lock_peer_probe(const struct rr_lock_peer *peer, struct rr_signals *signals,
			struct rr_lock_peer_versions *versions, struct rr_error *error)
{
	const char *const argv[] = { RUNNER, peer->name, "versions", NULL };
	const char *name, *runtime;
	struct rr_child child;
	json_t *answer;
	bool good;

	if (access(RUNNER, X_OK) != 0)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"there is no %s here; run it in the project's root, as make bench-peers does",
			RUNNER);
	if (!rr_child_run(&child, argv, -1, STARTUP_MS, signals, error))
		return false;
	answer = parse_answer(&child);
	good = json_unpack(answer, "{s:s, s:s}", "peer", &name, "runtime", &runtime) == 0;
	if (good) {
		snprintf(versions->peer, sizeof(versions->peer), "%s", name);
		snprintf(versions->runtime, sizeof(versions->runtime), "%s", runtime);
	}
	json_decref(answer);
	return good || fail_without_answer(peer, &child, error);
}

static void report_wrong_count(struct rr_comparison *comparison, struct rr_series *series,
			       long long final, long expected)
{
	const struct rr_lock_peer *peer = series->program;

	series->is_wrong = true;
	rr_progress_end(&comparison->progress);
	comparison->verdict = rr_complain(RR_EXIT_VIOLATED,
					  "%s, %d clients, counted to %lld instead of %ld",
					  peer->name, series->clients, final, expected);
}

/* Its rate, and whether its count was exact. False: it gave neither. */
static bool judge_peer(struct rr_comparison *comparison, struct rr_series *series,
		       const struct rr_child *child, long expected, double *per_s)
{
	const struct rr_lock_peer *peer = series->program;
	json_t *answer = parse_answer(child);
	json_int_t final;
	const bool good = json_unpack(answer, "{s:F, s:I}", "increments_per_s", per_s, "final",
				      &final) == 0;

	json_decref(answer);
	if (!good)
		return fail_without_answer(peer, child, comparison->error);
	if (final != expected)
		report_wrong_count(comparison, series, final, expected);
	return true;
}

/* That it took too long says nothing without its name. */
static bool name_peer_in_error(struct rr_error *error, const struct rr_series *series)
{
	const struct rr_lock_peer *peer = series->program;
	char why[sizeof(error->text)];

	if (error->kind != RR_ERROR_INTERNAL)
		return false;
	snprintf(why, sizeof(why), "%s", error->text);
	return rr_error_set(error, RR_ERROR_INTERNAL, "%s, %d clients: %.400s", peer->name,
			    series->clients, why);
}

bool rr_lock_peer_run(struct rr_comparison *comparison, struct rr_series *series, double *per_s)
{
	const struct rr_cluster *cluster = &comparison->cluster;
	const struct rr_lock_peer *peer = series->program;
	const long warm_up = series->increments < PEER_WARMUP ? series->increments : PEER_WARMUP;
	const long total = series->increments + warm_up;
	char counter[RR_KEY_SIZE], lock[RR_KEY_SIZE + 16];
	char clients[16], increments[24], warmup[24];
	const char *argv[ARGUMENTS_MAX] = {
		RUNNER, peer->name, "count", clients, increments, warmup, counter, lock,
	};
	struct rr_child child;
	size_t n = 0;

	/* A key that nobody has used yet; and the prefix and the suffix that
	 * some of the peers cannot do without. */
	rr_keys_counter(counter, comparison->session->prefix, (int)comparison->n_runs);
	snprintf(lock, sizeof(lock), "mutex:%s:lock", counter);
	snprintf(clients, sizeof(clients), "%d", series->clients);
	snprintf(increments, sizeof(increments), "%ld", series->increments);
	snprintf(warmup, sizeof(warmup), "%ld", warm_up);
	while (argv[n])
		n++;
	for (size_t i = 0; i <= peer->lock_servers; i++)
		argv[n + i] = cluster->servers[i].address.host;
	if (!run_pinned(comparison, &child, argv, STARTUP_MS + total * INCREMENT_MS))
		return name_peer_in_error(comparison->error, series);
	return judge_peer(comparison, series, &child, total, per_s);
}
