/* SPDX-License-Identifier: MIT */
/*
 * A program that was started, and what it has asked of us: its connections as lanes,
 * its requests in their order. It is told one answer at a time and runs until it waits
 * for the next.
 *
 * What a connection needs to be opened (HELLO, AUTH, CLIENT, COMMAND, INFO, PING,
 * SCRIPT LOAD, QUIT) is answered at once and is no step.
 */
#ifndef RR_INSTANCE_H
#define RR_INSTANCE_H

#include "endings.h"
#include "names.h"
#include "lane.h"
#include "opened.h"
#include "process.h"

/* Where the time goes that instances take: seconds, of all of them. */
struct rr_instance_times {
	double starting; /* waited for, until they first waited for us, or had ended */
	double running;  /* from an answer until they waited again */
	double ending;   /* killing what was needed no more */
};

/* A client that is an app with its requests, or a request alone that asks no app. */
struct rr_instance_app {
	bool has_app;
	size_t n_requests;   /* its first lanes are theirs */
	uint32_t unanswered; /* those that have no answer, as bits: under way until the end */
};

struct rr_instance_config {
	struct rr_process_config process;
	const char *refused;              /* a program with this status, or whose output matches
				* this regular expression, has failed; NULL = none */
	const struct rr_program *program; /* its terms and its `ask` */
	struct rr_instance_times *times;  /* added up there */
	struct rr_endings *endings;
	uint64_t n_starts;                  /* of programs before it */
	const struct rr_instance_app *apps; /* of each client; NULL = they are none */
};

/*
 * Whether threads of an app let each other go on: who waits for a lock that another one gives
 * back comes next, or the other one takes it again. That is up to the kernel and the language,
 * and not to Redis, so that no search of all orders has it.
 *
 * A thread that gives a lock back wakes who waits for it. So in the time from one reply to the
 * next rest two threads that talk to Redis have run, although the reply was for one of them, and
 * none of two requests has its answer. Who only takes a lock when another request is through
 * with it is not woken before.
 */
struct rr_handover {
	struct rr_threads threads; /* at the last rest, that is when all slept */
	/* Those that ran after a reply beside others, one bit for each such time; of threads as
	 * they are numbered in `ran`. More than 64 times are not told apart. */
	struct rr_threads ran;
	uint64_t times[RR_THREADS_MAX];
	unsigned n_times;
	bool waits;      /* more requests are under way than commands are: one waits for another */
	bool has_waited; /* that was so before and after a reply */
};

struct rr_instance {
	const struct rr_instance_config *config;
	const struct rr_instance_app *app;       /* NULL = it is none */
	struct rr_process_config process_config; /* that of the others, but for its clock */
	struct rr_process_plan plan;
	struct rr_process *process;
	size_t client;
	struct rr_lane lanes[RR_RUN_ORDINALS];
	struct rr_renaming inward, outward; /* its texts to ours, and back */
	uint64_t n_reads;                   /* of its clock, so far */
	int64_t slept_ns;     /* before it stood still last; not of an app, whose time is another */
	long long last_id;    /* of the connection that was opened last */
	size_t n_connections; /* that were ever opened */
	unsigned n_forgotten; /* values, so often */
	size_t n_loaded;      /* scripts that it has loaded itself */
	uint32_t *loaded;     /* their hashes, numbers of replies */
	bool is_inside, has_entered, has_read;
	bool was_inside;        /* at some time since it heard something last */
	struct rr_error *error; /* while it runs */
	size_t n_under_way;     /* requests of an app that have begun and were not answered */
	int64_t heard_ns;       /* by its clock, when it was told something last */
	bool has_begun;         /* a request: that is what it was told last, */
	size_t n_owed;          /* and what it was owed before, in commands */
	bool is_over;           /* it was told that its requests are done */
	struct rr_handover handover;
};

/* Starts a program as client `client`, called `name`: it runs by itself, and nobody hears
 * what it asks. `seed`: see struct rr_process_config. Its clock begins `late_ns` later than those of
 * others. Everything must outlive it. NULL: the error. */
struct rr_instance *rr_instance_begin(const struct rr_instance_config *config,
				      const char *const *argv, size_t client, const char *name,
				      uint64_t seed, int64_t late_ns, struct rr_error *error);
void rr_instance_free(struct rr_instance *instance);

/* One that was begun, at any time before: lets it run until it waits for us. False: the
 * error. */
bool rr_instance_settle(struct rr_instance *instance, struct rr_error *error);

/* Of one that was begun: has its time stood still since? If not, what it does next may be
 * due to that nobody has heard it for so long. */
bool rr_instance_is_as_begun(const struct rr_instance *instance);

/* Of one that was settled: may others like it stand unheard for long? It has asked
 * something, and the kernel's time does not go on for it. */
bool rr_instance_can_stand(struct rr_instance *instance);

size_t rr_instance_client(const struct rr_instance *instance);

/* Is its clock ours? Any of its processes has loaded the shim, and none is in Go, which
 * asks the kernel itself. */
bool rr_instance_has_shim(const struct rr_instance *instance);

/* So many bytes have its processes drawn at random. */
uint64_t rr_instance_drawn(const struct rr_instance *instance);

/* Has it asked for its process id? Has it made a file that is named by a fixed one (enum rr_pids)? */
bool rr_instance_asks_pids(const struct rr_instance *instance);
bool rr_instance_names_pid_file(const struct rr_instance *instance);

/* Have threads of the app let each other go on, as far as can be known? Where nobody knows which threads
 * talk to Redis (Go, static programs), it is enough that a request has waited for another one. */
bool rr_instance_hands_over(const struct rr_instance *instance);

/* Has any of its processes libuv? */
bool rr_instance_has_uv(const struct rr_instance *instance);

/* Has it read the time of day after it had waited? */
bool rr_instance_reads_day(const struct rr_instance *instance);

/* Gives it what came on a lane, `passed_ns` after it was told of the time last, and
 * lets it run until it waits. False: the error. */
bool rr_instance_feed(struct rr_instance *instance, const struct rr_input *input, uint8_t lane,
		      int64_t passed_ns, struct rr_error *error);

/* What it waits for: a thread for each lane that is owed a reply. */
struct rr_run_view rr_instance_view(struct rr_instance *instance);

/* How it has ended, and what it has printed so far, which is valid until it runs again. */
struct rr_ending rr_instance_ending(const struct rr_instance *instance);

/* From now on its own text `actual` stands for `canonical`, in both directions and in
 * what it has sent already. False: one of them has a meaning. */
bool rr_instance_rename(struct rr_instance *instance, struct rdl_word canonical,
			struct rdl_word actual);

/* The same, and `canonical` stands for `actual`: it is what another client draws. */
bool rr_instance_exchange(struct rr_instance *instance, struct rdl_word canonical,
			  struct rdl_word actual);

/* That is over. False: there was none. */
bool rr_instance_drop_exchange(struct rr_instance *instance, struct rdl_word canonical);

/* What it has instead of this text; the text: nothing. */
struct rdl_word rr_instance_own(const struct rr_instance *instance, struct rdl_word canonical);

/* That value is nowhere but in its memory, and another one may be called so: if it sends it again,
 * that has another name, which is the same in all instances with its history. */
void rr_instance_forget(struct rr_instance *instance, struct rdl_word canonical);

/* Has it a text of its own for this one? */
bool rr_instance_renames(const struct rr_instance *instance, struct rdl_word canonical);

#endif
