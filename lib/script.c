/* SPDX-License-Identifier: MIT */
/* Lua scripts by their hash, and whole where the server has forgotten them. */
#include <string.h>

#include "link.h"
#include "script.h"

/* The link's slot for `source`: known already, empty, or NULL when full. */
static struct rdl_known_script *find_script_slot(struct rdl_link *link, const char *source)
{
	for (size_t i = 0; i < RDL_SCRIPTS_MAX; i++) {
		struct rdl_known_script *script = &link->scripts[i];

		if (script->source == source || !script->source)
			return script;
	}
	return NULL;
}

bool rdl_script_note(struct rdl_link *link, const char *source, const struct rdl_reply *loaded)
{
	struct rdl_known_script *script = find_script_slot(link, source);

	if (loaded->type != RDL_REPLY_STRING || loaded->length != RDL_SHA1_LENGTH)
		return false;
	if (!script) {
		rdl_script_forget(link, link->scripts[0].source);
		script = &link->scripts[RDL_SCRIPTS_MAX - 1];
	}
	memcpy(script->sha1, loaded->text, RDL_SHA1_LENGTH + 1);
	script->source = source;
	return true;
}

/* The hash of `source`, asked for at its first use, unless other replies are
 * still to come; NULL = send it whole. */
static const char *hash_of(struct rdl_link *link, const char *source)
{
	struct rdl_known_script *script = find_script_slot(link, source);
	struct rdl_reply reply;

	if (!script)
		return NULL;
	if (script->source)
		return script->sha1;
	if (rdl_link_is_busy(link))
		return NULL;
	if (rdl_run(link, &reply, "SCRIPT LOAD %s", source) != RDL_OK ||
	    !rdl_script_note(link, source, &reply))
		return NULL;
	return script->sha1;
}

void rdl_script_learn(struct rdl_link *link, const char *source)
{
	hash_of(link, source);
}

static struct rdl_word word_of(const char *text)
{
	return (struct rdl_word){ text, strlen(text) };
}

static void use_source(struct rdl_command *command, const char *source)
{
	command->words[0] = word_of("EVAL");
	command->words[1] = word_of(source);
}

void rdl_script_begin(struct rdl_command *command)
{
	command->n_words = 2;
	command->n_numbers = 0;
}

/* Fills in the two words that rdl_script_begin() left room for. */
static void name_script(struct rdl_link *link, struct rdl_command *command, const char *source)
{
	const char *sha1 = hash_of(link, source);

	use_source(command, source);
	if (sha1) {
		command->words[0] = word_of("EVALSHA");
		command->words[1] = word_of(sha1);
	}
}

bool rdl_script_is_known(const struct rdl_link *link, const char *source)
{
	for (size_t i = 0; i < RDL_SCRIPTS_MAX; i++) {
		if (link->scripts[i].source == source)
			return true;
	}
	return false;
}

const char *rdl_script_source(const struct rdl_link *link, const char *sha1)
{
	for (size_t i = 0; i < RDL_SCRIPTS_MAX; i++) {
		const struct rdl_known_script *script = &link->scripts[i];

		if (script->source && strcmp(script->sha1, sha1) == 0)
			return script->source;
	}
	return NULL;
}

void rdl_script_forget(struct rdl_link *link, const char *source)
{
	size_t kept = 0;

	for (size_t i = 0; i < RDL_SCRIPTS_MAX; i++) {
		if (link->scripts[i].source != source)
			link->scripts[kept++] = link->scripts[i];
	}
	while (kept < RDL_SCRIPTS_MAX)
		link->scripts[kept++].source = NULL;
}

bool rdl_script_is_forgotten(const struct rdl_reply *reply)
{
	return reply->type == RDL_REPLY_FAILED && strncmp(reply->text, "NOSCRIPT", 8) == 0;
}

enum rdl_outcome rdl_run_script_command(struct rdl_link *link, struct rdl_reply *reply,
					const char *source, struct rdl_command *command)
{
	enum rdl_outcome outcome;

	name_script(link, command, source);
	outcome = rdl_run_command(link, reply, command);
	if (!rdl_script_is_forgotten(reply))
		return outcome;
	use_source(command, source);
	return rdl_run_command(link, reply, command);
}

static bool parse_script_call(struct rdl_link *link, struct rdl_command *command,
			      const char *format, va_list arguments)
{
	rdl_script_begin(command);
	if (rdl_command_parse(command, format, arguments))
		return true;
	rdl_link_fail(link, RDL_ERROR, "bad script arguments '%s'", format);
	return false;
}

enum rdl_outcome rdl_run_script(struct rdl_link *link, struct rdl_reply *reply, const char *source,
				const char *format, ...)
{
	struct rdl_command command;
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = parse_script_call(link, &command, format, arguments);
	va_end(arguments);
	*reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	return good ? rdl_run_script_command(link, reply, source, &command) : RDL_ERROR;
}

enum rdl_outcome rdl_queue_script(struct rdl_link *link, const char *source, const char *format,
				  ...)
{
	struct rdl_command command;
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = parse_script_call(link, &command, format, arguments);
	va_end(arguments);
	if (!good)
		return RDL_ERROR;
	name_script(link, &command, source);
	return rdl_queue_command(link, &command);
}
