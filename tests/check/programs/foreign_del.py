# SPDX-License-Identifier: MIT
# Wrong: work that is longer than the lease ends with a DEL of a lock that is another's.
import os
import sys
import uuid

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
token = str(uuid.uuid4())
if sys.argv[1] == "buy":  # keeps it
    if not db.set("lock:site", token, nx=True):
        sys.exit("locked")
else:
    if not db.set("lock:site", token, nx=True, px=5000):
        sys.exit("locked")
    db.incr("deploys")
    db.delete("lock:site")
