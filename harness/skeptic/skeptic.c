/* SPDX-License-Identifier: MIT */
#include "skeptic.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cases.h"
#include "base/marks.h"
#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"
#include "end.h"
#include "schedules.h"

enum {
	ORDERS_MAX = 24, /* of the same operations */
	SETS_MAX = 4,    /* of serial executions that leave some operations out */
	LATER_MAX = 64,  /* serial executions that begin later, for one end */
	SCHEDULES_MAX = 400
};

const char *const rr_skeptic_verdict_names[] = {
	[RR_SKEPTIC_OFF] = "off",
	[RR_SKEPTIC_AGREES] = "agrees",
	[RR_SKEPTIC_DISAGREES] = "disagrees",
	[RR_SKEPTIC_INCONCLUSIVE] = "inconclusive",
};

/* A serial execution. What its last run has drawn tells which tokens are random, unless that run did
 * not end. */
struct serial {
	uint8_t order[RR_RUN_CLIENTS];
	size_t n;
	int64_t begins_ns[RR_RUN_CLIENTS]; /* not before, by the server's clock */
	int n_runs;
	struct end runs[RR_SKEPTIC_RUNS];
	bool has_other;
};

struct skeptic {
	const struct rr_skeptic_config *config;
	struct rr_skeptic_result *result;
	struct drive drive;
	struct end_tokens tokens;
	size_t n_serial;
	struct serial *serial; /* members of the set */
	size_t n_left_out;     /* operations that were left out of serial executions, as bits */
	uint32_t left_out[SETS_MAX];
	struct profile profiles[RR_RUN_CLIENTS];
	bool outsleeps;
	bool has_unlike;   /* two runs of a serial execution differ */
	bool lacks_orders; /* there are more serial orders than were run */
	bool lacks_later;  /* of the last end: there are more ways to begin later than were run */
};

static uint32_t all_of(const struct skeptic *skeptic)
{
	return (1U << skeptic->config->parties.n_operations) - 1;
}

/* ---- What is told ------------------------------------------------------------------------- */

static void add_text(char **texts, size_t *n, char *text)
{
	bool is_new = *n < RR_SKEPTIC_TEXTS;

	for (size_t i = 0; i < *n && is_new; i++)
		is_new = strcmp(texts[i], text) != 0;
	if (is_new)
		texts[(*n)++] = text;
	else
		free(text);
}

static void add_limit(struct skeptic *skeptic, const char *text)
{
	add_text(skeptic->result->limits, &skeptic->result->n_limits, rr_strdup(text));
}

static void conclude(struct skeptic *skeptic, enum rr_skeptic_verdict verdict, char *why)
{
	struct rr_skeptic_result *result = skeptic->result;

	if (result->verdict == RR_SKEPTIC_AGREES || verdict == RR_SKEPTIC_DISAGREES) {
		result->verdict = verdict;
		free(result->why);
		result->why = why;
	} else {
		free(why);
	}
}

/* An execution came to nothing: because of an error, or because the time is up. */
static void conclude_failed(struct skeptic *skeptic)
{
	if (!skeptic->drive.is_over)
		conclude(skeptic, RR_SKEPTIC_INCONCLUSIVE, rr_strdup(skeptic->drive.error.text));
}

