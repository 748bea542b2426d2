/* SPDX-License-Identifier: MIT */
/* What the two ways of asking about the steps of a race share. */
#ifndef RR_STEPPER_H
#define RR_STEPPER_H

#include <stdio.h>

#include "play.h"

/*
 * Plays the race key by key, on a screen of its own. False: standard input and
 * output are no terminal, or one that does not know how to clear its screen;
 * nothing has been done then.
 */
bool stepper_play(struct rr_quiz *quiz, const struct rr_race *race, struct rr_cluster *cluster,
		  struct rr_trace *trace, struct rr_error *error);

/* Does this step have a reply that can be predicted? */
bool quiz_has_question(const struct rr_step *step);

/* Writes the step that is about to be played as a line. */
void quiz_announce(FILE *out, const struct rr_trace *trace, const struct rr_step *step);

/* What the answer to the last step of the trace was worth; it is noted. */
enum quiz_result quiz_judge(struct rr_quiz *quiz, const struct rr_trace *trace);

#endif
