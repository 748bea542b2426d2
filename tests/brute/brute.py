#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays the schedules of a small program on a real redis-server, and judges them.

An independent judge for `redrace check`: it shares no code, no table and no rule with it. The
program is a file of Python that `redrace check -- python3 FILE` runs, too (party.py says what it
may use). Each command that a client sends is a step; a schedule says whose command is executed
next. All schedules are played, depth-first, or many random ones if they are too many.

What is judged (final-state serializability with outputs)

  An *end* is the contents of all databases (types, values, seconds to live, streams with their
  groups and pending entries) and functions, and of every client the bytes that it has written to
  standard output and its exit status.
  A *serial execution* begins with what --init leaves and no scripts, and runs some or all clients
  one after the other, each to its end, in any order. If a client waits there for ever it is none.
  A client is *refused* in a schedule if it exits with a status other than 0, and none of its
  commands has changed data.
  A schedule is *explained* if some serial execution has the same data, and has all clients but
  some or all of those that were refused, each with the same output and the same exit status.

Verdicts, and exit codes

  serializable      0  every schedule was played, ends and is explained
  not serializable  1  a schedule is not; it was played a second time, beside serial executions
                       that were played a second time
  stuck             1  a schedule after which some client waits for ever, likewise; but some
                       serial execution of all clients ends
  not all played    2  nothing was found, but there are more schedules: too many, or too long
  no serial end     2  no serial execution of all clients ends: nothing can be compared
  cannot be judged  65 the program uses what is not controlled, or differs between two runs

What is left out

  Time (party.py). What a client does at its end, when its connections are closed, happens
  immediately after its last step. --init is not checked. Two clients do not talk to each other
  outside Redis. Random values are equal if their client has drawn equally many before.

Which schedules are not played

  Two commands of two clients that are next to each other and *independent* give the same end in
  both orders: only one order is played (sleep sets; Godefroid 1996). Independent are: a command
  that a transaction only queues, or MULTI, and any other; two commands of the lists below, of one
  key each, if the keys have different names, or if both only read. Not if any connection is
  blocked or subscribed: then the order in which keys become ready counts. --all-orders plays both.
  A client that waits in a loop, only reads, and is where it was, with the same variables, is not
  continued until another client has done something else than read (a shortest schedule to any end
  has no such round); if all clients are there, they are stuck.