/* A step of the trace; NULL: it is none of a client's doing. */
static json_t *step_of(const struct skeptic *skeptic, const struct event *event, const char *reply)
{
	const struct rr_program *program = skeptic->config->parties.program;
	const size_t n_requests = rr_program_requests_of(program, event->client);
	const bool is_time = event->kind == EVENT_TIME;
	char name[RR_CONNECTION_NAME];
	const struct rdl_command *words =
		event->kind == EVENT_COMMAND ?
			&skeptic->drive.terms->command[event->command].words :
			NULL;
	struct rr_case_step step = {
		.number = json_array_size(skeptic->result->trace) + 1,
		.kind = is_time                      ? "tick" :
			event->kind == EVENT_COMMAND ? "run" :
			event->kind == EVENT_MESSAGE ? "reads" :
						       "times-out",
		.client = is_time ? NULL : rr_program_client_name(program, event->client),
		.connection = is_time ? 0 : (size_t)event->lane - n_requests + 1,
		.server = is_time ? NULL : "redis",
		.n_words = words ? words->n_words : 0,
		.words = words ? words->words : NULL,
		.reply = reply,
		.ns = is_time ? event->ns : 0,
	};

	if (!is_time && rr_program_has_marks(program, event->client, event->lane)) {
		if (event->lane >= n_requests || !words || words->n_words < 2)
			return NULL;
		step = (struct rr_case_step){
			.number = step.number,
			.kind = strncmp(words->words[1].text, RR_MARK_ANSWER,
					strlen(RR_MARK_ANSWER)) == 0 ?
					"answer" :
					"request",
			.client = rr_program_connection_name(program, event->client, event->lane,
							     name),
		};
	}
	return rr_case_step(&step);
}

static void tell_steps(struct skeptic *skeptic, const struct execution *it)
{
	struct rr_skeptic_result *result = skeptic->result;
	const struct rr_skeptic_parties *parties = &skeptic->config->parties;

	json_decref(result->trace);
	result->trace = json_array();
	for (size_t i = 0; i < it->n_events; i++) {
		const struct event *event = &it->events[i];
		const struct rdl_command *words =
			event->kind == EVENT_COMMAND ?
				&skeptic->drive.terms->command[event->command].words :
				NULL;
		struct rr_skeptic_step step = { 0 };
		json_t *told;
		FILE *out;

		/* A connection that was closed: no command of the client's. */
		if (words && words->n_words == 1 && rr_word_is(&words->words[0], "Reset"))
			continue;
		if (event->kind == EVENT_TIME) {
			step.command = rr_asprintf("%.3f s pass", (double)event->ns / 1e9);
		} else {
			step.who = rr_strdup(event->operation < parties->n_operations ?
						     parties->names[event->operation] :
						     "app");
			step.command = event->kind == EVENT_COMMAND ?
					       rr_command_text(words->words, words->n_words, 0) :
				       event->kind == EVENT_MESSAGE ? rr_strdup("(message)") :
								      rr_strdup("(times out)");
		}
		if (event->reply != RR_NO_ID) {
			out = rr_open_text(&step.reply);
			rr_write_reply(out, &skeptic->drive.terms->reply[event->reply].reply);
			fclose(out);
		}
		told = step_of(skeptic, event, step.reply);
		if (told)
			json_array_append_new(result->trace, told);
		rr_array_grow(&result->steps, result->n_steps, sizeof(*result->steps));
		result->steps[result->n_steps++] = step;
	}
}

/* ---- Serial executions ------------------------------------------------------------------------ */

/* Best of all is what it does first. */
static void note_profile(struct skeptic *skeptic, const struct execution *it, uint8_t operation,
			 bool is_first)
{
	struct profile *profile = &skeptic->profiles[operation];
	size_t first = SIZE_MAX;

	if (profile->is_known && (profile->is_first || !is_first))
		return;
	free(profile->commands);
	*profile = (struct profile){ .is_known = true,
				     .is_first = is_first,
				     .n_writes = it->operations[operation].n_writes };
	for (size_t i = 0; i < it->n_events; i++) {
		const struct event *event = &it->events[i];

		if (event->operation != operation || event->kind != EVENT_COMMAND)
			continue;
		if (event->is_mark) {
			/* The mark of its end is no step of a schedule. */
			profile->n_marks = 1;
			continue;
		}
		if (event->changes && first == SIZE_MAX)
			first = profile->n_commands;
		if (event->changes)
			profile->last_write = profile->n_commands;
		rr_array_grow(&profile->commands, profile->n_commands, sizeof(uint32_t));
		profile->commands[profile->n_commands++] = event->command;
	}
	profile->first_write = first == SIZE_MAX ? profile->n_commands : first;
	if (first == SIZE_MAX)
		profile->last_write = profile->n_commands;
}

