# SPDX-License-Identifier: MIT
"""Race files from anybody: what they do to servers, and whether anything else feels it."""
import glob
import os
import re
import select
import shutil
import socket
import subprocess
import tempfile
import time

from escapes import MODULE, make
from scene import CODES, Failure, Scene, patience, wait_until
from servers import Client, Server

ALLOWED = re.search(r'rr_has_word\((".*?"),\s*" ", setting\)', open(
    os.path.dirname(os.path.abspath(__file__)) + '/../../harness/race/allowed.c',
    encoding='utf-8').read(), re.S)
SETTINGS = set(ALLOWED.group(1).replace('"', '').encode().split()) | {
    b'replicaof', b'slaveof', b'masterauth'}
# What nobody but the program may do, whoever the race has made.
FORBIDDEN = ['CONFIG SET port 1', 'CONFIG REWRITE', 'REPLICAOF 127.0.0.1 2',
             'SLAVEOF 127.0.0.1 2', 'MODULE LIST', 'FAILOVER ABORT',
             'ACL SETUSER x', 'ACL DELUSER x', 'ACL SAVE', 'ACL LOAD',
             'DEBUG SET-DISABLE-DENY-SCRIPTS 1', 'DEBUG MALLCTL a']
LIMIT = 20
LINES = 40  # that may be taken out of a race until it is accepted


def reserve_port():
    """A socket whose port nobody is given by the kernel, at which a server could listen."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(('127.0.0.1', 0))
    return reserved


def listening(pid):
    """Ports and paths at which a process listens."""
    inodes = set()
    for fd in glob.glob('/proc/%d/fd/*' % pid):
        try:
            inodes |= set(re.findall(r'socket:\[(\d+)\]', os.readlink(fd)))
        except OSError:
            pass
    found = []
    for name, state in (('tcp', '0A'), ('tcp6', '0A')):
        for line in open('/proc/net/' + name, encoding='ascii'):
            fields = line.split()
            if len(fields) > 9 and fields[3] == state and fields[9] in inodes:
                found.append(fields[1])
    for line in open('/proc/net/unix', encoding='utf-8', errors='replace'):
        fields = line.split()
        if len(fields) > 7 and fields[3] == '00010000' and fields[6] in inodes:
            found.append(fields[7])
    return sorted(found)


class Private:
    """A server of the race, as the program's own user sees it."""

    def __init__(self, directory):
        text = open(directory + '/redis.conf', encoding='ascii').read()
        password = re.search(r'^user redrace on >(\w+)', text, re.M).group(1)
        self.client = Client(directory + '/redis.sock', patience(5))
        self.failed = isinstance(self.client('AUTH', 'redrace', password), Exception)

    def look(self):
        """What a race may not change of it, and its process."""
        if self.failed:
            raise Failure('the own user cannot log in')
        config = self.client('CONFIG', 'GET', '*')
        info = self.client('INFO', 'server').decode()
        role = self.client('ROLE')
        pid = int(re.search(r'process_id:(\d+)', info).group(1))
        return {
            'configuration': {name: value for name, value in zip(config[::2], config[1::2])
                              if name not in SETTINGS},
            'own user': [line for line in self.client('ACL', 'LIST')
                         if line.startswith(b'user redrace ')],
            'rights': self.rights(),
            'modules': self.client('MODULE', 'LIST'),
            'master': role[1:3] if role[0] == b'slave' and role[1:3] != [
                b'127.0.0.1', 1] else None,
            'ports': listening(pid),
        }, pid

    def rights(self):
        """Users who may do what nobody may."""
        return [(user, command) for user in self.client('ACL', 'USERS')
                for command in FORBIDDEN if user != b'redrace' and
                self.client('ACL', 'DRYRUN', user, *command.split()) == b'OK']


