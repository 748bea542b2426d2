# SPDX-License-Identifier: MIT
"""Sockets in front of servers, which count commands and round trips.

Requests go on at once. Replies are held back until nobody has sent anything for a while, and
are then handed over all together: one round trip, whatever the number of connections. So what
is asked at once, of one server or of five, counts once, and what waits for a reply counts
again; that is a matter of the client's code, not of its speed."""
import contextlib
import os
import selectors
import socket
import threading

QUIET_S = 0.02
COUNTED = 1, 3, 8  # increments: the first time scripts are not yet known


class Requests:
    """How many commands there are in a stream of requests (RESP arrays)."""

    def __init__(self):
        self.bytes = b''

    def count(self, more):
        self.bytes += more
        n = 0
        while (end := self._end()) is not None:
            self.bytes = self.bytes[end:]
            n += 1
        return n

    def _number_at(self, at):
        end = self.bytes.find(b'\r\n', at)
        return (None, None) if end < 0 else (int(self.bytes[at + 1:end]), end + 2)

    def _end(self):
        """Where the first whole command ends."""
        parts, at = self._number_at(0)
        for _ in range(parts or 0):
            length, at = self._number_at(at)
            if length is None:
                return None
            at += length + 2
        return at if at is not None and at <= len(self.bytes) else None


class Relay(threading.Thread):
    """In front of those servers: `paths` are its own sockets; `commands` and `round_trips` are
    what has passed so far."""

    def __init__(self, servers, folder):
        super().__init__(daemon=True)
        self.paths = [f'{folder}/relay{i}' for i in range(len(servers))]
        self.commands = self.round_trips = 0
        self.held = {}  # by the client's socket
        self.selector = selectors.DefaultSelector()
        self.wake, self.waker = socket.socketpair()
        self.selector.register(self.wake, selectors.EVENT_READ, None)
        for path, server in zip(self.paths, servers):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            listener.listen(64)
            self._watch(listener, lambda listener=listener, server=server:
                        self._accept(listener, server))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.waker.close()
        self.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        for path in self.paths:
            os.unlink(path)

    def _watch(self, end, act):
        self.selector.register(end, selectors.EVENT_READ, act)

    def _accept(self, listener, server):
        client, requests = listener.accept()[0], Requests()
        upstream = socket.socket(socket.AF_UNIX)
        upstream.connect(server)
        self._watch(client, lambda: self._ask(client, upstream, requests))
        self._watch(upstream, lambda: self._hold(client, upstream))

    def _close(self, *ends):
        for end in ends:
            self.held.pop(end, None)
            with contextlib.suppress(KeyError, ValueError):
                self.selector.unregister(end)
            end.close()

    def _ask(self, client, upstream, requests):
        try:
            more = client.recv(65536)
        except OSError:
            more = b''
        if not more:
            return self._close(client, upstream)
        self.commands += requests.count(more)
        upstream.sendall(more)

    def _hold(self, client, upstream):
        more = upstream.recv(65536)
        if not more:
            return self._close(client, upstream)
        self.held[client] = self.held.get(client, b'') + more

    def _hand_over(self):
        held, self.held = self.held, {}
        self.round_trips += bool(held)
        for client, replies in held.items():
            with contextlib.suppress(OSError):
                client.sendall(replies)

    def run(self):
        while True:
            events = self.selector.select(QUIET_S if self.held else None)
            for key, _ in events:
                if key.fileobj is self.wake:
                    return
                if key.fileobj.fileno() >= 0:
                    key.data()
            if not events:
                self._hand_over()


def costs(count, servers, folder):
    """Commands and round trips of an increment; count(paths, n) makes so many, with one client,
    which nobody refuses."""
    times = COUNTED[-1] - COUNTED[-2]
    least = {}
    for _ in range(4):
        for n in COUNTED:
            with Relay(servers, folder) as relay:
                count(relay.paths, n)
            seen = relay.commands, relay.round_trips
            least[n] = tuple(map(min, seen, least.get(n, seen)))
        # The difference leaves out what is asked before and after the increments.
        of_all = [b - a for a, b in zip(least[COUNTED[-2]], least[COUNTED[-1]])]
        # A client that had to wait for the processor in the middle of a round trip seems to
        # have made two of it, and asks again where a server was late: once more, and the
        # fewest count.
        if all(n % times == 0 for n in of_all):
            break
    return [n / times for n in of_all]
