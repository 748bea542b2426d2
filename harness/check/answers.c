/* SPDX-License-Identifier: MIT */
#include "answers.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/marks.h"

enum { WORDS_SHOWN = 40 };

static bool matches(const char *expression, const char *text)
{
	regex_t pattern;
	bool does;

	if (regcomp(&pattern, expression, REG_EXTENDED | REG_NOSUB))
		return false;
	does = regexec(&pattern, text, 0, NULL, 0) == 0;
	regfree(&pattern);
	return does;
}

static bool is_refusal(const char *refused, int status, const char *text)
{
	static const char http[] = "^HTTP/[0-9.]+ (409|423|425|429|503)|"
				   "(^|[^0-9])(409|423|425|429|503)[[:space:]]*$";

	return status != 0 || matches(http, text) || (refused && matches(refused, text));
}

/* Behind RR_MARK_RECORD: "2 0", and on the next line what was printed. */
static struct rr_request_end read_record(struct rr_endings *endings, const char *refused,
					 const char *record)
{
	const size_t length = strcspn(record, (char[]){ RR_MARK_RECORD, '\0' });
	const size_t heading = strcspn(record, "\n");
	struct rr_request_end end = { .ending = -1 };
	int status;
	char *text;

	if (heading >= length || sscanf(record, "%*u %d", &status) != 1)
		return end;
	text = rr_strndup(record + heading + 1, length - heading - 1);
	end.is_good = !is_refusal(refused, status, text);
	end.ending = rr_endings_put(endings, status << 8, text);
	free(text);
	return end;
}

struct rr_request_end rr_answers_get(struct rr_endings *endings, const char *refused, long ending,
				     size_t request)
{
	const char *at = rr_endings_get(endings, (uint32_t)ending).output;

	while ((at = strchr(at, RR_MARK_RECORD))) {
		if (strtoul(++at, NULL, 10) == request + 1)
			return read_record(endings, refused, at);
	}
	return (struct rr_request_end){ .ending = -1 };
}

bool rr_answers_are_same(struct rr_endings *endings, size_t n_requests, long a, long b)
{
	bool are = true;

	for (size_t i = 0; i < n_requests && a != b && are; i++) {
		const struct rr_request_end one = rr_answers_get(endings, NULL, a, i);
		const struct rr_request_end other = rr_answers_get(endings, NULL, b, i);

		are = (one.ending < 0) == (other.ending < 0) &&
		      (one.ending < 0 ||
		       rr_endings_are_same(endings, (uint32_t)one.ending, (uint32_t)other.ending));
	}
	return are;
}

void rr_answers_vary(struct rr_endings *endings, size_t n_requests, long a, long b)
{
	for (size_t i = 0; i < n_requests; i++) {
		const struct rr_request_end one = rr_answers_get(endings, NULL, a, i);
		const struct rr_request_end other = rr_answers_get(endings, NULL, b, i);

		if (one.ending >= 0 && other.ending >= 0)
			rr_endings_vary(endings, (uint32_t)one.ending, (uint32_t)other.ending);
	}
}

/* ---- In words ------------------------------------------------------------------------ */

/* Of curl: what stands behind -X, or what follows from the other options. */
static struct rl_word method_of(const char *command)
{
	const char *option = strstr(command, " -X");
	struct rl_word method = { .text = option ? option + 3 : "" };

	method.text += strspn(method.text, " '\"");
	method.length = strspn(method.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	if (method.length > 0)
		return method;
	return strstr(command, " -d") || strstr(command, " --data") ?
		       (struct rl_word){ "POST", 4 } :
		       (struct rl_word){ "GET", 3 };
}

/* The program without its folder. */
static struct rl_word program_of(const char *command)
{
	const size_t length = strcspn(command, " ");
	size_t from = length;

	while (from > 0 && command[from - 1] != '/')
		from--;
	return (struct rl_word){ command + from, length - from };
}

char *rr_request_words(const char *command)
{
	static const char app[] = "{app}";
	const char *at = strstr(command, app), *path = at ? at + strlen(app) : "";
	const bool is_curl = strncmp(command, "curl ", 5) == 0;
	const struct rl_word first = is_curl ? method_of(command) : program_of(command);
	const size_t length = strcspn(path, " '\"|;");

	if (!at)
		return rr_strndup(command, WORDS_SHOWN);
	return rr_asprintf("%.*s %.*s", (int)first.length, first.text,
			   length < WORDS_SHOWN ? (int)length : WORDS_SHOWN, path);
}

char *rr_answer_words(struct rr_ending answer)
{
	const size_t length = strcspn(answer.output, "\r\n");
	const int shown = length < WORDS_SHOWN ? (int)length : WORDS_SHOWN;

	if (!answer.status)
		return rr_asprintf("%.*s", shown, length ? answer.output : "nothing");
	return rr_asprintf("%.*s%sexit %d", shown, answer.output, length ? ", " : "",
			   answer.status >> 8);
}
