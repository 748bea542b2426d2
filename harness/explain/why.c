/* SPDX-License-Identifier: MIT */
/*
 * Why a schedule is a finding: sentences that contradict each other, and the anomaly.
 *
 * Clients whose commands depend on each other (compare/dependencies.h) in a circle have no order (as
 * Elle does for transactions: Kingsbury and Alvaro, PVLDB 14(3), 2020).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/marks.h"
#include "base/memory.h"
#include "base/text.h"
#include "explain.h"

enum { WORDS_SHOWN = 3, KEY_SHOWN = 100, WORD_SHOWN = 24 };

/* ---- In words ------------------------------------------------------------------ */

static const char *name_of(const struct rr_history *history, const struct rr_history_event *event,
			   char name[RR_OWNER_NAME])
{
	return rr_owner_name(history->program, event->owner, name);
}

static void write_word(FILE *out, const struct rdl_word *word, size_t most)
{
	char *plain = rr_plain_cut(word->text, word->length, most, "…");

	fprintf(out, " %s", plain);
	free(plain);
}

/* "GET counter (1)"; or only "SET (4)". */
static void write_event(FILE *out, const struct rr_history *history,
			const struct rr_history_event *event, bool is_whole)
{
	const struct rdl_command *command =
		&history->contents->table->terms->command[event->action->command].words;
	const char *name = rr_server_command_name(history->contents->table, event->action->command);
	const bool is_script = strncmp(name, "EVAL", 4) == 0;

	/* Of a connection that was closed, see party/instance.c. */
	if (strcmp(command->words[0].text, RR_MARK_CLOSED) == 0)
		name = "closed connection";
	fputs(name, out);
	/* Of a script the first key says more than its text. */
	if (is_whole && is_script && command->n_words > 3)
		write_word(out, &command->words[3], KEY_SHOWN);
	for (size_t i = 1; is_whole && !is_script && i < command->n_words && i < WORDS_SHOWN; i++)
		write_word(out, &command->words[i], i == 1 ? KEY_SHOWN : WORD_SHOWN);
	fprintf(out, " (%zu)", event->step);
}

/* ---- Leases ---------------------------------------------------------------------- */

static bool has_lease(const struct rr_history *history, uint32_t state, const struct rdl_reply *key)
{
	const struct rdl_reply *found = rr_history_find(history, state, key);

	return found && found->elements[RR_KEY_LEFT_MS].integer >= 0;
}

/* "n", or "db 1: n", as lines of data have it. */
static void write_key(FILE *out, const struct rdl_reply *key)
{
	const struct rdl_reply *name = &key->elements[RR_KEY_NAME];
	const long long database = key->elements[RR_KEY_DATABASE].integer;
	char *plain = rr_plain_bytes(name->text, name->length);

	if (database > 0)
		fprintf(out, "db %lld: ", database);
	fputs(plain, out);
	free(plain);
}

/* Time has passed, and a key is gone that a client had written. */
static void explain_time(const struct rr_history *history, FILE *out)
{
	char name[RR_OWNER_NAME];

	for (size_t i = 0; i < history->n; i++) {
		const struct rr_history_event *time = &history->events[i], *maker = NULL;
		const struct rdl_reply **keys = NULL;
		size_t n = 0;

		if (time->passes)
			keys = rr_contents_list(history->contents, time->before, RR_NO_ID, &n);
		for (size_t k = 0; k < n; k++) {
			if (rr_history_find(history, time->after, keys[k]))
				continue;
			for (size_t j = 0; j < i; j++) {
				const struct rr_history_event *it = &history->events[j];

				if (it->is_command &&
				    !rr_history_is_same(history, it->before, it->after, keys[k]))
					maker = it;
			}
			if (!maker)
				continue;
			write_key(out, keys[k]);
			fprintf(out, ", which %s's ", name_of(history, maker, name));
			write_event(out, history, maker, false);
			fprintf(out, " wrote, has expired (%zu).\n", time->step);
		}
		free(keys);
	}
}

/* ---- Who takes away what is another's --------------------------------------------------- */

/* The last command of an owner before `end` that wrote a key. */
static const struct rr_history_event *find_own(const struct rr_history *history,
					       const struct rr_history_event *end,
					       const struct rdl_reply *key, uint8_t owner)
{
	const struct rr_history_event *own = NULL;

	for (const struct rr_history_event *it = history->events; it < end; it++) {
		if (it->is_command && it->owner == owner &&
		    rr_history_find(history, it->after, key) &&
		    !rr_history_is_same(history, it->before, it->after, key))
			own = it;
	}
	return own;
}

