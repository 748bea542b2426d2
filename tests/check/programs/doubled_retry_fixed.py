# SPDX-License-Identifier: MIT
# Right: the payment has a number, and a set keeps each number once.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
for attempt in range(3):
    try:
        db.sadd("payments", os.environ["REDRACE_CLIENT"])
        break
    except redis.ConnectionError:
        continue
else:
    raise SystemExit("no connection")
