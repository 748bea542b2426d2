/* SPDX-License-Identifier: MIT */
/*
 * Plays races on real servers, and strategies as somebody says, and keeps a trace of
 * them. */
#ifndef RR_PLAY_H
#define RR_PLAY_H

#include "base/error.h"
#include "base/machine.h"
#include "cluster/cluster.h"
#include "race/race.h"
#include "recorder.h"
#include "strategy.h"

/* ---- Playing (player.c) ------------------------------------------------- */

/* Told of every step: before it, when it may end the race by returning false,
 * and after it. Either may be NULL. */
struct rr_listener {
	bool (*before)(void *context, const struct rr_trace *trace, const struct rr_step *step);
	void (*after)(void *context, const struct rr_trace *trace, const struct rr_event *event);
	void *context;
};

/*
 * Plays `race` in `cluster`, which it resets first. True: it was played, as
 * written or not (trace->as_written; it ends at the first reply that differs).
 * RR_ERROR_SKIPPED: the server lacks what the race needs. Other errors: it could
 * not be played. The trace is the caller's to free in any case, and must not
 * outlive the race. `listener` may be NULL.
 */
bool rr_player_play(const struct rr_race *race, struct rr_cluster *cluster,
		    const struct rr_listener *listener, struct rr_trace *trace,
		    struct rr_error *error);

/* Shows what was played; what the program exits with. */
typedef enum rr_exit (*rr_show)(void *context, const struct rr_trace *trace);

/* ---- Playing with questions (quiz.c) ------------------------------------ */

/*
 * Plays `race`, asking on stdout before each step, and what its reply will be: on a
 * screen of its own when standard input and output are a terminal, where one can step
 * back, too; else line by line. Shows it at its end, unless somebody has had enough,
 * and says how many answers were right. What the program exits with, unless there is
 * an error.
 */
enum rr_exit rr_quiz_play(const struct rr_race *race, struct rr_cluster *cluster, bool ascii,
			  rr_show show, void *context, struct rr_error *error);

/* Is that what came? Quotes, brackets, (integer) and capital letters do not
 * matter, nor what follows in an error. */
bool rr_quiz_is_right(const char *answer, const char *reply);

/* ---- Pauses (screen.c) -------------------------------------------------- */

/* Prints `prompt` and waits for a key, at a terminal. False: it was q, a signal
 * has come (signals.interrupted), or the guardian is gone. */
bool rr_press_key(struct rr_session *session, const char *prompt);

/* Lines of the terminal; 24 where it does not say. */
size_t rr_screen_rows(void);

/* ---- Playing a strategy (schedule.c, interactive.c) --------------------- */

enum { RR_GUIDED_CLIENTS = 6, RR_INCREMENTS_MAX = 100 };

struct rr_guided_setup {
	const struct rr_strategy *strategy;
	size_t n_clients; /* RR_GUIDED_CLIENTS at most */
	long increments;  /* of each */
	long processes;   /* 1: threads of one; else a process each */
};

struct rr_guided_options {
	struct rr_guided_setup setup; /* strategy NULL = it is a race */
	const char *schedule;         /* NULL = none was given */
	const char *save;             /* NULL = nowhere */
	bool stops;                   /* at the schedule's end */
	bool is_lenient;              /* steps that a client cannot do are left out */
	bool interactive;             /* somebody says, key by key, who goes next */
};

/* What was asked for; what the program exits with, unless there is an error. */
enum rr_exit rr_play_strategy(const struct rr_guided_options *options, struct rr_cluster *cluster,
			      rr_show show, void *context, struct rr_error *error);

/* Somebody says, key by key, who goes next. What was chosen is kept: to take a choice
 * back, everything before it is done again from the start. False: the error. */
bool rr_interactive_run(const struct rr_guided_setup *setup, struct rr_cluster *cluster,
			struct rr_error *error);

#endif
