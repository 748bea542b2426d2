/* SPDX-License-Identifier: MIT */
/*
 * What a server answers that is not the one any more: MOVED, ASK, READONLY and
 * the like. It has done nothing then, so the command is sent again to the right
 * one, with those of its batch that came behind it and were refused as well,
 * and from MULTI on if it stands in a transaction.
 *
 * Never sent again: anything when some of what was behind it has been done, or
 * when a WATCH would be lost with the connection.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "link.h"
#include "route.h"

enum { LATER_NS = 20000000 };

/* ---- What was sent ----------------------------------------------------- */

static const struct {
	const char *name;
	enum rdl_sent_kind kind;
} sent_kinds[] = {
	{ "MULTI", RDL_SENT_MULTI },      { "EXEC", RDL_SENT_EXEC },
	{ "DISCARD", RDL_SENT_EXEC },     { "WATCH", RDL_SENT_WATCH },
	{ "UNWATCH", RDL_SENT_UNWATCH },  { "SCRIPT", RDL_SENT_HARMLESS },
	{ "COMMAND", RDL_SENT_HARMLESS }, { "PING", RDL_SENT_HARMLESS },
	{ "GET", RDL_SENT_HARMLESS },
};

static enum rdl_sent_kind kind_of(const struct rdl_word *name)
{
	for (size_t i = 0; i < sizeof(sent_kinds) / sizeof(sent_kinds[0]); i++) {
		if (strlen(sent_kinds[i].name) == name->length &&
		    strncasecmp(sent_kinds[i].name, name->text, name->length) == 0)
			return sent_kinds[i].kind;
	}
	return RDL_SENT_PLAIN;
}

bool rdl_route_note(struct rdl_link *link, const struct rdl_command *command)
{
	struct rdl_batch *batch = &link->route->batch;

	batch->is_too_long |= batch->n == RDL_BATCH_MAX ||
			      batch->bytes.length > RDL_BATCH_BYTES_MAX;
	if (batch->is_too_long)
		return true;
	batch->commands[batch->n++] = (struct rdl_sent){
		.kind = kind_of(&command->words[0]),
		.at = batch->bytes.length,
	};
	return rdl_command_encode(command, &batch->bytes);
}

static void empty_batch(struct rdl_batch *batch)
{
	batch->n = batch->n_answered = 0;
	batch->bytes.length = 0;
	batch->is_too_long = false;
}

void rdl_route_forget(struct rdl_link *link)
{
	empty_batch(&link->route->batch);
	link->route->batch.is_watched = false;
}

/* Before the n-th command: is a key watched, and since where is a transaction
 * open (n: none is)? */
static size_t look_back(const struct rdl_batch *batch, size_t n, bool *watched)
{
	size_t open = n;

	*watched = batch->is_watched;
	for (size_t i = 0; i < n; i++) {
		const enum rdl_sent_kind kind = batch->commands[i].kind;

		if (kind == RDL_SENT_MULTI && open == n)
			open = i;
		else if (kind == RDL_SENT_EXEC)
			open = n;
		if (kind == RDL_SENT_WATCH)
			*watched = true;
		else if (kind == RDL_SENT_EXEC || kind == RDL_SENT_UNWATCH)
			*watched = false;
	}
	return open;
}

/* A transaction that is still open belongs to what will be sent. */
static void settle_batch(struct rdl_link *link)
{
	struct rdl_batch *batch = &link->route->batch;
	bool watched;

	if (!link->context || link->pending || link->overdue)
		return;
	if (link->route->is_wrong) {
		rdl_link_disconnect(link);
		link->route->has_left = true;
		return;
	}
	if (batch->is_too_long || look_back(batch, batch->n, &watched) < batch->n)
		return;
	batch->is_watched = watched;
	empty_batch(batch);
}

/* ---- What was answered ------------------------------------------------- */

enum redirection { STANDS, MOVED, ASK, LATER };

static bool begins_with(const struct rdl_reply *reply, const char *word)
{
	return strncmp(reply->text, word, strlen(word)) == 0;
}

static enum redirection redirection_of(const struct rdl_reply *reply)
{
	static const char *const later[] = { "TRYAGAIN", "CLUSTERDOWN", "READONLY", "MASTERDOWN",
					     "LOADING" };

	if (reply->type != RDL_REPLY_FAILED)
		return STANDS;
	if (begins_with(reply, "MOVED "))
		return MOVED;
	if (begins_with(reply, "ASK "))
		return ASK;
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (begins_with(reply, later[i]))
			return LATER;
	}
	return STANDS;
}

/* May a command with this reply be sent again? */
static bool is_undone(const struct rdl_reply *reply, enum rdl_sent_kind kind)
{
	if (reply->type == RDL_REPLY_FAILED)
		return redirection_of(reply) != STANDS || begins_with(reply, "EXECABORT") ||
		       begins_with(reply, "NOSCRIPT");
	if (reply->type == RDL_REPLY_STATUS && strcmp(reply->text, "QUEUED") == 0)
		return true;
	return kind != RDL_SENT_PLAIN && kind != RDL_SENT_EXEC;
}

