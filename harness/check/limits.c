/* SPDX-License-Identifier: MIT */
/* How far a verdict goes: why a check without a finding is inconclusive, and which option helps; in
 * which orders it has executed which commands, and what it has not tried. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "verdict.h"

/* Of the lines about pairs of commands. */
enum { PAIRS_SHOWN = 5 };

/* ---- Why it is inconclusive --------------------------------------------------------------- */

uint32_t rr_checked_failing_clients(const struct rr_check *check)
{
	const uint32_t all = (1U << check->n_operations) - 1;

	return check->result->finals ? all & ~check->result->ever_well : 0;
}

/* With what to do next, which begins with the option that helps, or NULL. */
static struct rr_limit with_next(struct rr_limit limit, const char *option, const char *next)
{
	snprintf(limit.option, sizeof(limit.option), "%s", option ? option : "");
	snprintf(limit.next, sizeof(limit.next), "%s%s%s", option ? option : "",
		 option && *next ? " " : "", next);
	return limit;
}

static struct rr_limit with_option(struct rr_limit limit, const char *option, long n,
				   const char *next)
{
	char text[RR_LIMIT_OPTION];

	snprintf(text, sizeof(text), "%s %ld", option, n);
	return with_next(limit, text, next);
}

/* Where nothing helps but a smaller search. */
static struct rr_limit with_fewer(struct rr_limit limit, const struct rr_check *check)
{
	const struct rr_check_options *options = check->options;
	const struct rr_budget *budget = &options->search.budget;

	if (check->n_operations > 2 && !options->app && !options->n_named)
		return with_option(limit, "--clients", (long)check->n_operations - 1,
				   "has fewer interleavings; two clients find most.");
	if (check->n_operations > 2)
		return with_next(limit, NULL,
				 options->app ? "fewer requests; two find most." :
						"fewer clients; two find most.");
	if (rr_budget_has_faults(budget))
		return with_next(limit, NULL, "fewer faults, or each kind in a check of its own.");
	return with_next(limit, NULL, "programs that do less: a part of what they do now.");
}

/* Why there was nothing to be found, if so. */
static struct rr_limit why_vacuous(const struct rr_check *check)
{
	const bool is_app = check->options->app;
	struct rr_limit limit = { .is_vacuous = true };

	if (check->result->explored == RR_EXPLORED_ALL && !rr_programs_send(check->programs)) {
		limit.id = "no_command";
		limit.text = check->nothing_sent;
		snprintf(limit.option, sizeof(limit.option), "--redis-at");
		return limit;
	}
	if (check->result->need_each_other && !check->options->n_finals &&
	    !check->options->checker[0]) {
		limit.id = "need_each_other";
		limit.text =
			is_app ?
				"no serial execution of all requests ends: they need each other, or wait for something that none of them sends; say what is right with --final COMMAND VALUE or --check COMMAND" :
				"no serial execution of all clients ends: they need each other, or wait for something that none of them sends; say what is right with --final COMMAND VALUE or --check COMMAND, or run both sides in one client";
		snprintf(limit.option, sizeof(limit.option), "--final");
		return limit;
	}
	if (rr_checked_failing_clients(check)) {
		limit.id = "never_succeeds";
		limit.text = is_app ? "a request never succeeded, so little was checked" :
				      "a client never succeeded, so little was checked";
		return with_next(
			limit, check->options->init ? NULL : "--init FILE",
			check->options->init ?
				"what it printed is below." :
			is_app ?
				"gives it data that it lacks, --setup COMMAND logs in; what it printed is below." :
				"gives it data that it lacks; what it printed is below.");
	}
	return (struct rr_limit){ .id = NULL };
}

/* The search was stopped. */
static struct rr_limit why_stopped(const struct rr_check *check)
{
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	const struct rr_instance_times *times = &figures.times;
	const double of_programs = times->starting + times->running + times->ending;
	const double share = of_programs / (check->result->seconds + 1e-9);
	const char *phase = check->result->cut ? check->result->cut : "it was checked";
	struct rr_limit limit = { .id = "seconds", .text = check->out_of_budget };

