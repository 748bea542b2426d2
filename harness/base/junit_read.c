/* SPDX-License-Identifier: MIT */
/*
 * JUnit's XML as cases_print.c writes it, read again. It has less than JSON: what
 * stands in <system-out> stays one text.
 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"

/* A piece of the text. */
struct piece {
	const char *begin, *end;
};

struct xml_tag {
	struct piece name, attributes;
	struct piece text; /* between the tag before and this one */
	bool is_end, is_empty;
};

struct junit {
	struct rr_cases *cases;
	const char *at;     /* behind the last tag */
	struct rr_case one; /* the testcase that is read; its texts are malloc'd */
	bool is_in_case;
};

/* ---- Tags ------------------------------------------------------------------- */

static bool piece_is(struct piece piece, const char *text)
{
	const size_t length = (size_t)(piece.end - piece.begin);

	return strlen(text) == length && memcmp(piece.begin, text, length) == 0;
}

/* The next one; false: there is none, or it does not end. */
static bool next_tag(struct junit *junit, struct xml_tag *tag)
{
	const char *open = strchr(junit->at, '<');
	const char *close = open ? strchr(open, '>') : NULL;
	const char *name;

	if (!close)
		return false;
	name = open + 1 + (open[1] == '/');
	*tag = (struct xml_tag){
		.text = { junit->at, open },
		.name = { name, name + strcspn(name, " \t\r\n/>") },
		.is_end = open[1] == '/',
		.is_empty = close[-1] == '/',
	};
	tag->attributes = (struct piece){ tag->name.end, close };
	junit->at = close + 1;
	return true;
}

static char entity(const char **at, const char *end)
{
	static const struct {
		const char *name;
		char is;
	} entities[] = {
		{ "&amp;", '&' },  { "&lt;", '<' },    { "&gt;", '>' },
		{ "&quot;", '"' }, { "&apos;", '\'' }, { "&#39;", '\'' },
	};

	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
		const size_t length = strlen(entities[i].name);

		if ((size_t)(end - *at) >= length && memcmp(*at, entities[i].name, length) == 0) {
			*at += length;
			return entities[i].is;
		}
	}
	return *(*at)++;
}

/* Without entities; malloc'd. */
static char *plain_of(struct piece piece)
{
	char *text = malloc((size_t)(piece.end - piece.begin) + 1);
	size_t n = 0;

	for (const char *at = piece.begin; text && at < piece.end;)
		text[n++] = entity(&at, piece.end);
	if (text)
		text[n] = '\0';
	return text;
}

/* malloc'd; NULL = it has none of that name. */
static char *attribute_of(const struct xml_tag *tag, const char *name)
{
	const struct piece all = tag->attributes;
	char begin[40];
	const char *value, *end;

	snprintf(begin, sizeof(begin), " %s=\"", name);
	value = memmem(all.begin, (size_t)(all.end - all.begin), begin, strlen(begin));
	if (!value)
		return NULL;
	value += strlen(begin);
	end = memchr(value, '"', (size_t)(all.end - value));
	return end ? plain_of((struct piece){ value, end }) : NULL;
}

static double attribute_number(const struct xml_tag *tag, const char *name)
{
	char *text = attribute_of(tag, name);
	const double number = text ? strtod(text, NULL) : 0;

	free(text);
	return number;
}

/* ---- Testcases ---------------------------------------------------------------- */

static void begin_case(struct junit *junit, const struct xml_tag *tag)
{
	static const char prefix[] = "redrace.";
	char *suite = attribute_of(tag, "classname");

	if (suite && strncmp(suite, prefix, strlen(prefix)) == 0)
		memmove(suite, suite + strlen(prefix), strlen(suite + strlen(prefix)) + 1);
	junit->one = (struct rr_case){
		.suite = suite,
		.name = attribute_of(tag, "name"),
		.verdict = RR_CASE_PASSED,
		.seconds = attribute_number(tag, "time"),
		.file = attribute_of(tag, "file"),
		.line = (long)attribute_number(tag, "line"),
	};
	junit->is_in_case = true;
}

