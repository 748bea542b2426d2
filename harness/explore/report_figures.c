/* SPDX-License-Identifier: MIT */
#include "report_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"

void rr_print_noticed_mutant(FILE *out, const struct rr_explore_result *result)
{
	static const char *const broken[RR_INVARIANTS] = {
		"the count is wrong",
		"two clients are in the critical section",
		"two clients are in the critical section while a lease runs",
		"a lock is changed by another client",
		"clients wait for ever",
		"clients wait for ever",
	};

	for (size_t i = 0; i < result->n_mutants; i++) {
		const struct rr_mutant_result *mutant = &result->mutants[i];

		if (!mutant->fails)
			continue;
		fprintf(out, "; rests on %s", mutant->rests_on);
		if (mutant->breaks)
			fprintf(out, " (without it %s)", broken[__builtin_ctz(mutant->breaks)]);
		return;
	}
}

/* Those that fail by what rests on them, the others by what they do. */
static void print_mutants(FILE *out, const struct rr_explore_result *result, bool fails,
			  const char *title)
{
	char *list;
	FILE *names = rr_open_text(&list);

	for (size_t i = 0; i < result->n_mutants; i++) {
		const struct rr_mutant_result *mutant = &result->mutants[i];

		if (mutant->fails == fails)
			fprintf(names, "%s%s", ftell(names) ? ", " : "",
				fails ? mutant->rests_on : mutant->name);
	}
	fclose(names);
	if (*list)
		rr_print_sentence(out, 2, 4, "%s %s", title, list);
	free(list);
}

void rr_print_all_mutants(FILE *out, const struct rr_explore_result *result)
{
	print_mutants(out, result, true, "rests on");
	print_mutants(out, result, false, "not noticed:");
}

/* "  questions        1,234 (56 replayed on the way)"; without the brackets if
 * `of_what` is NULL. */
static void print_stat(FILE *out, const char *what, unsigned long n, unsigned long m,
		       const char *of_what)
{
	char number[RR_GROUPED_SIZE];

	fprintf(out, "  %-16s %s", what, rr_grouped(number, (long long)n));
	if (of_what)
		fprintf(out, " (%s %s)", rr_grouped(number, (long long)m), of_what);
	fputc('\n', out);
}

void rr_print_search_stats(FILE *out, const struct rr_explore_result *result)
{
	const struct rr_explore_stats *stats = &result->stats;

	print_stat(out, "states", result->states, 0, NULL);
	print_stat(out, "transitions", result->transitions, 0, NULL);
	print_stat(out, "client states", stats->client_states, stats->client_runs,
		   "runs of clients");
	print_stat(out, "server states", stats->server_states, 0, NULL);
	print_stat(out, "questions", stats->questions, stats->replayed, "replayed on the way");
	print_stat(out, "bytes per state", stats->bytes_per_state, 0, NULL);
	print_stat(out, "rows asked again", stats->checked_servers, stats->checked_clients,
		   "runs of clients made again");
	print_stat(out, "paths played", stats->audited, 0, NULL);
	print_stat(out, "draws compared", stats->draws, 0, NULL);
	fprintf(out, "  %-16s %.2f searching, %.2f checking\n", "seconds", stats->searching,
		stats->checking);
}

/* Rounded so that it is none too good, but for what is lost in calculating. */
static void chance_text(char text[RR_GROUPED_SIZE + 2], double chance)
{
	const double one_in = ceil((1 - 1e-9) / chance);
	char number[RR_GROUPED_SIZE];

	if (one_in < 1e15)
		snprintf(text, RR_GROUPED_SIZE + 2, "1/%s", rr_grouped(number, (long long)one_in));
	else
		snprintf(text, RR_GROUPED_SIZE + 2, "%.1e", chance);
}

void rr_print_random_bound(FILE *out, const struct rr_random_bound *bound)
{
	char chance[RR_GROUPED_SIZE + 2];

	chance_text(chance, bound->once);
	rr_print_sentence(out, 2, 2,
			  "a failure of depth %d, of %zu clients within %zu steps, shows with "
			  "probability at least %s in each schedule, %.3g in all",
			  bound->depth, bound->n_clients, bound->steps, chance, bound->in_all);
}
