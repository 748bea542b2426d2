/* SPDX-License-Identifier: MIT */
#include "conformance.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "link.h"

/* ---- Servers ---------------------------------------------------------------- */

static void add_user(struct stage *stage)
{
	const char *rule = stage->row->acl;
	struct rl_reply reply;

	for (size_t i = 0; rule && i < stage->n_servers; i++)
		cr_assert_eq(rl_run(stage->admins[i], &reply,
				    "ACL SETUSER tester on >pw ~* &* +@all %s",
				    rule),
			     RL_OK, "%s", rl_link_error(stage->admins[i]));
}

void stage_open(struct stage *stage, size_t row)
{
	*stage = (struct stage){ .row = &lock_rows[row],
				 .n_servers = lock_rows[row].n_servers,
				 .hold_max_ms = 600000 };
	support_open(&stage->support, stage->n_servers);
	for (size_t i = 0; i < stage->n_servers; i++)
		stage->admins[i] = support_link(&stage->support, i);
	add_user(stage);
}

void stage_close(struct stage *stage)
{
	for (size_t i = 0; i < stage->n_servers; i++)
		rl_link_free(stage->admins[i]);
	support_close(&stage->support);
}

struct rl_address stage_address(const struct stage *stage, size_t i)
{
	struct rl_address address = stage->support.fleet.addresses[i];

	if (stage->row->acl) {
		snprintf(address.user, sizeof(address.user), "tester");
		snprintf(address.password, sizeof(address.password), "pw");
	}
	return address;
}

static struct rl_command words_of(const char *text)
{
	struct rl_command command = { 0 };

	while (*text) {
		const size_t length = strcspn(text, " ");

		command.words[command.n_words++] =
			(struct rl_word){ text, length };
		text += length + (text[length] == ' ');
	}
	return command;
}

void stage_command(struct stage *stage, const char *command)
{
	for (size_t i = 0; i < stage->n_servers; i++) {
		struct rl_command words = words_of(command);
		struct rl_reply reply;

		cr_assert_eq(rl_run_command(stage->admins[i], &reply, &words),
			     RL_OK, "%s: %s: %s", stage->row->name, command,
			     rl_link_error(stage->admins[i]));
	}
}

size_t stage_count(struct stage *stage, const char *key)
{
	size_t n = 0;

	for (size_t i = 0; i < stage->n_servers; i++)
		n += strcmp(support_ask(stage->admins[i], "EXISTS", key),
			    "1") == 0;
	return n;
}

void stage_kill(struct stage *stage)
{
	struct rr_fleet *fleet = &stage->support.fleet;
	int status;

	for (size_t i = 0; i < stage->n_servers; i++) {
		kill(fleet->wards[i].pid, SIGKILL);
		while (!rr_guardian_has_ended(fleet->guardian, &fleet->wards[i],
					      &status))
			stage_sleep_ms(stage, 1);
		rl_link_disconnect(stage->admins[i]);
	}
}

/* On the old server's socket, whose directory goes with the guardian's. */
static void start_again(struct rr_fleet *fleet, size_t i)
{
	const char *const argv[] = {
		fleet->program, "--port",	"0",
		"--unixsocket", fleet->addresses[i].host,
		"--save",	"",		"--loglevel",
		"warning",	NULL,
	};
	char error[512] = "";

	cr_assert(rr_guardian_spawn(fleet->guardian, &fleet->wards[i], argv, -1,
				    error, sizeof(error)),
		  "%s", error);
}

void stage_restart(struct stage *stage)
{
	for (size_t i = 0; i < stage->n_servers; i++) {
		struct rl_reply reply;
		int tries = 0;

		start_again(&stage->support.fleet, i);
		while (rl_run(stage->admins[i], &reply, "PING") != RL_OK) {
			cr_assert_lt(++tries, 5000, "no server came back");
			stage_sleep_ms(stage, 2);
		}
	}
	add_user(stage);
}

/* ---- Parties ------------------------------------------------------------------ */

void party_open(struct stage *stage, struct party *party, const char *key)
{
	*party = (struct party){ .stage = stage };
	for (size_t i = 0; i < stage->n_servers; i++) {
		const struct rl_address address = stage_address(stage, i);

		party->links[i] = rl_link_new(&address, RR_TIMEOUT_MS);
	}
	party->lock = stage->row->make(party->links, stage->n_servers, key,
				       stage->hold_max_ms);
	cr_assert_not_null(party->lock, "%s", stage->row->name);
}

void party_close(struct party *party)
{
	party->stage->row->free(party->lock);
	for (size_t i = 0; i < party->stage->n_servers; i++)
		rl_link_free(party->links[i]);
}

enum rl_outcome party_try(struct party *party, long ttl_ms)
{
	return party->stage->row->try(party->lock, ttl_ms);
}

enum rl_outcome party_release(struct party *party)
{
	return party->stage->row->release(party->lock);
}

long party_remaining_ms(const struct party *party)
{
	return party->stage->row->remaining_ms(party->lock);
}

enum rl_outcome party_wait(struct party *party, long ttl_ms, long wait_ms)
{
	return party->stage->row->acquire(
		party->lock, ttl_ms,
		&(struct rl_policy){
			.wait_ms = wait_ms,
			.pause_max_us = party->stage->row->pause_max_us });
}

void party_get(struct party *party, long ttl_ms)
{
	stage_expect(party->stage, "acquire", party_wait(party, ttl_ms, 20000),
		     RL_OK);
}

enum rl_outcome party_settle(struct party *party)
{
	enum rl_outcome outcome = RL_UNKNOWN;

	for (int i = 0; i < 5; i++) {
		outcome = party_release(party);
		if (outcome == RL_OK || outcome == RL_LOST)
			break;
	}
	return outcome;
}

/* ---- Expectations ------------------------------------------------------------------ */

void stage_expect(const struct stage *stage, const char *what,
		  enum rl_outcome got, enum rl_outcome wanted)
{
	cr_assert_eq(got, wanted, "%s: %s is %s, not %s", stage->row->name,
		     what, rl_outcome_name(got), rl_outcome_name(wanted));
}

void stage_expect_held(struct stage *stage, const char *key)
{
	const size_t n = stage_count(stage, key);

	cr_assert_gt(n, stage->n_servers / 2, "%s: %s is on %zu of %zu servers",
		     stage->row->name, key, n, stage->n_servers);
}

void stage_expect_free(struct stage *stage, const char *key)
{
	const size_t n = stage_count(stage, key);

	cr_assert_eq(n, 0, "%s: %s is left on %zu servers", stage->row->name,
		     key, n);
}

int64_t stage_now_ms(const struct stage *stage)
{
	return rl_now_ns(stage->admins[0], RL_CLOCK_MONOTONIC) / 1000000;
}

void stage_sleep_ms(const struct stage *stage, long ms)
{
	rl_sleep_ns(stage->admins[0], ms * INT64_C(1000000));
}
