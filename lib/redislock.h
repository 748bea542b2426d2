/* SPDX-License-Identifier: MIT */
/*
 * libredislock: locks kept in Redis, and the connection they stand on.
 *
 * This header is the manual. In short:
 *
 *   - An address says where a server is, a link is one connection to it.
 *   - rl_run() sends one command and waits for its reply.
 *   - Every call answers with an outcome. RL_BUSY and RL_LOST are answers,
 *     not errors; RL_UNKNOWN means that the command may have been executed.
 *   - Nothing here prints, exits, reads the environment or keeps state of its
 *     own between objects.
 *
 * Threads: an object may be used by one thread at a time, and two threads may
 * use two objects freely. Objects that share a link count as one object.
 * Processes: a link must not be used by a child after fork(); make a new one.
 */
#ifndef REDISLOCK_H
#define REDISLOCK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rl_driver;

/* ---- Outcomes --------------------------------------------------------- */

enum rl_outcome {
	RL_OK,      /* it was done, and the server said so */
	RL_BUSY,    /* somebody else holds it: not done, ask again */
	RL_LOST,    /* it was ours and is not any more */
	RL_UNKNOWN, /* sent, but the reply never came: it may have happened */
	RL_ERROR,   /* not done; rl_link_error() tells why */
};

/* "ok", "busy", "lost", "unknown" or "error". */
const char *rl_outcome_name(enum rl_outcome outcome);

/* ---- Addresses -------------------------------------------------------- */

struct rl_address {
	bool is_unix;       /* then `host` is the socket's path */
	char host[256];
	int port;
	int db;             /* chosen by SELECT when not 0 */
	char user[128];     /* "" = none: AUTH with the password alone */
	char password[256]; /* "" = no AUTH at all */
};

/*
 * Reads redis://[user[:password]@]host[:port][/db], with %XX in user and
 * password and [v6] hosts, or unix://PATH[?db=N]. `redis://:secret@host` is a
 * password without a user. False, and a message in `error`, when it is neither.
 */
bool rl_address_parse(struct rl_address *address, const char *uri, char *error,
		      size_t error_size);

/* The address as a URI without user and password, safe to print. */
void rl_address_print(const struct rl_address *address, char *buffer,
		      size_t size);

/* ---- Links ------------------------------------------------------------ */

/*
 * A connection to `address`, not opened yet. `timeout_ms` (> 0) limits
 * connecting and every wait for a reply. NULL when out of memory. The caller
 * owns it; rl_link_free(NULL) is allowed.
 */
struct rl_link *rl_link_new(const struct rl_address *address, int timeout_ms);
void rl_link_free(struct rl_link *link);

/*
 * Opens the connection: AUTH and SELECT included. RL_OK (also when it was open
 * already) or RL_ERROR. Not needed before rl_run(), which opens it by itself,
 * and opens it again after a failure.
 */
enum rl_outcome rl_link_connect(struct rl_link *link);

/* Closes the connection; replies still on their way are dropped. */
void rl_link_disconnect(struct rl_link *link);

/* Another limit for connecting and for waits from now on. */
void rl_link_set_timeout(struct rl_link *link, int timeout_ms);

/* Why the last call on this link was not RL_OK; valid until the next one. */
const char *rl_link_error(const struct rl_link *link);

/* Commands sent over this link since it was made, AUTH and SELECT left out. */
uint64_t rl_link_commands(const struct rl_link *link);

/*
 * Puts a driver in charge of the link (see driver.h): every command, clock
 * reading and sleep that goes through the link asks it first. NULL, the
 * default, runs free. The driver must outlive the link.
 */
void rl_link_set_driver(struct rl_link *link, const struct rl_driver *driver);

/* ---- Commands and replies --------------------------------------------- */

enum rl_reply_type {
	RL_REPLY_NIL,
	RL_REPLY_STATUS,  /* +OK */
	RL_REPLY_STRING,
	RL_REPLY_INTEGER,
	RL_REPLY_ARRAY,
	RL_REPLY_FAILED,  /* -ERR ...; the call's outcome was RL_ERROR */
};

/* Strings end in a NUL; everything is valid until the link's next receive. */
struct rl_reply {
	enum rl_reply_type type;
	long long integer;         /* RL_REPLY_INTEGER */
	const char *text;          /* status, string or error, else NULL */
	size_t length;             /* of `text` in bytes, or of `elements` */
	struct rl_reply *elements; /* RL_REPLY_ARRAY */
};

/* An integer, or a string that is one; false for anything else. */
bool rl_reply_number(const struct rl_reply *reply, long long *value);

