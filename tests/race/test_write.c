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

#include "base/reply.h"
#include "base/text.h"
#include "race/race.h"
#include "random_race.h"

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

static bool same_command(const struct rr_step *a, const struct rr_step *b)
{
	for (size_t i = 0; i < a->n_words; i++) {
		if (rr_compare_bytes(a->words[i].text, a->words[i].length, b->words[i].text,
				     b->words[i].length) != 0)
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
	       a->tear == b->tear && a->n_words == b->n_words && same_command(a, b) &&
	       a->length == b->length &&
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
	char text[RR_GROUPED_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_assert_str_eq(rr_exact_duration(text, cases[i].ns), cases[i].text);
}

Test(write, leaves_open_what_a_pattern_cannot_say)
{
	char reply[] = "[\"a # \\\" $b\", (error) ERR # and $c ! d]";

	rr_reply_to_pattern(reply);
	cr_assert_str_eq(reply, "[\"a # \\\" *b\", (error) ERR * and *c * d]");
}
