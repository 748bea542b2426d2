/* SPDX-License-Identifier: MIT */
/* A final state beside the serial orders: is it as in one of them, and which is nearest? */
#include "contents.h"
#include "search.h"

enum { LOOK_EVERY = 64 }; /* orders, whether time is over */

static bool uses_no_more(const struct rr_budget *a, const struct rr_budget *b)
{
	for (int i = 0; i < RR_BUDGETS; i++) {
		if (a->of[i] > b->of[i])
			return false;
	}
	return true;
}

/* Does whoever was answered before another one began come before it? */
static bool is_in_order_of_time(const struct rr_serial_end *end, const struct rr_serial_end *found)
{
	for (size_t i = 0; i < RR_PRODUCT_CLIENTS; i++) {
		if (end->ran >> i & 1 && found->after[i] & end->ran & ~end->after[i])
			return false;
	}
	return true;
}

/* Might the end, but for its data, be that of the final state? */
static bool is_candidate(const struct rr_serial_end *end, const struct rr_serial_end *found)
{
	return (found->good & ~end->good) == 0 && uses_no_more(&end->used, &found->used);
}

/* A final state that is being judged. */
struct judged {
	const struct rr_serial *serial;
	const struct rr_product *product;
	const uint32_t *key;
	struct rr_contents *contents;
	const struct rr_explored_programs *programs;
	const struct rr_serial_question *question;
	struct rr_serial_end found;
	enum rr_likeness likeness;
	bool is_timeless; /* any order will do */
};

bool rr_serial_is_candidate(const struct rr_serial *serial, const struct rr_product *product,
			    const uint32_t *key, uint32_t end)
{
	const struct rr_serial_end found = rr_serial_end_of(product, key, 0);

	const struct rr_serial_end *it = rr_intern_get(&serial->ends, end);

	return is_candidate(it, &found) && is_in_order_of_time(it, &found);
}

static bool ends_alike(const struct judged *judged, const struct rr_serial_end *end,
		       size_t operation)
{
	const struct rr_product *product = judged->product;
	const size_t client = rr_product_client_of(product, judged->key, operation);

	return judged->programs->end_alike(judged->programs->programs, operation,
					   rr_product_part(product, judged->key, client)->state,
					   end->endings[operation], judged->likeness);
}

/* Has each client ended so in the order? A client that was refused may have done anything
 * there but its work. */
static bool has_endings_of(const struct judged *judged, const struct rr_serial_end *end)
{
	const size_t n = rr_program_operations(judged->product->config.program);

	for (size_t i = 0; i < n; i++) {
		const bool is_good = judged->found.good & 1U << i;

		if (judged->found.endings[i] < 0 || (!is_good && !(end->good & 1U << i)))
			continue;
		if (!ends_alike(judged, end, i))
			return false;
	}
	return true;
}

/* Are the data, or what is compared instead, those of the end? */
static bool has_data_of(const struct judged *judged, const struct rr_serial_end *end)
{
	const struct rr_serial_question *question = judged->question;
	const size_t n = judged->product->n_clients;
	uint32_t server = end->server, number;

	if (!question->left)
		return rr_contents_are_alike(judged->contents, judged->found.server, server,
					     judged->programs, n);
	if (question->later_ns) {
		const struct rr_question tick = { .kind = RR_ASK_TICK,
						  .argument = question->later_ns };
		const struct rr_server_row *row = rr_server_table_ask(judged->contents->table,
								      server, &tick);

		server = row ? row->to : RR_NO_ID;
	}
	number = server == RR_NO_ID ? RR_NO_ID : rr_contents_number(judged->contents, server);
	return number != RR_NO_ID &&
	       rr_contents_numbers_are_alike(judged->contents,
					     rr_leftovers_beside(question->left, number), number,
					     judged->programs, n);
}

/* A state that is compared when time is over gets some seconds more: it may be a finding. */
static bool is_late(const struct rr_serial *serial, uint32_t i)
{
	return i % LOOK_EVERY == 0 &&
	       rr_search_is_called_off(serial->search, "final states were compared") &&
	       rr_search_is_late(serial->search);
}

/* Is it, to the letter, the end of an order of all clients? Most are, and then no other order is
 * looked at. */
static bool is_an_end(const struct judged *judged)
{
	const size_t n = rr_program_operations(judged->product->config.program);
	struct rr_serial_end end = judged->found;

	end.ran = (1U << n) - 1;
	return rr_intern_find(&judged->serial->ends, &end, sizeof(end)) != RR_NO_ID;
}

