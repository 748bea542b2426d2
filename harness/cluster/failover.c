/* SPDX-License-Identifier: MIT */
/* The death of a formation's primary, and what follows: one phase after another. */

#include "server.h"

static void enter_phase(struct rr_formation *formation, enum rr_formation_phase phase)
{
	formation->phase = phase;
	formation->since_ns = rr_clock_ns();
}

/* ---- Servers that nobody was to end ------------------------------------------------ */

enum { LOOK_MS = 250 };

static bool is_all_there(struct rr_formation *formation, struct rr_error *error)
{
	const int64_t now_ns = rr_clock_ns();

	if (now_ns - formation->looked_ns < LOOK_MS * INT64_C(1000000))
		return true;
	formation->looked_ns = now_ns;
	if (!rr_cluster_is_whole(formation->cluster, error))
		return false;
	for (int i = formation->first; i < formation->first + formation->n_servers; i++) {
		if (i != formation->killed &&
		    rr_cluster_state(formation->cluster, i) == RR_SERVER_DOWN)
			return rr_error_set(error, RR_ERROR_REDIS, "the server %s has ended",
					    rr_formation_server(formation, i)->name);
	}
	return true;
}

/* ---- The death ------------------------------------------------------------- */

static bool kill_primary(struct rr_formation *formation, struct rr_error *error)
{
	const struct rr_injection injection = { .fault = RR_FAULT_KILL };

	formation->looked_ns = 0;
	if (!is_all_there(formation, error))
		return false;
	enter_phase(formation, RR_FORMATION_HEADLESS);
	formation->killed = formation->primary;
	formation->tally.kills++;
	return rr_cluster_inject(formation->cluster, formation->killed, &injection, error);
}

bool rr_formation_fail_over(struct rr_formation *formation, int64_t cut_ns, struct rr_error *error)
{
	if (formation->phase != RR_FORMATION_WHOLE)
		return rr_error_set(error, RR_ERROR_USAGE, "a fail-over during another");
	if (cut_ns == 0 || formation->kind == RR_TOPOLOGY_ALONE)
		return kill_primary(formation, error);
	formation->cut_ns = cut_ns;
	/* Who the replicas come as is no user any more: their links are closed, and they
	 * are refused when they come again. */
	if (!rr_server_run(rr_formation_server(formation, formation->primary), error,
			   "ACL DELUSER %s", rr_replica_user))
		return false;
	enter_phase(formation, RR_FORMATION_CUT);
	return true;
}

/* ---- The promotion ------------------------------------------------------------ */

/* A member that says it is the primary, and is not the one that was; -1 = none. */
static int find_promoted(const struct rr_formation *formation)
{
	struct rr_replication found;

	for (int i = 0; i < formation->n_members; i++) {
		const int number = formation->members[i];

		if (number != formation->primary && rr_formation_look(formation, number, &found) &&
		    found.is_primary)
			return number;
	}
	return -1;
}

/* Do the replicas see that the primary is gone? By then they have read all that it
 * had sent them. */
static bool have_noticed(const struct rr_formation *formation)
{
	struct rr_replication found;

	for (int i = 0; i < formation->n_members; i++) {
		const int number = formation->members[i];

		if (number != formation->killed && rr_formation_look(formation, number, &found) &&
		    found.is_linked)
			return false;
	}
	return true;
}

/* What an operator does where no Sentinel is there to do it. */
static bool promote_by_hand(struct rr_formation *formation, struct rr_error *error)
{
	/* The one that has most of what was written, as Sentinel and Cluster do. */
	struct rr_replication found;
	long long most = -1;
	int best = -1;

	for (int i = 0; i < formation->n_members; i++) {
		const int number = formation->members[i];

		if (number != formation->killed && rr_formation_look(formation, number, &found) &&
		    found.offset > most) {
			most = found.offset;
			best = number;
		}
	}
	struct rr_server *chosen;

	if (best < 0)
		return rr_error_set(error, RR_ERROR_REDIS,
				    "no replica answers that could be promoted");
	chosen = rr_formation_server(formation, best);
	if (!rr_server_run(chosen, error, "REPLICAOF NO ONE"))
		return false;
	for (int i = 0; i < formation->n_members; i++) {
		struct rr_server *other = rr_formation_server(formation, formation->members[i]);

		if (other != chosen && other->state == RR_SERVER_RUNNING &&
		    !rr_server_run(other, error, "REPLICAOF 127.0.0.1 %d", chosen->port))
			return false;
	}
	return true;
}

