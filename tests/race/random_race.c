/* SPDX-License-Identifier: MIT */
#include "random_race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race/race.h"

struct dice {
	uint64_t state;
	FILE *file;
};

static unsigned roll(struct dice *dice, unsigned sides)
{
	dice->state ^= dice->state << 13;
	dice->state ^= dice->state >> 7;
	dice->state ^= dice->state << 17;
	return (unsigned)((dice->state >> 16) % sides);
}

#define PICK(dice, list) ((list)[roll(dice, sizeof(list) / sizeof((list)[0]))])

/* Words with everything that means something somewhere. */
static void put_word(struct dice *dice)
{
	static const char *const words[] = {
		"SET",        "lock:0",   "1",         "$token",        "-1",
		"''",         "\"\"",     "'a b'",     "\"a\\nb\\\\\"", "\"#\"",
		"'!'",        "'=>'",     "\"<\"",     "a#b",           "y!",
		"\"\\x01y\"", "'$a \"b'", "\"\\xff\"", "a\"b c\"d",     "bytes",
		"says",       "k@n1",     "=",         "a\\b",          "no",
		"h\xc3\xa9",  "--",       "*",         "\"\\r\\t\\a\"", "timestamp",
	};

	fprintf(dice->file, " %s", PICK(dice, words));
}

/* Of a command, where a byte 0 may stand. */
static void put_words(struct dice *dice, unsigned most)
{
	for (unsigned n = 1 + roll(dice, most); n > 0; n--) {
		put_word(dice);
		if (roll(dice, 8) == 0)
			fputs(" \"\\x00y\"", dice->file);
	}
}

/* Which has no variables. */
static void put_command_name(struct dice *dice)
{
	static const char *const names[] = { " SET", " 'a b'", " \"#\"", " a#b", " \"\\xff\"" };

	fputs(PICK(dice, names), dice->file);
}

static void put_plain_text(struct dice *dice)
{
	static const char *const texts[] = {
		" a note",       " it's #1! done", " => ! \"", " h\xc3\xa9 $x * \\",
		" # no comment", "  two  blanks ", " < >",
	};

	fputs(PICK(dice, texts), dice->file);
}

static void put_reply(struct dice *dice)
{
	static const char *const replies[] = {
		" OK",     " (lost)",           " (waits)",       " (nil)",       " \"a # b\"",
		" $token", " [OK, \"! x\"]",    " (error) ERR *", " (integer) 1", " 1",
		" => < x", " \"open ' \\\" \"", " (closed)",      " a\\ b!#",     " *",
	};

	fputs(PICK(dice, replies), dice->file);
}

static void end_line(struct dice *dice)
{
	static const char *const ends[] = {
		"",           "",     "",
		" ",          "\t\r", " # comment",
		" ! decides", " !",   " ! two  words # and more ",
	};

	fprintf(dice->file, "%s\n", PICK(dice, ends));
}

static void put_name(struct dice *dice, const char *const *names, unsigned n)
{
	fputs(names[roll(dice, n)], dice->file);
}

static const char *const clients[] = { "A", "B2", "\"C D\"", "tick", "'#c'", "$d", "T1", "'t 2'" };
static const char *const servers[] = { "n1", "'n 2'", "redis", "n3" };

static void put_client(struct dice *dice)
{
	put_name(dice, clients, 8);
}

static void put_server(struct dice *dice)
{
	put_name(dice, servers, 4);
}

static void put_duration(struct dice *dice, unsigned most)
{
	static const char *const units[] = { "s", "ms", "us" };
	const unsigned mosts[] = { 3, 3000, most };

	fprintf(dice->file, "%u%s", 1 + roll(dice, PICK(dice, mosts)), PICK(dice, units));
}

static void put_options(struct dice *dice)
{
	static const char *const options[] = {
		" aof=always",
		" aof=everysec",
		" aof=no",
		" rdb",
		" debug",
		" maxmemory=1048576",
		" tcp",
		" replica-of=n1",
		" config=save=",
		" \"config=save=900 1\"",
		" config=hz=b=c",
		" 'config=hz=b c'",
		" \"replica-of=n 2\"",
	};

	for (unsigned n = roll(dice, 5); n > 0; n--)
		fputs(PICK(dice, options), dice->file);
}

static void put_headings(struct dice *dice)
{
	FILE *file = dice->file;

	fputs("title", file);
	put_plain_text(dice);
	fputs("\n", file);
	if (roll(dice, 2)) {
		fputs("shows", file);
		put_plain_text(dice);
		fputs("\n", file);
	}
	if (roll(dice, 2))
		fputs("safe \"a b\"\n", file);
	if (roll(dice, 2))
		fputs("claim LU-1 'X 2' # and\n", file);
	fputs(roll(dice, 2) ? "clients A B2\nclients \"C D\"" :
			      "connection A B2\nconnection \"C D\"",
	      file);
	fputs(roll(dice, 2) ? " tick\n" : " tick # they\n", file);
	fputs(roll(dice, 2) ? "clients '#c' $d\nconnection T1 't 2'\nclients b\n" :
			      "connection '#c' $d T1\nclients 't 2' b\n",
	      file);
	fputs(roll(dice, 2) ? "servers n1 'n 2'\n" : "server n1 tcp\nserver 'n 2' tcp # is\n",
	      file);
	fputs("server redis", file);
	put_options(dice);
	fputs("\nserver n3", file);
	put_options(dice);
	fputs("\n", file);
	if (roll(dice, 2))
		fprintf(file, "limit %u\n", 1 + roll(dice, 12));
}

