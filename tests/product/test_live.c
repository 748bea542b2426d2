/* SPDX-License-Identifier: MIT */
/* Live paths of programs of their own: mutexes, transitions that cannot be, commands
 * that wait. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "scheduled.h"

TestSuite(live, .timeout = 600);

enum { COMMANDS = 4, TEXT_SIZE = 64 };
#define SECOND_NS INT64_C(1000000000)

static struct scheduled it;

/* ---- Mutexes and sleeps ------------------------------------------------------ */

struct locker {
	struct rdl_link *link;
	struct rdl_mutex *mutex;
};

static void *make_locker(void *context, struct rr_client_run *run, int client,
			 struct rdl_link **links, struct rdl_mutex *mutex)
{
	struct locker *made = malloc(sizeof(*made));

	(void)context;
	(void)run;
	(void)client;
	*made = (struct locker){ links[0], mutex };
	return made;
}

/* Waits for itself. */
static void lock_twice(void *client)
{
	const struct locker *self = client;

	rdl_mutex_lock(self->link, self->mutex);
	rdl_mutex_lock(self->link, self->mutex);
	rdl_mutex_unlock(self->link, self->mutex);
	rdl_mutex_unlock(self->link, self->mutex);
}

static void lock_once(void *client)
{
	const struct locker *self = client;

	rdl_mutex_lock(self->link, self->mutex);
	rdl_mutex_unlock(self->link, self->mutex);
}

static void sleep_thrice(void *client)
{
	const struct locker *self = client;

	for (int i = 0; i < 3; i++)
		rdl_sleep_ns(self->link, 1000);
}

static void open_lockers(void (*run)(void *client))
{
	scheduled_open_program(
		&it, 2, &(struct rr_program){ .make = make_locker, .run = run, .free = free });
}

Test(live, deadlock_is_seen_with_who_waits_for_whom)
{
	const struct rr_live_view *view;

	open_lockers(lock_twice);
	scheduled_run(&it, scheduled_serial, NULL);
	view = scheduled_view(&it);
	cr_assert_eq(view->n_alive, 2);
	cr_assert_eq(view->n_ready, 0);
	cr_assert_eq(view->next_ns, RR_NEVER);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(view->threads[i].state, RR_THREAD_BLOCKED);
		cr_assert_eq(view->threads[i].stop.kind, RR_STOP_LOCK);
		cr_assert_eq(view->threads[i].holder, 0);
		cr_assert_eq(view->threads[i].ready_ns, RR_NEVER);
	}
	scheduled_close(&it);
}

Test(live, mutex_is_free_again)
{
	size_t last = 1;

	open_lockers(lock_once);
	scheduled_run(&it, scheduled_in_turn, &last);
	cr_assert_eq(scheduled_view(&it)->n_alive, 0);
	cr_assert_eq(scheduled_line(&it, "A locks"), 0);
	cr_assert_eq(scheduled_line(&it, "A unlocks"), 1);
	cr_assert_eq(scheduled_line(&it, "B locks"), 2);
	scheduled_close(&it);
}

Test(live, time_stands_still_but_for_waiting)
{
	open_lockers(sleep_thrice);
	scheduled_run(&it, scheduled_serial, NULL);
	cr_assert_eq(scheduled_view(&it)->now_ns, 3000);
	cr_assert_eq(scheduled_view(&it)->n_alive, 0);
	scheduled_close(&it);
}

static enum rr_did do_it(enum rr_transition_kind kind, int who, int lane, int64_t ns)
{
	return rr_live_do(it.live,
			  (struct rr_transition){ (uint8_t)kind, (uint8_t)who, (uint8_t)lane }, ns);
}

