# SPDX-License-Identifier: MIT
"""Race files that try to get out of what a race may do."""

# Roles and rights, as a race may have them, before it tries.
OPENINGS = [
    ['A> ACL SETUSER worker on >pw ~* &* +@all => *', 'A> AUTH worker pw => *'],
    ['A> ACL SETUSER worker on >pw +@all => *', 'B> AUTH worker pw => *'],
    ['A> ACL SETUSER default on ~* &* +@all => *'],
    ['A> ACL SETUSER worker reset on >pw ~* +@admin +@dangerous => *',
     'A> HELLO 3 AUTH worker pw => *'],
    ['A> CONFIG SET maxmemory 100mb => *'],
    ['A> CONFIG SET hz 20 timeout 0 => *', 'A> MULTI => *'],
    ['A> REPLICAOF 127.0.0.1 1 => *', 'A> REPLICAOF NO ONE => *'],
    ['A> MULTI => *'],
    ['A> HELLO 3 => *'],
    ['A> RESET => *'],
    ['A> ACL DELUSER worker => *'],
    ['A> CLIENT REPLY SKIP => (waits)'],
    [],
]

HEADINGS = [
    ['clients A B Z'],
    ['clients A B Z'],
    ['clients B Z', 'connection A C'],
    ['clients A B Z', 'server redis debug'],
    ['clients A B Z', 'server redis aof=always rdb'],
    ['clients A B Z', 'server redis tcp', 'server n1 replica-of=redis'],
    ['clients A B Z', 'servers redis n1'],
    ['clients A B Z', 'server redis config=lua-time-limit=100'],
]

# Lines that a heading may not be made of.
BAD_HEADINGS = [
    'server x config=dir=%(place)s',
    'server x "config=save=1 1\\nport %(port)d"',
    'server x "config=hz=10\\rport %(port)d"',
    'server "x\\nport %(port)d" rdb',
    'server x config=loadmodule=%(module)s',
    'server x "config=notify-keyspace-events=\\"KEA\\" port=%(port)d"',
    'server x config=include=%(place)s/x',
    'given CONFIG SET port %(port)d',
    'given ACL SETUSER redrace off',
    'given MULTI',
    'given SUBSCRIBE c',
    'given EVAL "return redis.call(\'CONFIG\',\'SET\',\'port\',\'%(port)d\')" 0',
    'given MODULE LOAD %(module)s',
]

PAYLOADS = [
    'CONFIG SET port %(port)d',
    'CONFIG SET hz 20 port %(port)d',
    'CONFIG SET bind 0.0.0.0',
    'CONFIG SET dir %(place)s',
    'CONFIG SET dbfilename x.rdb',
    'CONFIG SET enable-debug-command yes',
    'CONFIG SET requirepass mine',
    'CONFIG SET masteruser redrace',
    'CONFIG SET logfile %(place)s/log',
    'CONFIG REWRITE',
    'REPLICAOF 127.0.0.1 %(stranger)d',
    'SLAVEOF 127.0.0.1 %(stranger)d',
    'MIGRATE 127.0.0.1 %(stranger)d k 0 100',
    'FAILOVER TO 127.0.0.1 %(stranger)d FORCE TIMEOUT 1',
    'CLUSTER MEET 127.0.0.1 %(stranger)d',
    'MODULE LOAD %(module)s',
    'MODULE LOADEX %(module)s',
    'ACL SETUSER default on nopass ~* &* +@all',
    'ACL SETUSER worker on >pw ~* &* +@all',
    'ACL SETUSER worker on >pw (+@all ~*)',
    'ACL SETUSER worker (+@all ~* ) +acl +config',
    'ACL SETUSER redrace >x',
    'ACL SETUSER redrace off',
    'ACL DELUSER redrace',
    'ACL SAVE',
    'ACL LOAD',
    'DEBUG SET-DISABLE-DENY-SCRIPTS 1',
    'DEBUG MALLCTL thread.tcache.enabled 0',
    'DEBUG CONFIG-REWRITE-FORCE-ALL',
    'DEBUG RELOAD',
    'DEBUG SEGFAULT',
    'SCRIPT DEBUG SYNC',
    'SCRIPT DEBUG YES',
    'AUTH redrace x',
    'HELLO 3 AUTH redrace x',
    'RESET',
    'SYNC',
    'PSYNC ? -1',
    'MONITOR',
    'SAVE',
    'BGREWRITEAOF',
    'SHUTDOWN NOSAVE',
    'CLIENT KILL TYPE normal SKIPME no',
    'SELECT 5',
]

MODULE = """#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void leave(void)
{
	close(open("%s/loaded", O_CREAT | O_WRONLY, 0600));
}
"""


def quoted(data):
    """As a word of a race."""
    return '"%s"' % ''.join(
        chr(c) if 32 <= c < 127 and c not in b'"\\' else '\\x%02x' % c
        for c in data)


def resp(words):
    words = [word.encode() for word in words]
    return b'*%d\r\n' % len(words) + b''.join(
        b'$%d\r\n%s\r\n' % (len(word), word) for word in words)


