#!/usr/bin/env python3
"""jolt.py COMMAND...: runs a test, and stops one of its processes now and then, for up
to half a second: a test that depends on how fast anything is fails before long. As the
wrapper of `meson test`, with -t 4:

    meson test -C build-dev --wrapper $PWD/scripts/jolt.py -t 4 --suite e2e

JOLT_MOST (0.5) is how long a process is stopped at the most, JOLT_EVERY (0.15) how long
it is left alone on average, in seconds; JOLT_SEED repeats what a run has drawn."""
import os
import random
import signal
import subprocess
import sys
import threading
import time

SEED = int(os.environ.get("JOLT_SEED") or random.randrange(1 << 30))
MOST = float(os.environ.get("JOLT_MOST", 0.5))
EVERY = float(os.environ.get("JOLT_EVERY", 0.15))


def tree(pid):
    """The process and all that come from it."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
                for child in f.read().split():
                    found += tree(int(child))
    except OSError:
        pass
    return found


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


def jolt(process):
    rng = random.Random(SEED)
    while process.poll() is None:
        time.sleep(rng.uniform(0, 2 * EVERY))
        victim = rng.choice(tree(process.pid))
        try:
            if state(victim) == "T":  # the test itself has stopped it
                continue
            os.kill(victim, signal.SIGSTOP)
            time.sleep(rng.uniform(0.02, MOST))
            os.kill(victim, signal.SIGCONT)
        except OSError:  # it has ended
            pass


def main():
    process = subprocess.Popen(sys.argv[1:])
    jolting = threading.Thread(target=jolt, args=(process,))
    jolting.start()
    code = process.wait()
    jolting.join()  # nobody is left standing still
    print(f"# jolted with JOLT_SEED={SEED}", file=sys.stderr)
    sys.exit(code)


main()
