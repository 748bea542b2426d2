/* SPDX-License-Identifier: MIT */
/* The file of a suite: what libyaml makes of it, each key as words of a command line, and
 * where it is wrong. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "suite.h"

/* Collections may be in each other so deep, of which a suite needs four; a check has so many
 * keys at most, those that are merged into it among them. */
enum { CHECKS_MAX = 10000, NAME_LENGTH = 200, WORDS_MAX = 500, DEPTH_MAX = 50, PAIRS_MAX = 500 };

/* A document, with what is needed to say where it is wrong. */
struct yaml {
	const char *path; /* in messages */
	yaml_document_t document;
	const struct rr_suite_command *command; /* whose keys they are */
	struct rr_error *error;
};

/* ---- What is wrong, and where -------------------------------------------------------- */

/* Sets the error, "FILE:LINE:COLUMN: ..."; returns false. */
__attribute__((format(printf, 3, 4))) static bool
refuse(const struct yaml *yaml, const yaml_node_t *node, const char *format, ...)
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

/* What libyaml says. */
static bool refuse_text(const yaml_parser_t *parser, const char *path, const char *text,
			size_t size, struct rr_error *error)
{
	const char *problem = parser->problem ? parser->problem : "it cannot be read";
	const bool is_byte = parser->error == YAML_READER_ERROR;
	yaml_mark_t mark = is_byte ? (yaml_mark_t){ .line = 0 } : parser->problem_mark;
	size_t at = 0;

	if (parser->error == YAML_MEMORY_ERROR)
		rr_out_of_memory();
	/* Line and column of the byte; else the place of the character, which a mark counts. */
	for (; is_byte && at < size && at < parser->problem_offset; at++) {
		mark.line += text[at] == '\n';
		mark.column = text[at] == '\n' ? 0 : mark.column + 1;
	}
	for (size_t n = is_byte ? 0 : mark.index; n > 0 && at < size; n--) {
		do
			at++;
		while (at < size && (text[at] & 0xc0) == 0x80);
	}
	return rr_error_set(error, RR_ERROR_DATA, "%.400s:%zu:%zu: %s%s", path, mark.line + 1,
			    mark.column + 1, problem,
			    is_byte ? ": save the file as UTF-8" :
				      advice_of(problem, at < size ? text[at] : '\0'));
}

/* ---- Opening ------------------------------------------------------------------------- */

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

/* One document, which is not empty. False: the error says where, and nothing is open; else delete
 * the document. */
static bool open_document(struct yaml *yaml, const char *path, const char *text, size_t size,
			  const struct rr_suite_command *command, struct rr_error *error)
{
	yaml_document_t next;
	yaml_parser_t parser;
	bool good = false;

	*yaml = (struct yaml){ .path = path, .command = command, .error = error };
	if (!is_shallow(path, text, size, error))
		return false;
	if (!yaml_parser_initialize(&parser))
		rr_out_of_memory();
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	if (!yaml_parser_load(&parser, &yaml->document)) {
		refuse_text(&parser, path, text, size, error);
	} else {
		if (!yaml_document_get_root_node(&yaml->document)) {
			rr_error_set(error, RR_ERROR_DATA,
				     "%.400s:1:1: the file is empty; it begins with 'checks:'",
				     path);
		} else if (!yaml_parser_load(&parser, &next)) {
			refuse_text(&parser, path, text, size, error);
		} else {
			good = !yaml_document_get_root_node(&next) ||
			       rr_error_set(
				       error, RR_ERROR_DATA,
				       "%.400s:%zu:1: a second document begins; one file is one suite",
				       path, next.start_mark.line + 1);
			yaml_document_delete(&next);
		}
		if (!good)
			yaml_document_delete(&yaml->document);
	}
	yaml_parser_delete(&parser);
	return good;
}

/* ---- Nodes --------------------------------------------------------------------------- */

static yaml_node_t *node_at(struct yaml *yaml, int index)
{
	return yaml_document_get_node(&yaml->document, index);
}

/* The text of a scalar; NULL and the error: it is none, or empty. `what` it is the value of. */
static char *text_of(const struct yaml *yaml, const yaml_node_t *node, const char *what)
{
	char *text = node->type == YAML_SCALAR_NODE ? (char *)node->data.scalar.value : NULL;

	if (!text)
		refuse(yaml, node, "%.100s: expected a text or a number", what);
	else if (strlen(text) != node->data.scalar.length)
		refuse(yaml, node, "%.100s: the text has a byte that is 0: leave it out", what);
	else if (!*text || (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
			    (strcmp(text, "~") == 0 || strcmp(text, "null") == 0)))
		refuse(yaml, node, "%.100s: the value is missing", what);
	else
		return text;
	return NULL;
}

