/* SPDX-License-Identifier: MIT */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "crew_inside.h"
#include "placement.h"

enum { LOOK_MS = 100, END_LOOKS = 100 };

/* A job's place to work. The first one has the guardian and the world of who
 * asks. */
struct place {
	int cpu;
	struct rr_session session; /* its guardian is its own */
	struct rr_world own, *world;
};

struct rr_crew {
	size_t n;
	struct rr_world_options options;
	struct place places[];
};

/* A search that is under way. */
struct errand {
	struct rr_crew *crew;
	const struct rr_explore_config *config;
	size_t split;
	struct rr_shards *shards;
	struct rr_hand hands[RR_CREW_MAX];
	size_t n_hands;
	int looks_left; /* when all are to end: until they must have */
};

/* ---- Places --------------------------------------------------------------- */

static bool make_place(struct place *place, const struct rr_session *session)
{
	char error[400];

	place->session = *session;
	if (rr_guardian_start(&place->session.guardian, error, sizeof(error)))
		return true;
	rr_complain(RR_EXIT_FILE, "%s", error);
	return false;
}

struct rr_crew *rr_crew_new(struct rr_session *session, int n,
			    const struct rr_world_options *options)
{
	struct rr_crew *crew =
		calloc(1, sizeof(*crew) + (size_t)n * sizeof(crew->places[0]));

	if (!crew) {
		rr_complain(RR_EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	crew->options = *options;
	for (crew->n = 0; crew->n < (size_t)n; crew->n++) {
		struct place *place = &crew->places[crew->n];

		place->cpu = rr_placement_nth((int)crew->n);
		if (crew->n > 0 && !make_place(place, session)) {
			rr_crew_free(crew);
			return NULL;
		}
	}
	return crew;
}

/* The last one first: a guardian knows the end of the program by its socket,
 * and those that were forked after it hold that as well. */
void rr_crew_free(struct rr_crew *crew)
{
	if (!crew)
		return;
	while (crew->n-- > 1) {
		struct place *place = &crew->places[crew->n];

		rr_world_close(&place->own);
		rr_guardian_stop(&place->session.guardian);
	}
	free(crew);
}

static enum rr_exit open_place(const struct rr_crew *crew, struct place *place,
			       char error[RR_WORLD_ERROR])
{
	struct rr_world_options options = crew->options;

	if (place->own.session)
		return RR_EXIT_OK;
	options.cpu = place->cpu;
	place->world = &place->own;
	return rr_world_open(&place->own, &place->session, &options, error);
}

static enum rr_exit prepare(struct rr_crew *crew, struct rr_world *world,
			    const struct rr_explore_config *config,
			    char error[RR_WORLD_ERROR])
{
	enum rr_exit code = RR_EXIT_OK;

	crew->places[0].world = world;
	for (size_t i = 0; i < crew->n && code == RR_EXIT_OK; i++) {
		struct place *place = &crew->places[i];

		if (i > 0)
			code = open_place(crew, place, error);
		if (code == RR_EXIT_OK)
			code = rr_explore_start(place->world, config, error);
	}
	return code;
}

/* Who knows what they were about to do: no other search has these servers. */
static void give_up(struct rr_crew *crew)
{
	for (size_t i = 0; i < crew->n; i++) {
		struct rr_world *world = crew->places[i].world;

		for (size_t j = 0; j < world->n_servers; j++)
			world->servers[j].is_used_up = true;
	}
}

/* ---- A job ---------------------------------------------------------------- */

static void work(void *context, struct rr_finding *finding)
{
	const struct errand *errand = context;
	const struct place *place = &errand->crew->places[errand->n_hands];
	struct rr_explore_config config = *errand->config;

	config.progress = NULL;
	rr_gate_settle(place->cpu);
	finding->share = (struct rr_share){ .shards = errand->shards,
					    .split = errand->split };
	finding->code = rr_explore_share(place->world, &config, &finding->share,
					 &finding->result);
}

/* ---- All of them ---------------------------------------------------------- */

static void end_all(struct errand *errand)
{
	atomic_store(&errand->shards->is_over, true);
	if (errand->looks_left == 0)
		errand->looks_left = END_LOOKS;
}

static bool has_failed(const struct rr_hand *hand)
{
	return hand->pipe < 0 && hand->n_said < sizeof(struct rr_finding);
}

static bool found_trouble(const struct rr_hand *hand)
{
	const struct rr_finding *finding = (const void *)hand->said;

	return has_failed(hand) ||
	       (hand->n_said >= sizeof(*finding) && finding->code != RR_EXIT_OK);
}

/* Once around. */
static void look(struct errand *errand)
{
	const struct rr_explore_config *config = errand->config;

	if (config->progress &&
	    !config->progress(config->context,
			      atomic_load(&errand->shards->schedules), 0))
		end_all(errand);
	for (size_t i = 0; i < errand->n_hands; i++) {
		if (found_trouble(&errand->hands[i]))
			end_all(errand);
	}
	if (errand->looks_left == 0 || --errand->looks_left > 0)
		return;
	for (size_t i = 0; i < errand->n_hands; i++)
		rr_hand_kill(&errand->hands[i]);
	errand->looks_left = END_LOOKS;
}

static void describe_end(const struct rr_hand *hand, char error[RR_WORLD_ERROR])
{
	snprintf(error, RR_WORLD_ERROR,
		 "a job (process %d) %s %d before it had said what it found, so nothing is known; explore again, with fewer --jobs if memory is short",
		 (int)hand->pid,
		 WIFSIGNALED(hand->status) ? "was killed by signal" :
					     "exited with status",
		 WIFSIGNALED(hand->status) ? WTERMSIG(hand->status) :
					     WEXITSTATUS(hand->status));
}

/* Every part must have been searched by one of them. */
static void check(struct rr_finding *sum)
{
	const bool is_whole = sum->result.explored == RR_EXPLORED_ALL ||
			      sum->result.explored == RR_EXPLORED_ROUNDS;

	if (sum->code != RR_EXIT_OK || !is_whole ||
	    sum->share.n_claimed == sum->share.n_parts)
		return;
	sum->code = RR_EXIT_INTERNAL;
	snprintf(sum->result.error, RR_WORLD_ERROR,
		 "the jobs disagree: %lu parts, and %lu were searched",
		 sum->share.n_parts, sum->share.n_claimed);
}

static void collect(struct errand *errand, struct rr_finding *sum)
{
	for (size_t i = 0; i < errand->n_hands; i++) {
		struct rr_hand *hand = &errand->hands[i];
		struct rr_finding finding;

		if (!rr_hand_join(hand, &finding)) {
			finding.code = RR_EXIT_INTERNAL;
			describe_end(hand, finding.result.error);
		}
		rr_findings_add(sum, &finding, errand->config->shows);
	}
	check(sum);
}

static void run(struct errand *errand, struct rr_finding *sum)
{
	while (errand->n_hands < errand->crew->n) {
		struct rr_hand *hand = &errand->hands[errand->n_hands];

		if (!rr_hand_start(hand, work, errand)) {
			sum->code = RR_EXIT_INTERNAL;
			snprintf(sum->result.error, RR_WORLD_ERROR,
				 "cannot start job %zu of %zu; use fewer --jobs",
				 errand->n_hands + 1, errand->crew->n);
			end_all(errand);
			break;
		}
		errand->n_hands++;
	}
	while (rr_hands_hear(errand->hands, errand->n_hands, LOOK_MS))
		look(errand);
	collect(errand, sum);
	if (sum->code != RR_EXIT_OK)
		give_up(errand->crew);
}

static enum rr_exit go(struct errand *errand, struct rr_world *world,
		       struct rr_explore_result *result)
{
	struct rr_finding sum = { 0 };
	const double begun = rr_explore_seconds();

	sum.code = prepare(errand->crew, world, errand->config,
			   sum.result.error);
	if (sum.code == RR_EXIT_OK)
		run(errand, &sum);
	*result = sum.result;
	result->seconds = rr_explore_seconds() - begun;
	return sum.code;
}

enum rr_exit rr_crew_explore(struct rr_crew *crew, struct rr_world *world,
			     const struct rr_explore_config *config,
			     size_t split, struct rr_explore_result *result)
{
	struct errand errand = { .crew = crew,
				 .config = config,
				 .split = split };
	enum rr_exit code;

	errand.shards = mmap(NULL, sizeof(*errand.shards),
			     PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (errand.shards == MAP_FAILED) {
		*result = (struct rr_explore_result){ .error = "out of memory" };
		return RR_EXIT_INTERNAL;
	}
	rr_shards_init(errand.shards);
	code = go(&errand, world, result);
	munmap(errand.shards, sizeof(*errand.shards));
	return code;
}
