/* SPDX-License-Identifier: MIT */
#include "drive.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "end.h"

/* ---- Servers ------------------------------------------------------------------------ */

/* What only the connection that asks can notice is answered at once. */
static uint32_t answer_at_once(void *context, int server, const struct rl_command *command)
{
	struct drive *drive = context;
	const uint32_t id = rr_terms_command(drive->terms, command);
	struct rl_reply reply;
	bool is_new;
	const uint32_t number = rr_intern_put(&drive->asked, &id, sizeof(id), &is_new);

	if (!is_new)
		return drive->answers[number];
	rr_array_grow(&drive->answers, number, sizeof(*drive->answers));
	if (!rr_asker_run(drive->servers.askers[server], &reply, command))
		reply = (struct rl_reply){ .type = RL_REPLY_NIL };
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
	drive->scripts.n_first = config->n_given;
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

static struct rr_inbox *inbox_of(struct execution *it, size_t client, uint8_t lane)
{
	return &it->drive->servers.inboxes[0][slot_of(client, lane)];
}

/* Whose is a command that a client sends after something that it did for `cause`? */
static uint8_t owner_of(const struct execution *it, size_t client, const struct rr_sent *sent,
			uint8_t cause)
{
	const struct rr_program *program = it->drive->config->parties.program;

	if (program->n_requests == 0)
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
	enum { BACK = DRIVE_PERIOD * (DRIVE_STUCK_ROUNDS + 2) };
	struct operation *own = &it->operations[operation];
	size_t events[BACK], n = 0, period;

	for (size_t i = it->n_events; i-- > 0 && n < BACK && it->events[i].kind != EVENT_TIME;) {
		if (it->events[i].operation == operation)
			events[n++] = i;
		else if (it->events[i].changes)
			break;
	}
	for (size_t i = 0; i < n / 2; i++) {
		const size_t other = events[i];

		events[i] = events[n - 1 - i];
		events[n - 1 - i] = other;
	}
	own->rounds = count_rounds(it, events, n, &period);
	own->polled = it->version;
}

/* ---- Steps ------------------------------------------------------------------------------- */

static struct event *add_event(struct execution *it, struct event event)
{
	rr_array_grow(&it->events, it->n_events, sizeof(*it->events));
	it->events[it->n_events] = event;
	return &it->events[it->n_events++];
}

static bool read_data(struct execution *it, bool *changes)
{
	const uint32_t before = it->data;

	if (!end_read_data(it->drive, &it->data))
		return fail_server(it->drive);
	*changes = it->data != before;
	it->version += *changes;
	return true;
}

/* Time passes on the server, and for all clients but one, whose own clock has moved already. */
static bool pass_time(struct execution *it, int64_t ns, size_t except)
{
	struct rr_heard heard;
	bool changes;

	it->now_ns += ns;
	it->moved_ns += ns;
	for (size_t i = 0; i < it->drive->config->parties.n; i++)
		it->clients[i].owed_ns += i == except ? 0 : ns;
	add_event(it,
		  (struct event){
			  .kind = EVENT_TIME, .ns = ns, .command = RR_NO_ID, .reply = RR_NO_ID });
	return ask(it, RR_ASK_TICK, 0, ns, &heard) && read_data(it, &changes);
}

/* The keys to which a command has just given a time to live are its client's. */
static void note_leases(struct execution *it, size_t client, uint32_t before)
{
	struct driven *driven = &it->clients[client];
	uint32_t keys[DRIVE_LEASES];
	const size_t n = end_new_leases(it->drive, before, it->data, keys, DRIVE_LEASES);

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < it->drive->config->parties.n; j++) {
			for (size_t k = 0; k < DRIVE_LEASES; k++) {
				if (it->clients[j].leases[k] == keys[i])
					it->clients[j].leases[k] = RR_NO_ID;
			}
		}
		driven->leases[driven->n_leases++ % DRIVE_LEASES] = keys[i];
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

/* When a client has slept until after a key has expired that is its own, or that was given, that
 * time has passed on the server as well: no client was late. But others may be, who hold leases:
 * these last longer by as much. */
static bool note_sleep(struct execution *it, size_t client, uint8_t operation)
{
	struct driven *driven = &it->clients[client];
	const int64_t before_ns = driven->slept_ns;
	uint32_t keys[DRIVE_LEASES];
	const size_t n = end_new_leases(it->drive, RR_NO_ID, it->data, keys, DRIVE_LEASES);
	bool outsleeps = false, is_of_others[DRIVE_LEASES];
	int64_t slept_ns;

	driven->slept_ns = it->drive->config->parties.slept_ns(driven->party);
	slept_ns = driven->slept_ns - before_ns;
	it->moved_ns += slept_ns;
	for (size_t i = 0; i < n; i++) {
		const size_t holder = holder_of(it, keys[i]);

		is_of_others[i] = holder < it->drive->config->parties.n && holder != client &&
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
	return pass_time(it, slept_ns, client);
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
	driven->n_printed = parties->answer(parties->context, driven->party,
					    parties->program->n_requests ? SIZE_MAX : client)
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
	if (taken.kind == RR_SENT_ANSWER)
		own->is_answered = true;
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
				it->drive->terms->reply[reply].reply.type != RL_REPLY_NIL;
			if (!deliver(it, i, j, pending->event, reply))
				return false;
			j = (size_t)-1; /* what is pending has changed */
		}
	}
	return true;
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
				      .is_mark = pending->kind != RR_SENT_COMMAND,
				      .command = pending->command,
				      .reply = RR_NO_ID });
	if (!ask(it, RR_ASK_COMMAND, slot_of(client, pending->lane), pending->command, &heard) ||
	    !read_data(it, &changes))
		return false;
	it->events[event].changes = changes;
	own->n_steps += pending->kind == RR_SENT_COMMAND;
	if (changes) {
		rr_intern_put(&it->drive->writes, &command->kind, sizeof(command->kind), NULL);
		own->has_changed = true;
		own->n_writes++;
		note_leases(it, client, before);
	}
	if (heard.blocks) {
		const int64_t wait_ns = rr_command_time_out_ns(&command->words);

		pending->is_blocked = true;
		pending->ends_ns = wait_ns == RR_NEVER ? RR_NEVER : it->now_ns + wait_ns;
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

		for (size_t j = 0; j < driven->n_pending; j++) {
			const struct pending *pending = &driven->pending[j];

			if (!(seen >> pending->lane & 1) && !pending->is_blocked &&
			    pending->owner == operation && pending->kind != RR_SENT_END)
				choices[n++] = (struct choice){ (uint8_t)i, pending->lane, false,
								j };
			seen |= 1U << pending->lane;
		}
		for (uint8_t lane = 0; lane < RR_RUN_ORDINALS; lane++) {
			if (driven->listens >> lane & 1 && inbox_of(it, i, lane)->n > 0 &&
			    (parties->program->n_requests ? background(it) : i) == operation)
				choices[n++] = (struct choice){ (uint8_t)i, lane, true, 0 };
		}
	}
	return n;
}

