# SPDX-License-Identifier: MIT
"""What the scripts of this folder share: redrace run as a user runs it, and its results."""
import csv
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REDRACE = os.environ.get('REDRACE') or str(ROOT / 'build' / 'redrace')
VIOLATED, INCONCLUSIVE, USAGE, NO_REDIS, SKIPPED, INTERRUPTED = 1, 2, 64, 69, 77, 130


def stop(code, text=None):
    """Ends the script, with a line that says why unless redrace has said it already."""
    sys.stdout.flush()
    if text:
        print(f'{pathlib.Path(sys.argv[0]).name}: {text}', file=sys.stderr)
    sys.exit(code)


def interrupted(_signal, _frame):
    stop(INTERRUPTED)


# What runs hears of Ctrl-C by itself, and cleans up; an `except` of ours must not hide it.
signal.signal(signal.SIGINT, interrupted)
signal.signal(signal.SIGTERM, interrupted)


def run(*words, verdicts=(0,), cpu=None, errors=None):
    """What redrace prints and exits with. An exit code that is no verdict ends the script."""
    pin = ['taskset', '-c', str(cpu)] if cpu is not None else []
    command = [*pin, REDRACE, *map(str, words)]
    try:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    except FileNotFoundError as error:
        stop(USAGE, f'{error.filename} is not there; make builds redrace')
    try:
        output = child.communicate()[0]
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait()
    if child.returncode not in verdicts:
        stop(INTERRUPTED if child.returncode < 0 else child.returncode)
    return output, child.returncode


def results(folder, command, *words, verdicts=(0, VIOLATED, INCONCLUSIVE, SKIPPED)):
    """The JSON that a subcommand writes, the last line that it prints, and its exit code."""
    path = f'{folder}/results.json'
    output, code = run(command, '-o', path, *words, verdicts=verdicts)
    with open(path, encoding='utf-8') as file:
        return json.load(file), output.strip().rsplit('\n', 1)[-1], code


def bench(folder, *words, cpu=None):
    """The rows of runs.csv, as texts."""
    run('bench', '-o', folder, *words, cpu=cpu)
    with open(f'{folder}/runs.csv', encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file))


def worse(a, b):
    """Of two exit codes: a violation before anything else, then what is not decided."""
    order = [VIOLATED, 3, INCONCLUSIVE, SKIPPED, 0]
    return next(code for code in order if code in (a, b))


def median(values):
    return statistics.median(values) if values else None


def table(head, rows):
    """In Markdown, the columns of figures to the right where `head` says so by a colon."""
    rule = ''.join('---:|' if name.endswith(':') else '---|' for name in head)
    lines = ['| ' + ' | '.join(row) + ' |' for row in [[name.rstrip(':') for name in head], *rows]]
    return '\n'.join([lines[0], '|' + rule, *lines[1:]]) + '\n'
