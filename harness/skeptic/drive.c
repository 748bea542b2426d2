/* SPDX-License-Identifier: MIT */
#include "drive.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/reply.h"
#include "end.h"

enum {
	POLLS_ROUNDS = 4,  /* after which a client polls, and its sleeps take no time */
	STUCK_ROUNDS = 50, /* after which it polls without end */
	STEPS = 1000,
	WAITS = 60,
	KEYS = 64 /* of those that expire */
};

/* ---- Servers ------------------------------------------------------------------------ */

/* What only the connection that asks can notice is answered at once. */
static uint32_t answer_at_once(void *context, int server, const struct rdl_command *command)
{
	struct drive *drive = context;
	const uint32_t id = rr_terms_command(drive->terms, command);
	struct rdl_reply reply;
	bool is_new;
	const uint32_t number = rr_intern_put(&drive->asked, &id, sizeof(id), &is_new);

	if (!is_new)
		return drive->answers[number];
	rr_array_grow(&drive->answers, number, sizeof(*drive->answers));
	if (!rr_asker_run(drive->servers.askers[server], &reply, command))
		reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	drive->answers[number] = rr_terms_reply(drive->terms, &reply);
	return drive->answers[number];
}

bool drive_open(struct drive *drive, const struct rr_skeptic_config *config)
{
	const struct rr_server_options plain = { 0 };
	struct rr_program *program = config->parties.program;
	int server;

	*drive = (struct drive){ .config = config, .terms = program->terms };
	/* A script is there when it was loaded, as on any server. */
	rr_scripts_become_state(&drive->scripts);
	drive->scripts.first = config->given;
	program->loads_scripts = true;
	program->ask = answer_at_once;
	program->ask_context = drive;
	rr_cluster_reset(config->cluster);
	if (!rr_cluster_declare(config->cluster, "redis", &plain, &server, &drive->error) ||
	    !rr_cluster_start(config->cluster, &drive->error))
		return false;
	if (rr_servers_open(&drive->servers, config->cluster, 1, drive->terms, &drive->scripts))
		return true;
	drive->error = drive->servers.error;
	return false;
}

bool drive_learn(struct drive *drive)
{
	const bool counts = drive->has_slept && (drive->has_ends || drive->asks_time);
	const bool is_new = counts > drive->counts_sleeps ||
			    (counts && drive->asks_time > drive->is_absolute);

	drive->counts_sleeps |= counts;
	drive->is_absolute |= counts && drive->asks_time;
	return is_new;
}

void drive_close(struct drive *drive)
{
	rr_servers_close(&drive->servers);
	rr_scripts_release(&drive->scripts);
	rr_intern_release(&drive->asked);
	rr_intern_release(&drive->writes);
	free(drive->answers);
}

static bool fail_server(struct drive *drive)
{
	const struct rr_error *error = &drive->servers.error;

	return rr_error_set(&drive->error, error->kind ? error->kind : RR_ERROR_REDIS, "%s",
			    error->text);
}

/* Is the time up, or has a signal come? */
static bool goes_on(struct drive *drive)
{
	drive->is_over |= rr_clock_ns() > drive->until_ns ||
			  !rr_signals_wait(drive->config->signals, 0);
	return !drive->is_over;
}

/* A party gives up by itself when the time is up. */
static bool note_end(struct drive *drive, bool good)
{
	drive->is_over |= !good && drive->error.kind == RR_ERROR_INTERRUPTED;
	return good;
}

/* ---- What clients wait for ------------------------------------------------------------ */

static size_t background(const struct execution *it)
{
	return it->drive->config->parties.n_operations;
}

static uint16_t slot_of(size_t client, uint8_t lane)
{
	return (uint16_t)(client * RR_RUN_ORDINALS + lane);
}

/* Whose is a command that a client sends after something that it did for `cause`? */
static uint8_t owner_of(const struct execution *it, size_t client, const struct rr_sent *sent,
			uint8_t cause)
{
	const struct rr_program *program = it->drive->config->parties.program;

	if (program->requests.n == 0)
		return (uint8_t)client;
	if (sent->kind == RR_SENT_REQUEST || sent->kind == RR_SENT_ANSWER)
		return (uint8_t)rr_program_request_at(program, client, sent->lane);
	return sent->kind == RR_SENT_END ? (uint8_t)background(it) : cause;
}

static bool ask(struct execution *it, enum rr_question_kind kind, uint16_t slot, int64_t argument,
		struct rr_heard *heard)
{
	const struct rr_question question = { .kind = (uint8_t)kind,
					      .slot = slot,
					      .argument = argument };

