/* SPDX-License-Identifier: MIT */
#include "player.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cast.h"
#include "observer.h"
#include "reply_text.h"
#include "scenery.h"

enum { REPLY_MS = 3000, SILENCE_MS = 40 };

struct player {
	const struct rr_race *race;
	struct rr_world *world;
	struct rr_trace *trace;
	struct rr_cast cast;
	struct rr_scenery scenery;
	struct rr_observer observer;
	char remark[RR_REMARK_SIZE]; /* of the step on its way */
	enum rr_exit code;
};

/* ---- Messages --------------------------------------------------------------------- */

static bool fail(struct player *player, enum rr_exit code,
		 const struct rr_step *step, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static bool fail(struct player *player, enum rr_exit code,
		 const struct rr_step *step, const char *format, ...)
{
	char *error = player->trace->error;
	const size_t size = sizeof(player->trace->error);
	va_list arguments;
	int used;

	used = snprintf(error, size, "%.200s:%d: ", player->race->path,
			step ? step->line : 1);
	va_start(arguments, format);
	if (used >= 0 && (size_t)used < size)
		vsnprintf(error + used, size - (size_t)used, format,
			  arguments);
	va_end(arguments);
	player->code = code;
	return false;
}

/* ---- Commands ----------------------------------------------------------------------- */

static struct rr_line_to *line_of(struct player *player,
				  const struct rr_step *step)
{
	const int connection =
		player->race->actors[step->actor].connection;

	return &player->cast.lines[connection][step->server];
}

static bool connect(struct player *player, const struct rr_step *step)
{
	struct rr_line_to *line = line_of(player, step);
	char error[200];

	if (line->wire)
		return true;
	line->n_owed = 0;
	line->wire = rr_wire_open(rr_world_address(player->world, step->server),
				  error, sizeof(error));
	if (line->wire)
		return true;
	return fail(player, RR_EXIT_REDIS, step, "%s: %s",
		    player->race->actors[step->actor].name, error);
}

/* The words with their variables filled in; the caller frees each. */
static bool expand(struct player *player, const struct rr_step *step,
		   char *words[RR_WORDS_MAX], size_t lengths[RR_WORDS_MAX])
{
	for (size_t i = 0; i < step->n_words; i++) {
		words[i] = rr_cast_expand(&player->cast, step->words[i]);
		if (!words[i]) {
			while (i-- > 0)
				free(words[i]);
			return fail(player, RR_EXIT_INTERNAL, step,
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
		const char *quote = plain ? "" : strchr(words[i], '"') ? "'" :
									 "\"";

		fprintf(file, "%s%s%s%s", i ? " " : "", quote, words[i], quote);
	}
	if (file)
		fclose(file);
	return text;
}

static bool owe(struct player *player, const struct rr_step *step)
{
	struct rr_line_to *line = line_of(player, step);

	if (line->n_owed == RR_OWED_MAX)
		return fail(player, RR_EXIT_USAGE, step,
			    "more than %d replies are waited for", RR_OWED_MAX);
	line->owed[line->n_owed].actor = step->actor;
	line->owed[line->n_owed].step = step;
	line->n_owed++;
	return true;
}

static bool send_command(struct player *player, const struct rr_step *step,
			 struct rr_event *event)
{
	char *words[RR_WORDS_MAX];
	size_t lengths[RR_WORDS_MAX];

	if (!connect(player, step) || !expand(player, step, words, lengths))
		return false;
	event->command = join(words, step->n_words);
	rr_wire_send(line_of(player, step)->wire, step->n_words,
		     (const char *const *)words, lengths);
	for (size_t i = 0; i < step->n_words; i++)
		free(words[i]);
	return owe(player, step);
}

/* ---- Replies ----------------------------------------------------------------------------- */

/* The reply that came is the oldest owed one: was it this client's own, and to
 * what it just said? */
static void settle(struct player *player, const struct rr_step *step)
{
	struct rr_line_to *line = line_of(player, step);
	const int sender = line->owed[0].actor;
	const bool last = step->kind == RR_STEP_READ ||
			  line->owed[0].step == step;

	if (line->n_owed == 0)
		return; /* a message that nobody asked for */
	line->n_owed--;
	memmove(&line->owed[0], &line->owed[1],
		line->n_owed * sizeof(line->owed[0]));
	if (sender != step->actor || !last)
		rr_observer_crossed(&player->observer, step->actor, sender,
				    player->remark);
}

static void compare(struct player *player, const struct rr_step *step,
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
static bool lose_reply(struct player *player, const struct rr_step *step,
		       struct rr_event *event)
{
	char text[RR_REPLY_TEXT_SIZE];

	if (rr_wire_read(line_of(player, step)->wire, REPLY_MS, text) ==
	    RR_WIRE_SILENT)
		return fail(player, RR_EXIT_REDIS, step,
			    "the server does not answer");
	hang_up(line_of(player, step));
	event->reply = strdup("(lost)");
	return true;
}

static bool read_reply(struct player *player, const struct rr_step *step,
		       struct rr_event *event)
{
	struct rr_line_to *line = line_of(player, step);
	char text[RR_REPLY_TEXT_SIZE];
	enum rr_wire_state state;

	if (!line->wire)
		return fail(player, RR_EXIT_USAGE, step,
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

/* ---- Steps --------------------------------------------------------------------------------- */

/* Nobody listens where this client would have to connect to? */
static bool is_refused(struct player *player, const struct rr_step *step)
{
	return !line_of(player, step)->wire &&
	       rr_world_state(player->world, step->server) == RR_SERVER_DOWN;
}

/* The command as it would have been sent, and what became of it. */
static bool refuse(struct player *player, const struct rr_step *step,
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

static bool run(struct player *player, const struct rr_step *step,
		struct rr_event *event)
{
	if (is_refused(player, step))
		return refuse(player, step, event);
	return send_command(player, step, event) &&
	       read_reply(player, step, event);
}

static bool compute(struct player *player, const struct rr_step *step,
		    struct rr_event *event)
{
	const int64_t now_ns = rr_world_now_ns(player->world) +
			       player->cast.skew_ns[step->actor];
	char value[32];

	snprintf(value, sizeof(value), "%lld",
		 (long long)(now_ns / 1000000000 + step->amount));
	event->reply = strdup(value);
	return rr_cast_set(&player->cast, step->text, strlen(step->text), value,
			   strlen(value)) ||
	       fail(player, RR_EXIT_USAGE, step, "too many variables");
}

/* Bytes that begin a command are owed a reply; those that go on with one, or
 * are cut into somebody else's, are not. */
static bool write_bytes(struct player *player, const struct rr_step *step)
{
	const bool begins = step->length > 0 && step->text[0] == '*';

	if (!connect(player, step))
		return false;
	/* A closed connection shows at the next reply. */
	rr_wire_send_bytes(line_of(player, step)->wire, step->text,
			   step->length);
	return !begins || owe(player, step);
}

static bool use_mutex(struct player *player, const struct rr_step *step)
{
	char error[200];
	const bool done =
		step->kind == RR_STEP_LOCK ?
			rr_cast_lock(&player->cast, step->text, step->actor,
				     error, sizeof(error)) :
			rr_cast_unlock(&player->cast, step->text, step->actor,
				       error, sizeof(error));

	return done || fail(player, RR_EXIT_USAGE, step, "%s", error);
}

static bool set_clock(struct player *player, const struct rr_step *step)
{
	char error[RR_WORLD_ERROR];
	enum rr_exit code;

	if (step->peer >= 0) {
		player->cast.skew_ns[step->peer] = step->amount;
		return true;
	}
	code = rr_world_skew(player->world, step->server, step->amount, error);
	return code == RR_EXIT_OK || fail(player, code, step, "%s", error);
}

static bool mark(struct player *player, const struct rr_step *step)
{
	if (step->kind == RR_STEP_CRASH)
		rr_cast_disconnect(&player->cast, step->actor);
	player->cast.crashed[step->actor] = step->kind == RR_STEP_CRASH;
	rr_observer_mark(&player->observer, step, player->remark);
	return true;
}

static bool fault(struct player *player, const struct rr_step *step)
{
	char error[RR_WORLD_ERROR] = "";
	const enum rr_exit code = rr_scenery_fault(
		&player->scenery, step, &player->observer, player->remark,
		error);

	return code == RR_EXIT_OK || fail(player, code, step, "%s", error);
}

static bool tick(struct player *player, const struct rr_step *step)
{
	return rr_world_tick(player->world, step->amount) != RR_TICK_FAILED ||
	       fail(player, RR_EXIT_REDIS, step, "the clocks do not move");
}

static bool do_step(struct player *player, const struct rr_step *step,
		    struct rr_event *event)
{
	if (step->actor >= 0 && player->cast.crashed[step->actor] &&
	    step->kind != RR_STEP_CONNECT)
		return fail(player, RR_EXIT_USAGE, step,
			    "%s has crashed; '%s connects' first",
			    player->race->actors[step->actor].name,
			    player->race->actors[step->actor].name);
	switch (step->kind) {
	case RR_STEP_RUN:
		return run(player, step, event);
	case RR_STEP_WRITE:
		return send_command(player, step, event);
	case RR_STEP_BYTES:
		return write_bytes(player, step);
	case RR_STEP_READ:
		return read_reply(player, step, event);
	case RR_STEP_LOCK:
	case RR_STEP_UNLOCK:
		return use_mutex(player, step);
	case RR_STEP_COMPUTE:
		return compute(player, step, event);
	case RR_STEP_TICK:
		return tick(player, step);
	case RR_STEP_CLOCK:
		return set_clock(player, step);
	case RR_STEP_FAULT:
		return fault(player, step);
	case RR_STEP_NOTE:
		return true;
	default:
		return mark(player, step);
	}
}

/* ---- The whole -------------------------------------------------------------------------------- */

/* Looks at the keys, and at the lock, after a step. */
static void look_around(struct player *player, const struct rr_step *step,
			struct rr_event *event)
{
	if (step->kind == RR_STEP_NOTE)
		return;
	rr_scenery_look(&player->scenery, event->keys);
	rr_scenery_look_at_lock(&player->scenery, step->actor,
				&player->observer, player->remark);
	event->at_ns = rr_world_now_ns(player->world) - RR_WORLD_START_NS;
	if (player->remark[0])
		event->remark = strdup(player->remark);
}

/* False: the race ends here. */
static bool play_step(struct player *player, const struct rr_step *step,
		      const struct rr_audience *audience)
{
	struct rr_trace *trace = player->trace;
	struct rr_event *event = &trace->events[trace->n_events];

	if (audience && audience->before &&
	    !audience->before(audience->context, trace, step))
		return false;
	*event = (struct rr_event){ .step = step };
	player->remark[0] = '\0';
	trace->n_events++;
	if (!do_step(player, step, event))
		return false;
	look_around(player, step, event);
	trace->findings = player->observer.findings;
	if (audience && audience->after)
		audience->after(audience->context, trace, event);
	return !event->differs;
}

/* Is the set of findings the one that was written down? */
static bool is_verdict_right(const struct rr_race *race, rr_findings findings)
{
	rr_findings wanted = 0;
	bool known;

	for (size_t i = 0; i < race->n_verdicts; i++) {
		for (int f = 0; f < RR_FINDINGS; f++) {
			if (strcmp(race->verdicts[i],
				   rr_finding_name((enum rr_finding)f)) == 0)
				wanted |= 1U << f;
		}
	}
	if (race->n_verdicts == 1 && !wanted)
		return rr_finding_holds(race->verdicts[0], findings, &known) &&
		       known;
	return wanted == findings;
}

static void conclude(struct player *player)
{
	struct rr_trace *trace = player->trace;
	const bool complete = trace->n_events == player->race->n_steps &&
			      !trace->events[trace->n_events - 1].differs;

	if (complete)
		rr_scenery_end(&player->scenery, &player->observer);
	trace->findings = player->observer.findings;
	memcpy(trace->conclusion, player->observer.conclusion,
	       sizeof(trace->conclusion));
	trace->as_written = complete &&
			    is_verdict_right(player->race, trace->findings);
}

static bool open_stage(struct player *player)
{
	char error[RR_WORLD_ERROR] = "";
	const enum rr_exit code = rr_scenery_begin(
		&player->scenery, player->race, player->world,
		&player->observer, error);

	return code == RR_EXIT_OK || fail(player, code, NULL, "%s", error);
}

enum rr_exit rr_player_play(const struct rr_race *race, struct rr_world *world,
			    const struct rr_audience *audience,
			    struct rr_trace *trace)
{
	struct player *player = calloc(1, sizeof(*player));

	*trace = (struct rr_trace){ .race = race };
	trace->events = calloc(race->n_steps, sizeof(*trace->events));
	if (!player || !trace->events) {
		snprintf(trace->error, sizeof(trace->error), "out of memory");
		free(player);
		return RR_EXIT_INTERNAL;
	}
	player->race = race;
	player->world = world;
	player->trace = trace;
	rr_cast_begin(&player->cast, race);
	rr_observer_begin(&player->observer, race);
	if (open_stage(player)) {
		for (size_t i = 0; i < race->n_steps; i++) {
			if (!play_step(player, &race->steps[i], audience))
				break;
		}
	}
	if (player->code == RR_EXIT_OK)
		conclude(player);
	rr_cast_end(&player->cast);
	rr_scenery_close(&player->scenery);
	const enum rr_exit code = player->code;
	free(player);
	return code;
}
