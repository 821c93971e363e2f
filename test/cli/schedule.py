#!/usr/bin/env python3
"""schedule.py BIDE: what `bide schedule --json` says is what the rules say."""
import json
import sys

import tap

BIDE = sys.argv[1]


def schedule(*args):
    code, out, err = tap.run([BIDE, "schedule", "--json", *args])
    if code:
        raise SystemExit(f"{args}: exit code {code}: {err}")
    return json.loads(out)


def equal(name, found, expected):
    tap.case(name, found == expected, f"expected {expected}\nfound    {found}")


def refused(name, words, *args):
    code, out, err = tap.run([BIDE, "schedule", *args])
    tap.case(name, code == 2 and not out and words in err,
             f"{code}\n{out}{err}")


def waits():
    equal("defaults", schedule()["waits_ms"], [100, 200, 400])
    equal("one less than attempts", schedule("--attempts", "1")["waits_ms"], [])
    equal("the cap cuts",
          schedule("--attempts", "6", "--base", "1s", "--factor", "3", "--cap",
                   "10s")["waits_ms"], [1000, 3000, 9000, 10000, 10000])
    equal("exact decimals",
          schedule("--base", "1.5ms", "--factor", "1.1")["waits_ms"],
          [1.5, 1.65, 1.815])
    equal("nanoseconds", schedule("--base", "1ns", "--factor", "1")["waits_ms"],
          [0.000001] * 3)
    equal("the floor lifts", schedule("--floor", "150ms")["waits_ms"],
          [150, 200, 400])
    equal("base 0", schedule("--base", "0")["waits_ms"], [0, 0, 0])
    many = schedule("--attempts", "10000")["waits_ms"]
    tap.case("10000 attempts", len(many) == 9999 and many[-1] == 30000 and
             min(many) > 0)
    most = schedule("--attempts", "1000001")["waits_ms"]
    tap.case("a million retries", len(most) == 1000000 and set(most[9:]) ==
             {30000})
    equal("presets", len(schedule("--preset", "grpc")["waits_ms"]) > 0, True)


def ranges():
    ranges_of = lambda *a: [schedule(*a)[k] for k in
                            ("waits_min_ms", "waits_max_ms")]
    equal("range of none", ranges_of("--jitter", "none"), [[100, 200, 400]] * 2)
    equal("range of full", ranges_of(), [[0, 0, 0], [100, 200, 400]])
    equal("range of equal", ranges_of("--jitter", "equal"),
          [[50, 100, 200], [100, 200, 400]])
    equal("range of proportional", ranges_of("--jitter", "proportional"),
          [[80, 160, 320], [120, 240, 480]])
    equal("range of decorrelated", ranges_of("--jitter", "decorrelated"),
          [[100, 100, 100], [300, 900, 2700]])
    equal("full above the floor", ranges_of("--floor", "150ms"),
          [[150, 150, 150], [150, 200, 400]])


def draws():
    for jitter in ("none", "full", "equal", "decorrelated", "proportional"):
        s = schedule("--jitter", jitter, "--draws", "2000", "--seed", "1",
                     "--attempts", "9", "--cap", "5s")
        d = s["draws_ms"]
        tap.case(f"{jitter}: a list of waits for each draw",
                 len(d) == 2000 and all(len(x) == 8 for x in d))
        tap.case(f"{jitter}: within the range",
                 all(lo <= x <= hi for row in d for x, lo, hi in
                     zip(row, s["waits_min_ms"], s["waits_max_ms"])))
        last = [row[-1] for row in d]
        tap.case(f"{jitter}: jitter survives at the cap",
                 jitter == "none" or len(set(last)) > 1900)
        if jitter != "decorrelated":
            mean = sum(last) / len(last)
            middle = (s["waits_min_ms"][-1] + s["waits_max_ms"][-1]) / 2
            tap.case(f"{jitter}: the mean is in the middle",
                     abs(mean - middle) < 0.04 * middle, f"{mean}, {middle}")
    d = schedule("--jitter", "decorrelated", "--draws", "500", "--seed", "2")
    tap.case("decorrelated: at most three times the wait before",
             all(b <= 3 * max(a, 100) + 1e-6 for row in d["draws_ms"]
                 for a, b in zip(row, row[1:])))
    equal("the same seed, the same draws",
          schedule("--draws", "5", "--seed", "9"),
          schedule("--draws", "5", "--seed", "9"))
    tap.case("another seed, other draws",
             schedule("--draws", "5", "--seed", "9")["draws_ms"] !=
             schedule("--draws", "5", "--seed", "10")["draws_ms"])
    tap.case("no seed, other draws",
             schedule("--draws", "5")["draws_ms"] !=
             schedule("--draws", "5")["draws_ms"])
    again = schedule("--draws", "5")
    equal("the seed that is told draws the same",
          schedule("--draws", "5", "--seed", str(again["seed"])), again)


def explained():
    """`bide explain --attempt n` draws wait n of the first draw."""
    for jitter in ("full", "equal", "decorrelated", "proportional"):
        first = schedule("--jitter", jitter, "--draws", "1", "--seed", "5",
                         "--attempts", "7")["draws_ms"][0]
        found = []
        for n in range(1, 7):
            _, out, _ = tap.run([BIDE, "explain", "--json", "--status", "503",
                                 "--jitter", jitter, "--seed", "5",
                                 "--attempts", "7", "--attempt", str(n)])
            found.append(json.loads(out)["wait_ms"])
        equal(f"{jitter}: explain and schedule agree", found, first)


def bounds():
    refused("more than a million retries", "expected at most 1000000",
            "--json", "--attempts", "1000002")
    refused("2^31 attempts", "expected at most 1000000", "--json", "--attempts",
            "2147483648")
    refused("too many draws", "too many", "--draws", "1000000", "--attempts",
            "200")
    refused("over 2^31 attempts", "--attempts: found `2147483649`",
            "--attempts", "2147483649")
    code, out, _ = tap.run([BIDE, "schedule", "--attempts", "2147483648"])
    tap.case("2^31 attempts as a table", code == 0 and len(out) < 6000 and
             "the same up to retry 2147483647" in out, out)


waits()
ranges()
draws()
explained()
bounds()
tap.finish()
