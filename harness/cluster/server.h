/* SPDX-License-Identifier: MIT */
/* One server of a cluster, as the files of this folder see it. */
#ifndef RR_SERVER_H
#define RR_SERVER_H

#include "clock_page.h"
#include "cluster.h"

/* The user by which replicas of a topology come to their primary, and the name of the service
 * that sentinels watch. */
#define RR_REPLICA_USER "replication"
#define RR_SERVICE_NAME "redrace"

/* ---- server.c: starting, looking, ending ------------------------------------ */

/* A fresh directory with page and configuration, and a process, which need not
 * answer yet. */
bool rr_server_make(struct rr_cluster *cluster, struct rr_server *server, struct rr_error *error);
bool rr_server_await_up(struct rr_cluster *cluster, struct rr_server *server,
			struct rr_error *error);

/* A process in the directory that it has had before; it answers then. */
bool rr_server_start_again(struct rr_cluster *cluster, struct rr_server *server,
			   struct rr_error *error);

/* No process, no directory, no page, no link. */
void rr_server_discard(struct rr_cluster *cluster, struct rr_server *server);

/* Its clients may do what its options say, and no more; false, with an error, if it cannot
 * be made so. */
bool rr_server_restrict(struct rr_server *server, struct rr_error *error);

/* Is it a plain one, as any race may have it? */
bool rr_server_is_plain(const struct rr_server_options *options);

/* Makes it as it was after its start; false when that cannot be had. */
bool rr_server_scrub(const struct rr_cluster *cluster, struct rr_server *server);

/* Removes what it has saved, and what its page says of that. */
void rr_server_remove_data(struct rr_server *server);

/* False, and what its last answer to us was as the error. */
bool rr_server_refused(const struct rr_server *server, struct rr_error *error);

/* Sends it a command, as rdl_run() does, whose reply is of no interest. False: the error,
 * as above. */
bool rr_server_run(struct rr_server *server, struct rr_error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Waits, one millisecond at a time; false when the limit has passed or the
 * program was interrupted, with an error if `what` is not NULL: what did not
 * happen. Begin with deadline_ns = 0. */
bool rr_server_wait(struct rr_cluster *cluster, int timeout_ms, int64_t *deadline_ns,
		    const char *what, struct rr_error *error);

/* What INFO replication says. */
struct rr_replication {
	bool is_primary;
	bool is_linked;   /* a replica's link to its primary is up */
	int n_replicas;   /* of a primary */
	long long offset; /* how much it has of what was written; -1 = unknown */
};

/* False: it does not run or does not answer. */
bool rr_server_replication(struct rr_server *server, struct rr_replication *found);

/* ---- clock.c: the page that a server shares with us ------------------------- */

/* The path of the shim, "" if there is none. */
void rr_shim_find(const char *wanted, char *path, size_t size);

/* The cluster's time is what it is when a race begins. */
void rr_page_restart_time(struct rr_cluster *cluster);

/* The server's page, in its directory. */
bool rr_page_make(struct rr_cluster *cluster, struct rr_server *server, struct rr_error *error);

/* Puts the cluster's time on the server's page. */
void rr_page_set_time(const struct rr_cluster *cluster, struct rr_server *server);

/* Does the server's clock show the cluster's time? */
bool rr_page_is_followed(const struct rr_cluster *cluster, struct rr_server *server);

/* False, with an error, if there is no shim. */
bool rr_shim_need(const struct rr_cluster *cluster, struct rr_error *error);

#endif