static bool run_serial(struct skeptic *skeptic, struct serial *serial, bool *is_member)
{
	uint32_t ran = 0;

	*is_member = true;
	for (size_t i = 0; i < serial->n; i++)
		ran |= 1U << serial->order[i];
	for (int run = 0; run < serial->n_runs && *is_member; run++) {
		struct execution it;
		bool good;

		skeptic->drive.world = run == RR_SKEPTIC_RUNS - 1;
		good = schedule_run_order(&skeptic->drive, serial->order, serial->begins_ns,
					  serial->n, &it);
		skeptic->drive.world = 0;
		if (good) {
			const bool ends = !it.is_stuck && !it.is_long;

			serial->has_other = ends && run == RR_SKEPTIC_RUNS - 1;
			*is_member = ends || run == RR_SKEPTIC_RUNS - 1;
			skeptic->outsleeps |= it.outsleeps;
			good = end_take(&serial->runs[run], &it, ran, true, &skeptic->tokens);
			for (size_t i = 0; i < serial->n && ends && run < RR_SKEPTIC_RUNS - 1; i++)
				note_profile(skeptic, &it, serial->order[i], i == 0);
		}
		execution_end(&it);
		if (!good)
			return false;
	}
	if (*is_member)
		skeptic->result->serial_executions++;
	return true;
}

static void release_serial(struct serial *serial)
{
	for (int i = 0; i < RR_SKEPTIC_RUNS; i++)
		end_release(&serial->runs[i]);
}

