#!/usr/bin/env python3
"""commands.py BIDE: `bide run --fleet` and workers in a fleet, on a real Redis.

What is asserted is how often commands ran and what was said, never how long it took."""
import os
import subprocess
import sys
import tempfile

import tap
from ports import short_folder
from servers import PATIENCE, Redis, until

BIDE = os.path.abspath(sys.argv[1])
RUNS = 12
# Ten retries, however long the machine takes for them.
TEN = ("--set", "when_refused=fail", "--set", "budget.window=10m", "--set",
       "budget.floor=1/m")


def bide(*args):
    p = subprocess.run([BIDE, *args], capture_output=True, text=True, timeout=PATIENCE,
                       stdin=subprocess.DEVNULL, env=tap.environment())
    return p.returncode, p.stdout, p.stderr


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return ""


# ===== bide run =====

def run(folder, *options, says="", script, home="/nowhere"):
    """`bide run` of a script that waits until `says` was said. Gives exit code, stderr."""
    path = os.path.join(folder, "said")
    wait = f"until grep -q '{says}' {path}; do sleep 0.05; done; " if says else ""
    with open(path, "wb") as err:
        p = subprocess.run([BIDE, "run", "-v", *options, "--", "sh", "-c", wait + script],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                           timeout=PATIENCE, env=tap.environment(HOME=home))
    return p.returncode, read(path)


def retries(folder, *options, says=""):
    """How many retries commands make that fail one after the other."""
    log = os.path.join(folder, "attempts")
    for _ in range(RUNS):
        run(folder, *options, "--attempts", "3", "--base", "1ms", "--factor", "1",
            "--jitter", "none", *TEN, says=says, script=f"echo x >> {log}; exit 1")
    made = len(read(log).split()) - RUNS
    os.remove(log)
    return made


def run_alone(folder):
    made = retries(folder)
    tap.case("alone, a command is limited by its own attempts", made == 2 * RUNS, made)
    code, err = run(folder, "--fleet", f"redis+unix://{folder}/nobody.sock/shop",
                    "--attempts", "2", "--base", "1ms", says="fleet: alone",
                    script="exit 3")
    tap.case("run: Redis is away: it goes on alone, and says so", code == 3 and
             "fleet: alone" in err and "2 attempts" in err, (code, err))
    for wrong in ("redis://127.0.0.1:1", "shop", "http://127.0.0.1:1/shop",
                  "redis://127.0.0.1:1/sh op", "redis://127.0.0.1:1/"):
        code, _, err = bide("run", "--fleet", wrong, "--", "true")
        tap.case(f"run: --fleet {wrong} is refused", code == 2 and
                 "redis://127.0.0.1:6379/shop" in err, (code, err))


def run_at_once(folder, redis):
    """Commands that begin together and fail before Redis can have answered."""
    log = os.path.join(folder, "at_once")
    command = [BIDE, "run", "--fleet", f"{redis.url}/once", "--attempts", "10", "--base",
               "1ms", "--factor", "1", "--jitter", "none", *TEN, "--", "sh", "-c",
               f"echo x >> {log}; exit 1"]
    began = [subprocess.Popen(command, stdin=subprocess.DEVNULL, env=tap.environment(),
                              stderr=subprocess.DEVNULL) for _ in range(RUNS)]
    for process in began:
        process.wait(PATIENCE)
    made = len(read(log).split()) - RUNS
    # One each, and the floor: a few more while nobody knows how many they are.
    tap.case("run: commands that begin together have not a floor each",
             made <= RUNS + 2 * 10, made)


def run_with_key(folder, redis):
    """They share a budget on this machine: in the fleet they are one instance."""
    key = "{bide:keyed:k}:ledger"
    fields = []
    for _ in range(3):
        code, err = run(folder, "--key", "k", "--fleet", f"{redis.url}/keyed",
                        says="fleet: joined", script="true", home=folder)
        tap.case("run: --key in a fleet: it joins", code == 0 and "joined" in err, err)
        fields.append(redis.ask(f"HLEN {key}"))
    tap.case("run: --key in a fleet: all are one instance",
             fields[0] == fields[1] == fields[2] != ":0", fields)


def run_together(folder, redis):
    made = retries(folder, "--fleet", f"{redis.url}/runs", says="fleet: joined")
    # And a few of those whose Redis was too slow for a moment.
    tap.case("run: commands in a fleet have one budget", 4 <= made <= 2 * RUNS - 6, made)


# ===== bide worker =====

class Worker:
    def __init__(self, folder, name, messages, *options):
        self.log = os.path.join(folder, name + ".log")
        self.queue = f"sqlite:{folder}/{name}.db"
        self.work = f"test -e {folder}/well"
        subprocess.run([BIDE, "enqueue", "-b", self.queue, "--lines"], check=True,
                       input="\n".join(map(str, range(messages))), text=True,
                       stdout=subprocess.DEVNULL, env=tap.environment())
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [BIDE, "worker", "-b", self.queue, "--at-once", "4", *options, "--",
                 "sh", "-c", self.work], stdin=subprocess.DEVNULL, stderr=log,
                env=tap.environment())

    def says(self, text):
        until(f"{text}: {read(self.log)}", lambda: text in read(self.log))

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


def workers(folder, redis):
    """One has forty messages, the other two: the handler of both fails."""
    policy = os.path.join(folder, "shop.yaml")
    with open(policy, "w", encoding="utf-8") as f:
        f.write("version: 1\npolicies: { default: { preset: queue } }\n"
                f"fleet: {{ store: \"{redis.url}\", name: workers }}\n")
    busy = Worker(folder, "busy", 40, "--policy", policy)
    idle = Worker(folder, "idle", 2, "--fleet", f"{redis.url}/workers")
    try:
        busy.says("fleet: joined")
        tap.case("worker: `fleet:` of the policy file is joined", True)
        idle.says("fleet: joined")
        tap.case("worker: --fleet is joined", True)
        idle.says("paused")
        tap.case("worker: what all see pauses one that has seen two", True)
        with open(os.path.join(folder, "well"), "w", encoding="utf-8"):
            pass
        busy.says("the handler is back")
        idle.says("the handler is back")
        tap.case("worker: when one of them gets through, both go on", True)
    finally:
        busy.stop()
        idle.stop()
    tap.case("worker: both end well",
             busy.process.returncode == idle.process.returncode == 0)
    code, _, err = bide("worker", "--fleet", "shop", "--", "true")
    tap.case("worker: --fleet shop is refused", code == 2 and
             "redis://127.0.0.1:6379/shop" in err, (code, err))


def main():
    with tempfile.TemporaryDirectory(prefix="bide-fleet-", dir=short_folder()) as folder, \
            Redis() as redis:
        run_alone(folder)
        run_together(folder, redis)
        run_at_once(folder, redis)
        run_with_key(folder, redis)
        workers(folder, redis)
    tap.finish()


main()
