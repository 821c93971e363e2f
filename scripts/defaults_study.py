#!/usr/bin/env python3
"""Why the defaults are what they are: the tables of docs/defaults.md.

    defaults_study.py BIDE              runs all of it, which takes some minutes
    defaults_study.py BIDE --queue      only those of the preset `queue`: seconds
    defaults_study.py BIDE --quick      some situations, short: prints to stdout

Every figure on the page is computed here, by `bide sim`. The text between them is
in docs/defaults.md itself: tables stand between markers and are replaced.

    <!-- study: others -->
    ...
    <!-- end -->
"""
import concurrent.futures
import os
import re
import subprocess
import sys

import defaults_model as dm
import defaults_queue as dq

PAGE = os.path.join(dm.ROOT, "docs/defaults.md")
BLOCK = re.compile(r"<!-- study: ([\w-]+) -->\n.*?<!-- end -->\n", re.S)
NO_BREAKER = "breaker: { kind: off }"


def breaker(*pairs):
    return "breaker: { " + ", ".join(pairs) + " }"


# ===== each number: values that it might have, and where it matters =====

NUMBERS = {
    "attempts": (
        {"2": "attempts: 2", "3": "attempts: 3", "**4**": "", "6": "attempts: 6"},
        ["errors 300ms", "errors 1s", "20% errors", "40% errors", "1/min, 40% errors",
         "1/s, 60% errors", "hangs 10s"]),
    "base": (
        {"25ms": "backoff: { base: 25ms }", "**100ms**": "",
         "500ms": "backoff: { base: 500ms }", "1s": "backoff: { base: 1s }",
         "no jitter": "backoff: { jitter: none }"},
        ["errors 300ms", "errors 1s", "errors 5s", "20% errors", "reconnect", "cron"]),
    "ratio": (
        {"5%": "budget: { ratio: 5% }", "10%": "budget: { ratio: 10% }", "**20%**": "",
         "30%": "budget: { ratio: 30% }", "50%": "budget: { ratio: 50% }",
         "off": "budget: { kind: off }"},
        ["20% errors", "40% errors", "60% errors", "slow 5x", "slow 5x, spare",
         "half capacity", "busy, hangs 10s", "1 of 10 errs", "3 layers, 60% errors"]),
    "budget": (
        {"**as it is**": "", "window 2s": "budget: { window: 2s }",
         "window 60s": "budget: { window: 60s }", "floor 0/s": "budget: { floor: 0/s }",
         "floor 10/s": "budget: { floor: 10/s }",
         "paid by calls": "budget: { deposit: call }"},
        ["errors 1s", "40% errors", "half capacity", "busy, hangs 10s",
         "1/min, 40% errors", "1/s, 60% errors", "1/s, errors 60s"]),
    "failure-rate": (
        {"50%": breaker("failure_rate: 50%"), "70%": breaker("failure_rate: 70%"),
         "**90%**": "", "100%": breaker("failure_rate: 100%"), "off": NO_BREAKER},
        ["errors 10s", "errors 60s", "40% errors", "60% errors", "80% errors",
         "1/s, 60% errors", "3 layers, 60% errors"]),
    "slow-rate": (
        {"30%": breaker("slow_rate: 30%"), "**50%**": "",
         "70%": breaker("slow_rate: 70%"), "100%": breaker("slow_rate: 100%"),
         "off": NO_BREAKER},
        ["hangs 10s", "hangs 60s", "slow 5x", "slow 5x, spare", "half capacity",
         "busy, hangs 10s", "3 layers, hangs 15s"]),
    "open": (
        {"500ms, 2s": breaker("open: 500ms", "open_max: 2s"), "**1s, 3s**": "",
         "2s, 5s": breaker("open: 2s", "open_max: 5s"),
         "5s, 30s": breaker("open: 5s", "open_max: 30s"),
         "30s, 5m": breaker("open: 30s", "open_max: 5m")},
        ["errors 5s", "errors 10s", "errors 60s", "errors 10m", "hangs 60s", "hangs 10m",
         "slow 5x", "half capacity", "busy, hangs 10s", "10000/s, errors 5s",
         "3 layers, hangs 15s", "3 layers, errors 15s"]),
    "instead": (
        {"**breaker**": "", "none": NO_BREAKER,
         "throttle 10s": NO_BREAKER + ", limits: { adaptive_throttle: true, "
                         "throttle_window: 10s }",
         "throttle 2m": NO_BREAKER + ", limits: { adaptive_throttle: true }",
         "half of probes": breaker("probes: 10", "probe_failure_rate: 50%")},
        ["errors 10s", "hangs 60s", "60% errors", "80% errors", "slow 5x",
         "half capacity", "busy, hangs 10s", "hangs 10m", "3 layers, hangs 15s"]),
    "trip": (
        {"**as it is**": "", "min_calls 5": breaker("min_calls: 5"),
         "min_calls 100": breaker("min_calls: 100"), "window 3s": breaker("window: 3s"),
         "window 5s": breaker("window: 5s"), "window 30s": breaker("window: 30s"), "probes 1": breaker("probes: 1"),
         "probes 10": breaker("probes: 10")},
        ["hangs 10s", "errors 60s", "80% errors", "busy, hangs 10s", "half capacity",
         "1/s, errors 60s", "10000/s, hangs 5s"]),
    "unreachable": (
        {"none": "unreachable: { wait: none }", "2s": "unreachable: { wait: 2s }",
         "**10s**": "", "30s": "unreachable: { wait: 30s }"},
        ["away 300ms", "away 1s", "away 5s", "away 10s", "away 60s", "busy, away 5s",
         "flapping", "1/s, away 5s", "10000/s, away 5s", "1 of 10 away"]),
}

