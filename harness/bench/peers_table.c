/* SPDX-License-Identifier: MIT */
/*
 * What `redrace peers` prints: for each guarantee the rate of each lock with 1,
 * 2 and 8 clients, and how many times as fast ours are; then the bars. As text,
 * or as a document.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "peers.h"
#include "results.h"
#include "version.h"

enum { CELL_SIZE = 64 };

static const struct {
	const char *title, *promise;
} guarantees[RR_GUARANTEES] = {
	[RR_GUARANTEE_TOKEN] = { "A lock on one server",
				 "A token and a lease of 10 s, not renewed; only whoever has the token deletes it. None has a fencing number: a holder slower than its lease is not kept from writing." },
	[RR_GUARANTEE_QUORUM] = { "A lock on five servers",
				  "The same on five independent servers, beside the one that has the data: held when three of them grant it. Not renewed, no fencing number." },
};

/* ---- Figures ------------------------------------------------------------- */

/* No figure: the count was wrong, or the server refused it. */
static bool has_figure(const struct rr_contestant *one, size_t sweep)
{
	const struct rr_series *series = one->series[sweep];

	return !series->is_refused && !series->is_wrong;
}

static void print_rate(const struct rr_peers *peers, const struct rr_contestant *one, size_t sweep,
		       char cell[CELL_SIZE])
{
	struct rr_series *series = one->series[sweep];
	char rate[RR_GROUPED_SIZE];

	if (series->is_wrong)
		snprintf(cell, CELL_SIZE, "wrong");
	else if (series->is_refused)
		snprintf(cell, CELL_SIZE, "refused");
	else
		snprintf(cell, CELL_SIZE, "%s",
			 rr_whole(rate, rr_comparison_rate(&peers->comparison, series)));
}

/* 0 where there is no figure. */
static double lead_of(const struct rr_peers *peers, const struct rr_contestant *ours,
		      const struct rr_contestant *theirs, size_t sweep)
{
	if (!has_figure(ours, sweep) || !has_figure(theirs, sweep))
		return 0;
	return rr_comparison_rate(&peers->comparison, ours->series[sweep]) /
	       rr_comparison_rate(&peers->comparison, theirs->series[sweep]);
}

static void print_lead(double lead, char cell[CELL_SIZE])
{
	if (lead > 0)
		snprintf(cell, CELL_SIZE, "%.2f", lead);
	else
		snprintf(cell, CELL_SIZE, "-");
}

static const struct rr_contestant *find_contestant(const struct rr_peers *peers, const char *name)
{
	for (size_t i = 0; i < peers->n; i++) {
		if (strcmp(peers->contestants[i].lock->name, name) == 0)
			return &peers->contestants[i];
	}
	return NULL;
}

/* ---- Rows ---------------------------------------------------------------- */

/* A row with a cell for each number of clients; `format` begins with a string
 * and has another for each cell. */
typedef void print_cell(const struct rr_peers *peers, const void *what, size_t sweep,
			char cell[CELL_SIZE]);

struct row {
	const struct rr_peers *peers;
	const char *format;
	print_cell *cell;
};

static void print_row(const struct row *row, const char *head, const void *what)
{
	char cells[RR_PEER_SWEEP][CELL_SIZE];

	for (size_t sweep = 0; sweep < RR_PEER_SWEEP; sweep++)
		row->cell(row->peers, what, sweep, cells[sweep]);
	printf(row->format, head, cells[0], cells[1], cells[2]);
}

static void rate_cell(const struct rr_peers *peers, const void *what, size_t sweep,
		      char cell[CELL_SIZE])
{
	print_rate(peers, what, sweep, cell);
}

struct pair {
	const struct rr_contestant *ours, *theirs;
};

static void lead_cell(const struct rr_peers *peers, const void *what, size_t sweep,
		      char cell[CELL_SIZE])
{
	const struct pair *pair = what;

	print_lead(lead_of(peers, pair->ours, pair->theirs, sweep), cell);
}

