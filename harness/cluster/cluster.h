/* SPDX-License-Identifier: MIT */
/*
 * A cluster of servers: private ones, which the guardian owns (nothing outlives
 * the program), or the user's own, of which nothing is touched but keys under
 * one fresh prefix. The folder's public header.
 *
 * The clock. Races run servers with the shim (harness/cluster/shim/clock.c,
 * preloaded into them): every server's wall clock stands at
 * RR_CLUSTER_START_NS when a race begins and moves by rr_cluster_tick() alone;
 * leases, EXPIRE, PTTL, the time-outs of BLPOP and WAIT, save points and
 * everysec's fsync follow it, and so show the same figures in every run. What a
 * server measures with the monotonic clock (a script's time limit, DEBUG SLEEP)
 * is real. Without the shim see rr_cluster_tick(). What is measured runs on
 * servers with the real clock: no shim, and nothing in their configuration
 * that races need.
 *
 * Order: open the session, then the cluster; for each race declare, start, ...,
 * reset; close both. Or need, run, close, for servers without names. A server
 * is known by its number, from 0. One thread.
 *
 * What fails sets the error and returns false: RR_ERROR_USAGE (not in this state
 * of the server), RR_ERROR_SKIPPED (needs the shim), RR_ERROR_REDIS,
 * RR_ERROR_FILE, RR_ERROR_INTERNAL, RR_ERROR_INTERRUPTED.
 */
#ifndef RR_CLUSTER_H
#define RR_CLUSTER_H

#include "base/error.h"
#include "base/machine.h"
#include "guardian.h"
#include "keys.h"
#include "strategy.h"

enum {
	RR_CLUSTER_SERVERS = 16,
	RR_CLUSTER_SPARE = 16,
	RR_SERVER_NAME = 32,
	RR_TIMEOUT_MS = 2000,
	RR_START_MS = 10000,
	RR_CATCH_UP_MS = 10000,
	RR_DENIED_SIZE = 128
};

/* The user who may do anything, whatever a race does to the others: it is the program. */
#define RR_OWN_USER "redrace"

/* 2030-03-17 17:46:40 UTC: TIME says 1900000000. */
#define RR_CLUSTER_START_NS INT64_C(1900000000000000000)

/* ---- Sessions ------------------------------------------------------------- */

/* What every subcommand that runs something needs. */
struct rr_session {
	struct rr_signals signals;
	struct rr_guardian guardian;
	char prefix[32]; /* of every key */
};

/* Before any thread or connection exists. Close it in any case. */
bool rr_session_open(struct rr_session *session, struct rr_error *error);

/* Ends the guardian, and with it all servers. */
void rr_session_close(struct rr_session *session);

/* A library of the project's for LD_PRELOAD, which lies beside the program or where
 * `make install` puts it: its path, "" = it is not there. */
void rr_preload_find(const char *name, char *path, size_t size);

/* ---- Servers --------------------------------------------------------------- */

enum rr_cluster_clock {
	RR_CLUSTER_FROZEN,  /* stands still between ticks */
	RR_CLUSTER_RUNNING, /* goes on between ticks: real time plus the ticks */
	RR_CLUSTER_REAL,    /* no shim */
};

enum rr_aof { RR_AOF_NONE, RR_AOF_NO, RR_AOF_EVERYSEC, RR_AOF_ALWAYS };

/* What it is to others. */
enum rr_server_role {
	RR_ROLE_ALONE,    /* or a replica, in a race */
	RR_ROLE_MEMBER,   /* of a primary and its replicas (topology.h) */
	RR_ROLE_NODE,     /* of a Redis Cluster */
	RR_ROLE_SENTINEL, /* it watches the server that replica_of names */
};

/* All zero: a plain server, which the next race can have, too. */
struct rr_server_options {
	enum rr_server_role role; /* all but the first need tcp */
	enum rr_aof aof;          /* append-only file, by its appendfsync */
	bool rdb;                 /* a snapshot after each second with a write */
	bool debug;               /* DEBUG is allowed */
	bool tcp;                 /* can have replicas */
	long long maxmemory;      /* in bytes, noeviction; 0 = no limit */
	const char *replica_of;   /* a server declared before it, with tcp */
	/* What its clients may do: rules of an ACL, in lines, of which servers take
	 * those that they know; NULL = anything. Kept as the next two are. */
	const char *rights;
	/* More lines of redis.conf, ending in NULL; NULL = none. This and
	 * replica_of are kept as pointers until the reset. */
	const char *const *config;
};

