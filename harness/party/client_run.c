/* SPDX-License-Identifier: MIT */
/*
 * A run of a client from within: threads that stop and go on, each with a driver that
 * stands for all that it waits for, and lanes with the commands that are on their way.
 */
#include "client_run.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"
#include "base/resp.h"
#include "base/wire.h"
#include "fiber.h"
#include "link.h"

/* Clocks do not begin at 0, which would be a special value somewhere. */
#define MONOTONIC_START_NS INT64_C(3600000000000)

/* So late that whatever a client that is unwound waits for is over. */
#define AFTER_ALL_NS (INT64_MAX / 4)

enum { SHOWN = 150 }; /* of what a client does, in a message */

struct rr_stack {
	struct rr_fiber fiber;
	struct rr_stack *next;
	struct run_thread *thread; /* that runs on it */
};

struct run_thread {
	struct rr_client_run *run;
	uint8_t number;
	struct rr_stack *stack;
	struct rdl_task *task;     /* a child's, until it is joined */
	struct run_thread *opener; /* goes on when this one stops at first */
	struct rdl_driver driver;
	struct rr_input input;
	int fd;          /* that it waits for, see RR_STOP_WAIT */
	bool is_refused; /* it was told so, and its connection is closed for that */
};

/* A command whose reply was not taken yet. */
struct run_pending {
	uint32_t command;
	uint32_t answer; /* at once; RR_NO_ID = when it is fed */
	uint8_t thread;
	bool is_inside;
};

struct run_lane {
	struct rdl_link *link;
	struct rr_wire wire; /* program->on_sockets: the other end of its connection */
	uint32_t n_opened;   /* connections that there have been */
	size_t n_queued;     /* commands that were there to be sent when a mark was passed */
	bool queued_inside[RR_RUN_SENT];
	size_t first, n;
	struct run_pending pending[RR_RUN_SENT];
};

struct rr_client_run {
	const struct rr_program *program;
	void *other; /* with program->run_ops: theirs, and no more than that */
	int client;
	void *made;
	struct rdl_link *links[RR_CLUSTER_SERVERS];
	struct rdl_mutex mutex, *mutexes[RR_RUN_MUTEXES]; /* of its own, by their numbers */
	struct rr_fiber caller;
	struct run_thread threads[RR_RUN_THREADS];
	struct run_lane *lanes[RR_RUN_LANES];
	struct rr_run_view view;
	bool is_dead;
	int generation;
	unsigned n_random;
	int64_t clock_ns, unread_ns; /* and what has passed since its reading */
	struct rr_error problem;     /* it did not do what it is known to do */
};

/* ---- Commands that it has sent: its links lead nowhere --------------------------- */

/* A link's lane and its number, by its server and how many were there before it; NULL = there is
 * no room, or it leads elsewhere. */
static struct run_lane *lane_of(struct rr_client_run *run, struct rdl_link *link, uint8_t *number)
{
	const struct rr_program *program = run->program;
	const struct rdl_address *address = rdl_link_address(link);
	size_t server = 0;

	while (server < program->n_servers &&
	       (program->addresses[server].port != address->port ||
		strcmp(program->addresses[server].host, address->host) != 0))
		server++;
	for (size_t i = 0; server < program->n_servers && i < RR_RUN_OWN_ORDINALS; i++) {
		const size_t at = i * program->n_servers + server;
		struct run_lane **lane = &run->lanes[at];

		if (!*lane) {
			*lane = rr_calloc(1, sizeof(**lane));
			(*lane)->link = link;
		}
		*number = (uint8_t)at;
		if ((*lane)->link == link)
			return *lane;
	}
	run->view.is_too_much = true;
	return NULL;
}

static uint32_t answer_at_once(const struct rr_client_run *run, int server,
			       struct rdl_command *command)
{
	const struct rr_program *program = run->program;
	const struct rdl_command load = {
		.n_words = 3,
		.words = { { "SCRIPT", 6 }, { "LOAD", 4 }, command->words[1] },
	};
	const struct rdl_reply *reply;
	uint32_t answer;

