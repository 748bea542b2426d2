# SPDX-License-Identifier: MIT
# Wrong: who crashes between INCR and EXPIRE leaves a limit that never ends.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
hits = db.incr("hits:ada")
if hits == 1:
    db.expire("hits:ada", 60)
if hits > 5:
    raise SystemExit("429 Too Many Requests")
