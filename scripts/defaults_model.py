"""The situations and the policies that the defaults are chosen by, and how they
are run: for defaults_study.py, which writes docs/defaults.md, and for the test
that holds the defaults to their bar (test/sim/defaults.py).

    model = Model("build/cmd/bide", replications=3)
    cells = model.run(SITUATIONS["stop-10s"], {"defaults": "", "grpc": "preset: grpc"})
    cells["defaults"].success, cells["defaults"].amplification
"""
import collections
import glob
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# ===== policies: what they change of the defaults =====

BARE = "breaker: { kind: off }, unreachable: { wait: none }"
RIVALS = {
    "full jitter": f"budget: {{ kind: off }}, {BARE}",
    "budget": BARE,
    "aws-standard": "preset: aws-standard",
    "aws-2026": "preset: aws-2026",
    "grpc": "preset: grpc",
    "finagle": "preset: finagle",
}
OTHERS = {
    "defaults": "",
    "before": "budget: { ratio: 10% }, breaker: { failure_rate: 50%, slow_rate: 100%, "
              "open: 30s, open_max: 5m }, unreachable: { wait: none }",
    **RIVALS,
    "sre": "preset: sre",
    "envoy": "preset: envoy",
}

# ===== situations =====

Situation = collections.namedtuple("Situation", "text duration body timeout group")
SITUATIONS = {}


def fault(kind, length, service="api", at="30s"):
    return f"  - {{ at: {at}, for: {length}, service: {service}, {kind} }}\n"


def add(name, text, group, faults, duration="2m", rate="400/s", count=2000,
        processes=10, service="workers: 50, time: { exponential: 50ms }", timeout="2s"):
    SITUATIONS[name] = Situation(text, duration, (
        f"clients:\n  web: {{ count: {count}, processes: {processes}, rate: {rate}, "
        f"calls: api, policy: P }}\nservices:\n  api: {{ {service} }}\n"
        f"faults:\n{faults}"), timeout, group)


KINDS = {"errors": "error_rate: 100%", "hangs": "stop: true", "away": "crash: true"}
SAID = {"errors": "answers errors", "hangs": "hangs", "away": "refuses connections"}


def single():
    for length in "300ms", "1s", "5s":
        for kind, what in KINDS.items():
            add(f"{kind} {length}", f"{SAID[kind]} for {length}", "Blips",
                fault(what, length), duration="1m")
    for length, duration, rate in ("10s", "2m", "400/s"), ("60s", "3m", "400/s"), \
            ("10m", "14m", "100/s"):
        for kind, what in KINDS.items():
            add(f"{kind} {length}", f"{SAID[kind]} for {length}", "Stops",
                fault(what, length), duration=duration, rate=rate)
    for share in 5, 20, 40, 60, 80:
        add(f"{share}% errors", f"{share} % of its responses are errors, for 60 s",
            "Partial failure", fault(f"error_rate: {share}%", "60s"))
    busy = "workers: 25, time: { exponential: 50ms }"
    add("slow 5x", "five times as slow for 60 s, and too slow", "Brown-outs",
        fault("slow: 5", "60s"), service="workers: 30, time: { exponential: 50ms }")
    add("half capacity", "half of its workers for 60 s; 67 % load before",
        "Brown-outs", fault("capacity: 50%", "60s"),
        service="workers: 30, time: { exponential: 50ms }")
    add("slow 5x, spare", "five times as slow for 60 s, with workers to spare: "
        "some time out", "Brown-outs", fault("slow: 5", "60s"),
        service="workers: 600, time: { exponential: 200ms }")
    add("busy, hangs 10s", "80 % load, hangs for 10 s", "Brown-outs",
        fault("stop: true", "10s"), service=busy)
    add("busy, away 5s", "80 % load, refuses connections for 5 s", "Brown-outs",
        fault("crash: true", "5s"), service=busy)
    add("flapping", "80 % load, refuses connections for 2 s of every 8 s",
        "Brown-outs", "  - { at: 30s, for: 60s, service: api, crash: true, every: 8s, "
        "down: 2s }\n", service=busy)


