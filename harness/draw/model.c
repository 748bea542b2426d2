/* SPDX-License-Identifier: MIT */
/* Makes the rows of a picture, and what stands above and below them. */
#include "model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"

/* Rounds of a repeat that are drawn at its beginning and its end together. */
enum { ROUNDS_SHOWN = 2 };

/* Rounds that are alike and were not written as a repeat: so many are folded, of at most so many steps. */
enum { ROUNDS_LEAST = 4, ROUND_MOST = 8 };

/* Of the commands that come before the first step, where there are more than so many. */
enum { GIVEN_SHOWN = 3, GIVEN_MOST = 4 };

/* What a row needs to know of those before it. */
struct maker {
	struct rr_picture *picture;
	bool folded;
	size_t number;
	unsigned inside, gone, down;
	const char *values[RR_KEYS_SHOWN_MAX]; /* as last drawn, unworded */
	int writers[RR_KEYS_SHOWN_MAX];        /* the clients that wrote them, -1 = none */
	bool are_locks[RR_KEYS_SHOWN_MAX];     /* were they written only if absent? */
};

/* ---- Texts --------------------------------------------------------------- */

/* The text belongs to the picture from now on. */
static const char *keep_text(struct rr_picture *picture, char *text)
{
	text = rr_picture_name_tokens(picture, text);
	rr_array_grow(&picture->texts, picture->n_texts, sizeof(*picture->texts));
	picture->texts[picture->n_texts++] = text;
	return text;
}

