/* SPDX-License-Identifier: MIT */
#include "schedule.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SHORT_WAITS = 2, LONG_WAITS = 4, PASSES_MAX = 200 };

#define SECOND_NS INT64_C(1000000000)

/* ---- Words ------------------------------------------------------------------ */

struct reader {
	const struct rr_guided_setup *setup;
	struct rr_error *error;
	const char *word;
	size_t number; /* of the word, from 1 */
};

static bool expect(const struct reader *reader, const char *what, const char *found)
{
	return rr_error_set(reader->error, RR_ERROR_USAGE,
			    "schedule, word %zu, '%.60s': expected %s, found '%.60s'",
			    reader->number, reader->word, what, found);
}

/* 'A', and A' for a renewer: its number in an execution; -1 = there is none. */
static int find_thread(const struct rr_guided_setup *setup, const char *name)
{
	const int client = name[0] - 'A';
	const size_t primes = name[0] ? strspn(name + 1, "'") : 0;
	const size_t n = setup->n_clients;

	if (client < 0 || (size_t)client >= n || name[1 + primes] || primes >= RR_RUN_THREADS)
		return -1;
	return client + (int)(primes * n);
}

static bool take_client(const struct reader *reader, const char *name, struct rr_cue *cue)
{
	const int client = find_thread(reader->setup, name);
	char what[40];

	cue->decision.transition.who = (uint8_t)client;
	if (client >= 0 && (size_t)client < reader->setup->n_clients)
		return true;
	snprintf(what, sizeof(what), "a client, A to %c", 'A' + (int)reader->setup->n_clients - 1);
	return expect(reader, what, name);
}

static bool take_duration(const struct reader *reader, const char *text, struct rr_cue *cue)
{
	static const struct {
		const char *unit;
		int64_t ns;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 } };
	char *end;
	const long long value = strtoll(text, &end, 10);

	for (size_t i = 0; isdigit((unsigned char)*text) && value > 0 && value <= 1000000 &&
			   i < sizeof(units) / sizeof(units[0]);
	     i++) {
		if (strcmp(end, units[i].unit) == 0) {
			cue->decision.ns = value * units[i].ns;
			return true;
		}
	}
	return expect(reader, "a duration like 10s, 300ms or 5us", text);
}

static bool take_server(const struct reader *reader, const char *name, struct rr_cue *cue)
{
	const size_t n = reader->setup->strategy->lock.servers;
	char known[24] = "redis", what[40];

	for (size_t i = 0; i <= n; i++) {
		if (i == 0 && n)
			snprintf(known, sizeof(known), "data");
		else if (i)
			snprintf(known, sizeof(known), "n%zu", i);
		cue->decision.transition.who = (uint8_t)i;
		if (strcmp(name, known) == 0)
			return true;
	}
	snprintf(what, sizeof(what), n ? "data, n1 to n%zu" : "redis", n);
	return expect(reader, what, name);
}

/* ---- One word -------------------------------------------------------------- */

/* NAME, or NAME:COMMAND. */
static bool parse_step(const struct reader *reader, struct rr_cue *cue)
{
	char name[RR_CUE_SIZE];
	const char *colon = strchr(cue->word, ':');

	snprintf(name, sizeof(name), "%.*s",
		 colon ? (int)(colon - cue->word) : (int)strlen(cue->word), cue->word);
	cue->is_step = true;
	cue->thread = find_thread(reader->setup, name);
	if (cue->thread < 0)
		return expect(reader,
			      "a client, tick:, crash:, pause:, lose-reply: or restart:", name);
	if (colon)
		snprintf(cue->command, sizeof(cue->command), "%s", colon + 1);
	if (colon && !cue->command[0])
		return expect(reader, "a command after the colon", "");
	return true;
}

static bool take_pause(const struct reader *reader, const char *rest, struct rr_cue *cue)
{
	const char *colon = strchr(rest, ':');
	char name[RR_CUE_SIZE];

	if (!colon)
		return expect(reader, "pause:CLIENT:DURATION", rest);
	snprintf(name, sizeof(name), "%.*s", (int)(colon - rest), rest);
	return take_client(reader, name, cue) && take_duration(reader, colon + 1, cue);
}

