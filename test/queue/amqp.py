#!/usr/bin/env python3
"""amqp.py BIDE SUITE MODULE...: what only RabbitMQ has: a consumer_timeout that is shorter
than a handler works, TLS, policies, and the messages with which a worker makes the server
write (which nobody else must see)."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import certificate
import rabbitmq
import servers
import tap
from ports import free_port, short_folder

BIDE, SUITE = (os.path.abspath(p) for p in sys.argv[1:3])
ENV = tap.environment()
for module in sys.argv[3:]:
    ENV["BIDE_MODULES"] = os.path.dirname(os.path.abspath(module))


def bide(*arguments, **more):
    return subprocess.run([BIDE, *arguments], env=ENV, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=200, **more)


def said(url):
    p = subprocess.run([SUITE, url, "check"], env=ENV, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=60)
    return p.stdout + (f"exit {p.returncode}" if p.returncode else "")


def works_long(r):
    """Three times as long as the server allows; with a key and without."""
    with tempfile.TemporaryDirectory(prefix="bide-amqp-") as place:
        log = os.path.join(place, "log")
        broker = ["--broker", r.url, "--queue", "long"]
        for key in ([], ["--key", "k"]):
            p = bide("enqueue", *broker, *key, "x")
            assert p.returncode == 0, p.stderr
        p = bide("worker", *broker, "--json", "--until-empty", "--", "sh", "-c",
                 f'echo "begin $BIDE_ID" >>{log}; sleep 30; echo "end $BIDE_ID" >>{log}')
        with open(log, encoding="utf-8") as f:
            lines = sorted(f.read().split("\n")[:-1])
        # that the server has really ended a channel, or this shows nothing
        tap.case("consumer_timeout_was_felt", "acknowledgement on channel" in r.said(),
                 r.said()[-2000:])
        tap.case("consumer_timeout_handler_is_not_started_twice",
                 [line.split()[0] for line in lines] == ["begin"] * 2 + ["end"] * 2
                 and p.returncode == 0, (lines, p.returncode, p.stdout, p.stderr))


def first_key(r):
    """The queues of keys are made when there is one; a worker that runs already hears of
    it."""
    broker = ["--broker", r.url, "--queue", "late"]
    with tempfile.NamedTemporaryFile("r", prefix="bide-amqp-") as log:
        def lines():
            with open(log.name, encoding="utf-8") as f:
                return f.read().split()

        def queues():
            return [q["name"] for q in r.ask("GET", "queues/%2F")
                    if q["name"].startswith("late.key.")]

        assert bide("enqueue", *broker, "x").returncode == 0
        worker = subprocess.Popen([BIDE, "worker", *broker, "--quiet", "--", "sh", "-c",
                                   f"(cat; echo) >>{log.name}"],
                                  env=ENV, stdin=subprocess.DEVNULL)
        servers.until("what has no key", lambda: lines() == ["x"])
        before = queues()
        assert bide("enqueue", *broker, "--key", "k", "y").returncode == 0
        servers.until("what has a key", lambda: lines() == ["x", "y"])
        worker.terminate()
        tap.case("first_key_makes_its_queues", not before and len(queues()) == 16
                 and worker.wait(timeout=60) == 0, (before, queues()))


def frozen(r):
    """With a key, a command is ended before another worker may begin, whatever becomes of
    its own worker."""
    with tempfile.TemporaryDirectory(prefix="bide-amqp-") as place:
        log, conf = os.path.join(place, "log"), os.path.join(place, "worker.yaml")
        with open(conf, "w", encoding="utf-8") as f:
            f.write("version: 1\nworker:\n  lease: 3s\n")
        open(log, "w", encoding="utf-8").close()

        def lines():
            with open(log, encoding="utf-8") as f:
                return f.read().split("\n")[:-1]

        def start(end):
            return subprocess.Popen([BIDE, "worker", "-c", conf, *broker, "--quiet", "--",
                                     "sh", "-c", f"echo $$ $BIDE_ATTEMPT >>{log}; {end}"],
                                    env=ENV, stdin=subprocess.DEVNULL)

        broker = ["--broker", r.url, "--queue", "frozen"]
        p = bide("enqueue", *broker, "--key", "k", "x")
        assert p.returncode == 0, p.stderr
        first = start("exec sleep 1000")
        servers.until("the command", lines)
        pid = int(lines()[0].split()[0])
        first.send_signal(signal.SIGSTOP)
        second = start(f"! kill -0 {pid}")
        servers.until("the other one's", lambda: len(lines()) > 1)
        ended = not servers.alive(pid)
        first.send_signal(signal.SIGCONT)
        for worker in (first, second):
            worker.send_signal(signal.SIGTERM)
        codes = [worker.wait(timeout=60) for worker in (first, second)]
        tap.case("frozen_worker_its_command_is_ended_in_time", ended, lines())
        tap.case("frozen_worker_its_attempt_does_not_count", codes == [0, 0] and
                 [line.split()[1] for line in lines()] == ["1", "1"], (codes, lines()))


def tls(r, place):
    host = f"localhost:{r.tls}"
    good = f"amqps://guest:guest@{host}/?cacert={place}/ca.pem"
    tap.case("tls_works", said(good) == "", said(good))
    p = bide("enqueue", "--broker", good, "--queue", "tls", "x")
    q = bide("worker", "--broker", good, "--queue", "tls", "--until-empty", "--", "cat")
    tap.case("tls_message_is_handled", p.returncode == 0 and q.returncode == 0,
             p.stderr + q.stderr)
    for name, url in (
            ("unknown_authority", f"amqps://guest:guest@{host}"),
            ("other_authority", f"amqps://guest:guest@{host}/?cacert={place}/other.pem"),
            ("other_name", f"amqps://guest:guest@127.0.0.1:{r.tls}/?cacert={place}/ca.pem"),
            ("no_such_file", f"amqps://guest:guest@{host}/?cacert={place}/nosuch.pem"),
            ("cacert_without_tls", f"amqp://{host}/?cacert={place}/ca.pem")):
        text = said(url)
        tap.case(f"tls_{name}_is_refused", text.startswith("refused"), text)


def policies(r):
    manage = f"{r.url}/?management=http://127.0.0.1:{r.api}"

    def policy(name, expected, pattern, **definition):
        """The server's answers are some seconds old."""
        r.ask("PUT", "policies/%2F/strict",
              {"pattern": pattern, "apply-to": "queues", "definition":
               {name.replace("_", "-"): value for name, value in definition.items()}})
        text, end = said(manage), time.monotonic() + servers.PATIENCE
        while not expected(text) and time.monotonic() < end:
            time.sleep(0.5)
            text = said(manage)
        tap.case("policy_" + name, expected(text), text)

    def loses(setting):
        return lambda text: (f"the policy `strict` sets {setting} for the queue `default`:"
                             in text and text.startswith("loss: "))

    tap.case("management_without_policies_is_fine", said(manage) == "", said(manage))
    for key, value in (("message_ttl", 60000), ("expires", 600000), ("max_length", 10),
                       ("max_length_bytes", 10000)):
        policy(f"{key}_is_loss", loses(f"{key.replace('_', '-')} {value}"), "^default$",
               **{key: value})
    tap.case("policy_without_management_is_not_seen", said(r.url) == "", said(r.url))
    policy("that_refuses_when_full_is_fine", lambda text: text == "", "^default$",
           max_length=10, overflow="reject-publish")
    policy("delivery_limit_of_quorum_queues_is_loss",
           lambda text: "sets delivery-limit 5" in text and "more: " in text
           and "loss: " in text, ".*", delivery_limit=5)
    r.declare("otherwise")
    policy("of_others_is_nothing", lambda text: text == "", "^other", message_ttl=1000)
    r.ask("DELETE", "policies/%2F/strict")
    for name, url, status in (
            ("wrong_port", f"{r.url}/?management=http://127.0.0.1:{r.port}", "exit"),
            ("wrong_password", manage.replace("http://", "http://guest:wrong@"), "exit"),
            ("not_http", f"{r.url}/?management=ftp://127.0.0.1", "refused")):
        text = said(url)
        tap.case(f"management_{name}_is_told", status in text, text)


