/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "machine.h"
#include "memory.h"
#include "progress.h"
#include "text.h"

enum { TOLD_MS = 100, LOOK_MS = 100, CHUNK = 1 << 16 };

/* What a worker tells the program. What the program tells a worker is the
 * number of a job, or the end of the stream. */
enum message_kind {
	READY,    /* it has begun, and can have a job */
	STARTED,  /* the job that it was given */
	PROGRESS, /* `number` units of that job are done */
	RESULT,   /* followed by `size` bytes */
	FAILED,   /* it could not begin: a struct rr_error follows */
};

struct message {
	enum message_kind kind;
	size_t number, size;
};

/* ---- A worker ----------------------------------------------------------------- */

/* All of it; ends the process when the program cannot be told. */
static void send_all(const struct rr_pool_worker *worker, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		const ssize_t n = send(worker->socket, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			_exit(1);
		at += n;
		size -= (size_t)n;
	}
}

static void send_message(const struct rr_pool_worker *worker, enum message_kind kind, size_t number,
			 const void *data, size_t size)
{
	const struct message message = { kind, number, size };

	send_all(worker, &message, sizeof(message));
	send_all(worker, data, size);
}

void rr_pool_progress(struct rr_pool_worker *worker, unsigned long n)
{
	const int64_t now_ns = rr_clock_ns();

	if (now_ns - worker->told_ns < TOLD_MS * INT64_C(1000000))
		return;
	worker->told_ns = now_ns;
	send_message(worker, PROGRESS, n, NULL, 0);
}

/* The next job; false: there is none. */
static bool receive_job(const struct rr_pool_worker *worker, size_t *job)
{
	ssize_t n;

	do {
		n = recv(worker->socket, job, sizeof(*job), MSG_WAITALL);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*job);
}

/* ---- The program -------------------------------------------------------------- */

enum job_state { WAITING, GIVEN, DONE };

/* A worker, as the program sees it. */
struct member {
	int socket;
	bool is_ready, is_silent; /* has begun; has closed its end */
	bool has_job, has_started;
	size_t job;
	double begun;           /* that job, when it was started */
	unsigned long progress; /* of it */
	double since;           /* when it got on last */
	bool is_stuck;          /* it was killed for that */
	char *inbox;            /* messages, the last one perhaps in part */
	size_t used, size;
};

struct run {
	const struct rr_pool *pool;
	struct rr_signals *signals;
	struct rr_processes processes;
	int n; /* workers */
	struct member members[RR_POOL_WORKERS_MAX];
	int inner_socket;      /* of the one that is being started */
	unsigned char *states; /* of each job */
	size_t next, n_done;   /* all jobs before `next` are given or done */
	struct rr_progress progress;
	double begun;
	bool is_over;            /* nobody is to do anything more */
	struct rr_error failure; /* the first */
};

/* ---- Jobs and their givers ------------------------------------------------- */

static bool has_waiting(struct run *run)
{
	while (run->next < run->pool->n_jobs && run->states[run->next] != WAITING)
		run->next++;
	return run->next < run->pool->n_jobs;
}

/* A worker that is told that there is no more input ends. */
static void give_job(struct run *run, struct member *member)
{
	if (run->is_over || !has_waiting(run)) {
		shutdown(member->socket, SHUT_WR);
		return;
	}
	member->job = run->next;
	member->has_job = true;
	member->has_started = false;
	run->states[member->job] = GIVEN;
	/* One that is dead does not start it. */
	send(member->socket, &member->job, sizeof(member->job), MSG_NOSIGNAL);
}

static void finish_job(struct run *run, struct member *member)
{
	member->has_job = false;
	run->states[member->job] = DONE;
	run->n_done++;
}

/* ---- Messages --------------------------------------------------------------- */

static void handle_message(struct run *run, struct member *member, const struct message *message,
			   const char *data)
{
	struct rr_error error;

	switch (message->kind) {
	case READY:
		member->is_ready = true;
		give_job(run, member);
		break;
	case STARTED:
		member->has_started = true;
		member->begun = rr_clock_s();
		member->progress = 0;
		break;
	case PROGRESS:
		if (message->number == member->progress)
			return;
		member->progress = message->number;
		break;
	case RESULT:
		finish_job(run, member);
		run->pool->take(run->pool->context, member->job, data, message->size,
				rr_clock_s() - member->begun);
		give_job(run, member);
		break;
	case FAILED:
		memcpy(&error, data, sizeof(error));
		rr_error_set(&run->failure, error.kind, "%s", error.text);
		break;
	}
	member->since = rr_clock_s();
}

