/* SPDX-License-Identifier: MIT */
/*
 * Mutants of a strategy: one of its commands is left out (answered as if it had
 * succeeded) or weakened. A search that calls a strategy safe has to notice at least
 * one of them; which ones it notices is what the safety rests on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"
#include "search.h"

enum rr_mutation_kind {
	RR_MUTANT_SKIP,       /* is not sent */
	RR_MUTANT_NO_NX,      /* sets in any case: SET without NX, SETNX */
	RR_MUTANT_NO_LEASE,   /* SET without PX or EX */
	RR_MUTANT_NO_COMPARE, /* a script's comparison with an argument holds */
	RR_MUTANT_NO_MUTEX,   /* nobody waits for a mutex */
};

struct rr_mutation {
	enum rr_mutation_kind how;
	uint32_t kind;   /* of the commands that it changes, see term/term.h */
	uint32_t answer; /* SKIP: the reply */
	struct rr_terms *terms;
	const struct rr_scripts *scripts;
	char script[4096]; /* NO_COMPARE: the one that is sent */
};

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

/* See rr_program. Each command that is executed comes here: most are of another kind. */
static uint32_t apply_mutation(void *context, uint32_t number, uint32_t *answer)
{
	struct rr_mutation *mutation = context;
	struct rr_terms *terms = mutation->terms;
	struct rdl_command command;

	*answer = RR_NO_ID;
	if (mutation->how == RR_MUTANT_NO_MUTEX || terms->command[number].kind != mutation->kind)
		return number;
	command = terms->command[number].words;
	switch (mutation->how) {
	case RR_MUTANT_SKIP:
		*answer = mutation->answer;
		return number;
	case RR_MUTANT_NO_NX:
		if (word_is(&command, 0, "SETNX"))
			always_set(&command);
		else
			remove_words(&command, option_of_set(&command, "NX"), 1);
		break;
	case RR_MUTANT_NO_LEASE:
		remove_words(&command, lease_of_set(&command), 2);
		break;
	default:
		command.words[0] = make_word("EVAL");
		command.words[1] = make_word(mutation->script);
		break;
	}
	return rr_terms_command(terms, &command);
}

/* Of a command; all of it fits into a name. */
enum { WORDS_SHOWN = 7, WORD_SHOWN = 24 };

/* ---- Texts ---------------------------------------------------------------- */