"""
import argparse
import itertools
import json
import random
import signal
import sys
import time

sys.dont_write_bytecode = True
import party
from server import SCRIPTS, Server, describe, expiring, read_init

READS = set('''GET GETRANGE STRLEN EXISTS TTL PTTL TYPE LLEN LRANGE LINDEX SISMEMBER SMEMBERS SCARD
    MGET HGET HGETALL HEXISTS HLEN HMGET HKEYS HVALS ZSCORE ZRANGE ZCARD ZRANK ZCOUNT ZRANGEBYSCORE
    XLEN XRANGE GETBIT'''.split())
WRITES = set('''SET SETNX SETEX PSETEX GETSET GETDEL GETEX APPEND INCR DECR INCRBY DECRBY INCRBYFLOAT
    SETRANGE EXPIRE PEXPIRE PERSIST LPUSH RPUSH LPOP RPOP LSET LREM LTRIM SADD SREM HSET HSETNX
    HINCRBY HDEL ZADD ZINCRBY ZREM SETBIT'''.split())


class End:
    """How a run ended."""

    def __init__(self, status, data, clients, trace):
        self.status = status    # 'end', 'stuck', 'long' or 'pruned'
        self.data = data
        self.clients = clients  # by name: exit status, output, whether it has changed data
        self.trace = trace      # the steps: client, connection, text

    def same_as(self, other):
        return (self.status, self.data, self.clients) == (other.status, other.data, other.clients)


class Driver:
    """Runs the clients of a program along a schedule."""

    def __init__(self, server, programs, init, depth=200):
        self.server, self.programs, self.init, self.depth = server, programs, init, depth
        self.track = False  # see who changes data: costs a round trip for each step
        self.waited = False    # some client has slept, or looked at its clock
        self.failures = set()  # the exceptions that clients have ended with

    def run(self, choose, order=None):
        """Plays one schedule. `choose` gets the steps that are possible, and returns one, or None
        to stop. With `order`, the clients of a serial execution, each begins after the other's
        end; clients that it does not name are not run."""
        self.server.empty(self.init)
        names = order if order is not None else list(self.programs)
        self.parties = [party.Party(name, self.programs[name], self.server) for name in names]
        self.visited, self.idle = {}, set()
        waiting_to_begin = list(self.parties)
        if order is None:
            while waiting_to_begin:
                self.begin(waiting_to_begin.pop(0))
        trace, status = [], 'end'
        try:
            while True:
                steps = self.steps() + self.timeouts()
                if not steps and waiting_to_begin and not self.blocked() and not self.idle:
                    self.begin(waiting_to_begin.pop(0))
                    continue
                if not steps:
                    break
                if len(trace) >= self.depth:
                    status = 'long'
                    break
                step = choose(steps)
                if step is None:
                    status = 'pruned'
                    break
                trace.append((step[0].name, step[0].connections.index(step[1]), step[2]))
                self.execute(*step)
            data = self.server.data() if status != 'pruned' else None
            if status == 'end' and any(p.exit is None for p in self.parties):
                # A client that polls may be helped by a lease that ends, which none does here.
                status = 'long' if self.idle and expiring(data) else 'stuck'
            for client in self.parties:
                if client.error:
                    raise party.CannotJudge('client %s: %s' % (client.name, client.error))
                self.failures |= {client.failure} - {None}
                self.waited |= client.looked or client.clock != party.BEGINNING
            clients = {p.name: (p.exit, p.output(), p.changed) for p in self.parties if p.begun}
            return End(status, data, clients, trace)
        finally:
            for client in self.parties:
                client.end()

    def begin(self, client):
        client.begin()
        self.settle()

    def steps(self):
        """Returns the steps that are possible: client, connection, command."""
        return [(p, c, c.pending[0]) for p in self.parties if p.name not in self.idle
                for c in p.connections if c.ready()]

    def blocked(self):
        return [(p, c) for p in self.parties for c in p.connections
                if c.running is not None and p.exit is None]

    def timeouts(self):
        """Returns the commands whose time-out is over next: the word 'time-out' is the step. The
        other clients may be slow, so it may be over although they could go on."""
        limited = [(c.running.timeout, p, c) for p, c in self.blocked() if c.running.timeout]
        first = min((seconds for seconds, _, _ in limited), default=0)
        return [(p, c, 'time-out') for seconds, p, c in limited if seconds == first]

    def execute(self, client, connection, command):
        """Executes a step, and lets all clients run that have got a reply."""
        before = self.server.changes() if self.track else 0
        if command == 'time-out':
            self.server.ask('CLIENT', 'UNBLOCK', connection.id, 'TIMEOUT')
        else:
            del connection.pending[0]
            if command.timeout is not None and not connection.id:
                connection.link.send(b'CLIENT ID\r\n')
                reply = connection.link.receive()
                connection.id = int(reply[1:]) if reply[:1] == b':' else 0
            if command.name in party.LISTENING or (
                    command.name == 'CLIENT' and b'TRACKING' in command.data.upper()):
                connection.listening = True
            self.server.scripts |= command.name in SCRIPTS
            connection.running = command
            connection.link.send(command.data)
            if command.timeout is None and not connection.listening:
                self.answer(client, connection, connection.link.receive())
        # Who is served, or told something, by this step?
        if any(c.running or c.listening for p in self.parties for c in p.connections):
            self.server.fence()
            for other in self.parties:
                for link in other.connections:
                    while link.running or link.listening:
                        reply = link.link.poll()
                        if reply is None:
                            break
                        self.answer(other, link, reply)
        if self.track and self.server.changes() != before:
            client.changed = True
        self.settle()
        self.look_for_waiting(client, command)

    def look_for_waiting(self, client, command):
        """Finds out that a client only reads, and is again where it was: then all would be as it
        was, for ever, so it does not read again until another step may have changed something.

        It must have been there twice: values of an expression that is half computed, which are in
        no variable, have then been computed from the same data.
        """
        if command == 'time-out' or command.name not in READS:
            self.visited, self.idle = {}, set()
            return
        state = client.state() if client.exit is None else None
        if state is not None:
            visits = self.visited.setdefault(client.name, {})
            visits[state] = visits.get(state, 0) + 1
            if visits[state] == 3:
                self.idle.add(client.name)

    def answer(self, client, connection, reply):
        command, connection.running = connection.running, None
        connection.inbox += reply
        if command is None or reply[:1] == b'-':
            return
        if command.name == 'MULTI':
            connection.in_transaction = True
        elif command.name in ('EXEC', 'DISCARD', 'RESET'):
            connection.in_transaction = False
        elif self.track and command.timeout is not None and command.name != 'XREAD' and reply[:3] not in (b'$-1', b'*-1'):
            client.changed = True  # served by another's command, which the server counts

    def settle(self):
        """Lets clients run until each waits for a reply or has ended; closes what is closed."""
        moved = True
        while moved:
            moved = False
            for client in self.parties:
                while client.exit is None and client.waits_on and client.waits_on.inbox:
                    client.resume()
                    moved = True
        for client in self.parties:
            for connection in client.connections:
                if (connection.closed or client.exit is not None) and not connection.pending \
                        and connection.link.socket.fileno() >= 0:
                    connection.link.close()
                    if connection.running or connection.listening:
                        self.server.fence()
                    connection.running, connection.listening = None, False


def independent(one, other, quiet):
    """Do two steps of two clients give the same, in both orders? `quiet`: nobody is blocked."""
    (client, connection, command), (client2, connection2, command2) = one, other
    if client is client2 or 'time-out' in (command, command2) or not quiet:
        return False
    if queued(connection, command) or queued(connection2, command2):
        return True
    keys = []
    for name, words in ((command.name, command.words), (command2.name, command2.words)):
        if name not in READS and name not in WRITES or (
                name in ('EXISTS', 'MGET') and len(words) != 2):
            return False
        keys.append(words[1] if len(words) > 1 else b'')
    return keys[0] != keys[1] or (command.name in READS and command2.name in READS)


def queued(connection, command):
    """Does the command nothing but to be kept by a transaction?"""
    if connection.in_transaction:
        return command.name not in ('EXEC', 'DISCARD', 'RESET', 'QUIT', 'WATCH', 'MULTI')
    return command.name == 'MULTI'


class DepthFirst:
    """All schedules, each once: the path of choices, and the run that takes the next one."""

    def __init__(self, driver, order=None, all_orders=False):
        self.driver, self.order, self.all_orders = driver, order, all_orders
        self.path = []  # of each choice: names of the steps, which of them, who sleeps
        self.done = False

    def next(self):
        """Returns the end of the next schedule; sets `done` when it was the last."""
        at, asleep = 0, {}

        def choose(steps):
            nonlocal at, asleep
            names = [(p.name, p.connections.index(c)) for p, c, _ in steps]
            if at == len(self.path):
                awake = [i for i, name in enumerate(names) if name not in asleep]
                if not awake:
                    return None
                self.path.append([names, awake, 0, dict(asleep)])
            known, awake, index, slept = self.path[at]
            if known != names:
                raise party.CannotJudge('two runs of one schedule differ')
            at += 1
            step = steps[awake[index]]
            if self.all_orders:
                return step
            # What was tried here before, and what sleeps, need not be tried behind this step
            # if it is independent of it.
            quiet = not any(c.running or c.listening for p in self.driver.parties
                            for c in p.connections)
            before = [names[i] for i in awake[:index]] + list(slept)
            asleep = {name: 1 for name in before
                      if independent(steps[names.index(name)], step, quiet)}
            return step

        end = self.driver.run(choose, self.order)
        del self.path[at:]
        while self.path and self.path[-1][2] + 1 >= len(self.path[-1][1]):
            self.path.pop()
        if self.path:
            self.path[-1][2] += 1
        else:
            self.done = True
        return end


def random_schedule(driver, draw):
    """Returns the end of a random schedule; some stay long with one client, some do not."""
    stickiness, last = draw.random(), None

    def choose(steps):
        nonlocal last
        same = [step for step in steps if step[0] is last]
        step = draw.choice(same) if same and draw.random() < stickiness else draw.choice(steps)
        last = step[0]
        return step

    return driver.run(choose)


def replay(driver, trace):
    """Plays the schedule of a trace again."""
    left = [(name, number) for name, number, _ in trace]

    def choose(steps):
        wanted = left.pop(0) if left else None
        for step in steps:
            if (step[0].name, step[0].connections.index(step[1])) == wanted:
                return step
        return None if left or wanted is None else steps[0]

    return driver.run(choose)


class Judge:
    """The serial executions of the clients, and whether they explain an end."""

    MOST = 200  # executions of one order: several connections, commands that are not awaited

    def __init__(self, driver):
        self.driver, self.executions, self.whole = driver, {}, True
        self.ends = {}

    def serial(self, clients):
        """Returns all ends of serial executions of these clients."""
        clients = frozenset(clients)
        if clients not in self.executions:
            found = self.executions[clients] = []
            for order in itertools.permutations(sorted(clients)):
                search = DepthFirst(self.driver, list(order), all_orders=True)
                for _ in range(self.MOST):
                    end = search.next()
                    if end.status == 'end' and set(end.clients) == clients:
                        found.append((order, end))
                    if search.done:
                        break
                self.whole &= search.done
        return self.executions[clients]

    def explains(self, end):
        """Is there a serial execution for it?"""
        refused = [name for name, (status, _, changed) in end.clients.items()
                   if status and not changed]
        for n in range(len(refused) + 1):
            for left_out in itertools.combinations(refused, n):
                rest = [name for name in end.clients if name not in left_out]
                for _, one in self.serial(rest):
                    if one.data == end.data and all(
                            one.clients[name][:2] == end.clients[name][:2] for name in rest):
                        return True
        return False

    def explained(self, end):
        """Is it? Ends that were seen before are not looked at again."""
        key = end.data, tuple(sorted(end.clients.items()))
        if key not in self.ends:
            self.ends[key] = self.explains(end)
        return self.ends[key]


def without_changes(end):
    """Returns an end in which all clients that failed are refused, whatever they changed."""
    return End(end.status, end.data, {name: (status, out, False) for name, (status, out, _)
                                      in end.clients.items()}, end.trace)


class Verdict:
    def __init__(self, word, code, **facts):
        self.word, self.code, self.facts = word, code, facts


def text_of(end):
    clients = {name: 'exit %s, %s%s' % (status, short(out), ', changed data' if changed else '')
               for name, (status, out, changed) in end.clients.items()}
    return {'data': describe(end.data), 'clients': clients}


def short(out, most=120):
    text = out.decode('latin1')
    return 'printed %r' % (text if len(text) <= most else
                           text[:most // 2] + '...' + text[-most // 2:])


def judge(driver, options, judge_class=Judge):
    """Returns the verdict on the driver's clients."""
    begun, judge = time.monotonic(), judge_class(driver)
    if not judge.serial(driver.programs):
        return Verdict('no serial end', 2, schedules=0)
    facts = {'schedules': 0, 'pruned': 0, 'too long': 0}
    search = DepthFirst(driver, all_orders=options.all_orders)
    draw = random.Random(options.seed)
    stuck, seconds = None, 0

    def confirmed(end, word):
        """The verdict, if the schedule and the serial executions do the same a second time."""
        again, other = replay(driver, end.trace), judge_class(driver)
        if not again.same_as(end):
            raise party.CannotJudge('a schedule that was played twice has two ends')
        if word != 'stuck' and other.explained(again):
            raise party.CannotJudge('serial executions that were played twice have other ends')
        if word == 'not serializable' and other.explains(without_changes(end)):
            facts['remark'] = 'explained if clients may be left out that failed after a change'
        facts.update(text_of(end), schedule=['%s%s: %s' % (
            name, number + 1 if number else '', command) for name, number, command in end.trace],
            serial=[dict(text_of(one), order=''.join(order)) for order, one
                    in other.serial(driver.programs)][:6])
        return Verdict(word, 1, **facts)

    random_only = False
    while seconds < options.seconds and not search.done and facts['schedules'] < options.most:
        # Half of the time for all of them; if that is not enough, the rest for random ones.
        random_only = random_only or seconds > options.seconds / 2 \
            or facts['schedules'] > options.most / 2
        run = (lambda: random_schedule(driver, draw)) if random_only else search.next
        end = run()
        if end.status == 'end' and not driver.track and \
                any(status for status, _, _ in end.clients.values()):
            driver.track = True  # from now on it is seen who has changed data
            end = replay(driver, end.trace)
        seconds = time.monotonic() - begun
        facts['schedules'] += end.status != 'pruned'
        facts['pruned'] += end.status == 'pruned'
        facts['too long'] += end.status == 'long'
        if end.status == 'stuck':
            stuck = stuck or end
        elif end.status == 'end' and not judge.explained(end):
            verdict = confirmed(end, 'not serializable')
            if judge.whole:
                return verdict
    facts['seconds'] = round(seconds, 1)
    if driver.failures:
        facts['exceptions'] = sorted(driver.failures)
    if driver.waited:
        facts['time'] = 'the program waits: time is crude here'
    if stuck:
        return confirmed(stuck, 'stuck')
    if not search.done or facts['too long'] or not judge.whole:
        return Verdict('not all played', 2, **facts)
    return Verdict('serializable', 0, serial=len(judge.executions[frozenset(driver.programs)]),
                   **facts)


