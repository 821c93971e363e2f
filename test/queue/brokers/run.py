#!/usr/bin/env python3
"""run.py SUITE kafka|postgresql|quorum|rabbitmq|redis|sqlite|sqs|sqs-fifo [MODULE]...: the
conformance suite of brokers, against a real server that is started here. What the suite asks for
(test/queue/brokers/rig.h) is done here: the server is killed, started, frozen; messages are
written by hand."""
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import fauxqs
import rabbitmq
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


class Rabbitmq:
    """The server, and messages that somebody publishes."""

    def __init__(self):
        self.server = rabbitmq.Rabbitmq()

    def foreign(self, queue):
        self.server.publish(queue, "plain")
        self.server.publish(queue, "full", message_id="foreign-7", priority=99,
                            headers={"bide-key": "customer", "type": "email"})
        self.server.publish(queue, "odd", message_id="line\nbreak",
                            headers={"an odd name!": 7, "bide-key": "k" * 300,
                                     "nested": {"a": [1]}})


class Sqs:
    """The server, and messages that somebody sends with AWS's own client."""

    def __init__(self):
        self.server = fauxqs.Fauxqs()

    def foreign(self, queue):
        url, fifo = self.server.queue(queue), queue.endswith(".fifo")
        for body, group, attributes in (
                ("plain", "p", {}),
                ("full", "customer", {"bide.id": ("String", "foreign-7"),
                                      "type": ("String", "email")}),
                ("odd", "o", {"bide.id": ("String", "line\nbreak"),
                              "an odd name!": ("Number", "7")})):
            more = {"MessageGroupId": group, "MessageDeduplicationId": body} if fifo else {}
            self.server.ask("SendMessage", QueueUrl=url, MessageBody=body,
                            MessageAttributes={name: {"DataType": kind, "StringValue": value}
                                               for name, (kind, value)
                                               in attributes.items()}, **more)


# What differs for quorum queues, which take long to make.
QUORUM = ("put_message_arrives_as_it_was,priority_higher_goes_first,"
          "again_waits_and_counts,settle_batch_of_all_kinds,"
          "worker_killed_with_several_makes_suspects,worker_frozen_is_fenced_off")


class Kafka:
    """The mock cluster, and messages that a plain producer writes."""

    def __init__(self, program):
        self.server = servers.Kafka(program)

    def foreign(self, queue):
        self.server.tell("foreign " + queue)

    def queue(self, queue):
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


def say(line):
    print(line, end="", flush=True)


def run(command, kind=None, row=None, to=say):
    """Passes its lines on, and does what it asks for. Gives the exit code."""
    env = tap.environment(**{name: os.environ[name] for name in
                             ("BIDE_ROW", "BIDE_MODULES") if name in os.environ},
                          **fauxqs.KEYS)
    if row:
        env["BIDE_ROW"] = row
    p = subprocess.Popen(command, env=env, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    for line in p.stdout:
        if not line.startswith("!ask "):
            to(line)
            continue
        try:
            do(kind, line[5:].strip())
            answer = "ok"
        except Exception as e:  # whatever it was, the suite says where
            answer = f"failed: {e}"
        p.stdin.write(answer + "\n")
        p.stdin.flush()
    return p.wait()


def run_row(program, row):
    """With a cluster of its own, and once more with another where that one aborts by an
    assertion of its own: the mock cannot take two requests of a member at once. Gives
    its lines."""
    for _ in range(3):
        kind = Kafka(os.path.join(os.path.dirname(program), "kafka_server"))
        lines = []
        with kind.server:
            run([program, kind.server.url, "server"], kind, row, lines.append)
            if kind.server.process.poll() != -signal.SIGABRT:
                break
    return lines


def run_rows(program):
    """What waits there is mostly the group: rows run side by side."""
    rows = os.environ.get("BIDE_ROW", "").split(",")
    if rows == [""]:
        rows = subprocess.run([program, "", "list"], capture_output=True, text=True,
                              check=True).stdout.split()
    failed = 0
    print(f"1..{len(rows)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(14) as pool:
        begun = {row: pool.submit(run_row, program, row)
                 for row in reversed(rows)}  # those of workers that die take longest
        for i, row in enumerate(rows):
            lines = begun[row].result()
            result = [line for line in lines if re.match("(not )?ok 1 ", line)]
            failed += len(result) != 1 or not result[0].startswith("ok")
            for line in lines:
                if not line.startswith("1.."):
                    say(re.sub("ok 1 ", f"ok {i + 1} ", line, count=1))
            if not result:
                say(f"not ok {i + 1} - {row}\n")
    return 1 if failed else 0


def main(program, broker, *modules):
    program = os.path.join(tap.START, program)
    for module in modules:
        os.environ["BIDE_MODULES"] = os.path.dirname(os.path.join(tap.START, module))
    if broker == "kafka":
        return run_rows(program)
    if broker == "sqlite":
        place = tempfile.mkdtemp(prefix="bide-queue-", dir="/tmp")
        try:
            return run([program, f"sqlite:{place}/queue.db"])
        finally:
            shutil.rmtree(place)
    if broker.startswith("sqs"):
        fauxqs.prepare()
    if broker == "quorum":
        os.environ.setdefault("BIDE_ROW", QUORUM)
    kind = {"postgresql": Postgresql, "quorum": Rabbitmq, "rabbitmq": Rabbitmq,
            "redis": Redis, "sqs": Sqs, "sqs-fifo": Sqs}[broker]()
    with kind.server as server:
        if hasattr(server, "wait"):
            server.wait()
        url = getattr(server, "url", None) or f"redis://127.0.0.1:{server.port}"
        if broker.startswith("sqs"):  # it keeps nothing: not to be killed
            return run([program, url, "frozen",
                        ".fifo" if broker == "sqs-fifo" else ""], kind)
        if broker == "quorum":
            url += "/?queue-type=quorum"
        return run([program, url, "server"], kind)


sys.exit(main(*sys.argv[1:]))