dm.add("away 5 of 8 min", "refuses connections for 5 of 8 minutes", "",
       dm.fault("crash: true", "5m"), duration="8m", rate="100/s")
AGAIN = {
    "three tiers, the last one hangs for 15 s": "3 layers, hangs 15s",
    "crashes for 2 s of every 8 s": "flapping",
    "60 % errors for a minute": "60% errors",
    "crashed for 5 of 8 minutes": "away 5 of 8 min",
}
AGAIN_POLICIES = {"**defaults**": "", "before": dm.OTHERS["before"],
                  "no breaker": NO_BREAKER, "budget": dm.RIVALS["budget"],
                  "aws-standard": dm.RIVALS["aws-standard"]}


# ===== tables =====

def text_of(cell, best):
    stuck = "†" if (cell.stuck or 0) > 0.3 else ""
    success = f"{100 * cell.success:.1f}"
    return f"{'**' + success + '**' if best else success} {cell.amplification:.2f}{stuck}"


def bound(name):
    return 1.5 if name.startswith(("1/s", "1/min")) else 1.3


def row(name, head, cells):
    """The best success is bold, and what is within half a point of it, as far as
    the amplification is within bounds."""
    fit = [c.success for c in cells if c.amplification < bound(name)]
    best = max(fit, default=2)
    return f"| {head} | " + " | ".join(
        text_of(c, c.amplification < bound(name) and c.success > best - 0.005)
        for c in cells) + " |\n"


def head(first, columns):
    return f"| {first} | " + " | ".join(columns) + " |\n" + \
        "|---" * (1 + len(columns)) + "|\n"


