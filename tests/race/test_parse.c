/* SPDX-License-Identifier: MIT */
/* Files that are no races: each error names the file, the line and what was
 * expected there. And what is read from one that is. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "race/race.h"

static struct rr_race *parse(const char *text, struct rr_error *error)
{
	*error = (struct rr_error){ 0 };
	return rr_race_parse("a.race", text, strlen(text), error);
}

#define HEAD "title t\nclients A B\n"

static const struct {
	const char *text;
	const char *error; /* its beginning */
} broken[] = {
	{ "", "a.race: empty: expected a title, steps and a verdict" },
	{ "# t\n", "a.race:1: expected at least one step" },
	{ "title\n", "a.race:1: expected a title" },
	{ "clients A\nA> PING\nverdict nothing broken\n",
	  "a.race:3: expected a 'title' somewhere above" },
	{ HEAD "A> PING\n", "a.race:3: expected a 'verdict' at the end" },
	{ "title t\nA> PING\n", "a.race:2: expected 'clients NAME...' before the first step" },
	{ "title t\nclaim\n", "a.race:2: expected the names of claims" },
	{ "title t\nclients\n", "a.race:2: expected 'clients NAME NAME...'" },
	{ "title t\nconnection A\n", "a.race:2: expected 'connection NAME NAME...'" },
	{ HEAD "clients A\n", "a.race:3: expected names that differ, found 'A' twice" },
	{ "title t\nclients A B C D E F G H I J K L M\n", "a.race:2: expected at most 12 clients" },
	{ HEAD "servers\n", "a.race:3: expected a server's name" },
	{ HEAD "servers n1 n1\n", "a.race:3: expected names that differ, found 'n1' twice" },
	{ HEAD "servers 1 2 3 4 5 6 7 8 9\n", "a.race:3: expected at most 8 servers" },
	{ HEAD "server n1 aof=often\n", "a.race:3: expected rdb, debug" },
	{ HEAD "server n1 replica-of=n2\n", "a.race:3: expected rdb, debug" },
	{ HEAD "server n1 config=save\n", "a.race:3: expected rdb, debug" },
	{ HEAD "server n1 config=loadmodule=/tmp/x.so\n",
	  "a.race:3: expected a setting that races may have" },
	{ HEAD "server n1 \"config=save=1 1\\nloadmodule /tmp/x.so\"\n",
	  "a.race:3: expected a setting that races may have" },
	{ HEAD "server n1 CONFIG=hz=1\n", "a.race:3: expected rdb, debug" },
	{ HEAD "server n1 config=LoadModule=/tmp/x.so\n",
	  "a.race:3: expected a setting that races may have" },
	{ HEAD "server n1 \"config=hz\tdir=/tmp\"\n",
	  "a.race:3: expected a setting that races may have" },
	{ HEAD "server n1 \"config= loadmodule=x\"\n",
	  "a.race:3: expected a setting that races may have" },
	{ HEAD "A locks \"m\\x00n\"\n", "a.race:3: expected a byte 0 nowhere but in a command" },
	{ HEAD "watch \"m\\x00n\"\n", "a.race:3: expected a byte 0 nowhere but in a command" },
	{ HEAD "A> MODULE LOAD /tmp/x.so\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'MODULE LOAD'" },
	{ HEAD "A> \"m\\x6fdule\" load /tmp/x.so\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'module load'" },
	{ HEAD "given CONFIG SET hz 20 Dir /tmp\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'CONFIG SET'" },
	{ HEAD "A> config $x dir /tmp\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'config $x'" },
	{ HEAD "A writes CONFIG SET $x 1\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'CONFIG SET'" },
	{ HEAD "A> $x LOAD /tmp/x.so\n", "a.race:3: expected a command's name without variables" },
	{ HEAD "A> SLAVEOF example.org 6379\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'SLAVEOF example.org'" },
	{ HEAD "A> REPLICAOF 127.0.0.1 6379\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'REPLICAOF 127.0.0.1'" },
	{ HEAD "A> FAILOVER TO a 1\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'FAILOVER TO'" },
	{ HEAD "A> MIGRATE a 1 k 0 1\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'MIGRATE a'" },
	{ HEAD "A writes bytes \"*3\\r\\n$6\\r\\nMod\"\n"
	       "A writes bytes \"ULE\\r\\n\"\nverdict nothing broken\n",
	  "a.race:4: expected bytes that races may write (docs/races.md), found module" },
	{ HEAD "A writes bytes 'MOD\"ULE\" LOAD x'\nverdict nothing broken\n",
	  "a.race:3: expected bytes that races may write" },
	/* Swallowed by a bulk that is announced, a command's argument comes out as a command. */
	{ HEAD "A writes bytes \"*2\\r\\n$3\\r\\nGET\\r\\n$27\\r\\n\"\n"
	       "A> SET k \"\\r\\nCONFIG SET port 7999\\r\\n\"\nverdict nothing broken\n",
	  "a.race:4: expected a command after bytes that races may write (docs/races.md), found config in it" },
	{ HEAD "A writes bytes x\nA> SET k \"\\\\x43ONFIG\"\nverdict nothing broken\n",
	  "a.race:4: expected a command after bytes" },
	{ HEAD "A writes bytes x\nA> SET k $v\nverdict nothing broken\n",
	  "a.race:4: expected a command after bytes that races may write (docs/races.md), found a variable in it" },
	{ HEAD "A> DEBUG SET-DISABLE-DENY-SCRIPTS 1\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'DEBUG SET-DISABLE-DENY-SCRIPTS'" },
	{ HEAD "A> ACL LOAD\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'ACL LOAD'" },
	{ HEAD "A> ACL SETUSER redrace >x\n",
	  "a.race:3: expected a command that races may have (docs/races.md), found 'ACL SETUSER'" },
	{ HEAD "A> ACL SETUSER $x +@all\n", "a.race:3: expected a command that races may have" },
	{ HEAD "A> ACL SETUSER a on \"(+@all ~*)\"\n",
	  "a.race:3: expected a command that races may have" },
	{ HEAD "given ACL DELUSER a redrace\n",
	  "a.race:3: expected a command that races may have" },
	/* What the program does it does at once. */
	{ HEAD "A writes CONFIG SET hz 20\nverdict nothing broken\n",
	  "a.race:3: expected CONFIG as a command of its own (docs/races.md), found it after 'writes'" },
	{ HEAD "A> MULTI\nA> PING\nA> REPLICAOF NO ONE\nverdict nothing broken\n",
	  "a.race:5: expected REPLICAOF as a command of its own (docs/races.md), found it after MULTI" },
	{ HEAD "tick 1000000001s\n", "a.race:3: expected a duration like 10s" },
	{ HEAD "tick 1000000000001ms\n", "a.race:3: expected a duration like 10s" },
	{ HEAD "tick 9000000000000000000000us\n", "a.race:3: expected a duration like 10s" },
	{ HEAD "repeat 2\ntick 600000000s\nend\nverdict nothing broken\n",
	  "a.race:4: expected ticks of 1000000000 s together, found more" },
	{ HEAD "-- \x1b[31m\n", "a.race:3: expected characters that show themselves" },
	{ HEAD "-- \xe2\x80\xae x\n", "a.race:3: expected characters that show themselves" },
	{ HEAD "else skip\n", "a.race:3: expected a step with a reply before 'else skip'" },
	{ HEAD "A> PING\nelse skip\n",
	  "a.race:4: expected a step with a reply before 'else skip'" },
	{ HEAD "A> PING => PONG\nelse\n", "a.race:4: expected 'else skip'" },
	{ HEAD "watch\n", "a.race:3: expected 'watch KEY...'" },
	{ HEAD "watch 1 2 3 4 5 6 7 8 9\n", "a.race:3: expected at most 8 keys" },
	{ HEAD "together\n", "a.race:3: expected 'together KEY...'" },
	{ HEAD "lock k often\n", "a.race:3: expected 'lock KEY'" },
	{ HEAD "limit\n", "a.race:3: expected 'limit CLIENTS'" },
	{ HEAD "limit 0\n", "a.race:3: expected a number from 1 to 12" },
	{ HEAD "limit 13\n", "a.race:3: expected a number from 1 to 12" },
	{ HEAD "limit 2 3\n", "a.race:3: expected 'limit CLIENTS'" },
	{ HEAD "counter\n", "a.race:3: expected 'counter KEY' or" },
	{ HEAD "counter x from y\n", "a.race:3: expected a number from" },
	{ HEAD "given\n", "a.race:3: expected a command" },
	{ HEAD "needs\n", "a.race:3: expected 'needs COMMAND', found 1 word" },
	{ HEAD "A> PING\nwatch x\n", "a.race:4: expected 'watch' before the first step" },
	{ HEAD "A>\n", "a.race:3: expected a command" },
	{ HEAD "C> PING\n", "a.race:3: expected a client's name, found 'C'" },
	{ HEAD "A@n9> PING\n", "a.race:3: expected a server's name, found 'n9'" },
	{ HEAD "A> PING =>\n", "a.race:3: expected a reply after => or <" },
	{ HEAD "A <\n", "a.race:3: expected a reply after => or <" },
	{ HEAD "A> SET x \"1\n", "a.race:3: expected a quote to end before the line does" },
	{ HEAD "A\n", "a.race:3: expected what A does" },
	{ HEAD "A dances\n", "a.race:3: expected what A does" },
	{ HEAD "A enters now\n", "a.race:3: expected 'A enters', found 3 words" },
	{ HEAD "A locks\n", "a.race:3: expected 'A locks MUTEX', found 2 words" },
	{ HEAD "A computes t is now\n", "a.race:3: expected 'A computes NAME = now" },
	{ HEAD "A computes t = now * 2\n", "a.race:3: expected + or -, found '*'" },
	{ HEAD "A computes t = now + x\n", "a.race:3: expected a number from 0" },
	{ HEAD "dance\n", "a.race:3: expected a heading, a client, a fault" },
	{ HEAD "tick\n", "a.race:3: expected 'tick DURATION', found 1 word" },
	{ HEAD "tick 10\n", "a.race:3: expected a duration like 10s or 300ms" },
	{ HEAD "tick -1s\n", "a.race:3: expected a duration like 10s or 300ms" },
	{ HEAD "tick 5h\n", "a.race:3: expected a duration like 10s or 300ms" },
	{ HEAD "clock A soon\n", "a.race:3: expected a duration like +60s" },
	{ HEAD "clock Z +1s\n", "a.race:3: expected a server's name, found 'Z'" },
	{ HEAD "kill\n", "a.race:3: expected 'FAULT SERVER', found 1 word" },
	{ HEAD "kill n7\n", "a.race:3: expected a server's name, found 'n7'" },
	{ HEAD "tear redis\n", "a.race:3: expected 'tear SERVER last|at|after|in" },
	{ HEAD "tear redis off 3\n", "a.race:3: expected last, at, after" },
	{ HEAD "slow-disk redis\n", "a.race:3: expected 'slow-disk SERVER" },
	{ HEAD "repeat 0\n", "a.race:3: expected a number from 1 to 1000" },
	{ HEAD "end\n", "a.race:3: expected a 'repeat' before 'end'" },
	{ HEAD "repeat 2\nrepeat 2\n", "a.race:4: expected 'end' of the repeat in line 3 first" },
	{ HEAD "repeat 2\nA> PING\n", "a.race:4: expected 'end' of the repeat in line 3" },
	{ HEAD "X-1 says => OK\n", "a.race:3: expected a step before what is said of its reply" },
	{ HEAD "A> PING\nX-1 says\n", "a.race:4: expected 'ID says => REPLY'" },
	{ HEAD "A> PING\nX-1 says all is well\n", "a.race:4: expected a finding like" },
	{ HEAD "A> PING\nverdict\n", "a.race:4: expected what was found" },
	{ HEAD "A> PING\nverdict update lots\n", "a.race:4: expected a finding like" },
	{ HEAD "A> PING\nverdict ,\n", "a.race:4: expected a 'verdict' at the end" },
};