	/* Nobody else could notice it, and whether it is sent depends on what the link has been
	 * used for before. */
	if (rr_word_is(&command->words[0], "COMMAND") ||
	    (command->n_words > 1 && rr_word_is(&command->words[0], "SCRIPT") &&
	     rr_word_is(&command->words[1], "LOAD")))
		return program->ask(program->ask_context, server, command);
	if (!program->knows_scripts || command->n_words < 3 ||
	    !rr_word_is(&command->words[0], "EVAL"))
		return RR_NO_ID;
	/* A script that is sent whole is known by its hash as well: whether the client knew that is
	 * no difference. */
	answer = program->ask(program->ask_context, server, &load);
	reply = answer == RR_NO_ID ? NULL : &program->terms->reply[answer].reply;
	if (reply && reply->type == RDL_REPLY_STRING) {
		command->words[0] = (struct rdl_word){ "EVALSHA", 7 };
		command->words[1] = (struct rdl_word){ reply->text, reply->length };
	}
	return RR_NO_ID;
}

/* A command is on its way from now on. False: there are too many. */
static bool add_pending(struct run_thread *thread, struct run_lane *lane, uint8_t number,
			const struct rdl_command *command, bool is_inside)
{
	struct rr_client_run *run = thread->run;
	struct rdl_command changed = *command;
	struct run_pending *pending = &lane->pending[(lane->first + lane->n) % RR_RUN_SENT];

	if (lane->n == RR_RUN_SENT) {
		run->view.is_too_much = true;
		return false;
	}
	lane->n++;
	pending->answer = answer_at_once(run, rr_lane_server(run->program, number), &changed);
	pending->command = rr_terms_command(run->program->terms, &changed);
	pending->thread = thread->number;
	pending->is_inside = is_inside;
	return true;
}

/* Over sockets (program->on_sockets) the links are connected, with us at the other end. */

static bool is_readable(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, 0) > 0;
}

/* The commands that have come over the connections meanwhile. */
static void take_sent(struct run_thread *thread)
{
	struct rr_client_run *run = thread->run;
	struct rdl_command command;

	for (uint8_t i = 0; run->program->on_sockets && i < RR_RUN_LANES; i++) {
		struct run_lane *lane = run->lanes[i];

		while (lane && lane->wire.is_open &&
		       rr_wire_take(&lane->wire, &command) == RR_RESP_COMPLETE) {
			/* Was it queued in the critical section? */
			const bool is_inside = lane->n_queued ? lane->queued_inside[0] :
								run->view.is_inside;

			if (lane->n_queued)
				memmove(lane->queued_inside, lane->queued_inside + 1,
					--lane->n_queued * sizeof(lane->queued_inside[0]));
			add_pending(thread, lane, i, &command, is_inside);
		}
	}
}

/* ---- Its threads: fibers on stacks that are used again ----------------------------- */

void rr_stacks_release(struct rr_stacks *stacks)
{
	while (stacks->free) {
		struct rr_stack *stack = stacks->free;

		stacks->free = stack->next;
		rr_fiber_release(&stack->fiber);
		free(stack);
	}
}

static struct rr_stop *stop_of(const struct run_thread *thread)
{
	return &thread->run->view.stops[thread->number];
}

/* Who goes on when a thread has stopped. */
static struct rr_fiber *next_after(struct run_thread *thread)
{
	struct run_thread *opener = thread->opener;

	thread->opener = NULL;
	return opener ? &opener->stack->fiber : &thread->run->caller;
}

/* Stops there until it is fed. NULL: it is being unwound. */
static const struct rr_input *stop_at(struct run_thread *thread, struct rr_stop where)
{
	if (thread->run->is_dead)
		return NULL;
	take_sent(thread);
	*stop_of(thread) = where;
	rr_fiber_pass(&thread->stack->fiber, next_after(thread));
	return thread->run->is_dead ? NULL : &thread->input;
}

/* One routine after another, on the same stack. */
static void live(void *argument)
{
	struct rr_stack *stack = argument;

	for (;;) {
		struct run_thread *thread = stack->thread;

		if (thread->task)
			thread->task->body(thread->task->argument);
		else
			thread->run->program->run(thread->run->made);
		take_sent(thread);
		*stop_of(thread) = (struct rr_stop){ .kind = RR_STOP_ENDED };
		if (thread->number == 0)
			thread->run->view.is_holding = false;
		rr_fiber_pass(&stack->fiber, next_after(thread));
	}
}

