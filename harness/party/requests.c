/* SPDX-License-Identifier: MIT */
#include "requests.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/marks.h"
#include "base/reply.h"
#include "server/server.h"

/* By the first word and, where there is one, the second; of several rows the first. */
static const struct {
	const char *name, *second;
	unsigned traits;
} table[] = {
	{ "HELLO", NULL, RR_REQUEST_NAMES },
	{ "COMMAND", NULL, RR_REQUEST_ASKED_ONCE },
	{ "INFO", "KEYSPACE", RR_REQUEST_REFUSED },
	{ "INFO", "STATS", RR_REQUEST_REFUSED },
	{ "INFO", "CLIENTS", RR_REQUEST_REFUSED },
	{ "INFO", "MEMORY", RR_REQUEST_REFUSED },
	{ "INFO", "CPU", RR_REQUEST_REFUSED },
	{ "INFO", "PERSISTENCE", RR_REQUEST_REFUSED },
	{ "INFO", "COMMANDSTATS", RR_REQUEST_REFUSED },
	{ "INFO", "ERRORSTATS", RR_REQUEST_REFUSED },
	{ "INFO", "LATENCYSTATS", RR_REQUEST_REFUSED },
	{ "INFO", NULL, RR_REQUEST_ASKED_ONCE },
	{ "PING", NULL, RR_REQUEST_ASKED_ONCE },
	{ "SCRIPT", "LOAD", RR_REQUEST_LOADS_SCRIPT },
	{ "SCRIPT", "EXISTS", RR_REQUEST_ASKS_SCRIPTS },
	{ "SCRIPT", "FLUSH", RR_REQUEST_ASKS_SCRIPTS },
	{ "SCRIPT", "DEBUG", RR_REQUEST_REFUSED },
	{ "AUTH", NULL, RR_REQUEST_ACCEPTED },
	{ "QUIT", NULL, RR_REQUEST_ACCEPTED | RR_REQUEST_QUITS },
	{ "READONLY", NULL, RR_REQUEST_ASKED_ONCE },
	{ "READWRITE", NULL, RR_REQUEST_ASKED_ONCE },
	{ "ASKING", NULL, RR_REQUEST_ASKED_ONCE },
	{ "RESET", NULL, RR_REQUEST_RESETS | RR_REQUEST_ENDS_QUEUE },
	{ "CLIENT", "SETNAME", RR_REQUEST_NAMES },
	{ "CLIENT", "GETNAME", RR_REQUEST_NAMES | RR_REQUEST_MAKES_DIRTY },
	{ "CLIENT", "ID", RR_REQUEST_NAMES | RR_REQUEST_MAKES_DIRTY },
	{ "CLIENT", "SETINFO", RR_REQUEST_ACCEPTED },
	{ "CLIENT", "NO-EVICT", RR_REQUEST_ACCEPTED },
	{ "CLIENT", "NO-TOUCH", RR_REQUEST_ACCEPTED },
	{ "CLIENT", "LIST", RR_REQUEST_REFUSED },
	{ "CLIENT", "INFO", RR_REQUEST_REFUSED },
	{ "CLIENT", "KILL", RR_REQUEST_REFUSED },
	{ "CLIENT", "REPLY", RR_REQUEST_REFUSED },
	{ "CLIENT", "PAUSE", RR_REQUEST_REFUSED },
	{ "CLIENT", "UNPAUSE", RR_REQUEST_REFUSED },
	{ "CLIENT", "UNBLOCK", RR_REQUEST_REFUSED },
	{ "CLIENT", "TRACKING", RR_REQUEST_REFUSED },
	{ "CLIENT", "CACHING", RR_REQUEST_REFUSED },
	{ "CLIENT", "TRACKINGINFO", RR_REQUEST_ASKED_ONCE },
	{ "CLIENT", "GETREDIR", RR_REQUEST_ASKED_ONCE },
	{ "CLIENT", "HELP", RR_REQUEST_ASKED_ONCE },
	{ "CLIENT", NULL, RR_REQUEST_ASKED_ONCE | RR_REQUEST_MUST_FAIL },
	{ "ECHO", "redrace:enter", RR_REQUEST_ENTERS },
	{ "ECHO", "redrace:leave", RR_REQUEST_LEAVES },
	{ "ECHO", RR_MARK_REQUEST, RR_REQUEST_BEGINS },
	{ "ECHO", RR_MARK_ANSWER, RR_REQUEST_ANSWERS },
	{ "ECHO", RR_MARK_END, RR_REQUEST_ENDS },
	{ "MULTI", NULL, RR_REQUEST_MAKES_DIRTY | RR_REQUEST_QUEUES },
	{ "EXEC", NULL, RR_REQUEST_ENDS_QUEUE },
	{ "DISCARD", NULL, RR_REQUEST_ENDS_QUEUE },
	{ "WATCH", NULL, RR_REQUEST_MAKES_DIRTY },
	{ "SELECT", NULL, RR_REQUEST_MAKES_DIRTY },
	{ "SUBSCRIBE", NULL, RR_REQUEST_MAKES_DIRTY | RR_REQUEST_SUBSCRIBES },
	{ "PSUBSCRIBE", NULL, RR_REQUEST_MAKES_DIRTY | RR_REQUEST_SUBSCRIBES },
	{ "SSUBSCRIBE", NULL, RR_REQUEST_MAKES_DIRTY | RR_REQUEST_SUBSCRIBES },
	{ "UNSUBSCRIBE", NULL, RR_REQUEST_SUBSCRIBES },
	{ "PUNSUBSCRIBE", NULL, RR_REQUEST_SUBSCRIBES },
	{ "SUNSUBSCRIBE", NULL, RR_REQUEST_SUBSCRIBES },
	{ "BLPOP", NULL, RR_REQUEST_BLOCKS },
	{ "BRPOP", NULL, RR_REQUEST_BLOCKS },
	{ "BLMOVE", NULL, RR_REQUEST_BLOCKS },
	{ "BRPOPLPUSH", NULL, RR_REQUEST_BLOCKS },
	{ "BLMPOP", NULL, RR_REQUEST_BLOCKS },
	{ "BZPOPMIN", NULL, RR_REQUEST_BLOCKS },
	{ "BZPOPMAX", NULL, RR_REQUEST_BLOCKS },
	{ "BZMPOP", NULL, RR_REQUEST_BLOCKS },
	{ "XREAD", NULL, RR_REQUEST_BLOCKS },
	{ "XREADGROUP", NULL, RR_REQUEST_BLOCKS },
	{ "WAIT", NULL, RR_REQUEST_BLOCKS },
	{ "WAITAOF", NULL, RR_REQUEST_BLOCKS },
	{ "EVALSHA", NULL, RR_REQUEST_CALLS_SCRIPT },
	{ "EVALSHA_RO", NULL, RR_REQUEST_CALLS_SCRIPT },
	{ "MONITOR", NULL, RR_REQUEST_REFUSED },
	/* By HTTP: a server closes the connection. */
	{ "POST", NULL, RR_REQUEST_REFUSED },
	{ "HOST:", NULL, RR_REQUEST_REFUSED },
	{ "SYNC", NULL, RR_REQUEST_REFUSED },
	{ "PSYNC", NULL, RR_REQUEST_REFUSED },
	{ "REPLICAOF", NULL, RR_REQUEST_REFUSED },
	{ "SLAVEOF", NULL, RR_REQUEST_REFUSED },
	{ "FAILOVER", NULL, RR_REQUEST_REFUSED },
	{ "SHUTDOWN", NULL, RR_REQUEST_REFUSED },
	{ "DEBUG", NULL, RR_REQUEST_REFUSED },
	{ "MIGRATE", NULL, RR_REQUEST_REFUSED },
	{ "BGSAVE", NULL, RR_REQUEST_REFUSED },
	{ "BGREWRITEAOF", NULL, RR_REQUEST_REFUSED },
	{ "OBJECT", "HELP", RR_REQUEST_ASKED_ONCE },
	{ "OBJECT", NULL, RR_REQUEST_REFUSED },
	{ "MEMORY", NULL, RR_REQUEST_REFUSED },
	{ "CONFIG", "SET", RR_REQUEST_REFUSED },
	{ "CONFIG", "REWRITE", RR_REQUEST_REFUSED },
	{ "CONFIG", "RESETSTAT", RR_REQUEST_REFUSED },
	{ "ACL", "SETUSER", RR_REQUEST_REFUSED },
	{ "ACL", "DELUSER", RR_REQUEST_REFUSED },
	{ "ACL", "LOAD", RR_REQUEST_REFUSED },
	{ "ACL", "SAVE", RR_REQUEST_REFUSED },
	{ "ACL", "LOG", RR_REQUEST_REFUSED },
	{ "ACL", "GENPASS", RR_REQUEST_REFUSED },
	{ "REPLCONF", NULL, RR_REQUEST_REFUSED },
	{ "SLOWLOG", NULL, RR_REQUEST_REFUSED },
	{ "LATENCY", NULL, RR_REQUEST_REFUSED },
};

