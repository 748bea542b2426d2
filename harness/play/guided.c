/* SPDX-License-Identifier: MIT */
#include "guided.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"
#include "link.h"

enum { LEASE_MS = 10000, SHOWN = 60 };

/* ---- Failing ----------------------------------------------------------------- */

struct rr_decision rr_guided_fail(struct rr_guided *guided, enum rr_error_kind kind,
				  const char *format, ...)
{
	char text[RR_ERROR_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	rr_error_set(&guided->error, kind, "%s", text);
	return (struct rr_decision){ .stops = true };
}

/* ---- Telling ----------------------------------------------------------------- */

/* The recorder has another step: looks at the keys and the lock after it. */
static void add_event(void *context, struct rr_step *step, const struct rr_action *action)
{
	struct rr_guided *guided = context;
	struct rr_event *event = &guided->trace.events[guided->trace.n_events++];
	char remark[RR_REMARK_SIZE] = "";

	*event = (struct rr_event){ .step = step, .at_ns = guided->cluster->moved_ns };
	if (step->kind == RR_STEP_NOTE)
		return;
	if (action) {
		/* A client's command as it was sent, and what came of it. */
		if (step->n_words) {
			const struct rdl_command *command =
				&guided->terms.command[action->command].words;

			event->command = rr_join_words(command->words, command->n_words);
		}
		if (step->is_lost || step->kind == RR_STEP_WRITE)
			event->reply = rr_strdup("(lost)");
		else if (step->expected)
			event->reply = rr_strdup(step->expected);
	}
	if (step->kind == RR_STEP_ENTER || step->kind == RR_STEP_LEAVE ||
	    step->kind == RR_STEP_COUNT || step->kind == RR_STEP_CRASH) {
		rr_observer_mark(&guided->observer, step, remark);
		guided->n_marks++;
	}
	if (step->kind == RR_STEP_FAULT)
		memcpy(remark, guided->fault, sizeof(remark));
	environment_look(&guided->environment, step->client, remark, event);
	guided->trace.findings = guided->observer.findings;
}

static void record(void *context, const struct rr_action *action)
{
	struct rr_guided *guided = context;

	if (!rr_recorder_add(&guided->recorder, action))
		rr_guided_fail(guided, RR_ERROR_USAGE, "more than %d steps", RR_STEPS_MAX);
}

bool rr_guided_is_inside(const struct rr_guided *guided, int client)
{
	return guided->observer.inside[guided->recorder.clients[client][0]];
}

/* ---- Judging ----------------------------------------------------------------- */

void rr_guided_judge(struct rr_guided *guided)
{
	struct rr_trace *trace = &guided->trace;
	struct rr_observer end = guided->observer;

	environment_end(&guided->environment, &end);
	trace->findings = end.findings;
	memcpy(trace->conclusion, end.conclusion, sizeof(trace->conclusion));
	trace->as_written = true;
	rr_race_set_verdict(guided->recorder.race, trace->findings);
}

bool rr_guided_save(const struct rr_guided *guided, const char *path, struct rr_error *error)
{
	struct rr_draft draft;

	rr_draft_open(&draft);
	rr_race_write(draft.out, guided->recorder.race);
	return rr_draft_replace(&draft, path, error);
}

/* ---- Time and faults --------------------------------------------------------- */

static bool pass(void *context, int64_t ns)
{
	struct rr_guided *guided = context;

	return rr_cluster_tick(guided->cluster, ns) != RR_TICK_FAILED ||
	       rr_error_set(&guided->error, RR_ERROR_REDIS, "the clocks do not move");
}

static bool restart(void *context, size_t server)
{
	struct rr_guided *guided = context;
	const struct rr_step step = { .kind = RR_STEP_FAULT,
				      .client = -1,
				      .peer = -1,
				      .server = (int)server,
				      .fault = RR_FAULT_WIPE };

	guided->fault[0] = '\0';
	return environment_fault(&guided->environment, &step, guided->fault, &guided->error);
}

int64_t rr_guided_lease_ns(const struct rr_guided *guided)
{
	const struct rr_lock_state *lock = &guided->observer.lock;
	const int64_t left_ns = lock->expires_ns - rr_cluster_now_ns(guided->cluster);

	if (strcmp(lock->value, "(nil)") == 0 || lock->expires_ns < 0)
		return 0;
	return left_ns > 0 ? left_ns + RR_CLUSTER_LAPSE_NS : RR_CLUSTER_LAPSE_NS;
}

/* ---- Decisions --------------------------------------------------------------- */

static void decide_all(struct rr_guided *guided)
{
	while (!guided->error.kind && !guided->cluster->session->signals.interrupted) {
		const struct rr_live_view *view = rr_live_look(guided->live);
		const struct rr_error *error = rr_live_error(guided->live);
		struct rr_decision decision;
		struct rr_transition transition;

		guided->has_ended = view->n_alive == 0;
		if (guided->has_ended)
			return;
		if (view->n_ready == 0 && view->next_ns == RR_NEVER) {
			rr_recorder_note(&guided->recorder,
					 "no client can make progress, now or later");
			return;
		}
		decision = guided->decide(guided->context, guided, view);
		if (decision.stops)
			return;
		transition = decision.transition;
		if (decision.note) {
			rr_recorder_note(&guided->recorder, "%s", decision.note);
			continue;
		}
		if (transition.kind == RR_DO_LOSE) {
			guided->loses[transition.who] = true;
			continue;
		}
		if (transition.kind == RR_DO_PAUSE) {
			char duration[RR_GROUPED_SIZE];

			rr_recorder_note(&guided->recorder, "%c stands still for %s",
					 'A' + transition.who,
					 rr_exact_duration(duration, decision.ns));
		}
		/* A command's reply gets lost if that was asked for. */
		if (transition.kind == RR_DO_EXECUTE && transition.who < guided->setup.n_clients &&
		    guided->loses[transition.who]) {
			guided->loses[transition.who] = false;
			transition.kind = RR_DO_LOSE;
		}
		switch (rr_live_do(guided->live, transition, (decision.ns + 999) / 1000 * 1000)) {
		case RR_DID_REFUSE:
			rr_error_set(&guided->error, RR_ERROR_INTERNAL,
				     "the clients did not do the same again");
			break;
		case RR_DID_FAIL:
			rr_error_set(&guided->error, error->kind ? error->kind : RR_ERROR_REDIS,
				     "%s", error->text);
			break;
		default:
			break;
		}
	}
}

/* ---- Beginning and end ------------------------------------------------------- */

static uint32_t answer_at_once(void *context, int server, const struct rdl_command *command)
{
	struct rr_guided *guided = context;

	return rr_live_answer(guided->live, (size_t)server, command);
}

bool rr_guided_run(struct rr_guided *guided, const struct rr_guided_setup *setup,
		   struct rr_cluster *cluster, rr_decide decide, void *context)
{
	const struct rr_strategy *strategy = setup->strategy;
	const size_t n_servers = 1 + strategy->lock.servers;
	const int64_t wait_ns = rr_policy_wait_ns(RR_POLICY_SLEEP, &strategy->wait, 0, NULL);
	char title[120];
	struct rr_recorder_setup recorder = {
		.program = &guided->program,
		.scripts = &guided->scripts,
		.strategy = strategy,
		.title = title,
		.data_server = strategy->lock.servers ? "data" : "redis",
		.is_detailed = true,
		.added = add_event,
		.context = guided,
	};
	struct rr_race *race;
	const char *lacks;
	bool good;

	*guided = (struct rr_guided){
		.setup = *setup, .cluster = cluster, .decide = decide, .context = context
	};
	guided->counting = (struct rr_counting){
		.strategy = strategy,
		.n_servers = n_servers,
		.increments = setup->increments,
		.ttl_ms = LEASE_MS,
	};
	guided->program = (struct rr_program){
		.n_clients = setup->n_clients,
		.n_servers = n_servers,
		.addresses = guided->addresses,
		.separate = setup->processes != 1,
		.terms = &guided->terms,
		.stacks = &guided->stacks,
		.knows_scripts = true,
		.ask = answer_at_once,
		.ask_context = guided,
	};
	rr_counting_init(&guided->counting, &guided->program);
	guided->program.learning = RR_LEARN_NOTHING;
	/* Who waits in a queue listens on a connection of its own. */
	for (size_t i = 0; i < setup->n_clients; i++)
		recorder.connections[i] = strategy->lock.kind == RR_LOCK_QUEUE ? 3 : 1;
	snprintf(title, sizeof(title), "%s: %zu client%s, %ld increment%s each%s", strategy->name,
		 setup->n_clients, setup->n_clients == 1 ? "" : "s", setup->increments,
		 setup->increments == 1 ? "" : "s", setup->processes == 1 ? ", one process" : "");
	rr_recorder_begin(&guided->recorder, &recorder);
	race = guided->recorder.race;
	race->path = strategy->name;
	guided->trace = (struct rr_trace){ .race = race };
	guided->trace.events = rr_calloc(RR_STEPS_MAX, sizeof(*guided->trace.events));
	rr_observer_begin(&guided->observer, race);
	good = environment_open(&guided->environment, race, cluster, &guided->observer,
				&guided->error);
	for (size_t i = 0; good && i < race->n_servers; i++)
		guided->addresses[i] = *rr_cluster_address(cluster, (int)i);
	lacks = good ? rr_strategy_lacking(strategy, &guided->addresses[0], "spare") : NULL;
	if (lacks)
		good = rr_error_set(&guided->error, RR_ERROR_SKIPPED, "%s: this server has %s",
				    strategy->name, lacks);
	if (good) {
		guided->live = rr_live_new(&(struct rr_live_config){
			.program = &guided->program,
			.cluster = cluster,
			.scripts = &guided->scripts,
			.day_ns = rr_cluster_now_ns(cluster),
			.wait_ns = wait_ns > 0 ? wait_ns : 1000,
			.pass = pass,
			.restart = restart,
			.note = record,
			.context = guided,
		});
		if (!rr_live_begin(guided->live))
			rr_error_set(&guided->error, RR_ERROR_REDIS, "%s",
				     rr_live_error(guided->live)->text);
		else if (guided->counting.cannot_open)
			rr_error_set(&guided->error, RR_ERROR_REDIS, "cannot open the strategy");
		decide_all(guided);
	}
	if (!guided->error.kind && guided->trace.n_events == 0) /* a race has a step */
		rr_recorder_note(&guided->recorder, "Nothing has happened.");
	if (!guided->error.kind) {
		rr_guided_judge(guided);
		rr_recorder_trim(&guided->recorder);
	}
	rr_live_free(guided->live);
	guided->live = NULL;
	environment_close(&guided->environment);
	return !guided->error.kind;
}

void rr_guided_close(struct rr_guided *guided)
{
	rr_trace_free(&guided->trace);
	rr_race_free(guided->recorder.race);
	rr_terms_release(&guided->terms);
	rr_stacks_release(&guided->stacks);
	rr_scripts_release(&guided->scripts);
	*guided = (struct rr_guided){ .has_ended = false };
}

/* ---- In words ---------------------------------------------------------------- */

const char *rr_thread_name(const struct rr_live_view *view, size_t thread,
			   char name[RR_THREAD_NAME_SIZE])
{
	snprintf(name, RR_THREAD_NAME_SIZE, "%c%.*s", 'A' + (int)(thread % view->n_clients),
		 (int)(thread / view->n_clients), "''''''");
	return name;
}

static const struct rdl_command *command_of(const struct rr_guided *guided,
					    const struct rr_thread_view *thread)
{
	return &guided->terms.command[thread->command].words;
}

const char *rr_thread_verb(const struct rr_guided *guided, const struct rr_thread_view *thread)
{
	return thread->command != RR_NO_ID ? command_of(guided, thread)->words[0].text :
					     rr_word_of_stop(thread->stop.kind);
}

void rr_thread_text(const struct rr_guided *guided, const struct rr_thread_view *thread,
		    int64_t now_ns, char text[RR_THREAD_TEXT_SIZE])
{
	static const char *const texts[] = {
		[RR_STOP_LISTEN] = "go on after waiting for a message",
		[RR_STOP_SLEEP] = "go on after a sleep",
		[RR_STOP_WAIT] = "go on after waiting for a message",
		[RR_STOP_CLOCK] = "read the clock",
		[RR_STOP_LOCK] = "lock the mutex",
		[RR_STOP_UNLOCK] = "unlock the mutex",
		[RR_STOP_JOIN] = "wait for the end of its renewer",
		[RR_STOP_ATTEMPT] = "go on after a sleep",
		[RR_STOP_ENDED] = NULL,
	};
	const char *what = texts[thread->stop.kind];
	const bool lasts = thread->ready_ns > now_ns && thread->ready_ns != RR_NEVER;
	char duration[RR_GROUPED_SIZE];

	if (thread->command != RR_NO_ID) {
		const struct rdl_command *command = command_of(guided, thread);
		char *words = rr_command_text(command->words, command->n_words, SHOWN);

		snprintf(text, RR_THREAD_TEXT_SIZE, "make %s", words);
		free(words);
	} else if (lasts) {
		snprintf(text, RR_THREAD_TEXT_SIZE, "%s, in %s", what,
			 rr_exact_duration(duration, thread->ready_ns - now_ns));
	} else {
		snprintf(text, RR_THREAD_TEXT_SIZE, "%s", what ? what : "go on");
	}
}
