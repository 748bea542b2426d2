/* SPDX-License-Identifier: MIT */
#include "schedules.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/reply.h"

enum {
	RANDOM_FIRST = 2,
	RANDOM_MORE = 24,
	BOTH_MORE = 48,
	BOTH_LISTED = 200,
	KEYS = 64,
	TURNS = 400
};

/* ---- Running ----------------------------------------------------------------------------- */

enum stop {
	STOP_NOWHERE,
	STOP_FIRST_WRITE,
	STOP_LAST_WRITE,
	STOP_AFTER_WRITE,
	STOP_AFTER_SLEEP,
	STOP_AFTER_STEPS
};

static bool is_there(const struct execution *it, size_t operation, enum stop stop, size_t n)
{
	const struct operation *own = &it->operations[operation];

	switch (stop) {
	case STOP_FIRST_WRITE:
		return own->n_writes == 0 && execution_would_write(it, operation);
	case STOP_LAST_WRITE:
		return own->n_writes + 1 >= n && execution_would_write(it, operation);
	case STOP_AFTER_WRITE:
		return own->n_writes > 0;
	case STOP_AFTER_SLEEP:
		return own->has_outslept;
	case STOP_AFTER_STEPS:
		return own->n_steps >= n;
	default:
		return false;
	}
}

/* Until it stops there, has ended, or waits for others. */
static bool let(struct execution *it, size_t operation, enum stop stop, size_t n)
{
	while (!it->is_long && execution_can_act(it, operation, DRIVE_ASIDE_ROUNDS) &&
	       !is_there(it, operation, stop, n)) {
		if (!execution_step(it, operation, 0))
			return false;
	}
	return true;
}

/* The same, and time passes while it sleeps, however late others are. */
static bool let_through(struct execution *it, size_t operation, enum stop stop, size_t n)
{
	bool good = let(it, operation, stop, n);

	while (good && !it->is_long && execution_is_asleep(it, operation) &&
	       !is_there(it, operation, stop, n))
		good = execution_pass(it, RR_NEVER) && let(it, operation, stop, n);
	return good;
}

/* No operation could go on: what then? False: an error. */
static bool wait_or_stop(struct execution *it, unsigned allowed, bool *stops)
{
	*stops = it->is_long || !execution_wait(it, allowed);
	it->is_stuck = *stops && !it->is_long;
	return !it->drive->error.kind && !it->drive->is_over;
}

/* All of them to their ends, in this order: the first one also while others could act. */
static bool let_all(struct execution *it, size_t first, size_t second)
{
	const size_t n = it->drive->config->parties.n_operations;
	bool stops = false;

	if (!let_through(it, first, STOP_NOWHERE, 0))
		return false;
	while (!execution_are_all_done(it) && !stops) {
		bool acts = false;

		for (size_t i = 0; i < n + 2; i++) {
			const size_t operation = i == 0 ? first : i == 1 ? second : i - 2;

			acts |= execution_can_act(it, operation, DRIVE_ASIDE_ROUNDS);
			if (!let(it, operation, STOP_NOWHERE, 0))
				return false;
		}
		if ((!acts || it->is_long) && !wait_or_stop(it, (1U << n) - 1, &stops))
			return false;
	}
	return true;
}

static bool let_others(struct execution *it, const struct schedule *schedule, unsigned when)
{
	for (size_t i = 0; i < it->drive->config->parties.n_operations; i++) {
		if (i != schedule->a && i != schedule->b && schedule->others == when &&
		    !let_through(it, i, STOP_NOWHERE, 0))
			return false;
	}
	return true;
}

