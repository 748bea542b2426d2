# SPDX-License-Identifier: MIT
# Right: SET NX looks and writes in one command.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
if db.set("coupon:SPRING", "redeemed", nx=True):
    db.incrby("balance:ada", 10)
else:
    print("already redeemed")