static void tally_fail_over(struct rr_formation *formation)
{
	struct rr_formation_tally *tally = &formation->tally;
	const int64_t headless_ns = rr_clock_ns() - formation->since_ns;

	tally->fail_overs++;
	if (formation->killed < 0)
		return;
	tally->headless_ns += headless_ns;
	if (headless_ns > tally->headless_max_ns)
		tally->headless_max_ns = headless_ns;
}

static bool take_over(struct rr_formation *formation, int promoted, struct rr_error *error)
{
	tally_fail_over(formation);
	formation->primary = promoted;
	rr_formation_server(formation, promoted)->options.replica_of = NULL;
	enter_phase(formation, RR_FORMATION_REJOINING);
	if (!rr_formation_point(formation, error))
		return false;
	/*
	 * The killed one comes back as a replica of the new primary. A node of a cluster learns
	 * from the others that it is one.
	 */
	struct rr_server *killed;

	if (formation->killed < 0)
		return true;
	killed = rr_formation_server(formation, formation->killed);
	if (killed->options.role == RR_ROLE_MEMBER)
		killed->options.replica_of =
			rr_formation_server(formation, formation->primary)->name;
	formation->killed = -1;
	return rr_server_start_again(formation->cluster, killed, error);
}

/* ---- Turns -------------------------------------------------------------------- */

static bool is_late(const struct rr_formation *formation)
{
	return rr_clock_ns() - formation->since_ns > RR_FORMATION_LIMIT_MS * INT64_C(1000000);
}

/* A sentinel that hears nothing of a busy primary promotes another unasked. */
static bool watch_primary(struct rr_formation *formation, struct rr_error *error)
{
	struct rr_replication found;
	int promoted;

	if (rr_formation_look(formation, formation->primary, &found) && found.is_primary)
		return true;
	promoted = find_promoted(formation);
	return promoted < 0 || take_over(formation, promoted, error);
}

static bool await_promotion(struct rr_formation *formation, struct rr_error *error)
{
	int promoted;

	if (formation->kind == RR_TOPOLOGY_REPLICA &&
	    (have_noticed(formation) || is_late(formation)) && !promote_by_hand(formation, error))
		return false;
	promoted = find_promoted(formation);
	if (promoted >= 0)
		return take_over(formation, promoted, error);
	return !is_late(formation) ||
	       rr_error_set(error, RR_ERROR_REDIS,
			    "no replica was promoted within %d s of the primary's death",
			    RR_FORMATION_LIMIT_MS / 1000);
}

/* One that stands alone comes back by itself, with what it has saved. The next one
 * to be killed is another. */
static bool await_return(struct rr_formation *formation, struct rr_error *error)
{
	struct rr_server *killed;

	if (rr_clock_ns() - formation->since_ns < RR_OUTAGE_MS * INT64_C(1000000))
		return true;
	killed = rr_formation_server(formation, formation->killed);
	if (!rr_server_start_again(formation->cluster, killed, error))
		return false;
	tally_fail_over(formation);
	formation->killed = -1;
	formation->primary = formation->first +
			     (formation->primary + 1 - formation->first) % formation->n_members;
	enter_phase(formation, RR_FORMATION_WHOLE);
	return true;
}

bool rr_formation_turn(struct rr_formation *formation, struct rr_error *error)
{
	const bool is_alone = formation->kind == RR_TOPOLOGY_ALONE;

	if (!is_all_there(formation, error))
		return false;
	switch (formation->phase) {
	case RR_FORMATION_CUT:
		return rr_clock_ns() - formation->since_ns < formation->cut_ns ||
		       kill_primary(formation, error);
	case RR_FORMATION_HEADLESS:
		return is_alone ? await_return(formation, error) :
				  await_promotion(formation, error);
	case RR_FORMATION_REJOINING:
		if (rr_formation_is_whole(formation)) {
			enter_phase(formation, RR_FORMATION_WHOLE);
			return true;
		}
		if (formation->kind != RR_TOPOLOGY_REPLICA && !watch_primary(formation, error))
			return false;
		return !is_late(formation) ||
		       rr_error_set(error, RR_ERROR_REDIS, "the %s is not whole after %d s",
				    rr_topology_names[formation->kind],
				    RR_FORMATION_LIMIT_MS / 1000);
	default:
		return is_alone || watch_primary(formation, error);
	}
}

bool rr_formation_await_whole(struct rr_formation *formation, struct rr_error *error)
{
	int64_t deadline_ns = 0;

	while (rr_formation_turn(formation, error) && formation->phase != RR_FORMATION_WHOLE) {
		if (!rr_server_wait(formation->cluster, 2 * RR_FORMATION_LIMIT_MS, &deadline_ns,
				    "a whole formation", error))
			return false;
	}
	return !error->kind;
}