static void print_rates(const struct rr_peers *peers, enum rr_guarantee guarantee,
			const char *format)
{
	const struct row row = { peers, format, rate_cell };

	for (size_t i = 0; i < peers->n; i++) {
		const struct rr_contestant *one = &peers->contestants[i];

		if (one->lock->guarantee == guarantee)
			print_row(&row, one->lock->name, one);
	}
}

static void print_leads_of(const struct rr_peers *peers, const struct rr_contestant *ours,
			   const char *format)
{
	const struct row row = { peers, format, lead_cell };

	for (size_t i = 0; i < peers->n; i++) {
		const struct rr_contestant *one = &peers->contestants[i];
		const struct pair pair = { ours, one };
		char head[2 * CELL_SIZE];

		if (one->lock->is_ours || one->lock->guarantee != ours->lock->guarantee)
			continue;
		snprintf(head, sizeof(head), "%s / %s", ours->lock->name, one->lock->name);
		print_row(&row, head, &pair);
	}
}

static void print_leads(const struct rr_peers *peers, enum rr_guarantee guarantee,
			const char *format)
{
	for (size_t i = 0; i < peers->n; i++) {
		const struct rr_contestant *one = &peers->contestants[i];

		if (one->lock->is_ours && one->lock->guarantee == guarantee)
			print_leads_of(peers, one, format);
	}
}

/* ---- Bars ---------------------------------------------------------------- */

struct measured_bar {
	const struct rr_peer_bar *bar;
	struct pair pair;
};

static void bar_cell(const struct rr_peers *peers, const void *what, size_t sweep,
		     char cell[CELL_SIZE])
{
	const struct measured_bar *it = what;
	const double lead = lead_of(peers, it->pair.ours, it->pair.theirs, sweep);
	char figure[CELL_SIZE];

	print_lead(lead, figure);
	snprintf(cell, CELL_SIZE, "%.16s %s", figure,
		 lead >= it->bar->times ? "reached" :
		 lead > 0               ? "missed" :
					  "");
}

/* None when one of the two did not take part. */
static void print_bars(const struct rr_peers *peers, const char *format)
{
	const struct row row = { peers, format, bar_cell };

	for (size_t i = 0; i < peers->n_bars; i++) {
		const struct rr_peer_bar *bar = &peers->bars[i];
		const struct measured_bar it = {
			bar,
			{ find_contestant(peers, bar->ours), find_contestant(peers, bar->theirs) },
		};
		char head[2 * CELL_SIZE];

		snprintf(head, sizeof(head), "%s / %s, %.1f", bar->ours, bar->theirs, bar->times);
		if (it.pair.ours && it.pair.theirs)
			print_row(&row, head, &it);
	}
}

/* ---- As text ------------------------------------------------------------- */

static void print_versions(const struct rr_peers *peers, const char *format)
{
	for (size_t i = 0; i < peers->n; i++) {
		const struct rr_contestant *one = &peers->contestants[i];

		if (!one->lock->is_ours)
			printf(format, one->lock->name, one->versions.peer, one->versions.runtime);
	}
}

void rr_peers_print_text(const struct rr_peers *peers)
{
	static const char format[] = "%-42s %13s %13s %13s\n";
	const struct rr_comparison_options *options = peers->comparison.options;
	char increments[RR_GROUPED_SIZE];

	printf("Lock, GET, SET, unlock: %s increments, medians of %ld rounds, pin same, increments/s\n",
	       rr_grouped(increments, options->increments), options->repeats);
	for (int i = 0; i < RR_GUARANTEES; i++) {
		printf("\n");
		printf(format, guarantees[i].title, "1 client", "2 clients", "8 clients");
		print_rates(peers, i, format);
		print_leads(peers, i, format);
	}
	printf("\n");
	printf(format, "To be reached, as a ratio", "1 client", "2 clients", "8 clients");
	print_bars(peers, format);
	printf("\n");
	print_versions(peers, "%s: %s, %s\n");
}

/* ---- As a document ------------------------------------------------------- */

static const char *string_in(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "unknown";
}

