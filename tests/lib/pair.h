/* SPDX-License-Identifier: MIT */
/* A private server and two links to it: the user's and somebody else's. */
#ifndef RR_TEST_PAIR_H
#define RR_TEST_PAIR_H

#include "../support.h"

extern struct support support;
extern struct rl_link *link_, *other;

/* Before and after each test. */
void pair_setup(void);
void pair_teardown(void);

#endif
