/* SPDX-License-Identifier: MIT */
/* A path of the product, gone by real clients on real servers: does it end where the
 * product says, and is what was found really seen? */
#include "product.h"
#include "server_state.h"

/* Played for real it is not as it was found; returns false. */
static bool fail_end(struct rr_error *error, const char *what)
{
	return rr_error_set(error, RR_ERROR_INTERNAL,
			    "played for real, a path ends in another way: %s", what);
}

static bool leaves_data(struct rr_free_replay *replay, const struct rr_product *product,
			const uint32_t *end, struct rr_error *error)
{
	for (size_t i = 0; i < product->n_servers; i++) {
		struct rr_server_table *table = product->tables[i];
		const struct rr_server_snapshot *expected = &table->states[end[i]];
		struct rr_server_snapshot seen = { .was_wiped = expected->was_wiped };

		if (!rr_server_read_data(table, rr_free_replay_server(replay, i), &seen)) {
			*error = table->error;
			return false;
		}
		if (seen.data != expected->data)
			return fail_end(error, "a server has other data");
	}
	return true;
}

static bool leaves_clients(const struct rr_free_replay *replay, const struct rr_product *product,
			   const uint32_t *end, struct rr_error *error)
{
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_replayed_client seen = rr_free_replay_client(replay, i);
		const struct rr_part *part = rr_product_part(product, end, i);
		const struct rr_client_state *expected = rr_product_client(product, end, i);

		if (seen.has_crashed != part->is_crashed)
			return fail_end(error, "another client has crashed");
		if (seen.has_crashed ? seen.tally.acknowledged != part->ok ||
					       seen.tally.unknown != part->unknown :
				       seen.tally.ok != expected->tally.ok ||
					       seen.tally.unknown != expected->tally.unknown ||
					       seen.tally.failed != expected->tally.failed ||
					       seen.tally.ending != expected->tally.ending ||
					       seen.has_ended != expected->has_ended)
			return fail_end(error, "a client says something else of itself");
	}
	return true;
}

/* Is the counter something else than what clients were told that it is? */
static bool counts_wrong(struct rr_free_replay *replay, const struct rr_product *product)
{
	const long increments = product->config.increments;
	struct rr_count count = { 0 };
	struct rdl_reply reply;

	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_replayed_client seen = rr_free_replay_client(replay, i);
		const struct rr_run_tally *tally = &seen.tally;
		const long told = seen.has_crashed ? tally->acknowledged : tally->ok;

		count.least += told;
		count.most += told + tally->unknown +
			      (seen.was_busy && told + tally->unknown + tally->failed < increments);
	}
	count.is_number = rr_asker_say(rr_free_replay_server(replay, 0), &reply, "GET %s",
				       product->config.counter) &&
			  rr_count_of(&reply, &count.value);
	return rr_count_is_wrong(&count);
}

/* Is what the path breaks seen, and nothing else? */
static bool breaks_as_found(struct rr_free_replay *replay, struct rr_product *product,
			    const uint32_t *end, unsigned broken, struct rr_error *error)
{
	const struct rr_strategy *strategy = product->config.strategy;
	const bool excludes = !strategy || (strategy->acquire && !strategy->lock.is_fenced);
	bool have_ended = true;
	struct rr_count count;

	for (size_t i = 0; i < product->n_clients; i++)
		have_ended &= rr_free_replay_client(replay, i).has_ended;
	if (have_ended && broken & (RR_DEADLOCKS | RR_STARVES))
		return fail_end(error, "all clients have ended");
	if (excludes && rr_free_replay_saw_two_inside(replay) != !!(broken & RR_BREAKS_EXCLUSION))
		return fail_end(error, broken & RR_BREAKS_EXCLUSION ?
					       "no two clients are in the critical section" :
					       "two clients are in the critical section");
	if (!strategy || !have_ended)
		return true;
	if (!rr_product_count(product, end, &count)) {
		*error = product->error;
		return false;
	}
	return counts_wrong(replay, product) == rr_count_is_wrong(&count) ||
	       fail_end(error, rr_count_is_wrong(&count) ? "the counter is right" :
							   "the counter is wrong");
}

bool rr_product_replay(struct rr_product *product, struct rr_free_replay *replay,
		       const struct rr_actions *actions, const uint32_t *end, unsigned broken,
		       struct rr_error *error)
{
	if (rr_free_replay_run(replay, actions))
		return leaves_data(replay, product, end, error) &&
		       leaves_clients(replay, product, end, error) &&
		       breaks_as_found(replay, product, end, broken, error);
	*error = *rr_free_replay_error(replay);
	return false;
}