Test(parse, tells_file_line_and_what_was_expected)
{
	struct rr_error error = { 0 };

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct rr_race *race = parse(broken[i].text, &error);

		cr_expect_null(race, "no error for: %s", broken[i].text);
		cr_expect_eq(strncmp(error.text, broken[i].error, strlen(broken[i].error)), 0,
			     "'%s' for: %s", error.text, broken[i].text);
		cr_expect_not_null(strstr(error.text, "expected"), "%s", error.text);
		rr_race_free(race);
	}
}

/* `n` lines of a kind between head and verdict. */
static void assert_too_many(const char *line, int n, const char *message)
{
	char *text = NULL;
	struct rr_error error;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	fputs(HEAD, file);
	for (int i = 0; i < n; i++)
		fputs(line, file);
	fclose(file);
	cr_assert_null(parse(text, &error));
	cr_assert_not_null(strstr(error.text, message), "%s", error.text);
	free(text);
}

Test(parse, refuses_what_is_no_text)
{
	static const char text[] = HEAD "A> GET x\0y\nverdict nothing broken\n";
	struct rr_error error = { 0 };

	cr_assert_null(rr_race_parse("a.race", text, sizeof(text) - 1, &error));
	cr_assert_str_eq(error.text, "a.race:3: expected text, found a byte 0");
}

