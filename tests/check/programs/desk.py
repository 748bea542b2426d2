# SPDX-License-Identifier: MIT
"""A shop of one thread and one connection. It reads a line for each who comes: "buy" buys, and
"rest" waits for something else."""

import collections
import os
import select

import raw

redis = raw.Connection()
asked = collections.deque()


def ask(*words):
    redis.send(*words)
    asked.append(words[0])


while True:
    for ready in select.select([0, redis.socket], [], [])[0]:
        if ready == 0:
            for _ in range(os.read(0, 4096).count(b"buy")):
                ask("GET", "stock")
            continue
        number, command = int(redis.read()), asked.popleft()
        if command == "GET" and number > 0:
            ask("DECR", "stock")
