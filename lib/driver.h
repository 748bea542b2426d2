/* SPDX-License-Identifier: MIT */
/*
 * The seam between a client program and its driver.
 *
 * A strategy is written once. Left alone it runs at full speed; with a driver
 * on its link, everything that another client could notice, or that depends
 * on time, stops here first:
 *
 *	send    before a command goes out; the driver may wait, may change the
 *		words (a planted fault), or may refuse: any outcome but RDL_OK is
 *		handed to the caller, nothing is sent and the link is closed
 *	done    after what send has let pass was executed and answered, or was
 *		not; the driver may look at the reply and returns the outcome
 *		that is kept for the caller. RDL_UNKNOWN loses the reply: what
 *		is sent before the caller notices is executed and goes the same
 *		way, then the link is closed
 *	receive when the caller takes a reply; the driver may look at it and
 *		returns the outcome that the caller will see
 *	now     a clock reading in nanoseconds
 *	sleep   a wait
 *	mark    the client enters or leaves its critical section
 *	mutex   a mutex within one process, locked or unlocked
 *	wait    for something outside the connection: until a file descriptor
 *		is readable, or a time has passed
 *	spawn   the client starts something that runs beside it, such as a
 *		renewer, with a link of its own; the driver may give that link
 *		a driver of its own
 *	join    the client waits until it has ended
 *	random  random bytes, for tokens
 *	open    instead of connecting: a descriptor that leads to the server, which the
 *		link closes; below 0 when no server listens there
 *	await   before the caller waits for bytes that come over `fd`; returns when some
 *		have come, or the connection is closed
 *
 * A driver may also take the server's place. Then nothing is sent, and instead
 * of send, done and receive it is called:
 *
 *	submit  when a command is queued; it is on its way from then on
 *	deliver when the caller takes a reply; the driver lets it wait. Any
 *		outcome but RDL_OK and RDL_ERROR closes the connection
 *	listen  when the caller waits for a message on a subscribed link; RDL_BUSY
 *		when none came in time
 *
 * With a send, a pipeline or fan-out asks once per command, and a command has
 * been executed, its reply read and kept, when the call that queued it
 * returns: each command on each server is a step of its own, and steps of two
 * links have an order. A reply is waited for as long as the link's time-out
 * says, whatever the deadline of its receive. Order per link: send, done, and
 * some time later receive; a connection is opened between send and done. All
 * calls come from the thread that uses the link. An op that is NULL does what
 * would be done without a driver.
 */
#ifndef RDL_DRIVER_H
#define RDL_DRIVER_H

#include <pthread.h>

#include "redislock.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RDL_WORDS_MAX = 128, RDL_NUMBERS_MAX = 8 };

struct rdl_word {
	const char *text;
	size_t length;
};

/* A command as words, before it is encoded. Texts are borrowed. */
struct rdl_command {
	size_t n_words;
	struct rdl_word words[RDL_WORDS_MAX];
	size_t n_numbers;
	char numbers[RDL_NUMBERS_MAX][24]; /* numbers of the format, printed */
};

enum rdl_clock {
	RDL_CLOCK_MONOTONIC, /* for durations: CLOCK_BOOTTIME */
	RDL_CLOCK_REALTIME,  /* for what is stored and compared by others */
};

enum rdl_mark { RDL_MARK_ENTER, RDL_MARK_LEAVE };

struct rdl_mutex {
	pthread_mutex_t native;
};

/* Something that runs beside a client. All but `thread` is set before spawn;
 * `body` uses no link but `link`. */
struct rdl_task {
	void (*body)(void *argument);
	void *argument;
	struct rdl_link *link;
	pthread_t thread;
};

struct rdl_driver_ops {
	enum rdl_outcome (*send)(void *context, struct rdl_link *link, struct rdl_command *command);
	enum rdl_outcome (*done)(void *context, struct rdl_link *link,
				 const struct rdl_reply *reply, enum rdl_outcome outcome);
	enum rdl_outcome (*receive)(void *context, struct rdl_link *link, struct rdl_reply *reply,
				    enum rdl_outcome outcome);
	int64_t (*now)(void *context, enum rdl_clock clock);
	void (*sleep)(void *context, int64_t duration_ns);
	void (*mark)(void *context, enum rdl_mark mark);
	void (*mutex)(void *context, struct rdl_mutex *mutex, bool take);
	bool (*wait)(void *context, int fd, int64_t timeout_ns);
	bool (*spawn)(void *context, struct rdl_task *task);
	void (*join)(void *context, struct rdl_task *task);
	void (*random)(void *context, unsigned char *bytes, size_t n);
	int (*open)(void *context, struct rdl_link *link);
	void (*await)(void *context, struct rdl_link *link, int fd);
	enum rdl_outcome (*submit)(void *context, struct rdl_link *link,
				   const struct rdl_command *command);
	enum rdl_outcome (*deliver)(void *context, struct rdl_link *link, struct rdl_reply *reply);
	enum rdl_outcome (*listen)(void *context, struct rdl_link *link, struct rdl_reply *message,
				   int64_t timeout_ns);
};

struct rdl_driver {
	const struct rdl_driver_ops *ops;
	void *context;
};

/* Where the link leads to. */
const struct rdl_address *rdl_link_address(const struct rdl_link *link);

/* Nanoseconds of `clock`, as the link's driver sees it. */
int64_t rdl_now_ns(const struct rdl_link *link, enum rdl_clock clock);

/* Random bytes of the operating system, or the driver's. False: there are
 * none. */
bool rdl_random(const struct rdl_link *link, unsigned char *bytes, size_t n);

/* Sleeps, at least `duration_ns`, whatever signals arrive. */
void rdl_sleep_ns(const struct rdl_link *link, int64_t duration_ns);

/* Until `fd` is readable: true; false after `timeout_ns`. */
bool rdl_wait(const struct rdl_link *link, int fd, int64_t timeout_ns);

/* Starts a task, false when it cannot; every one started is to be joined. */
bool rdl_spawn(const struct rdl_link *link, struct rdl_task *task);
void rdl_join(const struct rdl_link *link, struct rdl_task *task);

/* Tells the driver, if there is one. */
void rdl_mark(const struct rdl_link *link, enum rdl_mark mark);

void rdl_mutex_init(struct rdl_mutex *mutex);
void rdl_mutex_destroy(struct rdl_mutex *mutex);
void rdl_mutex_lock(const struct rdl_link *link, struct rdl_mutex *mutex);
void rdl_mutex_unlock(const struct rdl_link *link, struct rdl_mutex *mutex);

#ifdef __cplusplus
}
#endif

#endif
