# SPDX-License-Identifier: MIT
# Package: dogpile.cache 1.1.8
# Is: a cache for Python whose values are made by one while the others wait
# Held: The report is made once, and everybody has it.
# Link: https://github.com/sqlalchemy/dogpile.cache
# Expected: serializable, 0
# Install: deb:python3-dogpile.cache=1.1.8 deb:python3-redis=4.3.4
import os

import redis
from dogpile.cache import make_region

db = redis.Redis.from_url(os.environ["REDIS_URL"])
region = make_region().configure(
    "dogpile.cache.redis", arguments={"url": os.environ["REDIS_URL"], "distributed_lock": True})
print(region.get_or_create("report", lambda: db.incr("times-the-report-was-made")))
