# SPDX-License-Identifier: MIT
"""Small programs of one race each, or of none: doubted.py NAME. The wrong ones differ from all serial
executions in what a comparison is tempted to excuse."""

import posix
import sys
import time

import raw

r = raw.Connection()
me = raw.me


def count(key="counter"):
    r("SET", key, int(r("GET", key) or 0) + 1)


def paid_until():  # the value looks like a time of day
    r("SET", "until", int(r("GET", "until") or time.time()) + 60)


def large_counter():
    r("SET", "n", int(r("GET", "n") or 1900000000) + 1)


def booking():
    if not r("GET", "slot"):
        r("SET", "slot", "taken")
        r("RPUSH", "booked", int(time.time()))


def answer():  # only a word says it, in a line with a token that is another in each run
    left = int(r("GET", "stock"))
    if left > 0:
        r("SET", "stock", 0)
    print('{"id":"%s","sold":%s}' % (posix.urandom(8).hex(), "true" if left > 0 else "false"))


def log_line():  # the same with a process id
    left = int(r("GET", "stock"))
    if left > 0:
        r("SET", "stock", 0)
    print("[%d]%s" % (posix.getpid(), "sold" if left > 0 else "out"))


def half_written():  # only who polls meanwhile sees it
    if me == "A":
        r("SET", "state", "partial")
        r("SET", "state", "done")
        return
    saw = "whole"
    while True:
        state = r("GET", "state")
        if state == "done":
            break
        if state == "partial":
            saw = "half"
        time.sleep(0.1)
    print(saw)


def alarm():  # printed in each round
    if me == "A":
        r("DECRBY", "x", 10)
        r("INCRBY", "y", 10)
        r("SET", "ready", 1)
        return
    while True:
        x, y, ready = r("MGET", "x", "y", "ready")
        if int(x) + int(y) != 100:
            print("ALARM: the sum is %d" % (int(x) + int(y)))
        if ready:
            break
        time.sleep(0.1)


def both_refused():  # each withdraws for the other's sake: nobody gets what is there
    r("SADD", "wants", me)
    if int(r("SCARD", "wants")) > 1:
        r("SREM", "wants", me)
        sys.exit(1)
    r("SET", "winner", me)
    r("SREM", "wants", me)


def long_sleep():  # the lease is shorter than the work
    while not r("SET", "lock", me, "NX", "PX", 3000):
        time.sleep(0.1)
    n = int(r("GET", "counter") or 0)
    time.sleep(5)
    r("SET", "counter", n + 1)
    if r("GET", "lock") == me:
        r("DEL", "lock")


def need_each_other():
    if me == "A":
        r("BLPOP", "a", 0)
        r("LPUSH", "b", 1)
    else:
        r("LPUSH", "a", 1)
        r("BLPOP", "b", 0)


def queue_order():  # which of two lists a blocked command takes from
    if me == "A":
        print(r("BLPOP", "high", "low", 0))
        return
    r("MULTI")
    r("RPUSH", "low", 1)
    r("RPUSH", "high", 1)
    r("EXEC")


def script():  # right
    print(r("EVAL", "return redis.call('INCR', KEYS[1])", 1, "counter"))


def locked():  # right: what is printed in vain rounds, and at the end, says that it waited
    rounds = 0
    while not r("SET", "lock", 1, "NX"):
        print("contended")
        rounds += 1
        time.sleep(0.1)
    count()
    r("DEL", "lock")
    print("contended" if rounds else "free")


def tokens():  # right: new names in each run
    token = posix.urandom(8).hex()
    r("SADD", "jobs", "job:" + token)
    r("SET", "job:" + token, "new")
    print("made", token)


def own_fields():  # right: the order of fields differs, and nothing else
    for i in range(3):
        r("HSET", "all", me + str(i), i)
        r("SADD", "names", me + str(i))


def refused():  # right: who is refused has changed nothing
    if not r("SET", "lock", me, "NX"):
        print("busy", file=sys.stderr)
        sys.exit(1)
    count()
    r("DEL", "lock")


def glued():  # the answer stands directly behind a process id
    stock = int(r("GET", "stock"))
    if stock:
        r("SET", "stock", 0)
    print("%d%s" % (posix.getpid(), "sold" if stock else "out"))


def permuted(lines=("a", "b", "c", "d", "e")):  # right: two threads print them in any order
    r("INCR", "n")
    print("\n".join(sorted(lines, key=lambda line: posix.urandom(8))))


def permuted_answer():
    stock = int(r("GET", "stock"))
    if stock:
        r("SET", "stock", 0)
    permuted(("a", "b", "c", "d", "sold" if stock else "out"))


def polls():  # right: nil is what it would receive alone
    waited = False
    if me == "A":
        r("SET", "ready", 1)
    while not r("GET", "ready"):
        waited = True
    print("waited" if waited else "ready")


def optimistic():  # right: a transaction is refused and sent again
    tries = 1
    while True:
        r("WATCH", "n")
        n = int(r("GET", "n") or 0)
        r("MULTI")
        r("SET", "n", n + 1)
        if r("EXEC"):
            break
        tries += 1
    print(tries, "tries")


def withdraws():  # it fails after it has changed data
    if r("INCR", "slots") > 1:
        r("DECR", "slots")
        sys.exit(1)
    r("DECR", "slots")


def compares_clocks():  # right: the server's clock has gone on meanwhile as well
    time.sleep(3)
    if abs(int(r("TIME")[0]) - time.time()) > 2:
        count()
    else:
        r("INCR", "counter")


def compares_in_script():  # right: the same
    time.sleep(3)
    script = "return math.abs(redis.call('TIME')[1] - ARGV[1]) < 2 and redis.call('INCR', KEYS[1])"
    if not r("EVAL", script, 1, "counter", int(time.time())):
        count()


def outlives():  # right: its key is gone when it looks
    r("SET", "busy" + me, 1, "PX", 2000)
    time.sleep(3)
    if r("EXISTS", "busy" + me):
        count()
    else:
        r("INCR", "counter")


def looks_in_time():  # right: its key is there when it looks, however late the other is
    r("SET", "mine" + me, 1, "PX", 3000)
    time.sleep(2)
    if r("EXISTS", "mine" + me):
        r("INCR", "counter")
    else:
        count()
    r("DEL", "mine" + me)


def window():  # right: who is above the limit waits for the next window
    while True:
        now = int(r("TIME")[0])
        n = r("INCR", "window%d" % (now // 10))
        r("EXPIRE", "window%d" % (now // 10), 20)
        if n == 1:
            break
        time.sleep(10 - now % 10)
    r("INCR", "served")


def waits_too_short():  # what it waits for takes longer
    if me == "A":
        r("SET", "state", "half", "PX", 60000)
        time.sleep(1)
        r("SET", "state", "whole")
        return
    if r("GET", "state") == "half":
        time.sleep(0.1)
        print(r("GETRANGE", "state", 0, 3))


globals()[sys.argv[1]]()
