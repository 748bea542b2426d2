/* SPDX-License-Identifier: MIT */
/* Claims about a cache that several clients refresh, and the lock around that. */
#include "claims_tables.h"

const struct rr_claim rr_claims_cache[] = {
	{ .id = "CA-1",
	  .text = "Without a lock, all clients that miss an entry of a cache compute it",
	  .where = "004:28, 004:34-44",
	  .derived = true },
	{ .id = "CA-2",
	  .text = "With a lock, one of the clients that miss an entry computes it",
	  .where = "004:33-40",
	  .verdict = RR_CLAIM_TRUE_IF,
	  .remark = "the client that gets the lock looks into the cache again" },
	{ .id = "CA-3",
	  .text = "When the holder dies, a lock without a lease ends all updates of the cache",
	  .where = "004:28" },
	{ .id = "CA-4",
	  .text = "An update of the cache that outlives its lease puts an old value over a new one",
	  .where = "004:44-53",
	  .derived = true },
	{ .id = "CA-5",
	  .text = "A cache that refuses older versions keeps the new value, though updates overlap",
	  .where = "004:44-53",
	  .derived = true },
};
const size_t rr_n_claims_cache = sizeof(rr_claims_cache) / sizeof(rr_claims_cache[0]);
