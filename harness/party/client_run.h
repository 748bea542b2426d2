/* SPDX-License-Identifier: MIT */
/*
 * A client program that runs alone. Its links lead to no server: whatever it asks
 * or waits for stops it, and goes on with the answer that it is fed.
 *
 *	new     runs until all of its threads (the client, its renewers) have
 *	        stopped for the first time
 *	view    what each of them waits for, and which commands are on their way
 *	feed    gives one of them what it waits for, and runs on
 *	free    unwinds what is left: sends fail, waits and sleeps return
 *
 * Commands are sent without a stop; who takes a reply stops until it is there. So
 * several commands may be on their way, on several connections or behind each
 * other. Two things are no stops and are answered at once: what another client
 * cannot notice (SCRIPT LOAD, COMMAND), and a reading of the monotonic clock. That
 * clock is the run's own: it moves by what a feed says has passed since the last
 * reading, and the view tells whether the thread that was fed has read it.
 *
 * A program of attempts says where one ends (rr_client_run_begin_attempt): it stops
 * there, and a client that remembers nothing is back at its beginning.
 */
#ifndef RR_CLIENT_RUN_H
#define RR_CLIENT_RUN_H

#include "base/error.h"
#include "cluster/cluster.h"
#include "term/term.h"

enum {
	RR_RUN_CLIENTS = 8,      /* of a program, or requests to apps */
	RR_RUN_THREADS = 18,     /* a client and what it starts; of programs of
			       * others: what is waited for on its lanes */
	RR_RUN_ORDINALS = 16,    /* connections of a client to one server, of
			       * programs of others */
	RR_RUN_OWN_ORDINALS = 4, /* of our own, which may have all servers */
	RR_RUN_LANES = RR_CLUSTER_SERVERS * RR_RUN_OWN_ORDINALS,
	RR_RUN_MUTEXES = 16,
	RR_RUN_SENT = 96 /* commands whose reply was not taken yet */
};

#define RR_NEVER INT64_MAX

enum rr_stop_kind {
	RR_STOP_ABSENT,  /* no such thread */
	RR_STOP_RECEIVE, /* a reply on `lane` */
	RR_STOP_LISTEN,  /* a message on `lane`, or duration_ns */
	RR_STOP_SLEEP,   /* duration_ns */
	RR_STOP_WAIT,    /* a file descriptor, or duration_ns */
	RR_STOP_CLOCK,   /* reads the time of day */
	RR_STOP_LOCK,    /* `mutex` */
	RR_STOP_UNLOCK,
	RR_STOP_JOIN,    /* thread `whom` has ended */
	RR_STOP_ATTEMPT, /* an attempt is to begin */
	RR_STOP_ENDED,
};

struct rr_stop {
	uint8_t kind;
	uint8_t lane;
	uint8_t whom;
	uint8_t mutex; /* client's number for its process's, else its own */
	bool is_ready; /* WAIT: the file is readable */
	int64_t duration_ns;
};

/* Do two wait for the same? */
static inline bool rr_stop_is_same(const struct rr_stop *a, const struct rr_stop *b)
{
	return a->kind == b->kind && a->lane == b->lane && a->duration_ns == b->duration_ns;
}

/* What a program says of itself, in its own words. */
struct rr_run_tally {
	long ok;           /* it was told that it is counted */
	long unknown;      /* it does not know: the reply was lost */
	long failed;       /* not counted */
	long acknowledged; /* writes of increments that were answered */
	long refused;      /* attempts that were, since the last that was not */
	long ending;       /* of a program of others: how it ended, a number; of an app what
			    * its requests were answered until now */
};

/* What a command is that an app's requests send for redrace alone (base/marks.h). */
enum rr_sent_kind {
	RR_SENT_COMMAND, /* none of that */
	RR_SENT_REQUEST, /* one begins when this is executed, at any time */
	RR_SENT_ANSWER,  /* is there, before anything else happens */
	RR_SENT_END      /* all have answers: when nothing else is left to be done */
};

struct rr_sent {
	uint8_t lane;
	uint8_t kind;
	uint8_t thread; /* that sent it */
	bool is_inside; /* from within the critical section */
	/* The server has it already, and serves it as soon as there is something: nothing
	 * else happens before. */
	bool is_waiting;
	uint32_t command;
};

/* Whose a request is, and on which lane it begins: the first lanes of an app are those of its
 * requests. An app without any waits for its end on the last one. */