	return rr_servers_ask(&it->drive->servers, 0, &question, heard) || fail_server(it->drive);
}

/* Takes over what a client waits for now: commands that were known keep their owners. */
static bool look_at(struct execution *it, size_t client, uint8_t cause)
{
	const struct rr_skeptic_parties *parties = &it->drive->config->parties;
	struct driven *driven = &it->clients[client];
	const struct rr_run_view view = parties->view(driven->party);
	struct pending known[RR_RUN_SENT];
	bool is_kept[RR_RUN_SENT] = { false };
	const size_t n_known = driven->n_pending;
	struct rr_heard heard;

	memcpy(known, driven->pending, sizeof(known));
	driven->n_pending = 0;
	driven->has_ended = view.stops[0].kind == RR_STOP_ENDED;
	for (uint32_t i = 0; i < view.n_sent; i++) {
		const struct rr_sent *sent = &view.sent[i];
		struct pending *pending = &driven->pending[driven->n_pending++];
		size_t j = 0;

		while (j < n_known && (is_kept[j] || known[j].lane != sent->lane))
			j++;
		if (j < n_known) {
			*pending = known[j];
			pending->is_waiting = sent->is_waiting;
			is_kept[j] = true;
			continue;
		}
		*pending = (struct pending){ .lane = sent->lane,
					     .kind = sent->kind,
					     .owner = owner_of(it, client, sent, cause),
					     .is_waiting = sent->is_waiting,
					     .command = sent->command };
	}
	for (size_t j = 0; j < n_known; j++) {
		if (!is_kept[j] && known[j].is_blocked &&
		    !ask(it, RR_ASK_CLOSE, slot_of(client, known[j].lane), 0, &heard))
			return false;
	}
	driven->listens = driven->may_time_out = 0;
	for (uint32_t i = 0; i < view.n_threads; i++) {
		if (view.stops[i].kind != RR_STOP_LISTEN)
			continue;
		driven->listens |= (uint16_t)(1U << view.stops[i].lane);
		if (view.stops[i].duration_ns == 0)
			driven->may_time_out |= (uint16_t)(1U << view.stops[i].lane);
	}
	return true;
}

/* ---- Polling --------------------------------------------------------------------------- */

static bool is_same_event(const struct event *a, const struct event *b)
{
	return a->kind == b->kind && a->command == b->command && a->reply == b->reply &&
	       !a->changes && !b->changes;
}

unsigned count_rounds(const struct execution *it, const size_t *own, size_t n, size_t *period)
{
	unsigned most = 0;

	for (size_t p = 1; p <= DRIVE_PERIOD && p < n; p++) {
		size_t alike = 0;

		while (alike + p < n && is_same_event(&it->events[own[n - 1 - alike]],
						      &it->events[own[n - 1 - alike - p]]))
			alike++;
		if (alike / p > most) {
			most = (unsigned)(alike / p);
			*period = p;
		}
	}
	return most;
}

static void note_rounds(struct execution *it, size_t operation)
{
	enum { BACK = DRIVE_PERIOD * (STUCK_ROUNDS + 2) };
	struct operation *own = &it->operations[operation];
	size_t events[BACK], n = 0, period; /* filled from its end */

	for (size_t i = it->n_events; i-- > 0 && n < BACK;) {
		const struct event *event = &it->events[i];

		if (event->kind != EVENT_TIME && event->operation == operation)
			events[BACK - ++n] = i;
		else if (event->changes || (event->kind == EVENT_TIME && !event->is_sleep))
			break;
	}
	own->rounds = count_rounds(it, events + BACK - n, n, &period);
	own->polled = it->version;
}

/* ---- Steps ------------------------------------------------------------------------------- */

static struct event *add_event(struct execution *it, struct event event)
{
	rr_array_grow(&it->events, it->n_events, sizeof(*it->events));
	it->events[it->n_events] = event;
	return &it->events[it->n_events++];
}

static bool read_data(struct execution *it)
{
	if (!end_read_data(it->drive, &it->data))
		return fail_server(it->drive);
	it->drive->has_ends |= end_expiry_ns(it->drive, it->data, RR_NO_ID) != RR_NEVER;
	return true;
}

