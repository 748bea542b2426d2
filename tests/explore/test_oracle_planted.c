/* SPDX-License-Identifier: MIT */
/* Tables that are wrong on purpose: the oracle must find each, and so must the
 * explorer's own checks where they can. */
#include "programs.h"

#include <criterion/parameterized.h>
#include <string.h>

#include "replay/replay.h"

enum { ENOUGH = 400, STEPS = 8, FEW_STEPS = 3 };

static struct stage stage;

/* What is wrong: commands of that name, or any (NULL). */
struct rule {
	const char *what, *name;
	void (*spoil)(struct rr_server_table *table, struct rr_server_row *row);
	bool is_subtle; /* nothing that is played or asked again shows it */
	struct rr_budget budget;
};

static const struct rule *rule;

/* ---- Wrong tables ---------------------------------------------------------- */

static void leave_out(struct rr_server_table *table, struct rr_server_row *row)
{
	(void)table;
	row->to = row->from;
}

static void answer_wrongly(struct rr_server_table *table, struct rr_server_row *row)
{
	row->reply = (row->reply + 1) % table->terms->n_replies;
}

static void answer_at_once(struct rr_server_table *table, struct rr_server_row *row)
{
	const struct rdl_reply nothing = { .type = RDL_REPLY_NIL };

	if (!row->blocks)
		return;
	row->blocks = false;
	row->reply = rr_terms_reply(table->terms, &nothing);
	row->to = row->from;
}

static void forget_leases(struct rr_server_table *table, struct rr_server_row *row)
{
	table->states[row->to].first_end_ns = RR_NEVER;
}

/* To a state with other data, and the same connections. */
static void lead_elsewhere(struct rr_server_table *table, struct rr_server_row *row)
{
	for (uint32_t i = 0; i < table->keys.n; i++) {
		if (table->states[i].data != table->states[row->to].data &&
		    table->states[i].connections == table->states[row->to].connections) {
			row->to = i;
			return;
		}
	}
}

static bool concerns(const struct rr_server_table *table, const struct rr_server_row *row)
{
	const struct rr_terms *terms = table->terms;
	const char *name;

	if (row->question.kind == RR_ASK_TICK)
		return rule->name && strcmp(rule->name, "tick") == 0;
	if (row->question.kind != RR_ASK_COMMAND)
		return false;
	name = rr_intern_get(&terms->words, terms->command[row->question.argument].name);
	return !rule->name || strcmp(rule->name, name) == 0;
}

static bool plant(struct rr_server_table *table)
{
	bool changed = false;

	for (uint32_t i = 0; i < table->rows.n; i++) {
		struct rr_server_row *row = &table->row[i];
		const struct rr_server_row before = *row;
		const int64_t end_ns = table->states[row->to].first_end_ns;

		if (!concerns(table, row))
			continue;
		rule->spoil(table, row);
		changed |= row->to != before.to || row->reply != before.reply ||
			   row->blocks != before.blocks ||
			   table->states[before.to].first_end_ns != end_ns;
	}
	return changed;
}

static const struct rule rules[] = {
	{ "a reply is another one", "GET", .spoil = answer_wrongly },
	{ "a script is answered wrongly", "EVAL", .spoil = answer_wrongly },
	{ "a pop never waits", "BLPOP", .spoil = answer_at_once },
	{ "SET is not kept", "SET", .spoil = leave_out },
	{ "a script changes nothing", "EVAL", .spoil = leave_out },
	{ "EXPIRE is not kept", "EXPIRE", .spoil = leave_out },
	{ "WATCH is not kept", "WATCH", .spoil = leave_out },
	{ "MULTI is not kept", "MULTI", .spoil = leave_out },
	{ "SUBSCRIBE is not kept", "SUBSCRIBE", .spoil = leave_out },
	{ "PUBLISH reaches nobody", "PUBLISH", .spoil = leave_out },
	{ "time changes nothing", "tick", .spoil = leave_out },
	{ "leases have no end", NULL, forget_leases, true, { .of = { [RR_EXPIRIES] = 1 } } },
	{ "INCR leads to another state", "INCR", .spoil = lead_elsewhere },
	{ "DEL leads to another state", "DEL", .spoil = lead_elsewhere },
};

enum { RULES = sizeof(rules) / sizeof(rules[0]) };

/* ---- Tests ----------------------------------------------------------------- */

ParameterizedTestParameters(oracle, wrong_table_is_found)
{
	static int numbers[RULES];

	for (int i = 0; i < RULES; i++)
		numbers[i] = i;
	return cr_make_param_array(int, numbers, RULES);
}

ParameterizedTest(const int *number, oracle, wrong_table_is_found, .timeout = 600)
{
	struct programs *programs = programs_open(&stage);
	uint64_t found = 0, noticed = 0;
	char why[200];

	rule = &rules[*number];
	for (uint64_t seed = 1; seed <= ENOUGH && (!found || !(noticed || rule->is_subtle));
	     seed++) {
		struct programs_run tree = { .is_tree = true, .budget = rule->budget };
		struct programs_run wrong = { .plant = plant,
					      .checks = true,
					      .budget = rule->budget };

		programs_make(programs, seed, rule->is_subtle ? FEW_STEPS : STEPS);
		programs_run(programs, &wrong);
		if (!wrong.was_planted)
			continue;
		if (!noticed && wrong.was_noticed)
			noticed = seed;
		programs_run(programs, &tree);
		if (!found && !programs_agree(programs, why, sizeof(why)))
			found = seed;
	}
	cr_expect(found, "the oracle does not find that %s", rule->what);
	cr_expect(noticed || rule->is_subtle, "no check notices that %s", rule->what);
	cr_log_info("%s: found by program %llu, noticed in %llu", rule->what,
		    (unsigned long long)found, (unsigned long long)noticed);
	programs_close(programs);
	stage_close(&stage);
}
