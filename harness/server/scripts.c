/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"

const struct rdl_word *rr_scripts_find(const struct rr_scripts *scripts, const char *sha1)
{
	for (size_t i = 0; i < scripts->n; i++) {
		if (strcasecmp(scripts->all[i].sha1, sha1) == 0)
			return &scripts->all[i].source;
	}
	return NULL;
}

void rr_scripts_add(struct rr_scripts *scripts, const char *sha1, const char *source, size_t length)
{
	struct rr_script *script;
	char *copy;

	if (rr_scripts_find(scripts, sha1))
		return;
	copy = rr_malloc(length + 1);
	memcpy(copy, source, length);
	copy[length] = '\0';
	rr_array_grow(&scripts->all, scripts->n, sizeof(*script));
	script = &scripts->all[scripts->n++];
	snprintf(script->sha1, sizeof(script->sha1), "%s", sha1);
	script->source = (struct rdl_word){ copy, length };
}

void rr_scripts_keep(struct rr_scripts *scripts, const struct rdl_command *command,
		     const struct rdl_reply *reply)
{
	if (command->n_words == 3 && reply->type == RDL_REPLY_STRING)
		rr_scripts_add(scripts, reply->text, command->words[2].text,
			       command->words[2].length);
}

static void free_scripts(struct rr_scripts *scripts)
{
	for (size_t i = 0; i < scripts->n; i++)
		free((char *)scripts->all[i].source.text);
	free(scripts->all);
	scripts->all = NULL;
	scripts->n = 0;
}

void rr_scripts_become_state(struct rr_scripts *scripts)
{
	free_scripts(scripts);
	scripts->are_state = true;
}

void rr_scripts_release(struct rr_scripts *scripts)
{
	free_scripts(scripts);
	*scripts = (struct rr_scripts){ 0 };
}

/* In quotes, in whichever letters. */
static bool has_literal(const struct rdl_word *word, const char *literal)
{
	const size_t length = strlen(literal);

	for (size_t i = 1; i + length < word->length; i++) {
		const char *at = word->text + i;

		if ((at[-1] == '\'' || at[-1] == '"') && at[length] == at[-1] &&
		    strncasecmp(at, literal, length) == 0)
			return true;
	}
	return false;
}

bool rr_script_asks_of_objects(const struct rdl_word *text)
{
	static const char *const asked[] = { "IDLETIME", "FREQ", "ENCODING", "REFCOUNT" };
	bool asks = false;

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		asks |= has_literal(text, "OBJECT") && has_literal(text, asked[i]);
	return asks;
}
