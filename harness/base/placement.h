/* SPDX-License-Identifier: MIT */
/* Which processor the clients and their servers run on. */
#ifndef RR_PLACEMENT_H
#define RR_PLACEMENT_H

/* The processor for a pinned run: the last one this process may use, because
 * the first ones serve the machine's interrupts. */
int rr_placement_cpu(void);

/* The processor of job `n` of several, from 0: the one above, then those before
 * it, and again; of those that this process may use when it is called. */
int rr_placement_nth(int n);

/* Pins the calling thread, and whatever it forks or starts; -1 = leave it. */
void rr_placement_pin(int cpu);

/* Processors this process may use. */
int rr_placement_count(void);

#endif