enum { CHOICES = DRIVE_CLIENTS * 2 * RR_RUN_ORDINALS };

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
		if (it->n_events > DRIVE_STEPS ||
		    !execution_can_act(it, background(it), DRIVE_ASIDE_ROUNDS))
			return true;
		list_choices(it, background(it), choices);
		if (!take_choice(it, &choices[0], background(it)))
			return false;
	}
}

/* ---- The whole --------------------------------------------------------------------------- */

bool execution_begin(struct execution *it, struct drive *drive)
{
	const struct rr_skeptic_parties *parties = &drive->config->parties;
	bool changes;

	*it = (struct execution){ .drive = drive };
	if (!goes_on(drive))
		return false;
	if (!rr_servers_reset(&drive->servers))
		return fail_server(drive);
	if (!read_data(it, &changes))
		return false;
	for (size_t i = 0; i < parties->n; i++) {
		it->clients[i].party = parties->begin(parties->context, i, &drive->error);
		if (!note_end(drive, it->clients[i].party != NULL) || !goes_on(drive))
			return false;
	}
	for (size_t i = 0; i < parties->n; i++) {
		if (!look_at(it, i, (uint8_t)background(it)))
			return false;
		it->clients[i].slept_ns = parties->slept_ns(it->clients[i].party);
	}
	return settle(it);
}

