#!/usr/bin/env python3
"""bench_brokers.py BENCH_BROKERS [MESSAGES [ROUNDS [BROKER...]]]: the worker on SQLite,
PostgreSQL, Redis and RabbitMQ, the servers started here with their full durability, and
on fauxqs and the small broker of Kafka of our tests, which have none, beside bare loops
(broker_loops.c)."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "test", "tools"))
import fauxqs  # noqa: E402
import rabbitmq  # noqa: E402
import servers  # noqa: E402

program = os.path.abspath(sys.argv[1])
counts = (sys.argv[2:4] + ["20000", "5"][len(sys.argv[2:4]):])
env = dict(os.environ)
env.setdefault("BIDE_MODULES", os.path.join(os.path.dirname(program), "..", "cmd"))
env.update(fauxqs.KEYS)


def measure(name, url, *server):
    print(f"\n{name}:", flush=True)
    subprocess.run([program, url, *counts, *server], env=env, check=True)


def on_server(kind, *settings):
    with kind(*settings, durable=True) as server:
        if hasattr(server, "wait"):
            server.wait()
        measure(kind.__name__, server.url, str(server.process.pid))


def on_file():
    with tempfile.TemporaryDirectory(prefix="bide-bench-") as folder:
        measure("SQLite", f"sqlite:{folder}/bench.db")


def on_fauxqs():
    fauxqs.prepare()  # all begins again, in a network of its own
    with fauxqs.Fauxqs() as server:
        measure("SQS", server.url, str(server.process.pid))


def on_kafka():
    with servers.Kafka(session=30) as server:
        for queue in ("bare", "alone", "bench", "latency"):
            server.queue(queue)
        measure("Kafka", server.url, str(server.process.pid))


BROKERS = {"sqlite": on_file,
           "postgresql": lambda: on_server(servers.Postgres, "shared_buffers=128MB"),
           "redis": lambda: on_server(servers.Redis),
           "rabbitmq": lambda: on_server(rabbitmq.Rabbitmq),
           "kafka": on_kafka,
           "sqs": on_fauxqs}
wanted = sys.argv[4:] or list(BROKERS)
if fauxqs.MARK in env:  # this is that second beginning
    wanted = ["sqs"]
for broker in wanted:
    BROKERS[broker]()
