/* SPDX-License-Identifier: MIT */
#include "random_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"

/* At most one draw in so many may have come before. */
enum { DRAWS_PER_REPEAT = 8 };

/* values->n: it is none of them. */
static size_t find_name(const struct rr_random_values *values, struct rdl_word name)
{
	size_t i = 0;

	while (i < values->n && !rr_words_are_same(values->names[i], name))
		i++;
	return i;
}

/* RR_NAMES_MAX: there is no room for it. */
static size_t number_of_name(struct rr_random_values *values, struct rdl_word name)
{
	const size_t at = find_name(values, name);

	if (at < values->n || at == RR_NAMES_MAX)
		return at;
	rr_intern_put(&values->drawn, name.text, name.length, NULL);
	values->names[values->n] = (struct rdl_word){ rr_memdup(name.text, name.length),
						      name.length };
	return values->n++;
}

/* A process has another value than the table. False: so have others, and it is not
 * random. */
static bool note_draw(struct rr_random_values *values, struct rdl_word canonical,
		      struct rdl_word actual, int64_t start_ns, bool *is_new)
{
	const size_t name = number_of_name(values, canonical);

	if (name == RR_NAMES_MAX)
		return false;
	rr_intern_put(&values->drawn, actual.text, actual.length, is_new);
	values->draws[name].n++;
	values->draws[name].repeats += !*is_new;
	/* Processes that have slept for a random time differ in it, and a time is no choice among
	 * few values, however often it comes. */
	return values->draws[name].repeats * DRAWS_PER_REPEAT <= values->draws[name].n ||
	       (rr_is_time(canonical, start_ns) && rr_is_time(actual, start_ns));
}

/* Is that value nowhere any more? */
static bool is_gone(const struct rr_random_values *values, struct rdl_word name, uint8_t gone)
{
	const size_t at = find_name(values, name);

	return at < values->n && gone >> at % RR_GENERATIONS & 1;
}

bool rr_random_values_rename(struct rr_random_values *values, const struct rr_terms *terms,
			     struct rr_instance *instance, const struct rr_run_view *known,
			     const struct rr_run_view *seen, uint8_t gone, uint64_t place,
			     enum rr_drawer drawer, bool *is_wrong)
{
	const size_t n_before = values->n;
	size_t name;
	struct rdl_word canonical, actual;
	bool takes, is_random, is_new = true;
	uint32_t i = 0;

	if (known->n_sent != seen->n_sent)
		return false;
	while (i < known->n_sent && known->sent[i].command == seen->sent[i].command)
		i++;
	if (i == known->n_sent ||
	    !rr_names_differ(&terms->command[known->sent[i].command].words,
			     &terms->command[seen->sent[i].command].words, &canonical, &actual))
		return false;
	takes = is_gone(values, canonical, gone);
	is_random = note_draw(values, canonical, actual, instance->config->process.start_ns,
			      &is_new);
	if (values->n > n_before)
		values->draws[n_before].place = place;
	*is_wrong |= !is_new && (takes || rr_intern_find(&values->guessed, actual.text,
							 actual.length) != RR_NO_ID);
	if (!is_random || *is_wrong)
		return false;
	if (takes)
		rr_instance_forget(instance, canonical);
	name = number_of_name(values, canonical);
	if (drawer == RR_DRAWER_SELF || rr_instance_drop_exchange(instance, canonical))
		values->varying |= UINT64_C(1) << name;
	return drawer == RR_DRAWER_OTHER_CLIENT && !(values->varying >> name & 1) ?
		       rr_instance_exchange(instance, canonical, actual) :
		       rr_instance_rename(instance, canonical, actual);
}

static bool has_text(const struct rdl_reply *reply, struct rdl_word text)
{
	if (reply->text)
		return memmem(reply->text, reply->length, text.text, text.length);
	for (size_t i = 0; reply->type == RDL_REPLY_ARRAY && i < reply->length; i++) {
		if (has_text(&reply->elements[i], text))
			return true;
	}
	return false;
}

