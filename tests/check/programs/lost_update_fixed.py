# SPDX-License-Identifier: MIT
# Right: one command takes a book, and gives it back if there was none.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
stock = db.decr("stock:book")
if stock < 0:
    db.incr("stock:book")
    raise SystemExit("sold out")
print("sold, %d left" % stock)
