/* SPDX-License-Identifier: MIT */
#include "interleavings.h"

#include <stdlib.h>
#include <string.h>

/* Going through a set costs some 20 ns, a move in a run more than 10 us. */
enum { SETS_MAX = 1 << 14, SLOTS = 2 * SETS_MAX };

/* A set of moves that can have been made, and in how many orders. */
struct made {
	uint64_t key; /* how many of each chain, side by side */
	uint64_t orders;
};

struct slot {
	uint32_t round; /* of which count it is; 0 = of none */
	uint32_t made;
};

struct chain {
	size_t n;
	unsigned shift; /* where in a key its number is */
	uint64_t mask;
	uint16_t moves[RR_DEPTH_MAX];
};

struct rr_interleavings {
	size_t n_chains;
	uint64_t whole; /* the key of all moves */
	uint64_t late;  /* the part of it of chains that must not be last */
	struct chain chains[RR_CHAINS_MAX];
	/* How many of each chain a move needs. */
	uint16_t needs[RR_DEPTH_MAX][RR_CHAINS_MAX];
	uint16_t place[RR_DEPTH_MAX]; /* in its chain, from 1 */
	uint32_t round;
	size_t n_made;
	struct made made[SETS_MAX];
	struct slot slots[SLOTS];
};

struct rr_interleavings *rr_interleavings_new(void)
{
	return calloc(1, sizeof(struct rr_interleavings));
}

void rr_interleavings_free(struct rr_interleavings *room)
{
	free(room);
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a + b < a ? RR_INTERLEAVINGS_MANY : a + b;
}

uint64_t rr_interleavings_add(uint64_t a, uint64_t b)
{
	if (a == RR_INTERLEAVINGS_UNKNOWN || b == RR_INTERLEAVINGS_UNKNOWN)
		return RR_INTERLEAVINGS_UNKNOWN;
	return sum_of(a, b);
}

/* ---- What each move needs ------------------------------------------------- */

static void note_need(struct rr_interleavings *room,
		      const struct rr_ordered_move *moves, size_t i, size_t by)
{
	uint16_t *need = &room->needs[i][moves[by].chain];

	if (room->place[by] > *need)
		*need = room->place[by];
}

static void note_move(struct rr_interleavings *room,
		      const struct rr_ordered_move *moves, size_t i)
{
	struct chain *chain = &room->chains[moves[i].chain];

	chain->moves[chain->n++] = (uint16_t)i;
	room->place[i] = (uint16_t)chain->n;
	memset(room->needs[i], 0, sizeof(room->needs[i]));
	for (size_t word = 0; word <= i / 64; word++) {
		for (uint64_t left = moves[i].before.words[word]; left;
		     left &= left - 1)
			note_need(room, moves, i,
				  64 * word + (size_t)__builtin_ctzll(left));
	}
}

/* Lays the chains' numbers side by side; false: a key has no room for them. */
static bool lay_out(struct rr_interleavings *room, uint64_t never_last)
{
	unsigned shift = 0;

	room->whole = room->late = 0;
	for (size_t c = 0; c < room->n_chains; c++) {
		struct chain *chain = &room->chains[c];
		unsigned bits = 0;

		while (chain->n >> bits)
			bits++;
		if (shift + bits > 63)
			return false;
		chain->shift = shift;
		chain->mask = (UINT64_C(1) << bits) - 1;
		room->whole |= (uint64_t)chain->n << shift;
		if (never_last >> c & 1)
			room->late |= chain->mask << shift;
		shift += bits;
	}
	return true;
}

static bool take_in(struct rr_interleavings *room,
		    const struct rr_ordered_move *moves, size_t n,
		    uint64_t never_last)
{
	room->n_chains = 0;
	for (size_t i = 0; i < n; i++) {
		for (; room->n_chains <= (size_t)moves[i].chain;
		     room->n_chains++)
			room->chains[room->n_chains].n = 0;
		note_move(room, moves, i);
	}
	return lay_out(room, never_last);
}

/* ---- Counting ------------------------------------------------------------- */

static uint64_t count_in(const struct chain *chain, uint64_t key)
{
	return key >> chain->shift & chain->mask;
}

static bool has_all(const struct rr_interleavings *room, uint64_t key,
		    const uint16_t *needs)
{
	for (size_t c = 0; c < room->n_chains; c++) {
		if (count_in(&room->chains[c], key) < needs[c])
			return false;
	}
	return true;
}