/* False: there is no stack for it. */
static bool begin_thread(struct run_thread *thread)
{
	struct rr_stacks *stacks = thread->run->program->stacks;
	struct rr_stack *stack = stacks->free;

	if (stack) {
		stacks->free = stack->next;
	} else {
		stack = rr_calloc(1, sizeof(*stack));
		if (!rr_fiber_make(&stack->fiber, live, stack)) {
			free(stack);
			return false;
		}
	}
	stack->thread = thread;
	thread->stack = stack;
	return true;
}

/* Until it stops again. */
static void go_on(struct run_thread *thread)
{
	rr_fiber_pass(&thread->run->caller, &thread->stack->fiber);
}

static void give_stack_back(struct run_thread *thread)
{
	struct rr_stacks *stacks = thread->run->program->stacks;

	if (!thread->stack)
		return;
	thread->stack->next = stacks->free;
	stacks->free = thread->stack;
	thread->stack = NULL;
}

static bool on_spawn(void *context, struct rdl_task *task)
{
	struct run_thread *parent = context, *child = NULL;
	struct rr_client_run *run = parent->run;

	if (run->is_dead)
		return false;
	for (uint8_t i = 1; i < RR_RUN_THREADS && !child; i++) {
		const uint8_t kind = run->view.stops[i].kind;

		if ((kind == RR_STOP_ABSENT || kind == RR_STOP_ENDED) && !run->threads[i].task)
			child = &run->threads[i];
	}
	if (!child) {
		run->view.is_too_much = true;
		return false;
	}
	give_stack_back(child);
	if (!begin_thread(child))
		return false;
	child->task = task;
	child->opener = parent;
	if (run->view.n_threads <= child->number)
		run->view.n_threads = child->number + 1;
	rdl_link_set_driver(task->link, &child->driver);
	rr_fiber_pass(&parent->stack->fiber, &child->stack->fiber);
	return true;
}

/* A child that is unwound has ended before: see rr_client_run_free(). */
static void on_join(void *context, struct rdl_task *task)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;

	for (uint8_t i = 1; i < RR_RUN_THREADS; i++) {
		struct run_thread *child = &run->threads[i];

		if (child->task != task)
			continue;
		if (run->view.stops[i].kind != RR_STOP_ENDED)
			stop_at(thread, (struct rr_stop){ .kind = RR_STOP_JOIN, .whom = i });
		child->task = NULL;
		run->view.stops[i] = (struct rr_stop){ .kind = RR_STOP_ABSENT };
		rdl_link_set_driver(task->link, &run->threads[0].driver);
		return;
	}
}

/* ---- Sending and receiving ----------------------------------------------------------- */

static enum rdl_outcome on_submit(void *context, struct rdl_link *link,
				  const struct rdl_command *command)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	struct run_lane *lane;
	uint8_t number;

	if (run->is_dead)
		return RDL_ERROR;
	lane = lane_of(run, link, &number);
	return lane && add_pending(thread, lane, number, command, run->view.is_inside) ? RDL_OK :
											 RDL_ERROR;
}

/* The next reply of the lane; the thread stops if it has to wait. */
static enum rdl_outcome on_deliver(void *context, struct rdl_link *link, struct rdl_reply *reply)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	const struct rr_input *input;
	struct rr_stop where = { .kind = RR_STOP_RECEIVE };
	struct run_lane *lane = run->is_dead ? NULL : lane_of(run, link, &where.lane);
	uint32_t answer;

	if (!lane || lane->n == 0)
		return RDL_UNKNOWN;
	answer = lane->pending[lane->first].answer;
	if (answer == RR_NO_ID) {
		input = stop_at(thread, where);
		if (!input || input->kind != RR_INPUT_REPLY) {
			lane->n = 0;
			run->view.is_unheard |= input && input->kind == RR_INPUT_LOST;
			return input && input->kind == RR_INPUT_REFUSED ? RDL_ERROR : RDL_UNKNOWN;
		}
		answer = (uint32_t)input->value;
	}
	lane->first = (lane->first + 1) % RR_RUN_SENT;
	lane->n--;
	*reply = run->program->terms->reply[answer].reply;
	return RDL_OK;
}

