/* SPDX-License-Identifier: MIT */
/* A page about races that are played for it, and about results. */
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "play/play.h"
#include "race/race.h"
#include "report.h"

enum { ID_SIZE = 64, COMMAND_SIZE = 512 };

bool rr_report_has_races(const struct rr_report *report)
{
	for (size_t i = 0; i < report->n_subjects; i++) {
		if (!rr_report_is_results(report->subjects[i]))
			return true;
	}
	return false;
}

/* ---- What keeps what a race breaks, to stand next to it ----------------------- */

bool rr_counterpart_play(struct rr_counterpart *counterpart, const struct rr_race *race,
			 struct rr_cluster *cluster, struct rr_error *error)
{
	*counterpart = (struct rr_counterpart){ 0 };
	if (!race->safe)
		return true;
	counterpart->race = rr_library_open(race->safe, error);
	if (!counterpart->race)
		return false;
	counterpart->is_played = rr_player_play(counterpart->race, cluster, NULL,
						&counterpart->trace, error);
	return counterpart->is_played || rr_error_set_aside(error, RR_ERROR_SKIPPED);
}

void rr_counterpart_free(struct rr_counterpart *counterpart)
{
	rr_trace_free(&counterpart->trace);
	rr_race_free(counterpart->race);
}

void rr_counterpart_show(const struct rr_counterpart *counterpart, const struct rr_race *race,
			 struct rr_article *article)
{
	if (!counterpart->is_played)
		return;
	article->safe = &counterpart->trace;
	article->safe_name = race->safe;
}

/* ---- Races ---------------------------------------------------------------- */

static bool write_race(FILE *out, const struct rr_report *report, size_t i,
		       struct rr_cluster *cluster, bool *as_written, struct rr_error *error)
{
	const char *subject = report->subjects[i];
	struct rr_race *race;
	struct rr_counterpart counterpart = { 0 };
	struct rr_trace trace = { 0 };
	struct stat status;
	bool good;

	if (stat(subject, &status) == 0 && S_ISDIR(status.st_mode))
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"'%s' has no summary.csv: expected a results directory of bench, or a race",
			subject);
	race = rr_library_open(subject, error);
	if (!race)
		return false;
	good = rr_player_play(race, cluster, NULL, &trace, error) &&
	       rr_counterpart_play(&counterpart, race, cluster, error);
	if (good) {
		*as_written = *as_written && trace.as_written;

		/* The id is the file's stem, or the name: letters that an address can have. Two of
		 * one name differ by their number. */
		char id[ID_SIZE], command[COMMAND_SIZE];
		const char *slash = strrchr(subject, '/'), *from = slash ? slash + 1 : subject;
		size_t n_before = 0, n = 0;
		struct rr_article article = {
			.id = id,
			.command = command,
			.is_part = report->n_subjects > 1,
		};

		for (size_t k = 0; k < i; k++)
			n_before += strcmp(report->subjects[k], subject) == 0;
		for (; from[n] && from[n] != '.' && n < ID_SIZE - 8; n++)
			id[n] = strchr("\"'<>&%# \t", from[n]) || from[n] & 0x80 ? '-' : from[n];
		id[n] = '\0';
		if (n_before)
			snprintf(id + n, ID_SIZE - n, "-%zu", n_before + 1);
		snprintf(command, sizeof(command), "redrace play %s", subject);
		rr_counterpart_show(&counterpart, trace.race, &article);
		rr_draw_article(out, &trace, &article);
	} else if (error->kind == RR_ERROR_SKIPPED) {
		rr_xml_print(out, "<h2>%s</h2>\n<p><strong>Skipped: %s.</strong></p>\n", subject,
			     error->text);
		good = rr_error_set_aside(error, RR_ERROR_SKIPPED);
	}
	rr_counterpart_free(&counterpart);
	rr_trace_free(&trace);
	rr_race_free(race);
	return good;
}

bool rr_report_write(FILE *out, const struct rr_report *report, struct rr_cluster *cluster,
		     bool *as_written, struct rr_error *error)
{
	bool good = true;

	*as_written = true;
	rr_page_begin(out, report->n_subjects == 1 ? report->subjects[0] : "redrace: a report",
		      NULL);
	if (report->n_subjects > 1)
		fputs("<h1>Report</h1>\n", out);
	for (size_t i = 0; good && i < report->n_subjects; i++)
		good = rr_report_is_results(report->subjects[i]) ?
			       rr_report_results(out, report->subjects[i], error) :
			       write_race(out, report, i, cluster, as_written, error);
	rr_page_end(out, rr_race_script);
	return good;
}
