/* SPDX-License-Identifier: MIT */
/* What a table of options says of itself: the help page, the manual page, and
 * what can be typed next. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "option.h"
#include "text.h"
#include "version.h"

enum { HELP_COLUMN = 26, NAME_SIZE = 120 };

/* What every command has. */
static const struct rr_option general_options[] = {
	{ .help = "General" },
	{ .name = "help",
	  .letter = 'h',
	  .help = "print this help and exit; with =all, every option" },
	{ .name = "version", .letter = 'V', .help = "print the version and exit" },
};

enum { N_GENERAL = sizeof(general_options) / sizeof(general_options[0]) };

/* Rows of the table, and behind them the general ones; false: no more. */
static bool option_at(const struct rr_command_line *line, size_t index, struct rr_option *option)
{
	size_t n = 0;

	if (rr_option_at(line, index, option))
		return true;
	while (rr_option_at(line, n, option))
		n++;
	if (index - n < N_GENERAL)
		*option = general_options[index - n];
	return index - n < N_GENERAL;
}

/* A line or paragraph of `text`, which moves on behind it; false: none is
 * left. The caller frees the copy. */
static char *cut_part(const char **text, const char *separator)
{
	const size_t length = *text ? strcspn(*text, separator) : 0;
	char *part = length ? rr_strndup(*text, length) : NULL;

	if (*text)
		*text += length + ((*text)[length] != '\0');
	return part;
}

char *rr_option_help(const struct rr_option *option)
{
	const char *(*const list_of)(unsigned, char *) = option->common == RR_OPTION_OUTPUT ?
								 rr_format_suffixes :
								 rr_format_list;
	const char *at = strstr(option->help, "%s");
	char list[RR_FORMAT_LIST], pictures[RR_FORMAT_LIST] = "";

	if (!at)
		return rr_strdup(option->help);
	/* "text, json or junit; or a picture of the schedule: svg or race". */
	list_of(option->formats & ~option->pictures, list);
	if (option->pictures)
		list_of(option->pictures, pictures);
	return rr_asprintf("%.*s%s%s%s%s", (int)(at - option->help), option->help, list,
			   option->pictures ? "; or a picture of the schedule: " : "", pictures,
			   at + strlen("%s"));
}

/* Malloc'd. */
static char *help_of(const struct rr_option *option)
{
	char *help = rr_option_help(option);
	char *whole = rr_asprintf("%s%s", help, option->repeats ? "; may be repeated" : "");

	free(help);
	return whole;
}

/* ---- The help page ------------------------------------------------------ */

/* "  -f, --format FORMAT" as wide as the column, or a line of its own; then the help. */
static void print_option(const struct rr_option *option, const char *help, FILE *out)
{
	const char letter[] = { '-', option->letter, ',', ' ', '\0' };
	char name[NAME_SIZE];
	int width;

	snprintf(name, sizeof(name), "  %s--%s%s%s", option->letter ? letter : "    ", option->name,
		 option->argument ? " " : "", option->argument ? option->argument : "");
	width = fprintf(out, "%-*s", HELP_COLUMN - 2, name);
	if (width > HELP_COLUMN - 2)
		fprintf(out, "\n%*s", HELP_COLUMN, "");
	else
		fputs("  ", out);
	rr_print_wrapped(out, help, HELP_COLUMN, HELP_COLUMN);
}

static void print_usage(const struct rr_command_line *line, const char *program, FILE *out)
{
	fprintf(out, "Usage: %s [OPTION...]%s%s\n", program, line->arguments ? " " : "",
		line->arguments ? line->arguments : "");
}

static void print_examples(const struct rr_command_line *line, FILE *out)
{
	const char *examples = line->examples;
	char *part;

	if (examples)
		fputs("\nExamples:\n", out);
	for (; (part = cut_part(&examples, "\n")); free(part))
		fprintf(out, "  %s\n", part);
}

