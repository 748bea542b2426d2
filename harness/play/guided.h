/* SPDX-License-Identifier: MIT */
/*
 * A strategy's own code, guided step by step by a schedule or by somebody at the
 * keyboard, and recorded as a race: its trace can be drawn, judged and written down like
 * that of any other.
 *
 * Servers and time are a cluster's. Each client is a process of its own, unless they
 * share one. A renewer's commands are recorded as its client's.
 */
#ifndef RR_GUIDED_H
#define RR_GUIDED_H

#include "environment.h"
#include "play.h"
#include "product/product.h"

enum { RR_THREAD_TEXT_SIZE = 280, RR_THREAD_NAME_SIZE = 8 };

struct rr_guided;

/* What is to happen next. Of LOSE, `lane` does not matter: the reply to the client's
 * next command gets lost, whenever that is executed. */
struct rr_decision {
	struct rr_transition transition;
	int64_t ns;       /* of WAIT and PAUSE; rounded up to microseconds */
	const char *note; /* nothing; this is noted instead */
	bool stops;       /* that was all */
};

typedef struct rr_decision (*rr_decide)(void *context, struct rr_guided *guided,
					const struct rr_live_view *view);

struct rr_guided {
	struct rr_guided_setup setup;
	struct rr_cluster *cluster;
	struct rr_terms terms;
	struct rr_stacks stacks;
	struct rr_scripts scripts;
	struct rr_counting counting;
	struct rdl_address addresses[RR_RACE_SERVERS_MAX];
	struct rr_program program;
	struct rr_recorder recorder;
	struct rr_trace trace;
	struct environment environment;
	struct rr_observer observer;
	struct rr_live *live;
	rr_decide decide;
	void *context;
	size_t n_marks; /* recorded so far: who got any further */
	bool loses[RR_GUIDED_CLIENTS];
	char fault[RR_REMARK_SIZE]; /* what the last restart has broken */
	bool has_ended;             /* everybody came to an end */
	struct rr_error error;
};

/* One execution from its beginning, on servers of its own, to its end or to a
 * decision that stops it. False: guided->error. Close it in any case; what it has
 * recorded is there until then. */
bool rr_guided_run(struct rr_guided *guided, const struct rr_guided_setup *setup,
		   struct rr_cluster *cluster, rr_decide decide, void *context);
void rr_guided_close(struct rr_guided *guided);

/* For an rr_decide that cannot go on: notes why, and stops. */
struct rr_decision rr_guided_fail(struct rr_guided *guided, enum rr_error_kind kind,
				  const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Judges what has happened so far as if it were all, in the trace and in the
 * race's verdict. Done at the end. */
void rr_guided_judge(struct rr_guided *guided);

/* Is this client in its critical section? */
bool rr_guided_is_inside(const struct rr_guided *guided, int client);

/* When the lease of the lock ends, so that its key is gone, from now on; 0 =
 * there is no lock, or it has none. */
int64_t rr_guided_lease_ns(const struct rr_guided *guided);

/* Replaces the file at `path`, whole or not at all, by what was recorded. */
bool rr_guided_save(const struct rr_guided *guided, const char *path, struct rr_error *error);

/* ---- In words ---------------------------------------------------------------- */

/* "A", and "A'" for its first renewer. */
const char *rr_thread_name(const struct rr_live_view *view, size_t thread,
			   char name[RR_THREAD_NAME_SIZE]);

/* What it is about to do: "SET", "sleep", "wait", "lock", "unlock", "clock",
 * "join". */
const char *rr_thread_verb(const struct rr_guided *guided, const struct rr_thread_view *thread);

/* "make SET counter:0 1", "go on after a sleep, in 400us". */
void rr_thread_text(const struct rr_guided *guided, const struct rr_thread_view *thread,
		    int64_t now_ns, char text[RR_THREAD_TEXT_SIZE]);

static inline bool rr_thread_is_alive(const struct rr_thread_view *thread)
{
	return thread->state == RR_THREAD_READY || thread->state == RR_THREAD_BLOCKED ||
	       thread->state == RR_THREAD_PAUSED;
}

#endif
