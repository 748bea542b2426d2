/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/memory.h"
#include "expansion.h"
#include "live.h"
#include "product.h"

enum { OPENING_STEPS = 400 };

struct live_client {
	bool is_idle; /* its next attempt is to begin */
	int64_t idle_since_ns, paused_until_ns;
	uint64_t used;             /* lanes whose connection is open */
	struct rr_run_tally tally; /* when it crashed */
};

struct rr_live {
	struct rr_live_config config;
	size_t n_servers; /* whose tables have been made */
	struct rr_server_table tables[RR_CLUSTER_SERVERS];
	struct rr_product product;
	struct rr_state state;
	struct rr_actions log; /* of what is being done */
	struct live_client clients[RR_RUN_CLIENTS];
	bool is_opening; /* no attempt begins */
	int64_t now_ns;
	struct rr_live_view view;
};

/* ---- Making and freeing --------------------------------------------------- */

struct rr_live *rr_live_new(const struct rr_live_config *config)
{
	struct rr_live *live = rr_calloc(1, sizeof(*live));

	live->config = *config;
	return live;
}

static void end_clients(struct rr_live *live)
{
	if (live->product.clients)
		rr_product_release(&live->product);
	for (; live->n_servers > 0; live->n_servers--) {
		struct rr_server_table *table = &live->tables[live->n_servers - 1];

		if (table->asker)
			rr_asker_reset(table->asker);
		rr_server_table_release(table);
	}
}

void rr_live_free(struct rr_live *live)
{
	if (!live)
		return;
	end_clients(live);
	free(live->log.all);
	free(live);
}

const struct rr_error *rr_live_error(const struct rr_live *live)
{
	return &live->product.error;
}

struct rr_run_tally rr_live_tally(const struct rr_live *live, size_t client)
{
	return rr_live_has_crashed(live, client) ? live->clients[client].tally :
						   rr_state_client(&live->state, client)->tally;
}

bool rr_live_has_crashed(const struct rr_live *live, size_t client)
{
	return live->state.clients[client].is_crashed;
}

uint32_t rr_live_answer(struct rr_live *live, size_t server, const struct rdl_command *command)
{
	const struct rr_live_config *config = &live->config;
	struct rdl_reply reply;

	if (!rr_asker_run(live->tables[server].asker, &reply, command))
		return RR_NO_ID;
	rr_scripts_keep(config->scripts, command, &reply);
	return rr_terms_reply(config->program->terms, &reply);
}

/* ---- Who can go on, with what, and when the others can ---------------------- */

static int64_t time_after(int64_t from_ns, int64_t duration_ns)
{
	return duration_ns >= RR_NEVER - from_ns ? RR_NEVER : from_ns + duration_ns;
}

/* The first command of a thread that has not been executed; else what it waits
 * for. */
static void look_at_next(const struct rr_live *live, size_t client, uint8_t thread,
			 struct rr_thread_view *view)
{
	const struct rr_client_state *it = rr_state_client(&live->state, client);

	view->stop = it->stops[thread];
	view->next = (struct rr_transition){ RR_DO_GO, (uint8_t)client, thread };
	for (uint32_t i = 0; i < it->n_sent; i++) {
		const struct rr_sent *sent = &it->sent[i];
		int64_t left_ns = 0;

		if (sent->thread != thread ||
		    sent != rr_state_first_unanswered(&live->state, client, sent->lane))
			continue;
		if (!rr_state_is_blocked(&live->state, client, sent->lane, &left_ns) &&
		    sent != rr_state_next_sent(&live->state, client, sent->lane))
			continue;
		view->command = sent->command;
		view->next.kind = RR_DO_EXECUTE;
		view->next.lane = sent->lane;
		view->ready_ns = time_after(live->now_ns, left_ns);
		return;
	}
	view->ready_ns = view->stop.kind == RR_STOP_ATTEMPT ?
				 live->clients[client].idle_since_ns + live->config.wait_ns :
				 time_after(live->now_ns,
					    rr_state_left_ns(&live->state, client, thread));
	if (view->stop.kind == RR_STOP_LOCK) {
		const int owner = live->state.common.owners[view->stop.mutex % RR_MUTEXES] - 1;

		/* The number of the thread that has a mutex; -1 = none has. */
		view->holder = owner < 0 ? -1 :
					   owner % RR_RUN_THREADS * (int)live->product.n_clients +
						   owner / RR_RUN_THREADS;
	}
}

