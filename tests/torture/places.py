# SPDX-License-Identifier: MIT
"""Where the program is run: disks, limits, directories, descriptors, pipes."""
import os
import resource
import signal
import stat
import subprocess
import tempfile
import time

from commands import chosen
from scene import Failure, Scene

LIMIT = 40
USER = 54321  # nobody's: limits of processes do not bind root


def limit(what, n):
    return lambda: resource.setrlimit(what, (n, n))


def everybody_comes_to(path):
    """Not where a directory above it is ours alone, as in CI."""
    path = os.path.realpath(path)
    while path != '/':
        path = os.path.dirname(path)
        if not os.stat(path).st_mode & stat.S_IXOTH:
            return False
    return True


class Places:
    name = 'places'
    rounds = 300

    def __init__(self, redrace, root, only):
        self.redrace = redrace
        self.only = only
        self.commands = chosen(redrace, root, None)
        self.commands.pop('peers', None)
        self.kinds = {
            'full disk': self.full_disk,
            'full output': self.full_output,
            'small files': self.small_files,
            'few descriptors': self.few_descriptors,
            'few processes': self.few_processes,
            'little memory': self.little_memory,
            'directory': self.directory,
            'closed': self.closed,
            'pipe': self.pipe,
            'stopped': self.stopped,
        }
        if os.getuid() != 0:
            del self.kinds['full disk']
        if os.getuid() != 0 or not (everybody_comes_to(redrace) and
                                    everybody_comes_to(tempfile.gettempdir() + '/x')):
            del self.kinds['few processes']

    def round(self, rng, tell):
        kind = rng.choice(sorted(self.only or self.kinds))
        name = rng.choice(sorted(self.commands))
        tell('%s: %s' % (kind, name))
        with Scene(self.redrace) as scene:
            self.kinds[kind](scene, rng, self.commands[name],
                             lambda text: tell('%s: %s: %s'
                                               % (kind, name, text)))
        return kind

    @staticmethod
    def finish(scene, command, allowed, most=1):
        """It ends, with a word for each code that is not as usual."""
        scene.wait(LIMIT)
        scene.check_code(command.normal | allowed)
        lines = scene.check_lines(most)
        if scene.rc not in command.normal and scene.rc > 0 and not lines:
            raise Failure('exit code %d without a word' % scene.rc)
        scene.check_left()

    def full_disk(self, scene, rng, command, tell):
        """TMPDIR, or the place for output, on a small disk."""
        size = rng.choice([4, 16, 64, 256, 1024, 4096])
        where = rng.choice([scene.tmp, scene.out])
        tell('%d KiB for %s' % (size, os.path.basename(where)))
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=%dk' % size,
                           'tmpfs', where], stderr=subprocess.DEVNULL,
                          check=False).returncode:
            return  # not permitted here
        try:
            scene.start(command.words)
            self.finish(scene, command, {69, 70, 74, 77}, most=3)
        finally:
            subprocess.run(['umount', '-l', where], check=False)

    def full_output(self, scene, rng, command, tell):
        with open('/dev/full', 'wb') as full:
            scene.start(command.words, stdout=full)
            # What it prints nothing of, it need not write.
            self.finish(scene, command, {74}, most=2)

    def small_files(self, scene, rng, command, tell):
        size = rng.choice([0, 100, 4096, 65536])
        tell('%d bytes' % size)
        scene.start(command.words, limit(resource.RLIMIT_FSIZE, size))
        # No word can be had where stderr is a file.
        scene.wait(LIMIT)
        scene.check_code(command.normal | {69, 70, 74, 77})
        scene.check_left()

    def few_descriptors(self, scene, rng, command, tell):
        n = rng.choice([3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64])
        tell('%d of them' % n)
        scene.start(command.words, limit(resource.RLIMIT_NOFILE, n))
        self.finish(scene, command, {64, 65, 69, 70, 74, 77, 127}, most=3)

    def few_processes(self, scene, rng, command, tell):
        n = rng.choice([1, 2, 3, 4, 5, 6, 8, 12, 20])
        tell('%d of them' % n)
        os.chmod(scene.home, 0o755)
        for path in (scene.tmp, scene.out):
            os.chown(path, USER, USER)

        def become():
            os.setgid(USER)
            os.setuid(USER)
            resource.setrlimit(resource.RLIMIT_NPROC, (n, n))
        scene.start(command.words, become)
        self.finish(scene, command, {2, 65, 69, 70, 77}, most=4)

    def little_memory(self, scene, rng, command, tell):
        mebibytes = rng.choice([8, 12, 16, 24, 32, 48, 64, 80, 100, 130, 200])
        tell('%d MiB' % mebibytes)
        scene.start(command.words,
                    limit(resource.RLIMIT_AS, mebibytes << 20))
        self.finish(scene, command, {2, 65, 69, 70, 74, 77, 127}, most=4)

    def directory(self, scene, rng, command, tell):
        """TMPDIR as nobody would have it; what is left in it is looked for."""
        def made(name):
            os.mkdir(scene.home + '/' + name)
            return scene.home + '/' + name
        what = rng.choice(['missing', 'long', 'blanks', 'newline', 'empty',
                           'file', 'relative', 'slash', 'read-only', 'link',
                           'quotes'])
        tell(what)
        path = {
            'missing': lambda: '/nowhere/at/all',
            'long': lambda: made('x' * 200),
            'blanks': lambda: made('a b  c'),
            'newline': lambda: made('a\nb'),
            'quotes': lambda: made('a\'b"c$d'),
            'empty': lambda: '',
            'file': lambda: '/etc/passwd',
            'relative': lambda: '../tmp',
            'slash': lambda: scene.tmp + '//',
            'read-only': lambda: '/proc/self',
            'link': lambda: scene.home + '/link',
        }[what]()
        os.symlink(scene.tmp, scene.home + '/link')
        scene.start(command.words, tmp=path)
        bad = what in ('missing', 'long', 'file', 'read-only', 'newline',
                       'quotes', 'blanks')
        self.finish(scene, command, {74} if bad else set(), most=1)
        if what in ('blanks', 'newline', 'quotes', 'long'):
            left = os.listdir(path)
            if left:
                raise Failure('left in TMPDIR: %s' % left)

    def closed(self, scene, rng, command, tell):
        which = [fd for fd in range(3) if rng.random() < 0.6] or [1]
        tell(' '.join(str(fd) for fd in which))
        scene.start(command.words,
                    lambda: [os.close(fd) for fd in which] and None)
        scene.wait(LIMIT)
        scene.check_code(command.normal | ({74} if 1 in which else set()))
        scene.check_left()

    def pipe(self, scene, rng, command, tell):
        """Whoever reads goes away at once, or after the first bytes."""
        reader, writer = os.pipe()
        after = rng.choice([0, 1])
        tell('%d bytes read' % after)
        scene.start(command.words, stdout=writer)
        os.close(writer)
        if after:
            os.read(reader, after)
        os.close(reader)
        self.finish(scene, command, {74, -signal.SIGPIPE})

    def stopped(self, scene, rng, command, tell):
        """Of itself or by the terminal, and continued."""
        number = rng.choice([signal.SIGSTOP, signal.SIGTSTP])
        scene.start(command.words)
        for _ in range(rng.randrange(1, 4)):
            time.sleep(rng.uniform(0, 0.3))
            for pid in [scene.program.pid]:
                os.kill(pid, number)
            time.sleep(rng.uniform(0, 0.5))
            os.kill(scene.program.pid, signal.SIGCONT)
        self.finish(scene, command, set())
