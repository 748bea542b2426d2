/* SPDX-License-Identifier: MIT */
/* The second judge of redrace check: what it says of right programs, and of wrong ones whose
 * difference the search was made to excuse. Programs: tests/check/programs/doubted.py. */
#include "../cli.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"

TestSuite(skeptic, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

#define PROGRAM "$PYTHONPATH/doubted.py"
#define JSON " --no-cache --audit 1 -o $HERE/report.json "

/* The object of the skeptic in the report; the caller's to release. */
static json_t *read_report(void)
{
	char path[SUPPORT_DIRECTORY + 20];
	json_t *report, *skeptic;

	snprintf(path, sizeof(path), "%s/report.json", cli_home);
	report = json_load_file(path, 0, NULL);
	cr_assert(report, "no JSON: %s", cli_output);
	skeptic = json_object_get(
		json_object_get(json_array_get(json_object_get(report, "cases"), 0), "properties"),
		"skeptic");
	cr_assert(skeptic, "no skeptic in it: %s", cli_output);
	json_incref(skeptic);
	json_decref(report);
	return skeptic;
}

static void assert_verdict(const char *name, const char *verdict)
{
	json_t *skeptic = read_report();
	char *text = json_dumps(skeptic, JSON_INDENT(1));

	cr_assert_str_eq(json_string_value(json_object_get(skeptic, "verdict")), verdict, "%s: %s",
			 name, text);
	cr_assert_eq(json_is_object(json_object_get(skeptic, "finding")),
		     strcmp(verdict, "disagrees") == 0, "%s: %s", name, text);
	free(text);
	json_decref(skeptic);
}

/* ---- Right programs --------------------------------------------------------------------- */

static void check_right(const char *name, const char *options)
{
	cr_assert_eq(cli_runf("$REDRACE check --skeptic judge" JSON
			      "%s -- /usr/bin/python3 -S " PROGRAM " %s 2>&1",
			      options, name),
		     0, "%s: %s", name, cli_output);
	assert_verdict(name, "agrees");
}

/* A yes needs two judges; and what the search has not come to is found all the same. */
Test(skeptic, it_judges_unless_something_else_is_said)
{
	cr_assert_eq(cli_run("$REDRACE_ONCE check --no-cache --max-states 1 -- sh "
			     "examples/check/counter.sh 2>&1"),
		     1, "%s", cli_output);
	cr_assert_eq(cli_run("$REDRACE_ONCE check --no-cache --skeptic report --max-states 1 -- sh "
			     "examples/check/counter.sh 2>&1"),
		     2, "%s", cli_output);
}

Test(skeptic, agrees_with_a_script)
{
	check_right("script", "");
	check_right("script", "--clients 3");
}

Test(skeptic, agrees_with_new_names_and_another_order_of_fields)
{
	check_right("tokens", "");
	check_right("own_fields", "");
}

Test(skeptic, agrees_with_a_client_that_is_refused)
{
	check_right("refused", "");
}

/* Lines in any order are sorted, rounds of waiting are left out, and what is declared is refused. */
Test(skeptic, agrees_with_what_says_nothing)
{
	check_right("permuted", "");
	check_right("polls", "");
	check_right("optimistic", "");
	check_right("withdraws", "--refused 1");
}

/* The clocks of the server and of clients go on together, and keys of those who are late live on. */
Test(skeptic, agrees_with_what_rests_on_time_that_passes)
{
	check_right("compares_clocks", "");
	check_right("compares_in_script", "");
	check_right("outlives", "");
	check_right("looks_in_time", "");
	check_right("window", "");
}

/* What it left out of the comparison is named. */
Test(skeptic, agrees_with_a_lock_and_names_the_output_of_who_waited)
{
	json_t *skeptic;

	check_right("locked", "--accept-bounded");
	skeptic = read_report();
	cr_assert_geq(json_array_size(json_object_get(skeptic, "not_compared")), 1);
	json_decref(skeptic);
}

/* ---- Wrong ones, and a search that excuses what differs ----------------------------------- */

static enum rr_exit check_words(unsigned plants, int n, char **words)
{
	struct rr_check_command chosen = rr_check_defaults();
	struct rr_error error = { .kind = RR_ERROR_NONE };
	enum rr_exit code;

	cr_assert(rr_check_take_words(&chosen, n, words, &error), "%s", error.text);
	chosen.each.search.compare.plants = plants;
	code = rr_check(&chosen.each, &error);
	cr_assert_eq(error.kind, RR_ERROR_NONE, "%s", error.text);
	rr_replay_release(&chosen.replay);
	return code;
}

/* In this process, in which the libraries lie beside the program as well. `more` ends in NULL. */
static enum rr_exit check_planted(unsigned plants, const char *mode, const char *init,
				  char *const *more)
{
	char report[SUPPORT_DIRECTORY + 20], file[SUPPORT_DIRECTORY + 20], program[4096];
	char *words[20] = { "redrace check", "--no-cache", "--audit", "0",
			    "--skeptic",     (char *)mode, "-o",      report };
	int n = 8;
	const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	cr_assert_gt(length, 0);
	program[length] = '\0';
	cr_assert_eq(cli_runf("cd $(dirname %s) && ln -sf ../redrace-program.so "
			      "../redrace-clock.so ../redrace-app .",
			      program),
		     0, "%s", cli_output);
	snprintf(report, sizeof(report), "%s/report.json", cli_home);
	if (init) {
		cli_write("init", "%s", init);
		snprintf(file, sizeof(file), "%s/init", cli_home);
		words[n++] = "--init";
		words[n++] = file;
	}
	for (; *more; more++)
		words[n++] = *more;
	dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
	return check_words(plants, n, words);
}

static enum rr_exit check_program(unsigned plants, const char *mode, const char *init,
				  const char *name)
{
	char path[PATH_MAX];
	char *const more[] = { "--", "/usr/bin/python3", "-S", path, (char *)name, NULL };

	snprintf(path, sizeof(path), "%s/doubted.py", getenv("PYTHONPATH"));
	return check_planted(plants, mode, init, more);
}

enum { EXCUSED = RR_PLANT_EXCUSED_DATA | RR_PLANT_EXCUSED_OUTPUTS };

/* Each excuse, and a program that is wrong in it alone. */
static const struct excused {
	const char *name, *init;
	unsigned plants;
} excused[] = {
	{ "paid_until", NULL, EXCUSED },                           /* a time of day */
	{ "large_counter", NULL, EXCUSED },                        /* what looks like one */
	{ "booking", NULL, EXCUSED },                              /* a list of times */
	{ "answer", "SET stock 1\n", RR_PLANT_EXCUSED_OUTPUTS },   /* a word that varies */
	{ "log_line", "SET stock 1\n", RR_PLANT_EXCUSED_OUTPUTS }, /* the same */
	{ "glued", "SET stock 1\n", RR_PLANT_EXCUSED_OUTPUTS },    /* beside a number that varies */
	{ "permuted_answer", "SET stock 1\n", RR_PLANT_EXCUSED_OUTPUTS }, /* lines in any order */
	{ "withdraws", NULL, RR_PLANT_EXCUSED_OUTPUTS },    /* a failure after data were changed */
	{ "half_written", NULL, RR_PLANT_EXCUSED_OUTPUTS }, /* waiting */
	{ "alarm", "MSET x 50 y 50\n", RR_PLANT_EXCUSED_OUTPUTS }, /* in rounds */
	{ "both_refused", NULL, EXCUSED },                         /* refusals */
	{ "long_sleep", NULL, EXCUSED },                           /* time that passes */
	{ "waits_too_short", NULL, EXCUSED },                      /* the same, slowly */
	{ "queue_order", NULL, EXCUSED },                          /* commands that block */
};

static void check_excused(const char *name)
{
	const struct excused *one = excused;
	enum rr_exit code;

	while (strcmp(one->name, name) != 0)
		one++;
	code = check_program(one->plants, "judge", one->init, one->name);
	cr_assert_eq(code, 1, "%s: exit code %d", one->name, code);
	assert_verdict(one->name, "disagrees");
}

Test(skeptic, disagrees_about_an_answer_behind_a_number)
{
	check_excused("glued");
}

Test(skeptic, disagrees_about_lines_in_any_order)
{
	check_excused("permuted_answer");
}

Test(skeptic, disagrees_about_a_failure_after_a_change)
{
	check_excused("withdraws");
}

Test(skeptic, disagrees_about_a_time_of_day)
{
	check_excused("paid_until");
}
Test(skeptic, disagrees_about_a_number_like_a_time)
{
	check_excused("large_counter");
}
Test(skeptic, disagrees_about_a_list_of_times)
{
	check_excused("booking");
}
Test(skeptic, disagrees_about_a_word_beside_a_token)
{
	check_excused("answer");
}
Test(skeptic, disagrees_about_a_word_beside_a_process_id)
{
	check_excused("log_line");
}
Test(skeptic, disagrees_about_what_a_poller_saw)
{
	check_excused("half_written");
}
Test(skeptic, disagrees_about_what_a_poller_printed)
{
	check_excused("alarm");
}
Test(skeptic, disagrees_about_two_refusals)
{
	check_excused("both_refused");
}
Test(skeptic, disagrees_about_a_lease_that_is_outslept)
{
	check_excused("long_sleep");
}
Test(skeptic, disagrees_about_what_takes_longer_than_a_sleep)
{
	check_excused("waits_too_short");
}
Test(skeptic, disagrees_about_a_command_that_blocks)
{
	check_excused("queue_order");
}

/* Both requests get the last one. */
Test(skeptic, disagrees_about_an_app)
{
	char app[SUPPORT_DIRECTORY + 20], request[SUPPORT_DIRECTORY + 40];
	char *const more[] = { "--app", app, "--request", request, NULL };

	snprintf(app, sizeof(app), "%s/shop", cli_home);
	snprintf(request, sizeof(request), "%s/ask {app}/buy", cli_home);
	cr_assert_eq(cli_run("cp $MADE/shop $MADE/ask $HERE 2>&1"), 0, "%s", cli_output);
	cr_assert_eq(check_planted(EXCUSED, "judge", "SET stock 1\n", more), 1);
	assert_verdict("shop", "disagrees");
}

/* ---- Modes ------------------------------------------------------------------------------------ */

Test(skeptic, report_changes_no_exit_code)
{
	cr_assert_eq(check_program(EXCUSED, "report", NULL, "large_counter"), 0);
	assert_verdict("large_counter", "disagrees");
}

Test(skeptic, off_runs_nothing)
{
	cr_assert_eq(check_program(EXCUSED, "off", NULL, "large_counter"), 0);
	assert_verdict("large_counter", "off");
}

Test(skeptic, is_not_asked_about_a_finding)
{
	cr_assert_eq(cli_run("$REDRACE_ONCE check" JSON "-- sh -c 'v=$(redis-cli -p $REDIS_PORT "
			     "GET n); redis-cli -p $REDIS_PORT SET n $((v + 1))' 2>&1"),
		     1, "%s", cli_output);
	assert_verdict("counter", "off");
}

/* There is nothing to compare with. */
Test(skeptic, is_inconclusive_where_no_serial_execution_ends)
{
	cr_assert_eq(check_program(EXCUSED, "judge", NULL, "need_each_other"), 2);
	assert_verdict("need_each_other", "inconclusive");
}

Test(skeptic, unknown_mode_is_a_usage_error)
{
	cli_assert_one_line("$REDRACE check --skeptic maybe -- true 2>&1", 64, "--skeptic");
}

/* What the user allows is not compared. */
Test(skeptic, ignores_what_the_user_ignores)
{
	cr_assert_eq(cli_run("$REDRACE check --skeptic judge --ignore until" JSON
			     "-- /usr/bin/python3 -S " PROGRAM " paid_until 2>&1"),
		     0, "%s", cli_output);
	assert_verdict("paid_until", "agrees");
}

/* It has none of the search's faults, and says so. */
Test(skeptic, names_faults_as_a_limit)
{
	json_t *without, *with;

	check_right("script", "");
	without = read_report();
	check_right("script", "--crashes 1");
	with = read_report();
	cr_assert_eq(json_array_size(json_object_get(with, "limits")),
		     json_array_size(json_object_get(without, "limits")) + 1);
	json_decref(with);
	json_decref(without);
}

Test(skeptic, leaves_no_process)
{
	cr_assert_eq(cli_run("cp " PROGRAM " $HERE/alone.py && "
			     "$REDRACE_ONCE check" JSON "-- " CLI_PYTHON "alone.py script 2>&1"),
		     0, "%s", cli_output);
	assert_verdict("alone", "agrees");
	cr_assert_eq(cli_run("pgrep -f \"$HERE/alone.py\""), 1, "left behind: %s", cli_output);
}

/* Of 120 serial orders it runs 24: what none of these explains is no finding. */
Test(skeptic, is_inconclusive_where_it_lacks_serial_orders, .timeout = 600)
{
	int code;

	cli_write("push.py", "import raw; raw.Connection()('RPUSH', 'l', raw.token())\n");
	code = cli_run("$REDRACE check --clients 5 --skeptic judge" JSON "-- " CLI_PYTHON
		       "push.py 2>&1");
	cr_assert(code == 0 || code == 2, "%d: %s", code, cli_output);
	assert_verdict("orders", code ? "inconclusive" : "agrees");
}
