# SPDX-License-Identifier: MIT
"""A shop whose threads share one connection behind a lock. POST /buy takes the lock for each
command; POST /buy-locked holds another one from its first command to its last."""

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import raw

shared = raw.Connection()
of_connection = threading.Lock()
of_section = threading.Lock()


def ask(*words):
    with of_connection:
        return shared(*words)


def buy():
    if int(ask("GET", "stock") or 0) <= 0:
        return "out\n"
    ask("DECR", "stock")
    return "sold\n"


def buy_locked():
    with of_section:
        return buy()


class Shop(BaseHTTPRequestHandler):
    def do_POST(self):
        answer = buy_locked() if self.path == "/buy-locked" else buy()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer.encode())


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Shop).serve_forever()
