/* SPDX-License-Identifier: MIT */
/*
 * A real server that is asked one question after another, each answered before the
 * next: commands on the connections of several clients, time, connections that
 * close, a restart. One thread.
 */
#ifndef RR_ASKER_H
#define RR_ASKER_H

#include "scripts.h"
#include "term/term.h"
#include "cluster/cluster.h"

enum { RR_ASKER_SLOTS = 136 };

enum rr_question_kind {
	RR_ASK_COMMAND, /* number `argument`, on connection `slot` */
	RR_ASK_TICK,    /* `argument` nanoseconds pass */
	RR_ASK_CLOSE,   /* connection `slot` is closed */
	RR_ASK_WIPE,    /* restarted without its files */
	RR_ASK_READ,    /* the next message on connection `slot` is read */
	RR_ASK_UNBLOCK, /* the command that blocks on connection `slot` times out */
	RR_ASK_HOLD,    /* a key of database `slot` gets another time to live, by nobody's command
			 * number `argument` */
};

struct rr_question {
	uint8_t kind;
	uint16_t slot; /* one of RR_ASKER_SLOTS, or a database */
	int64_t argument;
};

struct rr_asker;

/* `scripts` must outlive it. NULL and an error: RR_ERROR_DATA if a command that is to
 * be done first is refused. */
struct rr_asker *rr_asker_new(struct rr_cluster *cluster, int server,
			      const struct rr_scripts *scripts, struct rr_error *error);
void rr_asker_free(struct rr_asker *asker);

/* Empty, all connections as new, scripts loaded, its clock at the beginning.
 * False: rr_asker_error(). */
bool rr_asker_reset(struct rr_asker *asker);

/* The same, and what is done for it is sent together with what comes next. */
bool rr_asker_queue_reset(struct rr_asker *asker);

/* Somebody else has started the server again: no connection is open. It is to be wiped
 * next. */
void rr_asker_restarted(struct rr_asker *asker);

/* Somebody else moves the server's clock. */
void rr_asker_leave_clock(struct rr_asker *asker);

/* From the next reset on its clock begins so much later. */
void rr_asker_set_epoch(struct rr_asker *asker, int64_t ns);

/*
 * Asks; `command` is that of the question. The reply is valid until the next call.
 * A command that waits for something (*blocks) has none yet: it blocks on the server, and the
 * connection with it, until rr_asker_served() has its reply. False: rr_asker_error().
 */
bool rr_asker_ask(struct rr_asker *asker, const struct rr_question *question,
		  const struct rdl_command *command, struct rdl_reply *reply, bool *blocks);

/* Commands of connections that carry nothing, sent down one of our own, many in one
 * write, and at the latest before anything else is asked: for who brings a server to a state
 * by what is known already. */
bool rr_asker_queue(struct rr_asker *asker, const struct rdl_command *command);
bool rr_asker_flush(struct rr_asker *asker);

/* The same on a client's connection, of a command that waits for nothing and has one
 * reply. Nobody listens. */
bool rr_asker_queue_on(struct rr_asker *asker, uint16_t slot, const struct rdl_command *command);

/* A message that has come unasked on a connection, read off it. False: none has.
 * All that were sent before the last call have come. */
bool rr_asker_message(struct rr_asker *asker, uint16_t slot, struct rdl_reply *message);

/* Takes the reply to the command that blocks on a connection. False: it blocks still, or none
 * does. The server has served whatever the last question made ready. */
bool rr_asker_served(struct rr_asker *asker, uint16_t slot, struct rdl_reply *reply);

/* How long the command that blocks on a connection waits still, by the server's clock;
 * INT64_MAX: until it is served. */
int64_t rr_asker_blocked_ns(const struct rr_asker *asker, uint16_t slot);

/* What the server says of a command. */
struct rr_command_info rr_asker_info(struct rr_asker *asker, const char *name);

/* The server's data as a text of bytes: see server_table.h. The reply of a script:
 * for each database with keys its number, then name, milliseconds left and DUMP of
 * each key. */
bool rr_asker_data(struct rr_asker *asker, struct rdl_reply *data);

/* CLIENT LIST of a connection without what changes by itself. */
bool rr_asker_connection(struct rr_asker *asker, uint16_t slot, char *text, size_t size);

/* A command that is not the clients'. */
bool rr_asker_run(struct rr_asker *asker, struct rdl_reply *reply,
		  const struct rdl_command *command);
bool rr_asker_say(struct rr_asker *asker, struct rdl_reply *reply, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

const char *rr_asker_error(const struct rr_asker *asker);

#endif
