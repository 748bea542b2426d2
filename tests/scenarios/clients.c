/* SPDX-License-Identifier: MIT */
#include "clients.h"

#include <string.h>

static bool is(const struct rdl_word *word, const char *text)
{
	return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

static enum rdl_outcome on_send(void *context, struct rdl_link *link, struct rdl_command *command)
{
	struct test_client *client = context;

	(void)link;
	if (!client->before || !is(&command->words[0], client->before))
		return RDL_OK;
	client->before = NULL;
	if (client->act)
		client->act(client->clients);
	return client->dies ? RDL_ERROR : RDL_OK;
}

static enum rdl_outcome on_receive(void *context, struct rdl_link *link, struct rdl_reply *reply,
				   enum rdl_outcome outcome)
{
	struct test_client *client = context;
	const bool lost = client->loses_a_reply;

	(void)link;
	(void)reply;
	client->loses_a_reply = false;
	return lost ? RDL_UNKNOWN : outcome;
}

static int64_t on_now(void *context, enum rdl_clock clock)
{
	const struct test_client *client = context;

	(void)clock;
	return client->clients->clock_s * INT64_C(1000000000);
}

static const struct rdl_driver_ops ops = { .send = on_send, .receive = on_receive, .now = on_now };

static void open_test_client(struct clients *clients, struct test_client *client)
{
	client->clients = clients;
	client->driver = (struct rdl_driver){ &ops, client };
	support_client_open(&client->client, &clients->support, clients->strategy, &client->driver);
}

void clients_open(struct clients *clients, const char *strategy)
{
	*clients = (struct clients){ .strategy = rr_strategy_find(strategy), .clock_s = 1000 };
	cr_assert_not_null(clients->strategy, "no %s", strategy);
	support_open(&clients->support, 1);
	open_test_client(clients, &clients->a);
	open_test_client(clients, &clients->b);
	open_test_client(clients, &clients->c);
	clients->other = support_link(&clients->support, 0);
}

void clients_close(struct clients *clients)
{
	support_client_close(&clients->a.client, clients->strategy);
	support_client_close(&clients->b.client, clients->strategy);
	support_client_close(&clients->c.client, clients->strategy);
	rdl_link_free(clients->other);
	support_close(&clients->support);
}

enum rdl_outcome clients_acquire(struct test_client *client)
{
	return client->clients->strategy->acquire(&client->client.client);
}

enum rdl_outcome clients_increment(struct test_client *client)
{
	return client->clients->strategy->increment(&client->client.client);
}

enum rdl_outcome clients_release(struct test_client *client)
{
	return client->clients->strategy->release(&client->client.client);
}

enum rdl_outcome clients_interrupt(struct clients *clients,
				   enum rdl_outcome (*operation)(struct test_client *),
				   const char *command, void (*act)(struct clients *))
{
	enum rdl_outcome outcome;

	clients->a.before = command;
	clients->a.act = act;
	outcome = operation(&clients->a);
	cr_assert_null(clients->a.before, "%s sent no %s", clients->strategy->name, command);
	return outcome;
}

void clients_assert_release_deletes_bs_lock(const char *strategy,
					    void (*takes_over)(struct clients *))
{
	struct clients clients;

	clients_open(&clients, strategy);
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
	cr_assert_eq(clients_interrupt(&clients, clients_release, "DEL", takes_over), RDL_OK);
	cr_assert_eq(clients_acquire(&clients.c), RDL_OK, "B's lock survived");
	clients_close(&clients);
}

const char *clients_ask(struct clients *clients, const char *command, const char *key)
{
	return support_ask(clients->other, command, key);
}

void clients_set(struct clients *clients, const char *key, const char *value)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(clients->other, &reply, "SET %s %s", key, value), RDL_OK);
}

void clients_expire(struct clients *clients)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(clients->other, &reply, "PEXPIRE lock 0"), RDL_OK);
	cr_assert_eq(reply.integer, 1, "there was no lock");
}
