/* SPDX-License-Identifier: MIT */
/*
 * soak SECONDS [SEED]: starts the servers and the clients, does them harm, starts
 * again those that it has killed, and looks at the end whether all is as it has to be.
 * Exit: 0 it is; 1 it is not; 64, 69, 70 as those of redrace.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/processes.h"
#include "base/progress.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "soak.h"

enum { END_MS = 20000, LEFT_MS = 10 * SOAK_TTL_MS, SECONDS_MAX = 7 * 86400 };

/* What was done to clients. */
struct harm {
	long kills, stops, cuts;
	int stopped;      /* the client that stands still; -1 = none does */
	int64_t until_ns; /* so long */
	int64_t next_ns;  /* when there is to be more of it */
};

struct run {
	struct soak soak;
	struct rr_session session;
	struct rr_cluster cluster;
	struct rr_processes processes;
	struct rr_random random;
	struct harm harm;
	struct rdl_link *admin[SOAK_SERVERS];
	long n_started;
};

/* ---- Clients --------------------------------------------------------------------- */

static int client_body(void *context, int slot)
{
	const struct run *run = context;

	return soak_client(&run->soak, slot, run->soak.seed + (uint64_t)run->n_started);
}

static bool start_client(struct run *run, int slot, struct rr_error *error)
{
	run->n_started++;
	return rr_processes_start(&run->processes, slot, client_body, run, error);
}

/* A client ends only by our hand. */
static bool replace_dead(struct run *run, struct rr_error *error)
{
	char end[RR_PROCESS_END_SIZE];
	int status, slot;

	while ((slot = rr_processes_reap(&run->processes, &status)) >= 0) {
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			return rr_error_set(error, RR_ERROR_INTERNAL,
					    "client %d ended by itself: %s", slot,
					    rr_process_end(status, end));
		if (slot == run->harm.stopped)
			run->harm.stopped = -1;
		if (!start_client(run, slot, error))
			return false;
	}
	return true;
}

/* ---- Harm ------------------------------------------------------------------------ */

static void signal_client(struct run *run, int slot, int number)
{
	if (run->processes.pids[slot])
		kill(run->processes.pids[slot], number);
}

/* For longer than a lease now and then. */
static void stop_client(struct run *run, int slot)
{
	signal_client(run, slot, SIGSTOP);
	run->harm.stopped = slot;
	run->harm.stops++;
	run->harm.until_ns = rr_clock_ns() +
			     (200 + (int64_t)rr_random_below(&run->random, 2 * SOAK_TTL_MS)) *
				     1000000;
}

/* All clients of a server lose their connections, and replies with them. */
static void cut_connections(struct run *run)
{
	const size_t server = rr_random_below(&run->random, SOAK_SERVERS);
	struct rdl_reply reply;

	rdl_run(run->admin[server], &reply, "CLIENT KILL TYPE normal SKIPME yes");
	run->harm.cuts++;
}

static void do_harm(struct run *run)
{
	struct harm *harm = &run->harm;
	const int64_t now_ns = rr_clock_ns();
	const int slot = (int)rr_random_below(&run->random, SOAK_CLIENTS);
	const uint64_t choice = rr_random_below(&run->random, 10);

	if (harm->stopped >= 0 && now_ns >= harm->until_ns) {
		signal_client(run, harm->stopped, SIGCONT);
		harm->stopped = -1;
	}
	if (now_ns < harm->next_ns)
		return;
	harm->next_ns = now_ns + (int64_t)rr_random_below(&run->random, 500) * 1000000;
	if (choice == 0) {
		cut_connections(run);
	} else if (choice == 1 && harm->stopped < 0) {
		stop_client(run, slot);
	} else {
		signal_client(run, slot, SIGKILL);
		harm->kills++;
	}
}

/* ---- The end ----------------------------------------------------------------------- */

static bool end_clients(struct run *run, struct rr_error *error)
{
	const int64_t end_ns = rr_clock_ns() + END_MS * INT64_C(1000000);
	int status;

	atomic_store(&run->soak.books->is_over, true);
	rr_processes_signal(&run->processes, SIGCONT);
	while (run->processes.n_alive > 0) {
		rr_signals_wait(&run->session.signals, 10);
		rr_processes_reap(&run->processes, &status);
		if (rr_clock_ns() > end_ns)
			return rr_error_set(error, RR_ERROR_INTERNAL,
					    "a client does not end: it hangs");
	}
	return true;
}

/* Items whose client was killed come back; each is done. */
static bool drain_queue(struct run *run, struct rr_error *error)
{
	const int64_t end_ns = rr_clock_ns() + END_MS * INT64_C(1000000);
	struct rdl_delay_queue *queue = rdl_delay_queue_new(run->admin[0], "soak:queue");
	long long due = 1, processing = 1;
	char id[32], place[32], key[SOAK_KEY];
	int owner;

	while (queue && due + processing > 0 && rr_clock_ns() < end_ns) {
		while (rdl_delay_queue_dead(queue, 0, id, sizeof(id)) == RDL_OK &&
		       rdl_delay_queue_revive(queue, id, 0) == RDL_OK)
			;
		if (rdl_delay_queue_take(queue, SOAK_TTL_MS, id, sizeof(id)) == RDL_OK &&
		    sscanf(id, "%d:%30s", &owner, place + 1) == 2) {
			place[0] = '#';
			soak_effects_key(key, SOAK_QUEUE, owner);
			rdl_delay_queue_done(queue, id, "BITFIELD %s OVERFLOW SAT INCRBY u2 %s 1",
					     key, place);
		}
		rdl_delay_queue_length(queue, &due, &processing);
	}
	rdl_delay_queue_free(queue);
	return due + processing == 0 ||
	       rr_error_set(error, RR_ERROR_INTERNAL, "%lld items stay in the delay queue",
			    due + processing);
}

