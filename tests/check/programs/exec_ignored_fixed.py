# SPDX-License-Identifier: MIT
# Right: a transaction that was refused is done again.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)


def like(pipe):
    likes = int(pipe.get("likes") or 0)
    pipe.multi()
    pipe.set("likes", likes + 1)


db.transaction(like, "likes")
