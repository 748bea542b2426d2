# SPDX-License-Identifier: MIT
"""A server full of somebody's data is the same after runs with --redis, and kills."""
import random
import signal
import shutil
import tempfile
import time

from scene import Failure, Scene, patience, wait_until
from servers import TOPOLOGIES, Client

# What changes by itself, or by being asked.
PASSING = {b'maxclients'}
KINDS = [['none'], ['incr', 'lua-incr'], ['lua-delifequals'], ['fair-queue'],
         ['fenced'], ['multi-watch'], ['lua-renewed'],
         ['--wait', 'delay-queue', '-t', '1', '-p', '2', 'set-nx-ex'],
         ['--keys', '20', 'set-nx-ex']]


def fill(client, n):
    """n keys of each type, some of which expire in years, in two databases."""
    rng = random.Random(1)
    for i in range(n):
        client('SET', 'text:%d' % i, 'x' * rng.randrange(100))
        client('RPUSH', 'list:%d' % i, *range(5))
        client('SADD', 'set:%d' % i, 'a', 'b', i)
        client('ZADD', 'zset:%d' % i, 1, 'a', i, 'b')
        client('HSET', 'hash:%d' % i, 'field', i, 'other', 'x')
        client('XADD', 'stream:%d' % i, '1-1', 'field', i)
        client('PFADD', 'hll:%d' % i, i)
        client('SETBIT', 'bits:%d' % i, i, 1)
        client('SET', 'leased:%d' % i, i, 'PXAT', 4102444800000 + i)
    client('XGROUP', 'CREATE', 'stream:1', 'group', '0')
    client('SET', 'redrace:mine', 'not of a run')
    client('SET', 'lock:0', 'taken')
    client('SET', 'counter:0', '41')
    client('SELECT', '3')
    client('SET', 'elsewhere', 'x')
    client('SELECT', '0')


def configure(client):
    client('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lfu')
    client('CONFIG', 'SET', 'notify-keyspace-events', 'KEA')
    client('ACL', 'SETUSER', 'somebody', 'on', '>secret', '~x:*', '+get')
    client('FUNCTION', 'LOAD', "#!lua name=mine\nredis.register_function("
           "'f', function(keys, args) return 1 end)")
    return client('SCRIPT', 'LOAD', 'return 41')


def look(client, sha):
    """All that can be seen of it, by names."""
    config = client('CONFIG', 'GET', '*')
    seen = {
        'data': client('DEBUG', 'DIGEST'),
        'databases': client('INFO', 'keyspace').split(b',avg_ttl')[0],
        'leases': [client('PEXPIRETIME', 'leased:%d' % i) for i in range(20)],
        'configuration': [pair for pair in zip(config[::2], config[1::2])
                          if pair[0] not in PASSING],
        'users': client('ACL', 'LIST'),
        'functions': client('FUNCTION', 'LIST', 'WITHCODE'),
        'script': client('SCRIPT', 'EXISTS', sha),
        'channels': client('PUBSUB', 'CHANNELS'),
    }
    return seen


class Full:
    """A server full of somebody's data, and what can be seen of it."""

    def __init__(self, home, topology):
        self.server = TOPOLOGIES[topology](home, 'full-' + topology,
                                           '--databases', '16')
        self.client = Client(self.server.socket)
        fill(self.client, 500)
        self.sha = configure(self.client)
        self.before = look(self.client, self.sha)

    def end(self):
        self.client.close()
        self.server.end()

    def is_same(self):
        return look(self.client, self.sha) == self.before

    def differences(self):
        now = look(self.client, self.sha)
        return ', '.join(name for name in now if now[name] != self.before[name])


class Keys:
    name = 'keys'
    rounds = 100

    def __init__(self, redrace, root, only):
        self.redrace = redrace
        self.home = tempfile.mkdtemp(prefix='rr-t-')
        self.full = {name: Full(self.home, name)
                     for name in only or TOPOLOGIES}

    def close(self):
        for full in self.full.values():
            full.end()
        shutil.rmtree(self.home, ignore_errors=True)

    def round(self, rng, tell):
        topology = rng.choice(sorted(self.full))
        full = self.full[topology]
        words = rng.choice(KINDS)
        number = rng.choice([None, signal.SIGKILL, signal.SIGKILL,
                             signal.SIGINT, signal.SIGTERM])
        after = rng.uniform(0, 1)
        tell('bench --redis (%s) %s, %s after %.3f s' % (
            topology, ' '.join(words), number and number.name, after))
        with Scene(self.redrace) as scene:
            scene.start(['bench', '-n', '6000', '-o', 'r', '--redis',
                         full.server.uri, *words])
            if number:
                time.sleep(after)
                scene.program.send_signal(number)
            scene.wait(30)
            scene.check_code({0, 2} | ({130, -number} if number else set()))
            scene.check_left()
        if not wait_until(full.is_same, patience(3)):
            raise Failure('the server is not the same: %s'
                          % full.differences())
        return '%s, %s' % (topology, number.name if number else 'undisturbed')
