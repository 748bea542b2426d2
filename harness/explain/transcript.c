/* SPDX-License-Identifier: MIT */
/* A path as a race, as `redrace play` plays it, and its verdict: what comes of playing it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/marks.h"
#include "base/memory.h"
#include "explain.h"
#include "play/play.h"

/* ---- Actions as steps ----------------------------------------------------- */

/* The first one that is no request's, as a bit. */
static unsigned own_connection(const struct rr_recorder_setup *setup, size_t client)
{
	return 1U << rr_program_requests_of(setup->program, client);
}

/* Where a race has no room for all: what comes down connections that carry nothing is
 * recorded as their clients' own. */
static void share_connections(const struct rr_product *product, const struct rr_actions *actions,
			      struct rr_recorder_setup *setup)
{
	unsigned carriers[RR_RUN_CLIENTS] = { 0 };
	size_t n = 0;
	const struct rr_server_table *table = product->tables[0];

	for (size_t i = 0; i < setup->program->n_clients; i++)
		n += (size_t)__builtin_popcount(setup->connections[i] | own_connection(setup, i));
	if (n <= RR_RACE_CLIENTS_MAX)
		return;
	/* On which of its connections has a client done what may stay there? A bit each. */
	for (size_t i = 0; i < actions->n; i++) {
		const struct rr_action *action = &actions->all[i];
		const uint16_t slot = action->question.slot;

		if (rr_action_is_command(action) &&
		    rr_asker_info(table->asker, rr_server_command_name(table, action->command))
			    .of_connection)
			carriers[slot / RR_RUN_ORDINALS] |= 1U << slot % RR_RUN_ORDINALS;
	}
	for (size_t i = 0; i < setup->program->n_clients; i++) {
		if (!(carriers[i] & own_connection(setup, i)))
			setup->connections[i] &= carriers[i];
	}
}

/* A2 is a client of the race, but not another one. */
static void note_connections(struct rr_recorder *recorder, const struct rr_program *program)
{
	const unsigned *used = recorder->setup.connections;

	for (size_t i = 0; program->run_ops && i < program->n_clients; i++) {
		char name[RR_CONNECTION_NAME];

		for (size_t j = rr_program_requests_of(program, i) + 1; j < RR_RUN_ORDINALS; j++) {
			if (used[i] >> j & 1)
				rr_recorder_note(recorder, "%s is a connection of %s's, too.",
						 rr_program_connection_name(program, i, j, name),
						 rr_program_client_name(program, i));
		}
	}
}

static bool record_actions(struct rr_recorder *recorder, const struct rr_product *product,
			   const struct rr_actions *actions)
{
	const int64_t skew_ns = product->config.skew_ns;
	bool used[RR_RACE_SERVERS_MAX][RR_ASKER_SLOTS] = { { false } };

	for (size_t i = 1; skew_ns && i < product->n_clients; i++)
		rr_recorder_skew(recorder, i, (int64_t)i * skew_ns);
	for (size_t i = 0; i < product->n_clients; i++) {
		if (product->clients[i].states[0].is_inside)
			rr_recorder_enter(recorder, i);
	}
	note_connections(recorder, product->config.program);
	/* Who finds its connection closed must have had one. */
	for (size_t i = 0; i < actions->n; i++) {
		const struct rr_action *action = &actions->all[i];
		const size_t slot = action->client * RR_RUN_ORDINALS +
				    (size_t)rr_lane_ordinal(product->config.program, action->lane);

		if (rr_action_is_command(action))
			used[action->server][action->question.slot] = true;
		if (action->kind != RR_ACTION_ANSWER || action->is_fault ||
		    action->answer != RR_ANSWER_SHUT || used[action->server][slot])
			continue;
		used[action->server][slot] = true;
		rr_recorder_open(recorder, action->server, (uint16_t)slot);
	}
	for (size_t i = 0; i < actions->n; i++)
		rr_recorder_add(recorder, &actions->all[i]);
	if (recorder->race->n_steps == 0)
		rr_recorder_note(recorder, "No client sends a command.");
	return !recorder->is_full;
}

/* ---- Requests of an app ------------------------------------------------------ */

/* The n-th command on a connection of marks: a request begins, it is answered, and what is left is
 * the end of all, which is no step. */
static void say_request(struct rr_action *action, const struct rr_program *program, size_t n,
			const struct rr_transcript_headings *headings)
{
	const size_t slot = action->question.slot;
	const size_t request = rr_program_request_at(program, slot / RR_RUN_ORDINALS,
						     slot % RR_RUN_ORDINALS);
	struct rr_terms *terms = program->terms;
	char *text, *said;

	if (n > 1 || request == program->requests.n) {
		action->kind = RR_ACTION_CLOCK;
		return;
	}
	text = headings->words_of_request(headings->context, request, n == 1);
	said = rr_asprintf("%s%s", n ? RR_MARK_ANSWER : RR_MARK_REQUEST, text);
	action->command = rr_terms_words(terms, (const char *const[]){ "ECHO", said, NULL });
	action->reply = rr_terms_reply(terms, &(struct rdl_reply){ .type = RDL_REPLY_STRING,
								   .text = said,
								   .length = strlen(said) });
	free(text);
	free(said);
}