static void note_given(struct execution *it, uint32_t key, uint32_t command, uint8_t operation)
{
	size_t i = 0;

	while (i < it->n_given && it->given[i].key != key)
		i++;
	if (i == it->n_given)
		rr_array_grow(&it->given, it->n_given++, sizeof(*it->given));
	it->given[i] = (struct given){ .key = key,
				       .command = command,
				       .operation = operation,
				       .event = it->n_events,
				       .ns = end_expiry_ns(it->drive, it->data, key),
				       .left_ns = RR_NEVER,
				       .last = RR_NO_ID };
}

/* What a key has left: less than nothing if it has expired. */
static int64_t left_ns(const struct execution *it, const struct given *given)
{
	return given->last == RR_NO_ID ? end_expiry_ns(it->drive, it->data, given->key) :
					 given->expired_ns - it->now_ns;
}

/* It will give no key another time to live. */
static void note_left(struct execution *it, uint8_t operation)
{
	for (size_t i = 0; i < it->n_given; i++) {
		struct given *given = &it->given[i];

		if (given->command != RR_NO_ID && given->operation == operation &&
		    given->left_ns == RR_NEVER)
			given->left_ns = left_ns(it, given);
	}
}

/* Is that what the same command has given it before, at this moment? */
static bool was_given_by(const struct execution *it, uint32_t key, uint32_t command)
{
	for (size_t i = 0; i < it->n_given; i++) {
		if (it->given[i].key == key)
			return it->given[i].command == command &&
			       it->given[i].ns == end_expiry_ns(it->drive, it->data, key);
	}
	return false;
}

/* The keys that expire and that a command has just written are its client's. One that is given the same
 * time at the same moment by the same command is given it again. */
static void note_leases(struct execution *it, size_t client, uint32_t before,
			const struct pending *pending)
{
	const uint32_t command = it->drive->terms->command[pending->command].name;
	struct driven *driven = &it->clients[client];
	uint32_t keys[KEYS];
	const size_t n = end_new_leases(it->drive, before, it->data, keys, KEYS);

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < it->drive->config->parties.n; j++) {
			for (size_t k = 0; k < DRIVE_LEASES; k++) {
				if (it->clients[j].leases[k] == keys[i])
					it->clients[j].leases[k] = RR_NO_ID;
			}
		}
		driven->leases[driven->n_leases++ % DRIVE_LEASES] = keys[i];
		if (end_expiry_ns(it->drive, before, keys[i]) !=
			    end_expiry_ns(it->drive, it->data, keys[i]) ||
		    was_given_by(it, keys[i], command))
			note_given(it, keys[i], command, pending->owner);
	}
}

/* Whose lease is a key? n_operations: nobody's, it was given. */
static size_t holder_of(const struct execution *it, uint32_t key)
{
	const struct rr_skeptic_parties *parties = &it->drive->config->parties;

	for (size_t i = 0; i < parties->n; i++) {
		const struct driven *driven = &it->clients[i];

		for (size_t j = 0; j < driven->n_leases && j < DRIVE_LEASES; j++) {
			if (driven->leases[j] == key)
				return i;
		}
	}
	return parties->n;
}

/* ---- Time -------------------------------------------------------------------------------- */

/* A client whose keys live on while others sleep: it could act, or waits for others. */
static bool is_late(const struct execution *it, size_t client)
{
	const struct driven *driven = &it->clients[client];

	return driven->has_begun && !driven->has_ended && driven->asleep_ns == 0;
}

/* Can a client act that has begun? Then time passes because it is slow. */
static bool is_slow(const struct execution *it)
{
	for (size_t i = 0;
	     i < background(it) && it->drive->config->parties.program->requests.n == 0; i++) {
		if (is_late(it, i) && execution_can_act(it, i, DRIVE_ASIDE_ROUNDS))
			return true;
	}
	return false;
}

static bool is_of_late(const struct execution *it, uint32_t key)
{
	const size_t holder = holder_of(it, key);

	return holder < it->drive->config->parties.n && is_late(it, holder);
}

/* Until the first key expires that does not live on. */
static int64_t first_expiry_ns(const struct execution *it, bool slowly)
{
	uint32_t keys[KEYS];
	const size_t n = end_new_leases(it->drive, RR_NO_ID, it->data, keys, KEYS);
	int64_t first_ns = RR_NEVER;

	for (size_t i = 0; i < n; i++) {
		const int64_t ns = end_expiry_ns(it->drive, it->data, keys[i]);

		if (ns < first_ns && !(slowly && is_of_late(it, keys[i])))
			first_ns = ns;
	}
	return first_ns;
}

