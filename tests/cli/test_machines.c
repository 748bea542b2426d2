/* SPDX-License-Identifier: MIT */
/* The recipes of docs/machines.md, run as they are written. */
#include <string.h>

#include "../cli.h"

TestSuite(machines, .init = cli_setup, .fini = cli_teardown);

/* The n-th block of code of a language, behind a heading of the document. */
#define BLOCK(heading, language, n)                               \
	"awk -v n=" #n " '/^##/ { in_part = ($0 ~ /^### " heading \
	"$/) } in_part && /^```" language                         \
	"$/ { if (++k == n) { in_block = 1; next } } /^```$/ { in_block = 0 } in_block' $DOC"

#define BEGIN \
	"DOC=$PWD/docs/machines.md; REDRACE=$(realpath $REDRACE); export REDRACE; cd $HERE && "

static const char merged[] = "redrace matrix, 3 shards: 6 passed";

static void assert_merges(const char *command)
{
	cr_assert_eq(cli_run(command), 0, "%s: %s", command, cli_output);
	cr_assert(strstr(cli_output, merged), "%s", cli_output);
}

Test(machines, gnu_parallel)
{
	if (cli_run("command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q GNU") !=
	    0)
		cli_skip("GNU parallel is not installed");
	assert_merges(BEGIN "export HOME=$HERE; " BLOCK(
		"GNU parallel", "sh",
		1) " >r && grep -q parallel r && sh -eu r 2>&1 && [ -s matrix.xml ]");
}

/* As Slurm would: it sets two variables for each task. */
Test(machines, slurm)
{
	assert_merges(BEGIN BLOCK(
		"Slurm", "sh",
		1) " >r && grep -q SBATCH r && bash -n r && for i in 1 2 3; do SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=3 bash -eu r >log || exit 1; done; $REDRACE merge [123].json");
}

#define READ_YAML "/usr/bin/python3 -c 'import sys, yaml; d = yaml.safe_load(open(\"y\")); "

static bool has_yaml(void)
{
	return cli_run("/usr/bin/python3 -c 'import yaml'") == 0;
}

/* As the Job's pods would: Kubernetes sets one. */
Test(machines, kubernetes)
{
	if (!has_yaml())
		cli_skip("python3-yaml is not installed");
	assert_merges(BEGIN BLOCK(
		"Kubernetes", "yaml",
		1) " >y && " READ_YAML
		   "s = d[\"spec\"]; assert s[\"completionMode\"] == \"Indexed\" and s[\"completions\"] == 3; print(s[\"template\"][\"spec\"][\"containers\"][0][\"command\"][2])' >r && "
		   "for i in 0 1 2; do JOB_COMPLETION_INDEX=$i sh -c \"$(cat r)\" >log || exit 1; done; $REDRACE merge [123].json");
}

/* As the workflow's jobs would, with its expression replaced. */
Test(machines, github)
{
	if (!has_yaml())
		cli_skip("python3-yaml is not installed");
	cr_assert_eq(
		cli_run(BEGIN BLOCK(
			"GitHub", "yaml",
			1) " >y && " READ_YAML
			   "j = d[\"jobs\"]; assert j[\"shard\"][\"strategy\"][\"matrix\"][\"shard\"] == [1, 2, 3] and j[\"merge\"][\"needs\"] == \"shard\"; open(\"s\", \"w\").write(j[\"shard\"][\"steps\"][0][\"run\"]); open(\"m\", \"w\").write(j[\"merge\"][\"steps\"][1][\"run\"])' && "
			   "for i in 1 2 3; do sed \"s/\\${{ matrix.shard }}/$i/g\" s >r && bash -e r >log || exit 1; done; sh -e m"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "redrace matrix: 6 passed\n");
}
