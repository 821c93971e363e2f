#!/usr/bin/env python3
"""run.py SUITE kafka|postgresql|redis|sqlite [MODULE]...: the conformance suite of brokers, against
a real server that is started here. What the suite asks for (test/queue/brokers/rig.h) is done
here: the server is killed, started, frozen; messages are written by hand."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import servers
import tap


class Postgresql:
    """The server, and messages that somebody inserts with psql."""

    def __init__(self):
        self.server = servers.Postgres(durable=True)

    def foreign(self, queue):
        for sql in (
                f"INSERT INTO bide_queue.message (queue, body) VALUES ('{queue}', 'plain')",
                "INSERT INTO bide_queue.message (queue, id, key, priority, body, "
                f"attributes) VALUES ('{queue}', 'foreign-7', 'customer', 99, 'full', "
                "'{\"type\": \"email\"}')",
                "INSERT INTO bide_queue.message (queue, id, key, body, attributes) VALUES "
                f"('{queue}', E'line\\nbreak', repeat('k', 300), 'odd', "
                "'{\"an odd name!\": 7, \"nested\": {\"a\": [1]}}')"):
            if self.server.sql(sql) is None:
                raise RuntimeError("refused: " + sql)


class Redis:
    """The server, and messages that somebody adds with XADD."""

    def __init__(self):
        self.server = servers.Redis(durable=True)

    def foreign(self, queue):
        for fields in ("body plain", "id foreign-7 key customer priority 99 body full "
                       "type email", 'id "line\\nbreak" body odd "an odd name!" 7 key '
                       + "k" * 300):
            answer = self.server.ask(f"XADD {queue} * {fields}")
            if answer.startswith("-"):
                raise RuntimeError(answer)


class Kafka:
    """The mock cluster, and messages that a plain producer writes. What waits there is
    mostly the group: shares of the suite run side by side."""
    shares = 1 if "BIDE_ROW" in os.environ else 6

    def __init__(self, program):
        self.server = servers.Kafka(program)

    def foreign(self, queue):
        self.server.tell("foreign " + queue)

    def queue(self, queue, _row):
        """One partition: the mock aborts when several move at once."""
        self.server.queue(queue, 1)


def do(kind, order):
    verb, *words = order.split()
    server = kind.server
    if verb == "crash":
        server.crash()
    elif verb == "start":
        server.start()
        if hasattr(server, "wait"):
            server.wait()
    elif verb in ("freeze", "thaw"):
        getattr(server, verb)()
    elif verb == "foreign":
        kind.foreign(*words)
    elif verb == "queue":
        getattr(kind, "queue", lambda *_: None)(*words)
    else:
        raise RuntimeError("unknown: " + order)


done = []  # the rows of all shares


def say(line, share):
    """Shares number their rows each for itself: here they get one number each."""
    row = re.match(r"(ok|not ok) \d+ (.*)", line)
    if share == "0/1":
        print(line, end="", flush=True)
    elif row:
        done.append(row[2])
        print(f"{row[1]} {len(done)} {row[2]}\n", end="", flush=True)
    elif not line.startswith("1.."):
        print(line, end="", flush=True)


def run(command, kind=None, share="0/1"):
    """Passes its lines on, and does what it asks for. Gives the exit code."""
    env = tap.environment(BIDE_SHARE=share, **{
        name: os.environ[name] for name in ("BIDE_ROW", "BIDE_MODULES")
        if name in os.environ})
    p = subprocess.Popen(command, env=env, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    for line in p.stdout:
        if not line.startswith("!ask "):
            say(line, share)
            continue
        try:
            do(kind, line[5:].strip())
            answer = "ok"
        except Exception as e:  # whatever it was, the suite says where
            answer = f"failed: {e}"
        p.stdin.write(answer + "\n")
        p.stdin.flush()
    return p.wait()


def run_share(program, server, share, codes):
    kind = Kafka(server)
    with kind.server:
        codes.append(run([program, kind.server.url, "server"], kind,
                         f"{share}/{Kafka.shares}"))


def run_shares(program, server):
    codes = []
    threads = [threading.Thread(target=run_share, args=(program, server, i, codes))
               for i in range(Kafka.shares)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(f"1..{len(done)}")
    return 0 if len(codes) == Kafka.shares and not any(codes) else 1


def main(program, broker, *modules):
    program = os.path.join(tap.START, program)
    for module in modules:
        os.environ["BIDE_MODULES"] = os.path.dirname(os.path.join(tap.START, module))
    if broker == "kafka":
        return run_shares(program, os.path.join(os.path.dirname(program), "kafka_server"))
    if broker == "sqlite":
        place = tempfile.mkdtemp(prefix="bide-queue-", dir="/tmp")
        try:
            return run([program, f"sqlite:{place}/queue.db"])
        finally:
            shutil.rmtree(place)
    kind = {"postgresql": Postgresql, "redis": Redis}[broker]()
    with kind.server as server:
        if hasattr(server, "wait"):
            server.wait()
        url = getattr(server, "url", None) or f"redis://127.0.0.1:{server.port}"
        return run([program, url, "server"], kind)


sys.exit(main(*sys.argv[1:]))
