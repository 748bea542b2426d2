/* SPDX-License-Identifier: MIT */
#include "endings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/marks.h"
#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"

enum { WORDS_SHOWN = 40 };

void rr_endings_allow(struct rr_endings *endings, const char *const *allowed, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		rr_array_grow(&endings->allowed, i, sizeof(*endings->allowed));
		if (regcomp(&endings->allowed[endings->n_allowed], allowed[i],
			    REG_EXTENDED | REG_NOSUB) == 0)
			endings->n_allowed++;
	}
}

/* Does a part of these bytes match? */
static bool has_match(const regex_t *pattern, const char *text, size_t length)
{
	regmatch_t whole = { .rm_so = 0, .rm_eo = (regoff_t)length };

	return regexec(pattern, text, 1, &whole, REG_STARTEND) == 0;
}

bool rr_ending_is_declared(const char *refused, struct rr_ending ending)
{
	regex_t pattern;
	bool is;

	if (refused && *refused && strspn(refused, "0123456789") == strlen(refused))
		return (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == atoi(refused)) ||
		       (ending.http && ending.http == atoi(refused));
	if (!refused || regcomp(&pattern, refused, REG_EXTENDED | REG_NOSUB))
		return false;
	is = has_match(&pattern, ending.output, ending.length);
	regfree(&pattern);
	return is;
}

uint32_t rr_endings_put(struct rr_endings *endings, struct rr_ending ending)
{
	const int statuses[2] = { ending.status, ending.http };
	const size_t size = sizeof(statuses) + ending.length + 1;
	char *bytes = rr_malloc(size);
	uint32_t number;

	memcpy(bytes, statuses, sizeof(statuses));
	memcpy(bytes + sizeof(statuses), ending.output, ending.length);
	bytes[size - 1] = '\0';
	number = rr_intern_put(&endings->all, bytes, size, NULL);
	free(bytes);
	return number;
}

struct rr_ending rr_endings_get(const struct rr_endings *endings, uint32_t number)
{
	int statuses[2];
	const char *bytes;

	if (number >= endings->all.n)
		return (struct rr_ending){ .output = "" };
	bytes = rr_intern_get(&endings->all, number);
	memcpy(statuses, bytes, sizeof(statuses));
	return (struct rr_ending){ .status = statuses[0],
				   .http = statuses[1],
				   .output = bytes + sizeof(statuses),
				   .length = endings->all.values[number].length - sizeof(statuses) -
					     1 };
}

/* ---- Lines that vary ----------------------------------------------------------------- */

/* What is left of an output, and how many lines were taken from it. */
struct rest {
	const char *at, *end;
	size_t number;
	bool is_ended; /* the last one, by a newline */
};

static struct rest rest_of(const struct rr_endings *endings, uint32_t number)
{
	const struct rr_ending ending = rr_endings_get(endings, number);

	return (struct rest){ ending.output, ending.output + ending.length, 0, false };
}

/* False: there is none. */
static bool take_line(struct rest *rest, struct rdl_word *line)
{
	const size_t left = (size_t)(rest->end - rest->at);
	const char *newline = left ? memchr(rest->at, '\n', left) : NULL;

	if (left == 0)
		return false;
	line->text = rest->at;
	line->length = newline ? (size_t)(newline - rest->at) : left;
	rest->at += line->length + (newline != NULL);
	rest->is_ended = newline;
	rest->number++;
	return true;
}

/* The pattern of a line that says most of it; NULL: the line does not vary. */
static struct rr_varying *find_varying(const struct rr_endings *endings, struct rdl_word line,
				       size_t number)
{
	struct rr_varying *found = NULL;

	for (size_t i = 0; i < endings->n_varying; i++) {
		struct rr_varying *varying = &endings->varying[i];

		if ((varying->line == 0 || varying->line == number) &&
		    (!found || rr_varying_compared(varying->pattern) >=
				       rr_varying_compared(found->pattern)) &&
		    rr_varying_matches(varying->pattern, line))
			found = varying;
	}
	return found;
}

static bool is_allowed(const struct rr_endings *endings, struct rdl_word line)
{
	size_t i = 0;

	while (i < endings->n_allowed && !has_match(&endings->allowed[i], line.text, line.length))
		i++;
	return i < endings->n_allowed;
}

