/* SPDX-License-Identifier: MIT */
#include "kept.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/random.h"
#include "cache.h"
#include "program_run.h"

enum { HISTORIES_AGAIN = 2 };

/* ---- Beginning and end ------------------------------------------------------------------ */

/* The file that a process runs; "": nobody knows. */
static void find_program(const char *process, char path[PATH_MAX])
{
	char link[40];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%s/exe", process);
	n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
}

static void find_server(const struct rr_cluster *cluster, char path[PATH_MAX])
{
	char process[20];

	snprintf(process, sizeof(process), "%d",
		 cluster->n_servers > 0 ? (int)cluster->servers[0].process.pid : 0);
	find_program(process, path);
}

void rr_kept_init(struct rr_kept *kept)
{
	char path[PATH_MAX];

	*kept = (struct rr_kept){ .begun_ns = rr_clock_files_ns() };
	find_program("self", path);
	rr_opened_add(&kept->opened, path);
}

void rr_kept_release(struct rr_kept *kept)
{
	rr_opened_release(&kept->opened);
	rr_intern_release(&kept->asked);
}

/* ---- The key ---------------------------------------------------------------------------- */

/* What differs from one shell, terminal or login to the next, and nothing else. */
static bool is_of_session(const char *variable)
{
	static const char *const names[] = { "_=",    "OLDPWD=",   "SHLVL=",
					     "TERM=", "LINES=",    "COLUMNS=",
					     "SSH_",  "WINDOWID=", "XDG_SESSION_ID=" };
	size_t i = 0;

	while (i < sizeof(names) / sizeof(names[0]) &&
	       strncmp(variable, names[i], strlen(names[i])) != 0)
		i++;
	return i < sizeof(names) / sizeof(names[0]);
}

static void put_text(FILE *out, const char *text)
{
	rr_bytes_put(out, text ? text : "", text ? strlen(text) + 1 : 0);
}

static void put_clients(const struct rr_programs_config *config, FILE *out)
{
	rr_bytes_put_number(out, (int64_t)config->n_clients);
	for (size_t i = 0; i < config->n_clients; i++) {
		put_text(out, config->names[i]);
		for (size_t j = 0; config->argv[i][j]; j++)
			put_text(out, config->argv[i][j]);
		put_text(out, NULL);
	}
}

/* In any order. */
static uint64_t digest_environment(void)
{
	uint64_t sum = 0;

	for (char **variable = environ; *variable; variable++) {
		if (!is_of_session(*variable))
			sum += rr_bytes_digest(0, *variable, strlen(*variable));
	}
	return sum;
}

/* Who runs what, where and with what. */
static void make_key(const struct rr_programs *programs, struct rr_draft *key)
{
	const struct rr_programs_config *config = &programs->config;
	char server[PATH_MAX], directory[PATH_MAX];

	rr_draft_open(key);
	find_server(config->kept.cluster, server);
	put_text(key->out, server);
	put_text(key->out, getcwd(directory, sizeof(directory)));
	put_text(key->out, config->instances.process.preload);
	put_text(key->out, config->instances.refused);
	put_clients(config, key->out);
	rr_bytes_put_number(key->out, (int64_t)digest_environment());
	fclose(key->out);
}

/* ---- Reading ---------------------------------------------------------------------------- */

static uint32_t count_states(const struct rr_programs *programs)
{
	uint32_t n = 0;

	for (size_t i = 0; i < programs->n_lines; i++)
		n += programs->lines[i].table.n_states;
	return n;
}

static bool is_among_settled(const struct rr_programs *programs)
{
	const struct rr_kept *kept = &programs->kept_file;
	size_t i = 0;

	while (i < kept->n_settled && kept->settled[i] != programs->config.kept.question)
		i++;
	return i < kept->n_settled;
}

static bool is_end(const struct rr_client_table *table, const struct rr_client_row *row)
{
	return row->to != RR_NO_ID && table->states[row->to].has_ended;
}

/* One whole history, any. False: a program did something else. */
static bool run_any_again(struct rr_programs *programs, struct rr_client_table *table)
{
	struct rr_random random = { 0 };
	struct rr_client_row chosen = { .to = RR_NO_ID };
	uint64_t n = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random.state = (uint64_t)programs->kept_file.begun_ns;
	for (uint32_t i = 0; i < table->rows.n; i++) {
		if (is_end(table, &table->row[i]) && rr_random_below(&random, ++n) == 0)
			chosen = table->row[i];
	}
	programs->kept_file.n_again++;
	return rr_client_table_run_again(table, rr_client_table_next_client(table), chosen.from,
					 n ? &chosen : NULL);
}

