# SPDX-License-Identifier: MIT
# Package: celery 5.2.6
# Is: a queue of tasks for Python
# Lost: A task that was delivered twice is done, and the second worker writes STARTED over
#   SUCCESS: the result is gone, and a client that waits for it waits on.
# Kind: data
# Fixed: not yet
# Link: https://github.com/celery/celery/pull/6090
# Expected: not serializable, 1
# Clients: done started
# Options: --data-only
# Install: deb:python3-celery=5.2.6 deb:python3-redis=4.3.4
import os
import sys

import celery

app = celery.Celery("shop", backend=os.environ["REDIS_URL"])
if sys.argv[1] == "done":
    app.backend.store_result("task-1", 42, "SUCCESS")
else:
    app.backend.store_result("task-1", {"hostname": "worker-2"}, "STARTED")
