/* SPDX-License-Identifier: MIT */
/*
 * redrace check: what of the final data counts. In each program two clients may both read
 * that x is not there, which in no serial order they do; what the second one then leaves
 * is another state of a real server, as the commands that are named show.
 */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(check_data, .init = cli_setup, .fini = cli_teardown);

#define READ_X "v=$(" CLI "EXISTS x); " CLI "SET x 1 >/dev/null; "

static void check_program(const char *options, const char *program, int code)
{
	cli_write("program", "%s\n", program);
	cli_write("init", "XADD s 1-1 f v\nXADD s 2-1 f v\nXGROUP CREATE s g 0\n");
	cr_assert_eq(
		cli_runf("$REDRACE check -o $HERE/result.json --audit 2 %s -- sh $HERE/program 2>&1",
			 options),
		code, "%s: %s", program, cli_output);
}

static void assert_part(const char *path, const char *part)
{
	const char *value = cli_property(path);

	cr_assert_not_null(strstr(value, part), "no '%s' in '%s': %s", part, value, cli_output);
}

static void assert_differs(const char *options, const char *program, const char *found,
			   const char *serial)
{
	check_program(options, program, 1);
	cli_assert_property("search.verdict", "not_serializable");
	assert_part("final_data", found);
	assert_part("nearest_serial_data", serial);
}

/* XPENDING s g lists two entries instead of one. */
Test(check_data, entries_that_are_pending_count)
{
	assert_differs("--init $HERE/init",
		       READ_X "[ $v = 1 ] || " CLI "XREADGROUP GROUP g c COUNT 1 STREAMS s '>'",
		       "pending [[\"1-1\", \"c\", \"1\"], [\"2-1\", \"c\", \"1\"]])",
		       "pending [[\"1-1\", \"c\", \"1\"]])");
}

/* XINFO GROUPS s says that the last id delivered is 0-0, not 0-1. */
Test(check_data, what_a_group_was_given_last_counts)
{
	assert_differs("--init $HERE/init", READ_X CLI "XGROUP SETID s g 0-$v",
		       "group \"g\" (last-delivered-id 0-0)",
		       "group \"g\" (last-delivered-id 0-1)");
}

/* XINFO CONSUMERS s g lists one instead of two. */
Test(check_data, consumers_count)
{
	assert_differs("--init $HERE/init", READ_X CLI "XGROUP CREATECONSUMER s g c$v",
		       "consumers [\"c0\"])", "consumers [\"c0\", \"c1\"])");
}

/* XADD s 5-1 f v is refused afterwards in the serial order alone. */
Test(check_data, the_last_id_of_a_stream_counts)
{
	assert_differs("--init $HERE/init", READ_X CLI "XSETID s 5-$v", "last-generated-id 5-0",
		       "last-generated-id 5-1");
}

/* XINFO STREAM t says that one entry was added, not two; all of them are deleted. */
Test(check_data, entries_that_are_gone_count)
{
	assert_differs("",
		       READ_X CLI "EVAL \"redis.call('XADD', 't', ARGV[1], 'f', 'v') "
				  "return redis.call('XDEL', 't', ARGV[1])\" 0 5-$v",
		       "t = [], last-generated-id 5-1, max-deleted-entry-id 5-1, entries-added 1",
		       "t = [], last-generated-id 5-1, max-deleted-entry-id 5-1, entries-added 2");
}

/* TYPE l is list instead of set. */
Test(check_data, a_list_is_no_set)
{
	assert_differs("",
		       READ_X "[ $v = 1 ] && add=SADD || add=RPUSH; " CLI
			      "EVAL \"redis.call('DEL', 'l') "
			      "return redis.call(ARGV[1], 'l', 'a')\" 0 $add",
		       "l = [\"a\"]", "l = {\"a\"}");
}

/* PFCOUNT h is 2 in any order; which counts are remembered GET h would tell. */
Test(check_data, what_a_hyperloglog_remembers_does_not_count)
{
	check_program("", CLI "PFCOUNT h >/dev/null; " CLI "PFADD h $REDRACE_CLIENT >/dev/null", 0);
	cli_assert_property("search.verdict", "serializable");
}

/* PTTL b is 10000 instead of 10001. */
Test(check_data, keys_that_differ_are_told_first)
{
	assert_differs("", CLI "SET a 1; " READ_X CLI "SET b 1 PX 1000$v",
		       "b = \"1\", for 10 s\na = \"1\"\nx = \"1\"",
		       "b = \"1\", for 10.001 s\na = \"1\"\nx = \"1\"");
}

