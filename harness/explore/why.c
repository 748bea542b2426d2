/* SPDX-License-Identifier: MIT */
#include "why.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "dependencies.h"
#include "explore.h"

enum { WORDS_SHOWN = 3, KEY_SHOWN = 100, WORD_SHOWN = 24 };

/* ---- In words ------------------------------------------------------------------ */

static const struct rl_command *command_of(const struct rr_history *history,
					   const struct rr_history_event *event)
{
	return &history->contents->table->terms->command[event->action->command].words;
}

static const char *name_of(const struct rr_history *history, const struct rr_history_event *event)
{
	return rr_program_client_name(history->program, event->action->client);
}

static void write_word(FILE *out, const struct rl_word *word, size_t most)
{
	char *plain = rr_plain_bytes(word->text, word->length);
	const size_t fits = rr_plain_fit(plain, most);

	fprintf(out, " %.*s%s", (int)fits, plain, plain[fits] ? "…" : "");
	free(plain);
}

/* "GET counter (1)"; or only "SET (4)". */
static void write_event(FILE *out, const struct rr_history *history,
			const struct rr_history_event *event, bool is_whole)
{
	const struct rl_command *command = command_of(history, event);
	const char *name = rr_server_command_name(history->contents->table, event->action->command);
	const bool is_script = strncmp(name, "EVAL", 4) == 0;

	/* Of a connection that was closed, see check/instance.c. */
	if (strcmp(command->words[0].text, "Reset") == 0)
		name = "closed connection";
	fputs(name, out);
	/* Of a script the first key says more than its text. */
	if (is_whole && is_script && command->n_words > 3)
		write_word(out, &command->words[3], KEY_SHOWN);
	for (size_t i = 1; is_whole && !is_script && i < command->n_words && i < WORDS_SHOWN; i++)
		write_word(out, &command->words[i], i == 1 ? KEY_SHOWN : WORD_SHOWN);
	fprintf(out, " (%zu)", event->step);
}

static void write_dependency(FILE *out, const struct rr_history *history,
			     const struct rr_dependency *it)
{
	const char *a = name_of(history, it->a), *b = name_of(history, it->b);

	fprintf(out, "%s is before %s: ", a, b);
	if (it->kind == RR_DEPENDS_MISSED) {
		write_event(out, history, it->a, true);
		fprintf(out, " did not see %s's ", b);
		write_event(out, history, it->b, false);
	} else {
		fprintf(out, "%s's ", b);
		write_event(out, history, it->b, true);
		fprintf(out, " %s %s's ",
			it->kind == RR_DEPENDS_SAW ? "saw" :
			it->hides                  ? "overwrote" :
						     "came after",
			a);
		write_event(out, history, it->a, false);
	}
	fputs(".\n", out);
}

/* ---- Anomalies ------------------------------------------------------------------- */

/* Is a key that Y deleted, which X's command `read` did not see, there again because X wrote
 * it? */
static bool is_resurrected(const struct rr_history *history, const struct rr_dependency *missed,
			   uint32_t end)
{
	const char **keys;
	const size_t n = rr_contents_keys(history->contents, missed->met.first, RR_NO_ID, &keys);
	bool is = false;

	for (size_t i = 0; i < n && !is; i++) {
		if (rr_history_holds(history, missed->met.second, keys[i]) ||
		    !rr_history_holds(history, end, keys[i]))
			continue;
		for (const struct rr_history_event *v = missed->b;
		     v < history->events + history->n && !is; v++)
			is = v->action->client == missed->a->action->client &&
			     !rr_history_holds(history, v->before, keys[i]) &&
			     rr_history_holds(history, v->after, keys[i]);
	}
	free(keys);
	return is;
}

/* Did X, whose command `read` did not see Y's, overwrite what that wrote? */
static bool is_lost(const struct rr_history *history, const struct rr_dependency *missed)
{
	for (size_t i = 0; i < history->n_dependencies; i++) {
		const struct rr_dependency *it = &history->dependencies[i];

		if (it->a == missed->b && it->b->action->client == missed->a->action->client &&
		    it->hides)
			return true;
	}
	return false;
}

/* Do two commands, each where it met the other client's, write a key in common? */
static bool write_same_key(const struct rr_history *history, const struct rr_dependency *x,
			   const struct rr_dependency *y)
{
	const char **keys;
	const size_t n = rr_contents_keys(history->contents, x->met.second, RR_NO_ID, &keys);
	bool same = false;

	for (size_t i = 0; i < n && !same; i++)
		same = !rr_history_is_same(history, x->met.from, x->met.second, keys[i]) &&
		       !rr_history_is_same(history, y->met.from, y->met.second, keys[i]);
	free(keys);
	return same;
}

/* A command of X that only read and did not see what a later one of Y's wrote. */
static const struct rr_dependency *find_missed(const struct rr_history *history, int x, int y,
					       size_t *from)
{
	for (; *from < history->n_dependencies; (*from)++) {
		const struct rr_dependency *it = &history->dependencies[*from];

		if (it->kind == RR_DEPENDS_MISSED && it->reads && it->a->action->client == x &&
		    it->b->action->client == y)
			return &history->dependencies[(*from)++];
	}
	return NULL;
}

