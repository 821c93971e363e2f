#!/usr/bin/env python3
"""keys.py BIDE BROKER [MODULE...]: messages with keys through whatever befalls their workers.

Each key has messages 1, 2, 3 and so on. Of these, one in eight fails at its first attempt,
and one in sixteen takes a second. The origin sees who asks: never two of a key at once,
each one only after all before it had their effect, and each has its effect. What befalls
them, in turn:

  kill    a worker, with -9
  crash   the server, with -9; it stays away for BIDE_AWAY seconds (0) and what it takes to
          start. What is asked for meanwhile is answered only when it is back, and workers
          have had time to take what is theirs: nobody must ask for it beside them
  cut     a worker hears nothing of the server any more, and the server nothing of it, for
          longer than its lease, and what it asks for is not answered meanwhile: it has to
          end its handlers, before another one begins with their messages
  freeze  a worker, with SIGSTOP, for longer than its lease. What it has asked for is
          answered meanwhile: what must not happen is that it goes on, when it can, with
          what is no longer its own

BIDE_TORTURE says how many messages (400), BIDE_BEFALLS what befalls (kill,crash,kill,crash,
kill), BIDE_LEASE the lease in seconds (30)."""
import collections
import http.server
import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import rabbitmq
import servers
import tap

BIDE = os.path.abspath(sys.argv[1])
BROKER = sys.argv[2]
MESSAGES = int(os.environ.get("BIDE_TORTURE", "400"))
AWAY = float(os.environ.get("BIDE_AWAY", "0"))
LEASE = float(os.environ.get("BIDE_LEASE", "30"))
BEFALLS = os.environ.get("BIDE_BEFALLS", "kill,crash,kill,crash,kill").split(",")
KEYS, WORKERS = 20, 3
OFTEN = 1 if MESSAGES <= 600 else MESSAGES // 600
LONG = 4 * LEASE + 5  # until the server has noticed, and somebody has begun
LIMIT = 300 + MESSAGES / 20 + OFTEN * len(BEFALLS) * (AWAY + 20) + \
    OFTEN * (BEFALLS.count("cut") + BEFALLS.count("freeze")) * (LONG + 20)

lock = threading.Lock()
running = collections.Counter()
by = collections.Counter()  # how many of each worker
asked = collections.Counter()
done = collections.defaultdict(int)  # the last of each key that had its effect
order, parallel = [], []
ended = []  # by a worker that was cut off
may_end = threading.Event()
held = set()  # workers that are not answered


def is_closed(connection):
    ready, _, _ = select.select([connection], [], [], 0)
    try:
        return bool(ready) and connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def work(self, body):
        """False: who asked is no longer there."""
        end = time.monotonic() + (1 if zlib.crc32(body.encode()) % 16 == 3 else 0.05)
        while time.monotonic() < end or not may_end.is_set() or self.path in held:
            time.sleep(0.02)
            if is_closed(self.connection):
                return False
        return True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        key, number = body.split()
        number = int(number)
        with lock:
            running[key] += 1
            by[self.path] += 1
            asked[body] += 1
            first = asked[body] == 1
            if running[key] > 1:
                parallel.append((body, time.strftime("%T")))
            if number > done[key] + 1:
                order.append((body, done[key]))
        stays = self.work(body)
        status = 200
        with lock:
            running[key] -= 1
            by[self.path] -= 1
            if not stays and self.path in held:
                ended.append(body)
            if not stays:
                self.close_connection = True
                return
            if first and zlib.crc32(body.encode()) % 8 == 0:
                status = 500
            elif number == done[key] + 1:
                done[key] = number
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


class Link:
    """What a worker says goes through here to the server, and back, unless it is cut."""

    def __init__(self, to):
        self.to, self.cut = to, threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            while self.cut.is_set():
                time.sleep(0.02)
            try:
                far = socket.create_connection(("127.0.0.1", self.to), 5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, a, b):
        try:
            while data := a.recv(65536):
                while self.cut.is_set():
                    time.sleep(0.02)
                b.sendall(data)
        except OSError:
            pass
        while self.cut.is_set():
            time.sleep(0.02)
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def url_at(broker, port):
    url = getattr(broker, "tcp", broker.url)  # Redis is reached by a socket, too
    return url.replace(str(broker.port), str(port))