/* Over a socket the message comes as a reply that the link then owes. */
static enum rdl_outcome on_listen(void *context, struct rdl_link *link, struct rdl_reply *message,
				  int64_t timeout_ns)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	struct rr_stop where = { .kind = RR_STOP_LISTEN, .duration_ns = timeout_ns };
	struct run_lane *lane = run->is_dead ? NULL : lane_of(run, link, &where.lane);
	const struct rr_input *input = lane ? stop_at(thread, where) : NULL;
	const bool has_come = input && input->kind == RR_INPUT_MESSAGE;

	if (!input || (input->kind == RR_INPUT_LOST && !run->program->on_sockets))
		return RDL_UNKNOWN;
	if (!has_come && input->kind != RR_INPUT_LOST)
		return RDL_BUSY;
	if (!run->program->on_sockets) {
		*message = run->program->terms->reply[input->value].reply;
		return RDL_OK;
	}
	if (has_come)
		rr_wire_reply(&lane->wire, &run->program->terms->reply[input->value].reply);
	else
		rr_wire_close(&lane->wire);
	link->pending++;
	return rdl_receive(link, message);
}

static int on_open(void *context, struct rdl_link *link)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	struct run_lane *lane;
	uint8_t number;

	if (run->is_dead)
		return -1;
	take_sent(thread);
	lane = lane_of(run, link, &number);
	if (!lane)
		return -1;
	rr_wire_close(&lane->wire);
	lane->n = lane->n_queued = 0;
	lane->n_opened++;
	return rr_wire_open(&lane->wire);
}

static void answer_on_wire(struct rr_client_run *run, struct run_lane *lane, uint32_t reply)
{
	lane->first = (lane->first + 1) % RR_RUN_SENT;
	lane->n--;
	rr_wire_reply(&lane->wire, &run->program->terms->reply[reply].reply);
}

/* Until the thread may have the next reply. */
static void on_await(void *context, struct rdl_link *link, int fd)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	struct rr_stop where = { .kind = RR_STOP_RECEIVE };
	struct run_lane *lane = run->is_dead || is_readable(fd) ? NULL :
								  lane_of(run, link, &where.lane);
	const struct rr_input *input;

	if (!lane)
		return;
	take_sent(thread);
	if (lane->n > 0 && lane->pending[lane->first].answer != RR_NO_ID) {
		answer_on_wire(run, lane, lane->pending[lane->first].answer);
		return;
	}
	input = stop_at(thread, where);
	if (input && input->kind == RR_INPUT_REPLY && lane->n > 0) {
		answer_on_wire(run, lane, (uint32_t)input->value);
		return;
	}
	lane->n = 0;
	rr_wire_close(&lane->wire);
	thread->is_refused = input && input->kind == RR_INPUT_REFUSED;
}

/* Where nobody listens a client is told so when it connects. Here it has connected, to
 * us: that its connection is closed means that it was refused. */
static enum rdl_outcome on_receive(void *context, struct rdl_link *link, struct rdl_reply *reply,
				   enum rdl_outcome outcome)
{
	struct run_thread *thread = context;
	const bool is_refused = thread->is_refused && outcome == RDL_UNKNOWN;

	(void)link;
	(void)reply;
	thread->is_refused = false;
	return is_refused ? RDL_ERROR : outcome;
}

/* ---- Time ----------------------------------------------------------------- */

static int64_t on_now(void *context, enum rdl_clock clock)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	const struct rr_input *input;

	if (run->is_dead)
		return AFTER_ALL_NS;
	if (clock == RDL_CLOCK_MONOTONIC) {
		run->view.has_read = true;
		run->clock_ns += run->unread_ns;
		run->unread_ns = 0;
		return MONOTONIC_START_NS + run->clock_ns;
	}
	input = stop_at(thread, (struct rr_stop){ .kind = RR_STOP_CLOCK });
	return input ? input->value : AFTER_ALL_NS;
}

