/* SPDX-License-Identifier: MIT */
#include "subject_inside.h"

#include <stdio.h>
#include <stdlib.h>

#include "choosers.h"

/* ---- Keys ----------------------------------------------------------------- */

/* Asks every server before it hears any: the count, and to delete the keys. */
static bool read_and_delete(struct rr_subject *subject, long long *final)
{
	enum rl_outcome outcome =
		rl_queue(subject->servers[0], "GET %s", subject->counter);
	struct rl_reply reply;

	for (size_t i = 0; i < subject->n_servers; i++) {
		if (outcome == RL_OK)
			outcome = rr_keys_queue_delete(subject->servers[i],
						       subject->config.prefix,
						       0);
		if (outcome == RL_OK)
			outcome = rl_flush(subject->servers[i]);
	}
	if (outcome == RL_OK)
		outcome = rl_receive(subject->servers[0], &reply);
	if (outcome == RL_OK && !rr_count_of(&reply, final))
		return rr_subject_complain(subject,
					   "the counter is not a number", NULL);
	for (size_t i = 0; i < subject->n_servers && outcome == RL_OK; i++)
		outcome = rl_receive(subject->servers[i], &reply);
	return outcome == RL_OK ||
	       rr_subject_complain(subject, "a server is gone",
				   subject->servers[0]);
}

/* ---- Runs ----------------------------------------------------------------- */

/* Everything that it asked for was done and answered, and it knows no more than
 * before. What a renewer's link has found out would show in the next run. */
static bool is_as_new(const struct rr_subject_client *client)
{
	const struct rr_strategy *strategy = client->subject->config.strategy;

	if (strategy->lock.has_renewer)
		return false;
	return client->opened && !rr_subject_is_dead(client) &&
	       client->tally.ok == client->increments &&
	       !rr_gate_has_left(client->subject->gate, client->number);
}

static void begin(struct rr_subject *subject)
{
	subject->inside = 0;
	subject->overlaps = 0;
	for (size_t i = 0; i < subject->config.n_clients; i++) {
		subject->clients[i].tally = (struct rr_tally){ 0 };
		subject->clients[i].acknowledged = 0;
	}
}

/* One increment, without work or a planted fault, of each client that has just been
 * opened: what a link finds out or subscribes to at its first use must not show
 * in a trace. */
static bool warm_up(struct rr_subject *subject, const bool *fresh)
{
	const char *failure;
	enum rr_gate_end end;
	long long final;

	if (!read_and_delete(subject, &final))
		return false;
	begin(subject);
	for (size_t i = 0; i < subject->config.n_clients; i++) {
		subject->clients[i].increments = fresh[i];
		subject->clients[i].client.hold_us = 0;
	}
	rr_gate_plant(subject->gate, NULL);
	end = rr_gate_run(subject->gate, rr_choose_serial, NULL);
	rr_gate_plant(subject->gate, subject->config.planted);
	failure = rr_gate_failure(end);
	if (end != RR_GATE_DONE)
		return rr_subject_complain(
			subject,
			failure ? failure : "the clients do not get through",
			NULL);
	subject->is_warm = true;
	return read_and_delete(subject, &final);
}

/* Opens those again that are not as they were, and notes which. */
static bool renew(struct rr_subject *subject, bool *fresh, bool *any)
{
	*any = false;
	for (size_t i = 0; i < subject->config.n_clients; i++) {
		struct rr_subject_client *client = &subject->clients[i];

		if (is_as_new(client))
			continue;
		if (!rr_subject_open_client(client))
			return false;
		fresh[i] = *any = true;
	}
	return true;
}

bool rr_subject_prepare(struct rr_subject *subject)
{
	const bool subscribes =
		subject->config.strategy->lock.kind == RR_LOCK_QUEUE;
	bool fresh[RR_GATE_CLIENTS] = { false };
	bool any;

	if (!renew(subject, fresh, &any))
		return false;
	if (!any || (subject->is_warm && !subscribes))
		return true;
	return warm_up(subject, fresh) && renew(subject, fresh, &any);
}