enum rr_persistence {
	RR_PERSIST_NONE,
	RR_PERSIST_RDB,      /* a snapshot after every second with a write */
	RR_PERSIST_EVERYSEC, /* append-only file, synced every second */
	RR_PERSIST_ALWAYS,   /* append-only file, synced before every reply */
	RR_PERSIST_KINDS
};

/* "none", "rdb", "everysec", "always". */
extern const char *const rr_persistence_names[RR_PERSIST_KINDS];

struct rr_cluster_options {
	const char *program; /* "redis-server", looked up on PATH */
	const char *shim;    /* its file; NULL = looked for, see below */
	enum rr_cluster_clock clock;
	enum rr_persistence persistence; /* of servers without names */
	int cpu;                         /* -1 = not pinned */
	int databases;                   /* of each server; 0 = as many as it has */
	int start_ms;                    /* a start may last so long; 0 = RR_START_MS */
	bool is_told;                    /* by another cluster: it does without the shim */
};

enum rr_server_state {
	RR_SERVER_DECLARED, /* never started */
	RR_SERVER_RUNNING,
	RR_SERVER_HUNG, /* stopped by a fault */
	RR_SERVER_DOWN, /* its directory is there */
};

struct rr_server {
	char name[RR_SERVER_NAME]; /* "" = none */
	struct rr_server_options options;
	enum rr_server_state state;
	struct rdl_address address; /* a unix socket, with a password if tcp */
	struct rdl_address own;     /* the same for us: as a user whom no rule concerns */
	int port;                   /* 0 = no tcp */
	int bus_port;               /* RR_ROLE_NODE: of the cluster's bus */
	struct rr_guarded process;
	struct rr_clock_page *page;  /* NULL without the shim */
	struct rdl_link *admin;      /* NULL: the user's own */
	char denied[RR_DENIED_SIZE]; /* to all its clients, as rules: "-acl -config" */
	int64_t skew_ns;
	uint64_t pristine; /* a digest of what it was configured to */
	bool is_used_up;   /* no other race may have it */
	bool kills_itself; /* this process, as it was told */
	bool was_killed;   /* by somebody else */
};

struct rr_cluster {
	struct rr_session *session;
	struct rr_cluster_options options;
	bool is_private;       /* not the user's own */
	char shim[1024];       /* "" = none */
	char password[41];     /* of the servers with tcp */
	char own_password[41]; /* of the user that the program itself is */
	int64_t epoch_ns;      /* the time at the reset; unless it is frozen, what
			    * has to be added to the real time for it */
	int64_t moved_ns;      /* all ticks since the reset */
	size_t n_servers, n_spare;
	uint64_t n_made; /* servers, in all: of frozen ones each has random bytes of its number */
	struct rr_server servers[RR_CLUSTER_SERVERS];
	struct rr_server spare[RR_CLUSTER_SPARE]; /* plain ones, waiting */
};

/*
 * A cluster of private servers. With the real clock none is started yet. Else
 * the program is tried out by one server (kept for the first race): whether it
 * starts at all, and whether the shim takes hold of it. A shim that is not found
 * or that does nothing (a static server, one for another machine) makes it a
 * cluster without, which is said on stderr: ask rr_cluster_has_time(). The shim lies beside the running
 * program or in ../libexec/redrace/ from there. Close it in any case.
 */
bool rr_cluster_open(struct rr_cluster *cluster, struct rr_session *session,
		     const struct rr_cluster_options *options, struct rr_error *error);

/* A cluster of the user's own servers. Their keys are entrusted to the guardian;
 * each is asked for a PING. None can be added, and no fault done to them. */
