/* SPDX-License-Identifier: MIT */
/* Commands over a link: queued, flushed, received; asked of the driver first.
 * And what they come to: outcomes and replies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

const char *rdl_version(void)
{
	return RDL_VERSION;
}

const char *rdl_outcome_name(enum rdl_outcome outcome)
{
	static const char *const names[] = {
		[RDL_OK] = "ok",           [RDL_BUSY] = "busy",   [RDL_LOST] = "lost",
		[RDL_UNKNOWN] = "unknown", [RDL_ERROR] = "error",
	};

	if ((unsigned)outcome >= sizeof(names) / sizeof(names[0]))
		return "no outcome";
	return names[outcome];
}

bool rdl_reply_number(const struct rdl_reply *reply, long long *value)
{
	char *end;

	if (reply->type == RDL_REPLY_INTEGER) {
		*value = reply->integer;
		return true;
	}
	if (reply->type != RDL_REPLY_STRING || reply->length == 0)
		return false;
	errno = 0;
	*value = strtoll(reply->text, &end, 10);
	return errno == 0 && *end == '\0';
}

enum rdl_outcome rdl_queue_command(struct rdl_link *link, struct rdl_command *command)
{
	enum rdl_outcome outcome = RDL_OK;

	if (rdl_is_driven(link) && (link->driver->ops->send || link->driver->ops->submit))
		return rdl_driven_queue(link, command);
	rdl_link_leave_parents(link);
	rdl_link_renew_if_closed(link);
	if (!link->context)
		outcome = rdl_link_connect(link);
	if (outcome == RDL_OK && (!rdl_command_encode(command, &link->out) ||
				  (link->route && !rdl_route_note(link, command))))
		outcome = rdl_link_fail(link, RDL_ERROR, "out of memory");
	if (outcome != RDL_OK) {
		rdl_link_disconnect(link);
		return outcome;
	}
	rdl_link_note_state(link, &command->words[0]);
	link->pending++;
	link->commands++;
	return RDL_OK;
}

static bool parse_format(struct rdl_link *link, struct rdl_command *command, const char *format,
			 va_list arguments)
{
	command->n_words = command->n_numbers = 0;
	if (rdl_command_parse(command, format, arguments))
		return true;
	rdl_link_fail(link, RDL_ERROR, "bad command '%s'", format);
	return false;
}

enum rdl_outcome rdl_queue(struct rdl_link *link, const char *format, ...)
{
	struct rdl_command command;
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = parse_format(link, &command, format, arguments);
	va_end(arguments);
	return good ? rdl_queue_command(link, &command) : RDL_ERROR;
}

/* False, and an error, when there are none or too many of them. */
static bool take_words(struct rdl_link *link, struct rdl_command *command, size_t n_words,
		       const char *const *words, const size_t *lengths)
{
	if (n_words < 1 || n_words > RDL_WORDS_MAX) {
		rdl_link_fail(link, RDL_ERROR, "a command of %zu words: it has from 1 to %d",
			      n_words, RDL_WORDS_MAX);
		return false;
	}
	command->n_words = n_words;
	command->n_numbers = 0;
	for (size_t i = 0; i < n_words; i++)
		command->words[i] = (struct rdl_word){ words[i],
						       lengths ? lengths[i] : strlen(words[i]) };
	return true;
}

enum rdl_outcome rdl_queue_argv(struct rdl_link *link, size_t n_words, const char *const *words,
				const size_t *lengths)
{
	struct rdl_command command;

	return take_words(link, &command, n_words, words, lengths) ?
		       rdl_queue_command(link, &command) :
		       RDL_ERROR;
}

enum rdl_outcome rdl_run_argv(struct rdl_link *link, struct rdl_reply *reply, size_t n_words,
			      const char *const *words, const size_t *lengths)
{
	struct rdl_command command;

	*reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	return take_words(link, &command, n_words, words, lengths) ?
		       rdl_run_command(link, reply, &command) :
		       RDL_ERROR;
}

static enum rdl_outcome receive_reply(struct rdl_link *link, struct rdl_reply *reply,
				      int64_t deadline_ns)
{
	*reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	if (rdl_is_driven(link))
		return rdl_driven_receive(link, reply, deadline_ns);
	if (rdl_link_spare_parents(link) != RDL_OK)
		return RDL_UNKNOWN;
	return rdl_link_receive(link, reply, deadline_ns);
}

enum rdl_outcome rdl_receive(struct rdl_link *link, struct rdl_reply *reply)
{
	return receive_reply(link, reply, 0);
}

enum rdl_outcome rdl_receive_until(struct rdl_link *link, struct rdl_reply *reply,
				   int64_t deadline_ns)
{
	return receive_reply(link, reply, deadline_ns);
}

enum rdl_outcome rdl_run_command(struct rdl_link *link, struct rdl_reply *reply,
				 struct rdl_command *command)
{
	enum rdl_outcome outcome = rdl_queue_command(link, command);

	*reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	if (outcome == RDL_OK)
		outcome = rdl_flush(link);
	return outcome == RDL_OK ? rdl_receive(link, reply) : outcome;
}

enum rdl_outcome rdl_run(struct rdl_link *link, struct rdl_reply *reply, const char *format, ...)
{
	struct rdl_command command;
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = parse_format(link, &command, format, arguments);
	va_end(arguments);
	*reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	return good ? rdl_run_command(link, reply, &command) : RDL_ERROR;
}
