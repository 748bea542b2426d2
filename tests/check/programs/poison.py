# SPDX-License-Identifier: MIT
# Changes the verdict that redrace check has kept in a directory, and writes the digest of the file anew:
# poison.py DIRECTORY STATEMENT. The statement changes the record, r.
import glob
import json
import struct
import sys

FIRST = b'redrace verdict 1\n'
MASK = (1 << 64) - 1


def mix(digest, word):
    digest = (digest ^ word) * 0x9e3779b97f4a7c15 & MASK
    return digest ^ digest >> 32


def digest(data):
    value = mix(0, len(data))
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack('<Q', data[:whole]):
        value = mix(value, word)
    return mix(value, int.from_bytes(data[whole:], 'little'))


def take_length(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number >> 1, at


for path in glob.glob(sys.argv[1] + '/*.check'):
    data = open(path, 'rb').read()
    body = data[len(FIRST) + 8:]
    assert data.startswith(FIRST) and struct.pack('<Q', digest(body)) == data[len(FIRST):][:8]
    length, at = take_length(body, 0)
    r = json.loads(body[at + length:])
    exec(sys.argv[2])
    body = body[:at + length] + json.dumps(r).encode()
    with open(path, 'wb') as file:
        file.write(FIRST + struct.pack('<Q', digest(body)) + body)