struct rr_request_place {
	uint8_t client, lane;
};

/* Where clients are apps: requests to them, which are the operations of a search. */
struct rr_requests {
	size_t n; /* 0: there are no apps, and clients are the operations */
	const struct rr_request_place *places; /* of each request */
	const char *const *commands;           /* that send them */
	const uint8_t *again; /* of each client: the one + 1 whose app it is, started again when that
			       * has crashed; 0 = it is there from the beginning; NULL = all are */
	uint32_t unanswered;  /* requests without an answer, as bits: when they were done is not
			      * known */
};

/* How a request of an app was answered. */
struct rr_request_end {
	long ending;     /* a number, as of a program that ends; -1: it was not answered */
	bool is_good;    /* and not refused */
	bool has_failed; /* it is neither refused nor done: the app says that it is broken */
};

struct rr_run_view {
	uint32_t n_threads, n_sent;
	struct rr_stop stops[RR_RUN_THREADS];
	struct rr_sent sent[RR_RUN_SENT]; /* in order of each lane */
	struct rr_run_tally tally;
	int64_t slept_ns; /* of a process, during the last feed: what it sends was sent so much
			   * later */
	bool is_inside;   /* in its critical section */
	bool is_holding;  /* it has entered, and its attempt is not over */
	bool has_entered; /* during the last feed */
	bool has_read;    /* the monotonic clock, during the last feed */
	bool is_unheard;  /* a reply was lost since its attempt began */
	bool is_guessed;  /* what it sends is taken for a random value, until another run has sent
			   * another */
	bool is_too_much; /* more threads, lanes or commands than there is room */
};

/* Are two sleeps the same, but for how exactly a runtime counts time? */
static inline bool rr_slept_alike(int64_t a_ns, int64_t b_ns)
{
	const int64_t less_ns = a_ns < b_ns ? a_ns : b_ns, more_ns = a_ns < b_ns ? b_ns : a_ns;

	return more_ns - less_ns <= INT64_C(2000000) + more_ns / 64;
}

enum rr_input_kind {
	RR_INPUT_GO,      /* what it waited for is there */
	RR_INPUT_TIMEOUT, /* it is not, and the time is over */
	RR_INPUT_REPLY,   /* reply number `value` */
	RR_INPUT_LOST,    /* none will come; the connection is closed */
	RR_INPUT_REFUSED, /* none: nobody listens there */
	RR_INPUT_MESSAGE, /* reply number `value` */
	RR_INPUT_CLOCK,   /* `value` nanoseconds since 1970; of a process that has received
			   * nothing yet: it begins so much later */
	RR_INPUT_ATTEMPT, /* begins; random values are of generation `value`, below
			   * 0: all are new */
};

struct rr_input {
	uint8_t kind;
	uint8_t thread;
	uint8_t gone; /* of a process: the generations of its random values that are nowhere
		       * but in its memory, as bits: another value may have their names */
	int64_t value;
};

static inline bool rr_input_is_same(const struct rr_input *a, const struct rr_input *b)
{
	return a->kind == b->kind && a->thread == b->thread && a->gone == b->gone &&
	       a->value == b->value;
}

/* Is its value what came on a connection? */
static inline bool rr_input_has_reply(const struct rr_input *input)
{
	return input->kind == RR_INPUT_REPLY || input->kind == RR_INPUT_MESSAGE;
}

struct rr_client_run;
struct rr_program;

/* Stacks that are used again. All zero = none; release it when no run is left. */
struct rr_stacks {
	struct rr_stack *free;
};

void rr_stacks_release(struct rr_stacks *stacks);

/* How clients run, where it is not in fibers: the same calls as below. */
struct rr_run_ops {
	/* All clients of an execution are about to begin. NULL: nothing is to be done. */
	void (*together)(const struct rr_program *program);
	void *(*begin)(const struct rr_program *program, int client);
	/* The server is about to execute what it has sent first. NULL: nothing is to be done. */
	void (*wake)(void *run);
	void (*end)(void *run);
	void (*feed)(void *run, const struct rr_input *input, int64_t passed_ns);
	const struct rr_run_view *(*view)(const void *run);
	enum rr_going (*going)(const void *run, const struct rr_error **problem);
	/* Has it done what a run of client `client` with the same history is known to have
	 * done, but for random values? NULL: nobody else has had this history. */
	void (*compare)(void *run, const struct rr_run_view *known, int client);
};

