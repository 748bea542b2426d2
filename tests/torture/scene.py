# SPDX-License-Identifier: MIT
"""One run of the program in a directory of its own, and what is left of it."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

# What the program may exit with; a negative one is a signal.
CODES = {0, 1, 2, 3, 64, 65, 69, 70, 74, 77, 130}
MARK = 'RR_TORTURE'


class Failure(Exception):
    """Something that must not be; its text says what."""


def patience(seconds):
    """So long on a machine that does nothing else, longer on a busy one."""
    return seconds * max(1, os.getloadavg()[0] / os.cpu_count())


def wait_until(holds, seconds):
    """Waits for a condition, at most so long; whether it holds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def read_bytes(path):
    try:
        with open(path, 'rb') as file:
            return file.read()
    except OSError:
        return b''


class Process:
    """One that the program has started, or the program itself."""

    def __init__(self, pid, program):
        self.pid = pid
        fields = read_bytes('/proc/%d/stat' % pid).rpartition(b')')[2].split()
        self.state = fields[0].decode() if fields else 'X'
        self.parent = int(fields[1]) if fields else 0
        self.group = int(fields[2]) if fields else 0
        self.words = read_bytes('/proc/%d/cmdline' % pid).split(b'\0')[:-1]
        self.role = self.find_role(program)

    def find_role(self, program):
        if self.pid == program:
            return 'program'
        # Forked and not executed: its words are the program's.
        if not self.words or not self.words[0].endswith(b'redrace'):
            return 'server' if b'redis-server' in b' '.join(
                self.words[:1]) else 'other'
        return 'guardian' if self.group == self.pid else 'worker'


class Scene:
    """A directory with TMPDIR and a place for output; use it in a with."""

    count = 0

    def __init__(self, redrace):
        self.redrace = redrace
        self.home = tempfile.mkdtemp(prefix='rr-t-')
        self.tmp = self.home + '/tmp'
        self.out = self.home + '/out'
        self.aside = self.home + '-own'  # for servers of the test's own
        os.mkdir(self.aside)
        os.mkdir(self.tmp)
        os.mkdir(self.out)
        Scene.count += 1
        self.mark = '%d-%d' % (os.getpid(), Scene.count)
        self.program = None
        self.rc = None

    def __enter__(self):
        return self

    def __exit__(self, *what):
        for process in self.processes():
            try:
                os.kill(process.pid, signal.SIGKILL)
            except OSError:
                pass
        if self.program and self.program.poll() is None:
            self.program.kill()
            self.program.wait()
        wait_until(lambda: not self.processes(), 5)
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.rmtree(self.aside, ignore_errors=True)

    def start(self, words, prepare=None, tmp=None, stdout=None, wrap=(),
              where=None, stdin=subprocess.DEVNULL, **more):
        """Starts redrace with these words."""
        env = dict(os.environ, TMPDIR=self.tmp if tmp is None else tmp)
        env[MARK] = self.mark
        env.update(more)
        with open(self.home + '/stdout', 'wb') as out, \
                open(self.home + '/stderr', 'wb') as err:
            self.program = subprocess.Popen(
                [*wrap, self.redrace, *words], cwd=where or self.out, env=env,
                stdin=stdin, stdout=stdout or out, stderr=err,
                start_new_session=True, preexec_fn=prepare)

    def processes(self):
        """Those that live and have been started from here."""
        wanted = ('%s=%s' % (MARK, self.mark)).encode()
        program = self.program.pid if self.program else 0
        every = {}
        for name in os.listdir('/proc'):
            if name.isdigit():
                process = Process(int(name), program)
                if process.state not in 'XZ':
                    every[process.pid] = process
        # A server writes its title over its environment, but keeps its place.
        found = {pid for pid in every if self.is_ours(pid, wanted)}
        more = found
        while more:
            more = {p.pid for p in every.values()
                    if p.parent in more and p.pid not in found}
            found |= more
        return [every[pid] for pid in sorted(found)]

    def is_ours(self, pid, wanted):
        try:
            where = os.readlink('/proc/%d/cwd' % pid)
        except OSError:
            where = ''
        return where.startswith(self.home + '/') or wanted in read_bytes(
            '/proc/%d/environ' % pid).split(b'\0')

    def wait(self, seconds):
        """Until the program ends; then its code, a signal's number negative."""
        try:
            self.rc = self.program.wait(patience(seconds))
        except subprocess.TimeoutExpired:
            raise Failure('still runs after %d s%s' % (
                patience(seconds), self.tell())) from None
        return self.rc

    def lines(self):
        """What it has said on stderr, without the progress of long work."""
        text = read_bytes(self.home + '/stderr').decode('utf-8', 'replace')
        return [line for line in re.split(r'[\n\r]', text)
                if line.strip() and not is_progress(line)]

    def tell(self):
        return ''.join('\n    %s' % line[:300] for line in self.lines()[:8])

    def check_lines(self, most=1):
        """A line for people, and nothing that a terminal would obey."""
        lines = self.lines()
        for line in lines:
            if any(ord(c) < 32 or ord(c) == 127 for c in line):
                raise Failure('control characters on stderr: %r' % line)
            if 'Sanitizer' in line or 'runtime error' in line:
                raise Failure('a sanitizer complains%s' % self.tell())
        if len(lines) > most:
            raise Failure('%d lines on stderr%s' % (len(lines), self.tell()))
        return lines

    def check_code(self, wanted):
        if self.rc not in wanted:
            raise Failure('exit code %s, expected %s%s' % (
                self.rc, ' or '.join(str(code) for code in sorted(wanted)),
                self.tell()))

    def check_left(self, seconds=2):
        """No process, no directory, no half file."""
        limit = patience(seconds)
        if not wait_until(lambda: not self.processes(), limit):
            raise Failure('processes are left after %.1f s: %s' % (
                limit, ', '.join('%s (%s)' % (p.role, b' '.join(p.words[:3])
                                              .decode('utf-8', 'replace'))
                                 for p in self.processes())))
        if not wait_until(lambda: not os.listdir(self.tmp), limit):
            raise Failure('left in TMPDIR: ' + ' '.join(os.listdir(self.tmp)))
        for directory, _, names in os.walk(self.out):
            for name in names:
                # What was being written when nothing more could be done.
                if self.rc != -signal.SIGKILL or not name.startswith('.redrace-'):
                    check_whole(os.path.join(directory, name))


def is_progress(line):
    """"redrace: 3 of 9, ..., about 12 s left", of which a complaint is told by a colon
    more."""
    return bool(re.match(r'(\x1b\[K)?redrace: ([\d,]+ (of|states|kills)\b[^:]*'
                         r'|[^:]* left)$', line))


def check_whole(path):
    """A file that is there is there as a whole."""
    name = os.path.basename(path)
    data = read_bytes(path)
    if not re.search(r'\.(json|html|xml|csv|race|svg|md|txt|dot|tap)$', name):
        raise Failure('half a result: %s' % name)
    if name.endswith('.json'):
        try:
            json.loads(data)
        except ValueError as error:
            raise Failure('%s: %s' % (name, error)) from None
    if name.endswith('.html') and not data.rstrip().endswith(b'</html>'):
        raise Failure('%s ends early' % name)
    if name.endswith('.csv') and not data.endswith(b'\n'):
        raise Failure('%s ends within a row' % name)
