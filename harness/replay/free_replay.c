/* SPDX-License-Identifier: MIT */
#include "free_replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "relay.h"

enum { MUTEXES = 160 };

struct client {
	struct rr_run_tally tally; /* of one that has crashed */
	bool was_busy;             /* then, in the middle of an attempt */
	int64_t read_ns;           /* when it last read its clock */
	int64_t since_ns[RR_RUN_THREADS];
};

struct rr_free_replay {
	struct rr_free_replay_config config;
	struct rr_program program; /* the configuration's, on sockets */
	struct rr_relay relay;
	struct client clients[RR_RUN_CLIENTS];
	int owners[MUTEXES]; /* of mutexes: threads' numbers + 1; 0 = free */
	int64_t now_ns;
	bool saw_two_inside;
};

static const struct rr_run_view *view_of(const struct rr_free_replay *replay, size_t client)
{
	return rr_client_run_view(replay->relay.runs[client]);
}

/* ---- Clients go on ------------------------------------------------------------------ */

/* Is what a thread waits for there? */
static bool give_input(struct rr_free_replay *replay, const struct rr_action *action,
		       const struct rr_stop *stop)
{
	const uint8_t kind = action->input.kind;
	const int64_t waited_ns = replay->now_ns -
				  replay->clients[action->client].since_ns[action->input.thread];

	if ((stop->kind == RR_STOP_SLEEP || kind == RR_INPUT_TIMEOUT) &&
	    (stop->duration_ns == RR_NEVER || waited_ns < stop->duration_ns))
		return rr_relay_differ(&replay->relay, action, "wakes up before its time is over");
	if (kind == RR_INPUT_CLOCK && stop->kind != RR_STOP_CLOCK)
		return true;
	switch (stop->kind) {
	case RR_STOP_RECEIVE:
	case RR_STOP_LISTEN:
		return rr_relay_tell(&replay->relay, action, stop);
	case RR_STOP_WAIT:
	case RR_STOP_JOIN:
		return stop->is_ready || kind == RR_INPUT_TIMEOUT ||
		       rr_relay_differ(&replay->relay, action,
				       "goes on, and what it waits for has not come");
	case RR_STOP_CLOCK:
		return action->input.value == replay->config.day_ns + replay->now_ns +
						      action->client * replay->config.skew_ns ||
		       rr_relay_differ(&replay->relay, action, "reads another time of day");
	case RR_STOP_LOCK:
	case RR_STOP_UNLOCK: {
		const int self = 1 + action->client * RR_RUN_THREADS + action->input.thread;
		int *owner = &replay->owners[stop->mutex % MUTEXES];

		if (stop->kind == RR_STOP_LOCK && *owner)
			return rr_relay_differ(&replay->relay, action,
					       "takes a mutex that client %c has",
					       'A' + (*owner - 1) / RR_RUN_THREADS);
		if (stop->kind == RR_STOP_LOCK)
			*owner = self;
		else if (*owner == self)
			*owner = 0;
		return true;
	}
	default:
		return true;
	}
}

static void look_who_is_inside(struct rr_free_replay *replay, uint8_t entered)
{
	for (uint8_t i = 0; i < replay->program.n_clients; i++) {
		if (i != entered && replay->relay.runs[i] && rr_relay_is_inside(&replay->relay, i))
			replay->saw_two_inside = true;
	}
}

/* What the client has done since: what it says of that is what the path says. */
static bool compare_marks(struct rr_free_replay *replay, const struct rr_action *action,
			  const struct rr_run_view *before)
{
	const struct rr_run_view *after = view_of(replay, action->client);

	if (after->has_entered != action->has_entered)
		return rr_relay_differ(&replay->relay, action,
				       "%s its critical section, and in the path it %s",
				       after->has_entered ? "enters" : "does not enter",
				       action->has_entered ? "does" : "does not");
	if (before->is_inside != action->was_inside || after->is_inside != action->is_inside)
		return rr_relay_differ(&replay->relay, action,
				       "%s inside its critical section, and in the path it %s",
				       after->is_inside ? "is" : "is not",
				       action->is_inside ? "is" : "is not");
	if (rr_relay_count_inside(after) != action->n_inside)
		return rr_relay_differ(&replay->relay, action,
				       "has %zu requests in flight from inside, and in the path %d",
				       rr_relay_count_inside(after), action->n_inside);
	if ((uint8_t)(after->tally.acknowledged - before->tally.acknowledged) != action->n_counted)
		return rr_relay_differ(&replay->relay, action,
				       "has counted %ld more, and in the path %d",
				       after->tally.acknowledged - before->tally.acknowledged,
				       action->n_counted);
	if (after->has_entered)
		look_who_is_inside(replay, action->client);
	return true;
}

/* The client runs on until all of its threads wait again. */
static bool let_run(struct rr_free_replay *replay, const struct rr_action *action)
{
	struct client *client = &replay->clients[action->client];
	struct rr_client_run *run = replay->relay.runs[action->client];
	const struct rr_run_view before = *rr_client_run_view(run);
	const struct rr_run_view *after;
	const struct rr_error *problem;
	enum rr_going going;

	rr_client_run_feed(run, &action->input, replay->now_ns - client->read_ns);
	going = rr_client_run_going(run, &problem);
	if (going != RR_GO_ON)
		return rr_error_set(&replay->relay.error, RR_ERROR_INTERNAL, "%s",
				    going == RR_AGAIN ? "it does not do what it did before" :
							problem->text);
	after = rr_client_run_view(run);
	if (after->has_read)
		client->read_ns = replay->now_ns;
	for (uint32_t i = 0; i < RR_RUN_THREADS; i++) {
		if (i == action->input.thread ||
		    !rr_stop_is_same(&before.stops[i], &after->stops[i]))
			client->since_ns[i] = replay->now_ns;
	}
	return compare_marks(replay, action, &before);
}

