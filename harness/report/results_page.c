/* SPDX-License-Identifier: MIT */
/* A results directory of bench as a section of a page: what came of it in a sentence,
 * the table, on what it was measured, and the plots. */
#include "report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/files.h"
#include "base/markdown.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- In a sentence ------------------------------------------------------- */

static size_t count_verdicts(const struct rr_csv *csv, const char *verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < csv->n_rows; i++)
		n += strcmp(rr_csv_cell(csv, i, "verdict"), verdict) == 0;
	return n;
}

/* ---- The table ----------------------------------------------------------- */

enum unit { TEXT, COUNT, DURATION, RATIO, INTERVAL };

static const struct {
	const char *title, *column;
	enum unit unit;
} shown[] = {
	{ "strategy", "strategy", TEXT },
	{ "threads", "threads", COUNT },
	{ "processes", "processes", COUNT },
	{ "lost", "lost_median", COUNT },
	{ "increments/s", "increments_per_s_median", COUNT },
	{ "from, to", "increments_per_s_low", INTERVAL },
	{ "p50", "lat_p50_ns_median", DURATION },
	{ "p99", "lat_p99_ns_median", DURATION },
	{ "commands/inc", "commands_per_increment_median", RATIO },
	{ "verdict", "verdict", TEXT },
};

/* Whole numbers are exact up to here. */
static const double FIGURE_MAX = 9007199254740992.0;

enum { N_SHOWN = sizeof(shown) / sizeof(shown[0]) };

/* Nothing where repeats do not differ. */
static void print_interval(FILE *out, double low, double high)
{
	char from[RR_GROUPED_SIZE], to[RR_GROUPED_SIZE];

	if (low < high && high < FIGURE_MAX)
		fprintf(out, "%s–%s", rr_grouped(from, (long long)(low + 0.5)),
			rr_grouped(to, (long long)(high + 0.5)));
}

static void print_results(FILE *out, const struct rr_csv *csv)
{
	fputs("Medians of all repeats; from, to: the interval of the increments/s, or the range of "
	      "five repeats or fewer:\n\n|",
	      out);
	for (size_t i = 0; i < N_SHOWN; i++)
		fprintf(out, " %s |", shown[i].title);
	fputs("\n|", out);
	for (size_t i = 0; i < N_SHOWN; i++)
		fputs(shown[i].unit == TEXT ? "---|" : "--:|", out);
	for (size_t row = 0; row < csv->n_rows; row++) {
		fputs("\n|", out);
		for (size_t i = 0; i < N_SHOWN; i++) {
			putc(' ', out);

			const char *text = rr_csv_cell(csv, row, shown[i].column);
			enum unit unit = shown[i].unit;
			char buffer[RR_GROUPED_SIZE];
			const double value = strtod(text, NULL);

			/* A number that no figure of a run can have is shown as it was found. */
			if (!*text || unit == TEXT || !(value >= 0 && value < FIGURE_MAX))
				rr_markdown_text(out, text);
			else if (unit == COUNT)
				fputs(rr_grouped(buffer, (long long)(value + 0.5)), out);
			else if (unit == INTERVAL)
				print_interval(
					out, value,
					strtod(rr_csv_cell(csv, row, "increments_per_s_high"),
					       NULL));
			else if (unit == DURATION)
				fputs(rr_duration(buffer, (uint64_t)value), out);
			else
				fprintf(out, "%.1f", value);
			fputs(" |", out);
		}
	}
	fputs("\n\n", out);
}

/* ---- Plots --------------------------------------------------------------- */

bool rr_report_image(FILE *out, const char *path, const char *alt, bool plot,
		     struct rr_error *error)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length;
	char *bytes = rr_files_read(path, RR_ERROR_DATA, 64, &length, error);

	if (!bytes)
		return false;
	fprintf(out, "<img%s ", plot ? " class=\"plotted\"" : "");
	rr_xml_print(out, "alt=\"%s\" src=\"data:image/%s;base64,", alt,
		     rr_ends_in(path, ".png") ? "png" : "svg+xml");
	for (size_t i = 0; i < length; i += 3) {
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < length ? (unsigned char)bytes[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			putc(k > length - i ? '=' : digits[bits >> (18 - 6 * k) & 63], out);
	}
	fputs("\"/>", out);
	free(bytes);
	return true;
}

