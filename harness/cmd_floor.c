/* SPDX-License-Identifier: MIT */
/* redrace floor: what the machine allows, and how near each strategy comes. */
#include <stdio.h>

#include "base/option.h"
#include "bench/bench.h"
#include "commands.h"
#include "explore/explore.h"

struct options {
	struct rr_comparison_options comparison;
	bool explore;
	long limit_s;
};

static const struct rr_option options_table[] = {
	{ .common = RR_OPTION_ALL, .at = offsetof(struct options, comparison.all) },
	RR_COMPARISON_ROWS(offsetof(struct options, comparison)),
	{ .help = "Searches" },
	{ .name = "explore",
	  .help = "measure the searches of explore instead: how large, and how fast",
	  .kind = RR_TAKES_NOTHING,
	  .at = offsetof(struct options, explore) },
	{ .common = RR_OPTION_SECONDS,
	  .help = "with --explore: stop each search after N seconds, 1 to 3600 (15)",
	  .at = offsetof(struct options, limit_s),
	  .min = 1,
	  .max = 3600 },
};

static const struct rr_command_line command_line = {
	.about =
		"Compares INCR with redis-benchmark, each strategy with its floor (its round trips times the round trip of a PING), and redlock with the lock on one server."
		"\vWith --explore: states, transitions and questions of the searches of explore, and how fast they are.",
	.options = options_table,
	.n_options = sizeof(options_table) / sizeof(options_table[0]),
};

static enum rr_exit compare(const struct options *options, struct rr_session *session,
			    struct rr_error *error)
{
	if (options->explore) {
		rr_explore_floor(session, options->comparison.redis_server, options->limit_s,
				 error);
		return RR_EXIT_OK;
	}
	return rr_floor_compare(&options->comparison, session, error);
}

static enum rr_exit run_floor(int argc, char **argv, struct rr_error *error)
{
	struct options options = { .comparison = rr_comparison_defaults(), .limit_s = 15 };
	struct rr_session session;
	enum rr_exit code = RR_EXIT_OK;

	rr_command_line_parse(&command_line, &options, argc, argv);
	if (rr_session_open(&session, error))
		code = compare(&options, &session, error);
	rr_session_close(&session);
	return code;
}

const struct rr_command rr_cmd_floor = {
	.name = "floor",
	.summary = "show how near each strategy comes to what the machine allows",
	.line = &command_line,
	.run = run_floor,
};