#define TEN_WORDS " 1 2 3 4 5 6 7 8 9 0"
#define FORTY_WORDS TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS

Test(parse, has_limits)
{
	assert_too_many("A> PING\n", 4097, ":4099: expected at most 4096 steps");
	assert_too_many("repeat 1000\nA> PING\nA> PING\nend\n", 3, "expected at most 4096 steps");
	assert_too_many("A> PING" FORTY_WORDS FORTY_WORDS FORTY_WORDS FORTY_WORDS "\n", 1,
			":3: expected at most 160 words");
}

Test(parse, reads_a_race)
{
	static const char text[] = "# a comment\n"
				   "title   A's race, with 'quotes'\n"
				   "claim   LU-1 TL-7\n"
				   "clients A B\n"
				   "connection T1 T2\n"
				   "servers n1 n2\n"
				   "lock    l timestamp\n"
				   "counter x from 5\n"
				   "\n"
				   "A@n2> SET x \"a \\x41\\n\" 'b c' => OK   ! decides  # so\n"
				   "B < \"# no ! remark\"                  # a comment\n"
				   "repeat 3\n"
				   "T2 counts\n"
				   "end\n"
				   "clock n2 -60s\n"
				   "tick 300ms\n"
				   "A computes t = now - 11\n"
				   "LU-1 says update lost\n" /* an old spelling */
				   "verdict lost update, foreign release";
	struct rr_error error = { 0 };
	struct rr_race *race = parse(text, &error);

	cr_assert_not_null(race, "%s", error.text);
	cr_assert_str_eq(race->title, "A's race, with 'quotes'");
	cr_assert_str_eq(race->claims, "LU-1 TL-7");
	cr_assert_eq(race->n_clients, 4);
	cr_assert_eq(race->clients[3].connection, 2);
	cr_assert_eq(race->n_servers, 2);
	cr_assert(race->lock_is_timestamp);
	cr_assert_eq(race->counter_from, 5);
	cr_assert_eq(race->n_steps, 8);
	cr_assert_eq(race->steps[0].server, 1);
	cr_assert_eq(race->steps[0].n_words, 4);
	cr_assert_str_eq(race->steps[0].words[2].text, "a A\n");
	cr_assert_str_eq(race->steps[0].words[3].text, "b c");
	cr_assert_str_eq(race->steps[0].expected, "OK");
	cr_assert_str_eq(race->steps[0].remark, "decides  # so");
	cr_assert_str_eq(race->steps[1].expected, "\"# no ! remark\"");
	cr_assert_null(race->steps[1].remark);
	cr_assert_eq(race->steps[4].repetition, 3);
	cr_assert_eq(race->steps[4].client, 3);
	cr_assert_eq(race->steps[5].amount, -60 * INT64_C(1000000000));
	cr_assert_eq(race->steps[6].amount, 300000000);
	cr_assert_eq(race->steps[7].amount, -11);
	cr_assert_eq(race->n_sayings, 1);
	cr_assert_str_eq(race->sayings[0].says, "lost update");
	cr_assert_str_eq(rr_finding_id(race->sayings[0].says), "update lost");
	cr_assert_eq(race->n_verdicts, 2);
	cr_assert_str_eq(race->verdicts[0], "lost update");
	cr_assert_str_eq(race->verdicts[1], "foreign release");
	rr_race_free(race);
}

