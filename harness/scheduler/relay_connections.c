/* SPDX-License-Identifier: MIT */
/* The connections of a relay: which lane of which client each is, and how it ends. */
#include "relay.h"

bool relay_fail_servers(struct rr_relay *relay)
{
	relay->error = relay->servers.error;
	return false;
}

const struct rr_run_view *relay_view_of(const struct rr_relay *relay, size_t client)
{
	return rr_client_run_view(relay->runs[client]);
}

static size_t lane_server(const struct rr_relay *relay, uint8_t lane)
{
	return (size_t)rr_lane_server(relay->program, lane);
}

/* What the server has served of commands that blocked there. */
static void note_served(struct rr_relay *relay, size_t server)
{
	struct rr_relay_connection *all = relay->connections[server];

	for (uint16_t i = 0; i < RR_ASKER_SLOTS; i++) {
		if (all[i].is_used && all[i].blocks != RR_NO_ID && !all[i].is_served)
			all[i].is_served = rr_servers_served(&relay->servers, server, i,
							     &all[i].served);
	}
}

bool relay_ask_server(struct rr_relay *relay, size_t server, const struct rr_question *question,
		      struct rr_heard *heard)
{
	if (!rr_servers_ask(&relay->servers, server, question, heard))
		return relay_fail_servers(relay);
	note_served(relay, server);
	return true;
}

bool relay_ask_of(struct rr_relay *relay, const struct rr_relay_connection *connection,
		  enum rr_question_kind kind, int64_t argument, struct rr_heard *heard)
{
	const size_t server = lane_server(relay, connection->lane);
	const struct rr_question question = {
		.kind = (uint8_t)kind,
		.slot = (uint16_t)(connection - relay->connections[server]),
		.argument = argument,
	};

	return relay_ask_server(relay, server, &question, heard);
}

bool relay_close_connection(struct rr_relay *relay, struct rr_relay_connection *connection)
{
	struct rr_heard heard;

	if (connection->is_closed)
		return true;
	connection->is_closed = true;
	connection->n_late = 0;
	connection->blocks = RR_NO_ID;
	connection->is_served = false;
	return relay_ask_of(relay, connection, RR_ASK_CLOSE, 0, &heard);
}

void relay_leave_connection(const struct rr_relay *relay, struct rr_relay_connection *connection)
{
	const struct rr_run_view *view = relay_view_of(relay, connection->client);
	size_t answered = connection->n_answers;

	connection->is_left = true;
	for (uint32_t i = 0; i < view->n_sent && !connection->is_closed; i++) {
		if (view->sent[i].lane != connection->lane)
			continue;
		if (answered > 0)
			answered--;
		else
			connection->late[connection->n_late++] = view->sent[i].command;
	}
}

struct rr_relay_connection *relay_find_connection(struct rr_relay *relay, uint8_t client,
						  uint8_t lane, bool is_left)
{
	struct rr_relay_connection *all = relay->connections[lane_server(relay, lane)];

	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		if (all[i].is_used && all[i].client == client && all[i].lane == lane &&
		    all[i].is_left == is_left && !(is_left && all[i].is_closed))
			return &all[i];
	}
	return NULL;
}

struct rr_relay_connection *relay_connect_lane(struct rr_relay *relay,
					       const struct rr_action *action, uint8_t lane)
{
	const struct rr_client_run *run = relay->runs[action->client];
	const uint32_t ordinal = run ? rr_client_run_connection(run, lane) : 0;
	struct rr_relay_connection *known = relay_find_connection(relay, action->client, lane,
								  false);
	struct rr_relay_connection *all = relay->connections[lane_server(relay, lane)];

	if (known && ordinal && known->ordinal == ordinal)
		return known;
	/* The client has closed it by itself. */
	if (known) {
		known->is_left = true;
		if (!relay_close_connection(relay, known))
			return NULL;
	}
	for (int i = 0; ordinal && i < RR_ASKER_SLOTS - 1; i++) {
		if (all[i].is_used && !(all[i].is_closed && all[i].is_left))
			continue;
		all[i] = (struct rr_relay_connection){ .is_used = true,
						       .client = action->client,
						       .lane = lane,
						       .ordinal = ordinal,
						       .message = RR_NO_ID,
						       .blocks = RR_NO_ID };
		return &all[i];
	}
	rr_relay_differ(relay, action, "has no connection there");
	return NULL;
}
