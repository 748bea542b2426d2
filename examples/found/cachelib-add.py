# SPDX-License-Identifier: MIT
# Package: cachelib 0.9.0
# Is: the caches of Flask and Werkzeug
# Lost: A program that crashes within `add` leaves a value without TTL: a lock made of it is never
#   free again.
# Kind: leftover
# Fixed: not yet
# Link: https://github.com/pallets-eco/cachelib
# Expected: not serializable, 1
# Options: --clients 1 --crashes 1
# Install: deb:python3-cachelib=0.9.0 deb:python3-redis=4.3.4
import os

import cachelib
import redis

cache = cachelib.RedisCache(redis.Redis.from_url(os.environ["REDIS_URL"]))
print("mine" if cache.add("nightly-report", 1, timeout=60) else "somebody else's")
