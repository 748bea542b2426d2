# SPDX-License-Identifier: MIT
# Wrong: the whole session is read and written back, with what others changed before.
import json
import os

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
session = json.loads(db.get("session:7") or "{}")
session["page of " + os.environ["REDRACE_CLIENT"]] = "/basket"
db.set("session:7", json.dumps(session, sort_keys=True), ex=1800)
