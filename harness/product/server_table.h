/* SPDX-License-Identifier: MIT */
/*
 * The server table: (server state, question) -> reply, server state.
 *
 * A row that is asked for the first time is filled by bringing a real server to the
 * state, along the path on which the state was found, and asking it. No table of
 * ours says what a command reads or writes: a command that nobody has heard of is
 * explored like any other.
 *
 * A state is what the server says it is:
 *	data         every key of every database in the server's own order, with its
 *	             DUMP and the time it has left; functions, once any command has
 *	             dealt with them; after a restart, or where clients ask for
 *	             it, which scripts it knows
 *	connections  of each that is not as when it was opened: what CLIENT LIST says
 *	             of it (database, flags with the dirty WATCH, transaction,
 *	             subscriptions, name, user), the commands that its transaction or
 *	             WATCH consists of, and the messages that nobody has read yet; the
 *	             command that blocks there, for how long still, and which of those that
 *	             block began first
 *	time         where `absolute`: the server's clock. Otherwise only the time
 *	             that keys have left counts
 * Which commands may leave something on a connection the server says (COMMAND INFO:
 * the ACL categories connection, transaction and pubsub). Scripts are loaded before
 * anything is asked, and only a restart takes them away.
 *
 * Servers that are alike (lock servers) share one table.
 *
 * Many connections. What a command is answered, and what it does to the data and to
 * its own connection, depends on these and on what listens; what becomes of another
 * connection depends on that one as well, and on no third. So rows are composed of
 * what was learned with other connections around, as far as all is known. (Whether
 * that holds is looked at whenever a row is learned or verified.)
 */
#ifndef RR_SERVER_TABLE_H
#define RR_SERVER_TABLE_H

#include "base/error.h"
#include "replay/replay.h"

enum { RR_CONNECTION_COMMANDS = 64, RR_CONNECTION_MESSAGES = 30 };

/* A connection that is not as new. */
struct rr_connection {
	uint16_t slot;
	bool listens;
	uint32_t says;       /* the number of what CLIENT LIST says */
	uint32_t n_commands; /* of its transaction or WATCH */
	uint32_t commands[RR_CONNECTION_COMMANDS];
	uint32_t n_messages; /* numbers of replies */
	uint32_t messages[RR_CONNECTION_MESSAGES];
	uint32_t blocks; /* the command that blocks there + 1; 0 = none does */
	uint32_t rank;   /* among those that block: 1 began first */
	int64_t left_ns; /* until it times out; INT64_MAX = it does not */
};

/* A command that blocked and has its reply. */
struct rr_wake {
	uint16_t slot, unused;
	uint32_t reply; /* a number */
};

/* A key that expires. */
struct rr_expiring {
	uint64_t key; /* a digest of its database and name */
	uint64_t value;
	int64_t left_ms;
	int64_t given_ms; /* what it had left when it was written */
};

struct rr_server_snapshot {
	uint32_t parent;             /* RR_NO_ID: empty */
	struct rr_question question; /* that leads here from the parent */
	uint32_t data, connections;  /* the numbers of what they are */
	uint32_t lock;               /* of the lock's value + 1, 0 = none */
	int64_t lock_left_ms;        /* until it ends; -1 = it does not */
	uint32_t length, depth;      /* questions from the beginning, and
				      * those of them that are commands */
	int64_t first_end_ns;        /* until a key's time is over; RR_NEVER */
	uint32_t expiring;           /* the number of a list of struct rr_expiring */
	int64_t passed_ns;           /* until it was found first; no part of what it is */
	int64_t clock_ns;            /* since the beginning; unless `absolute` only what
			       * is left of it beside whole milliseconds */
	uint64_t names;              /* of random values in it */
	uint64_t contents;           /* a digest of all keys, in whichever order the
			       * server has them, and of functions */
	bool was_wiped;
};

struct rr_server_row {
	uint32_t from, to;
	struct rr_question question;
	uint32_t reply; /* COMMAND, READ: its number; RR_NO_ID where it blocks */
	uint32_t wakes; /* the number of a list: the commands that it has served */
	bool blocks;    /* the command has no reply yet */
	bool merges;    /* it led to a state that was known */
};

