/* SPDX-License-Identifier: MIT */
/* Which keys a check has, and of which types: the options of the command, and a few of a
 * suite's own. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "suite.h"

enum { NAME_SIZE = 64, NAMES_MAX = 2 * RR_OPTIONS_MAX };

static const struct own_key {
	const char *name, *help;
	enum rr_suite_key_kind kind;
} own_keys[] = {
	{ "command", "the program that each client runs: a line for the shell, or a list of words",
	  RR_SUITE_COMMAND },
	{ "expect", "what the check comes to if all is well", RR_SUITE_EXPECT },
	{ "known",
	  "findings that are known, as results name them under known_as: they do not fail the check, another one does",
	  RR_SUITE_KNOWN },
	{ "atomic", "says nothing any more, because every check compares so: leave it out",
	  RR_SUITE_GONE },
};

enum { N_OWN = sizeof(own_keys) / sizeof(own_keys[0]) };

/* The next row from *index on that is a key. What is printed is said for the whole suite. */
static bool next_key(const struct rr_suite_command *command, size_t *index,
		     struct rr_option *option)
{
	while (rr_option_at(command->line, (*index)++, option)) {
		if (option->name && option->at < command->whole_at &&
		    option->kind != RR_TAKES_FORMAT)
			return true;
	}
	return false;
}

bool rr_suite_takes_pairs(const struct rr_option *option)
{
	return option->take_pair || (option->repeats && strchr(option->argument, '='));
}

/* "request" of "requests". */
static bool is_plural(const char *name, const struct rr_option *option)
{
	const size_t length = strlen(option->name);

	return option->repeats && strncmp(name, option->name, length) == 0 &&
	       strcmp(name + length, "s") == 0;
}

bool rr_suite_find_key(const struct rr_suite_command *command, const char *name, bool is_list,
		       struct rr_suite_key *key)
{
	bool is_found = false;
	struct rr_option option;

	for (size_t i = 0; i < N_OWN; i++) {
		if (strcmp(name, own_keys[i].name) == 0) {
			key->kind = own_keys[i].kind;
			return true;
		}
	}
	key->kind = RR_SUITE_OPTION;
	for (size_t i = 0; next_key(command, &i, &option);) {
		const bool is_named = strcmp(name, option.name) == 0;

		if (is_named ? is_found : !is_list || !is_plural(name, &option))
			continue;
		key->option = option;
		is_found = true;
	}
	return is_found;
}

const char *rr_suite_nearest_key(const struct rr_suite_command *command, const char *name)
{
	const char *names[NAMES_MAX];
	struct rr_option option;
	size_t n = 0;

	for (size_t i = 0; i < N_OWN; i++)
		names[n++] = own_keys[i].name;
	for (size_t i = 0; n < NAMES_MAX && next_key(command, &i, &option);)
		names[n++] = option.name;
	return rr_nearest(name, names, n);
}

/* ---- The schema ---------------------------------------------------------------------- */

static json_t *one_value(const struct rr_option *option)
{
	json_t *words;

	switch (option->kind) {
	case RR_TAKES_NOTHING:
		return json_pack("{s:s}", "type", "boolean");
	case RR_TAKES_INT:
	case RR_TAKES_NUMBER:
		return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum",
				 (json_int_t)option->min, "maximum", (json_int_t)option->max);
	case RR_TAKES_WORD:
		words = json_array();
		for (size_t i = 0; i < option->n_words; i++)
			json_array_append_new(words, json_string(option->words[i]));
		return json_pack("{s:o}", "enum", words);
	default:
		return json_pack("{s:[s, s]}", "type", "string", "number");
	}
}

static json_t *list_of(json_t *values)
{
	return json_pack("{s:s, s:o}", "type", "array", "items", values);
}

static void add_key(json_t *keys, const char *name, const struct rr_option *option)
{
	json_t *key = json_object_get(keys, name);

	if (!key) {
		char *help = rr_option_help(option);

		key = json_pack("{s:s, s:[]}", "description", help, "anyOf");
		free(help);
		json_object_set_new(keys, name, key);
	}
	/*
	 * Which types a key of that option has, added to those that its name has already. A plural
	 * has several values.
	 */
	json_t *types = json_object_get(key, "anyOf");
	const bool is_plural_name = strcmp(name, option->name) != 0;

	if (!option->take_pair && !is_plural_name)
		json_array_append_new(types, one_value(option));
	if (option->repeats && !option->take_pair)
		json_array_append_new(types, list_of(one_value(option)));
	if (rr_suite_takes_pairs(option))
		json_array_append_new(types, json_pack("{s:s, s:o}", "type", "object",
						       "additionalProperties", one_value(option)));
}

static json_t *own_type(enum rr_suite_key_kind kind)
{
	const struct rr_option text = { .kind = RR_TAKES_TEXT };
	const struct rr_option flag = { .kind = RR_TAKES_NOTHING };

	if (kind == RR_SUITE_EXPECT) {
		json_t *outcomes = json_array();

		for (size_t i = 0; rr_suite_outcomes[i]; i++)
			json_array_append_new(outcomes, json_string(rr_suite_outcomes[i]));
		return json_pack("{s:o}", "enum", outcomes);
	}
	if (kind == RR_SUITE_GONE)
		return one_value(&flag);
	if (kind == RR_SUITE_KNOWN)
		return list_of(one_value(&text));
	return json_pack("{s:[o, o]}", "anyOf", one_value(&text), list_of(one_value(&text)));
}

static json_t *schema_of_check(const struct rr_suite_command *command)
{
	json_t *keys = json_object();
	struct rr_option option;
	char name[NAME_SIZE];

	for (size_t i = 0; i < N_OWN; i++) {
		json_t *key = own_type(own_keys[i].kind);

		json_object_set_new(key, "description", json_string(own_keys[i].help));
		json_object_set_new(keys, own_keys[i].name, key);
	}
	for (size_t i = 0; next_key(command, &i, &option);)
		add_key(keys, option.name, &option);
	for (size_t i = 0; next_key(command, &i, &option);) {
		snprintf(name, sizeof(name), "%ss", option.name);
		if (option.repeats)
			add_key(keys, name, &option);
	}
	json_object_set_new(keys, "<<", json_object());
	return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", keys,
			 "additionalProperties", 0);
}

void rr_suite_write_schema(const struct rr_suite_command *command, FILE *out)
{
	json_t *schema = json_pack(
		"{s:s, s:s, s:s, s:s, s:{s:{s:s, s:s}, s:{s:s, s:s, s:{s:s}}}, s:[s], s:b, s:{s:o}}",
		"$schema", "http://json-schema.org/draft-07/schema#", "title",
		RR_SUITE_FILE ": checks of redrace", "$comment",
		"Made by 'redrace help --schema' of the options of redrace check.", "type",
		"object", "properties", "defaults", "description",
		"keys that each check has which does not have them itself", "$ref",
		"#/definitions/check", "checks", "type", "object", "description",
		"checks by their names", "additionalProperties", "$ref", "#/definitions/check",
		"required", "checks", "additionalProperties", 0, "definitions", "check",
		schema_of_check(command));

	json_dumpf(schema, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(schema);
}