/* All that has come from a worker. */
static void receive_messages(struct run *run, struct member *member)
{
	ssize_t n;

	while (!member->is_silent) {
		if (member->size - member->used < CHUNK) {
			member->size = member->size ? 2 * member->size : CHUNK;
			member->inbox = rr_realloc(member->inbox, member->size, 1);
		}
		n = recv(member->socket, member->inbox + member->used, member->size - member->used,
			 MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n <= 0)
			member->is_silent = true;
		else
			member->used += (size_t)n;

		/* Whole messages; the rest stays. */
		struct message message;
		size_t at = 0;

		while (member->used - at >= sizeof(message)) {
			memcpy(&message, member->inbox + at, sizeof(message));
			if (member->used - at - sizeof(message) < message.size)
				break;
			at += sizeof(message);
			handle_message(run, member, &message, member->inbox + at);
			at += message.size;
		}
		memmove(member->inbox, member->inbox + at, member->used - at);
		member->used -= at;
	}
}

/* ---- Workers ----------------------------------------------------------------- */

/* In the new process: the program's sockets are none of its business. */
static int be_worker(void *context, int slot)
{
	struct run *run = context;
	struct rr_pool_worker worker = { .number = slot, .socket = run->inner_socket };

	for (int i = 0; i < run->n; i++) {
		if (run->members[i].socket >= 0)
			close(run->members[i].socket);
	}

	/* Does jobs until there are none: all that a worker's process does. */
	const struct rr_pool *pool = run->pool;
	struct rr_error error = { 0 };
	bool goes_on = true;
	size_t job, size;
	char *result;

	if (pool->begin(pool->context, &worker, &error)) {
		send_message(&worker, READY, 0, NULL, 0);
		while (goes_on && receive_job(&worker, &job)) {
			worker.result = rr_open_memory(&result, &size);
			send_message(&worker, STARTED, job, NULL, 0);
			goes_on = pool->run(pool->context, &worker, job);
			fclose(worker.result);
			if (goes_on)
				send_message(&worker, RESULT, job, result, size);
			free(result);
		}
	} else {
		send_message(&worker, FAILED, 0, &error, sizeof(error));
	}
	if (pool->end)
		pool->end(pool->context, &worker);
	return 0;
}

static bool start_worker(struct run *run, int slot)
{
	struct member *member = &run->members[slot];
	int ends[2];
	bool started;

	*member = (struct member){ .socket = -1, .since = rr_clock_s() };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return rr_error_set(&run->failure, RR_ERROR_INTERNAL, "cannot start a process: %s",
				    strerror(errno));
	member->socket = ends[0];
	run->inner_socket = ends[1];
	started = rr_processes_start(&run->processes, slot, be_worker, run, &run->failure);
	close(ends[1]);
	return started;
}

static void close_member(struct member *member)
{
	if (member->socket >= 0)
		close(member->socket);
	free(member->inbox);
	*member = (struct member){ .socket = -1 };
}

/* What it was at is not done, and nobody else can be asked to. */
static void lose_job(struct run *run, struct member *member, int status)
{
	char name[RR_POOL_NAME], why[100], end[RR_PROCESS_END_SIZE];

	if (member->is_stuck)
		snprintf(why, sizeof(why), "no %s for %d s", run->pool->unit, run->pool->stall_s);
	else
		snprintf(why, sizeof(why), "its process %s", rr_process_end(status, end));
	finish_job(run, member);
	run->pool->lost(run->pool->context, member->job, why, rr_clock_s() - member->begun);
	run->pool->name(run->pool->context, member->job, name);
	/* What there is to be said at the end may be long in coming. */
	if (run->n_done < run->pool->n_jobs)
		rr_progress_tell(&run->progress, "%s: %s; the others go on", name, why);
}

/* ---- The whole ---------------------------------------------------------------- */

/* Jobs are not alike, and the longest come first: what is left is a guess, and too high
 * at first. */
static void show_jobs(struct run *run)
{
	const double share = run->pool->is_uneven ? 0 :
						    (double)run->n_done / (double)run->pool->n_jobs;
	char names[2 * RR_POOL_NAME + 40];

	/* What two of the workers do: "  none, pause: 1,234". */
	size_t size = sizeof(names);
	char name[RR_POOL_NAME], number[RR_GROUPED_SIZE];

	names[0] = '\0';
	for (int i = 0; i < run->n && i < 2; i++) {
		const struct member *member = &run->members[i];

		if (!member->has_job)
			continue;
		run->pool->name(run->pool->context, member->job, name);
		rr_grouped(number, (long long)member->progress);
		rr_add_text(names, size, "; %s%s%s", name, member->progress ? ": " : "",
			    member->progress ? number : "");
	}
	rr_progress_show(&run->progress, rr_progress_left(&run->progress, share),
			 "%zu of %zu, %.0f s%s", run->n_done, run->pool->n_jobs,
			 rr_clock_s() - run->begun, names);
}