def traffic():
    low = {"count": 1, "processes": 1, "service": "workers: 5, time: { exponential: 50ms }"}
    minute = {"rate": "0.0167/s", "duration": "30m", **low}
    add("1/min, errors", "a call a minute; errors for 10 min", "Little traffic, and much",
        fault("error_rate: 100%", "10m"), **minute)
    add("1/min, away", "a call a minute; refuses connections for 10 min",
        "Little traffic, and much", fault("crash: true", "10m"), **minute)
    add("1/min, 40% errors", "a call a minute; 40 % errors for 10 min",
        "Little traffic, and much", fault("error_rate: 40%", "10m"), **minute)
    second = {"rate": "1/s", "duration": "5m", **low}
    add("1/s, errors 60s", "a call a second; errors for 60 s", "Little traffic, and much",
        fault("error_rate: 100%", "60s"), **second)
    add("1/s, 60% errors", "a call a second; 60 % errors for 60 s",
        "Little traffic, and much", fault("error_rate: 60%", "60s"), **second)
    add("1/s, away 5s", "a call a second; refuses connections for 5 s",
        "Little traffic, and much", fault("crash: true", "5s"), **second)
    much = {"rate": "10000/s", "count": 10000, "processes": 50, "duration": "20s",
            "service": "workers: 700, time: { exponential: 50ms }"}
    for kind, what in KINDS.items():
        add(f"10000/s, {kind} 5s", f"10 000 calls a second; {SAID[kind]} for 5 s",
            "Little traffic, and much", fault(what, "5s", at="8s"), **much)


def chains():
    for layers in 2, 3:
        for name, kind in ("hangs 15s", fault("stop: true", "15s", f"t{layers}")), \
                ("errors 15s", fault("error_rate: 100%", "15s", f"t{layers}")), \
                ("60% errors", fault("error_rate: 60%", "60s", f"t{layers}")):
            inner = "".join(
                f"  t{i}: {{ workers: 400, time: {{ exponential: 5ms }}, "
                f"calls: [ {{ service: t{i + 1}, policy: P }} ] }}\n"
                for i in range(1, layers))
            SITUATIONS[f"{layers} layers, {name}"] = Situation(
                f"{layers} layers, each with the policy; the last one: {name}", "3m",
                "clients:\n  web: { count: 2000, processes: 10, rate: 200/s, "
                f"calls: t1, policy: P }}\nservices:\n{inner}"
                f"  t{layers}: {{ workers: 30, time: {{ exponential: 50ms }} }}\n"
                f"faults:\n{kind}", "2s", "Chains")


def servers():
    ten = "servers: 10, workers: 6, time: { exponential: 50ms }"
    for name, what in ("errs", "error_rate: 100%, at_once: true"), ("hangs", "stop: true"), \
            ("away", "crash: true"):
        text = {"errs": "answers errors at once", "hangs": "hangs",
                "away": "refuses connections"}[name]
        for eject, said in ("", ""), (", ejection: {}", "; failing servers are ejected"):
            add(f"1 of 10 {name}" + (", ejection" if eject else ""),
                f"one server of ten {text} for 60 s{said}", "One server of ten",
                f"  - {{ at: 30s, for: 60s, server: 3, {what} }}\n",
                service=ten + eject)


def herd():
    SITUATIONS["reconnect"] = Situation(
        "5000 sessions connect within some seconds, which takes 5 s", "1m",
        "clients:\n  web: { count: 5000, processes: 20, most_calls: 1, calls: api, "
        "think: { normal: { mean: 6s, deviation: 1s } }, policy: P }\n"
        "services:\n  api: { workers: 20, time: { exponential: 20ms } }\n", "2s", "Herds")
    SITUATIONS["cron"] = Situation(
        "2000 jobs at the same moment, once a minute; 4 s of work", "3m",
        "clients:\n  web: { count: 2000, processes: 10, every: 60s, calls: api, "
        "policy: P }\nservices:\n  api: { workers: 25, time: { exponential: 50ms } }\n",
        "2s", "Herds")


for make in single, servers, traffic, chains, herd:
    make()

# ===== running them =====

Cell = collections.namedtuple("Cell", "success amplification recover stuck")


def policy(own, changes):
    return "{ " + ", ".join(x for x in (own, changes) if x) + " }"


