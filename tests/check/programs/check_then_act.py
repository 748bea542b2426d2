# SPDX-License-Identifier: MIT
# Wrong: between EXISTS and SET another request may redeem the same coupon.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
if db.exists("coupon:SPRING"):
    print("already redeemed")
else:
    db.set("coupon:SPRING", "redeemed")
    db.incrby("balance:ada", 10)
