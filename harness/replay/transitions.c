/* SPDX-License-Identifier: MIT */
#include "transitions.h"

#include <stdio.h>

/* ---- Budgets ------------------------------------------------------------------ */

const struct rr_budget_row rr_budget_rows[RR_BUDGETS] = {
	[RR_CRASHES] = { .option = "crashes",
			 .help = "clients crash, at most N times (0)",
			 .check_help = "clients crash, at most N times (0)",
			 .one = "crash",
			 .many = "crashes",
			 .hazards = 1U << RR_CRASH,
			 .in_column = 1,
			 .is_fault = true },
	[RR_EXPIRIES] = { .option = "expiries",
			  .help = "leases expire, at most N times (0); if needed in two halves, between which the lease can be renewed",
			  .check_help = "leases expire, at most N times (0)",
			  .one = "expiry",
			  .many = "expiries",
			  .hazards = 1U << RR_PAUSE,
			  .parts = 2,
			  .is_fault = true },
	[RR_PAUSES] = { .option = "pauses",
			.help = "all clients pause, at most N times (0): for half a lease or a whole one, and no lease is renewed meanwhile",
			.check_help =
				"all clients pause, at most N times (0): for longer than any lease, so that leases expire",
			.one = "pause",
			.many = "pauses",
			.hazards = 1U << RR_PAUSE,
			.in_column = 1,
			.parts = 2,
			.is_fault = true },
	[RR_LOST_REPLIES] = { .option = "lost-replies",
			      .help = "replies are lost, at most N times (0); the caller repeats its increment",
			      .check_help =
				      "replies are lost, at most N times (0): the connection is closed instead",
			      .one = "lost reply",
			      .many = "lost replies",
			      .hazards = 1U << RR_LOST_REPLY,
			      .in_column = 1,
			      .is_fault = true },
	[RR_RESTARTS] = { .option = "restarts",
			  .help = "lock servers restart empty, at most N times (0)",
			  .one = "restart",
			  .many = "restarts",
			  .hazards = 1U << RR_RESTART,
			  .in_column = 1,
			  .is_fault = true },
	[RR_JUMPS] = { .option = "jumps",
		       .help = "the clock of a server jumps forward by more than a lease, at most N times (0)",
		       .one = "jump of a server's clock",
		       .many = "jumps of a server's clock",
		       .hazards = 1U << RR_SKEW,
		       .in_column = 1,
		       .is_fault = true },
	[RR_LATE_COMMANDS] = { .option = "late",
			       .help = "at most N commands are executed after their client crashed or gave up (0)",
			       .one = "late command",
			       .many = "late commands",
			       .hazards = 1U << RR_PAUSE },
};

struct rr_budget rr_budget_in_parts(const struct rr_budget *budget)
{
	struct rr_budget parts = *budget;

	for (int i = 0; i < RR_BUDGETS; i++)
		parts.of[i] *= rr_budget_rows[i].parts ? rr_budget_rows[i].parts : 1;
	return parts;
}

bool rr_budget_has_faults(const struct rr_budget *budget)
{
	for (int i = 0; i < RR_BUDGETS; i++) {
		if (rr_budget_rows[i].is_fault && budget->of[i])
			return true;
	}
	return false;
}

const char *rr_budget_name(enum rr_budget_kind kind, char name[RR_BUDGET_NAME])
{
	snprintf(name, RR_BUDGET_NAME, "%s", rr_budget_rows[kind].option);
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return name;
}

/* ---- Options ------------------------------------------------------------------ */

static struct rr_option option_of(size_t kind, const char *help)
{
	return (struct rr_option){ .name = rr_budget_rows[kind].option,
				   .help = help,
				   .kind = RR_TAKES_INT,
				   .at = kind * sizeof(int),
				   .max = 8 };
}

bool rr_budget_option(size_t index, struct rr_option *option)
{
	if (index < RR_BUDGETS)
		*option = option_of(index, rr_budget_rows[index].help);
	return index < RR_BUDGETS;
}

