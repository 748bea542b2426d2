/* SPDX-License-Identifier: MIT */
/* A cell in words, and whether they are the expected ones. */
#include <stdio.h>

#include "cell.h"
#include "hazards.h"

static const unsigned invariants = (1U << RR_INVARIANTS) - 1;

static unsigned expected_of(const struct rr_cell *cell)
{
	return cell->strategy->breaks[cell->hazard];
}

static enum rr_cell_standing compare(bool is_equal)
{
	return is_equal ? RR_CELL_AS_EXPECTED : RR_CELL_DIFFERS;
}

static const char *plural(const struct rr_cell *cell)
{
	return cell->bounds.rounds == 1 ? "" : "s";
}

/* That only so many rounds were tried is no matter when something broke. */
static enum rr_cell_standing compare_broken(const struct rr_cell *cell)
{
	const unsigned expected = expected_of(cell) & invariants;

	if (cell->was_cut && !(cell->breaks & ~expected) &&
	    cell->breaks != expected)
		return RR_CELL_UNDECIDED;
	return compare(cell->breaks == expected);
}

enum rr_cell_standing rr_cell_standing(const struct rr_cell *cell)
{
	const unsigned expected = expected_of(cell);

	switch (cell->verdict) {
	case RR_CELL_BREAKS:
		return compare_broken(cell);
	case RR_CELL_SAFE:
	case RR_CELL_NONE:
		return compare(expected == 0);
	case RR_CELL_ROUNDS:
		return compare(expected == RR_LOOPS);
	case RR_CELL_NO_MUTANT:
		return expected & invariants ? RR_CELL_DIFFERS :
					       RR_CELL_UNDECIDED;
	case RR_CELL_SKIPPED:
		return RR_CELL_AS_EXPECTED;
	case RR_CELL_MOST:
	case RR_CELL_RANDOM:
	case RR_CELL_UNDONE:
	case RR_CELL_FAILED:
		break;
	}
	return RR_CELL_UNDECIDED;
}

/* "528", "1.2k", "12k", "3.4M": four characters at most. */
static void put_short(char *text, size_t size, unsigned long n)
{
	const bool millions = n >= 999500;
	const double part = (double)n / (millions ? 1e6 : 1e3);

	if (n < 1000)
		snprintf(text, size, "%lu", n);
	else
		snprintf(text, size, "%.*f%c", part < 9.95 ? 1 : 0, part,
			 millions ? 'M' : 'k');
}

/* A place for each invariant, as the permissions of ls. */
static void put_letters(char *text, unsigned breaks)
{
	static const char letters[RR_INVARIANTS] = { 'C', 'E', 'L',
						     'O', 'D', 'S' };

	for (int i = 0; i < RR_INVARIANTS; i++)
		text[i] = breaks >> i & 1 ? letters[i] : '-';
	text[RR_INVARIANTS] = '\0';
}

const char *rr_cell_word(const struct rr_cell *cell, char text[RR_CELL_WORD])
{
	static const char *const words[] = {
		[RR_CELL_UNDONE] = "?",		  [RR_CELL_NONE] = "n/a",
		[RR_CELL_MOST] = "cut",		  [RR_CELL_NO_MUTANT] = "no mutant",
		[RR_CELL_SKIPPED] = "skipped",	  [RR_CELL_FAILED] = "failed",
		[RR_CELL_RANDOM] = "random",
	};
	char number[RR_CELL_WORD];

	if (cell->verdict == RR_CELL_BREAKS) {
		put_letters(text, cell->breaks);
	} else if (cell->verdict == RR_CELL_SAFE) {
		put_short(number, sizeof(number), cell->states);
		snprintf(text, RR_CELL_WORD, "safe %.5s", number);
	} else if (cell->verdict == RR_CELL_ROUNDS) {
		snprintf(text, RR_CELL_WORD, "%d round%s",
			 cell->bounds.rounds % 100, plural(cell));
	} else {
		snprintf(text, RR_CELL_WORD, "%s", words[cell->verdict]);
	}
	return text;
}

const char *rr_cell_text(const struct rr_cell *cell, char *text, size_t size)
{
	static const char *const texts[] = {
		[RR_CELL_UNDONE] = "not done",
		[RR_CELL_NONE] = "n/a",
		[RR_CELL_SAFE] = "safe",
		[RR_CELL_MOST] = "no failure found (not all states)",
		[RR_CELL_RANDOM] = "no failure found (random replies)",
		[RR_CELL_NO_MUTANT] = "no failure found (no mutant is noticed)",
		[RR_CELL_SKIPPED] = "skipped",
		[RR_CELL_FAILED] = "failed",
	};

	if (cell->verdict == RR_CELL_BREAKS)
		return rr_breaks_text(cell->breaks, text, size);
	if (cell->verdict == RR_CELL_ROUNDS)
		snprintf(text, size, "no failure found (%d round%s)",
			 cell->bounds.rounds, plural(cell));
	else
		snprintf(text, size, "%s", texts[cell->verdict]);
	return text;
}

const char *rr_cell_expected(const struct rr_cell *cell, char *text,
			     size_t size)
{
	const unsigned expected = expected_of(cell);

	if (expected & invariants)
		return rr_breaks_text(expected, text, size);
	if (expected & RR_LOOPS)
		snprintf(text, size, "no failure found (%d round%s)",
			 cell->bounds.rounds, plural(cell));
	else
		snprintf(text, size, "%s",
			 cell->verdict == RR_CELL_NONE ? "n/a" : "safe");
	return text;
}

const char *rr_cell_file(const struct rr_cell *cell, char *text, size_t size)
{
	snprintf(text, size, "%s-%s.race", cell->strategy->name,
		 rr_hazard_texts[cell->hazard].name);
	return text;
}
