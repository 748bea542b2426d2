# SPDX-License-Identifier: MIT
"""A worker that makes reports, of names that it takes from a queue.

With the argument `pops` a name is gone from Redis while its report is made: who crashes then loses
it. With `keeps` it stands in a list until its report is there, and a worker that starts makes first
what is left there. A report that is made twice is the same."""
import os
import sys

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)


def make(name):
    db.hset("reports", name, f"all of {name}")
    db.lrem("being made", 1, name)


if sys.argv[1] == "pops":
    while True:
        make(db.brpop("wanted")[1])
for left in db.lrange("being made", 0, -1):
    make(left)
while True:
    make(db.blmove("wanted", "being made", 0, "RIGHT", "LEFT"))
