/* SPDX-License-Identifier: MIT */
/* What is written is the race that was read: for every race of the project, for
 * every transcript of the matrix, and for random ones of the whole language. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race/race.h"

/* ---- Are they the same? ------------------------------------------------- */

/* Where two races differ first, in words; "" = nowhere. */
struct difference {
	char text[200];
};

static bool differ(struct difference *difference, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool differ(struct difference *difference, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(difference->text, sizeof(difference->text), format, arguments);
	va_end(arguments);
	return false;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_words(const char *const *a, const char *const *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!same_text(a[i], b[i]))
			return false;
	}
	return true;
}

/* All but the line, which the file's layout decides. */
static bool same_step(const struct rr_step *a, const struct rr_step *b)
{
	return a->kind == b->kind && a->repetition == b->repetition &&
	       a->repetitions == b->repetitions && a->client == b->client &&
	       a->server == b->server && a->peer == b->peer && a->fault == b->fault &&
	       a->tear == b->tear && a->n_words == b->n_words &&
	       same_words(a->words, b->words, a->n_words) && a->length == b->length &&
	       (a->kind == RR_STEP_BYTES ? memcmp(a->text, b->text, a->length) == 0 :
					   same_text(a->text, b->text)) &&
	       a->amount == b->amount && same_text(a->expected, b->expected) &&
	       same_text(a->remark, b->remark) && a->is_lost == b->is_lost &&
	       a->is_waiting == b->is_waiting && a->skips == b->skips;
}

static bool same_steps(const char *what, const struct rr_step *a, size_t n_a,
		       const struct rr_step *b, size_t n_b, struct difference *difference)
{
	if (n_a != n_b)
		return differ(difference, "%zu and %zu %s", n_a, n_b, what);
	for (size_t i = 0; i < n_a; i++) {
		if (!same_step(&a[i], &b[i]))
			return differ(difference, "%s %zu, of line %d", what, i, a[i].line);
	}
	return true;
}

static bool same_server(const struct rr_race_server *a, const struct rr_race_server *b)
{
	return same_text(a->name, b->name) && a->options.aof == b->options.aof &&
	       a->options.rdb == b->options.rdb && a->options.debug == b->options.debug &&
	       a->options.tcp == b->options.tcp && a->options.maxmemory == b->options.maxmemory &&
	       same_text(a->options.replica_of, b->options.replica_of) &&
	       same_words(a->config, b->config, RR_CONFIG_LINES_MAX + 1);
}

static bool same_parties(const struct rr_race *a, const struct rr_race *b,
			 struct difference *difference)
{
	if (a->n_clients != b->n_clients || a->n_servers != b->n_servers ||
	    a->n_needs != b->n_needs)
		return differ(difference, "numbers of clients, servers, needs");
	for (size_t i = 0; i < a->n_clients; i++) {
		if (!same_text(a->clients[i].name, b->clients[i].name) ||
		    a->clients[i].connection != b->clients[i].connection)
			return differ(difference, "client %zu", i);
	}
	for (size_t i = 0; i < a->n_servers; i++) {
		if (!same_server(&a->servers[i], &b->servers[i]))
			return differ(difference, "server %zu", i);
	}
	for (size_t i = 0; i < a->n_needs; i++) {
		if (!same_text(a->needs[i].command, b->needs[i].command) ||
		    a->needs[i].not_there != b->needs[i].not_there)
			return differ(difference, "need %zu", i);
	}
	return true;
}

static bool same_headings(const struct rr_race *a, const struct rr_race *b,
			  struct difference *difference)
{
	if (!same_text(a->title, b->title))
		return differ(difference, "titles");
	if (!same_text(a->shows ? a->shows : "", b->shows ? b->shows : ""))
		return differ(difference, "what they show");
	if (!same_text(a->safe ? a->safe : "", b->safe ? b->safe : ""))
		return differ(difference, "what is safe");
	if (!same_text(a->claims, b->claims))
		return differ(difference, "claims");
	if (a->n_keys != b->n_keys || !same_words(a->keys, b->keys, a->n_keys))
		return differ(difference, "watched keys");
	if (a->n_together != b->n_together || !same_words(a->together, b->together, a->n_together))
		return differ(difference, "keys that change together");
	if (!same_text(a->lock, b->lock) || a->lock_is_timestamp != b->lock_is_timestamp ||
	    a->lock_is_count != b->lock_is_count)
		return differ(difference, "locks");
	if (a->limit != b->limit)
		return differ(difference, "limits");
	if (!same_text(a->counter, b->counter) || a->counter_from != b->counter_from)
		return differ(difference, "counters");
	return same_parties(a, b, difference) &&
	       same_steps("given", a->given, a->n_given, b->given, b->n_given, difference);
}

static bool same_ends(const struct rr_race *a, const struct rr_race *b,
		      struct difference *difference)
{
	if (a->n_sayings != b->n_sayings)
		return differ(difference, "numbers of sayings");
	for (size_t i = 0; i < a->n_sayings; i++) {
		if (!same_text(a->sayings[i].claim, b->sayings[i].claim) ||
		    !same_text(a->sayings[i].says, b->sayings[i].says) ||
		    a->sayings[i].step != b->sayings[i].step)
			return differ(difference, "saying %zu", i);
	}
	if (a->n_verdicts != b->n_verdicts || !same_words(a->verdicts, b->verdicts, a->n_verdicts))
		return differ(difference, "verdicts");
	return true;
}