bool rr_sent_has_text(const struct rr_terms *terms, const struct rr_sent *sent, uint32_t n_sent,
		      struct rdl_word text)
{
	for (uint32_t i = 0; i < n_sent; i++) {
		if (rr_command_has_text(&terms->command[sent[i].command].words, text))
			return true;
	}
	return false;
}

/* Is it new: neither sent nor received before? */
static bool is_fresh(const struct rr_random_values *values, const struct rr_terms *terms,
		     const struct rr_tokens *tokens, struct rdl_word text)
{
	bool is_heard = false;

	for (uint32_t i = 0; i < terms->n_replies && !is_heard; i++)
		is_heard = has_text(&terms->reply[i].reply, text);
	return !is_heard && rr_intern_find(&tokens->texts, text.text, text.length) == RR_NO_ID &&
	       rr_intern_find(&values->drawn, text.text, text.length) == RR_NO_ID;
}

/* A command as one before, but for something new instead of a value that is gone? A time says
 * more than that it is another, and what has given its name away is no new value. */
static bool find_reused(const struct rr_random_values *values, const struct rr_terms *terms,
			const struct rr_tokens *tokens, const struct rr_instance *instance,
			const struct rr_run_view *seen, uint32_t before, uint8_t gone,
			struct rdl_word *name, struct rdl_word *text)
{
	const int64_t start_ns = instance->config->process.start_ns;

	for (uint32_t i = 0; i < seen->n_sent; i++) {
		const struct rdl_command *now = &terms->command[seen->sent[i].command].words;

		if (rr_names_differ(&terms->command[before].words, now, name, text) &&
		    is_gone(values, *name, gone) && !rr_is_time(*text, start_ns) &&
		    !rr_sent_has_text(terms, seen->sent, seen->n_sent, *name) &&
		    !rr_instance_renames(instance, *text) && is_fresh(values, terms, tokens, *text))
			return true;
	}
	return false;
}

bool rr_random_values_reuse(struct rr_random_values *values, const struct rr_terms *terms,
			    const struct rr_tokens *tokens, struct rr_instance *instance,
			    const struct rr_run_view *seen, const uint32_t *sent, size_t n_sent,
			    uint8_t gone)
{
	struct rdl_word name, text;
	bool is_new;

	while (n_sent > 0 && !find_reused(values, terms, tokens, instance, seen, sent[n_sent - 1],
					  gone, &name, &text))
		n_sent--;
	if (n_sent == 0 ||
	    !note_draw(values, name, text, instance->config->process.start_ns, &is_new))
		return false;
	rr_instance_forget(instance, name);
	return rr_instance_rename(instance, name, text);
}

/* As bits, those that are in a command. */
static uint64_t values_in(const struct rr_random_values *values, const struct rr_terms *terms,
			  uint32_t command)
{
	uint64_t in = 0;

	for (size_t i = 0; i < values->n; i++) {
		if (rr_command_has_text(&terms->command[command].words, values->names[i]))
			in |= UINT64_C(1) << i;
	}
	return in;
}

/* The first of the values that some command has in the place in which this one has a text that
 * nobody knows; RR_NAMES_MAX: none. */
static size_t find_shared(const struct rr_random_values *values, const struct rr_terms *terms,
			  const struct rr_tokens *tokens, const struct rr_instance *instance,
			  uint32_t command, uint64_t sent, struct rdl_word *text)
{
	const int64_t start_ns = instance->config->process.start_ns;
	size_t first = RR_NAMES_MAX;

	for (uint32_t i = 0; i < terms->n_commands; i++) {
		struct rdl_word name, other;
		size_t at;

		if (!rr_names_differ(&terms->command[i].words, &terms->command[command].words,
				     &name, &other))
			continue;
		at = find_name(values, name);
		if (at >= values->n || at >= first || sent >> at & 1 ||
		    rr_is_time(other, start_ns) || rr_instance_renames(instance, other) ||
		    !is_fresh(values, terms, tokens, other))
			continue;
		first = at;
		*text = other;
	}
	return first;
}

