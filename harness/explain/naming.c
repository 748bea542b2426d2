/* SPDX-License-Identifier: MIT */
#include "explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"

struct rr_named_token {
	char hex[2 * RR_RANDOM_BYTES + 1], name[16];
};

char *rr_naming_tidy(const struct rr_naming *naming, char *text)
{
	char *named;
	FILE *file = rr_open_text(&named);

	for (const char *at = text; *at;) {
		const struct rr_named_token *token = NULL;

		for (size_t i = 0; i < naming->n_tokens && !token; i++) {
			const char *hex = naming->tokens[i].hex;

			if (hex[0] && strncmp(at, hex, strlen(hex)) == 0)
				token = &naming->tokens[i];
		}
		if (token)
			fputs(token->name, file);
		else
			fputc(*at, file);
		at += token ? strlen(token->hex) : 1;
	}
	fclose(file);
	free(text);
	return named;
}

const char *rr_naming_script(const struct rr_naming *naming, const char *source,
			     char name[RR_SCRIPT_NAME])
{
	const struct rr_script_name *it = naming->script_names;
	const struct rr_scripts *scripts = naming->scripts;
	size_t number = 0;

	for (; it && it->part; it++) {
		if (strstr(source, it->part))
			return it->name;
	}
	while (number < scripts->n && strcmp(scripts->all[number].source.text, source) != 0)
		number++;
	snprintf(name, RR_SCRIPT_NAME, "script%zu", number + 1);
	return name;
}

char *rr_naming_command(const struct rr_naming *naming, uint32_t number)
{
	const struct rdl_command *command = &naming->terms->command[number].words;
	const char *first = command->words[0].text;
	const bool is_hash = strcasecmp(first, "EVALSHA") == 0;
	const struct rdl_word *source;
	const char *word;
	char name[RR_SCRIPT_NAME], *rest, *text;

	if (command->n_words < 3 || (!is_hash && strcasecmp(first, "EVAL") != 0))
		return rr_naming_tidy(naming, rr_join_words(command->words, command->n_words));
	word = command->words[1].text;
	source = rr_scripts_find(naming->scripts, word);
	rest = rr_join_words(&command->words[3], command->n_words - 3);
	text = rr_asprintf("EVAL %s %s",
			   rr_naming_script(naming, source ? source->text : word, name), rest);
	free(rest);
	return rr_naming_tidy(naming, text);
}

char *rr_naming_reply(const struct rr_naming *naming, uint32_t number)
{
	char *text;
	FILE *file = rr_open_text(&text);

	rr_write_reply(file, &naming->terms->reply[number].reply);
	fclose(file);
	return rr_naming_tidy(naming, text);
}

/* ---- Beginning and end -------------------------------------------------------- */

struct rr_naming rr_naming_of(const struct rr_terms *terms, const struct rr_scripts *scripts,
			      const struct rr_script_name *script_names)
{
	const struct rr_naming naming = {
		.terms = terms,
		.scripts = scripts,
		.script_names = script_names,
		.tokens = rr_calloc(terms->n_names + 1, sizeof(*naming.tokens)),
		.n_tokens = terms->n_names,
	};

	for (size_t i = 0; i < naming.n_tokens; i++) {
		const struct rr_term_name *term = &terms->names[i];
		struct rr_named_token *token = &naming.tokens[i];
		const int bit = term->mask ? __builtin_ctzll(term->mask) : -1;
		const int generation = bit % RR_GENERATIONS;

		/* "tokenA", and "tokenA2" of a later attempt. */
		for (size_t j = 0; j < term->n_bytes; j++)
			snprintf(&token->hex[2 * j], 3, "%02x", term->bytes[j]);
		if (bit < 0)
			snprintf(token->name, sizeof(token->name), "token");
		else if (generation == 0)
			snprintf(token->name, sizeof(token->name), "token%c",
				 'A' + bit / RR_GENERATIONS);
		else
			snprintf(token->name, sizeof(token->name), "token%c%d",
				 'A' + bit / RR_GENERATIONS, generation + 1);
	}
	return naming;
}

void rr_naming_release(struct rr_naming *naming)
{
	free(naming->tokens);
	naming->tokens = NULL;
}

/* ---- Invariants ------------------------------------------------------------ */

const char *rr_invariant_name(int bit)
{
	static const char *const names[RR_INVARIANTS] = { "count",     "exclusion", "lease",
							  "ownership", "deadlock",  "starvation" };

	return names[bit];
}

const char *rr_breaks_text(unsigned breaks, char *text, size_t size)
{
	text[0] = '\0';
	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (breaks >> i & 1)
			rr_add_text(text, size, "%s%s", text[0] ? ", " : "", rr_invariant_name(i));
	}
	return text;
}

const char *rr_smallest_text(const struct rr_smallest smallest[RR_INVARIANTS],
			     char text[RR_SMALLEST_SIZE])
{
	FILE *file = rr_open_fixed(text, RR_SMALLEST_SIZE);

	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (smallest[i].n)
			fprintf(file, "%s%s %u*%llu", ftell(file) ? ", " : "", rr_invariant_name(i),
				smallest[i].steps, (unsigned long long)smallest[i].n);
	}
	fclose(file);
	return text;
}

json_t *rr_invariants_json(unsigned breaks)
{
	json_t *list = json_array();

	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (breaks >> i & 1)
			json_array_append_new(list, json_string(rr_invariant_name(i)));
	}
	return list;
}