class Torture:
    def __init__(self, broker, place):
        self.broker, self.crossing, self.begun, self.happened = broker, 0, 0, 0
        self.events = BEFALLS * OFTEN
        self.env = tap.environment(XDG_STATE_HOME=place)
        for module in sys.argv[3:]:
            self.env["BIDE_MODULES"] = os.path.dirname(os.path.abspath(module))
        self.origin = Server(("127.0.0.1", 0), Origin)
        threading.Thread(target=self.origin.serve_forever, daemon=True).start()
        self.conf = os.path.join(place, "worker.yaml")
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(f"version: 1\nworker:\n  lease: {LEASE:g}s\n")
        self.links = [Link(broker.port) for _ in range(WORKERS)] if "cut" in BEFALLS else []
        self.workers = [self.start(i) for i in range(WORKERS)]

    def start(self, i):
        url = url_at(self.broker, self.links[i].port) if self.links else self.broker.url
        return subprocess.Popen(
            [BIDE, "worker", "-c", self.conf, "--queue", "default", "--broker", url,
             "--quiet", "--base", "300ms", "--factor", "2", "--to",
             f"http://127.0.0.1:{self.origin.server_port}/{i}"],
            env=self.env, stdin=subprocess.DEVNULL)

    def left(self):
        """None: the server is on its way back."""
        p = subprocess.run([BIDE, "worker", "ls", "--broker", self.broker.url, "--json",
                            "--limit", "0"], env=self.env, capture_output=True)
        if p.returncode != 0:
            return None
        c = json.loads(p.stdout)
        return c["waiting"] + c["later"] + c["running"] + c["held"]

    def share(self, events):
        """Of each key's messages, those until so many events."""
        return MESSAGES // KEYS * events // (len(self.events) + 1)

    def put(self):
        """In order for each key. A share is left until each of the things that befall them
        begins: however fast the workers are, there is something to do then."""
        for n in range(1, MESSAGES // KEYS + 1):
            while n > self.share(self.begun + 1):
                time.sleep(0.2)
            for k in range(KEYS):
                while subprocess.run([BIDE, "enqueue", "--broker", self.broker.url, "--key",
                                      f"k{k}", f"k{k} {n}"], env=self.env,
                                     capture_output=True).returncode != 0:
                    time.sleep(0.2)  # not confirmed: it may be there twice

    # ===== what befalls them =====

    def crash(self, _):
        may_end.clear()
        end = time.monotonic() + 20
        while sum(running.values()) == 0 and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(1.2)
        with lock:
            self.crossing += sum(running.values())
        self.broker.crash()
        time.sleep(AWAY)
        self.broker.start()
        self.broker.wait() if hasattr(self.broker, "wait") else None
        time.sleep(8)  # to be wrong in, not to be right
        may_end.set()

    def kill(self, i):
        self.workers[i].kill()
        self.workers[i].wait()
        self.workers[i] = self.start(i)

    def freeze(self, i):
        self.workers[i].send_signal(signal.SIGSTOP)
        time.sleep(LONG)
        self.workers[i].send_signal(signal.SIGCONT)

    def cut(self, i):
        held.add(f"/{i}")
        end = time.monotonic() + 20
        while by[f"/{i}"] == 0 and time.monotonic() < end:
            time.sleep(0.02)
        self.links[i].cut.set()
        with lock:
            self.crossing += by[f"/{i}"]
        time.sleep(LONG)
        held.discard(f"/{i}")
        time.sleep(1)
        self.links[i].cut.clear()

    def go_on(self):
        rng = random.Random(7)
        begun, empty = time.monotonic(), 0
        producer = threading.Thread(target=self.put, daemon=True)
        producer.start()
        may_end.set()
        while time.monotonic() - begun < LIMIT and empty < 3:
            time.sleep(rng.uniform(1, 2))
            empty = empty + 1 if not producer.is_alive() and self.left() == 0 else 0
            with lock:
                progress = sum(done.values())
            if self.happened < len(self.events) and \
                    progress >= max(1, KEYS * self.share(self.happened)):
                self.begun += 1
                getattr(self, self.events[self.happened])(rng.randrange(WORKERS))
                self.happened += 1
        return producer, time.monotonic() - begun


def torture(broker):
    place = tempfile.mkdtemp(prefix="bide-keys-")
    t = Torture(broker, place)
    producer, took = t.go_on()
    codes = []
    for p in t.workers:
        p.send_signal(signal.SIGTERM)
    for p in t.workers:
        codes.append(p.wait(timeout=60))
    producer.join(timeout=60)
    remains = t.left()
    t.origin.shutdown()
    t.origin.server_close()
    total = MESSAGES // KEYS * KEYS
    print(f"# {total} messages of {KEYS} keys, {','.join(BEFALLS)}: {t.happened}, away "
          f"{AWAY:g} s, lease {LEASE:g} s, {took:.1f} s; {sum(asked.values())} requests, "
          f"{sum(done.values())} effects")
    tap.case("everything befell them", t.happened == len(t.events), t.happened)
    if "crash" in BEFALLS or "cut" in BEFALLS:
        tap.case("some ran meanwhile", t.crossing > 0, t.crossing)
    if "cut" in BEFALLS:
        tap.case("who is cut off ends its handlers", ended, t.happened)
    tap.case("never two of a key at once", not parallel, parallel[:9])
    tap.case("none before those before it had their effect", not order, order[:3])
    tap.case("each had its effect", sum(done.values()) == total, dict(done))
    tap.case("nothing is left", remains == 0, (remains, broker.queues()
                                               if hasattr(broker, "queues") else ""))
    tap.case("workers drain", codes == [0] * WORKERS, codes)
    shutil.rmtree(place, ignore_errors=True)


with {"rabbitmq": rabbitmq.Rabbitmq, "postgresql": servers.Postgres,
      "redis": servers.Redis}[BROKER](durable=True) as served:
    if hasattr(served, "wait"):
        served.wait()
    torture(served)
tap.finish()
