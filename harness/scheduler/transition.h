/* SPDX-License-Identifier: MIT */
/*
 * What can happen next: the one vocabulary of schedules, of keys, of the search and
 * of random runs.
 */
#ifndef RR_TRANSITION_H
#define RR_TRANSITION_H

#include <stdbool.h>
#include <stdint.h>

enum rr_transition_kind {
	RR_DO_EXECUTE, /* the next command on `lane` of client `who` */
	RR_DO_GO,      /* its thread `lane` goes on */
	RR_DO_BEGIN,   /* it begins an attempt, and waits at once */
	RR_DO_LATE,    /* late command number `who` is executed */
	RR_DO_NOTICE,  /* a server notices that `who` is dead */
	RR_DO_RETURN,  /* server `who` that was down comes back */
	RR_DO_WAIT,    /* time passes by itself, to the next end */
	RR_DO_NEAR,    /* to shortly before it */
	RR_DO_LOSE,    /* faults: EXECUTE, and its reply is lost */
	RR_DO_DROP,    /* the command never arrives, nor does its reply */
	RR_DO_CRASH,   /* of `who`'s process */
	RR_DO_RESTART, /* server `who` comes back empty, or goes down */
	RR_DO_JUMP,    /* of server `who`'s clock, by more than a lease */
	RR_DO_HALF,    /* half a lease passes, renewers keep running */
	RR_DO_WHOLE,   /* until the next lease ends, or a renewer wakes up */
	RR_DO_PAUSE_HALF, /* half a lease passes, and no renewer runs */
	RR_DO_PAUSE,      /* more than a whole one does */
};

struct rr_transition {
	uint8_t kind, who, lane;
};

static inline bool rr_transition_is_fault(struct rr_transition transition)
{
	return transition.kind >= RR_DO_LOSE;
}

/* Is it a step of client `who`, which may lose its reply? */
static inline bool rr_transition_is_step(struct rr_transition transition)
{
	return transition.kind <= RR_DO_BEGIN ||
	       transition.kind == RR_DO_LOSE || transition.kind == RR_DO_DROP;
}

#endif
