/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char suffix[] = ".race";

/* Places to look in, from the program's own directory. */
static const char *const places[] = { "../scenarios/races",
				      "../../scenarios/races",
				      "../share/redrace/races" };

void rr_library_directory(char path[RR_RACE_PATH_SIZE])
{
	char program[512];
	const ssize_t n =
		readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	snprintf(path, RR_RACE_PATH_SIZE, "scenarios/races");
	if (access(path, R_OK) == 0 || n < 0)
		return;
	program[n] = '\0';
	slash = strrchr(program, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, RR_RACE_PATH_SIZE, "%s/%s", program, places[i]);
		if (access(path, R_OK) == 0)
			return;
	}
	path[0] = '\0';
}

struct rr_race *rr_library_open(const char *name, char *error,
				size_t error_size)
{
	char directory[RR_RACE_PATH_SIZE], path[2 * RR_RACE_PATH_SIZE];

	if (strchr(name, '/') || access(name, R_OK) == 0)
		return rr_race_read(name, error, error_size);
	rr_library_directory(directory);
	snprintf(path, sizeof(path), "%s/%.500s%s", directory, name, suffix);
	if (directory[0] && access(path, R_OK) == 0)
		return rr_race_read(path, error, error_size);
	snprintf(error, error_size,
		 "there is no race '%.100s', and no such file; 'redrace list' shows the races",
		 name);
	return NULL;
}

static int is_race(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);

	return length > strlen(suffix) && entry->d_name[0] != '.' &&
	       strcmp(entry->d_name + length - strlen(suffix), suffix) == 0;
}

char **rr_library_names(size_t *n)
{
	char directory[RR_RACE_PATH_SIZE];
	struct dirent **entries = NULL;
	char **names;
	int found;

	rr_library_directory(directory);
	found = scandir(directory, &entries, is_race, alphasort);
	names = calloc(found > 0 ? (size_t)found : 1, sizeof(*names));
	*n = 0;
	for (int i = 0; i < found; i++) {
		const size_t length =
			strlen(entries[i]->d_name) - strlen(suffix);

		if (names)
			names[(*n)++] = strndup(entries[i]->d_name, length);
		free(entries[i]);
	}
	free(entries);
	return names;
}

void rr_library_free_names(char **names, size_t n)
{
	for (size_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}
