/* SPDX-License-Identifier: MIT */
#include "requests.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/marks.h"
#include "base/reply.h"
#include "server/server.h"

/* By the first word, one of several names, and where there are any, the second; of several rows
 * the first. */
static const struct {
	const char *names;
	const char *seconds; /* one that ends in a blank is what the word begins with */
	unsigned traits;
} table[] = {
	{ "HELLO", NULL, RR_REQUEST_NAMES },
	{ "INFO",
	  "KEYSPACE STATS CLIENTS MEMORY CPU PERSISTENCE COMMANDSTATS ERRORSTATS LATENCYSTATS",
	  RR_REQUEST_REFUSED },
	{ "COMMAND INFO PING READONLY READWRITE ASKING", NULL, RR_REQUEST_ASKED_ONCE },
	{ "SCRIPT", "LOAD", RR_REQUEST_LOADS_SCRIPT },
	{ "SCRIPT", "EXISTS FLUSH", RR_REQUEST_ASKS_SCRIPTS },
	{ "SCRIPT", "DEBUG", RR_REQUEST_REFUSED },
	{ "AUTH", NULL, RR_REQUEST_ACCEPTED },
	{ "QUIT", NULL, RR_REQUEST_ACCEPTED | RR_REQUEST_QUITS },
	{ "RESET", NULL, RR_REQUEST_RESETS | RR_REQUEST_ENDS_QUEUE | RR_REQUEST_SPANS },
	{ "CLIENT", "SETNAME", RR_REQUEST_NAMES },
	{ "CLIENT", "GETNAME ID", RR_REQUEST_NAMES | RR_REQUEST_MAKES_DIRTY },
	{ "CLIENT", "SETINFO NO-EVICT NO-TOUCH", RR_REQUEST_ACCEPTED },
	{ "CLIENT", "LIST INFO KILL REPLY PAUSE UNPAUSE UNBLOCK TRACKING CACHING",
	  RR_REQUEST_REFUSED },
	{ "CLIENT", "TRACKINGINFO GETREDIR HELP", RR_REQUEST_ASKED_ONCE },
	{ "CLIENT", NULL, RR_REQUEST_ASKED_ONCE | RR_REQUEST_MUST_FAIL },
	{ "ECHO", "redrace:enter", RR_REQUEST_ENTERS },
	{ "ECHO", "redrace:leave", RR_REQUEST_LEAVES },
	{ "ECHO", RR_MARK_REQUEST, RR_REQUEST_BEGINS },
	{ "ECHO", RR_MARK_ANSWER, RR_REQUEST_ANSWERS },
	{ "ECHO", RR_MARK_END, RR_REQUEST_ENDS },
	{ "MULTI", NULL, RR_REQUEST_MAKES_DIRTY | RR_REQUEST_QUEUES },
	{ "EXEC DISCARD", NULL, RR_REQUEST_ENDS_QUEUE },
	{ "WATCH SELECT", NULL, RR_REQUEST_MAKES_DIRTY },
	{ "SUBSCRIBE PSUBSCRIBE SSUBSCRIBE", NULL,
	  RR_REQUEST_MAKES_DIRTY | RR_REQUEST_SUBSCRIBES | RR_REQUEST_SPANS },
	{ "UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE", NULL, RR_REQUEST_SUBSCRIBES },
	{ "BLPOP BRPOP BLMOVE BRPOPLPUSH BLMPOP BZPOPMIN BZPOPMAX BZMPOP", NULL,
	  RR_REQUEST_BLOCKS },
	{ "XREAD XREADGROUP WAIT WAITAOF", NULL, RR_REQUEST_BLOCKS },
	{ "EVALSHA EVALSHA_RO", NULL, RR_REQUEST_CALLS_SCRIPT },
	{ "PUBLISH SPUBLISH FLUSHALL SWAPDB MOVE FUNCTION FCALL FCALL_RO", NULL, RR_REQUEST_SPANS },
	/* By HTTP: a server closes the connection. */
	{ "POST HOST:", NULL, RR_REQUEST_REFUSED },
	{ "MONITOR SYNC PSYNC REPLICAOF SLAVEOF REPLCONF FAILOVER SHUTDOWN DEBUG MIGRATE", NULL,
	  RR_REQUEST_REFUSED },
	{ "BGSAVE BGREWRITEAOF MEMORY SLOWLOG LATENCY", NULL, RR_REQUEST_REFUSED },
	{ "OBJECT", "HELP", RR_REQUEST_ASKED_ONCE },
	{ "OBJECT", NULL, RR_REQUEST_REFUSED },
	{ "CONFIG", "SET REWRITE RESETSTAT", RR_REQUEST_REFUSED },
	{ "ACL", "SETUSER DELUSER LOAD SAVE LOG GENPASS", RR_REQUEST_REFUSED },
};

static bool is_second(const struct rdl_word *word, const char *names)
{
	const size_t length = strlen(names);

	return names[length - 1] == ' ' ?
		       word->length >= length && strncasecmp(word->text, names, length) == 0 :
		       rr_word_is_one_of(word, names);
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

/* Does it name another database, in a script or as where to copy to? */
static bool names_database(const struct rdl_command *command)
{
	const struct rdl_word *words = command->words;
	const size_t script = rr_word_is(&words[0], "SCRIPT") ? 2 : 1;
	bool names = false;

	for (size_t i = 3; i < command->n_words && rr_word_is(&words[0], "COPY"); i++)
		names |= rr_word_is(&words[i], "DB");
	if (script < command->n_words &&
	    (rr_word_is(&words[0], "EVAL") || rr_word_is(&words[0], "EVAL_RO") || script == 2)) {
		for (size_t i = 0; i + 6 <= words[script].length; i++)
			names |= strncasecmp(words[script].text + i, "select", 6) == 0;
	}
	return names;
}

bool rr_request_spans(const struct rdl_command *command)
{
	return rr_request_traits(command) & RR_REQUEST_SPANS || names_database(command);
}

unsigned rr_request_traits(const struct rdl_command *command)
{
	if (asks_of_objects(command))
		return RR_REQUEST_REFUSED;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (rr_word_is_one_of(&command->words[0], table[i].names) &&
		    (!table[i].seconds ||
		     (command->n_words > 1 && is_second(&command->words[1], table[i].seconds))))
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
