/* SPDX-License-Identifier: MIT */
/*
 * The coverage of a search: in which orders it has executed pairs of commands of different clients that
 * name one key. All of it is read off the graph of its states:
 *
 * - A command came before another one if a path of the graph has them in that order. Each state
 *   keeps which commands some path to it has executed, a bit for each command.
 * - Two commands met if both were the next of their clients in one state, and from there either
 *   was executed first.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"
#include "play/play.h"
#include "search.h"

enum {
	COMMANDS_MOST = 64, /* the bits of a mask */
	KEYS_MOST = 16,     /* of a command */
	ASKED_MOST = 2000,  /* commands whose keys the server is asked for */
	PAIRS_SHOWN = 200,
	KEYS_SHOWN = 3,
	QUEUED_SHOWN = 3,
	KEY_SHOWN = 60,
	SCRIPT_SHOWN = 40,
	NO_COMMAND = UINT8_MAX
};

/* Keys by their numbers. */
struct key_set {
	size_t n;
	uint32_t all[KEYS_MOST];
};

/* The name of a command and its keys, for all clients. */
struct named {
	char *label; /* "GET counter" */
	struct key_set keys;
	bool only_reads;
};

/* A command of one owner: all of that name with these keys. */
struct covered {
	uint8_t owner;
	size_t server;
	const char *label;
	struct key_set keys;
	bool only_reads;
	uint64_t before; /* commands that some schedule executes before it */
	uint64_t met;    /* those that were to be executed next in the same state */
};

/* The commands that a client may have executed next, by its part of a state. */
struct next {
	uint8_t lane, command;
	bool waits; /* it may block: then it has been executed already */
};

struct nexts {
	uint32_t first, n;
};

/* Of a state of an app: whose each command is that it has sent. */
struct owned {
	bool is_known;
	uint8_t begun, answered;
	uint16_t *owners;
};

struct coverage {
	struct rr_search *search;
	const struct rr_graph *graph;
	struct rr_product *product;
	struct rr_naming naming;
	struct rr_intern keys;   /* server, database, name */
	struct rr_intern asked;  /* commands by server, database and number */
	struct named *named;     /* by the numbers of these */
	struct rr_intern labels; /* of owners and their commands */
	struct covered commands[COMMANDS_MOST];
	size_t n;
	struct nexts *known[RR_RUN_CLIENTS]; /* of each part of a client's; n = RR_NO_ID: not yet */
	struct next *nexts;
	uint32_t n_nexts;
	struct owned *owned[RR_RUN_CLIENTS];
	uint64_t *seen; /* of each state: commands that some path to it has executed */
};

/* ---- Names of commands, and their keys ----------------------------------------- */

static void add_key(struct key_set *keys, uint32_t key)
{
	for (size_t i = 0; i < keys->n; i++) {
		if (keys->all[i] == key)
			return;
	}
	if (keys->n < KEYS_MOST)
		keys->all[keys->n++] = key;
}

static uint32_t number_of_key(struct coverage *coverage, size_t server, int database,
			      const struct rdl_reply *name)
{
	char *bytes;
	size_t size;
	FILE *file = rr_open_memory(&bytes, &size);
	uint32_t key;

	fprintf(file, "%zu %d ", server, database);
	fwrite(name->text, 1, name->length, file);
	fclose(file);
	key = rr_intern_put(&coverage->keys, bytes, size, NULL);
	free(bytes);
	return key;
}

/* A script by its name, or as its text begins, and a function by its name; nothing of other
 * commands. */
static void write_script(FILE *out, const struct coverage *coverage,
			 const struct rdl_command *command)
{
	const struct rr_naming *naming = &coverage->naming;
	const struct rdl_word *word = &command->words[1], *script = NULL;
	char name[RR_SCRIPT_NAME], *plain;

	if (command->n_words < 2)
		return;
	if (rr_word_is_one_of(&command->words[0], "EVALSHA EVALSHA_RO"))
		script = rr_scripts_find(naming->scripts, word->text);
	else if (rr_word_is_one_of(&command->words[0], "EVAL EVAL_RO FCALL FCALL_RO"))
		script = word;
	if (!script)
		return;
	if (naming->script_names && toupper((unsigned char)command->words[0].text[0]) == 'E')
		plain = rr_strdup(rr_naming_script(naming, script->text, name));
	else
		plain = rr_plain_cut(script->text, script->length, SCRIPT_SHOWN, "…");
	fprintf(out, " %s", plain);
	free(plain);
}

