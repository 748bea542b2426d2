# SPDX-License-Identifier: MIT
"""Real servers of the test's own, on a unix socket, and a client for them."""
import os
import signal
import socket
import subprocess
import threading
import time

from scene import Failure, patience, wait_until


class Client:
    """A connection that can send a command and read its reply."""

    def __init__(self, path, seconds=10):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds)
        self.socket.connect(path)
        self.file = self.socket.makefile('rb')

    def __call__(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        self.socket.sendall(b'*%d\r\n' % len(words) + b''.join(
            b'$%d\r\n%s\r\n' % (len(w), w) for w in words))
        return self.reply()

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind in b'+-':
            return rest if kind == b'+' else Exception(rest.decode())
        if kind == b':':
            return int(rest)
        if int(rest) < 0:
            return None
        if kind == b'$':
            return self.file.read(int(rest) + 2)[:-2]
        return [self.reply() for _ in range(int(rest))]

    def close(self):
        self.file.close()
        self.socket.close()


class Server:
    """A redis-server; use it in a with."""

    def __init__(self, home, name, *options, wait=True):
        self.socket = '%s/%s.sock' % (home, name)
        self.home = '%s/%s' % (home, name)
        os.makedirs(self.home, exist_ok=True)
        words = ['redis-server', '--port', '0', '--unixsocket', self.socket,
                 '--dir', self.home, '--save', '', '--enable-debug-command',
                 'yes', *options]
        with open(self.home + '/log', 'ab') as log:
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        if wait and not wait_until(self.answers, patience(10)):
            self.end()
            raise Failure('a server of the test does not start')

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.end()

    def answers(self):
        try:
            client = Client(self.socket)
            reply = client('PING')
            client.close()
        except OSError:
            return False
        return reply is not None

    def run(self, *words):
        client = Client(self.socket)
        reply = client(*words)
        client.close()
        return reply

    def try_run(self, *words):
        try:
            self.run(*words)
        except (OSError, ValueError):
            pass

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()

    @property
    def uri(self):
        return 'unix://' + self.socket


def free_port():
    with socket.socket() as made:
        made.bind(('127.0.0.1', 0))
        return made.getsockname()[1]


class Watched(Server):
    """The same under a sentinel, which says where it is."""

    def __init__(self, home, name, *options):
        self.port = free_port()
        data_port = free_port()
        self.sentinel = None
        super().__init__(home, name, '--port', str(data_port), *options)
        path = self.home + '/sentinel.conf'
        with open(path, 'w', encoding='utf-8') as file:
            file.write('port %d\ndir %s\nsentinel monitor mymaster 127.0.0.1 '
                       '%d 1\n' % (self.port, self.home, data_port))
        self.sentinel = subprocess.Popen(
            ['redis-server', path, '--sentinel'], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, start_new_session=True)
        if not wait_until(lambda: self.run('PUBSUB', 'CHANNELS'), patience(10)):
            self.end()
            raise Failure('a sentinel of the test does not start')

    def end(self):
        if self.sentinel:
            self.sentinel.kill()
            self.sentinel.wait()
        super().end()

    @property
    def uri(self):
        return 'redis+sentinel://127.0.0.1:%d/mymaster' % self.port


class Clustered(Server):
    """A cluster of one."""

    def __init__(self, home, name, *options):
        self.port = free_port()
        super().__init__(home, name, '--port', str(self.port),
                         '--cluster-enabled', 'yes', '--cluster-port',
                         str(free_port()), *options)
        self.run('CLUSTER', 'ADDSLOTSRANGE', 0, 16383)
        if not wait_until(lambda: b'cluster_state:ok' in
                          self.run('CLUSTER', 'INFO'), patience(10)):
            self.end()
            raise Failure('a cluster of the test does not start')

    @property
    def uri(self):
        return 'redis+cluster://127.0.0.1:%d' % self.port


TOPOLOGIES = {'alone': Server, 'sentinel': Watched, 'cluster': Clustered}


# ---- What can be wrong with one ---------------------------------------------------

def replica(server):
    server.run('REPLICAOF', '127.0.0.1', '1')


def out_of_memory(server):
    server.run('CONFIG', 'SET', 'maxmemory', '1')


def behind_password(server):
    server.run('CONFIG', 'SET', 'requirepass', 'secret')


def paused(server):
    server.run('CLIENT', 'PAUSE', '600000', 'ALL')


def paused_for_writes(server):
    server.run('CLIENT', 'PAUSE', '600000', 'WRITE')


def too_few_replicas(server):
    server.run('CONFIG', 'SET', 'min-replicas-to-write', '1')


def few_clients(server):
    server.run('CONFIG', 'SET', 'maxclients', '1')


def without_writes(server):
    server.run('ACL', 'SETUSER', 'default', '-@write')


def without_scripts(server):
    server.run('ACL', 'SETUSER', 'default', '-@scripting')


def without_keys(server):
    server.run('ACL', 'SETUSER', 'default', 'resetkeys', '~other:*')


def without_anything(server):
    server.run('ACL', 'SETUSER', 'default', '-@all')


def stopped(server):
    server.process.send_signal(signal.SIGSTOP)


def busy_with_a_script(server):
    client = Client(server.socket)
    client.socket.sendall(b'EVAL "while true do end" 0\r\n')
    time.sleep(0.3)


def later(seconds, action):
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()


def killed_soon(server):
    """In the middle of whatever is done with it."""
    later(0.4, server.process.kill)


def cut_off(server):
    """All connections, again and again."""
    for i in range(8):
        later(0.1 * i, lambda: server.try_run('CLIENT', 'KILL', 'TYPE',
                                              'normal'))


WRONG = {function.__name__: function for function in (
    replica, out_of_memory, behind_password, paused, paused_for_writes,
    too_few_replicas, few_clients, without_writes, without_scripts,
    without_keys, without_anything, stopped, busy_with_a_script, killed_soon,
    cut_off)}


def loading(home):
    """A server that reads its data for minutes, a tenth of a second for a key."""
    with Server(home, 'loading', '--appendonly', 'yes') as server:
        client = Client(server.socket)
        for i in range(3000):
            client('SET', 'key:%d' % i, 'x')
        client.close()
    os.unlink(server.socket)
    return Server(home, 'loading', '--appendonly', 'yes', '--key-load-delay',
                  '100000')


def cluster(home):
    """Of a cluster in which nobody has any slot."""
    return Server(home, 'cluster', '--cluster-enabled', 'yes')