Test(live, transitions_that_cannot_be_are_refused)
{
	open_lockers(sleep_thrice);
	scheduled_run(&it, scheduled_serial, NULL);
	scheduled_begin(&it);
	cr_assert_eq(do_it(RR_DO_GO, 0, 0, 0), RR_DID_REFUSE, "it sleeps");
	cr_assert_eq(do_it(RR_DO_GO, 0, 3, 0), RR_DID_REFUSE, "no thread");
	cr_assert_eq(do_it(RR_DO_GO, 5, 0, 0), RR_DID_REFUSE, "no client");
	cr_assert_eq(do_it(RR_DO_EXECUTE, 0, 0, 0), RR_DID_REFUSE);
	cr_assert_eq(do_it(RR_DO_LOSE, 0, 0, 0), RR_DID_REFUSE);
	cr_assert_eq(do_it(RR_DO_WAIT, 0, 0, 0), RR_DID_REFUSE, "no time");
	cr_assert_eq(do_it(RR_DO_RESTART, 7, 0, 0), RR_DID_REFUSE);
	cr_assert_eq(do_it(RR_DO_CRASH, 2, 0, 0), RR_DID_REFUSE);
	cr_assert_eq(do_it(RR_DO_CRASH, 0, 0, 0), RR_DID_IT);
	cr_assert_eq(do_it(RR_DO_CRASH, 0, 0, 0), RR_DID_REFUSE, "it is dead");
	scheduled_close(&it);
}

/* ---- Commands that wait ------------------------------------------------------ */

/* What a client sends, and what it was answered. */
struct script {
	const char *commands[COMMANDS];
	char replies[COMMANDS][TEXT_SIZE];
	int n_answered;
	struct rdl_link *link;
};

static struct script scripts[2];

static void *make_script(void *context, struct rr_client_run *run, int client,
			 struct rdl_link **links, struct rdl_mutex *mutex)
{
	(void)context;
	(void)run;
	(void)mutex;
	scripts[client].link = links[0];
	scripts[client].n_answered = 0;
	return &scripts[client];
}

static void keep_script(void *client)
{
	(void)client;
}

/* The last text in it, however deep. */
static void describe(char *text, const struct rdl_reply *reply)
{
	if (reply->type == RDL_REPLY_ARRAY && reply->length > 0)
		describe(text, &reply->elements[reply->length - 1]);
	else if (reply->type == RDL_REPLY_NIL)
		strcpy(text, "(nil)");
	else
		snprintf(text, TEXT_SIZE, "%s", reply->text ? reply->text : "");
}

/* A command of words divided by blanks. */
static enum rdl_outcome run_line(struct rdl_link *link, struct rdl_reply *reply, const char *line)
{
	struct rdl_command command = { .n_words = 0 };

	for (; *line; line += strspn(line, " ")) {
		const size_t length = strcspn(line, " ");

		command.words[command.n_words++] = (struct rdl_word){ line, length };
		line += length;
	}
	return rdl_run_command(link, reply, &command);
}

static void say(void *client)
{
	struct script *script = client;

	for (int i = 0; i < COMMANDS && script->commands[i]; i++) {
		struct rdl_reply reply = { .type = RDL_REPLY_NIL };

		if (run_line(script->link, &reply, script->commands[i]) != RDL_OK &&
		    reply.type != RDL_REPLY_FAILED)
			return;
		describe(script->replies[i], &reply);
		script->n_answered++;
	}
}

static void open_scripts(void)
{
	scheduled_open_program(
		&it, 2,
		&(struct rr_program){ .make = make_script, .run = say, .free = keep_script });
}

/* From an empty server, the clients in order as long as they can go on. How many
 * are left then. */
static size_t play(const char *const *a, const char *const *b)
{
	memcpy(scripts[0].commands, a, sizeof(scripts[0].commands));
	memcpy(scripts[1].commands, b, sizeof(scripts[1].commands));
	scheduled_run(&it, scheduled_serial, NULL);
	return scheduled_view(&it)->n_alive;
}

static void assert_told(int client, int command, const char *text)
{
	const struct script *script = &scripts[client];

	cr_assert_lt(command, script->n_answered, "%s was not answered", script->commands[command]);
	cr_assert_str_eq(script->replies[command], text, "%s", script->commands[command]);
}

