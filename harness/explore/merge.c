/* SPDX-License-Identifier: MIT */
/*
 * The searches of shards, put together.
 *
 * What a shard has found is there: a failure, or a state from which nobody can get
 * on, is one of the whole. That nothing fails is known only from all shards, each
 * searched to the end. And that everybody can always finish, only if from each
 * state of the frontier all can finish in the shard that went on from it: then a
 * state that leads to another shard's part has a way to the end, too. Where that is
 * not so, progress is not judged, and the verdict says so.
 */
#include <stdlib.h>
#include <string.h>

#include "base/shards.h"
#include "base/text.h"
#include "expected.h"
#include "report.h"

/* One strategy: its case in each shard. */
struct parts {
	const struct rr_shards *shards;
	const char *name;
	const struct rr_case **cases;
	size_t n;
};

/* What they come to. */
struct sum {
	json_t *breaks; /* names of invariants, in their order */
	json_int_t states, transitions, failing, questions, open, returns;
	const struct rr_case *shortest; /* the case that shows it; NULL = none */
	const char *rests_on;           /* of the first shard that knows; NULL = none does */
	enum rr_explored explored;      /* the least of all */
	size_t cut;                     /* the shard that is cut, from 0 */
};

static const json_t *field(const struct rr_case *one, const char *name)
{
	return json_object_get(one->properties, name);
}

static json_int_t share_number(const struct rr_case *one, const char *name)
{
	return json_integer_value(json_object_get(field(one, "share"), name));
}

static bool share_flag(const struct rr_case *one, const char *name)
{
	return json_is_true(json_object_get(field(one, "share"), name));
}

/* ---- Do they belong together? ------------------------------------------------- */

static bool refuse_parts(const struct parts *parts, size_t i, const char *why,
			 struct rr_error *error)
{
	return rr_error_set(error, RR_ERROR_DATA, "'%s' and '%s': %s: %s",
			    parts->shards->all[0].path, parts->shards->all[i].path, parts->name,
			    why);
}

/* A shard without a search has an error, or was skipped. */
static bool has_search(const struct rr_case *one)
{
	return one->verdict != RR_CASE_ERROR && one->verdict != RR_CASE_SKIPPED;
}

static bool check_part(const struct parts *parts, size_t i, struct rr_error *error)
{
	static const char *const alike[] = { "dealt", "prefix", "frontier", "digest", "model" };
	const struct rr_case *one = parts->cases[i];

	if (!has_search(one) || !has_search(parts->cases[0]))
		return true;
	if (!json_is_object(field(one, "share")))
		return rr_error_set(
			error, RR_ERROR_DATA,
			"'%s' lacks what searches are put together by: give merge the .json or .ctrf.json files",
			parts->shards->all[i].path);
	for (size_t k = 0; k < sizeof(alike) / sizeof(alike[0]); k++) {
		if (!json_equal(json_object_get(field(one, "share"), alike[k]),
				json_object_get(field(parts->cases[0], "share"), alike[k])))
			return refuse_parts(
				parts, i,
				"they did not begin alike: give all shards a larger --prefix",
				error);
	}
	return true;
}

/* Has each state of the frontier been gone on from? */
static bool check_frontier(const struct parts *parts, struct rr_error *error)
{
	const json_int_t all = share_number(parts->cases[0], "frontier");
	json_int_t own = 0;

	for (size_t i = 0; i < parts->n; i++) {
		if (!has_search(parts->cases[i]))
			return true;
		own += share_number(parts->cases[i], "own");
	}
	return own == all || !share_flag(parts->cases[0], "dealt") ||
	       rr_error_set(
		       error, RR_ERROR_DATA,
		       "%s: the shards went on from %lld of the %lld states that were dealt out",
		       parts->name, (long long)own, (long long)all);
}

static bool find_parts(struct parts *parts, struct rr_error *error)
{
	for (size_t i = 0; i < parts->n; i++) {
		const struct rr_shard_results *shard = &parts->shards->all[i];

		parts->cases[i] = rr_shard_case(shard, "explore", parts->name);
		if (!parts->cases[i])
			return rr_error_set(error, RR_ERROR_DATA,
					    "'%s' (shard %d/%d) lacks 'explore %s'", shard->path,
					    shard->index, shard->of, parts->name);
	}
	for (size_t i = 0; i < parts->n; i++) {
		if (!check_part(parts, i, error))
			return false;
	}
	return check_frontier(parts, error);
}

