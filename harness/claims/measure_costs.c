/* SPDX-License-Identifier: MIT */
/* What things cost: round trips, scripts, locks, persistence. */
#include "measure.h"

#include <string.h>

#include "base/text.h"

static double seconds_since(const struct rdl_link *link, int64_t start_ns)
{
	return (double)(rdl_now_ns(link, RDL_CLOCK_MONOTONIC) - start_ns) / 1e9;
}

/* ---- Pipelines --------------------------------------------------------------------- */

enum { TRANSACTIONS = 1000 };

static enum rdl_outcome transact_in_four_round_trips(struct rdl_link *link)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_run(link, &reply, "MULTI");

	if (outcome == RDL_OK)
		outcome = rdl_run(link, &reply, "INCR a");
	if (outcome == RDL_OK)
		outcome = rdl_run(link, &reply, "INCR b");
	return outcome == RDL_OK ? rdl_run(link, &reply, "EXEC") : outcome;
}

static enum rdl_outcome transact_in_one_round_trip(struct rdl_link *link)
{
	struct rdl_reply reply;

	if (rdl_queue(link, "MULTI") != RDL_OK || rdl_queue(link, "INCR a") != RDL_OK ||
	    rdl_queue(link, "INCR b") != RDL_OK)
		return RDL_ERROR;
	return rdl_exec(link, 3, &reply);
}

/* Negative: a transaction did not work. */
static double time_transactions(struct rdl_link *link,
				enum rdl_outcome (*run)(struct rdl_link *link))
{
	const int64_t start_ns = rdl_now_ns(link, RDL_CLOCK_MONOTONIC);

	for (int i = 0; i < TRANSACTIONS; i++) {
		if (run(link) != RDL_OK)
			return -1;
	}
	return seconds_since(link, start_ns);
}

bool rr_measure_pipeline_gain(struct rr_measuring *measuring)
{
	struct rdl_link *link = measuring->link;
	const double four = time_transactions(link, transact_in_four_round_trips);
	const double one = four < 0 ? -1 : time_transactions(link, transact_in_one_round_trip);

	if (one < 0)
		return false;
	rr_measure_say(measuring,
		       "1,000 transactions: %.2f s in four round trips each, %.2f s in one", four,
		       one);
	rr_measure_judge(measuring, true, four > one);
	return true;
}

/* ---- Scripts ------------------------------------------------------------------------ */

enum { SCRIPT_SIZE = 2048, SCRIPT_RUNS = 2000 };

/* Negative: it did not work, or the replies are not as they should be. */
static double time_scripts(struct rdl_link *link, const char *command, const char *script,
			   long long from)
{
	const int64_t start_ns = rdl_now_ns(link, RDL_CLOCK_MONOTONIC);
	struct rdl_reply reply;

	for (int i = 1; i <= SCRIPT_RUNS; i++) {
		if (rdl_run(link, &reply, "%s %s 0", command, script) != RDL_OK ||
		    reply.integer != from + i)
			return -1;
	}
	return seconds_since(link, start_ns);
}

bool rr_measure_evalsha(struct rr_measuring *measuring)
{
	struct rdl_link *link = measuring->link;
	char script[SCRIPT_SIZE], hash[64] = "";
	double whole, by_hash;
	struct rdl_reply reply;

	/* Two kilobytes of comment, and a command. */
	static const char body[] = "\nreturn redis.call('INCR', 'x')";

	memset(script, '-', SCRIPT_SIZE);
	memcpy(script + SCRIPT_SIZE - sizeof(body), body, sizeof(body));
	if (rdl_run(link, &reply, "SCRIPT LOAD %s", script) != RDL_OK ||
	    reply.length >= sizeof(hash))
		return false;
	memcpy(hash, reply.text, reply.length + 1);
	whole = time_scripts(link, "EVAL", script, 0);
	by_hash = time_scripts(link, "EVALSHA", hash, SCRIPT_RUNS);
	if (whole < 0 || by_hash < 0)
		return false;
	rr_measure_say(measuring,
		       "2,000 runs of a script of 2 kB: %.2f s sent whole, %.2f s by its hash",
		       whole, by_hash);
	rr_measure_judge(measuring, true, 2 * by_hash > whole);
	return true;
}

/* ---- Methods and persistence ---------------------------------------------------------- */

/* Increments per second of four threads. A wrong count is what must not be. */
static bool measure_rate(struct rr_measuring *measuring, const char *strategy, long increments,
			 const char *name, double *per_s)
{
	char text[RR_GROUPED_SIZE];
	struct rr_measurement m;

	if (!rr_measure_bench(measuring, strategy, 4, 1, increments, &m))
		return false;
	rr_measure_judge(measuring, !m.lost && !m.extra, true);
	*per_s = rr_increments_per_s(&m);
	rr_measure_say(measuring, "%s%s %s/s", measuring->result->text[0] ? ", " : "", name,
		       rr_grouped(text, (long long)*per_s));
	return true;
}

bool rr_measure_methods(struct rr_measuring *measuring)
{
	double incr, script, watch, lock;

	if (!measure_rate(measuring, "incr", 4000, "INCR", &incr) ||
	    !measure_rate(measuring, "lua-incr", 4000, "script", &script) ||
	    !measure_rate(measuring, "multi-watch", 1000, "WATCH", &watch) ||
	    !measure_rate(measuring, "lua-delifequals", 1000, "lock", &lock))
		return false;
	rr_measure_judge(measuring, true, script > lock);
	return true;
}

/* The same server program with each way of keeping data. */
bool rr_measure_persistence(struct rr_measuring *measuring)
{
	static const enum rr_persistence kinds[] = { RR_PERSIST_NONE, RR_PERSIST_EVERYSEC,
						     RR_PERSIST_ALWAYS };
	double rates[3];

	for (int i = 0; i < 3; i++) {
		rr_measure_close(measuring);
		if (!rr_measure_open(measuring, kinds[i]) ||
		    !measure_rate(measuring, "incr", 4000, rr_persistence_names[kinds[i]],
				  &rates[i]))
			return false;
	}
	rr_measure_judge(measuring, true, rates[0] > rates[2]);
	return true;
}
