#!/usr/bin/env python3
"""e2e_chaos.py BIDE [CLIENTS]: everything at once. Clients that pipeline, leave in the
middle, dawdle or talk nonsense; routes with retries, hedges, breakers and caps;
endpoints that fail, stall and refuse; and the file read again all the while. What
comes out must be HTTP, and in the end nothing may be held: no descriptor, no place
in flight."""
import asyncio
import os
import random
import sys

import sidecar
from parts import end, tap, until
from sidecar import Sidecar

CLIENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
AT_ONCE = 100

FILE = """
version: 1
policies:
  default: {{ backoff: {{ base: 1ms, cap: 5ms }}, attempt_timeout: 100ms,
             budget: {{ kind: off }}, breaker: {{ kind: off }} }}
  hedged: {{ extends: default, attempts: 1,
            hedge: {{ after: 2ms, max: 2, extra_load: 100% }} }}
  strict: {{ backoff: {{ base: 1ms, cap: 5ms }}, attempt_timeout: 50ms,
            breaker: {{ open: 50ms, open_max: 200ms, min_calls: 5 }},
            deadline: 300ms,
            limits: {{ in_flight: 8 }} }}
  keyed: {{ extends: default, idempotency: {{ key: generate }} }}
proxy:
  listen: 127.0.0.1:0
  workers: 2
  limits: {{ headers: {headers}, body_bytes: 1MiB }}
  timeouts: {{ header: 500ms, body: 500ms, idle: 2s, write: 500ms }}
  routes:
    - {{ match: {{ header: X-Policy, value: hedged }}, upstream: all,
        policy: hedged }}
    - {{ match: {{ header: X-Policy, value: strict }}, upstream: one,
        policy: strict }}
    - {{ match: {{ header: X-Policy, value: keyed }}, upstream: one,
        policy: keyed }}
    - {{ upstream: all }}
  upstreams:
    one: {{ endpoints: ["http://127.0.0.1:{http}"], body_timeout: 100ms,
           pool: {{ connections: 20, connecting: 3, idle: 5 }} }}
    all: {{ endpoints: ["http://127.0.0.1:{http}", "http://127.0.0.1:{reset}",
                       "http://127.0.0.1:{closed}"], body_timeout: 100ms,
           ejection: {{ consecutive: 3, open: 20ms }}, slow_start: 50ms,
           pool: {{ connections: 50, idle_timeout: 100ms }} }}
"""

SCRIPTS = ("200", "200", "200;n=100000", "200;chunked;n=3000", "503,200", "reset",
           "close,200", "stall", "200;wait=20", "200;n=5000;cut=body",
           "200;n=5000;rst=body", "200;n=50000;stall=body", "200;trickle=1",
           "200;cut=head,200", "429;h=retry-after-ms:5,200", "503;early;last",
           "204", "304", "404", "200;last", "503;n=70000",
           "200;n=400000;pause=30")
METHODS = ("GET", "GET", "HEAD", "POST", "PUT", "FROB")


def a_request(rng, number):
    method = rng.choice(METHODS)
    lines = [f"{method} /s/{rng.choice(SCRIPTS)}?id=c{number} HTTP/1.1",
             "Host: x"]
    policy = rng.choice(("", "hedged", "strict", "keyed"))
    if policy:
        lines.append(f"X-Policy: {policy}")
    body = b""
    if method in ("POST", "PUT", "FROB"):
        data = b"d" * rng.choice((0, 1, 1000, 66000, 300000))
        if rng.random() < 0.5:
            lines.append(f"Content-Length: {len(data)}")
            body = data
        else:
            lines.append("Transfer-Encoding: chunked")
            body = (b"%x\r\n%s\r\n" % (len(data), data) if data else b"") + \
                b"0\r\n\r\n"
        if rng.random() < 0.1:
            lines.append("Expect: 100-continue")
    return method, ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def spoiled(rng, data):
    """A byte changed, gone, or too many, somewhere near the front."""
    at = rng.randrange(min(len(data), 200))
    return rng.choice((data[:at] + data[at + 1:], data[:at] + b"\n" + data[at:],
                       data[:at] + bytes([rng.randrange(256)]) + data[at + 1:],
                       data[:at]))


def chunks_end(data, at):
    """Where a chunked body ends; None if it is cut off."""
    while True:
        line = data.find(b"\r\n", at)
        if line < 0:
            return None
        size = int(data[at:line], 16)
        at = line + 2 + size + 2
        if at > len(data):
            return None
        if data[at - 2:at] != b"\r\n":
            raise ValueError("a chunk that does not end where it should")
        if size == 0:
            return at