void execution_end(struct execution *it)
{
	for (size_t i = 0; i < DRIVE_CLIENTS; i++) {
		if (it->clients[i].party)
			it->drive->config->parties.end(it->clients[i].party);
	}
	free(it->events);
}

bool execution_is_done(const struct execution *it, size_t operation)
{
	const struct rr_program *program = it->drive->config->parties.program;

	if (program->n_requests == 0)
		return it->clients[operation].has_ended;
	if (it->clients[program->places[operation].client].has_ended)
		return true;
	return it->operations[operation].has_begun &&
	       (it->operations[operation].is_answered || program->unanswered >> operation & 1) &&
	       !execution_can_act(it, operation, DRIVE_ASIDE_ROUNDS);
}

bool execution_are_all_done(const struct execution *it)
{
	bool are = true;

	for (size_t i = 0; i < background(it) && are; i++)
		are = execution_is_done(it, i);
	return are;
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

	it->is_long |= it->n_events > DRIVE_STEPS;
	return take_choice(it, &choices[pick % n], operation) && settle(it);
}

/* A client waits for a message, or with a time-out of its own. */
static bool time_out_listener(struct execution *it, unsigned allowed, bool *does)
{
	const struct rr_skeptic_parties *parties = &it->drive->config->parties;

	*does = false;
	for (size_t i = 0; i < parties->n && !*does; i++) {
		const uint16_t lanes = it->clients[i].may_time_out;
		const uint8_t owner = (uint8_t)(parties->program->n_requests ? background(it) : i);
		const size_t event = it->n_events;

		if (!lanes || (parties->program->n_requests == 0 && !(allowed >> i & 1)))
			continue;
		*does = true;
		add_event(it, (struct event){ .kind = EVENT_TIMEOUT,
					      .operation = owner,
					      .client = (uint8_t)i,
					      .command = RR_NO_ID,
					      .reply = RR_NO_ID });
		return feed(it, i, (uint8_t)__builtin_ctz(lanes),
			    (struct rr_input){ .kind = RR_INPUT_TIMEOUT }, owner, event);
	}
	return true;
}

bool execution_wait(struct execution *it, unsigned allowed)
{
	int64_t first_ns = RR_NEVER;
	size_t client = 0, index = SIZE_MAX;
	struct rr_heard heard;
	bool has_timed_out;
	size_t n_waits = 0;

	/* Who gives up after so many rounds does so before time passes for others. */
	for (size_t i = 0; i <= background(it); i++) {
		if ((i == background(it) || allowed >> i & 1) &&
		    execution_can_act(it, i, DRIVE_STUCK_ROUNDS))
			return execution_step(it, i, 0);
	}
	for (size_t i = 0; i < it->n_events; i++)
		n_waits += it->events[i].kind == EVENT_TIME || it->events[i].kind == EVENT_TIMEOUT;
	if (n_waits >= DRIVE_WAITS)
		return false;
	if (!time_out_listener(it, allowed, &has_timed_out))
		return false;
	if (has_timed_out)
		return settle(it);
	for (size_t i = 0; i < it->drive->config->parties.n; i++) {
		for (size_t j = 0; j < it->clients[i].n_pending; j++) {
			const struct pending *pending = &it->clients[i].pending[j];

			if (pending->is_blocked && pending->ends_ns < first_ns) {
				first_ns = pending->ends_ns;
				client = i;
				index = j;
			}
		}
	}
	if (index != SIZE_MAX)
		first_ns = first_ns > it->now_ns ? first_ns - it->now_ns : 0;
	if (end_expiry_ns(it->drive, it->data, RR_NO_ID) < first_ns) {
		first_ns = end_expiry_ns(it->drive, it->data, RR_NO_ID);
		index = SIZE_MAX;
	}
	if (first_ns == RR_NEVER || !pass_time(it, first_ns, SIZE_MAX) || !deliver_served(it))
		return false;
	if (index != SIZE_MAX && index < it->clients[client].n_pending &&
	    it->clients[client].pending[index].is_blocked &&
	    (!ask(it, RR_ASK_UNBLOCK, slot_of(client, it->clients[client].pending[index].lane), 0,
		  &heard) ||
	     !deliver_served(it)))
		return false;
	return settle(it);
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
