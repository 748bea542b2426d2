# SPDX-License-Identifier: MIT
"""A small Redis client, for the programs of tests/brute/generate.

`r = R()` opens a connection, `r('GET', 'key')` sends a command and returns its reply. Strings
are returned as text (latin-1), errors as an Exception that is not raised. `r.send(...)` sends
without reading, `r.read()` reads one reply. `me` is the name of the client: A, B, C.
"""
import os
import socket
import sys


class R:
    def __init__(self):
        address = os.environ['REDIS_HOST'], int(os.environ['REDIS_PORT'])
        self.socket = socket.create_connection(address)
        self.file = self.socket.makefile('rb')

    def send(self, *words):
        command = b'*%d\r\n' % len(words)
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            command += b'$%d\r\n%s\r\n' % (len(word), word)
        self.socket.sendall(command)

    def read(self):
        line = self.file.readline()
        if not line:
            raise EOFError('the server has closed the connection')
        kind, rest = line[:1], line[1:-2]
        if kind == b':':
            return int(rest)
        if kind == b'+':
            return rest.decode()
        if kind == b'-':
            return Exception(rest.decode())
        if kind == b'$':
            return None if rest == b'-1' else self.file.read(int(rest) + 2)[:-2].decode('latin1')
        if kind in (b'*', b'~', b'>'):
            return None if rest == b'-1' else [self.read() for _ in range(int(rest))]
        raise ValueError('unexpected reply %r' % line)

    def __call__(self, *words):
        self.send(*words)
        return self.read()

    def close(self):
        self.file.close()
        self.socket.close()


def failed(reply):
    """Is the reply an error?"""
    return isinstance(reply, Exception)


me = os.environ.get('REDRACE_CLIENT', 'A')
