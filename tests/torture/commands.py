# SPDX-License-Identifier: MIT
"""Each subcommand in a form that takes about a second."""
import os
import subprocess


class Command:
    def __init__(self, words, normal, where=None, seconds=None,
                 lines=1):
        self.words = words.split()
        self.normal = normal      # codes that it may have when nothing happens
        self.lines = lines        # that it may say on stderr
        self.where = where        # its directory; None = one of the round's own
        self.seconds = seconds    # how long it lasts; None = not known yet


def commands(root):
    """What there is here; root is the project's directory."""
    counter = root + '/examples/check/counter.sh'
    table = {
        'bench': ('bench -n 4000 -o r none incr lua-delifequals', {0, 2}),
        'bench-processes': ('bench -n 1500 -p 3 --trace 50 -o r redlock '
                            'lua-renewed', {0, 2}),
        'bench-queue': ('bench -n 1500 -p 3 -t 1 --wait delay-queue '
                        '--kill-workers 1 -o r set-nx-ex', {0, 2}),
        'bench-replicas': ('bench -n 2000 -r 1 --topology replica --fail-over 1 '
                           '-o r lua-delifequals', {0, 1, 2}),
        'bench-sentinels': ('bench -n 2000 --topology sentinel -o r incr',
                            {0, 2}),
        'bench-cluster': ('bench -n 2000 --topology cluster --fail-over 1 -o r '
                          'incr', {0, 1, 2}),
        'play': ('play lost-update -o x.html', {0}),
        'play-schedule': ('play redlock --save x.race', {0}),
        'explore': ('explore -o x.json multi-watch-split lua-delifequals',
                    {0, 2}),
        'explore-large': ('explore --clients 3 --crashes 1 --audit 20 '
                          'set-nx-ex', {0, 2}),
        'matrix': ('matrix -j 3 --hazard pause -o m.json -o m.html none '
                   'fenced', {0}),
        'claims': ('claims -j 3 TL-7,TX-9 -o c.json -o c.html',
                   {0}),
        'check': ('check --save s.race -o k.json -- sh %s' % counter, {1}),
        'demo': ('demo --auto --seconds-each 1 counts', {0, 2}),
        'report': ('report -o r.html lost-update', {0}),
        'game': ('game -o g.html lost lease', {0}),
        'doctor': ('doctor', {0, 1, 2, 69}),
    }
    return {name: Command(*row) for name, row in table.items()}


def is_known(redrace, name):
    """Has this program the subcommand?"""
    return subprocess.run([redrace, 'help', name.split('-')[0]],
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def chosen(redrace, root, only):
    found = {name: command for name, command in commands(root).items()
             if is_known(redrace, name)}
    if only:
        found = {name: found[name] for name in only if name in found}
    return found


def project_root():
    return os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