/* What is compared of a line: itself, or its pattern if it varies. */
static struct rdl_word compared_of(const struct rr_endings *endings, struct rdl_word line,
				   size_t number)
{
	const struct rr_varying *varying = find_varying(endings, line, number);

	return varying ? varying->pattern : line;
}

/* Adds one pattern for two lines that differ, instead of those that they have. */
static void add_varying(struct rr_endings *endings, struct rdl_word a, struct rdl_word b,
			size_t number)
{
	struct rr_varying *of[2] = { find_varying(endings, a, number),
				     find_varying(endings, b, number) };
	const struct rdl_word lines[2] = { rr_varying_of_line(a), rr_varying_of_line(b) };
	struct rr_varying varying = { .pattern = rr_varying_join(of[0] ? of[0]->pattern : lines[0],
								 of[1] ? of[1]->pattern :
									 lines[1]) };
	size_t n = 0;

	if (rr_varying_is_blank(varying.pattern))
		varying.line = number;
	for (size_t i = 0; i < endings->n_varying; i++) {
		struct rr_varying *known = &endings->varying[i];

		if ((known == of[0] || known == of[1]) && known->line == varying.line)
			free((char *)known->pattern.text);
		else
			endings->varying[n++] = *known;
	}
	rr_array_grow(&endings->varying, n, sizeof(varying));
	endings->varying[n] = varying;
	endings->n_varying = n + 1;
	free((char *)lines[0].text);
	free((char *)lines[1].text);
}

static int compare_lines(const void *a, const void *b)
{
	const struct rdl_word *one = a, *other = b;

	return rr_compare_bytes(one->text, one->length, other->text, other->length);
}

/* What is compared of all lines but those that the user allows; or of those that are compared sorted,
 * sorted. The caller frees the list. */
static struct rdl_word *list_lines(const struct rr_endings *endings, uint32_t number,
				   bool are_unordered, size_t *n)
{
	struct rest rest = rest_of(endings, number);
	struct rdl_word *lines = NULL, line;

	*n = 0;
	while (take_line(&rest, &line)) {
		if (is_allowed(endings, line))
			continue;
		line = compared_of(endings, line, rest.number);
		if (are_unordered &&
		    rr_intern_find(&endings->unordered, line.text, line.length) == RR_NO_ID)
			continue;
		rr_array_grow(&lines, *n, sizeof(*lines));
		lines[(*n)++] = line;
	}
	if (are_unordered && *n)
		qsort(lines, *n, sizeof(*lines), compare_lines);
	return lines;
}

static bool are_same_lines(const struct rdl_word *a, const struct rdl_word *b, size_t n)
{
	size_t i = 0;

	while (i < n && rr_words_are_same(a[i], b[i]))
		i++;
	return i == n;
}

void rr_endings_vary(struct rr_endings *endings, uint32_t a, uint32_t b)
{
	struct rest rest_a = rest_of(endings, a), rest_b = rest_of(endings, b);
	size_t n, n_other, first = 0, last;
	struct rdl_word *lines = list_lines(endings, a, false, &n);
	struct rdl_word *others = list_lines(endings, b, false, &n_other);
	struct rdl_word *sorted = n ? rr_memdup(lines, n * sizeof(*lines)) : NULL;
	bool good = n == n_other && n > 0;

	/* Do two outputs differ only in the order of their lines? If so, those from the first one
	 * that differs to the last one are compared sorted from now on. */
	if (good) {
		while (first < n && rr_words_are_same(lines[first], others[first]))
			first++;
		for (last = n;
		     last > first && rr_words_are_same(lines[last - 1], others[last - 1]);)
			last--;
		good = first < last;
		qsort(sorted, n, sizeof(*sorted), compare_lines);
		qsort(others, n, sizeof(*others), compare_lines);
		good = good && are_same_lines(sorted, others, n);
		for (size_t i = first; i < last && good; i++)
			rr_intern_put(&endings->unordered, lines[i].text, lines[i].length, NULL);
	}
	free(lines);
	free(others);
	free(sorted);
	if (good)
		return;
	for (size_t number = 1;; number++) {
		struct rdl_word line_a = { "", 0 }, line_b = { "", 0 };
		const bool has_a = take_line(&rest_a, &line_a), has_b = take_line(&rest_b, &line_b);

		if (!has_a && !has_b)
			break;
		if (!rr_words_are_same(compared_of(endings, line_a, number),
				       compared_of(endings, line_b, number)))
			add_varying(endings, line_a, line_b, number);
	}
}

