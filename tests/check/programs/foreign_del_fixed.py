# SPDX-License-Identifier: MIT
# Right: a script, by EVALSHA, deletes the lock only if it is one's own.
import os
import sys
import uuid

import redis

db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
release = db.register_script("""
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0""")
token = str(uuid.uuid4())
if sys.argv[1] == "buy":  # keeps it
    if not db.set("lock:site", token, nx=True):
        sys.exit("locked")
else:
    if not db.set("lock:site", token, nx=True, px=5000):
        sys.exit("locked")
    db.incr("deploys")
    release(keys=["lock:site"], args=[token])
