/* SPDX-License-Identifier: MIT */
/*
 * libredislock: locks kept in Redis, and the connection they stand on. This
 * header is the manual; a whole program looks like this:
 *
 *	#include <err.h>
 *	#include <redislock.h>
 *
 *	int main(void)
 *	{
 *		const struct rl_policy policy = { .wait_ms = 3000,
 *						  .cancel_fd = -1 };
 *		struct rl_address address;
 *		char error[128];
 *
 *		if (!rl_address_parse(&address, "redis://localhost", error,
 *				      sizeof(error)))
 *			errx(1, "%s", error);
 *		struct rl_link *link = rl_link_new(&address, 500);
 *		struct rl_lock *lock = link ? rl_lock_new(link, "report:lock") :
 *					      NULL;
 *		if (!lock)
 *			errx(1, "out of memory");
 *
 *		if (rl_lock_acquire(lock, 10000, &policy) != RL_OK)
 *			errx(1, "not now: %s", rl_link_error(link));
 *		// Up to ten seconds of work that nobody else does meanwhile;
 *		// before each write: is rl_lock_remaining_ms(lock) enough?
 *		rl_lock_release(lock);
 *		rl_lock_free(lock);
 *		rl_link_free(link);
 *	}
 *
 * What there is, in this order:
 *
 *	Outcomes                what every call answers
 *	The token lock          rl_lock_*: the one to begin with
 *	Waiting                 struct rl_policy: how long, and how
 *	Addresses, Links        where a server is; one connection to it
 *	Commands and replies    rl_run(), pipelines, scripts, transactions
 *	Compare and delete      how a lock is given back
 *	The renewed lock        rl_renewed_*: its lease is extended while you work
 *	The re-entrant lock     rl_reentrant_*: taken again while it is held
 *	The fair lock           rl_fair_*: first come, first served
 *	The quorum lock         rl_quorum_*: on several servers (Redlock)
 *	Fencing                 numbers by which a store refuses who is late
 *	The optimistic update   rl_update(): no lock at all
 *	The delay queue         rl_delay_queue_*: work put off until later
 *	Statistics, Tokens      what a lock has been through; random names
 *
 * Nothing here prints, exits, reads the environment or keeps state of its own
 * between objects.
 *
 * Threads: an object may be used by one thread at a time, and two threads may
 * use two objects freely. Objects that share a link count as one object.
 *
 * Processes: a child may go on with a link after fork(): it gets a connection
 * of its own, and the parent's is left alone; a batch that the parent has
 * queued is neither sent nor received in the child (RL_UNKNOWN). A lock that
 * the parent holds is not held in the child.
 */
#ifndef REDISLOCK_H
#define REDISLOCK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rl_driver;
struct rl_link;
struct rl_policy;
struct rl_stats;

/* ---- Outcomes ---------------------------------------------------------- */

/* RL_BUSY and RL_LOST are answers, not errors. */
enum rl_outcome {
	RL_OK,      /* it was done, and the server said so */
	RL_BUSY,    /* somebody else holds it: not done, ask again */
	RL_LOST,    /* it was ours and is not any more */
	RL_UNKNOWN, /* sent, but the reply never came: it may have happened */
	RL_ERROR,   /* not done; rl_link_error() tells why */
};

/* "ok", "busy", "lost", "unknown" or "error". */
const char *rl_outcome_name(enum rl_outcome outcome);

/* ---- The token lock ---------------------------------------------------- */

/*
 * A lock in one key that holds a random token: SET key token NX PX ttl to get
 * it, compare-and-delete to give it back (the single-instance lock of the
 * Redis documentation, "Distributed Locks with Redis").
 *
 * It excludes others while its lease lasts, and nobody can release a lock
 * that is not theirs. It does not protect a holder who is still working when
 * the lease has run out: compare the time, or let the store check a fencing
 * number.
 *
 * A lock that is held across fork() stays the parent's: in the child it is not
 * held, and a release there leaves it alone (RL_LOST).
 */

/* A lock on `key` (copied) over `link` (borrowed). NULL when out of memory.
 * Freeing it does not release it. */
struct rl_lock *rl_lock_new(struct rl_link *link, const char *key);
void rl_lock_free(struct rl_lock *lock);

