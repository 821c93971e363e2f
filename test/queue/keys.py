#!/usr/bin/env python3
"""keys.py BIDE BROKER [MODULE...]: messages with keys through workers that are killed.

Each key has messages 1, 2, 3 and so on. Of these, one in eight fails at its first attempt.
Workers are killed with -9, and so is the server, twice. The origin sees who asks: never two
of a key at once, each one only after all before it had their effect, and each has its
effect. What is asked for when the server is killed is answered only when that is back, and
workers have had time to take what is theirs: nobody must ask for it beside them.

BIDE_TORTURE says how many messages (400)."""
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

import rabbitmq
import servers
import tap

BIDE = os.path.abspath(sys.argv[1])
BROKER = sys.argv[2]
MESSAGES = int(os.environ.get("BIDE_TORTURE", "400"))
KEYS = 20
KILLS, OFTEN = (3, 8) if MESSAGES <= 600 else (10 ** 9, MESSAGES / 50)
LIMIT = 240 + MESSAGES / 20  # seconds

lock = threading.Lock()
running = collections.Counter()
asked = collections.Counter()
done = collections.defaultdict(int)  # the last of each key that had its effect
order, parallel = [], []
may_end = threading.Event()


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        key, number = body.split()
        number = int(number)
        with lock:
            running[key] += 1
            asked[body] += 1
            first = asked[body] == 1
            if running[key] > 1:
                parallel.append(body)
            if number > done[key] + 1:
                order.append((body, done[key]))
        time.sleep(0.05)
        may_end.wait()
        status = 200
        with lock:
            running[key] -= 1
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


def torture(broker):
    place = tempfile.mkdtemp(prefix="bide-keys-")
    env = tap.environment(XDG_STATE_HOME=place)
    for module in sys.argv[3:]:
        env["BIDE_MODULES"] = os.path.dirname(os.path.abspath(module))
    origin = Server(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    url = ["--broker", broker.url + ("/?keys=unfinished" if BROKER == "rabbitmq" else "")]
    command = [BIDE, "worker", *url, "--quiet", "--base", "300ms", "--factor", "2", "--to",
               f"http://127.0.0.1:{origin.server_port}/"]

    def start():
        return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL)

    def left():
        """None: the server is on its way back."""
        p = subprocess.run([BIDE, "worker", "ls", *url, "--json", "--limit", "0"], env=env,
                           capture_output=True)
        if p.returncode != 0:
            return None
        c = json.loads(p.stdout)
        return c["waiting"] + c["later"] + c["running"] + c["held"]

    def put():
        """In order for each key, some all the time while it goes on."""
        for n in range(1, MESSAGES // KEYS + 1):
            for k in range(KEYS):
                while subprocess.run([BIDE, "enqueue", *url, "--key", f"k{k}",
                                      f"k{k} {n}"], env=env,
                                     capture_output=True).returncode != 0:
                    time.sleep(0.2)  # not confirmed: it may be there twice

    producer = threading.Thread(target=put)
    begun = time.monotonic()
    producer.start()
    workers = [start() for _ in range(3)]
    rng, kills, crashes, empty, crossing = random.Random(7), 0, 0, 0, 0
    may_end.set()
    total = MESSAGES // KEYS * KEYS
    while time.monotonic() - begun < LIMIT and empty < 3:
        time.sleep(rng.uniform(1, 2))
        empty = empty + 1 if not producer.is_alive() and left() == 0 else 0
        with lock:
            progress = sum(done.values())
        if crashes < min(2, kills) and progress > total * (crashes + 1) / 3:
            may_end.clear()
            time.sleep(1)
            with lock:
                crossing += sum(running.values())
            broker.crash()
            broker.start()
            broker.wait() if hasattr(broker, "wait") else None
            time.sleep(8)  # to be wrong in, not to be right
            may_end.set()
            crashes += 1
        elif kills < KILLS and progress > total * kills / OFTEN and empty == 0:
            victim = rng.randrange(3)
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
    producer.join(timeout=60)
    remains = left()
    origin.shutdown()
    origin.server_close()
    print(f"# {total} messages of {KEYS} keys, {kills} workers and {crashes} servers "
          f"killed, {took:.1f} s; {sum(asked.values())} requests, {sum(done.values())} effects")
    tap.case("workers were killed, and the server twice", kills > 0 and crashes == 2,
             (kills, crashes))
    tap.case("some ran while the server was away", crossing > 0, crossing)
    tap.case("never two of a key at once", not parallel, parallel[:3])
    tap.case("none before those before it had their effect", not order, order[:3])
    tap.case("each had its effect", sum(done.values()) == total, dict(done))
    tap.case("nothing is left", remains == 0, (remains, broker.queues()
                                               if hasattr(broker, "queues") else ""))
    tap.case("workers drain", codes == [0] * 3, codes)
    shutil.rmtree(place, ignore_errors=True)


with {"rabbitmq": rabbitmq.Rabbitmq, "postgresql": servers.Postgres,
      "redis": servers.Redis}[BROKER](durable=True) as served:
    if hasattr(served, "wait"):
        served.wait()
    torture(served)
tap.finish()
