/* SPDX-License-Identifier: MIT */
/* A client's links and locks: made, and taken down. */
#include "client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Opening and closing ------------------------------------------------ */

void rr_runner_give_up(struct rr_runner *runner, enum rr_exit code,
		       const char *format, ...)
{
	struct rr_slot *slot = runner->slot;
	va_list arguments;

	slot->code = code;
	va_start(arguments, format);
	vsnprintf(slot->error, sizeof(slot->error), format, arguments);
	va_end(arguments);
	atomic_store(&runner->board->stop, true);
}

static struct rl_link *connect_to(struct rr_runner *runner, size_t server)
{
	const struct rl_address *address =
		&runner->run->cluster->servers[server].address;
	struct rl_link *link = rl_link_new(address, RR_TIMEOUT_MS);
	char where[300];

	if (!link) {
		rr_runner_give_up(runner, RR_EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	rl_link_set_driver(link, runner->run->driver);
	if (rl_link_connect(link) == RL_OK)
		return link;
	rl_address_print(address, where, sizeof(where));
	rr_runner_give_up(runner, RR_EXIT_REDIS, "cannot reach %s: %.80s", where,
		rl_link_error(link));
	rl_link_free(link);
	return NULL;
}

static bool open_links(struct rr_runner *runner)
{
	const size_t lock_servers = runner->run->strategy->lock.servers;

	runner->data = connect_to(runner, 0);
	for (size_t i = 0; runner->data && i < lock_servers; i++) {
		runner->lock_nodes[i] = connect_to(runner, 1 + i);
		if (!runner->lock_nodes[i])
			return false;
		runner->n_lock_nodes++;
	}
	return runner->data != NULL;
}

static bool open_target(struct rr_runner *runner, int i)
{
	const struct rr_run *run = runner->run;
	struct rr_target *target = &runner->targets[i];

	rr_keys_counter(target->counter, run->prefix, i);
	rr_keys_lock(target->lock, run->prefix, i);
	target->client = (struct rr_client){
		.data = runner->data,
		.lock_nodes = runner->lock_nodes,
		.n_lock_nodes = runner->n_lock_nodes,
		.counter = target->counter,
		.lock = target->lock,
		.mutex = &runner->mutexes[i],
		.ttl_ms = run->ttl_ms,
		.hold_us = run->hold_us,
	};
	target->opened = !run->strategy->open ||
			 run->strategy->open(&target->client) == RL_OK;
	if (!target->opened)
		rr_runner_give_up(runner, RR_EXIT_INTERNAL, "out of memory");
	return target->opened;
}

static bool open_queue(struct rr_runner *runner)
{
	char name[RR_KEY_SIZE];

	rr_keys_queue(name, runner->run->prefix);
	runner->queue = rl_delay_queue_new(runner->data, name);
	if (!runner->queue)
		rr_runner_give_up(runner, RR_EXIT_INTERNAL, "out of memory");
	return runner->queue != NULL;
}

bool rr_runner_open(struct rr_runner *runner)
{
	const struct rr_run *run = runner->run;

	runner->random.state = run->seed + (uint64_t)runner->number;
	if (!open_links(runner))
		return false;
	runner->targets = calloc((size_t)run->keys, sizeof(*runner->targets));
	if (!runner->targets) {
		rr_runner_give_up(runner, RR_EXIT_INTERNAL, "out of memory");
		return false;
	}
	for (int i = 0; i < run->keys; i++) {
		if (!open_target(runner, i))
			return false;
	}
	return run->policy != RR_POLICY_DELAY_QUEUE || open_queue(runner);
}

void rr_runner_close(struct rr_runner *runner)
{
	const struct rr_strategy *strategy = runner->run->strategy;

	for (int i = 0; runner->targets && i < runner->run->keys; i++) {
		if (runner->targets[i].opened && strategy->close)
			strategy->close(&runner->targets[i].client);
	}
	free(runner->targets);
	rl_delay_queue_free(runner->queue);
	for (size_t i = 0; i < runner->n_lock_nodes; i++)
		rl_link_free(runner->lock_nodes[i]);
	rl_link_free(runner->data);
}

/* Sent over all links. */
static uint64_t commands_of(const struct rr_runner *runner)
{
	uint64_t commands = rl_link_commands(runner->data);

	for (size_t i = 0; i < runner->n_lock_nodes; i++)
		commands += rl_link_commands(runner->lock_nodes[i]);
	return commands;
}

void rr_runner_enter(struct rr_runner *runner)
{
	runner->commands_before = commands_of(runner);
}

void rr_runner_leave(struct rr_runner *runner)
{
	runner->slot->commands += commands_of(runner) - runner->commands_before;
}