bool rr_random_values_share(struct rr_random_values *values, const struct rr_terms *terms,
			    const struct rr_tokens *tokens, struct rr_instance *instance,
			    const struct rr_run_view *seen, const uint32_t *sent, size_t n_sent)
{
	uint64_t is_sent = 0;
	bool is_new;

	for (size_t i = 0; i < n_sent && values->n > 0; i++)
		is_sent |= values_in(values, terms, sent[i]);
	for (uint32_t i = 0; i < seen->n_sent && values->n > 0; i++) {
		struct rdl_word text;
		const size_t name = find_shared(values, terms, tokens, instance,
						seen->sent[i].command, is_sent, &text);

		if (name == RR_NAMES_MAX ||
		    rr_sent_has_text(terms, seen->sent, seen->n_sent, values->names[name]) ||
		    !note_draw(values, values->names[name], text,
			       instance->config->process.start_ns, &is_new))
			continue;
		rr_intern_put(&values->guessed, text.text, text.length, NULL);
		return rr_instance_rename(instance, values->names[name], text);
	}
	return false;
}

bool rr_random_values_see_forgotten(struct rr_random_values *values, const struct rr_terms *terms,
				    const struct rr_instance *instance,
				    const struct rr_run_view *seen, bool *is_wrong)
{
	const struct rr_renaming *names = &instance->outward;
	const size_t before = values->n;

	for (size_t i = 0; i < names->n && instance->n_forgotten > 0; i++) {
		const struct rdl_word name = { names->pairs[i].from, names->pairs[i].n_from };
		const size_t n = values->n;
		const size_t at = rr_sent_has_text(terms, seen->sent, seen->n_sent, name) ?
					  number_of_name(values, name) :
					  n + 1;

		*is_wrong |= at == RR_NAMES_MAX;
		if (at == n && at < RR_NAMES_MAX)
			values->draws[at].n = RR_DRAWS_MIN; /* by another name */
	}
	return values->n > before;
}

/* Under its own values, in which a name may be that is a part of what it has renamed: bytes at the
 * ends of two values that were the same by chance are in no name of theirs. */
static bool has_really_sent(struct rr_terms *terms, const struct rr_instance *instance,
			    const struct rr_run_view *view, struct rdl_word name)
{
	for (uint32_t i = 0; i < view->n_sent; i++) {
		const uint32_t command = rr_rename_command(&instance->outward, terms,
							   view->sent[i].command);

		if (rr_command_has_text(&terms->command[command].words, name))
			return true;
	}
	return false;
}

void rr_random_values_count(struct rr_random_values *values, struct rr_terms *terms,
			    const struct rr_instance *instance, const struct rr_run_view *known,
			    uint64_t *counted)
{
	for (size_t i = 0; i < values->n; i++) {
		if (*counted >> i & 1 || rr_instance_renames(instance, values->names[i]) ||
		    !rr_sent_has_text(terms, known->sent, known->n_sent, values->names[i]) ||
		    !has_really_sent(terms, instance, known, values->names[i]))
			continue;
		*counted |= UINT64_C(1) << i;
		values->draws[i].n++;
		values->draws[i].repeats++;
	}
}

void rr_random_values_hear(const struct rr_random_values *values, const struct rdl_reply *reply,
			   uint64_t *counted)
{
	for (size_t i = 0; i < values->n; i++)
		*counted |= has_text(reply, values->names[i]) ? UINT64_C(1) << i : 0;
}

/* ---- In several histories ----------------------------------------------------------- */

/* As bits, what is sent in each history. */
static uint64_t *values_of_histories(const struct rr_random_values *values,
				     const struct rr_terms *terms,
				     const struct rr_client_table *table)
{
	uint64_t *sent = rr_calloc(table->n_states + 1, sizeof(*sent));

	for (uint32_t i = 0; i < table->n_states; i++) {
		const struct rr_client_state *state = &table->states[i];

		sent[i] = state->parent == RR_NO_ID ? 0 : sent[state->parent];
		for (uint32_t j = 0; j < state->n_sent; j++)
			sent[i] |= values_in(values, terms, state->sent[j].command);
	}
	return sent;
}

