/* SPDX-License-Identifier: MIT */
#include "nodes.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- What is wrong, and where -------------------------------------------------------- */

bool rr_yaml_refuse(const struct rr_yaml *yaml, const yaml_node_t *node, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = rr_vasprintf(format, arguments);
	va_end(arguments);
	rr_error_set(yaml->error, RR_ERROR_DATA, "%.400s:%zu:%zu: %s", yaml->path,
		     node->start_mark.line + 1, node->start_mark.column + 1, text);
	free(text);
	return false;
}

/* What to do about what libyaml says. */
static const char *advice_of(const char *problem, char at)
{
	if (at == '\t')
		return ": there is a tab; indent by blanks";
	if (strstr(problem, "mapping values are not allowed"))
		return ": put a text that has ': ' in it into quotes";
	if (strstr(problem, "did not find expected ',' or"))
		return ": close the bracket, or put a text that has one of , [ ] { } in it into quotes";
	if (strstr(problem, "cannot start any token"))
		return ": put a text that begins with such a sign into quotes";
	if (strstr(problem, "anchor") || strstr(problem, "alias"))
		return ": an alias, *name, needs an anchor, &name, before it";
	return ": look at the indentation, the quotes and the brackets before it";
}

/* Line and column of a byte. */
static yaml_mark_t mark_of(const char *text, size_t size, size_t offset)
{
	yaml_mark_t mark = { .line = 0 };

	for (size_t i = 0; i < size && i < offset; i++) {
		mark.line += text[i] == '\n';
		mark.column = text[i] == '\n' ? 0 : mark.column + 1;
	}
	return mark;
}

/* A mark counts characters. */
static char sign_at(const char *text, size_t size, const yaml_mark_t *mark)
{
	size_t at = 0;

	for (size_t n = mark->index; n > 0 && at < size; n--) {
		do
			at++;
		while (at < size && (text[at] & 0xc0) == 0x80);
	}
	return at < size ? text[at] : '\0';
}

static bool refuse_text(const yaml_parser_t *parser, const char *path, const char *text,
			size_t size, struct rr_error *error)
{
	const char *problem = parser->problem ? parser->problem : "it cannot be read";
	const bool is_byte = parser->error == YAML_READER_ERROR;
	const yaml_mark_t mark = is_byte ? mark_of(text, size, parser->problem_offset) :
					   parser->problem_mark;

	if (parser->error == YAML_MEMORY_ERROR)
		rr_out_of_memory();
	return rr_error_set(error, RR_ERROR_DATA, "%.400s:%zu:%zu: %s%s", path, mark.line + 1,
			    mark.column + 1, problem,
			    is_byte ? ": save the file as UTF-8" :
				      advice_of(problem, sign_at(text, size, &mark)));
}

/* ---- Opening ------------------------------------------------------------------------- */

/* Is there another document behind the first? */
static bool is_last(yaml_parser_t *parser, const char *path, const char *text, size_t size,
		    struct rr_error *error)
{
	const yaml_node_t *root;
	yaml_document_t next;

	if (!yaml_parser_load(parser, &next))
		return refuse_text(parser, path, text, size, error);
	root = yaml_document_get_root_node(&next);
	if (root)
		rr_error_set(error, RR_ERROR_DATA,
			     "%.400s:%zu:1: a second document begins; one file is one suite", path,
			     next.start_mark.line + 1);
	yaml_document_delete(&next);
	return !root;
}

/* How deep collections may be in each other: a suite needs four. */
enum { DEPTH_MAX = 50 };

/* Reads the text once without keeping it, up to where it is too deep: what is kept of it, and the time
 * that takes, grow with the square of the depth. What else is wrong is found when it is read again. */