struct rr_server_table {
	struct rr_terms *terms;
	bool absolute;
	bool is_tree;     /* no two paths lead to one state */
	bool is_live;     /* the server stays where a question has led it: each is asked
			   * once, in the order of one path */
	const char *lock; /* the lock's key */
	struct rr_intern data, connections, says, locks, keys, rows;
	struct rr_intern owns, others, singles; /* see compose.c */
	struct rr_intern lists;                 /* of commands, see connections.c */
	struct rr_intern wakes;                 /* lists of struct rr_wake; number 0 is empty */
	struct rr_intern expiring;              /* and of struct rr_expiring */
	struct rr_own {
		struct rr_server_snapshot after; /* all but connections */
		uint32_t reply, connection, wakes;
		bool blocks;
	} * own;
	uint32_t *other;
	struct rr_server_snapshot *states; /* by the numbers of `keys` */
	uint32_t depth;                    /* the deepest of them */
	struct rr_server_row *row;         /* by the numbers of `rows` */
	struct rr_asker *asker;
	const struct rr_scripts *scripts;
	struct rr_scripts seen;       /* that commands have brought, where they are state */
	uint32_t n_looked;            /* commands that were looked at for that */
	uint32_t at;                  /* the asker's state; RR_NO_ID = not known */
	uint64_t n_asked, n_replayed; /* questions; and on the way to them */
	bool differs;                 /* one question was answered in two ways */
	bool lacked_script;           /* a server did not know one by its hash */
	const char *random_command;   /* that clients have sent; NULL = none */
	struct rr_error error;
};

/* Server number `server` of `cluster` is the one that is asked. False: table->error.
 * State 0 is empty. */
bool rr_server_table_init(struct rr_server_table *table, struct rr_cluster *cluster, int server,
			  struct rr_terms *terms, const struct rr_scripts *scripts,
			  const char *lock, bool absolute);
void rr_server_table_release(struct rr_server_table *table);

/* The row; NULL: table->error. Valid until the next call. */
const struct rr_server_row *rr_server_table_ask(struct rr_server_table *table, uint32_t state,
						const struct rr_question *question);

/* The commands that a question has served, which had blocked. Valid until the next call. */
const struct rr_wake *rr_server_table_wakes(const struct rr_server_table *table,
					    const struct rr_server_row *row, size_t *n);

/* The keys of a state that expire. Valid until the next call. */
const struct rr_expiring *rr_server_table_expiring(const struct rr_server_table *table,
						   uint32_t state, size_t *n);

/* Of one of them; NULL: it does not expire. */
const struct rr_expiring *rr_server_table_find_expiring(const struct rr_server_table *table,
							uint32_t state, uint64_t key);
/* Does a connection watch keys (WATCH), so that whoever gives one another time to live is noticed? */
bool rr_server_table_is_watched(const struct rr_server_table *table, uint32_t state);

/* Is a key not there because its time was over? */
bool rr_server_table_has_expired(const struct rr_server_table *table, uint32_t state, uint64_t key);
uint64_t rr_digest_of_key(long long db, const struct rdl_reply *name);

/* A key of a server's state; texts are the table's. */
struct rr_server_key {
	long long database;
	const char *name, *dump;
	size_t length, dump_length;
	long long left_ms; /* until it ends; -1 = it does not */
};

/* The next key of a state, from *at on, which begins as 0. False: there are no more. */
bool rr_server_next_key(const struct rr_server_table *table, uint32_t state, size_t *at,
			struct rr_server_key *key);

/* A key that is a lock of programs. */
struct rr_lock_key {
	long long database;
	const char *name; /* the table's */
	size_t length;
	uint32_t clients; /* whose complete runs create and remove it, as bits: of apps requests */
};

/* A key by its name. False: it is not there. */
bool rr_server_find_key(const struct rr_server_table *table, uint32_t state,
			const struct rr_lock_key *lock, struct rr_server_key *key);

/* Do two states differ in nothing but which commands block, and for how long still? */
bool rr_server_table_are_alike(const struct rr_server_table *table, uint32_t a, uint32_t b);

/* Does any answer depend on the time of day? Asks some rows of each kind of command
 * again by a clock that is ahead. Of a table that is not `absolute`. */
bool rr_server_table_tells_time(struct rr_server_table *table);

/* Asks rows of random commands again and again: do their replies leave a choice? False: so
 * they do, or table->error. */
bool rr_server_table_verify_random(struct rr_server_table *table);

/* The connection at `slot`; NULL = it is as new. */
const struct rr_connection *rr_server_table_connection(const struct rr_server_table *table,
						       uint32_t state, uint16_t slot);

/* The first word of a command, by its number, in capitals. */
const char *rr_server_command_name(const struct rr_server_table *table, uint32_t command);

/*
 * Conformance: asks rows again along other paths to their states than the one by
 * which they were learned, `most` of them. 0: all were the same; 1: one is not,
 * and table->error says which; -1: table->error. Adds how many to *n.
 */
int rr_server_table_verify(struct rr_server_table *table, unsigned long most, unsigned long *n);

#endif
