/* SPDX-License-Identifier: MIT */
#include "explore_figures.h"

#include <stdio.h>

#include "base/text.h"

/* ---- Mutants -------------------------------------------------------------- */

void rr_explore_print_noticed(const struct rr_explore_result *result)
{
	for (size_t i = 0; i < result->n_mutants; i++) {
		if (result->mutants[i].fails) {
			printf("  mutants: rests on %s\n",
			       result->mutants[i].rests_on);
			return;
		}
	}
}

/* Those that fail by what rests on them, the others by what they do. */
static void print_list(const struct rr_explore_result *result, bool fails,
		       const char *title)
{
	const char *before = title;

	for (size_t i = 0; i < result->n_mutants; i++) {
		const struct rr_mutant_result *mutant = &result->mutants[i];

		if (mutant->fails != fails)
			continue;
		printf("%s%s", before, fails ? mutant->rests_on : mutant->name);
		before = ", ";
	}
	if (before != title)
		putchar('\n');
}

void rr_explore_print_mutants(const struct rr_explore_result *result)
{
	print_list(result, true, "  rests on ");
	print_list(result, false, "  not noticed: ");
}

/* ---- The search ----------------------------------------------------------- */

/* "  questions        1,234", without an end. */
static void print_number(const char *what, unsigned long n)
{
	char number[RR_GROUPED_SIZE];

	printf("  %-16s %s", what, rr_grouped(number, (long long)n));
}

/* One with another in brackets. */
static void print_pair(const char *what, unsigned long n, unsigned long m,
		       const char *of_what)
{
	char number[RR_GROUPED_SIZE];

	print_number(what, n);
	printf(" (%s %s)\n", rr_grouped(number, (long long)m), of_what);
}

static void print_line(const char *what, unsigned long n)
{
	print_number(what, n);
	putchar('\n');
}

void rr_explore_print_stats(const struct rr_explore_result *result)
{
	const struct rr_explore_stats *stats = &result->stats;

	print_line("states", result->states);
	print_line("transitions", result->transitions);
	print_pair("client states", stats->client_states, stats->client_runs,
		   "runs of clients");
	print_line("server states", stats->server_states);
	print_pair("questions", stats->questions, stats->replayed,
		   "replayed on the way");
	print_line("bytes per state", stats->bytes_per_state);
	print_pair("rows asked again", stats->checked_servers,
		   stats->checked_clients, "runs of clients made again");
	print_line("ways played", stats->audited);
	printf("  %-16s %.2f searching, %.2f checking\n",
	       "seconds", stats->searching, stats->checking);
}