void rr_command_line_help_all(const struct rr_command_line *line, const char *program, FILE *out)
{
	const char *about = line->about;
	struct rr_option option;
	char *part;

	print_usage(line, program, out);
	for (; (part = cut_part(&about, "\v")); free(part)) {
		fputc('\n', out);
		rr_print_wrapped(out, part, 0, 0);
	}
	if (rr_option_at(line, 0, &option) && option.name)
		fputs("\nOptions:\n", out);
	for (size_t i = 0; option_at(line, i, &option); i++) {
		if (option.name) {
			char *help = help_of(&option);

			print_option(&option, help, out);
			free(help);
		} else {
			fprintf(out, "\n%s:\n", option.help);
		}
	}
	print_examples(line, out);
}

void rr_command_line_help(const struct rr_command_line *line, const char *program, FILE *out)
{
	const char *about = line->about;
	char *first;

	if (!line->brief) {
		rr_command_line_help_all(line, program, out);
		return;
	}
	print_usage(line, program, out);
	first = cut_part(&about, "\v");
	fputc('\n', out);
	rr_print_wrapped(out, first, 0, 0);
	free(first);
	print_examples(line, out);
	fputs("\nOptions that most users need:\n", out);
	for (size_t i = 0; i < line->n_brief; i++) {
		struct rr_option option;

		for (size_t j = 0; rr_option_at(line, j, &option); j++) {
			if (option.name && strcmp(option.name, line->brief[i].name) == 0)
				print_option(&option, line->brief[i].help, out);
		}
	}
	fprintf(out, "\n'%s --help=all' shows every option.\n", program);
}

void rr_command_line_answer(const struct rr_command_line *line, int key, const char *word,
			    const char *program)
{
	if (key == 'V')
		printf("redrace %s (%s)\n", RR_VERSION, RR_COMMIT);
	else if (word)
		rr_command_line_help_all(line, program, stdout);
	else
		rr_command_line_help(line, program, stdout);
	exit(rr_finish_output(RR_EXIT_OK));
}

/* ---- The manual page ---------------------------------------------------- */

/* What roff would take for its own, or print as another character. */
static const char *escape_of(char c, bool begins_word, bool begins_line)
{
	if (c == '\\')
		return "\\e";
	if (c == '\'')
		return "\\(aq";
	if (c == '`')
		return "\\(ga";
	if (c == '-' && begins_word)
		return "\\-";
	return c == '.' && begins_line ? "\\&." : NULL;
}

static void write_escaped(const char *text, size_t length, FILE *out)
{
	for (size_t i = 0; i < length; i++) {
		const bool begins_word = i == 0 || strchr(" '-", text[i - 1]);
		const char *escape = escape_of(text[i], begins_word, i == 0);

		if (escape)
			fputs(escape, out);
		else
			fputc(text[i], out);
	}
}

static void write_text(const char *text, FILE *out)
{
	while (*text) {
		const char *begin = text;

		write_escaped(begin, rr_plain_line(&text, 76), out);
		fputc('\n', out);
	}
}

