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

/* Of several headings, as a redirection or 100 Continue leaves them, the last one counts. 0 = the
 * text does not begin with any. */
static int status_in_headings(const char *text)
{
	int status = 0, next;

	while (sscanf(text, "HTTP/%*[0-9.] %3d", &next) == 1) {
		const char *lines = strstr(text, "\r\n\r\n"), *bare = strstr(text, "\n\n");

		status = next;
		if (!lines && !bare)
			return status;
		text = lines && (!bare || lines < bare) ? lines + 4 : bare + 2;
	}
	return status;
}

static bool is_in_quotes(const char *command, const char *at)
{
	bool is = false;

	for (; command < at; command++)
		is ^= *command == '\'' || *command == '"';
	return is;
}

/* Does the command, a single one, write the status out last? Ends of lines may follow. */
static bool ends_in_status(const char *command)
{
	static const char *const names[] = { "%{http_code}", "%{response_code}" };
	const char *name = NULL, *end;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !name; i++)
		name = strstr(command, names[i]);
	if (!name || strpbrk(command, ";|") || strstr(command, "&&"))
		return false;
	end = strchr(name, '}') + 1;
	while (strncmp(end, "\\n", 2) == 0)
		end += 2;
	return is_in_quotes(command, name) ? *end == '\'' || *end == '"' : *end == ' ' || !*end;
}

/* Where it cannot be anything else; 0 = nobody knows. */
static int http_status(const char *command, const char *text)
{
	const int status = status_in_headings(text);
	size_t length = strlen(text);

	if (status || !ends_in_status(command))
		return status;
	while (length > 0 && strchr("\r\n", text[length - 1]))
		length--;
	return length >= 3 ? atoi(text + length - 3) : 0;
}

static bool is_refusal(int status)
{
	return status == 409 || status == 423 || status == 425 || status == 429 || status == 503;
}

/* Behind RR_MARK_RECORD: "2 0", and on the next line what was printed. Its number; -1: it is
 * none. */
static long read_record(struct rr_endings *endings, const char *record)
{
	const size_t length = strcspn(record, (char[]){ RR_MARK_RECORD, '\0' });
	const size_t heading = strcspn(record, "\n");
	long ending;
	int status;
	char *text;

	if (heading >= length || sscanf(record, "%*u %d", &status) != 1)
		return -1;
	text = rr_strndup(record + heading + 1, length - heading - 1);
	ending = rr_endings_put(endings, status << 8, text);
	free(text);
	return ending;
}

/* Behind the mark; NULL = there is none. */
static const char *find_record(const struct rr_endings *endings, long ending, size_t number)
{
	const char *at = rr_endings_get(endings, (uint32_t)ending).output;

	while ((at = strchr(at, RR_MARK_RECORD))) {
		if (strtoul(++at, NULL, 10) == number)
			return at;
	}
	return NULL;
}

long rr_answers_get(struct rr_endings *endings, long ending, size_t request)
{
	const char *record = find_record(endings, ending, request + 1);

	return record ? read_record(endings, record) : -1;
}

bool rr_answers_miss_app(struct rr_endings *endings, long ending)
{
	return find_record(endings, ending, 0) != NULL;
}

struct rr_request_end rr_answers_judge(struct rr_endings *endings, long answer, const char *command,
				       const char *refused)
{
	struct rr_request_end end = { .ending = answer };
	struct rr_ending said;
	int status;

	if (answer < 0)
		return end;
	said = rr_endings_get(endings, (uint32_t)answer);
	status = http_status(command, said.output);
	end.is_good = said.status == 0 && !(refused && matches(refused, said.output)) &&
		      !is_refusal(status);
	end.has_failed = end.is_good && status >= 500;
	return end;
}

bool rr_answers_are_same(struct rr_endings *endings, size_t n_requests, long a, long b)
{
	bool are = true;

	for (size_t i = 0; i < n_requests && a != b && are; i++) {
		const long one = rr_answers_get(endings, a, i);
		const long other = rr_answers_get(endings, b, i);

		are = (one < 0) == (other < 0) &&
		      (one < 0 || rr_endings_are_same(endings, (uint32_t)one, (uint32_t)other));
	}
	return are;
}

void rr_answers_vary(struct rr_endings *endings, size_t n_requests, long a, long b)
{
	for (size_t i = 0; i < n_requests; i++) {
		const long one = rr_answers_get(endings, a, i);
		const long other = rr_answers_get(endings, b, i);

		if (one >= 0 && other >= 0)
			rr_endings_vary(endings, (uint32_t)one, (uint32_t)other);
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

/* Of redis-cli: what stands behind {url}, and before a redirection. NULL = it is none. */
static char *words_for_redis(const char *command)
{
	static const char name[] = "redis-cli ", url[] = "{url} ";
	const char *at = strstr(command, url);
	size_t length;

	if (!at || strncmp(command, name, strlen(name)) != 0)
		return NULL;
	at += strlen(url);
	length = strcspn(at, "|;>&");
	while (length > 0 && at[length - 1] == ' ')
		length--;
	return rr_asprintf("%.*s", length < WORDS_SHOWN ? (int)length : WORDS_SHOWN, at);
}

char *rr_request_words(const char *command)
{
	static const char app[] = "{app}";
	const char *at = strstr(command, app), *path = at ? at + strlen(app) : "";
	const bool is_curl = strncmp(command, "curl ", 5) == 0;
	const struct rl_word first = is_curl ? method_of(command) : program_of(command);
	const size_t length = strcspn(path, " '\"|;");

	if (command[0] == RR_MARK_LINE)
		return rr_asprintf("line %.*s", WORDS_SHOWN, command + 1);
	if (!at) {
		char *words = words_for_redis(command);

		return words ? words : rr_strndup(command, WORDS_SHOWN);
	}
	return rr_asprintf("%.*s %.*s", (int)first.length, first.text,
			   length < WORDS_SHOWN ? (int)length : WORDS_SHOWN, path);
}

char *rr_answer_words(struct rr_ending answer)
{
	const size_t length = strcspn(answer.output, "\r\n");
	const int shown = length < WORDS_SHOWN ? (int)length : WORDS_SHOWN;

	if (!answer.status && length == 0)
		return rr_strdup("nothing");
	if (!answer.status)
		return rr_asprintf("%.*s", shown, answer.output);
	return rr_asprintf("%.*s%sexit %d", shown, answer.output, length ? ", " : "",
			   answer.status >> 8);
}
