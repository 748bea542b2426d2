/* SPDX-License-Identifier: MIT */
/* The file of a suite: what libyaml makes of it, each key as words of a command line, and
 * where it is wrong. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "nodes.h"
#include "suite.h"

enum { CHECKS_MAX = 10000, NAME_LENGTH = 200, WORDS_MAX = 500 };

/* ---- Words --------------------------------------------------------------------------- */

/* Takes the word over. */
static bool add_word(const struct rr_yaml *yaml, struct rr_suite_check *check,
		     const yaml_node_t *node, char *word)
{
	check->words = rr_realloc(check->words, check->n_words + 2, sizeof(*check->words));
	check->words[check->n_words++] = word;
	check->words[check->n_words] = NULL;
	return check->n_words < WORDS_MAX ||
	       rr_yaml_refuse(yaml, node, "a check has %d words at most", WORDS_MAX);
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
static bool try_option(const struct rr_yaml *yaml, const yaml_node_t *node,
		       const struct rr_suite_check *check, size_t first)
{
	char **argv = copy_words(check, first);
	void *scratch = rr_calloc(1, yaml->command->size);
	struct rr_error why = { .kind = RR_ERROR_NONE };
	const bool good = rr_command_line_take(yaml->command->line, scratch,
					       1 + (int)(check->n_words - first), argv, &why);

	free(scratch);
	free_words(argv);
	return good ||
	       rr_yaml_refuse(yaml, node, "%s", why.text + (strncmp(why.text, "--", 2) ? 0 : 2));
}

static bool add_option(const struct rr_yaml *yaml, struct rr_suite_check *check,
		       const struct rr_option *option, const yaml_node_t *node)
{
	const bool is_number = option->kind == RR_TAKES_NUMBER || option->kind == RR_TAKES_INT;
	const char *text = rr_yaml_text(yaml, node, option->name);
	const size_t first = check->n_words;

	if (!text)
		return false;
	if (is_number && node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return rr_yaml_refuse(yaml, node, "%s: expected a number: write it without quotes",
				      option->name);
	if (option->take_pair)
		return rr_yaml_refuse(yaml, node,
				      "%s: expected pairs, '%s', as in {GET counter: 2}",
				      option->name, option->argument);
	return add_word(yaml, check, node, rr_asprintf("--%s=%s", option->name, text)) &&
	       try_option(yaml, node, check, first);
}

static bool read_flag(const struct rr_yaml *yaml, const char *name, const yaml_node_t *node,
		      bool *is_set)
{
	const char *text = rr_yaml_text(yaml, node, name);
	const bool is_plain = text && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;

	if (!text)
		return false;
	*is_set = strcmp(text, "true") == 0;
	return (is_plain && (*is_set || strcmp(text, "false") == 0)) ||
	       rr_yaml_refuse(yaml, node, "%s: expected true or false", name);
}

static bool add_pairs(struct rr_yaml *yaml, struct rr_suite_check *check,
		      const struct rr_option *option, const yaml_node_t *node)
{
	if (!rr_suite_takes_pairs(option))
		return rr_yaml_refuse(yaml, node, "%s: expected %s", option->name,
				      option->repeats ? "a text or a list of texts" :
							"one value, and no mapping");
	if (!rr_yaml_check_keys(yaml, node))
		return false;
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		/*
		 * "NAME: COMMAND" is --client=NAME=COMMAND, "GET counter: 2" is --final='GET
		 * counter' 2.
		 */
		const yaml_node_t *at = rr_yaml_node(yaml, pair->value);
		const char *name = rr_yaml_text(yaml, rr_yaml_node(yaml, pair->key), option->name);
		const char *value = name ? rr_yaml_text(yaml, at, name) : NULL;
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

static bool take_option(struct rr_yaml *yaml, struct rr_suite_check *check,
			const struct rr_option *option, const yaml_node_t *node)
{
	if (node->type == YAML_SEQUENCE_NODE) {
		if (!option->repeats)
			return rr_yaml_refuse(yaml, node, "%s: expected one value, and no list",
					      option->name);
		for (yaml_node_item_t *item = node->data.sequence.items.start;
		     item < node->data.sequence.items.top; item++) {
			if (!add_option(yaml, check, option, rr_yaml_node(yaml, *item)))
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
static bool take_command(struct rr_yaml *yaml, struct rr_suite_check *check,
			 const yaml_node_t *node)
{
	const char *text;

	add_word(yaml, check, node, rr_strdup("--"));
	if (node->type == YAML_SCALAR_NODE)
		return (text = rr_yaml_text(yaml, node, "command")) != NULL &&
		       add_word(yaml, check, node, rr_strdup("sh")) &&
		       add_word(yaml, check, node, rr_strdup("-c")) &&
		       add_word(yaml, check, node, rr_strdup(text));
	if (node->type != YAML_SEQUENCE_NODE ||
	    node->data.sequence.items.start == node->data.sequence.items.top)
		return rr_yaml_refuse(yaml, node,
				      "command: expected a line for the shell, or a list of words");
	for (yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		text = rr_yaml_text(yaml, rr_yaml_node(yaml, *item), "command");
		if (!text || !add_word(yaml, check, node, rr_strdup(text)))
			return false;
	}
	return true;
}

static bool take_expectation(const struct rr_yaml *yaml, struct rr_suite_check *check,
			     const yaml_node_t *node)
{
	const char *text = rr_yaml_text(yaml, node, "expect");
	char list[400];
	int n = 0;

	if (!text)
		return false;
	for (; rr_suite_outcomes[n]; n++) {
		if (strcmp(rr_suite_outcomes[n], text) == 0) {
			check->expected = n;
			return true;
		}
	}
	return rr_yaml_refuse(yaml, node, "expect '%.100s': expected %s", text,
			      rr_list_words(list, sizeof(list), rr_suite_outcomes, (size_t)n));
}

/* ---- Checks -------------------------------------------------------------------------- */

/* The command stands behind the options: it is taken in a second pass. */
static bool take_entry(struct rr_yaml *yaml, struct rr_suite_check *check,
		       const yaml_node_pair_t *pair, bool is_command)
{
	const yaml_node_t *name = rr_yaml_node(yaml, pair->key),
			  *value = rr_yaml_node(yaml, pair->value);
	const char *text = (const char *)name->data.scalar.value;
	struct rr_suite_key key;
	bool is_set;

	if (!rr_suite_find_key(yaml->command, text, value->type != YAML_SCALAR_NODE, &key)) {
		const char *nearest = rr_suite_nearest_key(yaml->command, text);

		if (nearest)
			return rr_yaml_refuse(yaml, name, "no key '%.100s'; did you mean '%s'?",
					      text, nearest);
		return rr_yaml_refuse(yaml, name,
				      "no key '%.100s' of a check; 'redrace help check' shows them",
				      text);
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
			return rr_yaml_refuse(
				yaml, value,
				"known: expected a list, as in [\"lost update (counter)\"]");
		for (yaml_node_item_t *item = value->data.sequence.items.start;
		     item < value->data.sequence.items.top; item++) {
			const char *one = rr_yaml_text(yaml, rr_yaml_node(yaml, *item), "known");

			if (!one)
				return false;
			check->known = rr_realloc(check->known, check->n_known + 2, sizeof(char *));
			check->known[check->n_known++] = rr_strdup(one);
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

static bool take_entries(struct rr_yaml *yaml, struct rr_suite_check *check,
			 const struct rr_yaml_pairs *entries, bool is_command)
{
	for (size_t i = 0; i < entries->n; i++) {
		if (!take_entry(yaml, check, entries->all[i], is_command))
			return false;
	}
	return true;
}

static bool check_name(const struct rr_yaml *yaml, const yaml_node_t *node, const char *name)
{
	const size_t length = strlen(name);

	if (length > NAME_LENGTH)
		return rr_yaml_refuse(yaml, node, "the name of a check has %d bytes at most",
				      NAME_LENGTH);
	if (*name == '-')
		return rr_yaml_refuse(yaml, node,
				      "'%.100s': the name of a check must not begin as options do",
				      name);
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)name[i] < ' ' || name[i] == '\177')
			return rr_yaml_refuse(
				yaml, node,
				"the name of a check is one line, without control characters");
	}
	return true;
}

static bool read_check(struct rr_yaml *yaml, struct rr_suite_check *check,
		       const yaml_node_pair_t *pair, const yaml_node_t *defaults)
{
	const yaml_node_t *name = rr_yaml_node(yaml, pair->key);
	struct rr_yaml_pairs entries = { .n = 0 };

	check->line = (long)name->start_mark.line + 1;
	check->name = rr_plain((const char *)name->data.scalar.value);
	add_word(yaml, check, name, rr_strdup("redrace check"));
	if (!check_name(yaml, name, (const char *)name->data.scalar.value) ||
	    !rr_yaml_gather(yaml, &entries, rr_yaml_node(yaml, pair->value), check->name) ||
	    (defaults && !rr_yaml_gather(yaml, &entries, defaults, "defaults")) ||
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
		return rr_yaml_refuse(yaml, name, "%.100s: %s", check->name, why.text);
	if (check->n_known && check->expected)
		return rr_yaml_refuse(yaml, name,
				      "%.100s: 'known' is for a check that is expected to be %s",
				      check->name, rr_suite_outcomes[0]);
	return true;
}

/* ---- The file ------------------------------------------------------------------------ */

static bool read_root(struct rr_yaml *yaml, struct rr_suite *suite)
{
	const yaml_node_t *root = yaml_document_get_root_node(&yaml->document);
	const yaml_node_t *checks = NULL, *defaults = NULL;

	if (root->type != YAML_MAPPING_NODE)
		return rr_yaml_refuse(yaml, root,
				      "expected 'checks:', and below it names of checks");
	if (!rr_yaml_check_keys(yaml, root))
		return false;
	for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     pair < root->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = rr_yaml_node(yaml, pair->key);
		const char *name = (const char *)key->data.scalar.value;

		if (strcmp(name, "checks") == 0)
			checks = rr_yaml_node(yaml, pair->value);
		else if (strcmp(name, "defaults") == 0)
			defaults = rr_yaml_node(yaml, pair->value);
		else
			return rr_yaml_refuse(yaml, key,
					      "no key '%.100s' here: expected checks or defaults",
					      name);
	}
	if (!checks)
		return rr_yaml_refuse(yaml, root,
				      "expected 'checks:', and below it names of checks");
	const yaml_node_pair_t *first, *end;

	if (checks->type != YAML_MAPPING_NODE)
		return rr_yaml_refuse(yaml, checks,
				      "checks: expected names of checks, each with its keys");
	first = checks->data.mapping.pairs.start;
	end = checks->data.mapping.pairs.top;
	if (end - first > CHECKS_MAX)
		return rr_yaml_refuse(yaml, checks, "a suite has %d checks at most", CHECKS_MAX);
	if (!rr_yaml_check_keys(yaml, checks))
		return false;
	suite->checks = rr_calloc((size_t)(end - first) + 1, sizeof(*suite->checks));
	for (const yaml_node_pair_t *pair = first; pair < end; pair++) {
		if (!read_check(yaml, &suite->checks[suite->n++], pair, defaults))
			return false;
	}
	return suite->n > 0 ||
	       rr_yaml_refuse(yaml, checks, "there is no check: write one, NAME: {command: ...}");
}

bool rr_suite_parse(struct rr_suite *suite, const char *path, const char *text, size_t size,
		    const struct rr_suite_command *command, struct rr_error *error)
{
	struct rr_yaml yaml;
	bool good;

	*suite = (struct rr_suite){ .path = path };
	if (!rr_yaml_open(&yaml, path, text, size, command, error))
		return false;
	good = read_root(&yaml, suite);
	yaml_document_delete(&yaml.document);
	return good;
}

bool rr_suite_read(struct rr_suite *suite, const char *path, const struct rr_suite_command *command,
		   struct rr_error *error)
{
	const enum rr_error_kind kind = access(path, F_OK) == 0 ? RR_ERROR_DATA : RR_ERROR_USAGE;
	size_t size;
	char *text = rr_files_read(path, kind, 1, &size, error);
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
