/* SPDX-License-Identifier: MIT */
#include "conformance.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "link.h"

/* ---- Servers ---------------------------------------------------------------- */

static void add_user(struct scene *scene)
{
	const char *rule = scene->row->acl;
	struct rdl_reply reply;

	for (size_t i = 0; rule && i < scene->n_servers; i++)
		cr_assert_eq(rdl_run(scene->admins[i], &reply,
				     "ACL SETUSER tester on >pw ~* &* +@all %s", rule),
			     RDL_OK, "%s", rdl_link_error(scene->admins[i]));
}

void scene_open(struct scene *scene, size_t row)
{
	*scene = (struct scene){ .row = &lock_rows[row],
				 .n_servers = lock_rows[row].n_servers,
				 .hold_max_ms = 600000 };
	support_open(&scene->support, scene->n_servers);
	for (size_t i = 0; i < scene->n_servers; i++)
		scene->admins[i] = support_link(&scene->support, i);
	add_user(scene);
}

void scene_close(struct scene *scene)
{
	for (size_t i = 0; i < scene->n_servers; i++)
		rdl_link_free(scene->admins[i]);
	support_close(&scene->support);
}

struct rdl_address scene_address(const struct scene *scene, size_t i)
{
	struct rdl_address address = scene->support.cluster.servers[i].address;

	if (scene->row->acl) {
		snprintf(address.user, sizeof(address.user), "tester");
		snprintf(address.password, sizeof(address.password), "pw");
	}
	return address;
}

static struct rdl_command words_of(const char *text)
{
	struct rdl_command command = { 0 };

	while (*text) {
		const size_t length = strcspn(text, " ");

		command.words[command.n_words++] = (struct rdl_word){ text, length };
		text += length + (text[length] == ' ');
	}
	return command;
}

void scene_command(struct scene *scene, const char *command)
{
	for (size_t i = 0; i < scene->n_servers; i++) {
		struct rdl_command words = words_of(command);
		struct rdl_reply reply;

		cr_assert_eq(rdl_run_command(scene->admins[i], &reply, &words), RDL_OK,
			     "%s: %s: %s", scene->row->name, command,
			     rdl_link_error(scene->admins[i]));
	}
}

size_t scene_count(struct scene *scene, const char *key)
{
	size_t n = 0;

	for (size_t i = 0; i < scene->n_servers; i++)
		n += strcmp(support_ask(scene->admins[i], "EXISTS", key), "1") == 0;
	return n;
}

void scene_kill(struct scene *scene)
{
	for (size_t i = 0; i < scene->n_servers; i++) {
		support_inject(&scene->support, i, RR_FAULT_KILL);
		rdl_link_disconnect(scene->admins[i]);
	}
}

void scene_restart(struct scene *scene)
{
	for (size_t i = 0; i < scene->n_servers; i++)
		support_inject(&scene->support, i, RR_FAULT_RESTART);
	add_user(scene);
}

/* ---- Parties ------------------------------------------------------------------ */

void rival_open(struct scene *scene, struct rival *party, const char *key)
{
	*party = (struct rival){ .scene = scene };
	for (size_t i = 0; i < scene->n_servers; i++) {
		const struct rdl_address address = scene_address(scene, i);

		party->links[i] = rdl_link_new(&address, RR_TIMEOUT_MS);
	}
	party->lock = scene->row->make(party->links, scene->n_servers, key, scene->hold_max_ms);
	cr_assert_not_null(party->lock, "%s", scene->row->name);
}

void rival_close(struct rival *party)
{
	party->scene->row->free(party->lock);
	for (size_t i = 0; i < party->scene->n_servers; i++)
		rdl_link_free(party->links[i]);
}

enum rdl_outcome rival_try(struct rival *party, long ttl_ms)
{
	return party->scene->row->try(party->lock, ttl_ms);
}

enum rdl_outcome rival_release(struct rival *party)
{
	return party->scene->row->release(party->lock);
}

long rival_remaining_ms(const struct rival *party)
{
	return party->scene->row->remaining_ms(party->lock);
}

enum rdl_outcome rival_wait(struct rival *party, long ttl_ms, long wait_ms)
{
	return party->scene->row->acquire(
		party->lock, ttl_ms,
		&(struct rdl_policy){ .wait_ms = wait_ms,
				      .pause_max_us = party->scene->row->pause_max_us });
}

void rival_get(struct rival *party, long ttl_ms)
{
	scene_expect(party->scene, "acquire", rival_wait(party, ttl_ms, 20000), RDL_OK);
}

enum rdl_outcome rival_settle(struct rival *party)
{
	enum rdl_outcome outcome = RDL_UNKNOWN;

	for (int i = 0; i < 5; i++) {
		outcome = rival_release(party);
		if (outcome == RDL_OK || outcome == RDL_LOST)
			break;
	}
	return outcome;
}

/* ---- Expectations ------------------------------------------------------------------ */

void scene_expect(const struct scene *scene, const char *what, enum rdl_outcome got,
		  enum rdl_outcome wanted)
{
	cr_assert_eq(got, wanted, "%s: %s is %s, not %s", scene->row->name, what,
		     rdl_outcome_name(got), rdl_outcome_name(wanted));
}

void scene_expect_held(struct scene *scene, const char *key)
{
	const size_t n = scene_count(scene, key);

	cr_assert_gt(n, scene->n_servers / 2, "%s: %s is on %zu of %zu servers", scene->row->name,
		     key, n, scene->n_servers);
}

void scene_expect_free(struct scene *scene, const char *key)
{
	const size_t n = scene_count(scene, key);

	cr_assert_eq(n, 0, "%s: %s is left on %zu servers", scene->row->name, key, n);
}

int64_t scene_now_ms(const struct scene *scene)
{
	return rdl_now_ns(scene->admins[0], RDL_CLOCK_MONOTONIC) / 1000000;
}

void scene_sleep_ms(const struct scene *scene, long ms)
{
	rdl_sleep_ns(scene->admins[0], ms * INT64_C(1000000));
}