bool rr_cluster_open_own(struct rr_cluster *cluster, struct rr_session *session,
			 const struct rdl_address *addresses, size_t n, int n_keys,
			 struct rr_error *error);

/* Ends the private servers. */
void rr_cluster_close(struct rr_cluster *cluster);

/* Sees to it that there are `n` servers: private ones without names are started
 * for those that lack. Of the user's own there are as many as there are. */
bool rr_cluster_need(struct rr_cluster *cluster, size_t n, struct rr_error *error);

/* Do its servers follow rr_cluster_tick() exactly? */
bool rr_cluster_has_time(const struct rr_cluster *cluster);

/* A session with a cluster: what a worker process has for itself. */
enum { RR_VERSION_SIZE = 40 };
struct rr_workplace {
	struct rr_session session;
	struct rr_cluster cluster;
	char version[RR_VERSION_SIZE]; /* "Redis 7.0.15", "" = not known */
};

/* Opens both, and closes them. NULL: neither is open. */
struct rr_workplace *rr_workplace_new(const struct rr_cluster_options *options,
				      struct rr_error *error);
void rr_workplace_free(struct rr_workplace *place);

/* A server that is not started yet; its number in *server. */
bool rr_cluster_declare(struct rr_cluster *cluster, const char *name,
			const struct rr_server_options *options, int *server,
			struct rr_error *error);

/* The number of a declared server, -1 = none. */
int rr_cluster_find(const struct rr_cluster *cluster, const char *name);

/* Where clients connect; valid from the start until the reset. */
const struct rdl_address *rr_cluster_address(const struct rr_cluster *cluster, int server);

/* What the server there would need for a strategy, as its `lacks` says it; NULL: nothing. */
const char *rr_strategy_lacking(const struct rr_strategy *strategy,
				const struct rdl_address *address, const char *spare_key);

/* The same for questions of the program's own, whatever its clients may do. */
const struct rdl_address *rr_cluster_own_address(const struct rr_cluster *cluster, int server);

/* Its state now: a server that has ended by itself is RR_SERVER_DOWN. */
enum rr_server_state rr_cluster_state(struct rr_cluster *cluster, int server);

/* False: a server was killed that was not to be, or the guardian with all of
 * them. RR_ERROR_REDIS says so. */
bool rr_cluster_is_whole(struct rr_cluster *cluster, struct rr_error *error);

/* Starts all that were declared and never started, together; they answer then.
 * A replica need not have caught up: RR_FAULT_CATCH_UP. */
bool rr_cluster_start(struct rr_cluster *cluster, struct rr_error *error);

/*
 * Ends the race: no server is declared any more, the clock is back at the
 * start, clients are disconnected. Plain servers that are as they were (no
 * failure done to them, no CONFIG SET, no ACL) are emptied and kept for the
 * next race; all others are killed and their directories removed.
 */
void rr_cluster_reset(struct rr_cluster *cluster);

/* ---- Faults ---------------------------------------------------------------- */

enum rr_fault {
	RR_FAULT_KILL,          /* kill -9; its directory stays */
	RR_FAULT_SHUT_DOWN,     /* SIGTERM, waited for: save points are honoured */
	RR_FAULT_AWAIT_END,     /* until it has ended by itself */
	RR_FAULT_RESTART,       /* killed if it runs, started with its files */
	RR_FAULT_RESTART_FAILS, /* started in vain: its files are not right */
	RR_FAULT_WIPE,          /* started without its files */
	RR_FAULT_HANG,          /* SIGSTOP: its sockets stay, nobody answers */
	RR_FAULT_RESUME,
	RR_FAULT_CUT,         /* a replica loses its link, and keeps its data */
	RR_FAULT_JOIN,        /* and has it again */
	RR_FAULT_PROMOTE,     /* a replica becomes a master */
	RR_FAULT_CATCH_UP,    /* until a replica has all that its master wrote */
	RR_FAULT_POWER,       /* kill -9; what no fsync covered is gone */
	RR_FAULT_AWAIT_SYNC,  /* until an fsync covers all that was written */
	RR_FAULT_AWAIT_SAVE,  /* until a snapshot holds everything; with an AOF,
				 * until no rewriting of it is under way */
	RR_FAULT_TEAR,        /* its append-only file is cut or damaged */
	RR_FAULT_SLOW_DISK,   /* every fsync takes longer; 0 = as it takes */
	RR_FAULT_DIE_IN_SYNC, /* it dies in its next fsync: after the write,
				 * before the reply */
	RR_FAULT_BREAK_DISK,  /* a snapshot fails (a directory is where dump.rdb
				 * should be): writes are refused, MISCONF */
	RR_FAULT_MEND_DISK,   /* and one succeeds again */
	RR_FAULT_FILL,        /* its memory is full: maxmemory, noeviction */
	RR_FAULT_EMPTY,       /* as large as declared again */
	RR_FAULT_KINDS
};

