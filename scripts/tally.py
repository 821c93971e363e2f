#!/usr/bin/env python3
"""Count the test cases of a meson test run, or show the ones that failed.

    tally.py LOG.json EXIT_CODE     print `passed failed`
    tally.py --failures LOG.json    print the output of the failed tests
    tally.py --crowded LOG.json     print the names of the failed tests, if they are few and
                                    all of them are with other programs: they may have
                                    failed for want of the machine
    tally.py --mended LOG.json AGAIN.json
                                    print how many failed cases of LOG.json passed when their
                                    tests were run again, and the tests on standard error
    tally.py --skipped LOG.json     print which tests could not be run, and why
    tally.py --slowest LOG.json...  print the ten that took longest, with the name of
                                    the run that each was in

LOG.json is what `meson test` writes, an object per line. A test that speaks TAP
(cmocka does) counts with each of its cases, any other as one. A test that
crashed or timed out counts as a failure even if its last line was an `ok`, and
a run without a single test is a failure: it means that a suite went missing.
"""
import json
import re
import sys

GOOD = {"OK", "EXPECTEDFAIL", "SKIP"}
SHOW = 120  # lines of each stream of a failed test
SLOWEST = 10
CROWDED = 5  # more that fail have another cause
OUTSIDE = {"e2e", "examples", "cli"}  # suites with processes, servers and clocks


def load(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return [json.loads(line) for line in f if line.strip()]
    except OSError:
        return []


def count(test):
    out = test.get("stdout") or ""
    good = test["result"] in GOOD
    if re.search(r"^1\.\.\d+", out, re.M):
        passed = len(re.findall(r"^ok\b(?!.*# SKIP)", out, re.M))
        failed = len(re.findall(r"^not ok\b(?!.*# SKIP)", out, re.M))
        return passed, failed if good else max(failed, 1)
    if test["result"] == "SKIP":
        return 0, 0
    return (1, 0) if good else (0, 1)


def tally(path, exit_code):
    counts = [count(test) for test in load(path)]
    passed = sum(c[0] for c in counts)
    failed = sum(c[1] for c in counts)
    if failed == 0 and (passed == 0 or exit_code != 0):
        failed = 1
    print(passed, failed)


def show_failures(path):
    tests = load(path)
    for test in tests:
        if count(test)[1] == 0:
            continue
        print(f"FAILED {test['name']}: {test['result']}, "
              f"exit code {test.get('returncode')}")
        for stream in ("stdout", "stderr"):
            lines = [line for line in (test.get(stream) or "").splitlines()
                     if not re.match(r"ok\b", line)]
            if len(lines) > SHOW:
                print(f"    ... {len(lines) - SHOW} lines more in {path}")
            for line in lines[-SHOW:]:
                print("    " + line)
    if not tests:
        print("no test was run")


def show_crowded(path):
    failed = [test["name"] for test in load(path) if count(test)[1] != 0]
    suites = [set(re.split(r"[:+ ]", name.partition(" / ")[0])) for name in failed]
    if len(failed) <= CROWDED and all(s & OUTSIDE for s in suites):
        print("\n".join(name.partition(" / ")[2] for name in failed))


def count_mended(path, again):
    good = {test["name"] for test in load(again) if count(test)[1] == 0}
    mended = [test for test in load(path) if count(test)[1] != 0 and test["name"] in good]
    for test in mended:
        print(f"FLAKY: failed beside other tests, passed alone: {test['name']}",
              file=sys.stderr)
    print(sum(count(test)[1] for test in mended))


def show_skipped(path):
    for test in load(path):
        if test["result"] == "SKIP":
            why = re.search(r"^1\.\.0 # SKIP (.*)", test.get("stdout") or "", re.M)
            print(f"SKIPPED {test['name']}: {why.group(1) if why else 'it says no more'}")


def show_slowest(paths):
    took = []
    for path in paths:
        run = re.search(r"log-(\w+)", path)
        took += [(test.get("duration") or 0, test["name"], run.group(1) if run else "")
                 for test in load(path)]
    print(f"the {min(SLOWEST, len(took))} slowest tests:")
    for seconds, name, run in sorted(took, reverse=True)[:SLOWEST]:
        print(f"  {seconds:6.1f} s  {run:<10} {name}")


if sys.argv[1] == "--failures":
    show_failures(sys.argv[2])
elif sys.argv[1] == "--crowded":
    show_crowded(sys.argv[2])
elif sys.argv[1] == "--mended":
    count_mended(sys.argv[2], sys.argv[3])
elif sys.argv[1] == "--skipped":
    show_skipped(sys.argv[2])
elif sys.argv[1] == "--slowest":
    show_slowest(sys.argv[2:])
else:
    tally(sys.argv[1], int(sys.argv[2]))
