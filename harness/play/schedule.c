/* SPDX-License-Identifier: MIT */
#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { SHORT_WAITS = 2, LONG_WAITS = 4, PASSES_MAX = 200 };

#define SECOND_NS INT64_C(1000000000)

/* ---- Words ------------------------------------------------------------------ */

static bool refuse_word(struct rr_error *error, size_t number, const char *text, const char *why)
{
	return rr_error_set(error, RR_ERROR_USAGE, "schedule, word %zu, '%.60s': %s", number, text,
			    why);
}

bool rr_schedule_parse(struct rr_schedule *schedule, const char *text,
		       const struct rr_guided_setup *setup, struct rr_error *error)
{
	static const char blanks[] = " \t\r\n";
	const struct rr_word_names names = {
		.n_clients = setup->n_clients,
		.n_servers = 1 + setup->strategy->lock.servers,
	};
	size_t number = 1;

	for (text += strspn(text, blanks); *text; text += strspn(text, blanks), number++) {
		const size_t length = strcspn(text, blanks);
		struct rr_error why = { 0 };
		struct rr_word word;
		char said[RR_CUE_SIZE];

		snprintf(said, sizeof(said), "%.*s", (int)length, text);
		text += length;
		if (schedule->n_cues >= RR_CUES_MAX || length >= RR_CUE_SIZE)
			return refuse_word(error, number, said, "expected fewer or shorter words");
		if (!rr_word_read(said, &names, &word, &why))
			return refuse_word(error, number, said, why.text);
		if (!rr_transition_rows[word.kind].is_played)
			return refuse_word(error, number, said, "it is for searches only");
		if (word.kind != RR_DO_EXECUTE && word.thread)
			return refuse_word(error, number, said,
					   "expected a client, not its renewer");
		if (word.kind == RR_DO_PAUSE && (word.client < 0 || !word.ns))
			return refuse_word(error, number, said, "expected pause:CLIENT:DURATION");
		if (word.kind == RR_DO_WAIT && !word.ns)
			return refuse_word(error, number, said,
					   "expected a duration, as in tick:10s");
		/* "lose-reply:A:SET" is two cues: the next reply is lost, and A:SET. */
		const enum rr_transition_kind kinds[] = { word.kind, RR_DO_EXECUTE };
		const size_t n = word.kind == RR_DO_LOSE && word.command[0] ? 2 : 1;

		for (size_t i = 0; i < n; i++) {
			struct rr_cue *cue = &schedule->cues[schedule->n_cues++];
			const int who = word.client >= 0 ? word.client : word.server;

			*cue = (struct rr_cue){
				.is_step = kinds[i] == RR_DO_EXECUTE,
				.thread = word.client + word.thread * (int)setup->n_clients,
				.decision = { .transition = { .kind = (uint8_t)kinds[i],
							      .who = (uint8_t)who },
					      .ns = word.ns },
				.number = number,
			};
			if (cue->is_step)
				snprintf(cue->command, sizeof(cue->command), "%s", word.command);
			snprintf(cue->word, sizeof(cue->word), "%s", said);
		}
	}
	return true;
}

/* ---- Steps ------------------------------------------------------------------ */

static struct rr_decision refuse(const struct rr_schedule *schedule, struct rr_guided *guided,
				 const char *why)
{
	const struct rr_cue *cue = &schedule->cues[schedule->next];

	return rr_guided_fail(guided, RR_ERROR_USAGE, "schedule, word %zu, '%s': %.*s %s",
			      cue->number, cue->word, (int)strcspn(cue->word, ":"), cue->word, why);
}

static struct rr_decision pass(int64_t ns)
{
	return (struct rr_decision){ .transition = { .kind = RR_DO_WAIT }, .ns = ns };
}

/* A step: when the thread is there, and it is the step it is about to make. */
static struct rr_decision step(struct rr_schedule *schedule, struct rr_guided *guided,
			       const struct rr_live_view *view)
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
	if (!rr_word_is_command(cue->command, rr_thread_verb(guided, thread)))
		return refuse(schedule, guided, why);
	if (thread->ready_ns == RR_NEVER) {
		/* It waits for somebody else, and not for a time. */
		char of[RR_THREAD_NAME_SIZE] = "nobody";

		if (thread->holder >= 0)
			rr_thread_name(view, (size_t)thread->holder, of);
		if (thread->command != RR_NO_ID)
			return refuse(schedule, guided, "waits for others");
		if (thread->stop.kind == RR_STOP_LOCK)
			snprintf(why, sizeof(why), "waits for the mutex, which %s holds", of);
		else if (thread->stop.kind == RR_STOP_JOIN)
			snprintf(why, sizeof(why), "waits for the end of %c's renewer",
				 'A' + thread->client);
		else
			snprintf(why, sizeof(why), "waits for a message that has not come");
		return refuse(schedule, guided, why);
	}
	if (thread->state != RR_THREAD_READY)
		return pass(thread->ready_ns - view->now_ns);
	schedule->next++;
	return (struct rr_decision){ .transition = thread->next };
}

/* ---- The rest --------------------------------------------------------------- */