/* How the newest part of the append-only file of a server that is down is cut.
 * Commands count from 1 in that part as they are in the file: SELECT, MULTI and
 * EXEC are commands, reads are not in it. */
enum rr_tear {
	RR_TEAR_LAST_BYTES,      /* the last n bytes are missing */
	RR_TEAR_AT_BYTE,         /* the first n bytes are there */
	RR_TEAR_AFTER_COMMAND,   /* the first n commands are there */
	RR_TEAR_IN_COMMAND,      /* of the n-th command only a half is there */
	RR_TEAR_WITHOUT_COMMAND, /* the n-th is missing, the later are there */
	RR_TEAR_OVER_COMMAND,    /* the n-th begins with another byte */
	RR_TEAR_KINDS
};

struct rr_injection {
	enum rr_fault fault;
	enum rr_tear tear;
	int64_t amount; /* n of TEAR; ns of SLOW_DISK; ns that AWAIT_END, _SYNC
			 * and _SAVE last at most, 0 = two seconds */
};

/*
 * Does it to a server, which no other race can have then. With a frozen clock
 * nothing but `always` syncs by itself; everysec does after a tick of more than
 * a second. (For `no` it never is.)
 */
bool rr_cluster_inject(struct rr_cluster *cluster, int server, const struct rr_injection *injection,
		       struct rr_error *error);

/* ---- Time ----------------------------------------------------------------- */

enum rr_tick {
	RR_TICK_MOVED,   /* every server's clock has moved */
	RR_TICK_WAITED,  /* no shim: really waited for */
	RR_TICK_EXPIRED, /* no shim: leases were shortened instead */
	RR_TICK_FAILED,  /* interrupted; a server without the shim was gone */
};

/*
 * A key or a blocked client is over when more than its time has passed, counted
 * in whole milliseconds: a lease of 10 s is there after a tick of 10 s (PTTL 0)
 * and gone after a tick of this much more. On a clock that goes, nobody sees
 * that; on this one add it where a lease is to end.
 */
#define RR_CLUSTER_LAPSE_NS INT64_C(1000000)

/*
 * Time passes everywhere: after what was sent before, and servers that run have
 * noticed when it returns: what was due is answered. (They are sent PINGs before
 * and after, which MONITOR shows.) A server that is busy for longer than 0.4 s
 * notices when it is not any more.
 *
 * Without the shim up to two seconds are waited for. More is made up: the time
 * to live of every key of database 0 is shortened by `ns`, and keys that run
 * out are deleted. That is right for SET NX PX and its likes, and wrong in
 * four ways: TIME and the time-outs of blocking commands do not move, a
 * lease that is only shortened counts as a write for WATCH, and so does not
 * come alone in MONITOR and AOF; and a key deleted so was deleted, not expired.
 */
enum rr_tick rr_cluster_tick(struct rr_cluster *cluster, int64_t ns);

/* Sets how far a server's clock is ahead of the others (< 0: behind). */
bool rr_cluster_skew(struct rr_cluster *cluster, int server, int64_t ns, struct rr_error *error);

/* The wall clock of all servers without skew, and of clients. */
int64_t rr_cluster_now_ns(const struct rr_cluster *cluster);

/* ---- Formations (topology.c) ------------------------------------------------ */

