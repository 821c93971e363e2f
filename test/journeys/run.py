#!/usr/bin/env python3
"""A journey of a user, as a script: what they type, and what must appear.

    run.py BIDE BUILD_ROOT JOURNEY...

A journey is a text. Its lines:

    # what the user is after, and where they read how
    $ command           in one shell, from the first to the last
    | more of it        further lines of the command, a here-document for instance
    ? command           the same, again and again until all appears that must
    > text              must appear in what it printed, in this order
    ! text              must not appear
    [2]                 its exit code; 0 where nothing is said

A command may use what README, docs/, --help and man name, and $SOURCE (the tree) and
$BUILD (the build), which a user has as the places where they unpacked and built it.
"""
import os
import pathlib
import re
import sys
import tempfile
import time

import session
import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIDE = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()
PATIENCE = 60  # seconds, for what comes about by itself


def steps(text):
    """[(again, command, [appears], [does not], code)]"""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        sign, rest = line[:1], line[2:]
        if sign in "$?" and sign:
            found.append([sign == "?", rest, [], [], 0])
        elif sign == "|":
            found[-1][1] += "\n" + rest
        elif sign == ">":
            found[-1][2].append(rest)
        elif sign == "!":
            found[-1][3].append(rest)
        elif re.fullmatch(r"\[\d+\]", line):
            found[-1][4] = int(line[1:-1])
        elif line and sign != "#":
            raise ValueError(f"line {number}: {line}")
    return found


def missing(text, appears, not_):
    at = 0
    for part in appears:
        at = text.find(part, at)
        if at < 0:
            return f"missing: {part}"
        at += len(part)
    return next((f"there is: {part}" for part in not_ if part in text), None)


def take(shell, step):
    """Why it is not as it must be, or None; and what was printed."""
    again, command, appears, not_, code = step
    end = time.monotonic() + PATIENCE
    while True:
        got, text = shell.run(command)
        wrong = missing(text, appears, not_)
        if got != code:
            wrong = f"exit code {got}, expected {code}"
        if not wrong or not again or got == 124 or time.monotonic() > end:
            return wrong, text
        time.sleep(0.05)


def journey(path, network):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "examples", os.path.join(folder, "examples"))
        env = tap.environment(PATH=f"{BIDE.parent}:{os.environ['PATH']}",
                              HOME=folder, TMPDIR=folder, SOURCE=str(ROOT),
                              BUILD=str(BUILD), XDG_RUNTIME_DIR=folder)
        with session.Session(folder, env, network) as shell:
            for step in steps(path.read_text()):
                wrong, text = take(shell, step)
                name = step[1].splitlines()[0]
                tap.case(f"{path.stem}: {name}", not wrong, f"{wrong}\n{text}")
                if wrong:
                    return


def main():
    network = session.own_network()
    for path in map(pathlib.Path, sys.argv[3:]):
        if "127.0.0.1" in path.read_text() and network is None:
            tap.case(f"{path.stem} # SKIP no network namespaces here", True)
            continue
        journey(path, network)
    tap.finish()


main()