static void put_more_headings(struct dice *dice)
{
	static const char *const words[] = { "watch", "together", "given", "needs no", "lock" };

	for (unsigned n = roll(dice, 4); n > 0; n--) {
		const char *word = PICK(dice, words);

		fputs(word, dice->file);
		if (word[0] == 'g')
			put_command_name(dice);
		put_word(dice);
		if (word[0] == 'g')
			put_words(dice, 4);
		else if (word[0] == 'l' && roll(dice, 2))
			fputs(roll(dice, 2) ? " timestamp" : " count", dice->file);
		end_line(dice);
	}
	if (roll(dice, 2)) {
		fputs("counter", dice->file);
		put_word(dice);
		if (roll(dice, 2))
			fprintf(dice->file, " from %d", (int)roll(dice, 9) - 4);
		end_line(dice);
	}
}

static void put_run(struct dice *dice)
{
	put_client(dice);
	if (roll(dice, 3) == 0) {
		fputc('@', dice->file);
		put_server(dice);
	}
	fputs("> SET", dice->file);
	if (roll(dice, 4))
		put_words(dice, 6);
	if (roll(dice, 2)) {
		fputs(" =>", dice->file);
		put_reply(dice);
		end_line(dice);
		fputs(roll(dice, 4) ? "" : "else skip\n", dice->file);
		return;
	}
	end_line(dice);
}

static void put_saying(struct dice *dice)
{
	static const char *const says[] = {
		" => OK",          " => \"a # b\"",  " count exact",
		" nothing broken", "   update lost", " =>",
	};

	fprintf(dice->file, "%s says%s\n", roll(dice, 2) ? "LU-1" : "\"X 2\"", PICK(dice, says));
}

static void put_note(struct dice *dice)
{
	fputs("--", dice->file);
	if (roll(dice, 3))
		put_plain_text(dice);
	fputc('\n', dice->file);
}

/* Ticks last no longer than a race may, together and as often as they are repeated. */
static void put_time(struct dice *dice)
{
	const bool is_tick = roll(dice, 2);

	if (is_tick) {
		fputs("tick ", dice->file);
	} else {
		fputs("clock ", dice->file);
		if (roll(dice, 2))
			put_client(dice);
		else
			put_server(dice);
		fputs(roll(dice, 2) ? " +" : " -", dice->file);
	}
	put_duration(dice, is_tick ? 30000 : 1000000000);
	end_line(dice);
}

static void put_fault(struct dice *dice)
{
	static const char *const tears[] = { "last", "at", "after", "in", "without", "over" };
	const enum rr_fault fault = (enum rr_fault)roll(dice, RR_FAULT_KINDS);

	fprintf(dice->file, "%s ", rr_fault_name(fault));
	put_server(dice);
	if (fault == RR_FAULT_TEAR)
		fprintf(dice->file, " %s %u", PICK(dice, tears), roll(dice, 1000));
	if (fault == RR_FAULT_SLOW_DISK) {
		fputc(' ', dice->file);
		put_duration(dice, 1000000000);
	}
	end_line(dice);
}

static void put_verb(struct dice *dice)
{
	static const char *const verbs[] = { " enters", " leaves", " counts", " crashes",
					     " connects" };

	fputs(roll(dice, 2) ? "A" : "'t 2'", dice->file);
	fputs(PICK(dice, verbs), dice->file);
	end_line(dice);
}

static void put_mutex(struct dice *dice)
{
	fputs(roll(dice, 2) ? "A locks" : "$d unlocks", dice->file);
	put_word(dice);
	end_line(dice);
}

static void put_computation(struct dice *dice)
{
	fputs("\"C D\" computes", dice->file);
	put_word(dice);
	fputs(" = now", dice->file);
	if (roll(dice, 3))
		fprintf(dice->file, " %c %u", roll(dice, 2) ? '+' : '-', roll(dice, 100));
	end_line(dice);
}

/* No variable may come behind bytes on one connection. */
static void put_writing(struct dice *dice)
{
	if (roll(dice, 2)) {
		fputs("'#c' writes", dice->file);
		put_command_name(dice);
		put_words(dice, 4);
	} else {
		fputs("b writes bytes", dice->file);
		put_word(dice);
	}
	end_line(dice);
}

static void put_reading(struct dice *dice)
{
	fputs(roll(dice, 2) ? "B2 <" : "\"C D\" <", dice->file);
	put_reply(dice);
	end_line(dice);
}

static void put_steps(struct dice *dice)
{
	static void (*const kinds[])(struct dice * dice) = {
		put_run,  put_run,   put_run,     put_note,    put_time,        put_fault,
		put_verb, put_mutex, put_writing, put_reading, put_computation, put_saying,
	};

	for (unsigned n = roll(dice, 8); n > 0; n--)
		PICK(dice, kinds)(dice);
}

static void put_body(struct dice *dice)
{
	put_run(dice);
	for (unsigned n = roll(dice, 4); n > 0; n--) {
		const unsigned rounds = roll(dice, 4);

		if (rounds)
			fprintf(dice->file, "repeat %u # times\n", rounds);
		put_steps(dice);
		fputs(rounds ? "end\n" : "\n# a comment\n", dice->file);
		put_steps(dice);
	}
}

char *random_race(uint64_t seed)
{
	char *text = NULL;
	size_t size;
	struct dice dice = { 88172645463325252U + seed * 2654435761U,
			     open_memstream(&text, &size) };

	put_headings(&dice);
	put_more_headings(&dice);
	put_body(&dice);
	fputs(roll(&dice, 2) ? "verdict nothing broken\n" :
			       "verdict update lost,ghost lock\nverdict deadlock",
	      dice.file);
	fclose(dice.file);
	return text;
}