/* ---- Comparing ------------------------------------------------------------------------ */

/* What is compared of the next line that is compared in its order. False: none is left. */
static bool take_compared(const struct rr_endings *endings, struct rest *rest,
			  struct rdl_word *line)
{
	struct rdl_word taken;

	while (take_line(rest, &taken)) {
		if (is_allowed(endings, taken))
			continue;
		*line = compared_of(endings, taken, rest->number);
		if (endings->unordered.n == 0 ||
		    rr_intern_find(&endings->unordered, line->text, line->length) == RR_NO_ID)
			return true;
	}
	return false;
}

/* Are the lines that are compared sorted the same ones? */
static bool have_same_unordered(const struct rr_endings *endings, uint32_t a, uint32_t b)
{
	size_t n, n_other;
	struct rdl_word *lines, *others;
	bool are_same;

	if (endings->unordered.n == 0)
		return true;
	lines = list_lines(endings, a, true, &n);
	others = list_lines(endings, b, true, &n_other);
	are_same = n == n_other && are_same_lines(lines, others, n);
	free(lines);
	free(others);
	return are_same;
}

bool rr_endings_differ(const struct rr_endings *endings, uint32_t a, uint32_t b, const char **at_a,
		       const char **at_b)
{
	struct rest one = rest_of(endings, a), other = rest_of(endings, b);
	const struct rr_ending ending_a = rr_endings_get(endings, a);
	const struct rr_ending ending_b = rr_endings_get(endings, b);
	bool has_one, has_other;

	*at_a = one.at;
	*at_b = other.at;
	if (a == b || ending_a.status != ending_b.status || ending_a.http != ending_b.http)
		return a != b;
	do {
		struct rdl_word line_one, line_other;

		*at_a = one.at;
		*at_b = other.at;
		has_one = take_compared(endings, &one, &line_one);
		has_other = take_compared(endings, &other, &line_other);
		if (has_one != has_other || (has_one && (!rr_words_are_same(line_one, line_other) ||
							 one.is_ended != other.is_ended)))
			return true;
	} while (has_one);
	*at_a = rest_of(endings, a).at;
	*at_b = rest_of(endings, b).at;
	return !have_same_unordered(endings, a, b);
}

bool rr_endings_are_same(const struct rr_endings *endings, uint32_t a, uint32_t b)
{
	const char *at_a, *at_b;

	return !rr_endings_differ(endings, a, b, &at_a, &at_b);
}

uint64_t rr_endings_digest(const struct rr_endings *endings, uint32_t number)
{
	const struct rr_ending ending = rr_endings_get(endings, number);
	const int statuses[2] = { ending.status, ending.http };
	uint64_t digest = rr_bytes_digest(0, statuses, sizeof(statuses));
	struct rest rest = rest_of(endings, number);
	struct rdl_word line, *sorted;
	size_t n;

	while (take_compared(endings, &rest, &line)) {
		digest = rr_bytes_digest(digest, line.text, line.length);
		digest = rr_bytes_digest(digest, rest.is_ended ? "\n" : "", rest.is_ended);
	}
	sorted = list_lines(endings, number, true, &n);
	for (size_t i = 0; i < n; i++)
		digest = rr_bytes_digest(digest, sorted[i].text, sorted[i].length);
	free(sorted);
	return digest;
}

/* ---- Waiting -------------------------------------------------------------------------- */

void rr_endings_note_serial(struct rr_endings *endings, uint32_t number)
{
	rr_intern_put(&endings->serial, &number, sizeof(number), NULL);
}

void rr_endings_forget_serial(struct rr_endings *endings)
{
	rr_intern_release(&endings->serial);
}

/* Goes on behind the next such line of a text; those before are counted. False: there is
 * none. */
static bool skip_to(const struct rr_endings *endings, const struct rdl_word *line,
		    struct rest *rest, long *n_skipped)
{
	struct rdl_word next;

