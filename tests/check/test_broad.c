/* SPDX-License-Identifier: MIT */
/*
 * redrace check with programs that have many commands, and therefore more states than are looked
 * at one by one: a finding ends the search, and commands on keys that are a client's own
 * without the others. What is not a client's own turns out to be so, and counts.
 */
#include "../cli.h"

TestSuite(broad, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* `body` is Python: r sends a command, me is the client's name. */
static void check_program(int clients, const char *body, int code, const char *part)
{
	cli_write("many.py",
		  "import raw\n"
		  "r = raw.Connection()\n"
		  "me = raw.me\n"
		  "other = {'A': 'B', 'B': 'C', 'C': 'A'}[me]\n"
		  "%s\n",
		  body);
	cr_assert_eq(
		cli_runf("$REDRACE check -o $HERE/result.json --audit 1 --clients %d -- " CLI_PYTHON
			 "many.py 2>&1",
			 clients),
		code, "%s: %s", body, cli_output);
	cli_assert_outcome(code, part);
}

/* Three clients with so many commands each have more states than are looked at one by one. */
Test(broad, clients_with_keys_of_their_own_do_not_notice_each_other)
{
	check_program(3, "for i in range(28): r('SET', f'{me}:{i}', i)", 0, "states: 85");
	cli_assert_property("has_own_keys", "true");
}

/* A key seems to be A's own until B names it, in its last command. */
Test(broad, a_key_that_another_client_names_late_is_nobodys_own)
{
	check_program(3,
		      "for i in range(26): r('SET', f'{me}:{i}', i)\n"
		      "print(r('EXISTS', f'{other}:0'))",
		      1, "search.verdict: outputs_not_serializable");
}

/* Whatever a script touches, it may be anything. */
Test(broad, a_script_may_touch_every_key)
{
	check_program(3,
		      "for i in range(26): r('SET', f'{me}:{i}', i)\n"
		      "print(r('EVAL', 'return redis.call(\"EXISTS\", ARGV[1])', 0, f'{other}:0'))",
		      1, "search.verdict: outputs_not_serializable");
}

/* As many final states as there are subsets of keys: one preemption is enough, and schedules with
 * few of them come first. */
Test(broad, a_finding_with_one_preemption_does_not_wait_for_all_states)
{
	check_program(2, "for i in range(40): r('SET', f'k:{i}', me)", 1, CLI_NOT_SERIALIZABLE);
}