static void on_sleep(void *context, int64_t duration_ns)
{
	if (duration_ns > 0)
		stop_at(context,
			(struct rr_stop){ .kind = RR_STOP_SLEEP, .duration_ns = duration_ns });
}

/* For one that is unwound it has come, so that no loop waits on. A file that is
 * readable is no stop: whether it is depends on this client's own threads. */
static bool on_wait(void *context, int fd, int64_t timeout_ns)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;

	if (run->is_dead)
		return true;
	if (timeout_ns <= 0)
		return timeout_ns == 0 && is_readable(fd);
	thread->fd = fd;
	stop_at(thread, (struct rr_stop){ .kind = RR_STOP_WAIT, .duration_ns = timeout_ns });
	return run->is_dead || is_readable(fd);
}

/* ---- Marks, mutexes, random values ---------------------------------------- */

static void on_mark(void *context, enum rdl_mark mark)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	struct rr_run_view *view = &run->view;

	if (run->is_dead)
		return;
	take_sent(thread);
	/* What is queued there was so before the mark. */
	for (uint8_t i = 0; run->program->on_sockets && i < RR_RUN_LANES; i++) {
		struct run_lane *lane = run->lanes[i];
		const struct rdl_buffer *out = lane ? &lane->link->out : NULL;
		struct rdl_command command;
		size_t used = 0, n = 0;

		for (size_t at = 0; out && at < out->length && n < RR_RUN_SENT; at += used, n++) {
			if (rr_resp_parse(out->bytes + at, out->length - at, &command, &used) !=
			    RR_RESP_COMPLETE)
				break;
			if (n == lane->n_queued)
				lane->queued_inside[lane->n_queued++] = view->is_inside;
		}
	}
	view->is_inside = mark == RDL_MARK_ENTER;
	view->has_entered = view->has_entered || view->is_inside;
	view->is_holding = view->is_holding || view->is_inside;
}

static void on_mutex(void *context, struct rdl_mutex *mutex, bool take)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;
	const size_t n = sizeof(run->mutexes) / sizeof(run->mutexes[0]);
	struct rr_stop where = { .kind = take ? RR_STOP_LOCK : RR_STOP_UNLOCK };
	size_t i = 0;

	if (run->is_dead || run->program->without_mutex)
		return;
	/* The process's own is known by the number of its first client. */
	if (mutex == &run->mutex) {
		where.mutex = (uint8_t)(run->program->separate ? run->client : 0);
	} else {
		while (i < n - 1 && run->mutexes[i] && run->mutexes[i] != mutex)
			i++;
		if (run->mutexes[i] && run->mutexes[i] != mutex)
			run->view.is_too_much = true;
		run->mutexes[i] = mutex;
		where.mutex = (uint8_t)(RR_RUN_MUTEXES + (size_t)run->client * n + i);
	}
	stop_at(thread, where);
}

static void on_random(void *context, unsigned char *bytes, size_t n)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;

	rr_terms_random(run->program->terms, run->program->draw, run->client, run->generation,
			run->n_random++, bytes, n);
}

static const struct rdl_driver_ops ops = {
	.now = on_now,
	.sleep = on_sleep,
	.mark = on_mark,
	.mutex = on_mutex,
	.wait = on_wait,
	.spawn = on_spawn,
	.join = on_join,
	.random = on_random,
	.submit = on_submit,
	.deliver = on_deliver,
	.listen = on_listen,
};

/* Commands and replies go over sockets; all else is as above. */
static const struct rdl_driver_ops socket_ops = {
	.now = on_now,
	.sleep = on_sleep,
	.mark = on_mark,
	.mutex = on_mutex,
	.wait = on_wait,
	.spawn = on_spawn,
	.join = on_join,
	.random = on_random,
	.open = on_open,
	.await = on_await,
	.receive = on_receive,
	.listen = on_listen,
};

/* ---- Runs ----------------------------------------------------------------- */

