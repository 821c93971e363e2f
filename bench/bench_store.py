#!/usr/bin/env python3
"""bench_store.py BENCH_STORE BIDE: bench_store on PostgreSQL and Redis, which are
started here, with their files in /var/tmp: /tmp may be memory, where a sync costs
nothing."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "test", "tools"))
import servers  # noqa: E402


def main(program, bide):
    os.environ["BIDE_MODULES"] = os.path.dirname(os.path.abspath(bide))
    servers.Server.base = "/var/tmp"
    with servers.Postgres(durable=True) as postgres, servers.Redis(durable=True) as redis:
        postgres.wait()
        subprocess.run([os.path.abspath(program), postgres.url, redis.url], check=True)


main(*sys.argv[1:])
