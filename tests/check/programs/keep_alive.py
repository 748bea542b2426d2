# SPDX-License-Identifier: MIT
"""A shop that keeps connections open and writes an answer letter by letter: where Nagle's algorithm
is on, each is kept back until the one before is acknowledged."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import raw


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        answer = "pong\n"
        if self.path == "/buy":
            redis = raw.Connection()
            redis.send("GET", "stock")
            redis.send("SET", "stock", str(int(redis.read()) - 1))
            redis.read()
            answer = "sold\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        for letter in answer:
            self.wfile.write(letter.encode())

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Shop).serve_forever()
