/* SPDX-License-Identifier: MIT */
/* A schedule of programs that ends as no serial order does: what is said of it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "search.h"

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

enum rr_going rr_search_verify_finding(struct rr_search *search, const struct rr_path *path)
{
	struct rr_programs *processes = search->config->programs.processes;
	struct rr_error error = { 0 };
	struct places places = { 0 };
	enum rr_going going;

	if (!processes || search->config->was_verified)
		return RR_GO_ON;
	if (search->end == RR_GRAPH_FOUND) {
		const struct rr_intern *orders = &search->judge.serial.orders;
		const struct rr_graph *graph = &search->graph;

		/* A search that ended with a finding has verified nothing: what clients send on the
		 * way to that, and in serial orders, may be random. Only another run tells, and
		 * then it is compared. */
		for (uint32_t i = 0; i < orders->n; i++)
			add_clients(&search->product, rr_intern_get(orders, i), &places);
		for (size_t i = 0; i < path->n; i++)
			add_clients(&search->product,
				    rr_graph_key(graph, graph->edges[path->edges[i]].to), &places);
	}
	if (!search->program.requests.n) {
		const struct rr_serial *serial = &search->judge.serial;
		const struct rr_product *product = &search->product;
		uint32_t deepest[RR_RUN_CLIENTS] = { 0 };

		/* What each client does as the last one of a serial order, in which it has heard
		 * most. One order of those that end alike is really run, and in another it would be
		 * somebody else's turn. */
		for (uint32_t i = 0; i < serial->orders.n; i++) {
			const uint32_t last = rr_serial_last_turn(serial, product, i);
			uint32_t state;

			if (last >= product->n_clients)
				continue;
			state = rr_product_part(product, rr_intern_get(&serial->orders, i), last)
					->state;
			if (product->clients[last].table->states[state].depth >
			    product->clients[last].table->states[deepest[last]].depth)
				deepest[last] = state;
		}
		/* The last one is asked for first; and started ahead is whose turn is next. */
		for (size_t i = product->n_clients; i-- > 0;)
			add_place(&places,
				  (struct rr_client_place){ i, deepest[i], .is_own = true });
	}
	going = rr_programs_verify_places(processes, places.all, places.n, &error);
	free(places.all);
	return going == RR_GO_ON ? going : rr_search_stop(search, &error);
}

/* ---- Its end --------------------------------------------------------------------- */

/* How a client ended, as it says so itself; -1 = it did not. */
static int own_ending(const struct rr_search *search, size_t operation, long ending)
{
	const struct rr_explored_programs *programs = &search->config->programs;

	return ending < 0 ? -1 :
			    (int)programs->ops->own_ending(programs->context, operation, ending);
}

/* What is found at the end of a schedule, and the server of the serial order that is nearest. */
static bool note_end(struct rr_search *search, struct rr_outcome *finding, const uint32_t *end,
		     uint32_t *nearest)
{
	const struct rr_product *product = &search->product;
	struct rr_contents *contents = &search->judge.contents;
	const struct rr_serial_end ended = rr_serial_end_of(product, end, 0);
	struct rr_judgement judgement;
	uint32_t number; /* of the serial order that is nearest */

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
		number = rr_judge_nearest(&search->judge, end);
		if (number != RR_NO_ID) {
			const struct rr_serial_end *order =
				rr_intern_get(&search->judge.serial.ends, number);

			for (size_t i = 0; i < rr_program_operations(&search->program); i++)
				finding->nearest_endings[i] = own_ending(search, i,
									 order->endings[i]);
			*nearest = order->server;
		}
		finding->is_untimely = judgement.is_untimely;
		finding->anomaly = judgement.anomaly;
		if (judgement.successor != RR_NO_ID)
			finding->successor = rr_contents_text(contents, judgement.successor,
							      *nearest);
		finding->unexpected = rr_judge_unexpected(&search->judge, end);
	}
	finding->has_given = search->config->wants_given &&
			     rr_contents_given(contents, end[0], &finding->given);
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
		  "Not serializable: no serial execution of the clients produces these data.",
		  "Not serializable: no serial execution of the requests produces these data." },
		{ RR_OUTCOME_UNEXPECTED, "The data are not as expected.", NULL },
		{ RR_OUTCOME_OUTPUTS,
		  "Not serializable: no serial execution of the clients produces these outputs.",
		  "Not serializable: no serial execution of the requests produces these answers." },
		{ RR_OUTCOME_EXCLUSION,
		  "Two clients are in their critical sections at the same time.", NULL },
		{ RR_OUTCOME_OWNERSHIP, "A client changes the lock that another one holds.", NULL },
		{ RR_OUTCOME_STUCK, "No progress: not all clients can end.",
		  "No progress: not all requests can be answered." },
	};

	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		if (found & sentences[i].bit)
			return is_app && sentences[i].of_app ? sentences[i].of_app :
							       sentences[i].text;
	}
	return "No failure in this schedule.";
}