static const struct {
	const char *prefix;
	enum rr_transition_kind kind;
	bool (*take)(const struct reader *reader, const char *rest, struct rr_cue *cue);
} forms[] = {
	{ "tick:", RR_DO_WAIT, take_duration },     { "crash:", RR_DO_CRASH, take_client },
	{ "pause:", RR_DO_PAUSE, take_pause },      { "lose-reply:", RR_DO_LOSE, take_client },
	{ "restart:", RR_DO_RESTART, take_server },
};

static bool parse_word(const struct reader *reader, struct rr_cue *cue)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const size_t length = strlen(forms[i].prefix);

		if (strncmp(cue->word, forms[i].prefix, length) != 0)
			continue;
		cue->decision.transition.kind = (uint8_t)forms[i].kind;
		return forms[i].take(reader, cue->word + length, cue);
	}
	return parse_step(reader, cue);
}

bool rr_schedule_parse(struct rr_schedule *schedule, const char *text,
		       const struct rr_guided_setup *setup, struct rr_error *error)
{
	static const char blanks[] = " \t\r\n";
	struct reader reader = { .setup = setup, .error = error };

	for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
		const size_t length = strcspn(text, blanks);
		struct rr_cue *cue = &schedule->cues[schedule->n_cues];

		memset(cue, 0, sizeof(*cue));
		snprintf(cue->word, sizeof(cue->word), "%.*s", (int)length, text);
		reader.number = schedule->n_cues + 1;
		reader.word = cue->word;
		if (schedule->n_cues == RR_CUES_MAX || length >= RR_CUE_SIZE)
			return expect(&reader, "fewer or shorter words", cue->word);
		if (!parse_word(&reader, cue))
			return false;
		schedule->n_cues++;
		text += length;
	}
	return true;
}

/* ---- Steps ------------------------------------------------------------------ */

static bool is_script(const char *command)
{
	return strcasecmp(command, "EVAL") == 0 || strcasecmp(command, "EVALSHA") == 0;
}

static bool is_meant(const struct rr_cue *cue, const char *verb)
{
	return !cue->command[0] || strcasecmp(cue->command, verb) == 0 ||
	       (is_script(cue->command) && is_script(verb));
}

static struct rr_decision refuse(const struct rr_schedule *schedule, struct rr_guided *guided,
				 const char *why)
{
	const struct rr_cue *cue = &schedule->cues[schedule->next];

	return rr_guided_fail(guided, RR_ERROR_USAGE, "schedule, word %zu, '%s': %.*s %s",
			      schedule->next + 1, cue->word, (int)strcspn(cue->word, ":"),
			      cue->word, why);
}

/* It waits for somebody else, and not for a time. */
static struct rr_decision refuse_waiting(const struct rr_schedule *schedule,
					 struct rr_guided *guided,
					 const struct rr_execution_view *view,
					 const struct rr_thread_view *thread)
{
	char of[RR_THREAD_NAME_SIZE] = "nobody";
	char why[80] = "waits for a message that has not come";

	if (thread->holder >= 0)
		rr_thread_name(view, (size_t)thread->holder, of);
	if (thread->command != RR_NO_ID)
		snprintf(why, sizeof(why), "waits for others");
	else if (thread->stop.kind == RR_STOP_LOCK)
		snprintf(why, sizeof(why), "waits for the mutex, which %s holds", of);
	else if (thread->stop.kind == RR_STOP_JOIN)
		snprintf(why, sizeof(why), "waits for the end of %c's renewer",
			 'A' + thread->client);
	return refuse(schedule, guided, why);
}

static struct rr_decision pass(int64_t ns)
{
	return (struct rr_decision){ .transition = { .kind = RR_DO_WAIT }, .ns = ns };
}

