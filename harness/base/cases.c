/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "files.h"
#include "machine.h"
#include "memory.h"
#include "text.h"

/* Of what a client printed, in bytes. */
enum { OUTPUT_SHOWN = 16 * 1024 };

const char *const rr_case_verdict_names[RR_CASE_VERDICTS] = {
	[RR_CASE_PASSED] = "passed",   [RR_CASE_FAILED] = "failed",
	[RR_CASE_ERROR] = "error",     [RR_CASE_INCONCLUSIVE] = "inconclusive",
	[RR_CASE_SKIPPED] = "skipped",
};

enum rr_case_verdict rr_case_verdict_of(enum rr_exit code)
{
	switch (code) {
	case RR_EXIT_OK:
		return RR_CASE_PASSED;
	case RR_EXIT_VIOLATED:
	case RR_EXIT_SLOW:
		return RR_CASE_FAILED;
	case RR_EXIT_INCONCLUSIVE:
	case RR_EXIT_INTERRUPTED:
		return RR_CASE_INCONCLUSIVE;
	case RR_EXIT_SKIPPED:
		return RR_CASE_SKIPPED;
	default:
		return RR_CASE_ERROR;
	}
}

/* ---- Texts that can be written anywhere ----------------------------------- */

/* Takes the sequences out that give a terminal colours. */
static void strip_colours(char *text)
{
	char *to = text;

	while (*text) {
		if (text[0] == '\033' && text[1] == '[') {
			text += 2;
			text += strcspn(text, "m");
			text += *text == 'm';
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/* One line of it; malloc'd. */
static char *clean_line(const char *line, size_t length)
{
	char *copy = rr_strndup(line, length);
	char *clean;

	strip_colours(copy);
	clean = rr_plain(copy);
	free(copy);
	return clean;
}

/* Lines of printable UTF-8, malloc'd; of NULL NULL. */
static char *clean_lines(const char *text)
{
	char *clean = NULL;
	FILE *out = text ? rr_open_text(&clean) : NULL;

	while (text && *text) {
		const char *line = text;
		char *plain = clean_line(line, rr_take_line(&text));

		fprintf(out, "%s%s", plain, *text ? "\n" : "");
		free(plain);
	}
	if (out)
		fclose(out);
	return clean;
}

json_t *rr_case_text(const char *text)
{
	char *clean = text && *text ? clean_lines(text) : NULL;
	json_t *json = clean ? json_string(clean) : json_null();

	free(clean);
	return json;
}

/* Bytes that are no text in UTF-8, or have a byte 0, which few readers of JSON take, are an object. */
static json_t *json_of_bytes(const char *bytes, size_t length)
{
	json_t *json = memchr(bytes, '\0', length) ? NULL : json_stringn(bytes, length);
	char *hex;
	FILE *out;

	if (json)
		return json;
	out = rr_open_text(&hex);
	for (size_t i = 0; i < length; i++)
		fprintf(out, "%02x", (unsigned char)bytes[i]);
	fclose(out);
	json = json_pack("{s:s}", "hex", hex);
	free(hex);
	return json;
}

json_t *rr_case_lines(const char *text)
{
	json_t *lines = json_array();

	while (text && *text) {
		const char *line = text;
		char *one = rr_strndup(line, rr_take_line(&text));

		json_array_append_new(lines, rr_case_text(one));
		free(one);
	}
	return lines;
}

/* Of a long output the head. */
json_t *rr_case_ending(const struct rr_case_ending *ending)
{
	const bool has_ended = ending->status >= 0;
	const int signal = has_ended ? ending->status & 127 : 0;
	const size_t shown = ending->length < OUTPUT_SHOWN ? ending->length : OUTPUT_SHOWN;
	char *head = rr_text_of_bytes(ending->output, shown), digest[17];
	json_t *json;

	snprintf(digest, sizeof(digest), "%016" PRIx64,
		 rr_bytes_digest(0, ending->output, ending->length));
	json = json_pack("{s:s*, s:o, s:o, s:o, s:o, s:I, s:s}", "client", ending->client,
			 "exit_status",
			 has_ended && !signal ? json_integer(ending->status >> 8) : json_null(),
			 "signal", signal ? json_integer(signal) : json_null(), "http_status",
			 ending->http ? json_integer(ending->http) : json_null(), "output",
			 rr_case_text(head), "output_bytes", (json_int_t)ending->length,
			 "output_digest", digest);
	free(head);
	return json;
}

json_t *rr_case_step(const struct rr_case_step *step)
{
	json_t *command = step->n_words ? json_array() : json_null();

	for (size_t i = 0; i < step->n_words; i++)
		json_array_append_new(command,
				      json_of_bytes(step->words[i].text, step->words[i].length));
	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "number",
			 step->number ? json_integer((json_int_t)step->number) : json_null(),
			 "kind", step->kind, "client", rr_case_text(step->client), "connection",
			 step->connection ? json_integer((json_int_t)step->connection) :
					    json_null(),
			 "server", rr_case_text(step->server), "command", command, "text",
			 rr_case_text(step->text), "reply", rr_case_text(step->reply), "fault",
			 rr_case_text(step->fault), "ns",
			 step->ns ? json_integer((json_int_t)step->ns) : json_null());
}

/* ---- The list -------------------------------------------------------------- */

void rr_cases_init(struct rr_cases *cases, const char *command)
{
	*cases = (struct rr_cases){
		.command = rr_strdup(command),
		.begun = rr_clock_s(),
		.properties = json_object(),
	};
}

const char *rr_version_number(const char *version)
{
	return version + strcspn(version, "0123456789");
}

void rr_cases_note_server(struct rr_cases *cases, const char *version)
{
	json_object_set_new(cases->properties, "redis_version",
			    json_string(rr_version_number(version)));
	json_object_set_new(cases->properties, "server", json_string(version));
}

void rr_cases_release(struct rr_cases *cases)
{
	for (size_t i = 0; i < cases->n; i++) {
		struct rr_case *one = &cases->cases[i];

		free((void *)one->suite);
		free((void *)one->name);
		free((void *)one->message);
		free((void *)one->details);
		free((void *)one->file);
		json_decref(one->properties);
	}
	free(cases->cases);
	free(cases->command);
	json_decref(cases->properties);
	*cases = (struct rr_cases){ 0 };
}

void rr_cases_add(struct rr_cases *cases, const struct rr_case *one)
{
	const char *message = one->message ? one->message : "";

	cases->cases = rr_realloc(cases->cases, cases->n + 1, sizeof(*cases->cases));
	cases->cases[cases->n++] = (struct rr_case){
		.suite = rr_plain(one->suite),
		.name = clean_line(one->name, strlen(one->name)),
		.verdict = one->verdict,
		.seconds = one->seconds,
		.message = clean_line(message, strlen(message)),
		.details = clean_lines(one->details),
		.file = one->file && access(one->file, R_OK) == 0 ? rr_plain(one->file) : NULL,
		.line = one->line,
		.properties = one->properties ? one->properties : json_object(),
	};
}

double rr_cases_age(const struct rr_cases *cases)
{
	return rr_clock_s() - cases->begun;
}

json_t *rr_case_error(const struct rr_error *error)
{
	return json_pack("{s:s, s:o}", "kind", rr_error_kind_name(error->kind), "text",
			 rr_case_text(error->text));
}

void rr_cases_add_error(struct rr_cases *cases, const char *suite, const char *name,
			const struct rr_error *error)
{
	const enum rr_exit code = rr_exit_of(error->kind);

	rr_cases_add(cases,
		     &(struct rr_case){ .suite = suite,
					.name = name,
					.verdict = rr_case_verdict_of(code),
					.seconds = rr_cases_age(cases),
					.message = error->text,
					.properties = json_pack("{s:i, s:o}", "exit", (int)code,
								"error", rr_case_error(error)) });
}

size_t rr_cases_count(const struct rr_cases *cases, enum rr_case_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < cases->n; i++)
		n += cases->cases[i].verdict == verdict;
	return n;
}

void rr_cases_summarise(const struct rr_cases *cases, FILE *file)
{
	static const char *const words[RR_CASE_VERDICTS] = {
		[RR_CASE_PASSED] = "passed",
		[RR_CASE_FAILED] = "failed",
		[RR_CASE_ERROR] = "could not be judged",
		[RR_CASE_INCONCLUSIVE] = "inconclusive",
		[RR_CASE_SKIPPED] = "skipped",
	};
	const char *between = "";

	for (int i = 0; i < RR_CASE_VERDICTS; i++) {
		const size_t n = rr_cases_count(cases, (enum rr_case_verdict)i);

		if (n == 0)
			continue;
		fprintf(file, "%s%zu %s", between, n, words[i]);
		between = ", ";
	}
	if (cases->n == 0)
		fputs("nothing was run", file);
}

/* ---- Publishing ------------------------------------------------------------ */

bool rr_outputs_write(const struct rr_outputs *outputs, rr_print *print, const void *what,
		      struct rr_error *error)
{
	/* Whoever reads it may not go on: meanwhile a signal ends the program. */
	sigset_t before;

	rr_signals_let(&before);
	print(what, outputs->printed, stdout, error);
	fflush(stdout);
	sigprocmask(SIG_SETMASK, &before, NULL);
	for (size_t i = 0; i < outputs->n; i++) {
		const struct rr_output *file = &outputs->files[i];
		struct rr_error why = { .kind = RR_ERROR_NONE };
		enum rr_format format = file->format == RR_FORMATS ? outputs->printed :
								     file->format;
		char *text = NULL;
		FILE *out = rr_open_text(&text);
		bool good;

		print(what, format, out, &why);
		fclose(out);
		strip_colours(text);
		good = !why.kind && rr_files_replace(file->path, text, strlen(text), &why);
		free(text);
		if (!good && !error->kind)
			*error = why;
	}
	return !error->kind;
}

/* What is published. */
struct publication {
	const struct rr_cases *cases;
	rr_print *print;
	const void *what;
};

static void print_publication(const void *what, enum rr_format format, FILE *out,
			      struct rr_error *error)
{
	const struct publication *publication = what;

	if (RR_CASE_FORMATS >> format & 1)
		rr_cases_print(publication->cases, format, out);
	else
		publication->print(publication->what, format, out, error);
}

bool rr_cases_publish(const struct rr_cases *cases, const struct rr_outputs *outputs,
		      rr_print *print, const void *what, struct rr_error *error)
{
	const struct publication publication = { cases, print, what };
	const char *summary = getenv("GITHUB_STEP_SUMMARY");
	struct rr_error why = { .kind = RR_ERROR_NONE };
	struct rr_outputs wanted = *outputs;
	char *text = NULL;
	size_t length;
	FILE *out;

	if (cases->is_called_off)
		wanted.n = 0;
	rr_outputs_write(&wanted, print_publication, &publication, error);
	if (rr_outputs_have(&wanted, RR_ONLY(RR_FORMAT_GITHUB)) && summary && *summary) {
		out = rr_open_memory(&text, &length);
		rr_cases_print_step(cases, out);
		fclose(out);
		if (!rr_files_append(summary, text, length, &why))
			rr_error_set(error, why.kind, "GITHUB_STEP_SUMMARY: %s", why.text);
		free(text);
	}
	return !error->kind;
}

/* ---- Reading what a command has written as JSON ---------------------------- */

static const char *text_in(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* malloc'd; NULL = there are none. */
static char *join_lines(const json_t *lines)
{
	char *text = NULL;
	size_t i;
	json_t *line;
	FILE *out = json_array_size(lines) ? rr_open_text(&text) : NULL;

	if (!out)
		return NULL;
	json_array_foreach(lines, i, line)
		fprintf(out, "%s%s", i ? "\n" : "",
			json_string_value(line) ? json_string_value(line) : "");
	fclose(out);
	return text;
}

static bool add_cases(struct rr_cases *cases, const json_t *root)
{
	const json_t *list = json_object_get(root, "cases");
	json_t *properties = json_object_get(root, "properties");
	json_t *entry;
	size_t i;

	cases->seconds = json_number_value(json_object_get(root, "seconds"));
	if (!json_is_array(list) || !json_is_object(properties))
		return false;
	json_object_update(cases->properties, properties);
	json_array_foreach(list, i, entry) {
		const char *verdict = text_in(entry, "verdict");
		char *details = join_lines(json_object_get(entry, "details"));
		int v = 0;

		while (v < RR_CASE_VERDICTS &&
		       (!verdict || strcmp(verdict, rr_case_verdict_names[v]) != 0))
			v++;

		struct rr_case one = {
			.suite = text_in(entry, "suite"),
			.name = text_in(entry, "name"),
			.verdict = (enum rr_case_verdict)v,
			.seconds = json_number_value(json_object_get(entry, "seconds")),
			.message = text_in(entry, "message"),
			.details = details,
			.file = text_in(entry, "file"),
			.line = json_integer_value(json_object_get(entry, "line")),
			.properties = json_object_get(entry, "properties"),
		};
		const bool good = one.suite && one.name && one.message &&
				  one.verdict != RR_CASE_VERDICTS && json_is_object(one.properties);

		if (good) {
			json_incref(one.properties);
			rr_cases_add(cases, &one);
		}
		free(details);
		if (!good)
			return false;
	}
	return true;
}

bool rr_cases_load(struct rr_cases *cases, const char *name, const char *text, size_t size,
		   struct rr_error *error)
{
	json_error_t why;
	json_t *root = json_loadb(text, size, 0, &why);
	const char *command = text_in(root, "command");

	if (!root)
		return rr_error_set(
			error, RR_ERROR_DATA,
			"'%s' has no results of redrace in it (line %d: %s): write them with -o FILE.json",
			name, why.line, why.text);
	rr_cases_init(cases, command ? command : "");
	if (!command || !add_cases(cases, root)) {
		rr_cases_release(cases);
		rr_error_set(error, RR_ERROR_DATA,
			     "'%s' has no results of redrace in it: write them with -o FILE.json",
			     name);
	}
	json_decref(root);
	return !error->kind;
}

bool rr_cases_read(struct rr_cases *cases, const char *path, struct rr_error *error)
{
	size_t size;
	char *text = rr_files_read(path, RR_ERROR_DATA, 1024, &size, error);
	const bool good = text && rr_cases_load(cases, path, text, size, error);

	free(text);
	return good;
}