static const char *keep_plain(struct rr_picture *picture, const char *text)
{
	return text ? keep_text(picture, rr_plain(text)) : NULL;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* ---- One row ------------------------------------------------------------- */

/* Who does what: the server is named where there is a choice. */
static void set_sentence(struct rr_picture *picture, struct rr_row *row)
{
	const bool at = row->kind == RR_ROW_MESSAGE && picture->race->n_servers > 1;
	const bool writes = row->sends && row->fate == RR_FATE_NONE;

	row->sentence = keep_text(picture,
				  rr_words("%s: %s%s%s%s%s%s%s", row->client_name, at ? "@" : "",
					   at ? row->server_name : "", at ? " " : "",
					   writes ? "writes " : "", row->text,
					   row->reply ? " => " : "", or_empty(row->reply)));
	row->action = row->sentence + strlen(row->client_name) + strlen(": ");
}

/* What was broken, then why this is the step that decides. */
static void set_remark(struct rr_picture *picture, struct rr_row *row)
{
	if (!row->broke && !row->why)
		return;
	picture->has_remarks = true;
	row->remark = keep_text(picture,
				rr_words("%s%s%s%s%s", row->broke ? "✗ " : "", or_empty(row->broke),
					 row->broke && row->why ? " " : "", row->why ? "! " : "",
					 or_empty(row->why)));
}

/* Who is inside, gone and down after this step. */
static void apply_step(struct maker *maker, const struct rr_step *step)
{
	enum effect { NO_CHANGE, DOWN, UP };
	static const enum effect after[RR_FAULT_KINDS] = {
		[RR_FAULT_KILL] = DOWN,  [RR_FAULT_SHUT_DOWN] = DOWN, [RR_FAULT_AWAIT_END] = DOWN,
		[RR_FAULT_POWER] = DOWN, [RR_FAULT_HANG] = DOWN,      [RR_FAULT_RESTART] = UP,
		[RR_FAULT_WIPE] = UP,    [RR_FAULT_RESUME] = UP,
	};
	const unsigned client = step->client < 0 ? 0 : 1U << step->client;
	const unsigned server = step->server < 0 ? 0 : 1U << step->server;

	maker->gone &= ~client;
	if (step->kind == RR_STEP_ENTER)
		maker->inside |= client;
	if (step->kind == RR_STEP_LEAVE || step->kind == RR_STEP_CRASH)
		maker->inside &= ~client;
	if (step->kind == RR_STEP_CRASH)
		maker->gone |= client;
	if (step->kind == RR_STEP_FAULT && after[step->fault] == DOWN)
		maker->down |= server;
	if (step->kind == RR_STEP_FAULT && after[step->fault] == UP)
		maker->down &= ~server;
}

/* A row that begins in the state that the one before it has left. */
static struct rr_row *add_picture_row(struct maker *maker, enum rr_row_kind kind, const char *text)
{
	struct rr_row *row = &maker->picture->rows[maker->picture->n_rows++];

	*row = (struct rr_row){
		.kind = kind,
		.text = text,
		.client = -1,
		.server = -1,
		.is_across = kind != RR_ROW_MESSAGE && kind != RR_ROW_MARK,
		.inside = maker->inside,
		.gone = maker->gone,
		.down = maker->down,
	};
	return row;
}

static bool is_queued(const struct rr_event *event)
{
	return event->reply && event->step->kind == RR_STEP_RUN &&
	       strcmp(event->reply, "QUEUED") == 0;
}

/* What a program's client queues after MULTI stands in one row with it: nothing happens
 * before EXEC. True: the event is part of the last row now. */
static bool join_queue(struct maker *maker, const struct rr_event *event)
{
	struct rr_picture *picture = maker->picture;
	struct rr_row *row = picture->n_rows ? &picture->rows[picture->n_rows - 1] : NULL;

	if (!maker->folded || !picture->race->shows || !is_queued(event) || !row || !row->event ||
	    row->client != event->step->client || row->broke || event->step->remark ||
	    !(is_queued(row->event) || strcasecmp(row->text, "MULTI") == 0))
		return false;
	row->event = event;
	row->text = keep_text(picture,
			      rr_words("%s; %s", row->text,
				       keep_text(picture, rr_step_words(picture->trace, event))));
	row->reply = keep_text(picture, rr_words_of_reply(event->reply));
	set_sentence(picture, row);
	return true;
}

/* Is it SETNX, or does it have the word NX, also in the text of a script? */
static bool writes_if_absent(const char *command)
{
	for (const char *at = command; (at = strcasestr(at, "NX")); at += 2) {
		const bool is_word = at == command || !isalnum((unsigned char)at[-1]);

		if (!isalnum((unsigned char)at[2]) &&
		    (is_word || (at - command == 3 && strncasecmp(command, "SET", 3) == 0)))
			return true;
	}
	return false;
}

/* The key holds something else after the row. */
static void set_value(struct maker *maker, struct rr_row *row, size_t key)
{
	struct rr_picture *picture = maker->picture;
	const char *value = row->event->keys[key], *name = picture->keys[key].label;
	const int writer = maker->writers[key];

	maker->values[key] = value;
	row->values[key] = keep_text(picture, rr_words_of_value(value));
	row->labels[key] = keep_text(picture, rr_words("%s = %s", name, row->values[key]));
	if (row->kind == RR_ROW_MESSAGE) {
		const char *lock = picture->race->lock, *command = row->event->command;

		maker->writers[key] = row->client;
		maker->are_locks[key] = (lock && strcmp(lock, picture->race->keys[key]) == 0) ||
					(command && writes_if_absent(command));
	} else if (row->kind == RR_ROW_TIME && maker->folded && writer >= 0 &&
		   strcmp(value, "(nil)") == 0) {
		/* "10 s pass, t = 10 s: A's lease of lock ended"; once of all servers. */
		const char *ended = keep_text(
			picture,
			rr_words("%s's %s%s %s", picture->lanes[picture->client_lanes[writer]].name,
				 maker->are_locks[key] ? "lease of " : "", name,
				 maker->are_locks[key] ? "ended" : "expired"));

		if (!strstr(row->text, ended))
			row->text = keep_text(picture, rr_words("%s%s %s", row->text,
								row->has_ended ? "," : ":", ended));
		row->has_ended = true;
	}
}

/* Who leaves, or crashes, is still inside while doing so. */
static void add_event(struct maker *maker, const struct rr_event *event)
{
	struct rr_picture *picture = maker->picture;
	const struct rr_step *step = event->step;
	struct rr_row *row =
		add_picture_row(maker, rr_row_kind_of(step),
				keep_text(picture, rr_step_words(picture->trace, event)));

	apply_step(maker, step);
	row->inside |= maker->inside;
	row->number = step->kind == RR_STEP_NOTE ? 0 : maker->number;
	row->client = step->client;
	row->server = step->server;
	if (row->client >= 0)
		row->client_name = picture->lanes[picture->client_lanes[row->client]].name;
	if (row->server >= 0)
		row->server_name = picture->lanes[picture->server_lanes[row->server]].name;
	row->sends = row->kind == RR_ROW_MESSAGE && step->kind != RR_STEP_READ;
	row->first = row->event = event;
	if (event->reply && row->kind == RR_ROW_MESSAGE)
		row->fate = step->is_lost                        ? RR_FATE_LOST :
			    strcmp(event->reply, "(waits)") == 0 ? RR_FATE_WAITS :
								   RR_FATE_CAME;
	if (event->differs)
		row->broke = keep_text(
			picture, rr_words("expected %s%s%s", rr_step_expectation(step),
					  event->remark ? "; " : "", or_empty(event->remark)));
	else
		row->broke = keep_plain(picture, event->remark);
	row->why = keep_plain(picture, step->remark);
	if (row->fate != RR_FATE_NONE)
		row->reply = keep_text(picture, rr_words_of_reply(event->reply));
	if (!row->is_across)
		set_sentence(picture, row);
	/* Values that are other than those last drawn. */
	for (size_t i = 0; i < picture->race->n_keys; i++) {
		const char *value = row->event->keys[i];

		if (value && strcmp(value, maker->values[i]) != 0)
			set_value(maker, row, i);
	}
	picture->fates |= 1U << row->fate;
	set_remark(picture, row);
}

/* ---- Rounds that are left out -------------------------------------------- */

/* The last round that was played of the repeat that events[i] is in. */
static int last_round(const struct rr_trace *trace, size_t i)
{
	int round = trace->events[i].step->repetition;

	for (; i < trace->n_events; i++) {
		const struct rr_step *step = trace->events[i].step;

		if (step->repetitions == 0 || step->repetition < round ||
		    step->repetition > round + 1)
			break;
		round = step->repetition;
	}
	return round;
}

static bool is_folded_away(const struct rr_event *event, int last)
{
	return event->step->repetition > 1 && event->step->repetition < last &&
	       last > ROUNDS_SHOWN + 1;
}

/* ---- Rounds that clients go by themselves: they poll ---------------------- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Is what happens in `b` what has happened in `a`, and nothing that stands out? */
static bool is_again(const struct rr_event *a, const struct rr_event *b)
{
	const struct rr_step *x = a->step, *y = b->step;
	const bool is_plain = (y->kind == RR_STEP_RUN && !y->is_lost && !y->is_waiting) ||
			      y->kind == RR_STEP_TICK ||
			      (y->kind == RR_STEP_NOTE && y->n_words == 0 &&
			       same_text(x->text, y->text));

	if (!is_plain || x->kind != y->kind || x->client != y->client || x->server != y->server ||
	    x->amount != y->amount || x->repetitions || y->repetitions || b->differs || b->remark ||
	    y->remark || y->injected || !same_text(a->command, b->command) ||
	    !same_text(a->reply, b->reply))
		return false;
	for (size_t i = 0; i < RR_KEYS_SHOWN_MAX; i++) {
		if (!same_text(a->keys[i], b->keys[i]))
			return false;
	}
	return true;
}

struct rounds {
	size_t n, length;            /* of so many events each */
	const struct rr_event *poll; /* the only one of the first round that is a client's; NULL =
				      * there are more */
};

/* The rounds that are alike from events[i] on; n is 0 where there are few. */
static struct rounds find_rounds(const struct rr_trace *trace, size_t i)
{
	const struct rr_event *events = &trace->events[i];
	const size_t left = trace->n_events - i;
	struct rounds rounds = { .n = 0 };

	while (rounds.n < ROUNDS_LEAST && ++rounds.length <= ROUND_MOST) {
		size_t n = rounds.length;

		while (n < left && is_again(&events[n - rounds.length], &events[n]))
			n++;
		rounds.n = n / rounds.length;
	}
	if (rounds.n < ROUNDS_LEAST)
		return (struct rounds){ .n = 0 };

	size_t n_client = 0;

	for (size_t k = 0; k < rounds.length; k++) {
		if (events[k].step->kind != RR_STEP_RUN)
			continue;
		n_client++;
		rounds.poll = &events[k];
	}
	/* What is queued is not asked. */
	if (n_client == 0 || (n_client == 1 && is_queued(rounds.poll)))
		rounds.n = 0;
	if (n_client != 1)
		rounds.poll = NULL;
	return rounds;
}

static void add_next(struct maker *maker, const struct rr_event *event)
{
	maker->number += event->step->kind != RR_STEP_NOTE;
	if (!join_queue(maker, event))
		add_event(maker, event);
}

/* The first round; then one row for the others of a poll, which has the number of the last step, and
 * else one for those before the last round, which is drawn, too. */
static void add_rounds(struct maker *maker, const struct rr_event *events,
		       const struct rounds *rounds)
{
	struct rr_picture *picture = maker->picture;
	const size_t n = rounds->n - (rounds->poll ? 1 : ROUNDS_SHOWN), length = rounds->length;
	const size_t first = maker->number + 1;
	struct rr_row *row;

	for (size_t k = 0; k < length; k++)
		add_next(maker, &events[k]);

	const size_t from = maker->number + 1, last = maker->number + n * (from - first);

	if (!rounds->poll) {
		add_picture_row(maker, RR_ROW_FOLD,
				keep_text(picture, rr_words("… %zu more rounds, steps %zu to %zu",
							    n, from, last)));
		maker->number = last;
		for (size_t k = 0; k < length; k++)
			add_next(maker, &events[(rounds->n - 1) * length + k]);
		return;
	}
	maker->number = last;
	add_event(maker, rounds->poll + n * length);
	row = &picture->rows[picture->n_rows - 1];
	/* Who asks is answered something else than OK. */
	row->text = keep_text(picture, strcmp(or_empty(row->reply), "OK") == 0 ?
					       rr_words("… %s, %zu more times", row->text, n) :
					       rr_words("… polls %s %zu more times", row->text, n));
	set_sentence(picture, row);
}

/* ---- All events ----------------------------------------------------------- */

static void add_events(struct maker *maker)
{
	struct rr_picture *picture = maker->picture;
	const struct rr_trace *trace = picture->trace;

	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_event *event = &trace->events[i];
		const int last = maker->folded ? last_round(trace, i) : 0;
		const int rounds = last - event->step->repetition;
		const size_t from = maker->number + 1;
		struct rounds polls = { .n = 0 };
		size_t n_broke = 0;
		struct rr_row *row;

		if (maker->folded)
			polls = find_rounds(trace, i);
		if (polls.n) {
			add_rounds(maker, event, &polls);
			i += polls.n * polls.length - 1;
			continue;
		}
		if (is_folded_away(event, last)) {
			/* One row up to the last round. */
			for (; is_folded_away(&trace->events[i], last); i++) {
				const struct rr_step *step = trace->events[i].step;

				maker->number += step->kind != RR_STEP_NOTE;
				apply_step(maker, step);
				n_broke += trace->events[i].remark != NULL;
			}
			row = add_picture_row(
				maker, RR_ROW_FOLD,
				keep_text(picture, rr_words("… %d more rounds, steps %zu to %zu",
							    rounds, from, maker->number)));
			if (n_broke > 0)
				row->broke = keep_text(
					picture,
					rr_words("%zu of these steps broke something", n_broke));
			set_remark(picture, row);
			event = &trace->events[i];
		}
		add_next(maker, event);
	}
}

