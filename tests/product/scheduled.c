/* SPDX-License-Identifier: MIT */
#include "scheduled.h"

#include <stdlib.h>
#include <string.h>

#include "base/reply.h"

enum { PASSES_MAX = 50, STEPS_MAX = 4000 };
#define SECOND_NS INT64_C(1000000000)

/* ---- What happens ----------------------------------------------------------- */

static void write_command(struct scheduled *scheduled, const struct rr_action *action)
{
	const struct rdl_command *command = &scheduled->terms.command[action->command].words;

	fprintf(scheduled->file, "%c%s", 'A' + action->client, action->input.thread ? "'" : "");
	if (action->server)
		fprintf(scheduled->file, "@%d", action->server);
	fputc('>', scheduled->file);
	for (size_t i = 0; i < command->n_words; i++) {
		fputc(' ', scheduled->file);
		rr_write_bare_word(scheduled->file, command->words[i].text,
				   command->words[i].length);
	}
	fputs(" => ", scheduled->file);
	if (action->kind == RR_ACTION_ANSWER)
		fputs("(closed)", scheduled->file);
	else if (action->blocks)
		fputs("(waits)", scheduled->file);
	else
		rr_write_reply(scheduled->file, &scheduled->terms.reply[action->reply].reply);
	if (action->answer == RR_ANSWER_LOST || action->answer == RR_ANSWER_UNHEARD)
		fputs(" (lost)", scheduled->file);
	fputc('\n', scheduled->file);
}

static void enter(struct scheduled *scheduled, int client, bool enters)
{
	if (scheduled->inside[client] == enters)
		return;
	scheduled->inside[client] = enters;
	if (enters)
		scheduled->overlaps += scheduled->n_inside++ > 0;
	else
		scheduled->n_inside--;
	fprintf(scheduled->file, "%c %s\n", 'A' + client, enters ? "enters" : "leaves");
}

static void write_feed(struct scheduled *scheduled, const struct rr_action *action)
{
	static const char *const verbs[] = {
		[RR_STOP_SLEEP] = "has slept", [RR_STOP_LOCK] = "locks",
		[RR_STOP_UNLOCK] = "unlocks",  [RR_STOP_CLOCK] = "reads the clock",
		[RR_STOP_JOIN] = "has joined", [RR_STOP_LISTEN] = "waited",
		[RR_STOP_WAIT] = "waited",     [RR_STOP_ENDED] = NULL,
	};
	const char *verb = verbs[action->stop.kind];

	if (verb)
		fprintf(scheduled->file, "%c%s %s%s\n", 'A' + action->client,
			action->input.thread ? "'" : "", verb,
			strcmp(verb, "waited") != 0            ? "" :
			action->input.kind == RR_INPUT_TIMEOUT ? ": in vain" :
								 ": woken");
	if (action->was_inside && action->has_entered)
		enter(scheduled, action->client, false);
	if (action->has_entered)
		enter(scheduled, action->client, true);
	enter(scheduled, action->client, action->is_inside);
}

static void note(void *context, const struct rr_action *action)
{
	struct scheduled *scheduled = context;

	if (action->kind == RR_ACTION_FEED)
		write_feed(scheduled, action);
	else if (action->kind == RR_ACTION_ANSWER ||
		 (action->kind == RR_ACTION_ASK && action->question.kind == RR_ASK_COMMAND))
		write_command(scheduled, action);
	else if (action->kind == RR_ACTION_TIME)
		fprintf(scheduled->file, "%lld us pass\n", (long long)action->ns / 1000);
	else if (action->kind == RR_ACTION_CRASH)
		fprintf(scheduled->file, "%c crashes\n", 'A' + action->client);
}

/* ---- Opening and closing ---------------------------------------------------- */

static uint32_t answer_at_once(void *context, int server, const struct rdl_command *command)
{
	struct scheduled *scheduled = context;

	return rr_live_answer(scheduled->live, (size_t)server, command);
}