/*
 * Asks once. RL_OK: held, for rl_lock_remaining_ms(). RL_BUSY: another token
 * is there, or this object holds it already, or the reply took as long as the
 * lease (so always with one of 2 ms or less), which has been given back.
 * RL_ERROR: not held; also when ttl_ms is below 1, and then nothing was sent.
 * A reply that never came is made up for by asking whose token is there (SET
 * ... NX GET from Redis 7.0 on, GET before); RL_UNKNOWN when that was not
 * answered either: may be held, rl_lock_release() gives it back if it is, and
 * so does the next attempt before it asks anew.
 */
enum rl_outcome rl_lock_try(struct rl_lock *lock, long ttl_ms);

/* The same until it is held, or as the policy says. */
enum rl_outcome rl_lock_acquire(struct rl_lock *lock, long ttl_ms, const struct rl_policy *policy);

/*
 * Another ttl_ms from now on. RL_OK. RL_LOST: the lease had run out; a lost
 * lock is never made again by this. RL_UNKNOWN, RL_ERROR: the lease that was
 * there before still counts (or, if unknown, the new one if it ends earlier);
 * ask again while it lasts. RL_UNKNOWN with nothing left of the lease: the
 * reply took as long as the new one, and only another extension can tell
 * whether it is ours still. A ttl_ms below 1 is an RL_ERROR, and nothing is
 * sent.
 */
enum rl_outcome rl_lock_extend(struct rl_lock *lock, long ttl_ms);

/* What is left of the lease by this process's clock, counted from before the
 * command that got it, clock drift (1 % of it and 2 ms) taken off. 0 = not
 * held. Look here before every write. */
long rl_lock_remaining_ms(const struct rl_lock *lock);

/*
 * Gives the lock back. RL_OK: was ours, is free. RL_LOST: the lease had run
 * out, and whoever holds the key now was left alone; or it was not held.
 * RL_UNKNOWN, RL_ERROR: it may be ours until its lease ends; call again.
 */
enum rl_outcome rl_lock_release(struct rl_lock *lock);

/* Valid as long as the lock. */
const struct rl_stats *rl_lock_stats(const struct rl_lock *lock);

/*
 * try and release in two parts, so that they share a write with the caller's
 * own commands: queue, queue what comes with it (a release comes last), then
 * rl_flush(), and receive in the same order. What was read along with a
 * refused try means nothing.
 * RL_UNKNOWN is not made up for here, but by the next attempt; a batch that is
 * never received counts as that.
 *
 * Nothing here reads a reply of the caller's. So where a round trip of our own
 * would be needed in the middle of a batch, it is left to the caller. The try
 * says RL_ERROR, and queues nothing, when an earlier token of this lock may be
 * there (its lease ran out, a reply never came): rl_lock_release() it before
 * anything is queued, or queue the try first. The release says RL_ERROR when
 * the server had forgotten the script, or does not let us run it, and other
 * replies are still to come: it is not done, rl_lock_release() it when they
 * have been received. Queue one release in a batch, as its last command, and
 * this does not happen.
 */
enum rl_outcome rl_lock_queue_try(struct rl_lock *lock, long ttl_ms);
enum rl_outcome rl_lock_receive_try(struct rl_lock *lock);
enum rl_outcome rl_lock_queue_release(struct rl_lock *lock);
enum rl_outcome rl_lock_receive_release(struct rl_lock *lock);

/* ---- Waiting ----------------------------------------------------------- */

/*
 * How an acquire waits while somebody else holds the lock. No policy at all
 * (NULL): ask once.
 * The n-th pause is random between half of pause_min_us * 2^n and all of it,
 * never longer than pause_max_us, so that waiters do not fall into step.
 */
struct rl_policy {
	long wait_ms;      /* give up after so long: RL_BUSY; LONG_MAX = never */
	long pause_min_us; /* 0 = 400, for a quorum 2000 */
	long pause_max_us; /* 0 = 5000, for a quorum 20000 */
	long least_ms;     /* of the lease that must be left: with less, the
			    * lock is given back and asked for again */
	int cancel_fd;     /* readable = stop waiting: RL_BUSY; -1 = none (0 is
			    * a descriptor like any other: standard input) */
};

/* ---- Addresses --------------------------------------------------------- */

/* What is found at an address. */
enum rl_address_kind {
	RL_ADDRESS_SERVER,
	RL_ADDRESS_SENTINEL, /* Sentinels, which know the master of a service */
	RL_ADDRESS_CLUSTER,  /* nodes of a Redis Cluster */
};

