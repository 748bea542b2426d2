/* SPDX-License-Identifier: MIT */
/* A link's inside, for the files of lib/ that make one up. */
#ifndef RL_LINK_H
#define RL_LINK_H

#include "arena.h"
#include "command.h"
#include "driver.h"

enum { RL_SCRIPTS_MAX = 8, RL_SHA1_LENGTH = 40 };

/* A script whose hash this link has asked for. */
struct rl_known_script {
	const char *source;
	char sha1[RL_SHA1_LENGTH + 1];
};

struct rl_link {
	struct redisContext *context; /* NULL while not connected */
	const struct rl_driver *driver;
	struct rl_address address;
	int timeout_ms;
	unsigned pending; /* replies to come, or lost with the connection */
	uint64_t commands;
	uint64_t connections; /* made so far: what belongs to one is lost with it */
	struct rl_buffer out;
	struct rl_arena arena; /* the last reply */
	struct rl_known_script scripts[RL_SCRIPTS_MAX];
	char error[256];
};

/* Remembers why a call fails; returns `outcome`. */
enum rl_outcome rl_link_fail(struct rl_link *link, enum rl_outcome outcome,
			     const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* One reply off the wire; deadline_ns 0 = the link's own time-out. */
enum rl_outcome rl_link_read(struct rl_link *link, struct rl_reply *reply,
			     int64_t deadline_ns);

/* Free running costs this one branch. */
static inline bool rl_is_driven(const struct rl_link *link)
{
	return __builtin_expect(link->driver != NULL, 0);
}

/* Queues a command given as words; what rl_queue() does after its format. */
enum rl_outcome rl_queue_command(struct rl_link *link,
				 struct rl_command *command);

/* rl_queue_command(), rl_flush() and rl_receive(). */
enum rl_outcome rl_run_command(struct rl_link *link, struct rl_reply *reply,
			       struct rl_command *command);

#endif
