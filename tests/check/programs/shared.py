# SPDX-License-Identifier: MIT
"""A shop whose threads share one connection behind a lock. POST /buy takes the lock for each
command; POST /buy-locked holds another one from its first command to its last."""

import _thread

import raw
import served

shared = raw.Connection()
of_connection = _thread.allocate_lock()
of_section = _thread.allocate_lock()


def ask(*words):
    with of_connection:
        return shared(*words)


def buy():
    if int(ask("GET", "stock") or 0) <= 0:
        return "out\n"
    ask("DECR", "stock")
    return "sold\n"


def buy_locked():
    with of_section:
        return buy()


served.serve(lambda path, _: buy_locked() if path == "/buy-locked" else buy())
