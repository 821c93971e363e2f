#!/usr/bin/env python3
"""golden.py [--update] BIDE FILE...: exact outputs and exit codes.

A file holds commands, each behind `$ `, what it printed on both streams, and
`[N]` if its exit code was N and not 0. It is what a person saw, word for word:

    $ bide schedule --attempts 1
    One attempt: nothing is retried, so there is nothing to wait for.

--update writes what was printed now into the files: look at the diff."""
import os
import subprocess
import sys

import tap


def parse(path):
    """Gives a list of [command or None, text]: None for what stands before."""
    blocks = [[None, ""]]
    for line in open(path, encoding="utf-8"):
        if line.startswith("$ "):
            blocks.append([line[2:].rstrip("\n"), ""])
        else:
            blocks[-1][1] += line
    return blocks


def execute(bide, command):
    env = tap.environment()
    env["PATH"] = os.path.dirname(os.path.abspath(bide)) + ":" + env["PATH"]
    p = subprocess.run(["sh", "-c", command], env=env, cwd=tap.HERE,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=60)
    text = p.stdout.decode("utf-8", "replace")
    if text and not text.endswith("\n"):
        text += "\n"
    return text + (f"[{p.returncode}]\n" if p.returncode else "")


def main():
    args = sys.argv[1:]
    update = args[0] == "--update"
    bide, *files = args[1:] if update else args
    for path in files:
        blocks = parse(path)
        for block in blocks:
            if block[0] is None:
                continue
            found = execute(bide, block[0])
            same = found.strip("\n") == block[1].strip("\n")
            if update:
                block[1] = found + "\n"
            else:
                tap.case(block[0], same,
                         f"expected:\n{block[1]}\nfound:\n{found}")
        if update:
            with open(path, "w", encoding="utf-8") as out:
                out.write("".join((f"$ {c}\n" if c else "") + text
                                  for c, text in blocks).rstrip("\n") + "\n")
    if not update:
        tap.finish()


main()
