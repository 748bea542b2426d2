/* SPDX-License-Identifier: MIT */
/* Two workers, each with a link, at one delay queue "q" on a private server. */
#ifndef RR_TEST_QUEUE_H
#define RR_TEST_QUEUE_H

#include "../support.h"

enum { LONG_MS = 60000, ID_SIZE = 32 };

extern struct rdl_link *queue_links[2];
extern struct rdl_delay_queue *queue_workers[2];

/* Before and after each test. */
void queue_setup(void);
void queue_teardown(void);

/* The first worker puts; what cannot be done fails the test. */
void queue_put(const char *id, long delay_ms);
void queue_assert_taken(int worker, long hold_ms, const char *wanted);
void queue_assert_nothing_due(int worker);
void queue_assert_length(long long wanted_due, long long wanted_processing);

/* Ends an item; its effect adds one to "effects". */
enum rdl_outcome queue_done(int worker, const char *id);
void queue_assert_effects(const char *wanted);

void queue_sleep_ms(long ms);

#endif