/* Locks of the killed end with their leases; waits for that. */
static bool await_no_lock(struct run *run, size_t server, struct rr_error *error)
{
	const int64_t end_ns = rr_clock_ns() + LEFT_MS * INT64_C(1000000);
	struct rdl_reply reply = { .length = 1 };

	while (rdl_run(run->admin[server], &reply, "KEYS soak:*:lock") == RDL_OK &&
	       reply.length > 0) {
		if (rr_clock_ns() > end_ns)
			return rr_error_set(error, RR_ERROR_INTERNAL, "a lock stays: %s",
					    reply.elements[0].text);
		rr_signals_wait(&run->session.signals, 20);
	}
	return true;
}

static bool check_end(struct run *run, struct rr_error *error)
{
	bool good;

	for (size_t i = 0; i < SOAK_SERVERS; i++) {
		if (!await_no_lock(run, i, error))
			return false;
	}
	if (!drain_queue(run, error))
		return false;
	good = soak_books_check(run->soak.books, run->admin[0]);
	soak_books_print(run->soak.books);
	return good;
}

/* ---- All of it ---------------------------------------------------------------------- */

static bool open_run(struct run *run, struct rr_error *error)
{
	const struct rr_cluster_options options = {
		.program = "redis-server",
		.clock = RR_CLUSTER_REAL,
		.cpu = -1,
	};

	run->soak.books = soak_books_open();
	if (!run->soak.books)
		return rr_error_set(error, RR_ERROR_INTERNAL, "out of memory");
	rr_processes_init(&run->processes, SOAK_CLIENTS);
	if (!rr_cluster_open(&run->cluster, &run->session, &options, error) ||
	    !rr_cluster_need(&run->cluster, SOAK_SERVERS, error))
		return false;
	for (size_t i = 0; i < SOAK_SERVERS; i++) {
		run->soak.addresses[i] = *rr_cluster_address(&run->cluster, (int)i);
		run->admin[i] = rdl_link_new(&run->soak.addresses[i], 10 * SOAK_TIMEOUT_MS);
		if (!run->admin[i])
			return rr_error_set(error, RR_ERROR_INTERNAL, "out of memory");
	}
	return true;
}

static bool run_clients(struct run *run, long seconds, struct rr_error *error)
{
	const int64_t end_ns = rr_clock_ns() + seconds * INT64_C(1000000000);
	struct rr_progress progress = { 0 };

	for (int i = 0; i < SOAK_CLIENTS; i++) {
		if (!start_client(run, i, error))
			return false;
	}
	rr_progress_begin(&progress);
	while (rr_clock_ns() < end_ns) {
		rr_signals_wait(&run->session.signals, 10);
		if (run->session.signals.interrupted)
			return rr_error_interrupted(error);
		do_harm(run);
		if (!replace_dead(run, error))
			return false;
		if (rr_progress_is_due(&progress))
			rr_progress_show(&progress, (double)(end_ns - rr_clock_ns()) / 1e9,
					 "%ld kills", run->harm.kills);
	}
	rr_progress_end(&progress);
	return end_clients(run, error);
}

static void close_run(struct run *run)
{
	rr_processes_release(&run->processes);
	for (size_t i = 0; i < SOAK_SERVERS; i++)
		rdl_link_free(run->admin[i]);
	rr_cluster_close(&run->cluster);
	if (run->soak.books)
		soak_books_close(run->soak.books);
}

static enum rr_exit soak_all(struct run *run, long seconds)
{
	struct rr_error error = { 0 };
	bool good = false;

	printf("soak: %ld s, %d clients, seed %llu\n", seconds, SOAK_CLIENTS,
	       (unsigned long long)run->soak.seed);
	if (rr_session_open(&run->session, &error) && open_run(run, &error) &&
	    run_clients(run, seconds, &error))
		good = check_end(run, &error);
	close_run(run);
	rr_session_close(&run->session);
	if (error.kind) {
		printf("soak: again: build/soak %ld %llu\n", seconds,
		       (unsigned long long)run->soak.seed);
		return rr_report_error(&error);
	}
	printf("soak: %s; %ld kills, %ld stops, %ld cuts\n",
	       good ? "every effect is there once, or known as unknown" : "the books do not agree",
	       run->harm.kills, run->harm.stops, run->harm.cuts);
	if (!good)
		printf("soak: again: build/soak %ld %llu\n", seconds,
		       (unsigned long long)run->soak.seed);
	return good ? RR_EXIT_OK : RR_EXIT_VIOLATED;
}

int main(int argc, char **argv)
{
	struct run run = { .harm = { .stopped = -1 } };
	long seconds = 0, seed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2 || argc > 3 || !rr_parse_number(argv[1], 1, SECONDS_MAX, &seconds) ||
	    (argc == 3 && !rr_parse_number(argv[2], 0, 999999999, &seed)))
		return rr_complain(RR_EXIT_USAGE, "usage: soak SECONDS [SEED]");
	if (argc == 2 && getrandom(&seed, sizeof(seed), 0) > 0)
		seed = (long)((unsigned long)seed % 1000000000);
	run.soak.seed = (uint64_t)seed;
	run.random = (struct rr_random){ (uint64_t)seed };
	return soak_all(&run, seconds);
}