/* What it does, and to what. */
static void describe_mutation(const struct rr_mutation *mutation, struct rr_mutant_result *result)
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
	const struct rr_terms *terms = mutation->terms;
	const struct rdl_command *command =
		NULL; /* an example of its commands, if it changes any */
	char what[RR_MUTANT_NAME - 28];
	FILE *file = rr_open_fixed(what, sizeof(what));

	for (uint32_t i = 0; i < terms->n_commands && !command; i++) {
		if (terms->command[i].kind == mutation->kind)
			command = &terms->command[i].words;
	}
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
					rr_terms_names_in(terms, it->text, it->length) ? "TOKEN" :
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
static struct rr_mutation *add_mutation(struct rr_search *search, enum rr_mutation_kind how,
					uint32_t kind)
{
	struct rr_mutation *mutation = &search->mutations[search->n_mutations];

	for (size_t i = 0; i < search->n_mutations; i++) {
		if (search->mutations[i].kind == kind && search->mutations[i].how == how)
			return NULL;
	}
	if (search->n_mutations == RR_MUTANTS_MAX)
		return NULL;
	search->n_mutations++;
	*mutation = (struct rr_mutation){
		.how = how,
		.kind = kind,
		.terms = &search->terms,
		.scripts = &search->scripts,
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

static void add_skip(struct rr_search *search, uint32_t kind, uint32_t answer)
{
	struct rr_mutation *mutation = answer == RR_NO_ID ?
					       NULL :
					       add_mutation(search, RR_MUTANT_SKIP, kind);

	if (mutation)
		mutation->answer = answer;
}

/* What guards comes first, then what writes, and last what only reads. */
enum { PASS_GUARDS, PASS_WRITES, PASS_READS, PASSES };

static void add_kind(struct rr_search *search, uint32_t id, int pass)
{
	const struct rr_terms *terms = &search->terms;
	const struct rdl_command *command = &terms->command[id].words;
	const uint32_t kind = terms->command[id].kind;
	struct kind_use use;

	if (pass == PASS_GUARDS) {
		const char *source = script_of_command(command, &search->scripts);
		char text[sizeof(search->mutations->script)];
		struct rr_mutation *mutation = NULL;

		if (word_is(command, 0, "WATCH"))
			add_skip(search, kind, use_of_kind(&search->product, kind).answer);
		if (option_of_set(command, "NX") || word_is(command, 0, "SETNX"))
			add_mutation(search, RR_MUTANT_NO_NX, kind);
		if (source && without_comparison(source, text, sizeof(text)))
			mutation = add_mutation(search, RR_MUTANT_NO_COMPARE, kind);
		if (mutation)
			strcpy(mutation->script, text);
		return;
	}
	use = use_of_kind(&search->product, kind);
	if (use.writes || pass == PASS_READS)
		add_skip(search, kind, use.answer);
	if (pass == PASS_WRITES && lease_of_set(command))
		add_mutation(search, RR_MUTANT_NO_LEASE, kind);
}

void rr_search_list_mutants(struct rr_search *search)
{
	const struct rr_strategy *strategy = search->config->strategy;
	const int passes = strategy ? PASSES : PASS_GUARDS + 1;

	free(search->mutations); /* of a search before it has begun again */
	search->mutations = rr_calloc(RR_MUTANTS_MAX, sizeof(*search->mutations));
	search->n_mutations = 0;
	if (strategy && strategy->lock.kind == RR_LOCK_MUTEX)
		add_mutation(search, RR_MUTANT_NO_MUTEX, RR_NO_ID);
	for (int pass = 0; pass < passes; pass++) {
		for (size_t i = 0; i < search->product.n_clients; i++) {
			const struct rr_client_table *table =
				rr_product_client_table(&search->product, i);

			for (uint32_t j = 0; table && j < table->n_states; j++) {
				const struct rr_client_state *state = &table->states[j];

				for (uint32_t k = 0; state->same != RR_NO_ID && k < state->n_sent;
				     k++)
					add_kind(search, state->sent[k].command, pass);
			}
		}
	}
}

/* ---- Tried ------------------------------------------------------------------ */

static enum rr_going conclude_mutant(struct rr_search *search, void *context)
{
	/* What a mutant's final states are counts for nothing else. */
	struct rr_explore_result *result = search->result, of_mutant = { .explored = 0 };
	struct rr_mutant_result *mutant = context;
	enum rr_going going = RR_GO_ON;

	if (search->end == RR_GRAPH_STOPPED) {
		if (search->config->strategy)
			result->explored = RR_EXPLORED_STOPPED;
		return RR_GO_ON;
	}
	if (search->end != RR_GRAPH_FIRST) {
		search->result = &of_mutant;
		going = search->property->judge(search);
		search->result = result;
	}
	if (of_mutant.error.kind)
		result->error = of_mutant.error;
	rr_explore_release(&of_mutant);
	if (going != RR_GO_ON)
		return going;
	mutant->breaks = search->graph.breaks;
	mutant->fails = search->end == RR_GRAPH_FIRST || search->graph.breaks;
	return RR_GO_ON;
}

bool rr_search_try_mutants(struct rr_search *search)
{
	struct rr_explore_result *result = search->result;

	search->bounds.most = 2 * result->states + 5000;
	search->bounds.memory = 0;
	search->bounds.first_of = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION;
	for (size_t i = 0; i < search->n_mutations; i++) {
		struct rr_mutant_result *mutant = &result->mutants[result->n_mutants];
		struct rr_mutation *mutation = &search->mutations[i];
		bool good;

		if (rr_deadline_is_over(&search->deadline, "guards were weakened") ||
		    search->deadline.cut) {
			if (search->config->strategy)
				result->explored = RR_EXPLORED_STOPPED;
			break;
		}
		result->n_mutants++;
		describe_mutation(mutation, mutant);
		search->program.mutate = apply_mutation;
		search->program.mutate_context = mutation;
		search->program.without_mutex = mutation->how == RR_MUTANT_NO_MUTEX;
		/* Does it fail in the bounds of the whole, which are wider than what it took? */
		good = rr_search_run(search, conclude_mutant, mutant);
		search->program.mutate = NULL;
		search->program.without_mutex = false;
		if (!good) {
			if (search->config->strategy)
				return false;
			/* A program may hang, or do what cannot be judged, after replies that
			 * it was not written for. */
			result->error.kind = RR_ERROR_NONE;
			result->n_mutants--;
			break;
		}
		if (mutant->fails && !result->noticed[0])
			memcpy(result->noticed, mutant->name, sizeof(result->noticed));
		if (result->explored == RR_EXPLORED_STOPPED ||
		    (result->noticed[0] && !search->config->all_mutants))
			break;
	}
	return true;
}
