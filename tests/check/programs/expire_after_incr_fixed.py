# SPDX-License-Identifier: MIT
# Right: SET NX EX and INCR are one transaction, and there is no key without an end.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
with db.pipeline(transaction=True) as pipe:
    pipe.set("hits:ada", 0, nx=True, ex=60)
    pipe.incr("hits:ada")
    hits = pipe.execute()[1]
if hits > 5:
    raise SystemExit("429 Too Many Requests")
