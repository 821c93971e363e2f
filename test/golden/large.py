#!/usr/bin/env python3
"""large.py BIDE: policy files and scenarios of a megabyte are checked in under a
second.

Processor time is measured, not the clock: a busy machine is no mistake. Six
shapes: large policies, small ones, one long chain, nothing but mistakes, a chain
of services that ends nowhere, a scenario of nothing but mistakes.
"""
import os
import resource
import subprocess
import sys
import tempfile

MEGABYTE = 1 << 20


def large():
    for i in range(10**9):
        yield f"""  policy{i}:
    attempts: 4
    attempt_timeout: 2s
    deadline: 10s
    backoff: {{ base: 100ms, factor: 2, cap: 30s, jitter: full }}
    retry_on: {{ status: [408, 429, 500, 502, 503, 504], errors: [connect] }}
    budget: {{ kind: window, ratio: 10%, window: 10s, floor: 1/s }}
    breaker: {{ window: 10s, failure_rate: 50%, min_calls: 20, open: 30s }}
    rules:
      - {{ status: 409, header: X-Lock, class: transient }}
"""


def small():
    for i in range(10**9):
        yield f"  p{i}: {{ attempts: 3 }}\n"


def chain():
    yield "  p0: { attempts: 3, backoff: { jitter: none } }\n"
    for i in range(1, 10**9):
        yield f"  p{i}: {{ extends: p{i - 1} }}\n"


def wrong():
    for i in range(10**9):
        yield f"  p{i}: {{ atempts: 3, extends: q{i}, deadline: 1 }}\n"


def scenario():
    yield "  default: { attempts: 3 }\nclients: { web: { rate: 1/s, calls: s0 } }\n"
    yield "services:\n"
    for i in range(10**9):
        yield f"  s{i}: {{ time: 1ms, calls: [ s{i + 1} ] }}\n"


def wrong_scenario():
    yield "  default: { attempts: 3 }\nservices: { api: }\nclients:\n"
    for i in range(10**9):
        yield f"  c{i}: {{ rate: 1, calls: s{i}, polcy: x }}\n"


def fill(lines):
    text = ["version: 1\npolicies:\n"]
    size = 0
    for line in lines:
        text.append(line)
        size += len(line)
        if size >= MEGABYTE:
            return "".join(text)


def main():
    fail = 0
    with tempfile.TemporaryDirectory() as tmp:
        for shape, expected in (
                (large, 0), (small, 0), (chain, 1), (wrong, 2), (scenario, 2),
                (wrong_scenario, 2)):
            path = os.path.join(tmp, shape.__name__ + ".yaml")
            with open(path, "w") as f:
                f.write(fill(shape()))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            rc = subprocess.run([sys.argv[1], "check", path],
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL).returncode
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = (after.ru_utime + after.ru_stime -
                       before.ru_utime - before.ru_stime)
            good = rc == expected and seconds < 1
            fail |= not good
            print(f"{shape.__name__}: exit {rc}, {seconds:.2f} s, "
                  f"{after.ru_maxrss // 1024} MB{'' if good else ' FAILED'}")
    return fail


if __name__ == "__main__":
    sys.exit(main())
