#!/usr/bin/env python3
"""terminal.py BIDE: colours on a terminal and nowhere else, and no line wider
than the terminal."""
import os
import pty
import re
import subprocess
import sys
import unicodedata

import tap

COMMANDS = [
    ["--help"],
    ["explain", "--help"],
    ["run", "--help"],
    ["fetch", "--help"],
    ["schedule", "--help"],
    ["check", "--help"],
    ["replay", "--help"],
    ["top", "--help"],
    ["demo", "--help"],
    ["worker", "--help"],
    ["enqueue", "--help"],
    ["export", "--help"],
    ["import", "--help"],
    ["sim", "--help"],
    ["sim", "--list"],
    ["sim", "data/sim.yaml", "-n", "2"],
    ["sim", "data/sim.yaml", "-n", "1", "--sweep", "attempts=1,2",
     "--sweep", "load=50%,90%"],
    ["sim", "stability", "data/sim.yaml", "-n", "1", "--triggers", "1s"],
    ["explain", "--status", "503", "--header", "Retry-After: 120"],
    ["explain", "--status", "404"],
    ["schedule"],
    ["schedule", "--attempts", "10000", "--jitter", "decorrelated"],
]


def on_terminal(command, **more):
    """Runs a command on a pseudo-terminal; gives what it printed there."""
    master, slave = pty.openpty()
    p = subprocess.Popen(command, env=tap.environment(**more), cwd=tap.HERE,
                         stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    p.wait(timeout=60)
    os.close(master)
    return text.decode().replace("\r\n", "\n")


def has_colours(text):
    return "\033[" in text


def widest(text):
    """The widest line, but for examples, which are not to be broken."""
    lines = [re.sub("\033\\[[0-9;]*m", "", line) for line in text.splitlines()
             if not line.startswith(("  bide ", "  kubectl ", "  {"))]
    return max((len(unicodedata.normalize("NFC", line)) for line in lines),
               default=0)


def main():
    bide = os.path.abspath(sys.argv[1])
    for args in COMMANDS:
        name = " ".join(args)
        command = [bide] + args
        xterm = {"TERM": "xterm-256color"}
        tap.case(f"{name}: colours on a terminal",
                 has_colours(on_terminal(command, **xterm)))
        tap.case(f"{name}: none with NO_COLOR",
                 not has_colours(on_terminal(command, NO_COLOR="1", **xterm)))
        tap.case(f"{name}: an empty NO_COLOR does not count",
                 has_colours(on_terminal(command, NO_COLOR="", **xterm)))
        tap.case(f"{name}: none on a dumb terminal",
                 not has_colours(on_terminal(command, TERM="dumb")))
        tap.case(f"{name}: none without TERM",
                 not has_colours(on_terminal(command)))
        tap.case(f"{name}: none in a pipe",
                 not has_colours(tap.run(command, **xterm)[1]))
        for columns in (40, 60, 80, 200):
            text = tap.run(command, COLUMNS=str(columns))[1]
            tap.case(f"{name}: fits {columns} columns", widest(text) <= columns,
                     text)
        text = tap.run(command, LC_ALL="C")[1]
        tap.case(f"{name}: plain ASCII in the C locale", text.isascii(), text)
    tap.finish()


main()
