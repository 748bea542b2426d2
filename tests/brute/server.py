# SPDX-License-Identifier: MIT
"""The server of tests/brute: an unmodified redis-server, what is sent to it, what it holds."""
import hashlib
import os
import shlex
import shutil
import socket
import struct
import subprocess
import tempfile
import time

# Returns, of every database, every key with its type, its seconds to live (-1: none) and its
# contents. The order of a set's members, a hash's fields and the keys is that of their bytes.
# Ids of a stream that the server has made of its clock are replaced by their rank in it.
CONTENTS = r"""
local now = tonumber(redis.call('TIME')[1])
local function stream(key)
  local info, groups, times = redis.call('XINFO', 'STREAM', key), {}, {}
  local function clock(id)
    local seconds = tonumber(string.match(id, '^(%d+)-')) / 1000
    if seconds > now - 600 and seconds < now + 600 then times[id] = true end
    return id
  end
  local entries, fact = redis.call('XRANGE', key, '-', '+'), {}
  for i = 1, #info, 2 do fact[info[i]] = info[i + 1] end
  for _, entry in ipairs(entries) do clock(entry[1]) end
  clock(fact['last-generated-id'])
  if fact['max-deleted-entry-id'] then clock(fact['max-deleted-entry-id']) end
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', key)) do
    local about = {}
    for i = 1, #group, 2 do about[group[i]] = group[i + 1] end
    local consumers, pending = {}, {}
    for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', key, about['name'])) do
      consumers[#consumers + 1] = consumer[2]
    end
    for _, one in ipairs(redis.call('XPENDING', key, about['name'], '-', '+', 10000)) do
      pending[#pending + 1] = {clock(one[1]), one[2], one[4]}
    end
    groups[#groups + 1] = {about['name'], clock(about['last-delivered-id']),
                           tostring(about['entries-read'] or ''), consumers, pending}
  end
  local order, rank = {}, {}
  for id in pairs(times) do
    local ms, sequence = string.match(id, '^(%d+)-(%d+)$')
    order[#order + 1] = {tonumber(ms), tonumber(sequence), id}
  end
  table.sort(order, function(a, b) return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2]) end)
  for i, one in ipairs(order) do rank[one[3]] = 'id ' .. i end
  local function renamed(value)
    if type(value) ~= 'table' then return rank[value] or value end
    for i, one in ipairs(value) do value[i] = renamed(one) end
    return value
  end
  return renamed({entries, fact['last-generated-id'], tostring(fact['entries-added'] or ''),
                  fact['max-deleted-entry-id'] or '', groups})
end
local function pairs_of(list)
  local sorted = {}
  for i = 1, #list, 2 do sorted[#sorted + 1] = {list[i], list[i + 1]} end
  table.sort(sorted, function(a, b) return a[1] < b[1] end)
  return sorted
end
local all = {}
for database = 0, 15 do
  redis.call('SELECT', database)
  if redis.call('DBSIZE') > 0 then
    local keys = redis.call('KEYS', '*')
    table.sort(keys)
    for _, key in ipairs(keys) do
      local kind, value = redis.call('TYPE', key)['ok'], nil
      if kind == 'string' then value = redis.call('GET', key)
      elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
      elseif kind == 'set' then value = redis.call('SMEMBERS', key); table.sort(value)
      elseif kind == 'hash' then value = pairs_of(redis.call('HGETALL', key))
      elseif kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
      elseif kind == 'stream' then value = stream(key)
      else value = redis.call('DUMP', key) end
      local left = redis.call('PTTL', key)
      all[#all + 1] = {tostring(database), key, kind,
                       left < 0 and '-1' or tostring(math.ceil(left / 1000)), value}
    end
  end
end
redis.call('SELECT', 0)
return all
"""