def track_of(key):
    """As in queue/rabbitmq/track.c."""
    h = 14695981039346656037
    for byte in key.encode():
        h = (h ^ byte) * 1099511628211 % 2 ** 64
    return (h ^ h >> 32) % 8


def two_copies(r):
    """A worker died after the copy of what failed was confirmed, and before it had said
    that it does not need the former one: both are there, and one of them runs."""
    broker = ["--broker", r.url, "--queue", "twice"]
    for text in ("x", "y"):
        assert bide("enqueue", *broker, "--key", "k", text).returncode == 0
    worker = subprocess.Popen([BIDE, "worker", *broker, "--quiet", "--", "sleep", "1000"],
                              env=ENV, stdin=subprocess.DEVNULL)

    def running():
        rows = json.loads(bide("worker", "ls", *broker, "--json").stdout)["messages"]
        return [m for m in rows if m["state"] == "running"]

    m = servers.until("a message that runs", running)[0]
    worker.kill()
    worker.wait()
    r.publish(f"twice.key.{track_of('k')}.held", "x", message_id=m["id"], headers={
        "bide-key": "k", "bide-queued": m["queued_ms"], "bide-seq": 1,
        "bide-attempt": 1, "bide-deliveries": 1})
    with tempfile.NamedTemporaryFile("r", prefix="bide-amqp-") as log:
        p = bide("worker", *broker, "--until-empty", "--", "sh", "-c",
                 f'echo "$BIDE_ATTEMPT $(cat)" >>{log.name}')
        lines = log.read().split("\n")
    tap.case("two_copies_run_once_and_in_order", lines == ["2 x", "1 y", ""]
             and p.returncode == 0, (lines, p.stdout, p.stderr))


