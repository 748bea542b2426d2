/* SPDX-License-Identifier: MIT */
/* Who can go on in an execution, with what, and when the others can. */
#include "expansion.h"
#include "live_state.h"

static int64_t time_after(int64_t from_ns, int64_t duration_ns)
{
	return duration_ns >= RR_NEVER - from_ns ? RR_NEVER : from_ns + duration_ns;
}

/* The number of the thread that has a mutex; -1 = none has. */
static int holder_of(const struct rr_live *live, uint8_t mutex)
{
	const int owner = live->state.common.owners[mutex % RR_MUTEXES] - 1;

	return owner < 0 ? -1 :
			   owner % RR_RUN_THREADS * (int)live->product.n_clients +
				   owner / RR_RUN_THREADS;
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
	if (view->stop.kind == RR_STOP_LOCK)
		view->holder = holder_of(live, view->stop.mutex);
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

void live_look_at_thread(const struct rr_live *live, size_t client, uint8_t thread,
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

		live_look_at_thread(live, i % n, (uint8_t)(i / n), thread);
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
