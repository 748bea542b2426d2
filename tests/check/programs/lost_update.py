# SPDX-License-Identifier: MIT
# Wrong: the stock is read and written back in two commands, and sales in between are lost.
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
stock = int(db.get("stock:book"))
if stock < 1:
    raise SystemExit("sold out")
db.set("stock:book", stock - 1)
print("sold, %d left" % (stock - 1))