def options_of(arguments):
    parser = argparse.ArgumentParser(
        description='Plays the schedules of a program on a real server, and judges them.')
    parser.add_argument('file', nargs='?')
    parser.add_argument('--clients', type=int, default=2)
    parser.add_argument('--client', action='append', default=[], metavar='NAME=FILE',
                        help='a client with a file of its own')
    parser.add_argument('--init', metavar='FILE')
    parser.add_argument('--seconds', type=float, default=30)
    parser.add_argument('--most', type=int, default=100000, help='schedules (100000)')
    parser.add_argument('--depth', type=int, default=200, help='steps of a schedule (200)')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--all-orders', action='store_true',
                        help='play independent commands in both orders, too')
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--redis-server', default='redis-server')
    options = parser.parse_args(arguments)
    if not options.file and not options.client:
        parser.error('a FILE is missing')
    return options


def programs_of(options):
    if options.client:
        named = [client.split('=', 1) for client in options.client]
        return {name: party.Program(path) for name, path in named}
    program = party.Program(options.file)
    return {'ABCDEFGH'[i]: program for i in range(options.clients)}


def main(arguments):
    options = options_of(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server is ended, too
    server = Server(options.redis_server)
    try:
        driver = Driver(server, programs_of(options), read_init(options.init), options.depth)
        verdict = judge(driver, options)
    except (party.CannotJudge, SyntaxError, OSError) as error:
        verdict = Verdict('cannot be judged', 65, because=str(error))
    finally:
        server.close()
    if options.json:
        print(json.dumps(dict(verdict.facts, verdict=verdict.word), default=str))
        return verdict.code
    counts = ', '.join('%s %s' % (value, name) for name, value in verdict.facts.items()
                       if name in ('schedules', 'pruned', 'too long', 'seconds'))
    print('%s%s' % (verdict.word, counts and ' (%s)' % counts))
    for name in ('because', 'time', 'remark', 'exceptions', 'schedule', 'data', 'clients', 'serial'):
        value = verdict.facts.get(name)
        for line in value if isinstance(value, list) else [value] if value else []:
            print('  %s: %s' % (name, line))
    return verdict.code


if __name__ == '__main__':
    sys.setswitchinterval(1)
    sys.exit(main(sys.argv[1:]))