bool rr_report_plots(FILE *out, const char *directory, struct rr_error *error)
{
	static const char label[] = "aria-label=\"";
	char path[2 * RR_PATH_SIZE];
	bool good = true;
	struct stat info;
	size_t n, length;
	char **names = rr_files_list(directory, ".svg", &n);

	if (n == 0)
		fputs("<p class=\"quiet\">No plots were drawn there: <code>sh plots/draw DIR</code> draws them.</p>\n",
		      out);
	fputs("<div class=\"plots\">\n", out);
	for (size_t i = 0; good && i < n; i++) {
		char *svg, *words;
		const char *from;

		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		/* A link might bring any file of the user's into the page. */
		if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode))
			continue;
		svg = rr_files_read(path, RR_ERROR_DATA, 64, &length, error);
		good = svg != NULL;
		if (!good)
			break;
		from = strstr(svg, label);
		from = from ? from + strlen(label) : "A plot";
		words = rr_strndup(from, strcspn(from, "\""));
		fputs("<figure class=\"plot\" tabindex=\"0\">", out);
		good = rr_report_image(out, path, words, true, error);
		rr_xml_print(out, "<figcaption>%s</figcaption></figure>\n", words);
		free(words);
		free(svg);
	}
	fputs("</div>\n", out);
	rr_files_free_list(names, n);
	return good;
}

/* ---- On what ------------------------------------------------------------- */

/* Without env.json there is nothing to say. */
static void print_environment(FILE *out, const char *directory)
{
	char path[RR_PATH_SIZE], *command;
	json_t *root, *object, *value;
	const char *name, *key;

	snprintf(path, sizeof(path), "%s/env.json", directory);
	root = json_load_file(path, 0, NULL);
	if (!root)
		return;
	command = rr_plain(json_string_value(json_object_get(root, "command_line")));
	fprintf(out, "**How it was measured**\n\n    %s\n\n| part | values |\n|---|---|\n",
		command ? command : "");
	free(command);
	json_object_foreach(root, name, object) {
		if (!json_is_object(object))
			continue;
		rr_markdown_print(out, "| %s |", name);
		json_object_foreach(object, key, value) {
			char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

			if (!json_is_null(value))
				rr_markdown_print(out, " %s: %s;", key,
						  json_is_string(value) ? json_string_value(value) :
									  text);
			free(text);
		}
		fputs(" |\n", out);
	}
	json_decref(root);
}

/* ---- All of it ----------------------------------------------------------- */

bool rr_report_is_results(const char *subject)
{
	char path[RR_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/summary.csv", subject);
	return access(path, F_OK) == 0;
}

bool rr_report_results(FILE *out, const char *directory, struct rr_error *error)
{
	static const char *const classes[][2] = { { ">violated</td>", "breaks" }, { NULL, NULL } };
	const struct rr_markdown how = { .classes = classes };
	char path[RR_PATH_SIZE], *text;
	struct rr_csv csv;
	FILE *markdown;
	bool good;

	snprintf(path, sizeof(path), "%s/summary.csv", directory);
	if (!rr_csv_read(&csv, path, error))
		return false;
	markdown = rr_open_text(&text);
	rr_markdown_print(markdown, "## Results: %s\n\n", directory);

	/* Rows of the table are called results: a strategy has one for each number of threads. */
	const size_t violated = count_verdicts(&csv, "violated");
	const size_t inconclusive = count_verdicts(&csv, "inconclusive");
	const size_t exact = count_verdicts(&csv, "exact");
	const size_t failed_over = count_verdicts(&csv, "lost-by-fail-over");

	/* What lost something, as expected or not, and what showed nothing is not good. */
	fprintf(markdown, "**%s%zu result%s: %zu exact, %zu lossy as expected",
		violated            ? "✗ " :
		exact == csv.n_rows ? "✓ " :
				      "",
		csv.n_rows, csv.n_rows == 1 ? "" : "s", exact, count_verdicts(&csv, "lossy"));
	if (failed_over)
		fprintf(markdown, ", %zu lost by fail-over", failed_over);
	if (violated)
		fprintf(markdown, ", %zu violated", violated);
	if (inconclusive)
		fprintf(markdown, ", %zu inconclusive", inconclusive);
	fputs(".**\n\n", markdown);
	print_results(markdown, &csv);
	print_environment(markdown, directory);
	fclose(markdown);
	fputs("<section class=\"results\">\n", out);
	rr_markdown_print_html(out, text, &how);
	snprintf(path, sizeof(path), "%.1000s/plots", directory);
	good = rr_report_plots(out, path, error);
	fputs("</section>\n", out);
	rr_csv_free(&csv);
	return good;
}
