/* SPDX-License-Identifier: MIT */
/* How the comparison with other locks is printed: a line for each of ours
 * beside each of theirs. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "environment.h"
#include "peers.h"
#include "version.h"

/* What one of ours is to reach, as a multiple of one of theirs. */
struct bar {
	const char *ours, *theirs;
	double times;
};

static const struct bar bars[] = {
	{ "lua-delifequals", "redis-py", 1.6 },
	{ "lua-delifequals", "redis-semaphore", 1.6 },
	{ "lua-pipelined", "redis-py", 3 },
	{ "lua-pipelined", "redis-semaphore", 3 },
	{ "redlock", "node-redlock", 3 },
};

enum { N_BARS = sizeof(bars) / sizeof(bars[0]) };

static struct rr_contestant *find(struct rr_peers *peers, const char *name)
{
	for (size_t i = 0; i < peers->n_contestants; i++) {
		if (strcmp(peers->contestants[i].name, name) == 0)
			return &peers->contestants[i];
	}
	return NULL;
}

/* One line of the table; none when one of the two did not take part. */
static void print_line(struct rr_peers *peers, const char *format, size_t c,
		       const struct bar *bar)
{
	struct rr_contestant *ours = find(peers, bar->ours);
	struct rr_contestant *theirs = find(peers, bar->theirs);
	const long rounds = peers->comparison.options->rounds;
	char left[RR_GROUPED_SIZE], right[RR_GROUPED_SIZE];
	char ratio[16], wanted[16];
	double a, b;

	if (!ours || !theirs)
		return;
	a = rr_median(ours->rates[c], rounds);
	b = rr_median(theirs->rates[c], rounds);
	snprintf(ratio, sizeof(ratio), "%.2f", a / b);
	snprintf(wanted, sizeof(wanted), "%.1f", bar->times);
	printf(format, rr_peers_clients[c], ours->name, rr_whole(left, a),
	       theirs->name, rr_whole(right, b), ratio, wanted,
	       a / b >= bar->times ? "reached" : "missed");
}

static void print_lines(struct rr_peers *peers, const char *format)
{
	for (size_t i = 0; i < N_BARS; i++) {
		for (size_t c = 0; c < RR_PEERS_CLIENTS; c++)
			print_line(peers, format, c, &bars[i]);
	}
}

void rr_peers_print_text(struct rr_peers *peers)
{
	const struct rr_comparison_options *options =
		peers->comparison.options;
	char increments[RR_GROUPED_SIZE];

	printf("Lock, GET, SET, unlock: %s increments, medians of %ld rounds, pin same\n\n",
	       rr_grouped(increments, options->increments), options->rounds);
	printf("%7s  %-15s  %12s  %-15s  %12s  %5s  %4s\n", "clients", "ours",
	       "increments/s", "theirs", "increments/s", "ratio", "bar");
	print_lines(peers, "%7d  %-15s  %12s  %-15s  %12s  %5s  %4s  %s\n");
	printf("\n");
	for (size_t i = 0; i < peers->n_contestants; i++) {
		const struct rr_contestant *one = &peers->contestants[i];

		if (!one->strategy)
			printf("%s: %s, %s\n", one->name, one->versions.peer,
			       one->versions.runtime);
	}
}

/* ---- The document ---------------------------------------------------------------- */

static const char *field(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "unknown";
}

static void print_versions(const struct rr_peers *peers)
{
	printf("| lock | versions |\n|---|---|\n");
	printf("| ours | redrace %s (%s) over hiredis %s |\n", RR_VERSION,
	       RR_COMMIT, RR_HIREDIS);
	for (size_t i = 0; i < peers->n_contestants; i++) {
		const struct rr_contestant *one = &peers->contestants[i];

		if (!one->strategy)
			printf("| %s | %s, %s |\n", one->name,
			       one->versions.peer, one->versions.runtime);
	}
}

static void print_conditions(const struct rr_peers *peers)
{
	const struct rr_comparison_options *options =
		peers->comparison.options;
	json_t *machine = rr_environment_machine();
	json_t *server = rr_environment_server(&peers->comparison.cluster);
	const time_t now = time(NULL);
	char increments[RR_GROUPED_SIZE], date[32];
	struct tm when;

	strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &when));
	printf("Measured on %s with redis-server %s on %s, %d cores, Linux %s: %s increments in each run, medians of %ld rounds, in which all take turns.\n\n",
	       date, field(server, "redis_version"), field(machine, "cpu"),
	       (int)json_integer_value(json_object_get(machine, "cores")),
	       field(machine, "kernel"),
	       rr_grouped(increments, options->increments), options->rounds);
	json_decref(machine);
	json_decref(server);
}

void rr_peers_print_document(struct rr_peers *peers)
{
	const struct rr_comparison_options *options =
		peers->comparison.options;

	printf("# Beside other locks\n\n"
	       "Made by `build/redrace peers --repeats %ld --increments %ld --format markdown > docs/peers.md`; `make bench-peers` prints the same table.\n\n",
	       options->rounds, options->increments);
	printf("Every client repeats: take the lock, GET the counter, SET it to one more, give the lock back. "
	       "Servers and clients share one processor and talk through unix sockets; `redlock` and `node-redlock` have five lock servers besides the data server. "
	       "Each of the others runs as it was fastest here: with threads, tasks or processes, and with the pause between two attempts that suited it best (the scripts in `harness/bench/peers` tell). "
	       "Every count was exact.\n\n");
	print_conditions(peers);
	printf("| clients | ours | increments/s | theirs | increments/s | ratio | bar | |\n"
	       "|---:|---|---:|---|---:|---:|---:|---|\n");
	print_lines(peers, "| %d | %s | %s | %s | %s | %s | %s | %s |\n");
	printf("\nThe bar is what we want to reach, as a ratio.\n\n");
	print_versions(peers);
}
