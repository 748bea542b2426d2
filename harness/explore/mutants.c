/* SPDX-License-Identifier: MIT */
/* Which mutants a strategy has, what each does, and what it is called. */
#include "mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"

/* ---- Commands ------------------------------------------------------------- */

static bool word_is(const struct rdl_command *command, size_t i, const char *text)
{
	return i < command->n_words && rr_word_is(&command->words[i], text);
}

/* The place of an option of SET; 0 = it has none. */
static size_t option_of_set(const struct rdl_command *command, const char *name)
{
	for (size_t i = 3; word_is(command, 0, "SET") && i < command->n_words; i++) {
		if (word_is(command, i, name))
			return i;
	}
	return 0;
}

static size_t lease_of_set(const struct rdl_command *command)
{
	const size_t px = option_of_set(command, "PX");

	return px ? px : option_of_set(command, "EX");
}

static void remove_words(struct rdl_command *command, size_t at, size_t n)
{
	command->n_words -= n;
	memmove(&command->words[at], &command->words[at + n],
		(command->n_words - at) * sizeof(command->words[0]));
}

static struct rdl_word make_word(const char *text)
{
	return (struct rdl_word){ text, strlen(text) };
}

/* SETNX that sets in any case, and says that it was free. */
static void always_set(struct rdl_command *command)
{
	command->words[3] = command->words[1];
	command->words[4] = command->words[2];
	command->words[0] = make_word("EVAL");
	command->words[1] = make_word("redis.call('SET', KEYS[1], ARGV[1]) return 1");
	command->words[2] = make_word("1");
	command->n_words = 5;
}

static const char *script_of_command(const struct rdl_command *command,
				     const struct rr_scripts *scripts)
{
	const struct rdl_word *source = NULL;

	if (word_is(command, 0, "EVALSHA") && command->n_words > 1) {
		source = rr_scripts_find(scripts, command->words[1].text);
		return source ? source->text : NULL;
	}
	return word_is(command, 0, "EVAL") && command->n_words > 1 ? command->words[1].text : NULL;
}

uint32_t rr_mutant_apply(void *context, struct rdl_command *command)
{
	struct rr_mutation *mutation = context;
	struct rr_terms *terms = mutation->terms;
	const uint32_t id = rr_terms_command(terms, command);

	if (mutation->how == RR_MUTANT_NO_MUTEX || id == RR_NO_ID ||
	    terms->command[id].kind != mutation->kind)
		return RR_NO_ID;
	switch (mutation->how) {
	case RR_MUTANT_SKIP:
		return mutation->answer;
	case RR_MUTANT_NO_NX:
		if (word_is(command, 0, "SETNX"))
			always_set(command);
		else
			remove_words(command, option_of_set(command, "NX"), 1);
		break;
	case RR_MUTANT_NO_LEASE:
		remove_words(command, lease_of_set(command), 2);
		break;
	default:
		command->words[0] = make_word("EVAL");
		command->words[1] = make_word(mutation->script);
		break;
	}
	return RR_NO_ID;
}

/* Of a command; all of it fits into a name. */
enum { WORDS_SHOWN = 7, WORD_SHOWN = 24 };

/* ---- Texts ---------------------------------------------------------------- */

/* An example of its commands; NULL: it changes none. */
static const struct rdl_command *find_example(const struct rr_mutation *mutation)
{
	for (uint32_t i = 0; i < mutation->terms->n_commands; i++) {
		if (mutation->terms->command[i].kind == mutation->kind)
			return &mutation->terms->command[i].words;
	}
	return NULL;
}

void rr_mutant_text(const struct rr_mutation *mutation, struct rr_mutant_result *result)
{
	static const struct {
		const char *does, *rests_on;
	} texts[] = {
		[RR_MUTANT_SKIP] = { " is not sent", "" },
		[RR_MUTANT_NO_NX] = { " sets in any case", ": only if it is absent" },
		[RR_MUTANT_NO_LEASE] = { " without a lease", ": its lease" },
		[RR_MUTANT_NO_COMPARE] = { " without the comparison", ": its comparison" },
		[RR_MUTANT_NO_MUTEX] = { "no client waits for the mutex", "the mutex" },
	};
	const struct rdl_command *command = find_example(mutation);
	char what[RR_MUTANT_NAME - 28];
	FILE *file = rr_open_fixed(what, sizeof(what));

	if (command) {
		const char *source = script_of_command(command, mutation->scripts);

		if (source) {
			fputs("script \"", file);
			for (size_t i = 0; source[i] && i < 30; i++)
				fputc(source[i] == '\n' ? ' ' : source[i], file);
			fputs("...\"", file);
		} else {
			for (size_t i = 0; i < command->n_words && i < WORDS_SHOWN; i++) {
				const struct rdl_word *it = &command->words[i];
				char *plain = rr_plain_cut(it->text, it->length, WORD_SHOWN, "...");

				fprintf(file, "%s%s", i ? " " : "",
					rr_terms_names_in(mutation->terms, it->text, it->length) ?
						"TOKEN" :
						plain);
				free(plain);
			}
			if (command->n_words > WORDS_SHOWN)
				fputs(" ...", file);
		}
	}
	fclose(file);
	snprintf(result->name, sizeof(result->name), "%s%s", what, texts[mutation->how].does);
	snprintf(result->rests_on, sizeof(result->rests_on), "%s%s", what,
		 texts[mutation->how].rests_on);
}

/* ---- The list ------------------------------------------------------------- */

