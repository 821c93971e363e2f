#!/usr/bin/env python3
"""e2e_fleet.py BIDE: sidecars that share a budget and a breaker picture on Redis.

Four sidecars with 25 calls a second each and windows of 2 s, all cases side by side. With
BIDE_TEST_FLEET=full, what docs/fleet.md promises: eight sidecars, 50 calls a second each,
the defaults, an origin that fails for 30 s; one case after the other, each beside a fleet
whose Redis is up.

What is asserted is what arrives at the origin, and that p99 does not move with Redis: of the
calls that were refused a retry, few take longer than the 99th percentile of the fleet whose
Redis is up, in the same seconds. So a machine that is busy is busy for both."""
import asyncio
import os
import random
import re
import time

import tap
from servers import Redis
from sidecar import Sidecar

FULL = os.environ.get("BIDE_TEST_FLEET") == "full"
N, RATE, WINDOW, FLOOR = (8, 50, 10, 1) if FULL else (4, 25, 2, 5)
OUTAGE = 3 * WINDOW


def text(port, store, name, breaker):
    return f"""
version: 1
policies:
  default:
    budget: {{ window: {WINDOW}s, floor: {FLOOR}/s }}
    breaker: {{ {breaker} }}
fleet: {{ store: "{store}", name: {name} }}
proxy:
  listen: 127.0.0.1:0
  workers: 1
  routes: [ {{ upstream: up }} ]
  upstreams: {{ up: {{ endpoints: ["http://127.0.0.1:{port}"] }} }}
"""


class Origin:
    """Answers 200, or 500 while it fails, or hangs up while its cable is cut. Knows
    when each retry came."""

    def __init__(self):
        self.fails = self.cut = False
        self.retries, self.firsts = [], 0
        self.server = None

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if self.cut:
                    break
                found = re.search(rb"(?i)x-bide-attempt: (\d+)", head)
                if found and int(found[1]) > 1:
                    self.retries.append(time.monotonic())
                else:
                    self.firsts += 1
                status = b"500 No" if self.fails else b"200 OK"
                writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\nok")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


class Client:
    """Calls a sidecar `RATE` times a second, each when it is time, whatever became of
    the others: up to 32 at once. When in its turn is drawn, or fleets that were started in
    the same moment would queue behind each other in this process, and one beside them not."""

    def __init__(self, port):
        self.port = port
        self.idle, self.statuses, self.reasons, self.took = [], {}, {}, []

    async def call(self):
        begin = time.monotonic()
        try:
            if self.idle:
                reader, writer = self.idle.pop()
            else:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
        except (OSError, asyncio.IncompleteReadError):
            self.statuses["broken"] = self.statuses.get("broken", 0) + 1
            return
        self.idle.append((reader, writer))
        status = int(head.split()[1])
        why = re.search(rb"(?i)x-bide-reason: (\S+)", head)
        reason = why[1].decode() if why else ""
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        if b"x-bide-attempts: 1\r" in head.lower():
            self.took.append((begin, time.monotonic() - begin))

    async def run(self, end):
        tasks = set()
        due = time.monotonic()
        while not end.is_set():
            due += 1 / RATE
            at = due + random.random() / RATE
            await asyncio.sleep(max(0, at - time.monotonic()))
            if len(tasks) < 32:
                task = asyncio.create_task(self.call())
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)
        for _, writer in self.idle:
            writer.close()


