/* SPDX-License-Identifier: MIT */
/* A link's inside, for the files of lib/ that make one up. */
#ifndef RL_LINK_H
#define RL_LINK_H

#include <sys/types.h>

#include "command.h"
#include "driver.h"
#include "parser.h"
#include "route.h"
#include "tls.h"

enum { RL_SCRIPTS_MAX = 16, RL_SHA1_LENGTH = 40 };

/* Replies that have come and have not been received yet, oldest first. Nothing
 * is allocated for a link that runs free. */
struct rl_kept_replies {
	struct rl_kept_reply *first, *last;
	struct rl_kept_reply *taken; /* received last: it may be read still */
	struct rl_kept_reply *spare;
};

/* A script whose hash this link has asked for. */
struct rl_known_script {
	const char *source;
	char sha1[RL_SHA1_LENGTH + 1];
};

/* By which methods the server deletes or expires a key only if it holds a
 * value, as far as that is known (compare.c). */
struct rl_means {
	enum rl_release_method native;   /* DELEX, DELIFEQ; EVALSHA = neither */
	enum rl_release_method scripted; /* EVALSHA, EVAL or WATCH */
	enum rl_release_method sent_by;  /* what was queued last */
	bool asked_native;               /* questions whose answers have not been */
	const char *asked_script;        /* received */
};

struct rl_link {
	struct redisContext *context; /* NULL while not connected */
	const struct rl_driver *driver;
	struct rl_address address;
	struct rl_route *route; /* NULL: the address is a server's */
	struct rl_tls *tls;     /* NULL: none, or not connected yet */
	struct rl_buffer plain; /* decrypted, on its way to the parser */
	int timeout_ms;
	struct rl_process_page *process; /* NULL where there can be none */
	pid_t owner;                     /* whose connection it is: a child makes its own */
	unsigned pending;                /* replies to come, or lost with the connection */
	unsigned overdue;                /* replies before those that nobody waits for now */
	uint64_t commands;
	int64_t reading_ns;   /* since when the next reply is waited for; 0 = not yet */
	int64_t since_ns;     /* of several replies that share one time-out; 0 = none */
	uint64_t connections; /* made so far: what belongs to one is lost with it */
	struct rl_buffer out;
	struct rl_arena arena;       /* the last reply */
	struct rl_kept_replies keep; /* while it is driven */
	struct rl_known_script scripts[RL_SCRIPTS_MAX];
	struct rl_means means;
	char error[256];
};

struct rl_process_page *rl_process_page_new(void);
void rl_process_page_free(struct rl_process_page *page);

/* getpid(), without asking the kernel again. */
pid_t rl_process(const struct rl_link *link);

/* Remembers why a call fails; returns `outcome`. */
enum rl_outcome rl_link_fail(struct rl_link *link, enum rl_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Closes after a failure: what was on its way has an unknown end. */
enum rl_outcome rl_link_drop(struct rl_link *link, const char *why);

/* Opens those links that are not open, all at once, until `deadline_ns`. Each
 * is connected afterwards, or says why not. */
void rl_links_connect(struct rl_link *const *links, size_t n, int64_t deadline_ns);

/* The same; links with a route go to the node it has found. */
void rl_links_connect_to(struct rl_link *const *links, size_t n, int64_t deadline_ns);

/* The kernel's time, by which recv() waits. A driver is not asked, and its time may
 * stand. */
int64_t rl_kernel_ns(void);

/* When the link's time-out will be over, from now on. */
int64_t rl_link_deadline_ns(const struct rl_link *link);

/* Is something on its way in either direction? */
static inline bool rl_link_is_busy(const struct rl_link *link)
{
	return link->pending || link->overdue || link->out.length;
}

/* Are replies to a batch still to be received? A round trip of our own would
 * take them. */
static inline bool rl_link_has_batch(const struct rl_link *link)
{
	return link->context && link->pending;
}

/* One reply from the connection. deadline_ns 0 = the link's own time-out,
 * after which the connection is closed. With a deadline it stays open: the
 * reply is thrown away when it comes, and what is sent later arrives behind
 * its command. */
enum rl_outcome rl_link_read(struct rl_link *link, struct rl_reply *reply, int64_t deadline_ns);

/* The same for the caller: over a route, what the right node says. */
static inline enum rl_outcome rl_link_receive(struct rl_link *link, struct rl_reply *reply,
					      int64_t deadline_ns)
{
	return link->route ? rl_route_receive(link, reply, deadline_ns) :
			     rl_link_read(link, reply, deadline_ns);
}

/* recv() that waits for the link's time-out, however many signals come, or
 * until the deadline and not at all after it: what has come until then still
 * counts. */
ssize_t rl_link_take_bytes(struct rl_link *link, char *bytes, size_t size, int64_t deadline_ns);

/* The next of the messages that come unasked on a subscribed link. RL_BUSY:
 * none within timeout_ns. */
enum rl_outcome rl_link_listen(struct rl_link *link, struct rl_reply *message, int64_t timeout_ns);

/* Has anything come that nobody has asked for or received? */
bool rl_link_has_unread(const struct rl_link *link);

/* Hands what has come to the parser, without waiting. Is anything there that
 * nobody has received? */
bool rl_link_take_unread(struct rl_link *link);

/* Throws away those overdue replies that have come, without waiting. */
void rl_link_catch_up(struct rl_link *link);

/* After a fork: leaves the parent its connection. */
void rl_link_leave_parents(struct rl_link *link);

/* RL_UNKNOWN in a child, for what concerns the parent's batch on it. */
enum rl_outcome rl_link_spare_parents(struct rl_link *link);

/* Which connection is open, counted from 1; 0 = none. */
static inline uint64_t rl_link_connection(const struct rl_link *link)
{
	return link->context ? link->connections : 0;
}

/* Free running costs this one branch. */
static inline bool rl_is_driven(const struct rl_link *link)
{
	return __builtin_expect(link->driver != NULL, 0);
}

/* Where time is the driver's, so are time-outs: a slow machine must not look
 * like a lost reply. */
enum { RL_DRIVEN_TIMEOUT_MS = 60000 };

static inline int rl_link_timeout_ms(const struct rl_link *link)
{
	return rl_is_driven(link) && link->driver->ops->now &&
			       link->timeout_ms < RL_DRIVEN_TIMEOUT_MS ?
		       RL_DRIVEN_TIMEOUT_MS :
		       link->timeout_ms;
}

/* Tells the connection, after the driver has changed. */
void rl_link_apply_timeout(const struct rl_link *link);

/* Queues a command given as words; what rl_queue() does after its format. */
enum rl_outcome rl_queue_command(struct rl_link *link, struct rl_command *command);

/* rl_queue_command(), rl_flush() and rl_receive(). */
enum rl_outcome rl_run_command(struct rl_link *link, struct rl_reply *reply,
			       struct rl_command *command);

/* ---- A driven link (driver.c) ------------------------------------------ */

/* Forgets what has not been received. */
void rl_kept_replies_drop(struct rl_kept_replies *keep);

void rl_kept_replies_release(struct rl_kept_replies *keep);

/* rl_queue_command() and rl_receive_until() for a link whose driver has a
 * send. */
enum rl_outcome rl_driven_queue(struct rl_link *link, struct rl_command *command);
enum rl_outcome rl_driven_receive(struct rl_link *link, struct rl_reply *reply,
				  int64_t deadline_ns);

#endif