/* Asks the server for the keys of a command. Valid until the next call. */
static const struct named *name_command(struct coverage *coverage, size_t server, int database,
					uint32_t number)
{
	const uint32_t id[] = { (uint32_t)server, (uint32_t)database, number };
	struct rr_server_table *table = coverage->product->tables[server];
	const struct rdl_command *command = &table->terms->command[number].words;
	bool is_new;
	const uint32_t at = rr_intern_put(&coverage->asked, id, sizeof(id), &is_new);
	struct named *named;
	struct rdl_reply keys;
	FILE *out;

	if (!is_new)
		return &coverage->named[at];
	rr_array_grow(&coverage->named, at, sizeof(*coverage->named));
	named = &coverage->named[at];
	*named = (struct named){ .label = NULL };
	const char *name = rr_server_command_name(table, number);

	/* WATCH is not marked, but looks at its keys alone. */
	named->only_reads = strcmp(name, "WATCH") == 0 ||
			    rr_asker_info(table->asker, name).only_reads;
	out = rr_open_text(&named->label);
	/* A script that is called by its digest is shown as EVAL, as in pictures. */
	fputs(strcmp(name, "EVALSHA") == 0 ? "EVAL" : name, out);
	write_script(out, coverage, command);
	if (at < ASKED_MOST && rr_asker_keys(table->asker, command, &keys)) {
		for (size_t i = 0; i < keys.length; i++) {
			char *plain = rr_plain_cut(keys.elements[i].text, keys.elements[i].length,
						   KEY_SHOWN, "…");

			if (i < KEYS_SHOWN)
				fprintf(out, " %s", plain);
			else if (i == KEYS_SHOWN)
				fputs(" …", out);
			free(plain);
			add_key(&named->keys,
				number_of_key(coverage, server, database, &keys.elements[i]));
		}
	}
	fclose(out);
	named->label = rr_naming_tidy(&coverage->naming, named->label);
	return named;
}

/* A number from the line of CLIENT LIST about a connection. */
static int field_of(const struct rr_server_table *table, const struct rr_connection *connection,
		    const char *field, int otherwise)
{
	const char *says = connection ? rr_intern_get(&table->says, connection->says) : NULL;
	const char *at = says ? strstr(says, field) : NULL;

	return at ? atoi(at + strlen(field)) : otherwise;
}

/* ---- Owners ------------------------------------------------------------------------ */

/* Finds the owners of the commands that an app has sent in a state of its table, by the history with which
 * the state was learned: one that is merged with it may have others. */
static const struct owned *owners_in(struct coverage *coverage, size_t client, uint32_t state)
{
	const struct rr_client_table *table = coverage->product->clients[client].table;
	struct owned *all = coverage->owned[client];
	uint32_t *chain = rr_malloc((table->states[state].depth + 2) * sizeof(*chain));
	size_t n = 0;

	for (uint32_t at = state; at != RR_NO_ID && !all[at].is_known;
	     at = table->states[at].parent)
		chain[n++] = at;
	while (n > 0) {
		const uint32_t at = chain[--n];
		const struct rr_client_state *to = &table->states[at];
		struct owned *it = &all[at];
		uint16_t owners[RR_RUN_SENT] = { 0 };

		it->is_known = true;
		if (to->parent == RR_NO_ID) {
			for (uint32_t i = 0; i < to->n_sent; i++)
				owners[i] = rr_owner_of_app(client);
		} else {
			const struct owned *from = &all[to->parent];
			const struct rr_owners_step step = {
				.program = coverage->product->config.program,
				.client = client,
				.from = &table->states[to->parent],
				.to = to,
				.input = &to->input,
				.begun = from->begun,
				.answered = from->answered,
				.is_likely = true,
			};

			memcpy(owners, from->owners, step.from->n_sent * sizeof(*owners));
			it->begun = from->begun | rr_owners_follow(&step, owners);
			it->answered = from->answered |
				       rr_owners_answered(step.program, client, to);
		}
		it->owners = rr_calloc(to->n_sent + 1U, sizeof(*owners));
		memcpy(it->owners, owners, to->n_sent * sizeof(*owners));
	}
	free(chain);
	return &all[state];
}

