/* SPDX-License-Identifier: MIT */
/* What the files of this folder share; not for others. */
#ifndef RR_CLUSTER_PARTS_H
#define RR_CLUSTER_PARTS_H

#include <time.h>

#include "cluster.h"

/* ---- common.c: messages and waiting --------------------------------------- */

/* Puts a message into `error` and returns `code`. */
enum rr_exit cluster_fail(char error[RR_CLUSTER_ERROR], enum rr_exit code,
			  const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* RR_EXIT_REDIS with what its last answer to us was. */
enum rr_exit cluster_refused(const struct rr_server *server,
			     char error[RR_CLUSTER_ERROR]);

/* RR_EXIT_SKIPPED if there is no shim. */
enum rr_exit cluster_need_shim(const struct rr_cluster *cluster,
			       char error[RR_CLUSTER_ERROR]);

int64_t cluster_clock_ns(clockid_t clock);

/* Waits, one millisecond at a time; false when the limit has passed or the
 * program was interrupted. Begin with deadline_ns = 0. */
bool cluster_wait(struct rr_cluster *cluster, int timeout_ms,
		  int64_t *deadline_ns);
enum rr_exit cluster_late(const struct rr_cluster *cluster, const char *what,
			  char error[RR_CLUSTER_ERROR]);

/* ---- cluster.c -------------------------------------------------------------- */

/* The server if it is in that state; NULL, with a message, if not. `verb` is
 * what cannot be done to it: "kill". */
struct rr_server *cluster_server(struct rr_cluster *cluster, int server,
				 enum rr_server_state state, const char *verb,
				 char error[RR_CLUSTER_ERROR]);

/* ---- boot.c: starting ----------------------------------------------------- */

/* A fresh directory with page and configuration, a process, and an answer. */
enum rr_exit cluster_make(struct rr_cluster *cluster, struct rr_server *server,
			  char error[RR_CLUSTER_ERROR]);
enum rr_exit cluster_launch(struct rr_cluster *cluster,
			    struct rr_server *server,
			    char error[RR_CLUSTER_ERROR]);
enum rr_exit cluster_await_up(struct rr_cluster *cluster,
			      struct rr_server *server,
			      char error[RR_CLUSTER_ERROR]);

/* No process, no directory, no page, no link. */
void cluster_discard(struct rr_cluster *cluster, struct rr_server *server);

/* ---- config.c ------------------------------------------------------------- */

enum rr_exit cluster_write_config(const struct rr_cluster *cluster,
				  const struct rr_server *server,
				  char error[RR_CLUSTER_ERROR]);

/* A TCP port that is free at the moment; 0 = none. */
int cluster_free_port(void);

/* ---- page.c --------------------------------------------------------------- */

/* The path of the shim, "" if there is none. */
void cluster_find_shim(const char *wanted, char *path, size_t size);

/* The server's page, in its directory. */
enum rr_exit cluster_make_page(const struct rr_cluster *cluster,
			       struct rr_server *server,
			       char error[RR_CLUSTER_ERROR]);
void cluster_drop_page(struct rr_server *server);

/* Puts the cluster's time on the server's page. */
void cluster_set_page(const struct rr_cluster *cluster,
		      struct rr_server *server);

/* How much of a file a finished fsync covers. */
int64_t cluster_synced(const struct rr_server *server, const char *name);

/* The file has been cut: it covers no more than `length`. */
void cluster_limit_synced(struct rr_server *server, const char *name,
			  int64_t length);

/* ---- pool.c: servers for the next race ------------------------------------ */

bool cluster_is_plain(const struct rr_server_options *options);

/* A digest of all that a client can configure; 0 = it did not answer. */
uint64_t cluster_digest(struct rr_server *server);

/* As after its start; false when that cannot be had. */
bool cluster_scrub(struct rr_cluster *cluster, struct rr_server *server);

/* ---- aof.c: append-only files --------------------------------------------- */

/* The part that commands are appended to: its path, and its name in it. */
bool cluster_aof_path(const struct rr_server *server, char *path, size_t size,
		      const char **name);

/* Where the n-th command begins and ends; false when there are fewer. */
bool cluster_aof_command(const char *path, long n, int64_t *start,
			 int64_t *end);

/* The bytes from `start` to `end` taken out: those behind move up. And one byte
 * made another. False with errno. */
bool cluster_aof_take_out(const char *path, int64_t start, int64_t end);
bool cluster_aof_overwrite(const char *path, int64_t at);

/* The file's length; -1 = there is none. */
int64_t cluster_file_length(const char *path);

#endif