def answers(data, methods):
    """Reads all as answers to requests of these methods. How many are whole; an
    error says what is no HTTP. The last one may be cut off."""
    at = n = 0
    while at < len(data) and n < len(methods):
        stop = data.find(b"\r\n\r\n", at)
        if stop < 0:
            return n
        lines = data[at:stop].decode("latin-1").split("\r\n")
        version, status, _ = lines[0].split(" ", 2)
        if version != "HTTP/1.1":
            raise ValueError(lines[0])
        f = dict(x.lower().split(": ", 1) for x in lines[1:])
        at, status = stop + 4, int(status)
        if status < 200:
            continue
        if methods[n] != "HEAD" and status not in (204, 304):
            at = (chunks_end(data, at) if "transfer-encoding" in f else
                  at + int(f["content-length"]))
        if at is None or at > len(data):
            return n
        n += 1
        if f.get("connection") == "close":
            break
    if at < len(data):
        raise ValueError(f"after {n} answers: {data[at:at + 200]}")
    return n


async def drink(reader, rng, most):
    """Reads so much at most; slowly, at times."""
    got = b""
    while len(got) < most:
        piece = await asyncio.wait_for(reader.read(rng.choice((100, 65536))), 30)
        if not piece:
            break
        got += piece
        if rng.random() < 0.02:
            await asyncio.sleep(0.01)
    return got


async def one(port, rng, number, heard):
    requests = [a_request(rng, f"{number}-{i}")
                for i in range(rng.choice((1, 1, 1, 2, 5)))]
    methods = [r[0] for r in requests] + ["GET"]
    data = b"".join(r[1] for r in requests)
    if rng.random() < 0.1:
        data, methods = spoiled(rng, data), None
    leaves = rng.random() < 0.3
    if not leaves:
        data += b"GET /s/200 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        pieces = rng.choice((1, 1, 3))
        step = len(data) // pieces + 1
        for at in range(0, len(data), step):
            writer.write(data[at:at + step])
            await asyncio.sleep(0)
        got = await drink(reader, rng, rng.choice((0, 10, 5000)) if leaves
                          else 1 << 30)
        heard.append((got, methods))
    except TimeoutError:
        heard.append((b"(nothing)", methods))
    except ConnectionError:
        pass
    finally:
        if rng.random() < 0.5:
            writer.transport.abort()
        else:
            writer.close()


async def load(p, text, heard):
    rng = random.Random(CLIENTS)
    numbers = iter(range(CLIENTS))

    async def worker():
        for number in numbers:
            await one(p.port, random.Random(number), number, heard)

    async def reloader():
        while True:
            await asyncio.sleep(0.1)
            p.write(text.replace("headers: 100", f"headers: {rng.randint(50, 99)}")
                    .replace("min_calls: 5", f"min_calls: {rng.randint(4, 6)}"))
            p.process.send_signal(1)
    again = asyncio.create_task(reloader())
    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    again.cancel()


def files(p):
    return len(os.listdir(f"/proc/{p.pid}/fd"))


def main():
    fault = sidecar.Fault()
    text = FILE.format(headers=100, **fault.ports)
    p = Sidecar(text)
    before = files(p)
    heard = []
    asyncio.run(load(p, text, heard))
    tap.case(f"after {CLIENTS} clients it lives", p.process.poll() is None, p.said)
    odd, whole = [], 0
    for data, methods in heard:
        try:
            whole += answers(data, methods) if methods else 0
        except (ValueError, KeyError) as e:
            odd.append(f"{methods} {e!r}")
        if data[:9] != b"HTTP/1.1 "[:len(data)]:
            odd.append(data[:200])
    tap.case("all that was heard is HTTP, and nobody waits in vain", not odd,
             "\n".join(map(str, odd[:5])))
    tap.case("and most of it is whole", whole > CLIENTS / 2, whole)
    statuses = sorted({int(h[9:12]) for h, _ in heard if len(h) > 12})
    tap.case("of every kind of answer some were heard", {200, 400, 404, 502, 503,
                                                         504} <= set(statuses),
             statuses)
    for policy in ("", "hedged", "strict", "keyed"):
        ok = until(lambda x=policy: [p.request(path="/s/200", headers={
            "X-Policy": x})[0] for _ in range(9)] == [200] * 9)
        tap.case(f"all is well again for policy {policy or 'default'}", ok,
                 p.request(path="/s/200", headers={"X-Policy": policy}))
    fault.stop()  # which closes what pools keep
    tap.case("no descriptor is held", until(lambda: files(p) <= before + 2),
             (before, files(p)))
    end(p)
    tap.finish()


main()
