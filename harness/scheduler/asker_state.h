/* SPDX-License-Identifier: MIT */
/* What an asker keeps: of asker.c, which asks, and asker_slots.c, which has the clients'
 * connections. */
#ifndef RR_ASKER_STATE_H
#define RR_ASKER_STATE_H

#include "asker.h"

enum { ASKER_TIMEOUT_MS = 20000, ASKER_INFOS = 128 };

struct slot {
	struct rl_link *link;
	long long id;
	bool is_changed; /* by a command that may leave something there */
	bool listens;
	bool blocks;      /* on a command */
	int64_t until_ns; /* by the server's clock; INT64_MAX = until it is served */
};

struct known_info {
	char name[32];
	struct rr_command_info info;
};

struct rr_asker {
	struct rr_cluster *cluster;
	int server;
	const struct rr_scripts *scripts;
	size_t n_loaded;
	bool was_wiped, has_functions;
	struct rl_link *admin;
	struct slot slots[RR_ASKER_SLOTS];
	struct slot first;     /* on which what is to be there first is asked for */
	bool has_begun;        /* all of that was done once, and nothing was refused */
	bool first_is_changed; /* and left something on its connection */
	int64_t clock_ns, epoch_ns;
	bool leaves_clock;         /* to somebody else */
	struct rl_link *queued_on; /* one connection at a time */
	size_t n_queued;
	struct slot *opening; /* whose number is the first reply of what is queued */
	struct known_info infos[ASKER_INFOS];
	size_t n_infos;
	char error[RR_ERROR_SIZE];
	bool is_refused; /* what was to be done first */
};

/* Of a link that is gone; returns false. */
bool asker_fail(struct rr_asker *asker, const struct rl_link *link);

/* A command whose reply does not matter: what is queued on another connection is sent and
 * answered before, so that the order of the commands is that of the calls. */
bool asker_queue(struct rr_asker *asker, struct rl_link *link, const struct rl_command *command);

/* The same, on our own connection. */
bool asker_queue_words(struct rr_asker *asker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sends a command behind all that is queued, in the same write if that is on the same
 * connection. Its reply is what asker_receive() gets next. */
bool asker_send(struct rr_asker *asker, struct rl_link *link, const struct rl_command *command);
bool asker_receive(struct rr_asker *asker, struct rl_link *link, struct rl_reply *reply);

/* The server may have functions from now on. */
void asker_note_functions(struct rr_asker *asker, const struct rl_command *command);

/* ---- On a client's connection (asker_slots.c) ---------------------------------- */

/* As rr_asker_ask(). */
bool asker_ask_command(struct rr_asker *asker, struct slot *slot, const struct rl_command *command,
		       struct rl_reply *reply, bool *blocks);

/* The time-outs of commands that block end, those whose time is over by the server's clock. */
bool asker_time_out(struct rr_asker *asker);

/* That of one command ends, whatever the clock says. */
bool asker_unblock_slot(struct rr_asker *asker, struct slot *slot);

bool asker_queue_on_slot(struct rr_asker *asker, struct slot *slot,
			 const struct rl_command *command);

/* The server has noticed when what is queued is flushed. */
bool asker_close_slot(struct rr_asker *asker, struct slot *slot);

#endif
