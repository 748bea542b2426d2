/* SPDX-License-Identifier: MIT */
/*
 * Schedules: who goes next, in words. The first byte says for whom: how many
 * clients, and a strategy with lock servers or without. What is refused says in
 * one line which word it is about.
 */
#include "fuzz.h"
#include "play/schedule.h"

/* ---- Those who play a schedule: its parser does without them --------------------- */

bool rr_guided_run(struct rr_guided *guided, const struct rr_guided_setup *setup,
		   struct rr_cluster *cluster, rr_decide decide, void *context)
{
	(void)guided, (void)setup, (void)cluster, (void)decide, (void)context;
	abort();
}

void rr_guided_close(struct rr_guided *guided)
{
	(void)guided;
	abort();
}

struct rr_decision rr_guided_fail(struct rr_guided *guided, enum rr_error_kind kind,
				  const char *format, ...)
{
	(void)guided, (void)kind, (void)format;
	abort();
}

bool rr_guided_is_inside(const struct rr_guided *guided, int client)
{
	(void)guided, (void)client;
	abort();
}

int64_t rr_guided_lease_ns(const struct rr_guided *guided)
{
	(void)guided;
	abort();
}

bool rr_guided_save(const struct rr_guided *guided, const char *path, struct rr_error *error)
{
	(void)guided, (void)path, (void)error;
	abort();
}

const char *rr_thread_name(const struct rr_live_view *view, size_t thread,
			   char name[RR_THREAD_NAME_SIZE])
{
	(void)view, (void)thread, (void)name;
	abort();
}

const char *rr_thread_verb(const struct rr_guided *guided, const struct rr_thread_view *thread)
{
	(void)guided, (void)thread;
	abort();
}

void rr_thread_text(const struct rr_guided *guided, const struct rr_thread_view *thread,
		    int64_t now_ns, char text[RR_THREAD_TEXT_SIZE])
{
	(void)guided, (void)thread, (void)now_ns, (void)text;
	abort();
}

bool rr_interactive_run(const struct rr_guided_setup *setup, struct rr_cluster *cluster,
			struct rr_error *error)
{
	(void)setup, (void)cluster, (void)error;
	abort();
}

/* ---- The target ------------------------------------------------------------------- */

static struct rr_guided_setup setup_of(uint8_t byte)
{
	const char *const names[] = { "set-nx-ex", "redlock", "lua-renewed" };
	struct rr_guided_setup setup = {
		.n_clients = 1 + byte / 3 % RR_GUIDED_CLIENTS,
		.increments = 1,
		.processes = 1,
	};

	for (size_t i = 0; i < rr_n_strategies; i++) {
		if (strcmp(rr_strategies[i]->name, names[byte % 3]) == 0)
			setup.strategy = rr_strategies[i];
	}
	demand(setup.strategy != NULL);
	return setup;
}

static void check_cue(const struct rr_guided_setup *setup, const struct rr_cue *cue)
{
	const size_t servers = 1 + setup->strategy->lock.servers;

	demand(cue->word[0] && strlen(cue->word) < RR_CUE_SIZE);
	if (cue->is_step)
		demand(cue->thread >= 0);
	else if (cue->decision.transition.kind == RR_DO_RESTART)
		demand(cue->decision.transition.who < servers);
	demand(cue->decision.ns >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_schedule *schedule = calloc(1, sizeof(*schedule));
	struct rr_error error = { 0 };
	struct rr_guided_setup setup;
	char *text;

	demand(schedule != NULL);
	setup = setup_of(size ? data[0] : 0);
	text = string_of(data + (size > 0), size ? size - 1 : 0);
	if (rr_schedule_parse(schedule, text, &setup, &error)) {
		demand(schedule->n_cues <= RR_CUES_MAX);
		for (size_t i = 0; i < schedule->n_cues; i++)
			check_cue(&setup, &schedule->cues[i]);
	} else {
		demand(error.kind == RR_ERROR_USAGE && error.text[0]);
		demand(!strchr(error.text, '\n'));
	}
	free(text);
	free(schedule);
	return 0;
}