/* RR_NOBODY: it may be one of several. */
static uint8_t owner_of(struct coverage *coverage, size_t client, uint32_t state, size_t sent)
{
	const struct rr_program *program = coverage->product->config.program;
	uint16_t owners;

	if (!program->requests.n)
		return (uint8_t)client;
	if (rr_program_requests_of(program, client) == 0)
		return (uint8_t)(RR_RUN_CLIENTS + client);
	owners = owners_in(coverage, client, state)->owners[sent];
	return owners && (owners & (owners - 1)) == 0 ? (uint8_t)__builtin_ctz(owners) : RR_NOBODY;
}

/* ---- Commands -------------------------------------------------------------------------- */

/* The bit of a command; NO_COMMAND: it names no key, or there are too many. */
static uint8_t find_command(struct coverage *coverage, uint8_t owner, size_t server,
			    const struct named *named)
{
	char *text;
	uint32_t label;
	struct covered *it;

	if (!named->keys.n || owner == RR_NOBODY)
		return NO_COMMAND;
	text = rr_asprintf("%d:%zu %s", owner, server, named->label);
	label = rr_intern_put(&coverage->labels, text, strlen(text) + 1, NULL);
	free(text);
	if (label >= COMMANDS_MOST)
		return NO_COMMAND;
	it = &coverage->commands[label];
	if (label == coverage->n) {
		const char *said = rr_intern_get(&coverage->labels, label);

		*it = (struct covered){ .owner = owner,
					.server = server,
					.label = strchr(said, ' ') + 1,
					.only_reads = true };
		coverage->n++;
	}
	it->only_reads &= named->only_reads;
	for (size_t i = 0; i < named->keys.n; i++)
		add_key(&it->keys, named->keys.all[i]);
	return (uint8_t)label;
}

/* "EXEC (GET n, SET n)": its keys are those that it executes commands on, or has watched. The commands of one that is very long
 * stand elsewhere, and are left out. */
static struct named name_transaction(struct coverage *coverage, size_t server, int database,
				     const uint32_t *commands, size_t n)
{
	struct named whole = { .only_reads = true };
	FILE *out = rr_open_text(&whole.label);
	size_t shown = 0;

	fputs("EXEC", out);
	for (size_t i = 0; i < n; i++) {
		const struct named *named;

		if (commands[i] >= coverage->search->terms.n_commands)
			continue;
		named = name_command(coverage, server, database, commands[i]);
		if (!named->keys.n)
			continue;
		for (size_t j = 0; j < named->keys.n; j++)
			add_key(&whole.keys, named->keys.all[j]);
		whole.only_reads &= named->only_reads;
		if (strncmp(named->label, "WATCH ", 6) == 0)
			continue;
		if (shown < QUEUED_SHOWN)
			fprintf(out, "%s%s", shown ? ", " : " (", named->label);
		else if (shown == QUEUED_SHOWN)
			fputs(", …", out);
		shown++;
	}
	fputs(shown ? ")" : "", out);
	fclose(out);
	return whole;
}

/* The commands from MULTI to EXEC that an app has sent on one connection, which are executed
 * in one step (product/execute.c); 0 = they are not, or EXEC is missing. */
static size_t whole_transaction(const struct coverage *coverage,
				const struct rr_client_state *state, const struct rr_sent *multi,
				uint32_t commands[RR_RUN_SENT])
{
	const struct rr_product *product = coverage->product;
	size_t n = 0;

	if (!product->config.program->requests.n || state->n_threads < 2 ||
	    rr_budget_has_faults(&product->config.budget))
		return 0;
	for (const struct rr_sent *sent = multi; sent < state->sent + state->n_sent; sent++) {
		if (sent->lane != multi->lane)
			continue;
		if (strcmp(rr_server_command_name(product->tables[0], sent->command), "EXEC") == 0)
			return n;
		commands[n++] = sent->command;
	}
	return 0;
}

/* Returns what a client has sent. One that is to begin an attempt begins it with the command that is
 * executed first: then it is what it has sent after that. */
static const struct rr_client_state *state_of_client(const struct coverage *coverage,
						     const uint32_t *key, size_t client)
{
	const struct rr_client_view *view = &coverage->product->clients[client];
	const struct rr_client_table *table = view->table;
	const uint32_t at = rr_product_part(coverage->product, key, client)->state;

	if (!view->states[at].is_attempt)
		return &view->states[at];
	for (uint32_t i = table->states[at].first_row; i != RR_NO_ID; i = table->row[i].next) {
		const struct rr_client_row *row = &table->row[i];
		const uint32_t to = row->state == RR_NO_ID ? row->to : row->state;

		/* Of those in which it draws other values one is as good as another. */
		if (row->input.kind == RR_INPUT_ATTEMPT && to < view->n_states &&
		    view->states[to].stops)
			return &view->states[to];
	}
	return &view->states[at];
}

