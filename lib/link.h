/* SPDX-License-Identifier: MIT */
/* A link's inside, for the files of lib/ that make one up. */
#ifndef RDL_LINK_H
#define RDL_LINK_H

#include <string.h>
#include <sys/types.h>

#include "command.h"
#include "driver.h"
#include "parser.h"
#include "route.h"
#include "tls.h"

enum { RDL_SCRIPTS_MAX = 16, RDL_SHA1_LENGTH = 40 };

/* Replies that have come and have not been received yet, oldest first. Nothing
 * is allocated for a link that runs free. */
struct rdl_kept_replies {
	struct rdl_kept_reply *first, *last;
	struct rdl_kept_reply *taken; /* received last: it may be read still */
	struct rdl_kept_reply *spare;
};

/* A script whose hash this link has asked for. */
struct rdl_known_script {
	const char *source;
	char sha1[RDL_SHA1_LENGTH + 1];
};

/* By which methods the server deletes or expires a key only if it holds a
 * value, as far as that is known (compare.c). */
struct rdl_means {
	enum rdl_release_method native;   /* DELEX, DELIFEQ; EVALSHA = neither */
	enum rdl_release_method scripted; /* EVALSHA, EVAL or WATCH */
	enum rdl_release_method sent_by;  /* what was queued last */
	bool asked_native;                /* questions whose answers have not been */
	const char *asked_script;         /* received */
};

/* How long an acquire waits for replies, whatever the time-out says. A reply that is awaited
 * when it is over, or cancelled, has RDL_GRACE_MS still, so that a server that answers is not
 * left in doubt. */
struct rdl_patience {
	int64_t until_ns; /* of the kernel's time */
	int cancel_fd;    /* -1 = none */
};
enum { RDL_GRACE_MS = 100 };

struct rdl_link {
	struct redisContext *context; /* NULL while not connected */
	const struct rdl_driver *driver;
	struct rdl_address address;
	struct rdl_route *route; /* NULL: the address is a server's */
	struct rdl_tls *tls;     /* NULL: none, or not connected yet */
	struct rdl_buffer plain; /* decrypted, on its way to the parser */
	struct rdl_buffer piece; /* of a long reply, as it comes */
	int timeout_ms;
	struct rdl_process_page *process; /* NULL where there can be none */
	pid_t owner;                      /* whose connection it is: a child makes its own */
	unsigned pending;                 /* replies to come, or lost with the connection */
	unsigned overdue;                 /* replies before those that are not waited for now */
	uint64_t commands;
	int64_t reading_ns; /* since when the next reply is waited for; 0 = not yet */
	const struct rdl_patience *patience; /* of the acquire that uses it; NULL = none */
	unsigned state;         /* what WATCH, SELECT and the like left in the connection */
	enum rdl_reason reason; /* of `error` */
	int64_t since_ns;       /* of several replies that share one time-out; 0 = none */
	uint64_t connections;   /* made so far: what belongs to one is lost with it */
	struct rdl_buffer out;
	struct rdl_arena arena;       /* the last reply */
	struct rdl_kept_replies keep; /* while it is driven */
	struct rdl_known_script scripts[RDL_SCRIPTS_MAX];
	struct rdl_means means;
	char error[256];
};

struct rdl_process_page *rdl_process_page_new(void);
void rdl_process_page_free(struct rdl_process_page *page);

/* getpid(), without asking the kernel again. */
pid_t rdl_process(const struct rdl_link *link);

/* Remembers why a call fails; returns `outcome`. */
enum rdl_outcome rdl_link_fail(struct rdl_link *link, enum rdl_outcome outcome, const char *format,
			       ...) __attribute__((format(printf, 3, 4)));

/* Closes after a failure: what was on its way has an unknown end. */
enum rdl_outcome rdl_link_drop(struct rdl_link *link, const char *why);

/* Opens those links that are not open, all at once, until `deadline_ns`. Each
 * is connected afterwards, or says why not. */
void rdl_links_connect(struct rdl_link *const *links, size_t n, int64_t deadline_ns);

/* The same; links with a route go to the node it has found. */
void rdl_links_connect_to(struct rdl_link *const *links, size_t n, int64_t deadline_ns);

/* The kernel's time, by which recv() waits. A driver is not asked, and its time may
 * stand. */
int64_t rdl_kernel_ns(void);

/* When the link's time-out will be over, from now on. */
int64_t rdl_link_deadline_ns(const struct rdl_link *link);

/* Is something on its way in either direction? */
static inline bool rdl_link_is_busy(const struct rdl_link *link)
{
	return link->pending || link->overdue || link->out.length;
}

/* Are replies to a batch still to be received? A round trip of our own would
 * take them. */
static inline bool rdl_link_has_batch(const struct rdl_link *link)
{
	return link->context && link->pending;
}

/* One reply from the connection. deadline_ns 0 = the link's own time-out,
 * after which the connection is closed. With a deadline it stays open: the
 * reply is thrown away when it comes, and what is sent later arrives behind
 * its command. */
enum rdl_outcome rdl_link_read(struct rdl_link *link, struct rdl_reply *reply, int64_t deadline_ns);

/* The same for the caller: over a route, what the right node says. */
static inline enum rdl_outcome rdl_link_receive(struct rdl_link *link, struct rdl_reply *reply,
						int64_t deadline_ns)
{
	return link->route ? rdl_route_receive(link, reply, deadline_ns) :
			     rdl_link_read(link, reply, deadline_ns);
}

