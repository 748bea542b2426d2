# SPDX-License-Identifier: MIT
"""A client of tests/brute: an unmodified Python program that runs in a thread of this process.

The program gets its own `socket`, `sys`, `os`, `time`, `random`, `uuid` and `secrets`. A command
that it sends is held back until the driver executes it; the program runs on until it reads a
reply that has not come, and then the driver goes on. So one of them runs at a time, and a program
does nothing that the driver has not allowed.

Time is crude: `sleep` returns immediately and puts the client's own clock forward, no lease
expires, and a time-out of a command that blocks is over at any time, the shortest first. Random
values depend on the client and on how many it has drawn. A program that uses threads, processes
or select is refused.
"""
import _thread
import ast
import builtins
import io
import os
import random
import secrets
import socket
import sys
import time
import types
import uuid

from server import Link, end_of_reply

REFUSED = {'threading', '_thread', 'asyncio', 'subprocess', 'select', 'selectors', 'signal',
           'multiprocessing', 'concurrent', 'datetime'}
BEGINNING = 1700000000.0
# Commands that may block, and where their time-out is.
BLOCKING = {'BLPOP': -1, 'BRPOP': -1, 'BLMOVE': -1, 'BRPOPLPUSH': -1, 'BZPOPMIN': -1,
            'BZPOPMAX': -1, 'BLMPOP': 1, 'BZMPOP': 1, 'WAIT': -1}
LISTENING = {'SUBSCRIBE', 'PSUBSCRIBE', 'SSUBSCRIBE', 'MONITOR'}


class CannotJudge(BaseException):
    """The program does something that is not controlled here."""


class Killed(BaseException):
    """The run is over: the program is not continued."""


class Exit(BaseException):
    """os._exit: nothing is flushed."""


class Command:
    """A command that was sent, its bytes, and how it may block."""

    def __init__(self, words, data):
        self.words, self.data = words, data
        self.name = words[0].decode('latin1').upper() if words else ''
        self.timeout = None  # seconds, 0 for none; None if it cannot block
        upper = [word.upper() for word in words]
        if self.name in BLOCKING and len(words) > 2:
            self.timeout = float(words[BLOCKING[self.name]])
            if self.name == 'WAIT':
                self.timeout /= 1000
        elif self.name in ('XREAD', 'XREADGROUP') and b'BLOCK' in upper:
            self.timeout = float(words[upper.index(b'BLOCK') + 1]) / 1000

    def __str__(self):
        return ' '.join(word.decode('latin1') or '""' for word in self.words)


class Connection:
    """What a program gets for a socket: its commands are held back, its replies kept."""

    def __init__(self, party):
        self.party, self.link, self.id = party, Link(party.server.path), 0
        self.sent, self.pending, self.inbox = bytearray(), [], bytearray()
        self.running = None  # the command that the server has not answered
        self.in_transaction = self.listening = self.closed = False
        party.connections.append(self)

    # What the program calls.
    def sendall(self, data, flags=0):
        if self.closed:
            raise OSError(9, 'Bad file descriptor')
        self.sent += data
        while self.sent:
            command, used = take_command(self.sent)
            if command is None:
                break
            del self.sent[:used]
            self.pending.append(command)

    def send(self, data, flags=0):
        self.sendall(data)
        return len(data)

    def recv(self, size, flags=0):
        self.await_reply()
        data = bytes(self.inbox[:size])
        del self.inbox[:size]
        return data

    def readline(self):
        self.await_reply()
        end = self.inbox.find(b'\n') + 1
        return self.recv(end)

    def read(self, size):
        self.await_reply()
        return self.recv(size)

    def makefile(self, mode='r', *_, **__):
        if mode != 'rb':
            raise CannotJudge('makefile(%r)' % mode)
        return self

    def connect(self, address):
        pass

    def setsockopt(self, *_):
        pass

    def settimeout(self, value):
        if value is not None:
            raise CannotJudge('a time-out of a socket')

    def flush(self):
        pass

    def close(self):
        self.closed = True

    # What the driver calls.
    def await_reply(self):
        while not self.inbox:
            self.party.park(self)

    def ready(self):
        return self.pending and self.running is None


def take_command(buffer):
    """Returns the first command of the buffer and its length, or None and 0."""
    if buffer[:1] != b'*':
        line = buffer.find(b'\n') + 1
        return (Command(bytes(buffer[:line]).split(), bytes(buffer[:line])), line) if line \
            else (None, 0)
    end = end_of_reply(buffer, 0)
    if end < 0:
        return None, 0
    words, at = [], buffer.index(b'\n') + 1
    while at < end:
        line = buffer.index(b'\r\n', at)
        length = int(buffer[at + 1:line])
        words.append(bytes(buffer[line + 2:line + 2 + length]))
        at = line + 4 + length
    return Command(words, bytes(buffer[:end])), end