/* The command that a client has executed next on a lane, seen in a state. */
static struct next next_on_lane(struct coverage *coverage, const uint32_t *key, size_t client,
				const struct rr_client_state *state, const struct rr_sent *sent)
{
	struct rr_product *product = coverage->product;
	const struct rr_program *program = product->config.program;
	const size_t server = (size_t)rr_lane_server(program, sent->lane);
	const struct rr_server_table *table = product->tables[server];
	const uint16_t slot =
		(uint16_t)(client * RR_RUN_ORDINALS + (size_t)rr_lane_ordinal(program, sent->lane));
	const struct rr_connection *connection = rr_server_table_connection(table, key[server],
									    slot);
	const int database = field_of(table, connection, "db=", 0);
	const bool is_queued = field_of(table, connection, "multi=", -1) >= 0;
	const uint8_t owner = owner_of(coverage, client,
				       rr_product_part(product, key, client)->state,
				       (size_t)(sent - state->sent));
	struct next next = { .lane = sent->lane, .command = NO_COMMAND };
	const char *name;
	uint32_t commands[RR_RUN_SENT];
	struct named whole;
	size_t n;

	if (sent->kind != RR_SENT_COMMAND || rr_program_has_marks(program, client, sent->lane))
		return next;
	name = rr_server_command_name(table, sent->command);
	n = strcmp(name, "MULTI") == 0 ? whole_transaction(coverage, state, sent, commands) : 0;
	if (n || (is_queued && strcmp(name, "EXEC") == 0)) {
		whole = name_transaction(coverage, server, database,
					 n ? commands : connection->commands,
					 n ? n : connection->n_commands);
		next.command = find_command(coverage, owner, server, &whole);
		free(whole.label);
	} else if (!is_queued) {
		next.waits = rr_asker_info(table->asker, name).blocks;
		next.command =
			find_command(coverage, owner, server,
				     name_command(coverage, server, database, sent->command));
	}
	return next;
}

/* Returns the commands of a client that may be executed next in a state. */
static const struct nexts *nexts_of(struct coverage *coverage, const uint32_t *key, size_t client)
{
	struct rr_product *product = coverage->product;
	struct nexts *it = &coverage->known[client][key[product->n_servers + client]];
	const struct rr_client_state *state;

	if (it->n != RR_NO_ID)
		return it;
	*it = (struct nexts){ .first = coverage->n_nexts };
	state = state_of_client(coverage, key, client);
	for (uint32_t i = 0; i < state->n_sent; i++) {
		const struct rr_transition step = { .kind = RR_DO_EXECUTE,
						    .who = (uint8_t)client,
						    .lane = state->sent[i].lane };
		const struct rr_sent *sent = state->sent;

		/* Of an attempt that is to begin nothing has been executed. */
		if (state == rr_product_client(product, key, client))
			sent = rr_product_next_sent(product, key, step);
		else
			while (sent->lane != step.lane)
				sent++;
		if (sent != &state->sent[i])
			continue;
		rr_array_grow(&coverage->nexts, coverage->n_nexts, sizeof(*coverage->nexts));
		coverage->nexts[coverage->n_nexts++] = next_on_lane(coverage, key, client, state,
								    sent);
		it->n++;
	}
	return it;
}

/* ---- Orders ---------------------------------------------------------------------------- */

/* The bit of the command that a transition executes; 0 = it executes none. */
static uint64_t executed_by(struct coverage *coverage, const uint32_t *key,
			    struct rr_transition transition)
{
	const struct nexts *nexts;

	if (transition.kind != RR_DO_EXECUTE && transition.kind != RR_DO_LOSE)
		return 0;
	nexts = nexts_of(coverage, key, transition.who);
	for (uint32_t i = nexts->first; i < nexts->first + nexts->n; i++) {
		const struct next *next = &coverage->nexts[i];

		if (next->lane != transition.lane)
			continue;
		return next->command == NO_COMMAND ||
				       (next->waits &&
					rr_product_times_out(coverage->product, key, transition)) ?
			       0 :
			       UINT64_C(1) << next->command;
	}
	return 0;
}

