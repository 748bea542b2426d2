/* SPDX-License-Identifier: MIT */
/*
 * Real servers that are asked one question after the other, and which scripts they know.
 */
#ifndef RR_SERVER_SERVER_H
#define RR_SERVER_SERVER_H

#include "base/reply.h"
#include "term/term.h"
#include "cluster/cluster.h"
#include "base/error.h"

/* ---- Scripts that servers know (scripts.c) ---------------------------------- */

/* What servers have from the beginning: the scripts that clients have loaded, by their
 * hashes, and what some commands leave. */
struct rr_scripts {
	struct rr_command_list first; /* the owner's; they must succeed */
	/* Programs ask which ones a server knows, or have it forget them: it begins with
	 * none, and which it knows is a part of its state. */
	bool are_state;
	size_t n;
	struct rr_script {
		char sha1[41];
		struct rdl_word source;
	} * all;
};

/* One that is there already stays. */
void rr_scripts_add(struct rr_scripts *scripts, const char *sha1, const char *source,
		    size_t length);
/* The one that a SCRIPT LOAD has loaded; nothing of another command. */
void rr_scripts_keep(struct rr_scripts *scripts, const struct rdl_command *command,
		     const struct rdl_reply *reply);
/* NULL = unknown. */
const struct rdl_word *rr_scripts_find(const struct rr_scripts *scripts, const char *sha1);
/* From now on servers begin with none. */
void rr_scripts_become_state(struct rr_scripts *scripts);
void rr_scripts_release(struct rr_scripts *scripts);

/* Does a script name OBJECT and what that tells of a key beside its value: idle time, frequency,
 * encoding, references? No data say that. */
bool rr_script_asks_of_objects(const struct rdl_word *text);

/* ---- What is not compared of their data (ignored.c) ---------------------------- */

/*
 * A pattern of --ignore leaves out keys that match it, as KEYS has them. It also leaves out fields of
 * hashes if it is KEY.FIELD, two patterns around its last dot that is neither escaped nor in
 * brackets. FIELD is not "*": all fields of a hash are its key.
 *
 * Returns FIELD, a part of the pattern; "" = it is about keys alone.
 */
const char *rr_ignored_field(const char *pattern);

/* ---- One server (asker.c) ----------------------------------------------------- */

/*
 * A real server that is asked one question after another, each answered before the
 * next: commands on the connections of several clients, time, connections that
 * close, a restart. One thread.
 */

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

/* Another process has started the server again: no connection is open. It is to be wiped
 * next. */
void rr_asker_restarted(struct rr_asker *asker);

/* Another process moves the server's clock. */
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

/* The keys of a command as the server finds them, a list of texts. False: it has none, or they are
 * not known before it runs. */
bool rr_asker_keys(struct rr_asker *asker, const struct rdl_command *command,
		   struct rdl_reply *keys);

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

/* ---- Several, and what they have sent (servers.c) ----------------------------- */

/*
 * All servers of a replay, and what they have sent to whom. Every question is
 * answered, and the messages that it has caused have come, when a call returns.
 */

enum { RR_SERVERS_MESSAGES = 30 };

struct rr_servers {
	struct rr_terms *terms;
	size_t n;
	struct rr_asker *askers[RR_CLUSTER_SERVERS];
	/* Of each connection: messages that its client has not read. */
	struct rr_inbox {
		size_t n;
		uint32_t messages[RR_SERVERS_MESSAGES]; /* numbers of replies */
	} inboxes[RR_CLUSTER_SERVERS][RR_ASKER_SLOTS];
	struct rr_error error;
};

/* Servers 0 to n - 1 of `cluster`. False: servers->error; close them in any case. */
bool rr_servers_open(struct rr_servers *servers, struct rr_cluster *cluster, size_t n,
		     struct rr_terms *terms, const struct rr_scripts *scripts);
void rr_servers_close(struct rr_servers *servers);

/* Empty, and as if nobody had ever connected. */
bool rr_servers_reset(struct rr_servers *servers);

struct rr_heard {
	uint32_t reply; /* a number; of COMMAND and READ */
	bool blocks;    /* COMMAND: it has no reply yet, see rr_asker_ask() */
};

/* RR_ASK_READ without a message to be read answers RR_NO_ID. */
bool rr_servers_ask(struct rr_servers *servers, size_t server, const struct rr_question *question,
		    struct rr_heard *heard);

/* Takes the reply to the command that blocked on a connection, a number. False: it blocks still,
 * or none did. Messages that came before it are in the connection's inbox. */
bool rr_servers_served(struct rr_servers *servers, size_t server, uint16_t slot, uint32_t *reply);

#endif
