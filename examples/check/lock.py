# SPDX-License-Identifier: MIT
"""The counter under redis-py's own lock, whose lease is long enough.

redrace check --crashes 1 -- python3 examples/check/lock.py
"""
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"])
with db.lock("lock", timeout=10):
    db.echo("redrace:enter")
    value = int(db.get("counter") or 0)
    db.set("counter", value + 1)
    db.echo("redrace:leave")