/* The text of a key, after check_keys(). */
static char *text_of_key(struct yaml *yaml, const yaml_node_pair_t *pair)
{
	return (char *)node_at(yaml, pair->key)->data.scalar.value;
}

/* Are the keys of a mapping texts, and all different? */
static bool check_keys(struct yaml *yaml, const yaml_node_t *mapping)
{
	const yaml_node_pair_t *first = mapping->data.mapping.pairs.start;

	for (const yaml_node_pair_t *pair = first; pair < mapping->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = node_at(yaml, pair->key);
		const char *text = text_of(yaml, key, "a key");

		if (!text)
			return false;
		for (const yaml_node_pair_t *other = first; other < pair; other++) {
			if (strcmp(text_of_key(yaml, other), text) == 0)
				return refuse(
					yaml, key,
					"'%.100s' is there already, in line %zu: give this one another name, or leave it out",
					text, node_at(yaml, other->key)->start_mark.line + 1);
		}
	}
	return true;
}

/* ---- Merging ------------------------------------------------------------------------- */

/* Pairs of one mapping and of those that are merged into it, each key once. */
struct pairs {
	size_t n;
	int steps; /* pairs that were looked at: merging has an end */
	const yaml_node_pair_t *all[PAIRS_MAX];
};

static bool gather(struct yaml *yaml, struct pairs *pairs, const yaml_node_t *mapping,
		   const char *what);

static bool take_pair(struct yaml *yaml, struct pairs *pairs, const yaml_node_pair_t *pair,
		      bool merges)
{
	const char *name = text_of_key(yaml, pair);

	if (++pairs->steps > PAIRS_MAX)
		return refuse(yaml, node_at(yaml, pair->key),
			      "too many keys, or they are merged in a circle: %d at most",
			      PAIRS_MAX);
	if ((strcmp(name, "<<") == 0) != merges)
		return true;
	if (merges) {
		/* "<<: *other" or "<<: [*one, *other]". */
		const yaml_node_t *value = node_at(yaml, pair->value);

		if (value->type != YAML_SEQUENCE_NODE)
			return gather(yaml, pairs, value, "<<");
		for (yaml_node_item_t *item = value->data.sequence.items.start;
		     item < value->data.sequence.items.top; item++) {
			if (!gather(yaml, pairs, node_at(yaml, *item), "<<"))
				return false;
		}
		return true;
	}
	for (size_t i = 0; i < pairs->n; i++) {
		if (strcmp(text_of_key(yaml, pairs->all[i]), name) == 0)
			return true;
	}
	pairs->all[pairs->n++] = pair;
	return true;
}

/* Adds the pairs of a mapping whose keys are not there yet, and then those of mappings that
 * "<<" merges into it, wherever that stands. `what` is expected to be a mapping. */