static void start(struct scheduled *scheduled)
{
	const struct rr_server_options plain = { 0 };
	struct stage *stage = &scheduled->stage;

	stage_open(stage, RR_CLUSTER_FROZEN);
	for (size_t i = 0; i < scheduled->program.n_servers; i++) {
		char name[RR_SERVER_NAME];
		int server;

		snprintf(name, sizeof(name), "n%zu", i);
		stage_good(stage, rr_cluster_declare(&stage->cluster, name, &plain, &server,
						     &stage->error));
	}
	stage_good(stage, rr_cluster_start(&stage->cluster, &stage->error));
	for (size_t i = 0; i < scheduled->program.n_servers; i++)
		scheduled->addresses[i] = *rr_cluster_address(&stage->cluster, (int)i);
	scheduled->config.program = &scheduled->program;
	scheduled->config.cluster = &stage->cluster;
	scheduled->config.scripts = &scheduled->scripts;
	scheduled->config.note = note;
	scheduled->config.context = scheduled;
	scheduled->live = rr_live_new(&scheduled->config);
	cr_assert_not_null(scheduled->live);
}

static void set_program(struct scheduled *scheduled)
{
	scheduled->program.addresses = scheduled->addresses;
	scheduled->program.terms = &scheduled->terms;
	scheduled->program.stacks = &scheduled->stacks;
	scheduled->program.knows_scripts = true;
	scheduled->program.ask = answer_at_once;
	scheduled->program.ask_context = scheduled;
	scheduled->config = (struct rr_live_config){
		.day_ns = INT64_C(1000000000) * SECOND_NS,
		.wait_ns = 400000,
	};
}

void scheduled_open(struct scheduled *scheduled, const char *strategy,
		    void (*change)(struct scheduled *scheduled))
{
	memset(scheduled, 0, sizeof(*scheduled));
	scheduled->counting = (struct rr_counting){
		.strategy = rr_strategy_find(strategy),
		.increments = 1,
		.ttl_ms = 10000,
	};
	cr_assert_not_null(scheduled->counting.strategy, "no %s", strategy);
	scheduled->program.n_clients = 2;
	scheduled->program.n_servers = 1 + scheduled->counting.strategy->lock.servers;
	scheduled->counting.n_servers = scheduled->program.n_servers;
	scheduled->program.separate = true;
	set_program(scheduled);
	rr_counting_init(&scheduled->counting, &scheduled->program);
	scheduled->program.learning = RR_LEARN_NOTHING;
	if (change)
		change(scheduled);
	start(scheduled);
}

void scheduled_open_program(struct scheduled *scheduled, size_t n_clients,
			    const struct rr_program *program)
{
	memset(scheduled, 0, sizeof(*scheduled));
	scheduled->program = *program;
	scheduled->program.n_clients = n_clients;
	scheduled->program.n_servers = 1;
	set_program(scheduled);
	start(scheduled);
}

static void end_trace(struct scheduled *scheduled)
{
	if (scheduled->file)
		fclose(scheduled->file);
	scheduled->file = NULL;
}

void scheduled_close(struct scheduled *scheduled)
{
	rr_live_free(scheduled->live);
	end_trace(scheduled);
	free(scheduled->trace);
	rr_terms_release(&scheduled->terms);
	rr_stacks_release(&scheduled->stacks);
	rr_scripts_release(&scheduled->scripts);
	stage_close(&scheduled->stage);
}

/* ---- Runs ------------------------------------------------------------------- */

void scheduled_begin(struct scheduled *scheduled)
{
	end_trace(scheduled);
	free(scheduled->trace);
	scheduled->trace = NULL;
	scheduled->file = open_memstream(&scheduled->trace, &scheduled->trace_size);
	scheduled->n_inside = scheduled->overlaps = 0;
	memset(scheduled->inside, 0, sizeof(scheduled->inside));
	cr_assert(rr_live_begin(scheduled->live), "%s", rr_live_error(scheduled->live)->text);
}

const struct rr_live_view *scheduled_view(struct scheduled *scheduled)
{
	return rr_live_look(scheduled->live);
}

static void act(struct scheduled *scheduled, struct rr_transition transition, int64_t ns,
		const char *word)
{
	const enum rr_did did = rr_live_do(scheduled->live, transition, ns);

	fflush(scheduled->file);
	cr_assert(did == RR_DID_IT, "%d at '%s': %s\n%s", did, word,
		  rr_live_error(scheduled->live)->text, scheduled->trace);
}

static bool is_waiting(const struct rr_thread_view *thread)
{
	return thread->command == RR_NO_ID && thread->stop.kind == RR_STOP_ATTEMPT;
}

/* The first that is ready, from number `first` on and round; those who wait for
 * another let all others go before. */
