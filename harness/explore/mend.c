/* SPDX-License-Identifier: MIT */
/* What would mend a finding: the smallest spans of commands that leave nothing wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "explore.h"
#include "spans.h"
#include "why.h"

enum { KEY_SHOWN = 100 };

/* ---- Spans -------------------------------------------------------------------------- */

/* +1: a transaction begins with it, -1: it ends. */
static int transaction_of(const struct rr_mender *mender, const struct rr_command_slot *slot)
{
	const char *name = rr_server_command_name(rr_mender_table(mender), slot->command);

	if (strcmp(name, "MULTI") == 0)
		return 1;
	return strcmp(name, "EXEC") == 0 || strcmp(name, "DISCARD") == 0 ? -1 : 0;
}

/* Can these commands become one step? What nobody can notice stands in the graph as early as it
 * can: a span that began with it would take in what comes before. */
static bool is_straight(const struct rr_mender *mender, size_t group, struct rr_span span)
{
	const struct rr_command_slot *slots = mender->slots[group];
	int depth = 0;

	for (size_t i = 0; i <= span.last; i++) {
		const struct rr_command_slot *slot = &slots[i];

		if (slot->command == RR_NO_ID)
			return false;
		if (i == span.first && (depth != 0 || slot->is_alone))
			return false;
		depth += transaction_of(mender, slot);
		if (i < span.first)
			continue;
		/* What comes again is a loop: one round of it would be read. */
		if (i > span.first && slot->command == slots[span.first].command)
			return false;
		if (slot->varies || slot->lane != slots[span.first].lane ||
		    (slot->waits && i > span.first) ||
		    rr_asker_info(rr_mender_table(mender)->asker,
				  rr_server_command_name(rr_mender_table(mender), slot->command))
			    .blocks)
			return false;
	}
	return depth == 0;
}

/* Gives the clients of this group and of those behind it spans of so many commands in all,
 * and searches. */
static bool try_spans(struct rr_mender *mender, size_t group, size_t length)
{
	struct rr_span *span = &mender->spans[group];

	if (group == mender->n_groups)
		return length == 0 && rr_mender_search(mender);
	*span = (struct rr_span){ 0, 0 };
	if (try_spans(mender, group + 1, length))
		return true;
	for (size_t n = 2; n <= length && n < RR_SPAN_COMMANDS; n++) {
		for (size_t first = 0; first + n <= RR_SPAN_COMMANDS && mender->left; first++) {
			*span = (struct rr_span){ first, first + n - 1 };
			if (is_straight(mender, group, *span) &&
			    try_spans(mender, group + 1, length - n))
				return true;
		}
	}
	*span = (struct rr_span){ 0, 0 };
	return false;
}

/* ---- In words ------------------------------------------------------------------------ */

/* "GET counter". */
static void write_slot(FILE *out, const struct rr_mender *mender,
		       const struct rr_command_slot *slot)
{
	const struct rl_command *command =
		&rr_mender_table(mender)->terms->command[slot->command].words;
	char *plain;

	fputs(rr_server_command_name(rr_mender_table(mender), slot->command), out);
	if (slot->key_varies || strncasecmp(command->words[0].text, "EVAL", 4) == 0)
		return;
	plain = rr_plain_bytes(command->words[1].text, command->words[1].length);
	fprintf(out, " %.*s", (int)rr_plain_fit(plain, KEY_SHOWN), plain);
	free(plain);
}

/* "GET counter … SET counter"; malloc'd, NULL = the clients have no span. */
static char *text_of_span(const struct rr_mender *mender, size_t group)
{
	const struct rr_span span = mender->spans[group];
	char *text;
	size_t size;
	FILE *out;

	if (span.last == 0)
		return NULL;
	out = rr_open_memory(&text, &size);
	write_slot(out, mender, &mender->slots[group][span.first]);
	fputs(" … ", out);
	write_slot(out, mender, &mender->slots[group][span.last]);
	fclose(out);
	return text;
}

/* Clients that have learned different things of one program may have the same span. */
static void write_spans(FILE *out, const struct rr_mender *mender)
{
	char *texts[RR_PRODUCT_CLIENTS];
	size_t n = 0, n_same = 0;

	for (size_t i = 0; i < mender->n_groups; i++) {
		texts[i] = text_of_span(mender, i);
		n += texts[i] != NULL;
		n_same += texts[i] && texts[0] && strcmp(texts[i], texts[0]) == 0;
	}
	if (n_same == mender->n_groups)
		fprintf(out, "As one step (a script), %s", texts[0]);
	else
		fputs(n > 1 ? "As one step each (scripts), " : "As one step (a script), ", out);
	for (size_t i = 0; i < mender->n_groups; i++) {
		if (texts[i] && n_same < mender->n_groups)
			fprintf(out, "%s's %s%s",
				rr_program_client_name(mender->graph->product->config.program,
						       mender->example[i]),
				texts[i], --n ? " and " : "");
		free(texts[i]);
	}
}

static char *describe(struct rr_mender *mender, unsigned found)
{
	const bool is_of_order = found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_OUTPUTS);
	char number[RR_GROUPED_SIZE], *text;
	uint64_t n;
	size_t size;
	FILE *out = rr_open_memory(&text, &size);

	rr_graph_count_interleavings(&mender->mended);
	n = mender->mended.interleavings;
	write_spans(out, mender);
	if (n > 0 && n <= INT64_MAX)
		fprintf(out, " would leave %s interleavings, all ",
			rr_grouped(number, (long long)n));
	else
		fputs(" would leave interleavings that are all ", out);
	fprintf(out, "%s: computed, not run.", is_of_order ? "serializable" : "as expected");
	fclose(out);
	return text;
}

char *rr_mend_find(const struct rr_graph *graph, unsigned found)
{
	struct rr_mender mender;
	char *text = NULL;

	if (rr_mender_init(&mender, graph)) {
		for (size_t n = 2; n <= mender.n_groups * RR_SPAN_COMMANDS && mender.left && !text;
		     n++) {
			if (try_spans(&mender, 0, n))
				text = describe(&mender, found);
		}
	}
	rr_mender_release(&mender);
	return text;
}
