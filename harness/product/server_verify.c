/* SPDX-License-Identifier: MIT */
/* Rows of the server table that are asked again: do states that were taken for one answer alike, does
 * time make a difference, does chance? */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "server_state.h"

/* More than a day, so that nothing looks the same by chance. */
#define LATER_NS (INT64_C(100003) * 1000000000)

/* ---- Conformance ---------------------------------------------------------- */

/* Asks `row` behind `merge`, which leads to its state by another path. */
static int verify_row(struct rr_server_table *table, uint32_t merge, uint32_t number)
{
	const struct rr_server_row detour = table->row[merge];
	const struct rr_server_row row = table->row[number];
	struct rr_server_row again = { .from = row.from, .question = row.question };
	struct rr_server_row copy = { .from = detour.from, .question = detour.question };
	bool is_new = false;

	if (!rr_server_bring_to(table, detour.from) ||
	    rr_server_ask_from(table, detour.from, &copy, &is_new) == RR_NO_ID)
		return -1;
	again.to = rr_server_ask_from(table, row.from, &again, &is_new);
	table->at = RR_NO_ID;
	if (again.to == RR_NO_ID)
		return -1;
	if (again.to == row.to && again.reply == row.reply && again.blocks == row.blocks &&
	    again.wakes == row.wakes)
		return 0;
	rr_server_differ(table, &row);
	return 1;
}

/* All rows of the state that a merge leads to. */
static int verify_merge(struct rr_server_table *table, uint32_t merge, unsigned long *left)
{
	const uint32_t n_rows = table->rows.n;
	int result = 0;

	for (uint32_t i = 0; i < n_rows && result == 0 && *left; i++) {
		if (table->row[i].from != table->row[merge].to ||
		    table->row[i].question.kind == RR_ASK_READ)
			continue;
		--*left;
		result = verify_row(table, merge, i);
	}
	return result;
}

/* Questions that changed nothing, as it seems, come last: they are many. */
int rr_server_table_verify(struct rr_server_table *table, unsigned long most, unsigned long *n)
{
	unsigned long left = most;
	int result = table->error.kind ? -1 : 0;

	for (int stays = 0; stays < 2 && result == 0; stays++) {
		for (uint32_t i = 0; i < table->rows.n && result == 0; i++) {
			const struct rr_server_row *row = &table->row[i];

			if (row->merges && (row->from == row->to) == stays)
				result = verify_merge(table, i, &left);
		}
	}
	*n += most - left;
	return result;
}

/* ---- The time of day ------------------------------------------------------- */

/* A row asked again. */
static bool is_same_again(struct rr_server_table *table, uint32_t number)
{
	const struct rr_server_row row = table->row[number];
	struct rr_server_row again = { .from = row.from, .question = row.question };
	struct rr_server_snapshot state = table->states[row.from];
	struct rr_connections connections;

	rr_server_connections(table, row.from, &connections);
	if (!rr_server_bring_to(table, row.from))
		return true;
	table->at = RR_NO_ID;
	return !rr_server_ask(table, &state, &connections, &again) ||
	       (again.reply == row.reply && state.data == table->states[row.to].data);
}

/* How often the server has run TIME, also within scripts. */
static long long count_time_calls(struct rr_server_table *table)
{
	static const char calls[] = "cmdstat_time:calls=";
	struct rdl_reply reply;
	const char *found;

	if (!rr_asker_say(table->asker, &reply, "INFO commandstats")) {
		rr_server_fail_asking(table);
		return 0;
	}
	found = reply.text ? strstr(reply.text, calls) : NULL;
	return found ? atoll(found + strlen(calls)) : 0;
}

bool rr_server_table_tells_time(struct rr_server_table *table)
{
	enum { EACH = 6 };
	uint8_t *seen = rr_calloc(table->terms->kinds.n + 1, 1);
	const long long n_before = count_time_calls(table);
	bool differs = false;

	rr_asker_set_epoch(table->asker, LATER_NS);
	table->at = RR_NO_ID;
	for (uint32_t i = 0; i < table->rows.n && !differs; i++) {
		const struct rr_question *question = &table->row[i].question;
		uint32_t kind;

		if (question->kind != RR_ASK_COMMAND)
			continue;
		kind = table->terms->command[question->argument].kind;
		if (seen[kind]++ < EACH)
			differs = !is_same_again(table, i);
		else
			seen[kind] = EACH;
	}
	rr_asker_set_epoch(table->asker, 0);
	table->at = RR_NO_ID;
	free(seen);
	/* A script may compare TIME with a time that it is told, and tell both clocks the same. */
	differs |= count_time_calls(table) > n_before;
	return differs && !table->error.kind;
}

/* ---- Random commands --------------------------------------------------------- */

static bool is_random_row(const struct rr_server_table *table, const struct rr_server_row *row)
{
	const char *name;

	if (row->question.kind != RR_ASK_COMMAND)
		return false;
	name = rr_server_command_name(table, (uint32_t)row->question.argument);
	return rr_asker_info(table->asker, name).is_random || strcmp(name, "EXEC") == 0 ||
	       strcmp(name, "FCALL") == 0 ||
	       rr_server_may_draw(table, name,
				  &table->terms->command[row->question.argument].words);
}

bool rr_server_table_verify_random(struct rr_server_table *table)
{
	enum { ROWS = 50, TIMES = 10 };
	uint32_t n = 0;

	for (uint32_t i = 0; table->random_command && i < table->rows.n && n < ROWS; i++) {
		if (!is_random_row(table, &table->row[i]))
			continue;
		n++;
		for (int j = 0; j < TIMES; j++) {
			if (!is_same_again(table, i))
				return rr_server_differ(table, &table->row[i]);
		}
	}
	return table->error.kind == RR_ERROR_NONE;
}
