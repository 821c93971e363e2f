"""Runs a suite of test/queue/brokers/rig.h, and does what its rows ask for.

    sys.exit(rig.run([program, url], lambda order: server.do(order)))
"""
import os
import subprocess

import fauxqs
import tap


def say(line):
    print(line, end="", flush=True)


def run(command, do, row=None, to=say):
    """Passes its lines on; do(order) does what it asks for, and may give an answer. Gives
    the exit code."""
    env = tap.environment(**{name: os.environ[name] for name in
                             ("BIDE_ROW", "BIDE_MODULES") if name in os.environ},
                          **fauxqs.KEYS)
    if row:
        env["BIDE_ROW"] = row
    p = subprocess.Popen(command, env=env, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    for line in p.stdout:
        if not line.startswith("!ask "):
            to(line)
            continue
        try:
            answer = f"ok {do(line[5:].strip()) or ''}"
        except Exception as e:  # whatever it was, the suite says where
            answer = f"failed: {e}"
        p.stdin.write(answer + "\n")
        p.stdin.flush()
    return p.wait()
