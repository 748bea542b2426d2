/* SPDX-License-Identifier: MIT */
/*
 * Commands and replies as a reader is shown them: random values are called "tokenA",
 * "tokenA2" in a later attempt of that client, and scripts have names. All texts are
 * malloc'd.
 */
#ifndef RR_NAMING_H
#define RR_NAMING_H

#include "explore.h"

enum { RR_SCRIPT_NAME = 32 };

struct rr_naming {
	const struct rr_terms *terms;
	const struct rr_scripts *scripts;
	const struct rr_script_name *script_names; /* see struct rr_explore_config */
	struct rr_named_token *tokens;             /* random values that are known by now */
	size_t n_tokens;
};

struct rr_naming rr_naming_of(const struct rr_terms *terms, const struct rr_scripts *scripts,
			      const struct rr_script_name *script_names);
void rr_naming_release(struct rr_naming *naming);

/* With names instead of random values; frees `text`. */
char *rr_naming_tidy(const struct rr_naming *naming, char *text);

/* "SET lock:0 tokenA NX PX 10000", "EVAL script1 lock:0 tokenA": without a script's text,
 * and how many keys it has. */
char *rr_naming_command(const struct rr_naming *naming, uint32_t command);
char *rr_naming_reply(const struct rr_naming *naming, uint32_t reply);

/* As it is called in the configuration, or by its number. */
const char *rr_naming_script(const struct rr_naming *naming, const char *source,
			     char name[RR_SCRIPT_NAME]);

#endif