/* ---- Sending again ----------------------------------------------------- */

/* What is to be sent again, taken from the link while it connects. */
struct repeat {
	struct rdl_batch batch;
	struct rdl_means means;
	size_t from, refused; /* commands of the batch */
	int64_t deadline_ns;
	enum redirection why;
	char text[sizeof(((struct rdl_link *)0)->error)];
};

/* The replies behind the one that was refused. False: one of them has done
 * something, or they do not come. */
static bool drain(struct rdl_link *link, const struct repeat *repeat)
{
	size_t i = repeat->refused + 1;
	bool is_nothing_done = true;
	struct rdl_reply reply;

	while (link->pending) {
		if (rdl_link_read(link, &reply, 0) == RDL_UNKNOWN)
			return false;
		is_nothing_done &= is_undone(&reply, repeat->batch.commands[i++].kind);
	}
	return is_nothing_done;
}

/* "MOVED 3999 127.0.0.1:6381"; without a host, the one that said it. */
static bool read_redirection(struct rdl_route *route, const char *text, int *slot)
{
	const char *at = strchr(text, ' ');
	char *end;
	const char *colon = strrchr(text, ':');
	size_t length;

	*slot = at ? (int)strtol(at, &end, 10) : -1;
	if (!at || *end != ' ' || !colon || colon <= end)
		return false;
	length = (size_t)(colon - end - 1);
	if (length >= sizeof(route->node.host) || end[1] == '?')
		return false;
	if (length > 0) {
		memcpy(route->node.host, end + 1, length);
		route->node.host[length] = '\0';
	}
	route->node.port = atoi(colon + 1);
	return route->node.port > 0;
}

/* To the node that was named; false: it was none, or is not there. */
static bool connect_to_named(struct rdl_link *link, const struct repeat *repeat)
{
	struct rdl_route *route = link->route;
	int slot;
	const bool is_named = repeat->why != LATER && link->address.kind == RDL_ADDRESS_CLUSTER &&
			      read_redirection(route, repeat->text, &slot);

	if (!is_named)
		return false;
	route->slot = slot;
	route->is_asking = route->is_wrong = repeat->why == ASK;
	rdl_links_connect_to(&link, 1, repeat->deadline_ns);
	return link->context != NULL;
}

static bool connect_elsewhere(struct rdl_link *link, const struct repeat *repeat)
{
	const struct timespec pause = { .tv_nsec = LATER_NS };

	rdl_link_disconnect(link);
	if (repeat->why == LATER)
		nanosleep(&pause, NULL);
	return connect_to_named(link, repeat) ||
	       rdl_route_connect(link, repeat->deadline_ns) == RDL_OK;
}

/* Bytes of the i-th command. */
static struct rdl_word sent_bytes(const struct rdl_batch *batch, size_t i)
{
	const size_t at = batch->commands[i].at;
	const size_t end = i + 1 < batch->n ? batch->commands[i + 1].at : batch->bytes.length;

	return (struct rdl_word){ batch->bytes.bytes + at, end - at };
}

/* ASKING counts for one command, or for a whole transaction. */
static bool queue_again(struct rdl_link *link, struct rdl_batch *batch, size_t i, bool asks)
{
	static const char asking[] = "*1\r\n$6\r\nASKING\r\n";
	const struct rdl_word bytes = sent_bytes(batch, i);

	batch->commands[i].is_asked_for = asks;
	return (!asks || rdl_buffer_append(&link->out, asking, sizeof(asking) - 1)) &&
	       rdl_buffer_append(&link->out, bytes.text, bytes.length);
}

static enum rdl_outcome send_again(struct rdl_link *link, const struct repeat *repeat)
{
	struct rdl_batch *batch = &link->route->batch;
	bool is_open = false, good = true;

	for (size_t i = repeat->from; good && i < batch->n; i++) {
		const enum rdl_sent_kind kind = batch->commands[i].kind;

		good = queue_again(link, batch, i, link->route->is_asking && !is_open);
		is_open = kind == RDL_SENT_MULTI || (is_open && kind != RDL_SENT_EXEC);
		link->pending++;
		link->commands++;
	}
	if (good)
		return rdl_flush(link);
	rdl_link_disconnect(link);
	return rdl_link_fail(link, RDL_ERROR, "out of memory");
}

/* Before a reply is read: throws away that to an ASKING of ours. */
static enum rdl_outcome skip_asking(struct rdl_link *link)
{
	struct rdl_batch *batch = &link->route->batch;
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	if (batch->n_answered >= batch->n || !batch->commands[batch->n_answered].is_asked_for)
		return RDL_OK;
	batch->commands[batch->n_answered].is_asked_for = false;
	link->pending++;
	outcome = rdl_link_read(link, &reply, 0);
	return outcome == RDL_UNKNOWN ? RDL_UNKNOWN : RDL_OK;
}

