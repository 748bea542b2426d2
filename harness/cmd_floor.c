/* SPDX-License-Identifier: MIT */
/* redrace floor: what the machine allows, and how near each strategy comes. */
#include <stdio.h>

#include "base/option.h"
#include "bench/bench.h"
#include "commands.h"
#include "explore/explore.h"

enum { KEY_EXPLORE = 0x200, KEY_ALL };

struct options {
	struct rr_comparison_options comparison;
	bool explore;
	long limit_s;
};

static const struct argp_option argp_options[] = {
	{ "all", KEY_ALL, NULL, 0, "all strategies instead of the basic ones", 0 },
	{ "explore", KEY_EXPLORE, NULL, 0,
	  "how large the explorer's searches are instead, and how fast",
	  0 },
	{ "seconds", 's', "N", 0,
	  "with --explore, the limit of each search: 1 to 3600 (15)", 0 },
	{ 0 },
};

static const struct argp_child argp_children[] = {
	{ &rr_comparison_argp, 0, NULL, 0 },
	{ 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct options *options = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &options->comparison;
	else if (key == KEY_ALL)
		options->comparison.all = true;
	else if (key == KEY_EXPLORE)
		options->explore = true;
	else if (key == 's')
		options->limit_s =
			rr_option_number(state, "--seconds", text, 1, 3600);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.children = argp_children,
	.doc = "Compares INCR with redis-benchmark, each strategy with its floor (its round trips times the round trip of a PING), and redlock with the lock on one server. With --explore: states, transitions and questions of the explorer's searches, and how fast they are.",
};

void rr_help_floor(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace floor");
}

static enum rr_exit compare(const struct options *options,
			    struct rr_session *session, struct rr_error *error)
{
	if (options->explore)
		return rr_explore_floor(session,
					options->comparison.redis_server,
					options->limit_s, error);
	return rr_floor_compare(&options->comparison, session, error);
}

enum rr_exit rr_cmd_floor(int argc, char **argv, struct rr_error *error)
{
	struct options options = { .comparison = rr_comparison_defaults(),
				   .limit_s = 15 };
	struct rr_session session;
	enum rr_exit code = RR_EXIT_OK;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (rr_session_open(&session, error))
		code = compare(&options, &session, error);
	rr_session_close(&session);
	return code;
}
