#!/usr/bin/env python3
"""bench_store.py BENCH_STORE BIDE: bench_store on PostgreSQL and Redis, which are
started here, with their files in /var/tmp: /tmp may be memory, where a sync costs
nothing.

Then what keys on one route cost the others: CPU time for a request of the sidecar, as
bench_proxy.py has it, whose configuration has no store, and of one that has a store and
another route that accepts keys. In turn, so that whatever else the machine does hits
both; medians count."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "test", "tools"))
import bench_proxy as side  # noqa: E402
import servers  # noqa: E402

ROUNDS, SECONDS = 9, 1
KEYS = ("    - {{ match: {{ path: /pay }}, upstream: origin, idempotency: "
        "{{ accept: required }} }}\n")


def stores(program, bide):
    os.environ["BIDE_MODULES"] = os.path.dirname(os.path.abspath(bide))
    servers.Server.base = "/var/tmp"
    with servers.Postgres(durable=True) as postgres, servers.Redis(durable=True) as redis:
        postgres.wait()
        subprocess.run([os.path.abspath(program), postgres.url, redis.url], check=True)


def other_routes(bide, directory):
    for needed in "wrk", "nginx":
        if not shutil.which(needed):
            print(f"no `{needed}` here: install Debian's package of that name")
            return
    origin, sides, processes = side.free_port(), [], []

    def run(name, text, command, core, port):
        path = os.path.join(directory, name)
        os.makedirs(path)
        conf = os.path.join(path, "conf.yaml")
        with open(conf, "w", encoding="utf-8") as f:
            f.write(text.format(port=port, origin=origin, body="x" * 128))
        processes.append(side.start([c.format(bide=bide, conf=conf, path=path)
                                     for c in command], path, port, core))
        return side.Side(name, port, processes[-1])

    routes = side.BIDE.index("  routes:\n") + len("  routes:\n")
    with_keys = side.BIDE[:routes] + KEYS + side.BIDE[routes:]
    try:
        run("origin", side.ORIGIN, side.PROGRAMS["nginx"], side.OTHER_CORE, origin)
        for name, text in ("no store", side.BIDE), ("a store", with_keys):
            sides.append(run(name, text, side.PROGRAMS["bide"], side.PROXY_CORE,
                             side.free_port()))
        for _ in range(ROUNDS):
            for s in sides:
                s.measure(SECONDS, s.rounds)
    finally:
        for p in processes:
            p.terminate()
            p.wait()
    cpu = [statistics.median(r[3] for r in s.rounds) * 1e6 for s in sides]
    print(f"other routes: {cpu[0]:.2f} us of CPU time for a request, {cpu[1]:.2f} us "
          f"with a store beside them ({100 * (cpu[1] / cpu[0] - 1):+.1f} %)")


def main(program, bide):
    stores(program, bide)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        other_routes(os.path.abspath(bide), directory)


main(*sys.argv[1:])