/* Follows the transitions of a state: notes which commands were executed before its next ones, and which
 * of these met. True: a state that has a lower number, or the same, knows more now. */
static bool go_on_from(struct coverage *coverage, uint32_t state, uint8_t *is_waiting)
{
	const struct rr_graph *graph = coverage->graph;
	const uint32_t *key = rr_graph_key(graph, state);
	const uint64_t seen = coverage->seen[state];
	uint64_t nexts = 0;
	bool goes_back = false;

	for (uint64_t i = graph->first[state]; i < rr_graph_last(graph, state); i++) {
		const struct rr_graph_edge *edge = &graph->edges[i];
		const uint64_t bit = executed_by(coverage, key, edge->transition);

		if (bit)
			coverage->commands[__builtin_ctzll(bit)].before |= seen;
		nexts |= bit;
		if ((seen | bit) & ~coverage->seen[edge->to]) {
			coverage->seen[edge->to] |= seen | bit;
			goes_back |= edge->to <= state;
			is_waiting[edge->to] = true;
		}
	}
	for (uint64_t left = nexts; left; left &= left - 1)
		coverage->commands[__builtin_ctzll(left)].met |= nexts;
	return goes_back;
}

/* Follows all transitions, until no state knows more. */
static void follow_graph(struct coverage *coverage)
{
	const struct rr_graph *graph = coverage->graph;
	uint8_t *is_waiting = rr_malloc(graph->states.n + 1U);
	bool goes_on = true;

	memset(is_waiting, true, graph->states.n);
	coverage->seen = rr_calloc(graph->states.n + 1U, sizeof(*coverage->seen));
	while (goes_on) {
		goes_on = false;
		for (uint32_t i = 0; i < graph->states.n; i++) {
			if (!is_waiting[i] || !rr_graph_is_expanded(graph, i))
				continue;
			is_waiting[i] = false;
			goes_on |= go_on_from(coverage, i, is_waiting);
		}
	}
	free(is_waiting);
	free(coverage->seen);
}

/* ---- Pairs ------------------------------------------------------------------------------ */

/* The more a reader wants to know of them, the lower. */
enum order { ORDER_ONE, ORDER_NONE, ORDER_APART, ORDER_BOTH, ORDERS };

struct pair {
	size_t a, b; /* bits; of one order a is first */
	enum order order;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *one = a, *other = b;

	if (one->order != other->order)
		return one->order < other->order ? -1 : 1;
	if (one->a != other->a)
		return one->a < other->a ? -1 : 1;
	return (one->b > other->b) - (one->b < other->b);
}

/* The keys that both name. */
static struct key_set common_keys(const struct covered *a, const struct covered *b)
{
	struct key_set common = { 0 };

	for (size_t i = 0; i < a->keys.n; i++) {
		for (size_t j = 0; j < b->keys.n; j++) {
			if (a->keys.all[i] == b->keys.all[j])
				add_key(&common, a->keys.all[i]);
		}
	}
	return common;
}

static size_t find_pairs(const struct coverage *coverage, struct pair *pairs)
{
	size_t n = 0;

	for (size_t i = 0; i < coverage->n; i++) {
		for (size_t j = i + 1; j < coverage->n; j++) {
			const struct covered *a = &coverage->commands[i],
					     *b = &coverage->commands[j];
			const bool is_ab = b->before >> i & 1, is_ba = a->before >> j & 1;
			struct pair pair = { .a = is_ba && !is_ab ? j : i,
					     .b = is_ba && !is_ab ? i : j };

			if (a->owner == b->owner || (a->only_reads && b->only_reads) ||
			    !common_keys(a, b).n)
				continue;
			if (is_ab && is_ba)
				pair.order = a->met >> j & 1 ? ORDER_BOTH : ORDER_APART;
			else
				pair.order = is_ab || is_ba ? ORDER_ONE : ORDER_NONE;
			pairs[n++] = pair;
		}
	}
	qsort(pairs, n, sizeof(*pairs), compare_pairs);
	return n;
}

/* Why two commands were not executed in both orders from one state. */
static const char *why_not(const struct coverage *coverage)
{
	if (coverage->graph->n_expanded < coverage->graph->states.n)
		return "not_searched";
	return coverage->search->result->explored == RR_EXPLORED_ROUNDS ? "bounds" : "program";
}