/* ---- Sums ------------------------------------------------------------------------ */

static enum rr_explored explored_of(const struct rr_case *one)
{
	const char *name = json_string_value(field(one, "explored"));
	int i = 0;

	while (i <= RR_EXPLORED_RANDOM && (!name || strcmp(name, rr_explored_names[i]) != 0))
		i++;
	return i > RR_EXPLORED_RANDOM ? RR_EXPLORED_STOPPED : (enum rr_explored)i;
}

static bool list_has(const json_t *list, const char *name)
{
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		if (json_is_string(entry) && strcmp(json_string_value(entry), name) == 0)
			return true;
	}
	return false;
}

/* All of what breaks in any of them, in the invariants' order. */
static json_t *unite_breaks(const struct parts *parts)
{
	json_t *breaks = json_array();

	for (int bit = 0; bit < RR_INVARIANTS; bit++) {
		bool is_there = false;

		for (size_t i = 0; i < parts->n; i++)
			is_there |= list_has(field(parts->cases[i], "breaks"),
					     rr_invariant_name(bit));
		if (is_there)
			json_array_append_new(breaks, json_string(rr_invariant_name(bit)));
	}
	return breaks;
}

static json_int_t shortest_number(const struct rr_case *one, const char *name)
{
	return json_integer_value(json_object_get(field(one, "shortest"), name));
}

/* How bad it is: the number of the first invariant that it shows; what breaks the
 * count comes first. */
static int rank_shortest(const struct rr_case *one)
{
	const json_t *breaks = json_object_get(field(one, "shortest"), "breaks");
	int bit = 0;

	while (bit < RR_INVARIANTS && !list_has(breaks, rr_invariant_name(bit)))
		bit++;
	return bit;
}

/* Shows it something worse, or the same with fewer changes of client, or steps? */
static bool is_better(const struct rr_case *one, const struct rr_case *than)
{
	const int rank = rank_shortest(one), other = rank_shortest(than);
	const json_int_t switches = shortest_number(one, "switches");
	const json_int_t others = shortest_number(than, "switches");

	if (rank != other)
		return rank < other;
	if (switches != others)
		return switches < others;
	return shortest_number(one, "steps") < shortest_number(than, "steps");
}

static void add_part(struct sum *sum, const struct parts *parts, size_t i)
{
	const struct rr_case *one = parts->cases[i];
	const enum rr_explored explored = explored_of(one);
	const char *rests_on = json_string_value(field(one, "rests_on"));

	sum->states += json_integer_value(field(one, "states"));
	sum->transitions += json_integer_value(field(one, "transitions"));
	sum->failing += json_integer_value(field(one, "failing"));
	sum->questions += json_integer_value(field(one, "questions"));
	sum->open += share_number(one, "open");
	sum->returns += share_number(one, "returns");
	if (json_is_object(field(one, "shortest")) &&
	    (!sum->shortest || is_better(one, sum->shortest)))
		sum->shortest = one;
	if (!sum->rests_on)
		sum->rests_on = rests_on;
	if (explored > sum->explored) {
		sum->explored = explored;
		sum->cut = i;
	}
}

/* The prefix and the frontier are in all of them. Others may be in several, and
 * nobody knows which: so it is at most that many. */
static struct sum add_parts(const struct parts *parts)
{
	const struct rr_case *first = parts->cases[0];
	const json_int_t again = (json_int_t)parts->n - 1;
	struct sum sum = { .breaks = unite_breaks(parts) };

	for (size_t i = 0; i < parts->n; i++)
		add_part(&sum, parts, i);
	sum.states -= again * (share_number(first, "prefix") + share_number(first, "frontier"));
	sum.transitions -= again * share_number(first, "prefix_transitions");
	return sum;
}

/* ---- Verdicts ---------------------------------------------------------------------- */

static void put_states(FILE *out, const struct sum *sum, const struct parts *parts)
{
	char states[RR_GROUPED_SIZE], transitions[RR_GROUPED_SIZE];

	fprintf(out, "at most %s states, %s transitions in %zu shards",
		rr_grouped(states, sum->states), rr_grouped(transitions, sum->transitions),
		parts->n);
}