/* The replies that the caller has received, once more, and the one in
 * question. */
static enum rdl_outcome read_again(struct rdl_link *link, const struct repeat *repeat,
				   struct rdl_reply *reply)
{
	struct rdl_batch *batch = &link->route->batch;
	enum rdl_outcome outcome = RDL_OK;

	batch->n_answered = repeat->from;
	while (outcome != RDL_UNKNOWN && batch->n_answered <= repeat->refused) {
		outcome = skip_asking(link);
		if (outcome != RDL_UNKNOWN)
			outcome = rdl_link_read(link, reply, 0);
		batch->n_answered++;
	}
	return outcome;
}

/* Nothing of it was done, and nothing will be. */
static enum rdl_outcome refuse(struct rdl_link *link, const char *text, struct rdl_reply *reply)
{
	rdl_link_disconnect(link);
	link->route->has_left = true;
	rdl_link_fail(link, RDL_ERROR, "%s", text);
	*reply = (struct rdl_reply){ .type = RDL_REPLY_FAILED,
				     .text = link->error,
				     .length = strlen(link->error) };
	return RDL_ERROR;
}

/* The batch goes with us, not with the connection; and so do the questions in
 * it, whose answers will come. */
static bool change_connection(struct rdl_link *link, struct repeat *repeat)
{
	struct rdl_route *route = link->route;
	bool good;

	repeat->batch = route->batch;
	repeat->means = link->means;
	route->batch = (struct rdl_batch){ .n = 0 };
	good = connect_elsewhere(link, repeat);
	repeat->batch.is_watched = false;
	route->batch = repeat->batch;
	if (!good)
		rdl_route_forget(link);
	else
		link->means = repeat->means;
	return good;
}

/* One step: to the right node, and what it answers. */
static enum rdl_outcome follow_once(struct rdl_link *link, struct repeat *repeat,
				    struct rdl_reply *reply)
{
	enum rdl_outcome outcome;

	strncpy(repeat->text, reply->text, sizeof(repeat->text) - 1);
	repeat->why = redirection_of(reply);
	repeat->batch = link->route->batch;
	if (!drain(link, repeat))
		return refuse(link, repeat->text, reply);
	if (!change_connection(link, repeat)) {
		memcpy(repeat->text, link->error, sizeof(repeat->text));
		return refuse(link, repeat->text, reply);
	}
	outcome = send_again(link, repeat);
	return outcome == RDL_OK ? read_again(link, repeat, reply) : outcome;
}

static bool can_be_repeated(const struct rdl_link *link, struct repeat *repeat)
{
	const struct rdl_batch *batch = &link->route->batch;
	bool watched;

	if (batch->is_too_long || link->overdue || link->out.length || batch->n_answered == 0)
		return false;
	repeat->refused = batch->n_answered - 1;
	repeat->from = look_back(batch, repeat->refused, &watched);
	return !watched;
}

static enum rdl_outcome follow(struct rdl_link *link, struct rdl_reply *reply)
{
	struct repeat repeat = { .why = STANDS };
	enum rdl_outcome outcome = RDL_ERROR;

	link->since_ns = link->reading_ns ? link->reading_ns : rdl_kernel_ns();
	repeat.deadline_ns = link->since_ns + rdl_link_timeout_ms(link) * INT64_C(1000000);
	while (outcome == RDL_ERROR && redirection_of(reply) != STANDS && link->context &&
	       rdl_kernel_ns() < repeat.deadline_ns && can_be_repeated(link, &repeat))
		outcome = follow_once(link, &repeat, reply);
	link->since_ns = 0;
	return outcome;
}

static enum rdl_outcome take_answer(struct rdl_link *link, struct rdl_reply *reply,
				    enum rdl_outcome outcome)
{
	struct rdl_route *route = link->route;

	if (outcome == RDL_UNKNOWN) {
		route->batch.is_too_long = link->context != NULL;
		return outcome;
	}
	route->batch.n_answered++;
	if (outcome == RDL_ERROR && redirection_of(reply) != STANDS) {
		outcome = follow(link, reply);
		route->is_wrong |= outcome == RDL_ERROR && redirection_of(reply) != STANDS;
	}
	settle_batch(link);
	return outcome;
}

enum rdl_outcome rdl_route_receive(struct rdl_link *link, struct rdl_reply *reply,
				   int64_t deadline_ns)
{
	enum rdl_outcome outcome = skip_asking(link);

	if (outcome == RDL_OK)
		outcome = rdl_link_read(link, reply, deadline_ns);
	return take_answer(link, reply, outcome);
}
