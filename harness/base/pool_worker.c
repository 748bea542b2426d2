/* SPDX-License-Identifier: MIT */
#include "pool_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "memory.h"

enum { TOLD_MS = 100 };

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

/* False: the worker is to end. */
static bool do_job(const struct rr_pool *pool, struct rr_pool_worker *worker, size_t job)
{
	char *result;
	size_t size;
	bool is_done;

	worker->result = rr_open_memory(&result, &size);
	send_message(worker, STARTED, job, NULL, 0);
	is_done = pool->run(pool->context, worker, job);
	fclose(worker->result);
	if (is_done)
		send_message(worker, RESULT, job, result, size);
	free(result);
	return is_done;
}

void pool_work(const struct rr_pool *pool, struct rr_pool_worker *worker)
{
	struct rr_error error = { 0 };
	size_t job;

	if (pool->begin(pool->context, worker, &error)) {
		send_message(worker, READY, 0, NULL, 0);
		while (receive_job(worker, &job) && do_job(pool, worker, job))
			;
	} else {
		send_message(worker, FAILED, 0, &error, sizeof(error));
	}
	if (pool->end)
		pool->end(pool->context, worker);
}
