/* SPDX-License-Identifier: MIT */
/* A schedule of programs that ends as no serial order does: what is said of it. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "dependencies.h"
#include "search.h"
#include "why.h"

enum {
	ORDERS_RUN = 24, /* serial orders, for a finding */
	KEYS_SHOWN = 6
};

/* ---- What it rests on ------------------------------------------------------------- */

struct places {
	struct rr_client_place *all;
	size_t n;
};

static void add_place(struct places *places, struct rr_client_place place)
{
	rr_array_grow(&places->all, places->n, sizeof(*places->all));
	places->all[places->n++] = place;
}

static void add_clients(const struct rr_product *product, const uint32_t *key,
			struct places *places)
{
	for (size_t i = 0; i < product->n_clients; i++) {
		if (!rr_product_part(product, key, i)->is_crashed)
			add_place(places,
				  (struct rr_client_place){
					  i, rr_product_part(product, key, i)->state, false });
	}
}

/* A search that ended with a finding has verified nothing: what clients send on the way to that, and
 * in serial orders, may be random. Only another run tells, and then it is compared. */
static void add_way(const struct rr_search *search, const struct rr_path *path,
		    struct places *places)
{
	const struct rr_intern *orders = &search->judge.serial.orders;
	const struct rr_graph *graph = &search->graph;

	for (uint32_t i = 0; i < orders->n; i++)
		add_clients(&search->product, rr_intern_get(orders, i), places);
	for (size_t i = 0; i < path->n; i++)
		add_clients(&search->product, rr_graph_key(graph, graph->edges[path->edges[i]].to),
			    places);
}

/* What each client does as the last one of a serial order, in which it has heard most. One order of
 * those that end alike is really run, and in another it would be somebody else's turn. */
static void add_last_turns(const struct rr_search *search, struct places *places)
{
	const struct rr_serial *serial = &search->judge.serial;
	const struct rr_product *product = &search->product;
	uint32_t deepest[RR_PRODUCT_CLIENTS] = { 0 };

	for (uint32_t i = 0; i < serial->orders.n; i++) {
		const uint32_t last = rr_serial_last_turn(serial, product, i);
		uint32_t state;

		if (last >= product->n_clients)
			continue;
		state = rr_product_part(product, rr_intern_get(&serial->orders, i), last)->state;
		if (product->clients[last].table->states[state].depth >
		    product->clients[last].table->states[deepest[last]].depth)
			deepest[last] = state;
	}
	/* The last one is asked for first; and started ahead is whose turn is next. */
	for (size_t i = product->n_clients; i-- > 0;)
		add_place(places, (struct rr_client_place){ i, deepest[i], .is_own = true });
}

bool rr_search_verify_finding(struct rr_search *search, const struct rr_path *path)
{
	const struct rr_explored_programs *programs = &search->config->programs;
	struct rr_error error = { 0 };
	struct places places = { 0 };
	bool again = false, good;

	if (!programs->verify_places || rr_search_is_settled(search))
		return true;
	if (search->end == RR_GRAPH_FOUND)
		add_way(search, path, &places);
	if (!search->program.n_requests)
		add_last_turns(search, &places);
	good = programs->verify_places(programs->programs, places.all, places.n, &again, &error) ||
	       rr_search_fail(search, &error);
	search->learned |= again ? rr_learned_bit(RR_LEARNED_PROGRAMS) : 0;
	free(places.all);
	return good && !again;
}

/* ---- Its end --------------------------------------------------------------------- */

/* How a client ended, as it says so itself; -1 = it did not. */
static int own_ending(const struct rr_search *search, size_t operation, long ending)
{
	const struct rr_explored_programs *programs = &search->config->programs;

	return ending < 0 ? -1 : (int)programs->own_ending(programs->programs, operation, ending);
}

/* The serial order that is nearest to what was found: the server's state, RR_NO_ID = there is
 * none. */
static uint32_t note_nearest(struct rr_search *search, struct rr_outcome *finding, uint32_t nearest)
{
	const struct rr_serial_end *end;

	if (nearest == RR_NO_ID)
		return RR_NO_ID;
	end = rr_intern_get(&search->judge.serial.ends, nearest);
	for (size_t i = 0; i < rr_program_operations(&search->program); i++)
		finding->nearest_endings[i] = own_ending(search, i, end->endings[i]);
	return end->server;
}

