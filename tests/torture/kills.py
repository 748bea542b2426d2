# SPDX-License-Identifier: MIT
"""Signals at random moments: to the program, and to what it has started."""
import os
import signal
import time

from commands import chosen
from scene import Failure, Scene

# How often each is drawn; a signal that ends the program orderly only goes there.
VICTIMS = (['program'] * 5 + ['worker'] * 2 + ['server'] * 2 + ['guardian'] +
           ['other'])
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
LIMIT = 20


def measure(command, redrace):
    """How long it lasts, once; and it has to be right when nothing happens."""
    if command.seconds is None:
        with Scene(redrace) as scene:
            began = time.monotonic()
            scene.start(command.words, where=command.where)
            scene.wait(120)
            scene.check_code(command.normal)
            scene.check_left()
            command.seconds = time.monotonic() - began
    return command.seconds


def moment(rng, seconds):
    """Anywhere; early more often, when everything is made."""
    if rng.random() < 0.3:
        return rng.uniform(0, min(0.1, seconds))
    return rng.uniform(0, seconds)


def choose_victim(scene, rng):
    """A process and its role; the program itself when there is none of the role
    that was drawn."""
    wanted = rng.choice(VICTIMS)
    found = [p for p in scene.processes() if p.role == wanted]
    if not found:
        return scene.program.pid, 'program'
    return rng.choice(sorted(found, key=lambda p: p.pid)).pid, wanted


def strike(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def judge(scene, command, role, number):
    if role == 'program' and number == signal.SIGKILL:
        scene.wait(2)
        allowed = {-signal.SIGKILL} | command.normal
    elif role == 'program':
        scene.wait(2)
        # Before it has begun to listen a signal ends it like any program.
        allowed = {130, -number} | command.normal
        scene.check_lines(command.lines)
    else:
        scene.wait(LIMIT)
        allowed = {69, 70} | command.normal
        # One that has just been forked is not known for a guardian yet.
        if role in ('guardian', 'worker'):
            allowed |= {74}
        if role == 'other':
            allowed |= {65, 77, 0, 2}
    scene.check_code(allowed)
    if scene.rc not in command.normal and scene.rc >= 0 and scene.rc != 130:
        if not scene.check_lines(command.lines):
            raise Failure('exit code %d without a word' % scene.rc)
    scene.check_left()


class Kills:
    name = 'kills'
    rounds = 1000

    def __init__(self, redrace, root, only):
        self.redrace = redrace
        self.commands = chosen(redrace, root, only)

    def round(self, rng, tell):
        name = rng.choice(sorted(self.commands))
        tell('%s, which nobody harms' % name)
        command = self.commands[name]
        after = moment(rng, measure(command, self.redrace))
        with Scene(self.redrace) as scene:
            scene.start(command.words, where=command.where)
            time.sleep(after)
            pid, role = choose_victim(scene, rng)
            number = signal.SIGKILL
            if role == 'program':
                number = rng.choice([signal.SIGKILL, rng.choice(ENDING)])
            tell('%s, %s to the %s after %.3f s' % (
                name, signal.Signals(number).name, role, after))
            strike(pid, number)
            judge(scene, command, role, number)
        return '%s %s' % (role, signal.Signals(number).name)