/* ---- The path ------------------------------------------------------------------------- */

static bool act_again(struct rr_free_replay *replay, const struct rr_action *action)
{
	if (action->kind != RR_ACTION_SERVE && !rr_relay_has_told_served(&replay->relay, action))
		return false;
	switch (action->kind) {
	case RR_ACTION_SERVE:
		return rr_relay_serve(&replay->relay, action);
	case RR_ACTION_ASK:
		return rr_relay_ask(&replay->relay, action);
	case RR_ACTION_FEED: {
		const struct rr_stop *stop;

		if (!replay->relay.runs[action->client])
			return rr_relay_differ(&replay->relay, action,
					       "has crashed, and goes on in the path");
		stop = &view_of(replay, action->client)->stops[action->input.thread];
		if (!rr_stop_is_same(stop, &action->stop) || stop->mutex != action->stop.mutex)
			return rr_relay_differ(&replay->relay, action,
					       "waits for something else than in the path");
		return give_input(replay, action, stop) && let_run(replay, action);
	}
	case RR_ACTION_CRASH: {
		struct client *client = &replay->clients[action->client];
		struct rr_client_run **run = &replay->relay.runs[action->client];

		if (!*run)
			return rr_relay_differ(&replay->relay, action, "has crashed before");
		client->tally = rr_client_run_view(*run)->tally;
		client->was_busy = rr_client_run_view(*run)->stops[0].kind != RR_STOP_ATTEMPT;
		if (!rr_relay_leave_all(&replay->relay, action))
			return false;
		rr_client_run_free(*run);
		*run = NULL;
		return true;
	}
	case RR_ACTION_ANSWER:
		return rr_relay_drop(&replay->relay, action);
	case RR_ACTION_TIME:
		replay->now_ns += action->ns;
		return rr_relay_pass_time(&replay->relay, action->ns);
	case RR_ACTION_CLOCK:
		replay->clients[action->client].read_ns -= action->ns;
		return true;
	case RR_ACTION_DOWN:
		replay->relay.is_down[action->server] = true;
		return rr_relay_ask(&replay->relay, action);
	default:
		replay->relay.is_down[action->server] = false;
		return true;
	}
}

static void end_clients(struct rr_free_replay *replay)
{
	for (int i = 0; i < RR_RUN_CLIENTS; i++) {
		if (replay->relay.runs[i])
			rr_client_run_free(replay->relay.runs[i]);
		replay->relay.runs[i] = NULL;
	}
}

static bool begin_anew(struct rr_free_replay *replay)
{
	const struct rr_free_replay_config *config = &replay->config;

	end_clients(replay);
	memset(replay->clients, 0, sizeof(replay->clients));
	memset(replay->owners, 0, sizeof(replay->owners));
	replay->now_ns = 0;
	replay->saw_two_inside = false;
	if (!rr_relay_begin(&replay->relay, config->cluster, config->scripts))
		return false;
	for (uint8_t i = 0; i < replay->program.n_clients; i++)
		replay->relay.runs[i] = rr_client_run_new(&replay->program, (int)i);
	/* All of them begin at once. */
	for (uint8_t i = 0; i < replay->program.n_clients; i++) {
		if (view_of(replay, i)->is_inside)
			look_who_is_inside(replay, i);
	}
	return true;
}

bool rr_free_replay_run(struct rr_free_replay *replay, const struct rr_actions *path)
{
	bool good = begin_anew(replay);

	for (replay->relay.step = 1; replay->relay.step <= path->n && good; replay->relay.step++)
		good = act_again(replay, &path->all[replay->relay.step - 1]);
	return good &&
	       (path->n == 0 || rr_relay_has_told_served(&replay->relay, &path->all[path->n - 1]));
}

/* ---- Making, freeing, looking ------------------------------------------------------------ */

struct rr_free_replay *rr_free_replay_new(const struct rr_free_replay_config *config)
{
	struct rr_free_replay *replay = rr_calloc(1, sizeof(*replay));

	replay->config = *config;
	replay->program = *config->program;
	replay->program.on_sockets = true;
	replay->relay.program = &replay->program;
	return replay;
}

void rr_free_replay_free(struct rr_free_replay *replay)
{
	if (!replay)
		return;
	end_clients(replay);
	rr_servers_close(&replay->relay.servers);
	free(replay);
}

const struct rr_error *rr_free_replay_error(const struct rr_free_replay *replay)
{
	return &replay->relay.error;
}

struct rr_replayed_client rr_free_replay_client(const struct rr_free_replay *replay, size_t client)
{
	const struct client *it = &replay->clients[client];
	const bool has_crashed = !replay->relay.runs[client];

	return (struct rr_replayed_client){
		.has_crashed = has_crashed,
		.was_busy = it->was_busy,
		.has_ended = has_crashed || view_of(replay, client)->stops[0].kind == RR_STOP_ENDED,
		.tally = has_crashed ? it->tally : view_of(replay, client)->tally,
	};
}

bool rr_free_replay_saw_two_inside(const struct rr_free_replay *replay)
{
	return replay->saw_two_inside;
}

struct rr_asker *rr_free_replay_server(struct rr_free_replay *replay, size_t server)
{
	return replay->relay.servers.askers[server];
}