static void put_failure(FILE *out, const struct sum *sum, const struct parts *parts)
{
	json_t *entry;
	size_t i;

	fputs("fails: ", out);
	json_array_foreach(sum->breaks, i, entry)
		fprintf(out, "%s%s", i ? ", " : "", json_string_value(entry));
	fputs(" (", out);
	put_states(out, sum, parts);
	fputc(')', out);
}

/* Why it is not safe although nothing fails. */
static void put_incomplete(FILE *out, const struct sum *sum, const struct parts *parts)
{
	fputs("no failure found (", out);
	put_states(out, sum, parts);
	if (sum->explored != RR_EXPLORED_ALL)
		fprintf(out, "; shard %d/%d ended at: %s", parts->shards->all[sum->cut].index,
			parts->shards->all[sum->cut].of, rr_explored_names[sum->explored]);
	else if (sum->open)
		fprintf(out,
			"; progress cannot be judged from shards here: search it whole, or with another --prefix");
	else
		fputs("; no mutant is noticed", out);
	fputc(')', out);
}

static bool is_safe_sum(const struct sum *sum)
{
	return sum->explored == RR_EXPLORED_ALL && !sum->open && sum->rests_on;
}

static enum rr_exit judge_sum(const struct sum *sum, const struct parts *parts)
{
	const json_t *table = json_object_get(field(parts->cases[0], "share"), "expected");
	const struct rr_expectation expected = {
		.breaks = json_is_true(json_object_get(table, "breaks")),
		.without_faults = json_is_true(json_object_get(table, "without_faults")),
		.loops = json_is_true(json_object_get(table, "loops")),
	};

	return rr_judge_search(&expected, json_array_size(sum->breaks) > 0, sum->explored,
			       is_safe_sum(sum));
}

/* malloc'd. */
static char *message_of_sum(const struct sum *sum, const struct parts *parts, enum rr_exit code)
{
	const bool is_failing = json_array_size(sum->breaks) > 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (is_failing) {
		put_failure(out, sum, parts);
	} else if (is_safe_sum(sum)) {
		fputs("safe: ", out);
		put_states(out, sum, parts);
	} else {
		put_incomplete(out, sum, parts);
	}
	if (code == RR_EXIT_VIOLATED)
		fprintf(out, "; %s is expected to break", is_failing ? "nothing" : "something");
	else if (code == RR_EXIT_OK)
		fputs(", as expected", out);
	fclose(out);
	return text;
}

static json_t *properties_of_sum(const struct sum *sum, const struct parts *parts)
{
	const struct rr_case *shown = sum->shortest ? sum->shortest : parts->cases[0];
	json_t *properties = json_copy(parts->cases[0]->properties);

	json_object_set(properties, "breaks", sum->breaks);
	json_object_set_new(properties, "explored", json_string(rr_explored_names[sum->explored]));
	json_object_set(properties, "shortest", (json_t *)field(shown, "shortest"));
	json_object_set_new(properties, "is_shortest_of_all", json_boolean(sum->returns == 0));
	json_object_set(properties, "transcript", (json_t *)field(shown, "transcript"));
	json_object_set_new(properties, "states", json_integer(sum->states));
	json_object_set_new(properties, "transitions", json_integer(sum->transitions));
	json_object_set_new(properties, "failing", json_integer(sum->failing));
	json_object_set_new(properties, "questions", json_integer(sum->questions));
	json_object_set_new(properties, "rests_on", rr_case_text(sum->rests_on));
	json_object_set_new(properties, "share", json_null());
	return properties;
}

static enum rr_exit add_sum(const struct parts *parts, struct rr_cases *whole)
{
	const struct sum sum = add_parts(parts);
	const enum rr_exit code = judge_sum(&sum, parts);
	struct rr_case one = *parts->cases[0];
	char *message = message_of_sum(&sum, parts, code);

	one.verdict = rr_case_verdict_of(code);
	one.message = message;
	one.details = sum.shortest ? sum.shortest->details : NULL;
	one.properties = properties_of_sum(&sum, parts);
	for (size_t i = 1; i < parts->n; i++)
		one.seconds += parts->cases[i]->seconds;
	rr_cases_add(whole, &one);
	json_decref(sum.breaks);
	free(message);
	return code;
}