/* As rr_word_is(); a text that ends in a blank is what the word begins with. */
static bool begins_word(const struct rdl_word *word, const char *text)
{
	const size_t length = strlen(text);

	return rr_word_is(word, text) || (text[length - 1] == ' ' && word->length > length &&
					  strncasecmp(word->text, text, length) == 0);
}

/* Does a script, or a library of functions, ask for what is kept of an object beside its
 * value? */
static bool asks_of_objects(const struct rdl_command *command)
{
	const struct rdl_word *words = command->words;
	const bool evaluates = rr_word_is(&words[0], "EVAL") || rr_word_is(&words[0], "EVAL_RO");
	const bool loads = command->n_words > 2 && rr_word_is(&words[1], "LOAD") &&
			   (rr_word_is(&words[0], "SCRIPT") || rr_word_is(&words[0], "FUNCTION"));

	return (loads || evaluates) &&
	       rr_script_asks_of_objects(loads ? &words[command->n_words - 1] :
						 &words[command->n_words > 1]);
}

unsigned rr_request_traits(const struct rdl_command *command)
{
	if (asks_of_objects(command))
		return RR_REQUEST_REFUSED;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (rr_word_is(&command->words[0], table[i].name) &&
		    (!table[i].second ||
		     (command->n_words > 1 && begins_word(&command->words[1], table[i].second))))
			return table[i].traits;
	}
	return 0;
}

