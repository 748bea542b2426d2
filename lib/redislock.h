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
 *		const struct rdl_policy policy = { .wait_ms = 3000 };
 *		struct rdl_address address;
 *		char error[128];
 *
 *		if (!rdl_address_parse(&address, "redis://localhost", error,
 *				      sizeof(error)))
 *			errx(1, "%s", error);
 *		struct rdl_link *link = rdl_link_new(&address, 500);
 *		struct rdl_lock *lock = link ? rdl_lock_new(link, "report:lock") :
 *					      NULL;
 *		if (!lock)
 *			errx(1, "out of memory");
 *
 *		enum rdl_outcome outcome = rdl_lock_acquire(lock, 10000, &policy);
 *		if (outcome != RDL_OK)
 *			errx(1, "not now: %s", outcome == RDL_BUSY ? "it is held" :
 *							rdl_link_error(link));
 *		// Up to ten seconds of work that no other client does meanwhile;
 *		// before each write: is rdl_lock_remaining_ms(lock) enough?
 *		rdl_lock_release(lock);
 *		rdl_lock_free(lock);
 *		rdl_link_free(link);
 *	}
 *
 * What there is, in this order:
 *
 *	Version                 of the header, and of the library
 *	Outcomes                what every call answers
 *	The token lock          rdl_lock_*: the one to begin with
 *	Waiting                 struct rdl_policy: how long, and how
 *	Addresses, Links        where a server is; one connection to it
 *	Commands and replies    rdl_run(), pipelines, scripts, transactions
 *	Compare and delete      how a lock is released
 *	Looking at a lock       rdl_inspect(): who holds it; labels; rdl_force_release()
 *	The renewed lock        rdl_renewed_*: its lease is extended while you work
 *	The shared renewer      rdl_renewer_*: one thread for many locks, of all kinds
 *	The token lock in an event loop
 *	                        rdl_async_*: without waiting
 *	The re-entrant lock     rdl_reentrant_*: taken again while it is held
 *	The fair lock           rdl_fair_*: first come, first served
 *	The quorum lock         rdl_quorum_*: on several servers (Redlock)
 *	The semaphore           rdl_semaphore_*: at most N holders at a time
 *	The read-write lock     rdl_rwlock_*: many readers or one writer
 *	Fencing                 numbers by which a store refuses who is late
 *	The optimistic update   rdl_update(): no lock at all
 *	The delay queue         rdl_delay_queue_*: work put off until later
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
 * queued is neither sent nor received in the child (RDL_UNKNOWN). A lock that
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

struct rdl_async;
struct rdl_driver;
struct rdl_fair;
struct rdl_link;
struct rdl_lock;
struct rdl_policy;
struct rdl_quorum;
struct rdl_reentrant;
struct rdl_renewed;
struct rdl_renewer;
struct rdl_rwlock;
struct rdl_semaphore;
struct rdl_stats;

/* ---- Version ----------------------------------------------------------- */

/* Of this header, and as one number that grows: 0.3.0 is 300. */
#define RDL_VERSION_MAJOR 0
#define RDL_VERSION_MINOR 3
#define RDL_VERSION_PATCH 0
#define RDL_VERSION "0.3.0"
#define RDL_VERSION_NUMBER (RDL_VERSION_MAJOR * 10000 + RDL_VERSION_MINOR * 100 + RDL_VERSION_PATCH)

/* The RDL_VERSION of the library that the program runs with. */
const char *rdl_version(void);

/* ---- Outcomes ---------------------------------------------------------- */

/* RDL_BUSY and RDL_LOST are answers, not errors. */
enum rdl_outcome {
	RDL_OK,      /* it was done, and the server said so */
	RDL_BUSY,    /* another client holds it: not done, ask again */
	RDL_LOST,    /* it was ours and is not any more */
	RDL_UNKNOWN, /* sent, but the reply never came: it may have happened */
	RDL_ERROR,   /* not done; rdl_link_error() tells why */
};

/* "ok", "busy", "lost", "unknown" or "error"; "no outcome" for anything else. */
const char *rdl_outcome_name(enum rdl_outcome outcome);

/* ---- The token lock ---------------------------------------------------- */

/*
 * A lock in one key that holds a random token: SET key token NX PX ttl to get
 * it, compare-and-delete to give it back (the single-instance lock of the
 * Redis documentation, "Distributed Locks with Redis").
 *
 * It excludes others while its lease lasts, and no client can release a lock
 * that another one holds. It does not protect a holder who is still working when
 * the lease has run out: compare the time, or let the store check a fencing
 * number.
 *
 * A lock that is held across fork() stays the parent's: in the child it is not
 * held, and a release there leaves it alone (RDL_LOST).
 */

/* A lock on `key` (copied) over `link` (borrowed). NULL when out of memory.
 * Freeing it does not release it. */
struct rdl_lock *rdl_lock_new(struct rdl_link *link, const char *key);
void rdl_lock_free(struct rdl_lock *lock);

/*
 * Asks once. RDL_OK: held, for rdl_lock_remaining_ms(). RDL_BUSY: another token
 * is there, or this object holds it already, or the reply took as long as the
 * lease (so always with one of 2 ms or less), which has been released.
 * RDL_ERROR: not held; also when ttl_ms is below 1, and then nothing was sent.
 * While an earlier attempt or release has no answer and the server cannot be
 * asked, it is RDL_UNKNOWN: that attempt may be granted.
 * A reply that never came is made up for by asking whose token is there (SET
 * ... NX GET from Redis 7.0 on, GET before); RDL_UNKNOWN when that was not
 * answered either: may be held, rdl_lock_release() gives it back if it is, and
 * so does the next attempt before it asks again.
 */
enum rdl_outcome rdl_lock_try(struct rdl_lock *lock, long ttl_ms);

/* The same until it is held, or as the policy says. */
enum rdl_outcome rdl_lock_acquire(struct rdl_lock *lock, long ttl_ms,
				  const struct rdl_policy *policy);

/*
 * Another ttl_ms from now on. RDL_OK. RDL_LOST: the lease had run out; a lost
 * lock is never made again by this. RDL_UNKNOWN, RDL_ERROR: the lease that was
 * there before still counts (or, if unknown, the new one if it ends earlier);
 * ask again while it lasts. RDL_UNKNOWN with nothing left of the lease: the
 * reply took as long as the new one, and only another extension can tell
 * whether it is ours still. A ttl_ms below 1 is an RDL_ERROR, and nothing is
 * sent.
 */
enum rdl_outcome rdl_lock_extend(struct rdl_lock *lock, long ttl_ms);

/* What is left of the lease by this process's clock (CLOCK_BOOTTIME, which goes
 * on while the machine is suspended), counted from before the command that got
 * it, clock drift (1 % of it and 2 ms) taken off. 0 = not held, or a release was
 * sent, answered or not. Look here before every write. */
long rdl_lock_remaining_ms(const struct rdl_lock *lock);

/*
 * Gives the lock back. RDL_OK: was ours, is free. RDL_LOST: the lease had run
 * out, and its new holder was left alone; or it was not held.
 * RDL_UNKNOWN, RDL_ERROR: it may be ours until its lease ends; call again.
 */
enum rdl_outcome rdl_lock_release(struct rdl_lock *lock);

/* Valid as long as the lock. */
const struct rdl_stats *rdl_lock_stats(const struct rdl_lock *lock);

