/* SPDX-License-Identifier: MIT */
/* The scripts that clients have loaded, by their hashes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

const char *rr_gate_script(const struct rr_gate *gate, const char *sha1)
{
	for (size_t i = 0; i < gate->n_scripts; i++) {
		if (strcmp(gate->scripts[i].sha1, sha1) == 0)
			return gate->scripts[i].source;
	}
	return NULL;
}

/* An entry without a hash is overwritten. */
void rr_gate_load_script(struct rr_gate *gate, const struct rl_word *source)
{
	struct rr_gate_script *script = &gate->scripts[gate->n_scripts];

	if (gate->n_scripts == RR_GATE_SCRIPTS)
		return;
	free(script->source);
	script->source = strndup(source->text, source->length);
}

void rr_gate_name_script(struct rr_gate *gate, const struct rl_reply *reply)
{
	struct rr_gate_script *script = &gate->scripts[gate->n_scripts];

	if (gate->n_scripts == RR_GATE_SCRIPTS || !script->source ||
	    reply->type != RL_REPLY_STRING ||
	    rr_gate_script(gate, reply->text))
		return;
	snprintf(script->sha1, sizeof(script->sha1), "%s", reply->text);
	gate->n_scripts++;
}

void rr_gate_free_scripts(struct rr_gate *gate)
{
	for (size_t i = 0; i < RR_GATE_SCRIPTS; i++)
		free(gate->scripts[i].source);
}