static enum rr_thread_state state_of_gone(const struct rr_live *live, size_t client, uint8_t thread)
{
	const struct rr_client_state *it = rr_state_client(&live->state, client);

	if (rr_live_has_crashed(live, client))
		return thread == 0 ? RR_THREAD_CRASHED : RR_THREAD_ABSENT;
	if (thread >= it->n_threads || it->stops[thread].kind == RR_STOP_ABSENT)
		return RR_THREAD_ABSENT;
	return it->stops[thread].kind == RR_STOP_ENDED ? RR_THREAD_ENDED : RR_THREAD_READY;
}

/* What a thread of a client waits for. */
static void look_at_thread(const struct rr_live *live, size_t client, uint8_t thread,
			   struct rr_thread_view *view)
{
	const int64_t paused_until_ns = live->clients[client].paused_until_ns;

	*view = (struct rr_thread_view){
		.state = state_of_gone(live, client, thread),
		.client = (int)client,
		.command = RR_NO_ID,
		.holder = -1,
		.ready_ns = RR_NEVER,
	};
	if (view->state != RR_THREAD_READY)
		return;
	look_at_next(live, client, thread, view);
	if (view->ready_ns < paused_until_ns)
		view->ready_ns = paused_until_ns;
	if (view->ready_ns > live->now_ns)
		view->state = paused_until_ns > live->now_ns ? RR_THREAD_PAUSED : RR_THREAD_BLOCKED;
}

const struct rr_live_view *rr_live_look(struct rr_live *live)
{
	struct rr_live_view *view = &live->view;
	const size_t n = live->product.n_clients;

	*view = (struct rr_live_view){
		.n_clients = n, .n = n * RR_RUN_THREADS, .now_ns = live->now_ns, .next_ns = RR_NEVER
	};
	for (size_t i = 0; i < view->n; i++) {
		struct rr_thread_view *thread = &view->threads[i];

		look_at_thread(live, i % n, (uint8_t)(i / n), thread);
		if (thread->state == RR_THREAD_READY)
			view->n_ready++;
		else
			view->next_ns = rr_lesser_ns(view->next_ns, thread->ready_ns);
		view->n_alive += thread->state == RR_THREAD_READY ||
				 thread->state == RR_THREAD_BLOCKED ||
				 thread->state == RR_THREAD_PAUSED;
	}
	return view;
}

/* ---- What has been done ------------------------------------------------------- */

static enum rr_did settle(struct rr_live *live)
{
	/* Who was not refused begins its next attempt. */
	for (size_t i = 0; i < live->product.n_clients; i++) {
		struct live_client *client = &live->clients[i];

		while (!live->is_opening && !rr_product_failed(&live->product) &&
		       rr_state_is_idle(&live->state, i) &&
		       rr_state_client(&live->state, i)->tally.refused == 0)
			rr_state_begin_attempt(&live->state, i);
		if (!client->is_idle)
			client->idle_since_ns = live->now_ns;
		client->is_idle = rr_state_is_idle(&live->state, i);
	}
	for (size_t i = 0; i < live->log.n; i++) {
		const struct rr_action *action = &live->log.all[i];
		struct live_client *client = &live->clients[action->client];

		/* A connection is open from its first command on. */
		if (action->kind == RR_ACTION_ASK && action->question.kind == RR_ASK_COMMAND)
			client->used |= UINT64_C(1) << action->lane;
		if (action->kind == RR_ACTION_FEED && action->input.kind == RR_INPUT_LOST)
			client->used &= ~(UINT64_C(1) << action->stop.lane);
		if (live->config.note)
			live->config.note(live->config.context, &live->log.all[i]);
	}
	return rr_product_failed(&live->product) ? RR_DID_FAIL : RR_DID_IT;
}