/* ---- Bytes ---------------------------------------------------------------------------- */

/* GET "a\x00b" is 1 instead of 2. */
Test(check_data, keys_may_hold_any_byte)
{
	assert_differs("--save $HERE/zero.race",
		       "key='a\\0b'; v=$(" CLI "EVAL \"return redis.call('GET', '$key')\" 0); " CLI
		       "EVAL \"return redis.call('SET', '$key', ARGV[1])\" 0 $((v + 1))",
		       "\"a\\x00b\" = \"1\"", "\"a\\x00b\" = \"2\"");
	cr_assert_eq(cli_run("$REDRACE play $HERE/zero.race"), 0, "%s", cli_output);
}

/* SCARD s is 2; as texts both members are the same. */
Test(check_data, words_of_commands_may_hold_any_byte)
{
	check_program("--save $HERE/zero.race",
		      "v=$(" CLI
		      "GET c); for i in x y; do printf \"a\\\\000$i\\\\377\" | " REDIS_CLI
		      "-x SADD s; done; " CLI "SMEMBERS s; " CLI "SET c $((v + 1))",
		      1);
	cli_assert_line("final_data", "s = {\"a\\x00x\\xff\", \"a\\x00y\\xff\"}");
	cr_assert_eq(cli_run("grep -F 'SADD s \"a\\x00y\\xff\"' $HERE/zero.race"), 0);
	cr_assert_eq(cli_run("$REDRACE play $HERE/zero.race"), 0, "%s", cli_output);
	cr_assert_eq(cli_run("$REDRACE check --replay $HERE/zero.race -- sh $HERE/program"), 1,
		     "%s", cli_output);
}

/* EVALSHA of what is loaded says "a\x00b". */
Test(check_data, scripts_may_hold_any_byte)
{
	check_program(
		"--save $HERE/zero.race",
		"v=$(" CLI
		"GET c); s=$(printf \"SCRIPT LOAD \\\"return 'a\\\\x00b'\\\"\\n\" | " REDIS_CLI
		"); " CLI "EVALSHA $s 0; " CLI "SET c $((v + 1))",
		1);
	cr_assert_eq(cli_run("grep -F 'a\\x00b' $HERE/zero.race"), 0);
	cr_assert_eq(cli_run("$REDRACE play $HERE/zero.race"), 0, "%s", cli_output);
}

/* As redis-cli reads them: STRLEN of a\x00b is 3. */
Test(check_data, what_is_given_may_hold_any_byte)
{
	static const char run[] =
		"printf '%s\\n' 'SET \"a\\x00b\" \"1\\x002\\t\"' \"SET it '\\\\''\" 'RPUSH l # ! => \"\"' >$HERE/given; "
		"$REDRACE check -o $HERE/result.json --audit 1 --init $HERE/given --final 'GET \"a\\x00b\"' '\"1\\x002\\t\"' "
		"--final 'GET it' \"'\" --final 'LRANGE l 0 -1' '[\"#\", \"!\", \"=>\", \"\"]' "
		"--final 'GET a' 1 --client A='" CLI "INCR n' 2>&1";

	cr_assert_eq(cli_run(run), 1, "%s", cli_output);
	cli_assert_property("findings.0.keys", "[\"GET a\"]");
	cr_assert_eq(cli_run("printf 'SET \"a\"b 1\\n' >$HERE/given; $REDRACE check --init "
			     "$HERE/given -- true 2>&1"),
		     65, "%s", cli_output);
}

/* FUNCTION LOAD is refused where a library of that name is there already. */
Test(check_data, functions_may_be_given)
{
	cli_write("given", "FUNCTION LOAD \"#!lua name=a\\nredis.register_function('f', "
			   "function() return redis.call('GET', 'c') end)\"\n");
	check_program("--init $HERE/given", "v=$(" CLI "FCALL f 0); " CLI "SET c $((v + 1))", 1);
	cli_assert_line("final_data", "c = \"1\"");
	check_program("--init $HERE/given --data-only",
		      CLI "FUNCTION DELETE a >/dev/null; " CLI "INCR c >/dev/null", 0);
}

