/* SPDX-License-Identifier: MIT */
/* A race while it is played: what the player's files share. */
#ifndef RR_PLAYER_H
#define RR_PLAYER_H

#include "environment.h"
#include "play.h"

enum { OWED_MAX = 64, MUTEXES_MAX = 8 };

/* A client's connection to a server, and whose commands have not been answered
 * over it yet, the oldest first. */
struct client_connection {
	struct connection *connection; /* NULL = none is open */
	long long blocked_id;          /* the server's number of it, while a command blocks
					* there; 0 = none does */
	size_t n_owed;
	struct {
		int client;
		const struct rr_step *step;
	} owed[OWED_MAX];
};

struct player {
	const struct rr_race *race;
	struct rr_cluster *cluster;
	struct rr_trace *trace;
	struct rr_error *error;
	struct rr_observer observer;
	char remark[RR_REMARK_SIZE]; /* of the step on its way */
	struct environment environment;
	struct client_connection connections[RR_RACE_CLIENTS_MAX][RR_RACE_SERVERS_MAX];
	struct client_connection reserved; /* of the program, for one step at a time */
	bool crashed[RR_RACE_CLIENTS_MAX];
	int64_t skew_ns[RR_RACE_CLIENTS_MAX];
	struct rr_variables variables;
	size_t n_mutexes;
	struct mutex {
		const char *name;
		int holder; /* -1 = free */
	} mutexes[MUTEXES_MAX];
};

/* Sets PATH:LINE and the message as the error; false. `step` NULL: it is about
 * the race as a whole. */
bool player_fail(struct player *player, enum rr_error_kind kind, const struct rr_step *step,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- What clients do (clients.c) ---------------------------------------- */

/* Sends the command, reads the next reply, or both, unless nobody listens. */
bool player_send(struct player *player, const struct rr_step *step, struct rr_event *event);
bool player_read(struct player *player, const struct rr_step *step, struct rr_event *event);
bool player_run(struct player *player, const struct rr_step *step, struct rr_event *event);

/* Sends a part of a command. */
bool player_write_bytes(struct player *player, const struct rr_step *step);

/* Locks or unlocks a mutex. */
bool player_use_mutex(struct player *player, const struct rr_step *step);

/* Closes what a client has open, to all servers. */
void player_disconnect(struct player *player, int client);

#endif
