/* SPDX-License-Identifier: MIT */
/* Compare-and-delete by every means that a server has or leaves to a user. */
#include <signal.h>
#include <string.h>

#include "../party.h"
#include "compare.h"
#include "pair.h"

TestSuite(compare, .init = pair_setup, .fini = pair_teardown);

/* link_ belongs to a user who may do all but this from now on. */
static void forbid(const char *what)
{
	struct rdl_address address = support.cluster.servers[0].address;
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "ACL SETUSER u on >pw ~* &* %s %s", "+@all", what),
		     RDL_OK, "%s", rdl_link_error(other));
	strcpy(address.user, "u");
	strcpy(address.password, "pw");
	rdl_link_free(link_);
	link_ = rdl_link_new(&address, RR_TIMEOUT_MS);
}

static void set(const char *value)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "SET k %s", value), RDL_OK);
}

static const char *get(void)
{
	return support_ask(other, "GET", "k");
}

static bool server_has(const char *name)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "COMMAND INFO %s", name), RDL_OK);
	return reply.elements[0].type == RDL_REPLY_ARRAY;
}

/* What is used where scripts are allowed as well. */
static enum rdl_release_method best_or(enum rdl_release_method scripted)
{
	if (server_has("DELEX"))
		return RDL_RELEASE_DELEX;
	return server_has("DELIFEQ") ? RDL_RELEASE_DELIFEQ : scripted;
}

static void assert_compares(void)
{
	set("mine");
	cr_assert_eq(rdl_delete_if_equal(link_, "k", "mine"), RDL_OK, "%s", rdl_link_error(link_));
	cr_assert_str_eq(get(), "(nil)");
	cr_assert_eq(rdl_delete_if_equal(link_, "k", "mine"), RDL_LOST);
	set("theirs");
	cr_assert_eq(rdl_delete_if_equal(link_, "k", "mine"), RDL_LOST);
	cr_assert_str_eq(get(), "theirs");
	set("mine, and more");
	cr_assert_eq(rdl_delete_if_equal(link_, "k", "mine"), RDL_LOST);
	cr_assert_str_eq(get(), "mine, and more");
}

/* Acquired, extended, given back; and left alone when it is somebody else's. */
static void assert_locks(enum rdl_release_method method)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "k");
	struct rdl_reply reply;

	assert_compares();
	set("theirs");
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_BUSY);
	cr_assert_eq(rdl_run(other, &reply, "DEL k"), RDL_OK);
	cr_assert_eq(rdl_lock_try(lock, LONG_MS / 4), RDL_OK);
	cr_assert_eq(rdl_lock_extend(lock, LONG_MS), RDL_OK);
	cr_assert_eq(rdl_run(other, &reply, "PTTL k"), RDL_OK);
	cr_assert_gt(reply.integer, LONG_MS / 2);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	cr_assert_str_eq(get(), "(nil)");
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	set("theirs");
	cr_assert_eq(rdl_lock_extend(lock, LONG_MS), RDL_LOST);
	cr_assert_eq(rdl_run(other, &reply, "PTTL k"), RDL_OK);
	cr_assert_eq(reply.integer, -1);
	cr_assert_eq(rdl_lock_release_method(lock), method, "%s",
		     rdl_release_method_name(rdl_lock_release_method(lock)));
	rdl_lock_free(lock);
}

/* ---- Rungs --------------------------------------------------------------------- */

Test(compare, methods_have_names)
{
	cr_assert_str_eq(rdl_release_method_name(RDL_RELEASE_UNTRIED), "untried");
	cr_assert_str_eq(rdl_release_method_name(RDL_RELEASE_EVALSHA), "EVALSHA");
	cr_assert_str_eq(rdl_release_method_name(RDL_RELEASE_EVAL), "EVAL");
	cr_assert_str_eq(rdl_release_method_name(RDL_RELEASE_WATCH), "WATCH");
}

Test(compare, best_method_is_found_out_at_the_first_use)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "k");

	cr_assert_eq(rdl_lock_release_method(lock), RDL_RELEASE_UNTRIED);
	rdl_lock_free(lock);
	assert_locks(best_or(RDL_RELEASE_EVALSHA));
}

Test(compare, script_is_sent_by_its_hash_once_it_is_known)
{
	assert_compares();
	cr_assert(best_or(RDL_RELEASE_EVALSHA) != RDL_RELEASE_EVALSHA ||
		  command_count(other, "evalsha") >= 3);
}

