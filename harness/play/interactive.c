/* SPDX-License-Identifier: MIT */
#include "interactive.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "screen.h"

#define SECOND_NS INT64_C(1000000000)

enum wish { WISH_GO_ON, WISH_AGAIN, WISH_QUIT };

struct keyboard {
	struct rr_terminal terminal;
	struct rr_decision decisions[RR_STEPS_MAX];
	size_t n_decisions;
	size_t next; /* of those that are done again */
	enum wish wish;
	bool reached; /* the goal, at any time */
	bool shows_help;
	char message[RR_LINE_SIZE];
	/* What is there to be seen; the view is NULL when all have ended. */
	struct rr_guided *guided;
	const struct rr_execution_view *view;
};

static void say(struct keyboard *keyboard, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct keyboard *keyboard, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(keyboard->message, sizeof(keyboard->message), format, arguments);
	va_end(arguments);
}

/* Draws everything and waits for a key; arrows mean nothing here. */
static int next_key(struct keyboard *keyboard)
{
	int key;

	rr_screen_draw(keyboard->guided, keyboard->view, keyboard->shows_help, keyboard->message);
	key = rr_terminal_key(&keyboard->terminal);
	return key >= RR_KEY_LEFT ? RR_KEY_ESCAPE : key;
}

/* ---- Clients ----------------------------------------------------------------- */

/* The thread that can be told to go on; NULL and a message when it cannot. */
static const struct rr_thread_view *find_ready(struct keyboard *keyboard, size_t number)
{
	const struct rr_thread_view *thread = &keyboard->view->threads[number];
	char name[RR_THREAD_NAME_SIZE];

	rr_thread_name(keyboard->view, number, name);
	if (thread->state == RR_THREAD_READY)
		return thread;
	if (thread->state == RR_THREAD_ABSENT)
		say(keyboard, "it has no renewer now");
	else if (!rr_thread_is_alive(thread))
		say(keyboard, "%s %s", name,
		    thread->state == RR_THREAD_CRASHED ? "has crashed" : "has ended");
	else if (thread->ready_ns == RR_NEVER)
		say(keyboard, "%s waits for what only another can do", name);
	else
		say(keyboard, "%s waits: t lets time pass", name);
	return NULL;
}

/* Asks for a client; -1 and a message when it is none that is alive. */
static int ask_client(struct keyboard *keyboard, const char *what)
{
	int key, client;

	say(keyboard, "%s: which client?", what);
	key = next_key(keyboard);
	client = key > 0 ? tolower(key) - 'a' : -1;
	say(keyboard, "%s", "");
	if (client < 0 || (size_t)client >= keyboard->view->n_clients) {
		say(keyboard, "there is no such client");
		return -1;
	}
	if (rr_thread_is_alive(&keyboard->view->threads[client]))
		return client;
	say(keyboard, "%c is not there any more", 'A' + client);
	return -1;
}

/* ---- Time -------------------------------------------------------------------- */

static int64_t wait_ns(const struct keyboard *keyboard, bool for_lease)
{
	const struct rr_execution_view *view = keyboard->view;
	const int64_t lease_ns = rr_guided_lease_ns(keyboard->guided);
	const int64_t next_ns = view->next_ns - view->now_ns;
	const bool wakes = view->next_ns != RR_NEVER && next_ns > 0;

	if (!for_lease && wakes && (!lease_ns || next_ns < lease_ns))
		return next_ns;
	return lease_ns ? lease_ns : SECOND_NS;
}

/* ---- Saving ------------------------------------------------------------------ */

/* Reads a name; false when there is none. */
static bool ask_name(struct keyboard *keyboard, char name[RR_LINE_SIZE])
{
	size_t length = 0;
	int key;

	name[0] = '\0';
	for (;;) {
		say(keyboard, "save as: %.150s", name);
		key = next_key(keyboard);
		if (key == '\n' || key == '\r')
			return length > 0;
		if (key == RR_KEY_NONE || key == RR_KEY_ESCAPE)
			return false;
		if ((key == RR_KEY_DELETE || key == '\b') && length > 0)
			name[--length] = '\0';
		else if (key >= 32 && key != RR_KEY_DELETE && length < 150) {
			name[length++] = (char)key;
			name[length] = '\0';
		}
	}
}

static void save(struct keyboard *keyboard)
{
	struct rr_error error = { 0 };
	char name[RR_LINE_SIZE];

	if (keyboard->guided->recorder.race->n_steps == 0)
		say(keyboard, "nothing has happened yet");
	else if (!ask_name(keyboard, name))
		say(keyboard, "not saved");
	else if (rr_guided_save(keyboard->guided, name, &error))
		say(keyboard, "saved: redrace play %.150s", name);
	else
		say(keyboard, "not saved: %.150s", error.text);
}

/* ---- Keys -------------------------------------------------------------------- */

/* Keys by which nothing happens to clients and servers. True: it was one. */
static bool take_command(struct keyboard *keyboard, int key)
{
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
	} else {
		return false;
	}
	return true;
}