/* In turn, or as they are drawn: who has gone on goes on for some time. */
static bool let_in_turn(struct execution *it, const struct schedule *schedule)
{
	const size_t n = it->drive->config->parties.n_operations;
	struct rr_random random = { schedule->seed };
	const uint64_t sticky = rr_random_below(&random, 4);
	size_t turn = schedule->a;
	bool stops = false;

	while (!execution_are_all_done(it) && !stops) {
		size_t tries = 0;

		if (schedule->kind == SCHEDULE_RANDOM && rr_random_below(&random, 4) >= sticky)
			turn = rr_random_below(&random, n);
		if (schedule->kind == SCHEDULE_RANDOM && execution_is_asleep(it, turn) &&
		    rr_random_below(&random, 3) == 0 && !execution_pass(it, RR_NEVER))
			return false;
		while (tries < n && !execution_can_act(it, turn, DRIVE_ASIDE_ROUNDS)) {
			turn = (turn + 1) % n;
			tries++;
		}
		if (tries == n || it->is_long) {
			if (!wait_or_stop(it, (1U << n) - 1, &stops))
				return false;
			continue;
		}
		if (!execution_step(it, turn,
				    schedule->kind == SCHEDULE_RANDOM ? rr_random_next(&random) :
									0))
			return false;
		if (schedule->kind == SCHEDULE_LOCKSTEP)
			turn = (turn + 1) % n;
	}
	return true;
}

bool schedule_run(const struct schedule *schedule, struct drive *drive,
		  const struct profile *profiles, struct execution *it)
{
	const size_t n = drive->config->parties.n_operations;
	const size_t a = schedule->a, b = schedule->b;
	bool good = true;

	if (!execution_begin(it, drive, false))
		return false;
	switch (schedule->kind) {
	case SCHEDULE_LOCKSTEP:
	case SCHEDULE_RANDOM:
		return let_in_turn(it, schedule) && execution_finish(it);
	case SCHEDULE_FIRST_WRITES:
		for (size_t i = 0; i < n && good; i++)
			good = let_through(it, i, STOP_FIRST_WRITE, 0);
		break;
	case SCHEDULE_BOTH:
		good = let_others(it, schedule, 0) &&
		       let_through(it, a, STOP_AFTER_STEPS, schedule->i) &&
		       let_others(it, schedule, 1) &&
		       let_through(it, b, STOP_AFTER_STEPS, schedule->j);
		break;
	default:
		good = let_others(it, schedule, 0) &&
		       let_through(it, a,
				   schedule->kind == SCHEDULE_LAST_WRITE ? STOP_LAST_WRITE :
				   schedule->kind == SCHEDULE_QUIET      ? STOP_AFTER_SLEEP :
									   STOP_AFTER_WRITE,
				   profiles[a].n_writes) &&
		       let_others(it, schedule, 1) && let_through(it, b, STOP_NOWHERE, 0);
	}
	return good && let_all(it, a, b) && execution_finish(it);
}

bool schedule_run_order(struct drive *drive, const uint8_t *order, const int64_t *begins_ns,
			size_t n, struct execution *it)
{
	bool stops = false;

	if (!execution_begin(it, drive, true))
		return false;
	for (size_t i = 0; i < n && !stops; i++) {
		if (!execution_begin_party(it, order[i]))
			return false;
		while (it->now_ns < begins_ns[order[i]]) {
			if (!execution_pass(it, begins_ns[order[i]]))
				return false;
		}
		do {
			if (!let(it, order[i], STOP_NOWHERE, 0))
				return false;
			if (execution_is_done(it, order[i]))
				break;
			if (!wait_or_stop(it, 1U << order[i], &stops))
				return false;
		} while (!stops);
	}
	return execution_begin_rest(it) && execution_finish(it);
}

/* ---- Which ----------------------------------------------------------------------------------- */

/* Whose the steps of a schedule are, if each operation does what it does alone. */
struct turns {
	size_t n;
	uint8_t all[TURNS];
	size_t done[RR_RUN_CLIENTS];
};

