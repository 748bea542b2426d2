# SPDX-License-Identifier: MIT
"""One check of redrace as a test of pytest: pytest examples/ci

The program that is checked is counter_incr.py; a finding fails the test, and its
message is what redrace prints: the schedule, and why."""
import os
import subprocess
import sys

REDRACE = os.environ.get("REDRACE", "redrace")
PROGRAM = os.path.join(os.path.dirname(__file__), "..", "check", "counter_incr.py")


def check(*arguments):
    done = subprocess.run(
        [REDRACE, "check", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout


def test_no_increment_is_lost():
    check("--clients", "2", "--", sys.executable, PROGRAM)
