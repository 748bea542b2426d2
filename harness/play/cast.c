/* SPDX-License-Identifier: MIT */
#include "cast.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rr_cast_begin(struct rr_cast *cast, const struct rr_race *race)
{
	*cast = (struct rr_cast){ .race = race };
}

void rr_cast_disconnect(struct rr_cast *cast, int actor)
{
	const int connection = cast->race->actors[actor].connection;

	for (size_t s = 0; s < RR_RACE_SERVERS_MAX; s++) {
		struct rr_line_to *line = &cast->lines[connection][s];

		rr_wire_close(line->wire);
		line->wire = NULL;
		line->n_owed = 0;
	}
}

void rr_cast_end(struct rr_cast *cast)
{
	for (size_t i = 0; i < cast->race->n_actors; i++)
		rr_cast_disconnect(cast, (int)i);
}

/* ---- Variables ---------------------------------------------------------------- */

static struct rr_variable *find(const struct rr_cast *cast, const char *name,
				size_t length)
{
	for (size_t i = 0; i < cast->n_variables; i++) {
		const struct rr_variable *variable = &cast->variables[i];

		if (strlen(variable->name) == length &&
		    memcmp(variable->name, name, length) == 0)
			return (struct rr_variable *)variable;
	}
	return NULL;
}

const char *rr_cast_get(const struct rr_cast *cast, const char *name,
			size_t length)
{
	const struct rr_variable *variable = find(cast, name, length);

	return variable ? variable->value : NULL;
}

bool rr_cast_set(struct rr_cast *cast, const char *name, size_t name_length,
		 const char *value, size_t length)
{
	struct rr_variable *variable = find(cast, name, name_length);

	if (!variable) {
		if (cast->n_variables == RR_VARIABLES_MAX ||
		    name_length >= sizeof(variable->name))
			return false;
		variable = &cast->variables[cast->n_variables++];
		memcpy(variable->name, name, name_length);
		variable->name[name_length] = '\0';
	}
	if (length >= sizeof(variable->value))
		return false;
	memcpy(variable->value, value, length);
	variable->value[length] = '\0';
	return true;
}

bool rr_cast_variable(void *context, const char *name, size_t name_length,
		      const char *value, size_t length)
{
	struct rr_cast *cast = context;
	const char *known = rr_cast_get(cast, name, name_length);

	if (!known)
		return rr_cast_set(cast, name, name_length, value, length);
	return strlen(known) == length && memcmp(known, value, length) == 0;
}

static size_t name_length(const char *name)
{
	size_t length = 0;

	while (isalnum((unsigned char)name[length]) || name[length] == '_')
		length++;
	return length;
}

/* The value that begins at this $, and how long its name is; NULL = it is a
 * dollar sign. */
static const char *value_at(const struct rr_cast *cast, const char *at,
			    size_t *length)
{
	if (*at != '$')
		return NULL;
	*length = name_length(at + 1);
	return *length ? rr_cast_get(cast, at + 1, *length) : NULL;
}

char *rr_cast_expand(const struct rr_cast *cast, const char *word)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	while (*word) {
		size_t length = 0;
		const char *value = value_at(cast, word, &length);

		if (value) {
			fputs(value, file);
			word += 1 + length;
		} else {
			fputc(*word++, file);
		}
	}
	if (fclose(file) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- Mutexes --------------------------------------------------------------------- */

/* The holder of a mutex, free when it is new; NULL when there are too many. */
static int *holder_of(struct rr_cast *cast, const char *mutex)
{
	for (size_t i = 0; i < cast->n_mutexes; i++) {
		if (strcmp(cast->mutexes[i].name, mutex) == 0)
			return &cast->mutexes[i].holder;
	}
	if (cast->n_mutexes == RR_MUTEXES_MAX)
		return NULL;
	cast->mutexes[cast->n_mutexes].name = mutex;
	cast->mutexes[cast->n_mutexes].holder = -1;
	return &cast->mutexes[cast->n_mutexes++].holder;
}

bool rr_cast_lock(struct rr_cast *cast, const char *mutex, int actor,
		  char *error, size_t error_size)
{
	int *holder = holder_of(cast, mutex);

	if (holder && *holder < 0) {
		*holder = actor;
		return true;
	}
	snprintf(error, error_size, "%s would wait for the mutex %s, which %s holds",
		 cast->race->actors[actor].name, mutex,
		 holder ? cast->race->actors[*holder].name : "nobody");
	return false;
}

bool rr_cast_unlock(struct rr_cast *cast, const char *mutex, int actor,
		    char *error, size_t error_size)
{
	int *holder = holder_of(cast, mutex);

	if (holder && *holder == actor) {
		*holder = -1;
		return true;
	}
	snprintf(error, error_size, "%s does not hold the mutex %s",
		 cast->race->actors[actor].name, mutex);
	return false;
}