/* KEYS lists both; x?y is the pattern of one of them alone. */
Test(check_data, patterns_of_keys_meet_any_byte)
{
	static const char program[] =
		"v=$(" CLI "EXISTS x); " CLI "SET x 1; for k in 'a\\0b' 'a\\0c'; do " CLI
		"EVAL \"redis.call('SET', '$k', ARGV[1])\" 0 $v; done >/dev/null";

	check_program("--ignore 'a?c'", program, 1);
	cli_assert_line("final_data", "\"a\\x00b\" = \"0\"");
	cr_assert_null(strstr(cli_property("final_data"), "a\\x00c"));
	check_program("--data-only --ignore 'a?[bc]'", program, 0);
}

/* ---- Fields that are left out ---------------------------------------------------------- */

/* Hits are counted as they should be, and who was seen how often is not. */
#define SEEN                                                                    \
	"v=$(" CLI "HGET u.1 seen); " CLI "HINCRBY u.1 hits 1 >/dev/null; " CLI \
	"HSET u.1 seen $((v + 1)) >/dev/null"

/* The last dot separates; \. is a dot of the name; a FIELD is not "*". */
Test(check_data, a_field_of_a_hash_is_left_out)
{
	static const struct {
		int code;
		const char *pattern, *keys, *fields;
	} cases[] = {
		{ 0, "u.1.seen", "[]", "[{\"key\":\"u.1\",\"field\":\"seen\"}]" },
		{ 0, "*.s[e.]?n", "[]", "[{\"key\":\"u.1\",\"field\":\"seen\"}]" },
		{ 0, "u.1", "[\"u.1\"]", "[]" },
		{ 1, "u.1.hits", "[]", "[{\"key\":\"u.1\",\"field\":\"hits\"}]" },
		{ 1, "u.1.sold", "[]", "[]" },
		{ 1, "u.1\\.seen", "[]", "[]" },
		{ 1, "u.1.*", "[]", "[]" },
		{ 1, "u.", "[]", "[]" },
		{ 1, ".seen", "[]", "[]" },
	};
	char options[80];

	check_program("", SEEN, 1);
	cli_assert_property("ignored", "[]");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(options, sizeof(options), "--ignore '%s'", cases[i].pattern);
		check_program(options, SEEN, cases[i].code);
		cli_assert_property("ignored.0.pattern", cases[i].pattern);
		cli_assert_property("ignored.0.keys", cases[i].keys);
		cli_assert_property("ignored.0.fields", cases[i].fields);
	}
	check_program("--ignore nosuch --ignore u.1.seen", SEEN, 0);
	cli_assert_json("(.ignored | map(.fields | length)) == [0, 1]");
	cli_assert_prints("field seen of u.1");
	cli_assert_prints("'nosuch' left out nothing");
}

/* Also from a hash with fields of its own memory, in pages; and a hash that has no other is left out. */
Test(check_data, many_fields_are_left_out)
{
	check_program(
		"--ignore h.t*",
		"v=$(" CLI "HLEN h); " CLI
		"EVAL 'for i = 1, 900 do redis.call(\"HSET\", \"h\", \"t\" .. i, ARGV[1]) end' 0 $v "
		">/dev/null; " CLI "HSET h n 1 >/dev/null",
		0);
	cli_assert_json("(.ignored[0].fields | length) == 900");
	check_program("--data-only",
		      "if [ $(" CLI "EXISTS h) = 0 ]; then " CLI "HSET h t 1; else " CLI
		      "DEL h; fi",
		      1);
	check_program("--data-only --ignore h.t",
		      "if [ $(" CLI "EXISTS h) = 0 ]; then " CLI "HSET h t 1; else " CLI
		      "DEL h; fi",
		      0);
}

/* A key that cannot have fields is a wrong use, unless a key of the whole name may be meant. */
Test(check_data, only_hashes_have_fields)
{
	cli_assert_one_line("$REDRACE check --ignore n.x -- sh -c '" CLI "INCR n' 2>&1 >/dev/null",
			    64, "n\\.x");
	check_program("--ignore n.x", CLI "INCR n; " CLI "DEL n.x", 0);
	check_program("--data-only --ignore 'n*.x'",
		      CLI "INCR n; " CLI "HSET nh x $(" CLI "HLEN nh)", 0);
}

/* ---- What is no part of the data ------------------------------------------------------------ */

/* SET a 123, and SET a 12 with APPEND a 3: DUMP a is the same, and OBJECT ENCODING a int and
 * raw. Idle times depend on the real clock, and reference counts on what is shared. */