static size_t factorial(size_t n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

/* All orders of these operations, or as many as there is room for, from all over the list. */
static bool add_orders(struct skeptic *skeptic, uint32_t operations)
{
	uint8_t list[RR_RUN_CLIENTS];
	size_t n = 0, n_orders, n_taken;

	for (uint8_t i = 0; i < RR_RUN_CLIENTS; i++) {
		if (operations >> i & 1)
			list[n++] = i;
	}
	n_orders = factorial(n);
	n_taken = n_orders < ORDERS_MAX ? n_orders : ORDERS_MAX;
	skeptic->lacks_orders |= n_taken < n_orders;
	if (n_taken < n_orders)
		add_limit(skeptic, "24 serial orders of the operations, of more, were run");
	for (size_t i = 0; i < n_taken; i++) {
		struct serial serial = { .n_runs = skeptic->config->serial_runs };
		bool is_member;

		/* The order number `index` of all orders of these operations. */
		size_t index = i * (n_orders / n_taken);
		uint8_t left[RR_RUN_CLIENTS];

		memcpy(left, list, n);
		serial.n = n;
		for (size_t k = 0; k < n; k++) {
			const size_t block = factorial(n - 1 - k);
			const size_t which = index / block;

			serial.order[k] = left[which];
			memmove(left + which, left + which + 1, n - k - which - 1);
			index %= block;
		}
		if (!run_serial(skeptic, &serial, &is_member)) {
			release_serial(&serial);
			return false;
		}
		if (!is_member) {
			add_limit(skeptic, "a serial order in which an operation does not end is "
					   "not in the set");
			release_serial(&serial);
			continue;
		}
		if (serial.n_runs > 1)
			end_learn_tokens(&skeptic->tokens, &serial.runs[0],
					 &serial.runs[serial.has_other ? RR_SKEPTIC_RUNS - 1 : 1]);
		rr_array_grow(&skeptic->serial, skeptic->n_serial, sizeof(serial));
		skeptic->serial[skeptic->n_serial++] = serial;
	}
	return true;
}

static bool have_unlike_runs(struct skeptic *skeptic)
{
	bool are_unlike = false;

	for (size_t i = 0; i < skeptic->n_serial && !are_unlike; i++) {
		const struct end *runs = skeptic->serial[i].runs;
		char *note = NULL;

		if (skeptic->serial[i].n_runs == 1)
			continue;
		are_unlike = end_compare(&skeptic->drive, &skeptic->tokens, &runs[0], &runs[1],
					 &note) != END_SAME;
		free(note);
	}
	return are_unlike;
}

static void forget_serial(struct skeptic *skeptic)
{
	for (size_t i = 0; i < skeptic->n_serial; i++)
		release_serial(&skeptic->serial[i]);
	free(skeptic->serial);
	skeptic->serial = NULL;
	skeptic->n_serial = skeptic->n_left_out = 0;
	skeptic->has_unlike = false;
}

static bool run_all_orders(struct skeptic *skeptic)
{
	do {
		forget_serial(skeptic);
		skeptic->result->serial_executions = 0;
		if (!add_orders(skeptic, all_of(skeptic)))
			return false;
	} while (drive_learn(&skeptic->drive));
	/*
	 * Do both runs of each serial execution end alike, but for random tokens and the order of
	 * lines?
	 */
	skeptic->has_unlike = have_unlike_runs(skeptic);
	if (skeptic->has_unlike && !skeptic->tokens.sorts_lines) {
		skeptic->tokens.sorts_lines = true;
		skeptic->has_unlike = have_unlike_runs(skeptic);
		if (!skeptic->has_unlike)
			add_limit(skeptic,
				  "lines of outputs come in any order, and were compared sorted");
	}
	return true;
}

/* Those without operations that failed in a schedule and had changed no data. */
static bool add_orders_without(struct skeptic *skeptic, uint32_t absent)
{
	for (size_t i = 0; i < skeptic->n_left_out; i++) {
		if (skeptic->left_out[i] == absent)
			return true;
	}
	if (skeptic->n_left_out == SETS_MAX) {
		add_limit(skeptic, "more combinations of refused operations than were run");
		return true;
	}
	skeptic->left_out[skeptic->n_left_out++] = absent;
	return add_orders(skeptic, all_of(skeptic) & ~absent);
}

/* ---- Schedules ----------------------------------------------------------------------------------- */

/* The best that any serial execution explains; the nearest one in *nearest. */
static enum end_difference explain(struct skeptic *skeptic, const struct end *end, size_t *nearest,
				   char **note)
{
	enum end_difference best = END_DIFFERENT;

	*nearest = 0;
	for (size_t i = 0; i < skeptic->n_serial && best > END_SAME; i++) {
		char *own = NULL;
		const enum end_difference difference = end_compare(
			&skeptic->drive, &skeptic->tokens, end, &skeptic->serial[i].runs[0], &own);

		if (difference < best) {
			best = difference;
			*nearest = i;
			free(*note);
			*note = own;
		} else {
			free(own);
		}
	}
	return best;
}

/* The next way in which operations begin at one of the times at which they acted on the way to this
 * end, or at once. False: that was the last one. */
static bool next_times(const struct end *end, size_t *chosen)
{
	for (size_t i = 0; i < end->n_operations; i++) {
		if (chosen[i] < end->operations[i].n_times) {
			chosen[i]++;
			return true;
		}
		chosen[i] = 0;
	}
	return false;
}

/* Serial executions in the order of one in the set, in which operations begin later, are added
 * until one explains the end. */
static bool add_later(struct skeptic *skeptic, const struct end *end, size_t like, size_t *n_ran,
		      enum end_difference *difference)
{
	size_t chosen[RR_RUN_CLIENTS] = { 0 };

	while (*difference != END_SAME && next_times(end, chosen)) {
		struct serial later = { .n = skeptic->serial[like].n, .n_runs = 1 };
		enum end_difference own;
		bool is_member;
		char *note = NULL;

		if (++*n_ran > LATER_MAX) {
			skeptic->lacks_later = true;
			return true;
		}
		memcpy(later.order, skeptic->serial[like].order, sizeof(later.order));
		for (size_t i = 0; i < end->n_operations; i++)
			later.begins_ns[i] = chosen[i] > 0 ?
						     end->operations[i].times_ns[chosen[i] - 1] :
						     0;
		if (!run_serial(skeptic, &later, &is_member)) {
			release_serial(&later);
			return false;
		}
		own = is_member ? end_compare(&skeptic->drive, &skeptic->tokens, end,
					      &later.runs[0], &note) :
				  END_DIFFERENT;
		free(note);
		if (own < *difference) {
			*difference = own;
			rr_array_grow(&skeptic->serial, skeptic->n_serial, sizeof(later));
			skeptic->serial[skeptic->n_serial++] = later;
		} else {
			release_serial(&later);
		}
	}
	return true;
}

static bool judge(struct skeptic *skeptic, const struct end *end, enum end_difference *difference,
		  size_t *nearest, char **note)
{
	const uint32_t absent = end_absent(end, skeptic->config->strict_exits);
	size_t n_serial, n_ran = 0;

	skeptic->lacks_later = false;
	*difference = explain(skeptic, end, nearest, note);
	if (*difference == END_SAME)
		return true;
	/* Each of them alone, and all of them. */
	for (uint32_t rest = absent; rest; rest &= rest - 1) {
		if (!add_orders_without(skeptic, rest & -rest))
			return false;
	}
	if (absent && !add_orders_without(skeptic, absent))
		return false;
	*difference = explain(skeptic, end, nearest, note);
	n_serial = skeptic->n_serial;
	for (size_t i = 0; i < n_serial && skeptic->drive.counts_sleeps; i++) {
		if (!add_later(skeptic, end, i, &n_ran, difference))
			return false;
	}
	return true;
}

/* Runs a schedule. False: an error, or the time is up. */
static bool run_schedule(struct skeptic *skeptic, const struct schedule *schedule, struct end *end,
			 bool tells)
{
	struct execution it;
	const bool good = schedule_run(schedule, &skeptic->drive, skeptic->profiles, &it) &&
			  end_take(end, &it, all_of(skeptic), false, &skeptic->tokens);

	if (good && tells)
		tell_steps(skeptic, &it);
	execution_end(&it);
	return good;
}

static bool is_wrong(const struct end *end, enum end_difference difference)
{
	return end->is_stuck || (!end->is_long && difference == END_DIFFERENT);
}

/* What no serial execution explains is run again, with the set computed again. */
static bool confirm(struct skeptic *skeptic, const struct schedule *schedule)
{
	struct rr_skeptic_result *result = skeptic->result;
	struct end end = { 0 };
	enum end_difference difference;
	size_t nearest;
	char *note = NULL;
	bool good = run_all_orders(skeptic) && run_schedule(skeptic, schedule, &end, true) &&
		    (end.is_stuck || judge(skeptic, &end, &difference, &nearest, &note));

	if (good && !end.is_stuck && is_wrong(&end, difference) &&
	    (skeptic->lacks_orders || skeptic->lacks_later)) {
		conclude(skeptic, RR_SKEPTIC_INCONCLUSIVE,
			 rr_strdup(skeptic->lacks_orders ?
					   "a schedule ended as none of 24 serial executions does, "
					   "of which there are more" :
					   "a schedule ended as no serial execution does that was "
					   "run, and there are more times at which clients may "
					   "begin"));
	} else if (good && is_wrong(&end, end.is_stuck ? END_DIFFERENT : difference)) {
		const struct end *serial = skeptic->n_serial > 0 ? &skeptic->serial[0].runs[0] :
								   NULL;

		result->kind = schedule_text(schedule, &skeptic->drive);
		result->is_stuck = end.is_stuck;
		result->data = end_text(&skeptic->drive, &end);
		result->final = end_json(&skeptic->drive, &end);
		result->serial_data = serial ? end_text(&skeptic->drive, serial) : NULL;
		result->nearest_serial = serial ? end_json(&skeptic->drive, serial) : json_null();
		result->keys = serial ? end_keys(&skeptic->drive, &end, serial) : json_array();
		conclude(skeptic, RR_SKEPTIC_DISAGREES,
			 rr_strdup(end.is_stuck ?
					   "a schedule is stuck, and serial executions end" :
					   "no serial execution has the data, outputs and exit "
					   "statuses of a schedule"));
	} else if (good) {
		conclude(skeptic, RR_SKEPTIC_INCONCLUSIVE,
			 rr_strdup("a schedule ended as no serial execution does, and another "
				   "way when it was run again"));
	}
	free(note);
	end_release(&end);
	return good;
}

static bool try_schedule(struct skeptic *skeptic, const struct schedule *schedule)
{
	struct rr_skeptic_result *result = skeptic->result;
	struct end end = { 0 };
	enum end_difference difference = END_DIFFERENT;
	size_t nearest;
	char *note = NULL;
	bool good = run_schedule(skeptic, schedule, &end, false);

	if (good && drive_learn(&skeptic->drive)) {
		end_release(&end);
		return run_all_orders(skeptic) && try_schedule(skeptic, schedule);
	}
	result->schedules += good;
	if (good && end.is_long)
		add_limit(skeptic, "a schedule was given up after many steps");
	if (good && !end.is_stuck && !end.is_long)
		good = judge(skeptic, &end, &difference, &nearest, &note);
	if (good && note && difference == END_SAME) {
		add_text(result->not_compared, &result->n_not_compared, note);
		note = NULL;
	}
	if (good && !end.is_long && difference == END_TIMES) {
		add_text(result->not_compared, &result->n_not_compared,
			 rr_strdup("values that move with the clock"));
		conclude(skeptic, RR_SKEPTIC_INCONCLUSIVE,
			 rr_strdup("data or outputs differ from those of a serial execution in "
				   "times that move with the clock"));
	}
	if (good && !end.is_long && difference == END_AMBIGUOUS)
		conclude(skeptic, RR_SKEPTIC_INCONCLUSIVE,
			 rr_strdup("a random value, or what was printed while waiting, cannot be "
				   "told from what differs"));
	if (good && is_wrong(&end, difference))
		good = confirm(skeptic, schedule);
	free(note);
	end_release(&end);
	return good;
}

/* Do two operations do the same alone? Of three and more it is enough if they send the same
 * commands with other words: their own names and tokens. */
static bool do_same(const struct skeptic *skeptic, const struct profile *a, const struct profile *b)
{
	const struct rr_term_command *commands = skeptic->drive.terms->command;
	const bool is_loose = skeptic->config->parties.n_operations > 2;
	bool do_so = a->n_commands == b->n_commands;

	for (size_t i = 0; i < a->n_commands && do_so; i++)
		do_so = a->commands[i] == b->commands[i] ||
			(is_loose &&
			 commands[a->commands[i]].name == commands[b->commands[i]].name);
	return do_so;
}

/* ---- The whole --------------------------------------------------------------------------------- */

/* False: it failed, or the time is up. */
static bool run_all(struct skeptic *skeptic, double begun)
{
	if (!run_all_orders(skeptic)) {
		if (skeptic->drive.is_over)
			conclude(skeptic, RR_SKEPTIC_INCONCLUSIVE,
				 rr_strdup("the time was up before the serial executions were "
					   "run"));
		return false;
	}
	if (skeptic->n_serial == 0) {
		conclude(skeptic, RR_SKEPTIC_INCONCLUSIVE,
			 rr_strdup("there is no serial execution in which all operations end"));
		return true;
	}
	if (skeptic->has_unlike) {
		conclude(skeptic, RR_SKEPTIC_INCONCLUSIVE,
			 rr_strdup("two runs of the same serial execution end differently"));
		return true;
	}
	if (skeptic->tokens.has_random)
		add_limit(skeptic, "random values, and what follows from them, are compared by "
				   "where they first occur");
	const struct rr_skeptic_config *config = skeptic->config;
	struct schedules schedules;
	uint8_t same_as[RR_RUN_CLIENTS];
	bool good = true;

	/* Of equal command lines that do the same alone. */
	const struct rr_skeptic_parties *parties = &skeptic->config->parties;

	for (uint8_t i = 0; i < parties->n_operations; i++) {
		same_as[i] = i;
		for (uint8_t j = i; j-- > 0;) {
			if (parties->same_as[i] == parties->same_as[j] &&
			    do_same(skeptic, &skeptic->profiles[i], &skeptic->profiles[j]))
				same_as[i] = same_as[j];
		}
	}
	schedules_list(&schedules, &skeptic->drive, skeptic->profiles, same_as, skeptic->outsleeps,
		       config->seed);
	for (size_t i = 0; i < schedules.n && i < config->most_schedules && good; i++) {
		if (i >= schedules.n_first &&
		    (rr_clock_s() - begun > config->seconds || i >= SCHEDULES_MAX))
			break;
		if (skeptic->result->verdict == RR_SKEPTIC_DISAGREES)
			break;
		good = try_schedule(skeptic, &schedules.all[i]);
		if (!good && skeptic->drive.is_over && i < schedules.n_first)
			conclude(skeptic, RR_SKEPTIC_INCONCLUSIVE,
				 rr_strdup("the time was up before the first schedules were run"));
	}
	free(schedules.all);
	return good;
}

void rr_skeptic(const struct rr_skeptic_config *config, struct rr_skeptic_result *result)
{
	struct skeptic skeptic = { .config = config, .result = result };
	const double begun = rr_clock_s();

	*result = (struct rr_skeptic_result){ .verdict = RR_SKEPTIC_AGREES, .seed = config->seed };
	add_limit(&skeptic, "counts of rounds, and combinations of many replies");
	if (config->has_faults)
		add_limit(&skeptic, "faults: none happened in its schedules");
	if (!drive_open(&skeptic.drive, config)) {
		conclude_failed(&skeptic);
	} else {
		skeptic.drive.until_ns = rr_clock_ns() +
					 (int64_t)(config->most_seconds * 1000000000);
		if (!run_all(&skeptic, begun))
			conclude_failed(&skeptic);
	}
	result->error = skeptic.drive.error;
	forget_serial(&skeptic);
	for (size_t i = 0; i < RR_RUN_CLIENTS; i++)
		free(skeptic.profiles[i].commands);
	end_tokens_release(&skeptic.tokens);
	drive_close(&skeptic.drive);
	result->seconds = rr_clock_s() - begun;
}

void rr_skeptic_release(struct rr_skeptic_result *result)
{
	for (size_t i = 0; i < result->n_steps; i++) {
		free(result->steps[i].who);
		free(result->steps[i].command);
		free(result->steps[i].reply);
	}
	for (size_t i = 0; i < RR_SKEPTIC_TEXTS; i++) {
		free(result->limits[i]);
		free(result->not_compared[i]);
	}
	free(result->steps);
	free(result->why);
	free(result->kind);
	free(result->data);
	free(result->serial_data);
	json_decref(result->trace);
	json_decref(result->final);
	json_decref(result->nearest_serial);
	json_decref(result->keys);
	*result = (struct rr_skeptic_result){ 0 };
}

/* ---- For other programs --------------------------------------------------------------------------- */

static json_t *text_as_json(const char *text)
{
	char *plain = text ? rr_plain_bytes(text, strlen(text)) : NULL;
	json_t *json = plain ? json_string(plain) : json_null();

	free(plain);
	return json;
}

static json_t *texts_as_json(char *const *texts, size_t n)
{
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(all, text_as_json(texts[i]));
	return all;
}

json_t *rr_skeptic_json(const struct rr_skeptic_result *result, const char *mode)
{
	json_t *finding = json_null();

	if (result->verdict == RR_SKEPTIC_DISAGREES)
		finding = json_pack("{s:o, s:o}", "kind", text_as_json(result->kind), "why",
				    text_as_json(result->why));
	return json_pack("{s:s, s:s, s:i, s:i, s:I, s:f, s:o, s:o, s:o, s:o}", "mode", mode,
			 "verdict", rr_skeptic_verdict_names[result->verdict], "serial_executions",
			 (int)result->serial_executions, "schedules", (int)result->schedules,
			 "seed", (json_int_t)result->seed, "seconds", result->seconds, "limits",
			 texts_as_json(result->limits, result->n_limits), "finding", finding, "why",
			 text_as_json(result->why), "not_compared",
			 texts_as_json(result->not_compared, result->n_not_compared));
}