static json_t *pair_as_json(const struct coverage *coverage, const struct pair *pair)
{
	static const char *const orders[] = {
		[ORDER_ONE] = "AB", [ORDER_NONE] = "none", [ORDER_APART] = "both", [ORDER_BOTH] = "both"
	};
	const struct rr_program *program = coverage->product->config.program;
	const struct covered *a = &coverage->commands[pair->a], *b = &coverage->commands[pair->b];
	const struct key_set keys = common_keys(a, b);
	char one[RR_OWNER_NAME], other[RR_OWNER_NAME];
	char server[RR_SERVER_NAME];
	json_t *names = json_array();

	rr_recorder_server_name(server, coverage->search->property->server, a->server);
	for (size_t i = 0; i < keys.n; i++) {
		const struct rr_intern_value *key = &coverage->keys.values[keys.all[i]];
		const char *text = key->bytes, *name = strchr(strchr(text, ' ') + 1, ' ') + 1;
		char *plain = rr_plain_cut(name, key->length - (size_t)(name - text), KEY_SHOWN,
					   "…");

		plain = rr_naming_tidy(&coverage->naming, plain);
		json_array_append_new(names, json_string(plain));
		free(plain);
	}
	return json_pack("{s:[s, s], s:[s, s], s:s, s:o, s:s, s:b, s:s?}", "clients",
			 rr_owner_name(program, a->owner, one),
			 rr_owner_name(program, b->owner, other), "commands", a->label, b->label,
			 "server", server, "keys", names, "order", orders[pair->order], "met",
			 (int)(pair->order == ORDER_BOTH), "why",
			 pair->order == ORDER_BOTH ? NULL : why_not(coverage));
}

static json_t *pairs_as_json(const struct coverage *coverage)
{
	struct pair *pairs = rr_calloc(COMMANDS_MOST * COMMANDS_MOST, sizeof(*pairs));
	const size_t n = find_pairs(coverage, pairs);
	json_int_t n_of[ORDERS] = { 0 };
	json_t *shown = json_array();

	for (size_t i = 0; i < n; i++) {
		n_of[pairs[i].order]++;
		if (i < PAIRS_SHOWN)
			json_array_append_new(shown, pair_as_json(coverage, &pairs[i]));
	}
	free(pairs);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "n_pairs", (json_int_t)n, "n_met",
			 n_of[ORDER_BOTH], "n_apart", n_of[ORDER_APART], "n_one_order",
			 n_of[ORDER_ONE], "n_none", n_of[ORDER_NONE], "commands_left_out",
			 (json_int_t)(coverage->labels.n - coverage->n), "pairs", shown);
}

/* Returns how many preemptions and faults a schedule of fewer than `detour` steps may have, so that it
 * was executed, whichever it is; -1: not even all without any were. Null: nothing was left. */
static json_t *preemptions_as_json(const struct rr_graph *graph)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < graph->waiting.n && graph->config.detour; i++) {
		const struct rr_heap_entry *entry = &graph->waiting.entries[i];

		if (!rr_graph_is_expanded(graph, entry->number) && entry->cost < least)
			least = entry->cost;
	}
	return least == UINT64_MAX ? json_null() :
				     json_integer((json_int_t)(least / graph->config.detour) - 1);
}

/* ---- Not tried ----------------------------------------------------------------- */

/* Adds to `all` that something was not tried, by an identifier, and with which option it is; NULL =
 * there is none. */
