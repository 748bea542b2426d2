/* SPDX-License-Identifier: MIT */
/* Little programs that are hard to learn: what they do depends on much that they have
 * heard long before. */
#include <string.h>

#include "little.h"

#define FOR "i = 0; while i < "
#define TIMES " { i = i + 1; "
#define FOR_EVER "while 0 == 0 { "
#define ASK "t = SETNX lock self; "
#define ASK_UNTIL_GOT FOR_EVER ASK "if t == 1 { break; } "
#define ADD "v = GET c; v = v + 1; SET c $v; "
#define FLIP "v = GET c; v = v + 1; v = v % 2; SET c $v; "
#define UNLOCK "CAD lock self; "

/* Waits for ever. */
#define LOCK ASK_UNTIL_GOT "} " ADD UNLOCK

/* Those that were let in while the limit was not reached leave something. */
#define LIMITER(above) \
	"n = INCR hits; if n < " above " { SET self 1; print 1; } else { print 429; } "
#define BURST(n) FOR n TIMES "INCR hits; } "

/* Refused so often, it goes without the lock. */
#define BREAKER(refusals, attempts)                               \
	"f = 0; " FOR attempts TIMES "if f < " refusals " { " ASK \
	"if t == 0 { f = f + 1; } else { " ADD UNLOCK "} } "      \
	"else { " ADD "} } "

/* All attempts share the refusals that are let pass; then it goes without the lock. */
#define BUDGET(refusals, attempts)                                      \
	"l = " refusals "; " FOR attempts TIMES "g = 1; " ASK_UNTIL_GOT \
	"l = l - 1; if l < 1 { g = 0; break; } } " ADD "if g == 1 { " UNLOCK "} } "

/* What was read before waiting is kept, behind so many refusals. */
#define CACHE(refusals)                                                            \
	"v = GET c; n = 0; " ASK_UNTIL_GOT "if n < " refusals " { n = n + 1; } } " \
	"if n < " refusals " { v = GET c; } v = v + 1; SET c $v; " UNLOCK

/* The same behind every Nth refusal. */
#define REMAINING_CACHE(refusals)                                                              \
	"v = GET c; n = 0; z = 0; " ASK_UNTIL_GOT "z = 1; n = n + 1; n = n % " refusals "; } " \
	"if n != 0 { v = GET c; } else { if z == 0 { v = GET c; } } "                          \
	"v = v + 1; SET c $v; " UNLOCK

/* Has no end of its own; every Nth time it cleans up, wrongly. */
#define WORKER(times)                                                \
	"n = 0; " FOR_EVER "s = GET stop; if s == 1 { break; } " ASK \
	"if t == 1 { n = n + 1; n = n % " times "; " FLIP UNLOCK "if n == 0 { DEL lock; } } } "
#define STOPPER ASK_UNTIL_GOT "} " FLIP UNLOCK "SET stop 1; "

/* Refused so often in a row, it writes what it has counted itself. */
#define EJECT(refusals, attempts)                                                  \
	"f = 0; l = 0; " FOR attempts TIMES "if f >= " refusals                    \
	" { m = l + 1; SET c $m; f = 0; } else { " ASK "if t == 0 { f = f + 1; } " \
	"else { f = 0; l = GET c; l = l + 1; SET c $l; " UNLOCK "} } } "

/* How often it was refused matters at the end, by a remainder. */
#define REMAINDER(n, last, attempts)                                                      \
	"s = 0; " FOR attempts TIMES ASK "if t == 0 { s = s + 1; } else { " UNLOCK "} } " \
	"s = s % " n "; if s == " last " { SET alarm self; } "

/* Takes the lock from its holder. */
#define FORCE(refusals)                                        \
	"n = 0; " ASK_UNTIL_GOT "n = n + 1; if n >= " refusals \
	" { SET lock self; break; } } " ADD UNLOCK

/* Refused twice in its first attempt, it does without asking in its third. */
#define GRUDGE                                                              \
	"g = 0; n = 0; while n < 4 { n = n + 1; " ASK "if t == 1 { " UNLOCK \
	"break; } if n == 2 { g = 1; } } " ASK "if t == 1 { " UNLOCK "} "   \
	"if g == 1 { SET lock self; } else { " ASK "if t == 1 { " UNLOCK "} } "

