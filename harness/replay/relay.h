/* SPDX-License-Identifier: MIT */
/*
 * What stands between the clients of a path and its servers: a relay that holds back
 * whole requests and whole replies of each connection, and lets them pass, loses them or
 * closes connections as the path says.
 *
 * It knows what is true of any network, and no more: a server gets what a connection
 * brings in the order in which it was sent; a client hears what the server has answered,
 * in that order, or that its connection is closed; nothing comes out of a connection that
 * is closed, but for what had been sent before. A path that says something else differs
 * from that, and so does one in which a client sends something else, or a server says
 * something else.
 *
 * A function that returns false has set relay->error.
 */
#ifndef RR_RELAY_H
#define RR_RELAY_H

#include "actions.h"
#include "server/server.h"

/* Its number among those to its server is that of the asker's slot. */
struct rr_relay_connection {
	bool is_used;
	bool is_left;   /* by its client, who hears nothing of it any more */
	bool is_closed; /* no request arrives any more, and the server knows */
	uint8_t client, lane;
	uint32_t ordinal; /* its number among those of its lane */
	uint32_t message; /* that was read and is to be heard next; RR_NO_ID = none */
	uint32_t blocks;  /* the command, on the server; RR_NO_ID = none does */
	bool is_served;   /* it has its reply, of which the path has said nothing yet */
	uint32_t served;  /* its reply then */
	size_t n_answers; /* to requests of which the client has not heard yet */
	struct rr_relay_answer {
		uint8_t kind; /* enum rr_answer_kind */
		uint32_t reply;
	} answers[RR_RUN_SENT];
	size_t n_late; /* commands that its client had sent when it left it */
	uint32_t late[RR_RUN_SENT];
};

struct rr_relay {
	const struct rr_program *program;
	struct rr_client_run *runs[RR_RUN_CLIENTS]; /* the owner's; NULL: it has crashed */
	struct rr_servers servers;
	bool is_down[RR_CLUSTER_SERVERS];
	struct rr_relay_connection connections[RR_CLUSTER_SERVERS][RR_ASKER_SLOTS];
	size_t step; /* of the path, for errors */
	struct rr_error error;
};

/* Nobody is connected, and servers are empty. At the end its servers are closed. */
bool rr_relay_begin(struct rr_relay *relay, struct rr_cluster *cluster,
		    const struct rr_scripts *scripts);

/* RR_ACTION_ASK and _DOWN: a request passes, a message is read, a connection is closed, a
 * clock jumps, a server restarts. */
bool rr_relay_ask(struct rr_relay *relay, const struct rr_action *action);

/* RR_ACTION_SERVE: a command that blocked has been served, with the reply of the path. */
bool rr_relay_serve(struct rr_relay *relay, const struct rr_action *action);

/* Has the path said of all commands that were served that they were? */
bool rr_relay_has_told_served(struct rr_relay *relay, const struct rr_action *action);

/* RR_ACTION_ANSWER: a request never arrives; or the reply to one that blocks will not. */
bool rr_relay_drop(struct rr_relay *relay, const struct rr_action *action);

/* A client that waits for something on a connection is told what comes next there: is it
 * what the path says? */
bool rr_relay_tell(struct rr_relay *relay, const struct rr_action *action,
		   const struct rr_stop *stop);

/* A client is about to die, and its connections with it: servers have not noticed yet. */
bool rr_relay_leave_all(struct rr_relay *relay, const struct rr_action *action);

/* Time passes on all servers. */
bool rr_relay_pass_time(struct rr_relay *relay, int64_t ns);

/* Is a client in its critical section, or has it sent something from there that has not
 * passed yet? */
bool rr_relay_is_inside(struct rr_relay *relay, uint8_t client);

/* Requests from within the critical section of which the client has not heard. */
size_t rr_relay_count_inside(const struct rr_run_view *view);

/* Sets the error: where the client differs from the path, and how. Returns false. */
bool rr_relay_differ(struct rr_relay *relay, const struct rr_action *action, const char *format,
		     ...) __attribute__((format(printf, 3, 4)));

#endif
