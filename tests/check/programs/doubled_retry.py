# SPDX-License-Identifier: MIT
# Wrong: a payment whose reply is lost is made again, and counts twice.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
for attempt in range(3):
    try:
        db.incrby("balance", 10)
        break
    except redis.ConnectionError:
        continue
else:
    raise SystemExit("no connection")
