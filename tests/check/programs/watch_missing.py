# SPDX-License-Identifier: MIT
# Wrong: MULTI and EXEC do not help what was read before, without WATCH.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
ada = int(db.get("account:ada"))
if ada < 30:
    raise SystemExit("not enough")
with db.pipeline(transaction=True) as pipe:
    pipe.set("account:ada", ada - 30)
    pipe.incrby("account:bob", 30)
    pipe.execute()
