# SPDX-License-Identifier: MIT
"""A worker that takes jobs of a queue, the addresses of those who are to be welcomed, once each.

What is being worked on stands in a list of its own until it is done (BLMOVE, LREM). With the
argument `looks` it looks whether somebody has had his mail, and writes that down then: two workers
with the same address both find nothing, and send it twice. With `marks` SADD says who is first."""
import os
import sys

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)


def is_first(address):
    if sys.argv[1] == "marks":
        return db.sadd("welcomed", address) == 1
    if db.sismember("welcomed", address):
        return False
    db.sadd("welcomed", address)
    return True


while True:
    address = db.blmove("welcome", "under way", 0, "RIGHT", "LEFT")
    if is_first(address):
        db.rpush("mails", address)
    db.lrem("under way", 1, address)