/* ---- Answers to what is no step ---------------------------------------------------------- */

static uint32_t text_reply(struct rr_terms *terms, enum rdl_reply_type type, const char *text,
			   size_t length)
{
	const struct rdl_reply reply = { .type = type, .text = text, .length = length };

	return rr_terms_reply(terms, &reply);
}

/* What a server says to HELLO 2, by the connection's own number and protocol. HELLO of another protocol,
 * or with what is no option of it, a server answers in its own words. */
static uint32_t say_hello(const struct rdl_command *command, struct rr_lane *lane,
			  const struct rr_program *program)
{
	static const struct rdl_command hello = { .n_words = 2,
						  .words = { { "HELLO", 5 }, { "2", 1 } } };
	const struct rdl_word *version = &command->words[1], *name = NULL;
	const bool has_version = command->n_words > 1;
	const struct rdl_reply *said;
	struct rdl_reply reply;
	uint32_t number;
	size_t at = 2;

	/* A server takes any password. */
	while (at < command->n_words) {
		const bool is_name = rr_word_is(&command->words[at], "SETNAME");
		const size_t n = is_name ? 2 : 3;

		if ((!is_name && !rr_word_is(&command->words[at], "AUTH")) ||
		    at + n > command->n_words)
			break;
		if (is_name)
			name = &command->words[at + 1];
		at += n;
	}
	if (at < command->n_words ||
	    (has_version && !rr_word_is(version, "2") && !rr_word_is(version, "3")))
		return program->ask(program->ask_context, 0, command);
	if (has_version)
		lane->asked_protocol = (uint8_t)(version->text[0] - '0');
	if (name)
		lane->name = text_reply(program->terms, RDL_REPLY_STRING, name->text, name->length);
	number = program->ask(program->ask_context, 0, &hello);
	said = &program->terms->reply[number].reply;
	if (said->type != RDL_REPLY_ARRAY)
		return number;
	reply = *said;
	reply.elements = rr_memdup(said->elements, said->length * sizeof(*said->elements));
	for (size_t i = 0; i + 1 < reply.length; i += 2) {
		if (strcmp(reply.elements[i].text, "proto") == 0)
			reply.elements[i + 1].integer = lane->asked_protocol ?
								lane->asked_protocol :
								2;
		if (strcmp(reply.elements[i].text, "id") == 0)
			reply.elements[i + 1].integer = lane->id;
	}
	number = rr_terms_reply(program->terms, &reply);
	free(reply.elements);
	return number;
}