	while (take_compared(endings, rest, &next)) {
		if (line && rr_words_are_same(next, *line))
			return true;
		++*n_skipped;
	}
	return false;
}

bool rr_endings_differ_by_waiting(const struct rr_endings *endings, uint32_t waited,
				  uint32_t unwaited)
{
	struct rest one = rest_of(endings, waited), other = rest_of(endings, unwaited);
	struct rr_intern serial = { 0 }; /* the lines that count of serial orders, once each */
	long n_about_waiting = 0, n_instead = 0;
	bool good = rr_endings_get(endings, waited).status ==
			    rr_endings_get(endings, unwaited).status &&
		    have_same_unordered(endings, waited, unwaited);
	struct rdl_word line;

	for (uint32_t i = 0; i < endings->serial.n; i++) {
		const uint32_t *ending = rr_intern_get(&endings->serial, i);
		struct rest rest = rest_of(endings, *ending);

		while (take_compared(endings, &rest, &line))
			rr_intern_put(&serial, line.text, line.length, NULL);
	}
	while (good && take_compared(endings, &one, &line)) {
		if (rr_intern_find(&serial, line.text, line.length) != RR_NO_ID)
			good = skip_to(endings, &line, &other, &n_instead);
		else
			n_about_waiting++;
	}
	skip_to(endings, NULL, &other, &n_instead);
	rr_intern_release(&serial);
	return good && n_instead <= n_about_waiting;
}

void rr_endings_release(struct rr_endings *endings)
{
	for (size_t i = 0; i < endings->n_varying; i++)
		free((char *)endings->varying[i].pattern.text);
	for (size_t i = 0; i < endings->n_allowed; i++)
		regfree(&endings->allowed[i]);
	free(endings->allowed);
	free(endings->varying);
	rr_intern_release(&endings->unordered);
	rr_intern_release(&endings->serial);
	rr_intern_release(&endings->all);
	*endings = (struct rr_endings){ .varying = NULL };
}

/* ---- Answers ---------------------------------------------------------------------------- */

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
	/* 412 and 428 refuse what has a condition; the others say that now is not the time. */
	static const int refusals[] = { 409, 412, 423, 425, 428, 429, 503 };
	struct rr_request_end end = { .ending = answer };
	struct rr_ending said;

	if (answer < 0)
		return end;
	said = rr_endings_get(endings, (uint32_t)answer);
	end.is_good = said.status == 0 && !rr_ending_is_declared(refused, said);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		end.is_good &= said.http != refusals[i];
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

char *rr_request_words(const char *command)
{
	static const char app[] = "{app}", url[] = "{url} ";
	const char *at, *shown = command;
	struct rdl_word first = { NULL, 0 };
	size_t length = strlen(command);
	char *rest, *words;

	if (command[0] == RR_MARK_LINE) {
		first = (struct rdl_word){ "line", 4 };
		shown++;
		length--;
	} else if ((at = strstr(command, app))) {
		/* The method, or the program without its folder; and the path. */
		if (strncmp(command, "curl ", 5) == 0) {
			/* Named after -X, or as follows from the other options. */
			const char *option = strstr(command, " -X");

			first.text = option ? option + 3 : "";
			first.text += strspn(first.text, " '\"");
			first.length = strspn(first.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
			if (!first.length)
				first = strstr(command, " -d") || strstr(command, " --data") ?
						(struct rdl_word){ "POST", 4 } :
						(struct rdl_word){ "GET", 3 };
		} else {
			size_t from = first.length = strcspn(command, " ");

			while (from > 0 && command[from - 1] != '/')
				from--;
			first = (struct rdl_word){ command + from, first.length - from };
		}
		shown = at + strlen(app);
		length = strcspn(shown, " '\"|;");
	} else if (strncmp(command, "redis-cli ", 10) == 0 && (at = strstr(command, url))) {
		/* What is asked, without a redirection. */
		shown = at + strlen(url);
		length = strcspn(shown, "|;>&");
		while (length > 0 && shown[length - 1] == ' ')
			length--;
	}
	rest = rr_plain_cut(shown, length, WORDS_SHOWN, "");
	if (!first.text)
		return rest;
	words = rr_asprintf("%.*s %s", (int)first.length, first.text, rest);
	free(rest);
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
