/* SPDX-License-Identifier: MIT */
/*
 * One run of one strategy: worker processes, the barrier, the watch over them,
 * and what the servers hold before and after.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/processes.h"
#include "client.h"

enum {
	WATCH_MS = 250,
	DISK_TIMEOUT_MS =
		15000,         /* for a reply that waits for the disk; below the 20 s of motion.c */
	END_MS = 10000,        /* for workers that were told to stop ... */
	INTERRUPTED_MS = 1000, /* ... by somebody who is waiting for it */
	CALM_PAUSE_MS = 20,    /* between looks at servers that may fail over, and ... */
	ROUNDS_PAUSE_MS = 1,   /* between looks at who has come to the barrier */
	FAIL_OVER_PAUSE_MS = 2 /* ... while they do */
};

/* A run while it lasts. */
struct course {
	const struct rr_run *run;
	struct rr_signals *signals;
	const struct rr_watcher *watcher;
	struct rr_board *board;
	struct rr_processes workers;
	struct rdl_link *servers[RR_CLUSTER_SERVERS]; /* our connections */
	size_t n_servers;
	struct rr_motion motion;
	struct rr_machine_look before, after; /* the clients ran */
	int rounds_begun;
	bool is_held_by_dead; /* from when a holder has died, before clients begin */
	const char *stuck;    /* why it was called off: no progress */
	struct rr_error *error;
};

/* The first failure ends the run, and is the one that is reported. */
static bool fail_run(struct course *course, enum rr_error_kind kind, const char *what)
{
	if (course->board)
		rr_board_stop(course->board);
	return rr_error_set(course->error, kind, "%s: %s", course->run->strategy->name, what);
}

/* ---- The servers before and after ---------------------------------------- */

const struct rdl_address *rr_run_address(const struct rr_run *run, size_t i)
{
	const struct rr_formation *formation = run->formation;

	if (i == 0 && formation && formation->kind != RR_TOPOLOGY_ALONE)
		return &formation->address;
	return rr_cluster_address(run->cluster, (int)i);
}

int rr_run_timeout_ms(const struct rr_run *run)
{
	const enum rr_persistence persistence = run->cluster->options.persistence;

	return persistence == RR_PERSIST_EVERYSEC || persistence == RR_PERSIST_ALWAYS ?
		       DISK_TIMEOUT_MS :
		       RR_TIMEOUT_MS;
}

static bool fail_on_server(struct course *course, size_t i)
{
	char where[300], what[800];

	rdl_address_print(rr_run_address(course->run, i), where, sizeof(where));
	snprintf(what, sizeof(what), "cannot use %s: %s", where,
		 rdl_link_error(course->servers[i]));
	return fail_run(course, RR_ERROR_REDIS, what);
}

static bool connect_to_servers(struct course *course)
{
	const struct rr_run *run = course->run;

	for (size_t i = 0; i < 1 + run->strategy->lock.servers; i++) {
		course->servers[i] = rdl_link_new(rr_run_address(run, i), rr_run_timeout_ms(run));
		if (!course->servers[i])
			rr_out_of_memory();
		course->n_servers++;
		if (rdl_link_connect(course->servers[i]) != RDL_OK)
			return fail_on_server(course, i);
	}
	return true;
}

static bool delete_run_keys(struct course *course)
{
	for (size_t i = 0; i < course->n_servers; i++) {
		if (rr_keys_delete(course->servers[i], course->run->prefix, course->run->keys) !=
		    RDL_OK)
			return fail_on_server(course, i);
	}
	return true;
}

/* The sum of all counters. */
static bool read_counters(struct course *course, long long *sum)
{
	*sum = 0;
	for (int i = 0; i < course->run->keys; i++) {
		char key[RR_KEY_SIZE];
		struct rdl_reply reply;
		long long count;

		rr_keys_counter(key, course->run->prefix, i);
		if (rdl_run(course->servers[0], &reply, "GET %s", key) != RDL_OK)
			return fail_on_server(course, 0);
		if (rdl_reply_number(&reply, &count))
			*sum += count;
	}
	return true;
}

