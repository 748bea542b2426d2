/* SPDX-License-Identifier: MIT */
#include "client_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run.h"

/* Clocks do not begin at 0, which would be a special value somewhere. */
#define MONOTONIC_START_NS INT64_C(3600000000000)

/* So late that whatever a client that is unwound waits for is over. */
#define AFTER_ALL_NS (INT64_MAX / 4)

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
	input = run_stop(thread, (struct rr_stop){ .kind = RR_STOP_CLOCK });
	return input ? input->value : AFTER_ALL_NS;
}

static void on_sleep(void *context, int64_t duration_ns)
{
	if (duration_ns > 0)
		run_stop(context,
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
		return timeout_ns == 0 && run_is_readable(fd);
	thread->fd = fd;
	run_stop(thread, (struct rr_stop){ .kind = RR_STOP_WAIT, .duration_ns = timeout_ns });
	return run->is_dead || run_is_readable(fd);
}

/* ---- Marks, mutexes, random values ---------------------------------------- */

static void on_mark(void *context, enum rdl_mark mark)
{
	struct run_thread *thread = context;
	struct rr_run_view *view = &thread->run->view;

	if (thread->run->is_dead)
		return;
	run_take_sent(thread);
	run_note_queued(thread->run);
	view->is_inside = mark == RDL_MARK_ENTER;
	view->has_entered = view->has_entered || view->is_inside;
	view->is_holding = view->is_holding || view->is_inside;
}

/* The process's own is known by the number of its first client. */
static uint8_t mutex_number(struct rr_client_run *run, struct rdl_mutex *mutex)
{
	const size_t n = sizeof(run->mutexes) / sizeof(run->mutexes[0]);
	const int own = run->program->separate ? run->client : 0;
	size_t i = 0;

	if (mutex == &run->mutex)
		return (uint8_t)own;
	while (i < n - 1 && run->mutexes[i] && run->mutexes[i] != mutex)
		i++;
	if (run->mutexes[i] && run->mutexes[i] != mutex)
		run->view.is_too_much = true;
	run->mutexes[i] = mutex;
	return (uint8_t)(RR_RUN_MUTEXES + (size_t)run->client * n + i);
}

static void on_mutex(void *context, struct rdl_mutex *mutex, bool take)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;

	if (run->is_dead || run->program->without_mutex)
		return;
	run_stop(thread, (struct rr_stop){ .kind = take ? RR_STOP_LOCK : RR_STOP_UNLOCK,
					   .mutex = mutex_number(run, mutex) });
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
	.spawn = run_on_spawn,
	.join = run_on_join,
	.random = on_random,
	.submit = run_on_submit,
	.deliver = run_on_deliver,
	.listen = run_on_listen,
};

/* Commands and replies go over sockets; all else is as above. */
static const struct rdl_driver_ops socket_ops = {
	.now = on_now,
	.sleep = on_sleep,
	.mark = on_mark,
	.mutex = on_mutex,
	.wait = on_wait,
	.spawn = run_on_spawn,
	.join = run_on_join,
	.random = on_random,
	.open = run_on_open,
	.await = run_on_await,
	.receive = run_on_receive,
	.listen = run_on_listen_there,
};

/* ---- Runs ----------------------------------------------------------------- */

static void look_around(struct rr_client_run *run)
{
	struct rr_run_view *view = &run->view;

	for (uint32_t i = 0; i < view->n_threads; i++) {
		struct rr_stop *where = &view->stops[i];

		if (where->kind == RR_STOP_WAIT)
			where->is_ready = run_is_readable(run->threads[i].fd);
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

static bool open_links(struct rr_client_run *run)
{
	const struct rr_program *program = run->program;

	for (size_t i = 0; i < program->n_servers; i++) {
		run->links[i] = rdl_link_new(&program->addresses[i], 1000);
		if (!run->links[i])
			return false;
		rdl_link_set_driver(run->links[i], &run->threads[0].driver);
	}
	return true;
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
	return program->again && program->again[client] ? program->again[client] - 1U : client;
}

size_t rr_program_requests_of(const struct rr_program *program, size_t client)
{
	size_t n = 0;

	client = first_of(program, client);
	for (size_t i = 0; i < program->n_requests; i++)
		n += program->places[i].client == client;
	return n;
}

size_t rr_program_request_at(const struct rr_program *program, size_t client, size_t lane)
{
	size_t i = 0;

	client = first_of(program, client);
	while (i < program->n_requests &&
	       (program->places[i].client != client || program->places[i].lane != lane))
		i++;
	return i;
}

bool rr_program_has_marks(const struct rr_program *program, size_t client, size_t lane)
{
	if (rr_program_request_at(program, client, lane) < program->n_requests)
		return true;
	return program->n_requests > 0 && lane == RR_RUN_ORDINALS - 1;
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
	if (open_links(run))
		run->made = program->make(program->context, run, client, run->links, &run->mutex);
	if (!run->made || !run_begin_thread(&run->threads[0]))
		rr_out_of_memory();
	run->view.n_threads = 1;
	run_go_on(&run->threads[0]);
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
			run_go_on(&run->threads[i]);
	}
	if (run->made)
		run->program->free(run->made);
	for (int i = 0; i < RR_RUN_THREADS; i++)
		run_give_stack_back(&run->threads[i]);
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
	run_go_on(thread);
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
	return run->other ? run->program->run_ops->going(run->other, problem) : RR_GO_ON;
}

void rr_client_run_compare(struct rr_client_run *run, const struct rr_run_view *known, int client)
{
	if (run->other)
		run->program->run_ops->compare(run->other, known, client);
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
	input = run_stop(&run->threads[0], (struct rr_stop){ .kind = RR_STOP_ATTEMPT });
	if (!input)
		return false;
	run->generation = (int)input->value;
	if (run->generation >= 0)
		run->n_random = 0;
	run->view.is_unheard = false;
	return true;
}