/* An end is as in that order but for times of day: notes where. */
static void note_moved(struct judged *judged, const struct rr_serial_end *end,
		       struct rr_serial_verdict *verdict)
{
	const size_t n = rr_program_operations(judged->product->config.program);

	rr_contents_note_moved(judged->contents, judged->found.server, end->server,
			       judged->programs, judged->product->n_clients);
	judged->likeness = RR_LIKE_THOROUGH;
	for (size_t i = 0; i < n; i++) {
		if (judged->found.good & 1U << i && !ends_alike(judged, end, i))
			verdict->moved_outputs |= 1U << i;
	}
	judged->likeness = RR_LIKE_BUT_TIMES;
}

static void compare_with_orders(struct judged *judged, struct rr_serial_verdict *verdict)
{
	for (uint32_t i = 0; i < judged->serial->ends.n && !verdict->allows_endings; i++) {
		const struct rr_serial_end *end = rr_intern_get(&judged->serial->ends, i);

		if (is_late(judged->serial, i))
			return;
		if (!is_candidate(end, &judged->found) ||
		    !(judged->is_timeless || is_in_order_of_time(end, &judged->found)))
			continue;
		if (judged->question->must_run & ~end->ran)
			continue;
		if (!has_data_of(judged, end))
			continue;
		verdict->allows_data = true;
		verdict->allows_endings = has_endings_of(judged, end);
		if (verdict->allows_endings && judged->likeness == RR_LIKE_BUT_TIMES)
			note_moved(judged, end, verdict);
	}
}

/* As it is; then without what need not be the same; then without times of day, if they may differ. */
static struct rr_serial_verdict judge_likenesses(struct judged *judged)
{
	struct rr_serial_verdict verdict = { 0 };

	for (int i = RR_LIKE_PLAIN; i <= RR_LIKE_BUT_TIMES && !verdict.allows_endings; i++) {
		if (i == RR_LIKE_THOROUGH && !verdict.allows_data)
			continue;
		if (i == RR_LIKE_BUT_TIMES && judged->contents->day_ns == 0)
			break;
		judged->likeness = (enum rr_likeness)i;
		judged->contents->excuses_times = i == RR_LIKE_BUT_TIMES;
		compare_with_orders(judged, &verdict);
	}
	judged->contents->excuses_times = true;
	return verdict;
}

/* Operations, as bits, that have failed, which is no refusal, and fail so in no serial order. Whoever was
 * struck by a fault may fail. */
static uint32_t failures_in(const struct judged *judged)
{
	const struct rr_explored_programs *programs = judged->programs;
	const size_t n = rr_program_operations(judged->product->config.program);
	const struct rr_budget none = { 0 };
	uint32_t failures = 0;

	if (!programs->fails || !uses_no_more(&judged->found.used, &none))
		return 0;
	for (size_t i = 0; i < n; i++) {
		const int32_t ending = judged->found.endings[i];
		const size_t client = rr_product_client_of(judged->product, judged->key, i);
		bool is_serial = false;

		if (ending < 0 || judged->found.good & 1U << i ||
		    !programs->fails(programs->programs, i,
				     rr_product_part(judged->product, judged->key, client)->state,
				     ending, judged->serial->search->config->strict_exits))
			continue;
		for (uint32_t j = 0; j < judged->serial->ends.n && !is_serial; j++) {
			const struct rr_serial_end *end = rr_intern_get(&judged->serial->ends, j);

			is_serial = end->endings[i] >= 0 && !(end->good & 1U << i) &&
				    programs->have_same_status(programs->programs, end->endings[i],
							       ending);
		}
		failures |= is_serial ? 0 : 1U << i;
	}
	return failures;
}

struct rr_serial_verdict rr_serial_judge(const struct rr_serial *serial,
					 const struct rr_product *product, const uint32_t *key,
					 struct rr_contents *contents,
					 const struct rr_explored_programs *programs,
					 const struct rr_serial_question *question)
{
	struct judged judged = { .serial = serial,
				 .product = product,
				 .key = key,
				 .contents = contents,
				 .programs = programs,
				 .question = question,
				 .found = rr_serial_end_of(product, key, 0) };
	struct rr_serial_verdict verdict;

	if (!question->left && is_an_end(&judged))
		return (struct rr_serial_verdict){ .allows_data = true, .allows_endings = true };
	verdict = judge_likenesses(&judged);
	if (verdict.allows_endings)
		verdict.failures = failures_in(&judged);
	if (verdict.failures) {
		verdict.allows_endings = false;
		return verdict;
	}
	judged.is_timeless = true;
	if (!verdict.allows_endings && product->config.program->n_requests > 0)
		verdict.is_untimely = judge_likenesses(&judged).allows_endings;
	return verdict;
}