/* A field of INFO cpu, given in seconds. */
static double info_seconds(const char *info, const char *field)
{
	const char *found = strstr(info, field);

	return found ? strtod(found + strlen(field), NULL) : 0;
}

/* What all servers have spent so far, background threads included; 0 for those
 * that do not tell. */
static int64_t servers_cpu_ns(struct course *course)
{
	double seconds = 0;

	for (size_t i = 0; i < course->n_servers; i++) {
		struct rdl_reply reply;

		if (rdl_run(course->servers[i], &reply, "INFO cpu") != RDL_OK ||
		    reply.type != RDL_REPLY_STRING)
			continue;
		seconds += info_seconds(reply.text, "used_cpu_sys:") +
			   info_seconds(reply.text, "used_cpu_user:");
	}
	return (int64_t)(seconds * 1e9);
}

/* ---- Workers ------------------------------------------------------------- */

static int work_in_slot(void *context, int slot)
{
	const struct course *course = context;

	return rr_worker(course->run, course->board, slot);
}

static bool start_run_worker(struct course *course, int slot)
{
	if (rr_processes_start(&course->workers, slot, work_in_slot, course, course->error))
		return true;
	rr_board_stop(course->board);
	return false;
}

/* A turn of every waiting loop: signals, ended workers, calls to stop. */
static void take_turn(struct course *course, int timeout_ms)
{
	rr_signals_wait(course->signals, timeout_ms);

	/* Those that have ended; their results are what they left on the board. */
	char end[RR_PROCESS_END_SIZE], what[RR_PROCESS_END_SIZE + 60];
	int status, i;

	while ((i = rr_processes_reap(&course->workers, &status)) >= 0) {
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			continue;
		if (rr_postpone_died_on_purpose(course->run, course->board, i, status) &&
		    start_run_worker(course, i))
			continue;
		snprintf(what, sizeof(what), "a worker process %s; its count is lost",
			 rr_process_end(status, end));
		fail_run(course, RR_ERROR_INTERNAL, what);
	}
	if (course->signals->interrupted)
		rr_board_stop(course->board);
}

/* ---- Fail-overs: spread over the run, each when the one before it has ended ---- */

/* When so much of the run is done that it is the next one's time. */
static bool is_fail_over_due(const struct rr_run *run, const struct rr_board *board)
{
	const struct rr_formation *formation = run->formation;
	const uint64_t next = (uint64_t)formation->tally.kills + 1;

	return formation->phase == RR_FORMATION_WHOLE && next <= (uint64_t)run->fail_overs &&
	       rr_board_done(board) * ((uint64_t)run->fail_overs + 1) >=
		       next * (uint64_t)run->increments;
}

/* Calls the run off when it makes no progress. */
static void watch_motion(struct course *course)
{
	course->stuck = rr_motion_look(&course->motion, course->run, rr_board_done(course->board),
				       rr_clock_ns());
	if (course->stuck)
		rr_board_stop(course->board);
}

/* ---- Rounds, each of which begins with the locks of a dead holder --------- */

static int hold_and_die(void *context, int slot)
{
	const struct course *course = context;

	(void)slot;
	return rr_holder(course->run, course->board);
}

/* Returns when it is dead, or has said on the board why it is not. */
static void let_holder_die(struct course *course)
{
	const int64_t deadline_ns = rr_clock_ns() + END_MS * INT64_C(1000000);
	struct rr_processes holder;
	int status;

	if (!rr_holder_locks(course->run))
		return;
	rr_processes_init(&holder, 1);
	if (rr_processes_start(&holder, 0, hold_and_die, course, course->error)) {
		while (rr_processes_reap(&holder, &status) < 0 && rr_clock_ns() < deadline_ns &&
		       !course->signals->interrupted)
			rr_signals_wait(course->signals, 1);
		course->is_held_by_dead = true;
		if (holder.n_alive)
			fail_run(course, RR_ERROR_REDIS,
				 "the holder that is to die waits for a server");
	}
	rr_processes_release(&holder);
}