static void look_around(struct rr_client_run *run)
{
	struct rr_run_view *view = &run->view;

	for (uint32_t i = 0; i < view->n_threads; i++) {
		struct rr_stop *where = &view->stops[i];

		if (where->kind == RR_STOP_WAIT)
			where->is_ready = is_readable(run->threads[i].fd);
		if (where->kind == RR_STOP_JOIN)
			where->is_ready = view->stops[where->whom].kind == RR_STOP_ENDED;
	}
	while (view->n_threads > 1 && view->stops[view->n_threads - 1].kind == RR_STOP_ABSENT)
		view->n_threads--;
	view->n_sent = 0;
	for (uint8_t i = 0; i < RR_RUN_LANES; i++) {
		const struct run_lane *lane = run->lanes[i];

		for (size_t j = 0; lane && j < lane->n; j++) {
			const struct run_pending *pending =
				&lane->pending[(lane->first + j) % RR_RUN_SENT];

			if (pending->answer != RR_NO_ID)
				continue;
			if (view->n_sent == RR_RUN_SENT)
				view->is_too_much = true;
			else
				view->sent[view->n_sent++] =
					(struct rr_sent){ .lane = i,
							  .thread = pending->thread,
							  .is_inside = pending->is_inside,
							  .command = pending->command };
		}
	}
}

const char *rr_program_client_name(const struct rr_program *program, size_t client)
{
	static const char letters[][2] = { "A", "B", "C", "D", "E", "F", "G", "H",
					   "I", "J", "K", "L", "M", "N", "O", "P" };

	return program->names ? program->names[client] : letters[client];
}

/* Whose app it is that was started again. */
static size_t first_of(const struct rr_program *program, size_t client)
{
	return program->requests.again && program->requests.again[client] ?
		       program->requests.again[client] - 1U :
		       client;
}

size_t rr_program_requests_of(const struct rr_program *program, size_t client)
{
	size_t n = 0;

	client = first_of(program, client);
	for (size_t i = 0; i < program->requests.n; i++)
		n += program->requests.places[i].client == client;
	return n;
}

size_t rr_program_request_at(const struct rr_program *program, size_t client, size_t lane)
{
	size_t i = 0;

	client = first_of(program, client);
	while (i < program->requests.n && (program->requests.places[i].client != client ||
					   program->requests.places[i].lane != lane))
		i++;
	return i;
}

bool rr_program_has_marks(const struct rr_program *program, size_t client, size_t lane)
{
	if (rr_program_request_at(program, client, lane) < program->requests.n)
		return true;
	return program->requests.n > 0 && lane == RR_RUN_ORDINALS - 1;
}

const char *rr_program_connection_name(const struct rr_program *program, size_t client,
				       size_t ordinal, char *name)
{
	const char *of = rr_program_client_name(program, client);

	const size_t n_requests = rr_program_requests_of(program, client);

	if (ordinal < n_requests)
		snprintf(name, RR_CONNECTION_NAME, "request%zu",
			 rr_program_request_at(program, client, ordinal) + 1);
	else if (ordinal == n_requests)
		snprintf(name, RR_CONNECTION_NAME, "%s", of);
	else
		snprintf(name, RR_CONNECTION_NAME, "%s%zu", of, ordinal - n_requests + 1);
	return name;
}

struct rr_client_run *rr_client_run_new(const struct rr_program *program, int client)
{
	struct rr_client_run *run = rr_calloc(1, sizeof(*run));

	run->program = program;
	if (program->run_ops) {
		run->other = program->run_ops->begin(program, client);
		if (!run->other)
			rr_out_of_memory();
		return run;
	}
	run->client = client;
	run->generation = -1;
	rdl_mutex_init(&run->mutex);
	for (uint8_t i = 0; i < RR_RUN_THREADS; i++) {
		run->threads[i].run = run;
		run->threads[i].number = i;
		run->threads[i].driver = (struct rdl_driver){ program->on_sockets ? &socket_ops :
										    &ops,
							      &run->threads[i] };
	}
	for (size_t i = 0; i < program->n_servers; i++) {
		run->links[i] = rdl_link_new(&program->addresses[i], 1000);
		if (!run->links[i])
			rr_out_of_memory();
		rdl_link_set_driver(run->links[i], &run->threads[0].driver);
	}
	run->made = program->make(program->context, run, client, run->links, &run->mutex);
	if (!run->made || !begin_thread(&run->threads[0]))
		rr_out_of_memory();
	run->view.n_threads = 1;
	go_on(&run->threads[0]);
	look_around(run);
	return run;
}

