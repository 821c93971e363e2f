#!/usr/bin/env python3
"""bench_brokers.py BENCH_BROKERS [MESSAGES]: the worker on PostgreSQL, Redis and RabbitMQ,
started here with their full durability, beside bare loops (broker_loops.c)."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "test", "tools"))
import rabbitmq  # noqa: E402
import servers  # noqa: E402

program = os.path.abspath(sys.argv[1])
env = dict(os.environ)
env.setdefault("BIDE_MODULES", os.path.join(os.path.dirname(program), "..", "cmd"))
for kind in servers.Postgres, servers.Redis, rabbitmq.Rabbitmq:
    with kind(durable=True) as server:
        if hasattr(server, "wait"):
            server.wait()
        print(f"\n{kind.__name__}:", flush=True)
        subprocess.run([program, server.url, *sys.argv[2:]], env=env, check=True)