static bool stretch_leases(struct execution *it, int64_t ns)
{
	uint32_t keys[KEYS];
	const size_t n = end_new_leases(it->drive, RR_NO_ID, it->data, keys, KEYS);

	for (size_t i = 0; i < n; i++) {
		if (is_of_late(it, keys[i]) && !end_stretch(it->drive, it->data, keys[i], ns))
			return fail_server(it->drive);
	}
	return true;
}

/* Time passes on the server and for all clients, whose own clocks may have moved already. Slowly:
 * for those who are late it does not pass, and their keys live on. */
static bool pass_time(struct execution *it, int64_t ns, bool slowly, bool is_sleep)
{
	const size_t n_keys = it->drive->terms->reply[it->data].reply.length;
	const size_t event = it->n_events;
	const uint32_t before = it->data;
	uint32_t late = 0;
	struct rr_heard heard;

	if (slowly && !stretch_leases(it, ns))
		return false;
	it->now_ns += ns;
	it->moved_ns += ns;
	for (size_t i = 0; i < it->drive->config->parties.n; i++) {
		struct driven *driven = &it->clients[i];
		const int64_t ahead_ns = driven->ahead_ns < ns ? driven->ahead_ns : ns;
		const bool is_held = slowly && is_late(it, i) && !it->drive->is_absolute;

		late |= slowly && is_late(it, i) ? 1U << i : 0;
		driven->asleep_ns -= driven->asleep_ns < ns ? driven->asleep_ns : ns;
		driven->ahead_ns -= ahead_ns;
		driven->owed_ns += is_held ? 0 : ns - ahead_ns;
	}
	add_event(it, (struct event){ .kind = EVENT_TIME,
				      .is_sleep = is_sleep,
				      .late = late,
				      .ns = ns,
				      .command = RR_NO_ID,
				      .reply = RR_NO_ID });
	if (!ask(it, RR_ASK_TICK, 0, ns, &heard) || !read_data(it))
		return false;
	/* Which keys have expired? */
	for (size_t i = 0; i < it->n_given; i++) {
		struct given *given = &it->given[i];
		const int64_t was_left_ns = end_expiry_ns(it->drive, before, given->key);

		if (was_left_ns == RR_NEVER ||
		    end_expiry_ns(it->drive, it->data, given->key) != RR_NEVER)
			continue;
		given->last = before;
		given->expired_ns = it->now_ns - ns + was_left_ns;
	}
	it->events[event].changes = it->drive->terms->reply[it->data].reply.length != n_keys;
	it->version += !is_sleep || it->events[event].changes;
	return true;
}

/* An app's sleeps pass on its own clock only. But when it has slept until after a key has expired
 * that is its own, or that was given, that time has passed on the server as well. */
static bool note_sleep_of_app(struct execution *it, size_t app, uint8_t operation, int64_t slept_ns)
{
	uint32_t keys[KEYS];
	const size_t n = end_new_leases(it->drive, RR_NO_ID, it->data, keys, KEYS);
	bool outsleeps = false, is_of_others[KEYS];

	it->moved_ns += slept_ns;
	for (size_t i = 0; i < n; i++) {
		const size_t holder = holder_of(it, keys[i]);

		is_of_others[i] = holder < it->drive->config->parties.n && holder != app &&
				  !it->clients[holder].has_ended;
		outsleeps |= !is_of_others[i] &&
			     end_expiry_ns(it->drive, it->data, keys[i]) <= slept_ns;
	}
	if (!outsleeps)
		return true;
	it->outsleeps = it->operations[operation].has_outslept = true;
	for (size_t i = 0; i < n; i++) {
		if (is_of_others[i] && !end_stretch(it->drive, it->data, keys[i], slept_ns))
			return fail_server(it->drive);
	}
	it->clients[app].ahead_ns += slept_ns;
	return pass_time(it, slept_ns, false, false);
}

/* A client that polls does so at any time: how long it sleeps between its rounds does not count,
 * unless it may compare its clock with the server's. */
static bool note_sleep(struct execution *it, size_t client, uint8_t operation)
{
	struct driven *driven = &it->clients[client];
	const int64_t before_ns = driven->slept_ns;
	int64_t slept_ns;

	driven->slept_ns = it->drive->config->parties.slept_ns(driven->party);
	slept_ns = driven->slept_ns - before_ns;
	if (it->drive->config->parties.program->requests.n > 0)
		return note_sleep_of_app(it, client, operation, slept_ns);
	it->drive->has_slept |= slept_ns > 0;
	if (it->drive->counts_sleeps)
		driven->ahead_ns += slept_ns;
	if (it->drive->counts_sleeps && !driven->has_ended &&
	    (it->operations[operation].rounds < POLLS_ROUNDS || it->drive->is_absolute))
		driven->asleep_ns = slept_ns;
	else
		it->moved_ns += slept_ns;
	return true;
}