static bool is_named(const struct rr_search *search, const struct rr_actions *actions,
		     const char *key)
{
	for (size_t i = 0; i < actions->n; i++) {
		const struct rr_action *action = &actions->all[i];
		const struct rdl_command *command = &search->terms.command[action->command].words;

		if (!rr_action_is_command(action))
			continue;
		for (size_t w = 1; w < command->n_words; w++) {
			if (strcmp(command->words[w].text, key) == 0)
				return true;
		}
	}
	return false;
}

/* Whose requests are described. */
struct described {
	struct rr_programs *processes;
	const int *endings;
};

static char *words_of_request(void *context, size_t request, bool is_answer)
{
	const struct described *described = context;

	return rr_programs_describe_request(described->processes, request,
					    is_answer ? described->endings[request] : -1);
}

/* Adds the keys that commands of the schedule make where they are absent, which a reader looks for: a
 * lock is gone at the end, as a rule. */
static size_t add_locks(const struct rr_search *search, const struct rr_actions *actions,
			const char *shown[KEYS_SHOWN], size_t n_shown)
{
	for (size_t i = 0; i < actions->n && n_shown < KEYS_SHOWN; i++) {
		const struct rr_action *action = &actions->all[i];
		const struct rdl_command *command = &search->terms.command[action->command].words;
		bool makes = false, is_shown = false;

		if (!rr_action_is_command(action) || command->n_words < 3)
			continue;
		makes = strcasecmp(command->words[0].text, "SETNX") == 0;
		for (size_t w = 3;
		     strcasecmp(command->words[0].text, "SET") == 0 && w < command->n_words; w++)
			makes |= strcasecmp(command->words[w].text, "NX") == 0;
		for (size_t k = 0; k < n_shown; k++)
			is_shown |= strcmp(shown[k], command->words[1].text) == 0;
		if (makes && !is_shown)
			shown[n_shown++] = command->words[1].text;
	}
	return n_shown;
}

static struct rr_race *race_of(struct rr_search *search, const struct rr_outcome *finding,
			       const struct rr_schedule *schedule, uint32_t nearest, size_t *steps)
{
	struct described described = { search->config->programs.processes, finding->endings };
	const char **keys, *shown[KEYS_SHOWN];
	const size_t n_keys = rr_contents_keys(&search->judge.contents, schedule->end[0], nearest,
					       &keys);
	size_t n_shown = 0;
	struct rr_race *race;

	/* Leaves those keys that commands of the schedule name, unless there are none. */
	for (size_t i = 0; i < n_keys; i++) {
		if (is_named(search, &schedule->actions, keys[i]))
			keys[n_shown++] = keys[i];
	}
	n_shown = n_shown ? n_shown : n_keys;
	n_shown = n_shown < KEYS_SHOWN ? n_shown : KEYS_SHOWN;
	memcpy(shown, keys, n_shown * sizeof(*keys));
	n_shown = add_locks(search, &schedule->actions, shown, n_shown);
	race = rr_actions_race(
		&search->product, &search->scripts, &schedule->actions,
		&(struct rr_transcript_headings){
			.title = search->config->title,
			.shows = sum_up(finding->found, search->program.requests.n > 0),
			.keys = shown,
			.n_keys = n_shown,
			.words_of_request = words_of_request,
			.context = &described,
			.steps = steps,
		});
	free(keys);
	return race;
}

/* The serial orders that a finding is compared with are really run, too: what is believed of
 * them cannot make a finding. */
static enum rr_going run_orders(struct rr_search *search, const uint32_t *key)
{
	const struct rr_serial *serial = &search->judge.serial;
	const struct rr_serial_end found = rr_serial_end_of(&search->product, key, 0);
	enum rr_going going = RR_GO_ON;
	unsigned n = 0;

	for (uint32_t i = 0; i < serial->ends.n && n < ORDERS_RUN && going == RR_GO_ON; i++) {
		struct rr_actions actions;
		rr_state_key end;

		if (!rr_serial_is_candidate(rr_intern_get(&serial->ends, i), &found))
			continue;
		if (rr_deadline_is_over(&search->deadline,
					"the serial orders of a finding were run") &&
		    rr_deadline_is_late(&search->deadline)) {
			rr_error_interrupted(&search->result->error);
			return RR_INTERRUPTED;
		}
		n++;
		going = rr_serial_actions(serial, &search->product, i, &actions, end) ?
				rr_search_play(search, &actions, end) :
				rr_search_stop(search, &search->product.error);
		free(actions.all);
	}
	return going;
}