	if (check->session.signals.interrupted)
		return (struct rr_limit){ .id = "interrupted",
					  .text = "interrupted",
					  .because = "it was interrupted" };
	if (check->starts.was_refused) {
		limit.id = "starts";
		snprintf(limit.because, sizeof(limit.because),
			 "--starts %" PRIu64 " were used while %s", check->starts.most, phase);
		return with_option(limit, "--starts", 2 * check->options->starts,
				   "searches for longer.");
	}
	/* Some run next to each other: together they may take more than there was. */
	snprintf(limit.because, sizeof(limit.because),
		 "--seconds %ld ended while %s, and running programs took %.0f %% of it",
		 check->options->seconds, phase, share > 1 ? 100 : 100 * share);
	return with_option(limit, "--seconds", 2 * check->options->seconds,
			   check->n_operations > 2 ?
				   "searches for longer; fewer of them need less." :
				   "searches for longer.");
}

/* Why states were left, if so. */
static struct rr_limit why_cut(const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;
	const unsigned long most = check->options->search.most;
	struct rr_limit limit = { .id = NULL };

	if (check->depends_on_fresh) {
		limit.id = "fresh";
		limit.text =
			"what a client does depends on state outside Redis that another one changes";
		snprintf(limit.because, sizeof(limit.because), "%s", limit.text);
		return limit;
	}
	switch (result->explored) {
	case RR_EXPLORED_ALL:
		return limit;
	case RR_EXPLORED_ROUNDS:
		limit.id = "rounds";
		limit.text =
			"clients that send something new in each round were followed only so far: --rounds";
		snprintf(limit.because, sizeof(limit.because),
			 "clients send something new in each round");
		return with_option(limit, "--rounds", result->rounds ? 2L * result->rounds : 64,
				   "follows them further; --accept-bounded makes it exit with 0.");
	case RR_EXPLORED_RANDOM_REPLIES:
		limit.id = "random_replies";
		limit.text = "a command's reply is random";
		snprintf(limit.because, sizeof(limit.because), "the reply to %s is random",
			 result->random_command);
		return with_next(limit, "--init FILE",
				 "gives data that allow one reply; or leave the command out.");
	case RR_EXPLORED_MEMORY:
		limit.id = "memory";
		limit.text = "out of memory: half of what is free";
		snprintf(limit.because, sizeof(limit.because), "half of the free memory was full");
		return with_fewer(limit, check);
	case RR_EXPLORED_STOPPED:
		return why_stopped(check);
	default:
		limit.id = "states";
		break;
	}
	if (!most || result->states <= most) {
		limit.text = "there are too many serial executions to compare with";
		snprintf(limit.because, sizeof(limit.because), "%s", limit.text);
		return with_fewer(limit, check);
	}
	limit.text = "there are more: --max-states";
	snprintf(limit.because, sizeof(limit.because),
		 "there are more states than --max-states %lu", most);
	return with_option(limit, "--max-states", 2 * (long)most, "searches for longer.");
}

/* Why a search that has come to its end does not say yes, if so. */
static struct rr_limit why_doubtful(const struct rr_check *check)
{
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	struct rr_limit limit = { .id = NULL };

	if (figures.learning.untested) {
		limit.id = "untested_replies";
		limit.text = "not all replies that are assumed not to matter were tested";
		snprintf(limit.because, sizeof(limit.because),
			 "%lu replies that are assumed not to matter were not tested",
			 figures.learning.untested);
		return with_fewer(limit, check);
	}
	if (check->unwatched) {
		limit.id = "unwatched";
		limit.text = "the program's connections to other servers could not be watched";
		snprintf(limit.because, sizeof(limit.because), "%s", limit.text);
		return with_next(
			limit, NULL,
			"docker run --cap-add SYS_PTRACE, or another profile of the container.");
	}
	if (figures.hands_over) {
		limit.id = "threads_wait";
		limit.text =
			"threads of the app wait for each other, for a lock or a shared connection, and which of them goes first was not varied";
		snprintf(limit.because, sizeof(limit.because), "%s", limit.text);
		return with_next(limit, NULL,
				 "an app with a connection for each thread, or with one thread.");
	}
	if (!check->result->left_out)
		return limit;
	limit.id = "left_out";
	limit.text = check->result->left_out;
	snprintf(limit.because, sizeof(limit.because), "%s", limit.text);
	return with_fewer(limit, check);
}