static bool same_race(const struct rr_race *a, const struct rr_race *b,
		      struct difference *difference)
{
	return same_headings(a, b, difference) &&
	       same_steps("steps", a->steps, a->n_steps, b->steps, b->n_steps, difference) &&
	       same_ends(a, b, difference);
}

/* ---- There and back ----------------------------------------------------- */

static char *write_race(const struct rr_race *race)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	rr_race_write(file, race);
	cr_assert_not(ferror(file));
	fclose(file);
	return text;
}

static struct rr_race *parse_text(const char *path, const char *text)
{
	struct rr_error error = { 0 };
	struct rr_race *race = rr_race_parse(path, text, strlen(text), &error);

	cr_assert_not_null(race, "%s in:\n%s", error.text, text);
	return race;
}

/* Both are written as `text`. */
static void assert_is_kept(const struct rr_race *race, const char *text, const char *source)
{
	struct rr_race *again = parse_text(race->path, text);
	struct difference difference = { "" };
	char *twice = write_race(again);

	cr_assert(same_race(race, again, &difference), "%s: %s in:\n%s%s", race->path,
		  difference.text, source, text);
	cr_assert_str_eq(text, twice);
	free(twice);
	rr_race_free(again);
}

static void assert_file_is_kept(const char *path, bool is_written)
{
	char *text, *source = NULL;
	struct rr_error error = { 0 };
	struct rr_race *race = rr_race_read(path, &error);
	FILE *file = fopen(path, "r");
	size_t size = 0;

	cr_assert_not_null(race, "%s", error.text);
	cr_assert_not_null(file);
	cr_assert(getdelim(&source, &size, '\0', file) > 0);
	fclose(file);
	text = write_race(race);
	assert_is_kept(race, text, source);
	if (is_written)
		cr_assert_str_eq(text, source, "%s", path);
	free(text);
	free(source);
	rr_race_free(race);
}

static void assert_folder_is_kept(const char *folder, bool is_written)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[600];
	int n = 0;

	cr_assert_not_null(dir, "%s", folder);
	while ((entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".race") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		assert_file_is_kept(path, is_written);
		n++;
	}
	closedir(dir);
	cr_assert_gt(n, 100, "%s: %d", folder, n);
}

Test(write, keeps_every_race_of_the_project)
{
	assert_folder_is_kept("scenarios/races", false);
}

/* Those were written by the explorer: byte for byte. */
Test(write, keeps_every_transcript_of_the_matrix)
{
	assert_folder_is_kept("docs/matrix", true);
}

/* ---- Random races ------------------------------------------------------- */

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
		"\"\\x00y\"", "'$a \"b'", "\"\\xff\"", "a\"b c\"d",     "bytes",
		"says",       "k@n1",     "=",         "a\\b",          "no",
		"h\xc3\xa9",  "--",       "*",         "\"\\r\\t\\a\"", "timestamp",
	};

	fprintf(dice->file, " %s", PICK(dice, words));
}

static void put_words(struct dice *dice, unsigned most)
{
	for (unsigned n = 1 + roll(dice, most); n > 0; n--)
		put_word(dice);
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

static void put_duration(struct dice *dice)
{
	static const char *const units[] = { "s", "ms", "us" };
	static const unsigned most[] = { 3, 3000, 1000000000 };

	fprintf(dice->file, "%u%s", 1 + roll(dice, PICK(dice, most)), PICK(dice, units));
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
	fputs(roll(dice, 2) ? "clients '#c' $d\nconnection T1 't 2'\n" :
			      "connection '#c' $d T1\nclients 't 2'\n",
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

static void put_time(struct dice *dice)
{
	if (roll(dice, 2)) {
		fputs("tick ", dice->file);
	} else {
		fputs("clock ", dice->file);
		if (roll(dice, 2))
			put_client(dice);
		else
			put_server(dice);
		fputs(roll(dice, 2) ? " +" : " -", dice->file);
	}
	put_duration(dice);
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
		put_duration(dice);
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

static void put_writing(struct dice *dice)
{
	fputs(roll(dice, 2) ? "B2 writes" : "'#c' writes", dice->file);
	if (roll(dice, 2)) {
		put_command_name(dice);
		put_words(dice, 4);
	} else {
		fputs(" bytes", dice->file);
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

static char *random_race(uint64_t seed)
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

Test(write, keeps_every_random_race)
{
	for (uint64_t seed = 1; seed <= 5000; seed++) {
		char *source = random_race(seed), *text;
		struct rr_race *race = parse_text("random", source);

		text = write_race(race);
		assert_is_kept(race, text, source);
		free(text);
		free(source);
		rr_race_free(race);
	}
}

/* ---- Races that no file held -------------------------------------------- */

Test(write, rounds_up_to_whole_microseconds)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = { { 11000000000, "11s" },
		      { 1500000000, "1500ms" },
		      { 3000, "3us" },
		      { 10000000001, "10000001us" },
		      { -60000000000, "-60s" } };
	char text[RR_DURATION_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_assert_str_eq(rr_race_duration_text(text, cases[i].ns), cases[i].text);
}

Test(write, leaves_open_what_a_pattern_cannot_say)
{
	char reply[] = "[\"a # \\\" $b\", (error) ERR # and $c ! d]";

	rr_reply_to_pattern(reply);
	cr_assert_str_eq(reply, "[\"a # \\\" *b\", (error) ERR * and *c * d]");
}
