/* SPDX-License-Identifier: MIT */
/*
 * A run of a client from within: threads that stop and go on, each with a driver that
 * stands for all that it waits for, and lanes with the commands that are on their way.
 */
#ifndef RR_RUN_H
#define RR_RUN_H

#include "base/wire.h"
#include "client_run.h"
#include "fiber.h"
#include "link.h"

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
	struct rdl_link *links[RR_RUN_SERVERS];
	struct rdl_mutex mutex, *mutexes[RR_RUN_MUTEXES]; /* of its own, by their numbers */
	struct rr_fiber caller;
	struct run_thread threads[RR_RUN_THREADS];
	struct run_lane *lanes[RR_RUN_LANES];
	struct rr_run_view view;
	bool is_dead;
	int generation;
	unsigned n_random;
	int64_t clock_ns, unread_ns; /* and what has passed since its reading */
};

/* ---- Threads (run_threads.c) --------------------------------------------------- */

/* False: there is no stack for it. */
bool run_begin_thread(struct run_thread *thread);
void run_give_stack_back(struct run_thread *thread);

/* Stops there until it is fed. NULL: it is being unwound. */
const struct rr_input *run_stop(struct run_thread *thread, struct rr_stop where);

/* Until it stops again. */
void run_go_on(struct run_thread *thread);

bool run_on_spawn(void *context, struct rdl_task *task);
void run_on_join(void *context, struct rdl_task *task);

/* ---- Lanes (run_lanes.c) -------------------------------------------------------- */

/* The lane of a link and its number; NULL: there are too many. */
struct run_lane *run_lane_of(struct rr_client_run *run, struct rdl_link *link, uint8_t *number);

/* A command has been sent. False: there are too many. */
bool run_add_pending(struct run_thread *thread, struct run_lane *lane, uint8_t number,
		     const struct rdl_command *command, bool is_inside);

enum rdl_outcome run_on_submit(void *context, struct rdl_link *link,
			       const struct rdl_command *command);
enum rdl_outcome run_on_deliver(void *context, struct rdl_link *link, struct rdl_reply *reply);
enum rdl_outcome run_on_listen(void *context, struct rdl_link *link, struct rdl_reply *message,
			       int64_t timeout_ns);

/* ---- Over sockets (run_sockets.c) ------------------------------------------------- */

bool run_is_readable(int fd);

/* A mark is passed: what is queued there was so before it. */
void run_note_queued(struct rr_client_run *run);

/* The commands that have come over the connections meanwhile. */
void run_take_sent(struct run_thread *thread);

int run_on_open(void *context, struct rdl_link *link);
void run_on_await(void *context, struct rdl_link *link, int fd);
enum rdl_outcome run_on_receive(void *context, struct rdl_link *link, struct rdl_reply *reply,
				enum rdl_outcome outcome);
enum rdl_outcome run_on_listen_there(void *context, struct rdl_link *link,
				     struct rdl_reply *message, int64_t timeout_ns);

#endif
