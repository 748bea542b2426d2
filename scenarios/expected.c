/* SPDX-License-Identifier: MIT */
/*
 * What each strategy breaks, as the safety matrix writes it: C the count, E exclusion, L the
 * lease, O ownership; D deadlocks, S starves; R is that nothing breaks in the rounds of refused
 * clients that are searched, 0 that it is safe. A strategy that breaks more, or less, is not as
 * expected.
 */
#include "expected.h"

#include <string.h>

enum {
	C = RR_BREAKS_COUNT,
	E = RR_BREAKS_EXCLUSION,
	L = RR_BREAKS_LEASE,
	O = RR_BREAKS_OWNERSHIP,
	D = RR_DEADLOCKS,
	S = RR_STARVES,
	CE = C | E,
	CEL = CE | L,
	CEO = CE | O,
	CELO = CEL | O,
	CD = C | D,
	CS = C | S,
	R = RR_LOOPS,
};

/* clang-format off */

/* A stalled loser writes an older end over the winner's (GS-4): a dead lock, two that find
 * it, and one of them again. */
#define STALLED_LOSER { .hazards = 1U << RR_PAUSE, .crashes = 1, .shows = L }

/* With faults: two majorities of three are as good as of five. */
#define THREE_SERVERS \
	{ .hazards = RR_ALL_HAZARDS, .clients = 2, .lock_servers = 3, .increments = 1 }
#define FIVE_SERVERS { .hazards = 1U << RR_THREADS, .lock_servers = 5 }
#define THREE_PROCESSES { .hazards = 1U << RR_PROCESSES, .clients = 3 }

/* Clients that are refused count up: there is no end to it. */
#define ONE_INCREMENT { .hazards = 1U << RR_SLOW_WORK, .increments = 1 }

/* Each number of a fence, and each message that wakes a waiter, is another server state. */
#define TWO_CLIENTS_ONE_INCREMENT { .hazards = 1U << RR_SLOW_WORK, .clients = 2, .increments = 1 }
#define TWO_CLIENTS { .hazards = 1U << RR_CRASH | 1U << RR_PAUSE, .clients = 2 }

/* A reader that is slow, or has no answer, is a state for each of three; two show the same. */
#define TWO_READERS { .hazards = 1U << RR_PAUSE | 1U << RR_LOST_REPLY, .clients = 2 }

/* A renewal that comes too late changes the next holder's lease, which shows when half of that is
 * over. */
#define TWO_PAUSES { .hazards = 1U << RR_PAUSE, .pauses = 2 }

/* In the order of strategies.c. The lease of incr-lock-all, setnx-expire-all and setnx-expire-multi
 * grows while the work is slow: others extend it. */