/* A step: when the thread is there, and it is the step it is about to make. */
static struct rr_decision step(struct rr_schedule *schedule, struct rr_guided *guided,
			       const struct rr_execution_view *view)
{
	const struct rr_cue *cue = &schedule->cues[schedule->next];
	const struct rr_thread_view *thread = &view->threads[cue->thread];
	char about[RR_THREAD_TEXT_SIZE], why[RR_THREAD_TEXT_SIZE + 40];

	if (thread->state == RR_THREAD_ABSENT)
		return refuse(schedule, guided, "is not there");
	if (!rr_thread_is_alive(thread))
		return refuse(schedule, guided,
			      thread->state == RR_THREAD_CRASHED ? "has crashed" : "has ended");
	rr_thread_text(guided, thread, view->now_ns, about);
	snprintf(why, sizeof(why), "is about to %s", about);
	if (!is_meant(cue, rr_thread_verb(guided, thread)))
		return refuse(schedule, guided, why);
	if (thread->ready_ns == RR_NEVER)
		return refuse_waiting(schedule, guided, view, thread);
	if (thread->state != RR_THREAD_READY)
		return pass(thread->ready_ns - view->now_ns);
	schedule->next++;
	return (struct rr_decision){ .transition = thread->next };
}

/* ---- The rest --------------------------------------------------------------- */

/* The first client's threads, then the second one's. */
static const struct rr_thread_view *first_ready(const struct rr_execution_view *view)
{
	for (size_t client = 0; client < view->n_clients; client++) {
		for (size_t i = client; i < view->n; i += view->n_clients) {
			if (view->threads[i].state == RR_THREAD_READY)
				return &view->threads[i];
		}
	}
	return NULL;
}

/* Asleep between two attempts: it may as well sleep longer. */
static bool is_asking(const struct rr_guided *guided, const struct rr_thread_view *thread)
{
	return thread->state == RR_THREAD_BLOCKED && thread->command == RR_NO_ID &&
	       (thread->stop.kind == RR_STOP_ATTEMPT || thread->stop.kind == RR_STOP_SLEEP) &&
	       !rr_guided_is_inside(guided, thread->client);
}

/* When something else than an attempt can happen, from now on; 0 = never. */
static int64_t event_ns(const struct rr_guided *guided, const struct rr_execution_view *view)
{
	int64_t first_ns = rr_guided_lease_ns(guided);

	for (size_t i = 0; i < view->n; i++) {
		const struct rr_thread_view *thread = &view->threads[i];
		const int64_t in_ns = thread->ready_ns - view->now_ns;

		if (!rr_thread_is_alive(thread) || thread->ready_ns == RR_NEVER || in_ns <= 0 ||
		    is_asking(guided, thread))
			continue;
		if (!first_ns || in_ns < first_ns)
			first_ns = in_ns;
	}
	return first_ns;
}

static struct rr_decision give_up(struct rr_schedule *schedule,
				  const struct rr_execution_view *view)
{
	char *note = schedule->rest.note;
	const size_t size = sizeof(schedule->rest.note);
	size_t used = (size_t)snprintf(note, size, "deadlock, these would wait for ever:");
	char name[RR_THREAD_NAME_SIZE];

	for (size_t i = 0; i < view->n && used < size; i++) {
		if (rr_thread_is_alive(&view->threads[i]))
			used += (size_t)snprintf(note + used, size - used, " %s",
						 rr_thread_name(view, i, name));
	}
	schedule->rest.has_given_up = true;
	return (struct rr_decision){ .note = note };
}

/* Nobody can go on now. */
static struct rr_decision let_time_pass(struct rr_schedule *schedule,
					const struct rr_guided *guided,
					const struct rr_execution_view *view)
{
	const int64_t next_ns = view->next_ns - view->now_ns;
	const int64_t some_ns = event_ns(guided, view);
	int *idle = &schedule->rest.idle;
	int64_t long_ns = SECOND_NS;

	if (schedule->rest.passes++ == PASSES_MAX)
		return give_up(schedule, view);
	if (++*idle <= SHORT_WAITS || some_ns > next_ns)
		return pass(*idle <= SHORT_WAITS ? next_ns : some_ns);
	if (some_ns)
		return pass(next_ns);
	if (*idle > SHORT_WAITS + LONG_WAITS)
		return give_up(schedule, view);
	for (int i = SHORT_WAITS + 1; i < *idle; i++)
		long_ns *= 10;
	return pass(long_ns > next_ns ? long_ns : next_ns);
}

