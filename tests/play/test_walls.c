/* SPDX-License-Identifier: MIT */
/* What a race may have and its clients may not do is done for them, and opens nothing: what
 * gets past the parser meets the servers' ACL, whatever users the race has made. */
#include <string.h>

#include "../cluster/stage.h"
#include "play/play.h"
#include "race/race.h"

#define HEAD "title t\nclients A B\n"
#define WORKER                                             \
	"A> ACL SETUSER worker on >pw ~* &* +@all => OK\n" \
	"A> ACL SETUSER default +@all => OK\n"             \
	"A> CONFIG SET maxmemory 100mb => OK\n"            \
	"B> AUTH worker pw => OK\n"
#define END "verdict nothing broken\n"

static struct rr_race *parse(const char *text)
{
	struct rr_error error = { 0 };
	struct rr_race *race = rr_race_parse("a.race", text, strlen(text), &error);

	cr_assert_not_null(race, "%s", error.text);
	return race;
}

/* The reply to its last step. */
static void play_and_expect(struct stage *stage, struct rr_race *race, const char *reply,
			    const char *of)
{
	struct rr_error error = { 0 };
	struct rr_trace trace;

	cr_assert(rr_player_play(race, &stage->cluster, NULL, &trace, &error), "%s: %s", of,
		  error.text);
	cr_assert_eq(trace.n_events, race->n_steps, "%s: ended after step %zu: %s", of,
		     trace.n_events, trace.events[trace.n_events - 1].reply);
	cr_expect(rr_reply_matches(reply, trace.events[trace.n_events - 1].reply, NULL), "%s: %s",
		  of, trace.events[trace.n_events - 1].reply);
	rr_trace_free(&trace);
}

static void play_text(struct stage *stage, const char *text, const char *reply)
{
	struct rr_race *race = parse(text);

	play_and_expect(stage, race, reply, text);
	rr_race_free(race);
}

Test(walls, what_a_race_may_have_is_done_and_no_client_can_do_it)
{
	struct stage stage;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	play_text(&stage, HEAD WORKER "B> CONFIG GET maxmemory => *\n" END, "(error) NOPERM*");
	play_text(&stage, HEAD WORKER "A> CONFIG GET maxmemory => *\n" END, "(error) NOPERM*");
	play_text(&stage,
		  HEAD "A> CONFIG SET maxmemory 100mb => OK\nA> CONFIG GET maxmemory => *\n" END,
		  "[\"maxmemory\", \"104857600\"]");
	play_text(&stage, HEAD "A> REPLICAOF 127.0.0.1 1 => OK\nA> SET k 1 => *\n" END,
		  "(error) READONLY*");
	play_text(&stage,
		  HEAD "given ACL SETUSER worker on >pw +@all\nB> AUTH worker pw => OK\n"
		       "B> ACL WHOAMI => *\n" END,
		  "(error) NOPERM*");
	stage_close(&stage);
}

/* A program that is to be another command than the one that was parsed: as if the parser had
 * let it pass. */
static void play_past_the_parser(struct stage *stage, const char *command)
{
	char text[600];
	struct rr_race *race;
	struct rdl_word *words;

	snprintf(text, sizeof(text), HEAD WORKER "B> PASS-%s => *\n" END, command);
	race = parse(text);
	words = (struct rdl_word *)race->steps[race->n_steps - 1].words;
	words[0].text += strlen("PASS-");
	words[0].length -= strlen("PASS-");
	play_and_expect(stage, race, "(error)*", command);
	cr_expect_str_eq(stage_ask(stage, 0, "SET a 1"), "OK");
	rr_race_free(race);
}

Test(walls, what_gets_past_the_parser_is_refused_by_servers)
{
	static const char *const hostile[] = {
		"CONFIG SET port 7999",
		"CONFIG REWRITE",
		"REPLICAOF 127.0.0.1 2",
		"SLAVEOF 127.0.0.1 2",
		"MODULE LIST",
		"MIGRATE 127.0.0.1 2 k 0 1",
		"FAILOVER",
		"DEBUG SET-DISABLE-DENY-SCRIPTS 1",
		"ACL SETUSER redrace >x",
		"ACL DELUSER redrace",
		"ACL SAVE",
		"EVAL \"return redis.call('CONFIG', 'SET', 'port', '7999')\" 0",
	};
	struct stage stage;
	struct rr_error error = { 0 };
	struct rdl_link *own;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
		play_past_the_parser(&stage, hostile[i]);
	own = rdl_link_new(rr_cluster_own_address(&stage.cluster, 0), RR_TIMEOUT_MS);
	cr_assert_not_null(own, "%s", error.text);
	cr_expect_str_eq(stage_say(own, "CONFIG GET port"), "[port,0]");
	cr_expect_str_eq(stage_say(own, "ACL USERS"), "[default,redrace,worker]");
	rdl_link_free(own);
	stage_close(&stage);
}

/* What one race saves is not there for the next one, which may have the same server. */
Test(walls, a_race_leaves_no_file_to_the_next)
{
	struct stage stage;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	play_text(&stage, HEAD "A> SET k 1 => OK\nA> SAVE => OK\n" END, "OK");
	play_text(&stage, HEAD "A> PING => PONG\nrestart redis\nB> GET k => *\n" END, "(nil)");
	stage_close(&stage);
}