/* What is found at the end of a schedule, and the server of the serial order that is nearest. */
static bool note_end(struct rr_search *search, struct rr_outcome *finding, const uint32_t *end,
		     uint32_t *nearest)
{
	const struct rr_product *product = &search->product;
	struct rr_contents *contents = &search->judge.contents;
	const struct rr_serial_end ended = rr_serial_end_of(product, end, 0);
	struct rr_judgement judgement;

	*nearest = RR_NO_ID;
	finding->ended_well = ended.good;
	for (size_t i = 0; i < rr_program_operations(&search->program); i++)
		finding->endings[i] = own_ending(search, i, ended.endings[i]);
	if (rr_product_all_are_over(product, end)) {
		if (!rr_judge_final(&search->judge, end, &judgement))
			return rr_search_fail(search, &search->judge.error);
		if (finding->found & RR_OUTCOME_NOT_SERIAL)
			finding->found = (finding->found & ~RR_OUTCOME_NOT_SERIAL) |
					 judgement.found;
		*nearest = note_nearest(search, finding, rr_judge_nearest(&search->judge, end));
		finding->is_untimely = judgement.is_untimely;
		finding->anomaly = judgement.anomaly;
		if (judgement.successor != RR_NO_ID)
			finding->successor = rr_contents_text(contents, judgement.successor,
							      *nearest);
		finding->unexpected = rr_judge_unexpected(&search->judge, end);
	}
	if (search->config->wants_given)
		finding->given = rr_contents_given(contents, end[0]);
	finding->data = rr_contents_text(contents, end[0], *nearest);
	if (*nearest != RR_NO_ID)
		finding->nearest = rr_contents_text(contents, *nearest, end[0]);
	return true;
}

/* What is found, in a sentence. */
static const char *sum_up(unsigned found, bool is_app)
{
	static const struct {
		unsigned bit;
		const char *text, *of_app; /* NULL = the same */
	} sentences[] = {
		{ RR_OUTCOME_NOT_SERIAL,
		  "Not serializable: no serial order of the clients leaves these data.",
		  "Not serializable: no serial order of the requests leaves these data." },
		{ RR_OUTCOME_UNEXPECTED, "The data are not as expected.", NULL },
		{ RR_OUTCOME_OUTPUTS,
		  "Not serializable: in no serial order do the clients print that.",
		  "Not serializable: in no serial order are these the answers." },
		{ RR_OUTCOME_EXCLUSION, "Two clients are in their critical sections.", NULL },
		{ RR_OUTCOME_OWNERSHIP, "A client changes the lock that another one holds.", NULL },
		{ RR_OUTCOME_STUCK, "No progress: not all clients can come to an end.",
		  "No progress: not all requests can be answered." },
	};

	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		if (found & sentences[i].bit)
			return is_app && sentences[i].of_app ? sentences[i].of_app :
							       sentences[i].text;
	}
	return "Nothing wrong in this order.";
}

/* Why that is a finding. */
static void explain(struct rr_search *search, struct rr_outcome *finding,
		    const struct rr_schedule *schedule, const size_t *steps, uint32_t nearest)
{
	uint8_t *owners = rr_calloc(schedule->actions.n + 1, sizeof(*owners));
	const bool is_known = rr_owners_find(&search->product, &schedule->actions, owners);
	struct rr_why why = { .name = NULL };
	const struct rr_why_question question = {
		.program = &search->program,
		.contents = &search->judge.contents,
		.actions = &schedule->actions,
		.steps = steps,
		.owners = owners,
		.end = schedule->end[0],
		.nearest = nearest,
		.found = finding->found,
		.locks = &search->locks,
	};

	if (is_known)
		why = rr_why_find(&question);
	free(owners);
	finding->why = why.text;
	/* Not to be told apart by what depends on what: somebody did not do all of it. */
	finding->anomaly = finding->anomaly ? finding->anomaly : why.name;
}

/* What would mend it. Where not all is known, or a lease or waiting is what is wrong, no span
 * of commands is looked for. */
static void look_for_mend(struct rr_search *search)
{
	if (search->end == RR_GRAPH_WHOLE && !search->config->schedule &&
	    search->graph.breaks == RR_BREAKS_COUNT && !search->result->mend)
		search->result->mend = rr_mend_find(search);
}

static bool is_named(const struct rr_search *search, const struct rr_actions *actions,
		     const char *key)
{
	for (size_t i = 0; i < actions->n; i++) {
		const struct rr_action *action = &actions->all[i];
		const struct rl_command *command = &search->terms.command[action->command].words;

		if (action->kind != RR_ACTION_ASK || action->question.kind != RR_ASK_COMMAND)
			continue;
		for (size_t w = 1; w < command->n_words; w++) {
			if (strcmp(command->words[w].text, key) == 0)
				return true;
		}
	}
	return false;
}