json_t *rr_checked_moving_values(const struct rr_check *check)
{
	json_t *all = json_array();
	const json_t *key;
	size_t i;

	json_array_foreach(check->result->moved_keys, i, key)
		json_array_append(all, (json_t *)key);
	for (i = 0; i < check->n_operations; i++) {
		char *text = rr_asprintf("the output of %s", check->names[i]);

		if (check->result->moved_outputs >> i & 1)
			json_array_append_new(all, json_string(text));
		free(text);
	}
	return all;
}

static bool has_moving_values(const struct rr_check *check)
{
	json_t *all = rr_checked_moving_values(check);
	const bool has = json_array_size(all) > 0;

	json_decref(all);
	return has;
}

struct rr_limit rr_checked_limit(const struct rr_check *check)
{
	struct rr_limit limit = why_vacuous(check);

	if (!limit.id)
		limit = why_cut(check);
	if (!limit.id && check->result->explored == RR_EXPLORED_ALL)
		limit = why_doubtful(check);
	if (!limit.id && has_moving_values(check)) {
		limit.id = "not_compared";
		limit.text = "values that move with the clock were not compared";
		snprintf(limit.option, sizeof(limit.option), "%s",
			 json_array_size(check->result->moved_keys) ? "--ignore KEY" :
								      "--allow-output REGEX");
	}
	if (!limit.id && rr_checked_has_outside(check)) {
		limit.id = "outside";
		limit.text = "state outside Redis was not compared";
		snprintf(limit.option, sizeof(limit.option), "--allow-outside");
	}
	return limit;
}

json_t *rr_checked_not_compared(const struct rr_check *check)
{
	json_t *all = rr_checked_moving_values(check);

	rr_checked_add_outside(all, check);
	return all;
}

size_t rr_checked_count_not_compared(const struct rr_check *check)
{
	json_t *all = rr_checked_not_compared(check);
	const size_t n = json_array_size(all);

	json_decref(all);
	return n;
}

void rr_checked_print_limit(FILE *out, const struct rr_check *check)
{
	const struct rr_limit limit = rr_checked_limit(check);

	if (limit.next[0])
		rr_print_sentence(out, 2, 4, "Try: %s", limit.next);
}

/* ---- What was covered ---------------------------------------------------------------- */

json_t *rr_checked_coverage(const struct rr_check *check)
{
	const struct rr_check_options *options = check->options;
	struct rr_explore_config config = options->search;
	const char *noun = rr_checked_noun(check);
	char clients[40], time[40], nouns[20];
	json_t *json;

	snprintf(nouns, sizeof(nouns), "%ss", noun);
	snprintf(clients, sizeof(clients), "--clients %zu", check->n_operations + 1);
	snprintf(time, sizeof(time), "--seconds %ld", 2 * options->seconds);
	if (check->starts.was_refused)
		snprintf(time, sizeof(time), "--starts %ld", 2 * options->starts);
	config.n_clients = check->n_operations;
	json = rr_coverage_as_json(&config, check->result,
				   &(struct rr_coverage_options){
					   .noun = nouns,
					   .more_clients = options->app ? "--request COMMAND" :
							   options->n_named ?
									  "--client NAME=COMMAND" :
									  clients,
					   .more_time = time });
	return json;
}

