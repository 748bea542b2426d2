/* SPDX-License-Identifier: MIT */
/* The quorum lock where its own earlier token was left behind. */
#include <signal.h>
#include <string.h>

#include "../party.h"

static struct support support;
static struct party party;

static void setup(void)
{
	support_open(&support, 5);
	party_open(&party, support.addresses, 5, NODE_MS);
}

static void teardown(void)
{
	party_close(&party);
	support_close(&support);
}

TestSuite(quorum_left, .init = setup, .fini = teardown);

/* Nothing but SET reaches the server. */
static enum rdl_outcome lose_release(void *context, struct rdl_link *link,
				     struct rdl_command *command)
{
	const struct rdl_word *name = &command->words[0];

	(void)context;
	(void)link;
	return name->length == 3 && memcmp(name->text, "SET", 3) == 0 ? RDL_OK : RDL_UNKNOWN;
}

/* Held, and the release never arrives at the first three servers. */
static void leave_tokens(void)
{
	static const struct rdl_driver_ops ops = { .send = lose_release };
	static const struct rdl_driver lossy = { .ops = &ops };

	cr_assert_eq(party_try(&party, NULL), RDL_OK);
	for (size_t i = 0; i < 3; i++)
		rdl_link_set_driver(party.links[i], &lossy);
	cr_assert_eq(party_release(&party, NULL), RDL_UNKNOWN);
	for (size_t i = 0; i < 3; i++)
		rdl_link_set_driver(party.links[i], NULL);
	cr_assert_eq(locks_left(&support, 5), 3);
}

Test(quorum_left, own_token_that_is_left_does_not_refuse_us)
{
	leave_tokens();
	cr_assert_eq(party_try(&party, NULL), RDL_OK, "%s", rdl_quorum_error(party.quorum));
	cr_assert_eq(locks_left(&support, 5), 5);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
	cr_assert_eq(locks_left(&support, 5), 0);
}

/* An attempt in between that did not reach the servers either. */
Test(quorum_left, own_token_is_remembered_over_several_attempts)
{
	leave_tokens();
	for (int i = 0; i < 2; i++) {
		servers_signal(&support, 0, 3, SIGSTOP);
		cr_assert_eq(party_try(&party, NULL), RDL_ERROR);
		for (size_t k = 0; k < 3; k++)
			rdl_link_disconnect(party.links[k]);
		servers_signal(&support, 0, 3, SIGCONT);
	}
	cr_assert_eq(party_try(&party, NULL), RDL_OK, "%s", rdl_quorum_error(party.quorum));
	cr_assert_eq(locks_left(&support, 5), 5);
}

Test(quorum_left, own_token_goes_where_scripts_are_forbidden_too)
{
	struct rdl_address addresses[5];
	struct rdl_reply reply;

	for (size_t i = 0; i < 5; i++) {
		struct rdl_link *admin = support_link(&support, i);

		cr_assert_eq(rdl_run(admin, &reply, "ACL SETUSER u on >pw ~* %s %s", "+@all",
				     "-@scripting"),
			     RDL_OK);
		rdl_link_free(admin);
		addresses[i] = support.cluster.servers[i].address;
		strcpy(addresses[i].user, "u");
		strcpy(addresses[i].password, "pw");
	}
	party_close(&party);
	party_open(&party, addresses, 5, NODE_MS);
	leave_tokens();
	cr_assert_eq(party_try(&party, NULL), RDL_BUSY); /* and removes them */
	cr_assert_eq(party_try(&party, NULL), RDL_OK);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
	cr_assert_eq(locks_left(&support, 5), 0);
}
