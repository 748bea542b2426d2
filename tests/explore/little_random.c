/* SPDX-License-Identifier: MIT */
/* Little programs at random. */
#include <stdio.h>
#include <stdlib.h>

#include "little.h"

/* x, y, z hold replies, modulo 4; t whether a lock was got; v what a cache holds; i, j and k
 * count rounds, by depth; r is a budget of refusals that is never filled again. */
enum { DEPTH = 2 };

struct writer {
	struct rr_random random;
	FILE *file;
	bool waits_for_ever;
};

static void write_block(struct writer *it, int depth);

static int below(struct writer *it, int limit)
{
	return (int)rr_random_below(&it->random, (uint64_t)limit);
}

static char key_of(struct writer *it)
{
	return "abc"[below(it, 3)];
}

static char any_register(struct writer *it)
{
	return "xyz"[below(it, 3)];
}

static char counter_of(int depth)
{
	return "kji"[depth];
}

/* ---- Statements -------------------------------------------------------------------------- */

static void write_get(struct writer *it, int depth)
{
	(void)depth;
	fprintf(it->file, "%c = GET %c; ", any_register(it), key_of(it));
}

static void write_set(struct writer *it, int depth)
{
	const char x = any_register(it);

	(void)depth;
	if (below(it, 5) == 0)
		fprintf(it->file, "SET %c self; ", key_of(it));
	else
		fprintf(it->file, "%c = %c + %d; %c = %c %% 4; SET %c $%c; ", x, any_register(it),
			below(it, 3), x, x, key_of(it), x);
}

static void write_incr(struct writer *it, int depth)
{
	const char x = any_register(it);

	fprintf(it->file, "%c = INCR %c; ", x, key_of(it));
	if (depth > 0 && below(it, 3) == 0) {
		fprintf(it->file, "if %c >= %d ", x, 2 + below(it, 4));
		write_block(it, depth - 1);
	}
	fprintf(it->file, "%c = %c %% 4; ", x, x);
}

static void write_del(struct writer *it, int depth)
{
	(void)depth;
	if (below(it, 2))
		fprintf(it->file, "%c = ", any_register(it));
	fprintf(it->file, "DEL %c; ", key_of(it));
}

static void write_setnx(struct writer *it, int depth)
{
	(void)depth;
	fprintf(it->file, "%c = SETNX %c self; ", any_register(it), key_of(it));
}

static void write_both(struct writer *it, int depth)
{
	(void)depth;
	fprintf(it->file, "both { %c = GET %c; %c = %s %c; } ", any_register(it), key_of(it),
		any_register(it), below(it, 2) ? "GET" : "INCR", key_of(it));
}

static void write_if(struct writer *it, int depth)
{
	static const char *const tests[] = { "== 0", "!= 0", "== 1", "== self", "!= self", ">= 2" };

	if (depth == 0)
		return;
	fprintf(it->file, "if %c %s ", any_register(it), tests[below(it, 6)]);
	write_block(it, depth - 1);
	if (below(it, 3) == 0) {
		fputs("else ", it->file);
		write_block(it, depth - 1);
	}
}

static void write_loop(struct writer *it, int depth)
{
	const char i = counter_of(depth);

	if (depth == 0)
		return;
	fprintf(it->file, "%c = 0; while %c < %d { %c = %c + 1; if %c != 9 ", i, i,
		2 + below(it, 2), i, i, i);
	write_block(it, depth - 1);
	fputs("} ", it->file);
}

/* Asks for a lock until it is got, or it gives up; the lock is for a block. */
static void write_taking(struct writer *it, int depth, char key)
{
	fprintf(it->file, "t = SETNX l%c self; if t == 1 { if t == 1 ", key);
	write_block(it, depth - 1);
	fprintf(it->file, below(it, 2) ? "CAD l%c self; break; } " : "DEL l%c; break; } ", key);
}