/* The state is `next` from now on. */
static enum rr_did go_to(struct rr_live *live, const struct rr_state *next)
{
	if (rr_product_failed(&live->product))
		return RR_DID_FAIL;
	rr_state_copy(&live->state, next);
	return settle(live);
}

/* ---- Steps of clients --------------------------------------------------------- */

static enum rr_did execute(struct rr_live *live, struct rr_transition transition)
{
	const size_t who = transition.who;
	const struct rr_sent *sent = transition.lane < RR_RUN_LANES ?
					     rr_state_next_sent(&live->state, who,
								transition.lane) :
					     NULL;
	struct rr_state next;

	if (!sent)
		return RR_DID_REFUSE;
	if (!rr_state_can_lose(&live->state, who, transition.lane))
		transition.kind = RR_DO_EXECUTE;
	rr_state_copy(&next, &live->state);
	rr_state_deliver(&next, who, sent, transition.kind);
	return go_to(live, &next);
}

/* A refused client that has slept begins another attempt. */
static enum rr_did go_on(struct rr_live *live, size_t client, uint8_t thread)
{
	struct rr_thread_view view;
	struct rr_state next;
	struct rr_input input;

	if (thread >= RR_RUN_THREADS)
		return RR_DID_REFUSE;
	look_at_thread(live, client, thread, &view);
	if (view.next.kind == RR_DO_GO && view.state != RR_THREAD_READY)
		return RR_DID_REFUSE;
	rr_state_copy(&next, &live->state);
	if (view.stop.kind == RR_STOP_ATTEMPT) {
		rr_state_begin_attempt(&next, client);
		if (live->log.n > 0)
			live->log.all[0].stop.duration_ns = live->config.wait_ns;
	} else if (rr_state_can_wake(&next, client, thread)) {
		rr_state_wake(&next, client, thread, &input);
		rr_state_feed(&next, client, &input);
	} else {
		return RR_DID_REFUSE;
	}
	return go_to(live, &next);
}

/* ---- Faults and time -------------------------------------------------------- */

/* The servers know it before anybody else goes on. */
static enum rr_did crash(struct rr_live *live, size_t who)
{
	const int n_lanes = rr_program_lanes(live->config.program);
	struct rr_state next;

	for (size_t i = 0; i < live->product.n_clients; i++)
		live->clients[i].tally = rr_live_tally(live, i);
	rr_state_copy(&next, &live->state);
	rr_state_crash(&next, who);
	for (size_t i = 0; i < live->product.n_clients; i++) {
		for (int lane = 0; next.clients[i].is_crashed && lane < n_lanes; lane++)
			rr_state_close(&next, i, lane);
	}
	return go_to(live, &next);
}

static enum rr_did pause_process(struct rr_live *live, size_t who, int64_t ns)
{
	for (size_t i = 0; i < live->product.n_clients; i++) {
		if (i == who || !live->config.program->separate)
			live->clients[i].paused_until_ns = live->now_ns + ns;
	}
	return RR_DID_IT;
}

/* A connection that no command has gone down yet is opened later, to the new server. */
static enum rr_did restart(struct rr_live *live, size_t server)
{
	const struct rr_live_config *config = &live->config;
	struct rr_state next;

	if (config->restart) {
		if (!config->restart(config->context, server))
			return RR_DID_FAIL;
		rr_asker_restarted(live->tables[server].asker);
	}
	rr_state_copy(&next, &live->state);
	rr_state_restart(&next, server);
	for (size_t i = 0; i < live->product.n_clients; i++) {
		next.clients[i].is_cut &= live->state.clients[i].is_cut | live->clients[i].used;
		live->clients[i].used &= ~next.clients[i].is_cut;
	}
	return go_to(live, &next);
}

static enum rr_did pass_time(struct rr_live *live, int64_t ns)
{
	const struct rr_live_config *config = &live->config;
	struct rr_state next;

	if (config->pass && !config->pass(config->context, ns))
		return RR_DID_FAIL;
	rr_state_copy(&next, &live->state);
	rr_state_pass_time(&next, ns, RR_DO_WAIT);
	live->now_ns += ns;
	return go_to(live, &next);
}

