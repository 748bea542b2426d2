# SPDX-License-Identifier: MIT
"""The counter as one command. Nothing is lost.

redrace check -- python3 examples/check/counter_incr.py
"""
import os

import redis

redis.Redis.from_url(os.environ["REDIS_URL"]).incr("counter")