static void write_wait(struct writer *it, int depth)
{
	const char i = counter_of(depth);

	if (depth == 0)
		return;
	if (it->waits_for_ever)
		fputs("while 0 == 0 { ", it->file);
	else
		fprintf(it->file, "%c = 0; while %c < %d { %c = %c + 1; ", i, i, 2 + below(it, 4),
			i, i);
	write_taking(it, depth, key_of(it));
	fputs("} ", it->file);
}

static void write_budget(struct writer *it, int depth)
{
	if (depth == 0)
		return;
	fprintf(it->file, "while r < %d { ", 2 + below(it, 3));
	write_taking(it, depth, key_of(it));
	fputs("r = r + 1; } ", it->file);
}

/* What was read before waiting is kept, if that was long enough. */
static void write_cache(struct writer *it, int depth)
{
	const char key = key_of(it), i = counter_of(depth);
	const int rounds = 3 + below(it, 3);

	if (depth == 0)
		return;
	fprintf(it->file, "v = GET %c; %c = 0; while %c < %d { ", key, i, i, rounds);
	fprintf(it->file, "t = SETNX l self; if t == 1 { break; } %c = %c + 1; } ", i, i);
	fprintf(it->file, "if %c < %d { v = GET %c; } ", i, 1 + below(it, rounds), key);
	fprintf(it->file, "v = v + 1; v = v %% 4; SET %c $v; CAD l self; ", key);
}

/* What it was refused is counted, and matters at the end, by a remainder. */
static void write_remainder(struct writer *it, int depth)
{
	const char i = counter_of(depth);

	if (depth == 0)
		return;
	fprintf(it->file, "x = 0; %c = 0; while %c < %d { %c = %c + 1; ", i, i, 3 + below(it, 2), i,
		i);
	fputs("t = SETNX l self; if t == 0 { x = x + 1; } else { DEL l; } } ", it->file);
	fprintf(it->file, "x = x %% %d; if x == 1 { SET alarm self; } ", 2 + below(it, 2));
}

static void write_statement(struct writer *it, int depth)
{
	static void (*const statements[])(struct writer *, int) = {
		write_get,  write_get,  write_get,    write_set,   write_set,
		write_set,  write_incr, write_incr,   write_del,   write_setnx,
		write_both, write_if,   write_if,     write_loop,  write_wait,
		write_wait, write_wait, write_budget, write_cache, write_remainder,
	};

	statements[below(it, (int)(sizeof(statements) / sizeof(statements[0])))](it, depth);
}

static void write_block(struct writer *it, int depth)
{
	fputs("{ ", it->file);
	for (int i = 1 + below(it, depth + 1); i > 0; i--)
		write_statement(it, depth);
	fputs("} ", it->file);
}

/* ---- Programs -------------------------------------------------------------------------------- */

static char *write_program(uint64_t seed, int depth, bool waits_for_ever)
{
	struct writer it = { .random = { seed }, .waits_for_ever = waits_for_ever };
	char *text;
	size_t size;

	it.file = open_memstream(&text, &size);
	cr_assert_not_null(it.file);
	for (int i = 2 + below(&it, 2); i > 0; i--)
		write_statement(&it, depth);
	if (below(&it, 3) == 0)
		fputs("print x; print y; print z; ", it.file);
	fclose(it.file);
	return text;
}

void little_random(uint64_t seed, struct little_case *it)
{
	struct rr_random random = { seed };
	const size_t n = rr_random_below(&random, 6) == 0 ? 3 : 2;
	const bool are_equal = rr_random_below(&random, 2);
	const bool waits_for_ever = rr_random_below(&random, 8) == 0;
	const uint64_t first = rr_random_next(&random);

	*it = (struct little_case){ .name = "random",
				    .rounds = waits_for_ever ? 4 : 0,
				    .may_be_cut = true };
	for (size_t i = 0; i < n; i++)
		it->texts[i] = write_program(are_equal ? first : first + i, n == 3 ? 1 : DEPTH,
					     waits_for_ever);
}
