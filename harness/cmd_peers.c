/* SPDX-License-Identifier: MIT */
/*
 * redrace peers: our locks beside those that people use, in the same loop on
 * the same servers and the same processor.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/option.h"
#include "commands.h"
#include "cluster/cluster.h"
#include "bench/peers.h"

/* Code that node compiles while it runs was at its full speed after so many. */
enum { PEER_WARMUP = 3000 };

const int rr_peers_clients[RR_PEERS_CLIENTS] = { 1, 2, 8 };

/* ---- Options ------------------------------------------------------------------ */

struct peers_options {
	struct rr_comparison_options comparison;
	bool markdown;
};

static const struct argp_child argp_children[] = {
	{ &rr_comparison_argp, 0, NULL, 0 },
	{ 0 },
};

static const struct argp_option argp_options[] = {
	{ "format", 'f', "FORMAT", 0,
	  "text (default), or markdown for a whole document: docs/peers.md is made so",
	  0 },
	{ 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const formats[] = { "text", "markdown" };
	struct peers_options *options = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &options->comparison;
	else if (key == 'f')
		options->markdown =
			rr_option_choice(state, "--format", text, formats, 2);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.children = argp_children,
	.doc = "Compares our locks with redis-py, redis-semaphore and node-redlock, which 'make deps-peers' installs: lock, GET, SET, unlock, on the same private servers and one processor, with 1, 2 and 8 clients.",
};

void rr_help_peers(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace peers");
}

/* ---- Who takes part ------------------------------------------------------------- */

static const char *const ours[] = { "lua-delifequals", "lua-pipelined",
				    "redlock" };

static const struct rr_lock_peer theirs[] = {
	{ .name = "redis-py" },
	{ .name = "redis-semaphore" },
	{ .name = "node-redlock", .lock_servers = 5 },
};

enum {
	N_OURS = sizeof(ours) / sizeof(ours[0]),
	N_THEIRS = sizeof(theirs) / sizeof(theirs[0]),
};

static void invite_ours(struct rr_peers *peers)
{
	for (size_t i = 0; i < N_OURS; i++) {
		const struct rr_strategy *strategy = rr_strategy_find(ours[i]);

		if (strategy)
			peers->contestants[peers->n_contestants++] =
				(struct rr_contestant){ .name = ours[i],
							.strategy = strategy };
	}
}

/* Those that are installed; RR_EXIT_SKIPPED when none is. */
static enum rr_exit invite_theirs(struct rr_peers *peers,
				  struct rr_signals *signals)
{
	enum rr_exit code = RR_EXIT_SKIPPED;

	for (size_t i = 0; i < N_THEIRS; i++) {
		struct rr_contestant contestant = { .name = theirs[i].name,
						    .peer = theirs[i] };
		const enum rr_exit probed = rr_lock_peer_probe(
			&theirs[i], signals, &contestant.versions);

		if (probed == RR_EXIT_OK) {
			peers->contestants[peers->n_contestants++] = contestant;
			code = RR_EXIT_OK;
		} else if (probed != RR_EXIT_SKIPPED) {
			return probed;
		}
	}
	return code;
}

/* ---- Rounds ---------------------------------------------------------------------- */

static double rate_of_ours(struct rr_peers *peers,
			   const struct rr_contestant *contestant, int clients)
{
	struct rr_comparison *comparison = &peers->comparison;
	const double rate = rr_comparison_rate(comparison, contestant->strategy,
					       clients,
					       comparison->options->increments);

	if (comparison->code == RR_EXIT_OK)
		comparison->code =
			rr_verdict_exit(comparison->measurement.verdict);
	if (comparison->code == RR_EXIT_VIOLATED)
		rr_complain(RR_EXIT_VIOLATED, "%s counted to %lld instead of %lld",
			    contestant->name,
			    comparison->measurement.final_value,
			    comparison->measurement.expected_value);
	return rate;
}

static double rate_of_theirs(struct rr_peers *peers,
			     const struct rr_contestant *contestant,
			     int clients, int run_number)
{
	struct rr_comparison *comparison = &peers->comparison;
	char counter[RR_KEY_SIZE];
	const struct rr_lock_peer_run run = {
		.cluster = &comparison->cluster,
		.counter = counter,
		.clients = clients,
		.increments = comparison->options->increments,
		.warmup = PEER_WARMUP,
	};
	double rate = 0;

	rr_keys_counter(counter, comparison->session->prefix, run_number);
	comparison->code = rr_lock_peer_count(&contestant->peer, &run, &rate);
	return rate;
}

static void measure(struct rr_peers *peers, struct rr_contestant *contestant,
		    size_t c, long round)
{
	const int clients = rr_peers_clients[c];
	const size_t i = (size_t)(contestant - peers->contestants);
	const size_t number =
		((size_t)round * RR_PEERS_CLIENTS + c) * RR_CONTESTANTS_MAX + i;

	contestant->rates[c][round] =
		contestant->strategy ?
			rate_of_ours(peers, contestant, clients) :
			rate_of_theirs(peers, contestant, clients,
				       1 + (int)number);
}

static enum rr_exit measure_all(struct rr_peers *peers)
{
	for (long round = 0; round < peers->comparison.options->rounds;
	     round++) {
		for (size_t c = 0; c < RR_PEERS_CLIENTS; c++) {
			for (size_t i = 0; i < peers->n_contestants; i++) {
				measure(peers, &peers->contestants[i], c,
					round);
				if (peers->comparison.code != RR_EXIT_OK)
					return peers->comparison.code;
			}
		}
	}
	return RR_EXIT_OK;
}

/* ---- The whole --------------------------------------------------------------------- */

static enum rr_exit compare(struct rr_session *session,
			    const struct peers_options *options,
			    struct rr_peers *peers)
{
	const size_t servers = 1 + rr_strategy_find("redlock")->lock.servers;
	enum rr_exit code;

	invite_ours(peers);
	code = invite_theirs(peers, &session->signals);
	if (code != RR_EXIT_OK)
		return code;
	rr_comparison_open(&peers->comparison, &options->comparison, session,
			   servers, true);
	code = peers->comparison.code;
	if (code == RR_EXIT_OK)
		code = measure_all(peers);
	if (code == RR_EXIT_OK && options->markdown)
		rr_peers_print_document(peers);
	else if (code == RR_EXIT_OK)
		rr_peers_print_text(peers);
	rr_comparison_close(&peers->comparison);
	return code;
}

enum rr_exit rr_cmd_peers(int argc, char **argv, struct rr_error *error)
{
	struct peers_options options = { .comparison =
						 rr_comparison_defaults() };
	struct rr_peers *peers = calloc(1, sizeof(*peers));
	struct rr_session session;
	enum rr_exit code = RR_EXIT_OK;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!rr_session_open(&session, error))
		code = rr_exit_of(error->kind);
	else if (!peers)
		rr_error_no_memory(error);
	else
		code = compare(&session, &options, peers);
	rr_session_close(&session);
	free(peers);
	return code;
}