static bool run_some_again(struct rr_programs *programs)
{
	const size_t n_lines = programs->n_lines;
	const size_t n_least = is_among_settled(programs) ? 1 : HISTORIES_AGAIN;
	bool good = true;

	/* Where nobody does anything, nothing is played. */
	if (is_among_settled(programs) && programs->config.kept.plays && rr_programs_send(programs))
		return true;
	for (size_t i = 0; i < n_lines || i < n_least; i++)
		good = good && run_any_again(programs, &programs->lines[i % n_lines].table);
	return good;
}

static void take_settled(struct rr_kept *kept, struct rr_bytes *bytes)
{
	kept->n_settled = (size_t)rr_bytes_take_number(bytes, 0, RR_SETTLED_MAX);
	for (size_t i = 0; i < kept->n_settled; i++)
		kept->settled[i] = (uint64_t)rr_bytes_take_number(bytes, INT64_MIN, INT64_MAX);
}

static void note_broken(struct rr_kept *kept)
{
	snprintf(kept->remark, sizeof(kept->remark),
		 "What was kept of the program is broken, and was not used.");
	snprintf(kept->why, sizeof(kept->why), "the file is broken");
}

/* Nothing of it is left. */
static void forget(struct rr_programs *programs)
{
	struct rr_kept *kept = &programs->kept_file;

	kept->is_given_up = true;
	kept->is_loaded = kept->is_contradicted = false;
	kept->n_settled = 0;
	rr_ahead_expect_any(&programs->ahead);
	programs->has_own_tables = false;
	rr_tokens_release(&programs->tokens);
	rr_programs_make_tables_anew(programs);
}

static void use_content(struct rr_programs *programs, struct rr_bytes *content)
{
	struct rr_kept *kept = &programs->kept_file;

	take_settled(kept, content);
	if (!content->is_wrong && !rr_opened_are_same(&kept->opened, content, kept->why) &&
	    !content->is_wrong) {
		kept->is_given_up = true;
		kept->n_settled = 0;
	} else if (!content->is_wrong && rr_kept_read(programs, content)) {
		kept->is_loaded = true;
		kept->n_states = count_states(programs);
		if (is_among_settled(programs))
			rr_ahead_expect(&programs->ahead, rr_programs_all(programs));
		if (!run_some_again(programs) && rr_kept_doubt(programs))
			forget(programs);
		kept->wants_anew = false;
	} else if (content->is_wrong) {
		note_broken(kept);
		forget(programs);
	}
}

void rr_kept_load(struct rr_programs *programs)
{
	struct rr_kept *kept = &programs->kept_file;
	char path[RR_PATH_SIZE], server[PATH_MAX], *text = NULL;
	struct rr_bytes content;
	struct rr_draft key;
	bool is_broken = false;

	if (!programs->config.kept.cluster || programs->config.n_requests || kept->is_given_up ||
	    kept->is_loaded || count_states(programs) > 0)
		return;
	find_server(programs->config.kept.cluster, server);
	rr_opened_add(&kept->opened, server);
	make_key(programs, &key);
	if (rr_cache_path(key.text, key.length, path))
		text = rr_cache_read(path, key.text, key.length, &content, &is_broken);
	if (is_broken)
		note_broken(kept);
	else if (!text)
		snprintf(kept->why, sizeof(kept->why), "nothing was kept before");
	if (text)
		use_content(programs, &content);
	else
		kept->is_given_up = true;
	free(text);
	free(key.text);
}

/* ---- What is believed of it ------------------------------------------------------------- */

bool rr_kept_doubt(struct rr_programs *programs)
{
	struct rr_kept *kept = &programs->kept_file;

	if (!kept->is_loaded || programs->problem.kind == RR_ERROR_INTERRUPTED)
		return false;
	kept->wants_anew = true;
	snprintf(
		kept->remark, sizeof(kept->remark),
		"The program does something else than it did in another check, although none of its files has changed: it was learned anew.");
	snprintf(kept->why, sizeof(kept->why), "the program does something else");
	return true;
}