void rr_client_run_free(struct rr_client_run *run)
{
	if (run->other) {
		run->program->run_ops->end(run->other);
		free(run);
		return;
	}
	/* Children first: who joins them finds that they have ended. */
	run->is_dead = true;
	for (int i = 0; i < RR_RUN_LANES; i++) {
		if (run->lanes[i])
			rr_wire_close(&run->lanes[i]->wire);
	}
	for (int i = (int)run->view.n_threads - 1; i >= 0; i--) {
		const uint8_t kind = run->view.stops[i].kind;

		if (kind != RR_STOP_ABSENT && kind != RR_STOP_ENDED)
			go_on(&run->threads[i]);
	}
	if (run->made)
		run->program->free(run->made);
	for (int i = 0; i < RR_RUN_THREADS; i++)
		give_stack_back(&run->threads[i]);
	for (size_t i = 0; i < run->program->n_servers; i++)
		rdl_link_free(run->links[i]);
	for (int i = 0; i < RR_RUN_LANES; i++) {
		if (run->lanes[i])
			rr_wire_release(&run->lanes[i]->wire);
		free(run->lanes[i]);
	}
	rdl_mutex_destroy(&run->mutex);
	free(run);
}

void rr_client_run_begin_together(const struct rr_program *program)
{
	if (program->run_ops && program->run_ops->together)
		program->run_ops->together(program);
}

void rr_client_run_wake(struct rr_client_run *run)
{
	if (run->other && run->program->run_ops->wake)
		run->program->run_ops->wake(run->other);
}

void rr_client_run_feed(struct rr_client_run *run, const struct rr_input *input, int64_t passed_ns)
{
	struct run_thread *thread = &run->threads[input->thread];
	uint8_t kind;

	if (run->other) {
		run->program->run_ops->feed(run->other, input, passed_ns);
		return;
	}
	kind = run->view.stops[thread->number].kind;
	if (kind == RR_STOP_ABSENT || kind == RR_STOP_ENDED)
		return;
	run->view.has_entered = run->view.has_read = false;
	run->unread_ns = passed_ns;
	thread->input = *input;
	go_on(thread);
	run->unread_ns = 0;
	look_around(run);
}

const struct rr_run_view *rr_client_run_view(const struct rr_client_run *run)
{
	return run->other ? run->program->run_ops->view(run->other) : &run->view;
}

uint32_t rr_client_run_connection(const struct rr_client_run *run, uint8_t lane)
{
	if (run->other || !run->program->on_sockets)
		return 1;
	return run->lanes[lane] && run->lanes[lane]->wire.is_open ? run->lanes[lane]->n_opened : 0;
}

enum rr_going rr_client_run_going(const struct rr_client_run *run, const struct rr_error **problem)
{
	if (run->other)
		return run->program->run_ops->going(run->other, problem);
	*problem = &run->problem;
	return run->problem.kind == RR_ERROR_NONE ? RR_GO_ON : RR_FAILED;
}

/* ---- What it does ---------------------------------------------------------- */

uint64_t rr_run_view_signature(const struct rr_run_view *view)
{
	uint64_t hash = RR_HASH_START;

	for (uint32_t i = 0; i < view->n_threads; i++) {
		const struct rr_stop *stop = &view->stops[i];

		hash = rr_hash_number(hash, stop->kind | stop->lane << 8 | stop->whom << 16 |
						    stop->mutex << 24 |
						    (int64_t)stop->is_ready << 32);
		hash = rr_hash_number(hash, stop->duration_ns);
	}
	for (uint32_t i = 0; i < view->n_sent; i++)
		hash = rr_hash_number(hash, (int64_t)view->sent[i].command << 8 |
						    view->sent[i].lane << 1 |
						    view->sent[i].is_inside);
	hash = rr_hash_number(hash, view->tally.ok);
	hash = rr_hash_number(hash, view->tally.unknown);
	hash = rr_hash_number(hash, view->tally.failed);
	hash = rr_hash_number(hash, view->tally.acknowledged);
	hash = rr_hash_number(hash, view->tally.ending);
	return rr_hash_number(hash, view->is_inside | view->is_holding << 1 |
					    view->has_entered << 2 | view->has_read << 3);
}

