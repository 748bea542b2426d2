/* SPDX-License-Identifier: MIT */
/*
 * What clients and servers do, recorded as the steps of a race, one action after
 * another: of an execution as it goes, or of a path that a search has found. The
 * race can be drawn, judged and written down like any other.
 *
 * A client's further connections to a server are clients of their own in a race: A2,
 * A3; a command that arrives when its client has given it up is Al's. A key that lasts for longer
 * because its client is slow is a command of "time".
 */
#ifndef RR_RECORDER_H
#define RR_RECORDER_H

#include "race/race.h"
#include "replay/replay.h"
#include "strategy.h"

/* Late commands are those of an client behind the ones of connections. */
enum { RR_LATE_CLIENT = RR_RUN_ORDINALS };

struct rr_recorder_setup {
	const struct rr_program *program;
	const struct rr_scripts *scripts;   /* those that are written in full, and what is given */
	const struct rr_strategy *strategy; /* NULL: programs of others */
	const char *const *keys;            /* that are shown, if there is no strategy */
	size_t n_keys;
	const char *title;
	const char *shows;                    /* see struct rr_race; NULL = nothing */
	const char *data_server;              /* its name */
	unsigned connections[RR_RUN_CLIENTS]; /* of each, a bit by its
						    * ordinal */
	bool is_late[RR_RUN_CLIENTS];         /* has commands that arrive late */
	bool has_held;                        /* keys of slow clients are held (RR_ASK_HOLD) */
	bool is_detailed;                     /* notes say who has slept or waited and who is whose
			   * renewer; keys of lock servers are shown */
	/* Called with each step when it is complete; `action`: that it is of, or NULL.
	 * May be NULL. */
	void (*added)(void *context, struct rr_step *step, const struct rr_action *action);
	void *context;
};

struct rr_recorder {
	struct rr_recorder_setup setup;
	struct rr_race *race;          /* the caller's to free; its path is its title */
	struct rr_race_text *headings; /* its texts before the first step */
	bool is_full;                  /* no room for another step */
	struct rr_step spare;          /* takes what there is no room for */
	int clients[RR_RUN_CLIENTS][RR_RUN_ORDINALS + 1]; /* -1 = none */
	int holder;             /* the race's client "time", which holds keys; -1 = none */
	uint16_t held_database; /* that it has selected */
	bool is_used[RR_RUN_CLIENTS][RR_RUN_ORDINALS];     /* connections */
	bool is_answered[RR_RUN_CLIENTS][RR_RUN_ORDINALS]; /* requests on them */
	struct rr_recorded_connection {
		bool is_open, listens, is_closed; /* closed: while a command blocks */
		struct rr_step *lost;             /* the last one without a reply, until its
				       * client notices */
		struct rr_step *blocking;         /* whose command has no reply yet; NULL = none */
	} connections[RR_RACE_SERVERS_MAX][RR_ASKER_SLOTS];
	int64_t ahead_ns[RR_RACE_SERVERS_MAX]; /* clocks of servers */
	/* Commands that a client sent before it left its critical section, and that
	 * are still to be executed: it leaves then. */
	unsigned leaves_after[RR_RUN_CLIENTS];
	bool is_dead[RR_RUN_CLIENTS];
	const char *fault; /* that the next step is of; NULL = none */
};

/* False: too many clients. */
bool rr_recorder_begin(struct rr_recorder *recorder, const struct rr_recorder_setup *setup);

/* False: is_full. */
bool rr_recorder_add(struct rr_recorder *recorder, const struct rr_action *action);
void rr_recorder_note(struct rr_recorder *recorder, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A connection that is used for the first time when it has been cut must have been
 * opened before. */
void rr_recorder_open(struct rr_recorder *recorder, size_t server, uint16_t slot);

/* A client begins in its critical section. */
void rr_recorder_enter(struct rr_recorder *recorder, size_t client);

/* A client's clock is ahead. */
void rr_recorder_skew(struct rr_recorder *recorder, size_t client, int64_t ns);

/* Forgets all steps, and what they did: what comes next is recorded as if it were
 * the first. */
void rr_recorder_forget(struct rr_recorder *recorder);

/* Leaves clients out that did nothing: connections that were not needed. */
void rr_recorder_trim(struct rr_recorder *recorder);

/* "data", or as it is called here, "n1", "n2", ... */
void rr_recorder_server_name(char name[RR_SERVER_NAME], const char *data_server, size_t server);

#endif
