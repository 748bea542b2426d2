/* SPDX-License-Identifier: MIT */
/* A server that the explorer wipes is what one is that was killed and started
 * again without its files. */
#include <stdio.h>
#include <string.h>

#include "../world/stage.h"
#include "subject.h"

enum { SEEN_SIZE = 1024 };

static void note(char *seen, const char *what)
{
	const size_t used = strlen(seen);

	snprintf(seen + used, SEEN_SIZE - used, "%s\n", what);
}

/* Keys with and without a lease, a script, a watch: something to lose. */
static void fill(struct rl_link *link)
{
	stage_say(link, "SET key 1");
	stage_say(link, "SET lease 1 PX 10000");
	stage_say(link, "SCRIPT LOAD return(1)");
	stage_say(link, "WATCH key");
	stage_say(link, "MULTI");
}

static void look(struct stage *stage, int server, struct rl_link *old,
		 char *seen)
{
	note(seen, stage_say(old, "SET key 2"));
	note(seen, stage_say(old, "EXEC"));
	note(seen, stage_ask(stage, server, "GET key"));
	note(seen, stage_ask(stage, server, "DEL key"));
	note(seen, stage_ask(stage, server, "DBSIZE"));
	note(seen, stage_ask(stage, server, "PTTL lease"));
	note(seen,
	     stage_ask(stage, server,
		       "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0"));
}

static struct rr_subject *subject_on(struct stage *stage, int server,
				     struct rl_address addresses[4])
{
	struct rr_subject_config config = {
		.strategy = rr_strategy_find("redlock"),
		.addresses = addresses,
		.prefix = "",
		.n_clients = 2,
		.increments = 1,
		.lock_servers = 3,
		.ttl_ms = 10000,
	};
	struct rr_subject *subject;
	char error[200] = "";

	for (int i = 0; i < 4; i++)
		addresses[i] = *rr_world_address(&stage->world, server);
	subject = rr_subject_new(&config, error, sizeof(error));
	cr_assert_not_null(subject, "%s", error);
	return subject;
}

Test(restart, wiped_server_is_one_that_was_killed_and_came_back_empty)
{
	struct rl_address addresses[4];
	char wiped[SEEN_SIZE] = "", killed[SEEN_SIZE] = "";
	struct stage stage;
	struct rr_subject *subject;
	struct rl_link *old;
	int server;

	stage_open(&stage, RR_WORLD_FROZEN);
	server = stage_server(&stage, "n1", (struct rr_server_options){ 0 });
	old = stage_link(&stage, server);
	subject = subject_on(&stage, server, addresses);
	fill(old);
	rr_subject_wipe(subject, 1);
	look(&stage, server, old, wiped);
	rr_subject_free(subject);
	rl_link_free(old);

	old = stage_link(&stage, server);
	fill(old);
	stage_good(&stage, rr_world_restart(&stage.world, server, true,
					    stage.error));
	look(&stage, server, old, killed);
	rl_link_free(old);
	cr_assert_str_eq(wiped, killed);
	cr_assert(strstr(wiped, "NOSCRIPT"), "%s", wiped);
	stage_close(&stage);
}
