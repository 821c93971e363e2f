#!/usr/bin/env python3
"""torture.py BIDE [kafka|postgresql|rabbitmq|redis|sqs MODULE...]: messages through an origin that fails, by workers that are killed.

Of the messages, 20 % fail at their first attempt and 1 % are poison. Every second or
two one of the workers is killed with -9, and another takes its place. In the end every
message has had exactly one effect at the origin, which knows its idempotency key, or is
dead with a reason. BIDE_TORTURE says how many messages (2000); `make soak` has 100 000.
In the short run, a quarter of them is left until each of that begins: however fast the
workers are, there is something to do then.

On a server, that is killed twice as well, with -9. There a dead worker is known by its
lease, which takes half a minute: the short run kills three, and has 1 500 messages, for
each of which the origin takes its time; the long one kills one every 5 s or so.

fauxqs keeps nothing on a disk: instead of being killed it is frozen, for as long as a
request has patience, so that answers are lost. SQS may then hold two copies of a message,
with one idempotency key."""
import collections
import http.server
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import fauxqs
import rabbitmq
import servers
import tap

BIDE = os.path.abspath(sys.argv[1])
BROKER = sys.argv[2] if len(sys.argv) > 2 else "sqlite"
LONG = "BIDE_TORTURE" in os.environ
MESSAGES = int(os.environ.get("BIDE_TORTURE", "2000" if BROKER in ("sqlite", "kafka")
                              else "1500"))
KILLS = 3 if BROKER != "sqlite" and not LONG else 10 ** 9
SLOW = 0 if BROKER == "sqlite" else 0.02 if LONG else 0.2  # seconds, for a request
PAUSE = 0 if BROKER == "sqlite" or not LONG else 5  # seconds between two deaths, at least
WORKERS = 3
LIMIT = (60 if BROKER == "sqlite" else 200) + MESSAGES / 50  # seconds

lock = threading.Lock()
effects = collections.Counter()
known = set()  # keys that had their effect
asked = collections.Counter()


def share(body, what):
    """A number from 0 to 99 that depends on the message alone."""
    return zlib.crc32(what.encode() + b" " + body) % 100


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers["Idempotency-Key"]
        time.sleep(SLOW)
        with lock:
            asked[key] += 1
            first = asked[key] == 1
            if share(body, "poison") < 1:
                status = 422
            elif first and share(body, "transient") < 20:
                status = 500
            else:
                status = 200
                effects[body] += key not in known  # had a message two keys: two
                known.add(key)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # a worker was killed in the middle of a request


