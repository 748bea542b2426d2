/* SPDX-License-Identifier: MIT */
/*
 * A rehearsal: a strategy's own code under a gate, moved by somebody, and what
 * happens told as a race: its trace can be drawn, judged and written down like
 * that of any other.
 *
 * Servers and time are a cluster's. Each client is a process of its own, unless
 * they share one. A renewer's commands are told as its client's.
 */
#ifndef RR_REHEARSAL_H
#define RR_REHEARSAL_H

#include "race/race.h"
#include "scenery.h"
#include "scheduler/subject.h"

enum { RR_CAST_MAX = 6, RR_INCREMENTS_MAX = 100 };

struct rr_rehearsal;

/* What is to happen next. */
enum rr_move_kind {
	RR_MOVE_STEP,    /* an actor of the gate does what it is about to */
	RR_MOVE_PASS,    /* time passes, `ns` of it */
	RR_MOVE_CRASH,   /* a client's process */
	RR_MOVE_PAUSE,   /* it stands still for `ns` */
	RR_MOVE_LOSE,    /* the reply to the client's next command gets lost */
	RR_MOVE_RESTART, /* a server comes back empty */
	RR_MOVE_NOTE,    /* `note` is told */
	RR_MOVE_STOP,
};

struct rr_move {
	enum rr_move_kind kind;
	int actor;  /* STEP: of the gate; CRASH, PAUSE, LOSE: a client */
	int server;
	int64_t ns; /* rounded up to whole microseconds */
	const char *note;
};

typedef struct rr_move (*rr_ask)(void *context, struct rr_rehearsal *rehearsal,
				 const struct rr_view *view);

struct rr_rehearsal_setup {
	const struct rr_strategy *strategy;
	size_t n_clients; /* RR_CAST_MAX at most */
	long increments;  /* of each */
	bool one_process;
};

/* A reply that was lost; `link` is NULL as soon as the client has noticed. What
 * it sends there before that is executed, and lost as well. */
struct rr_loss {
	const struct rl_link *link;
	struct rr_step *step;
};

struct rr_rehearsal {
	struct rr_rehearsal_setup setup;
	struct rr_cluster *cluster;
	struct rr_race *race;  /* made up as it goes */
	struct rr_trace trace;
	struct rr_scenery scenery;
	struct rr_observer observer;
	struct rr_subject *subject;
	rr_ask ask;
	void *context;
	bool is_live;      /* not before the warm-up has ended */
	bool is_full;      /* no room for another step */
	bool is_over;
	size_t n_seen;     /* of the gate's events */
	size_t n_marks;    /* told so far: who got any further */
	long counted[RR_CAST_MAX];
	bool losing[RR_CAST_MAX];
	struct rr_loss losses[RR_CAST_MAX]; /* the last one of each */
	struct rr_subject_result result;
	enum rr_exit code;
	char error[RR_CLUSTER_ERROR];
};

/*
 * One execution from its beginning, on servers of its own, to its end or to
 * RR_MOVE_STOP. Not RR_EXIT_OK: `error` says why. Close it in any case; what it
 * has told is there until then.
 */
enum rr_exit rr_rehearsal_run(struct rr_rehearsal *rehearsal,
			      const struct rr_rehearsal_setup *setup,
			      struct rr_cluster *cluster, rr_ask ask,
			      void *context);
void rr_rehearsal_close(struct rr_rehearsal *rehearsal);

/* For an rr_ask that cannot go on: notes why, and returns RR_MOVE_STOP. */
struct rr_move rr_rehearsal_fail(struct rr_rehearsal *rehearsal,
				 enum rr_exit code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Judges what has happened so far as if it were all, in the trace and in the
 * race's verdict. Done at the end. */
void rr_rehearsal_judge(struct rr_rehearsal *rehearsal);

/* When the lease of the lock ends, so that its key is gone, from now on; 0 =
 * there is no lock, or it has none. */
int64_t rr_rehearsal_lease_ns(const struct rr_rehearsal *rehearsal);

#endif