static enum rr_did jump(struct rr_live *live, size_t server, int64_t ns)
{
	struct rr_state next;

	rr_state_copy(&next, &live->state);
	rr_state_jump(&next, server, ns);
	return go_to(live, &next);
}

enum rr_did rr_live_do(struct rr_live *live, struct rr_transition transition, int64_t ns)
{
	const bool is_client = transition.who < live->product.n_clients &&
			       !rr_state_has_ended(&live->state, transition.who);
	const bool is_server = transition.who < live->config.program->n_servers;

	if (rr_product_failed(&live->product))
		return RR_DID_FAIL;
	live->log.n = 0;
	if (rr_transition_is_step(transition)) {
		const size_t who = transition.who;

		if (who >= live->product.n_clients || transition.kind == RR_DO_BEGIN ||
		    rr_state_has_ended(&live->state, who) ||
		    live->clients[who].paused_until_ns > live->now_ns)
			return RR_DID_REFUSE;
		return transition.kind == RR_DO_GO ? go_on(live, who, transition.lane) :
						     execute(live, transition);
	}
	switch (transition.kind) {
	case RR_DO_CRASH:
		return is_client ? crash(live, transition.who) : RR_DID_REFUSE;
	case RR_DO_PAUSE:
		return is_client ? pause_process(live, transition.who, ns) : RR_DID_REFUSE;
	case RR_DO_RESTART:
		return is_server ? restart(live, transition.who) : RR_DID_REFUSE;
	case RR_DO_JUMP:
		return is_server && ns > 0 ? jump(live, transition.who, ns) : RR_DID_REFUSE;
	case RR_DO_WAIT:
		return ns > 0 ? pass_time(live, ns) : RR_DID_REFUSE;
	default:
		return RR_DID_REFUSE;
	}
}

/* ---- The beginning ---------------------------------------------------------- */

static bool open_product(struct rr_live *live)
{
	const struct rr_live_config *config = &live->config;
	const struct rr_product_config product = {
		.program = config->program,
		.skew_ns = config->skew_ns,
		.day_ns = config->day_ns,
		.absolute = true,
		.reads_clock = true,
		.is_live = true,
	};

	live->product = (struct rr_product){ 0 };
	while (live->n_servers < config->program->n_servers) {
		struct rr_server_table *table = &live->tables[live->n_servers];

		live->n_servers++;
		if (!rr_server_table_init(table, config->cluster, (int)live->n_servers - 1,
					  config->program->terms, config->scripts, "", false)) {
			live->product.error = table->error;
			return false;
		}
		table->is_tree = table->is_live = true;
		if (config->pass)
			rr_asker_leave_clock(table->asker);
	}
	if (!rr_product_init(&live->product, &product, &live->tables[0], NULL))
		return false;
	for (size_t i = 0; i < live->n_servers; i++)
		live->product.tables[i] = &live->tables[i];
	live->product.log = &live->log;
	memset(&live->state, 0, sizeof(live->state));
	live->state.product = &live->product;
	live->state.common.down = -1;
	return true;
}

/* Whatever a client does before its first attempt. */
static bool open_client(struct rr_live *live, size_t client)
{
	for (int i = 0; i < OPENING_STEPS; i++) {
		struct rr_thread_view view;

		if (rr_state_is_idle(&live->state, client) ||
		    rr_state_has_ended(&live->state, client))
			return true;
		look_at_thread(live, client, 0, &view);
		if (view.state != RR_THREAD_READY)
			return true;
		if (rr_live_do(live, view.next, 0) != RR_DID_IT)
			return false;
	}
	return true;
}

bool rr_live_begin(struct rr_live *live)
{
	const struct rr_program *program = live->config.program;
	bool good;

	end_clients(live);
	memset(live->clients, 0, sizeof(live->clients));
	live->now_ns = 0;
	live->log.n = 0;
	good = open_product(live);
	live->is_opening = true;
	for (size_t i = 0; i < program->n_clients && good && program->has_attempts; i++)
		good = open_client(live, i);
	live->is_opening = false;
	live->log.n = 0;
	return good && settle(live) == RR_DID_IT;
}