/* "GET n (A) always before SET n (B)". Malloc'd. */
static char *describe_pair(const json_t *pair)
{
	const char *a, *b, *of_a, *of_b, *order;

	if (json_unpack((json_t *)pair, "{s:[s, s], s:[s, s], s:s}", "commands", &a, &b, "clients",
			&of_a, &of_b, "order", &order) != 0)
		return NULL;
	if (strcmp(order, "AB") == 0)
		return rr_asprintf("%s (%s) always before %s (%s)", a, of_a, b, of_b);
	return rr_asprintf("%s (%s) and %s (%s) %s", a, of_a, b, of_b,
			   strcmp(order, "none") == 0 ? "never in one schedule" :
							"never both next");
}

/* The pairs that did not meet. Those of other clients with the same commands are counted. */
static void print_pairs(FILE *out, const json_t *coverage, size_t indent)
{
	static const struct {
		const char *id, *words;
	} reasons[] = { { "program", "the program orders them" },
			{ "bounds", "as far as was searched" },
			{ "not_searched", "the search ended before" } };
	const json_t *pairs = json_object_get(coverage, "pairs"), *pair;
	size_t i, shown = 0, left = 0;

	json_array_foreach(pairs, i, pair) {
		const char *why = json_string_value(json_object_get(pair, "why"));
		bool is_like_another = false;
		char *text;

		if (!why)
			continue;
		for (size_t j = 0; j < i && !is_like_another; j++) {
			const json_t *other = json_array_get(pairs, j);

			is_like_another = json_equal(json_object_get(pair, "commands"),
						     json_object_get(other, "commands")) &&
					  json_equal(json_object_get(pair, "order"),
						     json_object_get(other, "order")) &&
					  json_equal(json_object_get(pair, "why"),
						     json_object_get(other, "why"));
		}
		if (is_like_another || shown == PAIRS_SHOWN) {
			left += !is_like_another;
			continue;
		}
		shown++;
		text = describe_pair(pair);
		for (size_t j = 0; j < sizeof(reasons) / sizeof(reasons[0]) && text; j++) {
			if (strcmp(reasons[j].id, why) == 0)
				rr_print_sentence(out, indent, indent + 2, "%s: %s", text,
						  reasons[j].words);
		}
		free(text);
	}
	if (left)
		fprintf(out, "%*s… and %zu more\n", (int)indent, "", left);
}

void rr_checked_print_coverage(FILE *out, const struct rr_check *check, size_t indent)
{
	static const struct {
		const char *id, *words;
	} counts[] = { { "n_met", "met in both orders" },
		       { "n_apart", "kept apart, in both orders" },
		       { "n_one_order", "in one order" },
		       { "n_none", "never in one schedule" } };
	json_t *coverage = rr_checked_coverage(check);
	const json_t *untried;
	json_int_t n;
	char *list;
	FILE *words;
	size_t i;

	if (!json_is_object(coverage)) {
		json_decref(coverage);
		return;
	}
	words = rr_open_text(&list);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		n = json_integer_value(json_object_get(coverage, counts[i].id));
		if (n)
			fprintf(words, "%s%lld %s", ftell(words) ? ", " : ": ", (long long)n,
				counts[i].words);
	}
	fclose(words);
	n = json_integer_value(json_object_get(coverage, "n_pairs"));
	rr_print_sentence(out, indent, indent + 2,
			  "Coverage: %lld pair%s of commands of different %ss on one key%s.",
			  (long long)n, n == 1 ? "" : "s", rr_checked_noun(check), list);
	free(list);
	print_pairs(out, coverage, indent + 2);
	words = rr_open_text(&list);
	json_array_foreach(json_object_get(coverage, "not_tried"), i, untried) {
		const char *text = json_string_value(json_object_get(untried, "text"));
		const char *option = json_string_value(json_object_get(untried, "option"));

		fprintf(words, "%s%s%s%s%s", i ? "; " : "", text, option ? " (" : "",
			option ? option : "", option ? ")" : "");
	}
	fclose(words);
	if (*list)
		rr_print_sentence(out, indent, indent + 2, "Not tried: %s.", list);
	free(list);
	json_decref(coverage);
}
