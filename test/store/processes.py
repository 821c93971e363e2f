#!/usr/bin/env python3
"""processes.py STORE_TOOL URL...: what several processes on one store see, also killed
ones. A URL `sqlite` is a file in a folder of its own.

Four processes claim 20 000 keys: each is won once. Processes that claim and complete are
killed (-9) at random: no claim and no answer that was acknowledged is lost, and none is
granted twice."""
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time

import tap

TOOL = os.path.abspath(sys.argv[1])
KEYS = 20000
ROUNDS = int(os.environ.get("BIDE_STORE_KILLS", "12"))
PATIENCE = 240


def start(*args, **more):
    return subprocess.Popen([TOOL, *map(str, args)], stdout=subprocess.PIPE, text=True,
                            **more)


def first_openings():
    """Files that are not there yet, each opened by four at once."""
    failed = []
    for _ in range(40):
        with tempfile.TemporaryDirectory(prefix="bide-") as folder:
            runs = [start("claim", f"sqlite:{folder}/records.db", 20, 4,
                          stderr=subprocess.PIPE) for _ in range(4)]
            failed += [text for text in (r.communicate(timeout=PATIENCE)[1] for r in runs)
                       if text]
    tap.case("regress_four_open_a_new_file_at_once", not failed, failed)


def claims(url):
    runs = [start("claim", url, KEYS, 64) for _ in range(4)]
    won = [r.communicate(timeout=PATIENCE)[0].split() for r in runs]
    every = [key for keys in won for key in keys]
    tap.case("four_processes_win_each_key_once",
             len(every) == KEYS and len(set(every)) == KEYS and
             all(r.returncode == 0 for r in runs),
             f"{len(every)} won, {len(set(every))} keys, {[r.returncode for r in runs]}")
    tap.case("more_than_one_process_wins", sum(1 for keys in won if keys) > 1)


def killed(url):
    """Two processes pay; when one has something to show, they are killed after a random
    while."""
    claimed, done, twice = {}, set(), []
    for n in range(ROUNDS):
        first = 1000000 + n * 1000
        # Both want the same keys.
        runs = [start("pay", url, first, 1000) for _ in range(2)]
        select.select([r.stdout for r in runs], [], [], PATIENCE)
        time.sleep(random.uniform(0.01, 0.25))
        runs[0].send_signal(signal.SIGKILL)
        time.sleep(random.uniform(0, 0.05))
        runs[1].send_signal(signal.SIGKILL)
        for r in runs:
            for line in r.communicate(timeout=PATIENCE)[0].splitlines():
                what, key = line.split()
                if what == "C":
                    if key in claimed:
                        twice.append(key)
                    claimed[key] = r.pid
                else:
                    done.add(key)
    look = start("look", url, stdin=subprocess.PIPE)
    answers = dict(line.split(" ", 1) for line in
                   look.communicate("\n".join(claimed) + "\n", timeout=PATIENCE)[0]
                   .splitlines())
    lost = [k for k in claimed if answers.get(k) not in
            ("in progress", "unknown", f"done {k}")]
    wrong = [k for k in done if answers.get(k) != f"done {k}"]
    tap.case("some_were_claimed_and_done", len(claimed) >= ROUNDS and done,
             f"{len(claimed)} claimed, {len(done)} done")
    tap.case("no_key_is_granted_twice", not twice, twice[:5])
    tap.case("no_acknowledged_claim_is_lost", not lost,
             [(k, answers.get(k)) for k in lost[:5]])
    tap.case("no_acknowledged_answer_is_lost", not wrong,
             [(k, answers.get(k)) for k in wrong[:5]])


def main():
    first_openings()
    for url in sys.argv[2:]:
        with tempfile.TemporaryDirectory(prefix="bide-") as folder:
            if url == "sqlite":
                url = f"sqlite:{folder}/records.db"
            claims(url)
            killed(url)
    tap.finish()


main()
