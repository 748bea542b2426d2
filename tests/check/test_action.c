/* SPDX-License-Identifier: MIT */
/* The steps of the GitHub Action, run as GitHub runs them. */
#include "../cli.h"

#include <stdio.h>

TestSuite(check_action, .init = cli_setup, .fini = cli_teardown);

/* A step as a script, and a directory in which `redrace` is the program. */
static void prepare_step(const char *step, const char *inputs)
{
	char command[768];

	if (cli_run("/usr/bin/python3 -c 'import yaml' 2>&1") != 0)
		cli_skip("PyYAML is not installed");
	if (cli_run("command -v bash") != 0)
		cli_skip("there is no bash");
	snprintf(
		command, sizeof(command),
		"mkdir -p $HERE/bin $HERE/app && ln -sf $(realpath $REDRACE) $HERE/bin/redrace && cp examples/check/counter.sh $HERE/app &&"
		"echo export GITHUB_WORKSPACE=$HERE RUNNER_TEMP=$HERE/temp GITHUB_OUTPUT=$HERE/output GITHUB_STEP_SUMMARY=$HERE/summary PATH=$HERE/bin:$PATH >$HERE/env &&"
		"/usr/bin/python3 tests/action_step.py '%s' %s >$HERE/step 2>&1",
		step, inputs);
	cr_assert_eq(cli_run(command), 0, "%s", (cli_run("cat $HERE/step"), cli_output));
}

/* It exits with `code`. */
static void run_step(int code)
{
	cr_assert_eq(cli_run("cd $HERE && . ./env && bash step 2>&1"), code, "%s", cli_output);
}

Test(check_action, a_finding_is_marked_and_kept)
{
	prepare_step("Run redrace",
		     "working-directory=app 'arguments=--audit 1 -- sh \"counter.sh\"'");
	run_step(1);
	cli_assert_names("::error file=counter.sh,line=1,title=");
	cr_assert_eq(
		cli_run("grep exit $HERE/output; cd $(sed -n 's/^report=//p' $HERE/output) && ls; test -s $HERE/summary"),
		0);
	cr_assert_str_eq(cli_output, "exit-code=1\nrace.race\nrace.svg\nreport.json\nreport.xml\n");
}

/* The directory that the other steps restore and keep; without one nothing is kept. */
Test(check_action, verdicts_are_kept_from_job_to_job)
{
	for (int i = 0; i < 2; i++) {
		prepare_step("Run redrace", "working-directory=app cache=kept "
					    "'arguments=--audit 1 -- sh counter.sh'");
		run_step(1);
		cr_assert_eq(cli_runf("ls $HERE/kept/*.check && jq -e "
				      "'.cases[0].properties.kept.is_used == %s' "
				      "$HERE/temp/redrace/report.json",
				      i ? "true" : "false"),
			     0, "%s", cli_output);
	}
	prepare_step("Run redrace",
		     "working-directory=app cache= 'arguments=--audit 1 -- sh counter.sh'");
	run_step(1);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties.kept.is_used | not' "
			     "$HERE/temp/redrace/report.json"),
		     0, "%s", cli_output);
	cr_assert_eq(
		cli_run("/usr/bin/python3 -c 'import yaml; steps = yaml.safe_load(open("
			"\".ci/action/action.yml\"))[\"runs\"][\"steps\"]; print(*[(s[\"uses\"], "
			"s[\"with\"][\"path\"], \"always()\" in s[\"if\"]) for s in steps if "
			"\"cache\" in s.get(\"uses\", \"\")], sep=\"\\n\")'"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "('actions/cache/restore@v4', '${{ inputs.cache }}', False)\n"
				     "('actions/cache/save@v4', '${{ inputs.cache }}', True)\n");
}

/* Its checks have pictures of their own. */
Test(check_action, a_suite_is_run)
{
	prepare_step("Run redrace", "working-directory=app 'arguments=--audit 0'");
	cr_assert_eq(
		cli_run("printf 'checks:\\n  counter:\\n    command: [sh, counter.sh]\\n' >$HERE/app/redrace.yaml"),
		0);
	run_step(1);
	cli_assert_names("::error file=counter.sh,line=1,title=");
	cr_assert_eq(cli_run("cd $(sed -n 's/^report=//p' $HERE/output) && ls"), 0);
	cr_assert_str_eq(cli_output, "report.json\nreport.xml\n");
}

Test(check_action, what_is_inconclusive_fails_unless_it_may_pass)
{
	prepare_step("Run redrace",
		     "command=check 'arguments=--skeptic off --max-states 1 -- sh app/counter.sh'");
	run_step(2);
	cr_assert_eq(cli_run("why=$(jq -r '.cases[0].properties.not_searched_because' "
			     "$HERE/temp/redrace/report.json) && grep -F \"| inconclusive |\" "
			     "$HERE/summary | grep -F \" Why: $why |\" | sed 's/.*/summary/' && "
			     "cd $HERE && . ./env && bash step 2>&1 | grep -F \"%0AWhy: $why%0A\""),
		     0, "%s", cli_output);
	cli_assert_names("::warning file=app/counter.sh,line=1,title=redrace check");
	prepare_step(
		"Run redrace",
		"command=check 'arguments=--skeptic off --max-states 1 -- sh app/counter.sh' inconclusive=pass");
	run_step(0);
	cr_assert_eq(cli_run("grep exit $HERE/output"), 0);
	cr_assert_str_eq(cli_output, "exit-code=2\nexit-code=2\nexit-code=2\n");
}

/* Each has the formats that the step asks for. */
Test(check_action, other_commands_write_their_reports)
{
	static const char *const inputs[] = {
		"command=explore 'arguments=incr --audit 0'",
		"command=matrix 'arguments=incr --hazard threads'",
		"command=claims 'arguments=TL-7'",
		"command=bench 'arguments=incr --increments 300 -o results'",
	};

	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		prepare_step("Run redrace", inputs[i]);
		run_step(0);
		cr_assert_eq(
			cli_run("cd $HERE/temp/redrace && test -s report.json && test -s report.xml && rm -r $HERE/temp"),
			0, "%s", inputs[i]);
	}
}

Test(check_action, other_words_are_refused)
{
	prepare_step("Run redrace", "command=list");
	run_step(RR_EXIT_USAGE);
	cli_assert_names("::error::redrace: command 'list'");
	prepare_step("Run redrace", "'command=$(touch here)'");
	run_step(RR_EXIT_USAGE);
	cr_assert_neq(cli_run("test -e $HERE/here"), 0, "an input was run");
}

/* With another make, which keeps what it is asked for; the real one knows all of it. */
Test(check_action, it_is_installed_from_its_own_tree)
{
	prepare_step("Install redrace", "");
	cr_assert_eq(
		cli_run("printf '%s\\n' '#!/bin/sh' 'echo \"$@\" >>'$HERE/asked >$HERE/bin/make; cp $HERE/bin/make $HERE/bin/sudo; chmod +x $HERE/bin/make $HERE/bin/sudo"),
		0);
	cr_assert_eq(
		cli_run("export GITHUB_ACTION_PATH=$PWD/.ci/action; cd $HERE && PATH=$HERE/bin:$PATH bash step"),
		0, "%s", cli_output);
	cli_assert_names("answers");
	cr_assert_eq(cli_run("cat $HERE/asked"), 0);
	cli_assert_names("/.ci/action/../.. deps-check\n");
	cli_assert_names("/.ci/action/../.. install\n");
	cr_assert_eq(
		cli_run("while read -r words; do make -n ${words#make } >/dev/null || exit; done <$HERE/asked"),
		0);
}
