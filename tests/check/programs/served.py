# SPDX-License-Identifier: MIT
"""An HTTP server of one function. Apps are started hundreds of times, and `http.server` takes five times
as long to import as Python takes to start."""

import _socket
import _thread
import posix


def serve(answer):
    """Answers each request on $PORT in a thread of its own with the text of answer(path, body)."""
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(posix.environ[b"PORT"])))
    listener.listen(16)
    while True:
        _thread.start_new_thread(_serve_one, (listener._accept()[0], answer))


def _serve_one(fd, answer):
    connection = _socket.socket(fileno=fd)
    heading = body = b""
    while b"\r\n\r\n" not in heading:
        received = connection.recv(65536)
        if not received:
            return
        heading += received
    heading, body = heading.split(b"\r\n\r\n", 1)
    for line in heading.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            while len(body) < int(line[15:]):
                body += connection.recv(65536)
    text = answer(heading.split(b" ")[1].decode(), body.decode())
    connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + text.encode())
    connection.close()