static void explain_removal(const struct rr_history *history, const struct rr_dependency *it,
			    const struct rdl_reply *key, FILE *out)
{
	const struct rr_history_event *own = find_own(history, it->a, key, it->b->owner);
	/* Was the key there until the second command, as the first one left it? */
	const bool was = rr_history_find(history, it->b->before, key) &&
			 rr_history_is_same(history, it->a->after, it->b->before, key);
	const struct rr_history_event *at = own;
	char name[RR_OWNER_NAME];

	/* Has its own run out meanwhile? */
	while (at && at < it->a &&
	       !(at->passes && rr_history_find(history, at->before, key) &&
		 !rr_history_find(history, at->after, key)))
		at++;
	if (!at || at >= it->a)
		return;
	fprintf(out, "%s's ", name_of(history, it->b, name));
	write_event(out, history, it->b, true);
	fprintf(out, " %s what %s's ", was ? "removed" : "would also remove",
		name_of(history, it->a, name));
	write_event(out, history, it->a, false);
	fprintf(out, " wrote, %s its own ", was ? "not" : "not only");
	write_event(out, history, own, false);
	fputs(".\n", out);
}

/* A client's key has run out, another one has made it anew, and the first removes it: it gives
 * back a lock that is not its own any more. */
static void explain_removals(const struct rr_history *history, FILE *out)
{
	for (size_t i = 0; i < history->n_dependencies; i++) {
		const struct rr_dependency *it = &history->dependencies[i];
		const struct rr_met *met = &it->met;
		size_t n;
		const struct rdl_reply **keys = rr_contents_list(history->contents, met->first,
								 RR_NO_ID, &n);

		for (size_t k = 0; k < n; k++) {
			if (!rr_history_is_same(history, met->from, met->first, keys[k]) &&
			    !rr_history_find(history, met->both, keys[k]))
				explain_removal(history, it, keys[k], out);
		}
		free(keys);
	}
}

/* Does the command change the key that another one wrote, so that it is not that client's any more? */
static bool takes_lock(const struct rr_history *history, const struct rr_history_event *it,
		       const struct rr_history_event *maker, const struct rr_lock_key *lock)
{
	const struct rr_server_table *table = history->contents->table;
	struct rr_server_key was, is;

	if (!maker || it->owner == maker->owner ||
	    !rr_server_find_key(table, it->before, lock, &was))
		return false;
	return !rr_server_find_key(table, it->after, lock, &is) ||
	       was.dump_length != is.dump_length ||
	       memcmp(was.dump, is.dump, is.dump_length) != 0 ||
	       (was.left_ms >= 0 && was.left_ms != is.left_ms);
}

/* Whose lock a client has removed or changed, and with what. */
static void explain_lock(const struct rr_history *history, const struct rr_lock_key *lock,
			 FILE *out)
{
	const struct rr_server_table *table = history->contents->table;
	const struct rdl_word key_name = { lock->name, lock->length };
	const struct rr_history_event *maker = NULL;
	char name[RR_OWNER_NAME];

	for (size_t i = 0; i < history->n; i++) {
		const struct rr_history_event *it = &history->events[i];
		struct rr_server_key key;

		if (it->is_command && takes_lock(history, it, maker, lock)) {
			fprintf(out, "%s's ", name_of(history, it, name));
			write_event(out, history, it, true);
			fputs(rr_server_find_key(table, it->after, lock, &key) ?
				      " changed the lock on key" :
				      " released the lock on key",
			      out);
			write_word(out, &key_name, KEY_SHOWN);
			fprintf(out, " that %s's ", name_of(history, maker, name));
			write_event(out, history, maker, false);
			fputs(" had taken, and that it had not released.\n", out);
		}
		if (!rr_server_find_key(table, it->after, lock, &key))
			maker = NULL;
		else if (it->is_command &&
			 (!rr_server_find_key(table, it->before, lock, &key) || !maker))
			maker = it;
	}
}

/* ---- One client's own faults -------------------------------------------------------- */

/* The command that was asked last before the action, by the same client. */
static const struct rr_history_event *find_last(const struct rr_history *history,
						const struct rr_action *action)
{
	const struct rr_history_event *last = NULL;

	for (size_t i = 0; i < history->n && history->events[i].action < action; i++) {
		const struct rr_action *it = history->events[i].action;

		if (history->events[i].is_command && it->client == action->client &&
		    !rr_program_has_marks(history->program, it->client,
					  it->question.slot % RR_RUN_ORDINALS))
			last = &history->events[i];
	}
	return last;
}

