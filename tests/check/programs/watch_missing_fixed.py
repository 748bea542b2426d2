# SPDX-License-Identifier: MIT
# Right: WATCH before the account is read, and again if somebody was faster.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
with db.pipeline(transaction=True) as pipe:
    while True:
        try:
            pipe.watch("account:ada")
            ada = int(pipe.get("account:ada"))
            if ada < 30:
                raise SystemExit("not enough")
            pipe.multi()
            pipe.set("account:ada", ada - 30)
            pipe.incrby("account:bob", 30)
            pipe.execute()
            break
        except redis.WatchError:
            continue