class Altered:
    """A module with some other functions than the real one."""

    def __init__(self, real, **functions):
        self.__dict__.update(functions, real_module=real)

    def __getattr__(self, name):
        return getattr(self.real_module, name)


class Unknown(Exception):
    """A value of which it is not known whether it has changed."""


def frozen(value):
    """Returns something that is equal for two values if a program cannot tell them apart."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return type(value).__name__, value
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(map(frozen, value))
    if isinstance(value, dict):
        return 'dict', tuple((frozen(k), frozen(v)) for k, v in value.items())
    if type(value) is Exception:
        return 'exception', str(value)
    constant = isinstance(value, (types.ModuleType, types.FunctionType, type, Altered, Connection))
    if constant or (type(value).__module__ == 'client' and all(
            isinstance(part, Connection) for part in vars(value).values())):
        return 'object', id(value)
    raise Unknown


class Capture(io.RawIOBase):
    """Standard output, without its buffer."""

    def __init__(self):
        self.bytes = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.bytes += data
        return len(data)


class Text(io.TextIOWrapper):
    """Standard output, with its buffer; counts what is written."""
    count = 0

    def write(self, text):
        self.count += 1
        return super().write(text)


class Program:
    """A program's file, and what it imports from its own directory, compiled once."""

    def __init__(self, path):
        self.path, self.modules, self.hidden = path, {}, set()
        self.directories = [os.path.dirname(os.path.abspath(path)),
                            os.path.dirname(os.path.abspath(__file__))]
        self.code = self.compile(path)

    @staticmethod
    def compile(path):
        with open(path) as file:
            return compile(file.read(), path, 'exec')

    def hides(self, line):
        """Does the line lie in a loop whose position is in no variable?"""
        if not self.hidden:
            with open(self.path) as file:
                tree = ast.parse(file.read())
            self.hidden = {0}
            for node in ast.walk(tree):
                if isinstance(node, (ast.For, ast.ListComp, ast.SetComp, ast.DictComp, ast.Yield,
                                     ast.GeneratorExp, ast.AsyncFor, ast.With, ast.Try)):
                    self.hidden.update(range(node.lineno, node.end_lineno + 1))
        return line in self.hidden

    def module(self, name):
        """Returns the code of a module that lies beside the program, or None."""
        if name not in self.modules:
            paths = [os.path.join(directory, name + '.py') for directory in self.directories]
            found = [path for path in paths if os.path.exists(path)]
            self.modules[name] = self.compile(found[0]) if found else None
        return self.modules[name]