static bool gather(struct yaml *yaml, struct pairs *pairs, const yaml_node_t *mapping,
		   const char *what)
{
	if (mapping->type != YAML_MAPPING_NODE)
		return refuse(yaml, mapping,
			      "%.100s: expected keys and values, as in {command: node hit.js}",
			      what);
	if (!check_keys(yaml, mapping))
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

/* ---- Words --------------------------------------------------------------------------- */

/* Takes the word over. */
static bool add_word(const struct yaml *yaml, struct rr_suite_check *check, const yaml_node_t *node,
		     char *word)
{
	check->words = rr_realloc(check->words, check->n_words + 2, sizeof(*check->words));
	check->words[check->n_words++] = word;
	check->words[check->n_words] = NULL;
	return check->n_words < WORDS_MAX ||
	       refuse(yaml, node, "a check has %d words at most", WORDS_MAX);
}

/* The command may change words that it reads: it gets others. */
static char **copy_words(const struct rr_suite_check *check, size_t first)
{
	char **words = rr_calloc(check->n_words - first + 2, sizeof(*words));

	words[0] = rr_strdup(check->words[0]);
	for (size_t i = first; i < check->n_words; i++)
		words[i - first + 1] = rr_strdup(check->words[i]);
	return words;
}

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* Does the command take the words of an option, from `first` on? */
static bool try_option(const struct yaml *yaml, const yaml_node_t *node,
		       const struct rr_suite_check *check, size_t first)
{
	char **argv = copy_words(check, first);
	void *scratch = rr_calloc(1, yaml->command->size);
	struct rr_error why = { .kind = RR_ERROR_NONE };
	const bool good = rr_command_line_take(yaml->command->line, scratch,
					       1 + (int)(check->n_words - first), argv, &why);

	free(scratch);
	free_words(argv);
	return good || refuse(yaml, node, "%s", why.text + (strncmp(why.text, "--", 2) ? 0 : 2));
}

static bool add_option(const struct yaml *yaml, struct rr_suite_check *check,
		       const struct rr_option *option, const yaml_node_t *node)
{
	const bool is_number = option->kind == RR_TAKES_NUMBER || option->kind == RR_TAKES_INT;
	const char *text = text_of(yaml, node, option->name);
	const size_t first = check->n_words;

	if (!text)
		return false;
	if (is_number && node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return refuse(yaml, node, "%s: expected a number: write it without quotes",
			      option->name);
	if (option->take_pair)
		return refuse(yaml, node, "%s: expected pairs, '%s', as in {GET counter: 2}",
			      option->name, option->argument);
	return add_word(yaml, check, node, rr_asprintf("--%s=%s", option->name, text)) &&
	       try_option(yaml, node, check, first);
}

static bool read_flag(const struct yaml *yaml, const char *name, const yaml_node_t *node,
		      bool *is_set)
{
	const char *text = text_of(yaml, node, name);
	const bool is_plain = text && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;

	if (!text)
		return false;
	*is_set = strcmp(text, "true") == 0;
	return (is_plain && (*is_set || strcmp(text, "false") == 0)) ||
	       refuse(yaml, node, "%s: expected true or false", name);
}

static bool add_pairs(struct yaml *yaml, struct rr_suite_check *check,
		      const struct rr_option *option, const yaml_node_t *node)
{
	if (!rr_suite_takes_pairs(option))
		return refuse(yaml, node, "%s: expected %s", option->name,
			      option->repeats ? "a text or a list of texts" :
						"one value, and no mapping");
	if (!check_keys(yaml, node))
		return false;
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		/*
		 * "NAME: COMMAND" is --client=NAME=COMMAND, "GET counter: 2" is --final='GET
		 * counter' 2.
		 */
		const yaml_node_t *at = node_at(yaml, pair->value);
		const char *name = text_of(yaml, node_at(yaml, pair->key), option->name);
		const char *value = name ? text_of(yaml, at, name) : NULL;
		const size_t first = check->n_words;
		bool good;

		if (!value)
			return false;
		if (option->take_pair)
			good = add_word(yaml, check, at,
					rr_asprintf("--%s=%s", option->name, name)) &&
			       add_word(yaml, check, at, rr_strdup(value));
		else
			good = add_word(yaml, check, at,
					rr_asprintf("--%s=%s=%s", option->name, name, value));
		if (!good || !try_option(yaml, at, check, first))
			return false;
	}
	return true;
}

static bool take_option(struct yaml *yaml, struct rr_suite_check *check,
			const struct rr_option *option, const yaml_node_t *node)
{
	if (node->type == YAML_SEQUENCE_NODE) {
		if (!option->repeats)
			return refuse(yaml, node, "%s: expected one value, and no list",
				      option->name);
		for (yaml_node_item_t *item = node->data.sequence.items.start;
		     item < node->data.sequence.items.top; item++) {
			if (!add_option(yaml, check, option, node_at(yaml, *item)))
				return false;
		}
		return true;
	}
	if (node->type == YAML_MAPPING_NODE)
		return add_pairs(yaml, check, option, node);
	if (option->kind == RR_TAKES_NOTHING) {
		bool is_set;

		return read_flag(yaml, option->name, node, &is_set) &&
		       (!is_set || add_word(yaml, check, node, rr_asprintf("--%s", option->name)));
	}
	return add_option(yaml, check, option, node);
}

/* ---- Keys of a suite's own ----------------------------------------------------------- */

/* A line for the shell, or words. */
static bool take_command(struct yaml *yaml, struct rr_suite_check *check, const yaml_node_t *node)
{
	const char *text;

	add_word(yaml, check, node, rr_strdup("--"));
	if (node->type == YAML_SCALAR_NODE)
		return (text = text_of(yaml, node, "command")) != NULL &&
		       add_word(yaml, check, node, rr_strdup("sh")) &&
		       add_word(yaml, check, node, rr_strdup("-c")) &&
		       add_word(yaml, check, node, rr_strdup(text));
	if (node->type != YAML_SEQUENCE_NODE ||
	    node->data.sequence.items.start == node->data.sequence.items.top)
		return refuse(yaml, node,
			      "command: expected a line for the shell, or a list of words");
	for (yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		text = text_of(yaml, node_at(yaml, *item), "command");
		if (!text || !add_word(yaml, check, node, rr_strdup(text)))
			return false;
	}
	return true;
}

/* What was called otherwise before schema 5 is known by its old name, too; malloc'd. */
static char *name_of_known(const char *text)
{
	static const struct {
		const char *old, *now;
	} names[] = {
		{ "both did what only one should", "check-then-act" },
		{ "left without a lease", "left without TTL" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t length = strlen(names[i].old);

		if (strncmp(text, names[i].old, length) == 0)
			return rr_asprintf("%s%s", names[i].now, text + length);
	}
	return rr_strdup(text);
}

static bool take_expectation(const struct yaml *yaml, struct rr_suite_check *check,
			     const yaml_node_t *node)
{
	const char *text = text_of(yaml, node, "expect");
	char list[400];
	int n = 0;

	if (!text)
		return false;
	text = strcmp(text, "inconclusive") == 0 ? rr_suite_outcomes[1] : text;
	for (; rr_suite_outcomes[n]; n++) {
		if (strcmp(rr_suite_outcomes[n], text) == 0) {
			check->expected = n;
			return true;
		}
	}
	return refuse(yaml, node, "expect '%.100s': expected %s", text,
		      rr_list_words(list, sizeof(list), rr_suite_outcomes, (size_t)n));
}

/* ---- Checks -------------------------------------------------------------------------- */

/* The command stands after the options: it is taken in a second pass. */
static bool take_entry(struct yaml *yaml, struct rr_suite_check *check,
		       const yaml_node_pair_t *pair, bool is_command)
{
	const yaml_node_t *name = node_at(yaml, pair->key), *value = node_at(yaml, pair->value);
	const char *text = (const char *)name->data.scalar.value;
	struct rr_suite_key key;
	bool is_set;

	if (!rr_suite_find_key(yaml->command, text, value->type != YAML_SCALAR_NODE, &key)) {
		const char *nearest = rr_suite_nearest_key(yaml->command, text);

		if (rr_suite_find_key(yaml->command, text, true, &key))
			return refuse(yaml, value, "%.100s: expected a list, as in [\"...\"]",
				      text);
		if (nearest)
			return refuse(yaml, name, "no key '%.100s'; did you mean '%s'?", text,
				      nearest);
		return refuse(yaml, name,
			      "no key '%.100s' of a check; 'redrace help check' shows them", text);
	}
	if (is_command != (key.kind == RR_SUITE_COMMAND))
		return true;
	switch (key.kind) {
	case RR_SUITE_COMMAND:
		return take_command(yaml, check, value);
	case RR_SUITE_EXPECT:
		return take_expectation(yaml, check, value);
	case RR_SUITE_KNOWN:
		if (value->type != YAML_SEQUENCE_NODE)
			return refuse(yaml, value,
				      "known: expected a list, as in [\"lost update (counter)\"]");
		for (yaml_node_item_t *item = value->data.sequence.items.start;
		     item < value->data.sequence.items.top; item++) {
			const char *one = text_of(yaml, node_at(yaml, *item), "known");

			if (!one)
				return false;
			check->known = rr_realloc(check->known, check->n_known + 2, sizeof(char *));
			check->known[check->n_known++] = name_of_known(one);
			check->known[check->n_known] = NULL;
		}
		return true;
	case RR_SUITE_GONE:
		check->has_gone = true;
		return read_flag(yaml, text, value, &is_set);
	default:
		return take_option(yaml, check, &key.option, value);
	}
}

static bool take_entries(struct yaml *yaml, struct rr_suite_check *check,
			 const struct pairs *entries, bool is_command)
{
	for (size_t i = 0; i < entries->n; i++) {
		if (!take_entry(yaml, check, entries->all[i], is_command))
			return false;
	}
	return true;
}

static bool check_name(const struct yaml *yaml, const yaml_node_t *node, const char *name)
{
	const size_t length = strlen(name);

	if (length > NAME_LENGTH)
		return refuse(yaml, node, "the name of a check has %d bytes at most", NAME_LENGTH);
	if (*name == '-')
		return refuse(yaml, node,
			      "'%.100s': the name of a check must not begin as options do", name);
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)name[i] < ' ' || name[i] == '\177')
			return refuse(
				yaml, node,
				"the name of a check is one line, without control characters");
	}
	return true;
}

