# SPDX-License-Identifier: MIT
"""Servers that are none, or not as one wants them, behind --redis and
--redis-server, and under the library."""
import contextlib
import os
import runpy
import subprocess
import time

from commands import chosen
from scene import Failure, Scene, patience, wait_until
from servers import TOPOLOGIES, WRONG, Server, cluster, loading

LIMIT = 30
HERE = os.path.dirname(os.path.abspath(__file__))
BEHAVIOURS = runpy.run_path(HERE + '/hostile')['BEHAVIOURS']
STRATEGIES = ['none', 'incr', 'lua-delifequals', 'lua-incr', 'multi-watch',
              'set-nx-ex', 'fenced', 'fair-queue', 'lua-renewed', 'setnx']

# Programs that are no servers.
PROGRAMS = {
    'missing': '/nowhere/redis-server',
    'directory': '/tmp',
    'not executable': '/etc/passwd',
    'ends': 'true',
    'fails': 'false',
    'sleeps': '#!/bin/sh\nexec sleep 600\n',
    'talks': '#!/bin/sh\nwhile :; do echo "\x1b[31mnonsense"; done\n',
    'ignores signals': '#!/bin/sh\ntrap "" TERM INT HUP\nwhile :; do sleep 1; '
                       'done\n',
    'has children': '#!/bin/sh\nsleep 600 & sleep 600 & wait\n',
    'daemon': '#!/bin/sh\nsetsid sleep 600 >/dev/null 2>&1 &\n',
    'socket is a file': '#!/bin/sh\n[ "$1" != --version ] || exit\ntouch redis.sock\nexec sleep 600\n',
}


@contextlib.contextmanager
def hostile_server(scene, behaviour):
    """Its address as a URI."""
    path = '%s/h%d.sock' % (scene.aside, len(os.listdir(scene.aside)))
    process = subprocess.Popen([HERE + '/hostile', behaviour, path],
                               stdin=subprocess.DEVNULL)
    try:
        if not wait_until(lambda: os.path.exists(path), 10):
            raise Failure('the hostile server does not start')
        yield 'unix://' + path
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def wrong_server(scene, what, topology='alone'):
    """A real one in that state; its address as a URI."""
    if what in ('loading', 'cluster'):
        server = {'loading': loading, 'cluster': cluster}[what](scene.aside)
    else:
        server = TOPOLOGIES[topology](scene.aside, 'wrong')
        WRONG[what](server)
    with server:
        yield server.uri


