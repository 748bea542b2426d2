# SPDX-License-Identifier: MIT
"""The peer redis-py: its Lock, one object and one connection per client.

Clients are threads: measured beside processes they were as fast with one and
two clients and a tenth faster with eight. The pause between two attempts was
the best of 0.4, 1, 2 and 5 ms; the parser in C (python3-hiredis) made no
difference.
"""
import json
import platform
import sys
import threading
import time

import redis
from redis.lock import Lock

TTL_S = 10
RETRY_S = 0.005


def connect(socket):
    return redis.Redis(unix_socket_path=socket, single_connection_client=True)


def make_lock(link, key):
    return Lock(link, key, timeout=TTL_S, sleep=RETRY_S, thread_local=False)


def increments(link, lock, counter, n):
    for _ in range(n):
        lock.acquire()
        link.set(counter, int(link.get(counter) or 0) + 1)
        lock.release()


class Client(threading.Thread):
    """One client; `times` is when its measured part began and ended."""

    def __init__(self, shares, counter, key, socket, gate):
        super().__init__()
        self.shares = shares
        self.names = (counter, key, socket)
        self.gate = gate
        self.times = None
        self.error = None

    def count(self):
        counter, key, socket = self.names
        link = connect(socket)
        lock = make_lock(link, key)
        warmup, measured = self.shares
        increments(link, lock, counter, warmup)
        self.gate.wait()
        began = time.monotonic()
        increments(link, lock, counter, measured)
        self.times = (began, time.monotonic())

    def run(self):
        try:
            self.count()
        except Exception as error:  # told by the main thread
            self.error = error
            self.gate.abort()


def share(total, n, i):
    return total // n + (i < total % n)


def count(clients, total, warmup, counter, key, socket):
    n, total, warmup = int(clients), int(total), int(warmup)
    gate = threading.Barrier(n)
    threads = [
        Client((share(warmup, n, i), share(total, n, i)), counter, key, socket,
               gate)
        for i in range(n)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    errors = [thread.error for thread in threads if thread.error]
    errors.sort(key=lambda e: isinstance(e, threading.BrokenBarrierError))
    if errors:
        raise errors[0]
    began = min(thread.times[0] for thread in threads)
    ended = max(thread.times[1] for thread in threads)
    final = int(connect(socket).get(counter))
    say(increments_per_s=total / (ended - began), final=final)


def hold(key, socket):
    lock = make_lock(connect(socket), key)
    acquired = lock.acquire(blocking=False)
    say(acquired=acquired)
    if not acquired:
        return
    sys.stdin.read()
    try:
        lock.release()
        say(released=True)
    except redis.exceptions.LockError:
        say(released=False)


def versions():
    say(peer="redis-py " + redis.__version__,
        runtime="Python " + platform.python_version())


def say(**fields):
    print(json.dumps(fields), flush=True)


def main(mode, *arguments):
    modes = {"count": count, "hold": hold, "versions": versions}
    try:
        modes[mode](*arguments)
    except Exception as error:
        sys.exit(f"redis-py: {type(error).__name__}: {error}")


main(*sys.argv[1:])