static struct rr_decision give_up(struct rr_schedule *schedule, const struct rr_live_view *view)
{
	char *note = schedule->rest.note;
	const size_t size = sizeof(schedule->rest.note);
	char name[RR_THREAD_NAME_SIZE];

	snprintf(note, size, "deadlock, these would wait indefinitely:");
	for (size_t i = 0; i < view->n; i++) {
		if (rr_thread_is_alive(&view->threads[i]))
			rr_add_text(note, size, " %s", rr_thread_name(view, i, name));
	}
	schedule->rest.has_given_up = true;
	return (struct rr_decision){ .note = note };
}

/* No client can go on now. */
static struct rr_decision let_time_pass(struct rr_schedule *schedule,
					const struct rr_guided *guided,
					const struct rr_live_view *view)
{
	const int64_t next_ns = view->next_ns - view->now_ns;
	/* When something else than an attempt can happen, from now on; 0 = never. */
	int64_t some_ns = rr_guided_lease_ns(guided);
	int *idle = &schedule->rest.idle;
	int64_t long_ns = SECOND_NS;

	for (size_t i = 0; i < view->n; i++) {
		const struct rr_thread_view *thread = &view->threads[i];
		const int64_t in_ns = thread->ready_ns - view->now_ns;
		/* Between two attempts it may as well sleep longer. */
		const bool is_asking = thread->state == RR_THREAD_BLOCKED &&
				       thread->command == RR_NO_ID &&
				       (thread->stop.kind == RR_STOP_ATTEMPT ||
					thread->stop.kind == RR_STOP_SLEEP) &&
				       !rr_guided_is_inside(guided, thread->client);

		if (rr_thread_is_alive(thread) && thread->ready_ns != RR_NEVER && in_ns > 0 &&
		    !is_asking && (!some_ns || in_ns < some_ns))
			some_ns = in_ns;
	}

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

/* An rr_decide; `context` is the schedule. A step that a client is not about to
 * make is RR_ERROR_USAGE. */
static struct rr_decision decide(void *context, struct rr_guided *guided,
				 const struct rr_live_view *view)
{
	struct rr_schedule *schedule = context;
	const struct rr_cue *cue = &schedule->cues[schedule->next];
	struct rr_transition transition;

	/* Steps of clients that have ended, crashed, or wait for others. */
	while (schedule->is_lenient && schedule->next < schedule->n_cues && cue->is_step &&
	       (!rr_thread_is_alive(&view->threads[cue->thread]) ||
		view->threads[cue->thread].ready_ns == RR_NEVER))
		cue = &schedule->cues[++schedule->next];
	transition = cue->decision.transition;
	if (schedule->next == schedule->n_cues && schedule->stops)
		return (struct rr_decision){ .stops = true };
	if (schedule->next == schedule->n_cues) {
		if (schedule->rest.has_given_up)
			return (struct rr_decision){ .stops = true };
		if (schedule->rest.n_marks != guided->n_marks)
			schedule->rest.idle = 0;
		schedule->rest.n_marks = guided->n_marks;
		/* The first client's threads, then the second one's. */
		for (size_t client = 0; client < view->n_clients; client++) {
			for (size_t i = client; i < view->n; i += view->n_clients) {
				if (view->threads[i].state == RR_THREAD_READY)
					return (struct rr_decision){
						.transition = view->threads[i].next,
					};
			}
		}
		return let_time_pass(schedule, guided, view);
	}
	if (cue->is_step)
		return step(schedule, guided, view);
	if ((transition.kind == RR_DO_CRASH || transition.kind == RR_DO_PAUSE) &&
	    !rr_thread_is_alive(&view->threads[transition.who]))
		return rr_guided_fail(guided, RR_ERROR_USAGE,
				      "schedule, word %zu, '%s': %c is not there any more",
				      cue->number, cue->word, 'A' + transition.who);
	schedule->next++;
	return cue->decision;
}

/* ---- A strategy, played ----------------------------------------------------- */

enum rr_exit rr_play_strategy(const struct rr_guided_options *options, struct rr_cluster *cluster,
			      rr_show show, void *context, struct rr_error *error)
{
	struct rr_schedule *schedule;
	struct rr_guided *guided;
	enum rr_exit code = RR_EXIT_OK;
	bool good;

	if (options->interactive) {
		rr_interactive_run(&options->setup, cluster, error);
		return code;
	}
	schedule = rr_calloc(1, sizeof(*schedule));
	schedule->stops = options->stops;
	schedule->is_lenient = options->is_lenient;
	if (rr_schedule_parse(schedule, options->schedule ? options->schedule : "", &options->setup,
			      error)) {
		guided = rr_calloc(1, sizeof(*guided));
		good = rr_guided_run(guided, &options->setup, cluster, decide, schedule);
		if (cluster->session->signals.interrupted)
			rr_error_interrupted(error);
		else if (!good)
			*error = guided->error;
		else
			code = show(context, &guided->trace);
		if (!error->kind && code == RR_EXIT_OK && options->save)
			rr_guided_save(guided, options->save, error);
		rr_guided_close(guided);
		free(guided);
	}
	free(schedule);
	return code;
}