struct rr_beliefs;
struct rr_client_table;
struct rr_suffixes;

/* How clients are learned (client/learning.h): not at all, or with faults that are planted
 * for tests. */
enum rr_learning_bits {
	RR_LEARN_NOTHING = 1,        /* a client's state is its whole history */
	RR_PLANT_NO_PUMPING = 2,     /* loops are not followed */
	RR_PLANT_NO_LAST_EDGES = 4,  /* covers end before the last transition */
	RR_PLANT_NO_SUFFIXES = 8,    /* what distinguishes histories is forgotten, and loops are
				      * not unrolled */
	RR_PLANT_NO_SELF = 16,       /* a client's own name is as any other */
	RR_PLANT_GUESSED_REPLY = 32, /* replies that are assumed not to matter are not tested */
	RR_PLANT_NO_WALKS = 128,     /* nothing is walked */
	RR_LEARN_ALL = 64 /* any history may be one state with any other, from the beginning */
};

/* The programs: what the clients of a search do. */
struct rr_program {
	const struct rr_run_ops *run_ops; /* NULL: fibers */
	size_t n_clients, n_servers;
	const char *const *names;            /* of clients; NULL = A, B, C, ... */
	const struct rdl_address *addresses; /* of the servers, data first */
	bool separate;                       /* each client is a process of its own */
	struct rr_terms *terms;
	unsigned draw; /* of all random values, see rr_terms_random() */
	struct rr_stacks *stacks;
	void *context;
	/* Of each client, what is known of it (client/client_table.h) from one search to
	 * the next; NULL: each search learns it. */
	struct rr_client_table **tables;
	/* Random values of the client's own: what it hears, as the one hears it that the
	 * table is about; what that one sends, as the client does. NULL: there are none. */
	uint32_t (*heard_as_self)(void *context, int client, uint32_t reply);
	uint32_t (*sent_as_own)(void *context, int client, uint32_t command);
	/* Have two clients ended alike, by their tallies? NULL: if these are the same. */
	bool (*ends_alike)(void *context, long a, long b);
	/* Makes and frees what a client needs. `links`: one to each server.
	 * No command may be sent yet. */
	void *(*make)(void *context, struct rr_client_run *run, int client, struct rdl_link **links,
		      struct rdl_mutex *mutex);
	void (*run)(void *client); /* its first thread */
	void (*free)(void *client);
	/* A command that nobody else can notice is answered at once: the number
	 * of the reply, RR_NO_ID = the server is gone. */
	uint32_t (*ask)(void *ask_context, int server, const struct rdl_command *command);
	void *ask_context;
	/* The command that a server executes instead of one; or that one is answered instead, by
	 * *answer, the number of a reply, else RR_NO_ID. NULL: all are executed as they were sent. */
	uint32_t (*mutate)(void *mutate_context, uint32_t command, uint32_t *answer);
	void *mutate_context;
	bool on_sockets;            /* commands and replies of its own links go over sockets, the
			     * other ends of which are the run's */
	bool knows_scripts;         /* servers know every script by its hash */
	bool loads_scripts;         /* to load one is a step: see rr_scripts */
	unsigned learning;          /* see rr_learning_bits; 0: histories that are the same are one
			     * state */
	struct rr_beliefs *beliefs; /* what is withdrawn of it (client/beliefs.h); NULL: nothing is */
	/* By what its histories were ever distinguished (client/client_table.h); NULL: each
	 * table keeps that. */
	struct rr_suffixes *suffixes;
	bool without_mutex; /* taking and giving back a mutex does nothing */
	bool has_attempts;  /* and what comes before the first is opening */
	/* After one history its clients always do exactly the same, what they count and mark
	 * included, and they take any reply. Other programs read clocks now and then, and may hang
	 * on what no server says. */
	bool is_exact;
	struct rr_requests requests;
	/* Of each, by the tally of its app. */
	struct rr_request_end (*request_end)(void *context, long ending, size_t request);
};

/* What a client is called wherever people read of it. */
const char *rr_program_client_name(const struct rr_program *program, size_t client);

/* A connection of a client, by the ordinal of its lane; `name`: RR_CONNECTION_NAME bytes. */
enum { RR_CONNECTION_NAME = 60 };
const char *rr_program_connection_name(const struct rr_program *program, size_t client,
				       size_t ordinal, char *name);

