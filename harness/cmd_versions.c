/* SPDX-License-Identifier: MIT */
/* redrace versions: claims, the matrix and costs on several servers, side by side. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/files.h"
#include "base/machine.h"
#include "base/option.h"
#include "base/pool.h"
#include "commands.h"
#include "versions/versions.h"

enum { VERSIONS_FORMATS = RR_RESULT_FORMATS | RR_ONLY(RR_FORMAT_MARKDOWN) };

struct versions_options {
	struct rr_versions versions;
	struct rr_outputs outputs;
	const char *docs;
	long jobs;
};

/* ---- Options ----------------------------------------------------------------- */

static const char *name_of_claim(size_t index)
{
	const struct rr_claim *claim = rr_claim_at(index);

	return claim ? claim->id : NULL;
}

static bool add_claim(struct rr_claims_choice *choice, const char *id, struct rr_error *error)
{
	const struct rr_claim *claim = rr_claim_find(id);
	const struct rr_claim **more;

	if (!claim)
		return rr_refuse_name("claim", id, name_of_claim, "'redrace claims' shows them",
				      error);
	more = realloc(choice->claims, (choice->n + 1) * sizeof(*more));
	if (!more)
		return rr_error_no_memory(error);
	more[choice->n++] = claim;
	choice->claims = more;
	return true;
}

static bool take_only(void *into, char *text, struct rr_error *error)
{
	struct versions_options *options = into;
	char *rest = NULL;
	const char *id = strtok_r(text, ",", &rest);

	if (!id)
		return rr_error_set(error, RR_ERROR_USAGE, "--only: no claim is named");
	for (; id; id = strtok_r(NULL, ",", &rest)) {
		if (!add_claim(&options->versions.choice, id, error))
			return false;
	}
	return true;
}

static bool take_server(void *into, char *text, struct rr_error *error)
{
	struct versions_options *options = into;

	return rr_versions_add(&options->versions, text, error);
}

static const struct rr_option options_table[] = {
	{ .common = RR_OPTION_REDIS_SERVER,
	  .help = "a server to be compared; repeat it for more (redis-server, and those of make servers)",
	  .take = take_server },
	{ .common = RR_OPTION_ONLY,
	  .help = "check only this claim, or several, such as TL-11,TX-11d (all)",
	  .take = take_only,
	  .name_at = name_of_claim },
	{ .common = RR_OPTION_ALL,
	  .help = "search all strategies, not native-cad alone: half a minute more for each server",
	  .at = offsetof(struct versions_options, versions.all_strategies) },
	{ .common = RR_OPTION_JOBS, .at = offsetof(struct versions_options, jobs) },
	{ .common = RR_OPTION_OUTPUT,
	  .help = "also write FILE, in the format of its suffix: .txt, .md, .json, .xml (JUnit) or .tap; may be repeated",
	  .at = offsetof(struct versions_options, outputs),
	  .formats = VERSIONS_FORMATS },
	{ .common = RR_OPTION_FORMAT,
	  .help = "what is printed: text, json, junit, tap, github, ctrf or markdown (text)",
	  .at = offsetof(struct versions_options, outputs.printed),
	  .formats = VERSIONS_FORMATS },
	{ .common = RR_OPTION_DOCS,
	  .help = "also write DIR/versions.md, if all claims are checked and, by --all, all strategies searched",
	  .at = offsetof(struct versions_options, docs) },
};

static const struct rr_command_line command_line = {
	.about =
		"Checks all claims, searches native-cad (or all strategies) under every hazard and times some strategies on several servers, and prints what differs among them.",
	.examples =
		"redrace versions --only TL-11,TX-11d\n"
		"redrace versions --redis-server redis-server --redis-server build/servers/valkey-9/redis-server",
	.options = options_table,
	.n_options = sizeof(options_table) / sizeof(options_table[0]),
};

/* ---- Output ------------------------------------------------------------------ */

static bool print_versions(const void *what, enum rr_format format, FILE *out,
			   struct rr_error *error)
{
	(void)format;
	(void)error;
	rr_versions_print(what, out);
	return true;
}

static const char intro[] =
	"# Servers side by side\n\n"
	"`make servers` unpacks what Debian's other suites have beside the system's server, without\n"
	"root and without touching the system: Redis 8.0 (trixie), Redis 8.6 (experimental), Valkey 8.1\n"
	"(trixie), Valkey 9.1 (sid) and Redict 7.3 (sid), which was forked from Redis 7.2.4. Redis 7.2 and\n"
	"7.4 are in no suite, and no npm package was found that ships them: they were not tried. Each\n"
	"works with every command, `--redis-server build/servers/valkey-9/redis-server`.\n\n"
	"`make versions-doc` runs `redrace versions` on all of them and writes this page.\n";

