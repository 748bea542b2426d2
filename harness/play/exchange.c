/* SPDX-License-Identifier: MIT */
/* What clients say to servers, and what they hear. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race/race.h"
#include "steps.h"

enum { REPLY_MS = 3000, SILENCE_MS = 40 };

/* ---- Commands --------------------------------------------------------------- */

struct rr_line_to *rr_exchange_line(struct rr_player *player,
				    const struct rr_step *step)
{
	const int connection = player->race->actors[step->actor].connection;

	return &player->cast.lines[connection][step->server];
}

bool rr_exchange_connect(struct rr_player *player, const struct rr_step *step)
{
	struct rr_line_to *line = rr_exchange_line(player, step);
	char error[200];

	if (line->wire)
		return true;
	line->n_owed = 0;
	line->wire =
		rr_wire_open(rr_cluster_address(player->cluster, step->server),
			     error, sizeof(error));
	if (line->wire)
		return true;
	return rr_player_fail(player, RR_EXIT_REDIS, step, "%s: %s",
			      player->race->actors[step->actor].name, error);
}

/* The words with their variables filled in; the caller frees each. */
static bool expand(struct rr_player *player, const struct rr_step *step,
		   char *words[RR_WORDS_MAX], size_t lengths[RR_WORDS_MAX])
{
	for (size_t i = 0; i < step->n_words; i++) {
		words[i] = rr_cast_expand(&player->cast, step->words[i]);
		if (!words[i]) {
			while (i-- > 0)
				free(words[i]);
			return rr_player_fail(player, RR_EXIT_INTERNAL, step,
					      "out of memory");
		}
		lengths[i] = strlen(words[i]);
	}
	return true;
}

/* The command as it was sent, for the picture; words with blanks in quotes. */
static char *join(char *const words[], size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; file && i < n; i++) {
		const bool plain = words[i][0] && !strpbrk(words[i], " \t\n\"");
		const char *quote = plain		  ? "" :
				    strchr(words[i], '"') ? "'" :
							    "\"";

		fprintf(file, "%s%s%s%s", i ? " " : "", quote, words[i], quote);
	}
	if (file)
		fclose(file);
	return text;
}

bool rr_exchange_owe(struct rr_player *player, const struct rr_step *step)
{
	struct rr_line_to *line = rr_exchange_line(player, step);

	if (line->n_owed == RR_OWED_MAX)
		return rr_player_fail(player, RR_EXIT_USAGE, step,
				      "more than %d replies are waited for",
				      RR_OWED_MAX);
	line->owed[line->n_owed].actor = step->actor;
	line->owed[line->n_owed].step = step;
	line->n_owed++;
	return true;
}

bool rr_exchange_send(struct rr_player *player, const struct rr_step *step,
		      struct rr_event *event)
{
	char *words[RR_WORDS_MAX];
	size_t lengths[RR_WORDS_MAX];

	if (!rr_exchange_connect(player, step) ||
	    !expand(player, step, words, lengths))
		return false;
	event->command = join(words, step->n_words);
	rr_wire_send(rr_exchange_line(player, step)->wire, step->n_words,
		     (const char *const *)words, lengths);
	for (size_t i = 0; i < step->n_words; i++)
		free(words[i]);
	return rr_exchange_owe(player, step);
}

/* ---- Replies ----------------------------------------------------------------------------- */

/* The reply that came is the oldest owed one: was it this client's own, and to
 * what it just said? */
static void settle(struct rr_player *player, const struct rr_step *step)
{
	struct rr_line_to *line = rr_exchange_line(player, step);
	const int sender = line->owed[0].actor;
	const bool last =
		step->kind == RR_STEP_READ || line->owed[0].step == step;

	if (line->n_owed == 0)
		return; /* a message that nobody asked for */
	line->n_owed--;
	memmove(&line->owed[0], &line->owed[1],
		line->n_owed * sizeof(line->owed[0]));
	if (sender != step->actor || !last)
		rr_observer_crossed(&player->observer, step->actor, sender,
				    player->remark);
}

static void compare(struct rr_player *player, const struct rr_step *step,
		    struct rr_event *event)
{
	const struct rr_matcher matcher = { rr_cast_variable, &player->cast };

	if (step->expected && event->reply)
		event->differs = !rr_reply_matches(step->expected, event->reply,
						   &matcher);
}

/* The one connection; those to other servers stay. */
static void hang_up(struct rr_line_to *line)
{
	rr_wire_close(line->wire);
	line->wire = NULL;
	line->n_owed = 0;
}

/* Executed, and never known to the client, whose connection is gone. */
static bool lose_reply(struct rr_player *player, const struct rr_step *step,
		       struct rr_event *event)
{
	char text[RR_REPLY_TEXT_SIZE];

	if (rr_wire_read(rr_exchange_line(player, step)->wire, REPLY_MS,
			 text) == RR_WIRE_SILENT)
		return rr_player_fail(player, RR_EXIT_REDIS, step,
				      "the server does not answer");
	hang_up(rr_exchange_line(player, step));
	event->reply = strdup("(lost)");
	return true;
}

bool rr_exchange_read(struct rr_player *player, const struct rr_step *step,
		      struct rr_event *event)
{
	struct rr_line_to *line = rr_exchange_line(player, step);
	char text[RR_REPLY_TEXT_SIZE];
	enum rr_wire_state state;

	if (!line->wire)
		return rr_player_fail(player, RR_EXIT_USAGE, step,
				      "%s has no connection to read from",
				      player->race->actors[step->actor].name);
	if (step->is_lost)
		return lose_reply(player, step, event);
	state = rr_wire_read(line->wire,
			     step->is_waiting ? SILENCE_MS : REPLY_MS, text);
	if (state == RR_WIRE_SILENT) {
		event->reply = strdup("(waits)");
	} else {
		event->reply = strdup(text);
		settle(player, step);
	}
	if (state == RR_WIRE_CLOSED)
		hang_up(line);
	compare(player, step, event);
	return true;
}

/* Nobody listens where this client would have to connect to? */
static bool is_refused(struct rr_player *player, const struct rr_step *step)
{
	return !rr_exchange_line(player, step)->wire &&
	       rr_cluster_state(player->cluster, step->server) ==
		       RR_SERVER_DOWN;
}

/* The command as it would have been sent, and what became of it. */
static bool refuse(struct rr_player *player, const struct rr_step *step,
		   struct rr_event *event)
{
	char *words[RR_WORDS_MAX];
	size_t lengths[RR_WORDS_MAX];

	if (!expand(player, step, words, lengths))
		return false;
	event->command = join(words, step->n_words);
	for (size_t i = 0; i < step->n_words; i++)
		free(words[i]);
	event->reply = strdup("(refused)");
	compare(player, step, event);
	return true;
}

bool rr_exchange_run(struct rr_player *player, const struct rr_step *step,
		     struct rr_event *event)
{
	if (is_refused(player, step))
		return refuse(player, step, event);
	return rr_exchange_send(player, step, event) &&
	       rr_exchange_read(player, step, event);
}
