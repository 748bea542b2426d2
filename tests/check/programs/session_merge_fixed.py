# SPDX-License-Identifier: MIT
# Right: a session is a hash, and each request writes its own field.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
with db.pipeline(transaction=True) as pipe:
    pipe.hset("session:7", "page of " + os.environ["REDRACE_CLIENT"], "/basket")
    pipe.expire("session:7", 1800)
    pipe.execute()
