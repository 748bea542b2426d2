# SPDX-License-Identifier: MIT
# Package: portalocker 2.2.1
# Is: locks for Python, here its RedisLock, whose holder is who subscribes to a channel
# Lost: Two clients hold the lock: each has sent SUBSCRIBE on one connection and counts the
#   subscribers on another before the SUBSCRIBE has arrived; it sees one subscriber and believes
#   that it is itself.
# Kind: twice
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