bool rr_run_view_is_same(const struct rr_run_view *a, const struct rr_run_view *b)
{
	bool is_same = a->n_threads == b->n_threads && a->n_sent == b->n_sent &&
		       a->is_inside == b->is_inside && a->tally.ok == b->tally.ok;

	for (uint32_t i = 0; is_same && i < a->n_threads; i++)
		is_same = rr_stop_is_same(&a->stops[i], &b->stops[i]);
	for (uint32_t i = 0; is_same && i < a->n_sent; i++)
		is_same = a->sent[i].lane == b->sent[i].lane &&
			  a->sent[i].command == b->sent[i].command;
	return is_same;
}

char *rr_run_view_text(const struct rr_terms *terms, const struct rr_run_view *view, uint32_t most)
{
	static const char *const names[] = {
		[RR_STOP_ABSENT] = "is not there",
		[RR_STOP_RECEIVE] = "waits for a reply",
		[RR_STOP_LISTEN] = "waits for a message",
		[RR_STOP_SLEEP] = "sleeps",
		[RR_STOP_WAIT] = "waits",
		[RR_STOP_CLOCK] = "reads the clock",
		[RR_STOP_LOCK] = "takes a mutex",
		[RR_STOP_UNLOCK] = "releases a mutex",
		[RR_STOP_JOIN] = "waits for a thread",
		[RR_STOP_ATTEMPT] = "begins an attempt",
		[RR_STOP_ENDED] = "has ended",
	};
	char *text;
	FILE *file = rr_open_text(&text);

	if (view->n_sent == 0 || view->stops[0].kind != RR_STOP_RECEIVE)
		fputs(names[view->stops[0].kind], file);
	for (uint32_t i = 0; view->stops[0].kind == RR_STOP_RECEIVE && i < view->n_sent && i < most;
	     i++) {
		const struct rdl_command *words = &terms->command[view->sent[i].command].words;

		for (size_t j = 0; j < words->n_words; j++)
			fprintf(file, "%s%s", j ? " " : i ? ", " : "", words->words[j].text);
	}
	fclose(file);
	return text;
}

void rr_client_run_compare(struct rr_client_run *run, const struct rr_run_view *known, int client)
{
	char *once, *now;

	if (run->other) {
		run->program->run_ops->compare(run->other, known, client);
		return;
	}
	if (!known || rr_run_view_signature(&run->view) == rr_run_view_signature(known))
		return;
	once = rr_run_view_text(run->program->terms, known, 1);
	now = rr_run_view_text(run->program->terms, &run->view, 1);
	rr_error_set(&run->problem, RR_ERROR_INTERNAL,
		     "client %c is not deterministic: after the same replies it does '%.*s' one "
		     "time, '%.*s' another",
		     'A' + client, SHOWN, once, SHOWN, now);
	free(once);
	free(now);
}

/* ---- For programs ---------------------------------------------------------- */

const struct rdl_driver *rr_client_run_driver(struct rr_client_run *run)
{
	return &run->threads[0].driver;
}

bool rr_client_run_is_alive(const struct rr_client_run *run)
{
	return !run->is_dead;
}

struct rr_run_tally *rr_client_run_tally(struct rr_client_run *run)
{
	return &run->view.tally;
}

bool rr_client_run_begin_attempt(struct rr_client_run *run)
{
	const struct rr_input *input;

	run->view.is_holding = false;
	input = stop_at(&run->threads[0], (struct rr_stop){ .kind = RR_STOP_ATTEMPT });
	if (!input)
		return false;
	run->generation = (int)input->value;
	if (run->generation >= 0)
		run->n_random = 0;
	run->view.is_unheard = false;
	return true;
}
