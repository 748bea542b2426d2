# SPDX-License-Identifier: MIT
# Wrong: WATCH is there, but a transaction that was refused is not done again.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
with db.pipeline(transaction=True) as pipe:
    pipe.watch("likes")
    likes = int(pipe.get("likes") or 0)
    pipe.multi()
    pipe.set("likes", likes + 1)
    try:
        pipe.execute()
    except redis.WatchError:
        pass
