"""A shop with a thread and a connection for each request (redis-py). Two customers who ask for
the last one at once:

  redrace check --init examples/check/stock.redis --app 'python3 examples/check/shop.py' \
    --request 'curl -s -X POST {app}/buy'

/buy-once lets a script decide.
"""
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import redis

TAKE = """if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end
redis.call('DECR', KEYS[1])
return 1"""

database = redis.Redis.from_url(os.environ["REDIS_URL"])


def buy():
    if int(database.get("stock") or 0) <= 0:
        return False
    database.decr("stock")
    return True


def buy_once():
    return database.eval(TAKE, 1, "stock") == 1


class Shop(BaseHTTPRequestHandler):
    def do_POST(self):
        sold = buy_once() if self.path == "/buy-once" else buy()
        self.send_response(200 if sold else 409)
        self.end_headers()
        self.wfile.write(b"sold\n" if sold else b"out\n")


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Shop).serve_forever()