/* As redis-cli reads them. */
Test(parse, words_hold_any_bytes)
{
	struct rr_error error = { 0 };
	struct rr_race *race = parse(HEAD "given SET \"a\\x00b\" 1\n"
					  "A> SET '\\'\\n' \"\\t\\\\\\q\\x4\"\n"
					  "verdict nothing broken\n",
				     &error);
	const struct rdl_word *words;

	cr_assert_not_null(race, "%s", error.text);
	cr_assert_eq(race->given[0].words[1].length, 3);
	cr_assert_arr_eq(race->given[0].words[1].text, "a\0b", 4);
	words = race->steps[0].words;
	cr_assert_str_eq(words[1].text, "'\\n");
	cr_assert_str_eq(words[2].text, "\t\\qx4");
	rr_race_free(race);
}

Test(parse, tells_why_a_file_cannot_be_read)
{
	struct rr_error error = { 0 };

	cr_assert_null(rr_race_read("/nowhere/at/all.race", &error));
	cr_assert_str_eq(error.text,
			 "cannot read '/nowhere/at/all.race': No such file or directory");
	error = (struct rr_error){ 0 };
	cr_assert_null(rr_race_read("/", &error));
	cr_assert_not_null(strstr(error.text, "cannot read '/'"), "%s", error.text);
	error = (struct rr_error){ 0 };
	cr_assert_null(rr_race_read("/dev/zero", &error));
	cr_assert_str_eq(error.text, "'/dev/zero' is larger than 1 MiB: name a smaller one");
}
