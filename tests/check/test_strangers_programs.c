/* SPDX-License-Identifier: MIT */
/* Programs as a stranger would bring them, each with what is right about it decided
 * beforehand: verdicts, messages and ends that were once wrong. */
#include "../cli.h"

#include <criterion/parameterized.h>

TestSuite(strangers_check, .init = cli_setup, .fini = cli_teardown);

#define PYTHON "/usr/bin/python3"

struct stranger {
	const char *name, *interpreter, *options, *text;
	int code;
	const char *part; /* as cli_assert_outcome() */
};

static const struct stranger strangers[] = {
	{ "marks with no command between them", "sh", "--audit 1",
	  "[ \"$(" CLI "GET busy)\" ] && exit\n" CLI "SET busy 1\n" CLI "ECHO redrace:enter\n" CLI
	  "ECHO redrace:leave\n" CLI "DEL busy",
	  1, "search.verdict: exclusion" },
	{ "the same under a lock", "sh", "--audit 1",
	  "[ \"$(" CLI "SET busy 1 NX)\" ] || exit 1\n" CLI "ECHO redrace:enter\n" CLI
	  "ECHO redrace:leave\n" CLI "DEL busy",
	  0, CLI_SERIALIZABLE },
	{ "a pipe is looked at until the clock has moved", PYTHON,
	  "--audit 1 --clients 1 --hangs-after 20",
	  "import multiprocessing, os, time\n"
	  "ends = multiprocessing.Pipe()\n"
	  "for i in range(200): time.sleep(0.1 + ends[0].poll(0))\n"
	  "os.system('redis-cli -p $REDIS_PORT INCR x')",
	  0, CLI_SERIALIZABLE },
	{ "threads in all orders are ended by --seconds", PYTHON, "--seconds 2 --clients 3",
	  "import os, threading\n"
	  "def add():\n"
	  "    os.system('redis-cli -p $REDIS_PORT INCR x')\n"
	  "threads = [threading.Thread(target=add) for _ in range(6)]\n"
	  "for thread in threads: thread.start()\n"
	  "for thread in threads: thread.join()",
	  2, "search.limit: seconds" },
	{ "more keys than the server's first table holds", "sh", "--audit 1",
	  CLI "MSET a 1 b 1 c 1 d 1\n" CLI "SADD s $REDRACE_CLIENT\n" CLI "INCR n", 0,
	  CLI_SERIALIZABLE },
	{ "keys listed in whatever order", "sh", "--audit 1",
	  CLI "MSET a 1 b 1 c 1 d 1 e 1\n" CLI "KEYS '*'\nn=$(" CLI "GET n)\n" CLI
	      "SET n $((n + 1))",
	  1, "final_data: n = \"1\"" },
	{ "a daemon without an environment", "sh", "",
	  CLI "INCR x\nenv -i setsid sleep 9 >/dev/null 2>&1 &", 65,
	  "client A left a process running in a group of its own" },
};

ParameterizedTestParameters(strangers_check, get_the_verdict_that_they_deserve)
{
	static size_t numbers[sizeof(strangers) / sizeof(strangers[0])];

	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
		numbers[i] = i;
	return cr_make_param_array(size_t, numbers, sizeof(strangers) / sizeof(strangers[0]));
}

ParameterizedTest(size_t *number, strangers_check, get_the_verdict_that_they_deserve)
{
	const struct stranger *stranger = &strangers[*number];

	cli_write("program", "%s\n", stranger->text);
	cr_assert_eq(cli_runf("$REDRACE check -o $HERE/result.json %s -- %s $HERE/program 2>&1",
			      stranger->options, stranger->interpreter),
		     stranger->code, "%s: %s", stranger->name, cli_output);
	cli_assert_outcome(stranger->code, stranger->part);
}
