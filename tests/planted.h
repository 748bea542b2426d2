/* SPDX-License-Identifier: MIT */
/*
 * Planted bugs: drivers that weaken one command at the seam, so that tests can
 * see whether they would notice. Stateless, so any number of links may share
 * them.
 */
#ifndef RR_TEST_PLANTED_H
#define RR_TEST_PLANTED_H

#include "driver.h"

extern const struct rdl_driver planted_no_nx;       /* SET ... NX without NX */
extern const struct rdl_driver planted_no_watch;    /* WATCH becomes PING */
extern const struct rdl_driver planted_no_compare;  /* EVALSHA becomes DEL */
extern const struct rdl_driver planted_double_incr; /* INCR becomes INCRBY 2 */
extern const struct rdl_driver planted_lost_reply;  /* SET: reply never seen */
/* a delay queue's take removes: ZPOPMIN instead of moving to processing */
extern const struct rdl_driver planted_pop;

#endif
