#!/usr/bin/env python3
"""chaos.py BIDE [SECONDS]: everything at once, for as long as is wanted: origins that
fail, hang, reset and restart; clients honest and hostile; the file read again, the
log rotated. Under sanitizers, as `make soak` runs it.

In the end: every honest request had one answer, and its own; no POST was executed
twice; each has one line in the logs; the serving process is the one that was started;
its descriptors are back where they were, nothing is in flight, and it ends without a
leak."""
import asyncio
import collections
import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback

from attack import (Sidecar, ended, free_port, run, serving, series, tap, until,
                    work)

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 5
HONEST, HOSTILE = 40, 6

FILE = """
version: 1
policies:
  default: {{ attempts: 4, backoff: {{ base: 1ms, cap: 20ms }},
             attempt_timeout: {timeout}, budget: {{ kind: off }},
             breaker: {{ open: 100ms, open_max: 1s }} }}
  hedged: {{ attempts: 1, attempt_timeout: 1s, breaker: {{ kind: off }},
            hedge: {{ after: 20ms, max: 1, extra_load: 100% }} }}
proxy:
  listen: 127.0.0.1:{port}
  admin: 127.0.0.1:{admin}
  access_log: {log}
  workers: 2
  limits: {{ headers: {headers} }}
  timeouts: {{ header: 1s, body: 1s, write: 1s, idle: 5s, drain: 5s }}
  routes:
    - {{ match: {{ header: X-Policy, value: hedged }}, upstream: both,
        policy: hedged }}
    - {{ upstream: both }}
  upstreams:
    both: {{ endpoints: ["http://127.0.0.1:{one}", "http://127.0.0.1:{two}"],
            body_timeout: 500ms, slow_start: 100ms,
            ejection: {{ consecutive: 5, open: 100ms }} }}
"""


class Origin:
    """One that counts each request it has read in full, by path, and does with it
    what chance says; and is taken away and put back at its port."""
    counts = collections.Counter()      # POST and PUT alike, at all of them

    def __init__(self, port, rng):
        self.port, self.rng = port, rng
        self.server, self.open = None, set()

    async def start(self):
        self.server = await asyncio.start_server(self.talk, "127.0.0.1", self.port,
                                                 backlog=1000)

    async def stop(self):
        """As a crash does it: nobody is told."""
        self.server.close()
        for writer in list(self.open):
            writer.transport.abort()

    async def talk(self, reader, writer):
        self.open.add(writer)
        try:
            while await self.one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, ValueError,
                asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            self.open.discard(writer)
            writer.close()

    async def one(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        path = head.split(" ", 2)[1]
        fields = dict(line.lower().split(": ", 1)
                      for line in head.split("\r\n")[1:] if ": " in line)
        await reader.readexactly(int(fields.get("content-length", 0)))
        if fields.get("transfer-encoding") == "chunked":
            while size := int(await reader.readuntil(b"\r\n"), 16):
                await reader.readexactly(size + 2)
            await reader.readuntil(b"\r\n")
        Origin.counts[path] += 1
        return await self.answer(writer, path.encode())

    async def answer(self, writer, body):
        chance = self.rng.random()
        if chance < 0.02:
            writer.transport.abort()
            return False
        if chance < 0.03:       # hangs
            await asyncio.sleep(1)
            return False
        if chance < 0.05:       # cut off
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + body)
            await writer.drain()
            return False
        status = b"503 Busy" if chance < 0.1 else b"200 OK"
        if chance > 0.9:
            await asyncio.sleep(self.rng.random() / 50)
        if chance > 0.95:
            body *= 3000
        writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\n\r\n" %
                     len(body) + body)
        await writer.drain()
        return True


def when(start=time.monotonic()):
    """Seconds since the start."""
    return time.monotonic() - start


class Honest:
    """One who asks, reads, and keeps count."""
    asked, answered, cut = [], collections.Counter(), 0
    wrong = []

    def __init__(self, port, number, end):
        self.port, self.rng, self.end = port, random.Random(number), end
        self.number, self.n, self.writer, self.uses = number, 0, None, 0
        self.path = self.head = self.before = None

    async def run(self):
        while time.monotonic() < self.end:
            self.n += 1
            method = self.rng.choice(("GET", "GET", "PUT", "POST", "POST"))
            path = f"/{method}/{self.number}.{self.n}"
            Honest.asked.append(path)
            try:
                await asyncio.wait_for(self.ask(method, path), 60)
            except (asyncio.IncompleteReadError, OSError) as e:
                self.lost(path, e)
            except Exception:
                Honest.wrong.append((path, traceback.format_exc()))
                self.close()
        self.close()

    def close(self):
        if self.writer:
            self.writer.close()
        self.writer = None

    def lost(self, path, error):
        """An answer may be cut off in its body, as the origin's was; no more."""
        self.close()
        if isinstance(error, asyncio.IncompleteReadError) and self.head:
            Honest.cut += 1
            Honest.answered[path] += 1
        else:
            Honest.wrong.append((path, f"no answer: {error!r} at {when():.3f} s, "
                                 f"{Origin.counts[path]} arrived, "
                                 f"{self.uses} before on this connection, the "
                                 f"last one {self.before}"))

    async def ask(self, method, path):
        self.before, self.head = (self.path, self.head), None
        self.path = path
        self.uses += 1
        if not self.writer:
            self.uses = 0
            self.reader, self.writer = await asyncio.open_connection(
                "127.0.0.1", self.port)
        body = b"d" * self.rng.choice((1, 100, 5000, 100000)) \
            if method != "GET" else b""
        more = "X-Policy: hedged\r\n" if method == "GET" and \
            self.rng.random() < 0.3 else ""
        self.writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{more}"
                          f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await self.writer.drain()
        head = await self.reader.readuntil(b"\r\n\r\n")
        self.head = head.decode("latin-1").lower()
        fields = dict(x.split(": ", 1) for x in self.head.split("\r\n")[1:] if x)
        body = await self.reader.readexactly(int(fields["content-length"]))
        Honest.answered[path] += 1
        if " 200 " in self.head[:20] and not body.startswith(path.encode()):
            Honest.wrong.append((path, body[:100]))
        if fields.get("connection") == "close":
            self.close()


