/* SPDX-License-Identifier: MIT */
/* The command of --setup: a program alone, on what --init gives; what it leaves there is what
 * the programs find. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "verdict.h"

/* Why there is nothing to begin with: how it ended, and what it said of it. */
static bool fail_setup(struct rr_programs *programs, const struct rr_outcome *outcome,
		       struct rr_error *error)
{
	const struct rr_ending how = rr_programs_ending(programs, outcome->endings[0]);
	char *line = rr_reason_line(how.output), *plain = rr_plain(line);
	char *text;
	size_t size;
	FILE *out = rr_open_memory(&text, &size);

	fputs("the command of --setup ", out);
	rr_checked_print_status(out, how.status);
	fclose(out);
	rr_error_set(error, RR_ERROR_DATA, "%s%s%.300s", text, plain[0] ? ": " : "", plain);
	free(line);
	free(plain);
	free(text);
	return false;
}

/* Lets it run to its end. */
static bool run_setup(struct rr_check *check, struct rr_programs *programs,
		      struct rr_explore_result *result, struct rr_error *error)
{
	static const char *const name = "setup";
	const struct rr_explore_config config = {
		.programs = rr_checked_programs(programs),
		.n_clients = 1,
		.client_names = &name,
		.given = check->given.commands,
		.n_given = check->given.n_commands,
		.rounds = 2,
		.ttl_ms = check->options->search.ttl_ms,
		.schedule = "",
		.wants_given = true,
		.title = name,
		.progress = rr_explore_progress,
		.context = &check->progress,
	};

	if (!rr_explore(&check->cluster, &config, result)) {
		*error = result->error;
		return false;
	}
	if (check->session.signals.interrupted)
		return false;
	if (result->n_findings == 0 || !result->findings[0].given ||
	    result->findings[0].endings[0] < 0)
		return rr_error_set(error, RR_ERROR_DATA,
				    "the command of --setup does not come to an end");
	return result->findings[0].ended_well == 1 ||
	       fail_setup(programs, &result->findings[0], error);
}

bool rr_check_set_up(struct rr_check *check, struct rr_error *error)
{
	const char *const shell[] = { "sh", "-c", check->options->setup, NULL };
	const struct rr_programs_config config = {
		.instances = rr_check_instances(check),
		.n_clients = 1,
		.argv = { shell },
		.names = { "setup" },
	};
	struct rr_programs *programs = rr_programs_new(&config);
	struct rr_explore_result result = { 0 };
	const bool good = run_setup(check, programs, &result, error) &&
			  rr_given_take(&check->given, result.findings[0].given, "--setup", error);

	rr_explore_release(&result);
	rr_programs_free(programs);
	return good;
}