/* The reply that is awaited, if it has come, without waiting. RDL_BUSY: it has not, and is to be
 * received still; if `gives_up`, RDL_UNKNOWN, and it is thrown away when it comes. A driver may
 * let it wait. Not over a route. */
enum rdl_outcome rdl_link_poll(struct rdl_link *link, struct rdl_reply *reply, bool gives_up);

/* recv() that waits for the link's time-out, however many signals come, or
 * until the deadline and not at all after it: what has come until then still
 * counts. */
ssize_t rdl_link_take_bytes(struct rdl_link *link, char *bytes, size_t size, int64_t deadline_ns);

/* The next of the messages that come unasked on a subscribed link. RDL_BUSY:
 * none within timeout_ns. */
enum rdl_outcome rdl_link_listen(struct rdl_link *link, struct rdl_reply *message,
				 int64_t timeout_ns);

/* Has anything come that was not asked for, or not received? */
bool rdl_link_has_unread(const struct rdl_link *link);

/* Remembers what a command that is queued leaves in the connection. */
void rdl_link_note_state(struct rdl_link *link, const struct rdl_word *name);

/* Closes a connection that the server has closed while nothing was asked, so
 * that the next command opens another one instead of being lost on this. Not
 * where it has a state that would be lost unnoticed, nor for a driven link. */
void rdl_link_renew_if_closed(struct rdl_link *link);

/* Limits waits on this link as the policy says until it is called with NULL;
 * `patience` is the caller's, and `deadline_ns` when the policy's time is over. */
struct rdl_policy;
void rdl_link_set_patience(struct rdl_link *link, struct rdl_patience *patience,
			   const struct rdl_policy *policy, int64_t deadline_ns);

/* The deadline for replies of further links, after this one was waited for. Where the caller has
 * cancelled, all links share one RDL_GRACE_MS, which this one has used up if it was silent. */
int64_t rdl_link_hurry(const struct rdl_link *link, bool was_silent, int64_t deadline_ns);

/* What an error reply's first word says. */
enum rdl_reason rdl_reason_of_reply(const char *text);

/* Remembers an error that the server replied; returns RDL_ERROR. */
enum rdl_outcome rdl_link_refuse(struct rdl_link *link, const char *text);

/* Hands what has come to the parser, without waiting. Is anything there that
 * has not been received? */
bool rdl_link_take_unread(struct rdl_link *link);

/* Throws away those overdue replies that have come, without waiting. */
void rdl_link_catch_up(struct rdl_link *link);

/* After a fork: leaves the parent its connection. */
void rdl_link_leave_parents(struct rdl_link *link);

/* RDL_UNKNOWN in a child, for what concerns the parent's batch on it. */
enum rdl_outcome rdl_link_spare_parents(struct rdl_link *link);

/* Which connection is open, counted from 1; 0 = none. */
static inline uint64_t rdl_link_connection(const struct rdl_link *link)
{
	return link->context ? link->connections : 0;
}

/* Free running costs this one branch. */
static inline bool rdl_is_driven(const struct rdl_link *link)
{
	return __builtin_expect(link->driver != NULL, 0);
}

/* Where time is the driver's, so are time-outs: a slow machine must not look
 * like a lost reply. */
enum { RDL_DRIVEN_TIMEOUT_MS = 60000 };

static inline int rdl_link_timeout_ms(const struct rdl_link *link)
{
	return rdl_is_driven(link) && link->driver->ops->now &&
			       link->timeout_ms < RDL_DRIVEN_TIMEOUT_MS ?
		       RDL_DRIVEN_TIMEOUT_MS :
		       link->timeout_ms;
}

/* Tells the connection, after the driver has changed. */
void rdl_link_apply_timeout(const struct rdl_link *link);

/*
 * Prints the name of a key that belongs to `key`: KEY and `suffix`. On a Redis Cluster both
 * must be in one slot, so that a key without a hash tag becomes {KEY} and the suffix (a key
 * that has a } without being tagged cannot, and keeps its name). False: `size` is too small.
 */
bool rdl_name_beside(const struct rdl_link *link, const char *key, const char *suffix, char *name,
		     size_t size);

/* What that takes at most, with the NUL. */
static inline size_t rdl_name_size(const char *key, const char *suffix)
{
	return strlen(key) + strlen(suffix) + sizeof("{}");
}

/* Queues a command given as words; what rdl_queue() does after its format. */
enum rdl_outcome rdl_queue_command(struct rdl_link *link, struct rdl_command *command);

/* rdl_queue_command(), rdl_flush() and rdl_receive(). */
enum rdl_outcome rdl_run_command(struct rdl_link *link, struct rdl_reply *reply,
				 struct rdl_command *command);

/* ---- A driven link (driver.c) ------------------------------------------ */

/* Forgets what has not been received. */
void rdl_kept_replies_drop(struct rdl_kept_replies *keep);

void rdl_kept_replies_release(struct rdl_kept_replies *keep);

/* rdl_queue_command() and rdl_receive_until() for a link whose driver has a
 * send. */
enum rdl_outcome rdl_driven_queue(struct rdl_link *link, struct rdl_command *command);
enum rdl_outcome rdl_driven_receive(struct rdl_link *link, struct rdl_reply *reply,
				    int64_t deadline_ns);

#endif
