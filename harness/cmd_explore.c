/* SPDX-License-Identifier: MIT */
/* redrace explore: all states of a strategy. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/machine.h"
#include "base/memory.h"
#include "commands.h"
#include "report/report.h"

/* What is printed, where that is text, as it comes, and all of it for files. */
struct searches {
	const struct rr_explore_options *options;
	struct rr_cases cases;
	FILE *text;
	char *all_text;
	size_t size;
	FILE *page; /* NULL = none is asked for */
	char *all_page;
	size_t page_size;
};

static enum rr_exit explore_strategy(struct searches *searches, const struct rr_strategy *strategy,
				     struct rr_cluster *cluster)
{
	const size_t begin = searches->size;
	struct rr_explore_config config = searches->options->config;
	struct rr_error error = { 0 };
	char *transcript = NULL;
	const enum rr_exit code = rr_explore_report(cluster, strategy, searches->options,
						    searches->text, &transcript, &searches->cases,
						    &error);

	fflush(searches->text);
	config.strategy = strategy;
	if (searches->page && searches->size > begin && !error.kind)
		rr_report_search(searches->page, &config, searches->all_text + begin, transcript,
				 cluster, &error);
	free(transcript);
	if (searches->options->report.printed == RR_FORMAT_TEXT)
		fputs(searches->all_text + begin, stdout);
	fflush(stdout);
	return rr_exit_worse(code, rr_report_error(&error));
}

/* Of several, one that is skipped does not count. */
static enum rr_exit explore_strategies(struct searches *searches, struct rr_cluster *cluster)
{
	const struct rr_explore_options *options = searches->options;
	enum rr_exit worst = RR_EXIT_OK;
	size_t n_skipped = 0;

	for (size_t i = 0; i < options->n_strategies; i++) {
		const enum rr_exit code = explore_strategy(searches, options->strategies[i],
							   cluster);

		if (code == RR_EXIT_SKIPPED)
			n_skipped++;
		else
			worst = rr_exit_worse(worst, code);
		if (code == RR_EXIT_INTERRUPTED)
			break;
	}
	return n_skipped == options->n_strategies ? RR_EXIT_SKIPPED : worst;
}

static bool print_searches(const void *what, enum rr_format format, FILE *out,
			   struct rr_error *error)
{
	const struct searches *searches = what;

	(void)error;
	if (format == RR_FORMAT_HTML) {
		rr_page_begin(out, "redrace explore");
		fputs("<h1>Every interleaving</h1>\n", out);
		fputs(searches->all_page ? searches->all_page : "", out);
		rr_page_end(out, rr_race_script);
	} else if (out != stdout) {
		fputs(searches->all_text, out);
	}
	return true;
}

/* What was called off is shown, and replaces no file. */
static enum rr_exit explore_and_publish(const struct rr_explore_options *options,
					struct rr_cluster *cluster, struct rr_error *error)
{
	const double begun = rr_clock_s();
	struct rr_outputs outputs = options->report;
	struct searches searches = { .options = options };
	char version[RR_VERSION_SIZE];
	enum rr_exit code;

	rr_cases_init(&searches.cases, "redrace explore");
	rr_cluster_version(cluster, version, sizeof(version));
	json_object_set_new(searches.cases.properties, "redis_version",
			    json_string(rr_version_number(version)));
	json_object_set_new(searches.cases.properties, "server", json_string(version));
	searches.text = rr_open_memory(&searches.all_text, &searches.size);
	if (rr_outputs_have(&outputs, RR_ONLY(RR_FORMAT_HTML)))
		searches.page = rr_open_memory(&searches.all_page, &searches.page_size);
	code = explore_strategies(&searches, cluster);
	searches.cases.seconds = rr_clock_s() - begun;
	if (code == RR_EXIT_INTERRUPTED)
		outputs.n = 0;
	if (searches.page)
		fflush(searches.page);
	rr_cases_publish(&searches.cases, &outputs, print_searches, &searches, error);
	fclose(searches.text);
	if (searches.page)
		fclose(searches.page);
	free(searches.all_page);
	free(searches.all_text);
	rr_cases_release(&searches.cases);
	return code;
}

/* There are no servers to search on. */
static void publish_failure(const struct rr_explore_options *options, const struct rr_error *why)
{
	struct searches searches = { .options = options, .all_text = "" };
	struct rr_error error = { 0 };

	rr_cases_init(&searches.cases, "redrace explore");
	rr_cases_add(&searches.cases, &(struct rr_case){ .suite = "explore",
							 .name = "servers",
							 .verdict = RR_CASE_ERROR,
							 .message = why->text });
	rr_cases_publish(&searches.cases, &options->report, print_searches, &searches, &error);
	rr_report_error(&error);
	rr_cases_release(&searches.cases);
}

static enum rr_exit explore_on_servers(const struct rr_explore_options *options,
				       struct rr_session *session, struct rr_error *error)
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
		code = explore_and_publish(options, &cluster, error);
	else
		publish_failure(options, error);
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
