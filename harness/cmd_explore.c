/* SPDX-License-Identifier: MIT */
/* redrace explore: all states of a strategy. */
#include <stdio.h>
#include <stdlib.h>

#include "base/machine.h"
#include "base/text.h"
#include "commands.h"
#include "report/report.h"

struct searches {
	const struct rr_explore_options *options;
	struct rr_workplace *place;
	struct rr_cases cases;
	size_t n; /* strategies that were explored */
	struct rr_explore_said said[RR_CHOSEN_MAX];
};

/* Of several, one that is skipped does not count. */
static enum rr_exit explore_strategies(struct searches *searches)
{
	const struct rr_explore_options *options = searches->options;
	enum rr_exit code = RR_EXIT_OK, worst = RR_EXIT_OK;
	size_t n_skipped = 0;

	rr_cases_note_server(&searches->cases, searches->place->version);
	while (searches->n < options->strategies.n && code != RR_EXIT_INTERRUPTED) {
		const struct rr_strategy *strategy = options->strategies.all[searches->n];
		struct rr_explore_said *said = &searches->said[searches->n++];
		struct rr_error error = { 0 };

		code = rr_explore_report(&searches->place->cluster, strategy, options, said,
					 &searches->cases, &error);
		if (options->report.printed == RR_FORMAT_TEXT)
			rr_print_verdict(stdout, said->text);
		fflush(stdout);
		code = rr_exit_worse(code, rr_report_error(&error));
		if (code == RR_EXIT_SKIPPED)
			n_skipped++;
		else
			worst = rr_exit_worse(worst, code);
	}
	searches->cases.seconds = rr_cases_age(&searches->cases);
	return n_skipped == options->strategies.n ? RR_EXIT_SKIPPED : worst;
}

/* Text is printed as it comes. */
static void print_searches(const void *what, enum rr_format format, FILE *out,
			   struct rr_error *error)
{
	const struct searches *searches = what;

	if (format == RR_FORMAT_HTML) {
		rr_page_begin(out, "redrace explore", NULL);
		fputs("<h1>Every interleaving</h1>\n", out);
		for (size_t i = 0; i < searches->n && !error->kind; i++) {
			const struct rr_explore_said *said = &searches->said[i];
			const struct rr_explore_config config = rr_explore_config_of(
				searches->options, searches->options->strategies.all[i]);

			if (said->is_judged)
				rr_report_search(out, &config, said->text, &said->played,
						 &searches->place->cluster, error);
		}
		rr_page_end(out, rr_race_script);
	}
	for (size_t i = 0; i < searches->n && out != stdout && format != RR_FORMAT_HTML; i++)
		rr_print_verdict(out, searches->said[i].text);
}

static enum rr_exit run_explore(int argc, char **argv, struct rr_error *error)
{
	struct rr_explore_options options = rr_explore_defaults();
	struct rr_cluster_options servers = { .cpu = rr_placement_cpu() };
	struct searches searches = { .options = &options };
	struct rr_error unwritten = { 0 };
	enum rr_exit code = RR_EXIT_OK;

	rr_command_line_parse(&rr_explore_command_line, &options, argc, argv);
	servers.program = options.redis_server;
	rr_cases_init(&searches.cases, "redrace explore");
	rr_placement_settle(servers.cpu);
	searches.place = rr_workplace_new(&servers, error);
	if (searches.place)
		code = explore_strategies(&searches);
	if (error->kind)
		rr_cases_add_error(&searches.cases, "explore", "servers", error);
	searches.cases.is_called_off = code == RR_EXIT_INTERRUPTED;
	rr_cases_publish(&searches.cases, &options.report, print_searches, &searches, &unwritten);
	if (error->kind)
		rr_report_error(&unwritten);
	else
		*error = unwritten;
	rr_workplace_free(searches.place);
	rr_cases_release(&searches.cases);
	for (size_t i = 0; i < searches.n; i++) {
		free(searches.said[i].text);
		rr_played_release(&searches.said[i].played);
	}
	return code;
}

const struct rr_command rr_cmd_explore = {
	.name = "explore",
	.summary = "search every interleaving of a strategy, with faults",
	.line = &rr_explore_command_line,
	.run = run_explore,
};