struct rl_address {
	bool is_unix; /* then `host` is the socket's path */
	char host[256];
	int port;
	int db;             /* chosen by SELECT when not 0 */
	char user[128];     /* "" = none: AUTH with the password alone */
	char password[256]; /* "" = no AUTH at all */
	enum rl_address_kind kind;
	char more[768];   /* the other Sentinels or nodes, HOST:PORT,... */
	char service[64]; /* Sentinel's name for the master */
	bool is_tls;
	bool is_unverified;       /* whoever shows whatever certificate is believed */
	char ca[256];             /* a file of those who are trusted; "" = the system's */
	char cert[256], key[256]; /* files of our own certificate; "" = none */
	char sni[128];            /* the name in the server's; "" = the host */
};

/*
 * Reads one of these, with %XX in user and password, and [v6] hosts:
 *
 *	redis://[user[:password]@]host[:port][/db]
 *	unix://PATH[?db=N]
 *	redis+sentinel://[user[:password]@]host[:port][,host[:port]...]/service[/db]
 *	redis+cluster://[user[:password]@]host[:port][,host[:port]...]
 *
 * With rediss for redis, over TLS, and at the end ?NAME=VALUE[&NAME=VALUE...]:
 * ca=FILE (of the authorities that are trusted; the system's), cert=FILE and
 * key=FILE (for a server that asks for a certificate), sni=NAME (for which the
 * server's certificate has to be; the host), verify=no (none is looked at). False
 * where the library was built without TLS.
 *
 * `redis://:secret@host` is a password without a user. The port is 6379, a
 * Sentinel's 26379. False, and a message in `error` that holds no piece of what
 * follows the scheme, for a password may stand there, when it is none of them.
 */
bool rl_address_parse(struct rl_address *address, const char *uri, char *error, size_t error_size);

/* The address as a URI without user and password, and without what follows a ?
 * for TLS; safe to print. */
void rl_address_print(const struct rl_address *address, char *buffer, size_t size);

/* ---- Links ------------------------------------------------------------- */

/*
 * A connection to `address`, not opened yet. `timeout_ms` (> 0) limits
 * connecting and every wait for a reply, as a whole: also for one that comes in
 * pieces. A reply has at most 64 MiB, and 1,048,576 elements in all its arrays.
 * NULL when out of memory. The caller owns it; rl_link_free(NULL) is allowed.
 *
 * A link to a service of Sentinel asks a Sentinel for the master whenever it
 * connects, and the server whether it is one (ROLE). User and password are the
 * master's, and a Sentinel's that asks for them.
 *
 * A link to a Redis Cluster leads to the node that has the keys it was used
 * with last, which should all be in one hash slot: it follows MOVED and ASK, and
 * asks any node it knows for the owner of the slot when it has to connect again.
 * A pipeline with keys of several nodes fails.
 *
 * While a fail-over is under way, both look for the new master as long as the
 * time-out, and so does a command that was refused (MOVED, ASK, TRYAGAIN,
 * CLUSTERDOWN, READONLY). What was refused is sent again, a whole MULTI ... EXEC
 * too, but never after a WATCH, which is lost with its connection. What may have
 * been done is not: a reply that never came is RL_UNKNOWN here as elsewhere. A
 * fail-over may lose what the old master had acknowledged, locks included.
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

/* ---- Commands and replies ---------------------------------------------- */

enum rl_reply_type {
	RL_REPLY_NIL,
	RL_REPLY_STATUS, /* +OK */
	RL_REPLY_STRING,
	RL_REPLY_INTEGER,
	RL_REPLY_ARRAY,
	RL_REPLY_FAILED, /* -ERR ...; the call's outcome was RL_ERROR */
};

/* Strings end in a NUL; everything is valid until the link's next receive. A
 * reply that never came, or was never asked for, is nil. */
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
enum rl_outcome rl_run(struct rl_link *link, struct rl_reply *reply, const char *format, ...)
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
enum rl_outcome rl_receive_until(struct rl_link *link, struct rl_reply *reply, int64_t deadline_ns);