static void take_turns(struct turns *turns, const struct profile *profiles, uint8_t operation,
		       size_t until)
{
	const size_t all = profiles[operation].n_marks + profiles[operation].n_commands;

	for (size_t *done = &turns->done[operation]; *done < until && *done < all; ++*done) {
		if (turns->n < TURNS)
			turns->all[turns->n++] = operation;
	}
}

static void take_others(struct turns *turns, const struct profile *profiles,
			const struct schedule *schedule, size_t n, unsigned when)
{
	for (uint8_t i = 0; i < n; i++) {
		if (i != schedule->a && i != schedule->b && schedule->others == when)
			take_turns(turns, profiles, i, SIZE_MAX);
	}
}

static void predict(struct turns *turns, const struct profile *profiles,
		    const struct schedule *schedule, size_t n)
{
	const uint8_t a = schedule->a, b = schedule->b;
	const size_t marks = profiles[a].n_marks;
	const size_t stop = schedule->kind == SCHEDULE_LAST_WRITE  ? profiles[a].last_write :
			    schedule->kind == SCHEDULE_AFTER_WRITE ? profiles[a].first_write + 1 :
								     schedule->i;

	*turns = (struct turns){ 0 };
	if (schedule->kind == SCHEDULE_LOCKSTEP) {
		for (size_t step = 1; step < TURNS; step++) {
			for (size_t i = 0; i < n; i++)
				take_turns(turns, profiles, (uint8_t)((a + i) % n), step);
		}
	} else if (schedule->kind == SCHEDULE_FIRST_WRITES) {
		for (uint8_t i = 0; i < n; i++)
			take_turns(turns, profiles, i,
				   profiles[i].n_marks + profiles[i].first_write);
	} else {
		take_others(turns, profiles, schedule, n, 0);
		take_turns(turns, profiles, a, marks + stop);
		take_others(turns, profiles, schedule, n, 1);
		if (schedule->kind == SCHEDULE_BOTH)
			take_turns(turns, profiles, b, profiles[b].n_marks + schedule->j);
		else
			take_turns(turns, profiles, b, SIZE_MAX);
	}
	take_turns(turns, profiles, a, SIZE_MAX);
	take_turns(turns, profiles, b, SIZE_MAX);
	for (uint8_t i = 0; i < n; i++)
		take_turns(turns, profiles, i, SIZE_MAX);
}

static bool is_serial(const struct turns *turns)
{
	uint32_t begun = 0;

	for (size_t i = 0; i < turns->n; i++) {
		if ((i == 0 || turns->all[i] != turns->all[i - 1]) && begun >> turns->all[i] & 1)
			return false;
		begun |= 1U << turns->all[i];
	}
	return true;
}

static bool is_predictable(const struct schedule *schedule)
{
	return schedule->kind != SCHEDULE_RANDOM && schedule->kind != SCHEDULE_QUIET;
}

/* Would it be serial, or the same as another one before it? The very first is run in any case. */
static bool is_known(const struct schedules *schedules, const struct profile *profiles,
		     const struct schedule *schedule, size_t n)
{
	struct turns own, other;
	bool is = false;

	if (!is_predictable(schedule) || schedules->n == 0)
		return false;
	predict(&own, profiles, schedule, n);
	if (own.n == TURNS)
		return false;
	is = is_serial(&own);
	for (size_t i = 0; i < schedules->n && !is; i++) {
		if (!is_predictable(&schedules->all[i]))
			continue;
		predict(&other, profiles, &schedules->all[i], n);
		is = own.n == other.n && memcmp(own.all, other.all, own.n) == 0;
	}
	return is;
}

static void add(struct schedules *schedules, struct schedule schedule)
{
	rr_array_grow(&schedules->all, schedules->n, sizeof(*schedules->all));
	schedules->all[schedules->n++] = schedule;
}