/* Where each client is that cannot end. */
static void explain_waiting(const struct rr_history *history, unsigned running, FILE *out)
{
	for (size_t client = 0; running >> client; client++) {
		const struct rr_history_event *last = NULL;

		for (size_t i = 0; running >> client & 1 && i < history->n; i++) {
			const struct rr_history_event *it = &history->events[i];

			if (it->is_command && it->action->client == client)
				last = it;
		}
		if (!last)
			continue;
		fprintf(out,
			last->action->blocks ? "%s waits for the reply to " :
					       "%s has not ended: its last command is ",
			rr_program_client_name(history->program, client));
		write_event(out, history, last, true);
		fputs(".\n", out);
	}
}

/* What was sent again after its reply was lost, and after which command clients crashed. */
static void explain_faults(const struct rr_history *history, const struct rr_actions *actions,
			   FILE *out)
{
	for (size_t i = 0; i < actions->n; i++) {
		const struct rr_action *action = &actions->all[i];
		const struct rr_history_event *last = find_last(history, action);
		const bool is_command = rr_action_is_command(action);

		if (!last || (action->kind != RR_ACTION_CRASH &&
			      !(is_command && last->action->answer != RR_ANSWER_REPLY &&
				last->action->command == action->command)))
			continue;
		fprintf(out, "%s ", rr_program_client_name(history->program, last->action->client));
		fputs(is_command ?
			      "sent again, after its reply was lost, a command that had been executed: " :
			      "crashed after ",
		      out);
		write_event(out, history, last, true);
		fputs(".\n", out);
	}
}

/* ---- All ------------------------------------------------------------------------- */

static void explain(const struct rr_why_question *question, struct rr_history *history,
		    struct rr_why *why, FILE *out)
{
	const struct rr_dependency *circle[RR_OWNERS_MAX];
	const bool is_known = rr_history_find_dependencies(history);
	size_t n = 0;
	const struct rdl_reply **keys;
	size_t n_keys;
	bool is = false;

	explain_time(history, out);
	if (is_known)
		explain_removals(history, out);
	for (size_t i = 0; question->found & RR_OUTCOME_OWNERSHIP && i < question->locks->n; i++)
		explain_lock(history, &question->locks->all[i], out);
	if (question->found & RR_OUTCOME_STUCK)
		explain_waiting(history, question->running, out);
	if (!(question->found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_OUTPUTS)))
		return;
	/* A key stays for ever that runs out where clients are one after the other. */
	keys = rr_contents_list(history->contents, question->end, RR_NO_ID, &n_keys);
	for (size_t i = 0; i < n_keys && !is && question->nearest != RR_NO_ID; i++) {
		is = has_lease(history, question->nearest, keys[i]) &&
		     !has_lease(history, question->end, keys[i]);
		if (!is)
			continue;
		write_key(out, keys[i]);
		fputs(" has no time to live, which it has in a serial execution.\n", out);
	}
	free(keys);
	if (is)
		why->anomaly = RR_ANOMALY_LEFT_WITHOUT_LEASE;
	if (is_known)
		n = rr_history_circle(history, circle);
	for (size_t i = 0; i < n; i++) {
		const struct rr_dependency *it = circle[i];
		char names[2][RR_OWNER_NAME];
		const char *a = name_of(history, it->a, names[0]),
			   *b = name_of(history, it->b, names[1]);

		fprintf(out, "%s is before %s: ", a, b);
		if (it->kind == RR_DEPENDS_MISSED) {
			fprintf(out, "%s's ", a);
			write_event(out, history, it->a, true);
			fprintf(out, " %s %s's ",
				it->a->action->blocks ? "began to wait before" : "did not see", b);
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
	if (n == 0)
		explain_faults(history, question->actions, out);
	if (n == 2 && !why->anomaly)
		why->anomaly = rr_history_anomaly(history, circle[0]->a->owner, circle[0]->b->owner,
						  question->nearest);
}

struct rr_why rr_why_find(const struct rr_why_question *question)
{
	struct rr_error *error = &question->contents->table->error;
	struct rr_history history;
	struct rr_why why = { .text = NULL };
	size_t size;
	FILE *out = rr_open_memory(&why.text, &size);

	if (rr_history_follow(&history, question->program, question->contents, question->actions,
			      question->steps, question->owners) == question->end)
		explain(question, &history, &why, out);
	rr_history_release(&history);
	fclose(out);
	if (size > 0 && error->kind == RR_ERROR_NONE)
		return why;
	*error = (struct rr_error){ .kind = RR_ERROR_NONE };
	free(why.text);
	return (struct rr_why){ .text = NULL };
}
