/* SPDX-License-Identifier: MIT */
/* A strategy's clients, and somebody who says, key by key, which of them goes next. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "guided.h"
#include "play.h"
#include "screen.h"

#define SECOND_NS INT64_C(1000000000)

/* Above the steps stand at most so many lines besides keys and clients, and below them. */
enum { OTHER_LINES = 9, STEPS_LEAST = 3 };

enum wish { WISH_GO_ON, WISH_AGAIN, WISH_QUIT };

struct keyboard {
	struct rr_screen screen;
	struct rr_decision decisions[RR_STEPS_MAX];
	size_t n_decisions;
	size_t next; /* of those that are done again */
	enum wish wish;
	bool reached; /* the goal, at any time */
	bool shows_help;
	char message[RR_LINE_SIZE];
	struct rr_guided guided;
	const struct rr_live_view *view; /* NULL = all have ended */
};

/* ---- The goal -------------------------------------------------------------------- */

static const char *goal_text(const struct rr_strategy *strategy)
{
	if (rr_survives_faults(strategy))
		return "try to make it lose an update: nobody has yet";
	if (strategy->acquire)
		return "get two clients into the critical section, or make it lose an update";
	return "make it lose an update";
}

static bool is_goal_reached(const struct rr_guided *guided)
{
	const struct rr_strategy *strategy = guided->setup.strategy;
	rr_findings goal = 1U << RR_UPDATE_LOST;

	if (strategy->acquire && !rr_survives_faults(strategy))
		goal |= 1U << RR_EXCLUSION_BROKEN;
	return (guided->trace.findings & goal) != 0;
}

/* ---- What is shown --------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void say(struct keyboard *keyboard, const char *format,
						      ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(keyboard->message, sizeof(keyboard->message), format, arguments);
	va_end(arguments);
}

/* Why a thread does nothing any more; NULL = it does. */
static const char *why_gone(const struct rr_thread_view *thread)
{
	return thread->state == RR_THREAD_ABSENT  ? "is no renewer now" :
	       thread->state == RR_THREAD_CRASHED ? "has crashed" :
	       thread->state == RR_THREAD_ENDED   ? "has ended" :
						    NULL;
}

static const char help[] =
	"Each client runs the strategy's own C code and stops before every command.\n"
	"  a, b, ...   this client does its next step; A, B, ...: its renewer does\n"
	"  t           time passes, until a client wakes up or a lease ends, or 1 s\n"
	"  T           time passes until the lock's lease has ended, or 1 s\n"
	"  x a         client A crashes           l a   the next reply to A is lost\n"
	"  u           take the last choice back  r     begin again\n"
	"  s           save as a .race file       q     quit\n";

static void draw(struct keyboard *keyboard)
{
	struct rr_guided *guided = &keyboard->guided;
	const struct rr_strategy *strategy = guided->setup.strategy;
	const size_t n = guided->trace.n_events;
	size_t n_lines = OTHER_LINES, n_steps;

	rr_screen_clear();
	rr_screen_put("%s: %s", strategy->name, strategy->summary);
	rr_screen_put("%s: %s", is_goal_reached(guided) ? "REACHED" : "goal", goal_text(strategy));
	putchar('\n');

	const struct rr_race *race = guided->recorder.race;
	const int64_t lease_ns = rr_guided_lease_ns(guided);
	char duration[RR_GROUPED_SIZE] = "";

	if (lease_ns)
		rr_exact_duration(duration, lease_ns - RR_CLUSTER_LAPSE_NS);
	for (size_t i = 0; i < race->n_keys; i++, n_lines++) {
		const bool leased = race->keys[i] == race->lock && lease_ns;

		rr_screen_put("  %-12s %s%s%s", race->keys[i], guided->environment.keys[i],
			      leased ? "  for " : "", leased ? duration : "");
	}
	putchar('\n');
	if (keyboard->view) {
		const struct rr_live_view *view = keyboard->view;
		for (size_t i = 0; i < view->n; i++) {
			const struct rr_thread_view *thread = &view->threads[i];
			const bool is_client = i < view->n_clients;
			const char *gone = why_gone(thread);
			char name[RR_THREAD_NAME_SIZE], text[RR_THREAD_TEXT_SIZE];

			if (!is_client && gone)
				continue;
			n_lines++;
			rr_thread_name(view, i, name);
			if (gone) {
				rr_screen_put("     %-3s %s", name, gone);
				continue;
			}
			rr_thread_text(guided, thread, view->now_ns, text);
			rr_screen_put(
				"  %c  %-3s %s%s%s%s", (is_client ? 'a' : 'A') + thread->client,
				name, thread->state == RR_THREAD_READY ? "" : "waits, ", text,
				is_client && rr_guided_is_inside(guided, (int)i) ? "  [inside]" :
										   "",
				guided->loses[thread->client] ? "  [its next reply is lost]" : "");
		}
	} else {
		rr_screen_put(
			"  all clients have ended: u takes the last choice back, r begins again");
		n_lines++;
	}
	putchar('\n');
	n_steps = rr_screen_rows() > n_lines + STEPS_LEAST ? rr_screen_rows() - n_lines :
							     STEPS_LEAST;
	if (keyboard->shows_help)
		fputs(help, stdout);
	else
		for (size_t i = n > n_steps ? n - n_steps : 0; i < n; i++) {
			const struct rr_event *event = &guided->trace.events[i];
			char *line;
			FILE *file = rr_open_text(&line);

			if (event->step->kind == RR_STEP_RUN && event->command)
				fprintf(file, "%s> %.50s%s => %s",
					race->clients[event->step->client].name, event->command,
					strlen(event->command) > 50 ? "..." : "", event->reply);
			else
				rr_race_write_step(file, race, event->step);
			fclose(file);
			rr_screen_put("%4zu  %s%s%s", i + 1, line, event->remark ? "   ! " : "",
				      event->remark ? event->remark : "");
			free(line);
		}
	putchar('\n');
	rr_screen_put(
		"a b next step  t time  x crash  l lose  u undo  r reset  s save  q quit  ? help");
	rr_screen_put("%s", keyboard->message);
	fflush(stdout);
}