static bool feed(struct execution *it, size_t client, uint8_t lane, struct rr_input input,
		 uint8_t cause, size_t event)
{
	const struct rr_skeptic_parties *parties = &it->drive->config->parties;
	struct driven *driven = &it->clients[client];
	const int64_t owed_ns = driven->owed_ns;

	driven->owed_ns = 0;
	if (!goes_on(it->drive) ||
	    !note_end(it->drive,
		      parties->feed(driven->party, &input, lane, owed_ns, &it->drive->error)) ||
	    !look_at(it, client, cause))
		return false;
	if (driven->has_ended && parties->program->requests.n == 0)
		note_left(it, (uint8_t)client);
	driven->n_printed = parties->answer(parties->context, driven->party,
					    parties->program->requests.n ? SIZE_MAX : client)
				    .length;
	it->events[event].n_printed = driven->n_printed;
	if (it->events[event].kind == EVENT_COMMAND)
		note_rounds(it, cause);
	return note_sleep(it, client, cause);
}

/* A reply is delivered: the command is not pending any more. */
static bool deliver(struct execution *it, size_t client, size_t index, size_t event, uint32_t reply)
{
	struct driven *driven = &it->clients[client];
	const struct pending taken = driven->pending[index];
	struct operation *own = &it->operations[taken.owner];

	it->events[event].reply = reply;
	memmove(&driven->pending[index], &driven->pending[index + 1],
		(--driven->n_pending - index) * sizeof(taken));
	if (taken.kind == RR_SENT_REQUEST)
		own->has_begun = true;
	if (taken.kind == RR_SENT_ANSWER) {
		own->is_answered = true;
		note_left(it, taken.owner);
	}
	return feed(it, client, taken.lane,
		    (struct rr_input){ .kind = RR_INPUT_REPLY, .value = reply }, taken.owner,
		    event);
}

/* Delivers what the server has served meanwhile of the commands that were blocked. */
static bool deliver_served(struct execution *it)
{
	for (size_t i = 0; i < it->drive->config->parties.n; i++) {
		for (size_t j = 0; j < it->clients[i].n_pending; j++) {
			struct pending *pending = &it->clients[i].pending[j];
			const uint16_t slot = slot_of(i, pending->lane);
			uint32_t reply;

			if (!pending->is_blocked ||
			    !rr_servers_served(&it->drive->servers, 0, slot, &reply))
				continue;
			it->operations[pending->owner].has_changed |=
				it->drive->terms->reply[reply].reply.type != RDL_REPLY_NIL;
			if (!deliver(it, i, j, pending->event, reply))
				return false;
			j = (size_t)-1; /* what is pending has changed */
		}
	}
	return true;
}

/* TIME, or a script that calls it. */
static bool names_time(const struct rdl_command *command)
{
	bool names = rr_word_is(&command->words[0], "TIME");

	for (size_t i = 1; i < command->n_words && !names; i++) {
		const struct rdl_word *word = &command->words[i];

		for (size_t at = 0; at + 6 <= word->length && !names; at++)
			names = (word->text[at] == '\'' || word->text[at] == '"') &&
				strncasecmp(word->text + at + 1, "TIME", 4) == 0 &&
				word->text[at + 5] == word->text[at];
	}
	return names;
}

static bool execute(struct execution *it, size_t client, size_t index)
{
	struct pending *pending = &it->clients[client].pending[index];
	struct operation *own = &it->operations[pending->owner];
	const struct rr_term_command *command = &it->drive->terms->command[pending->command];
	const size_t event = it->n_events;
	const uint32_t before = it->data;
	struct rr_heard heard;
	bool changes;

	add_event(it, (struct event){ .kind = EVENT_COMMAND,
				      .operation = pending->owner,
				      .client = (uint8_t)client,
				      .lane = pending->lane,
				      .is_mark = pending->kind != RR_SENT_COMMAND,
				      .command = pending->command,
				      .reply = RR_NO_ID,
				      .ns = it->now_ns });
	it->clients[client].has_begun |= pending->kind == RR_SENT_COMMAND;
	it->drive->asks_time |= names_time(&command->words);
	if (!ask(it, RR_ASK_COMMAND, slot_of(client, pending->lane), pending->command, &heard) ||
	    !read_data(it))
		return false;
	changes = it->data != before;
	it->version += changes;
	it->events[event].changes = changes;
	own->n_steps += pending->kind == RR_SENT_COMMAND;
	if (changes) {
		rr_intern_put(&it->drive->writes, &command->kind, sizeof(command->kind), NULL);
		own->has_changed = true;
		own->n_writes++;
		note_leases(it, client, before, pending);
	}
	if (heard.blocks) {
		const int64_t wait_ns = rr_command_time_out_ns(&command->words);

		pending->is_blocked = true;
		pending->ends_ns = wait_ns == RR_NEVER ? RR_NEVER : it->now_ns + wait_ns;
		it->drive->has_ends |= wait_ns != RR_NEVER;
		pending->event = event;
		return true;
	}
	return deliver(it, client, index, event, heard.reply) && deliver_served(it);
}