bool rr_budget_check_option(size_t index, struct rr_option *option)
{
	for (size_t i = 0; i < RR_BUDGETS; i++) {
		if (!rr_budget_rows[i].check_help || index-- > 0)
			continue;
		*option = option_of(i, rr_budget_rows[i].check_help);
		return true;
	}
	return false;
}

/* ---- Transitions -------------------------------------------------------------- */

const struct rr_transition_row rr_transition_rows[RR_TRANSITIONS] = {
	[RR_DO_EXECUTE] = { .subject = RR_OF_CLIENT,
			    .is_step = true,
			    .has_command = true,
			    .is_played = true },
	[RR_DO_GO] = { .subject = RR_OF_CLIENT,
		       .is_step = true,
		       .has_command = true,
		       .is_played = true },
	[RR_DO_BEGIN] = { .word = "begin", .subject = RR_OF_CLIENT, .is_step = true },
	[RR_DO_LATE] = { .word = "late",
			 .fault = "late_command",
			 .subject = RR_OF_CLIENT,
			 .has_command = true,
			 .budget = RR_LATE_COMMANDS },
	[RR_DO_NOTICE] = { .word = "notice", .subject = RR_OF_CLIENT },
	[RR_DO_RETURN] = { .word = "return", .subject = RR_OF_SERVER },
	[RR_DO_WAIT] = { .word = "tick", .alias = "wait", .is_played = true, .key = 't' },
	[RR_DO_NEAR] = { .word = "near" },
	[RR_DO_WAKE] = { .word = "wake", .subject = RR_OF_CLIENT },
	[RR_DO_LOSE] = { .word = "lose-reply",
			 .fault = "lost_reply",
			 .alias = "lose",
			 .subject = RR_OF_CLIENT,
			 .is_step = true,
			 .has_command = true,
			 .is_played = true,
			 .key = 'l',
			 .is_fault = true,
			 .budget = RR_LOST_REPLIES },
	[RR_DO_DROP] = { .word = "drop",
			 .fault = "lost_command",
			 .subject = RR_OF_CLIENT,
			 .is_step = true,
			 .has_command = true,
			 .is_fault = true,
			 .budget = RR_LOST_REPLIES },
	[RR_DO_CRASH] = { .word = "crash",
			  .fault = "crash",
			  .subject = RR_OF_CLIENT,
			  .is_played = true,
			  .key = 'x',
			  .is_fault = true,
			  .budget = RR_CRASHES },
	[RR_DO_RESTART] = { .word = "restart",
			    .fault = "restart",
			    .subject = RR_OF_SERVER,
			    .is_played = true,
			    .is_fault = true,
			    .budget = RR_RESTARTS },
	[RR_DO_JUMP] = { .word = "jump",
			 .fault = "clock_jump",
			 .subject = RR_OF_SERVER,
			 .is_fault = true,
			 .budget = RR_JUMPS },
	[RR_DO_HALF] = { .word = "half",
			 .fault = "expiry",
			 .is_fault = true,
			 .budget = RR_EXPIRIES },
	[RR_DO_WHOLE] = { .word = "whole",
			  .fault = "expiry",
			  .subject = RR_OF_ENDS,
			  .is_fault = true,
			  .budget = RR_EXPIRIES,
			  .parts = 2 },
	[RR_DO_PAUSE_HALF] = { .word = "pause-half",
			       .fault = "pause",
			       .is_fault = true,
			       .budget = RR_PAUSES },
	[RR_DO_PAUSE] = { .word = "pause",
			  .fault = "pause",
			  .is_played = true,
			  .is_fault = true,
			  .budget = RR_PAUSES,
			  .parts = 2 },
};

enum rr_transition_kind rr_transition_of_key(int key)
{
	int kind = 0;

	while (kind < RR_TRANSITIONS && (!key || rr_transition_rows[kind].key != key))
		kind++;
	return kind;
}
