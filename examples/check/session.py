# SPDX-License-Identifier: MIT
"""A web session as one JSON value: each request reads all of it, changes its part, and
writes all of it. Of two requests at once, one change is lost.

redrace check --init examples/check/session.redis -- python3 examples/check/session.py
"""
import json
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
session = json.loads(db.get("session:42"))
session["seen by " + os.environ["REDRACE_CLIENT"]] = True
db.setex("session:42", 3600, json.dumps(session, sort_keys=True))
