/* SPDX-License-Identifier: MIT */
/* Faults: what each needs of a server, and those of processes and of the network:
 * servers killed, shut down, hung and started again; links between a master and
 * its replicas cut and joined. */
#include <signal.h>

#include "server.h"

/* The dead port is tcpmux's, which nobody has offered for decades. */
enum { DEAD_PORT = 1, LIMIT_MS = 2000 };

int rr_inject_limit_ms(const struct rr_injection *injection)
{
	return injection->amount ? (int)(injection->amount / 1000000) : LIMIT_MS;
}

/* ---- Ends -------------------------------------------------------------------- */

static bool send_signal(struct rr_cluster *cluster, struct rr_server *server, int number,
			enum rr_server_state after, struct rr_error *error)
{
	if (!rr_guardian_signal(&cluster->session->guardian, &server->process, number))
		return rr_error_set(error, RR_ERROR_REDIS, "%s has ended already", server->name);
	server->state = after;
	return true;
}

static bool inject_signal(struct rr_cluster *cluster, struct rr_server *server,
			  const struct rr_injection *injection, struct rr_error *error)
{
	switch (injection->fault) {
	case RR_FAULT_HANG:
		return send_signal(cluster, server, SIGSTOP, RR_SERVER_HUNG, error);
	case RR_FAULT_RESUME:
		return send_signal(cluster, server, SIGCONT, RR_SERVER_RUNNING, error);
	default:
		return send_signal(cluster, server, SIGKILL, RR_SERVER_DOWN, error) &&
		       (injection->fault != RR_FAULT_POWER || rr_disk_cut_power(server, error));
	}
}

static bool await_end(struct rr_cluster *cluster, struct rr_server *server, int limit_ms,
		      struct rr_error *error)
{
	const int number = (int)(server - cluster->servers);
	int64_t deadline_ns = 0;

	while (rr_cluster_state(cluster, number) == RR_SERVER_RUNNING) {
		if (!rr_server_wait(cluster, limit_ms, &deadline_ns, "the end of a server", error))
			return false;
	}
	return true;
}

static bool inject_end(struct rr_cluster *cluster, struct rr_server *server,
		       const struct rr_injection *injection, struct rr_error *error)
{
	if (injection->fault == RR_FAULT_AWAIT_END)
		return await_end(cluster, server, rr_inject_limit_ms(injection), error);
	return send_signal(cluster, server, SIGTERM, RR_SERVER_RUNNING, error) &&
	       await_end(cluster, server, RR_START_MS, error);
}

/* ---- Beginnings ---------------------------------------------------------------- */

static bool start_in_vain(struct rr_cluster *cluster, struct rr_server *server,
			  struct rr_error *error)
{
	struct rr_error why = { 0 };
	int status;

	if (rr_server_start_again(cluster, server, &why))
		return rr_error_set(error, RR_ERROR_REDIS, "%s has started, which it should not",
				    server->name);
	return (why.kind == RR_ERROR_REDIS &&
		rr_guardian_has_ended(&cluster->session->guardian, &server->process, &status)) ||
	       rr_error_set(error, why.kind, "%s", why.text);
}

static bool inject_restart(struct rr_cluster *cluster, struct rr_server *server,
			   const struct rr_injection *injection, struct rr_error *error)
{
	struct rr_error late = { 0 };
	bool good;

	/* It may end by itself just before it is killed. */
	if (server->state != RR_SERVER_DOWN)
		send_signal(cluster, server, SIGKILL, RR_SERVER_DOWN, &late);
	server->state = RR_SERVER_DOWN;
	if (injection->fault == RR_FAULT_WIPE)
		rr_disk_remove_data(server);
	good = injection->fault == RR_FAULT_RESTART_FAILS ?
		       start_in_vain(cluster, server, error) :
		       rr_server_start_again(cluster, server, error);
	rr_aof_forget_torn(server);
	return good;
}

/* ---- Replicas -------------------------------------------------------------------- */

static bool inject_replica(struct rr_cluster *cluster, struct rr_server *server,
			   const struct rr_injection *injection, struct rr_error *error)
{
	struct rr_server *master;

	if (!server->options.replica_of)
		return rr_error_set(error, RR_ERROR_USAGE, "%s is no replica", server->name);
	master = &cluster->servers[rr_cluster_find(cluster, server->options.replica_of)];
	if (injection->fault == RR_FAULT_CATCH_UP) {
		struct rr_replication wanted, has;
		int64_t deadline_ns = 0;

		do {
			if (rr_role_ask(master, &wanted) && rr_role_ask(server, &has) &&
			    has.is_linked && wanted.offset >= 0 && has.offset >= wanted.offset)
				return true;
		} while (rr_server_wait(cluster, RR_CATCH_UP_MS, &deadline_ns,
					"the replica's catching up", error));
		return false;
	}
	if (injection->fault == RR_FAULT_PROMOTE)
		return rr_server_run(server, error, "REPLICAOF NO ONE");
	return rr_server_run(server, error, "REPLICAOF 127.0.0.1 %d",
			     injection->fault == RR_FAULT_CUT ? DEAD_PORT : master->port);
}