static bool read_message(struct execution *it, size_t client, uint8_t lane, uint8_t owner)
{
	const size_t event = it->n_events;
	struct rr_heard heard;

	if (!ask(it, RR_ASK_READ, slot_of(client, lane), 0, &heard))
		return false;
	add_event(it, (struct event){ .kind = EVENT_MESSAGE,
				      .operation = owner,
				      .client = (uint8_t)client,
				      .lane = lane,
				      .command = RR_NO_ID,
				      .reply = heard.reply });
	return feed(it, client, lane,
		    (struct rr_input){ .kind = RR_INPUT_MESSAGE, .value = heard.reply }, owner,
		    event);
}

/* The next thing that an operation can do: the pending command, or the lane of a message. */
struct choice {
	uint8_t client, lane;
	bool is_message;
	size_t index;
};

static size_t list_choices(struct execution *it, size_t operation, struct choice *choices)
{
	const struct rr_skeptic_parties *parties = &it->drive->config->parties;
	size_t n = 0;

	for (size_t i = 0; i < parties->n; i++) {
		const struct driven *driven = &it->clients[i];
		uint32_t seen = 0; /* lanes: only the first of each can be executed */

		if (driven->asleep_ns > 0)
			continue;
		for (size_t j = 0; j < driven->n_pending; j++) {
			const struct pending *pending = &driven->pending[j];

			if (!(seen >> pending->lane & 1) && !pending->is_blocked &&
			    pending->owner == operation && pending->kind != RR_SENT_END)
				choices[n++] = (struct choice){ (uint8_t)i, pending->lane, false,
								j };
			seen |= 1U << pending->lane;
		}
		for (uint8_t lane = 0; lane < RR_RUN_ORDINALS; lane++) {
			if (driven->listens >> lane & 1 &&
			    it->drive->servers.inboxes[0][slot_of(i, lane)].n > 0 &&
			    (parties->program->requests.n ? background(it) : i) == operation)
				choices[n++] = (struct choice){ (uint8_t)i, lane, true, 0 };
		}
	}
	return n;
}

enum { CHOICES = RR_RUN_CLIENTS * 2 * RR_RUN_ORDINALS };

static bool take_choice(struct execution *it, const struct choice *choice, size_t operation)
{
	return choice->is_message ?
		       read_message(it, choice->client, choice->lane, (uint8_t)operation) :
		       execute(it, choice->client, choice->index);
}

/* What nobody has to wait for: answers of requests, commands that the server has already, and
 * what apps do on their own until they only poll. */
static bool settle(struct execution *it)
{
	struct choice choices[CHOICES];

	for (;;) {
		size_t client = 0, index = 0;
		bool is_found = false;

		for (size_t i = 0; i < it->drive->config->parties.n && !is_found; i++) {
			for (size_t j = 0; j < it->clients[i].n_pending && !is_found; j++) {
				const struct pending *pending = &it->clients[i].pending[j];

				is_found = pending->is_waiting && !pending->is_blocked;
				client = i;
				index = j;
			}
		}
		if (is_found && !execute(it, client, index))
			return false;
		if (is_found)
			continue;
		if (it->n_events > STEPS ||
		    !execution_can_act(it, background(it), DRIVE_ASIDE_ROUNDS))
			return true;
		list_choices(it, background(it), choices);
		if (!take_choice(it, &choices[0], background(it)))
			return false;
	}
}

/* ---- The whole --------------------------------------------------------------------------- */

static bool begin_party(struct execution *it, size_t client)
{
	const struct rr_skeptic_parties *parties = &it->drive->config->parties;

	it->clients[client].party = parties->begin(parties->context, client, it->drive->world,
						   &it->drive->error);
	return note_end(it->drive, it->clients[client].party != NULL) && goes_on(it->drive);
}

