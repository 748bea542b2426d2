/* SPDX-License-Identifier: MIT */
/* Commands over a link: queued, flushed, received; asked of the driver first.
 * And what they come to: outcomes and replies. */
#include <errno.h>
#include <stdlib.h>

#include "link.h"

const char *rl_outcome_name(enum rl_outcome outcome)
{
	static const char *const names[] = {
		[RL_OK] = "ok",           [RL_BUSY] = "busy",   [RL_LOST] = "lost",
		[RL_UNKNOWN] = "unknown", [RL_ERROR] = "error",
	};

	return names[outcome];
}

bool rl_reply_number(const struct rl_reply *reply, long long *value)
{
	char *end;

	if (reply->type == RL_REPLY_INTEGER) {
		*value = reply->integer;
		return true;
	}
	if (reply->type != RL_REPLY_STRING || reply->length == 0)
		return false;
	errno = 0;
	*value = strtoll(reply->text, &end, 10);
	return errno == 0 && *end == '\0';
}

enum rl_outcome rl_queue_command(struct rl_link *link, struct rl_command *command)
{
	enum rl_outcome outcome = RL_OK;

	if (rl_is_driven(link) && (link->driver->ops->send || link->driver->ops->submit))
		return rl_driven_queue(link, command);
	rl_link_leave_parents(link);
	if (!link->context)
		outcome = rl_link_connect(link);
	if (outcome == RL_OK && (!rl_command_encode(command, &link->out) ||
				 (link->route && !rl_route_note(link, command))))
		outcome = rl_link_fail(link, RL_ERROR, "out of memory");
	if (outcome != RL_OK) {
		rl_link_disconnect(link);
		return outcome;
	}
	link->pending++;
	link->commands++;
	return RL_OK;
}

static bool parse_format(struct rl_link *link, struct rl_command *command, const char *format,
			 va_list arguments)
{
	command->n_words = command->n_numbers = 0;
	if (rl_command_parse(command, format, arguments))
		return true;
	rl_link_fail(link, RL_ERROR, "bad command '%s'", format);
	return false;
}

enum rl_outcome rl_queue(struct rl_link *link, const char *format, ...)
{
	struct rl_command command;
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = parse_format(link, &command, format, arguments);
	va_end(arguments);
	return good ? rl_queue_command(link, &command) : RL_ERROR;
}

static enum rl_outcome receive_reply(struct rl_link *link, struct rl_reply *reply,
				     int64_t deadline_ns)
{
	*reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	if (rl_is_driven(link))
		return rl_driven_receive(link, reply, deadline_ns);
	if (rl_link_spare_parents(link) != RL_OK)
		return RL_UNKNOWN;
	return rl_link_receive(link, reply, deadline_ns);
}

enum rl_outcome rl_receive(struct rl_link *link, struct rl_reply *reply)
{
	return receive_reply(link, reply, 0);
}

enum rl_outcome rl_receive_until(struct rl_link *link, struct rl_reply *reply, int64_t deadline_ns)
{
	return receive_reply(link, reply, deadline_ns);
}

enum rl_outcome rl_run_command(struct rl_link *link, struct rl_reply *reply,
			       struct rl_command *command)
{
	enum rl_outcome outcome = rl_queue_command(link, command);

	*reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	if (outcome == RL_OK)
		outcome = rl_flush(link);
	return outcome == RL_OK ? rl_receive(link, reply) : outcome;
}

enum rl_outcome rl_run(struct rl_link *link, struct rl_reply *reply, const char *format, ...)
{
	struct rl_command command;
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = parse_format(link, &command, format, arguments);
	va_end(arguments);
	*reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	return good ? rl_run_command(link, reply, &command) : RL_ERROR;
}