/* Where all shards have seen all, or one of them has seen nothing, that one's case is
 * the whole's. */
static const struct rr_case *whole_case(const struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		if (!has_search(parts->cases[i]))
			return parts->cases[i];
	}
	return share_flag(parts->cases[0], "dealt") ? NULL : parts->cases[0];
}

static enum rr_exit code_of_case(const struct rr_case *one, const struct rr_shards *shards)
{
	static const enum rr_exit codes[RR_CASE_VERDICTS] = {
		[RR_CASE_PASSED] = RR_EXIT_OK,
		[RR_CASE_FAILED] = RR_EXIT_VIOLATED,
		[RR_CASE_INCONCLUSIVE] = RR_EXIT_INCONCLUSIVE,
		[RR_CASE_SKIPPED] = RR_EXIT_SKIPPED,
	};

	return one->verdict == RR_CASE_ERROR ? rr_shards_exit(shards) : codes[one->verdict];
}

static enum rr_exit add_strategy(const struct parts *parts, struct rr_cases *whole)
{
	const struct rr_case *one = whole_case(parts);

	if (!one)
		return add_sum(parts, whole);
	json_incref(one->properties);
	rr_cases_add(whole, one);
	return code_of_case(one, parts->shards);
}

/* What a shard has ended with where its cases do not tell: it was broken off. */
static enum rr_exit worst_trouble(const struct rr_shards *shards)
{
	enum rr_exit code = RR_EXIT_OK;

	for (size_t i = 0; i < shards->n; i++) {
		if (shards->all[i].code >= RR_EXIT_USAGE && shards->all[i].code != RR_EXIT_SKIPPED)
			code = rr_exit_worse(code, shards->all[i].code);
	}
	return code;
}

bool rr_explore_merge(const struct rr_shards *shards, struct rr_cases *whole, enum rr_exit *code,
		      struct rr_error *error)
{
	const json_t *all = json_object_get(json_object_get(shards->all[0].note, "options"),
					    "strategies");
	struct parts parts = { .shards = shards, .n = shards->n };
	size_t n_skipped = 0, i;
	json_t *name;

	*code = worst_trouble(shards);
	if (json_array_size(all) == 0)
		return rr_error_set(error, RR_ERROR_DATA,
				    "'%s' does not say which strategies were searched",
				    shards->all[0].path);
	parts.cases = calloc(shards->n, sizeof(*parts.cases));
	if (!parts.cases)
		return rr_error_no_memory(error);
	json_array_foreach(all, i, name) {
		enum rr_exit one;

		parts.name = json_string_value(name);
		if (!parts.name || !find_parts(&parts, error))
			break;
		one = add_strategy(&parts, whole);
		if (one == RR_EXIT_SKIPPED)
			n_skipped++;
		else
			*code = rr_exit_worse(*code, one);
	}
	free(parts.cases);
	if (n_skipped && n_skipped == whole->n && *code == RR_EXIT_OK)
		*code = RR_EXIT_SKIPPED;
	return !error->kind;
}

/* ---- The note ------------------------------------------------------------------------ */

void rr_explore_note_shard(const struct rr_explore_options *options, struct rr_cases *cases)
{
	const struct rr_explore_config *config = &options->config;
	const char *names[RR_EXPLORE_STRATEGIES];
	json_t *all = rr_bounds_as_json(config);
	json_t *strategies = json_array();

	for (size_t i = 0; i < options->n_strategies; i++) {
		names[i] = options->strategies[i]->name;
		json_array_append_new(strategies, json_string(names[i]));
	}
	json_object_update_new(
		all, json_pack("{s:o, s:I, s:b, s:I, s:I, s:I, s:I}", "strategies", strategies,
			       "lock_servers", (json_int_t)config->lock_servers, "stays_away",
			       (int)config->stays_away, "work_ms", (json_int_t)config->work_ms,
			       "skew_ns", (json_int_t)config->skew_ns, "audit",
			       (json_int_t)config->audit, "prefix", (json_int_t)config->prefix));
	rr_shard_note(cases, &config->shard, all, names, options->n_strategies, NULL);
}