/* A copy of the actions in which marks of requests say what people read. */
static struct rr_actions say_requests(const struct rr_product *product,
				      const struct rr_actions *actions,
				      const struct rr_transcript_headings *headings)
{
	const struct rr_program *program = product->config.program;
	struct rr_actions said = { .n = actions->n, .capacity = actions->n };
	size_t n[RR_RUN_CLIENTS * RR_RUN_ORDINALS] = { 0 };

	said.all = rr_memdup(actions->all, actions->n * sizeof(*actions->all));
	for (size_t i = 0; i < said.n; i++) {
		const size_t slot = said.all[i].question.slot;

		/* What had begun does not come to an app that is started again. */
		if (said.all[i].kind == RR_ACTION_ANSWER &&
		    rr_program_has_marks(program, said.all[i].client, said.all[i].lane))
			said.all[i].kind = RR_ACTION_CLOCK;
		if (rr_action_is_command(&said.all[i]) &&
		    rr_program_has_marks(program, slot / RR_RUN_ORDINALS, slot % RR_RUN_ORDINALS))
			say_request(&said.all[i], program, n[slot]++, headings);
	}
	return said;
}

/* The number of the step that an action has become. */
struct numbering {
	const struct rr_actions *actions;
	size_t *steps;
	size_t n;
};

static void number_step(void *context, struct rr_step *step, const struct rr_action *action)
{
	struct numbering *numbering = context;

	numbering->n += step->kind != RR_STEP_NOTE;
	if (action && numbering->steps)
		numbering->steps[action - numbering->actions->all] = numbering->n;
}

struct rr_race *rr_actions_race(const struct rr_product *product, const struct rr_scripts *scripts,
				const struct rr_actions *path,
				const struct rr_transcript_headings *headings)
{
	struct rr_actions said = say_requests(product, path, headings);
	struct numbering numbering = { .actions = &said, .steps = headings->steps };
	struct rr_recorder_setup setup = {
		.added = number_step,
		.context = &numbering,
		.program = product->config.program,
		.scripts = scripts,
		.strategy = product->config.strategy,
		.title = headings->title,
		.shows = headings->shows,
		.data_server = product->config.strategy ? "data" : "redis",
		.keys = headings->keys,
		.n_keys = headings->n_keys,
	};
	struct rr_recorder recorder;

	/* Which connections clients use, and who is late. */
	for (size_t i = 0; i < said.n; i++) {
		const struct rr_action *action = &said.all[i];
		const uint16_t slot = action->question.slot;

		if (rr_action_is_command(action) && action->is_late)
			setup.is_late[action->client] = true;
		else if (action->kind == RR_ACTION_ASK && action->question.kind == RR_ASK_HOLD)
			setup.has_held = true;
		else if (rr_action_is_command(action))
			setup.connections[slot / RR_RUN_ORDINALS] |= 1U << slot % RR_RUN_ORDINALS;
	}
	share_connections(product, &said, &setup);
	if (!rr_recorder_begin(&recorder, &setup) || !record_actions(&recorder, product, &said)) {
		rr_race_free(recorder.race);
		recorder.race = NULL;
	}
	free(said.all);
	return recorder.race;
}

/* ---- The verdict ---------------------------------------------------------- */

bool rr_conclude(struct rr_played *played, unsigned breaks, const char *found,
		 struct rr_cluster *cluster, struct rr_error *error)
{
	struct rr_race *race = played->race;
	struct rr_trace *trace = &played->trace;
	const struct rr_event *last;
	struct rr_error why = { 0 };
	char verdict[RR_VERDICT_SIZE];
	/* One of these is there when that is broken. A race knows one lock, on the data server: who
	 * waits for ever for another key, and whose lock was changed on a lock server, the free
	 * replay has seen, and not the player. */
	rr_findings shown = 0;

	if (breaks & RR_BREAKS_COUNT)
		shown |= 1U << RR_UPDATE_LOST | 1U << RR_COUNTED_TWICE;
	if (breaks & (RR_BREAKS_EXCLUSION | RR_BREAKS_LEASE))
		shown |= 1U << RR_EXCLUSION_BROKEN;
	if (!race)
		return rr_error_set(error, RR_ERROR_INTERNAL,
				    "a race has no room for all its steps");
	if (!rr_player_play(race, cluster, NULL, trace, &why))
		return rr_error_set(error, RR_ERROR_INTERNAL, "%s", why.text);
	/* Was every reply as it was written? */
	last = trace->n_events ? &trace->events[trace->n_events - 1] : NULL;
	if (last && (trace->n_events != race->n_steps || last->differs))
		return rr_error_set(error, RR_ERROR_INTERNAL, "step %zu: %.80s answers %.80s",
				    rr_step_number(race, last->step),
				    last->command ? last->command : "",
				    last->reply ? last->reply : "nothing");
	if (shown && !(trace->findings & shown)) {
		rr_trace_verdict(trace, verdict, sizeof(verdict));
		return rr_error_set(error, RR_ERROR_INTERNAL, "played, it shows: %s", verdict);
	}
	rr_race_set_verdict(race, trace->findings);
	if (!trace->findings && breaks && !shown) {
		race->verdicts[0] = "exclusion kept";
		race->verdicts[race->n_verdicts++] = "count exact";
	} else if (!trace->findings && found) {
		race->verdicts[0] = found;
	}
	trace->as_written = true;
	return true;
}