class Peers:
    name = 'peers'
    rounds = 300

    def __init__(self, redrace, root, only):
        self.redrace = redrace
        self.only = only
        self.caller = os.path.dirname(redrace) + '/torture-library'
        self.commands = chosen(redrace, root, None)

    def round(self, rng, tell):
        ways = {'redis': self.with_redis, 'nodes': self.with_nodes,
                'topology': self.with_topology,
                'program': self.with_program, 'library': self.with_library}
        if not os.path.exists(self.caller):
            del ways['library']
        way = rng.choice(sorted(self.only or ways))
        with Scene(self.redrace) as scene:
            ways[way](scene, rng, tell)
        return way

    def server(self, scene, rng):
        """One that is wrong somehow, and how."""
        if rng.random() < 0.6:
            what = rng.choice(sorted(BEHAVIOURS))
            return what, hostile_server(scene, what)
        what = rng.choice(sorted(WRONG) + ['loading', 'cluster'])
        return what, wrong_server(scene, what)

    def with_redis(self, scene, rng, tell):
        what, server = self.server(scene, rng)
        names = rng.sample(STRATEGIES, rng.choice([1, 1, 2]))
        tell('bench --redis of %s, which is wrong: %s' % (' '.join(names), what))
        with server as uri:
            scene.start(['bench', '-n', '3000', '-o', 'r', '--redis', uri,
                         *names])
            scene.wait(LIMIT)
            self.judge(scene, what, most=1 + 2 * len(names))

    def with_topology(self, scene, rng, tell):
        """Where it is says a sentinel, or the server itself of its cluster."""
        what = rng.choice(sorted(set(WRONG) - {'replica'}))
        topology = rng.choice(['cluster', 'sentinel'])
        name = rng.choice(STRATEGIES)
        tell('bench --redis of %s, whose %s is wrong: %s' % (name, topology, what))
        with wrong_server(scene, what, topology) as uri:
            scene.start(['bench', '-n', '3000', '-o', 'r', '--redis', uri, name])
            scene.wait(LIMIT)
            self.judge(scene, what, most=3)

    def with_nodes(self, scene, rng, tell):
        """A good server for the data; some of the lock servers are not."""
        what, server = self.server(scene, rng)
        n = rng.randrange(1, 6)
        tell('bench --redis of redlock, %d of 5 servers are wrong: %s'
             % (n, what))
        with contextlib.ExitStack() as stack:
            good = [stack.enter_context(Server(scene.aside, 's%d' % i)).uri
                    for i in range(6 - n)]
            if what in BEHAVIOURS:
                bad = [stack.enter_context(hostile_server(scene, what))
                       for _ in range(n)]
            else:
                bad = [stack.enter_context(server)]
                good += [stack.enter_context(
                    Server(scene.aside, 'g%d' % i)).uri for i in range(n - 1)]
            scene.start(['bench', '-n', '300', '-o', 'r', '--redis',
                         ','.join(good + bad), 'redlock'])
            scene.wait(3 * LIMIT)
            # Of the real ones only one is wrong; the others are a majority.
            few = n < 3 or what not in BEHAVIOURS
            self.judge(scene, what, most=3, is_harmless=few)

    def with_program(self, scene, rng, tell):
        name = rng.choice(sorted(n for n in self.commands if n not in (
            'peers', 'demo')))
        if rng.random() < 0.5:
            what = rng.choice(sorted(BEHAVIOURS))
            program = '%s/hostile-%s' % (scene.home, what)
            os.symlink(HERE + '/hostile', program)
        else:
            what = rng.choice(sorted(PROGRAMS))
            program = PROGRAMS[what]
            if program.startswith('#!'):
                program = scene.home + '/program'
                with open(program, 'w', encoding='utf-8') as file:
                    file.write(PROGRAMS[what])
                os.chmod(program, 0o755)
        tell('%s with a --redis-server that is wrong: %s' % (name, what))
        words = self.commands[name].words
        scene.start([words[0], '--redis-server', program, *words[1:]])
        scene.wait(LIMIT)
        self.judge(scene, what, most=4)

    def with_library(self, scene, rng, tell):
        what, server = self.server(scene, rng)
        tell('the library on a server that is wrong: %s' % what)
        with server as uri:
            began = time.monotonic()
            done = subprocess.run([self.caller, uri], check=False, text=True,
                                  capture_output=True, errors='replace',
                                  timeout=patience(120))
            if done.returncode:
                raise Failure('exit code %d after %.1f s: %s%s' % (
                    done.returncode, time.monotonic() - began, done.stdout,
                    done.stderr))

    @staticmethod
    def judge(scene, what, most, is_harmless=False):
        """It has failed, in its own words; or the harm was none."""
        harmless = {'cut_off', 'killed_soon', 'without_scripts', 'few_clients',
                    'busy_with_a_script'}
        is_harmless |= what in harmless
        allowed = {2, 69, 77} | ({0} if is_harmless else set())
        # Who grants everything to everybody breaks any lock, and that is counted.
        if what in ('ok', 'one', 'array', 'text', 'minus', 'twice', 'pong',
                    'empty', 'nil', 'noscript', 'flood-ok'):
            allowed |= {1, 65, 70}
        scene.check_code(allowed)
        lines = scene.check_lines(most)
        if scene.rc not in (0, 1, 2) and not lines:
            raise Failure('exit code %d without a word' % scene.rc)
        scene.check_left()
