/* SPDX-License-Identifier: MIT */
/* A cluster for one test, and something to say to its servers. */
#ifndef RR_TEST_STAGE_H
#define RR_TEST_STAGE_H

#include <criterion/criterion.h>

#include "cluster/cluster.h"

struct stage {
	struct rr_session session;
	struct rr_cluster cluster;
	struct rr_error error;
};

/* Fails the test if there are no servers to be had, or no clock but the real
 * one where another was asked for. */
void stage_open(struct stage *stage, enum rr_cluster_clock clock);

/* Closes it and sees that nothing is left. */
void stage_close(struct stage *stage);

/* A started server. */
int stage_server(struct stage *stage, const char *name, struct rr_server_options options);

/* A client of it. The caller frees it. */
struct rdl_link *stage_link(struct stage *stage, int server);

/* One command, its words divided by spaces; the reply in a line: "OK", "(nil)",
 * "3", "[a,b]", "-WRONGTYPE ...", "(lost)" or "(refused)" without a reply. The
 * text is valid until the fourth call from then. */
const char *stage_say(struct rdl_link *link, const char *line);

/* The same by a client that comes and goes. */
const char *stage_ask(struct stage *stage, int server, const char *line);

/* A tick in milliseconds, which must have moved the servers' clocks. */
void stage_tick_ms(struct stage *stage, int64_t ms);

/* Injects a fault; false with stage->error. And one with an amount of
 * milliseconds, and a torn file. */
bool stage_inject(struct stage *stage, int server, enum rr_fault fault);
bool stage_inject_ms(struct stage *stage, int server, enum rr_fault fault, int64_t ms);
bool stage_tear(struct stage *stage, int server, enum rr_tear tear, long n);

/* Fails the test, with the message of stage->error, unless it is good. */
void stage_good(const struct stage *stage, bool good);

/* Fails the test unless it is not good, and the error of that kind. Its text
 * stays until the next one. */
void stage_bad(struct stage *stage, bool good, enum rr_error_kind kind);

#endif