def others(r):
    """Somebody else who consumes the queue gets messages, and nothing else."""
    broker = ["--broker", r.url, "--queue", "shared"]
    lines = "".join(f"{i}\n" for i in range(2000))
    subprocess.run([BIDE, "enqueue", *broker, "--lines"], env=ENV, input=lines, text=True,
                   capture_output=True, check=True)
    worker = subprocess.Popen([BIDE, "worker", *broker, "--quiet", "--", "sleep", "0.05"],
                              env=ENV, stdin=subprocess.DEVNULL)
    seen, end = [], time.monotonic() + 8
    while time.monotonic() < end:
        got = r.ask("POST", "queues/%2F/shared/get", {
            "count": 1, "ackmode": "ack_requeue_false", "encoding": "auto"})
        seen += got
    worker.terminate()
    worker.wait(timeout=60)
    odd = [m for m in seen if "bide-hello" in m["properties"].get("headers", {})]
    tap.case("other_consumers_see_only_messages", len(seen) > 0 and not odd, odd[:2])


def main():
    place = tempfile.mkdtemp(prefix="bide-amqp-tls-", dir=short_folder())
    os.chmod(place, 0o755)
    certificate.authority(place, "ca")
    certificate.authority(place, "other")
    certificate.issue(place, "server", "ca", "DNS:localhost")
    pem, key = f"{place}/server.pem", f"{place}/server.key"
    port = free_port()
    with rabbitmq.Rabbitmq("consumer_timeout = 10000",
                           f"listeners.ssl.1 = 127.0.0.1:{port}",
                           f"ssl_options.cacertfile = {place}/ca.pem",
                           f"ssl_options.certfile = {pem}",
                           f"ssl_options.keyfile = {key}",
                           erl="-rabbit channel_tick_interval 1000") as r:
        r.tls = port
        r.wait()
        tls(r, place)
        policies(r)
        others(r)
        first_key(r)
        two_copies(r)
        frozen(r)
        works_long(r)
    subprocess.run(["rm", "-r", place], check=True)


main()
tap.finish()
