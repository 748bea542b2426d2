# SPDX-License-Identifier: MIT
"""Says HELLO 3 at a unix socket, sends commands, and prints each with the bytes that answer it."""

import socket
import sys

COMMANDS = """
HSET h a 1 b 2
HGETALL h
HGETALL nothing
HMGET h a x
HSET one a 1
HRANDFIELD one 1 WITHVALUES
SADD s x
SMEMBERS s
SINTER s s
SUNION s nothing
SDIFF s nothing
SISMEMBER s x
SPOP s 1
ZADD z 1 a 2.5 b 1e30 c inf d
ZADD z INCR 1 a
ZINCRBY z 0.5 a
ZSCORE z a
ZSCORE z nobody
ZMSCORE z a nobody d
ZRANGE z 0 -1
ZRANGE z 0 -1 WITHSCORES
ZRANGEBYSCORE z -inf +inf WITHSCORES
ZREVRANGE z 0 0 withscores
ZREVRANGEBYSCORE z +inf -inf WITHSCORES LIMIT 0 1
ZUNION 1 z WITHSCORES
ZINTER 2 z z WITHSCORES
ZDIFF 1 z WITHSCORES
ZRANK z nobody
ZSCAN z 0
ZPOPMIN z
ZPOPMAX z 2
ZADD z 1 a 2 b 3 c
BZPOPMIN z 1
BZPOPMAX nothing z 1
ZMPOP 1 z MIN
ZMPOP 1 z MIN
ZADD z 1 a 2 b
BZMPOP 1 1 z MAX COUNT 5
ZPOPMIN z
XADD x 1-1 a b
XREAD STREAMS x 0
XREAD STREAMS x 5
XRANGE x - +
XINFO STREAM x
XGROUP CREATE x g 0
XREADGROUP GROUP g me STREAMS x >
XINFO GROUPS x
XPENDING x g
GEOADD geo 13.361389 38.115556 P
GEOPOS geo P nobody
GEODIST geo P P
GEOSEARCH geo FROMMEMBER P BYRADIUS 1 km WITHCOORD WITHDIST
GEOSEARCH geo FROMMEMBER P BYRADIUS 1 km
CONFIG GET maxmemory
SET p ohmytext
SET q mynewtext
LCS p q
LCS p q IDX
GET nothing
LPOP nothing 2
BLPOP nothing 0.01
INCR p
INCRBYFLOAT f 1.5
EVAL return{false,true,1,'x',redis.call('HGETALL','h')} 0
MULTI
HGETALL h
GET nothing
SMEMBERS nothing
EXEC
MULTI
HGETALL h
DISCARD
WATCH h
MULTI
EXEC
SUBSCRIBE a b
PING
UNSUBSCRIBE a b
GET f
INFO nothing
RESET
GET nothing
HGETALL h
"""


def frame(file):
    line = file.readline()
    kind, rest = line[:1], line[1:-2]
    if kind in b"$=" and int(rest) >= 0:
        return line + file.read(int(rest) + 2)
    n = int(rest) * (2 if kind == b"%" else 1) if kind in b"*%~>" else 0
    return line + b"".join(frame(file) for _ in range(n))


def main():
    server = socket.socket(socket.AF_UNIX)
    server.connect(sys.argv[1])
    file = server.makefile("rb")
    for line in ["HELLO 3"] + COMMANDS.split("\n")[1:-1]:
        words = ["$%d\r\n%s\r\n" % (len(word), word) for word in line.split()]
        server.sendall(("*%d\r\n" % len(words) + "".join(words)).encode())
        answers = [frame(file) for _ in range(2 if "SUBSCRIBE" in line else 1)]
        if "HELLO" not in line:
            print(line, answers)


main()
