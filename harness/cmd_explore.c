/* SPDX-License-Identifier: MIT */
/* redrace explore: all states of a strategy. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "explore/explore.h"
#include "base/machine.h"

/* Of several, one that is skipped does not count. */
static enum rr_exit explore_strategies(const struct rr_explore_options *options,
			    struct rr_cluster *cluster)
{
	enum rr_exit worst = RR_EXIT_OK;
	size_t n_skipped = 0;

	for (size_t i = 0; i < options->n_strategies; i++) {
		struct rr_error error = { 0 };
		enum rr_exit code = rr_explore_report(
			cluster, options->strategies[i], options, &error);

		code = rr_exit_worse(code, rr_report_error(&error));
		if (code == RR_EXIT_SKIPPED)
			n_skipped++;
		else
			worst = rr_exit_worse(worst, code);
		if (code == RR_EXIT_INTERRUPTED)
			break;
	}
	return n_skipped == options->n_strategies ? RR_EXIT_SKIPPED : worst;
}

static enum rr_exit explore_on_servers(const struct rr_explore_options *options,
				       struct rr_session *session,
				       struct rr_error *error)
{
	const struct rr_cluster_options cluster_options = {
		.program = options->redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = rr_placement_cpu(),
	};
	struct rr_cluster cluster;
	enum rr_exit code = RR_EXIT_OK;

	rr_placement_settle(cluster_options.cpu);
	if (rr_cluster_open(&cluster, session, &cluster_options, error))
		code = explore_strategies(options, &cluster);
	rr_cluster_close(&cluster);
	return code;
}

static enum rr_exit run_explore(int argc, char **argv, struct rr_error *error)
{
	struct rr_explore_options options = rr_explore_defaults();
	struct rr_session session;
	enum rr_exit code = RR_EXIT_OK;

	setlocale(LC_CTYPE, "");
	rr_command_line_parse(&rr_explore_command_line, &options, argc, argv);
	if (rr_session_open(&session, error))
		code = explore_on_servers(&options, &session, error);
	rr_session_close(&session);
	return code;
}

const struct rr_command rr_cmd_explore = {
	.name = "explore",
	.summary = "search every interleaving of a strategy, with faults",
	.line = &rr_explore_command_line,
	.run = run_explore,
};
