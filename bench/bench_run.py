#!/usr/bin/env python3
"""bench_run.py BIDE: what `bide run` costs a command that succeeds at once.

`true` by itself, under Debian's `retry`, and under `bide run`, one after the
other in each round, so that whatever else the machine does hits all alike. The
median of all rounds counts, and so do the differences of medians."""
import os
import shutil
import statistics
import sys
import tempfile
import time

ROUNDS = 1000


def once(command, env):
    began = time.perf_counter_ns()
    pid = os.posix_spawn(command[0], command, env)
    _, status = os.waitpid(pid, 0)
    took = time.perf_counter_ns() - began
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {status}")
    return took


def main(state):
    bide = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    true, retry = shutil.which("true"), shutil.which("retry")
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
           "XDG_RUNTIME_DIR": state}
    commands = {"true": [true]}
    if retry:
        commands["retry -- true"] = [retry, "--", true]
    commands["bide run -- true"] = [bide, "run", "--", true]
    commands["bide run -o last -- true"] = [bide, "run", "-o", "last", "--",
                                            true]
    commands["bide run --key bench -- true"] = [bide, "run", "--key", "bench",
                                                "--", true]
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    took = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            took[name].append(once(command, env))
    base = statistics.median(took["true"])
    print(f"\nbide run: a command that succeeds at once, median of {rounds}")
    for name in commands:
        median = statistics.median(took[name])
        print(f"  {name:30} {median / 1e6:6.3f} ms  "
              f"{(median - base) / 1e6:+7.3f} over true")
    if retry:
        ours = statistics.median(took["bide run -- true"]) - base
        theirs = statistics.median(took["retry -- true"]) - base
        print(f"  bide run costs {ours / theirs:.2f} of what Debian's retry "
              "costs (bar: 1.00, and retry 0.9 ms)")
    else:
        print("  no `retry` here: install Debian's package of that name")


with tempfile.TemporaryDirectory() as directory:
    main(directory)
