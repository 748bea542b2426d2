/* SPDX-License-Identifier: MIT */
/* The scripts of .ci/ that users run by make, with other programs in the place of Debian's and of
 * engines of containers; and the workflows of docs/ci.md. */
#include "../cli.h"

TestSuite(ci, .init = cli_setup, .fini = cli_teardown);

/* A program in $HERE/bin that does what `script` says. */
static void stand_in(const char *name, const char *script)
{
	cr_assert_eq(
		cli_runf("mkdir -p $HERE/bin && printf '#!/bin/sh\n%%s\n' '%s' >$HERE/bin/%s && "
			 "chmod +x $HERE/bin/%s",
			 script, name, name),
		0, "%s", cli_output);
}

/* On a Debian that has nothing: a check needs neither what draws, nor what tests. */
Test(ci, deps_check_installs_what_a_check_needs)
{
	stand_in("dpkg-query", "");
	stand_in("apt-get", "echo \"$@\" >>$HERE/asked");
	stand_in("id", "echo 0");
	cr_assert_eq(cli_run("PATH=$HERE/bin:$PATH make deps-check 2>&1"), 2, "%s", cli_output);
	cr_assert_eq(cli_run("grep -o 'recommends.*' $HERE/asked"), 0);
	cli_assert_names("libhiredis-dev");
	cli_assert_names("libc6-dev");
	cr_assert_eq(
		cli_run("grep -E 'gnuplot|criterion|clang|chromium|python|git|npm' $HERE/asked"), 1,
		"%s", cli_output);
	cr_assert_eq(cli_run("PATH=$HERE/bin:$PATH make deps 2>&1"), 2, "%s", cli_output);
	cr_assert_eq(
		cli_run("grep 'libhiredis-dev' $HERE/asked | wc -l; grep -c criterion $HERE/asked"),
		0);
	cr_assert_str_eq(cli_output, "2\n1\n", "of `make deps` it is a part: %s", cli_output);
}

/* Where no engine works, or none reaches a registry. */
Test(ci, an_image_without_a_registry_is_offered)
{
	cr_assert_eq(
		cli_run("mkdir -p $HERE/tree/.ci $HERE/tree/build/deb && "
			"cp .ci/image $HERE/tree/.ci && touch $HERE/tree/build/deb/redrace_1.deb"),
		0);
	stand_in("podman", "exit 1");
	stand_in("docker", "exit 1");
	stand_in("buildah", "exit 1");
	cli_assert_one_line("PATH=$HERE/bin:$PATH sh $HERE/tree/.ci/image 2>&1", 77, "ARGS=--bare");
	stand_in("docker", "[ $1 = info ] || exit 125");
	cli_assert_one_line("PATH=$HERE/bin:$PATH sh $HERE/tree/.ci/image 2>&1", 125,
			    "ARGS=--bare");
	stand_in("docker", "");
	cr_assert_eq(cli_run("PATH=$HERE/bin:$PATH sh $HERE/tree/.ci/image 2>&1"), 0);
	cr_assert_str_eq(cli_output, "");
}

Test(ci, workflows_of_the_document_have_all_that_a_job_needs)
{
	if (cli_run("/usr/bin/python3 -c 'import yaml' 2>&1") != 0)
		cli_skip("PyYAML is not installed");
	cr_assert_eq(cli_run("/usr/bin/python3 tests/ci_examples.py 2>&1"), 0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "4 jobs\n");
}