static const char *name_one_way(const struct rr_history *history, int x, int y, uint32_t end)
{
	const struct rr_dependency *missed;
	const char *name = NULL;
	size_t from = 0;

	while (!name && (missed = find_missed(history, x, y, &from)))
		name = is_resurrected(history, missed, end) ? "resurrected delete" :
		       is_lost(history, missed)             ? "lost update" :
							      NULL;
	return name;
}

/* Of a circle of two. */
static const char *name_anomaly(const struct rr_history *history, int x, int y, uint32_t end)
{
	const struct rr_dependency *of_x, *of_y;
	const char *name = name_one_way(history, x, y, end);
	size_t from_x = 0, from_y = 0;

	name = name ? name : name_one_way(history, y, x, end);
	if (name)
		return name;
	of_x = find_missed(history, x, y, &from_x);
	of_y = find_missed(history, y, x, &from_y);
	if (of_x && of_y)
		return write_same_key(history, of_x, of_y) ? "both did what one should" :
							     "write skew";
	return of_x || of_y ? "stale read" : NULL;
}

/* ---- Leases ---------------------------------------------------------------------- */

static bool has_lease(const struct rr_history *history, uint32_t state, const char *key)
{
	const char *const words[] = { "PTTL", key, NULL };
	const struct rl_reply *reply = rr_contents_ask(
		history->contents, state, rr_terms_words(history->contents->table->terms, words));
	long long ms;

	return reply && rl_reply_number(reply, &ms) && ms >= 0;
}

/* A key stays for ever that runs out where clients are one after the other. */
static bool is_without_lease(const struct rr_history *history, uint32_t end, uint32_t nearest,
			     FILE *out)
{
	const char **keys;
	const size_t n = rr_contents_keys(history->contents, end, RR_NO_ID, &keys);
	bool is = false;

	for (size_t i = 0; i < n && !is && nearest != RR_NO_ID; i++) {
		is = rr_history_holds(history, nearest, keys[i]) &&
		     has_lease(history, nearest, keys[i]) && !has_lease(history, end, keys[i]);
		if (is)
			fprintf(out,
				"%s stays for ever: in a serial order it has a time to live.\n",
				keys[i]);
	}
	free(keys);
	return is;
}

/* Time has passed, and a key is gone that a client had written. */
static void tell_of_time(const struct rr_history *history, FILE *out)
{
	for (size_t i = 0; i < history->n; i++) {
		const struct rr_history_event *time = &history->events[i], *maker = NULL;
		const char **keys;
		const size_t n = time->passes ? rr_contents_keys(history->contents, time->before,
								 RR_NO_ID, &keys) :
						0;

		for (size_t k = 0; k < n; k++) {
			if (rr_history_holds(history, time->after, keys[k]))
				continue;
			for (size_t j = 0; j < i; j++) {
				const struct rr_history_event *it = &history->events[j];

				if (it->is_command &&
				    !rr_history_is_same(history, it->before, it->after, keys[k]))
					maker = it;
			}
			if (!maker)
				continue;
			fprintf(out, "%s, which %s's ", keys[k], name_of(history, maker));
			write_event(out, history, maker, false);
			fprintf(out, " wrote, has run out (%zu).\n", time->step);
		}
		if (time->passes)
			free(keys);
	}
}

/* ---- All ------------------------------------------------------------------------- */

static void tell(const struct rr_why_question *question, struct rr_history *history,
		 struct rr_why *why, FILE *out)
{
	const struct rr_dependency *circle[RR_PRODUCT_CLIENTS];
	size_t n = 0;

	if (question->found & RR_OUTCOME_EXCLUSION)
		tell_of_time(history, out);
	if (!(question->found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_OUTPUTS)))
		return;
	if (is_without_lease(history, question->end, question->nearest, out))
		why->name = "left without a lease";
	if (rr_history_find_dependencies(history))
		n = rr_history_circle(history, circle);
	for (size_t i = 0; i < n; i++)
		write_dependency(out, history, circle[i]);
	if (n == 2 && !why->name)
		why->name = name_anomaly(history, circle[0]->a->action->client,
					 circle[0]->b->action->client, question->end);
}

struct rr_why rr_why_find(const struct rr_why_question *question)
{
	struct rr_error *error = &question->contents->table->error;
	struct rr_history history;
	struct rr_why why = { .name = NULL };
	size_t size;
	FILE *out = rr_open_memory(&why.text, &size);

	if (rr_history_follow(&history, question->program, question->contents, question->actions,
			      question->steps) == question->end)
		tell(question, &history, &why, out);
	rr_history_release(&history);
	fclose(out);
	if (size > 0 && error->kind == RR_ERROR_NONE)
		return why;
	*error = (struct rr_error){ .kind = RR_ERROR_NONE };
	free(why.text);
	return (struct rr_why){ .name = NULL };
}
