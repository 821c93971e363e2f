#!/usr/bin/env python3
"""e2e_conservation.py BIDE [REQUESTS]: nothing is lost, and nothing is done twice
against the policy.

Many requests at once, each with an id of its own, 10 % of them to fail in every way
that the fault server knows. Both ends count: a client must get exactly one answer,
its own, with the status that the script leads to; the server must have seen the id
just as often as the sidecar says that it tried, and as the policy allows. An attempt
on a kept connection that the server is closing may fail without having arrived: that
is no fault of either, and few do. Without a number, 10 000 requests; `make soak`
sends a million."""
import asyncio
import collections
import json
import random
import sys

import sidecar
from parts import proxied, tap
from sidecar import OPEN

REQUESTS = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
BATCH = 100000          # the fault server forgets in between
CONNECTIONS = 200
FAILING = 0.1
# Longer than anything takes but what stalls: an answer that comes byte by byte
# waits some fifty times for a server that has 200 of them to serve.
POLICY = OPEN + ", attempt_timeout: 15s"

# How an attempt fails, the status of giving up, and whether the request is tried
# again: "again" if it is safe to; "never"; "early": so, but if the server closes
# upon a body that it has not read, its answer may be lost; "body": the answer breaks
# off in its body, when it may be too late.
FAILURES = [
    ("500", "again", 500), ("502", "again", 502), ("503", "again", 503),
    ("504", "again", 504), ("408", "again", 408), ("425", "again", 425),
    ("429", "again", 429), ("503;n=20000", "again", 503),
    ("503;chunked", "again", 503), ("503;last", "again", 503),
    ("503;h=retry-after-ms:5", "again", 503),
    ("503;h=Connection:close", "again", 503), ("503;wait=5", "again", 503),
    ("503;early;last", "early", 503),
    ("close", "again", 502), ("reset", "again", 502), ("stall", "again", 504),
    ("200;cut=head", "again", 502), ("200;rst=head", "again", 502),
    ("200;stall=head", "again", 504),
    ("400", "never", 400), ("404", "never", 404), ("501", "never", 501),
    ("503;h=X-Bide-Retry:no", "never", 503),
    ("429;h=Retry-After:3600", "never", 429),
    ("200;n=5000;cut=body", "body", 200), ("200;n=5000;rst=body", "body", 200),
    ("200;n=5000;chunked;cut=body", "body", 200),
    ("200;n=50;lie=7", "body", 200),
    ("200;n=5000;stall=body", "body", 200),
]
QUICK = [f for f in FAILURES if "stall" not in f[0]]
SLOW = ("200;wait=3", "200;n=300;pause=3", "200;n=20;trickle=1", "200;last",
        "200;n=100000", "200;n=3000;chunked")
METHODS = ("GET", "GET", "GET", "PUT", "DELETE", "POST", "POST", "POST+key")


class Request:
    """One request, what it must come to, and what it came to."""

    def __init__(self, rng, number):
        self.id = f"r{number}"
        self.method = rng.choice(METHODS)
        self.safe = self.method != "POST"
        self.failures = []
        if rng.random() < FAILING:
            # Mostly once, at times until no attempt is left. Few stall, and those
            # do so once, because somebody waits for this test.
            failure = rng.choice(FAILURES if rng.random() < 0.25 else QUICK)
            forever = rng.random() < 0.1 and "stall" not in failure[0]
            self.failures = [failure] * (5 if forever else 1)
        last = rng.choice(SLOW) if rng.random() < 0.05 else "200"
        if last == "200":
            last += f";body={self.id}."
        self.last = last
        steps = [f[0] for f in self.failures] + [last]
        self.body = rng.randbytes(rng.choice((1, 10, 500, 30000))).hex().encode() \
            if self.method in ("PUT", "POST", "POST+key") else b""
        self.path = "/s/" + ",".join(steps) + "?id=" + self.id
        self.chunked = bool(self.body) and rng.random() < 0.3
        self.status = self.attempts = None
        self.whole = False
        self.answer = b""

    def bytes(self):
        lines = [f"{self.method.split('+')[0]} {self.path} HTTP/1.1", "Host: x"]
        if self.method == "POST+key":
            lines.append(f"Idempotency-Key: {self.id}")
        body = self.body
        if self.chunked:
            lines.append("Transfer-Encoding: chunked")
            half = len(body) // 2
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part)
                            for part in (body[:half], body[half:]) if part)
            body += b"0\r\n\r\n"
        elif body:
            lines.append(f"Content-Length: {len(body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + body

    def expected(self):
        """Each (status, attempts, whole) that the policy allows."""
        if not self.failures:
            return {(200, 1, True)}
        _, kind, status = self.failures[0]
        if kind == "never" or (kind == "again" and not self.safe):
            return {(status, 1, True)}
        if kind == "early" and not self.safe:
            return {(status, 1, True), (502, 1, True)}
        times = len(self.failures)
        end = (200, times + 1, True) if times < 4 else (status, 4, True)
        if kind == "again":
            return {end}
        if kind == "early":
            return {end, (502, 4, True)} if times >= 4 else {end}
        # It may have begun to be passed on, at any of the attempts; if not, it was
        # an attempt that failed.
        if not self.safe:
            return {(200, 1, False), (502, 1, True), (504, 1, True)}
        if times >= 4:
            end = (502, 4, True)
        return {(200, n, False) for n in range(1, min(times, 4) + 1)} | {
            end, (504, 4, True)}

    def own(self):
        """Whether the body, if it is a good answer's, is the one it asked for."""
        if self.status != 200 or not self.whole or ";body=" not in self.last:
            return True
        return self.answer == self.id.encode() + b"."


class Client:
    """One connection after the other, one request at a time."""

    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def ask(self, r):
        if not self.writer:
            self.reader, self.writer = await asyncio.open_connection(
                "127.0.0.1", self.port)
        self.writer.write(r.bytes())
        try:
            keep = await asyncio.wait_for(self.answer(r), 60)
        except (asyncio.IncompleteReadError, ConnectionError):
            keep = False
        if not keep:
            self.writer.close()
            self.writer = None

    async def answer(self, r):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head.split("\r\n")
        f = dict(x.lower().split(": ", 1) for x in lines[1:] if x)
        r.status = int(lines[0].split(" ")[1])
        r.attempts = int(f["x-bide-attempts"])
        if "content-length" in f:
            r.answer = await self.reader.readexactly(int(f["content-length"]))
        elif f.get("transfer-encoding") == "chunked":
            while size := int(await self.reader.readuntil(b"\r\n"), 16):
                r.answer += await self.reader.readexactly(size)
                await self.reader.readexactly(2)
            await self.reader.readexactly(2)
        r.whole = True
        return f.get("connection") != "close"


async def send_all(port, requests):
    waiting = iter(requests)

    async def work():
        client = Client(port)
        for r in waiting:
            await client.ask(r)
        if client.writer:
            client.writer.close()
    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))


