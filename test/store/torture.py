#!/usr/bin/env python3
"""torture.py sqlite|postgresql|redis CLAIMER TOLD SECONDS MODULE...: claimers on one
store, killed by -9 at random, and their server as well.

refuse: no key has two effects, and whatever was acknowledged is there. retry: every
key ends in an answer."""
import collections
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import tap
from ports import short_folder
from servers import PATIENCE, Postgres, Program, Redis, until

CLAIMERS = 6
KEYS = 3000


class File:
    """A SQLite store: a server that cannot be killed."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="bide-torture-", dir=short_folder())
        self.url = f"sqlite:{self.dir}/records.db"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)

    crash = start = None


def server_of(kind):
    return {"sqlite": File, "postgresql": lambda: Postgres(durable=True),
            "redis": lambda: Redis(durable=True)}[kind]()


class Claimers:
    def __init__(self, program, url, directory, mode, rng):
        self.command = [program, url]
        self.effects = os.path.join(directory, "effects-" + mode)
        self.acks = os.path.join(directory, "acks-" + mode)
        self.mode, self.rng, self.kills = mode, rng, 0
        self.running = [self.start() for _ in range(CLAIMERS)]

    def start(self):
        return subprocess.Popen(
            [*self.command, str(self.rng.randrange(1 << 30)), str(KEYS), self.effects,
             self.acks, self.mode], env=tap.environment())

    def kill_one(self):
        i = self.rng.randrange(CLAIMERS)
        self.running[i].kill()
        self.running[i].wait(PATIENCE)
        self.running[i] = self.start()
        self.kills += 1

    def end(self):
        for p in self.running:
            p.kill()
            p.wait(PATIENCE)


def lines(path):
    with contextlib.suppress(FileNotFoundError), open(path) as f:
        return collections.Counter(f.read().splitlines())
    return collections.Counter()


def look(tool, url, keys, what):
    """What is known of each key now."""
    found = {}
    with Program(tool, "-t", "10000", url) as t:
        def ask(key):
            t.tell(f"{what} {key.replace(' ', '%20')}")
            answer = t.hear(lambda text: not text.startswith("#"))
            return re.match(r"(.*?) [0-9.]+ ", answer).group(1)

        until("the store", lambda: ask("none") != "down")
        for key in keys:
            found[key] = ask(key)
    return found


def rounds(server, claimers, seconds, rng):
    """On a slow disk claimers may not live for an answer: all live until there is one
    for each eighth round."""
    crashes, rounds, end = 0, 0, time.monotonic() + seconds
    while time.monotonic() < end or rounds < 8:
        if rounds % 8 == 7:
            until("an answer to be kept",
                  lambda: len(lines(claimers.acks)) > rounds // 8)
        rounds += 1
        time.sleep(rng.uniform(0.005, 0.06))
        if server.crash and rng.random() < 0.03:
            server.crash()
            server.start()
            crashes += 1
        else:
            claimers.kill_one()
    return crashes


def torture(kind, server, claimer, tool, seconds, mode):
    rng = random.Random(int(os.environ.get("SEED", "1")))
    directory = tempfile.mkdtemp(prefix="bide-torture-", dir=short_folder())
    try:
        claimers = Claimers(claimer, server.url, directory, mode, rng)
        try:
            crashes = rounds(server, claimers, seconds, rng)
        finally:
            claimers.end()
        effects, acks = lines(claimers.effects), lines(claimers.acks)
        about = (f"{claimers.kills} kills, {crashes} crashes of the server, "
                 f"{len(effects)} keys with effects, {len(acks)} acknowledged")
        print(f"# {kind} {mode}: {about}")
        tap.case(f"{kind}_{mode}_something_happened",
                 claimers.kills > 3 and acks, about)
        twice = [key for key, n in effects.items() if n > 1]
        if mode == "refuse":
            tap.case(f"{kind}_no_key_has_two_effects", not twice, twice[:10])
        found = look(tool, server.url, acks, "look")
        lost = {key: state for key, state in found.items() if state != "done"}
        tap.case(f"{kind}_{mode}_what_was_acknowledged_is_there", not lost,
                 list(lost.items())[:10])
        if mode == "retry":
            # Leases have ended, and nobody is left: one more claimer does them all.
            rest = set(effects) - set(acks)
            last = subprocess.Popen(
                [claimer, server.url, "1", str(KEYS), claimers.effects, claimers.acks,
                 mode], env=tap.environment())
            try:
                until("all keys to be done", lambda: all(
                    s == "done" for s in look(tool, server.url, rest, "look").values()))
            finally:
                last.kill()
                last.wait()
            tap.case(f"{kind}_retry_all_end_in_an_answer", True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main(kind, claimer, tool, seconds, *modules):
    if modules:
        os.environ["BIDE_MODULES"] = os.path.dirname(os.path.abspath(modules[0]))
    seconds = float(os.environ.get("STORE_TORTURE_SECONDS", seconds))
    for mode in "refuse", "retry":
        with server_of(kind) as server:
            if kind == "postgresql":
                server.wait()
            torture(kind, server, os.path.abspath(claimer), tool, seconds, mode)
    tap.finish()


main(*sys.argv[1:])