bool rr_serial_allows_endings(const struct rr_serial *serial, const struct rr_product *product,
			      const uint32_t *key, struct rr_contents *contents,
			      const struct rr_explored_programs *programs)
{
	const struct judged judged = { .serial = serial,
				       .product = product,
				       .key = key,
				       .contents = contents,
				       .programs = programs,
				       .found = rr_serial_end_of(product, key, 0),
				       .likeness = RR_LIKE_THOROUGH };

	for (uint32_t i = 0; i < serial->ends.n && !is_late(serial, i); i++) {
		const struct rr_serial_end *end = rr_intern_get(&serial->ends, i);

		if (is_candidate(end, &judged.found) && is_in_order_of_time(end, &judged.found) &&
		    has_endings_of(&judged, end))
			return true;
	}
	return false;
}

enum rr_shortfall rr_serial_shortfall(const struct rr_serial *serial,
				      const struct rr_product *product, const uint32_t *key,
				      const struct rr_leftovers *left, uint32_t crashed)
{
	const struct rr_serial_end found = rr_serial_end_of(product, key, 0);
	enum rr_shortfall least = RR_SHORT_OF_WORK;

	for (uint32_t i = 0; i < serial->ends.n && least != RR_SHORT_OF_TIMES; i++) {
		const struct rr_serial_end *end = rr_intern_get(&serial->ends, i);
		uint32_t number;
		enum rr_shortfall it;

		if (is_late(serial, i))
			break;
		if (!is_candidate(end, &found) || !is_in_order_of_time(end, &found))
			continue;
		number = rr_contents_number(left->contents, end->server);
		if (number == RR_NO_ID)
			break;
		it = rr_leftovers_shortfall(left, number);
		if (it == RR_SHORT_OF_TIMES ||
		    (it == RR_SHORT_OF_PARTS && end->good == found.good && !(end->ran & crashed)))
			least = it;
	}
	return least;
}

/* ---- What is nearest ----------------------------------------------------------------- */

struct distance {
	struct rr_contents_distance data;
	size_t endings; /* that differ */
};

static bool is_farther(const struct distance *a, const struct distance *b)
{
	return a->data.keys != b->data.keys   ? a->data.keys > b->data.keys :
	       a->data.parts != b->data.parts ? a->data.parts > b->data.parts :
						a->endings > b->endings;
}

static struct distance distance_to(const struct judged *judged, const struct rr_serial_end *end)
{
	const size_t n = rr_program_operations(judged->product->config.program);
	struct distance distance = { rr_contents_distance(judged->contents, judged->found.server,
							  end->server, judged->programs,
							  judged->product->n_clients),
				     0 };

	for (size_t i = 0; i < n; i++) {
		const bool has_ended = judged->found.endings[i] >= 0;

		distance.endings += has_ended != (end->endings[i] >= 0) ||
				    (has_ended && !ends_alike(judged, end, i));
	}
	return distance;
}

uint32_t rr_serial_nearest(const struct rr_serial *serial, const struct rr_product *product,
			   const uint32_t *key, struct rr_contents *contents,
			   const struct rr_explored_programs *programs)
{
	const struct judged judged = { .serial = serial,
				       .product = product,
				       .key = key,
				       .contents = contents,
				       .programs = programs,
				       .found = rr_serial_end_of(product, key, 0),
				       .likeness = RR_LIKE_BUT_TIMES };
	struct distance least = { { SIZE_MAX, SIZE_MAX }, SIZE_MAX };
	uint32_t nearest = RR_NO_ID;

	for (uint32_t i = 0; i < serial->ends.n; i++) {
		const struct rr_serial_end *end = rr_intern_get(&serial->ends, i);
		struct distance distance;

		if (is_late(serial, i))
			break;
		if (!is_candidate(end, &judged.found) || !is_in_order_of_time(end, &judged.found))
			continue;
		distance = distance_to(&judged, end);
		if (is_farther(&distance, &least))
			continue;
		least = distance;
		nearest = i;
	}
	return nearest;
}
