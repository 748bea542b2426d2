/* SPDX-License-Identifier: MIT */
#include "mutants.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- Commands ------------------------------------------------------------- */

static bool is(const struct rl_command *command, size_t i, const char *text)
{
	return i < command->n_words &&
	       command->words[i].length == strlen(text) &&
	       strncasecmp(command->words[i].text, text, strlen(text)) == 0;
}

/* The place of an option of SET; 0 = it has none. */
static size_t option_of_set(const struct rl_command *command,
			    const char *name)
{
	for (size_t i = 3; is(command, 0, "SET") && i < command->n_words; i++) {
		if (is(command, i, name))
			return i;
	}
	return 0;
}

static size_t lease_of_set(const struct rl_command *command)
{
	const size_t px = option_of_set(command, "PX");

	return px ? px : option_of_set(command, "EX");
}

static void remove_words(struct rl_command *command, size_t at, size_t n)
{
	command->n_words -= n;
	memmove(&command->words[at], &command->words[at + n],
		(command->n_words - at) * sizeof(command->words[0]));
}

static struct rl_word word(const char *text)
{
	return (struct rl_word){ text, strlen(text) };
}

/* SETNX that sets in any case, and says that it was free. */
static void always_set(struct rl_command *command)
{
	command->words[3] = command->words[1];
	command->words[4] = command->words[2];
	command->words[0] = word("EVAL");
	command->words[1] =
		word("redis.call('SET', KEYS[1], ARGV[1]) return 1");
	command->words[2] = word("1");
	command->n_words = 5;
}

static const char *script_of(const struct rl_command *command,
			     const struct rr_scripts *scripts)
{
	if (is(command, 0, "EVALSHA") && command->n_words > 1)
		return rr_scripts_find(scripts, command->words[1].text);
	return is(command, 0, "EVAL") && command->n_words > 1 ?
		       command->words[1].text :
		       NULL;
}

uint32_t rr_mutant_apply(void *context, struct rl_command *command)
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
		if (is(command, 0, "SETNX"))
			always_set(command);
		else
			remove_words(command, option_of_set(command, "NX"), 1);
		break;
	case RR_MUTANT_NO_LEASE:
		remove_words(command, lease_of_set(command), 2);
		break;
	default:
		command->words[0] = word("EVAL");
		command->words[1] = word(mutation->script);
		break;
	}
	return RR_NO_ID;
}

/* ---- Texts ---------------------------------------------------------------- */

static void print_kind(FILE *file, const struct rr_mutation *mutation,
		       const struct rl_command *command)
{
	const char *source = script_of(command, mutation->scripts);

	if (source) {
		fputs("script \"", file);
		for (size_t i = 0; source[i] && i < 30; i++)
			fputc(source[i] == '\n' ? ' ' : source[i], file);
		fputs("...\"", file);
		return;
	}
	for (size_t i = 0; i < command->n_words && i < 7; i++) {
		const struct rl_word *it = &command->words[i];
		const bool is_token =
			rr_terms_names_in(mutation->terms, it->text,
					  it->length) != 0;

		fprintf(file, "%s%.24s", i ? " " : "",
			is_token ? "TOKEN" : it->text);
	}
}

static void print_name(FILE *file, const struct rr_mutation *mutation,
		       const char *what)
{
	static const char *const does[] = {
		[RR_MUTANT_SKIP] = " is not sent",
		[RR_MUTANT_NO_NX] = " sets in any case",
		[RR_MUTANT_NO_LEASE] = " without a lease",
		[RR_MUTANT_NO_COMPARE] = " without the comparison",
		[RR_MUTANT_NO_MUTEX] = "nobody waits for the mutex",
	};

	fprintf(file, "%s%s", what, does[mutation->how]);
}

/* An example of its commands. */
static const struct rl_command *example(const struct rr_mutation *mutation)
{
	for (uint32_t i = 0; i < mutation->terms->n_commands; i++) {
		if (mutation->terms->command[i].kind == mutation->kind)
			return &mutation->terms->command[i].words;
	}
	return NULL;
}

void rr_mutant_text(const struct rr_mutation *mutation,
		    struct rr_mutant_result *result)
{
	static const char *const parts[] = {
		[RR_MUTANT_SKIP] = "",
		[RR_MUTANT_NO_NX] = ": only if it is absent",
		[RR_MUTANT_NO_LEASE] = ": its lease",
		[RR_MUTANT_NO_COMPARE] = ": its comparison",
		[RR_MUTANT_NO_MUTEX] = "the mutex",
	};
	const struct rl_command *command =
		mutation->how == RR_MUTANT_NO_MUTEX ? NULL : example(mutation);
	char what[RR_MUTANT_NAME - 28] = "";
	FILE *file = fmemopen(what, sizeof(what), "w");

	if (file && command)
		print_kind(file, mutation, command);
	if (file)
		fclose(file);
	what[sizeof(what) - 1] = '\0';
	file = fmemopen(result->name, sizeof(result->name), "w");
	if (file) {
		print_name(file, mutation, what);
		fclose(file);
	}
	snprintf(result->rests_on, sizeof(result->rests_on), "%s%s", what,
		 parts[mutation->how]);
}

