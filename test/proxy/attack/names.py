#!/usr/bin/env python3
"""names.py BIDE: a name that is never answered (silent_dns.c) delays neither
listening nor other upstreams, neither a reload nor the end."""
import os

from attack import (ADMIN, PATIENCE, Origin, Sidecar, ask, ended, get, ok, run,
                    says, tap, until)

SILENT = {"LD_PRELOAD": os.environ["BIDE_SILENT_DNS"]}
QUICK = "backoff: { base: 1ms, cap: 2ms }, attempts: 2, deadline: 2s"


def file(port, silent, extra=""):
    names = "".join(f"    silent{i}: {{ endpoints: [\"http://silent{i}.test:80\"]"
                    f"{extra} }}\n" for i in range(silent))
    routes = "".join(f"    - {{ match: {{ path: /silent{i} }}, "
                     f"upstream: silent{i} }}\n" for i in range(silent))
    return f"""
version: 1
policies:
  default: {{ {QUICK} }}
proxy:
  listen: 127.0.0.1:0
{ADMIN}
  routes:
{routes}
    - {{ match: {{ path: /name }}, upstream: named }}
    - {{ upstream: plain }}
  upstreams:
{names}
    named: {{ endpoints: ["http://localhost:{port}"], resolve: 100ms }}
    plain: {{ endpoints: ["http://127.0.0.1:{port}"] }}
"""


def start(text):
    return Sidecar(text, environment=SILENT)


def end(p, what):
    code = ended(p)
    tap.case(f"{what}: SIGTERM ends it", code == 0, (code, "".join(p.said)))


def listening():
    for n in (1, 8):
        o = Origin(says(ok()))
        p = start(file(o.port, n))
        tap.case(f"beside {n} silent names it listens and serves",
                 ask(p, get()).status == 200)
        tap.case("and finds the names that are answered", until(
            lambda: ask(p, get("/name")).status == 200))
        a = ask(p, get("/silent0"))
        tap.case("a silent one is told within its deadline",
                 a.status in (502, 503, 504), a)
        tap.case("others are served meanwhile", ask(p, get()).status == 200)
        end(p, f"{n} silent names")
        o.stop()


def reloads():
    o = Origin(says(ok()))
    p = start(file(o.port, 0))
    tap.case("it serves", ask(p, get()).status == 200)
    said = p.reload(file(o.port, 4))
    tap.case("a reload brings silent names, and does not wait for them",
             "reloaded" in said, said)
    said = p.reload(file(o.port, 2))
    tap.case("nor does the next", "reloaded" in said, said)
    tap.case("it serves all the while", ask(p, get()).status == 200 and until(
        lambda: ask(p, get("/name")).status == 200))
    said = p.reload(file(o.port, 0))
    tap.case("and without them again", "reloaded" in said and
             ask(p, get()).status == 200, said)
    end(p, "after reloads")
    o.stop()


def health():
    """Checks of an endpoint without an address hold up nobody."""
    o = Origin(says(ok()))
    p = start(file(o.port, 2, ", health: { path: /, every: 100ms, "
                   "timeout: 100ms }, resolve: 100ms"))
    tap.case("health checks of silent names hold up nobody",
             ask(p, get()).status == 200)
    tap.case("for long", until(lambda: all(
        ask(p, get("/name")).status == 200 for _ in range(5)), PATIENCE))
    end(p, "health checks")
    o.stop()


run(listening, reloads, health)
