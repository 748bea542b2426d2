/* SPDX-License-Identifier: MIT */
/*
 * What is around the clients of a race: its servers, set up as the headings
 * say, looked at after every step over connections of their own, and made to
 * fail. And such connections, whose bytes are in our hands.
 */
#ifndef RR_ENVIRONMENT_H
#define RR_ENVIRONMENT_H

#include "base/error.h"
#include "cluster/cluster.h"
#include "race/race.h"

/* ---- Connections -------------------------------------------------------- */

/* Commands, halves of commands, and replies that are read when somebody asks
 * for them: what the library's connection hides, a race has to show. */
struct connection;

/* Connects and gives the address's password; NULL when it cannot. */
struct connection *connection_open(const struct rdl_address *address, struct rr_error *error);
void connection_close(struct connection *connection);

/* Sends; false when the connection is broken. */
bool connection_send(struct connection *connection, size_t n_words, const struct rdl_word *words);
bool connection_send_bytes(struct connection *connection, const char *bytes, size_t length);

enum connection_state {
	CONNECTION_REPLY,  /* one has come */
	CONNECTION_SILENT, /* none within the time */
	CONNECTION_CLOSED, /* none will come */
};

/* The next reply, as rr_reply_text() has it; (closed) if CONNECTION_CLOSED. */
enum connection_state connection_read(struct connection *connection, int timeout_ms,
				      char text[RR_REPLY_TEXT_SIZE]);

/* ---- Servers ------------------------------------------------------------ */

struct environment {
	const struct rr_race *race;
	struct rr_cluster *cluster;
	char *rights;                 /* of its servers' clients, until the cluster is reset */
	struct rr_observer *observer; /* is told what is seen */
	struct connection *connections[RR_RACE_SERVERS_MAX]; /* for looking */
	char keys[RR_KEYS_SHOWN_MAX][RR_VALUE_SIZE];         /* as last seen */
	int64_t ends_ns[RR_KEYS_SHOWN_MAX];                  /* of their leases, -1 = never */
};

/* Resets the cluster, declares and starts the servers, sees whether they have
 * what the race needs (RR_ERROR_SKIPPED), does what is given. To be closed in
 * any case. */
bool environment_open(struct environment *environment, const struct rr_race *race,
		      struct rr_cluster *cluster, struct rr_observer *observer,
		      struct rr_error *error);
void environment_close(struct environment *environment);

/* Appends to the words of a step that makes a user what no client of a race may do; how many
 * there are then. */
size_t environment_add_denied(const struct environment *environment, const struct rr_step *step,
			      int server, struct rdl_word words[RR_WORDS_MAX]);

/* Looks at the keys shown after a step of `client`, and tells the observer what the lock is like: for
 * the step's event. `remark`: what is said of it so far. What cannot be asked stays as it was last
 * seen until its lease is over. */
void environment_look(struct environment *environment, int client, char remark[RR_REMARK_SIZE],
		      struct rr_event *event);

/* Does a RR_STEP_FAULT; tells the observer what became of the keys shown. */
bool environment_fault(struct environment *environment, const struct rr_step *step,
		       char remark[RR_REMARK_SIZE], struct rr_error *error);

/* Tells an observer what is there at the end. */
void environment_end(struct environment *environment, struct rr_observer *observer);

#endif