/* The keys of a command, as the server says; SIZE_MAX: it does not know. */
static size_t list_keys(struct drive *drive, uint32_t number, uint32_t keys[KEYS])
{
	const struct rdl_command *command = &drive->terms->command[number].words;
	struct rdl_command question = { .n_words = 2,
					.words = { { "COMMAND", 7 }, { "GETKEYS", 7 } } };
	struct rdl_reply reply;
	size_t n = 0;

	if (rr_word_is(&command->words[0], "MULTI") || rr_word_is(&command->words[0], "EXEC"))
		return SIZE_MAX;
	for (size_t i = 0; i < command->n_words && question.n_words < RDL_WORDS_MAX; i++)
		question.words[question.n_words++] = command->words[i];
	if (!rr_asker_run(drive->servers.askers[0], &reply, &question) ||
	    reply.type != RDL_REPLY_ARRAY)
		return SIZE_MAX;
	for (; n < reply.length && n < KEYS; n++)
		keys[n] = rr_intern_put(&drive->terms->words, reply.elements[n].text,
					reply.elements[n].length, NULL);
	return n;
}

/* Of each command of `a`: does it touch a key that `b` touches? */
static bool *list_touches(struct drive *drive, const struct profile *a, const struct profile *b)
{
	bool *touches = rr_calloc(a->n_commands + 1, sizeof(*touches));
	uint32_t keys[KEYS], others[KEYS];

	for (size_t i = 0; i < a->n_commands; i++) {
		const size_t n = list_keys(drive, a->commands[i], keys);

		touches[i] = n == SIZE_MAX;
		for (size_t j = 0; j < b->n_commands && !touches[i]; j++) {
			const size_t n_others = list_keys(drive, b->commands[j], others);

			touches[i] = n_others == SIZE_MAX;
			for (size_t k = 0; k < n && n_others != SIZE_MAX; k++) {
				for (size_t l = 0; l < n_others; l++)
					touches[i] |= keys[k] == others[l];
			}
		}
	}
	return touches;
}

/* Is a stop before command `i` one between two that touch what the other touches? */
static bool is_between(const bool *touches, size_t n, size_t i)
{
	bool before = false, after = false;

	for (size_t j = 0; j < n; j++) {
		before |= touches[j] && j < i;
		after |= touches[j] && j >= i;
	}
	return before && after;
}

static size_t middle_of(const struct profile *profile)
{
	return profile->n_commands > 1 ? (profile->n_commands + 1) / 2 : 1;
}

/* Of all pairs of stops, some, drawn. */
static void add_stops(struct schedules *schedules, struct drive *drive,
		      const struct profile *profiles, struct schedule pair,
		      struct rr_random *random)
{
	const struct profile *a = &profiles[pair.a], *b = &profiles[pair.b];
	bool *of_a = list_touches(drive, a, b), *of_b = list_touches(drive, b, a);
	const size_t first = schedules->n;

	for (pair.i = 1; pair.i < a->n_commands; pair.i++) {
		for (pair.j = 1; pair.j <= b->n_commands; pair.j++) {
			if (is_between(of_a, a->n_commands, pair.i) &&
			    (pair.j == b->n_commands || is_between(of_b, b->n_commands, pair.j)) &&
			    schedules->n - first < BOTH_LISTED &&
			    !is_known(schedules, profiles, &pair,
				      drive->config->parties.n_operations))
				add(schedules, pair);
		}
	}
	for (size_t i = first; i < schedules->n; i++) {
		const size_t other = i + rr_random_below(random, schedules->n - i);
		const struct schedule swapped = schedules->all[i];

		schedules->all[i] = schedules->all[other];
		schedules->all[other] = swapped;
	}
	if (schedules->n - first > BOTH_MORE)
		schedules->n = first + BOTH_MORE;
	free(of_a);
	free(of_b);
}

/* Of clients that are equal the first two stand for all. */
static bool is_pair(const uint8_t *same_as, uint8_t a, uint8_t b)
{
	uint8_t second = (uint8_t)(a + 1);

	if (same_as[a] != a || a == b)
		return false;
	if (same_as[b] != a)
		return same_as[b] == b;
	while (same_as[second] != a)
		second++;
	return second == b;
}