/* Takes over what a party waits for that has begun. */
static bool look_at_first(struct execution *it, size_t client)
{
	const struct rr_skeptic_parties *parties = &it->drive->config->parties;
	struct driven *driven = &it->clients[client];

	if (!look_at(it, client, (uint8_t)background(it)))
		return false;
	if (parties->program->requests.n > 0)
		driven->slept_ns = parties->slept_ns(driven->party);
	else if (!note_sleep(it, client, (uint8_t)background(it)))
		return false;
	driven->has_begun = driven->asleep_ns > 0;
	return true;
}

bool execution_begin_rest(struct execution *it)
{
	const size_t n = it->drive->config->parties.n;
	uint32_t begun = 0;

	for (size_t i = 0; i < n; i++) {
		if (it->clients[i].party)
			continue;
		if (!begin_party(it, i))
			return false;
		begun |= 1U << i;
	}
	for (size_t i = 0; i < n; i++) {
		if (begun >> i & 1 && !look_at_first(it, i))
			return false;
	}
	return begun == 0 || settle(it);
}

bool execution_begin_party(struct execution *it, size_t operation)
{
	const struct rr_program *program = it->drive->config->parties.program;
	const size_t client = program->requests.n == 0 ? operation :
							 program->requests.places[operation].client;

	return it->clients[client].party ||
	       (begin_party(it, client) && look_at_first(it, client) && settle(it));
}

bool execution_begin(struct execution *it, struct drive *drive, bool one_by_one)
{
	const struct rr_skeptic_parties *parties = &drive->config->parties;
	uint32_t keys[KEYS];
	size_t n_keys;

	*it = (struct execution){ .drive = drive };
	if (!goes_on(drive))
		return false;
	if (parties->together && !parties->together(parties->context, &drive->error))
		return false;
	if (!rr_servers_reset(&drive->servers))
		return fail_server(drive);
	if (!read_data(it))
		return false;
	n_keys = end_new_leases(drive, RR_NO_ID, it->data, keys, KEYS);
	for (size_t i = 0; i < n_keys; i++)
		note_given(it, keys[i], RR_NO_ID, (uint8_t)background(it));
	return (one_by_one && parties->together) || execution_begin_rest(it);
}

void execution_end(struct execution *it)
{
	for (size_t i = 0; i < RR_RUN_CLIENTS; i++) {
		if (it->clients[i].party)
			it->drive->config->parties.end(it->clients[i].party);
	}
	free(it->events);
	free(it->given);
}

bool execution_is_done(const struct execution *it, size_t operation)
{
	const struct rr_program *program = it->drive->config->parties.program;

	if (program->requests.n == 0)
		return it->clients[operation].has_ended;
	if (it->clients[program->requests.places[operation].client].has_ended)
		return true;
	return it->operations[operation].has_begun &&
	       (it->operations[operation].is_answered ||
		program->requests.unanswered >> operation & 1) &&
	       !execution_can_act(it, operation, DRIVE_ASIDE_ROUNDS);
}

bool execution_are_all_done(const struct execution *it)
{
	for (size_t i = 0; i < background(it); i++) {
		if (!execution_is_done(it, i))
			return false;
	}
	return true;
}

bool execution_can_act(const struct execution *it, size_t operation, unsigned rounds)
{
	const struct operation *own = &it->operations[operation];
	struct choice choices[CHOICES];

	return !(own->polled == it->version && own->rounds >= rounds) &&
	       list_choices((struct execution *)it, operation, choices) > 0;
}

bool execution_would_write(const struct execution *it, size_t operation)
{
	struct drive *drive = it->drive;
	struct choice choices[CHOICES];
	const size_t n = list_choices((struct execution *)it, operation, choices);
	bool writes = false;

	for (size_t i = 0; i < n && !choices[0].is_message && !writes; i++) {
		const uint32_t command =
			it->clients[choices[i].client].pending[choices[i].index].command;
		const uint32_t kind = drive->terms->command[command].kind;

		writes = rr_intern_find(&drive->writes, &kind, sizeof(kind)) != RR_NO_ID;
	}
	return writes;
}

bool execution_step(struct execution *it, size_t operation, uint64_t pick)
{
	struct choice choices[CHOICES];
	const size_t n = list_choices(it, operation, choices);

	it->is_long |= it->n_events > STEPS;
	return take_choice(it, &choices[pick % n], operation) && settle(it);
}

bool execution_is_asleep(const struct execution *it, size_t operation)
{
	return it->drive->config->parties.program->requests.n == 0 &&
	       it->clients[operation].asleep_ns > 0;
}

