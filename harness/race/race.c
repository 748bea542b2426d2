/* SPDX-License-Identifier: MIT */
/* What a race owns: its texts, its memory, and how it comes from a file. */
#include "parser.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20 };

struct rr_race_text {
	struct rr_race_text *next;
	char bytes[];
};

char *rr_race_keep(struct rr_race *race, const char *text, size_t length)
{
	struct rr_race_text *kept = malloc(sizeof(*kept) + length + 1);

	if (!kept)
		return NULL;
	memcpy(kept->bytes, text, length);
	kept->bytes[length] = '\0';
	kept->next = race->texts;
	race->texts = kept;
	return kept->bytes;
}

void rr_race_free(struct rr_race *race)
{
	if (!race)
		return;
	for (struct rr_race_text *text = race->texts; text;) {
		struct rr_race_text *next = text->next;

		free(text);
		text = next;
	}
	free(race->sayings);
	free(race->steps);
	free(race);
}

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
		[RR_TEAR_LAST_BYTES] = "last",
		[RR_TEAR_AT_BYTE] = "at",
		[RR_TEAR_AFTER_COMMAND] = "after",
		[RR_TEAR_IN_COMMAND] = "in",
		[RR_TEAR_WITHOUT_COMMAND] = "without",
		[RR_TEAR_OVER_COMMAND] = "over",
	};

	return names[tear];
}

const char *rr_aof_name(enum rr_aof aof)
{
	static const char *const names[] = { [RR_AOF_NO] = "no",
					     [RR_AOF_EVERYSEC] = "everysec",
					     [RR_AOF_ALWAYS] = "always" };

	return names[aof];
}

const char *rr_step_verb(enum rr_step_kind kind)
{
	static const char *const verbs[RR_STEP_FAULT + 1] = {
		[RR_STEP_WRITE] = "writes",     [RR_STEP_BYTES] = "writes",
		[RR_STEP_READ] = "<",           [RR_STEP_ENTER] = "enters",
		[RR_STEP_LEAVE] = "leaves",     [RR_STEP_COUNT] = "counts",
		[RR_STEP_CRASH] = "crashes",    [RR_STEP_CONNECT] = "connects",
		[RR_STEP_LOCK] = "locks",       [RR_STEP_UNLOCK] = "unlocks",
		[RR_STEP_COMPUTE] = "computes",
	};

	return verbs[kind];
}

struct rr_race *rr_race_read(const char *path, char *error, size_t error_size)
{
	FILE *file = fopen(path, "re");
	struct rr_race *race = NULL;
	char *text;
	size_t length;

	if (!file) {
		snprintf(error, error_size, "cannot open '%s': %s", path,
			 strerror(errno));
		return NULL;
	}
	text = malloc(FILE_MAX);
	length = text ? fread(text, 1, FILE_MAX, file) : 0;
	if (!text)
		snprintf(error, error_size, "out of memory");
	else if (ferror(file))
		snprintf(error, error_size, "cannot read '%s': %s", path,
			 strerror(errno));
	else if (length == FILE_MAX)
		snprintf(error, error_size, "'%s' is longer than 1 MiB", path);
	else
		race = rr_race_parse(path, text, length, error, error_size);
	free(text);
	fclose(file);
	return race;
}