class Logs:
    """The access log, taken away now and then."""

    def __init__(self):
        self.dir = os.path.join(work.name, "logs")
        os.mkdir(self.dir)
        self.file = os.path.join(self.dir, "log")
        self.turns = 0

    def rotate(self, p):
        if os.path.exists(self.file):
            self.turns += 1
            os.rename(self.file, f"{self.file}.{self.turns}")
            p.process.send_signal(signal.SIGUSR1)

    def lines(self):
        """Paths that were logged, and lines that are none."""
        paths, torn = collections.Counter(), []
        for name in os.listdir(self.dir):
            with open(os.path.join(self.dir, name), encoding="utf-8") as f:
                for line in f:
                    try:
                        paths[json.loads(line).get("path")] += 1
                    except ValueError:
                        torn.append(line)
        return paths, torn


async def trouble(p, text, logs, origins, end):
    """Reloads, rotations, and origins that come and go."""
    rng, n = random.Random(4), 0
    while time.monotonic() < end - 1:
        await asyncio.sleep(rng.random())
        n += 1
        what = n % 4
        if what == 0:
            p.write(text(headers=rng.choice((90, 100)),
                         timeout=rng.choice(("2s", "3s"))))
            p.process.send_signal(signal.SIGHUP)
            print(f"# reload at {when():.3f} s")
        elif what == 1:
            logs.rotate(p)
        else:
            o = rng.choice(origins)
            await o.stop()
            await asyncio.sleep(rng.random() / 4)
            await o.start()


async def all_of_it(p, text, logs, ports, port):
    origins = [Origin(x, random.Random(x)) for x in ports]
    for o in origins:
        await o.start()
    end = time.monotonic() + SECONDS
    tasks = [Honest(port, i, end).run() for i in range(HONEST)]
    await asyncio.gather(trouble(p, text, logs, origins, end), *tasks)
    for o in origins:
        await o.stop()


def descriptors(p):
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in serving(p))


def show(wrong):
    return "\n".join([str(len(wrong)), *map(str, wrong[:5])])


def judge(logs):
    h = Honest
    print(f"# {len(h.asked)} requests, {h.cut} cut off, {logs.turns} rotations, "
          f"{sum(Origin.counts.values())} arrived")
    tap.case("each honest request has one answer, its own", not h.wrong and all(
        h.answered[x] == 1 for x in h.asked), show(h.wrong))
    twice = [x for x in h.asked if x.startswith("/POST/") and
             Origin.counts[x] > 1]
    tap.case("no POST was executed twice", not twice, show(twice))
    paths, torn = logs.lines()
    other = [(x, paths[x]) for x in h.asked if paths[x] != 1]
    tap.case("each has one line in the logs", not other, show(other))
    tap.case("and no line is torn", not torn, show(torn))


def chaos():
    port, admin, one, two = (free_port() for _ in range(4))
    logs = Logs()

    def text(headers=100, timeout="2s"):
        return FILE.format(port=port, admin=admin, one=one, two=two,
                           log=logs.file, headers=headers, timeout=timeout)
    p = Sidecar(text())
    process, before = serving(p), descriptors(p)
    hostile = subprocess.Popen(
        [sys.executable, os.path.join(HERE, "hostile.py"), str(port), str(admin),
         str(HOSTILE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        asyncio.run(all_of_it(p, text, logs, (one, two), port))
    finally:
        print("# hostile clients:", hostile.communicate(b"")[0].decode().strip())
    tap.case("nothing is in flight", until(
        lambda: series(p, "bide_proxy_requests_in_flight") == 0))
    tap.case("descriptors are back where they were", until(
        lambda: descriptors(p) <= before), (before, descriptors(p)))
    tap.case("it is the process that was started", serving(p) == process,
             (process, serving(p)))
    code = ended(p)
    said = "".join(p.said)
    tap.case("it ends as told, without a leak", code == 0 and
             "Sanitizer" not in said and "runtime error" not in said,
             (code, said[-4000:]))
    judge(logs)


run(chaos)