struct mutant_list {
	const struct rr_product *product;
	const struct rr_scripts *scripts;
	struct rr_mutation *mutations;
	size_t n;
};

/* What is known of all commands of a kind. */
struct kind_use {
	uint32_t answer; /* what the first one was answered, in the state in
			  * which the first client met it: as if nobody else
			  * was there. RR_NO_ID: it was never executed */
	bool writes;     /* one has changed what is stored */
};

static struct kind_use use_of_kind(const struct rr_product *product, uint32_t kind)
{
	const struct rr_terms *terms = product->config.program->terms;
	struct kind_use use = { .answer = RR_NO_ID };

	for (int i = 0; i < 2; i++) {
		const struct rr_server_table *table = product->tables[i];

		for (uint32_t j = 0; j < table->rows.n; j++) {
			const struct rr_server_row *row = &table->row[j];
			const uint32_t command = (uint32_t)row->question.argument;

			if (row->question.kind != RR_ASK_COMMAND ||
			    terms->command[command].kind != kind)
				continue;
			use.writes |= table->states[row->from].data != table->states[row->to].data;
			if (use.answer == RR_NO_ID && command != product->get_counter)
				use.answer = row->reply;
		}
	}
	return use;
}

/* Unless it is there already, or there are too many: NULL. */
static struct rr_mutation *add_mutation(struct mutant_list *list, enum rr_mutation_kind how,
					uint32_t kind)
{
	struct rr_mutation *mutation = &list->mutations[list->n];

	for (size_t i = 0; i < list->n; i++) {
		if (list->mutations[i].kind == kind && list->mutations[i].how == how)
			return NULL;
	}
	if (list->n == RR_MUTANTS_MAX)
		return NULL;
	list->n++;
	*mutation = (struct rr_mutation){
		.how = how,
		.kind = kind,
		.terms = list->product->config.program->terms,
		.scripts = list->scripts,
	};
	return mutation;
}

/* "a == ARGV[1]" becomes "a ~= '\0' or '\0' == ARGV[1]", which holds whatever a
 * is. */
static bool without_comparison(const char *source, char *text, size_t size)
{
	static const char compares[] = "== ARGV[";
	static const char holds[] = "~= '\\0' or '\\0' == ARGV[";
	const char *at = strstr(source, compares);
	size_t used = 0;

	if (!at)
		return false;
	for (; at; at = strstr(source, compares)) {
		used += (size_t)snprintf(text + used, size - used, "%.*s%s", (int)(at - source),
					 source, holds);
		source = at + strlen(compares);
	}
	used += (size_t)snprintf(text + used, size - used, "%s", source);
	return used < size;
}

static void add_skip(struct mutant_list *list, uint32_t kind, uint32_t answer)
{
	struct rr_mutation *mutation = answer == RR_NO_ID ?
					       NULL :
					       add_mutation(list, RR_MUTANT_SKIP, kind);

	if (mutation)
		mutation->answer = answer;
}

/* What guards comes first, then what writes, and last what only reads. */
enum { PASS_GUARDS, PASS_WRITES, PASS_READS, PASSES };

static void add_kind(struct mutant_list *list, uint32_t id, int pass)
{
	const struct rr_terms *terms = list->product->config.program->terms;
	const struct rdl_command *command = &terms->command[id].words;
	const uint32_t kind = terms->command[id].kind;
	struct kind_use use;

	if (pass == PASS_GUARDS) {
		const char *source = script_of_command(command, list->scripts);
		char text[sizeof(list->mutations->script)];
		struct rr_mutation *mutation = NULL;

		if (word_is(command, 0, "WATCH"))
			add_skip(list, kind, use_of_kind(list->product, kind).answer);
		if (option_of_set(command, "NX") || word_is(command, 0, "SETNX"))
			add_mutation(list, RR_MUTANT_NO_NX, kind);
		if (source && without_comparison(source, text, sizeof(text)))
			mutation = add_mutation(list, RR_MUTANT_NO_COMPARE, kind);
		if (mutation)
			strcpy(mutation->script, text);
		return;
	}
	use = use_of_kind(list->product, kind);
	if (use.writes || pass == PASS_READS)
		add_skip(list, kind, use.answer);
	if (pass == PASS_WRITES && lease_of_set(command))
		add_mutation(list, RR_MUTANT_NO_LEASE, kind);
}

static void add_commands(struct mutant_list *list, const struct rr_client_table *table, int pass)
{
	for (uint32_t i = 0; i < table->n_states; i++) {
		const struct rr_client_state *state = &table->states[i];

		for (uint32_t j = 0; state->same != RR_NO_ID && j < state->n_sent; j++)
			add_kind(list, state->sent[j].command, pass);
	}
}

size_t rr_mutants_list(const struct rr_product *product, const struct rr_scripts *scripts,
		       struct rr_mutation *mutations)
{
	struct mutant_list list = { .product = product,
				    .scripts = scripts,
				    .mutations = mutations };

	const struct rr_strategy *strategy = product->config.strategy;
	const int passes = strategy ? PASSES : PASS_GUARDS + 1;

	if (strategy && strategy->lock.kind == RR_LOCK_MUTEX)
		add_mutation(&list, RR_MUTANT_NO_MUTEX, RR_NO_ID);
	for (int pass = 0; pass < passes; pass++) {
		for (size_t i = 0; i < product->n_clients; i++) {
			if (rr_product_client_table(product, i))
				add_commands(&list, product->clients[i].table, pass);
		}
	}
	return list.n;
}
