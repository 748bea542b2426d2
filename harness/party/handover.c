/* SPDX-License-Identifier: MIT */
#include "handover.h"

static size_t find_thread(const struct rr_threads *threads, int id)
{
	size_t i = 0;

	while (i < threads->n && threads->of[i].id != id)
		i++;
	return i;
}

/* ---- Noting ---------------------------------------------------------------------- */

static bool has_run(const struct rr_threads *before, const struct rr_thread *thread)
{
	const size_t i = find_thread(before, thread->id);

	return i == before->n || before->of[i].stamp != thread->stamp;
}

static void note_thread(struct rr_handover *handover, const struct rr_thread *thread)
{
	const size_t i = find_thread(&handover->ran, thread->id);

	if (i == RR_THREADS_MAX)
		return;
	if (i == handover->ran.n) {
		handover->ran.of[handover->ran.n++] = *thread;
		handover->times[i] = 0;
	}
	handover->times[i] |= UINT64_C(1) << handover->n_times % 64;
}

void rr_handover_note(struct rr_handover *handover, const struct rr_threads *threads,
		      struct rr_rest rest, bool is_reply)
{
	const struct rr_rest before = handover->rest;

	for (size_t i = 0; is_reply && rest.n_under_way > 1 && i < threads->n; i++) {
		if (has_run(&handover->threads, &threads->of[i]))
			note_thread(handover, &threads->of[i]);
	}
	handover->n_times += is_reply;
	handover->has_waited |= is_reply && before.n_under_way > before.n_asking &&
				rest.n_under_way > rest.n_asking;
	handover->threads = *threads;
	handover->rest = rest;
}

/* ---- What it comes to ------------------------------------------------------------- */

static bool talks(const struct rr_program_page *page, int thread)
{
	const unsigned n = atomic_load(&page->n_talkers);

	for (unsigned i = 0; i < n && i < RR_TALKERS_MAX; i++) {
		if (atomic_load(&page->talkers[i]) == thread)
			return true;
	}
	return n > RR_TALKERS_MAX;
}

bool rr_handover_happened(const struct rr_handover *handover, const struct rr_program_page *page)
{
	uint64_t times = 0;

	if (atomic_load(&page->n_talkers) == 0 || atomic_load(&page->has_go))
		return handover->has_waited;
	for (size_t i = 0; i < handover->ran.n; i++) {
		if (!talks(page, handover->ran.of[i].id))
			continue;
		if (times & handover->times[i])
			return true;
		times |= handover->times[i];
	}
	return false;
}
