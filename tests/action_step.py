# SPDX-License-Identifier: MIT
"""Prints a step of .ci/action/action.yml as a script, as GitHub would run it.

action_step.py STEP [INPUT=VALUE...]: what the inputs are is exported first, the
others have their defaults. Fails when the file is no composite action, or when a
step names an input that there is not.
"""
import re
import shlex
import sys

import yaml

with open(".ci/action/action.yml", encoding="utf-8") as file:
    action = yaml.safe_load(file)
assert action["runs"]["using"] == "composite"
assert all(part.get("description") for part in action["inputs"].values())
steps = action["runs"]["steps"]
assert all("uses" in step or step["shell"] == "bash" for step in steps)

values = {name: part["default"] for name, part in action["inputs"].items()}
for word in sys.argv[2:]:
    name, value = word.split("=", 1)
    assert name in values, name
    values[name] = value


def resolve(text):
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}",
                  lambda found: values[found.group(1)], text)


step = next(step for step in steps if step["name"] == sys.argv[1])
# What is put into a script is run as a script.
assert "${{" not in step["run"], "an input must come by the environment"
for name, value in step.get("env", {}).items():
    print(f"export {name}={shlex.quote(resolve(value))}")
print("cd", shlex.quote(resolve(step.get("working-directory", "."))))
print("set -eo pipefail")
print(step["run"])
