/* SPDX-License-Identifier: MIT */
/* What things cost: round trips, scripts, locks, persistence. */
#include "measure_parts.h"

#include <string.h>

#include "base/text.h"

static double seconds_since(const struct rl_link *link, int64_t start_ns)
{
	return (double)(rl_now_ns(link, RL_CLOCK_MONOTONIC) - start_ns) / 1e9;
}

/* What is claimed is that `more` takes longer. */
static void expect_longer(struct rr_measuring *measuring, double more,
			  double less)
{
	if (more <= less)
		measuring->result->measured = RR_MEASURED_OPEN;
}

static bool refused(struct rr_measuring *measuring, const struct rl_link *link)
{
	return rr_measure_fail(measuring, RR_EXIT_REDIS, "%s",
			       rl_link_error(link));
}

/* ---- Pipelines --------------------------------------------------------------------- */

enum { TRANSACTIONS = 1000 };

static enum rl_outcome four_round_trips(struct rl_link *link)
{
	struct rl_reply reply;
	enum rl_outcome outcome = rl_run(link, &reply, "MULTI");

	if (outcome == RL_OK)
		outcome = rl_run(link, &reply, "INCR a");
	if (outcome == RL_OK)
		outcome = rl_run(link, &reply, "INCR b");
	return outcome == RL_OK ? rl_run(link, &reply, "EXEC") : outcome;
}

static enum rl_outcome one_round_trip(struct rl_link *link)
{
	struct rl_reply reply;

	if (rl_queue(link, "MULTI") != RL_OK ||
	    rl_queue(link, "INCR a") != RL_OK ||
	    rl_queue(link, "INCR b") != RL_OK)
		return RL_ERROR;
	return rl_exec(link, 3, &reply);
}

/* Negative: a transaction did not work. */
static double time_transactions(struct rl_link *link,
				enum rl_outcome (*run)(struct rl_link *link))
{
	const int64_t start_ns = rl_now_ns(link, RL_CLOCK_MONOTONIC);

	for (int i = 0; i < TRANSACTIONS; i++) {
		if (run(link) != RL_OK)
			return -1;
	}
	return seconds_since(link, start_ns);
}

bool rr_measure_pipeline_gain(struct rr_measuring *measuring)
{
	struct rl_link *link = rr_measure_link(measuring);
	double four, one;
	bool good;

	if (!link)
		return false;
	four = time_transactions(link, four_round_trips);
	one = time_transactions(link, one_round_trip);
	good = (four >= 0 && one >= 0) || refused(measuring, link);
	if (good) {
		rr_measure_say(measuring,
			       "1,000 transactions: %.2f s in four round trips each, %.2f s in one",
			       four, one);
		expect_longer(measuring, four, one);
	}
	rl_link_free(link);
	return good;
}

/* ---- Scripts ------------------------------------------------------------------------ */

enum { SCRIPT_SIZE = 2048, SCRIPT_RUNS = 2000 };

/* Two kilobytes of comment, and a command. */
static void write_script(char script[SCRIPT_SIZE])
{
	static const char body[] = "\nreturn redis.call('INCR', 'x')";

	memset(script, '-', SCRIPT_SIZE);
	memcpy(script + SCRIPT_SIZE - sizeof(body), body, sizeof(body));
}

/* Negative: it did not work, or the replies are not as they should be. */
static double time_scripts(struct rl_link *link, const char *command,
			   const char *script, long long from)
{
	const int64_t start_ns = rl_now_ns(link, RL_CLOCK_MONOTONIC);
	struct rl_reply reply;

	for (int i = 1; i <= SCRIPT_RUNS; i++) {
		if (rl_run(link, &reply, "%s %s 0", command, script) != RL_OK ||
		    reply.integer != from + i)
			return -1;
	}
	return seconds_since(link, start_ns);
}

bool rr_measure_evalsha(struct rr_measuring *measuring)
{
	struct rl_link *link = rr_measure_link(measuring);
	char script[SCRIPT_SIZE], hash[64] = "";
	double whole = -1, by_hash = -1;
	struct rl_reply reply;
	bool good;

	if (!link)
		return false;
	write_script(script);
	if (rl_run(link, &reply, "SCRIPT LOAD %s", script) == RL_OK &&
	    reply.length < sizeof(hash)) {
		memcpy(hash, reply.text, reply.length + 1);
		whole = time_scripts(link, "EVAL", script, 0);
		by_hash = time_scripts(link, "EVALSHA", hash, SCRIPT_RUNS);
	}
	good = (whole >= 0 && by_hash >= 0) || refused(measuring, link);
	if (good) {
		rr_measure_say(measuring,
			       "2,000 runs of a script of 2 kB: %.2f s sent whole, %.2f s by its hash",
			       whole, by_hash);
		expect_longer(measuring, 2 * by_hash, whole);
	}
	rl_link_free(link);
	return good;
}

/* ---- Methods and persistence ---------------------------------------------------------- */

/* Increments per second of four threads, negative: it failed. A wrong count is
 * what must not be. */
static double rate(struct rr_measuring *measuring, const char *strategy,
		   long increments, const char *name)
{
	char text[RR_GROUPED_SIZE];
	struct rr_measurement m;
	double per_s;

	if (!rr_measure_bench(measuring, strategy, 4, 1, increments, &m))
		return -1;
	if (m.lost || m.extra)
		measuring->result->measured = RR_MEASURED_BROKEN;
	per_s = rr_increments_per_s(&m);
	rr_measure_say(measuring, "%s%s %s/s",
		       measuring->result->text[0] ? ", " : "", name,
		       rr_grouped(text, (long long)per_s));
	return per_s;
}

bool rr_measure_methods(struct rr_measuring *measuring)
{
	const double incr = rate(measuring, "incr", 4000, "INCR");
	const double script =
		incr < 0 ? -1 : rate(measuring, "lua-incr", 4000, "script");
	const double watch =
		script < 0 ? -1 : rate(measuring, "multi-watch", 1000, "WATCH");
	const double lock =
		watch < 0 ? -1 :
			    rate(measuring, "lua-delifequals", 1000, "lock");

	if (lock >= 0 && measuring->result->measured == RR_MEASURED_SHOWN)
		expect_longer(measuring, script, lock);
	return lock >= 0;
}

/* The same server program with another way of keeping data. */
static double rate_kept(struct rr_measuring *measuring,
			enum rr_persistence persistence)
{
	struct rr_cluster before = measuring->cluster;
	double per_s = -1;

	if (rr_measure_open(measuring, persistence))
		per_s = rate(measuring, "incr", 4000,
			     rr_persistence_names[persistence]);
	rr_cluster_close(&measuring->cluster);
	measuring->cluster = before;
	return per_s;
}

bool rr_measure_persistence(struct rr_measuring *measuring)
{
	const double none = rate_kept(measuring, RR_PERSIST_NONE);
	const double everysec =
		none < 0 ? -1 : rate_kept(measuring, RR_PERSIST_EVERYSEC);
	const double always =
		everysec < 0 ? -1 : rate_kept(measuring, RR_PERSIST_ALWAYS);

	if (always >= 0 && measuring->result->measured == RR_MEASURED_SHOWN)
		expect_longer(measuring, none, always);
	return always >= 0;
}
