# SPDX-License-Identifier: MIT
# Package: redis-py 4.3.4
# Is: the Redis client of Python, here its Lock
# Held: No other client is in the critical section, and no increment is lost, also if one crashes.
# Link: https://github.com/redis/redis-py
# Expected: serializable, 0
# Options: --crashes 1
# Install: deb:python3-redis=4.3.4
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"])
with db.lock("account-lock", timeout=10):
    db.echo("redrace:enter")
    db.set("balance", int(db.get("balance") or 0) + 1)
    db.echo("redrace:leave")
