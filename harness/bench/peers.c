/* SPDX-License-Identifier: MIT */
/*
 * Our locks beside those that people use, in the same loop on the same servers
 * and the same processor: a line for each of ours beside each of theirs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "comparison.h"
#include "results.h"
#include "version.h"

static const int clients[] = { 1, 2, 8 };

static const char *const ours[] = { "lua-delifequals", "lua-pipelined",
				    "redlock" };

static const struct rr_lock_peer theirs[] = {
	{ .name = "redis-py" },
	{ .name = "redis-semaphore" },
	{ .name = "node-redlock", .lock_servers = 5 },
};

/* What one of ours is to reach, as a multiple of one of theirs. */
static const struct bar {
	const char *ours, *theirs;
	double times;
} bars[] = {
	{ "lua-delifequals", "redis-py", 1.6 },
	{ "lua-delifequals", "redis-semaphore", 1.6 },
	{ "lua-pipelined", "redis-py", 3 },
	{ "lua-pipelined", "redis-semaphore", 3 },
	{ "redlock", "node-redlock", 3 },
};

enum {
	N_CLIENTS = sizeof(clients) / sizeof(clients[0]),
	N_OURS = sizeof(ours) / sizeof(ours[0]),
	N_THEIRS = sizeof(theirs) / sizeof(theirs[0]),
	N_BARS = sizeof(bars) / sizeof(bars[0]),
	CONTESTANTS_MAX = N_OURS + N_THEIRS,
};

/* Who takes part. */
struct contestant {
	const char *name;
	const struct rr_lock_peer *peer; /* NULL: one of ours */
	struct rr_lock_peer_versions versions;
	struct rr_series *series[N_CLIENTS];
};

struct peers {
	struct rr_comparison comparison;
	struct contestant contestants[CONTESTANTS_MAX];
	size_t n;
	struct rr_series series[N_CLIENTS * CONTESTANTS_MAX];
};

/* ---- Who takes part ------------------------------------------------------ */

/* Ours, and those of theirs that are installed; what is not is named. False
 * after another error. */
static bool invite_contestants(struct peers *peers, struct rr_signals *signals,
			       struct rr_error *error)
{
	for (size_t i = 0; i < N_OURS; i++)
		peers->contestants[peers->n++].name = ours[i];
	for (size_t i = 0; i < N_THEIRS; i++) {
		struct contestant *one = &peers->contestants[peers->n];

		one->name = theirs[i].name;
		one->peer = &theirs[i];
		if (rr_lock_peer_probe(one->peer, signals, &one->versions,
				       error))
			peers->n++;
		else if (!rr_error_set_aside(error, RR_ERROR_SKIPPED))
			return false;
	}
	return true;
}

static bool measure_contestants(struct peers *peers)
{
	const long increments = peers->comparison.options->increments;
	size_t n = 0;

	for (size_t c = 0; c < N_CLIENTS; c++) {
		for (size_t i = 0; i < peers->n; i++) {
			struct contestant *one = &peers->contestants[i];
			struct rr_series *series = &peers->series[n++];

			one->series[c] = series;
			series->clients = clients[c];
			series->increments = increments;
			series->program = one->peer;
			if (one->peer)
				series->run_program = rr_lock_peer_run;
			else
				series->strategy = rr_strategy_find(one->name);
		}
	}
	return rr_comparison_measure(&peers->comparison, peers->series, n);
}

/* ---- The table ----------------------------------------------------------- */

static const struct contestant *find_contestant(const struct peers *peers,
						const char *name)
{
	for (size_t i = 0; i < peers->n; i++) {
		if (strcmp(peers->contestants[i].name, name) == 0)
			return &peers->contestants[i];
	}
	return NULL;
}

/* None when one of the two did not take part. */
static void print_comparison(const struct peers *peers, const char *format,
			     size_t c, const struct bar *bar)
{
	const struct contestant *one = find_contestant(peers, bar->ours);
	const struct contestant *other = find_contestant(peers, bar->theirs);
	char left[RR_GROUPED_SIZE], right[RR_GROUPED_SIZE];
	char ratio[16], wanted[16];
	double a, b;

	if (!one || !other || one->series[c]->is_refused)
		return;
	a = rr_comparison_rate(&peers->comparison, one->series[c]);
	b = rr_comparison_rate(&peers->comparison, other->series[c]);
	snprintf(ratio, sizeof(ratio), "%.2f", a / b);
	snprintf(wanted, sizeof(wanted), "%.1f", bar->times);
	printf(format, clients[c], one->name, rr_whole(left, a), other->name,
	       rr_whole(right, b), ratio, wanted,
	       a / b >= bar->times ? "reached" : "missed");
}

