/* SPDX-License-Identifier: MIT */
/* How many orders a set of moves has, on orders made by hand. */
#include "../support.h"

#include "interleavings.h"

enum { MOVES = 300 };

struct moves {
	struct rr_ordered_move moves[MOVES];
	size_t n;
};

/* One more of a chain, after all before it there. */
static void add(struct moves *moves, int chain)
{
	struct rr_ordered_move *move = &moves->moves[moves->n];

	*move = (struct rr_ordered_move){ .chain = chain };
	for (size_t i = 0; i < moves->n; i++) {
		if (moves->moves[i].chain == chain)
			rr_set_put(&move->before, i);
	}
	moves->n++;
}

static void add_chain(struct moves *moves, int chain, size_t n)
{
	while (n-- > 0)
		add(moves, chain);
}

/* The last one depends on move `i`. */
static void needs(struct moves *moves, size_t i)
{
	rr_set_put(&moves->moves[moves->n - 1].before, i);
}

static uint64_t count(const struct moves *moves, uint64_t never_last)
{
	struct rr_interleavings *room = rr_interleavings_new();
	uint64_t first, again;

	cr_assert_not_null(room);
	first = rr_interleavings_count(room, moves->moves, moves->n,
				       never_last);
	again = rr_interleavings_count(room, moves->moves, moves->n,
				       never_last);
	cr_assert_eq(first, again);
	rr_interleavings_free(room);
	return first;
}

Test(interleavings, one_chain_has_one_order)
{
	struct moves moves = { .n = 0 };

	cr_assert_eq(count(&moves, 0), 1, "nothing at all");
	add_chain(&moves, 0, MOVES);
	cr_assert_eq(count(&moves, 0), 1);
}

Test(interleavings, free_chains_have_binomially_many)
{
	struct moves two = { .n = 0 }, three = { .n = 0 };

	add_chain(&two, 0, 5);
	add_chain(&two, 1, 5);
	cr_assert_eq(count(&two, 0), 252);
	add_chain(&three, 0, 4);
	add_chain(&three, 2, 3);
	add_chain(&three, 1, 2);
	cr_assert_eq(count(&three, 0), 1260, "9! / (4! 3! 2!)");
}

/* GET a, SET a beside GET b, SET b with both SETs in order: 2 of the 6. */
Test(interleavings, dependent_moves_keep_their_order)
{
	struct moves moves = { .n = 0 };

	add_chain(&moves, 0, 2);
	add(&moves, 1);
	add(&moves, 1);
	needs(&moves, 1);
	cr_assert_eq(count(&moves, 0), 3);
	moves.moves[2].before = moves.moves[1].before;
	needs(&moves, 0);
	rr_set_put(&moves.moves[2].before, 1);
	cr_assert_eq(count(&moves, 0), 1);
}

Test(interleavings, chain_that_is_never_the_last)
{
	struct moves moves = { .n = 0 };

	add_chain(&moves, 0, 3);
	add(&moves, 2);
	cr_assert_eq(count(&moves, 0), 4);
	cr_assert_eq(count(&moves, 1 << 2), 3);
	add(&moves, 2);
	cr_assert_eq(count(&moves, 1 << 2), 6, "4 over 2");
}

/* 128 over 64 is more than 2^64; 7 chains of 6 have 7^7 sets. */
Test(interleavings, too_many_are_many_or_unknown)
{
	struct moves many = { .n = 0 }, wide = { .n = 0 };

	add_chain(&many, 0, 64);
	add_chain(&many, 1, 64);
	cr_assert_eq(count(&many, 0), RR_INTERLEAVINGS_MANY);
	for (int chain = 0; chain < 7; chain++)
		add_chain(&wide, chain, 6);
	cr_assert_eq(count(&wide, 0), RR_INTERLEAVINGS_UNKNOWN);
}

Test(interleavings, sum_keeps_what_is_many_or_unknown)
{
	cr_assert_eq(rr_interleavings_add(3, 4), 7);
	cr_assert_eq(rr_interleavings_add(RR_INTERLEAVINGS_MANY, 4),
		     RR_INTERLEAVINGS_MANY);
	cr_assert_eq(rr_interleavings_add(UINT64_MAX - 1, 4),
		     RR_INTERLEAVINGS_MANY);
	cr_assert_eq(rr_interleavings_add(7, RR_INTERLEAVINGS_UNKNOWN),
		     RR_INTERLEAVINGS_UNKNOWN);
}