uint32_t rr_request_answer(const struct rdl_command *command, struct rr_lane *lane,
			   const struct rr_program *program)
{
	const unsigned traits = rr_request_traits(command);
	const bool is_subscribed = rr_lane_will_be_subscribed(lane);

	/* The search begins again then. */
	if (traits & RR_REQUEST_ASKS_SCRIPTS && !program->loads_scripts)
		return program->ask(program->ask_context, 0, command);
	if (lane->is_queueing && !(traits & RR_REQUEST_QUITS))
		return RR_NO_ID;
	/* Where it is subscribed, a connection of RESP2 gets another answer to PING. */
	if (traits & RR_REQUEST_ASKED_ONCE && (!is_subscribed || lane->asked_protocol == 3))
		return program->ask(program->ask_context, 0, command);
	if (traits & RR_REQUEST_LOADS_SCRIPT && !program->loads_scripts)
		return program->ask(program->ask_context, 0, command);
	if (traits & RR_REQUEST_RESETS)
		lane->asked_protocol = 2;
	if (traits & RR_REQUEST_NAMES) {
		/* HELLO, CLIENT SETNAME, CLIENT GETNAME and CLIENT ID. */
		struct rdl_reply reply = { .type = RDL_REPLY_NIL };

		if (rr_word_is(&command->words[0], "HELLO"))
			return say_hello(command, lane, program);
		if (rr_word_is(&command->words[1], "SETNAME")) {
			if (command->n_words > 2)
				lane->name = text_reply(program->terms, RDL_REPLY_STRING,
							command->words[2].text,
							command->words[2].length);
			return text_reply(program->terms, RDL_REPLY_STATUS, "OK", 2);
		}
		if (rr_word_is(&command->words[1], "GETNAME") && lane->name != RR_NO_ID)
			return lane->name;
		if (rr_word_is(&command->words[1], "ID")) {
			reply.type = RDL_REPLY_INTEGER;
			reply.integer = lane->id;
		}
		return rr_terms_reply(program->terms, &reply);
	}
	if (traits & RR_REQUEST_ACCEPTED)
		return text_reply(program->terms, RDL_REPLY_STATUS, "OK", 2);
	if (traits & (RR_REQUEST_ENTERS | RR_REQUEST_LEAVES))
		return text_reply(program->terms, RDL_REPLY_STRING, command->words[1].text,
				  command->words[1].length);
	return RR_NO_ID;
}

bool rr_request_is_about_scripts(const struct rdl_command *command)
{
	return rr_request_traits(command) & (RR_REQUEST_ASKS_SCRIPTS | RR_REQUEST_LOADS_SCRIPT);
}

bool rr_request_is_known(const struct rdl_command *command, const struct rr_lane *lane)
{
	static const unsigned at_once = RR_REQUEST_ASKED_ONCE | RR_REQUEST_ACCEPTED |
					RR_REQUEST_NAMES | RR_REQUEST_SUBSCRIBES;

	return lane->asked_protocol != 3 ||
	       (rr_lane_knows_resp3(command) &&
		(!rr_lane_will_be_subscribed(lane) || rr_request_traits(command) & at_once));
}