def odd_case(rng, word):
    return ''.join(rng.choice([c.upper(), c.lower()]) for c in word)


def lua(words):
    return 'redis.call(%s)' % ','.join("'%s'" % word for word in words)


# ---- Ways in which a command can be brought ----------------------------------------

def plainly(rng, words):
    first = odd_case(rng, words[0])
    return ['%s> %s => *' % (rng.choice('AB'), ' '.join([first, *words[1:]]))]


def elsewhere(_, words):
    return ['A@n1> %s => *' % ' '.join(words)]


def escaped(_, words):
    return ['A> "\\x%02x%s" %s => *' % (ord(words[0][0]), words[0][1:],
                                       ' '.join(words[1:]))]


def written(_, words):
    return ['A writes %s' % ' '.join(words)]


def in_transaction(_, words):
    return ['B> MULTI => *', 'B> %s => *' % ' '.join(words), 'B> EXEC => *']


def in_script(rng, words):
    call = rng.choice(['return %s', 'redis.setresp(3) return %s',
                       'return redis.pcall(unpack({%s}))',
                       'return loadstring("return %s")()'])
    script = call % lua(words)
    if 'unpack' in call:
        script = call % ','.join("'%s'" % word for word in words)
    return ['A> %s %s 0 => *' % (rng.choice(['EVAL', 'EVAL_RO']),
                                quoted(script.encode()))]


def in_function(_, words):
    code = ("#!lua name=f\nredis.register_function{function_name='f',"
            "callback=function() return %s end,flags={'allow-stale'}}")
    return ['A> FUNCTION LOAD REPLACE %s => *' % quoted(
        (code % lua(words)).encode()), 'A> FCALL f 0 => *']


def by_variable(rng, words):
    """One word is only known when it is sent."""
    at = rng.randrange(len(words))
    lines = ['A> ECHO %s => "$V"' % words[at]]
    words = [*words[:at], '$V', *words[at + 1:]]
    return lines + ['A> %s => *' % ' '.join(words)]


def script_by_variable(_, words):
    return ['A> ECHO %s => "$S"' % quoted(('return ' + lua(words)).encode()),
            'A> EVAL $S 0 => *']


def as_bytes(rng, words):
    """In two steps, cut anywhere; as arrays or as a line."""
    data = rng.choice([resp(words), ' '.join(words).encode() + b'\r\n',
                       ('"%s"' % words[0]).encode() + b' ' +
                       ' '.join(words[1:]).encode() + b'\r\n'])
    at = rng.randrange(len(data))
    return ['A writes bytes %s' % quoted(part)
            for part in (data[:at], data[at:]) if part]


def swallowed(rng, words):
    """A bulk that is announced takes in the head of the next command, whose argument is
    a command then."""
    hidden = resp(words)
    carrier = [b'SET', b'k', b'\r\n' + hidden]
    head = b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n' % len(carrier[2])
    announced = b'*2\r\n$4\r\nECHO\r\n$%d\r\n' % len(head)
    lines = ['A writes bytes %s' % quoted(announced)]
    if rng.random() < 0.3:
        lines.insert(0, 'A> ECHO %s => "$V"' % words[0])
        return lines + ['A writes SET k %s' % quoted(
            carrier[2].replace(words[0].encode(), b'$V'))]
    return lines + ['A writes SET k %s' % quoted(carrier[2])]


def repeated(rng, words):
    """Bytes of one round, and what comes behind them in the next."""
    lines = swallowed(rng, words)
    return ['repeat 3', *reversed(lines), 'end']


def by_another(rng, words):
    """On a connection that two clients share."""
    return [line.replace('A writes', rng.choice(['A', 'C']) + ' writes')
            for line in swallowed(rng, words)]


def after_a_fault(rng, words):
    return [rng.choice(['restart redis', 'hang redis', 'tick 11s',
                        'power-cut redis']), 'A crashes', 'A connects',
            'A> %s => *' % ' '.join(words)]


def blocked(_, words):
    """Behind a command that waits until the program has a step of its own."""
    return ['B writes bytes %s' % quoted(resp(['BLPOP', 'q', '0']) + resp(words)),
            'A> CONFIG SET hz 30 => *', 'A> RPUSH q 1 => *']


WAYS = [plainly, plainly, elsewhere, escaped, written, in_transaction, in_script,
        in_function, by_variable, script_by_variable, as_bytes, swallowed, repeated,
        by_another, after_a_fault, blocked]


def make(rng, values):
    """A race as lines: the first and the last step are pings of Z, at which the servers
    can be looked at."""
    lines = ['title An escape', *rng.choice(HEADINGS)]
    if rng.random() < 0.1:
        lines.append(rng.choice(BAD_HEADINGS) % values)
    lines.append('Z> PING => *')
    for _ in range(rng.randrange(3)):
        lines += rng.choice(OPENINGS)
    for _ in range(rng.randrange(1, 5)):
        words = (rng.choice(PAYLOADS) % values).split()
        lines += rng.choice(WAYS)(rng, words)
    return lines + ['Z crashes', 'Z connects', 'Z> ECHO last => *',
                    'verdict nothing broken']
