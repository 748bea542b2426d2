/* SPDX-License-Identifier: MIT */
/*
 * The clients of a race: their connections to every server, which replies they
 * are owed, their variables and their mutexes.
 */
#ifndef RR_CAST_H
#define RR_CAST_H

#include "race/race.h"
#include "wire.h"

enum { RR_OWED_MAX = 64, RR_VARIABLES_MAX = 64, RR_VARIABLE_SIZE = 512,
       RR_MUTEXES_MAX = 8 };

/* One connection to one server, and whose commands it has not answered yet,
 * the oldest first. */
struct rr_line_to {
	struct rr_wire *wire;
	size_t n_owed;
	struct {
		int actor;
		const struct rr_step *step;
	} owed[RR_OWED_MAX];
};

struct rr_variable {
	char name[32];
	char value[RR_VARIABLE_SIZE];
};

struct rr_cast {
	const struct rr_race *race;
	struct rr_line_to lines[RR_ACTORS_MAX][RR_RACE_SERVERS_MAX];
	bool crashed[RR_ACTORS_MAX];
	int64_t skew_ns[RR_ACTORS_MAX];
	size_t n_variables;
	struct rr_variable variables[RR_VARIABLES_MAX];
	size_t n_mutexes;
	struct {
		const char *name;
		int holder; /* -1 = free */
	} mutexes[RR_MUTEXES_MAX];
};

void rr_cast_begin(struct rr_cast *cast, const struct rr_race *race);

/* Closes everything. */
void rr_cast_end(struct rr_cast *cast);

/* Closes what `actor` has open, to all servers. */
void rr_cast_disconnect(struct rr_cast *cast, int actor);

/* A variable; NULL = it has no value. */
const char *rr_cast_get(const struct rr_cast *cast, const char *name,
			size_t length);

/* Gives one a value; false when there is no room. */
bool rr_cast_set(struct rr_cast *cast, const char *name, size_t name_length,
		 const char *value, size_t length);

/* For rr_reply_matches(): a variable without a value takes the one it meets.
 * `context` is the cast. */
bool rr_cast_variable(void *context, const char *name, size_t name_length,
		      const char *value, size_t length);

/* `word` with $names replaced by values, a malloc'd copy; NULL = no memory. */
char *rr_cast_expand(const struct rr_cast *cast, const char *word);

/* Takes or gives back a mutex; false, with a message, when it is not free, or
 * not the actor's. */
bool rr_cast_lock(struct rr_cast *cast, const char *mutex, int actor,
		  char *error, size_t error_size);
bool rr_cast_unlock(struct rr_cast *cast, const char *mutex, int actor,
		    char *error, size_t error_size);

#endif