/*
 * try and release in two parts, so that they share a write with the caller's
 * own commands: queue, queue what comes with it (a release comes last), then
 * rdl_flush(), and receive in the same order. What was read along with a
 * refused try means nothing.
 * RDL_UNKNOWN is not made up for here, but by the next attempt; a batch that is
 * never received counts as that.
 *
 * Nothing here reads a reply of the caller's. So where a round trip of our own
 * would be needed in the middle of a batch, it is left to the caller. The try
 * says RDL_ERROR, and queues nothing, when an earlier token of this lock may be
 * there (its lease ran out, a reply never came): rdl_lock_release() it before
 * anything is queued, or queue the try first. The release says RDL_ERROR when
 * the server had forgotten the script, or does not let us run it, and other
 * replies are still to come: it is not done, rdl_lock_release() it when they
 * have been received. Queue one release in a batch, as its last command, and
 * this does not happen.
 */
enum rdl_outcome rdl_lock_queue_try(struct rdl_lock *lock, long ttl_ms);
enum rdl_outcome rdl_lock_receive_try(struct rdl_lock *lock);
enum rdl_outcome rdl_lock_queue_release(struct rdl_lock *lock);
enum rdl_outcome rdl_lock_receive_release(struct rdl_lock *lock);

/* ---- Waiting ----------------------------------------------------------- */

/*
 * How an acquire waits while another client holds the lock. No policy at all
 * (NULL): ask once.
 * The n-th pause is random between half of pause_min_us * 2^n and all of it,
 * never longer than pause_max_us, so that waiters do not fall into step.
 *
 * wait_ms bounds the wait for a server that does not answer as well, together
 * with the link's time-out, and so does cancel_fd: an attempt then ends with
 * RDL_UNKNOWN, at most 100 ms later. A round of a quorum lock ends as early, with
 * RDL_ERROR where no majority has answered; the servers that have not answered are
 * sent the release all the same, and it is not waited for.
 */
struct rdl_policy {
	size_t size;       /* of this struct where the caller was compiled; 0 = as it is in
			    * version 0.3. Fields behind it count as 0 */
	long wait_ms;      /* give up after this time: RDL_BUSY; LONG_MAX = never, 0 = ask once */
	long pause_min_us; /* 0 or less = 400, for a quorum 2000 */
	long pause_max_us; /* 0 or less = 5000, for a quorum 20000 */
	long least_ms;     /* of the lease that must be left: with less, the
			    * lock is released and asked for again */
	const int *cancel_fd; /* a descriptor that is readable = stop waiting: RDL_BUSY, or
			       * RDL_UNKNOWN where the server does not answer; NULL = none */
	bool fails_fast;      /* a server that cannot be reached, or is loading, ends it
			    * immediately: RDL_ERROR. false = that is waited through */
};

/* A policy as it is by default, to be changed: struct rdl_policy p = RDL_POLICY_INIT; */
#define RDL_POLICY_INIT                           \
	{                                         \
		.size = sizeof(struct rdl_policy) \
	}

/* ---- Addresses --------------------------------------------------------- */

/* What is found at an address. */
enum rdl_address_kind {
	RDL_ADDRESS_SERVER,
	RDL_ADDRESS_SENTINEL, /* Sentinels, which know the master of a service */
	RDL_ADDRESS_CLUSTER,  /* nodes of a Redis Cluster */
};

