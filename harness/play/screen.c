/* SPDX-License-Identifier: MIT */
/* The screen of an interactive rehearsal. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "director.h"
#include "transcript.h"
#include "wording_ops.h"

enum { STEPS_SHOWN = 10, TEXT_SIZE = 1024 };

static const char help[] =
	"Each client runs the strategy's own C code and stops before every command.\n"
	"  a, b, ...   this client does its next step; A, B, ...: its renewer does\n"
	"  t           time passes, until somebody wakes up or a lease ends, or 1 s\n"
	"  T           time passes until the lock's lease has ended, or 1 s\n"
	"  x a         client A crashes           l a   the next reply to A is lost\n"
	"  u           take the last choice back  r     begin again\n"
	"  s           save as a .race file       q     quit\n";

/* ---- The goal -------------------------------------------------------------------- */

const char *rr_goal_text(const struct rr_strategy *strategy)
{
	if (rr_survives_faults(strategy))
		return "try to make it lose an update: nobody has yet";
	if (strategy->acquire)
		return "get two clients inside, or make it lose an update";
	return "make it lose an update";
}

bool rr_goal_is_reached(const struct rr_rehearsal *rehearsal)
{
	const struct rr_strategy *strategy = rehearsal->setup.strategy;
	rr_findings goal = 1U << RR_UPDATE_LOST;

	if (strategy->acquire && !rr_survives_faults(strategy))
		goal |= 1U << RR_EXCLUSION_BROKEN;
	return (rehearsal->trace.findings & goal) != 0;
}

/* ---- Lines ---------------------------------------------------------------------------- */

/* One line, without control characters, cut where the terminal ends. */
static void put_line(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void put_line(const char *format, ...)
{
	const size_t columns = (size_t)rr_terminal_columns() - 1;
	char text[TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *c = text; *c; c++) {
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	}
	if (columns < sizeof(text))
		text[columns] = '\0';
	printf("%s\n", text);
}

static void put_keys(struct rr_rehearsal *rehearsal)
{
	const struct rr_race *race = rehearsal->race;
	const int64_t lease_ns = rr_rehearsal_lease_ns(rehearsal);
	char duration[RR_DURATION_SIZE] = "";

	if (lease_ns)
		rr_race_duration(duration, lease_ns - RR_CLUSTER_LAPSE_NS);
	for (size_t i = 0; i < race->n_keys; i++) {
		const bool leased = race->keys[i] == race->lock && lease_ns;

		put_line("  %-12s %s%s%s", race->keys[i],
			 rehearsal->scenery.keys[i], leased ? "  for " : "",
			 leased ? duration : "");
	}
}

static void put_actor(const struct rr_rehearsal *rehearsal,
		      const struct rr_view *view, size_t i)
{
	const struct rr_actor_view *actor = &view->actors[i];
	const bool client = i < rehearsal->setup.n_clients;
	const char key = (char)((client ? 'a' : 'A') + actor->client);
	const char *inside =
		client && rehearsal->observer.inside[i] ? "  [inside]" : "";
	char text[RR_OP_TEXT_SIZE];

	if (!actor->op) {
		put_line("  %c  %-3s %s", ' ', actor->name,
			 actor->state == RR_CRASHED ? "has crashed" :
						      "has ended");
		return;
	}
	rr_op_text(actor->op, view->now_ns, text);
	put_line("  %c  %-3s %s%s%s%s", key, actor->name,
		 actor->state == RR_READY ? "" : "waits, ", text, inside,
		 rehearsal->losing[actor->client] ? "  [its next reply is lost]" :
						    "");
}

static void put_actors(const struct rr_rehearsal *rehearsal,
		       const struct rr_view *view)
{
	for (size_t i = 0; view && i < view->n_actors; i++) {
		if (i < rehearsal->setup.n_clients || view->actors[i].op)
			put_actor(rehearsal, view, i);
	}
	if (!view)
		put_line("  all have come to their ends: u takes the last choice back, r begins again");
}

static void put_event(const struct rr_rehearsal *rehearsal, size_t i)
{
	const struct rr_event *event = &rehearsal->trace.events[i];
	const char *remark = event->remark ? event->remark : "";
	char *line = NULL;
	size_t size;
	FILE *file = open_memstream(&line, &size);

	if (!file)
		return;
	if (event->step->kind == RR_STEP_RUN)
		fprintf(file, "%s> %.50s%s => %s",
			rehearsal->race->actors[event->step->actor].name,
			event->command, strlen(event->command) > 50 ? "..." : "",
			event->reply);
	else
		rr_transcript_step(file, rehearsal->race, event->step);
	fclose(file);
	put_line("%4zu  %s%s%s", i + 1, line, remark[0] ? "   ! " : "", remark);
	free(line);
}

void rr_screen_draw(const struct rr_director *director,
		    struct rr_rehearsal *rehearsal, const struct rr_view *view)
{
	const struct rr_strategy *strategy = rehearsal->setup.strategy;
	const size_t n = rehearsal->trace.n_events;

	printf("\033[H\033[2J");
	put_line("%s: %s", strategy->name, strategy->summary);
	put_line("goal: %s%s", rr_goal_text(strategy),
		 rr_goal_is_reached(rehearsal) ? "   REACHED" : "");
	put_line(" ");
	put_keys(rehearsal);
	put_line(" ");
	put_actors(rehearsal, view);
	put_line(" ");
	if (director->shows_help)
		fputs(help, stdout);
	else
		for (size_t i = n > STEPS_SHOWN ? n - STEPS_SHOWN : 0; i < n;
		     i++)
			put_event(rehearsal, i);
	put_line(" ");
	put_line("a b ... next step  t time  x crash  l lose  u undo  r reset  s save  q quit  ? help");
	put_line("%s", director->message);
	fflush(stdout);
}