static bool read_check(struct yaml *yaml, struct rr_suite_check *check,
		       const yaml_node_pair_t *pair, const yaml_node_t *defaults)
{
	const yaml_node_t *name = node_at(yaml, pair->key);
	struct pairs entries = { .n = 0 };

	check->line = (long)name->start_mark.line + 1;
	check->name = rr_plain((const char *)name->data.scalar.value);
	add_word(yaml, check, name, rr_strdup("redrace check"));
	if (!check_name(yaml, name, (const char *)name->data.scalar.value) ||
	    !gather(yaml, &entries, node_at(yaml, pair->value), check->name) ||
	    (defaults && !gather(yaml, &entries, defaults, "defaults")) ||
	    !take_entries(yaml, check, &entries, false) ||
	    (check->n_known && !add_word(yaml, check, name, rr_strdup("--all"))) ||
	    !take_entries(yaml, check, &entries, true))
		return false;
	/* Does all of it make a check? */
	char **argv = copy_words(check, 1);
	struct rr_error why = { .kind = RR_ERROR_NONE };
	const bool good = yaml->command->accept(yaml->command->context, (int)check->n_words, argv,
						&why);

	free_words(argv);
	if (!good)
		return refuse(yaml, name, "%.100s: %s", check->name, why.text);
	if (check->n_known && check->expected)
		return refuse(yaml, name,
			      "%.100s: 'known' is for a check that is expected to be %s",
			      check->name, rr_suite_outcomes[0]);
	return true;
}

