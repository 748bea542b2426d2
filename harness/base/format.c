/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <string.h>
#include <strings.h>

#include "files.h"
#include "text.h"

const char *const rr_format_names[RR_FORMATS] = {
	[RR_FORMAT_TEXT] = "text",       [RR_FORMAT_JSON] = "json",
	[RR_FORMAT_JUNIT] = "junit",     [RR_FORMAT_TAP] = "tap",
	[RR_FORMAT_GITHUB] = "github",   [RR_FORMAT_MARKDOWN] = "markdown",
	[RR_FORMAT_HTML] = "html",       [RR_FORMAT_SVG] = "svg",
	[RR_FORMAT_MERMAID] = "mermaid", [RR_FORMAT_RACE] = "race",
	[RR_FORMAT_GOBENCH] = "gobench",
};

static const struct suffix {
	const char *suffix;
	enum rr_format format;
} suffixes[] = {
	{ ".txt", RR_FORMAT_TEXT },        { ".md", RR_FORMAT_MARKDOWN },
	{ ".svg", RR_FORMAT_SVG },         { ".html", RR_FORMAT_HTML },
	{ ".json", RR_FORMAT_JSON },       { ".xml", RR_FORMAT_JUNIT },
	{ ".tap", RR_FORMAT_TAP },         { ".mmd", RR_FORMAT_MERMAID },
	{ ".mermaid", RR_FORMAT_MERMAID }, { ".race", RR_FORMAT_RACE },
};

enum { N_SUFFIXES = sizeof(suffixes) / sizeof(suffixes[0]) };

static bool is_one_of(unsigned formats, size_t format)
{
	return formats >> format & 1;
}

bool rr_format_find(const char *name, unsigned formats, enum rr_format *format)
{
	for (size_t i = 0; i < RR_FORMATS; i++) {
		if (is_one_of(formats, i) && strcmp(name, rr_format_names[i]) == 0) {
			*format = (enum rr_format)i;
			return true;
		}
	}
	return false;
}

bool rr_format_of_file(const char *path, unsigned formats, enum rr_format *format)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *suffix = strrchr(name, '.');

	*format = RR_FORMATS;
	if (!suffix || suffix == name)
		return true;
	for (size_t i = 0; i < N_SUFFIXES; i++) {
		if (is_one_of(formats, suffixes[i].format) &&
		    strcasecmp(suffix, suffixes[i].suffix) == 0)
			*format = suffixes[i].format;
	}
	return *format != RR_FORMATS;
}

/* ---- Lists --------------------------------------------------------------- */

const char *rr_format_list(unsigned formats, char list[RR_FORMAT_LIST])
{
	const char *names[RR_FORMATS];
	size_t n = 0;

	for (size_t i = 0; i < RR_FORMATS; i++) {
		if (is_one_of(formats, i))
			names[n++] = rr_format_names[i];
	}
	return rr_list_words(list, RR_FORMAT_LIST, names, n);
}

const char *rr_format_suffixes(unsigned formats, char list[RR_FORMAT_LIST])
{
	const char *names[N_SUFFIXES];
	size_t n = 0;

	for (size_t i = 0; i < N_SUFFIXES; i++) {
		if (is_one_of(formats, suffixes[i].format))
			names[n++] = suffixes[i].format == RR_FORMAT_JUNIT ? ".xml (JUnit)" :
									     suffixes[i].suffix;
	}
	return rr_list_words(list, RR_FORMAT_LIST, names, n);
}

/* ---- Where results go ---------------------------------------------------- */

bool rr_outputs_add(struct rr_outputs *outputs, const char *path, unsigned formats,
		    struct rr_error *error)
{
	struct rr_output *file = &outputs->files[outputs->n];
	char list[RR_FORMAT_LIST];

	if (outputs->n == RR_OUTPUTS_MAX)
		return rr_error_set(error, RR_ERROR_USAGE, "more than %d times --output",
				    RR_OUTPUTS_MAX);
	if (!rr_format_of_file(path, formats, &file->format))
		return rr_error_set(error, RR_ERROR_USAGE, "--output '%s': expected %s at its end",
				    path, rr_format_suffixes(formats, list));
	file->path = path;
	outputs->n++;
	return rr_files_can_write(path, error);
}

void rr_outputs_drop(struct rr_outputs *outputs, unsigned formats)
{
	size_t kept = 0;

	for (size_t i = 0; i < outputs->n; i++) {
		const struct rr_output file = outputs->files[i];

		if (!is_one_of(formats, file.format == RR_FORMATS ? outputs->printed : file.format))
			outputs->files[kept++] = file;
	}
	outputs->n = kept;
}

bool rr_outputs_have(const struct rr_outputs *outputs, unsigned formats)
{
	bool has = is_one_of(formats, outputs->printed);

	for (size_t i = 0; i < outputs->n; i++)
		has |= outputs->files[i].format != RR_FORMATS &&
		       is_one_of(formats, outputs->files[i].format);
	return has;
}
