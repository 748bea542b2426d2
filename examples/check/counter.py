# SPDX-License-Identifier: MIT
"""The documents' counter: read, add one, write. Two of these lose an update.

redrace check -- python3 examples/check/counter.py
"""
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"])
value = int(db.get("counter") or 0)
db.set("counter", value + 1)