Test(compare, forgotten_script_is_sent_whole)
{
	struct rdl_reply reply;

	assert_compares();
	cr_assert_eq(rdl_run(other, &reply, "SCRIPT FLUSH"), RDL_OK);
	assert_locks(best_or(RDL_RELEASE_EVALSHA));
}

Test(compare, without_script_load_it_is_always_sent_whole)
{
	forbid("-script|load");
	assert_locks(best_or(RDL_RELEASE_EVAL));
}

Test(compare, without_the_right_to_ask_for_commands_a_script_does)
{
	forbid("-command");
	assert_locks(RDL_RELEASE_EVALSHA);
}

Test(compare, without_scripts_a_transaction_does)
{
	forbid("-@scripting");
	assert_locks(best_or(RDL_RELEASE_WATCH));
}

Test(compare, right_that_is_taken_away_later_is_stepped_down_from)
{
	struct rdl_reply reply;

	forbid("+ping");
	assert_compares();
	cr_assert_eq(rdl_run(other, &reply, "ACL SETUSER u -@scripting"), RDL_OK);
	assert_locks(best_or(RDL_RELEASE_WATCH));
}

/* ---- Between WATCH and EXEC -------------------------------------------------------- */

/* Another client writes right before the MULTI of this one. */
static enum rdl_outcome intrude(void *context, struct rdl_link *link, struct rdl_command *command)
{
	(void)link;
	if (memcmp(command->words[0].text, "MULTI", 5) == 0)
		set(context);
	return RDL_OK;
}

static void use_transactions(void)
{
	if (best_or(RDL_RELEASE_WATCH) != RDL_RELEASE_WATCH)
		cr_skip_test("the server needs no transactions");
	forbid("-@scripting");
	cr_assert_eq(rdl_delete_if_equal(link_, "k", "mine"), RDL_LOST);
}

Test(compare, key_written_between_watch_and_exec_is_left_alone)
{
	static const struct rdl_driver_ops ops = { .send = intrude };
	char theirs[] = "theirs";
	const struct rdl_driver intruder = { &ops, theirs };
	struct rdl_lock *lock;

	use_transactions();
	lock = rdl_lock_new(link_, "k");
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	rdl_link_set_driver(link_, &intruder);
	cr_assert_eq(rdl_lock_release(lock), RDL_LOST);
	cr_assert_str_eq(get(), "theirs");
	rdl_link_set_driver(link_, NULL);
	set("mine");
	cr_assert_eq(rdl_delete_if_equal(link_, "k", "mine"), RDL_OK);
	rdl_lock_free(lock);
}

/* A look that no answer came to in time leaves no watch behind, which would
 * let a later transaction fail. */
Test(compare, watch_that_was_given_up_is_undone)
{
	const struct rdl_guarded guarded = { "k", "mine", 0 };

	use_transactions();
	servers_signal(&support, 0, 1, SIGSTOP);
	cr_assert_eq(rdl_guarded_run(link_, &guarded, 1), RDL_UNKNOWN);
	servers_signal(&support, 0, 1, SIGCONT);
	while (command_count(other, "watch") < 2)
		rdl_sleep_ns(other, 1000000);
	set("mine");
	cr_assert_eq(rdl_delete_if_equal(link_, "k", "mine"), RDL_OK);
	cr_assert_str_eq(get(), "(nil)");
}

Test(compare, release_by_transaction_works_after_an_unanswered_one)
{
	struct party party;
	struct rdl_address address;

	use_transactions();
	address = support.cluster.servers[0].address;
	strcpy(address.user, "u");
	strcpy(address.password, "pw");
	party_open(&party, &address, 1, NODE_MS);
	cr_assert_eq(party_try(&party, NULL), RDL_OK);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(party_try(&party, NULL), RDL_OK);
		servers_signal(&support, 0, 1, SIGSTOP);
		cr_assert_eq(party_release(&party, NULL), RDL_UNKNOWN);
		servers_signal(&support, 0, 1, SIGCONT);
		cr_assert_str_neq(lock_at(&support, 0), "(nil)");
		cr_assert_eq(party_release(&party, NULL), RDL_OK);
		cr_assert_str_eq(lock_at(&support, 0), "(nil)");
	}
	party_close(&party);
}
