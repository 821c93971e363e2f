#!/usr/bin/env python3
"""run.py SUITE kafka|kafka-mock|kafka-partitions|postgresql|quorum|rabbitmq|redis|sqlite|sqs|
sqs-fifo [MODULE]...: the conformance suite of brokers, against a real server that is started here. What the suite asks for
(test/queue/brokers/rig.h) is done here: the server is killed, started, frozen; messages are
written by hand."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

import fauxqs
import rabbitmq
import rig
from ports import short_folder
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
          "quick_takes_leave_the_rest_to_others,quick_takes_while_much_runs_go_on,"
          "quick_takes_of_a_worker_that_is_killed,server_killed_before_ends_are_durable,"
          "worker_killed_with_several_makes_suspects,worker_frozen_is_fenced_off,"
          "key_one_at_a_time_in_order,key_that_waits_holds_only_itself,"
          "key_that_waits_with_many_behind_it,key_is_freed_by_a_dead_letter,"
          "key_never_in_parallel_among_workers,key_redriven_waits_behind,"
          "worker_killed_frees_its_keys")


# Rows in which one worker has all partitions, or in which it does not matter which.
ONE_WORKER = (
    "put_message_arrives_as_it_was,put_empty_and_binary_bodies_arrive,"
    "put_delayed_waits_until_it_is_due,again_waits_and_counts,"
    "again_uncounted_keeps_the_attempt,again_a_thousand_stay_spread,"
    "dead_keeps_reason_errors_and_output,settle_batch_of_all_kinds,"
    "redrive_starts_over_with_id_and_key,redrive_fresh_key_changes_the_generation,"
    "counts_see_every_state,each_finds_by_id_reason_and_time,key_one_at_a_time_in_order,"
    "key_that_waits_holds_only_itself,key_is_freed_by_a_dead_letter,"
    "key_redriven_waits_behind,server_killed_keeps_what_it_confirmed,"
    "server_killed_running_ones_settle_after,foreign_messages_are_handled")
# What the mock cluster can do: it has no workers that come and go.
KAFKA = {"kafka": (1, None), "kafka-mock": (1, ONE_WORKER),
         "kafka-partitions": (4, ONE_WORKER + ",key_never_in_parallel_among_workers")}


class Kafka:
    """The broker, and messages that a plain producer writes."""

    def __init__(self, mock, partitions):
        self.server = servers.Kafka(mock)
        self.partitions = partitions

    def foreign(self, queue):
        self.server.tell("foreign " + queue)

    def queue(self, queue):
        self.server.queue(queue, self.partitions)


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


def run(command, kind=None, row=None, to=rig.say):
    """Gives the exit code."""
    return rig.run(command, lambda order: do(kind, order), row, to)


def run_row(program, broker, row):
    """With a broker of its own. Gives its lines."""
    mock = os.path.join(os.path.dirname(program), "kafka_server")
    kind = Kafka(mock if broker == "kafka-mock" else None, KAFKA[broker][0])
    lines = []
    with kind.server:
        run([program, kind.server.url, "server"], kind, row, lines.append)
    return lines


def rows_of(program, some=None):
    rows = os.environ.get("BIDE_ROW") or some or ",".join(
        subprocess.run([program, "", "list"], capture_output=True, text=True,
                       check=True).stdout.split())
    return rows.split(",")


def run_rows(program, broker):
    """What waits there is mostly the group: rows run side by side."""
    rows = rows_of(program, KAFKA[broker][1])
    failed = 0
    print(f"1..{len(rows)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        begun = {row: pool.submit(run_row, program, broker, row)
                 for row in reversed(rows)}  # those of workers that die take longest
        for i, row in enumerate(rows):
            lines = begun[row].result()
            result = [line for line in lines if re.match("(not )?ok 1 ", line)]
            failed += len(result) != 1 or not result[0].startswith("ok")
            for line in lines:
                if not line.startswith("1.."):
                    rig.say(re.sub("ok 1 ", f"ok {i + 1} ", line, count=1))
            if not result:
                rig.say(f"not ok {i + 1} - {row}\n")
    return 1 if failed else 0


def run_apart(program, rows):
    """RabbitMQ recovers every queue of every row before it answers again: rows that kill it
    have a server of their own."""
    print(f"1..{len(rows)}", flush=True)
    told = failed = 0

    def tell(line):
        if not line.startswith("1.."):
            rig.say(re.sub(r"ok (\d+) ", lambda m: f"ok {told + int(m[1])} ", line, count=1))

    for kills in (False, True):
        some = [row for row in rows if row.startswith("server_") == kills]
        if some:
            kind = Rabbitmq()
            with kind.server as server:
                server.wait()
                failed |= run([program, server.url, "server"], kind, ",".join(some), tell)
        told += len(some)
    return failed


def main(program, broker, *modules):
    program = os.path.join(tap.START, program)
    for module in modules:
        os.environ["BIDE_MODULES"] = os.path.dirname(os.path.join(tap.START, module))
    if broker in KAFKA:
        return run_rows(program, broker)
    if broker == "rabbitmq":
        return run_apart(program, rows_of(program))
    if broker == "sqlite":
        place = tempfile.mkdtemp(prefix="bide-queue-", dir=short_folder())
        try:
            return run([program, f"sqlite:{place}/queue.db"])
        finally:
            shutil.rmtree(place)
    if broker.startswith("sqs"):
        fauxqs.prepare()
    if broker == "quorum":
        os.environ.setdefault("BIDE_ROW", QUORUM)
    kind = {"postgresql": Postgresql, "quorum": Rabbitmq, "redis": Redis, "sqs": Sqs,
            "sqs-fifo": Sqs}[broker]()
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