static size_t first_ready(const struct rr_live_view *view, size_t first)
{
	size_t found = view->n;

	for (size_t i = view->n; i-- > 0;) {
		const size_t number = (first + i) % view->n;
		const struct rr_thread_view *thread = &view->threads[number];

		if (thread->state == RR_THREAD_READY && (found == view->n || !is_waiting(thread)))
			found = number;
	}
	return found;
}

size_t scheduled_serial(void *context, const struct rr_live_view *view)
{
	(void)context;
	return first_ready(view, 0);
}

size_t scheduled_in_turn(void *context, const struct rr_live_view *view)
{
	size_t *last = context;

	*last = first_ready(view, *last + 1);
	return *last;
}

size_t scheduled_at_random(void *context, const struct rr_live_view *view)
{
	size_t left = rr_random_below(context, view->n_ready);

	for (size_t i = 0; i < view->n; i++) {
		if (view->threads[i].state == RR_THREAD_READY && left-- == 0)
			return i;
	}
	return view->n;
}

static void pass(struct scheduled *scheduled, int64_t ns)
{
	act(scheduled, (struct rr_transition){ .kind = RR_DO_WAIT }, ns, "time");
}

static void go_on(struct scheduled *scheduled, scheduled_choose choose, void *context)
{
	int passes = 0;

	for (int i = 0; i < STEPS_MAX; i++) {
		const struct rr_live_view *view = scheduled_view(scheduled);
		size_t number;

		if (view->n_alive == 0 ||
		    (view->n_ready == 0 && (view->next_ns == RR_NEVER || passes++ == PASSES_MAX)))
			break;
		if (view->n_ready == 0) {
			pass(scheduled, view->next_ns - view->now_ns);
			continue;
		}
		number = choose(context, view);
		act(scheduled, view->threads[number].next, 0, "a choice");
	}
	fflush(scheduled->file);
}

void scheduled_run(struct scheduled *scheduled, scheduled_choose choose, void *context)
{
	scheduled_begin(scheduled);
	go_on(scheduled, choose, context);
}

static struct rr_transition of_client(enum rr_transition_kind kind, char name)
{
	return (struct rr_transition){ .kind = (uint8_t)kind, .who = (uint8_t)(name - 'A') };
}

static void do_word(struct scheduled *scheduled, const char *word)
{
	const struct rr_live_view *view = scheduled_view(scheduled);
	const bool has_sign = strchr("!?~", *word) != NULL;
	const char name = word[has_sign];
	const size_t number = (size_t)(name - 'A') +
			      (word[has_sign + 1] == '\'' ? view->n_clients : 0);
	struct rr_transition next;

	if (*word == '.') {
		pass(scheduled, view->next_ns - view->now_ns);
	} else if (*word == '+') {
		pass(scheduled, 3600 * SECOND_NS);
	} else if (*word == '!') {
		act(scheduled, of_client(RR_DO_CRASH, name), 0, word);
	} else if (*word == '~') {
		act(scheduled, of_client(RR_DO_PAUSE, name), 5 * SECOND_NS, word);
	} else {
		next = view->threads[number].next;
		if (*word == '?')
			next.kind = RR_DO_LOSE;
		act(scheduled, next, 0, word);
	}
}

void scheduled_play(struct scheduled *scheduled, const char *script)
{
	scheduled_begin(scheduled);
	for (script += strspn(script, " "); *script; script += strspn(script, " ")) {
		do_word(scheduled, script);
		script += strcspn(script, " ");
	}
	go_on(scheduled, scheduled_serial, NULL);
}

/* ---- What came of it -------------------------------------------------------- */

long scheduled_ok(const struct scheduled *scheduled)
{
	long ok = 0;

	for (size_t i = 0; i < scheduled->program.n_clients; i++)
		ok += rr_live_tally(scheduled->live, i).ok;
	return ok;
}

long long scheduled_count(struct scheduled *scheduled)
{
	return strtoll(stage_ask(&scheduled->stage, 0, "GET counter:0"), NULL, 10);
}

int scheduled_line(const struct scheduled *scheduled, const char *part)
{
	const char *found = strstr(scheduled->trace, part);
	int line = 0;

	for (const char *at = scheduled->trace; found && at < found; at++)
		line += *at == '\n';
	return found ? line : -1;
}