/* Opens the barrier for clients, the first time for their processes, too. */
static void begin_round(struct course *course)
{
	struct rr_board *board = course->board;
	const size_t n = board->n_clients + (course->rounds_begun ? 0 : board->n_processes);

	if (!rr_board_is_stopped(board) && !course->error->kind)
		let_holder_die(course);
	if (course->error->kind)
		rr_board_stop(board);
	course->rounds_begun++;
	for (size_t i = 0; i < n; i++)
		sem_post(&board->go);
}

/* ---- Until the clients have ended ----------------------------------------- */

/* Workers count, and end. */
static bool count_in_workers(struct course *course, int64_t *server_ns)
{
	const struct rr_run *run = course->run;
	const struct rr_watcher *watcher = course->watcher;
	struct rr_board *board = course->board;
	int64_t start_ns;
	int pause_ms;

	if (run->formation)
		run->formation->tally = (struct rr_formation_tally){ 0 };
	for (int i = 0; i < run->processes; i++) {
		if (!start_run_worker(course, i))
			break;
	}
	course->motion = rr_motion_begin(rr_clock_ns());
	while (atomic_load(&board->n_ready) < (int)board->n_clients &&
	       course->workers.n_alive > 0 && !rr_board_is_stopped(board)) {
		take_turn(course, 1);
		watch_motion(course);
	}
	if (!rr_board_is_stopped(board) && delete_run_keys(course))
		*server_ns = servers_cpu_ns(course);
	atomic_store(&board->someone_done, false);
	rr_machine_look(&course->before);
	begin_round(course);
	/* Until all workers have ended, or are called off. */
	start_ns = rr_clock_ns();
	course->motion = rr_motion_begin(start_ns);
	while (course->workers.n_alive > 0 && !rr_board_is_stopped(board)) {
		if (watcher)
			watcher->watch(watcher->context, run, rr_board_done(board),
				       rr_clock_ns() - start_ns);
		if (course->rounds_begun < rr_holder_rounds(run))
			pause_ms = ROUNDS_PAUSE_MS;
		else if (!run->formation)
			pause_ms = WATCH_MS;
		else
			pause_ms = run->formation->phase == RR_FORMATION_WHOLE ? CALM_PAUSE_MS :
										 FAIL_OVER_PAUSE_MS;
		take_turn(course, pause_ms);
		watch_motion(course);
		/* Have all clients come to the barrier again? */
		if (course->rounds_begun < rr_holder_rounds(run) &&
		    (size_t)atomic_load(&board->n_ready) >=
			    board->n_clients * (size_t)(course->rounds_begun + 1))
			begin_round(course);
		/* Kills when so much of the run is done, and looks after what follows, which may
		 * have no end. */
		if (run->formation &&
		    (!rr_formation_turn(run->formation, course->error) ||
		     (is_fail_over_due(run, board) &&
		      !rr_formation_fail_over(run->formation, run->cut_ns, course->error))))
			rr_board_stop(board);
	}
	rr_machine_look(&course->after);
	/* Who came to the barrier when the run was called off goes on as well. */
	while (course->rounds_begun < rr_holder_rounds(run))
		begin_round(course);

	const int64_t limit_ms = course->signals->interrupted ? INTERRUPTED_MS : END_MS;
	const int64_t deadline_ns = rr_clock_ns() + limit_ms * INT64_C(1000000);

	while (course->workers.n_alive > 0 && rr_clock_ns() < deadline_ns)
		take_turn(course, 20);
	/* The first client's reason, if one gave up. */
	for (size_t i = 0; i < board->n_clients; i++) {
		const struct rr_error *reason = &board->slots[i].error;

		if (reason->kind)
			fail_run(course, reason->kind, reason->text);
	}
	/* Servers that were killed come back before anything is read; connections to them
	 * are dead. */
	if (run->formation) {
		rr_formation_await_whole(run->formation, course->error);
		for (size_t i = 0; i < course->n_servers; i++)
			rdl_link_disconnect(course->servers[i]);
	}
	if (course->signals->interrupted && !course->error->kind)
		course->error->kind = RR_ERROR_INTERRUPTED;
	return !course->error->kind;
}