static inline bool rl_reply_is_nil(const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_NIL;
}

/*
 * Sends one command and waits for its reply:
 *
 *	rl_run(link, &reply, "SET %s %s NX PX %ld", key, token, ttl_ms);
 *
 * The format is split at its spaces into words. A word is literal text or one
 * conversion of %s, %.*s, %d, %ld, %lld; a value is one word whatever it
 * contains. RL_OK; RL_ERROR (never sent, or the server refused it: then
 * reply->type is RL_REPLY_FAILED); RL_UNKNOWN (sent, no reply in time; the
 * connection is closed, for a late reply would answer the next command).
 */
enum rl_outcome rl_run(struct rl_link *link, struct rl_reply *reply,
		       const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The same in three parts, for pipelines and fan-outs: queue commands, flush
 * them in one write, receive one reply per command in their order. After any
 * outcome but RL_OK from queue or flush the connection is closed and nothing
 * of the batch may be repeated blindly: flush says RL_UNKNOWN when a part of
 * it may have reached the server.
 */
enum rl_outcome rl_queue(struct rl_link *link, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
enum rl_outcome rl_flush(struct rl_link *link);
enum rl_outcome rl_receive(struct rl_link *link, struct rl_reply *reply);

/* rl_receive() that does not begin to wait after `deadline_ns` of the monotonic
 * clock; a reply that has come by then is taken. */
enum rl_outcome rl_receive_until(struct rl_link *link, struct rl_reply *reply,
				 int64_t deadline_ns);

/*
 * Runs a Lua script that the server knows by its hash (EVALSHA), or sends it
 * whole where it does not (EVAL on NOSCRIPT: after a restart, a promotion, a
 * SCRIPT FLUSH). `format` is what follows the script: "1 %s %s". The first
 * use on a link asks the server for the hash (SCRIPT LOAD). `source` is kept
 * as a pointer and must outlive the link: a string literal. Outcomes: rl_run().
 */
enum rl_outcome rl_run_script(struct rl_link *link, struct rl_reply *reply,
			      const char *source, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* ---- The token lock --------------------------------------------------- */

/*
 * A lock in one key that holds a random token: SET key token NX PX ttl to get
 * it, compare-and-delete to give it back (the single-instance lock of the
 * Redis documentation, "Distributed Locks with Redis").
 *
 * It excludes others while its lease lasts, and nobody can release a lock
 * that is not theirs. It does not protect a holder who is still working when
 * the lease has run out: compare the time, or let the store check a fencing
 * number.
 */

/* A lock on `key` (copied) over `link` (borrowed). NULL when out of memory. */
struct rl_lock *rl_lock_new(struct rl_link *link, const char *key);
void rl_lock_free(struct rl_lock *lock);

/*
 * Asks once. RL_OK: held, for at most ttl_ms from before the call. RL_BUSY:
 * another token is there. RL_UNKNOWN: may be held; rl_lock_release() gives it
 * back if it is. RL_ERROR.
 */
enum rl_outcome rl_lock_try(struct rl_lock *lock, long ttl_ms);

/*
 * Gives the lock back. RL_OK: was ours, is free. RL_LOST: the lease had run
 * out, and whoever holds the key now was left alone. RL_UNKNOWN, RL_ERROR:
 * it may be ours until its lease ends; call again.
 */
enum rl_outcome rl_lock_release(struct rl_lock *lock);

/* ---- The quorum lock (Redlock) ---------------------------------------- */

/*
 * The same lock on N independent servers at once; held when a majority
 * granted it and enough of the lease is left (redis.io, "Distributed Locks
 * with Redis": the Redlock algorithm). Requests go to all servers before the
 * first reply is read, so an acquire costs one round trip of the slowest. One
 * server that does not answer costs `node_timeout_ms`, several at once at most
 * twice that; one that cannot be reached, up to `node_timeout_ms` each.
 */

/* `nodes` are borrowed, 1 to RL_QUORUM_NODES_MAX, and their time-out becomes
 * `node_timeout_ms`. NULL when out of memory. */
enum { RL_QUORUM_NODES_MAX = 15 };
struct rl_quorum *rl_quorum_new(struct rl_link **nodes, size_t n_nodes,
				const char *key, int node_timeout_ms);
void rl_quorum_free(struct rl_quorum *quorum);

/*
 * Asks every server once. RL_OK: held for rl_quorum_validity_ms(). RL_BUSY:
 * not got, and released again on every server that was asked. RL_ERROR: so
 * many servers did not answer that no majority could grant it.
 */
enum rl_outcome rl_quorum_try(struct rl_quorum *quorum, long ttl_ms);

/* What was left of the lease when rl_quorum_try() returned RL_OK, clock drift
 * (1 % of the lease and 2 ms) taken off. */
long rl_quorum_validity_ms(const struct rl_quorum *quorum);

/* Releases on every server. RL_OK: a majority had it. RL_LOST: it had not.
 * RL_UNKNOWN: too few answered to tell. */
enum rl_outcome rl_quorum_release(struct rl_quorum *quorum);

/* Why the last quorum call said RL_ERROR or RL_UNKNOWN. */
const char *rl_quorum_error(const struct rl_quorum *quorum);

/* ---- The optimistic update -------------------------------------------- */

/*
 * Computes a key's new value from the old one. `old` is nil when the key does
 * not exist. Writes a NUL-terminated value of fewer than `size` bytes into
 * `value` and returns RL_OK; anything else ends the update with that outcome. It
 * must not use the link.
 */
typedef enum rl_outcome (*rl_change)(void *context, const struct rl_reply *old,
				     char *value, size_t size);

/*
 * WATCH key, GET key, change, MULTI, SET, EXEC: one attempt. RL_OK: stored,
 * and nobody wrote the key in between. RL_BUSY: somebody did, nothing was
 * stored; ask again. RL_UNKNOWN: the reply to EXEC never came. WATCH and GET
 * go out in one write, MULTI, SET and EXEC in another.
 */
enum rl_outcome rl_update_try(struct rl_link *link, const char *key,
			      rl_change change, void *context);

/* ---- The delay queue --------------------------------------------------- */

/*
 * Work put off until later, on one server:
 *
 *	NAME:due         sorted set, id -> when it is due
 *	NAME:processing  sorted set, id -> until when whoever took it has it
 *	NAME:takes       hash, id -> which take of it counts, a random number
 *
 * An item is an id and nothing else. It is in one of the sorted sets, from put
 * until done, so that whoever dies between taking and doing loses nothing: when
 * the hold has run out, the next take gives the item back. Each call is one
 * script, and all times are the server's (microseconds), which must not be set
 * back meanwhile; the clients' clocks do not matter. Not for Redis Cluster: the
 * effect's keys are not declared.
 *
 * A take has a number of its own, because a hold may run out under a living
 * worker: A takes, stalls, B takes the same item. If A could still end it, the
 * item would be done once all the same; but what A is about to write comes from
 * what it read before B's time, and would undo what was written since. So only
 * the newest take of an item may end it. A take that is late but that nobody
 * has followed may, too.
 *
 * An object has one item taken at a time: a further take forgets the one before,
 * which goes back by itself.
 */

/* A queue over `link` (borrowed); `name` is copied. NULL when out of memory. */
struct rl_delay_queue *rl_delay_queue_new(struct rl_link *link,
					  const char *name);
void rl_delay_queue_free(struct rl_delay_queue *queue);

/* Due `delay_ms` from now. RL_OK; RL_BUSY: an item of that id is there already,
 * due or being done. RL_UNKNOWN: it may be there, and may be done by now: to
 * repeat it may be to do it twice. */
enum rl_outcome rl_delay_queue_put(struct rl_delay_queue *queue, const char *id,
				   long delay_ms);

/*
 * Takes the item that has been due the longest, for `hold_ms`. RL_OK: it is in
 * `id`. RL_BUSY: nothing is due. RL_UNKNOWN: one may have been taken, and then
 * goes back by itself. RL_ERROR, and nothing is taken, when the id does not fit
 * into `size` bytes. Items whose hold has run out go back first, at most 100 in
 * one call; they are due from the end of their hold on.
 */
enum rl_outcome rl_delay_queue_take(struct rl_delay_queue *queue, long hold_ms,
				    char *id, size_t size);

/*
 * Ends the item just taken and does its effect, one command given like
 * rl_run()'s (at most 23 words): both or neither. RL_OK; RL_LOST: not ours to
 * end any more, no effect; RL_ERROR: the command was refused, the item is still
 * ours. A lost reply is asked for again: the repeated script does nothing if
 * the first one did. RL_UNKNOWN: that was not answered either, or the hold had
 * run out by then and the item may have gone on to somebody else; the call may
 * be repeated.
 */
enum rl_outcome rl_delay_queue_done(struct rl_delay_queue *queue,
				    const char *id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* How many are waiting, those due later included, and how many are being done;
 * counted at one moment. */
enum rl_outcome rl_delay_queue_length(struct rl_delay_queue *queue,
				      long long *due, long long *processing);

#endif
