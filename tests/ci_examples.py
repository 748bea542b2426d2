# SPDX-License-Identifier: MIT
"""Fails unless the workflows that docs/ci.md prints do what a job needs.

Each block that installs redrace has it from one commit, installs no more than a check needs, compiles
with all processors, installs curl, restores and keeps the directory that `redrace check` is given as its
cache, and keeps what was written also where the job fails. All blocks in YAML can be read.
"""
import re
import sys

import yaml

with open("docs/ci.md", encoding="utf-8") as file:
    blocks = re.findall(r"```(\w+)\n(.*?)```", file.read(), re.S)
jobs = 0


def need(good, what, block):
    if not good:
        sys.exit(f"docs/ci.md: {what}, in:\n{block}")


for language, block in blocks:
    read = yaml.safe_load(block) if language == "yaml" else None
    for version in re.findall(r"OWNER/redrace\S*@(\S+)", block):
        need(version == "COMMIT", "redrace is not of one commit", block)
    for command in re.findall(r"redrace check .*", block):
        need("-- " in command or "--cache" in command or "--replay" in command or
             command.endswith("\\") or "--clients" in command or "[ $?" in command,
             f"'{command}' has no cache", block)
    if "make -C redrace" not in block:
        continue
    jobs += 1
    need(re.search(r"ref: COMMIT|fetch .*(COMMIT|\"\$REDRACE_COMMIT\")", block), "redrace is not of one commit",
         block)
    made = re.findall(r"make -C redrace (.*)", block)
    need(made == ["deps-check", '-j"$(nproc)" install'], f"make is called with {made}", block)
    need(re.search(r"apt-get install .*\bcurl\b", block), "curl is not installed", block)
    kept = re.findall(r"--cache (\S+)", block)
    need(kept == [".redrace-cache"], f"the cache is {kept}", block)
    if read and "jobs" in read:
        steps = [step for job in read["jobs"].values() for step in job["steps"]]
        paths = {step["uses"]: step["with"]["path"] for step in steps if "path" in step.get("with", {})}
        need(paths.get("actions/cache/restore@v4") == paths.get("actions/cache/save@v4") == kept[0],
             f"restored and saved is {paths}", block)
        need(all(step.get("if") == "always()" for step in steps
                 if step.get("uses", "").startswith(("actions/cache/save", "actions/upload"))),
             "what a failed job has written is not kept", block)
    elif read:
        job = read["races"]
        need(job["cache"]["paths"] == [kept[0] + "/"] and job["cache"]["when"] == "always",
             "the cache is not kept", block)
        need(job["artifacts"]["when"] == "always", "what a failed job has written is not kept", block)
print(f"{jobs} jobs")
