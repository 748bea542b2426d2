/* SPDX-License-Identifier: MIT */
/* Simple ways to choose; rr_choose functions with their contexts. None of them
 * crashes, loses or pauses anything; time passes when nobody can go on. */
#ifndef RR_CHOOSERS_H
#define RR_CHOOSERS_H

#include "gate.h"
#include "base/random.h"

/* One client after the other, each to its end as far as it can. No context. */
struct rr_choice rr_choose_serial(void *context, const struct rr_view *view);

/* In turn, a step each. No context. */
struct rr_choice rr_choose_in_turn(void *context, const struct rr_view *view);

/* Any of those who are ready, each as likely. `context`: struct rr_random. */
struct rr_choice rr_choose_at_random(void *context, const struct rr_view *view);

#endif