Test(check_data, what_is_kept_of_an_object_beside_its_value_is_refused_by_name)
{
	static const char *const asked[] = { "IDLETIME", "FREQ", "ENCODING", "REFCOUNT" };
	char program[200], refusal[80];

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		snprintf(program, sizeof(program), CLI "OBJECT %s a", asked[i]);
		snprintf(refusal, sizeof(refusal), "client A sent OBJECT %s,", asked[i]);
		check_program("", program, 65);
		cli_assert_names(refusal);
		snprintf(program, sizeof(program),
			 CLI "SCRIPT LOAD \"return redis.call('object', \\\"%s\\\", 'a')\"",
			 asked[i]);
		check_program("", program, 65);
	}
	check_program("", CLI "EVAL \"return redis.call('OBJECT', 'encoding', 'a')\" 0", 65);
	check_program("", CLI "MEMORY USAGE a", 65);
	check_program("", CLI "EVAL \"local object = {encoding = '\\\"object\\\"'} return 1\" 0",
		      0);
}

/* GET n is 2 for both on a real server; one after the other, the first one hears 1. */
Test(check_data, outputs_are_shown_where_they_differ)
{
	static const char long_line[] = "seq -s, 200; ", text_line[] = "printf '%s,' $(seq 200); ";
	char program[200];

	snprintf(program, sizeof(program), "%s" CLI "INCR n >/dev/null; " CLI "GET n", long_line);
	check_program("", program, 1);
	cli_assert_names("...\"2\\n\"\n");
	cli_assert_names("...\"1\\n\"\n");
	snprintf(program, sizeof(program), "%s" CLI "INCR n >/dev/null; " CLI "GET n", text_line);
	check_program("", program, 1);
	cli_assert_names(",198,199,200,2\\n\"\n");
	cli_assert_names(",198,199,200,1\\n\"\n");
}

/* Is what a command leaves the same as what is given in a file? Streams with groups and pending
 * entries, times that keys and fields have left, long lists, other databases, functions. */
Test(check_data, what_a_command_leaves_is_given_whole)
{
	static const char run[] =
		"$REDRACE check -o $HERE/result.json %s --audit 1 "
		"--client A='v=$(" CLI "GET c); " CLI "SET c $((v + 1))' --client B='v=$(" CLI
		"GET c); " CLI "SET c $((v + 1))' >/dev/null 2>&1; jq -r '.cases[0].properties "
		"| .final_data, .nearest_serial_data' $HERE/result.json >$HERE/%s";

	cli_write(
		"given",
		"SET \"a\\x00b\" \"1\\x002\\t\"\nSET lease 1 PX 5000\nPFADD hll a b c\n"
		"HSET h \"\\xff\" 1 name \"a 'b' \\\"c\\\"\"\nZADD z 1.5 one -inf two\n"
		"XADD st 5-1 a 1\nXADD st 5-2 a 2\nXGROUP CREATE st g 0\n"
		"XREADGROUP GROUP g worker COUNT 1 STREAMS st >\n"
		"EVAL \"for i = 1, 130 do redis.call('RPUSH', 'l', i) redis.call('SADD', 's', i) "
		"redis.call('PEXPIRE', 's', 7000) end\" 0\n"
		"EVAL \"redis.call('SELECT', 3) redis.call('RPUSH', 'other', 1, 2) "
		"redis.call('XADD', 'st', '7-7', 'b', 1)\" 0\n"
		"FUNCTION LOAD \"#!lua name=a\\nredis.register_function('f', function() return 1 end)\"\n");
	cli_runf(run, "--init $HERE/given", "given.out");
	cli_runf(run, "--setup 'redis-cli -u $REDIS_URL <$HERE/given >/dev/null'", "setup.out");
	cr_assert_eq(cli_run("test $(wc -l <$HERE/given.out) -gt 20 && "
			     "diff $HERE/given.out $HERE/setup.out"),
		     0, "%s", cli_output);
}

Test(check_data, a_command_that_fills_nothing_is_an_error)
{
	static const char run[] = "$REDRACE check --setup '%s' -- true 2>&1";

	cr_assert_eq(cli_runf(run, "echo no database; exit 3"), 65, "%s", cli_output);
	cli_assert_names("--setup");
	cli_assert_names("no database");
	cr_assert_eq(cli_runf(run, "redis-cli -u $REDIS_URL BRPOP nothing 0"), 65, "%s",
		     cli_output);
	cli_assert_names("--setup");
	cr_assert_eq(cli_run("$REDRACE check --hangs-after 2 --setup 'while :; do :; done' -- true "
			     "2>&1"),
		     65, "%s", cli_output);
	cli_assert_names("client setup");
	cli_assert_names("--hangs-after");
}