class Model:
    def __init__(self, bide, replications=3):
        self.bide, self.n = bide, replications

    def simulate(self, yaml):
        p = subprocess.run([self.bide, "sim", "-", "-n", str(self.n), "--json",
                            "--no-progress", "--threads", "1"],
                           input=yaml, capture_output=True, text=True)
        if p.returncode:
            raise SystemExit(f"{p.stderr}\n{yaml}")
        return {v["name"]: Cell(*(v["figures"][k]["mean"] for k in
                                  ("success", "amplification", "recover", "stuck")))
                for v in json.loads(p.stdout)["variants"]}

    def run(self, situation, policies):
        """The figures of each of the policies in a situation. At most 32 variants are
        run together; the seeds are the same for all."""
        names, cells = list(policies), {}
        for i in range(0, len(names), 30):
            cells.update(self.some(situation, {k: policies[k] for k in names[i:i + 30]}))
        return cells

    def some(self, situation, policies):
        own = f"attempt_timeout: {situation.timeout}"
        named = "".join(f"  {json.dumps('v ' + k)}: {policy(own, c)}\n"
                        for k, c in policies.items())
        variants = "".join(f"  {json.dumps(k)}: {json.dumps('v ' + k)}\n"
                           for k in policies)
        return self.simulate(
            f"version: 1\nscenario: {{ title: t, duration: {situation.duration}, "
            f"warm_up: 5s }}\npolicies:\n  P: {{ {own} }}\n{named}{situation.body}"
            f"variants:\n{variants}")

    def builtin(self, path, policies):
        """The same for a scenario that comes with bide, in the place of its variant
        `defaults`, and with what that sets."""
        text = open(path).read()
        own = re.search(r"\n  defaults: \{ (attempt_timeout.*) \}\n", text).group(1)
        variant = re.search(r"\nvariants:\n(?:.*\n)*?  defaults: (.*)\n", text).group(1)
        named = "".join(f"  {json.dumps('v ' + k)}: {policy(own, c)}\n"
                        for k, c in policies.items())
        text = text.replace("\npolicies:\n", "\npolicies:\n" + named, 1)
        return self.simulate(
            text[:text.index("\nvariants:\n")] + "\nvariants:\n" + "".join(
                f"  {json.dumps(k)}: " +
                re.sub(r"\bdefaults\b", lambda _: json.dumps("v " + k), variant) + "\n"
                for k in policies))


# ===== the bar =====

LITTLE = {"thundering-herd"}  # a call a second or less in each process
# Where a goal contradicts another.
EXCEPTIONS = {
    ("thundering-herd", "amplification"):
        "Each of the 3000 clients is a process of its own with a call every 20 s. A "
        "budget that lets such a client retry at all lets each of them retry, and none "
        "of the others stays below 1.5 either. Clients that all come at once and can "
        "wait are what `patient` is for: everybody is served.",
    ("double-charge", "success"):
        "The service is slow but has workers to spare, so every retry helps and none "
        "hurts. A client cannot tell this from an overload, in which retries are what "
        "keeps it up (`metastable`, `brown-out`); the defaults assume the latter.",
    ("rate-limited", "success"):
        "A job sends a thousand calls within a second, before any success that a budget "
        "could be paid from. Policies with a reserve of some hundred retries do better, "
        "at an amplification of 1.2 to 1.3. Batches are what `patient` is for.",
    ("reconnect-storm", "success"):
        "Twenty thousand calls at once, and each is made only once. A breaker that trips "
        "after five failures in a row and stays open for 5 s (finagle) gets a little "
        "more through; the same breaker is the worst of all where a part of the "
        "responses are errors. What helps is a cap on attempts in flight.",
    ("shard-down", "recovery"):
        "The budget is one for ten shards, so the calls to the dead one may spend what "
        "the other nine earn, and its queue is longer when it returns. A dependency for "
        "each shard has a budget for each.",
}


def limit(name):
    return 1.5 if name in LITTLE else 1.3


def judge(name, cells):
    """What of the bar does not hold: {goal: in words}."""
    mine, wrong = cells["defaults"], {}
    fit = {k: c for k, c in cells.items()
           if k in RIVALS and c.amplification < limit(name)}
    if mine.amplification >= limit(name):
        wrong["amplification"] = f"{mine.amplification:.2f}, the limit is {limit(name)}"
    if fit:
        best = max(fit, key=lambda k: fit[k].success)
        if mine.success < fit[best].success - 0.02:
            wrong["success"] = (f"{100 * mine.success:.1f} %, {best} has "
                                f"{100 * fit[best].success:.1f} %")
    back = {k: c.recover for k, c in fit.items()
            if c.recover is not None and not c.stuck}
    if back:
        best = min(back, key=lambda k: back[k])
        if mine.recover is None or mine.stuck or mine.recover > back[best] + 5:
            when = "not back" if mine.recover is None or mine.stuck \
                else f"{mine.recover:.1f} s"
            wrong["recovery"] = f"{when}, {best} takes {back[best]:.1f} s"
    return wrong


def builtins():
    """Those with callers; queues are in defaults_queue.py."""
    return {os.path.basename(p)[:-len(".yaml")]: p for p in
            sorted(glob.glob(os.path.join(ROOT, "sim/scenario/builtin/*.yaml")))
            if not os.path.basename(p).startswith("queue-")}
