/* SPDX-License-Identifier: MIT */
/* Scripts that servers know. */
#ifndef RR_SCRIPTS_H
#define RR_SCRIPTS_H

#include "base/reply.h"

/* What servers have from the beginning: the scripts that clients have loaded, by their
 * hashes, and what some commands leave. */
struct rr_scripts {
	struct rr_command_list first; /* the owner's; they must succeed */
	/* Programs ask which ones a server knows, or have it forget them: it begins with
	 * none, and which it knows is a part of its state. */
	bool are_state;
	size_t n;
	struct rr_script {
		char sha1[41];
		struct rdl_word source;
	} * all;
};

/* One that is there already stays. */
void rr_scripts_add(struct rr_scripts *scripts, const char *sha1, const char *source,
		    size_t length);
/* The one that a SCRIPT LOAD has loaded; nothing of another command. */
void rr_scripts_keep(struct rr_scripts *scripts, const struct rdl_command *command,
		     const struct rdl_reply *reply);
/* NULL = unknown. */
const struct rdl_word *rr_scripts_find(const struct rr_scripts *scripts, const char *sha1);
/* From now on servers begin with none. */
void rr_scripts_become_state(struct rr_scripts *scripts);
void rr_scripts_release(struct rr_scripts *scripts);

/* Does a script name OBJECT and what that tells of a key beside its value: idle time, frequency,
 * encoding, references? No data say that. */
bool rr_script_asks_of_objects(const struct rdl_word *text);

#endif