class Study:
    def __init__(self, bide, replications):
        self.model, self.wanted, self.cells = dm.Model(bide, replications), {}, {}

    def want(self, name, policies):
        self.wanted.setdefault(name, {}).update({c: c for c in policies.values()})

    def run(self):
        """Each situation once, with all policies that any table wants."""
        def one(name):
            return name, self.model.run(dm.SITUATIONS[name], {
                f"p{i}": c for i, c in enumerate(self.wanted[name])})
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for i, (name, got) in enumerate(pool.map(one, self.wanted), 1):
                print(f"{i}/{len(self.wanted)} {name}", file=sys.stderr, flush=True)
                for j, c in enumerate(self.wanted[name]):
                    self.cells[name, c] = got[f"p{j}"]

    def table(self, first, rows, policies):
        out = head(first, policies)
        for title, name in rows.items():
            out += row(name, title, [self.cells[name, c] for c in policies.values()])
        return out

    def others(self):
        out, groups = "", {}
        for name, s in dm.SITUATIONS.items():
            if s.group:
                groups.setdefault(s.group, {})[s.text] = name
        for group, rows in groups.items():
            out += f"**{group}**\n\n" + self.table("", rows, dm.OTHERS) + "\n"
        return out.rstrip("\n") + "\n"

    def numbers(self, key):
        policies, names = NUMBERS[key]
        return self.table("", {dm.SITUATIONS[n].text: n for n in names}, policies)

    def builtins(self):
        policies = {"defaults": "", **dm.RIVALS}
        out, notes = head("", policies), ""
        scenarios = dm.builtins()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = pool.map(lambda p: self.model.builtin(p, policies), scenarios.values())
            for name, cells in zip(scenarios, runs):
                wrong = dm.judge(name, cells)
                out += row("1/s" if name in dm.LITTLE else name,
                           name + " ‡" * bool(wrong), list(cells.values()))
                for goal, what in wrong.items():
                    why = dm.EXCEPTIONS.get((name, goal), "**Not explained.**")
                    notes += f"- *{name}*, {goal}: {what}. {why}\n"
        return out + "\n‡ The bar is not held:\n\n" + notes


def wanted(study):
    for name, s in dm.SITUATIONS.items():
        if s.group:
            study.want(name, dm.OTHERS)
    for policies, names in NUMBERS.values():
        for name in names:
            study.want(name, policies)
    for name in AGAIN.values():
        study.want(name, AGAIN_POLICIES)


def stability(bide):
    """Where the defaults recover, and where a budget alone does not."""
    args = ["sim", "stability", "metastable", "--variant", "defaults", "--variant",
            "per success", "--loads", "50%..95%:6", "--triggers", "1s..60s:6", "-n", "3"]
    p = subprocess.run([bide, *args, "--no-progress"], check=True, text=True,
                       capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    command = " ".join(f'"{a}"' if " " in a else a for a in args)
    return f"```\n$ bide {command}\n{p.stdout.rstrip()}\n```\n"


def quick(bide):
    """One situation of each kind, with one seed: that all of it still works."""
    study = Study(bide, 1)
    names = ["errors 300ms", "1/s, away 5s", "1 of 10 errs", "2 layers, hangs 15s"]
    for name in names:
        study.want(name, dm.OTHERS)
    study.run()
    print(study.table("", {dm.SITUATIONS[n].text: n for n in names}, dm.OTHERS))
    print(dq.table(bide, 1, names=["refused 10m", "flaky"]))


def write(bide, study):
    made = {"again": lambda: study.table("", AGAIN, AGAIN_POLICIES),
            "others": study.others, "builtins": study.builtins,
            "queue": lambda: dq.table(bide, 2), "map": lambda: stability(bide)}
    for key in NUMBERS:
        made[key] = lambda key=key: study.numbers(key)
    fill(made)


def fill(made):
    """Replaces the tables of these names; the others stay."""
    def table(match):
        if match.group(1) not in made:
            return match.group(0)
        return f"<!-- study: {match.group(1)} -->\n{made[match.group(1)]()}<!-- end -->\n"
    page = BLOCK.sub(table, open(PAGE).read())
    with open(PAGE, "w") as f:
        f.write(page)


def main():
    bide = os.path.abspath(sys.argv[1])
    if "--queue" in sys.argv[2:]:
        return fill({"queue": lambda: dq.table(bide, 2)})
    if "--quick" in sys.argv[2:]:
        return quick(bide)
    study = Study(bide, 2)
    wanted(study)
    study.run()
    write(bide, study)


if __name__ == "__main__":
    main()
