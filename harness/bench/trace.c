/* SPDX-License-Identifier: MIT */
/*
 * Who was in a critical section when. A client keeps its last times in a ring of its
 * own in the shared memory; afterwards they are put in order and written as CSV.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "client.h"
#include "results.h"

/* ---- In order ------------------------------------------------------------ */

static int compare_entries(const void *a, const void *b)
{
	const struct rr_hold *x = a, *y = b;

	return (x->entered_ns > y->entered_ns) - (x->entered_ns < y->entered_ns);
}

void rr_trace_gather(struct rr_holds *trace, const struct rr_board *board)
{
	int64_t start_ns = board->slots[0].start_ns;

	trace->n = 0;
	free(trace->holds);
	trace->holds = rr_calloc(board->n_clients * trace->most, sizeof(*trace->holds));
	for (size_t i = 0; i < board->n_clients; i++) {
		const struct rr_slot *slot = &board->slots[i];
		const size_t n = slot->n_holds < trace->most ? slot->n_holds : trace->most;

		if (slot->start_ns < start_ns)
			start_ns = slot->start_ns;
		memcpy(trace->holds + trace->n, slot->holds, n * sizeof(*trace->holds));
		trace->n += n;
	}
	trace->start_ns = start_ns;
	qsort(trace->holds, trace->n, sizeof(*trace->holds), compare_entries);
	/* Others that were in the same critical section meanwhile. */
	for (size_t i = 0; i < trace->n; i++) {
		struct rr_hold *hold = &trace->holds[i];

		for (size_t j = i + 1; j < trace->n; j++) {
			struct rr_hold *later = &trace->holds[j];

			if (later->entered_ns >= hold->left_ns)
				break;
			if (later->key != hold->key)
				continue;
			hold->others++;
			later->others++;
		}
	}
}

/* ---- As a file ----------------------------------------------------------- */

bool rr_results_trace(const struct rr_results *results, const struct rr_finished *finished,
		      const struct rr_holds *trace, struct rr_error *error)
{
	struct rr_draft draft;
	FILE *out;

	if (!rr_results_make_folder(results, "holders", error))
		return false;
	rr_draft_open(&draft);
	out = draft.out;
	fprintf(out, "client,process,key,asked_ns,entered_ns,left_ns,others\n");
	for (size_t i = 0; i < trace->n; i++) {
		const struct rr_hold *hold = &trace->holds[i];

		fprintf(out, "%d,%d,%d,%lld,%lld,%lld,%d\n", hold->client + 1,
			hold->client / finished->measurement.run.threads + 1, hold->key,
			(long long)(hold->asked_ns - trace->start_ns),
			(long long)(hold->entered_ns - trace->start_ns),
			(long long)(hold->left_ns - trace->start_ns), hold->others);
	}
	return rr_results_replace_own(results, &finished->measurement.run, finished->repeat,
				      "holders", &draft, error);
}
