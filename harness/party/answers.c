/* SPDX-License-Identifier: MIT */
#include "answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/marks.h"
#include "base/text.h"

enum { WORDS_SHOWN = 40 };

/* 412 and 428 refuse what has a condition; the others say that now is not the time. */
static bool is_refusal(int status)
{
	static const int refusals[] = { 409, 412, 423, 425, 428, 429, 503 };
	size_t i = 0;

	while (i < sizeof(refusals) / sizeof(refusals[0]) && refusals[i] != status)
		i++;
	return i < sizeof(refusals) / sizeof(refusals[0]);
}

/* Behind the next mark of a record with that number, and where it ends; NULL = there is none. */
static const char *find_record(const char *at, const char *end, size_t number,
			       const char **record_end)
{
	while (at < end && (at = memchr(at, RR_MARK_RECORD, (size_t)(end - at)))) {
		const char *next;

		at++;
		next = memchr(at, RR_MARK_RECORD, (size_t)(end - at));
		*record_end = next ? next : end;
		if (strtoul(at, NULL, 10) == number)
			return at;
	}
	return NULL;
}

/* Behind RR_MARK_RECORD: "2 0 200", and from the next line on what was printed. All records of a request
 * are one answer. */
long rr_answers_get(struct rr_endings *endings, long ending, size_t request)
{
	const struct rr_ending all = rr_endings_get(endings, (uint32_t)ending);
	const char *end = all.output + all.length, *record_end;
	const char *record = find_record(all.output, end, request + 1, &record_end);
	struct rr_ending answer = { .status = 0 };
	long number = -1;
	char *printed;
	FILE *out = rr_open_memory(&printed, &answer.length);

	for (; record; record = find_record(record_end, end, request + 1, &record_end)) {
		const char *newline = memchr(record, '\n', (size_t)(record_end - record));
		int status;
		const char *at;

		if (!newline || sscanf(record, "%*u %d %d", &status, &answer.http) != 2)
			break;
		answer.status = status << 8;
		/* Adds what was printed, as it was before it was written down. */
		at = newline + 1;
		for (; at < record_end; at++) {
			const bool is_escaped = *at == RR_MARK_ESCAPE && at + 1 < record_end;

			at += is_escaped;
			fputc(is_escaped ? *at ^ RR_MARK_ESCAPED : *at, out);
		}
		number = 0;
	}
	fclose(out);
	answer.output = printed;
	if (number == 0)
		number = rr_endings_put(endings, answer);
	free(printed);
	return number;
}

bool rr_answers_miss_app(struct rr_endings *endings, long ending)
{
	const struct rr_ending all = rr_endings_get(endings, (uint32_t)ending);
	const char *end;

	return find_record(all.output, all.output + all.length, 0, &end) != NULL;
}

struct rr_request_end rr_answers_judge(struct rr_endings *endings, long answer, const char *refused)
{
	struct rr_request_end end = { .ending = answer };
	struct rr_ending said;

	if (answer < 0)
		return end;
	said = rr_endings_get(endings, (uint32_t)answer);
	end.is_good = said.status == 0 && !rr_ending_is_declared(refused, said) &&
		      !is_refusal(said.http);
	end.has_failed = end.is_good && said.http >= 400;
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
static struct rdl_word method_of(const char *command)
{
	const char *option = strstr(command, " -X");
	struct rdl_word method = { .text = option ? option + 3 : "" };

	method.text += strspn(method.text, " '\"");
	method.length = strspn(method.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	if (method.length > 0)
		return method;
	return strstr(command, " -d") || strstr(command, " --data") ?
		       (struct rdl_word){ "POST", 4 } :
		       (struct rdl_word){ "GET", 3 };
}

/* The program without its folder. */
static struct rdl_word program_of(const char *command)
{
	const size_t length = strcspn(command, " ");
	size_t from = length;

	while (from > 0 && command[from - 1] != '/')
		from--;
	return (struct rdl_word){ command + from, length - from };
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
	return rr_plain_cut(at, length, WORDS_SHOWN, "");
}

char *rr_request_words(const char *command)
{
	static const char app[] = "{app}";
	const char *at = strstr(command, app);
	char *shown, *words;

	if (command[0] == RR_MARK_LINE) {
		shown = rr_plain_cut(command + 1, strlen(command + 1), WORDS_SHOWN, "");
		words = rr_asprintf("line %s", shown);
	} else if (at) {
		const char *path = at + strlen(app);
		const struct rdl_word first = strncmp(command, "curl ", 5) == 0 ?
						      method_of(command) :
						      program_of(command);

		shown = rr_plain_cut(path, strcspn(path, " '\"|;"), WORDS_SHOWN, "");
		words = rr_asprintf("%.*s %s", (int)first.length, first.text, shown);
	} else {
		words = words_for_redis(command);
		return words ? words : rr_plain_cut(command, strlen(command), WORDS_SHOWN, "");
	}
	free(shown);
	return words;
}

char *rr_answer_words(struct rr_ending answer)
{
	const size_t length = strcspn(answer.output, "\r\n");
	char *shown, *words, end[40] = "";

	if (answer.status)
		snprintf(end, sizeof(end), "exit %d", answer.status >> 8);
	else if (answer.http >= 400)
		snprintf(end, sizeof(end), "HTTP %d", answer.http);
	else if (length == 0)
		return rr_strdup("nothing");
	shown = rr_plain_cut(answer.output, length, WORDS_SHOWN, "");
	words = rr_asprintf("%s%s%s", shown, length && end[0] ? ", " : "", end);
	free(shown);
	return words;
}
