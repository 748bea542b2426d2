/* SPDX-License-Identifier: MIT */
/* Clients live, in interleavings made on purpose, and what they did. */
#ifndef RR_TEST_SCHEDULED_H
#define RR_TEST_SCHEDULED_H

#include "../cluster/stage.h"
#include "base/random.h"
#include "product/product.h"

struct scheduled {
	struct stage stage;
	struct rr_terms terms;
	struct rr_stacks stacks;
	struct rr_scripts scripts;
	struct rr_counting counting;
	struct rdl_address addresses[RR_CLUSTER_SERVERS];
	struct rr_program program;
	struct rr_live_config config;
	struct rr_live *live;
	char *trace;
	size_t trace_size;
	FILE *file; /* while there is a run */
	int n_inside, overlaps;
	bool inside[RR_RUN_CLIENTS];
};

/* Two clients of a strategy with one increment each, processes of their own, before
 * `change` (may be NULL) has had its say. */
void scheduled_open(struct scheduled *scheduled, const char *strategy,
		    void (*change)(struct scheduled *scheduled));

/* The same for a program of the test's: make, run, free and context are its own. */
void scheduled_open_program(struct scheduled *scheduled, size_t n_clients,
			    const struct rr_program *program);
void scheduled_close(struct scheduled *scheduled);

/* A new path, from empty servers, of which nothing has been done. */
void scheduled_begin(struct scheduled *scheduled);

/*
 * One path from empty servers. Words say who goes on: "A" and "A'" do a step,
 * "!A" crashes, "?A" loses the reply of its command, "~A" stands still until 5 s,
 * "." lets time pass to when the next can go on, "+" an hour. Then one client after
 * the other, until all have ended or nobody can go on any more.
 */
void scheduled_play(struct scheduled *scheduled, const char *script);

/* The same with steps of whoever `choose` picks of those who are ready. */
typedef size_t (*scheduled_choose)(void *context, const struct rr_live_view *view);
void scheduled_run(struct scheduled *scheduled, scheduled_choose choose, void *context);

size_t scheduled_serial(void *context, const struct rr_live_view *view);
size_t scheduled_in_turn(void *context, const struct rr_live_view *view);
size_t scheduled_at_random(void *context, const struct rr_live_view *view);

const struct rr_live_view *scheduled_view(struct scheduled *scheduled);

/* Of all clients: increments that they know are counted, and the count. */
long scheduled_ok(const struct scheduled *scheduled);
long long scheduled_count(struct scheduled *scheduled);

/* The line of the trace that has `part`, from 0; -1 = none. */
int scheduled_line(const struct scheduled *scheduled, const char *part);

#endif