/* ---- All of them ------------------------------------------------------------------ */

/* States that a server may be in, as a set. */
enum {
	RUNS = 1 << RR_SERVER_RUNNING,
	HANGS = 1 << RR_SERVER_HUNG,
	IS_DOWN = 1 << RR_SERVER_DOWN,
};

static const struct {
	const char *verb; /* what cannot be done to it otherwise */
	unsigned states;
	bool needs_shim;
	inject_function *inject;
} faults[RR_FAULT_KINDS] = {
	[RR_FAULT_KILL] = { "kill", RUNS | HANGS, false, inject_signal },
	[RR_FAULT_SHUT_DOWN] = { "shut down", RUNS, false, inject_end },
	[RR_FAULT_AWAIT_END] = { "await the end of", RUNS | IS_DOWN, false, inject_end },
	[RR_FAULT_RESTART] = { "restart", RUNS | HANGS | IS_DOWN, false, inject_restart },
	[RR_FAULT_RESTART_FAILS] = { "restart", RUNS | HANGS | IS_DOWN, false, inject_restart },
	[RR_FAULT_WIPE] = { "restart", RUNS | HANGS | IS_DOWN, false, inject_restart },
	[RR_FAULT_HANG] = { "stop", RUNS, false, inject_signal },
	[RR_FAULT_RESUME] = { "go on with", HANGS, false, inject_signal },
	[RR_FAULT_CUT] = { "cut off", RUNS, false, inject_replica },
	[RR_FAULT_JOIN] = { "join", RUNS, false, inject_replica },
	[RR_FAULT_PROMOTE] = { "promote", RUNS, false, inject_replica },
	[RR_FAULT_CATCH_UP] = { "await", RUNS, false, inject_replica },
	[RR_FAULT_POWER] = { "kill", RUNS | HANGS, true, inject_signal },
	[RR_FAULT_AWAIT_SYNC] = { "await the sync of", RUNS, true, rr_disk_await_sync },
	[RR_FAULT_AWAIT_SAVE] = { "await the snapshot of", RUNS, false, rr_disk_await_save },
	[RR_FAULT_TEAR] = { "tear the append-only file of", IS_DOWN, false, rr_disk_tear },
	[RR_FAULT_SLOW_DISK] = { "slow down the disk of", RUNS, true, rr_disk_slow_down },
	[RR_FAULT_DIE_IN_SYNC] = { "arrange the death of", RUNS, true, rr_disk_die_in_sync },
	[RR_FAULT_BREAK_DISK] = { "break the snapshots of", RUNS, false, rr_disk_break },
	[RR_FAULT_MEND_DISK] = { "mend the snapshots of", RUNS, false, rr_disk_mend },
	[RR_FAULT_FILL] = { "fill", RUNS, false, rr_memory_fill },
	[RR_FAULT_EMPTY] = { "fill", RUNS, false, rr_memory_fill },
};

bool rr_cluster_inject(struct rr_cluster *cluster, int server, const struct rr_injection *injection,
		       struct rr_error *error)
{
	static const char *const are[] = {
		[RR_SERVER_DECLARED] = "was never started",
		[RR_SERVER_RUNNING] = "runs",
		[RR_SERVER_HUNG] = "hangs",
		[RR_SERVER_DOWN] = "is down",
	};
	const enum rr_fault fault = injection->fault;
	enum rr_server_state state;
	struct rr_server *it;

	if (faults[fault].needs_shim && !rr_shim_need(cluster, error))
		return false;
	if (server < 0 || (size_t)server >= cluster->n_servers)
		return rr_error_set(error, RR_ERROR_USAGE, "there is no such server");
	it = &cluster->servers[server];
	state = rr_cluster_state(cluster, server);
	if (!(faults[fault].states >> state & 1))
		return rr_error_set(error, RR_ERROR_USAGE, "cannot %s %s: it %s",
				    faults[fault].verb, it->name, are[state]);
	it->is_used_up = true;
	return faults[fault].inject(cluster, it, injection, error);
}
