/* SPDX-License-Identifier: MIT */
/* A cell in words, and whether they are the expected ones. */
#include <stdio.h>
#include <string.h>

#include "cell.h"

static const unsigned invariants = (1U << RR_INVARIANTS) - 1;

/* ---- Is it what is expected? ------------------------------------------------ */

static unsigned expected_of(const struct rr_cell *cell)
{
	return rr_expected_row(cell->strategy)->breaks[cell->hazard];
}

static enum rr_cell_standing compare_equal(bool is_equal)
{
	return is_equal ? RR_CELL_AS_EXPECTED : RR_CELL_DIFFERS;
}

enum rr_cell_standing rr_cell_standing(const struct rr_cell *cell)
{
	const unsigned expected = expected_of(cell);
	const unsigned breaks = cell->result.breaks, to_break = expected & invariants;

	switch (cell->verdict) {
	case RR_CELL_BREAKS:
		/* That only so many rounds were tried is no matter when something broke. */
		if (cell->was_cut && !(breaks & ~to_break) && breaks != to_break)
			return RR_CELL_UNDECIDED;
		return compare_equal(breaks == to_break &&
				     rr_is_smallest_expected(&cell->bounds, &cell->result));
	case RR_CELL_SAFE:
	case RR_CELL_NONE:
		return compare_equal(expected == 0);
	case RR_CELL_ROUNDS:
		return compare_equal(expected == RR_LOOPS);
	case RR_CELL_NO_MUTANT:
		return to_break ? RR_CELL_DIFFERS : RR_CELL_UNDECIDED;
	case RR_CELL_SKIPPED:
	case RR_CELL_ELSEWHERE:
		return RR_CELL_AS_EXPECTED;
	default:
		return RR_CELL_UNDECIDED;
	}
}

/* ---- Words -------------------------------------------------------------------- */

/* Those without a word or a text have one of their own in each cell. */
static const struct rr_verdict_words verdict_words[] = {
	[RR_CELL_UNDONE] = { .word = "?", .text = "not done", .json = "undone" },
	[RR_CELL_NONE] = { .word = "n/a", .text = "n/a", .json = "not applicable" },
	[RR_CELL_BREAKS] = { .json = "breaks" },
	[RR_CELL_SAFE] = { .text = "safe", .json = "safe", .is_unbroken = true },
	[RR_CELL_ROUNDS] = { .json = "no failure found: rounds", .is_unbroken = true },
	[RR_CELL_MOST] = { .word = "cut",
			   .text = "no failure found (not all states)",
			   .json = "no failure found: limit",
			   .is_unbroken = true },
	[RR_CELL_RANDOM] = { .word = "random",
			     .text = "no failure found (random replies)",
			     .json = "no failure found: random replies",
			     .is_unbroken = true },
	[RR_CELL_NO_MUTANT] = { .word = "no mutant",
				.text = "no failure found (no mutant is noticed)",
				.json = "no failure found: no mutant",
				.is_unbroken = true },
	[RR_CELL_SKIPPED] = { .word = "skipped", .text = "skipped", .json = "skipped" },
	[RR_CELL_ELSEWHERE] = { .word = ".",
				.text = "in another shard",
				.json = "in another shard" },
	[RR_CELL_FAILED] = { .word = "failed", .text = "failed", .json = "failed" },
};

/* "safe 528", "safe 1.2k", "safe 12k", "safe 3.4M". */
static void put_safe(char *text, size_t size, unsigned long n)
{
	const bool millions = n >= 999500;
	const double part = (double)n / (millions ? 1e6 : 1e3);

	if (n < 1000)
		snprintf(text, size, "safe %lu", n);
	else
		snprintf(text, size, "safe %.*f%c", part < 9.95 ? 1 : 0, part,
			 millions ? 'M' : 'k');
}

static void put_found(struct rr_cell_words *words, const struct rr_cell *cell, const char *rounds)
{
	if (cell->verdict == RR_CELL_BREAKS) {
		static const char letters[RR_INVARIANTS] = { 'C', 'E', 'L', 'O', 'D', 'S' };

		/* A place for each invariant, as the permissions of ls. */
		for (int i = 0; i < RR_INVARIANTS; i++)
			words->word[i] = cell->result.breaks >> i & 1 ? letters[i] : '-';
		words->word[RR_INVARIANTS] = '\0';
		rr_breaks_text(cell->result.breaks, words->text, sizeof(words->text));
		return;
	}
	if (cell->verdict == RR_CELL_SAFE)
		put_safe(words->word, sizeof(words->word), cell->result.states);
	else
		snprintf(words->word, sizeof(words->word), "%s",
			 cell->verdict == RR_CELL_ROUNDS ? rounds : words->verdict->word);
	if (cell->verdict == RR_CELL_ROUNDS)
		snprintf(words->text, sizeof(words->text), "no failure found (%s)", rounds);
	else
		snprintf(words->text, sizeof(words->text), "%s", words->verdict->text);
}

struct rr_cell_words rr_cell_words(const struct rr_cell *cell)
{
	struct rr_cell_words words = {
		.strategy = cell->strategy->name,
		.hazard = rr_hazard_texts[cell->hazard].title,
		.verdict = &verdict_words[cell->verdict],
		.standing = rr_cell_standing(cell),
	};
	const unsigned expected = expected_of(cell);
	char rounds[12];
	char failing[RR_GROUPED_SIZE], all[RR_GROUPED_SIZE];

	snprintf(rounds, sizeof(rounds), "%d round%s", cell->bounds.rounds % 100,
		 cell->bounds.rounds == 1 ? "" : "s");
	put_found(&words, cell, rounds);
	if (expected & invariants)
		rr_breaks_text(expected, words.expected, sizeof(words.expected));
	else if (expected & RR_LOOPS)
		snprintf(words.expected, sizeof(words.expected), "no failure found (%s)", rounds);
	else
		snprintf(words.expected, sizeof(words.expected), "%s",
			 cell->verdict == RR_CELL_NONE ? "n/a" : "safe");
	if (rr_explore_has_counted(&cell->result))
		snprintf(words.failing, sizeof(words.failing), "%s of %s",
			 rr_grouped(failing, (long long)cell->result.failing_interleavings),
			 rr_grouped(all, (long long)cell->result.interleavings));
	rr_grouped(words.states, (long long)cell->result.states);
	rr_bounds_text(&cell->bounds, words.bounds);
	snprintf(words.file, sizeof(words.file), "%s-%s.race", words.strategy,
		 rr_hazard_texts[cell->hazard].name);
	return words;
}