/* ---- Keys -------------------------------------------------------------------- */

/* Draws everything and waits for a key; arrows mean nothing here. */
static int next_key(struct keyboard *keyboard)
{
	int key;

	draw(keyboard);
	key = rr_screen_key(&keyboard->screen);
	return key >= RR_KEY_LEFT ? RR_KEY_ESCAPE : key;
}

static void save(struct keyboard *keyboard)
{
	struct rr_error error = { 0 };
	char name[RR_LINE_SIZE] = "";
	int key = 0;

	if (keyboard->guided.recorder.race->n_steps == 0) {
		say(keyboard, "nothing has happened yet");
		return;
	}
	while (key != '\n' && key != '\r' && key != RR_KEY_NONE && key != RR_KEY_ESCAPE) {
		say(keyboard, "save as: %.150s", name);
		key = next_key(keyboard);
		rr_screen_edit(name, key);
	}
	if (!name[0] || key == RR_KEY_NONE)
		say(keyboard, "not saved");
	else if (rr_guided_save(&keyboard->guided, name, &error))
		say(keyboard, "saved: redrace play %.150s", name);
	else
		say(keyboard, "not saved: %.150s", error.text);
}

/* Keys by which something happens. True: `decision` is what; else there is a message. */
static bool take_decision(struct keyboard *keyboard, int key, struct rr_decision *decision)
{
	const enum rr_transition_kind kind = rr_transition_of_key(tolower(key));
	const struct rr_live_view *view = keyboard->view;
	const size_t n = view->n_clients;
	int client = tolower(key) - 'a';

	if (kind == RR_DO_WAIT) {
		const int64_t lease_ns = rr_guided_lease_ns(&keyboard->guided);
		const int64_t next_ns = view->next_ns - view->now_ns;
		const bool wakes = view->next_ns != RR_NEVER && next_ns > 0;

		*decision = (struct rr_decision){ .transition = { .kind = RR_DO_WAIT } };
		if (!isupper(key) && wakes && (!lease_ns || next_ns < lease_ns))
			decision->ns = next_ns;
		else
			decision->ns = lease_ns ? lease_ns : SECOND_NS;
		return true;
	}
	if (kind != RR_TRANSITIONS) {
		say(keyboard, "%s: which client?", rr_transition_rows[kind].word);
		client = tolower(next_key(keyboard)) - 'a';
		if (client < 0 || (size_t)client >= n) {
			say(keyboard, "there is no such client");
			return false;
		}
		if (!rr_thread_is_alive(&view->threads[client])) {
			say(keyboard, "%c is not there any more", 'A' + client);
			return false;
		}
		say(keyboard, "%s", "");
		*decision = (struct rr_decision){
			.transition = { .kind = (uint8_t)kind, .who = (uint8_t)client },
		};
		return true;
	}
	if (client < 0 || (size_t)client >= n) {
		say(keyboard, "no such key; ? explains them");
		return false;
	}

	/* A client, or its renewer, goes on. */
	const size_t number = (size_t)client + (isupper(key) ? n : 0);
	const struct rr_thread_view *thread = &view->threads[number];
	const char *gone = why_gone(thread);
	char name[RR_THREAD_NAME_SIZE];

	*decision = (struct rr_decision){ .transition = thread->next };
	if (thread->state != RR_THREAD_READY)
		say(keyboard, "%s %s", rr_thread_name(view, number, name),
		    gone                         ? gone :
		    thread->ready_ns == RR_NEVER ? "waits for what only another can do" :
						   "waits: t lets time pass");
	return thread->state == RR_THREAD_READY;
}