/* Waits a little for messages and signals, and sees to them. */
static void look(struct run *run)
{
	struct pollfd ready[RR_POOL_WORKERS_MAX + 1] = {
		{ .fd = run->signals->fd, .events = POLLIN },
	};
	int slot, status;

	for (int i = 0; i < run->n; i++) {
		const struct member *member = &run->members[i];

		ready[i + 1] = (struct pollfd){
			.fd = member->is_silent ? -1 : member->socket,
			.events = POLLIN,
		};
	}
	poll(ready, (nfds_t)run->n + 1, LOOK_MS);
	run->is_over |= !rr_signals_wait(run->signals, 0);
	for (int i = 0; i < run->n; i++) {
		if (run->members[i].socket >= 0)
			receive_messages(run, &run->members[i]);
	}
	while ((slot = rr_processes_reap(&run->processes, &status)) >= 0) {
		/* A worker has ended: what it has sent counts, and what it was at is seen
		 * to. */
		struct member *member = &run->members[slot];
		const bool was_ready = member->is_ready;
		char end[RR_PROCESS_END_SIZE];

		receive_messages(run, member);
		if (member->has_job && !member->has_started) {
			/* One that nobody has started is as if it had never been given. */
			member->has_job = false;
			run->states[member->job] = WAITING;
			if (member->job < run->next)
				run->next = member->job;
		} else if (member->has_job && !run->is_over) {
			lose_job(run, member, status);
		}
		if (!was_ready)
			rr_error_set(&run->failure, RR_ERROR_INTERNAL,
				     "a worker %s before it had begun",
				     rr_process_end(status, end));
		close_member(member);
		if (was_ready && !run->is_over && has_waiting(run))
			run->is_over = !start_worker(run, slot);
	}
}

bool rr_pool_run(const struct rr_pool *pool, struct rr_signals *signals, struct rr_error *error)
{
	struct run *run = rr_calloc(1, sizeof(*run));
	bool good;

	run->pool = pool;
	run->signals = signals;
	run->begun = rr_clock_s();
	run->n = pool->n_workers < RR_POOL_WORKERS_MAX ? pool->n_workers : RR_POOL_WORKERS_MAX;
	if ((size_t)run->n > pool->n_jobs)
		run->n = (int)pool->n_jobs;
	for (int i = 0; i < run->n; i++)
		run->members[i].socket = -1;
	run->states = rr_calloc(pool->n_jobs, 1);
	rr_processes_init(&run->processes, run->n);
	for (int i = 0; i < run->n && !run->is_over; i++)
		run->is_over = !start_worker(run, i);
	rr_progress_begin(&run->progress);
	while (run->processes.n_alive > 0 && !run->is_over) {
		if (rr_progress_is_due(&run->progress))
			show_jobs(run);
		look(run);
		for (int i = 0; i < run->n; i++) {
			/* Ends a worker that does not get on. */
			struct member *member = &run->members[i];

			if (run->pool->stall_s == 0 || member->socket < 0 || member->is_stuck ||
			    rr_clock_s() - member->since <= run->pool->stall_s)
				continue;
			member->is_stuck = true;
			kill(run->processes.pids[i], SIGKILL);
		}
	}
	rr_progress_end(&run->progress);

	/* Workers that are left are asked to end first. */
	const double end = rr_clock_s() +
			   (run->signals->interrupted ? RR_POOL_INTERRUPTED_MS : RR_POOL_END_MS) /
				   1000.0;

	run->is_over = true;
	rr_processes_signal(&run->processes, SIGTERM);
	for (int i = 0; i < run->n; i++) {
		if (run->members[i].socket >= 0)
			shutdown(run->members[i].socket, SHUT_WR);
	}
	while (run->processes.n_alive > 0 && rr_clock_s() < end)
		look(run);
	rr_processes_release(&run->processes);
	for (int i = 0; i < run->n; i++)
		close_member(&run->members[i]);
	good = !signals->interrupted && run->n_done == pool->n_jobs;
	if (signals->interrupted)
		rr_error_interrupted(error);
	else if (!good)
		rr_error_set(error, run->failure.kind, "%s", run->failure.text);
	free(run->states);
	free(run);
	return good;
}
