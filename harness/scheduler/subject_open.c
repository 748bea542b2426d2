/* SPDX-License-Identifier: MIT */
/* Opening a subject's clients, and closing them. */
#include <stdio.h>

#include "link.h"
#include "subject_inside.h"

bool rr_subject_complain(struct rr_subject *subject, const char *what,
			 const struct rl_link *link)
{
	snprintf(subject->error, sizeof(subject->error), "%s%s%s", what,
		 link ? ": " : "", link ? rl_link_error(link) : "");
	return false;
}

struct rl_link *rr_subject_connect(struct rr_subject *subject, size_t server)
{
	/* Where nobody stops servers, one that is slow is only slow. */
	struct rl_link *link = rl_link_new(&subject->config.addresses[server],
					   subject->config.servers_stay ?
						   RL_DRIVEN_TIMEOUT_MS :
						   RR_TIMEOUT_MS);

	if (!link)
		rr_subject_complain(subject, "out of memory", NULL);
	else if (rl_link_connect(link) != RL_OK)
		rr_subject_complain(subject, "cannot connect", link);
	return link;
}

bool rr_subject_connect_client(struct rr_subject *subject,
			       struct rr_subject_client *client)
{
	const struct rr_subject_config *config = &subject->config;

	for (size_t i = 0; i < subject->n_servers; i++)
		client->links[i] = rr_subject_connect(subject, i);
	client->client = (struct rr_client){
		.data = client->links[0],
		.lock_nodes = client->links + 1,
		.n_lock_nodes = subject->n_servers - 1,
		.counter = subject->counter,
		.lock = subject->lock,
		.mutex = config->separate ? &client->mutex :
					    &subject->clients[0].mutex,
		.ttl_ms = config->ttl_ms,
		.hold_us = config->hold_us,
	};
	return !subject->error[0];
}

static void drive(struct rr_subject_client *client, bool on)
{
	struct rr_subject *subject = client->subject;

	const struct rl_driver *driver =
		on ? rr_gate_driver(subject->gate, client->number) : NULL;

	for (size_t i = 0; i < subject->n_servers && client->links[i]; i++)
		rl_link_set_driver(client->links[i], driver);
}

/* The strategy's own part is closed, undriven: nobody watches. */
static void close_client(struct rr_subject_client *client)
{
	const struct rr_strategy *strategy = client->subject->config.strategy;

	drive(client, false);
	if (client->opened && strategy->close)
		strategy->close(&client->client);
	client->opened = false;
	client->client.state = NULL;
}

static void free_links(struct rr_subject_client *client)
{
	for (size_t i = 0; i < client->subject->n_servers; i++) {
		rl_link_free(client->links[i]);
		client->links[i] = NULL;
	}
}

/* Links are as they were before the last run: a server that has forgotten all is
 * new to them, and whether a connection has to be made must not depend on how
 * the last run ended. */
static bool restore_links(struct rr_subject_client *client, bool has_left)
{
	struct rr_subject *subject = client->subject;

	for (size_t i = 0; i < subject->n_servers; i++) {
		if (has_left)
			rl_link_disconnect(client->links[i]);
		if (rl_link_connect(client->links[i]) != RL_OK)
			return rr_subject_complain(subject, "cannot connect",
						   client->links[i]);
	}
	return true;
}

bool rr_subject_open_client(struct rr_subject_client *client)
{
	struct rr_subject *subject = client->subject;
	const struct rr_strategy *strategy = subject->config.strategy;
	const bool has_left = rr_gate_has_left(subject->gate, client->number);

	close_client(client);
	if (!restore_links(client, has_left))
		return false;
	rr_gate_forget_links(subject->gate, client->number);
	client->opened = true;
	if (strategy->open && strategy->open(&client->client) != RL_OK)
		return rr_subject_complain(subject, "cannot open the strategy",
					   NULL);
	drive(client, true);
	return true;
}

void rr_subject_free_client(struct rr_subject_client *client)
{
	close_client(client);
	free_links(client);
}