static void print_comparisons(const struct peers *peers, const char *format)
{
	for (size_t i = 0; i < N_BARS; i++) {
		for (size_t c = 0; c < N_CLIENTS; c++)
			print_comparison(peers, format, c, &bars[i]);
	}
}

static void print_versions(const struct peers *peers, const char *format)
{
	for (size_t i = N_OURS; i < peers->n; i++) {
		const struct contestant *one = &peers->contestants[i];

		printf(format, one->name, one->versions.peer,
		       one->versions.runtime);
	}
}

static void print_text(const struct peers *peers)
{
	const struct rr_comparison_options *options = peers->comparison.options;
	char increments[RR_GROUPED_SIZE];

	printf("Lock, GET, SET, unlock: %s increments, medians of %ld rounds, pin same\n\n",
	       rr_grouped(increments, options->increments), options->repeats);
	printf("%7s  %-15s  %12s  %-15s  %12s  %5s  %4s\n", "clients", "ours",
	       "increments/s", "theirs", "increments/s", "ratio", "bar");
	print_comparisons(peers,
			  "%7d  %-15s  %12s  %-15s  %12s  %5s  %4s  %s\n");
	printf("\n");
	print_versions(peers, "%s: %s, %s\n");
}

/* ---- The document -------------------------------------------------------- */

static const char *string_in(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "unknown";
}

static void print_conditions(const struct peers *peers)
{
	const struct rr_comparison_options *options = peers->comparison.options;
	json_t *machine = rr_environment_machine();
	json_t *server = rr_environment_server(&peers->comparison.cluster);
	const time_t now = time(NULL);
	char increments[RR_GROUPED_SIZE], date[32];
	struct tm when;

	strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &when));
	printf("Measured on %s with redis-server %s on %s, %d cores, Linux %s: %s increments in each run, medians of %ld rounds, in which all take turns.\n\n",
	       date, string_in(server, "redis_version"), string_in(machine, "cpu"),
	       (int)json_integer_value(json_object_get(machine, "cores")),
	       string_in(machine, "kernel"),
	       rr_grouped(increments, options->increments), options->repeats);
	json_decref(machine);
	json_decref(server);
}

static void print_document(const struct peers *peers)
{
	const struct rr_comparison_options *options = peers->comparison.options;

	printf("# Beside other locks\n\n"
	       "Made by `build/redrace peers --repeats %ld --increments %ld --format markdown > docs/peers.md`; `make bench-peers` prints the same table.\n\n",
	       options->repeats, options->increments);
	printf("Every client repeats: take the lock, GET the counter, SET it to one more, give the lock back. "
	       "Servers and clients share one processor and talk through unix sockets; `redlock` and `node-redlock` have five lock servers besides the data server. "
	       "Each of the others runs as it was fastest here: with threads, tasks or processes, and with the pause between two attempts that suited it best (see the scripts in `harness/bench/peers`). "
	       "Every count was exact.\n\n");
	print_conditions(peers);
	printf("| clients | ours | increments/s | theirs | increments/s | ratio | bar | |\n"
	       "|---:|---|---:|---|---:|---:|---:|---|\n");
	print_comparisons(peers, "| %d | %s | %s | %s | %s | %s | %s | %s |\n");
	printf("\nThe bar is what we want to reach, as a ratio.\n\n");
	printf("| lock | versions |\n|---|---|\n");
	printf("| ours | redrace %s (%s) over hiredis %s |\n", RR_VERSION,
	       RR_COMMIT, RR_HIREDIS);
	print_versions(peers, "| %s | %s, %s |\n");
}

/* ---- The whole ----------------------------------------------------------- */

static enum rr_exit compare_peers(struct peers *peers,
				  const struct rr_comparison_options *options,
				  bool as_document, struct rr_session *session,
				  struct rr_error *error)
{
	const size_t servers = 1 + rr_strategy_find("redlock")->lock.servers;

	if (!invite_contestants(peers, &session->signals, error))
		return RR_EXIT_OK;
	if (peers->n == N_OURS)
		return RR_EXIT_SKIPPED;
	if (rr_comparison_open(&peers->comparison, options, session, servers,
			       true, error) &&
	    measure_contestants(peers)) {
		if (as_document)
			print_document(peers);
		else
			print_text(peers);
	}
	rr_comparison_close(&peers->comparison);
	return peers->comparison.verdict;
}

enum rr_exit rr_peers_compare(const struct rr_comparison_options *options,
			      bool as_document, struct rr_session *session,
			      struct rr_error *error)
{
	struct peers *peers = calloc(1, sizeof(*peers));
	enum rr_exit code = RR_EXIT_OK;

	if (peers)
		code = compare_peers(peers, options, as_document, session,
				     error);
	else
		rr_error_no_memory(error);
	free(peers);
	return code;
}
