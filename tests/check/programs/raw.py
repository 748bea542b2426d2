# SPDX-License-Identifier: MIT
"""A connection that sends what it is told to, and nothing else: r("GET", "k"). Programs are started
hundreds of times, and what `socket` imports takes as long as Python itself, `os` half of that."""

import _socket
import posix

me = posix.environ.get(b"REDRACE_CLIENT", b"").decode()


def token():
    """A random value. The module `uuid` takes longer to import than Python to start."""
    return posix.urandom(16).hex()


def dashed(digits):
    """As a UUID is written."""
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class Connection:
    def __init__(self, port=None):
        port = int(port or posix.environ[b"REDIS_PORT"])
        self.socket = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        self.socket.connect(("127.0.0.1", port))
        self.file = open(self.socket.fileno(), "rb", closefd=False)

    def send(self, *words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            text = word if isinstance(word, bytes) else str(word).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(text), text))
        self.socket.sendall(b"".join(parts))

    def read(self):
        line = self.file.readline()
        if not line:
            raise EOFError
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"+":
            return rest
        if kind == b"-":
            return Exception(rest)
        if kind == b":":
            return int(rest)
        if int(rest) < 0:
            return None
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2].decode("latin1")
        return [self.read() for _ in range(int(rest))]

    def __call__(self, *words):
        self.send(*words)
        return self.read()