/* ---- The file ------------------------------------------------------------------------ */

static bool read_root(struct yaml *yaml, struct rr_suite *suite)
{
	const yaml_node_t *root = yaml_document_get_root_node(&yaml->document);
	const yaml_node_t *checks = NULL, *defaults = NULL;

	if (root->type != YAML_MAPPING_NODE)
		return refuse(yaml, root, "expected 'checks:', and below it names of checks");
	if (!check_keys(yaml, root))
		return false;
	for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     pair < root->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = node_at(yaml, pair->key);
		const char *name = (const char *)key->data.scalar.value;

		if (strcmp(name, "checks") == 0)
			checks = node_at(yaml, pair->value);
		else if (strcmp(name, "defaults") == 0)
			defaults = node_at(yaml, pair->value);
		else
			return refuse(yaml, key,
				      "no key '%.100s' here: expected checks or defaults", name);
	}
	if (!checks)
		return refuse(yaml, root, "expected 'checks:', and below it names of checks");
	const yaml_node_pair_t *first, *end;

	if (checks->type != YAML_MAPPING_NODE)
		return refuse(yaml, checks, "checks: expected names of checks, each with its keys");
	first = checks->data.mapping.pairs.start;
	end = checks->data.mapping.pairs.top;
	if (end - first > CHECKS_MAX)
		return refuse(yaml, checks, "a suite has %d checks at most", CHECKS_MAX);
	if (!check_keys(yaml, checks))
		return false;
	suite->checks = rr_calloc((size_t)(end - first) + 1, sizeof(*suite->checks));
	for (const yaml_node_pair_t *pair = first; pair < end; pair++) {
		if (!read_check(yaml, &suite->checks[suite->n++], pair, defaults))
			return false;
	}
	return suite->n > 0 ||
	       refuse(yaml, checks, "there is no check: write one, NAME: {command: ...}");
}

bool rr_suite_parse(struct rr_suite *suite, const char *path, const char *text, size_t size,
		    const struct rr_suite_command *command, struct rr_error *error)
{
	struct yaml yaml;
	bool good;

	*suite = (struct rr_suite){ .path = path };
	if (!open_document(&yaml, path, text, size, command, error))
		return false;
	good = read_root(&yaml, suite);
	yaml_document_delete(&yaml.document);
	return good;
}

bool rr_suite_read(struct rr_suite *suite, const char *path, const struct rr_suite_command *command,
		   struct rr_error *error)
{
	size_t size;
	char *text = rr_files_read(path, RR_ERROR_DATA, 1, &size, error);
	bool good;

	*suite = (struct rr_suite){ .path = path };
	good = text && rr_suite_parse(suite, path, text, size, command, error);
	free(text);
	return good;
}

void rr_suite_release(struct rr_suite *suite)
{
	for (size_t i = 0; i < suite->n; i++) {
		free(suite->checks[i].name);
		free_words(suite->checks[i].words);
		free_words(suite->checks[i].known);
	}
	free(suite->checks);
	*suite = (struct rr_suite){ .n = 0 };
}