static struct rr_decision go_through(struct rr_schedule *schedule, const struct rr_guided *guided,
				     const struct rr_execution_view *view)
{
	const struct rr_thread_view *thread = first_ready(view);

	if (schedule->rest.has_given_up)
		return (struct rr_decision){ .stops = true };
	if (schedule->rest.n_marks != guided->n_marks)
		schedule->rest.idle = 0;
	schedule->rest.n_marks = guided->n_marks;
	if (thread)
		return (struct rr_decision){ .transition = thread->next };
	return let_time_pass(schedule, guided, view);
}

/* Goes on behind the steps whose clients have ended, crashed, or wait for others. */
static void skip_impossible(struct rr_schedule *schedule, const struct rr_execution_view *view)
{
	for (; schedule->next < schedule->n_cues; schedule->next++) {
		const struct rr_cue *cue = &schedule->cues[schedule->next];
		const struct rr_thread_view *thread = &view->threads[cue->thread];

		if (!cue->is_step || (rr_thread_is_alive(thread) && thread->ready_ns != RR_NEVER))
			return;
	}
}

struct rr_decision rr_schedule_decide(void *context, struct rr_guided *guided,
				      const struct rr_execution_view *view)
{
	struct rr_schedule *schedule = context;
	const struct rr_cue *cue;
	struct rr_transition transition;

	if (schedule->is_lenient)
		skip_impossible(schedule, view);
	cue = &schedule->cues[schedule->next];
	transition = cue->decision.transition;
	if (schedule->next == schedule->n_cues && schedule->stops)
		return (struct rr_decision){ .stops = true };
	if (schedule->next == schedule->n_cues)
		return go_through(schedule, guided, view);
	if (cue->is_step)
		return step(schedule, guided, view);
	if ((transition.kind == RR_DO_CRASH || transition.kind == RR_DO_PAUSE) &&
	    !rr_thread_is_alive(&view->threads[transition.who]))
		return rr_guided_fail(guided, RR_ERROR_USAGE,
				      "schedule, word %zu, '%s': %c is not there any more",
				      schedule->next + 1, cue->word, 'A' + transition.who);
	schedule->next++;
	return cue->decision;
}

/* ---- A strategy, played ----------------------------------------------------- */

static enum rr_exit follow_schedule(const struct rr_guided_options *options,
				    struct rr_schedule *schedule, struct rr_cluster *cluster,
				    rr_show show, void *context, struct rr_error *error)
{
	struct rr_guided *guided = calloc(1, sizeof(*guided));
	enum rr_exit code = RR_EXIT_OK;
	bool good;

	if (!guided) {
		rr_error_no_memory(error);
		return code;
	}
	good = rr_guided_run(guided, &options->setup, cluster, rr_schedule_decide, schedule);
	if (cluster->session->signals.interrupted)
		rr_error_set(error, RR_ERROR_INTERRUPTED, "%s", "");
	else if (!good)
		*error = guided->error;
	else
		code = show(context, &guided->trace);
	if (!error->kind && code == RR_EXIT_OK && options->save)
		rr_guided_save(guided, options->save, error);
	rr_guided_close(guided);
	free(guided);
	return code;
}

enum rr_exit rr_play_strategy(const struct rr_guided_options *options, struct rr_cluster *cluster,
			      rr_show show, void *context, struct rr_error *error)
{
	struct rr_schedule *schedule;
	enum rr_exit code = RR_EXIT_OK;

	if (options->interactive) {
		rr_interactive_run(&options->setup, cluster, error);
		return code;
	}
	schedule = calloc(1, sizeof(*schedule));
	if (!schedule) {
		rr_error_no_memory(error);
		return code;
	}
	schedule->stops = options->stops;
	schedule->is_lenient = options->is_lenient;
	if (rr_schedule_parse(schedule, options->schedule ? options->schedule : "", &options->setup,
			      error))
		code = follow_schedule(options, schedule, cluster, show, context, error);
	free(schedule);
	return code;
}