static bool is_shallow(const char *path, const char *text, size_t size, struct rr_error *error)
{
	yaml_parser_t parser;
	yaml_event_t event;
	bool goes_on = true;
	int depth = 0;

	if (!yaml_parser_initialize(&parser))
		rr_out_of_memory();
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	while (goes_on && yaml_parser_parse(&parser, &event)) {
		depth += event.type == YAML_SEQUENCE_START_EVENT ||
			 event.type == YAML_MAPPING_START_EVENT;
		depth -= event.type == YAML_SEQUENCE_END_EVENT ||
			 event.type == YAML_MAPPING_END_EVENT;
		if (depth > DEPTH_MAX)
			rr_error_set(
				error, RR_ERROR_DATA,
				"%.400s:%zu:%zu: more than %d lists and mappings are in each other here: a suite needs four",
				path, event.start_mark.line + 1, event.start_mark.column + 1,
				DEPTH_MAX);
		goes_on = event.type != YAML_STREAM_END_EVENT && depth <= DEPTH_MAX;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return depth <= DEPTH_MAX;
}

bool rr_yaml_open(struct rr_yaml *yaml, const char *path, const char *text, size_t size,
		  const struct rr_suite_command *command, struct rr_error *error)
{
	yaml_parser_t parser;
	bool good;

	*yaml = (struct rr_yaml){ .path = path, .command = command, .error = error };
	if (!is_shallow(path, text, size, error))
		return false;
	if (!yaml_parser_initialize(&parser))
		rr_out_of_memory();
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	if (!yaml_parser_load(&parser, &yaml->document)) {
		good = refuse_text(&parser, path, text, size, error);
	} else {
		good = yaml_document_get_root_node(&yaml->document) ?
			       is_last(&parser, path, text, size, error) :
			       rr_error_set(
				       error, RR_ERROR_DATA,
				       "%.400s:1:1: the file is empty; it begins with 'checks:'",
				       path);
		if (!good)
			yaml_document_delete(&yaml->document);
	}
	yaml_parser_delete(&parser);
	return good;
}

/* ---- Nodes --------------------------------------------------------------------------- */

yaml_node_t *rr_yaml_node(struct rr_yaml *yaml, int index)
{
	return yaml_document_get_node(&yaml->document, index);
}

static bool is_null(const yaml_node_t *scalar)
{
	const char *text = (const char *)scalar->data.scalar.value;

	return scalar->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

char *rr_yaml_text(const struct rr_yaml *yaml, const yaml_node_t *node, const char *what)
{
	char *text = node->type == YAML_SCALAR_NODE ? (char *)node->data.scalar.value : NULL;

	if (!text)
		rr_yaml_refuse(yaml, node, "%.100s: expected a text or a number", what);
	else if (strlen(text) != node->data.scalar.length)
		rr_yaml_refuse(yaml, node, "%.100s: the text has a byte that is 0: leave it out",
			       what);
	else if (!*text || is_null(node))
		rr_yaml_refuse(yaml, node, "%.100s: the value is missing", what);
	else
		return text;
	return NULL;
}

/* The text of a key, after rr_yaml_check_keys(). */
static char *text_of_key(struct rr_yaml *yaml, const yaml_node_pair_t *pair)
{
	return (char *)rr_yaml_node(yaml, pair->key)->data.scalar.value;
}

bool rr_yaml_check_keys(struct rr_yaml *yaml, const yaml_node_t *mapping)
{
	const yaml_node_pair_t *first = mapping->data.mapping.pairs.start;

	for (const yaml_node_pair_t *pair = first; pair < mapping->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = rr_yaml_node(yaml, pair->key);
		const char *text = rr_yaml_text(yaml, key, "a key");

		if (!text)
			return false;
		for (const yaml_node_pair_t *other = first; other < pair; other++) {
			if (strcmp(text_of_key(yaml, other), text) == 0)
				return rr_yaml_refuse(
					yaml, key,
					"'%.100s' is there already, in line %zu: give this one another name, or leave it out",
					text, rr_yaml_node(yaml, other->key)->start_mark.line + 1);
		}
	}
	return true;
}

/* ---- Merging ------------------------------------------------------------------------- */

static bool has_pair(struct rr_yaml *yaml, const struct rr_yaml_pairs *pairs, const char *name)
{
	for (size_t i = 0; i < pairs->n; i++) {
		if (strcmp(text_of_key(yaml, pairs->all[i]), name) == 0)
			return true;
	}
	return false;
}

static bool take_pair(struct rr_yaml *yaml, struct rr_yaml_pairs *pairs,
		      const yaml_node_pair_t *pair, bool merges)
{
	const char *name = text_of_key(yaml, pair);

	if (++pairs->steps > RR_YAML_PAIRS)
		return rr_yaml_refuse(yaml, rr_yaml_node(yaml, pair->key),
				      "too many keys, or they are merged in a circle: %d at most",
				      RR_YAML_PAIRS);
	if ((strcmp(name, "<<") == 0) != merges)
		return true;
	if (merges) {
		/* "<<: *other" or "<<: [*one, *other]". */
		const yaml_node_t *value = rr_yaml_node(yaml, pair->value);

		if (value->type != YAML_SEQUENCE_NODE)
			return rr_yaml_gather(yaml, pairs, value, "<<");
		for (yaml_node_item_t *item = value->data.sequence.items.start;
		     item < value->data.sequence.items.top; item++) {
			if (!rr_yaml_gather(yaml, pairs, rr_yaml_node(yaml, *item), "<<"))
				return false;
		}
		return true;
	}
	if (!has_pair(yaml, pairs, name))
		pairs->all[pairs->n++] = pair;
	return true;
}

/* A mapping's own keys go before those that are merged, wherever "<<" stands. */
bool rr_yaml_gather(struct rr_yaml *yaml, struct rr_yaml_pairs *pairs, const yaml_node_t *mapping,
		    const char *what)
{
	if (mapping->type != YAML_MAPPING_NODE)
		return rr_yaml_refuse(
			yaml, mapping,
			"%.100s: expected keys and values, as in {command: node hit.js}", what);
	if (!rr_yaml_check_keys(yaml, mapping))
		return false;
	for (int merges = 0; merges < 2; merges++) {
		for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
		     pair < mapping->data.mapping.pairs.top; pair++) {
			if (!take_pair(yaml, pairs, pair, merges))
				return false;
		}
	}
	return true;
}