CONTENTS_SHA = hashlib.sha1(CONTENTS.encode()).hexdigest()
SCRIPTS = {'EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'SCRIPT', 'FUNCTION'}


def encode(words):
    """Returns the words of a command as they are sent."""
    out = [b'*%d\r\n' % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        out.append(b'$%d\r\n%s\r\n' % (len(word), word))
    return b''.join(out)


def end_of_reply(buffer, at):
    """Returns where the reply that begins at `at` ends, or -1 if it is not whole."""
    line = buffer.find(b'\r\n', at)
    if line < 0:
        return -1
    kind, after = buffer[at], line + 2
    if kind in b'$=!':
        length = int(buffer[at + 1:line])
        after += length + 2 if length >= 0 else 0
        return after if after <= len(buffer) else -1
    if kind in b'*~>%':
        for _ in range(int(buffer[at + 1:line]) * (2 if kind == 0x25 else 1)):
            after = end_of_reply(buffer, after)
            if after < 0:
                return -1
    return after


def decode(buffer, at=0):
    """Returns the reply that begins at `at`, and where it ends."""
    line = buffer.find(b'\r\n', at)
    kind, rest, after = buffer[at:at + 1], bytes(buffer[at + 1:line]), line + 2
    if kind == b':':
        return int(rest), after
    if kind == b'$':
        length = int(rest)
        return (None, after) if length < 0 else (bytes(buffer[after:after + length]),
                                                 after + length + 2)
    if kind in (b'*', b'~', b'>'):
        items = []
        for _ in range(int(rest)):
            item, after = decode(buffer, after)
            items.append(item)
        return items, after
    return (RuntimeError(rest.decode()) if kind == b'-' else rest), after


class Link:
    """A real connection to the server, on which whole replies are read."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        # A blocking socket, on which MSG_DONTWAIT works; after 10 s without a reply it fails.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 10, 0))
        self.buffer = bytearray()

    def send(self, data):
        self.socket.sendall(data)

    def take(self):
        """Returns the next reply that has come whole, or None."""
        end = end_of_reply(self.buffer, 0) if self.buffer else -1
        if end < 0:
            return None
        reply = bytes(self.buffer[:end])
        del self.buffer[:end]
        return reply

    def receive(self):
        """Waits for a whole reply."""
        while True:
            reply = self.take()
            if reply is not None:
                return reply
            data = self.socket.recv(1 << 16)
            if not data:
                raise EOFError('the server has closed a connection')
            self.buffer += data

    def poll(self):
        """Returns the next reply if it is there already, or None."""
        reply = self.take()
        while reply is None:
            try:
                data = self.socket.recv(1 << 16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
            if not data:
                return None
            self.buffer += data
            reply = self.take()
        return reply

    def close(self):
        self.socket.close()


class Server:
    """A private redis-server on a Unix socket, and the connection that looks after it."""

    def __init__(self, program='redis-server'):
        self.directory = tempfile.mkdtemp(prefix='rr-brute-')
        self.path = os.path.join(self.directory, 'socket')
        self.process = subprocess.Popen(
            [program, '--port', '0', '--unixsocket', self.path, '--save', '', '--appendonly', 'no',
             '--dir', self.directory], stdout=subprocess.DEVNULL)
        for _ in range(500):
            try:
                self.admin = Link(self.path)
                break
            except OSError:
                time.sleep(.02)
        else:
            self.close()
            raise SystemExit('brute: %s cannot be started' % program)
        self.scripts = True  # there may be scripts or functions: flushing them takes long

    def ask(self, *words):
        self.admin.send(encode(words))
        return decode(self.admin.receive())[0]

    def empty(self, init):
        """Leaves what `init` leaves of an empty server: data, but no scripts and functions."""
        self.fence()
        commands = [['SELECT', 0], ['FLUSHALL']] + init + [['SELECT', 0]]
        if self.scripts or any(str(words[0]).upper() in SCRIPTS for words in init):
            commands = [['FUNCTION', 'FLUSH']] + commands + [['SCRIPT', 'FLUSH']]
            commands.append(['SCRIPT', 'LOAD', CONTENTS])
            self.scripts = False
        self.admin.send(b''.join(map(encode, commands)))
        for command in commands:
            reply = self.admin.receive()
            if reply[:1] == b'-' and command in init:
                raise SystemExit('brute: --init: %s: %s' % (' '.join(map(str, command)),
                                                           reply.decode().strip()))

    def fence(self):
        """Returns when the server has done all that was sent to it, and sent all replies.

        What was sent before is readable when the server's loop finds the first PING, so it is done
        in the same round of the loop at the latest. Replies are written at the end of a round, in
        any order; the second PING is read in the next one.
        """
        for _ in range(2):
            self.admin.send(b'PING\r\n')
            self.admin.receive()

    def changes(self):
        """Returns how many changes of data the server has counted."""
        self.admin.send(encode(['INFO', 'persistence']))
        reply = self.admin.receive()
        return int(reply.split(b'rdb_changes_since_last_save:')[1].split(b'\r\n')[0])

    def data(self):
        """Returns the contents of all databases, and the functions, as bytes that are equal if
        they are."""
        self.admin.send(encode(['EVALSHA', CONTENTS_SHA, 0]) + encode(['FUNCTION', 'DUMP']))
        contents, functions = self.admin.receive(), self.admin.receive()
        if contents[:1] == b'-':  # a client has flushed the scripts
            self.admin.send(encode(['EVAL', CONTENTS, 0]))
            contents = self.admin.receive()
        if contents[:1] != b'*':
            raise RuntimeError('the contents cannot be read: ' + contents.decode())
        return contents, functions

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def read_init(path):
    """Returns the commands of a file for --init."""
    if not path:
        return []
    with open(path) as file:
        lines = [line.strip() for line in file]
    return [shlex.split(line) for line in lines if line and not line.startswith('#')]


def describe(data):
    """Returns the contents as text, for people."""
    lines = []
    for database, key, kind, left, value in decode(data[0])[0]:
        lines.append('%s%s = %s%s' % (
            '' if database == b'0' else 'db%s ' % database.decode(), key.decode('latin1'),
            words(value), '' if left == b'-1' else ' (%s s left)' % left.decode()))
    return '; '.join(lines) or 'no data'


def expiring(data):
    """Has some key a time to live?"""
    return any(left != b'-1' for _, _, _, left, _ in decode(data[0])[0])


def words(value):
    if isinstance(value, list):
        return '[%s]' % ', '.join(map(words, value))
    return repr(value.decode('latin1')) if isinstance(value, bytes) else repr(value)
