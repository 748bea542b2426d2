/* SPDX-License-Identifier: MIT */
/* Rules of dependence that are broken on purpose: the oracle must find each. */
#include <criterion/parameterized.h>

#include "effects.h"
#include "programs.h"

enum { ENOUGH = 300 };

static struct support support;

/* ---- Broken rules --------------------------------------------------------- */

static void forget_reads(const struct rr_gate_event *event,
			 struct rr_footprint *footprint)
{
	(void)event;
	footprint->reads = 0;
}

static void forget_writes(const struct rr_gate_event *event,
			  struct rr_footprint *footprint)
{
	(void)event;
	footprint->reads |= footprint->writes;
	footprint->writes = 0;
}

static void forget_watched(const struct rr_gate_event *event,
			   struct rr_footprint *footprint)
{
	if (rr_op_is(&event->op, "EXEC"))
		footprint->reads = 0;
}

/* EXEC is no more than what it is answered for. */
static void forget_queued(const struct rr_gate_event *event,
			  struct rr_footprint *footprint)
{
	if (rr_op_is(&event->op, "EXEC"))
		footprint->writes = 0;
}

static void forget_failed(const struct rr_gate_event *event,
			  struct rr_footprint *footprint)
{
	if (rr_op_is(&event->op, "SET") &&
	    event->reply.type == RL_REPLY_NIL)
		*footprint = (struct rr_footprint){ 0 };
}

static void forget_popped(const struct rr_gate_event *event,
			  struct rr_footprint *footprint)
{
	if (event->op.n_sources > 0 || rr_op_is(&event->op, "LPOP") ||
	    rr_op_is(&event->op, "RPOP"))
		forget_writes(event, footprint);
}

/* A pop that got nothing in time has looked, nevertheless. */
static void forget_in_vain(const struct rr_gate_event *event,
			   struct rr_footprint *footprint)
{
	if (event->op.n_sources > 0 && event->reply.type == RL_REPLY_NIL)
		*footprint = (struct rr_footprint){ 0 };
}

/* Whatever a script answers with nil it is believed. */
static void believe_nil(const struct rr_gate_event *event,
			struct rr_footprint *footprint)
{
	if (rr_access_is_script(&event->op) &&
	    rr_access_may_be_refusal(&event->reply))
		forget_writes(event, footprint);
}

static void forget_errors(const struct rr_gate_event *event,
			  struct rr_footprint *footprint)
{
	if (event->reply.type == RL_REPLY_FAILED)
		*footprint = (struct rr_footprint){ 0 };
}

static void forget_lives(const struct rr_gate_event *event,
			 struct rr_footprint *footprint)
{
	if (rr_op_is(&event->op, "EXPIRE") || rr_op_is(&event->op, "PEXPIRE") ||
	    rr_op_is(&event->op, "PERSIST"))
		forget_writes(event, footprint);
}

/* ---- Tests ---------------------------------------------------------------- */

static void assert_found(struct programs_run broken, const char *what)
{
	struct programs *programs = programs_open(&support);
	struct programs_run all = { .all = true };
	uint64_t seed = 0;

	do {
		cr_assert_lt(seed, ENOUGH, "not found: %s", what);
		programs_make(programs, ++seed);
		programs_run(programs, &all);
		programs_run(programs, &broken);
	} while (programs_agree(programs));
	cr_log_info("%s: found by program %llu", what,
		    (unsigned long long)seed);
	programs_close(programs);
	support_close(&support);
}

static const struct {
	const char *what;
	struct programs_run run;
} rules[] = {
	{ "a write does not matter to whoever reads",
	  { .distort = forget_reads } },
	{ "writes are reads", { .distort = forget_writes } },
	{ "EXEC does not read what is watched", { .distort = forget_watched } },
	{ "EXEC does not write what was queued", { .distort = forget_queued } },
	{ "a SET that is refused does nothing", { .distort = forget_failed } },
	{ "a pop is a read", { .distort = forget_popped } },
	{ "a pop in vain does nothing", { .distort = forget_in_vain } },
	{ "a script that answers nil is a read", { .distort = believe_nil } },
	{ "what fails does nothing", { .distort = forget_errors } },
	{ "a time to live is no write", { .distort = forget_lives } },
	{ "who sleeps is never woken", { .never_wakes = true } },
	{ "who is stuck could not have come first", { .forgets_stuck = true } },
};

enum { RULES = sizeof(rules) / sizeof(rules[0]) };

ParameterizedTestParameters(oracle, broken_rule_is_found)
{
	static int numbers[RULES];

	for (int i = 0; i < RULES; i++)
		numbers[i] = i;
	return cr_make_param_array(int, numbers, RULES);
}

ParameterizedTest(const int *number, oracle, broken_rule_is_found,
		  .timeout = 300)
{
	assert_found(rules[*number].run, rules[*number].what);
}
