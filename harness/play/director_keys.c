/* SPDX-License-Identifier: MIT */
/* What the keys of an interactive rehearsal do. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "director.h"
#include "transcript.h"

#define SECOND_NS INT64_C(1000000000)

static void say(struct rr_director *director, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct rr_director *director, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(director->message, sizeof(director->message), format,
		  arguments);
	va_end(arguments);
}

/* ---- Clients ------------------------------------------------------------------------- */

/* The actor that can be told to go on; -1 and a message when it cannot. */
static int find_ready(struct rr_director *director, const struct rr_view *view,
		      size_t actor)
{
	const struct rr_actor_view *it = &view->actors[actor];

	if (actor >= view->n_actors || it->state == RR_ABSENT)
		say(director, "it has no renewer now");
	else if (!it->op)
		say(director, "%s %s", it->name,
		    it->state == RR_CRASHED ? "has crashed" : "has ended");
	else if (it->state == RR_READY)
		return (int)actor;
	else if (it->ready_ns == RR_NEVER)
		say(director, "%s waits for what only another can do",
		    it->name);
	else
		say(director, "%s waits: t lets time pass", it->name);
	return -1;
}

/* Asks for a client; -1 and a message when it is none that is alive. */
static int ask_client(struct rr_director *director,
		      struct rr_rehearsal *rehearsal,
		      const struct rr_view *view, const char *what)
{
	int key, client;

	say(director, "%s: which client?", what);
	rr_screen_draw(director, rehearsal, view);
	key = rr_terminal_key(&director->terminal);
	client = key > 0 ? tolower(key) - 'a' : -1;
	say(director, "%s", "");
	if (client < 0 || (size_t)client >= rehearsal->setup.n_clients) {
		say(director, "there is no such client");
		return -1;
	}
	if (view->actors[client].op)
		return client;
	say(director, "%s is not there any more", view->actors[client].name);
	return -1;
}

/* ---- Time -------------------------------------------------------------------------------- */

static int64_t wait_ns(const struct rr_rehearsal *rehearsal,
		       const struct rr_view *view, bool for_lease)
{
	const int64_t lease_ns = rr_rehearsal_lease_ns(rehearsal);
	const int64_t next_ns = view->next_ns - view->now_ns;
	const bool wakes = view->next_ns != RR_NEVER && next_ns > 0;

	if (!for_lease && wakes && (!lease_ns || next_ns < lease_ns))
		return next_ns;
	return lease_ns ? lease_ns : SECOND_NS;
}

/* ---- Saving ------------------------------------------------------------------------------- */

/* Reads a name; false when there is none. */
static bool ask_name(struct rr_director *director,
		     struct rr_rehearsal *rehearsal, const struct rr_view *view,
		     char name[RR_LINE_SIZE])
{
	size_t length = 0;
	int key;

	name[0] = '\0';
	for (;;) {
		say(director, "save as: %.150s", name);
		rr_screen_draw(director, rehearsal, view);
		key = rr_terminal_key(&director->terminal);
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

static void save(struct rr_director *director, struct rr_rehearsal *rehearsal,
		 const struct rr_view *view)
{
	char name[RR_LINE_SIZE];

	if (rehearsal->setup.strategy->lock.kind == RR_LOCK_QUEUE) {
		say(director,
		    "its clients are woken by messages, which a transcript does not show");
		return;
	}
	if (rehearsal->race->n_steps == 0) {
		say(director, "nothing has happened yet");
		return;
	}
	if (!ask_name(director, rehearsal, view, name)) {
		say(director, "not saved");
		return;
	}
	if (rr_transcript_save(rehearsal->race, name) == RR_EXIT_OK)
		say(director, "saved: redrace play %.150s", name);
	else
		say(director, "could not be saved as %.150s", name);
}

/* ---- Keys ---------------------------------------------------------------------------------- */

/* Keys that nothing happens by under the gate. True: it was one. */
static bool take_command(struct rr_director *director,
			 struct rr_rehearsal *rehearsal,
			 const struct rr_view *view, int key)
{
	if (key == 'q' || key == RR_KEY_NONE) {
		director->wish = RR_WISH_QUIT;
	} else if (key == 'r') {
		director->n_moves = 0;
		director->wish = RR_WISH_AGAIN;
	} else if (key == 'u' && director->n_moves == 0) {
		say(director, "nothing to take back");
	} else if (key == 'u') {
		director->n_moves--;
		director->wish = RR_WISH_AGAIN;
	} else if (key == 's') {
		save(director, rehearsal, view);
	} else if (key == '?') {
		director->shows_help = true;
	} else {
		return false;
	}
	return true;
}

/* Keys that something happens by. True: `move` is what. */
static bool take_move(struct rr_director *director,
		      struct rr_rehearsal *rehearsal,
		      const struct rr_view *view, int key, struct rr_move *move)
{
	const size_t n = rehearsal->setup.n_clients;
	const int client = tolower(key) - 'a';

	*move = (struct rr_move){ .kind = RR_MOVE_STEP };
	if (key == 't' || key == 'T') {
		move->kind = RR_MOVE_PASS;
		move->ns = wait_ns(rehearsal, view, key == 'T');
		return true;
	}
	if (key == 'x' || key == 'l') {
		move->kind = key == 'x' ? RR_MOVE_CRASH : RR_MOVE_LOSE;
		move->actor = ask_client(director, rehearsal, view,
					 key == 'x' ? "crash" : "lose a reply");
		return move->actor >= 0;
	}
	if (client < 0 || (size_t)client >= n) {
		say(director, "no such key; ? explains them");
		return false;
	}
	move->actor = find_ready(director, view,
				 (size_t)client + (isupper(key) ? n : 0));
	return move->actor >= 0;
}

bool rr_director_key(struct rr_director *director,
		     struct rr_rehearsal *rehearsal, const struct rr_view *view,
		     struct rr_move *move)
{
	while (director->wish == RR_WISH_ON) {
		int key;

		rr_screen_draw(director, rehearsal, view);
		key = rr_terminal_key(&director->terminal);
		director->message[0] = '\0';
		director->shows_help = false;
		if (take_command(director, rehearsal, view, key))
			continue;
		if (!view)
			say(director, "nobody is left to do that");
		else if (take_move(director, rehearsal, view, key, move))
			return true;
	}
	return false;
}
