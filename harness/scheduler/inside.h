/* SPDX-License-Identifier: MIT */
/* A gate's inside, for the files that make it up. */
#ifndef RR_GATE_INSIDE_H
#define RR_GATE_INSIDE_H

#include "fiber.h"
#include "gate.h"

enum { RR_GATE_MUTEXES = 32, RR_GATE_SCRIPTS = 32, RR_GATE_SERVERS = 16, RR_NAME_SIZE = 8 };

enum rr_life {
	RR_LIFE_NONE,    /* has no part in this run, yet */
	RR_LIFE_RUNNING, /* runs, or is to before others choose */
	RR_LIFE_STOPPED, /* at its operation */
	RR_LIFE_OVER,
};

struct rr_known_link {
	struct rl_link *link;
	int server;
	bool in_multi; /* commands are queued */
	bool listens;  /* it has subscribed to something */
	bool is_behind; /* messages come before its command's answer */
	bool is_cut;   /* its server has closed it, in a restart */
	bool is_deaf;  /* a reply was lost, its client does not know yet */
};

struct rr_actor {
	struct rr_gate *gate;
	struct rr_fiber fiber; /* of the first, the caller of rr_gate_run() */
	int number; /* clients first, then each one's first child, ... */
	int client;
	char name[RR_NAME_SIZE];
	struct rl_driver driver; /* of all its links */

	enum rr_life life;
	bool dead;               /* crashed, or the run is over: unwinds */
	bool hung_up;            /* and its links are closed */
	struct rl_task *task;    /* a child's, until it is joined */
	struct rr_actor *opener; /* goes on when this one stops at first */

	struct rr_op op;
	bool on_socket;          /* WAIT */
	bool quiet;              /* the command on its way is no step */
	bool lose;               /* its reply is to be lost */
	bool has_lost;           /* and one was, in this run */
	size_t event;            /* of the step that it performs */
	size_t asked_at;         /* events in the trace when its pop's keys were
				  * looked at, SIZE_MAX = not yet */
	bool has_element;        /* and one was there */
	int64_t paused_until_ns;

	struct rr_known_link *links; /* seen, and not forgotten */
	size_t n_links;
};

struct rr_held_mutex {
	const struct rl_mutex *mutex;
	int holder; /* -1 = free */
};

/* Loaded by clients, for whoever tells what they ran. */
struct rr_gate_script {
	char *source;
	char sha1[41]; /* "" while the server has not answered */
};

struct rr_gate {
	struct rr_gate_config config;
	struct rr_gate_client clients[RR_GATE_CLIENTS];
	struct rl_address addresses[RR_GATE_SERVERS];
	struct rl_link *probes[RR_GATE_SERVERS]; /* the gate's own; NULL = none */
	struct rr_actor actors[RR_GATE_ACTORS];
	const struct rl_driver *planted;

	rr_choose choose;
	void *context;
	size_t n_begun;  /* clients that have been started in this run */
	bool is_over;    /* nothing is chosen any more, only unwound */
	enum rr_gate_end end;
	int64_t now_ns;
	struct rr_held_mutex mutexes[RR_GATE_MUTEXES];
	size_t n_mutexes;
	bool is_down[RR_GATE_SERVERS], has_restarted[RR_GATE_SERVERS];
	struct rr_gate_script scripts[RR_GATE_SCRIPTS];
	size_t n_scripts;
	struct rr_gate_trace trace;
	struct rr_view view;
};

extern const struct rl_driver_ops rr_gate_ops; /* ops.c */

/* What the actor does next depends on when its last step was. */
void rr_gate_note_reading(struct rr_actor *actor);

/* ---- gate.c ---- */

/* Stops at actor->op until it is this one's turn. False: it is dead. */
bool rr_gate_stop(struct rr_actor *actor);

/* The step that it performs, in the trace. */
struct rr_gate_event *rr_gate_event_of(const struct rr_actor *actor);

/* A child of `actor` that is free to be used, its fiber made; NULL = none. */
struct rr_actor *rr_gate_child(struct rr_actor *actor);

/* ---- commands.c ---- */

enum rl_outcome rr_gate_on_send(void *context, struct rl_link *link,
				struct rl_command *command);
enum rl_outcome rr_gate_on_done(void *context, struct rl_link *link,
				const struct rl_reply *reply,
				enum rl_outcome outcome);

enum rl_outcome rr_gate_on_receive(void *context, struct rl_link *link,
				   struct rl_reply *reply,
				   enum rl_outcome outcome);

/* Remembers the links that it sees, to close them at a crash, and tells where
 * they lead to. False when out of memory. */
bool rr_gate_know_link(struct rr_actor *actor, struct rl_link *link,
		       int *server);

/* A server has closed all its connections. */
void rr_gate_cut_links(struct rr_gate *gate, int server);

/* Before a command, and after it: of a link that listens, only the messages that
 * came before the command are read with its answer, and that has come, too. */
void rr_gate_read_messages(const struct rr_actor *actor, struct rl_link *link);
void rr_gate_await_answer(const struct rr_actor *actor,
			  const struct rl_link *link);

/* What is remembered of a link that it knows. */
struct rr_known_link *rr_gate_link_of(const struct rr_actor *actor,
				      const struct rl_link *link);

/* The gate's own link to a server; NULL when out of memory. */
struct rl_link *rr_gate_probe(struct rr_gate *gate, int server);

/* A round trip of the gate's own: the server has written all messages that were
 * published before, and has noticed all connections that were closed. */
void rr_gate_meet(struct rr_gate *gate, int server);

/* ---- pops.c ---- */

/* The actor stops before a command: notes whether it is a blocking pop. */
void rr_gate_see_pop(struct rr_actor *actor);

/* When an actor may go on with its command. Asks the server if that is a
 * blocking pop and the answer may have changed. */
int64_t rr_gate_pop_ready_ns(struct rr_gate *gate, struct rr_actor *actor);

/* Its turn has come: a pop without an element is not sent, for it would wait. */
void rr_gate_send_pop(const struct rr_actor *actor,
		      struct rl_command *command);

/* ---- scripts.c ---- */

/* Before a SCRIPT LOAD, and with its reply. */
void rr_gate_load_script(struct rr_gate *gate, const struct rl_word *source);
void rr_gate_name_script(struct rr_gate *gate, const struct rl_reply *reply);
void rr_gate_free_scripts(struct rr_gate *gate);

/* ---- ops.c ---- */

/* NULL when there are too many, and the run ends. */
struct rr_held_mutex *rr_gate_mutex(struct rr_gate *gate,
				    const struct rl_mutex *mutex);

/* ---- view.c ---- */

/* What each actor could do now, into gate->view. Returns how many are still
 * there. */
size_t rr_gate_look(struct rr_gate *gate);

bool rr_gate_is_readable(int fd);

/* ---- decide.c ---- */

/* Who is to run next; asks the chooser. */
struct rr_fiber *rr_gate_next(struct rr_gate *gate);

/* Ends the run: all who are left are unwound. */
void rr_gate_finish(struct rr_gate *gate, enum rr_gate_end end);

/* Notes what has happened; NULL when out of memory, and the run ends. */
struct rr_gate_event *rr_gate_note(struct rr_gate *gate, enum rr_gate_event_kind kind,
			      int actor);

#endif