/* The servers' time is of this machine if they are ours, or have a socket here; unless they died. */
static void note_disturbance(const struct course *course, struct rr_measurement *m)
{
	const bool is_here = course->run->cluster->is_private ||
			     rr_run_address(course->run, 0)->is_unix;
	int64_t ours_ns = m->client_user_ns + m->client_sys_ns;

	ours_ns = course->run->formation ? -1 : ours_ns + (is_here ? m->server_cpu_ns : 0);
	rr_disturbance_add(&m->disturbance, &course->before, &course->after, ours_ns);
}

/* Adds up what the clients left, and compares it with what the servers hold. */
static bool judge_run(struct course *course, int64_t server_ns, struct rr_measurement *measurement,
		      struct rr_spectra *spectra)
{
	rr_measurement_gather(measurement, spectra, course->run, course->board);
	if (course->run->rate_per_s > 0 ?
		    measurement->attempted + measurement->undone != measurement->offered :
		    measurement->attempted != (uint64_t)course->run->increments)
		return fail_run(course, RR_ERROR_INTERNAL,
				"clients ended before their share was done");
	/* Who was killed took that along. */
	if (!course->run->formation)
		measurement->server_cpu_ns = servers_cpu_ns(course) - server_ns;
	note_disturbance(course, measurement);
	if (!read_counters(course, &measurement->final_value))
		return false;
	if (course->run->trace)
		rr_trace_gather(course->run->trace, course->board);
	rr_measurement_judge(measurement);
	return true;
}

/* Locks that nobody could give back. Where that is expected of a dead holder's, the run has a
 * row, in which nothing is done. */
static bool judge_stuck(struct course *course, struct rr_measurement *measurement,
			struct rr_spectra *spectra)
{
	const struct rr_run *run = course->run;
	const bool failed_over = run->formation && run->formation->tally.fail_overs > 0;
	const bool may_be_final = rr_expected_row(run->strategy)->breaks[RR_CRASH] &
				  (RR_DEADLOCKS | RR_STARVES);

	if (course->is_held_by_dead && may_be_final) {
		rr_measurement_gather(measurement, spectra, run, course->board);
		if (!measurement->recovery_ns) {
			/* Nor was anything done of what was put off. */
			measurement->failed = measurement->attempted;
			measurement->ok = measurement->unknown = 0;
			measurement->verdict = RR_VERDICT_STUCK;
			measurement->remark = "stuck, as expected";
			return read_counters(course, &measurement->final_value);
		}
	}
	*measurement = (struct rr_measurement){
		.run = *run,
		.deadlocked = true,
		.verdict = failed_over ? RR_VERDICT_FAILED_OVER : RR_VERDICT_VIOLATED,
		.remark = failed_over ? "no progress after a fail-over" : course->stuck,
	};
	return true;
}

bool rr_bench_run(const struct rr_run *run, struct rr_signals *signals,
		  const struct rr_watcher *watcher, struct rr_measurement *measurement,
		  struct rr_spectra *spectra, struct rr_error *error)
{
	struct course course = { .run = run,
				 .signals = signals,
				 .watcher = watcher,
				 .board = rr_board_new(run),
				 .error = error };
	struct rr_spectra *own = spectra ? NULL : rr_malloc(sizeof(*own));
	int64_t server_ns = 0;
	bool done = false;

	spectra = spectra ? spectra : own;
	rr_processes_init(&course.workers, run->processes);
	if (connect_to_servers(&course) && delete_run_keys(&course) &&
	    count_in_workers(&course, &server_ns))
		done = course.stuck ? judge_stuck(&course, measurement, spectra) :
				      judge_run(&course, server_ns, measurement, spectra);
	free(own);
	rr_processes_release(&course.workers);
	/* As far as servers still answer. */
	for (size_t i = 0; i < course.n_servers; i++) {
		rr_keys_delete(course.servers[i], course.run->prefix, course.run->keys);
		rdl_link_free(course.servers[i]);
	}
	rr_board_free(course.board);
	return done;
}