static bool take_fault(struct keyboard *keyboard, int key, struct rr_decision *decision)
{
	const int client = ask_client(keyboard, key == 'x' ? "crash" : "lose a reply");

	decision->transition = (struct rr_transition){ .kind = key == 'x' ? RR_DO_CRASH :
									    RR_DO_LOSE,
						       .who = (uint8_t)client };
	return client >= 0;
}

/* Keys by which something happens. True: `decision` is what. */
static bool take_decision(struct keyboard *keyboard, int key, struct rr_decision *decision)
{
	const size_t n = keyboard->view->n_clients;
	const int client = tolower(key) - 'a';
	const struct rr_thread_view *thread;

	*decision = (struct rr_decision){ .ns = 0 };
	if (key == 't' || key == 'T') {
		decision->transition.kind = RR_DO_WAIT;
		decision->ns = wait_ns(keyboard, key == 'T');
		return true;
	}
	if (key == 'x' || key == 'l')
		return take_fault(keyboard, key, decision);
	if (client < 0 || (size_t)client >= n) {
		say(keyboard, "no such key; ? explains them");
		return false;
	}
	thread = find_ready(keyboard, (size_t)client + (isupper(key) ? n : 0));
	if (thread)
		decision->transition = thread->next;
	return thread != NULL;
}

/* Takes keys until something is to happen: true, and what; false when there is
 * another wish than to go on. */
static bool take_keys(struct keyboard *keyboard, struct rr_decision *decision)
{
	while (keyboard->wish == WISH_GO_ON) {
		const int key = next_key(keyboard);

		keyboard->message[0] = '\0';
		keyboard->shows_help = false;
		if (take_command(keyboard, key))
			continue;
		if (!keyboard->view)
			say(keyboard, "no client is left to do that");
		else if (take_decision(keyboard, key, decision))
			return true;
	}
	return false;
}

/* ---- Executions -------------------------------------------------------------- */

/* An rr_decide: what was chosen before, and then a key. */
static struct rr_decision decide(void *context, struct rr_guided *guided,
				 const struct rr_execution_view *view)
{
	struct keyboard *keyboard = context;
	struct rr_decision decision;

	if (keyboard->next < keyboard->n_decisions)
		return keyboard->decisions[keyboard->next++];
	rr_guided_judge(guided);
	keyboard->reached |= rr_goal_is_reached(guided);
	keyboard->view = view;
	if (keyboard->n_decisions == RR_STEPS_MAX || !take_keys(keyboard, &decision))
		return (struct rr_decision){ .stops = true };
	keyboard->decisions[keyboard->n_decisions++] = decision;
	keyboard->next = keyboard->n_decisions;
	return decision;
}

/* One execution, up to a wish; at its end one is waited for. */
static bool go_through(struct keyboard *keyboard, const struct rr_guided_setup *setup,
		       struct rr_cluster *cluster)
{
	struct rr_guided *guided = keyboard->guided;
	struct rr_decision none;

	keyboard->next = 0;
	keyboard->wish = WISH_GO_ON;
	if (!rr_guided_run(guided, setup, cluster, decide, keyboard))
		return false;
	keyboard->reached |= rr_goal_is_reached(guided);
	keyboard->view = NULL;
	take_keys(keyboard, &none);
	return true;
}

/* Once more the last screen's result, where it stays to be read. Before the end
 * a lock that is held would count as one that was left. */
static void sum_up(const struct keyboard *keyboard)
{
	const struct rr_guided *guided = keyboard->guided;
	char verdict[300];

	rr_trace_verdict(&guided->trace, verdict, sizeof(verdict));
	printf("\n%s: %s\n", guided->setup.strategy->name, rr_goal_text(guided->setup.strategy));
	printf("%s, after %zu choice%s", keyboard->reached ? "reached" : "not reached",
	       keyboard->n_decisions, keyboard->n_decisions == 1 ? "" : "s");
	if (guided->has_ended)
		printf("; at the end: %s", verdict);
	putchar('\n');
}

static void play_on(struct keyboard *keyboard, const struct rr_guided_setup *setup,
		    struct rr_cluster *cluster, struct rr_error *error)
{
	bool good;

	do {
		rr_guided_close(keyboard->guided);
		good = go_through(keyboard, setup, cluster);
	} while (good && keyboard->wish == WISH_AGAIN);
	rr_terminal_close(&keyboard->terminal);
	if (cluster->session->signals.interrupted)
		rr_error_set(error, RR_ERROR_INTERRUPTED, "%s", "");
	else if (!good)
		*error = keyboard->guided->error;
	else
		sum_up(keyboard);
	rr_guided_close(keyboard->guided);
}

bool rr_interactive_run(const struct rr_guided_setup *setup, struct rr_cluster *cluster,
			struct rr_error *error)
{
	struct keyboard *keyboard = calloc(1, sizeof(*keyboard));

	if (keyboard)
		keyboard->guided = calloc(1, sizeof(*keyboard->guided));
	if (!keyboard || !keyboard->guided)
		rr_error_no_memory(error);
	else if (!rr_terminal_open(&keyboard->terminal, &cluster->session->signals))
		rr_error_set(error, RR_ERROR_USAGE, "--interactive needs a terminal");
	else
		play_on(keyboard, setup, cluster, error);
	if (keyboard)
		free(keyboard->guided);
	free(keyboard);
	return !error->kind;
}
