# SPDX-License-Identifier: MIT
"""The same lock, but the work may take longer than the lease.

redrace check --expiries 1 -- python3 examples/check/lock_short.py
"""
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"])
with db.lock("lock", timeout=1):
    db.echo("redrace:enter")
    value = int(db.get("counter") or 0)
    db.set("counter", value + 1)
    db.echo("redrace:leave")