void rr_kept_give_up(struct rr_programs *programs)
{
	struct rr_kept *kept = &programs->kept_file;

	kept->is_given_up |= kept->is_loaded;
	kept->is_loaded = kept->is_contradicted = kept->wants_anew = false;
}

bool rr_kept_is_settled(const struct rr_programs *programs)
{
	const struct rr_kept *kept = &programs->kept_file;

	return kept->is_loaded && kept->n_states == count_states(programs) &&
	       is_among_settled(programs);
}

/* ---- Writing ---------------------------------------------------------------------------- */

/* The oldest question goes. */
static void settle(struct rr_programs *programs)
{
	struct rr_kept *kept = &programs->kept_file;

	if (is_among_settled(programs))
		return;
	if (kept->n_settled == RR_SETTLED_MAX)
		memmove(kept->settled, kept->settled + 1,
			--kept->n_settled * sizeof(kept->settled[0]));
	kept->settled[kept->n_settled++] = programs->config.kept.question;
}

static void put_settled(const struct rr_kept *kept, FILE *out)
{
	rr_bytes_put_number(out, (int64_t)kept->n_settled);
	for (size_t i = 0; i < kept->n_settled; i++)
		rr_bytes_put_number(out, (int64_t)kept->settled[i]);
}

static void write_content(struct rr_programs *programs, const char *path,
			  const struct rr_draft *key)
{
	struct rr_kept *kept = &programs->kept_file;
	struct rr_draft content;
	bool good;

	rr_draft_open(&content);
	put_settled(kept, content.out);
	good = rr_opened_write(&kept->opened, kept->begun_ns, content.out, kept->why);
	if (good)
		rr_kept_write(programs, content.out);
	fclose(content.out);
	if (good && !rr_cache_write(path, key->text, key->length, content.text, content.length))
		snprintf(kept->why, sizeof(kept->why), "%.300s cannot be written", path);
	free(content.text);
}

/* What a client did depends then on which of its values had names. */
static bool reuses_names(const struct rr_programs *programs)
{
	bool reuses = programs->keeps_names;

	for (size_t i = 0; i < programs->n_lines; i++)
		reuses |= programs->lines[i].n_named > 0;
	return reuses;
}

/* Is a value taken for random of which no other run has shown that it is? */
static bool has_guesses(const struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->n_lines; i++) {
		const struct rr_client_table *table = &programs->lines[i].table;

		for (uint32_t j = 0; j < table->n_states; j++) {
			if (table->states[j].is_guessed && !table->states[j].is_seen_again)
				return true;
		}
	}
	return false;
}

/* Why it cannot be kept; NULL: it can. */
static const char *why_not(const struct rr_programs *programs)
{
	if (programs->config.n_requests)
		return "nothing is kept of an app";
	if (programs->figures.has_own_clock)
		return "which files it opens is not known of a program that is static or in Go";
	if (programs->config.instances.process.holds_day)
		return "a program whose time of day stood still is always learned anew";
	if (programs->kept_file.opened.are_too_many)
		return "it opens too many files";
	if (reuses_names(programs))
		return "a client that draws a random value for each attempt is always learned anew";
	if (has_guesses(programs))
		return "a value that may be random was sent by one run only";
	return count_states(programs) == 0 ? "nothing is known" : NULL;
}

void rr_kept_save(struct rr_programs *programs, bool is_settled)
{
	struct rr_kept *kept = &programs->kept_file;
	const bool is_known = kept->is_loaded && kept->n_states == count_states(programs) &&
			      (!is_settled || is_among_settled(programs));
	char path[RR_PATH_SIZE];
	struct rr_draft key;
	const char *why;

	if (!programs->config.kept.cluster)
		return;
	for (size_t i = 0; i < programs->n_lines; i++)
		rr_client_table_drop_runs(&programs->lines[i].table);
	why = why_not(programs);
	make_key(programs, &key);
	if (is_settled && !why)
		settle(programs);
	if (why)
		snprintf(kept->why, sizeof(kept->why), "%s", why);
	else if (!rr_cache_path(key.text, key.length, path))
		snprintf(kept->why, sizeof(kept->why), "there is no HOME");
	else if (is_known)
		utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* it was used now */
	else
		write_content(programs, path, &key);
	free(key.text);
}