/* Takes keys until something is to happen: true, and what; false when there is
 * another wish than to go on. */
static bool take_keys(struct keyboard *keyboard, struct rr_decision *decision)
{
	while (keyboard->wish == WISH_GO_ON) {
		const int key = next_key(keyboard);

		keyboard->message[0] = '\0';
		keyboard->shows_help = false;
		if (key == 'q' || key == RR_KEY_NONE) {
			keyboard->wish = WISH_QUIT;
		} else if (key == 'r') {
			keyboard->n_decisions = 0;
			keyboard->wish = WISH_AGAIN;
		} else if (key == 'u' && keyboard->n_decisions == 0) {
			say(keyboard, "nothing to take back");
		} else if (key == 'u') {
			keyboard->n_decisions--;
			keyboard->wish = WISH_AGAIN;
		} else if (key == 's') {
			save(keyboard);
		} else if (key == '?') {
			keyboard->shows_help = true;
		} else if (!keyboard->view) {
			say(keyboard, "no client is left to do that");
		} else if (take_decision(keyboard, key, decision)) {
			return true;
		}
	}
	return false;
}

/* ---- Executions -------------------------------------------------------------- */

/* An rr_decide: what was chosen before, and then a key. */
static struct rr_decision decide(void *context, struct rr_guided *guided,
				 const struct rr_live_view *view)
{
	struct keyboard *keyboard = context;
	struct rr_decision *decision = &keyboard->decisions[keyboard->next];

	if (keyboard->next < keyboard->n_decisions) {
		keyboard->next++;
		return *decision;
	}
	rr_guided_judge(guided);
	keyboard->reached |= is_goal_reached(guided);
	keyboard->view = view;
	if (keyboard->n_decisions == RR_STEPS_MAX || !take_keys(keyboard, decision))
		return (struct rr_decision){ .stops = true };
	keyboard->next = ++keyboard->n_decisions;
	return *decision;
}

bool rr_interactive_run(const struct rr_guided_setup *setup, struct rr_cluster *cluster,
			struct rr_error *error)
{
	struct rr_signals *signals = &cluster->session->signals;
	struct keyboard *keyboard = rr_calloc(1, sizeof(*keyboard));
	struct rr_decision none;
	bool good;

	if (!rr_screen_open(&keyboard->screen, cluster->session)) {
		free(keyboard);
		return rr_error_set(error, RR_ERROR_USAGE, "--interactive needs a terminal");
	}
	do {
		/* One execution, up to a wish; at its end one is waited for. */
		rr_guided_close(&keyboard->guided);
		keyboard->next = 0;
		keyboard->wish = WISH_GO_ON;
		good = rr_guided_run(&keyboard->guided, setup, cluster, decide, keyboard);
		if (!good)
			break;
		keyboard->reached |= is_goal_reached(&keyboard->guided);
		keyboard->view = NULL;
		take_keys(keyboard, &none);
	} while (keyboard->wish == WISH_AGAIN);
	rr_screen_close(&keyboard->screen);
	if (signals->interrupted)
		rr_error_interrupted(error);
	else if (!good)
		*error = keyboard->guided.error;
	else if (rr_cluster_is_whole(cluster, error)) {
		/* Once more the last screen's result, where it stays to be read. Before the end
		 * a lock that is held would count as one that was left. */
		const struct rr_guided *guided = &keyboard->guided;
		char verdict[RR_VERDICT_SIZE];

		rr_trace_verdict(&guided->trace, verdict, sizeof(verdict));
		printf("\n%s: %s\n", guided->setup.strategy->name,
		       goal_text(guided->setup.strategy));
		printf("%s, after %zu choice%s", keyboard->reached ? "reached" : "not reached",
		       keyboard->n_decisions, keyboard->n_decisions == 1 ? "" : "s");
		if (guided->has_ended)
			printf("; at the end: %s", verdict);
		putchar('\n');
	}
	rr_guided_close(&keyboard->guided);
	free(keyboard);
	return !error->kind;
}
