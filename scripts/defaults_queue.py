"""The preset `queue` against what other job systems come with: situations, and the
table of docs/defaults.md. Used by defaults_study.py and test/sim/defaults.py."""
import collections
import json
import subprocess

BY_ITSELF = "queue: { pauses: false, forgives: false }"
NO_BREAKER = "breaker: { kind: off }"


def every(attempts, seconds):
    return (f"preset: queue, {NO_BREAKER}, attempts: {attempts}, "
            f"backoff: {{ base: {seconds}, factor: 1, jitter: none }}")


# name: (policy, what its worker does when the handler is not there)
SYSTEMS = {
    "defaults": ("preset: queue", ""),
    "no pause": (f"preset: queue, {NO_BREAKER}", BY_ITSELF),
    "sidekiq": (f"preset: queue, {NO_BREAKER}, attempts: 26, backoff: {{ spread: 20%, "
                "delays: [ 20s, 26s, 46s, 2m, 5m, 11m, 23m, 41m, 70m, 2h, 3h, 4h, 6h, "
                "8h, 11h, 14h ] }", BY_ITSELF),
    "celery": (every(4, "180s"), BY_ITSELF),
    "sqs 5": (every(5, "30s"), BY_ITSELF),
    "sqs 3": (every(3, "30s"), BY_ITSELF),
}

Situation = collections.namedtuple("Situation", "text duration over rate queue more fault")


def situation(text, duration, over="", rate="30/min", queue="waiting: 10000", more="",
              fault=""):
    return Situation(text, duration, over, rate, queue, more, fault)


# `over`: when the fault ends, in seconds.
SITUATIONS = {
    "refused 2h": situation("refuses connections for 2 h, 10 000 wait", "4h30m", 7200,
                            fault="{ at: 0s, for: 2h, refuse: true }"),
    "refused 10m": situation("refuses connections for 10 min", "1h", 600, rate="5/s",
                             queue="waiting: 0",
                             fault="{ at: 0s, for: 10m, refuse: true }"),
    "errors 2h": situation("answers errors for 2 h, 10 000 wait", "4h30m", 7200,
                           fault="{ at: 0s, for: 2h, error_rate: 100%, at_once: true }"),
    "throttled": situation("429 beyond 10/s, 3 000 wait", "20m", 0, rate="5/min",
                           queue="waiting: 3000",
                           more=", rate_limit: { rate: 10/s }"),
    "flaky": situation("20 % of first attempts fail", "30m", 0, rate="22/s",
                       queue="fails_first: 20%"),
    "half": situation("half of all attempts fail for 10 min", "1h", 600, rate="5/s",
                      queue="waiting: 0",
                      fault="{ at: 0s, for: 10m, error_rate: 50% }"),
    "poison": situation("1 % of the messages always fail", "30h", 0, rate="6/min",
                        queue="poison: 1%", more=""),
}

Cell = collections.namedtuple("Cell", "success dead dead_after number all_back amplification "
                                      "retry_wait probes")


def text_of(s, systems):
    policies = "".join(f"  {json.dumps(k)}: {{ {p} }}\n" for k, (p, _) in systems.items())
    variants = "".join(
        f"  {json.dumps(k)}: {{ jobs: {{ policy: {json.dumps(k)}"
        f"{', ' + w if w else ''} }} }}\n" for k, (_, w) in systems.items())
    return (f"version: 1\nscenario: {{ title: t, duration: {s.duration} }}\n"
            f"policies:\n{policies}clients:\n  jobs: {{ rate: {s.rate}, calls: handler, "
            f"policy: {json.dumps(next(iter(systems)))}, queue: {{ at_once: 16, {s.queue} }} }}\n"
            "services:\n  handler: { workers: 20, time: { exponential: 500ms }"
            f"{s.more} }}\n" + (f"faults:\n  - {s.fault}\n" if s.fault else "") +
            f"variants:\n{variants}")


def run(bide, s, systems, replications):
    yaml = text_of(s, systems)
    p = subprocess.run([bide, "sim", "-", "-n", str(replications), "--json",
                        "--no-progress", "--threads", "1"],
                       input=yaml, capture_output=True, text=True)
    if p.returncode:
        raise SystemExit(f"{p.stderr}\n{yaml}")
    names = ("success", "dead", "dead_after", "attempt_number", "all_back",
             "amplification", "retry_wait", "probes")

    def value(f):
        return float("inf") if f["infinite"] else f["mean"]
    return {v["name"]: Cell(*(value(v["figures"][n]) for n in names))
            for v in json.loads(p.stdout)["variants"]}


def time_of(s):
    return (f"{s / 3600:.1f} h" if s >= 7200 else f"{s / 60:.0f} min" if s >= 600
            else f"{s:.0f} s")


def cell_text(s, c):
    """Dead messages; when the last of those is done that waited; attempts."""
    words = [f"**{c.dead:.0f} dead** after {time_of(c.dead_after)}" if c.dead >= 0.5
             else "none dead"]
    if s.over and c.dead < 0.5:
        words.append("not done" if c.all_back in (None, float("inf")) else
                     f"done {time_of(max(0, c.all_back - s.over))} after")
    words.append(f"no. {c.number:.0f}")
    words.append(f"{c.amplification:.2f}×")
    return ", ".join(words)


def table(bide, replications, systems=None, names=None):
    systems = systems or SYSTEMS
    out = "|  | " + " | ".join(systems) + " |\n" + "|---" * (1 + len(systems)) + "|\n"
    for name in names or SITUATIONS:
        s = SITUATIONS[name]
        cells = run(bide, s, systems, replications)
        out += f"| {s.text} | " + " | ".join(cell_text(s, cells[k]) for k in systems) + " |\n"
    return out


def judge(bide, replications):
    """What the preset promises, and does not hold."""
    one = {"defaults": SYSTEMS["defaults"]}
    bad = []
    for name in ("refused 2h", "errors 2h", "flaky", "poison"):
        s = SITUATIONS[name]
        c = run(bide, s, one, replications)["defaults"]
        work = 13600 * 0.5 / 16 if s.over else 0
        if name != "poison" and c.dead > 0:
            bad.append(f"{name}: {c.dead:.0f} dead")
        if s.over and not c.all_back <= s.over + 60 + 1.1 * work:
            bad.append(f"{name}: all done after {c.all_back - s.over:.0f} s")
        if name == "refused 2h" and c.number > 2:
            bad.append(f"{name}: attempt {c.number:.0f}")
        if s.over and not c.probes < 1:
            bad.append(f"{name}: {c.probes} probes a second")
        if name == "flaky" and not c.retry_wait <= 2:
            bad.append(f"{name}: a retry waited {c.retry_wait:.2f} times its backoff")
        if name == "poison" and not (c.number == 15 and 16 < c.dead_after / 3600 < 28):
            bad.append(f"{name}: dead after {c.number:.0f} attempts, {time_of(c.dead_after)}")
    return bad