/* Each with a time-out of 9 s, and what fills its second key, or its only one. */
static const struct {
	const char *pop, *push;
} pops[] = {
	{ "BLPOP p q 9", "RPUSH q x" },
	{ "BRPOP p q 9", "RPUSH q x" },
	{ "BLMOVE q p LEFT RIGHT 9", "RPUSH q x" },
	{ "BRPOPLPUSH q p 9", "RPUSH q x" },
	{ "BLMPOP 9 2 p q LEFT", "RPUSH q x" },
	{ "BZPOPMIN p q 9", "ZADD q 1 x" },
	{ "BZPOPMAX p q 9", "ZADD q 1 x" },
	{ "BZMPOP 9 2 p q MIN", "ZADD q 1 x" },
	{ "XREAD BLOCK 9000 STREAMS q $", "XADD q 1-1 a x" },
};

enum { N_POPS = sizeof(pops) / sizeof(pops[0]) };

#define LINE(...) ((const char *const[COMMANDS]){ __VA_ARGS__ })

/* No time passes. */
Test(live, pop_is_served_by_the_push_that_comes)
{
	open_scripts();
	for (int i = 0; i < N_POPS; i++) {
		cr_assert_eq(play(LINE(pops[i].pop), LINE("PING", pops[i].push, "EXISTS p q")), 0,
			     "%s", pops[i].pop);
		cr_assert_neq(strcmp(scripts[0].replies[0], "(nil)"), 0, "%s", pops[i].pop);
		cr_assert_eq(scheduled_view(&it)->now_ns, 0, "%s", pops[i].pop);
	}
	scheduled_close(&it);
}

/* By the path's clock. */
Test(live, pop_ends_in_vain_after_its_time_out)
{
	open_scripts();
	for (int i = 0; i < N_POPS; i++) {
		cr_assert_eq(play(LINE(pops[i].pop), LINE("PING")), 0, "%s", pops[i].pop);
		assert_told(0, 0, "(nil)");
		cr_assert_eq(scheduled_view(&it)->now_ns, 9 * SECOND_NS, "%s", pops[i].pop);
	}
	scheduled_close(&it);
}

Test(live, pop_waits_for_ever_without_a_time_out)
{
	const struct rr_live_view *view;

	open_scripts();
	cr_assert_eq(play(LINE("BLPOP q 0"), LINE("BLPOP q 0.0")), 2);
	view = scheduled_view(&it);
	cr_assert_eq(view->n_ready, 0);
	cr_assert_eq(view->next_ns, RR_NEVER);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(view->threads[i].state, RR_THREAD_BLOCKED);
	cr_assert_eq(play(LINE("BLPOP q 0"), LINE("RPUSH q x", "BLPOP q 0")), 1,
		     "one element is for one of them");
	cr_assert_eq(scripts[0].n_answered, 1);
	cr_assert_eq(scripts[1].n_answered, 1);
	scheduled_close(&it);
}

Test(live, pop_does_not_wait_in_a_transaction)
{
	open_scripts();
	cr_assert_eq(play(LINE("MULTI", "BLPOP q 0", "EXEC"), LINE("PING")), 0);
	assert_told(0, 1, "QUEUED");
	assert_told(0, 2, "(nil)");
	cr_assert_eq(play(LINE("MULTI", "DISCARD", "BLPOP q 0"), LINE("PING")), 1,
		     "DISCARD ends it");
	scheduled_close(&it);
}

/* What the server answers at once, whatever is stored. */
Test(live, refused_pops_do_not_wait)
{
	static const char *const refused[] = { "BLPOP q -1", "BLPOP q often", "BLPOP q",
					       "BLMPOP 0 0 q LEFT" };

	open_scripts();
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		cr_assert_eq(play(LINE(refused[i]), LINE("PING")), 0, "%s", refused[i]);
	cr_assert_eq(play(LINE("SET q x", "BLPOP q 0"), LINE("PING")), 0, "a key of another type");
	scheduled_close(&it);
}
