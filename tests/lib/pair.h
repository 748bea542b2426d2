/* SPDX-License-Identifier: MIT */
/* A private server and two links to it: the user's and another client's. */
#ifndef RR_TEST_PAIR_H
#define RR_TEST_PAIR_H

#include "../support.h"

extern struct support support;
extern struct rdl_link *link_, *other;

/* Before and after each test. */
void pair_setup(void);
void pair_teardown(void);

/* Adds 1 to the key "counter" by a read and a write, which lose an increment where two clients do
 * it together. False: no reply, or no number. */
bool pair_increment(struct rdl_link *link);

#endif
