#!/usr/bin/env python3
"""targets.py DIR SUITE...: what ninja has to build in DIR for the tests of these
suites, one target per line. A build for a sanitizer is for some suites, and would
otherwise compile the whole tree."""
import json
import os
import subprocess
import sys


def introspect(directory, what):
    return json.loads(subprocess.run(
        ["meson", "introspect", directory, what], check=True,
        stdout=subprocess.PIPE).stdout)


def main(directory, *suites):
    needed = set()
    for test in introspect(directory, "--tests"):
        if {s.split(":")[-1] for s in test["suite"]} & set(suites):
            needed |= set(test["depends"])
    for target in introspect(directory, "--targets"):
        if target["id"] in needed:
            for path in target["filename"]:
                print(os.path.relpath(path, os.path.abspath(directory)))


main(*sys.argv[1:])