/*
 * Runs a Lua script that the server knows by its hash (EVALSHA), or sends it
 * whole where it does not (EVAL on NOSCRIPT: after a restart, a promotion, a
 * SCRIPT FLUSH). `format` is what follows the script: "1 %s %s". The first
 * use on a link asks the server for the hash (SCRIPT LOAD). `source` is kept
 * as a pointer and must outlive the link: a string literal. Outcomes: rl_run().
 */
enum rl_outcome rl_run_script(struct rl_link *link, struct rl_reply *reply, const char *source,
			      const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * Ends a transaction: queues EXEC after `n_queued` commands (MULTI among them)
 * that wait in rl_queue(), sends them all in one write and reads every reply.
 * RL_OK: `reply` has what the commands answered, or is nil: a watched key was
 * written, and nothing has been done. RL_ERROR: a command was refused; what
 * was refused only when it ran (a wrong type) leaves the others done.
 */
enum rl_outcome rl_exec(struct rl_link *link, unsigned n_queued, struct rl_reply *reply);

/* ---- Compare and delete ------------------------------------------------ */

/* How a key is deleted if it holds a certain value: the first of these that
 * the server has and allows. Found out along with the first use on a link,
 * which is a script sent whole. */
enum rl_release_method {
	RL_RELEASE_UNTRIED,
	RL_RELEASE_DELEX,   /* DELEX key IFEQ value: Redis 8.4 */
	RL_RELEASE_DELIFEQ, /* DELIFEQ key value: Valkey 9.0 */
	RL_RELEASE_EVALSHA, /* a script, known by its hash */
	RL_RELEASE_EVAL,    /* a script, sent whole: SCRIPT LOAD is forbidden */
	RL_RELEASE_WATCH,   /* WATCH, GET, MULTI, DEL, EXEC: scripts are too */
};

/* "untried", "DELEX", "DELIFEQ", "EVALSHA", "EVAL" or "WATCH". */
const char *rl_release_method_name(enum rl_release_method method);

/* Deletes `key` if it holds `value`. RL_OK: it did, and is gone. RL_LOST: it
 * holds something else, or is not there. RL_UNKNOWN, RL_ERROR. */
enum rl_outcome rl_delete_if_equal(struct rl_link *link, const char *key, const char *value);

/* How rl_lock_release() does it on the lock's link. */
enum rl_release_method rl_lock_release_method(const struct rl_lock *lock);

/* ---- The renewed lock -------------------------------------------------- */

/*
 * A token lock whose lease is extended, every third of it, by a thread and a
 * connection of their own while the caller works. It ends by itself after
 * `hold_max_ms`: a holder that hangs must not keep the others out for ever. The
 * first lease is no longer than that either.
 * A holder that is stopped as a whole (SIGSTOP, a paused machine) is not
 * helped: nothing renews then either.
 *
 * Used by one thread; the renewer is the library's own affair. It runs only
 * while the lock is held, and has ended before a release is sent.
 */

/* NULL when out of memory or of file descriptors. Free it when not held. */
struct rl_renewed *rl_renewed_new(struct rl_link *link, const char *key, long hold_max_ms);
void rl_renewed_free(struct rl_renewed *renewed);

/* As rl_lock_try() and rl_lock_acquire(); RL_ERROR also when hold_max_ms is
 * below 1. A lost one may be asked for again at once, released or not. */
enum rl_outcome rl_renewed_try(struct rl_renewed *renewed, long ttl_ms);
enum rl_outcome rl_renewed_acquire(struct rl_renewed *renewed, long ttl_ms,
				   const struct rl_policy *policy);

/* Is it still ours? RL_OK, or RL_LOST for good. Ask before every write. */
enum rl_outcome rl_renewed_check(const struct rl_renewed *renewed);

/* What is left of the lease that was granted last; 0 = lost or not held. */
long rl_renewed_remaining_ms(const struct rl_renewed *renewed);

/* Readable (for poll() and the like) from the loss of the lock until the next
 * acquire. Not to be read, written or closed. */
int rl_renewed_loss_fd(const struct rl_renewed *renewed);

/* As rl_lock_release(). */
enum rl_outcome rl_renewed_release(struct rl_renewed *renewed);

const struct rl_stats *rl_renewed_stats(const struct rl_renewed *renewed);

/* ---- The re-entrant lock ----------------------------------------------- */

/*
 * A token lock that its owner may take again while holding it. The owner is
 * the object, and so the one thread that uses it. Taking it again asks the
 * server whether it is still held, and renews the lease; once it was lost,
 * every level of it is (RL_LOST) until all are released.
 */
struct rl_reentrant *rl_reentrant_new(struct rl_link *link, const char *key);
void rl_reentrant_free(struct rl_reentrant *lock);
enum rl_outcome rl_reentrant_try(struct rl_reentrant *lock, long ttl_ms);
enum rl_outcome rl_reentrant_acquire(struct rl_reentrant *lock, long ttl_ms,
				     const struct rl_policy *policy);

/* One level less; the outermost gives the lock back. RL_LOST: it was lost, or
 * there is no level left. */
enum rl_outcome rl_reentrant_release(struct rl_reentrant *lock);

/* Levels that are to be released; in a child none of its parent's. */
unsigned rl_reentrant_depth(const struct rl_reentrant *lock);

long rl_reentrant_remaining_ms(const struct rl_reentrant *lock);
const struct rl_stats *rl_reentrant_stats(const struct rl_reentrant *lock);

/* ---- The fair lock ----------------------------------------------------- */

/*
 * A token lock whose waiters stand in line, in the list KEY:line. A release
 * hands the lock over to the first who still listens (PUBLISH tells how many
 * do) and wakes it by a message; nobody polls. A holder that dies is waited
 * for until its lease ends, and a lost message until a waiter looks again by
 * itself, after half a second at most.
 *
 * Uses a second connection of its own for the messages. `data` may name a key
 * whose value comes along with the lock, read in the very step that grants it,
 * so that the holder need not ask for it; NULL = none.
 */
struct rl_fair *rl_fair_new(struct rl_link *link, const char *key, const char *data);

/* Leaves the line, if it stands there. Does not release. */
void rl_fair_free(struct rl_fair *fair);

/*
 * Asks. RL_OK: held. RL_BUSY: stands in line now, rl_fair_wait(), ask again;
 * or this object holds it already. What else it says, it may stand there: ask
 * again, or rl_fair_release(). RL_ERROR, and nothing is sent, when ttl_ms is
 * not from 1 to ten years. The ttl_ms with which it came into the line counts
 * while it stands there, whatever it asks for later: the place belongs to it.
 */
enum rl_outcome rl_fair_try(struct rl_fair *fair, long ttl_ms);

/* Waits in line, at most wait_ms. RL_OK: it was handed over, and is held.
 * RL_BUSY: ask again; it may be this one's turn or not. RL_BUSY at once when it
 * holds the lock already or stands in no line, as in a child after fork(). */
enum rl_outcome rl_fair_wait(struct rl_fair *fair, long wait_ms);

/* Both, as the policy says (NULL = ask once). There are no pauses, but after
 * a lease that was too short. RL_BUSY: has left the line; or, at once, this
 * object holds it already. */
enum rl_outcome rl_fair_acquire(struct rl_fair *fair, long ttl_ms, const struct rl_policy *policy);

/* As rl_lock_release(). When it is not held, leaves the line: RL_LOST, or RL_OK
 * if the lock had come to us without our knowing. */
enum rl_outcome rl_fair_release(struct rl_fair *fair);

long rl_fair_remaining_ms(const struct rl_fair *fair);
const struct rl_stats *rl_fair_stats(const struct rl_fair *fair);

/* The value that came along with the lock, nil when there is none; valid until
 * the next call on this lock or its link. */
const struct rl_reply *rl_fair_carried(const struct rl_fair *fair);

/* The release in two parts, as rl_lock_queue_release(). */
enum rl_outcome rl_fair_queue_release(struct rl_fair *fair);
enum rl_outcome rl_fair_receive_release(struct rl_fair *fair);

/* ---- The quorum lock (Redlock) ----------------------------------------- */

/*
 * The same lock on N independent servers at once; held when a majority
 * granted it and enough of the lease is left (redis.io, "Distributed Locks
 * with Redis": the Redlock algorithm). Connections are made all at once, and
 * requests go to all servers before the first reply is read, so an acquire
 * costs one round trip of the slowest. When servers are dead, hung or
 * unreachable, however many, it costs at most one `node_timeout_ms` for
 * connecting, where a connection is to be made, and one for the replies. (Names
 * of hosts are looked up outside of that; give addresses.)
 *
 * A server whose reply did not come in time may grant the lock later. The
 * release that follows goes down the same connection, behind the request, so
 * that a late grant is taken back whenever the server gets there. Until it has
 * answered it is not asked again, and not waited for; when that takes longer
 * than the lease, over a new connection.
 */

/* `nodes` are borrowed, 1 to RL_QUORUM_NODES_MAX, and their time-out becomes
 * `node_timeout_ms`: much shorter than the lease. NULL when out of memory. */
enum { RL_QUORUM_NODES_MAX = 15 };
struct rl_quorum *rl_quorum_new(struct rl_link **nodes, size_t n_nodes, const char *key,
				int node_timeout_ms);
void rl_quorum_free(struct rl_quorum *quorum);

/*
 * Asks every server once. RL_OK: held for rl_quorum_remaining_ms(). RL_BUSY:
 * not got, and released again on every server that was asked; or held already.
 * RL_ERROR: so many servers did not answer that no majority could grant it, or
 * ttl_ms is below 1, and then nothing was sent.
 */
enum rl_outcome rl_quorum_try(struct rl_quorum *quorum, long ttl_ms);

/* The same until it is held, or as the policy says; an RL_ERROR is asked again
 * as well, as long as there is time. */
enum rl_outcome rl_quorum_acquire(struct rl_quorum *quorum, long ttl_ms,
				  const struct rl_policy *policy);

/* Another ttl_ms on a majority, with time left: RL_OK. RL_LOST: a majority has
 * it no more; a minority has been told to give it back. RL_UNKNOWN: too few
 * answered, the old lease still counts, or the new one if it ends earlier. A
 * ttl_ms below 1 is an RL_ERROR, and nothing is sent. */
enum rl_outcome rl_quorum_extend(struct rl_quorum *quorum, long ttl_ms);

/* Asks every server whose token is there. RL_OK: ours on a majority. RL_LOST:
 * it cannot be. RL_UNKNOWN: too few answered to tell. */
enum rl_outcome rl_quorum_query(struct rl_quorum *quorum);

/* As rl_lock_remaining_ms(). */
long rl_quorum_remaining_ms(const struct rl_quorum *quorum);

/* Releases on every server that was ever asked. RL_OK: a majority had it.
 * RL_LOST: it had not. RL_UNKNOWN: too few answered to tell; call again, and
 * those that have answered since are counted with the others. */
enum rl_outcome rl_quorum_release(struct rl_quorum *quorum);

/* Why the last quorum call said RL_ERROR or RL_UNKNOWN. */
const char *rl_quorum_error(const struct rl_quorum *quorum);

const struct rl_stats *rl_quorum_stats(const struct rl_quorum *quorum);

/* ---- Fencing ----------------------------------------------------------- */

/*
 * A lock's holder may be slower than its lease and not know it. A fencing
 * number, one higher with every grant, lets the store refuse such a holder: it
 * keeps the highest number it has seen, at reads as well as at writes, and
 * refuses a lower one. The lock then guards against waste, the number guards
 * the data (M. Kleppmann, "How to do distributed locking", 2016).
 *
 * Kept in KEY:fence beside the lock's key and in KEY:fence beside the data's.
 * Neither expires. Numbers of one lock only may be used for one data key.
 */

/* rl_lock_try() that also mints a number, in one script. A reply that never
 * came is not made up for: RL_UNKNOWN. */
enum rl_outcome rl_lock_try_fenced(struct rl_lock *lock, long ttl_ms, long long *number);

/* The same until it is held, or as the policy says. */
enum rl_outcome rl_lock_acquire_fenced(struct rl_lock *lock, long ttl_ms,
				       const struct rl_policy *policy, long long *number);

/* GET and SET for the holder of `number`. RL_LOST: a higher number was here;
 * nothing was read or written. */
enum rl_outcome rl_fenced_get(struct rl_link *link, const char *key, long long number,
			      struct rl_reply *reply);
enum rl_outcome rl_fenced_set(struct rl_link *link, const char *key, long long number,
			      const char *value);

/* ---- The optimistic update --------------------------------------------- */

/*
 * Computes a key's new value from the old one. `old` is nil when the key does
 * not exist. Writes a NUL-terminated value of fewer than `size` bytes into
 * `value` and returns RL_OK; anything else ends the update with that outcome.
 * It must not use the link.
 */
typedef enum rl_outcome (*rl_change)(void *context, const struct rl_reply *old, char *value,
				     size_t size);

/*
 * WATCH key, GET key, change, MULTI, SET, EXEC: one attempt. RL_OK: stored,
 * and nobody wrote the key in between. RL_BUSY: somebody did, nothing was
 * stored; ask again. RL_UNKNOWN: the reply to EXEC never came. WATCH and GET
 * go out in one write, MULTI, SET and EXEC in another.
 */
enum rl_outcome rl_update_try(struct rl_link *link, const char *key, rl_change change,
			      void *context);

/* The same until it is stored, at most `attempts` times, with pauses as the
 * policy (NULL = its defaults; wait_ms 0 = no limit but the attempts) says.
 * RL_BUSY: it never was. */
enum rl_outcome rl_update(struct rl_link *link, const char *key, rl_change change, void *context,
			  unsigned attempts, const struct rl_policy *policy);

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
 * An object has one item taken at a time: a further take forgets the one
 * before, which goes back by itself.
 */

/* A queue over `link` (borrowed); `name` is copied. NULL when out of memory. */
struct rl_delay_queue *rl_delay_queue_new(struct rl_link *link, const char *name);
void rl_delay_queue_free(struct rl_delay_queue *queue);

/* Due `delay_ms` from now. RL_OK; RL_BUSY: an item of that id is there already,
 * due or being done. RL_UNKNOWN: it may be there, and may be done by now: to
 * repeat it may be to do it twice. */
enum rl_outcome rl_delay_queue_put(struct rl_delay_queue *queue, const char *id, long delay_ms);

/*
 * Takes the item that has been due the longest, for `hold_ms`. RL_OK: it is in
 * `id`. RL_BUSY: nothing is due. RL_UNKNOWN: one may have been taken, and then
 * goes back by itself. RL_ERROR, and nothing is taken, when the id does not fit
 * into `size` bytes. Items whose hold has run out go back first, at most 100 in
 * one call; they are due from the end of their hold on.
 */
enum rl_outcome rl_delay_queue_take(struct rl_delay_queue *queue, long hold_ms, char *id,
				    size_t size);

/*
 * Ends the item just taken and does its effect, one command given like
 * rl_run()'s (at most 23 words): both or neither. RL_OK; RL_LOST: not ours to
 * end any more, no effect; RL_ERROR: the command was refused, the item is still
 * ours. A lost reply is asked for again: the repeated script does nothing if
 * the first one did. RL_UNKNOWN: that was not answered either, or the hold had
 * run out by then and the item may have gone on to somebody else; the call may
 * be repeated.
 */
enum rl_outcome rl_delay_queue_done(struct rl_delay_queue *queue, const char *id,
				    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* How many are waiting, those due later included, and how many are being done;
 * counted at one moment. */
enum rl_outcome rl_delay_queue_length(struct rl_delay_queue *queue, long long *due,
				      long long *processing);

/* ---- Statistics -------------------------------------------------------- */

/* What a lock has been through. */

/* buckets[i] counts durations from 2^i to below 2^(i+1) microseconds; the
 * first one also what is shorter, the last one what is longer. */
enum { RL_BUCKETS = 32 };

struct rl_stats {
	uint64_t attempts;            /* times a server, or a quorum, was asked */
	uint64_t waits;               /* pauses between attempts */
	uint64_t holds;               /* times it was held */
	uint64_t lost;                /* times it was ours and was not any more */
	uint64_t unknown;             /* replies that never came and could not be made up */
	uint64_t wait_us[RL_BUCKETS]; /* from asking until held */
	uint64_t hold_us[RL_BUCKETS]; /* from held until given back */
};

/* The duration in microseconds that a share `p` (0 to 1) of the counted ones
 * does not exceed, rounded up to the end of its bucket; 0 when none is
 * counted. */
uint64_t rl_stats_quantile(const uint64_t buckets[RL_BUCKETS], double p);

/* ---- Tokens ------------------------------------------------------------ */

/*
 * What a token lock stores: who holds it, as a value nobody else can guess.
 * 20 random bytes in hexadecimal, straight from the kernel: there is no state
 * that a forked child could share. With a driver on `link` (driver.h) they are
 * the driver's; NULL = no link. False when the kernel has none to give.
 */
enum { RL_TOKEN_SIZE = 41 };
bool rl_token_fresh(const struct rl_link *link, char token[RL_TOKEN_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