/* Until the first client wakes up that sleeps; RR_NEVER = none does. */
static int64_t first_waking_ns(const struct execution *it)
{
	int64_t first_ns = RR_NEVER;

	for (size_t i = 0; i < it->drive->config->parties.n; i++) {
		const int64_t asleep_ns = it->clients[i].asleep_ns;

		if (asleep_ns > 0 && asleep_ns < first_ns)
			first_ns = asleep_ns;
	}
	return first_ns;
}

bool execution_pass(struct execution *it, int64_t until_ns)
{
	const bool slowly = is_slow(it);
	const int64_t waking_ns = first_waking_ns(it), expiry_ns = first_expiry_ns(it, slowly);
	int64_t first_ns = until_ns == RR_NEVER ? RR_NEVER : until_ns - it->now_ns;
	struct rr_heard heard;
	size_t client = 0, index = SIZE_MAX;

	first_ns = waking_ns < first_ns ? waking_ns : first_ns;
	for (size_t i = 0; i < it->drive->config->parties.n; i++) {
		for (size_t j = 0; j < it->clients[i].n_pending; j++) {
			const struct pending *pending = &it->clients[i].pending[j];

			if (!pending->is_blocked || pending->ends_ns == RR_NEVER ||
			    pending->ends_ns - it->now_ns >= first_ns)
				continue;
			first_ns = pending->ends_ns > it->now_ns ? pending->ends_ns - it->now_ns :
								   0;
			client = i;
			index = j;
		}
	}
	if (expiry_ns < first_ns) {
		first_ns = expiry_ns;
		index = SIZE_MAX;
	}
	if (first_ns == RR_NEVER ||
	    !pass_time(it, first_ns, slowly, index == SIZE_MAX && first_ns == waking_ns) ||
	    !deliver_served(it))
		return false;
	if (index != SIZE_MAX && index < it->clients[client].n_pending &&
	    it->clients[client].pending[index].is_blocked &&
	    (!ask(it, RR_ASK_UNBLOCK, slot_of(client, it->clients[client].pending[index].lane), 0,
		  &heard) ||
	     !deliver_served(it)))
		return false;
	return settle(it);
}

bool execution_wait(struct execution *it, unsigned allowed)
{
	const struct rr_skeptic_parties *parties = &it->drive->config->parties;
	const bool are_requests = parties->program->requests.n > 0;
	const int64_t waking_ns = first_waking_ns(it);
	size_t n_waits = 0;

	/* Who gives up after so many rounds does so before time passes for others, but not before
	 * they wake up whose sleep is over by then. */
	for (size_t i = 0; i <= background(it); i++) {
		if ((i == background(it) ||
		     (allowed >> i & 1 && it->clients[i].ahead_ns < waking_ns)) &&
		    execution_can_act(it, i, STUCK_ROUNDS))
			return execution_step(it, i, 0);
	}
	if (waking_ns != RR_NEVER)
		return execution_pass(it, RR_NEVER);
	for (size_t i = 0; i < it->n_events; i++)
		n_waits += (it->events[i].kind == EVENT_TIME && !it->events[i].is_sleep) ||
			   it->events[i].kind == EVENT_TIMEOUT;
	if (n_waits >= WAITS)
		return false;
	/* A client waits for a message, or with a time-out of its own. */
	for (size_t i = 0; i < parties->n; i++) {
		const uint16_t lanes = it->clients[i].may_time_out;
		const uint8_t owner = (uint8_t)(are_requests ? background(it) : i);
		const size_t event = it->n_events;

		if (!lanes || (!are_requests && !(allowed >> i & 1)))
			continue;
		add_event(it, (struct event){ .kind = EVENT_TIMEOUT,
					      .operation = owner,
					      .client = (uint8_t)i,
					      .command = RR_NO_ID,
					      .reply = RR_NO_ID });
		return feed(it, i, (uint8_t)__builtin_ctz(lanes),
			    (struct rr_input){ .kind = RR_INPUT_TIMEOUT }, owner, event) &&
		       settle(it);
	}
	return execution_pass(it, RR_NEVER);
}

bool execution_finish(struct execution *it)
{
	for (size_t i = 0; i < it->drive->config->parties.n; i++) {
		for (size_t j = 0; j < it->clients[i].n_pending; j++) {
			if (it->clients[i].pending[j].kind != RR_SENT_END)
				continue;
			if (!execute(it, i, j))
				return false;
			break;
		}
	}
	return true;
}
