/* SPDX-License-Identifier: MIT */
#include "transcript.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "wording_ops.h"

/* ---- Words and replies ------------------------------------------------------------ */

static bool is_bare(const char *word)
{
	if (!isalnum((unsigned char)word[0]))
		return false;
	for (; *word; word++) {
		if (!isalnum((unsigned char)*word) && !strchr("_-:.,/@+", *word))
			return false;
	}
	return true;
}

static void put_char(FILE *file, unsigned char c)
{
	static const char special[] = "\n\r\t\"\\", letters[] = "nrt\"\\";
	const char *found = strchr(special, c);

	if (found)
		fprintf(file, "\\%c", letters[found - special]);
	else if (c < 32 || c > 126)
		fprintf(file, "\\x%02x", c);
	else
		fputc(c, file);
}

static void put_word(FILE *file, const char *word)
{
	if (is_bare(word)) {
		fputs(word, file);
		return;
	}
	fputc('"', file);
	for (; *word; word++)
		put_char(file, (unsigned char)*word);
	fputc('"', file);
}

/* As a pattern: what would mean something else there is left open. */
static void put_reply(FILE *file, const char *reply)
{
	bool in_quotes = false;

	if (!reply || !*reply)
		return;
	fputs(" => ", file);
	for (; *reply; reply++) {
		if (*reply == '\\' && in_quotes && reply[1])
			fputc(*reply++, file);
		else if (*reply == '"')
			in_quotes = !in_quotes;
		fputc(*reply == '$' || (!in_quotes && strchr("!#", *reply)) ?
			      '*' :
			      *reply,
		      file);
	}
}

/* ---- Steps --------------------------------------------------------------------------- */

static void put_command(FILE *file, const struct rr_race *race,
			const struct rr_step *step)
{
	fputs(race->actors[step->actor].name, file);
	if (step->server > 0)
		fprintf(file, "@%s", race->servers[step->server].name);
	fputc('>', file);
	for (size_t i = 0; i < step->n_words; i++) {
		fputc(' ', file);
		put_word(file, step->words[i]);
	}
	put_reply(file, step->expected);
}

static void put_verb(FILE *file, const struct rr_race *race,
		     const struct rr_step *step)
{
	static const char *const verbs[] = {
		[RR_STEP_ENTER] = "enters", [RR_STEP_LEAVE] = "leaves",
		[RR_STEP_COUNT] = "counts", [RR_STEP_CRASH] = "crashes",
		[RR_STEP_LOCK] = "locks",   [RR_STEP_UNLOCK] = "unlocks",
	};

	fprintf(file, "%s %s", race->actors[step->actor].name,
		verbs[step->kind]);
	if (step->text)
		fprintf(file, " %s", step->text);
}

void rr_transcript_step(FILE *file, const struct rr_race *race,
			const struct rr_step *step)
{
	char duration[RR_DURATION_SIZE];

	switch (step->kind) {
	case RR_STEP_RUN:
		put_command(file, race, step);
		break;
	case RR_STEP_NOTE:
		fprintf(file, "-- %s", step->text ? step->text : "");
		break;
	case RR_STEP_TICK:
		fprintf(file, "tick %s",
			rr_race_duration(duration, step->amount));
		break;
	case RR_STEP_FAULT:
		fprintf(file, "%s %s", rr_fault_name(step->fault),
			race->servers[step->server].name);
		break;
	default:
		put_verb(file, race, step);
		break;
	}
}

/* ---- Connections ------------------------------------------------------------------------ */

/* Has this client used its connection to this server before step `end`? */
static bool has_spoken(const struct rr_race *race, int actor, int server,
		       size_t end)
{
	for (size_t i = 0; i < end; i++) {
		const struct rr_step *step = &race->steps[i];

		if (step->actor == actor && (step->kind == RR_STEP_CRASH ||
					     (step->kind == RR_STEP_RUN &&
					      step->server == server)))
			return true;
	}
	return false;
}

/* A client of a race opens its connection at its first command; one that is to
 * lose it at a restart needs it before. */
static void put_openings(FILE *file, const struct rr_race *race, size_t restart)
{
	const int server = race->steps[restart].server;

	for (int i = 0; i < (int)race->n_actors; i++) {
		const struct rr_step opening = {
			.kind = RR_STEP_RUN,
			.actor = i,
			.server = server,
			.n_words = 1,
			.words = (const char *const[]){ "PING" },
			.expected = "PONG",
		};

		if (has_spoken(race, i, server, restart))
			continue;
		rr_transcript_step(file, race, &opening);
		fputc('\n', file);
	}
}

/* ---- The whole -------------------------------------------------------------------------- */

static void put_headings(FILE *file, const struct rr_race *race)
{
	fprintf(file, "title   %s\nclients", race->title);
	for (size_t i = 0; i < race->n_actors; i++)
		fprintf(file, " %s", race->actors[i].name);
	fputs("\nservers", file);
	for (size_t i = 0; i < race->n_servers; i++)
		fprintf(file, " %s", race->servers[i].name);
	fputs("\nwatch  ", file);
	for (size_t i = 0; i < race->n_keys; i++)
		fprintf(file, " %s", race->keys[i]);
	if (race->lock)
		fprintf(file, "\nlock    %s%s%s", race->lock,
			race->lock_is_timestamp ? " timestamp" : "",
			race->lock_is_count ? " count" : "");
	fprintf(file, "\ncounter %s\n\n", race->counter);
}

bool rr_transcript_write(FILE *file, const struct rr_race *race)
{
	put_headings(file, race);
	for (size_t i = 0; i < race->n_steps; i++) {
		const struct rr_step *step = &race->steps[i];

		if (step->kind == RR_STEP_FAULT)
			put_openings(file, race, i);
		rr_transcript_step(file, race, step);
		fputc('\n', file);
	}
	fputs("\nverdict ", file);
	for (size_t i = 0; i < race->n_verdicts; i++)
		fprintf(file, "%s%s", i ? ", " : "", race->verdicts[i]);
	fputc('\n', file);
	return !ferror(file);
}

enum rr_exit rr_transcript_save(const struct rr_race *race, const char *path)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	bool written = file && rr_transcript_write(file, race);
	enum rr_exit code;

	if (file && fclose(file) != 0)
		written = false;
	code = written ? rr_files_replace(path, text, length) :
			 rr_complain(RR_EXIT_INTERNAL, "out of memory");
	free(text);
	return code;
}
