# SPDX-License-Identifier: MIT
# Package: limits 2.8.0
# Is: the rate limits of Flask-Limiter
# Held: Each request counts, and the count has a lease, also if one crashes.
# Link: https://github.com/alisaifee/limits
# Expected: serializable, 0
# Options: --crashes 1
# Install: deb:python3-limits=2.8.0 deb:python3-redis=4.3.4
import os

import limits

storage = limits.storage.RedisStorage(os.environ["REDIS_URL"])
limiter = limits.strategies.FixedWindowRateLimiter(storage)
print("welcome" if limiter.hit(limits.parse("1/minute"), "ada") else "too many requests")