static void print_conditions(const struct rr_peers *peers)
{
	const struct rr_comparison_options *options = peers->comparison.options;
	json_t *machine = rr_environment_machine();
	json_t *server = rr_environment_server(&peers->comparison.cluster);
	const time_t now = time(NULL);
	char increments[RR_GROUPED_SIZE], half[RR_GROUPED_SIZE], date[32];
	struct tm when;

	strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &when));
	printf("Measured on %s with redis-server %s on %s, %d cores, Linux %s, at nice %d: %s increments in each run, %s with five lock servers, after a warm-up; medians of %ld rounds, in which all take turns. "
	       "Where others work on the machine meanwhile the ratios say more than the rates.\n\n",
	       date, string_in(server, "redis_version"), string_in(machine, "cpu"),
	       (int)json_integer_value(json_object_get(machine, "cores")),
	       string_in(machine, "kernel"), getpriority(PRIO_PROCESS, 0),
	       rr_grouped(increments, options->increments),
	       rr_grouped(half, options->increments / 2), options->repeats);
	json_decref(machine);
	json_decref(server);
}

static void print_notes(const struct rr_peers *peers, enum rr_guarantee guarantee)
{
	for (size_t i = 0; i < peers->n; i++) {
		const struct rr_peer_lock *lock = peers->contestants[i].lock;

		if (lock->guarantee == guarantee)
			printf("- `%s`%s: %s.\n", lock->name, lock->is_ours ? " (ours)" : "",
			       lock->note);
	}
}

static void print_section(const struct rr_peers *peers, enum rr_guarantee guarantee)
{
	static const char format[] = "| %s | %s | %s | %s |\n";

	printf("## %s\n\n%s\n\n", guarantees[guarantee].title, guarantees[guarantee].promise);
	print_notes(peers, guarantee);
	printf("\n| increments/s | 1 client | 2 clients | 8 clients |\n|---|---:|---:|---:|\n");
	print_rates(peers, guarantee, format);
	printf("\n| ours / theirs | 1 client | 2 clients | 8 clients |\n|---|---:|---:|---:|\n");
	print_leads(peers, guarantee, format);
	printf("\n");
}

void rr_peers_print_document(const struct rr_peers *peers)
{
	const struct rr_comparison_options *options = peers->comparison.options;

	printf("# Beside other locks\n\n"
	       "Made by `build/redrace peers --repeats %ld --increments %ld --format markdown > docs/peers.md`; `make bench-peers` prints the same tables.\n\n",
	       options->repeats, options->increments);
	printf("Every client repeats: take the lock, GET the counter, SET it to one more, give the lock back. "
	       "Servers and clients share one processor and talk through unix sockets. "
	       "Whoever is refused waits 5 ms before the next attempt: theirs a fixed time, ours 3.3 to 6.7 ms at random; no lock here waits in a queue. "
	       "Each of the others runs as it was fastest here, with threads, tasks or processes (see the scripts in `harness/bench/peers`). "
	       "A ratio above 1 means that ours is faster. Every count was compared with the increments that were made; one that was not exact would be called wrong.\n\n");
	print_conditions(peers);
	for (int i = 0; i < RR_GUARANTEES; i++)
		print_section(peers, i);
	printf("## What is to be reached\n\n| ours / theirs, at least | 1 client | 2 clients | 8 clients |\n|---|---|---|---|\n");
	print_bars(peers, "| %s | %s | %s | %s |\n");
	printf("\n## Versions\n\n| lock | versions |\n|---|---|\n");
	printf("| ours | redrace %s (%s) over hiredis %s |\n", RR_VERSION, RR_COMMIT, RR_HIREDIS);
	print_versions(peers, "| %s | %s, %s |\n");
	printf("\nLeft out: npm's redlock 5 (a beta) and `@sesamecare-oss/redlock`, which keep what a minority granted between two attempts, so that many clients wait for leases to end. "
	       "Debian 12 has no package of redsync (Go), pottery or a redlock for Python, or a lock for Ruby.\n");
}
