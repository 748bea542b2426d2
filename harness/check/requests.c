/* SPDX-License-Identifier: MIT */
#include "requests.h"

#include <string.h>
#include <strings.h>

bool rr_request_word_is(const struct rl_word *word, const char *text)
{
	return word->length == strlen(text) && strncasecmp(word->text, text, word->length) == 0;
}

static bool is_one_of(const struct rl_command *command, const char *const *names)
{
	while (*names && !rr_request_word_is(&command->words[0], *names))
		names++;
	return *names != NULL;
}

bool rr_request_has_second(const struct rl_command *command, const char *name,
			   const char *const *seconds)
{
	if (command->n_words < 2 || !rr_request_word_is(&command->words[0], name))
		return false;
	while (*seconds && !rr_request_word_is(&command->words[1], *seconds))
		seconds++;
	return *seconds != NULL;
}

bool rr_request_subscribes(const struct rl_command *command)
{
	static const char *const names[] = { "SUBSCRIBE",   "PSUBSCRIBE",   "SSUBSCRIBE",
					     "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE",
					     NULL };

	return is_one_of(command, names);
}

bool rr_request_is_asked_once(const struct rl_command *command)
{
	static const char *const names[] = { "HELLO", "COMMAND", "INFO", "PING", NULL };
	static const char *const load[] = { "LOAD", NULL };

	return is_one_of(command, names) || rr_request_has_second(command, "SCRIPT", load);
}

bool rr_request_is_accepted(const struct rl_command *command)
{
	static const char *const names[] = { "AUTH", "QUIT", "READONLY", NULL };
	static const char *const ofs[] = { "SETNAME", "SETINFO", "NO-EVICT", "NO-TOUCH", NULL };

	return is_one_of(command, names) || rr_request_has_second(command, "CLIENT", ofs);
}

bool rr_request_is_about_itself(const struct rl_command *command)
{
	static const char *const questions[] = { "ID", "GETNAME", NULL };

	return rr_request_has_second(command, "CLIENT", questions);
}

bool rr_request_makes_dirty(const struct rl_command *command)
{
	static const char *const names[] = { "MULTI",     "WATCH",      "SELECT",
					     "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE",
					     "MONITOR",   "CLIENT",     NULL };

	return is_one_of(command, names);
}

bool rr_request_is_refused(const struct rl_command *command)
{
	static const char *const names[] = { "MONITOR", "SYNC",     "PSYNC",        "REPLICAOF",
					     "SLAVEOF", "FAILOVER", "SHUTDOWN",     "DEBUG",
					     "BGSAVE",  "MIGRATE",  "BGREWRITEAOF", NULL };
	static const char *const changes[] = { "SET", "REWRITE", "RESETSTAT", NULL };
	static const char *const users[] = { "SETUSER", "DELUSER", "LOAD", "SAVE", "LOG", NULL };
	static const char *const flush[] = { "FLUSH", NULL };

	return is_one_of(command, names) || rr_request_has_second(command, "CONFIG", changes) ||
	       rr_request_has_second(command, "ACL", users) ||
	       rr_request_has_second(command, "SCRIPT", flush) ||
	       (rr_request_word_is(&command->words[0], "CLIENT") &&
		!rr_request_is_accepted(command) && !rr_request_is_about_itself(command));
}

bool rr_request_wants_resp3(const struct rl_command *command)
{
	return rr_request_word_is(&command->words[0], "HELLO") && command->n_words > 1 &&
	       !rr_request_word_is(&command->words[1], "2");
}

enum rr_mark rr_request_mark(const struct rl_command *command)
{
	if (command->n_words != 2 || !rr_request_word_is(&command->words[0], "ECHO"))
		return RR_MARK_NONE;
	if (rr_request_word_is(&command->words[1], "redrace:enter"))
		return RR_MARK_ENTER;
	if (rr_request_word_is(&command->words[1], "redrace:leave"))
		return RR_MARK_LEAVE;
	return RR_MARK_NONE;
}