bool rr_subject_run(struct rr_subject *subject, rr_choose choose, void *context,
		    struct rr_subject_result *result)
{
	if (!rr_subject_prepare(subject))
		return false;
	begin(subject);
	for (size_t i = 0; i < subject->config.n_clients; i++) {
		subject->clients[i].increments = subject->config.increments;
		subject->clients[i].client.hold_us = subject->config.hold_us;
	}
	*result = (struct rr_subject_result){ 0 };
	result->end = rr_gate_run(subject->gate, choose, context);
	if (subject->config.over)
		subject->config.over(subject->config.context);
	result->overlaps = subject->overlaps;
	for (size_t i = 0; i < subject->config.n_clients; i++) {
		result->clients[i] = subject->clients[i].tally;
		rr_tally_add(&result->sum, &subject->clients[i].tally);
	}
	return read_and_delete(subject, &result->final);
}

/* ---- Making and freeing --------------------------------------------------- */

static bool make_gate(struct rr_subject *subject)
{
	const struct rr_subject_config *config = &subject->config;
	struct rr_gate_client clients[RR_GATE_CLIENTS];

	for (size_t i = 0; i < config->n_clients; i++)
		clients[i] = (struct rr_gate_client){
			.routine = rr_subject_count_up,
			.argument = &subject->clients[i],
			.process = config->separate ? (int)i : 0,
		};
	subject->gate = rr_gate_new(&(struct rr_gate_config){
		.n_clients = config->n_clients,
		.clients = clients,
		.addresses = config->addresses,
		.n_addresses = subject->n_servers,
		.day_ns = config->day_ns,
		.yield_ns = config->yield_ns,
		.servers_stay = config->servers_stay,
		.advance = config->advance,
		.strike = config->strike,
		.context = config->context,
	});
	return subject->gate ||
	       rr_subject_complain(subject, "out of memory", NULL);
}

static bool set_up(struct rr_subject *subject)
{
	if (!make_gate(subject))
		return false;
	for (size_t i = 0; i < subject->n_servers; i++)
		subject->servers[i] = rr_subject_connect(subject, i);
	for (size_t i = 0; i < subject->config.n_clients; i++) {
		if (!rr_subject_connect_client(subject, &subject->clients[i]))
			return false;
	}
	return !subject->error[0];
}

struct rr_subject *rr_subject_new(const struct rr_subject_config *config,
				  char *error, size_t size)
{
	struct rr_subject *subject = calloc(1, sizeof(*subject));

	if (!subject) {
		snprintf(error, size, "out of memory");
		return NULL;
	}
	subject->config = *config;
	subject->n_servers = 1 + config->strategy->lock.servers;
	if (subject->n_servers > 1 && config->lock_servers)
		subject->n_servers = 1 + config->lock_servers;
	rr_keys_counter(subject->counter, config->prefix, 0);
	rr_keys_lock(subject->lock, config->prefix, 0);
	for (size_t i = 0; i < RR_GATE_CLIENTS; i++) {
		subject->clients[i].subject = subject;
		subject->clients[i].number = (int)i;
		rl_mutex_init(&subject->clients[i].mutex);
	}
	if (set_up(subject))
		return subject;
	snprintf(error, size, "%s", subject->error);
	rr_subject_free(subject);
	return NULL;
}

void rr_subject_free(struct rr_subject *subject)
{
	if (!subject)
		return;
	for (size_t i = 0; i < RR_GATE_CLIENTS; i++) {
		if (subject->clients[i].links[0])
			rr_subject_free_client(&subject->clients[i]);
		rl_mutex_destroy(&subject->clients[i].mutex);
	}
	rr_gate_free(subject->gate);
	for (size_t i = 0; i < subject->n_servers; i++)
		rl_link_free(subject->servers[i]);
	free(subject);
}

struct rr_gate *rr_subject_gate(struct rr_subject *subject)
{
	return subject->gate;
}

const char *rr_subject_error(const struct rr_subject *subject)
{
	return subject->error;
}