const struct rr_expected_row rr_expected_rows[] = {
	/*                                   threads     crash       pause       restart
	 *                                         processes   slow work   lost reply  skew */
	{ .name = "none",                 { C,    C,    C,    C,    C,    C,    0,    C    } },
	{ .name = "local-mutex",          { 0,    CE,   0,    0,    0,    C,    0,    0    } },
	{ .name = "local-mutex-per-op",   { C,    C,    C,    C,    C,    C,    0,    C    } },
	{ .name = "setnx",                { 0,    0,    D,    0,    0,    CD,   0,    0    } },
	{ .name = "setnx-expire",         { 0,    0,    D,    CELO, CELO, CD,   0,    CELO } },
	{ .name = "setnx-expire-all",     { 0,    0,    S,    O,    CELO, CS,   0,    CELO } },
	{ .name = "setnx-expire-multi",   { 0,    0,    S,    O,    CELO, CS,   0,    CELO } },
	{ .name = "setnx-del-takeover",   { 0,    0,    CELO, CELO, CELO, CELO, 0,    CELO } },
	{ .name = "setnx-getset",         { 0,    0,    0,    CELO, CELO, C,    0,    CELO },
	  { STALLED_LOSER } },
	{ .name = "setnx-getset-checked", { 0,    0,    0,    CE,   CELO, C,    0,    CELO },
	  { STALLED_LOSER } },
	{ .name = "watch-getset",         { 0,    0,    0,    CELO, CELO, C,    0,    CELO } },
	{ .name = "incr-lock",            { R,    R,    S,    CEO,  CELO, CS,   0,    CELO },
	  { ONE_INCREMENT } },
	{ .name = "incr-lock-all",        { R,    R,    S,    O,    CELO, CS,   0,    CELO },
	  { ONE_INCREMENT } },
	{ .name = "set-nx-ex",            { 0,    0,    0,    CELO, CELO, C,    0,    CELO } },
	{ .name = "get-compare-del",      { 0,    0,    0,    CE,   CELO, C,    0,    CELO } },
	{ .name = "lua-delifequals",      { 0,    0,    0,    CE,   CE,   C,    0,    CEL  } },
	{ .name = "lua-library",          { 0,    0,    0,    CE,   CE,   C,    0,    CEL  } },
	{ .name = "semaphore-lease",      { 0,    0,    0,    CE,   CE,   C,    0,    CEL  } },
	{ .name = "rwlock",               { 0,    0,    0,    CE,   CE,   C,    0,    CEL  },
	  { TWO_READERS } },
	{ .name = "lua-pipelined",        { 0,    0,    0,    CE,   CEL,  C,    0,    CEL  } },
	{ .name = "lua-renewed",          { 0,    0,    0,    0,    CE,   C,    0,    CEL  } },
	{ .name = "native-cad",           { 0,    0,    0,    CE,   CE,   C,    0,    CEL  } },
	{ .name = "fenced",               { 0,    0,    0,    R,    0,    C,    0,    0    },
	  { TWO_CLIENTS_ONE_INCREMENT } },
	{ .name = "fair-queue",           { 0,    0,    0,    CE,   CE,   C,    0,    CEL  },
	  { TWO_CLIENTS, TWO_CLIENTS_ONE_INCREMENT } },
	{ .name = "reentrant-naive",      { 0,    0,    0,    CELO, CELO, C,    0,    CELO } },
	{ .name = "reentrant",            { 0,    0,    0,    CE,   CE,   C,    0,    CEL  },
	  { TWO_PAUSES } },
	{ .name = "multi",                { C,    C,    C,    C,    C,    C,    0,    C    } },
	{ .name = "multi-watch-split",    { C,    C,    C,    C,    C,    C,    0,    C    } },
	{ .name = "multi-watch",          { 0,    0,    0,    0,    0,    C,    0,    0    } },
	{ .name = "watch-library",        { 0,    0,    0,    0,    0,    C,    0,    0    } },
	{ .name = "lua-incr",             { 0,    0,    0,    0,    0,    C,    0,    0    } },
	{ .name = "incr",                 { 0,    0,    0,    0,    0,    C,    0,    0    } },
	{ .name = "redlock",              { 0,    0,    0,    CE,   CE,   C,    CEL,  CEL  },
	  { THREE_SERVERS, FIVE_SERVERS, THREE_PROCESSES } },
	{ .name = "redlock-parallel",     { 0,    0,    0,    CE,   CE,   C,    CEL,  CEL  },
	  { THREE_SERVERS, FIVE_SERVERS, THREE_PROCESSES } },
	{ .name = "redlock-covering",     { 0,    0,    0,    0,    CE,   C,    CEL,  CEL  },
	  { THREE_SERVERS, THREE_PROCESSES } },
};
/* clang-format on */

const size_t rr_n_expected_rows = sizeof(rr_expected_rows) / sizeof(rr_expected_rows[0]);

const struct rr_expected_row *rr_expected_row(const struct rr_strategy *strategy)
{
	static const struct rr_expected_row safe = { 0 };

	for (size_t i = 0; i < rr_n_expected_rows; i++) {
		if (strcmp(rr_expected_rows[i].name, strategy->name) == 0)
			return &rr_expected_rows[i];
	}
	return &safe;
}

/* ---- In words -------------------------------------------------------------- */

enum rr_promise rr_promise(const struct rr_strategy *strategy, enum rr_hazard hazard)
{
	return rr_expected_row(strategy)->breaks[hazard] & C ? RR_LOSSY : RR_EXACT;
}

bool rr_survives_faults(const struct rr_strategy *strategy)
{
	const struct rr_expected_row *expected = rr_expected_row(strategy);

	for (int i = RR_CRASH; i < RR_HAZARDS; i++) {
		if (i != RR_LOST_REPLY && expected->breaks[i] & ~(unsigned)R)
			return false;
	}
	return true;
}

const char *rr_expectation(const struct rr_strategy *strategy)
{
	if (rr_promise(strategy, RR_THREADS) == RR_LOSSY)
		return "lossy";
	if (rr_promise(strategy, RR_PROCESSES) == RR_LOSSY)
		return "exact within one process, lossy over several";
	if (!rr_survives_faults(strategy))
		return "exact without faults";
	return "exact";
}