static void add_untried(json_t *all, const char *what, const char *option, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void add_untried(json_t *all, const char *what, const char *option, const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_array_append_new(all, json_pack("{s:s, s:s, s:s?}", "what", what, "text", text,
					     "option", option));
}

/* States that were left when the search ended. */
static void add_unsearched(json_t *all, const struct rr_explore_config *config,
			   const struct rr_explore_result *result,
			   const struct rr_coverage_options *options)
{
	const json_t *preemptions = json_object_get(result->coverage, "preemptions");
	char option[80];

	switch (result->explored) {
	case RR_EXPLORED_ROUNDS:
		snprintf(option, sizeof(option), "--rounds %d", 2 * result->rounds);
		add_untried(all, "rounds", result->rounds ? option : "--rounds N",
			    "more rounds of clients that send something new in each");
		break;
	case RR_EXPLORED_FOUND:
		add_untried(all, "schedules", "--all",
			    "schedules that were left when a finding ended the search");
		break;
	case RR_EXPLORED_MOST:
		snprintf(option, sizeof(option), "--max-states %lu", 2 * config->most);
		add_untried(all, "states", config->most ? option : NULL,
			    "states that were left at a limit");
		break;
	case RR_EXPLORED_MEMORY:
		add_untried(all, "memory", NULL, "states that memory had no room for");
		break;
	case RR_EXPLORED_STOPPED:
		add_untried(all, "time", options->more_time, "what was left when time ended");
		break;
	default:
		return;
	}
	if (json_is_integer(preemptions) && json_integer_value(preemptions) < 0)
		add_untried(all, "preemptions", NULL, "some schedules without preemptions");
	else if (json_is_integer(preemptions))
		add_untried(all, "preemptions", NULL,
			    "some schedules with more than %d preemptions and faults",
			    (int)json_integer_value(preemptions));
}

json_t *rr_coverage_as_json(const struct rr_explore_config *config,
			    const struct rr_explore_result *result,
			    const struct rr_coverage_options *options)
{
	json_t *json = json_deep_copy(result->coverage), *all = json_array();
	char name[RR_BUDGET_NAME], option[80];

	if (!json) {
		json_decref(all);
		return json_null();
	}
	add_unsearched(all, config, result, options);
	if (result->left_out)
		add_untried(all, "left_out", NULL, "%s", result->left_out);
	if (result->has_own_keys)
		add_untried(all, "own_keys", NULL,
			    "other orders of commands on keys that one client alone names");
	for (int i = 0; i < RR_BUDGETS; i++) {
		const struct rr_budget_row *row = &rr_budget_rows[i];
		const bool is_of_leases = i == RR_EXPIRIES || i == RR_PAUSES;

		/* Programs whose keys have no time to live lose nothing by an expiry. */
		if (config->budget.of[i] > 0 || !(config->strategy ? row->help : row->check_help) ||
		    (!config->strategy && is_of_leases && !result->has_leases))
			continue;
		snprintf(option, sizeof(option), "--%s 1", row->option);
		add_untried(all, rr_budget_name(i, name), option, "%s", row->many);
	}
	if (config->n_clients < RR_RUN_CLIENTS)
		add_untried(all, "clients", options->more_clients, "more than %zu %s",
			    config->n_clients, options->noun);
	if (config->strategy) {
		snprintf(option, sizeof(option), "--increments %ld", config->increments + 1);
		add_untried(all, "increments", option, "more than %ld increment%s of each",
			    config->increments, config->increments == 1 ? "" : "s");
	}
	json_object_set_new(json, "not_tried", all);
	return json;
}

/* ---- All ------------------------------------------------------------------------------- */

void rr_search_note_coverage(struct rr_search *search)
{
	struct rr_product *product = &search->product;
	struct coverage *coverage = rr_calloc(1, sizeof(*coverage));
	json_t *json;

	coverage->search = search;
	coverage->graph = &search->graph;
	coverage->product = product;
	coverage->naming = rr_naming_of(&search->terms, &search->scripts,
					search->config->script_names);
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_client_table *table = product->clients[i].table;

		coverage->known[i] = rr_malloc((product->parts.n + 1U) * sizeof(struct nexts));
		for (uint32_t j = 0; j < product->parts.n; j++)
			coverage->known[i][j] = (struct nexts){ .n = RR_NO_ID };
		coverage->owned[i] = table ? rr_calloc(table->n_states + 1U, sizeof(struct owned)) :
					     NULL;
	}
	follow_graph(coverage);
	json = pairs_as_json(coverage);
	json_object_set_new(json, "preemptions", preemptions_as_json(coverage->graph));
	json_decref(search->result->coverage);
	search->result->coverage = json;

	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_client_table *table = product->clients[i].table;

		for (uint32_t j = 0; table && j < table->n_states; j++)
			free(coverage->owned[i][j].owners);
		free(coverage->owned[i]);
		free(coverage->known[i]);
	}
	for (uint32_t i = 0; i < coverage->asked.n; i++)
		free(coverage->named[i].label);
	free(coverage->named);
	free(coverage->nexts);
	rr_intern_release(&coverage->keys);
	rr_intern_release(&coverage->asked);
	rr_intern_release(&coverage->labels);
	rr_naming_release(&coverage->naming);
	free(coverage);
}