void rr_command_line_manual(const struct rr_command_line *line, const char *name,
			    const char *summary, FILE *out)
{
	const char *about = line->about, *examples = line->examples;
	char *part;

	fprintf(out, ".\\\" Made by 'redrace help --man %s'.\n", name);
	fprintf(out, ".Dd %s\n.Dt REDRACE-", RR_DATE);
	for (const char *c = name; *c; c++)
		fputc(toupper((unsigned char)*c), out);
	fprintf(out, " 1\n.Os\n.Sh NAME\n.Nm redrace-%s\n.Nd %s\n", name, summary);
	fprintf(out, ".Sh SYNOPSIS\n.Nm redrace %s\n.Op Ar OPTION ...\n", name);
	if (line->arguments)
		write_text(line->arguments, out);
	fputs(".Sh DESCRIPTION\n", out);
	for (bool is_first = true; (part = cut_part(&about, "\v")); is_first = false, free(part)) {
		if (!is_first)
			fputs(".Pp\n", out);
		write_text(part, out);
	}

	struct rr_option option;
	bool is_list = false;

	fputs(".Sh OPTIONS\n", out);
	for (size_t i = 0; option_at(line, i, &option); i++) {
		if (!option.name && is_list)
			fputs(".El\n", out);
		if (!option.name)
			fprintf(out, ".Ss %s\n", option.help);
		if (!option.name || !is_list)
			fputs(".Bl -tag -width Ds\n", out);
		is_list = true;
		if (option.name) {
			char *help;

			fputs(".It ", out);
			if (option.letter)
				fprintf(out, "Fl %c , ", option.letter);
			fprintf(out, "Fl \\-%s", option.name);
			if (option.argument)
				fprintf(out, " Ar %s", option.argument);
			fputc('\n', out);
			help = help_of(&option);
			write_text(help, out);
			free(help);
		}
	}
	fputs(".El\n", out);
	fputs(".Sh EXIT STATUS\nThat of\n.Xr redrace 1 .\n", out);
	if (examples)
		fputs(".Sh EXAMPLES\n", out);
	for (; (part = cut_part(&examples, "\n")); free(part)) {
		fputs(".Dl ", out);
		write_escaped(part, strlen(part), out);
		fputc('\n', out);
	}
	fputs(".Sh SEE ALSO\n.Xr redrace 1 ,\n.Xr redrace-race 5\n", out);
}

/* ---- Completion --------------------------------------------------------- */

static bool is_option_word(const struct rr_option *option, const char *word)
{
	if (!option->name || word[0] != '-')
		return false;
	if (word[1] == '-')
		return strcmp(word + 2, option->name) == 0;
	return option->letter && word[1] == option->letter && !word[2];
}

/* What "FILE", "PATH|..." and "DIR" stand for. */
static void suggest_files(const char *argument, FILE *out)
{
	if (strstr(argument, "FILE") || strstr(argument, "PATH") || strstr(argument, "COMMAND"))
		fputs("@files\n", out);
	else if (strstr(argument, "DIR"))
		fputs("@directories\n", out);
}

static void suggest_values(const struct rr_option *option, FILE *out)
{
	const char *name;

	for (size_t i = 0; i < option->n_words; i++)
		fprintf(out, "%s\n", option->words[i]);
	for (size_t i = 0; i < RR_FORMATS; i++) {
		if (option->kind == RR_TAKES_FORMAT && option->formats & RR_ONLY(i))
			fprintf(out, "%s\n", rr_format_names[i]);
	}
	for (size_t i = 0; option->name_at && (name = option->name_at(i)); i++)
		fprintf(out, "%s\n", name);
	suggest_files(option->argument, out);
}

static void suggest_names(const struct rr_command_line *line, FILE *out)
{
	size_t n = 0;
	char **names = line->find_names ? line->find_names(&n) : NULL;
	const char *name;

	for (size_t i = 0; line->name_at && (name = line->name_at(i)); i++)
		fprintf(out, "%s\n", name);
	for (size_t i = 0; names && i < n; i++) {
		fprintf(out, "%s\n", names[i]);
		free(names[i]);
	}
	free(names);
	if (line->arguments)
		suggest_files(line->arguments, out);
}

void rr_command_line_complete(const struct rr_command_line *line, size_t n, char *const *words,
			      FILE *out)
{
	const char *last = n ? words[n - 1] : "";
	struct rr_option option;

	for (size_t i = 0; option_at(line, i, &option); i++) {
		if (option.argument && is_option_word(&option, last)) {
			suggest_values(&option, out);
			return;
		}
	}
	for (size_t i = 0; option_at(line, i, &option); i++) {
		if (option.letter)
			fprintf(out, "-%c\n", option.letter);
		if (option.name)
			fprintf(out, "--%s\n", option.name);
	}
	suggest_names(line, out);
}