/* What a schedule shows of all that the search has found. */
static unsigned found_by(const struct rr_search *search, const struct rr_schedule *schedule)
{
	const unsigned found = search->result->found;
	unsigned shown = rr_product_all_are_over(&search->product, schedule->end) ?
				 found & ~(unsigned)RR_OUTCOME_STUCK :
				 found & ~(unsigned)RR_OUTCOME_NOT_SERIAL;

	if (!(schedule->broken & RR_BREAKS_EXCLUSION))
		shown &= ~(unsigned)RR_OUTCOME_EXCLUSION;
	if (!(schedule->broken & RR_BREAKS_OWNERSHIP))
		shown &= ~(unsigned)RR_OUTCOME_OWNERSHIP;
	return shown;
}

enum rr_going rr_search_show_finding(struct rr_search *search, const struct rr_schedule *schedule)
{
	struct rr_explore_result *result = search->result;
	struct rr_outcome *finding = &result->findings[result->n_findings++];
	size_t *steps = rr_calloc(schedule->actions.n + 1, sizeof(*steps));
	uint32_t nearest = RR_NO_ID;
	enum rr_going going = RR_GO_ON;

	*finding = (struct rr_outcome){ .words = rr_strdup(schedule->words),
					.found = found_by(search, schedule) };
	if (!note_end(search, finding, schedule->end, &nearest))
		going = rr_error_going(&search->result->error);
	if (going == RR_GO_ON && finding->found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_OUTPUTS) &&
	    !search->config->was_verified)
		going = run_orders(search, schedule->end);
	if (going == RR_GO_ON)
		finding->played.race = race_of(search, finding, schedule, nearest, steps);
	/* Other schedules may show more. */
	if (result->n_findings == 1)
		result->found = finding->found | (result->found & ~(unsigned)RR_OUTCOME_NOT_SERIAL);
	if (going == RR_GO_ON && finding->found) {
		uint8_t *owners = rr_calloc(schedule->actions.n + 1, sizeof(*owners));
		const bool is_known = rr_owners_find(&search->product, &schedule->actions, owners);
		struct rr_why why = { .text = NULL };
		struct rr_why_question question = {
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

		for (size_t i = 0; i < search->product.n_clients; i++)
			question.running |= (unsigned)!rr_product_is_over(&search->product,
									  schedule->end, i)
					    << i;
		/* Why that is a finding. */
		if (is_known)
			why = rr_why_find(&question);
		free(owners);
		finding->why = why.text;
		/* Not to be told apart by what depends on what: somebody did not do all of it. */
		finding->anomaly = finding->anomaly ? finding->anomaly : why.anomaly;
		/* What would fix it. Where not all is known, or a lease or waiting is what is
		 * wrong, no span of commands is looked for. */
		if (search->end == RR_GRAPH_WHOLE && !search->config->schedule &&
		    search->graph.breaks == RR_BREAKS_COUNT && !search->result->mend)
			search->result->mend = rr_mend_find(search);
	}
	free(steps);
	return going;
}

bool rr_search_conclude_findings(struct rr_search *search)
{
	struct rr_explore_result *result = search->result;
	const bool is_strategy = search->config->strategy != NULL;
	struct rr_error why = { 0 };

	if (result->n_findings)
		rr_search_release_tables(search);
	for (size_t i = 0; i < result->n_findings; i++) {
		struct rr_outcome *finding = &result->findings[i];
		const unsigned found = finding->found;
		/* As a race names it; NULL = nothing is found. */
		const char *verdict = found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_OUTPUTS) ?
					      RR_NOT_SERIALIZABLE :
				      found & RR_OUTCOME_UNEXPECTED ? RR_NOT_AS_EXPECTED :
				      found & RR_OUTCOME_STUCK      ? RR_NO_PROGRESS :
								      NULL;

		if (rr_conclude(&finding->played, is_strategy ? result->shortest_breaks : 0,
				verdict, search->cluster, &why))
			continue;
		if (is_strategy && search->cluster->session->signals.interrupted)
			return true;
		return rr_error_set(
			&result->error, RR_ERROR_INTERNAL, "%s%s",
			is_strategy ? "what was found does not show when it is played: " : "",
			why.text);
	}
	return true;
}
