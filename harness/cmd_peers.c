/* SPDX-License-Identifier: MIT */
/* redrace peers: our locks beside those that people use. */
#include <stdio.h>

#include "base/option.h"
#include "bench/bench.h"
#include "commands.h"

struct options {
	struct rr_comparison_options comparison;
	bool as_document;
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const formats[] = { "text", "markdown" };
	struct options *options = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &options->comparison;
	else if (key == 'f')
		options->as_document =
			rr_option_choice(state, "--format", text, formats, 2);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp_option argp_options[] = {
	{ "format", 'f', "FORMAT", 0,
	  "text (default), or markdown for a whole document: docs/peers.md is made so",
	  0 },
	{ 0 },
};

static const struct argp_child argp_children[] = {
	{ &rr_comparison_argp, 0, NULL, 0 },
	{ 0 },
};

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

enum rr_exit rr_cmd_peers(int argc, char **argv, struct rr_error *error)
{
	struct options options = { .comparison = rr_comparison_defaults() };
	struct rr_session session;
	enum rr_exit code = RR_EXIT_OK;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (rr_session_open(&session, error))
		code = rr_peers_compare(&options.comparison,
					options.as_document, &session, error);
	rr_session_close(&session);
	return code;
}
