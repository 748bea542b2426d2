# SPDX-License-Identifier: MIT
"""The session with WATCH: whoever was overtaken reads it again.

redrace check --init examples/check/session.redis -- python3 examples/check/session_watch.py
"""
import json
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)


def change(pipe):
    session = json.loads(pipe.get("session:42"))
    session["seen by " + os.environ["REDRACE_CLIENT"]] = True
    pipe.multi()
    pipe.setex("session:42", 3600, json.dumps(session, sort_keys=True))


db.transaction(change, "session:42")
