/* SPDX-License-Identifier: MIT */
/* One execution: the parties and a server, driven step by step. A step sends one command of an
 * operation, delivers the reply, and lets the process run until it waits again. */
#ifndef RR_SKEPTIC_DRIVE_H
#define RR_SKEPTIC_DRIVE_H

#include "skeptic.h"

enum {
	DRIVE_PERIOD = 8,       /* commands of a polling round at most */
	DRIVE_ASIDE_ROUNDS = 8, /* after which a poller lets others act */
	DRIVE_LEASES = 8        /* of a client */
};

/* The servers and terms of all executions. */
struct drive {
	const struct rr_skeptic_config *config;
	struct rr_terms *terms;
	struct rr_servers servers;
	struct rr_scripts scripts;
	struct rr_intern asked; /* commands that are answered at once */
	uint32_t *answers;
	struct rr_intern writes; /* kinds of commands that have changed data */
	int64_t until_ns;
	uint64_t world; /* of random values, in which parties begin */
	/* Seen in some execution: a client has slept; a key expires, a command that blocks times
	 * out, or the server's time was asked; and that was asked. */
	bool has_slept, has_ends, asks_time;
	bool counts_sleeps; /* the server's clock moves with clients' sleeps: drive_learn() */
	bool is_absolute;   /* so do the clocks of clients that are late */
	struct rr_error error;
	bool is_over; /* time is up, or a signal has come */
};

enum event_kind { EVENT_COMMAND, EVENT_MESSAGE, EVENT_TIMEOUT, EVENT_TIME };

struct event {
	uint8_t kind, operation, client, lane;
	bool changes; /* the data changed when it was executed; EVENT_TIME: a key has expired */
	bool is_mark;
	bool is_sleep;           /* EVENT_TIME: to the end of a client's sleep, */
	uint32_t late;           /* and for these clients, as bits, keys live on */
	uint32_t command, reply; /* RR_NO_ID = none (yet) */
	int64_t ns;              /* EVENT_TIME: so much has passed; else when it was executed */
	size_t n_printed;        /* by its client, when that waited again */
};

struct pending {
	uint8_t lane, kind, owner;
	bool is_waiting; /* nothing else happens before it */
	bool is_blocked;
	int64_t ends_ns; /* of one that is blocked; RR_NEVER */
	uint32_t command;
	size_t event; /* of one that is blocked */
};

struct execution {
	struct drive *drive;
	struct driven {
		void *party;
		bool has_begun, has_ended;
		int64_t owed_ns, slept_ns;
		int64_t ahead_ns; /* its clock is so much before the server's, where sleeps count */
		int64_t asleep_ns; /* until then it sends nothing; not in rounds of polling */
		size_t n_printed;
		size_t n_leases; /* keys to which it has given a time to live last */
		uint32_t leases[DRIVE_LEASES];
		size_t n_pending;
		struct pending pending[RR_RUN_SENT];
		uint16_t listens, may_time_out; /* lanes, as bits */
	} clients[RR_RUN_CLIENTS];
	/* The last one stands for what an app does on its own. */
	struct operation {
		bool has_begun, is_answered, has_changed;
		bool has_outslept; /* of an app: it has slept for longer than a lease of its own */
		unsigned rounds;   /* that it has polled in vain */
		uint32_t polled;   /* the version of the data meanwhile */
		size_t n_steps, n_writes;
	} operations[RR_RUN_CLIENTS + 1];
	size_t n_events;
	struct event *events;
	/* What keys had left when that was given to them last, by which command (RR_NO_ID: by
	 * --init), by its name, of which operation, and behind which event; and when that operation
	 * ended, RR_NEVER = it has not. One that has expired was there last in that data (RR_NO_ID:
	 * it has not), until the server's clock was there. */
	size_t n_given;
	struct given {
		uint32_t key, command;
		uint8_t operation;
		size_t event;
		int64_t ns, left_ns;
		uint32_t last;
		int64_t expired_ns;
	} * given;
	uint32_t data;            /* a number of a reply: see end.h */
	uint32_t version;         /* of the data: how often they have changed */
	int64_t now_ns, moved_ns; /* the server's clock; and all sleeps of clients */
	bool outsleeps;           /* an app slept for longer than a lease of its own */
	bool is_stuck;            /* nobody can act any more, and not all have ended */
	bool is_long;             /* it was given up after so many steps */
};

/* Opens the servers. False: drive->error. Close it in any case. */
bool drive_open(struct drive *drive, const struct rr_skeptic_config *config);
void drive_close(struct drive *drive);

/* Has an execution shown that from now on sleeps count, or the time of day? Those before it are
 * to be run again then. */
bool drive_learn(struct drive *drive);

/* Starts all parties on what is given; or, if they share state outside Redis and are `one_by_one`, none
 * of them yet. False: drive->error. End it in any case. */
bool execution_begin(struct execution *it, struct drive *drive, bool one_by_one);

/* Starts the party of an operation, if it has not begun; and of those that have not, all. */
bool execution_begin_party(struct execution *it, size_t operation);
bool execution_begin_rest(struct execution *it);
void execution_end(struct execution *it);

bool execution_is_done(const struct execution *it, size_t operation);
bool execution_are_all_done(const struct execution *it);

/* Has it a command that can be executed, or a message? `rounds`: more rounds of polling than
 * these set it aside until the data change. */
bool execution_can_act(const struct execution *it, size_t operation, unsigned rounds);

/* Is its next command of a kind that has changed data? */
bool execution_would_write(const struct execution *it, size_t operation);

/* Executes its next command; `pick`: of several connections which. False: drive->error. */
bool execution_step(struct execution *it, size_t operation, uint64_t pick);

/* Nobody of those in `allowed` (bits) can act: lets a poller go on, or time pass. False: that
 * does not help, or drive->error. */
bool execution_wait(struct execution *it, unsigned allowed);

/* Does its client sleep? */
bool execution_is_asleep(const struct execution *it, size_t operation);

/* Time passes until the first client that sleeps wakes up, a command that blocks times out or a
 * key expires; or until the server's clock is there. False: drive->error. */
bool execution_pass(struct execution *it, int64_t until_ns);

/* The apps are told that all is done. */
bool execution_finish(struct execution *it);

/* How many times the last events of an operation repeat those before them, of `n` numbers of
 * events; the period in *period. Shared by the search for pollers and the comparison. */
unsigned count_rounds(const struct execution *it, const size_t *own, size_t n, size_t *period);

#endif