static void release_one(struct junit *junit)
{
	free((void *)junit->one.suite);
	free((void *)junit->one.name);
	free((void *)junit->one.message);
	free((void *)junit->one.details);
	free((void *)junit->one.file);
	free((void *)junit->one.output);
	junit->one = (struct rr_case){ 0 };
	junit->is_in_case = false;
}

/* False: it lacks something. */
static bool end_case(struct junit *junit)
{
	const bool good = junit->one.suite && junit->one.name &&
			  junit->one.verdict != RR_CASE_VERDICTS;

	if (good)
		rr_cases_add(junit->cases, &junit->one);
	release_one(junit);
	return good;
}

static void take_verdict(struct junit *junit, const struct xml_tag *tag)
{
	char *type = attribute_of(tag, "type");

	junit->one.verdict = piece_is(tag->name, "skipped") ? RR_CASE_SKIPPED :
							      rr_case_verdict_named(type);
	free((void *)junit->one.message);
	junit->one.message = attribute_of(tag, "message");
	free(type);
}

/* Behind the message, which is the first line. */
static void take_details(struct junit *junit, struct piece text)
{
	const char *line = memchr(text.begin, '\n', (size_t)(text.end - text.begin));

	if (!line || line + 1 >= text.end - 1)
		return;
	free((void *)junit->one.details);
	junit->one.details = plain_of((struct piece){ line + 1, text.end - 1 });
}

static void take_output(struct junit *junit, struct piece text)
{
	if (text.end > text.begin && text.end[-1] == '\n')
		text.end--;
	free((void *)junit->one.output);
	junit->one.output = plain_of(text);
}

/* ---- The suite ------------------------------------------------------------------ */

/* A note, which is an object, stands there as JSON. */
static void take_property(struct junit *junit, const struct xml_tag *tag)
{
	char *name = attribute_of(tag, "name");
	char *value = attribute_of(tag, "value");
	json_t *json = value && *value == '{' ? json_loads(value, 0, NULL) : NULL;

	if (name && value)
		json_object_set_new(junit->cases->properties, name,
				    json ? json : json_string(value));
	free(name);
	free(value);
}

static void take_suite(struct junit *junit, const struct xml_tag *tag)
{
	char *name = attribute_of(tag, "name");

	junit->cases->command = rr_cases_command(name);
	junit->cases->seconds = attribute_number(tag, "time");
	free(name);
}

/* False: a testcase is not as it is written. */
static bool take_tag(struct junit *junit, const struct xml_tag *tag)
{
	const bool is_verdict = piece_is(tag->name, "failure") || piece_is(tag->name, "error") ||
				piece_is(tag->name, "skipped");

	if (piece_is(tag->name, "testsuite") && !tag->is_end)
		take_suite(junit, tag);
	else if (piece_is(tag->name, "property"))
		take_property(junit, tag);
	else if (piece_is(tag->name, "testcase") && !tag->is_end)
		begin_case(junit, tag);
	else if (piece_is(tag->name, "testcase"))
		return junit->is_in_case && end_case(junit);
	else if (junit->is_in_case && is_verdict && !tag->is_end)
		take_verdict(junit, tag);
	else if (junit->is_in_case && is_verdict)
		take_details(junit, tag->text);
	else if (junit->is_in_case && piece_is(tag->name, "system-out") && tag->is_end)
		take_output(junit, tag->text);
	return true;
}

bool rr_cases_read_junit(struct rr_cases *cases, const char *text, const char *path,
			 struct rr_error *error)
{
	struct junit junit = { .cases = cases, .at = text };
	struct xml_tag tag;
	bool good = true, is_whole = false;

	while (good && next_tag(&junit, &tag)) {
		good = take_tag(&junit, &tag);
		is_whole = tag.is_end && piece_is(tag.name, "testsuites");
	}
	good = good && is_whole && !junit.is_in_case && cases->command;
	release_one(&junit);
	return good ||
	       rr_error_set(error, RR_ERROR_DATA, "'%s' has no results of redrace in it", path);
}
