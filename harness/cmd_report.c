/* SPDX-License-Identifier: MIT */
/* redrace report: results and races as one page. */

#include "base/files.h"
#include "commands.h"
#include "report/report.h"

struct report_options {
	const char *redis_server;
	const char *output; /* NULL = stdout */
	struct rr_report report;
};

#define AT(field) offsetof(struct report_options, field)

static bool take_subject(void *into, char *text, struct rr_error *error)
{
	struct rr_report *report = &((struct report_options *)into)->report;

	if (report->n_subjects == RR_REPORT_SUBJECTS_MAX)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "'%s': a page is about at most %d races and directories", text,
				    RR_REPORT_SUBJECTS_MAX);
	report->subjects[report->n_subjects++] = text;
	return true;
}

static const struct rr_option options_table[] = {
	{ .help = "Output" },
	{ .common = RR_OPTION_OUTPUT, .at = AT(output) },
	{ .help = "Servers" },
	{ .common = RR_OPTION_REDIS_SERVER, .at = AT(redis_server) },
};

static const struct rr_command_line report_line = {
	.about =
		"Writes one HTML page: tables and plots of a results directory of bench; races, played now, to be stepped through. It needs no network, and can be read without JavaScript.",
	.arguments = "DIR|RACE|FILE...",
	.examples = "redrace report results/latest -o report.html\n"
		    "redrace report -o races.html lost-update overrun-delete",
	.find_names = rr_library_names,
	.missing =
		"report what? Name a results directory of bench, or races; 'redrace list --races' shows them",
	RR_OPTIONS(options_table),
	.take_argument = take_subject,
};

static enum rr_exit run_report(int argc, char **argv, struct rr_error *error)
{
	struct report_options options = { .redis_server = "redis-server" };
	struct rr_workplace *place = NULL;
	struct rr_draft draft;
	bool as_written = true;

	rr_command_line_parse(&report_line, &options, argc, argv);
	if (!rr_draft_is_for_page(options.output, error))
		return RR_EXIT_USAGE;
	/* Servers are started only for races. */
	if (rr_report_has_races(&options.report))
		place = rr_workplace_new(
			&(struct rr_cluster_options){ .program = options.redis_server, .cpu = -1 },
			error);
	if (!error->kind) {
		rr_draft_open(&draft);
		rr_report_write(draft.out, &options.report, place ? &place->cluster : NULL,
				&as_written, error);
		rr_draft_replace(&draft, options.output, error);
	}
	rr_workplace_free(place);
	if (as_written || error->kind)
		return RR_EXIT_OK;
	return rr_complain(RR_EXIT_VIOLATED,
			   "a race did not go as it is written: the page shows which, and where");
}

const struct rr_command rr_cmd_report = {
	.name = "report",
	.summary = "write results and races as one HTML page",
	.line = &report_line,
	.run = run_report,
};
