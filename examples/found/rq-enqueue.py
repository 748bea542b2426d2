# SPDX-License-Identifier: MIT
# Package: rq 1.13.0
# Is: a queue of jobs for Python
# Held: Jobs that are enqueued concurrently are both in the queue, with their data.
# Link: https://github.com/rq/rq
# Expected: serializable, 0
# Install: deb:python3-rq=1.13.0 deb:python3-redis=4.3.4
import os

import redis
import rq

queue = rq.Queue("mail", connection=redis.Redis.from_url(os.environ["REDIS_URL"]))
queue.enqueue("mailer.welcome", os.environ["REDRACE_CLIENT"])