/* What must look as if it happened at once: so many whole runs of clients, or requests. */
static inline size_t rr_program_operations(const struct rr_program *program)
{
	return program->requests.n ? program->requests.n : program->n_clients;
}

/* The client of an operation. */
static inline size_t rr_program_client_of(const struct rr_program *program, size_t operation)
{
	return program->requests.n ? program->requests.places[operation].client : operation;
}

/* How many requests are the client's, or were those of the one before it that has crashed; and
 * which one begins on a lane of it: n_requests = none. */
size_t rr_program_requests_of(const struct rr_program *program, size_t client);
size_t rr_program_request_at(const struct rr_program *program, size_t client, size_t lane);

/* Is nothing said on a lane but marks, to redrace alone? */
bool rr_program_has_marks(const struct rr_program *program, size_t client, size_t lane);

/* Never NULL; without memory for its stack the process ends. */
struct rr_client_run *rr_client_run_new(const struct rr_program *program, int client);
void rr_client_run_free(struct rr_client_run *run);

/* All clients of one execution are about to begin; and one of them is about to have its first command
 * executed. */
void rr_client_run_begin_together(const struct rr_program *program);
void rr_client_run_wake(struct rr_client_run *run);

/* `passed_ns`: since its clock was last read. */
void rr_client_run_feed(struct rr_client_run *run, const struct rr_input *input, int64_t passed_ns);

const struct rr_run_view *rr_client_run_view(const struct rr_client_run *run);

/* Which of the connections on a lane is open, counted from 1; 0 = none. */
uint32_t rr_client_run_connection(const struct rr_client_run *run, uint8_t lane);

/* A hash of all that a client has done until its threads stopped. How often it was
 * refused is not what it does. */
uint64_t rr_run_view_signature(const struct rr_run_view *view);

/* Does it wait for the same and send the same, in both? */
bool rr_run_view_is_same(const struct rr_run_view *a, const struct rr_run_view *b);

/* In words: "SET counter 1", "sleeps"; of several commands so many at most. malloc'd. */
char *rr_run_view_text(const struct rr_terms *terms, const struct rr_run_view *view, uint32_t most);

/* Can it run on? *problem: the error, if there is one. */
enum rr_going rr_client_run_going(const struct rr_client_run *run, const struct rr_error **problem);

/* See rr_run_ops. In a fiber the client must have done exactly that, or it fails. */
void rr_client_run_compare(struct rr_client_run *run, const struct rr_run_view *known, int client);

/* Have two runs ended alike, by their tallies? */
static inline bool rr_program_ends_alike(const struct rr_program *program, long a, long b)
{
	return a == b || (program->ends_alike && program->ends_alike(program->context, a, b));
}

/* So many lanes a client may have. */
static inline int rr_program_lanes(const struct rr_program *program)
{
	const int lanes = RR_RUN_ORDINALS * (int)program->n_servers;

	return lanes < RR_RUN_LANES ? lanes : RR_RUN_LANES;
}

/* Of mutexes: those of the first client, as another one has them. The process's own comes
 * first, by the number of the process's first client; then RR_RUN_MUTEXES of each client. */
static inline uint8_t rr_mutex_as_own(const struct rr_program *program, int client, uint8_t mutex)
{
	if (mutex >= RR_RUN_MUTEXES)
		return (uint8_t)(mutex + client * RR_RUN_MUTEXES);
	return program->separate ? (uint8_t)client : mutex;
}

/* Of lanes: where they lead to, and which connection of several it is. */
static inline int rr_lane_server(const struct rr_program *program, int lane)
{
	return lane % (int)program->n_servers;
}

static inline int rr_lane_ordinal(const struct rr_program *program, int lane)
{
	return lane / (int)program->n_servers;
}

/* ---- For programs ---------------------------------------------------------- */

/* The driver of a client's own links: for who opens another. */
const struct rdl_driver *rr_client_run_driver(struct rr_client_run *run);

/* May it go on, or is it being unwound? */
bool rr_client_run_is_alive(const struct rr_client_run *run);

struct rr_run_tally *rr_client_run_tally(struct rr_client_run *run);

/* Stops until the attempt may begin; false: it is being unwound. */
bool rr_client_run_begin_attempt(struct rr_client_run *run);

#endif