def raced(r, arrived):
    """Whether an attempt met a kept connection just as the server closed it. It
    failed and never arrived; all else must be as if it had not been."""
    if r.status is None or arrived >= r.attempts:
        return False
    if not r.safe:
        return (r.status, r.attempts, arrived) == (502, 1, 0)
    return (r.status, arrived, r.whole) in r.expected() or r.attempts == 4


def judge(requests, seen, wrong):
    """Compares what the ends say; gathers what does not agree. Attempts that
    arrived, and races."""
    attempts = races = 0
    for r in requests:
        got = (r.status, r.attempts, r.whole)
        arrived, complete = seen.pop(r.id, (0, 0))
        attempts += arrived
        if raced(r, arrived):
            races += 1
            continue
        if r.status is None:
            wrong["without an answer"].append((r.path, arrived))
        elif got not in r.expected():
            wrong["another end than the policy's"].append(
                (r.method, r.path, got, sorted(r.expected())))
        if not r.own():
            wrong["somebody else's answer"].append((r.path, r.answer[:80]))
        if r.status is not None and arrived != r.attempts:
            wrong["counted differently at the ends"].append(
                (r.method, r.path, got, arrived))
        if not r.safe and complete > 1:
            wrong["executed twice against the policy"].append(
                (r.method, r.path, arrived, complete))
    for name in seen:
        wrong["never asked for"].append(name)
    return attempts, races


def main():
    rng = random.Random(REQUESTS)
    wrong = collections.defaultdict(list)
    fault = sidecar.Fault()
    done = attempts = races = failing = 0
    more = "  workers: 2\n  timeouts: { write: 15s }\n"
    with proxied(fault.ports["http"], policy=POLICY, more=more, upstream=", "
                 "body_timeout: 15s, ejection: { consecutive: 0, "
                 "failure_rate: 100% }") as p:
        while done < REQUESTS and p.process.poll() is None:
            n = min(BATCH, REQUESTS - done)
            batch = [Request(rng, done + i) for i in range(n)]
            asyncio.run(send_all(p.port, batch))
            seen = json.loads(fault.ask("/ids"))
            arrived, met = judge(batch, seen, wrong)
            attempts += arrived
            races += met
            failing += sum(bool(r.failures) for r in batch)
            fault.ask("/forget")
            done += n
            if REQUESTS > BATCH:
                print(f"# {done} requests, {attempts} attempts", flush=True)
    print(f"# {done} requests, {failing} of them scripted to fail, "
          f"{attempts} attempts that arrived, {races} met a closing connection")
    for what in ("without an answer", "another end than the policy's",
                 "somebody else's answer", "counted differently at the ends",
                 "executed twice against the policy", "never asked for"):
        tap.case(f"of {done} requests none: {what}", not wrong[what],
                 "\n".join([str(len(wrong[what])), *map(str, wrong[what][:5])]))
    tap.case("enough of them failed on the way",
             attempts > done * (1 + FAILING / 4) and failing > done / 20,
             (attempts, failing))
    tap.case("few met a closing connection", races < 10 + done / 200, races)
    fault.stop()
    tap.finish()


main()
