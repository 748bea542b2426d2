# SPDX-License-Identifier: MIT
# Package: kombu 5.2.4
# Is: messages for Python in Redis, which Celery uses
# Lost: A worker returns a message (requeue), and another one takes it before the first one is
#   done, which then deletes the other one's note that it has the message. The message is lost when
#   the other one returns it, too, or crashes.
# Kind: data
# Fixed: 5.3.3
# Link: https://github.com/celery/kombu/issues/1800
# Expected: not serializable, 1
# Options: --setup '/usr/bin/python3 examples/found/kombu-requeue.py send'
# Install: deb:python3-kombu=5.2.4 deb:python3-redis=4.3.4
import os
import queue
import sys

import kombu

with kombu.Connection(os.environ["REDIS_URL"]) as connection:
    jobs = connection.SimpleQueue("jobs")
    if sys.argv[1:] == ["send"]:
        jobs.put("send the bill")
        sys.exit()
    try:
        jobs.get(block=False).requeue()
    except queue.Empty:
        sys.exit(1)