/* Leaves those keys that commands of the schedule name, unless there are none; how many. */
static size_t choose_keys(const struct rr_search *search, const struct rr_actions *actions,
			  const char **keys, size_t n)
{
	size_t n_named = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_named(search, actions, keys[i]))
			keys[n_named++] = keys[i];
	}
	n = n_named ? n_named : n;
	return n < KEYS_SHOWN ? n : KEYS_SHOWN;
}

/* Whose requests are described. */
struct described {
	const struct rr_explored_programs *programs;
	const int *endings;
};

static char *words_of_request(void *context, size_t request, bool is_answer)
{
	const struct described *described = context;
	const struct rr_explored_programs *programs = described->programs;

	return programs->describe_request(programs->programs, request,
					  is_answer ? described->endings[request] : -1);
}

static char *write_transcript(struct rr_search *search, const struct rr_outcome *finding,
			      const struct rr_schedule *schedule, uint32_t nearest, size_t *steps)
{
	struct described described = { &search->config->programs, finding->endings };
	const char **keys;
	const size_t n_keys = rr_contents_keys(&search->judge.contents, schedule->end[0], nearest,
					       &keys);
	char *transcript = rr_actions_transcript(
		&search->product, &search->scripts, &schedule->actions,
		&(struct rr_transcript_headings){
			.title = search->config->title,
			.shows = sum_up(finding->found, search->program.n_requests > 0),
			.keys = keys,
			.n_keys = choose_keys(search, &schedule->actions, keys, n_keys),
			.words_of_request = words_of_request,
			.context = &described,
			.steps = steps,
		});

	free(keys);
	return transcript;
}

/* The serial orders that a finding is compared with are really run, too: what is believed of
 * them cannot make a finding. */
static bool run_orders(struct rr_search *search, const uint32_t *found)
{
	const struct rr_serial *serial = &search->judge.serial;
	unsigned n = 0;
	bool good = true;

	for (uint32_t i = 0; i < serial->ends.n && n < ORDERS_RUN && good; i++) {
		struct rr_actions actions;
		rr_state_key end;

		if (!rr_serial_is_candidate(serial, &search->product, found, i))
			continue;
		if (rr_search_is_called_off(search, "the serial orders of a finding were run") &&
		    rr_search_is_late(search))
			return rr_error_interrupted(&search->result->error);
		n++;
		good = rr_serial_actions(serial, &search->product, i, &actions, end) ?
			       rr_search_play(search, &actions, end) :
			       rr_search_fail(search, &search->product.error);
		free(actions.all);
	}
	return good;
}

bool rr_search_show_finding(struct rr_search *search, const struct rr_schedule *schedule)
{
	struct rr_explore_result *result = search->result;
	struct rr_outcome *finding = &result->findings[result->n_findings++];
	size_t *steps = rr_calloc(schedule->actions.n + 1, sizeof(*steps));
	uint32_t nearest = RR_NO_ID;
	bool good;

	*finding = (struct rr_outcome){ .words = rr_strdup(schedule->words) };
	finding->found = result->n_findings == 1 ? result->found : RR_OUTCOME_NOT_SERIAL;
	good = note_end(search, finding, schedule->end, &nearest);
	if (good && finding->found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_OUTPUTS) &&
	    !rr_search_is_settled(search))
		good = run_orders(search, schedule->end);
	if (good)
		finding->transcript = write_transcript(search, finding, schedule, nearest, steps);
	if (result->n_findings == 1)
		result->found = finding->found;
	if (good && finding->found) {
		explain(search, finding, schedule, steps, nearest);
		look_for_mend(search);
	}
	free(steps);
	return good;
}

/* As a race names it; NULL = nothing is found. */
static const char *verdict_of(unsigned found)
{
	if (found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_OUTPUTS))
		return RR_NOT_SERIALIZABLE;
	if (found & RR_OUTCOME_UNEXPECTED)
		return RR_NOT_AS_EXPECTED;
	return found & RR_OUTCOME_STUCK ? RR_NO_PROGRESS : NULL;
}

bool rr_search_conclude_findings(struct rr_search *search)
{
	struct rr_explore_result *result = search->result;
	struct rr_error why = { 0 };

	if (search->config->strategy || !result->n_findings)
		return true;
	rr_search_release_tables(search);
	for (size_t i = 0; i < result->n_findings; i++) {
		struct rr_outcome *finding = &result->findings[i];
		char *draft = finding->transcript;

		finding->transcript = rr_conclude(draft, 0, verdict_of(finding->found),
						  search->cluster, &why);
		free(draft);
		if (!finding->transcript)
			return rr_search_fail(search, &why);
	}
	return true;
}