struct rdl_address {
	bool is_unix; /* then `host` is the socket's path */
	char host[256];
	int port;
	int db;             /* chosen by SELECT when not 0 */
	char user[128];     /* "" = none: AUTH with the password alone */
	char password[256]; /* "" = no AUTH at all */
	enum rdl_address_kind kind;
	char more[768];   /* the other Sentinels or nodes, HOST:PORT,... */
	char service[64]; /* Sentinel's name for the master */
	bool is_tls;
	bool is_unverified;       /* any certificate is accepted, from any server */
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
bool rdl_address_parse(struct rdl_address *address, const char *uri, char *error,
		       size_t error_size);

/* The address as a URI without user and password, and without what follows a ?
 * for TLS; safe to print. */
void rdl_address_print(const struct rdl_address *address, char *buffer, size_t size);

/* ---- Links ------------------------------------------------------------- */

/*
 * A connection to `address`, not opened yet. `timeout_ms` (> 0) limits
 * connecting and every wait for a reply, as a whole: also for one that comes in
 * pieces. A reply has at most 64 MiB, and 1,048,576 elements in all its arrays.
 * NULL when out of memory. The caller owns it; rdl_link_free(NULL) is allowed.
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
 * been done is not: a reply that never came is RDL_UNKNOWN here as elsewhere. A
 * fail-over may lose what the old master had acknowledged, locks included.
 */
struct rdl_link *rdl_link_new(const struct rdl_address *address, int timeout_ms);
void rdl_link_free(struct rdl_link *link);

/*
 * Opens the connection: AUTH and SELECT included. RDL_OK (also when it was open
 * already) or RDL_ERROR. Not needed before rdl_run(), which opens it by itself,
 * and opens it again after a failure.
 */
enum rdl_outcome rdl_link_connect(struct rdl_link *link);

/* The connection's descriptor, for poll() and the like; -1 = not connected. Not to be read,
 * written or closed. It changes whenever the link connects. */
int rdl_link_fd(const struct rdl_link *link);

/* Closes the connection; replies still on their way are dropped. */
void rdl_link_disconnect(struct rdl_link *link);

/* Another limit for connecting and for waits from now on. */
void rdl_link_set_timeout(struct rdl_link *link, int timeout_ms);

/* Why the last call on this link was RDL_ERROR or RDL_UNKNOWN; valid until the
 * next one. RDL_BUSY and RDL_LOST are answers and have no error. */
const char *rdl_link_error(const struct rdl_link *link);

/* What kind of error that was, for a program that decides by it. */
enum rdl_reason {
	RDL_REASON_NONE,
	RDL_REASON_UNREACHABLE, /* refused, no route, unknown host, no connection in time */
	RDL_REASON_NO_REPLY,    /* sent, and the connection broke or no reply came in time */
	RDL_REASON_AUTH,        /* NOAUTH, WRONGPASS, NOPERM: wrong password, or not allowed */
	RDL_REASON_LOADING,     /* LOADING: the server reads its data set after a restart */
	RDL_REASON_READ_ONLY,   /* READONLY: a replica, or no master any more */
	RDL_REASON_MEMORY,      /* OOM: the server has reached maxmemory */
	RDL_REASON_TYPE,        /* WRONGTYPE: the key holds something else */
	RDL_REASON_SERVER,      /* the server refused it for another reason */
	RDL_REASON_CALLER,      /* an argument that is not allowed, or no memory here */
};
enum rdl_reason rdl_link_reason(const struct rdl_link *link);

/* Commands sent over this link since it was made, AUTH and SELECT left out. */
uint64_t rdl_link_commands(const struct rdl_link *link);

/*
 * Puts a driver in charge of the link (see driver.h): every command, clock
 * reading and sleep that goes through the link asks it first. NULL, the
 * default, runs free. The driver must outlive the link.
 */
void rdl_link_set_driver(struct rdl_link *link, const struct rdl_driver *driver);

/* ---- Commands and replies ---------------------------------------------- */

enum rdl_reply_type {
	RDL_REPLY_NIL,
	RDL_REPLY_STATUS, /* +OK */
	RDL_REPLY_STRING,
	RDL_REPLY_INTEGER,
	RDL_REPLY_ARRAY,
	RDL_REPLY_FAILED, /* -ERR ...; the call's outcome was RDL_ERROR */
};

/* Strings end in a NUL; everything is valid until the link's next receive. A
 * reply that never came, or was never asked for, is nil. */
struct rdl_reply {
	enum rdl_reply_type type;
	long long integer;          /* RDL_REPLY_INTEGER */
	const char *text;           /* status, string or error, else NULL */
	size_t length;              /* of `text` in bytes, or of `elements` */
	struct rdl_reply *elements; /* RDL_REPLY_ARRAY */
};

/* An integer, or a string that is one; false for anything else. */
bool rdl_reply_number(const struct rdl_reply *reply, long long *value);

static inline bool rdl_reply_is_nil(const struct rdl_reply *reply)
{
	return reply->type == RDL_REPLY_NIL;
}

/*
 * Sends one command and waits for its reply:
 *
 *	rdl_run(link, &reply, "SET %s %s NX PX %ld", key, token, ttl_ms);
 *
 * The format is split at its spaces into words. A word is literal text or one
 * conversion of %s, %.*s (below 0: the whole string), %d, %ld, %lld; a value is
 * one word whatever it contains. RDL_OK; RDL_ERROR (never sent, or the server refused it: then
 * reply->type is RDL_REPLY_FAILED); RDL_UNKNOWN (sent, no reply in time; the
 * connection is closed, for a late reply would answer the next command).
 */
enum rdl_outcome rdl_run(struct rdl_link *link, struct rdl_reply *reply, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The same for words that are in an array, of which any may hold NUL bytes: `lengths`
 * has the length of each; NULL = each ends with a NUL. From 1 to 128 words.
 */
enum rdl_outcome rdl_run_argv(struct rdl_link *link, struct rdl_reply *reply, size_t n_words,
			      const char *const *words, const size_t *lengths);

/*
 * The same in three parts, for pipelines and fan-outs: queue commands, flush
 * them in one write, receive one reply per command in their order. After any
 * outcome but RDL_OK from queue or flush the connection is closed and nothing
 * of the batch may be repeated blindly: flush says RDL_UNKNOWN when a part of
 * it may have reached the server.
 */
enum rdl_outcome rdl_queue(struct rdl_link *link, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
enum rdl_outcome rdl_queue_argv(struct rdl_link *link, size_t n_words, const char *const *words,
				const size_t *lengths);
enum rdl_outcome rdl_flush(struct rdl_link *link);
enum rdl_outcome rdl_receive(struct rdl_link *link, struct rdl_reply *reply);

/* rdl_receive() that does not begin to wait after `deadline_ns` of the monotonic
 * clock (CLOCK_BOOTTIME); a reply that has come by then is taken. */
enum rdl_outcome rdl_receive_until(struct rdl_link *link, struct rdl_reply *reply,
				   int64_t deadline_ns);

/*
 * Runs a Lua script that the server knows by its hash (EVALSHA), or sends it
 * whole where it does not (EVAL on NOSCRIPT: after a restart, a promotion, a
 * SCRIPT FLUSH). `format` is what follows the script: "1 %s %s". The first
 * use on a link asks the server for the hash (SCRIPT LOAD). `source` is kept
 * as a pointer and must outlive the link: a string literal. Outcomes: rdl_run().
 */
enum rdl_outcome rdl_run_script(struct rdl_link *link, struct rdl_reply *reply, const char *source,
				const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * Ends a transaction: queues EXEC after `n_queued` commands (MULTI among them)
 * that wait in rdl_queue(), sends them all in one write and reads every reply.
 * RDL_OK: `reply` has what the commands answered, or is nil: a watched key was
 * written, and nothing has been done. RDL_ERROR: a command was refused; what
 * was refused only when it ran (a wrong type) leaves the others done.
 */
enum rdl_outcome rdl_exec(struct rdl_link *link, unsigned n_queued, struct rdl_reply *reply);

/* ---- Compare and delete ------------------------------------------------ */

/* How a key is deleted if it holds a certain value: the first of these that
 * the server has and allows. Found out along with the first use on a link,
 * which is a script sent whole. */
enum rdl_release_method {
	RDL_RELEASE_UNTRIED,
	RDL_RELEASE_DELEX,   /* DELEX key IFEQ value: Redis 8.4 */
	RDL_RELEASE_DELIFEQ, /* DELIFEQ key value: Valkey 9.0 */
	RDL_RELEASE_EVALSHA, /* a script, known by its hash */
	RDL_RELEASE_EVAL,    /* a script, sent whole: SCRIPT LOAD is forbidden */
	RDL_RELEASE_WATCH,   /* WATCH, GET, MULTI, DEL, EXEC: scripts are too */
};

/* "untried", "DELEX", "DELIFEQ", "EVALSHA", "EVAL" or "WATCH". */
const char *rdl_release_method_name(enum rdl_release_method method);

/* Deletes `key` if it holds `value`. RDL_OK: it did, and is gone. RDL_LOST: it
 * holds something else, or is not there. RDL_UNKNOWN, RDL_ERROR. */
enum rdl_outcome rdl_delete_if_equal(struct rdl_link *link, const char *key, const char *value);

/* How rdl_lock_release() does it on the lock's link. */
enum rdl_release_method rdl_lock_release_method(const struct rdl_lock *lock);

/* ---- Looking at a lock ------------------------------------------------- */

/*
 * A label tells who holds a lock: a host and a process, a job's number. It is a part of the
 * token, HEX@LABEL, so that GET shows it. From the next attempt on; NULL or "" = none. False,
 * and nothing is changed, when it is longer than 63 bytes or has blanks or control characters.
 * It is not secret and not checked: two clients may have the same one.
 */
enum { RDL_LABEL_SIZE = 64 };
bool rdl_lock_set_label(struct rdl_lock *lock, const char *label);
bool rdl_renewed_set_label(struct rdl_renewed *renewed, const char *label);
bool rdl_reentrant_set_label(struct rdl_reentrant *lock, const char *label);
bool rdl_fair_set_label(struct rdl_fair *fair, const char *label);
bool rdl_quorum_set_label(struct rdl_quorum *quorum, const char *label);
bool rdl_semaphore_set_label(struct rdl_semaphore *semaphore, const char *label);
bool rdl_rwlock_set_label(struct rdl_rwlock *lock, const char *label);

struct rdl_holder {
	bool is_held;
	char token[256];            /* the key's value */
	char label[RDL_LABEL_SIZE]; /* "" = it has none */
	long remaining_ms;          /* by the server's clock; -1 = indefinitely */
	long n_waiting;             /* in a fair lock's line, dead clients included */
};

/*
 * Who holds the lock in `key`, of any kind and of any client; the caller needs none. RDL_OK: it
 * was so when the server looked, and is in *holder; it may have changed since.
 * RDL_ERROR, and RDL_REASON_TYPE, when the key holds what no lock does: another type, or more
 * than 255 bytes. Do not decide by it whether to work: acquire the lock.
 */
enum rdl_outcome rdl_inspect(struct rdl_link *link, const char *key, struct rdl_holder *holder);

/*
 * The same of a lock that several clients may hold: each permit of a semaphore; the writer or
 * each reader of a read-write lock; of any other lock its one holder. Fills the first `size` of
 * `holders`, by the end of their leases, the earliest first. *n_holders is how many there are,
 * which may be more. n_waiting is 0.
 */
enum rdl_outcome rdl_inspect_all(struct rdl_link *link, const char *key, struct rdl_holder *holders,
				 size_t size, size_t *n_holders);

/*
 * The same of a quorum lock, as a majority has it. RDL_OK: one token is on a majority, and
 * remaining_ms is for how long it will be; or no token can be. RDL_UNKNOWN: too few answered
 * to tell.
 */
enum rdl_outcome rdl_quorum_inspect(struct rdl_quorum *quorum, struct rdl_holder *holder);

/*
 * DANGEROUS: takes the lock from a holder who may be working. It breaks mutual exclusion: the
 * next client gets the lock immediately, while the old holder continues until it asks the server
 * (an extension, a renewal, its release), which may be never. Only a fencing number then
 * guards the data. Use it when the holder is known to be dead.
 *
 * It takes the lock only from the holder that rdl_inspect() showed: RDL_LOST, and nothing is
 * done, when the lock is free or another's by now. Waiters of a fair lock get it when they look
 * again, after half a second at most. Of a quorum lock: on the link of each server.
 */
enum rdl_outcome rdl_force_release(struct rdl_link *link, const char *key,
				   const struct rdl_holder *holder);

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

/* NULL when out of memory or of file descriptors. Freeing it stops the renewer
 * and does not release: a lock that is held ends with its lease. Free it before
 * its link. */
struct rdl_renewed *rdl_renewed_new(struct rdl_link *link, const char *key, long hold_max_ms);
void rdl_renewed_free(struct rdl_renewed *renewed);

/* As rdl_lock_try() and rdl_lock_acquire(); RDL_ERROR also when hold_max_ms is
 * below 1. A lost one may be asked for again at once, released or not. */
enum rdl_outcome rdl_renewed_try(struct rdl_renewed *renewed, long ttl_ms);
enum rdl_outcome rdl_renewed_acquire(struct rdl_renewed *renewed, long ttl_ms,
				     const struct rdl_policy *policy);

/* rdl_renewed_acquire() that draws a fencing number, as rdl_lock_acquire_fenced(). Renewals
 * draw none. Without a policy (NULL) it asks once. */
enum rdl_outcome rdl_renewed_acquire_fenced(struct rdl_renewed *renewed, long ttl_ms,
					    const struct rdl_policy *policy, long long *number);

/* Is it still ours? RDL_OK, or RDL_LOST for good. Ask before every write. */
enum rdl_outcome rdl_renewed_check(const struct rdl_renewed *renewed);

/* What is left of the lease that was granted last; 0 = lost or not held. */
long rdl_renewed_remaining_ms(const struct rdl_renewed *renewed);

/* Readable (for poll() and the like) from the loss of the lock until the next
 * acquire. Not to be read, written or closed. */
int rdl_renewed_loss_fd(const struct rdl_renewed *renewed);

/* As rdl_lock_release(). */
enum rdl_outcome rdl_renewed_release(struct rdl_renewed *renewed);

const struct rdl_stats *rdl_renewed_stats(const struct rdl_renewed *renewed);

/* ---- The shared renewer ------------------------------------------------ */

/*
 * One thread that extends the leases of many locks, every third of each: token locks (fenced ones
 * too), fair locks, permits of semaphores, readers and writers of one server, over one connection;
 * quorum locks of one set of servers, over one connection to each. For a few token locks
 * rdl_renewed_* is simpler. Locks on another server need a renewer of their own, and so do quorum
 * locks where it matters that a server which hangs does not delay the other locks: an extension
 * of a quorum lock takes up to twice its node_timeout_ms. On a Redis Cluster all locks should be
 * in one hash slot: each other one costs a redirection.
 *
 * Threads: any thread may add and remove locks, at any time; each lock is used by one thread
 * at a time, as always. Processes: in a child after fork() the renewer is the parent's: it can
 * be freed there, and adding a lock is an RDL_ERROR.
 *
 * It does not guarantee that a holder stops: the call-back reports a loss, and a holder that does
 * not look continues. Renewals are sent one after another, so that a server which takes 1 ms for
 * each serves at most 300 locks with a lease of 1 s.
 */

/*
 * Reports that a lock was lost: the server said so, or its lease ended unanswered, or its
 * hold_max_ms have passed. An unanswered lease ends here earlier than on the server, by the drift
 * that rdl_lock_remaining_ms() takes off. Called once for each loss, in the renewer's thread,
 * while other locks wait: it should return soon. It may not call anything of this library with
 * the lock or the renewer. `lock` is the pointer that was given to rdl_renewer_add(),
 * rdl_renewer_add_fair() and so on. It is not called any more when the lock's removal, release or
 * freeing has returned.
 */
typedef void (*rdl_loss)(void *context, void *lock);

/* A renewer for locks on the server that `link` leads to, and for quorum locks; `link` is only
 * read now. `on_loss` may be NULL. NULL when out of memory. Freeing it stops the thread; no other
 * thread may use the renewer or a lock that is in it meanwhile, and its locks end with their
 * leases. */
struct rdl_renewer *rdl_renewer_new(const struct rdl_link *link, rdl_loss on_loss, void *context);
void rdl_renewer_free(struct rdl_renewer *renewer);

/*
 * From now on the renewer extends the lease of this lock, which is held, by the ttl_ms it was
 * acquired with (a quorum lock: or extended last), until hold_max_ms after it was acquired.
 * RDL_OK. RDL_LOST: it is not held. RDL_BUSY: it is in a renewer already. RDL_ERROR: it is on
 * another server, its link has a driver, or the thread cannot be started. Its remaining time
 * (rdl_lock_remaining_ms() and the like) counts what the renewer got; to extend it is an
 * RDL_ERROR. Its release and its freeing remove it first.
 */
enum rdl_outcome rdl_renewer_add(struct rdl_renewer *renewer, struct rdl_lock *lock,
				 long hold_max_ms);
enum rdl_outcome rdl_renewer_add_fair(struct rdl_renewer *renewer, struct rdl_fair *fair,
				      long hold_max_ms);
enum rdl_outcome rdl_renewer_add_semaphore(struct rdl_renewer *renewer,
					   struct rdl_semaphore *semaphore, long hold_max_ms);
enum rdl_outcome rdl_renewer_add_rwlock(struct rdl_renewer *renewer, struct rdl_rwlock *lock,
					long hold_max_ms);

/* The same. All quorum locks of a renewer must have the same servers in the same order
 * (RDL_ERROR, and rdl_quorum_error() tells why). */
enum rdl_outcome rdl_renewer_add_quorum(struct rdl_renewer *renewer, struct rdl_quorum *quorum,
					long hold_max_ms);

/* Extends it no more, when what is in flight for it has been answered; `lock` is of any kind.
 * RDL_OK: it is held still, for rdl_lock_remaining_ms() or the like. RDL_LOST: it is not, or was
 * not in this renewer. */
enum rdl_outcome rdl_renewer_remove(struct rdl_renewer *renewer, const void *lock);

/* ---- The token lock in an event loop ----------------------------------- */

/*
 * Acquires, extends and releases a token lock without waiting, for a program that has a loop
 * of its own: poll(2), epoll, libevent, libuv.
 *
 *	rdl_async_begin_acquire(async, 10000, &policy);
 *	do {
 *		struct pollfd ready = { rdl_link_fd(link), rdl_async_events(async), 0 };
 *
 *		poll(&ready, 1, rdl_async_timeout_ms(async));
 *	} while (!rdl_async_handle(async, &outcome));
 *
 * Ask for all three before each wait: the descriptor changes with the connection, and while the
 * acquire pauses no event matters. examples/event_loop.c and event_loop_libevent.c are whole
 * programs.
 *
 * What may wait all the same: connecting, as long as the link's time-out, at the first use and
 * after a connection was lost; rdl_link_connect() does it beforehand. Sending never does, for a
 * request has a few hundred bytes. A server that hangs is not waited for: when the link's
 * time-out is over the outcome is RDL_UNKNOWN, and the connection stays, so that a late reply
 * is thrown away when it comes and the next request goes behind the first.
 * rdl_link_disconnect(), before the next operation, makes a new one.
 *
 * The link is the operation's while it lasts: no other call may use it, so a lock in a loop needs
 * a link of its own. Threads: as the lock. Only for a link to one server, not over Sentinel or
 * to a Redis Cluster (RDL_ERROR). Scripts are needed, EVAL (RDL_ERROR without).
 */

/* For `lock` (borrowed), one operation at a time. NULL when out of memory. Freeing it cancels
 * the operation; free it before its lock. */
struct rdl_async *rdl_async_new(struct rdl_lock *lock);
void rdl_async_free(struct rdl_async *async);

/*
 * Begin an operation. Its outcome is what rdl_lock_acquire(), rdl_lock_extend() and
 * rdl_lock_release() say, and comes from rdl_async_handle(), also when it has ended already.
 * False: another one has not ended, or its outcome was not asked for. The policy is copied; its
 * cancel_fd does not matter. RDL_UNKNOWN of an acquire: the lock may be held, release it or
 * acquire it again.
 */
bool rdl_async_begin_acquire(struct rdl_async *async, long ttl_ms, const struct rdl_policy *policy);
bool rdl_async_begin_extend(struct rdl_async *async, long ttl_ms);
bool rdl_async_begin_release(struct rdl_async *async);

/* Continues as far as it can without waiting. True: it has ended with *outcome, and another one
 * may begin. False: call again after an event or the time-out; too early does no harm. */
bool rdl_async_handle(struct rdl_async *async, enum rdl_outcome *outcome);

/* What to wait for at rdl_link_fd(): POLLIN, or 0 = nothing. POLLOUT is never needed. */
short rdl_async_events(const struct rdl_async *async);

/* In how many milliseconds rdl_async_handle() is to be called, event or not; -1 = nothing goes
 * on. For poll(2). */
int rdl_async_timeout_ms(const struct rdl_async *async);

/* Ends the operation early; rdl_async_handle() tells how: RDL_BUSY, or RDL_UNKNOWN where a reply
 * was awaited, which is not waited for any more. */
void rdl_async_cancel(struct rdl_async *async);

/* ---- The re-entrant lock ----------------------------------------------- */

/*
 * A token lock that its owner may take again while holding it. The owner is
 * the object, and so the one thread that uses it. Taking it again asks the
 * server whether it is still held, and renews the lease, which then ends at the
 * later of the two ends; once it was lost, every level of it is (RDL_LOST) until
 * all are released.
 */
struct rdl_reentrant *rdl_reentrant_new(struct rdl_link *link, const char *key);
void rdl_reentrant_free(struct rdl_reentrant *lock);
enum rdl_outcome rdl_reentrant_try(struct rdl_reentrant *lock, long ttl_ms);
enum rdl_outcome rdl_reentrant_acquire(struct rdl_reentrant *lock, long ttl_ms,
				       const struct rdl_policy *policy);

/* One level less; the outermost gives the lock back. RDL_LOST: it was lost, or
 * there is no level left. */
enum rdl_outcome rdl_reentrant_release(struct rdl_reentrant *lock);

/* Levels that are to be released; in a child none of its parent's. */
unsigned rdl_reentrant_depth(const struct rdl_reentrant *lock);

long rdl_reentrant_remaining_ms(const struct rdl_reentrant *lock);
const struct rdl_stats *rdl_reentrant_stats(const struct rdl_reentrant *lock);

/* ---- The fair lock ----------------------------------------------------- */

/*
 * A token lock whose waiters stand in line, in the list KEY:line (on a Redis
 * Cluster {KEY}:line, unless the key has a hash tag; `data` then needs the same
 * tag). From Redis 6.0.6 on (LPOS). A release
 * hands the lock over to the first who still listens (PUBLISH tells how many
 * do) and wakes it by a message; no client polls. A holder that dies is waited
 * for until its lease ends, and a lost message until a waiter looks again by
 * itself, after half a second at most.
 *
 * Uses a second connection of its own for the messages. `data` may name a key
 * whose value comes along with the lock, read in the very step that grants it,
 * so that the holder need not ask for it; NULL = none.
 */
struct rdl_fair *rdl_fair_new(struct rdl_link *link, const char *key, const char *data);

/* Leaves the line, if it stands there. Does not release. */
void rdl_fair_free(struct rdl_fair *fair);

/*
 * Asks. RDL_OK: held. RDL_BUSY: stands in line now, rdl_fair_wait(), ask again;
 * or this object holds it already. What else it says, it may stand there: ask
 * again, or rdl_fair_release(). RDL_ERROR, and nothing is sent, when ttl_ms is
 * not from 1 to ten years. The ttl_ms with which it came into the line counts
 * while it stands there, whatever it asks for later: the place belongs to it.
 */
enum rdl_outcome rdl_fair_try(struct rdl_fair *fair, long ttl_ms);

/* Waits in line, at most wait_ms. RDL_OK: it was handed over, and is held.
 * RDL_BUSY: ask again; it may be this one's turn or not. RDL_BUSY at once when it
 * holds the lock already or stands in no line, as in a child after fork(). */
enum rdl_outcome rdl_fair_wait(struct rdl_fair *fair, long wait_ms);

/* Both, as the policy says (NULL = ask once). There are no pauses, but after
 * a lease that was too short. RDL_BUSY: has left the line; or, at once, this
 * object holds it already. */
enum rdl_outcome rdl_fair_acquire(struct rdl_fair *fair, long ttl_ms,
				  const struct rdl_policy *policy);

/*
 * rdl_fair_try() and rdl_fair_acquire() that also draw a fencing number, in the script that
 * grants the lock: at once, or when the lock is handed over. A lost reply is made up for, with
 * the same number. A waiter that died draws numbers that no holder has: they rise, with gaps.
 * RDL_ERROR when this object stands in line without asking for a number.
 */
enum rdl_outcome rdl_fair_try_fenced(struct rdl_fair *fair, long ttl_ms, long long *number);
enum rdl_outcome rdl_fair_acquire_fenced(struct rdl_fair *fair, long ttl_ms,
					 const struct rdl_policy *policy, long long *number);

/* The number of the present hold, as after rdl_fair_wait(); 0 = none was asked for, or it is
 * not held. */
long long rdl_fair_number(const struct rdl_fair *fair);

/* As rdl_lock_extend(); from 1 ms to ten years. A client that waits still waits. */
enum rdl_outcome rdl_fair_extend(struct rdl_fair *fair, long ttl_ms);

/* As rdl_lock_release(). When it is not held, leaves the line: RDL_LOST, or RDL_OK
 * if the lock had come to us without our knowing. */
enum rdl_outcome rdl_fair_release(struct rdl_fair *fair);

long rdl_fair_remaining_ms(const struct rdl_fair *fair);
const struct rdl_stats *rdl_fair_stats(const struct rdl_fair *fair);

/* The value that came along with the lock, nil when there is none; valid until
 * the next call on this lock or its link. */
const struct rdl_reply *rdl_fair_carried(const struct rdl_fair *fair);

/* The release in two parts, as rdl_lock_queue_release(). */
enum rdl_outcome rdl_fair_queue_release(struct rdl_fair *fair);
enum rdl_outcome rdl_fair_receive_release(struct rdl_fair *fair);

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

/* `nodes` are borrowed, 1 to RDL_QUORUM_NODES_MAX, and their time-out becomes
 * `node_timeout_ms`: much shorter than the lease. NULL when out of memory. */
enum { RDL_QUORUM_NODES_MAX = 15 };
struct rdl_quorum *rdl_quorum_new(struct rdl_link **nodes, size_t n_nodes, const char *key,
				  int node_timeout_ms);
void rdl_quorum_free(struct rdl_quorum *quorum);

/*
 * Delayed restart: a server that has run for less than `delay_ms` does not count
 * among those that grant. Without it a server that restarts empty grants a lock
 * a second time while its first holder still has a lease; with it, and a
 * delay_ms of the longest lease that any client asks for, that lease is over
 * first. The price: after all servers were started the lock is RDL_BUSY for
 * delay_ms. The servers are asked for their age (INFO server) once on each
 * connection; one that does not tell it does not count. 0, the default: all
 * count.
 */
void rdl_quorum_set_restart_delay(struct rdl_quorum *quorum, long delay_ms);

/*
 * Asks every server once. RDL_OK: held for rdl_quorum_remaining_ms(). RDL_BUSY:
 * not got, and released again on every server that was asked; or held already.
 * RDL_ERROR: so many servers did not answer that no majority could grant it, or
 * ttl_ms is below 1, and then nothing was sent.
 */
enum rdl_outcome rdl_quorum_try(struct rdl_quorum *quorum, long ttl_ms);

/* The same until it is held, or as the policy says; an RDL_ERROR is asked again
 * as well, as long as there is time. */
enum rdl_outcome rdl_quorum_acquire(struct rdl_quorum *quorum, long ttl_ms,
				    const struct rdl_policy *policy);

/* Another ttl_ms on a majority, with time left: RDL_OK. RDL_LOST: a majority has
 * it no more; a minority has been told to give it back. RDL_UNKNOWN: too few
 * answered, the old lease still counts, or the new one if it ends earlier. A
 * ttl_ms below 1 is an RDL_ERROR, and nothing is sent. */
enum rdl_outcome rdl_quorum_extend(struct rdl_quorum *quorum, long ttl_ms);

/* Asks every server whose token is there. RDL_OK: ours on a majority. RDL_LOST:
 * it cannot be. RDL_UNKNOWN: too few answered to tell. */
enum rdl_outcome rdl_quorum_query(struct rdl_quorum *quorum);

/* As rdl_lock_remaining_ms(). */
long rdl_quorum_remaining_ms(const struct rdl_quorum *quorum);

/* Releases on every server that was ever asked. RDL_OK: a majority had it.
 * RDL_LOST: it had not. RDL_UNKNOWN: too few answered to tell; call again, and
 * those that have answered since are counted with the others. */
enum rdl_outcome rdl_quorum_release(struct rdl_quorum *quorum);

/* Why the last quorum call said RDL_ERROR or RDL_UNKNOWN. */
const char *rdl_quorum_error(const struct rdl_quorum *quorum);

const struct rdl_stats *rdl_quorum_stats(const struct rdl_quorum *quorum);

/* ---- The semaphore ----------------------------------------------------- */

/*
 * At most `permits` holders at a time, each with a token and a lease of its own: a sorted set
 * in one key, token -> end of the lease by the server's clock (TIME). Each call is one script,
 * which removes first whose lease has ended; so a holder that dies is out after its lease. The
 * key expires with the last lease. One key: for Redis Cluster as well.
 *
 * All clients must give the same `permits`: nothing of it is kept in the key, each client
 * compares the number of holders with its own. With 3 here and 5 there up to five are inside,
 * and a client that gives 3 is refused from three holders on.
 *
 * What it does not guarantee: that a holder stops when its lease ends; one that is slower than
 * its lease is inside together with `permits` others, so look at the remaining time before each
 * effect. There is no fencing number: of several holders none is the newest. It is not fair: who
 * asks at the right moment gets the permit, and a client may wait while others come and go. The
 * server's clock counts: set forward by a step, it ends leases early. A server that forgets (a
 * restart without AOF, a fail-over to a replica that is behind) forgets holders, and lets others
 * in. It needs scripts (RDL_ERROR where the server does not allow them). rdl_inspect_all()
 * shows its holders; rdl_inspect(), which knows one, refuses its key (RDL_REASON_TYPE).
 *
 * Threads: one object is one permit, used by one thread at a time; for two permits
 * make two objects. Processes: as rdl_lock_*, a child does not hold what its parent holds.
 */

/* A permit of the semaphore in `key` (copied) over `link` (borrowed). NULL when out of memory.
 * Freeing it does not release it. */
struct rdl_semaphore *rdl_semaphore_new(struct rdl_link *link, const char *key, long permits);
void rdl_semaphore_free(struct rdl_semaphore *semaphore);

/*
 * Asks once. RDL_OK: held, for rdl_semaphore_remaining_ms(). RDL_BUSY: `permits` holders are
 * inside, or this object is, or the reply took as long as the lease (which has been released).
 * RDL_ERROR, and nothing is sent, when ttl_ms is not from 1 ms to ten years, or permits is below
 * 1. A reply that never came is made up for by asking again with the same token, which takes no
 * second permit; RDL_UNKNOWN when that was not answered either, as rdl_lock_try().
 */
enum rdl_outcome rdl_semaphore_try(struct rdl_semaphore *semaphore, long ttl_ms);

/* The same until it is held, or as the policy says. */
enum rdl_outcome rdl_semaphore_acquire(struct rdl_semaphore *semaphore, long ttl_ms,
				       const struct rdl_policy *policy);

/* As rdl_lock_extend(); from 1 ms to ten years. Never more than this object's own lease. */
enum rdl_outcome rdl_semaphore_extend(struct rdl_semaphore *semaphore, long ttl_ms);

/* As rdl_lock_release(): gives back this object's permit. RDL_LOST: its lease had ended, or it
 * was not held; no other permit is touched. */
enum rdl_outcome rdl_semaphore_release(struct rdl_semaphore *semaphore);

/* As rdl_lock_remaining_ms(). */
long rdl_semaphore_remaining_ms(const struct rdl_semaphore *semaphore);

/* How many are inside, by the server's clock; it may have changed since. RDL_OK, or else
 * *n_holders is left alone. */
enum rdl_outcome rdl_semaphore_count(struct rdl_semaphore *semaphore, long long *n_holders);

const struct rdl_stats *rdl_semaphore_stats(const struct rdl_semaphore *semaphore);

/* ---- The read-write lock ----------------------------------------------- */

/*
 * Many readers at a time, or one writer, each with a token and a lease of its own, by the
 * server's clock. The writer's token is in KEY, so that rdl_inspect() shows it; readers, which
 * rdl_inspect_all() shows, are in KEY:readers, a sorted set, token -> end of the lease, which
 * expires with the last lease. Each call is one script. On a Redis Cluster the other keys are
 * {KEY}:readers and {KEY}:intent, unless the key has a hash tag.
 *
 * A writer that waits is not starved: each attempt of rdl_rwlock_write_acquire() that is
 * refused leaves an intent in KEY:intent, and while that is there no new reader gets in. It
 * ends by itself after 100 ms and twice the policy's longest pause (110 ms by default), after
 * 1 s at most; so a writer that gave up or died stops readers no longer. With pauses above 1 s
 * a writer has no intent all the time, and may starve. rdl_rwlock_write_try(), and an acquire
 * without wait_ms, leaves none.
 *
 * What it does not guarantee: that a holder stops when its lease ends; look at the remaining
 * time before each effect. That readers get in: writers that follow each other without a pause
 * keep them out. An order among writers. That a writer gets in soon: readers inside may extend
 * their leases, and it waits for each of them. There is no fencing number. The server's clock
 * counts: set forward by a step, it ends leases early. A server that forgets (a restart without
 * AOF, a fail-over to a replica that is behind) forgets holders. It needs scripts (RDL_ERROR
 * where the server does not allow them). rdl_force_release() on KEY takes the lock from a writer
 * only.
 *
 * There is no upgrade: an object that reads is RDL_BUSY when it asks to write, and the other
 * way round; release first, ask again, and read again what was read. Who reads by one object and
 * waits to write by another waits for itself, until its own lease ends.
 *
 * Threads: one object is one reader or writer, used by one thread at a time. Processes: as
 * rdl_lock_*, a child does not hold what its parent holds.
 */

/* A lock on `key` (copied) over `link` (borrowed). NULL when out of memory. Freeing it does not
 * release it. */
struct rdl_rwlock *rdl_rwlock_new(struct rdl_link *link, const char *key);
void rdl_rwlock_free(struct rdl_rwlock *lock);

/*
 * Asks once, to read. RDL_OK: held with any number of other readers, for
 * rdl_rwlock_remaining_ms(). RDL_BUSY: a writer holds it or waits, or this object holds it, or
 * the reply took as long as the lease (which has been released). RDL_ERROR, and nothing is
 * sent, when ttl_ms is not from 1 ms to ten years. A reply that never came is made up for by
 * asking again with the same token; RDL_UNKNOWN when that was not answered either, as
 * rdl_lock_try().
 */
enum rdl_outcome rdl_rwlock_read_try(struct rdl_rwlock *lock, long ttl_ms);

/* The same until it is held, or as the policy says. */
enum rdl_outcome rdl_rwlock_read_acquire(struct rdl_rwlock *lock, long ttl_ms,
					 const struct rdl_policy *policy);

/* As rdl_rwlock_read_try(), to write: held alone. RDL_BUSY: a reader or a writer holds it. */
enum rdl_outcome rdl_rwlock_write_try(struct rdl_rwlock *lock, long ttl_ms);

/* The same until it is held, or as the policy says; new readers are refused meanwhile. */
enum rdl_outcome rdl_rwlock_write_acquire(struct rdl_rwlock *lock, long ttl_ms,
					  const struct rdl_policy *policy);

/* As rdl_lock_extend(), for a reader or a writer; from 1 ms to ten years. A reader's lease is
 * extended while a writer waits, too. */
enum rdl_outcome rdl_rwlock_extend(struct rdl_rwlock *lock, long ttl_ms);

/* As rdl_lock_release(), for a reader or a writer; no other hold is touched. */
enum rdl_outcome rdl_rwlock_release(struct rdl_rwlock *lock);

/* As rdl_lock_remaining_ms(). */
long rdl_rwlock_remaining_ms(const struct rdl_rwlock *lock);

const struct rdl_stats *rdl_rwlock_stats(const struct rdl_rwlock *lock);

/* ---- Fencing ----------------------------------------------------------- */

/*
 * A lock's holder may be slower than its lease and not know it. A fencing
 * number, one higher with every grant, lets the store refuse such a holder: it
 * keeps the highest number it has seen, at reads as well as at writes, and
 * refuses a lower one. The lock then guards against waste, the number guards
 * the data (M. Kleppmann, "How to do distributed locking", 2016).
 *
 * rdl_renewed_acquire_fenced() and rdl_fair_acquire_fenced() draw them from the same counter.
 * The numbers are kept in KEY:fence, for the lock's key and for the data's; on a
 * Redis Cluster in {KEY}:fence, unless the key has a hash tag of its own. Neither
 * expires. Numbers of one lock only may be used for one data key.
 *
 * They are as durable as the server: one that forgets (a restart without AOF, a
 * fail-over to a replica that is behind) forgets the counter with the lock, and
 * mints numbers a second time. See redislock.3, "What a server forgets".
 */

/* rdl_lock_try() that also mints a number, in one script. A reply that never came is made up for
 * by asking again: where the first request was granted, it is the same number. */
enum rdl_outcome rdl_lock_try_fenced(struct rdl_lock *lock, long ttl_ms, long long *number);

/* The same until it is held, or as the policy says. */
enum rdl_outcome rdl_lock_acquire_fenced(struct rdl_lock *lock, long ttl_ms,
					 const struct rdl_policy *policy, long long *number);

/* GET and SET for the holder of `number`. RDL_LOST: a higher number was here;
 * nothing was read or written. */
enum rdl_outcome rdl_fenced_get(struct rdl_link *link, const char *key, long long number,
				struct rdl_reply *reply);
enum rdl_outcome rdl_fenced_set(struct rdl_link *link, const char *key, long long number,
				const char *value);

/* ---- The optimistic update --------------------------------------------- */

/*
 * Computes a key's new value from the old one. `old` is nil when the key does
 * not exist. Writes a NUL-terminated value of fewer than `size` bytes into
 * `value` and returns RDL_OK; anything else ends the update with that outcome.
 * It must not use the link.
 */
typedef enum rdl_outcome (*rdl_change)(void *context, const struct rdl_reply *old, char *value,
				       size_t size);

/*
 * WATCH key, GET key, change, MULTI, SET, EXEC: one attempt. RDL_OK: stored,
 * and no other client wrote the key in between. RDL_BUSY: one did, nothing was
 * stored; ask again. RDL_UNKNOWN: the reply to EXEC never came. WATCH and GET
 * go out in one write, MULTI, SET and EXEC in another.
 */
enum rdl_outcome rdl_update_try(struct rdl_link *link, const char *key, rdl_change change,
				void *context);

/* The same until it is stored, at most `attempts` times, with pauses as the
 * policy (NULL = its defaults; wait_ms 0 = no limit but the attempts) says.
 * RDL_BUSY: it never was. */
enum rdl_outcome rdl_update(struct rdl_link *link, const char *key, rdl_change change,
			    void *context, unsigned attempts, const struct rdl_policy *policy);

/* ---- The delay queue --------------------------------------------------- */

/*
 * Work put off until later, on one server:
 *
 *	NAME:due         sorted set, id -> when it is due
 *	NAME:processing  sorted set, id -> until when its worker has it
 *	NAME:takes       hash, id -> which take of it counts, a random number
 *	NAME:attempts    hash, id -> how often it was taken
 *	NAME:dead        list of ids that were taken as often as is allowed
 *
 * An item is an id and nothing else. It is in one of the sorted sets, from put
 * until done, so that a worker that dies between taking and doing loses nothing: when
 * the hold has run out, the next take gives the item back. So an item is handed
 * out at least once, and not exactly once: again after a crash, a stall, a lost
 * reply. What is exactly once is the effect that rdl_delay_queue_done() does.
 *
 * Each call is one script, and all times are the server's (microseconds), which
 * must not be set back meanwhile; the clients' clocks do not matter. On a Redis
 * Cluster the keys are {NAME}:due and so on, unless the name has a hash tag; the
 * keys of an effect need the same tag.
 *
 * A take has a number of its own, because a hold may run out under a living
 * worker: A takes, stalls, B takes the same item. If A could still end it, the
 * item would be done once all the same; but what A is about to write comes from
 * what it read before B's time, and would undo what was written since. So only
 * the newest take of an item may end it. A take that is late but that no other
 * has followed may, too.
 *
 * An object has one item taken at a time: a further take forgets the one
 * before, which goes back by itself.
 */

/* A queue over `link` (borrowed); `name` is copied. NULL when out of memory. */
struct rdl_delay_queue *rdl_delay_queue_new(struct rdl_link *link, const char *name);
void rdl_delay_queue_free(struct rdl_delay_queue *queue);

/* Due `delay_ms` from now. RDL_OK; RDL_BUSY: an item of that id is there already,
 * due or being done. RDL_UNKNOWN: it may be there, and may be done by now: to
 * repeat it may be to do it twice. */
enum rdl_outcome rdl_delay_queue_put(struct rdl_delay_queue *queue, const char *id, long delay_ms);

/*
 * Takes the item that has been due the longest, for `hold_ms`. RDL_OK: it is in
 * `id`. RDL_BUSY: nothing is due. RDL_UNKNOWN: one may have been taken, and then
 * goes back by itself. RDL_ERROR, and nothing is taken, when the id does not fit
 * into `size` bytes. Items whose hold has run out go back first, at most 100 in
 * one call; they are due from the end of their hold on.
 */
enum rdl_outcome rdl_delay_queue_take(struct rdl_delay_queue *queue, long hold_ms, char *id,
				      size_t size);

/*
 * Ends the item just taken and does its effect, one command given like
 * rdl_run()'s (at most 23 words): both or neither. RDL_OK; RDL_LOST: not ours to
 * end any more, no effect; RDL_ERROR: the command was refused, the item is still
 * ours. A lost reply is asked for again: the repeated script does nothing if
 * the first one did. RDL_UNKNOWN: that was not answered either, or the hold had
 * run out by then and the item may be another worker's; the call may
 * be repeated.
 */
enum rdl_outcome rdl_delay_queue_done(struct rdl_delay_queue *queue, const char *id,
				      const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * rdl_delay_queue_take() that waits as the policy says (NULL = ask once). RDL_BUSY: nothing was
 * due in wait_ms, or cancel_fd is readable. It sleeps until the next item is due or the next hold
 * runs out, and at most pause_max_us (0 = 200 ms), for nothing wakes it: an item that is put
 * meanwhile, due before, is found so late. least_ms and pause_min_us do not matter. RDL_UNKNOWN
 * ends it; a server that cannot be reached or is loading does not, unless fails_fast.
 */
enum rdl_outcome rdl_delay_queue_wait(struct rdl_delay_queue *queue, long hold_ms, char *id,
				      size_t size, const struct rdl_policy *policy);

/*
 * How often an item may be taken: what is due once more goes to the end of the list NAME:dead
 * instead of being handed out, at most 100 in one call. 0, the default, or less: as often as is
 * needed. It counts for the takes of this object, all workers should have the same; takes are
 * counted without it as well, and from the beginning when an item is put or revived. An attempt
 * that crashed, was returned or has no answer counts as any other.
 */
void rdl_delay_queue_set_limit(struct rdl_delay_queue *queue, long attempts);

/* Which take of its item the newest one is, from 1 on; 0 = there is none. */
long rdl_delay_queue_attempt(const struct rdl_delay_queue *queue);

/*
 * Holds the item just taken for another hold_ms from now on, or as long as before if that is
 * longer. RDL_OK. RDL_LOST: another worker has taken it, or it went back. A hold that has run out
 * without that is prolonged. A lost reply is asked for again; RDL_UNKNOWN, RDL_ERROR: the hold
 * lasts at least as long as before.
 */
enum rdl_outcome rdl_delay_queue_prolong(struct rdl_delay_queue *queue, const char *id,
					 long hold_ms);

/*
 * Returns the item just taken: due delay_ms from now, for any worker. RDL_OK; RDL_LOST:
 * not ours any more, nothing is done. A lost reply is asked for again; RDL_UNKNOWN: it may have
 * gone back, and does so when the hold has run out; the call may be repeated, and says RDL_LOST
 * when a worker has taken the item since.
 */
enum rdl_outcome rdl_delay_queue_give_back(struct rdl_delay_queue *queue, const char *id,
					   long delay_ms);

/* The `index`-th of the dead, from 0 on, the oldest first. RDL_OK: it is in `id`, and stays
 * there. RDL_BUSY: there are fewer. RDL_ERROR also when `size` bytes are too few. */
enum rdl_outcome rdl_delay_queue_dead(struct rdl_delay_queue *queue, long index, char *id,
				      size_t size);

/* Takes one from the dead, for good. RDL_OK: only one caller is told so. RDL_LOST: it is not
 * there. RDL_UNKNOWN: it may be gone. */
enum rdl_outcome rdl_delay_queue_remove_dead(struct rdl_delay_queue *queue, const char *id);

/* Puts one of the dead into the queue again, due delay_ms from now, with no attempts yet. RDL_OK.
 * RDL_LOST: it is not among the dead. RDL_BUSY: an item of that id is in the queue; the dead one
 * stays. RDL_UNKNOWN: it may have been done. */
enum rdl_outcome rdl_delay_queue_revive(struct rdl_delay_queue *queue, const char *id,
					long delay_ms);

/* How many are waiting, those due later included, and how many are being done;
 * counted at one moment. */
enum rdl_outcome rdl_delay_queue_length(struct rdl_delay_queue *queue, long long *due,
					long long *processing);

/* ---- Statistics -------------------------------------------------------- */

/* What a lock has been through. */

/* buckets[i] counts durations from 2^i to below 2^(i+1) microseconds; the
 * first one also what is shorter, the last one what is longer. */
enum { RDL_BUCKETS = 32 };

struct rdl_stats {
	uint64_t attempts;             /* times a server, or a quorum, was asked */
	uint64_t waits;                /* pauses between attempts */
	uint64_t holds;                /* times it was held */
	uint64_t lost;                 /* times it was ours and was not any more */
	uint64_t unknown;              /* replies that never came and could not be made up */
	uint64_t wait_us[RDL_BUCKETS]; /* from asking until held */
	uint64_t hold_us[RDL_BUCKETS]; /* from held until released */
};

/* The duration in microseconds that a share `p` (0 to 1) of the counted ones
 * does not exceed, rounded up to the end of its bucket; 0 when none is
 * counted. */
uint64_t rdl_stats_quantile(const uint64_t buckets[RDL_BUCKETS], double p);

/* ---- Tokens ------------------------------------------------------------ */

/*
 * What a token lock stores: who holds it, as a value that no other client can guess.
 * 20 random bytes in hexadecimal, straight from the kernel: there is no state
 * that a forked child could share. With a driver on `link` (driver.h) they are
 * the driver's; NULL = no link. False when the kernel has none to give.
 */
enum { RDL_TOKEN_SIZE = 41 };
bool rdl_token_fresh(const struct rdl_link *link, char token[RDL_TOKEN_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
