/* SPDX-License-Identifier: MIT */
/* What a race owns: its texts, its memory; the words of its language; and the
 * files that races come from. */
#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "parser.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct rr_race_text {
	struct rr_race_text *next;
	char bytes[];
};

char *rr_race_keep(struct rr_race *race, const char *text, size_t length)
{
	struct rr_race_text *kept = rr_malloc(sizeof(*kept) + length + 1);

	memcpy(kept->bytes, text, length);
	kept->bytes[length] = '\0';
	kept->next = race->texts;
	race->texts = kept;
	return kept->bytes;
}

void rr_race_drop_texts(struct rr_race *race, const struct rr_race_text *last)
{
	while (race->texts != last) {
		struct rr_race_text *text = race->texts;

		race->texts = text->next;
		free(text);
	}
}

void rr_race_free(struct rr_race *race)
{
	if (!race)
		return;
	rr_race_drop_texts(race, NULL);
	free(race->given);
	free(race->sayings);
	free(race->steps);
	free(race);
}

/* ---- Words -------------------------------------------------------------- */

const char *rr_fault_name(enum rr_fault fault)
{
	static const char *const names[RR_FAULT_KINDS] = {
		[RR_FAULT_KILL] = "kill",
		[RR_FAULT_SHUT_DOWN] = "shutdown",
		[RR_FAULT_AWAIT_END] = "await-end",
		[RR_FAULT_RESTART] = "restart",
		[RR_FAULT_RESTART_FAILS] = "restart-fails",
		[RR_FAULT_WIPE] = "wipe",
		[RR_FAULT_HANG] = "hang",
		[RR_FAULT_RESUME] = "resume",
		[RR_FAULT_CUT] = "cut",
		[RR_FAULT_JOIN] = "join",
		[RR_FAULT_PROMOTE] = "promote",
		[RR_FAULT_CATCH_UP] = "catch-up",
		[RR_FAULT_POWER] = "power-cut",
		[RR_FAULT_AWAIT_SYNC] = "await-sync",
		[RR_FAULT_AWAIT_SAVE] = "await-save",
		[RR_FAULT_TEAR] = "tear",
		[RR_FAULT_SLOW_DISK] = "slow-disk",
		[RR_FAULT_DIE_IN_SYNC] = "die-in-sync",
		[RR_FAULT_BREAK_DISK] = "break-disk",
		[RR_FAULT_MEND_DISK] = "mend-disk",
		[RR_FAULT_FILL] = "fill",
		[RR_FAULT_EMPTY] = "unfill",
	};

	return names[fault];
}

const char *rr_tear_name(enum rr_tear tear)
{
	static const char *const names[RR_TEAR_KINDS] = {
		[RR_TEAR_LAST_BYTES] = "last",         [RR_TEAR_AT_BYTE] = "at",
		[RR_TEAR_AFTER_COMMAND] = "after",     [RR_TEAR_IN_COMMAND] = "in",
		[RR_TEAR_WITHOUT_COMMAND] = "without", [RR_TEAR_OVER_COMMAND] = "over",
	};

	return names[tear];
}

const char *rr_aof_name(enum rr_aof aof)
{
	static const char *const names[] = {
		[RR_AOF_NO] = "no", [RR_AOF_EVERYSEC] = "everysec", [RR_AOF_ALWAYS] = "always"
	};

	return names[aof];
}

const char *rr_step_word(enum rr_step_kind kind)
{
	static const char *const words[RR_STEP_FAULT + 1] = {
		[RR_STEP_WRITE] = "writes",     [RR_STEP_BYTES] = "writes",
		[RR_STEP_READ] = "<",           [RR_STEP_ENTER] = "enters",
		[RR_STEP_LEAVE] = "leaves",     [RR_STEP_COUNT] = "counts",
		[RR_STEP_CRASH] = "crashes",    [RR_STEP_CONNECT] = "connects",
		[RR_STEP_LOCK] = "locks",       [RR_STEP_UNLOCK] = "unlocks",
		[RR_STEP_COMPUTE] = "computes", [RR_STEP_NOTE] = "--",
		[RR_STEP_TICK] = "tick",        [RR_STEP_CLOCK] = "clock",
	};

	return words[kind];
}

