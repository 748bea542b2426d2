/* SPDX-License-Identifier: MIT */
/* Compare-and-delete by a transaction, and what may come into its middle. */
#include "../support.h"

#include <stdio.h>
#include <string.h>

#include "driver.h"

static struct support support;
static struct rl_link *link_, *other;

/* A link of a user to whom scripts are forbidden. */
static void setup(void)
{
	struct rl_address address;
	struct rl_reply reply;

	support_open(&support, 1);
	other = support_link(&support, 0);
	cr_assert_eq(rl_run(other, &reply,
			    "ACL SETUSER tester on >pw ~* &* +@all -@scripting"),
		     RL_OK);
	address = support.fleet.addresses[0];
	snprintf(address.user, sizeof(address.user), "tester");
	snprintf(address.password, sizeof(address.password), "pw");
	link_ = rl_link_new(&address, RR_TIMEOUT_MS);
}

static void teardown(void)
{
	rl_link_free(link_);
	rl_link_free(other);
	support_close(&support);
}

TestSuite(compare, .init = setup, .fini = teardown);

/* Between the look at the key and its deletion somebody else takes it. */
static enum rl_outcome intrude(void *context, struct rl_link *link,
			       struct rl_command *command)
{
	struct rl_reply reply;

	(void)context;
	(void)link;
	if (strncmp(command->words[0].text, "MULTI", 5) == 0)
		rl_run(other, &reply, "SET lock theirs");
	return RL_OK;
}

static const struct rl_driver_ops intruder_ops = { .send = intrude };
static const struct rl_driver intruder = { .ops = &intruder_ops };

Test(compare, key_that_changes_hands_in_the_middle_is_spared)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(link_, &reply, "SET lock ours"), RL_OK);
	rl_link_set_driver(link_, &intruder);
	cr_assert_eq(rl_delete_if_equal(link_, "lock", "ours"), RL_LOST);
	cr_assert_str_eq(support_ask(other, "GET", "lock"), "theirs");
}

Test(compare, refused_watch_is_an_error_and_the_link_stays_in_step)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(link_, &reply, "SET lock ours"), RL_OK);
	cr_assert_eq(rl_delete_if_equal(link_, "other", "ours"), RL_LOST);
	cr_assert_eq(rl_run(other, &reply, "ACL SETUSER tester -watch"), RL_OK);
	cr_assert_eq(rl_delete_if_equal(link_, "lock", "ours"), RL_ERROR);
	cr_assert_str_eq(support_ask(link_, "ECHO", "next"), "next");
	cr_assert_str_eq(support_ask(other, "GET", "lock"), "ours");
}

Test(compare, value_of_another_is_spared_and_nothing_stays_watched)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(link_, &reply, "SET lock theirs"), RL_OK);
	cr_assert_eq(rl_delete_if_equal(link_, "lock", "ours"), RL_LOST);
	cr_assert_eq(rl_run(other, &reply, "SET lock again"), RL_OK);
	cr_assert_eq(rl_queue(link_, "MULTI"), RL_OK);
	cr_assert_eq(rl_queue(link_, "SET k v"), RL_OK);
	cr_assert_eq(rl_exec(link_, 2, &reply), RL_OK);
	cr_assert_eq(reply.type, RL_REPLY_ARRAY, "the key was watched still");
}