void schedules_list(struct schedules *schedules, struct drive *drive,
		    const struct profile *profiles, const uint8_t *same_as, bool outsleeps,
		    uint64_t seed)
{
	static const uint8_t kinds[] = { SCHEDULE_LOCKSTEP,   SCHEDULE_FIRST_WRITES,
					 SCHEDULE_LAST_WRITE, SCHEDULE_AFTER_WRITE,
					 SCHEDULE_BOTH,       SCHEDULE_QUIET };
	const uint8_t n = (uint8_t)drive->config->parties.n_operations;
	struct rr_random random = { seed };

	*schedules = (struct schedules){ 0 };
	for (size_t k = 0; k < sizeof(kinds) && n > 1; k++) {
		const bool is_of_two = kinds[k] != SCHEDULE_LOCKSTEP &&
				       kinds[k] != SCHEDULE_FIRST_WRITES;

		for (uint8_t a = 0; a < n && (kinds[k] != SCHEDULE_QUIET || outsleeps); a++) {
			for (uint8_t b = 0; b < n; b++) {
				if (!is_pair(same_as, a, b) ||
				    (kinds[k] == SCHEDULE_LOCKSTEP && b != (a + 1) % n))
					continue;
				for (uint8_t others = 0; others < (is_of_two && n > 2 ? 3 : 1);
				     others++) {
					const struct schedule schedule = {
						.kind = kinds[k],
						.a = a,
						.b = b,
						.others = others,
						.i = middle_of(&profiles[a]),
						.j = middle_of(&profiles[b])
					};

					if (!is_known(schedules, profiles, &schedule, n))
						add(schedules, schedule);
				}
			}
		}
	}
	for (size_t i = 0; i < RANDOM_FIRST && n > 1; i++)
		add(schedules,
		    (struct schedule){ .kind = SCHEDULE_RANDOM, .seed = rr_random_next(&random) });
	schedules->n_first = schedules->n;
	for (uint8_t a = 0; a < n; a++) {
		for (uint8_t b = 0; b < n; b++) {
			if (is_pair(same_as, a, b))
				add_stops(schedules, drive, profiles,
					  (struct schedule){ .kind = SCHEDULE_BOTH,
							     .a = a,
							     .b = b,
							     .others = (a + b) % 3 },
					  &random);
		}
	}
	for (size_t i = 0; i < RANDOM_MORE && n > 1; i++)
		add(schedules,
		    (struct schedule){ .kind = SCHEDULE_RANDOM, .seed = rr_random_next(&random) });
}

char *schedule_text(const struct schedule *schedule, const struct drive *drive)
{
	const char *a = drive->config->parties.names[schedule->a];
	const char *b = drive->config->parties.names[schedule->b];

	switch (schedule->kind) {
	case SCHEDULE_LOCKSTEP:
		return rr_asprintf("in lockstep, from %s on", a);
	case SCHEDULE_FIRST_WRITES:
		return rr_asprintf("all stopped before their first write, then %s, then %s", a, b);
	case SCHEDULE_LAST_WRITE:
		return rr_asprintf("%s stopped before its last write, then %s, then %s", a, b, a);
	case SCHEDULE_AFTER_WRITE:
		return rr_asprintf("%s stopped after its first write, then %s, then %s", a, b, a);
	case SCHEDULE_QUIET:
		return rr_asprintf("%s sleeps for longer than its lease, then %s, then %s", a, b,
				   a);
	case SCHEDULE_BOTH:
		return rr_asprintf("%s stopped after %zu commands, %s after %zu, then %s, then %s",
				   a, schedule->i, b, schedule->j, a, b);
	default:
		return rr_asprintf("random, seed %llu", (unsigned long long)schedule->seed);
	}
}