/* ---- Above the rows, and below ------------------------------------------- */

static void add_lane(struct rr_picture *picture, bool is_server, size_t index)
{
	size_t *at = is_server ? &picture->server_lanes[index] : &picture->client_lanes[index];
	const char *name = is_server ? picture->race->servers[index].name :
				       picture->race->clients[index].name;

	*at = picture->n_lanes;
	picture->lanes[picture->n_lanes++] = (struct rr_lane){
		.is_server = is_server,
		.index = (int)index,
		.name = keep_plain(picture, name),
	};
}

/* A race that stopped before its end has no verdict. */
static void add_verdict(struct rr_picture *picture)
{
	const struct rr_trace *trace = picture->trace;
	const size_t n = picture->race->n_sayings;
	char verdict[400];

	rr_trace_verdict(trace, verdict, sizeof(verdict));
	picture->verdict = keep_plain(picture, verdict);
	picture->is_complete = trace->n_events == picture->race->n_steps &&
			       (trace->n_events == 0 ||
				!trace->events[trace->n_events - 1].differs);
	if (!picture->is_complete)
		picture->no_finding = "The race ended here, without a verdict.";
	else if (picture->race->shows)
		picture->no_finding = keep_plain(picture, picture->race->shows);
	else if (!trace->findings)
		picture->no_finding = "Nothing broken.";
	if (picture->is_complete && picture->race->shows && !trace->findings)
		picture->verdict = picture->no_finding;
	picture->is_found = picture->is_complete && picture->race->shows &&
			    rr_race_is_found(picture->race);
	for (int i = 0; i < RR_FINDINGS; i++) {
		const enum rr_finding finding = (enum rr_finding)i;
		const char *name = rr_finding_name(finding);
		const char *figures;

		if (!(trace->findings & 1U << i))
			continue;
		figures = keep_plain(picture, trace->conclusion[i]);
		picture->findings[picture->n_findings++] = (struct rr_found){
			.name = name,
			.figures = figures,
			.heading = keep_text(picture, rr_words("%s%s%s", name, *figures ? ": " : "",
							       figures)),
			.meaning = rr_finding_meaning(picture->race, finding),
		};
	}
	picture->sayings = rr_calloc(n + 1, sizeof(*picture->sayings));
	for (size_t i = 0; i < n; i++)
		picture->sayings[i] =
			keep_text(picture, rr_words_of_saying(trace, &picture->race->sayings[i]));
}

