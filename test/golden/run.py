#!/usr/bin/env python3
"""Golden files: what `bide check` prints, to the byte.

    run.py BIDE [--update]

Each test/golden/check/NAME.yaml (or NAME.policy.json) is checked, and what comes
out (stderr, then stdout, then the exit code) must be what NAME.txt holds. A line
`# flags: ...` at the top of an input adds flags; NAME.args holds a whole command
line instead of an input. Where NAME.json or NAME.sarif exist, --json and --sarif
are compared too. --update writes what came out; review the diff.

Every code of a mistake or a lint must come up in some golden file.
"""
import glob
import os
import re
import subprocess
import sys

# Covered by test/unit/test_diag.c: its output would be a thousand findings long.
ELSEWHERE = {"too-many-errors"}


def run(bide, args, stdin=None):
    with open(stdin or os.devnull, "rb") as f:
        p = subprocess.run([bide, "check"] + args, stdin=f, capture_output=True,
                           env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"})
    return p


def flags_of(path):
    with open(path, "rb") as f:
        first = f.readline()
    m = re.match(rb"# flags: (.*)", first)
    return m.group(1).decode().split() if m else []


def cases(bide):
    """(name, expected file, the bytes that came out)"""
    for path in sorted(glob.glob("*.yaml") + glob.glob("*.policy.json") +
                       glob.glob("*.args")):
        if path.endswith(".args"):
            args = open(path).read().split()
            stdin = None
            if "<" in args:
                stdin = args[args.index("<") + 1]
                args = args[:args.index("<")]
        else:
            args, stdin = flags_of(path) + [path], None
        name = re.sub(r"\.(yaml|args)$", "", path)
        p = run(bide, args, stdin)
        yield (name, name + ".txt",
               p.stderr + p.stdout + b"exit %d\n" % p.returncode)
        for suffix in "json", "sarif":
            if path.endswith(".yaml") and os.path.exists(f"{name}.{suffix}"):
                yield (name, f"{name}.{suffix}",
                       run(bide, ["--" + suffix] + args).stdout)


def unseen_codes(bide, seen):
    """Codes that the reference page lists, and no golden file shows."""
    page = run(bide, ["--reference"]).stdout.decode()
    tail = page[page.index("## Errors"):]
    codes = set(re.findall(r"^\| `([a-zA-Z0-9-]+)` \|", tail, re.M))
    assert len(codes) > 30, codes
    return codes - seen - ELSEWHERE


def main():
    bide = os.path.abspath(sys.argv[1])
    update = "--update" in sys.argv[2:]
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "check"))
    passed = failed = 0
    seen = set()
    for name, expected, got in cases(bide):
        seen |= set(re.findall(r"\[([a-z0-9-]+|L\d+)[ \]]", got.decode()))
        if update:
            with open(expected, "wb") as f:
                f.write(got)
            continue
        try:
            want = open(expected, "rb").read()
        except FileNotFoundError:
            want = None
        if got == want:
            passed += 1
            continue
        failed += 1
        print(f"{expected} differs; it is now:")
        print(got.decode(errors="replace"))
    for code in sorted(unseen_codes(bide, seen)):
        print(f"no golden file shows {code}")
        failed += 1
    print(f"{passed} golden files as expected, {failed} not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
