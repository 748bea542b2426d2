/* SPDX-License-Identifier: MIT */
/* redrace peers: our locks beside those that people use. */
#include <stdio.h>

#include "base/option.h"
#include "bench/bench.h"
#include "commands.h"

struct options {
	struct rr_comparison_options comparison;
	enum rr_format format;
};

static const struct rr_option options_table[] = {
	RR_COMPARISON_ROWS(offsetof(struct options, comparison)),
	{ .common = RR_OPTION_FORMAT,
	  .help = "text, or markdown for a whole document, as docs/peers.md (text)",
	  .at = offsetof(struct options, format),
	  .formats = RR_ONLY(RR_FORMAT_TEXT) | RR_ONLY(RR_FORMAT_MARKDOWN) },
};

static const struct rr_command_line command_line = {
	.about =
		"Compares the locks of libredislock with those that people use in Python, Node.js and PHP, which 'make deps-peers' and '.ci/deps-peers-more' install: lock, GET, SET, unlock, on the same private servers and one processor, with 1, 2 and 8 clients.",
	.options = options_table,
	.n_options = sizeof(options_table) / sizeof(options_table[0]),
};

static enum rr_exit run_peers(int argc, char **argv, struct rr_error *error)
{
	struct options options = { .comparison = rr_comparison_defaults() };
	struct rr_session session;
	enum rr_exit code = RR_EXIT_OK;

	rr_command_line_parse(&command_line, &options, argc, argv);
	if (rr_session_open(&session, error))
		code = rr_peers_compare(&options.comparison, options.format == RR_FORMAT_MARKDOWN,
					&session, error);
	rr_session_close(&session);
	return code;
}

const struct rr_command rr_cmd_peers = {
	.name = "peers",
	.summary = "compare with redis-py, redis-semaphore, node-redlock and others",
	.line = &command_line,
	.run = run_peers,
};
