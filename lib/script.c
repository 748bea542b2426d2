/* SPDX-License-Identifier: MIT */
/* Lua scripts by their hash, and whole where the server has forgotten them. */
#include <string.h>

#include "link.h"
#include "script.h"

/* The link's slot for `source`: known already, empty, or NULL when full. */
static struct rl_known_script *find_script_slot(struct rl_link *link, const char *source)
{
	for (size_t i = 0; i < RL_SCRIPTS_MAX; i++) {
		struct rl_known_script *script = &link->scripts[i];

		if (script->source == source || !script->source)
			return script;
	}
	return NULL;
}

bool rl_script_note(struct rl_link *link, const char *source, const struct rl_reply *loaded)
{
	struct rl_known_script *script = find_script_slot(link, source);

	if (loaded->type != RL_REPLY_STRING || loaded->length != RL_SHA1_LENGTH)
		return false;
	if (!script) {
		rl_script_forget(link, link->scripts[0].source);
		script = &link->scripts[RL_SCRIPTS_MAX - 1];
	}
	memcpy(script->sha1, loaded->text, RL_SHA1_LENGTH + 1);
	script->source = source;
	return true;
}

/* The hash of `source`, asked for at its first use, unless other replies are
 * still to come; NULL = send it whole. */
static const char *hash_of(struct rl_link *link, const char *source)
{
	struct rl_known_script *script = find_script_slot(link, source);
	struct rl_reply reply;

	if (!script)
		return NULL;
	if (script->source)
		return script->sha1;
	if (rl_link_is_busy(link))
		return NULL;
	if (rl_run(link, &reply, "SCRIPT LOAD %s", source) != RL_OK ||
	    !rl_script_note(link, source, &reply))
		return NULL;
	return script->sha1;
}

void rl_script_learn(struct rl_link *link, const char *source)
{
	hash_of(link, source);
}

static struct rl_word word_of(const char *text)
{
	return (struct rl_word){ text, strlen(text) };
}

static void use_source(struct rl_command *command, const char *source)
{
	command->words[0] = word_of("EVAL");
	command->words[1] = word_of(source);
}

void rl_script_begin(struct rl_command *command)
{
	command->n_words = 2;
	command->n_numbers = 0;
}

/* Fills in the two words that rl_script_begin() left room for. */
static void name_script(struct rl_link *link, struct rl_command *command, const char *source)
{
	const char *sha1 = hash_of(link, source);

	use_source(command, source);
	if (sha1) {
		command->words[0] = word_of("EVALSHA");
		command->words[1] = word_of(sha1);
	}
}

bool rl_script_is_known(const struct rl_link *link, const char *source)
{
	for (size_t i = 0; i < RL_SCRIPTS_MAX; i++) {
		if (link->scripts[i].source == source)
			return true;
	}
	return false;
}

const char *rl_script_source(const struct rl_link *link, const char *sha1)
{
	for (size_t i = 0; i < RL_SCRIPTS_MAX; i++) {
		const struct rl_known_script *script = &link->scripts[i];

		if (script->source && strcmp(script->sha1, sha1) == 0)
			return script->source;
	}
	return NULL;
}

void rl_script_forget(struct rl_link *link, const char *source)
{
	size_t kept = 0;

	for (size_t i = 0; i < RL_SCRIPTS_MAX; i++) {
		if (link->scripts[i].source != source)
			link->scripts[kept++] = link->scripts[i];
	}
	while (kept < RL_SCRIPTS_MAX)
		link->scripts[kept++].source = NULL;
}

bool rl_script_is_forgotten(const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_FAILED && strncmp(reply->text, "NOSCRIPT", 8) == 0;
}

enum rl_outcome rl_run_script_command(struct rl_link *link, struct rl_reply *reply,
				      const char *source, struct rl_command *command)
{
	enum rl_outcome outcome;

	name_script(link, command, source);
	outcome = rl_run_command(link, reply, command);
	if (!rl_script_is_forgotten(reply))
		return outcome;
	use_source(command, source);
	return rl_run_command(link, reply, command);
}

static bool parse_script_call(struct rl_link *link, struct rl_command *command, const char *format,
			      va_list arguments)
{
	rl_script_begin(command);
	if (rl_command_parse(command, format, arguments))
		return true;
	rl_link_fail(link, RL_ERROR, "bad script arguments '%s'", format);
	return false;
}

enum rl_outcome rl_run_script(struct rl_link *link, struct rl_reply *reply, const char *source,
			      const char *format, ...)
{
	struct rl_command command;
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = parse_script_call(link, &command, format, arguments);
	va_end(arguments);
	*reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	return good ? rl_run_script_command(link, reply, source, &command) : RL_ERROR;
}

enum rl_outcome rl_queue_script(struct rl_link *link, const char *source, const char *format, ...)
{
	struct rl_command command;
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = parse_script_call(link, &command, format, arguments);
	va_end(arguments);
	if (!good)
		return RL_ERROR;
	name_script(link, &command, source);
	return rl_queue_command(link, &command);
}
