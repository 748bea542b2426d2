/* SPDX-License-Identifier: MIT */
/* redrace check: what programs print, and apps answer, is compared from the first byte to the last. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(outputs, .init = cli_setup, .fini = cli_teardown);

/* Programs that read whether it is sold, and sell it, and print `sold` in one way or another where
 * $w is the answer. */
static void check_output(const char *print, int code)
{
	cli_write("program",
		  "v=$(" CLI "GET s)\n" CLI "SET s 0 >/dev/null\n"
		  "w=sold; [ \"$v\" = 1 ] || w=out\n%s\n",
		  print);
	cli_write("init", "SET s 1\n");
	cr_assert_eq(cli_run("$REDRACE check --audit 1 --init $HERE/init --format json "
			     "-o $HERE/out.json -- sh $HERE/program 2>&1"),
		     code, "%s: %s", print, cli_output);
	cr_assert_eq(cli_run("jq -e .cases $HERE/out.json"), 0, "%s: %s", print, cli_output);
}

Test(outputs, differ_behind_a_byte_that_is_0)
{
	check_output("printf '\\000'$w", 1);
	check_output("printf 'a\\000b\\n'$w'\\n'", 1);
	check_output("printf '\\377\\000'$w'\\000'", 1);
	check_output("printf 'a\\000'$w >&2", 1);
	check_output("[ $w = out ] || printf '\\000'", 1);
	check_output("printf 'a\\000\\377\\300\\200b'", 0);
}

Test(outputs, differ_behind_many_bytes)
{
#define MANY(n) "head -c " #n " /dev/zero | tr '\\000' x; "
	check_output(MANY(16384) "printf $w", 1);
	check_output(MANY(5000000) "printf $w", 1);
	check_output("yes line | head -n 100000; echo $w", 1);
	check_output(MANY(100000) "echo done", 0);
}

/* What is behind 16 MiB has a digest. */
Test(outputs, differ_behind_what_is_kept)
{
	check_output(MANY(17000000) "printf $w", 1);
	cr_assert_eq(cli_run("jq -r '.cases[0].details' $HERE/out.json | grep -q "
			     "'more bytes, digest'"),
		     0, "%s", cli_output);
}

Test(outputs, differ_in_the_last_newline)
{
	check_output("printf done; [ $w = out ] || echo", 1);
}

/* Lines that are left out may have any bytes. */
Test(outputs, lines_with_a_byte_0_may_be_left_out)
{
	cli_write("program", "v=$(" CLI "GET s)\n" CLI "SET s 0 >/dev/null\n"
			     "printf \"a\\\\000 sold: $v\\nb\\n\"\n");
	cli_write("init", "SET s 1\n");
	cr_assert_eq(cli_run("$REDRACE check --audit 1 --init $HERE/init --allow-output 'sold: ' "
			     "-- sh $HERE/program 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run("$REDRACE check --audit 1 --init $HERE/init --allow-output 'b' "
			     "-- sh $HERE/program 2>&1"),
		     1, "%s", cli_output);
}

/* Of what differs between two runs with the same replies only the token is left out. */
Test(outputs, differ_beside_a_token_that_varies)
{
	static const char *const prints[] = {
		"printf '{\"id\":\"%s\",\"result\":\"%s\"}' "
		"$(cat /proc/sys/kernel/random/uuid) $w",
		"printf '[%s]%s' $$ $w",
		"printf '%s%s' $$ $w",
		"printf '%s%s' $(head -c 8 /dev/urandom | od -An -tx1 | tr -d ' ') $w",
		"printf '{\"key\":\"%s\",\"result\":\"%s\"}' "
		"$(head -c 24 /dev/urandom | base64) $w",
		"printf '12:00:%s,pid=%s,took=%sms;%s' $(($$ % 60)) $$ $$ $w",
	};
	char print[200];

	for (size_t i = 0; i < sizeof(prints) / sizeof(prints[0]); i++) {
		snprintf(print, sizeof(print), "%s", prints[i]);
		check_output(print, 1);
		snprintf(strstr(print, "$w"), 5, "done");
		check_output(print, 0);
	}
}

/* Lines of two threads come in any order: what they say is compared. */
Test(outputs, differ_in_lines_whose_order_varies)
{
	check_output("seq 8 | shuf; echo done", 0);
	check_output("(seq 8; echo done) | shuf", 0);
	check_output("seq 8 | shuf; echo $w", 1);
	check_output("(seq 8; echo $w) | shuf", 1);
}
