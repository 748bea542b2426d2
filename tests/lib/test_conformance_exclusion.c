/* SPDX-License-Identifier: MIT */
/* Every lock under many clients in several processes, and what it allocates. */
#include "conformance.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 4, THREADS = 16, ROUNDS = 5 };

/* What all processes share. */
struct shared {
	_Atomic int inside;   /* holders right now */
	_Atomic int overlaps; /* holders that were not alone */
	_Atomic int failures; /* calls that should have worked */
};

struct worker {
	struct scene *scene;
	struct shared *shared;
	pthread_t thread;
};

static void increment(struct worker *worker, struct rdl_link *link)
{
	struct shared *shared = worker->shared;
	struct rdl_reply reply;
	long long value = 0;
	bool good;

	if (atomic_fetch_add(&shared->inside, 1) != 0)
		atomic_fetch_add(&shared->overlaps, 1);
	good = rdl_run(link, &reply, "GET counter") == RDL_OK &&
	       (rdl_reply_is_nil(&reply) || rdl_reply_number(&reply, &value)) &&
	       rdl_run(link, &reply, "SET counter %lld", value + 1) == RDL_OK;
	atomic_fetch_add(&shared->failures, !good);
	atomic_fetch_sub(&shared->inside, 1);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	const struct rdl_address address = scene_address(worker->scene, 0);
	struct rdl_link *data = rdl_link_new(&address, RR_TIMEOUT_MS);
	struct rival party;

	rival_open(worker->scene, &party, "lock");
	for (int i = 0; i < ROUNDS; i++) {
		bool good = rival_wait(&party, 60000, 50000) == RDL_OK;

		if (good) {
			increment(worker, data);
			good = rival_settle(&party) == RDL_OK;
		}
		atomic_fetch_add(&worker->shared->failures, !good);
	}
	rival_close(&party);
	rdl_link_free(data);
	return NULL;
}

static int be_a_process(struct scene *scene, struct shared *shared)
{
	struct worker workers[THREADS];
	int started = 0;

	while (started < THREADS) {
		workers[started] = (struct worker){ scene, shared, 0 };
		if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0)
			return 1;
		started++;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	return 0;
}

static void run_processes(struct scene *scene, struct shared *shared)
{
	pid_t pids[PROCESSES];

	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(be_a_process(scene, shared));
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		cr_assert_eq(waitpid(pids[i], &status, 0), pids[i]);
		cr_assert_eq(status, 0, "%s: a process ended with %d", scene->row->name, status);
	}
}

FOR_EVERY_LOCK(conformance_exclusion, many_clients_in_several_processes)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct scene scene;
	int count;

	scene_open(&scene, *row);
	run_processes(&scene, shared);
	count = atoi(support_ask(scene.admins[0], "GET", "counter"));
	cr_assert_eq(shared->failures, 0, "%s: %d calls failed", scene.row->name, shared->failures);
	cr_assert_eq(shared->overlaps, 0, "%s: %d were not alone", scene.row->name,
		     shared->overlaps);
	cr_assert_eq(count, PROCESSES * THREADS * ROUNDS, "%s: counted %d", scene.row->name, count);
	scene_expect_free(&scene, "lock");
	scene_expect_free(&scene, "lock:line");
	scene_close(&scene);
	munmap(shared, sizeof(*shared));
}
