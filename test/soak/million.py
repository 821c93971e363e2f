#!/usr/bin/env python3
"""million.py BIDE [REQUESTS]: 10 % faults, and 10 % of the clients hostile in every
way that test/proxy/attack knows. Each honest request has an end that follows from its
number (plan.c): it must come to it as if the others were not there. No breaker opens,
nothing is done twice, and it is the same process in the end.

First a tenth as many without hostile clients: the plan itself must hold. The access
log goes to a pipe that nobody reads, one upstream's name is never answered, another
leads back to the sidecar."""
import json
import os
import subprocess
import sys

from collector import Collector
from attack import (Sidecar, ended, free_port, run, series, serving, sidecar,
                    tap, until)

HERE = os.path.dirname(os.path.abspath(__file__))
REQUESTS = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
BATCH = 100000          # the fault server forgets in between
HONEST, HOSTILE = 180, 20
PATIENCE = 900          # seconds for a batch; only what hangs takes so long

FILE = """
version: 1
policies:
  default: {{ attempts: 4, attempt_timeout: 1m, budget: {{ ratio: 100% }},
             backoff: {{ base: 1ms, cap: 2ms }} }}
  hedged: {{ attempts: 1, attempt_timeout: 200ms, breaker: {{ kind: off }},
            hedge: {{ after: 10ms, max: 1 }} }}
proxy:
  listen: 127.0.0.1:{port}
  admin: 127.0.0.1:{admin}
  access_log: stdout
  workers: 2
  telemetry: {{ otlp: "http://127.0.0.1:{collector}" }}
  timeouts: {{ body: 1s, header: 1s, write: 1s }}
  routes:
    - {{ match: {{ path: /loop }}, upstream: loop }}
    - {{ match: {{ path: /silent }}, upstream: silent }}
    - {{ match: {{ header: X-Policy, value: hedged }}, upstream: up,
        policy: hedged }}
    - {{ upstream: up }}
  upstreams:
    up: {{ endpoints: ["http://127.0.0.1:{http}"] }}
    loop: {{ endpoints: ["http://127.0.0.1:{port}"] }}
    silent: {{ endpoints: ["http://silent.test"] }}
"""


def descriptors(p):
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in serving(p))


class Crowd:
    """Hostile clients, from here to the end of the block."""

    def __init__(self, port, admin):
        self.command = [sys.executable, os.path.join(HERE, "hostile.py"),
                        str(port), str(admin), str(HOSTILE)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        return self

    def __exit__(self, *error):
        tried = json.loads(self.process.communicate(b"")[0] or b"{}")
        print(f"# hostile clients: {tried}")
        tap.case("each way was tried, and they lived to tell",
                 tried and min(tried.values()) > 0 and len(tried) == 15, tried)


def asked(port, first, count):
    """Sends a batch; what the client says of it, and the attempts that requests of
    more than one must have had."""
    r = subprocess.run([os.environ["BIDE_LOAD_CLIENT"], str(port), str(first),
                        str(count), str(HONEST)], capture_output=True, text=True,
                       timeout=PATIENCE, check=False)
    *rows, last = r.stdout.splitlines() or [""]
    return last, dict(row.split() for row in rows), r.stderr


def judge(fault, first, count, plan):
    """Ids that the origin saw another number of times than was planned."""
    seen = json.loads(fault.ask("/ids"))
    fault.ask("/forget")
    wrong = []
    for i in range(first, first + count):
        arrived, complete = seen.get(f"r{i}", (0, 0))
        if not arrived == complete == int(plan.get(f"r{i}", 1)):
            wrong.append((i, arrived, complete))
    return wrong


def send(what, fault, port, first, count):
    good = True
    for at in range(first, first + count, BATCH):
        n = min(BATCH, first + count - at)
        last, plan, said = asked(port, at, n)
        wrong = judge(fault, at, n, plan)
        print(f"# {what}: {last}", flush=True)
        if last != f"asked={n} good={n} wrong=0 lost=0" or wrong:
            tap.case(f"{what}: requests {at} to {at + n} end as planned", False,
                     f"{last}\n{said}\nseen otherwise: {wrong[:5]}")
            good = False
    tap.case(f"{what}: all {count} requests end as planned, and each attempt "
             "arrived once", good)


def million():
    fault, collector = sidecar.Fault(), Collector()
    port, admin = free_port(), free_port()
    r, w = os.pipe()  # nobody reads
    p = Sidecar(FILE.format(port=port, admin=admin, http=fault.ports["http"],
                            collector=collector.server_port),
                stdout=w, environment={
                    "LD_PRELOAD": os.environ["BIDE_SILENT_DNS"]})
    process = serving(p)
    few = max(1000, REQUESTS // 10)
    send("alone", fault, port, 0, few)
    before = descriptors(p)
    with Crowd(port, admin):
        send("in hostile company", fault, port, few, REQUESTS)
    # The breaker of the name that is never answered may open: nobody is there.
    opened = series(p, "bide_breaker_transitions_total", 'to="open"',
                    'dep="up/default"')
    tap.case("the service's breaker never opened", opened == 0, opened)
    tap.case("it is the process that was started", serving(p) == process,
             (process, serving(p), p.said[-20:]))
    tap.case("nothing is in flight", until(
        lambda: series(p, "bide_proxy_requests_in_flight") == 0))
    # Idle connections to the origin may stay, up to those of the pool.
    tap.case("descriptors are back where they were", until(
        lambda: descriptors(p) <= before + 256), (before, descriptors(p)))
    tap.case("it ends as told, without a word", ended(p) == 0 and not [
        x for x in p.said if "Sanitizer" in x or "runtime error" in x],
        "".join(p.said[-40:]))
    os.close(r)
    os.close(w)
    fault.stop()


run(million)