/* The set of this key, a new one if there is none yet; NULL: too many. */
static struct made *made_of(struct rr_interleavings *room, uint64_t key)
{
	size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40);

	for (;; at++) {
		struct slot *slot = &room->slots[at % SLOTS];

		if (slot->round == room->round &&
		    room->made[slot->made].key == key)
			return &room->made[slot->made];
		if (slot->round == room->round)
			continue;
		if (room->n_made == SETS_MAX)
			return NULL;
		*slot = (struct slot){ room->round, (uint32_t)room->n_made };
		room->made[room->n_made] = (struct made){ .key = key };
		return &room->made[room->n_made++];
	}
}

/* Would moves of chains that must not be last be? */
static bool is_too_late(const struct rr_interleavings *room, uint64_t key,
			const struct chain *chain)
{
	return (chain->mask << chain->shift & room->late) &&
	       ((room->whole ^ key) & ~room->late) == 0;
}

/* The next move of each chain, if nothing is missing, leads to a larger set. */
static bool go_on(struct rr_interleavings *room, const struct made *from)
{
	for (size_t c = 0; c < room->n_chains; c++) {
		const struct chain *chain = &room->chains[c];
		const uint64_t n = count_in(chain, from->key);
		struct made *to;

		if (n == chain->n || is_too_late(room, from->key, chain) ||
		    !has_all(room, from->key, room->needs[chain->moves[n]]))
			continue;
		to = made_of(room, from->key + (UINT64_C(1) << chain->shift));
		if (!to)
			return false;
		to->orders = sum_of(to->orders, from->orders);
	}
	return true;
}

static void begin(struct rr_interleavings *room)
{
	if (++room->round == 0) {
		memset(room->slots, 0, sizeof(room->slots));
		room->round = 1;
	}
	room->n_made = 0;
	made_of(room, 0)->orders = 1;
}

/* Sets are made in the order of their sizes: one is complete when it is gone on
 * from. The last is that of all moves. */
uint64_t rr_interleavings_count(struct rr_interleavings *room,
				const struct rr_ordered_move *moves, size_t n,
				uint64_t never_last)
{
	if (!take_in(room, moves, n, never_last))
		return RR_INTERLEAVINGS_UNKNOWN;
	begin(room);
	for (size_t i = 0; i < room->n_made; i++) {
		if (!go_on(room, &room->made[i]))
			return RR_INTERLEAVINGS_UNKNOWN;
	}
	return room->made[room->n_made - 1].orders;
}

/* ---- Of a run ------------------------------------------------------------- */

/* A client's moves, those of time, and each move of a server by itself. */
static int chain_of(const struct rr_search *search, const struct rr_move *move,
		    int *n_chains)
{
	if (rr_move_is_time(move))
		return (int)search->config.n_clients;
	if (rr_move_is_server(move))
		return (*n_chains)++;
	return rr_search_client(search, move->actor);
}

/* Time passes by itself only where nobody can go on: what is before it and what
 * is after it stay there. */
static void fence(struct rr_set *before, size_t n)
{
	for (size_t word = 0; word < n / 64; word++)
		before->words[word] = UINT64_MAX;
	if (n % 64)
		before->words[n / 64] |= (UINT64_C(1) << n % 64) - 1;
}

/* Nothing but clients' moves is the last one, unless time passed in vain. */
static uint64_t never_last(const struct rr_search *search)
{
	const struct rr_move *last = &search->done[search->n_done - 1].move;

	return rr_move_is_time(last) ? 0 : UINT64_MAX << search->config.n_clients;
}

uint64_t rr_interleavings_of(struct rr_interleavings *room,
			     const struct rr_search *search)
{
	struct rr_ordered_move moves[RR_DEPTH_MAX];
	const size_t n = search->n_done;
	int n_chains = (int)search->config.n_clients + 1;
	size_t fenced = 0;

	for (size_t i = 0; i < n; i++) {
		const struct rr_done *done = &search->done[i];
		const bool is_fence = done->move.kind == RR_MOVE_WAIT;

		moves[i].chain = chain_of(search, &done->move, &n_chains);
		moves[i].before = done->before;
		fence(&moves[i].before, is_fence ? i : fenced);
		if (is_fence)
			fenced = i + 1;
	}
	if (n == 0 || n_chains > RR_CHAINS_MAX)
		return n == 0 ? 1 : RR_INTERLEAVINGS_UNKNOWN;
	return rr_interleavings_count(room, moves, n, never_last(search));
}