void rr_picture_make(struct rr_picture *picture, const struct rr_trace *trace, bool folded)
{
	struct maker maker = { .picture = picture, .folded = folded };
	const struct rr_race *race = trace->race;
	/* What was there before the first step: of many commands only the first ones. */
	const size_t n_given = race->n_given > GIVEN_MOST ? GIVEN_SHOWN : race->n_given;

	*picture = (struct rr_picture){ .trace = trace, .race = race };
	picture->rows = rr_calloc(trace->n_events + GIVEN_MOST + 2, sizeof(*picture->rows));
	rr_picture_find_tokens(picture);
	picture->title = keep_plain(picture, race->title);
	picture->claims = keep_text(picture,
				    rr_words("%s%s", *race->claims ? "claim " : "", race->claims));
	for (size_t i = 0; i < RR_KEYS_SHOWN_MAX; i++) {
		maker.values[i] = "(nil)";
		maker.writers[i] = -1;
	}

	/* A single server stands between two clients. */
	const bool between = race->n_clients == 2 && race->n_servers == 1;

	for (size_t i = 0; i < race->n_clients; i++) {
		if (between && i == 1)
			add_lane(picture, true, 0);
		add_lane(picture, false, i);
	}
	for (size_t i = 0; !between && i < race->n_servers; i++)
		add_lane(picture, true, i);
	for (size_t i = 0; i < race->n_keys; i++) {
		struct rr_shown_key *key = &picture->keys[i];
		size_t length;

		key->server = rr_race_key_server(race, race->keys[i], &length);
		key->name = keep_plain(picture, race->keys[i]);
		key->label = keep_text(picture, rr_words("%.*s", (int)length, race->keys[i]));
	}
	for (size_t i = 0; i < n_given; i++) {
		const struct rr_event given = { .step = &race->given[i] };
		const char *words = keep_text(picture, rr_step_words(trace, &given));

		add_picture_row(&maker, RR_ROW_NOTE,
				keep_text(picture, rr_words("given: %s", words)));
	}
	if (n_given < race->n_given)
		add_picture_row(&maker, RR_ROW_NOTE,
				keep_text(picture, rr_words("given: %zu more commands",
							    race->n_given - n_given)));
	if (race->counter && race->counter_from)
		add_picture_row(&maker, RR_ROW_NOTE,
				keep_text(picture, rr_words("given: %s is %lld", race->counter,
							    (long long)race->counter_from)));
	add_events(&maker);
	add_verdict(picture);
}

void rr_picture_free(struct rr_picture *picture)
{
	for (size_t i = 0; i < picture->n_texts; i++)
		free(picture->texts[i]);
	free(picture->texts);
	free(picture->tokens);
	free(picture->sayings);
	free(picture->rows);
}

size_t rr_step_number(const struct rr_race *race, const struct rr_step *step)
{
	size_t number = 0;

	for (const struct rr_step *at = race->steps; at <= step; at++)
		number += at->kind != RR_STEP_NOTE;
	return number;
}