void rr_random_values_see_histories(struct rr_random_values *values, const struct rr_terms *terms,
				    const struct rr_client_table *table)
{
	uint64_t *sent;

	if (values->n_seen == values->n && values->n_states == table->n_states)
		return;
	sent = values_of_histories(values, terms, table);
	memset(values->apart, 0, sizeof(values->apart));
	for (uint32_t i = 0; i < table->n_states; i++) {
		const struct rr_client_state *state = &table->states[i];

		/* What only tests have seen does not matter. */
		for (size_t j = 0; j < values->n; j++) {
			if (!(sent[i] >> j & 1))
				continue;
			values->together[j] |= sent[i];
			values->apart[j] |= state->has_ended && state->same != RR_NO_ID ? ~sent[i] :
											  0;
		}
	}
	free(sent);
	values->n_seen = values->n;
	values->n_states = table->n_states;
}

/* Whoever has sent one of them has sent the other, too, and so they are two. Where a client has drawn
 * once more only because of what it heard, the last value is what the only one is elsewhere. As long
 * as not all histories have come to their ends, any two might be. But where a client has drawn as
 * much with one seed, what it has drawn is the same: values that differ are made of what it heard. */
static bool are_different(const struct rr_random_values *values, size_t a, size_t b)
{
	if (values->draws[a].place && values->draws[a].place == values->draws[b].place)
		return true;
	return !values->are_unfinished && values->together[a] >> b & 1 &&
	       !((values->apart[a] >> b | values->apart[b] >> a) & 1);
}

void rr_random_values_pair(const struct rr_random_values *values, const struct rdl_word *names,
			   const struct rdl_reply *a, const struct rdl_reply *b,
			   struct rr_renaming *renaming)
{
	size_t only_a[RR_NAMES_MAX], only_b[RR_NAMES_MAX], n_a = 0, n_b = 0;
	bool are_pairs = true;

	for (size_t i = 0; i < values->n; i++) {
		const bool is_in_a = has_text(a, names[i]), is_in_b = has_text(b, names[i]);

		if (is_in_a && !is_in_b)
			only_a[n_a++] = i;
		else if (is_in_b && !is_in_a)
			only_b[n_b++] = i;
	}
	are_pairs = n_a == n_b;
	for (size_t i = 0; are_pairs && i < n_a; i++)
		are_pairs = !are_different(values, only_a[i], only_b[i]);
	for (size_t i = 0; are_pairs && i < n_a; i++)
		rr_renaming_add(renaming, names[only_b[i]], names[only_a[i]]);
}

uint32_t rr_random_values_try_history(struct rr_random_values *values, const struct rr_terms *terms,
				      const struct rr_client_table *table)
{
	uint64_t few = 0;

	for (size_t i = 0; i < values->n; i++)
		few |= values->draws[i].n < RR_DRAWS_MIN && values->draws[i].tried < RR_DRAWS_MIN ?
			       UINT64_C(1) << i :
			       0;
	uint64_t *sent = few ? values_of_histories(values, terms, table) : NULL;
	uint32_t best = RR_NO_ID;
	int most = 0;

	for (uint32_t i = 0; i < table->n_states && few; i++) {
		const int n = __builtin_popcountll(sent[i] & few);

		/* Of those with as many the last one, which comes nearest to an end. */
		if (n == 0 || n < most || (i > 0 && table->states[i].same == RR_NO_ID))
			continue;
		most = n;
		best = i;
	}
	for (size_t i = 0; i < values->n && best != RR_NO_ID; i++)
		values->draws[i].tried += (sent[best] & few) >> i & 1;
	free(sent);
	return best;
}

void rr_random_values_release(struct rr_random_values *values)
{
	for (size_t i = 0; i < values->n; i++)
		free((char *)values->names[i].text);
	rr_intern_release(&values->drawn);
	rr_intern_release(&values->guessed);
	*values = (struct rr_random_values){ 0 };
}