class File:
    """The queue is a file: there is no server to kill."""
    url = []

    def crash(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Kafka:
    """A broker that goes away twice, for less than a session, and comes back."""

    def __init__(self):
        self.server = servers.Kafka(session=6)

    def crash(self):
        self.server.crash()
        time.sleep(2)
        self.server.start()

    def __enter__(self):
        self.url = ["--broker", self.server.__enter__().url]
        self.server.queue("default", 6)
        return self

    def __exit__(self, *how):
        self.server.__exit__(*how)


class Served:
    def __init__(self):
        self.server = {"postgresql": servers.Postgres, "rabbitmq": rabbitmq.Rabbitmq,
                       "redis": servers.Redis, "sqs": fauxqs.Fauxqs}[BROKER](
                           **({} if BROKER == "sqs" else {"durable": True}))

    def crash(self):
        if BROKER == "sqs":
            self.server.freeze()
            time.sleep(8)
            self.server.thaw()
            return
        self.server.crash()
        self.server.start()
        self.wait()  # a worker that is started while it is away says so, and ends

    def wait(self):
        if hasattr(self.server, "wait"):
            self.server.wait()

    def __enter__(self):
        server = self.server.__enter__()
        self.wait()
        self.url = ["--broker", getattr(server, "url", None)
                    or f"redis://127.0.0.1:{server.port}"]
        return self

    def __exit__(self, *how):
        self.server.__exit__(*how)


def main():
    if BROKER == "sqs":
        fauxqs.prepare()
    with {"sqlite": File, "kafka": Kafka}.get(BROKER, Served)() as broker:
        torture(broker)
    tap.finish()


def torture(broker):
    place = tempfile.mkdtemp(prefix="bide-torture-")
    env = tap.environment(XDG_STATE_HOME=place, **fauxqs.KEYS)
    for module in sys.argv[3:]:
        env["BIDE_MODULES"] = os.path.dirname(os.path.abspath(module))
    server = Server(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    there = 0

    def put(quarters):
        nonlocal there
        upto = MESSAGES if LONG else MESSAGES * quarters // 4
        if upto <= there:
            return
        lines = "".join(f"{i}\n" for i in range(there, upto)).encode()
        subprocess.run([BIDE, "enqueue", *broker.url, "--lines"], input=lines, env=env,
                       check=True, capture_output=True)
        there = upto

    command = [BIDE, "worker", *broker.url, "--quiet", "--base", "20ms", "--factor", "2", "--to",
               f"http://127.0.0.1:{server.server_port}/"]

    def start():
        return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL)

    def counts():
        while True:
            p = subprocess.run([BIDE, "worker", "ls", *broker.url, "--json", "--limit",
                                "0"], env=env, capture_output=True)
            if p.returncode == 0:
                return json.loads(p.stdout)
            if time.monotonic() - begun > LIMIT:
                raise RuntimeError(p.stderr.decode())
            time.sleep(0.2)  # the server is on its way back

    put(1)
    begun = time.monotonic()
    workers = [start() for _ in range(WORKERS)]
    rng, kills, crashes, last = random.Random(7), 0, 0, begun
    while time.monotonic() - begun < LIMIT:
        time.sleep(rng.uniform(0.5, 1.5))
        c = counts()
        if c["waiting"] + c["later"] + c["running"] + c["held"] == 0 and there == MESSAGES:
            break
        if crashes < 2 and BROKER != "sqlite" and \
                sum(effects.values()) > MESSAGES * (crashes + 1) / 3:
            put(crashes + 3)
            broker.crash()
            crashes += 1
        if kills >= KILLS or time.monotonic() - last < PAUSE:
            continue
        last = time.monotonic()
        if kills == 0:
            put(4 if BROKER == "sqlite" else 2)
        victim = rng.randrange(WORKERS)
        workers[victim].kill()
        workers[victim].wait()
        workers[victim] = start()
        kills += 1
    took = time.monotonic() - begun
    codes = []
    for p in workers:
        p.send_signal(signal.SIGTERM)
    for p in workers:
        codes.append(p.wait(timeout=60))
    c = counts()
    server.shutdown()
    server.server_close()
    poison = sum(share(b"%d" % i, "poison") < 1 for i in range(MESSAGES))
    print(f"# {MESSAGES} messages, {kills} workers killed, {took:.1f} s; {sum(asked.values())}"
          f" requests, {len(effects)} effects; dead: {c['dead_by_reason']}")
    left = c["waiting"] + c["later"] + c["running"] + c["held"]
    tap.case("nothing is left", left == 0, c)
    tap.case("workers were killed", kills > 0, kills)
    tap.case("poison was among them", poison > 0, poison)
    if BROKER != "sqlite":
        tap.case("the server was killed twice", crashes == 2, crashes)
    tap.case("no effect happened twice", all(n == 1 for n in effects.values()),
             effects.most_common(3))
    tap.case("each message had its effect, or is dead with a reason",
             len(effects) + c["dead"] >= MESSAGES and
             c["dead"] == sum(c["dead_by_reason"].values()), (len(effects), c))
    tap.case("the dead are the poison, and those whose workers were killed thrice",
             # SQS has two copies where an answer was lost; RabbitMQ delivers again what it
             # was told is done in the second before its death
             (c["dead_by_reason"].get("permanent", 0) == poison
              or BROKER in ("rabbitmq", "sqs")
              and c["dead_by_reason"].get("permanent", 0) > poison) and
             set(c["dead_by_reason"]) <= {"permanent", "crashed"}, (poison, c))
    tap.case("workers drain", codes == [0] * WORKERS, codes)
    shutil.rmtree(place, ignore_errors=True)


main()