class Races:
    name = 'races'
    rounds = 1000

    def __init__(self, redrace, root, only):
        self.redrace = redrace
        self.only = only
        self.home = tempfile.mkdtemp(prefix='rr-t-')
        self.reserved = [reserve_port(), reserve_port()]
        port, self.stranger_port = [one.getsockname()[1] for one in self.reserved]
        self.stranger = Server(self.home, 'stranger', '--port', str(self.stranger_port),
                               '--protected-mode', 'no')
        self.place = self.home + '/place'
        os.mkdir(self.place)
        self.values = {'port': port, 'stranger': self.stranger_port,
                       'place': self.place, 'module': self.make_module()}
        self.before = self.outside()

    def make_module(self):
        """A library that leaves a file when it is loaded."""
        path = self.home + '/module.so'
        with open(self.home + '/module.c', 'w', encoding='ascii') as file:
            file.write(MODULE % self.place)
        subprocess.run(['cc', '-shared', '-fPIC', '-o', path, self.home + '/module.c'],
                       stderr=subprocess.DEVNULL, check=False)
        return path

    def close(self):
        self.stranger.end()
        for one in self.reserved:
            one.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def outside(self):
        """What no race may touch."""
        client = Client(self.stranger.socket)
        seen = {
            'the other server': [client('ROLE')[0], client('DBSIZE'), client(
                'CONFIG', 'GET', '*'), client('ACL', 'LIST')],
            'connections to it': len([line for line in client('CLIENT', 'LIST').splitlines()
                                      if b' laddr=127.0.0.1' in line]),
            'files': sorted(os.listdir(self.place)),
        }
        client.close()
        with socket.socket() as probe:
            seen['the port'] = probe.connect_ex(('127.0.0.1', self.values['port'])) == 0
        return seen

    # ---- One race --------------------------------------------------------------

    def start(self, scene, lines):
        with open(scene.home + '/a.race', 'w', encoding='ascii') as file:
            file.write('\n'.join(lines) + '\n')
        read, write = os.pipe()
        read_in, write_in = os.pipe()
        scene.start(['play', '--step', scene.home + '/a.race'], stdout=write,
                    stdin=read_in)
        os.close(write)
        os.close(read_in)
        return read, write_in

    @staticmethod
    def read_question(scene, read, seen):
        """Until the program waits for an answer; false: it ends."""
        end = time.monotonic() + patience(LIMIT)
        while not seen.endswith((b'    reply? ', b'    [Enter] ')):
            if time.monotonic() > end:
                raise Failure('does not go on%s' % scene.tell())
            if not select.select([read], [], [], 0.2)[0]:
                continue
            data = os.read(read, 65536)
            if not data:
                return False
            seen += data
        return True

    def servers(self, scene):
        """Those that answer, by their directories: what they are, and their processes."""
        found = {}
        for path in sorted(glob.glob(scene.tmp + '/*/*/redis.conf')):
            directory = os.path.dirname(path)
            try:
                found[directory] = Private(directory).look()
            except (OSError, ValueError, IndexError):
                continue
        return found

    def compare(self, scene, before, lines):
        """Servers are what they were. One that is kept for later has no rules yet."""
        if all(state['rights'] for state, _ in before.values()):
            raise Failure('no server has rules: %s' % before)
        for directory, (state, pid) in self.servers(scene).items():
            old, old_pid = before[directory]
            for name in state:
                if state[name] != old[name]:
                    raise Failure('another %s: %s, was %s' % (name, state[name], old[name]))
            if pid != old_pid and not any(line.startswith('restart') for line in lines):
                raise Failure('another process')

    def play(self, scene, lines):
        """What became of it; a number is the line that is refused."""
        read, write = self.start(scene, lines)
        seen = bytearray()
        kind = 'ended early'
        try:
            before = self.read_question(scene, read, seen) and self.servers(scene)
            while self.read_question(scene, read, seen):
                if re.search(rb'Z: (@redis )?ECHO last\n    reply\? $', seen):
                    self.compare(scene, before, lines)
                    kind = 'played to the end'
                seen += b'\n'
                os.write(write, b'\n')
        except BrokenPipeError:
            pass
        finally:
            os.close(read)
            os.close(write)
        scene.wait(LIMIT)
        return kind

    def judge(self, scene):
        scene.check_code(CODES - {70})
        scene.check_lines(6)
        scene.check_left()
        now = self.outside()
        for name in now:
            if now[name] != self.before[name]:
                raise Failure('%s: %s, was %s' % (name, now[name], self.before[name]))

    def round(self, rng, tell):
        lines = make(rng, self.values)
        for left in range(LINES):
            tell('\n    '.join(['a race'] + lines))
            with Scene(self.redrace) as scene:
                kind = self.play(scene, lines)
                self.judge(scene)
                found = re.search(r'a\.race:(\d+): expected', ' '.join(scene.lines()))
            if scene.rc != 65 or not found or kind != 'ended early':
                return kind + (', without what was refused' if left else '')
            line = lines[int(found.group(1)) - 1]
            if line.startswith(('Z', 'clients', 'verdict')):
                return 'refused'
            del lines[int(found.group(1)) - 1]
        return 'refused'