/*
 * Servers that stand in for one another: a primary with replicas, the same under
 * Sentinel, a Redis Cluster. The primary is killed, and whoever has to promotes
 * another.
 *
 * Order: open a cluster, open the formation on it, fail_over and turn as often as
 * wanted; the cluster's end is the formation's. Nothing here blocks for longer
 * than a server takes to answer or to start, but for the opening: what takes time
 * is looked after by one turn after another, each of which has a limit.
 */
enum rr_topology {
	RR_TOPOLOGY_ALONE,    /* servers that do not know of each other */
	RR_TOPOLOGY_REPLICA,  /* a primary, two replicas; we promote */
	RR_TOPOLOGY_SENTINEL, /* and three sentinels, which promote */
	RR_TOPOLOGY_CLUSTER,  /* three primaries with a replica each */
	RR_TOPOLOGIES
};

/* "alone", "replica", "sentinel", "cluster". */
extern const char *const rr_topology_names[RR_TOPOLOGIES];

/* Its limits, as the servers are configured. */
enum {
	RR_DOWN_AFTER_MS = 500,        /* a server that is silent for so long is down */
	RR_FORMATION_LIMIT_MS = 30000, /* until it is whole, or has a primary */
	RR_OUTAGE_MS = 1000,           /* of a server that stands alone */
	RR_MEMBERS_MAX = 8
};

enum rr_formation_phase {
	RR_FORMATION_WHOLE,     /* a primary, and replicas that have all of it */
	RR_FORMATION_CUT,       /* replicas are cut off; the kill is to come */
	RR_FORMATION_HEADLESS,  /* the primary is dead, and nobody promoted */
	RR_FORMATION_REJOINING, /* another is; the old one comes as its replica */
};

/* What happened to it so far. */
struct rr_formation_tally {
	long kills;
	long fail_overs;                      /* others that were promoted, or came back alone */
	int64_t headless_ns, headless_max_ns; /* from a kill to a promotion */
};

struct rr_formation {
	struct rr_cluster *cluster;
	enum rr_topology kind;
	int first, n_servers; /* all of its servers: so many from that number on */
	/* Of these, one is the primary for the keys of a run, and the others are
	 * its replicas. Alone: one of them is killed after another. */
	int members[RR_MEMBERS_MAX];
	int n_members;
	/* Where clients find the primary: redis+sentinel://, redis+cluster://, or a
	 * socket that leads to it. */
	struct rdl_address address;
	enum rr_formation_phase phase;
	int primary;       /* a server's number, as far as we know */
	int killed;        /* the one that was killed last; -1 = none */
	int64_t since_ns;  /* the phase's begin, and the kill's time */
	int64_t looked_ns; /* the last look whether all servers are there */
	int64_t cut_ns;    /* how long the cut lasts */
	struct rr_formation_tally tally;
};

/*
 * Starts all servers of a topology beside those that the cluster has, and waits
 * until it is whole. `key` is one of those that clients will use: with a cluster
 * the members are those that have its slot.
 */
bool rr_formation_open(struct rr_formation *formation, struct rr_cluster *cluster,
		       enum rr_topology kind, const char *key, struct rr_error *error);

/* Servers that are there already and stand alone: so many from `first` on. */
void rr_formation_of_lone(struct rr_formation *formation, struct rr_cluster *cluster, int first,
			  int n);

/* How many replicas hold what the primary holds. */
int rr_formation_replicas(const struct rr_formation *formation);

/*
 * Begins a fail-over of a whole formation: kill -9 of the primary. With `cut_ns`
 * its links to its replicas are cut first, and it goes on without them for so
 * long: what it acknowledges then is on no other server. (Its user for replicas
 * is deleted, so that they cannot come back.)
 */
bool rr_formation_fail_over(struct rr_formation *formation, int64_t cut_ns, struct rr_error *error);

/* Looks after it: kills, promotes where that is our part, sees who is promoted,
 * starts the killed one again. At least every few milliseconds unless it is whole.
 * False: something did not happen within its limit. */
bool rr_formation_turn(struct rr_formation *formation, struct rr_error *error);

/* Turns until it is whole. */
bool rr_formation_await_whole(struct rr_formation *formation, struct rr_error *error);

#endif