static const char remarks[] =
	"\nWhat had to be mended for the newer servers, and what was found on the way:\n\n"
	"- Valkey 9.1 asks for the wall clock once a millisecond and counts processor cycles between,\n"
	"  so that a frozen clock ran on. The clock library keeps it from doing so.\n"
	"- Redis 8's timer may remove a key in the very millisecond in which its lease ends, while commands\n"
	"  still find it there; with other servers it goes only after it. So where time stands still, the timer\n"
	"  is off (`DEBUG SET-ACTIVE-EXPIRE 0`): a key that has expired goes when a command asks for it.\n"
	"- Redis 8.6 neither answers nor closes a connection whose command has a broken header in two\n"
	"  parts ([torn-write-hangs-the-connection](../scenarios/races/torn-write-hangs-the-connection.race)).\n"
	"- Valkey 9.1 looks at the end of each value and gives a confused connection up\n"
	"  ([torn-write-is-noticed](../scenarios/races/torn-write-is-noticed.race)).\n"
	"- On Valkey 8.1 `native-cad` gives its lock a last lease of 1 ms instead of deleting it, and whoever\n"
	"  asks next has to wait for that.\n"
	"- Which of two races is played is decided by what the server answers, not by its version:\n"
	"  `else skip` in [races.md](races.md#steps).\n";

static enum rr_exit write_versions_doc(const struct versions_options *options)
{
	char path[RR_PATH_SIZE], date[16] = "";
	struct rr_error error = { 0 };
	struct rr_draft draft;
	const time_t now = time(NULL);

	if (options->versions.choice.n || !options->versions.all_strategies)
		return rr_complain(
			RR_EXIT_OK,
			"checked only some of the claims or strategies (--all): versions.md stays as it is");
	snprintf(path, sizeof(path), "%s/versions.md", options->docs);
	if (!rr_draft_open(&draft, &error))
		return rr_report_error(&error);
	fputs(intro, draft.out);
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
	fprintf(draft.out,
		"\nOn %s, on a machine with other work; only what is compared within a row means something.\n",
		date);
	rr_versions_print(&options->versions, draft.out);
	fputs(remarks, draft.out);
	rr_draft_replace(&draft, path, &error);
	return rr_report_error(&error);
}

static enum rr_exit publish_versions(const struct versions_options *options, double seconds)
{
	struct rr_error error = { 0 };
	struct rr_cases cases;
	enum rr_exit code;

	rr_versions_as_cases(&options->versions, &cases);
	cases.seconds = seconds;
	rr_cases_publish(&cases, &options->outputs, print_versions, &options->versions, &error);
	rr_cases_release(&cases);
	code = rr_report_error(&error);
	if (options->docs)
		code = rr_exit_worse(code, write_versions_doc(options));
	return code;
}

/* ---- The whole ----------------------------------------------------------------- */

static bool choose_servers(struct rr_versions *versions, struct rr_error *error)
{
	if (versions->n > 0)
		return true;
	return rr_versions_add(versions, "redis-server", error) &&
	       rr_versions_add_unpacked(versions, error);
}

static enum rr_exit compare_versions(struct versions_options *options, struct rr_error *error)
{
	const double begun = rr_clock_s();

	if (!choose_servers(&options->versions, error))
		return RR_EXIT_OK;
	if (!rr_versions_run(&options->versions, (int)options->jobs, error))
		return RR_EXIT_OK;
	if (options->versions.n == 1)
		fputs("redrace: there is one server only; make servers gets others\n", stderr);
	return rr_exit_worse(publish_versions(options, rr_clock_s() - begun),
			     rr_versions_exit(&options->versions));
}

static enum rr_exit run_versions(int argc, char **argv, struct rr_error *error)
{
	struct versions_options *options = calloc(1, sizeof(*options));
	enum rr_exit code;

	if (!options) {
		rr_error_no_memory(error);
		return RR_EXIT_OK;
	}
	options->jobs = rr_placement_count();
	if (options->jobs > RR_POOL_WORKERS_MAX)
		options->jobs = RR_POOL_WORKERS_MAX;
	rr_command_line_parse(&command_line, options, argc, argv);
	code = compare_versions(options, error);
	rr_versions_free(&options->versions);
	free(options);
	return code;
}

const struct rr_command rr_cmd_versions = {
	.name = "versions",
	.summary = "what differs among servers: claims, safety, costs",
	.line = &command_line,
	.run = run_versions,
};
