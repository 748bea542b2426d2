/* SPDX-License-Identifier: MIT */
/* What tests share: private servers, clients, a way to run the program. */
#ifndef RR_TEST_SUPPORT_H
#define RR_TEST_SUPPORT_H

#include <criterion/criterion.h>

#include "bench/bench.h"
#include "cluster/cluster.h"
#include "strategy.h"

/* A session with `n` private servers that answer. Fails the test otherwise. */
struct support {
	struct rr_session session;
	struct rr_cluster cluster;
	struct rdl_address addresses[RR_CLUSTER_SERVERS];
};
void support_open(struct support *support, size_t n);
void support_close(struct support *support);

/* Sees to it that there are so many of them. */
void support_need(struct support *support, size_t n);

/* Does it to server `i`. */
void support_inject(struct support *support, size_t i, enum rr_fault fault);

/* A connected link to server `i`. The caller frees it. */
struct rdl_link *support_link(struct support *support, size_t i);

/* Makes that server listen on a free port of 127.0.0.1 as well; which one. */
unsigned support_listen(struct rdl_link *link);

/* The text of a reply to a command, "(nil)" or a number printed, as the caller
 * reads it before the next call on the link. */
const char *support_ask(struct rdl_link *link, const char *command, const char *argument);

/* A client of one counter with links of its own to all servers. */
struct support_client {
	struct rr_client client;
	struct rdl_link *links[RR_CLUSTER_SERVERS];
	struct rdl_mutex mutex;
	size_t n_links;
};
void support_client_open(struct support_client *client, struct support *support,
			 const struct rr_strategy *strategy, const struct rdl_driver *driver);
void support_client_close(struct support_client *client, const struct rr_strategy *strategy);

/* What the first server would need for the strategy; NULL: it has all of it. */
const char *support_lacks(struct support *support, const struct rr_strategy *strategy);

/* A run of `increments` with sensible settings; change what matters. */
struct rr_run support_run(struct support *support, const struct rr_strategy *strategy, int threads,
			  long increments);

/* Runs it and returns a measurement, owned by the caller. */
struct rr_measurement *support_measure(struct support *support, const struct rr_run *run);

/* `actual` is what tests/golden/NAME holds, to the letter. */
void support_assert_golden(const char *name, const char *actual);

/* A fresh directory below $TMPDIR, or /tmp; servers can have sockets in it. The
 * caller removes it, with all that is in it, by the second. */
enum { SUPPORT_DIRECTORY = 64 };
void support_directory(char path[SUPPORT_DIRECTORY]);
void support_remove(const char *path);

/* Runs a shell command in the project's root, where $REDRACE is the program;
 * its exit code and the first `size` bytes of its output. What it says on its
 * standard error goes to the log. */
int support_shell(const char *command, char *output, size_t size);

/* For how long the first thread of a process has slept: since when does not matter. What it
 * computes and what it waits for a processor, as on a loaded machine, is no part of that. */
long support_asleep_ms(pid_t pid);

/* What this process says on its standard error is captured from the first call
 * on; what it has said since the last call holds `part`. */
void support_capture_errors(void);
void support_assert_error(const char *part);

#endif