def quantile(percent, took):
    return sorted(took)[len(took) * percent // 100]


def compare(name, took, others):
    """How many took longer than nearly all of a fleet at whose Redis nothing happens. If
    each call waited, all would be over its 90th percentile; if a few did, the 99th."""
    for percent, most in ((90, 0.6), (99, 0.05 if FULL else 0.2)):
        limit = quantile(percent, others)
        slow = sum(t > limit for t in took) / len(took)
        print(f"# {name}: p{percent} {1000 * quantile(percent, took):.1f} ms, beside it "
              f"{1000 * limit:.1f} ms: {100 * slow:.1f} % of {len(took)} calls took longer")
        tap.case(f"{name}: p{percent} does not move with Redis", slow <= most, slow)


class Fleet:
    """Sidecars, their clients, their origin and their Redis."""

    def __init__(self, name, breaker="kind: off"):
        self.name, self.breaker = name, breaker
        self.redis = Redis()
        self.origin, self.far = Origin(), Origin()
        self.sidecars, self.clients = [], []
        self.end = asyncio.Event()

    async def start(self, far=False):
        """With `far`, the first one has a way to the origin of its own."""
        thread = asyncio.get_running_loop().run_in_executor
        await thread(None, self.redis.start)
        port, way = await self.origin.start(), await self.far.start()
        for i in range(N):
            it = text(way if far and i == 0 else port, self.redis.url, self.name,
                      self.breaker)
            self.sidecars.append(await thread(None, Sidecar, it))
        self.clients = [Client(p.port) for p in self.sidecars]
        self.running = [asyncio.create_task(c.run(self.end)) for c in self.clients]

    async def joined(self):
        """All have, and for longer than a ledger is new."""
        end = time.monotonic() + 60
        while not all(any("fleet: joined" in line for line in p.said)
                      for p in self.sidecars):
            if time.monotonic() > end:
                raise TimeoutError("not all have joined")
            await asyncio.sleep(0.05)
        await asyncio.sleep(1.5 * WINDOW)

    async def stop(self):
        self.end.set()
        await asyncio.gather(*self.running)
        thread = asyncio.get_running_loop().run_in_executor
        codes = [(await thread(None, p.stop))[0] for p in self.sidecars]
        tap.case(f"{self.name}: all sidecars end well", codes == [0] * N, str(codes))
        await thread(None, self.redis.__exit__)


async def outage(name, happens, breaker="kind: off"):
    """Gives how long calls took, from when it happened."""
    fleet = Fleet(name, breaker)
    await fleet.start()
    await fleet.joined()
    fleet.origin.fails = True
    await asyncio.sleep(OUTAGE / 3)
    happens(fleet.redis)
    since = time.monotonic()
    await asyncio.sleep(OUTAGE * 2 / 3)
    end = time.monotonic()
    took = [t for c in fleet.clients for at, t in c.took if since <= at < end]
    last = [t for t in fleet.origin.retries if end - WINDOW <= t < end]
    most = FLOOR * WINDOW + N
    print(f"# {name}: {len(last)} retries in the last {WINDOW} s of an outage of "
          f"{OUTAGE} s, {len(fleet.origin.retries)} in all")
    least = 1 if breaker == "kind: off" else 0
    tap.case(f"{name}: at most {most} retries arrive in the last window",
             least <= len(last) <= most, str(len(last)))
    fleet.origin.fails = False
    if name == "stopped":
        fleet.redis.thaw()
    before = sum(c.statuses.get(200, 0) for c in fleet.clients)
    patience = time.monotonic() + 60
    while sum(c.statuses.get(200, 0) for c in fleet.clients) < before + 20 * N:
        if time.monotonic() > patience:
            break
        await asyncio.sleep(0.05)
    tap.case(f"{name}: all is well afterwards", time.monotonic() <= patience,
             str([c.statuses for c in fleet.clients]))
    broken = sum(c.statuses.get("broken", 0) for c in fleet.clients)
    tap.case(f"{name}: every call is answered", broken == 0, str(broken))
    await fleet.stop()
    return took


async def cut_off():
    """The cable of one is cut; the origin is healthy."""
    fleet = Fleet("cut_off", "kind: time")
    await fleet.start(far=True)
    await fleet.joined()
    fleet.far.cut = True
    alone, others = fleet.clients[0], fleet.clients[1:]
    end = time.monotonic() + 60
    while not alone.reasons.get("breaker_open") and time.monotonic() < end:
        await asyncio.sleep(0.05)
    await asyncio.sleep(WINDOW)
    refused = [c.reasons.get("breaker_open", 0) for c in others]
    failed = [{s: n for s, n in c.statuses.items() if s != 200} for c in others]
    tap.case("cut_off: its own breaker opens", alone.reasons.get("breaker_open", 0) > 0,
             str(alone.reasons))
    tap.case("cut_off: the others refuse nothing",
             refused == [0] * (N - 1) and failed == [{}] * (N - 1), f"{refused} {failed}")
    await fleet.stop()


def start_empty(redis):
    redis.kill()
    redis.start()


HAPPENS = {"stopped": lambda redis: redis.freeze(), "killed": lambda redis: redis.kill(),
           "empty": start_empty}


def up(name="up", breaker="kind: off"):
    return outage(name, lambda redis: None, breaker)


async def all_at_once():
    cases = [outage(name, happens) for name, happens in HAPPENS.items()]
    others, *took, _, _ = await asyncio.gather(
        up(), *cases, up("breaker", "kind: time"), cut_off())
    for name, it in zip(HAPPENS, took):
        compare(name, it, others)


async def one_by_one():
    for name, happens in HAPPENS.items():
        others, took = await asyncio.gather(up(f"beside_{name}"), outage(name, happens))
        compare(name, took, others)
    await up("breaker", "kind: time")
    await cut_off()


asyncio.run(one_by_one() if FULL else all_at_once())
tap.finish()
