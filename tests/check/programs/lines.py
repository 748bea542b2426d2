# SPDX-License-Identifier: MIT
# A shop that reads a line for each who wants something, and serves it in a thread of its own.
import sys
import threading
import time

import raw


def serve(line):
    redis = raw.Connection()
    if line == "buy" and int(redis("GET", "stock") or 0) > 0:
        redis("DECR", "stock")
    elif line == "buy-once" and int(redis("DECR", "stock")) < 0:
        redis("INCR", "stock")
    elif line.startswith("set "):
        redis("SET", "x", line)
    elif line == "note-later":
        time.sleep(5)
        redis("INCR", "notes")


while line := sys.stdin.readline().strip():
    threading.Thread(target=serve, args=(line,)).start()
