/* SPDX-License-Identifier: MIT */
#include "explore_transcript.h"

#include <stdio.h>
#include <stdlib.h>

#include "play/recorder.h"

static bool is_command(const struct rr_action *action)
{
	return action->kind == RR_ACTION_ASK &&
	       action->question.kind == RR_ASK_COMMAND;
}

/* Which connections clients use, and who is late. */
static void find_connections(const struct rr_actions *actions,
			     struct rr_recorder_setup *setup)
{
	for (size_t i = 0; i < actions->n; i++) {
		const struct rr_action *action = &actions->all[i];
		const uint16_t slot = action->question.slot;

		if (is_command(action) && action->is_late)
			setup->is_late[action->client] = true;
		else if (is_command(action))
			setup->connections[slot / RR_RUN_ORDINALS] |=
				1U << slot % RR_RUN_ORDINALS;
	}
}

/* Who finds its connection closed must have had one. */
static void open_connections(struct rr_recorder *recorder,
			     const struct rr_program *program,
			     const struct rr_actions *actions)
{
	bool used[RR_RACE_SERVERS_MAX][RR_ASKER_SLOTS] = { { false } };

	for (size_t i = 0; i < actions->n; i++) {
		const struct rr_action *action = &actions->all[i];
		const size_t slot =
			action->client * RR_RUN_ORDINALS +
			(size_t)rr_lane_ordinal(program, action->lane);

		if (is_command(action))
			used[action->server][action->question.slot] = true;
		if (action->kind != RR_ACTION_ANSWER || action->is_fault ||
		    action->answer != RR_ANSWER_SHUT ||
		    used[action->server][slot])
			continue;
		used[action->server][slot] = true;
		rr_recorder_open(recorder, action->server, (uint16_t)slot);
	}
}

static bool record(struct rr_recorder *recorder,
		   const struct rr_product *product,
		   const struct rr_actions *actions)
{
	const int64_t skew_ns = product->config.skew_ns;
	bool good = true;

	for (size_t i = 1; skew_ns && i < product->n_clients; i++)
		rr_recorder_skew(recorder, i, (int64_t)i * skew_ns);
	open_connections(recorder, product->config.program, actions);
	for (size_t i = 0; i < actions->n && good; i++)
		good = rr_recorder_add(recorder, &actions->all[i]);
	return good;
}

char *rr_explore_transcript(const struct rr_product *product,
			    const struct rr_scripts *scripts,
			    const struct rr_actions *actions)
{
	char title[120], *text = NULL;
	struct rr_recorder_setup setup = {
		.program = product->config.program,
		.scripts = scripts,
		.strategy = product->config.strategy,
		.title = title,
		.data_server = "data",
	};
	struct rr_recorder recorder;
	size_t size;
	FILE *file;

	snprintf(title, sizeof(title), "%s: found by redrace explore",
		 product->config.strategy->name);
	find_connections(actions, &setup);
	if (rr_recorder_begin(&recorder, &setup) &&
	    record(&recorder, product, actions) &&
	    (file = open_memstream(&text, &size))) {
		rr_race_write(file, recorder.race);
		fclose(file);
	}
	rr_race_free(recorder.race);
	return text;
}
