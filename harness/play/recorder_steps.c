/* SPDX-License-Identifier: MIT */
/* A step of what is recorded: begun and finished, whose it is, its words and its reply. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "recorder.h"
#include "script.h"

enum { NOTE_SIZE = 240 };

struct rr_step *recorder_add_step(struct rr_recorder *recorder, enum rr_step_kind kind, int client)
{
	struct rr_race *race = recorder->race;
	struct rr_step *step = &recorder->spare;

	recorder->is_full |= race->n_steps == RR_STEPS_MAX;
	if (!recorder->is_full)
		step = &race->steps[race->n_steps++];
	*step = (struct rr_step){
		.kind = kind, .line = (int)race->n_steps, .client = client, .server = -1, .peer = -1
	};
	return step;
}

void recorder_finish_step(struct rr_recorder *recorder, struct rr_step *step,
			  const struct rr_action *action)
{
	if (recorder->setup.added && !recorder->is_full)
		recorder->setup.added(recorder->setup.context, step, action);
}

void rr_recorder_note(struct rr_recorder *recorder, const char *format, ...)
{
	struct rr_step *step = recorder_add_step(recorder, RR_STEP_NOTE, -1);
	char text[NOTE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	step->text = rr_race_keep(recorder->race, text, strlen(text));
	recorder_finish_step(recorder, step, NULL);
}

/* ---- Connections ------------------------------------------------------------- */

int recorder_own_client(const struct rr_recorder *recorder, size_t client)
{
	return recorder->clients[client][rr_program_requests_of(recorder->setup.program, client)];
}

/* ---- Words and replies ------------------------------------------------------- */

const struct rl_reply *recorder_reply_of(const struct rr_recorder *recorder, uint32_t reply)
{
	return &recorder->setup.program->terms->reply[reply].reply;
}

/* A script that is called by its hash is written in full, since no other server
 * knows it; unless this one did not know it either. */
static const struct rl_word *source_of(const struct rr_recorder *recorder,
				       const struct rl_command *command,
				       const struct rl_reply *reply)
{
	if (command->n_words < 2 || strcasecmp(command->words[0].text, "EVALSHA") != 0 ||
	    (reply && rl_script_is_forgotten(reply)))
		return NULL;
	return rr_scripts_find(recorder->setup.scripts, command->words[1].text);
}

void recorder_keep_words(struct rr_recorder *recorder, struct rr_step *step, uint32_t number,
			 const struct rl_reply *reply)
{
	const struct rl_command *command = &recorder->setup.program->terms->command[number].words;
	const struct rl_word *source = source_of(recorder, command, reply);
	struct rl_word words[RL_WORDS_MAX];

	step->n_words = command->n_words;
	for (size_t i = 0; i < command->n_words; i++) {
		words[i] = !source || i > 1 ? command->words[i] :
			   i == 0           ? (struct rl_word){ "EVAL", 4 } :
					      *source;
		words[i].text = rr_race_keep(recorder->race, words[i].text, words[i].length);
	}
	step->words = (const struct rl_word *)rr_race_keep(recorder->race, (const char *)words,
							   step->n_words * sizeof(words[0]));
}
