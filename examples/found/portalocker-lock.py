# SPDX-License-Identifier: MIT
# Package: portalocker 2.2.1
# Is: locks for Python, here its RedisLock, whose holder is who subscribes to a channel
# Lost: Two hold the lock at once: whoever has sent SUBSCRIBE on one connection, which is still
#   under way, counts the subscribers on another, sees the other one alone, and takes that for itself.
# Fixed: 4.1.1
# Link: https://github.com/wolph/portalocker/issues/139
# Expected: not serializable, 1
# Install: deb:python3-portalocker=2.2.1 deb:python3-redis=4.3.4
import os
import sys

import portalocker
import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"])
lock = portalocker.RedisLock("account-lock", db, timeout=0, fail_when_locked=True)

try:
    with lock:
        db.set("balance", int(db.get("balance") or 0) + 1)
except portalocker.AlreadyLocked:
    sys.exit(1)
