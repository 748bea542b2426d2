/* SPDX-License-Identifier: MIT */
/* What the files of this folder share; not for others. */
#ifndef RR_WORLD_PARTS_H
#define RR_WORLD_PARTS_H

#include <time.h>

#include "world.h"

/* ---- common.c: messages and waiting --------------------------------------- */

/* Puts a message into `error` and returns `code`. */
enum rr_exit world_fail(char error[RR_WORLD_ERROR], enum rr_exit code,
			const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* RR_EXIT_REDIS with what its last answer to us was. */
enum rr_exit world_refused(const struct rr_server *server,
			   char error[RR_WORLD_ERROR]);

/* RR_EXIT_SKIPPED if there is no shim. */
enum rr_exit world_need_shim(const struct rr_world *world,
			     char error[RR_WORLD_ERROR]);

int64_t world_clock_ns(clockid_t clock);

/* Waits, one millisecond at a time; false when the limit has passed or the
 * program was interrupted. Begin with deadline_ns = 0. */
bool world_wait(struct rr_world *world, int timeout_ms, int64_t *deadline_ns);
enum rr_exit world_late(const struct rr_world *world, const char *what,
			char error[RR_WORLD_ERROR]);

/* ---- world.c -------------------------------------------------------------- */

/* The server if it is in that state; NULL, with a message, if not. `verb` is
 * what cannot be done to it: "kill". */
struct rr_server *world_server(struct rr_world *world, int server,
			       enum rr_server_state state, const char *verb,
			       char error[RR_WORLD_ERROR]);

/* ---- boot.c: starting ----------------------------------------------------- */

/* A fresh directory with page and configuration, a process, and an answer. */
enum rr_exit world_make(struct rr_world *world, struct rr_server *server,
			char error[RR_WORLD_ERROR]);
enum rr_exit world_launch(struct rr_world *world, struct rr_server *server,
			  char error[RR_WORLD_ERROR]);
enum rr_exit world_await_up(struct rr_world *world, struct rr_server *server,
			    char error[RR_WORLD_ERROR]);

/* No process, no directory, no page, no link. */
void world_discard(struct rr_world *world, struct rr_server *server);

/* ---- config.c ------------------------------------------------------------- */

enum rr_exit world_write_config(const struct rr_world *world,
				const struct rr_server *server,
				char error[RR_WORLD_ERROR]);

/* A TCP port that is free at the moment; 0 = none. */
int world_free_port(void);

/* ---- page.c --------------------------------------------------------------- */

/* The path of the shim, "" if there is none. */
void world_find_shim(const char *wanted, char *path, size_t size);

/* The server's page, in its directory. */
enum rr_exit world_make_page(const struct rr_world *world,
			     struct rr_server *server,
			     char error[RR_WORLD_ERROR]);
void world_drop_page(struct rr_server *server);

/* Puts the world's time on the server's page. */
void world_set_page(const struct rr_world *world, struct rr_server *server);

/* How much of a file a finished fsync covers. */
int64_t world_synced(const struct rr_server *server, const char *name);

/* The file has been cut: it covers no more than `length`. */
void world_limit_synced(struct rr_server *server, const char *name,
			int64_t length);

/* ---- pool.c: servers for the next race ------------------------------------ */

bool world_is_plain(const struct rr_server_options *options);

/* A digest of all that a client can configure; 0 = it did not answer. */
uint64_t world_digest(struct rr_server *server);

/* As after its start; false when that cannot be had. */
bool world_scrub(struct rr_world *world, struct rr_server *server);

/* ---- aof.c: append-only files --------------------------------------------- */

/* The part that commands are appended to: its path, and its name in it. */
bool world_aof_path(const struct rr_server *server, char *path, size_t size,
		    const char **name);

/* Where the n-th command begins and ends; false when there are fewer. */
bool world_aof_command(const char *path, long n, int64_t *start, int64_t *end);

/* The bytes from `start` to `end` taken out: those behind move up. And one byte
 * made another. False with errno. */
bool world_aof_take_out(const char *path, int64_t start, int64_t end);
bool world_aof_overwrite(const char *path, int64_t at);

/* The file's length; -1 = there is none. */
int64_t world_file_length(const char *path);

#endif