/* So many times, and once more. */
#define LAST_BEHIND(n) FOR n TIMES "INCR n; } x = INCR n; print x; "

#define TWICE(...)                       \
	{                                \
		__VA_ARGS__, __VA_ARGS__ \
	}
#define THRICE(...)                                   \
	{                                             \
		__VA_ARGS__, __VA_ARGS__, __VA_ARGS__ \
	}

const struct little_case little_named[] = {
	{ .name = "lock, 2 clients", .texts = TWICE(LOCK) },
	{ .name = "lock, 3 clients", .texts = THRICE(LOCK) },
	{ .name = "limiter 3", .texts = { LIMITER("4"), "INCR hits; INCR hits; INCR hits; " } },
	{ .name = "limiter 10, burst 12", .texts = { LIMITER("11"), BURST("12") } },
	{ .name = "2 limiters 10, burst 12",
	  .texts = { LIMITER("11"), LIMITER("11"), BURST("12") } },
	{ .name = "breaker 2 of 3", .texts = TWICE(BREAKER("2", "3")) },
	{ .name = "breaker 3 of 7", .texts = TWICE(BREAKER("3", "7")) },
	{ .name = "budget 3 of 2", .texts = TWICE(BUDGET("3", "2")) },
	{ .name = "budget 6 of 2", .texts = TWICE(BUDGET("6", "2")) },
	{ .name = "cache 5", .texts = TWICE(CACHE("5")) },
	{ .name = "cache 12", .texts = TWICE(CACHE("12")) },
	{ .name = "cache 40", .texts = TWICE(CACHE("40")) },
	{ .name = "tenth", .texts = TWICE(REMAINING_CACHE("10")) },
	{ .name = "worker 2, stopper", .texts = { WORKER("2"), STOPPER } },
	{ .name = "worker 3, stopper", .texts = { WORKER("3"), STOPPER } },
	{ .name = "eject 2 of 5", .texts = TWICE(EJECT("2", "5")) },
	{ .name = "remainder 2 of 5", .texts = TWICE(REMAINDER("2", "1", "5")) },
	{ .name = "remainder 3 of 5", .texts = TWICE(REMAINDER("3", "2", "5")) },
	{ .name = "remainder 4 of 6", .texts = TWICE(REMAINDER("4", "3", "6")) },
	{ .name = "force 5", .texts = TWICE(FORCE("5")) },
	{ .name = "force 7", .texts = TWICE(FORCE("7")) },
	{ .name = "force 20", .texts = TWICE(FORCE("20")) },
	{ .name = "force 50", .texts = TWICE(FORCE("50")) },
	{ .name = "grudge", .texts = TWICE(GRUDGE) },
	{ .name = "20 INCR", .texts = TWICE(LAST_BEHIND("19")) },
	{ .name = "100 INCR", .texts = TWICE(LAST_BEHIND("99")) },
	{ .name = "late use",
	  .texts = TWICE("v = GET c; x = GET d; x = x + 1; SET d $x; v = v + 1; SET c $v; ") },
	{ .name = "used if refused",
	  .texts = { "x = GET a; t = SETNX lock self; if t == 0 { print x; } ",
		     "SET a 1; SET lock self; " } },
	{ .name = "5 times GET, SET", .texts = TWICE(FOR "5" TIMES ADD "} ") },
	{ .name = "said behind a lock",
	  .texts = THRICE("y = SETNX a self; " ASK_UNTIL_GOT "} DEL lock; print y; ") },
	{ .name = "winner", .texts = TWICE("SET winner self; ") },
	{ .name = "own again",
	  .texts = TWICE("SETNX k self; v = GET k; if v == self { INCR won; } print v; ") },
	{ .name = "names of others",
	  .texts = THRICE("v = GET k; SET k self; if v != self { SET seen $v; } print v; ") },
	{ .name = "two connections",
	  .texts = { "both { x = GET a; y = INCR b; } z = x + y; SET c $z; ",
		     "INCR a; INCR b; " } },
};
const size_t n_little_named = sizeof(little_named) / sizeof(little_named[0]);

const struct little_case *little_find(const char *name)
{
	for (size_t i = 0; i < n_little_named; i++) {
		if (strcmp(little_named[i].name, name) == 0)
			return &little_named[i];
	}
	cr_assert_fail("there is no '%s'", name);
	return NULL;
}
