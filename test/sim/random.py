#!/usr/bin/env python3
"""random.py BIDE [FROM TO]: models drawn at random, with every key there is, are run.

Nothing is known of how they come out but what holds for all: the program ends
well, its JSON is JSON, shares are shares, a call takes at least no attempt and a
success at least one, and one thread says what two say. A seed that fails prints
its scenario. Meant for builds with sanitizers too.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

DURATIONS = ["0s", "1ms", "20ms", "300ms"]


def maybe(r, share, *parts):
    return [r.choice(parts)] if r.random() < share else []


def distribution(r):
    return r.choice(DURATIONS + [
        "{ exponential: 20ms }",
        "{ normal: { mean: 20ms, deviation: 30ms } }",
        "{ lognormal: { median: 20ms, p99: 300ms } }",
        "{ lognormal: { median: 20ms, sigma: 1.5 } }",
        "{ pareto: { least: 2ms, alpha: 0.8 } }",
        "{ mixture: [ { share: 90%, exponential: 10ms }, "
        "{ share: 10%, constant: 1s } ] }",
        "{ histogram: [ { upto: 5ms, share: 50% }, { upto: 100ms, share: 50% } ] }",
        "{ percentiles: { p50: 5ms, p99: 80ms, p99.9: 1s } }",
    ])


def policy(r):
    hedges = r.random() < 0.2
    parts = [f"attempts: {1 if hedges else r.choice([1, 2, 4, 10])}",
             f"attempt_timeout: {r.choice(['5ms', '100ms', '2s'])}",
             "budget: { kind: %s }" % r.choice(
                 ["off", "window", "window, deposit: call", "quota", "throttle",
                  "in_flight"])]
    parts += maybe(r, 0.4, "deadline: 10ms", "deadline: 1s")
    parts += maybe(r, 0.5, "nested: retry")
    parts += maybe(r, 0.6, *["backoff: { base: 10ms, cap: 2s, jitter: %s }" % j
                             for j in ("none", "full", "equal", "decorrelated",
                                       "proportional")])
    parts += maybe(r, 0.9, "breaker: { kind: off }",
                   "breaker: { min_calls: 1, open: 10ms, open_max: 20s }",
                   "breaker: { kind: count, window_calls: 20, min_calls: 5 }")
    parts += maybe(r, 0.4, *[
        "limits: { in_flight: %d, queue: %d, queue_timeout: %s }" % (n, q, t)
        for n in (1, 50) for q in (0, 1, 100) for t in ("0s", "1s")],
        "limits: { adaptive_rate: true }", "limits: { adaptive_throttle: true }")
    parts += maybe(r, 0.2, "idempotency: { key: generate }")
    if hedges:
        parts += [r.choice(["hedge: { after: p95, max: 1 }",
                            "hedge: { after: 0s, max: 4 }"])]
    return "{ " + ", ".join(parts) + " }"


def fleet(r, services, policies):
    count = r.choice([1, 3, 200])
    parts = [f"count: {count}", f"processes: {r.randint(1, count)}",
             f"policy: {r.choice(policies)}", f"calls: {r.choice(services)}",
             r.choice(["rate: 1/s", "rate: 200/s", "rate: 50/s, steady: true",
                       "think: 1s", "think: { exponential: 50ms }",
                       "think: 1s, spread: 1s", "every: 500ms",
                       "every: 1s, spread: 300ms",
                       "load: [ { at: 1s, rate: 300/s, over: 1s } ]",
                       "rate: 20/s, load: [ { at: 0s, rate: 300/s, for: 100ms }, "
                       "{ at: 500ms, rate: 0/s } ], repeat: 1s, steady: true"])]
    parts += maybe(r, 0.2, "from: 500ms") + maybe(r, 0.2, "until: 2s")
    parts += maybe(r, 0.2, "most_calls: 1", "most_calls: 7")
    parts += maybe(r, 0.4, "idempotent: false", "idempotent: key")
    return "{ " + ", ".join(parts) + " }"


def service(r, below, policies):
    parts = [f"workers: {r.choice(['1', '3', '30', 'unbounded'])}",
             f"time: {distribution(r)}", f"shards: {r.choice([1, 3])}"]
    servers = r.choice([1, 1, 2, 5])
    parts += [f"servers: {servers}"]
    if servers > 1:
        parts += maybe(r, 0.7, *["balance: " + b for b in (
            "two_choices", "least_requests", "round_robin", "random")])
        parts += maybe(r, 0.5, "ejection: {}, slow_start: 500ms",
                       "ejection: { consecutive: 1, open: 50ms, max_ejected: 100% }")
    parts += maybe(r, 0.3, "network: " + distribution(r))
    parts += maybe(r, 0.5, "queue: { limit: 0, no_retry: true }",
                   "queue: { limit: 3, drop: late, retry_after: 1s }",
                   "queue: { order: lifo, retry_after: when_free }")
    if "retry_after" not in " ".join(parts):
        parts += maybe(r, 0.3, "rate_limit: { rate: 1/s, retry_after: when_free }",
                       "rate_limit: { rate: 50/s, burst: 5, retry_after: 10m }")
    for key in "cancels", "detached", "keys":
        parts += maybe(r, 0.3, key + ": true")
    for key in "error_rate", "lost_rate":
        parts += maybe(r, 0.2, key + ": 1%", key + ": 100%")
    if below and r.random() < 0.7:
        calls = ["{ service: %s, policy: %s, times: %d, idempotent: %s, "
                 "parallel: %s }" % (
                     r.choice(below), r.choice(policies), r.choice([1, 2, 4]),
                     r.choice(["true", "false", "key"]),
                     r.choice(["true", "false"]))
                 for _ in range(r.choice([1, 2]))]
        parts.append("calls: [ " + ", ".join(calls) + " ]")
    return "{ " + ", ".join(parts) + " }"


def fault(r, services, fleets):
    kind = r.choice(["stop: true", "slow: 5", "error_rate: 50%", "capacity: 0%",
                     "capacity: 30%", "crash: true", "partition: true",
                     "refuse: true", "error_rate: 50%, at_once: true"])
    parts = [f"at: {r.choice(['0s', '500ms', '1s'])}", kind,
             f"service: {r.choice(services)}"]
    parts += maybe(r, 0.7, "for: 1ms", "for: 1s")
    parts += maybe(r, 0.2, "shard: 1")
    parts += maybe(r, 0.3, "server: 1", "servers: 1")
    parts += maybe(r, 0.3, "every: 700ms, down: 1ms", "every: 700ms, down: 700ms")
    if "partition" in kind:
        parts += maybe(r, 0.5, "from: " + r.choice(fleets))
    return "{ " + ", ".join(parts) + " }"


def scenario(seed):
    r = random.Random(seed)
    policies = [f"p{i}" for i in range(r.randint(1, 3))]
    services = [f"s{i}" for i in range(r.randint(1, 4))]
    fleets = [f"f{i}" for i in range(r.randint(1, 3))]
    lines = ["version: 1", "scenario: { duration: 3s, warm_up: 200ms }", "policies:"]
    lines += [f"  {p}: {policy(r)}" for p in policies] + ["clients:"]
    lines += [f"  {f}: {fleet(r, services, policies)}" for f in fleets]
    lines += ["services:"]
    lines += [f"  {s}: {service(r, services[i + 1:], policies)}"
              for i, s in enumerate(services)] + ["faults:"]
    lines += [f"  - {fault(r, services, fleets)}" for _ in range(r.randint(1, 4))]
    lines += ["variants: { a: %s, b: { f0: %s } }" % (r.choice(policies),
                                                       r.choice(policies))]
    return "\n".join(lines) + "\n"


def wrong(figures):
    """What cannot be of the figures of a variant, or None."""
    value = {k: v["mean"] for k, v in figures.items() if v["mean"] is not None}
    if any(v < 0 for v in value.values()):
        return "a figure is negative"
    if any(value.get(k, 0) > 1 + 1e-9
           for k in ("success", "failures", "unfinished", "wasted", "stuck",
                     "utilisation", "overloaded")):
        return "a share is over 1"
    if "success" in value and abs(value["success"] + value["failures"] +
                                  value["unfinished"] - 1) > 1e-9:
        return "success, failures and unfinished do not add up"
    for name, v in figures.items():
        if v["mean"] is None:
            continue
        if not 0 <= v["low"] <= v["mean"] + 1e-9 <= v["high"] + 2e-9:
            return f"the interval of {name} is not possible"
        if v["unit"] == "share" and v["mean"] <= 1 < v["high"]:
            return f"the interval of {name} is over 1"
    if value.get("goodput", 0) > value.get("attempts", 0) * 1.5 + 100:
        return "more successes than attempts"
    return None


def run(bide, path, threads):
    p = subprocess.run([bide, "sim", path, "-n", "2", "--json", "--no-progress",
                        "--threads", threads], capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def check(bide, seed, tmp):
    path = os.path.join(tmp, "s.yaml")
    with open(path, "w") as f:
        f.write(scenario(seed))
    code, out, err = run(bide, path, "1")
    if code != 0:
        return f"exit {code}: {err}"
    for variant in json.loads(out)["variants"]:
        what = wrong(variant["figures"])
        if what:
            return f"{variant['name']}: {what}"
    return None if run(bide, path, "2")[1] == out else "two threads differ"


def main():
    bide = os.path.abspath(sys.argv[1])
    first, last = (int(a) for a in sys.argv[2:4]) if len(sys.argv) > 3 else (0, 40)
    print(f"1..{last - first}", flush=True)
    with tempfile.TemporaryDirectory() as tmp:
        for n, seed in enumerate(range(first, last), 1):
            what = check(bide, seed, tmp)
            print(f"{'not ok' if what else 'ok'} {n} - seed {seed}", flush=True)
            if what:
                print("# " + what.replace("\n", "\n# "))
                print("# " + scenario(seed).replace("\n", "\n# "))
    return 0


if __name__ == "__main__":
    sys.exit(main())
