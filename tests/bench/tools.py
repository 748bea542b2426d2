# SPDX-License-Identifier: MIT
"""What the scripts of this folder share: redrace run as a user runs it, its results, and
servers of their own."""
import atexit
import contextlib
import csv
import ctypes
import json
import math
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
REDRACE = os.environ.get('REDRACE') or str(ROOT / 'build' / 'redrace')
VIOLATED, INCONCLUSIVE, USAGE, NO_REDIS, INTERNAL, SKIPPED, INTERRUPTED = 1, 2, 64, 69, 70, 77, 130
PR_SET_PDEATHSIG = 1


def complain(text):
    sys.stdout.flush()
    print(f'{pathlib.Path(sys.argv[0]).name}: {text}', file=sys.stderr, flush=True)


def stop(code, text=None):
    """Ends the script, with a line that says why unless redrace has said it already."""
    if text:
        complain(text)
    sys.exit(code)


# An ignored signal stays ignored.
ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
for _number in ENDING:
    if signal.getsignal(_number) != signal.SIG_IGN:
        signal.signal(_number, lambda *_: stop(INTERRUPTED))


# ---- Programs ---------------------------------------------------------------------------------

_children = []


@atexit.register
def _end_children():
    for child in _children:
        if child.poll() is None:
            child.terminate()
            child.wait()


def _settle(cpu, library=ctypes.CDLL(None)):
    """In a child: it goes when the script does, however that ends."""
    library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})


def start(command, cpu=None, **files):
    # A signal comes before there is a child, or when it is known.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        _children.append(subprocess.Popen(list(map(str, command)), text=True,
                                          preexec_fn=lambda: _settle(cpu), **files))
        return _children[-1]
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def finish(child, limit_s=None):
    """Its output, or None after that time; it has ended in any case."""
    try:
        return child.communicate(timeout=limit_s)[0]
    except subprocess.TimeoutExpired:
        return None
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait()


def run(*words, verdicts=(0,), cpu=None, errors=None):
    """What redrace prints and exits with. An exit code that is no verdict ends the script."""
    try:
        child = start([REDRACE, *words], cpu, stdout=subprocess.PIPE, stderr=errors)
    except FileNotFoundError:
        stop(USAGE, f'there is no {REDRACE}; make builds it')
    output = finish(child)
    if child.returncode not in verdicts:
        stop(INTERRUPTED if child.returncode < 0 else child.returncode)
    return output, child.returncode


def results(folder, command, *words, verdicts=(0, VIOLATED, INCONCLUSIVE, SKIPPED)):
    """The JSON that a subcommand writes, the last paragraph that it prints, as one line, and its
    exit code."""
    path = f'{folder}/results.json'
    output, code = run(command, '-o', path, *words, verdicts=verdicts)
    with open(path, encoding='utf-8') as file:
        return json.load(file), ' '.join(output.strip().rsplit('\n\n', 1)[-1].split()), code


def bench(folder, *words, cpu=None, verdicts=(0,)):
    """The rows of runs.csv, as texts."""
    run('bench', '-o', folder, *words, cpu=cpu, verdicts=verdicts)
    with open(f'{folder}/runs.csv', encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file))


def worse(a, b):
    """Of two exit codes: a violation before anything else, then what is not decided."""
    order = VIOLATED, INCONCLUSIVE, SKIPPED, 0
    return next(code for code in order if code in (a, b))


# ---- Servers ----------------------------------------------------------------------------------

def _wait_for(path, child, program):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and child.poll() is None:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as link:
            link.connect(path)
            return
        time.sleep(0.01)
    stop(NO_REDIS, f'{program} does not start, or does not listen')


@contextlib.contextmanager
def servers(program, n, folder, cpu=None):
    """So many private servers that keep nothing on disk: the paths of their sockets."""
    paths = [f'{folder}/server{i}' for i in range(n)]
    children = []
    try:
        for path in paths:
            try:
                child = start([program, '--port', 0, '--save', '', '--unixsocket', path], cpu,
                              cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
            except OSError as error:
                stop(NO_REDIS, f'cannot start {program}: {error.strerror}; install redis-server '
                               '(make deps) or name one with --redis-server PATH')
            children.append(child)
            _wait_for(path, child, program)
        yield paths
    finally:
        for child in children:
            child.kill()
            child.wait()


def uris(paths):
    return ','.join(f'unix://{path}' for path in paths)


# ---- Figures ----------------------------------------------------------------------------------

def median(values):
    return statistics.median(values) if values else None


def interval(values):
    """The ends of the median's interval by order statistics, as bench has it: coverage 95 % at least, or
    the range of five values or fewer."""
    n, rank, outside = len(values), 1, 0
    for k in range(1, n // 2 + 1):
        outside += 2 * math.comb(n, k - 1) / 2 ** n
        if n <= 5 or outside > 0.05:
            break
        rank = k
    ordered = sorted(values)
    return ordered[rank - 1], ordered[n - rank]


def table(head, rows):
    """In Markdown, the columns of figures to the right where `head` says so by a colon."""
    rule = ''.join('---:|' if name.endswith(':') else '---|' for name in head)
    lines = ['| ' + ' | '.join(row) + ' |' for row in [[name.rstrip(':') for name in head], *rows]]
    return '\n'.join([lines[0], '|' + rule, *lines[1:]]) + '\n'