/* ---- Files -------------------------------------------------------------- */

struct rr_race *rr_race_read(const char *path, struct rr_error *error)
{
	size_t length;
	char *text = rr_files_read(path, RR_ERROR_USAGE, 1, &length, error);
	struct rr_race *race = text ? rr_race_parse(path, text, length, error) : NULL;

	free(text);
	return race;
}

/* ---- The project's races ------------------------------------------------ */

static const char suffix[] = ".race";

/* Where the race is; false: it is neither a file nor one of ours. */
static bool find_race(const char *name, char path[2 * RR_PATH_SIZE])
{
	char directory[RR_PATH_SIZE];

	snprintf(path, RR_PATH_SIZE, "%.1000s", name);
	if (strchr(name, '/') || access(name, R_OK) == 0)
		return true;
	rr_files_find_folder("scenarios/races", "races", directory);
	snprintf(path, 2 * RR_PATH_SIZE, "%s/%.500s%s", directory, name, suffix);
	return directory[0] && access(path, R_OK) == 0;
}

bool rr_library_has(const char *name)
{
	char path[2 * RR_PATH_SIZE];

	return find_race(name, path);
}

struct rr_race *rr_library_open(const char *name, struct rr_error *error)
{
	char path[2 * RR_PATH_SIZE];

	if (find_race(name, path))
		return rr_race_read(path, error);
	rr_error_set(error, RR_ERROR_USAGE,
		     "no race '%.100s', and no such file; 'redrace list --races' shows the races",
		     name);
	return NULL;
}

char **rr_library_names(size_t *n)
{
	char directory[RR_PATH_SIZE];
	char **names;

	rr_files_find_folder("scenarios/races", "races", directory);
	names = rr_files_list(directory, suffix, n);
	for (size_t i = 0; i < *n; i++)
		names[i][strlen(names[i]) - strlen(suffix)] = '\0';
	return names;
}

bool rr_library_print(bool markdown, struct rr_error *error)
{
	bool all = true;
	size_t n;
	char **names = rr_library_names(&n);

	if (!markdown)
		printf("%-36s %s\n    %s\n", "race", "claims", "shows");
	for (size_t i = 0; i < n; i++) {
		struct rr_race *race = rr_library_open(names[i], error);

		all = all && race;
		if (race && markdown) {
			printf("| [`%s`](scenarios/races/%s.race) | %s | %s |\n", names[i],
			       names[i], race->claims, race->title);
		} else if (race) {
			printf("%-36s %s\n    ", names[i], race->claims);
			rr_print_wrapped(stdout, race->title, 4, 4);
		}
		rr_race_free(race);
	}
	rr_files_free_list(names, n);
	return all;
}

int rr_race_key_server(const struct rr_race *race, const char *key, size_t *length)
{
	const char *at = strrchr(key, '@');

	*length = strlen(key);
	for (size_t i = 0; at && i < race->n_servers; i++) {
		if (strcmp(at + 1, race->servers[i].name) == 0) {
			*length = (size_t)(at - key);
			return (int)i;
		}
	}
	return 0;
}

/* ---- Time -------------------------------------------------------------------- */

bool rr_race_needs_time(const struct rr_race *race)
{
	for (size_t i = 0; i < race->n_steps; i++) {
		const struct rr_step *step = &race->steps[i];
		static const char *const commands[] = { "TIME", "TTL", "PTTL", "EXPIRETIME",
							"PEXPIRETIME" };

		if (step->kind == RR_STEP_TICK || step->kind == RR_STEP_CLOCK ||
		    step->kind == RR_STEP_COMPUTE)
			return true;
		for (size_t j = 0; j < sizeof(commands) / sizeof(commands[0]); j++) {
			if (step->n_words > 0 && strcasecmp(step->words[0].text, commands[j]) == 0)
				return true;
		}
	}
	return false;
}