class Party:
    """A client of one run."""

    def __init__(self, name, program, server):
        self.name, self.program, self.server = name, program, server
        self.connections, self.imported = [], {}
        self.exit = None     # the exit status, when the program has ended
        self.error = None    # why the program cannot be judged
        self.failure = None  # the exception that it has ended with
        self.waits_on = self.numbers = self.thread = None
        self.draws = 0
        self.changed = self.begun = self.dead = self.hangs = False
        self.looked = False  # it has looked at its clock
        self.clock = BEGINNING
        self.go, self.back = _thread.allocate_lock(), _thread.allocate_lock()
        self.go.acquire()
        self.back.acquire()

    # The driver's side.
    def begin(self):
        self.begun = True
        _thread.start_new_thread(self.run, ())
        self.wait()

    def resume(self):
        self.go.release()
        self.wait()

    def wait(self):
        """Waits until the program has stopped or ended."""
        if not self.back.acquire(timeout=10):
            self.hangs = True
            raise CannotJudge('client %s sends no command, and does not end' % self.name)

    def end(self):
        """Ends the program where it is, and closes its connections."""
        if self.begun and self.exit is None and not self.hangs:
            self.dead = True
            self.resume()
        for connection in self.connections:
            connection.link.close()

    def state(self):
        """Returns what the program's next steps depend on, where it waits; None if that is not
        known. Values of an expression that is half computed are not in it."""
        if self.looked:
            return None
        frame, parts = sys._current_frames().get(self.thread), []
        here = os.path.dirname(os.path.abspath(__file__))
        try:
            while frame is not None:
                code = frame.f_code
                if code.co_filename == self.program.path:
                    if self.program.hides(frame.f_lineno):
                        return None
                    parts.append((code, frame.f_lasti, tuple(
                        (name, frozen(value)) for name, value in frame.f_locals.items()
                        if name != '__builtins__')))
                elif os.path.dirname(os.path.abspath(code.co_filename)) != here and \
                        os.path.basename(code.co_filename) != 'client.py':
                    return None
                frame = frame.f_back
        except Unknown:
            return None
        return (tuple(parts), self.stdout.count, len(self.raw.bytes), self.draws, tuple(
            (c.closed, c.in_transaction, bytes(c.inbox), tuple(map(str, c.pending)))
            for c in self.connections))

    def output(self):
        return bytes(self.raw.bytes)

    # The program's side.
    def park(self, connection):
        if connection.closed:
            raise OSError(9, 'Bad file descriptor')
        self.waits_on = connection
        self.back.release()
        self.go.acquire()
        self.waits_on = None
        if self.dead:
            raise Killed

    def run(self):
        self.raw = Capture()
        self.thread = _thread.get_ident()
        self.stdout = Text(io.BufferedWriter(self.raw), encoding='utf-8')
        self.builtins = dict(builtins.__dict__, __import__=self.load, print=self.write_text)
        status = 1
        try:
            exec(self.program.code, {'__name__': '__main__', '__builtins__': self.builtins,
                                     '__file__': self.program.path})
            status = 0
        except SystemExit as exit:
            status = exit.code if isinstance(exit.code, int) else 0 if exit.code is None else 1
        except Exit as exit:
            self.stdout = io.StringIO()
            status = exit.args[0]
        except CannotJudge as error:
            self.error = str(error)
        except Killed:
            pass
        except BaseException as error:
            self.failure = repr(error)
        try:
            self.stdout.flush()
        except (ValueError, OSError):
            pass
        self.exit = status & 255
        self.back.release()

    def write_text(self, *values, file=None, **options):
        print(*values, file=self.stdout if file is None else file, **options)

    def load(self, name, globals=None, locals=None, fromlist=(), level=0):
        if name in self.imported:
            return self.imported[name]
        if name in REFUSED:
            raise CannotJudge('it imports %s' % name)
        fake = self.fake(name)
        if fake is not None:
            self.imported[name] = fake
            return fake
        code = self.program.module(name)
        if code is None:
            return builtins.__import__(name, globals, locals, fromlist, level)
        module = self.imported[name] = types.ModuleType(name)
        module.__dict__['__builtins__'] = self.builtins
        exec(code, module.__dict__)
        return module

    def draw(self):
        """Returns the client's own random numbers."""
        self.draws += 1
        if self.numbers is None:
            self.numbers = random.Random('client ' + self.name)
        return self.numbers

    def fake(self, name):
        """Returns the module that is the program's own, or None if it gets the real one."""
        if name == 'socket':
            new = lambda *_, **__: Connection(self)
            return Altered(socket, create_connection=new, socket=new)
        if name == 'sys':
            return Altered(sys, stdout=self.stdout, stderr=io.StringIO(), argv=['program'])
        if name == 'os':
            environment = {'REDIS_HOST': '127.0.0.1', 'REDIS_PORT': '6379',
                           'REDIS_URL': 'redis://127.0.0.1:6379', 'REDRACE_CLIENT': self.name}
            return Altered(os, environ=environment, getenv=environment.get, write=self.write,
                           _exit=self.leave, getpid=lambda: 1000 + ord(self.name[0]))
        if name == 'time':
            def now():
                self.looked = True
                return self.clock
            return Altered(time, time=now, monotonic=now, perf_counter=now, sleep=self.sleep,
                           time_ns=lambda: int(now() * 1e9))
        if name == 'random':
            drawn = lambda f: lambda *a, **k: getattr(self.draw(), f)(*a, **k)
            return Altered(random, **{f: drawn(f) for f in (
                'random', 'randint', 'randrange', 'choice', 'shuffle', 'getrandbits', 'sample',
                'uniform', 'choices')})
        if name == 'uuid':
            new = lambda: uuid.UUID(int=self.draw().getrandbits(128), version=4)
            return Altered(uuid, uuid4=new, uuid1=new)
        if name == 'secrets':
            return Altered(secrets, randbelow=lambda n: self.draw().randrange(n), token_hex=lambda n=32:
                           '%0*x' % (2 * n, self.draw().getrandbits(8 * n)))
        return None

    def write(self, descriptor, data):
        if descriptor == 1:
            self.raw.write(data)
        return len(data)

    def leave(self, status):
        raise Exit(status)

    def sleep(self, seconds):
        self.clock += seconds