/* ---- The list ------------------------------------------------------------- */

/* What the first command of a kind was answered, in the state in which the first
 * client met it: as if nobody else was there. RR_NO_ID: it was never executed. */
static uint32_t first_answer(const struct rr_product *product, uint32_t kind)
{
	const struct rr_terms *terms = product->config.program->terms;

	for (int i = 0; i < 2; i++) {
		const struct rr_server_table *table = product->tables[i];

		for (uint32_t j = 0; j < table->rows.n; j++) {
			const struct rr_server_row *row = &table->row[j];
			const uint32_t command =
				(uint32_t)row->question.argument;

			if (row->question.kind == RR_ASK_COMMAND &&
			    command != product->get_counter &&
			    terms->command[command].kind == kind)
				return row->reply;
		}
	}
	return RR_NO_ID;
}

struct list {
	const struct rr_product *product;
	const struct rr_scripts *scripts;
	struct rr_mutation *mutations;
	size_t n;
	struct rr_mutation spare; /* for those that there is no room for */
};

static struct rr_mutation *add(struct list *list, enum rr_mutation_kind how,
			       uint32_t kind)
{
	struct rr_mutation *mutation = list->n == RR_MUTANTS_MAX ?
					       &list->spare :
					       &list->mutations[list->n++];

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
	for (; at; source = at + strlen(compares),
		   at = strstr(source, compares))
		used += (size_t)snprintf(text + used, size - used, "%.*s%s",
					 (int)(at - source), source, holds);
	used += (size_t)snprintf(text + used, size - used, "%s", source);
	return used < size;
}

/* Did any command of the kind change what is stored? */
static bool writes(const struct rr_product *product, uint32_t kind)
{
	const struct rr_terms *terms = product->config.program->terms;

	for (int i = 0; i < 2; i++) {
		const struct rr_server_table *table = product->tables[i];

		for (uint32_t j = 0; j < table->rows.n; j++) {
			const struct rr_server_row *row = &table->row[j];

			if (row->question.kind == RR_ASK_COMMAND &&
			    terms->command[row->question.argument].kind ==
				    kind &&
			    table->states[row->from].data !=
				    table->states[row->to].data)
				return true;
		}
	}
	return false;
}

static bool is_listed(const struct list *list, enum rr_mutation_kind how,
		      uint32_t kind)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->mutations[i].kind == kind &&
		    list->mutations[i].how == how)
			return true;
	}
	return false;
}

static void add_skip(struct list *list, uint32_t kind)
{
	const uint32_t answer = first_answer(list->product, kind);

	if (answer != RR_NO_ID && !is_listed(list, RR_MUTANT_SKIP, kind))
		add(list, RR_MUTANT_SKIP, kind)->answer = answer;
}

/* What guards comes first, then what writes, and last what only reads. */
enum { PASS_GUARDS, PASS_WRITES, PASS_READS, PASSES };

static void add_kind(struct list *list, uint32_t id, int pass)
{
	const struct rr_terms *terms = list->product->config.program->terms;
	const struct rr_term_command *command = &terms->command[id];
	const uint32_t kind = command->kind;
	const char *source = script_of(&command->words, list->scripts);
	char text[sizeof(list->mutations->script)];

	if (pass == PASS_READS ||
	    (pass == PASS_WRITES && writes(list->product, kind)))
		add_skip(list, kind);
	if (pass == PASS_WRITES && lease_of_set(&command->words) &&
	    !is_listed(list, RR_MUTANT_NO_LEASE, kind))
		add(list, RR_MUTANT_NO_LEASE, kind);
	if (pass != PASS_GUARDS)
		return;
	if (is(&command->words, 0, "WATCH"))
		add_skip(list, kind);
	if ((option_of_set(&command->words, "NX") ||
	     is(&command->words, 0, "SETNX")) &&
	    !is_listed(list, RR_MUTANT_NO_NX, kind))
		add(list, RR_MUTANT_NO_NX, kind);
	if (source && without_comparison(source, text, sizeof(text)) &&
	    !is_listed(list, RR_MUTANT_NO_COMPARE, kind))
		strcpy(add(list, RR_MUTANT_NO_COMPARE, kind)->script, text);
}

static void add_commands(struct list *list, const struct rr_client_table *table,
			 int pass)
{
	for (uint32_t i = 0; i < table->n_states; i++) {
		const struct rr_client_state *state = &table->states[i];

		for (uint32_t j = 0; j < state->n_sent; j++)
			add_kind(list, state->sent[j].command, pass);
	}
}

size_t rr_mutants_list(const struct rr_product *product,
		       const struct rr_scripts *scripts,
		       struct rr_mutation *mutations)
{
	struct list list = { .product = product,
			     .scripts = scripts,
			     .mutations = mutations };

	if (product->config.strategy->lock.kind == RR_LOCK_MUTEX)
		add(&list, RR_MUTANT_NO_MUTEX, RR_NO_ID);
	for (int pass = 0; pass < PASSES; pass++) {
		for (size_t i = 0; i < product->n_clients; i++)
			add_commands(&list, &product->clients[i], pass);
	}
	return list.n;
}
