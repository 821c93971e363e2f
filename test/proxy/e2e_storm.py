#!/usr/bin/env python3
"""e2e_storm.py BIDE [SECONDS [SEED]]: everything at once. An origin that fails in
every way it knows; clients that ask politely, and clients that leave in the middle,
half-close, reset, trickle, never read, pipeline, or send what is no request; a
reload every now and then; in the end SIGTERM, with all that going on.

Meant for builds with a sanitizer (ASan, TSan), where it is run for longer. What is
asserted: a polite client gets one well-formed answer to each request, or the origin
cut that answer short; nobody complains; and the end is an orderly one."""
import asyncio
import random
import signal
import socket
import sys
import time

import sidecar
from parts import tap

SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 4
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
POLITE, RUDE = 12, 24
STEPS = ("200", "200", "200", "200;n=3000;chunked", "200;n=400000", "204", "503",
         "503;n=20000", "503;chunked", "429;h=retry-after-ms:5", "500;last",
         "404", "close", "reset", "200;cut=head", "200;rst=head", "200;stall=head",
         "200;n=5000;cut=body", "200;n=5000;rst=body", "200;n=5000;stall=body",
         "200;n=50;lie=7", "200;n=20;trickle=1", "200;wait=20", "503;early;last",
         "200;h=Connection:close", "stall", "101")
CUT = ("cut=body", "rst=body", "stall=body", "lie=")
POLICIES = (
    "attempts: 3, attempt_timeout: 300ms, " + sidecar.OPEN,
    "attempts: 4, attempt_timeout: 200ms, deadline: 600ms, " + sidecar.FAST,
    "attempts: 1, attempt_timeout: 400ms, budget: { kind: off }, "
    "breaker: { kind: off }, "
    "hedge: { after: 5ms, max: 2, extra_load: 100% }",
    "attempts: 2, attempt_timeout: 300ms, limits: { in_flight: 4, queue: 16 }, " +
    sidecar.OPEN,
)
UPSTREAMS = ("", ", pool: { connections: 4, connecting: 1, idle: 1 }",
             ", pool: { idle: 0 }",
             ", pool: { idle_timeout: 5ms }, ejection: { consecutive: 2, open: 20ms }")
MORE = """  workers: 2
  limits: { replay: %s }
  timeouts: { header: 300ms, body: 300ms, idle: 400ms, write: 300ms, drain: 2s }"""

rng = random.Random(SEED)
count = {"answers": 0, "rude": 0, "reloads": 0}
wrong = []


def file_text(ports):
    return sidecar.config(ports, policy=rng.choice(POLICIES),
                          more=MORE % rng.choice(("64KiB", "1KiB", "0")),
                          upstream=", body_timeout: 400ms" +
                          rng.choice(UPSTREAMS))


def script():
    return ",".join(rng.choice(STEPS) for _ in range(rng.randint(1, 4)))


def request(path):
    """Method, bytes."""
    method = rng.choice(("GET", "GET", "HEAD", "PUT", "POST", "DELETE"))
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\n"
    if rng.random() < 0.1:
        head += "X-Bide-Timeout-Ms: %d\r\n" % rng.choice((0, 1, 50, 5000))
    if method not in ("PUT", "POST"):
        return method, head.encode() + b"\r\n"
    body = b"x" * rng.choice((1, 100, 5000, 70000, 300000))
    if rng.random() < 0.5:
        return method, (head + f"Content-Length: {len(body)}\r\n\r\n"
                        ).encode() + body
    return method, (head + "Transfer-Encoding: chunked\r\n\r\n").encode() + \
        b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


# ===== clients =====

async def answer(reader, method):
    """(status, whether the connection stays); raises where it is none."""
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head.split("\r\n")
        status = int(lines[0].split(" ")[1])
        if not lines[0].startswith("HTTP/1.1 "):
            raise ValueError(lines[0])
        f = dict(x.lower().split(": ", 1) for x in lines[1:] if x)
        if status >= 200:
            break
    if method == "HEAD" or status in (204, 304):
        pass
    elif f.get("transfer-encoding") == "chunked":
        while size := int(await reader.readuntil(b"\r\n"), 16):
            await reader.readexactly(size + 2)
        await reader.readexactly(2)
    elif "content-length" in f:
        await reader.readexactly(int(f["content-length"]))
    else:
        await reader.read(-1)
    return status, f.get("connection") != "close"


async def polite(port, stop):
    reader = writer = None
    n = rng.randrange(1 << 30)
    while not stop.is_set():
        n += 1
        steps = script()
        method, data = request(f"/s/{steps}?id=p{n}")
        try:
            if not writer:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(data)
            _, keep = await asyncio.wait_for(answer(reader, method), 20)
            count["answers"] += 1
        except asyncio.TimeoutError:
            wrong.append(("no answer in 20 s", method, steps))
            keep = False
        except (asyncio.IncompleteReadError, ConnectionError) as e:
            # A body that the origin cut; a kept connection that idled too long; a
            # refusal that came before the body was sent.
            partial = getattr(e, "partial", b"")
            if not any(c in steps for c in CUT) and partial:
                wrong.append((repr(e), method, steps))
            keep = False
        except (ValueError, IndexError, KeyError) as e:
            wrong.append((repr(e), method, steps))
            keep = False
        if not keep and writer:
            writer.close()
            writer = None
        if rng.random() < 0.02:
            await asyncio.sleep(0.5)


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


async def rude(port, stop):
    loop = asyncio.get_running_loop()
    while not stop.is_set():
        s = socket.socket()
        s.setblocking(False)
        if rng.random() < 0.3:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        try:
            await asyncio.wait_for(loop.sock_connect(s, ("127.0.0.1", port)), 5)
            await asyncio.wait_for(misbehave(loop, s), 1)
        except (OSError, asyncio.TimeoutError):
            pass
        if rng.random() < 0.4:
            reset(s)
        s.close()
        count["rude"] += 1


async def misbehave(loop, s):
    _, data = request(f"/s/{script()}?id=r{rng.randrange(1 << 40)}")
    what = rng.randrange(7)
    if what == 0:  # leaves in the middle
        await loop.sock_sendall(s, data[:rng.randrange(len(data))])
    elif what == 1:  # half-closes
        await loop.sock_sendall(s, data)
        s.shutdown(socket.SHUT_WR)
        await loop.sock_recv(s, 65536)
    elif what == 2:  # a byte at a time
        for i in range(min(len(data), 100)):
            await loop.sock_sendall(s, data[i:i + 1])
            await asyncio.sleep(0.001)
    elif what == 3:  # does not read
        await loop.sock_sendall(s, data)
        await asyncio.sleep(rng.random())
    elif what == 4:  # pipelines
        await loop.sock_sendall(s, b"".join(
            request(f"/s/{script()}?id=q{rng.randrange(1 << 40)}")[1]
            for _ in range(5)))
        await loop.sock_recv(s, 65536)
    elif what == 5:  # is no client at all
        at = rng.randrange(len(data))
        junk = rng.choice((b"\0", b"\n", b"\r", b"\xff", b"Z\r\n", b" "))
        await loop.sock_sendall(s, data[:at] + junk + data[at:])
        await loop.sock_recv(s, 65536)
    else:  # asks, waits a little, leaves
        await loop.sock_sendall(s, data)
        await asyncio.sleep(rng.random() / 20)


# ===== the whole =====

async def scene(p, ports):
    stop = asyncio.Event()
    tasks = [asyncio.create_task(polite(p.port, stop)) for _ in range(POLITE)]
    tasks += [asyncio.create_task(rude(p.port, stop)) for _ in range(RUDE)]
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and p.process.poll() is None:
        await asyncio.sleep(rng.random() * 0.4)
        p.write(file_text(ports))
        p.process.send_signal(signal.SIGHUP)
        count["reloads"] += 1
    alive = p.process.poll() is None
    p.process.send_signal(signal.SIGTERM)
    await asyncio.sleep(0.2)  # they go on
    stop.set()
    for t in tasks:
        t.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return alive


def main():
    faults = [sidecar.Fault(), sidecar.Fault()]
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))  # an endpoint that refuses
    ports = [f.ports["http"] for f in faults] + [closed.getsockname()[1]]
    p = sidecar.Sidecar(file_text(ports), log=True)
    alive = asyncio.run(scene(p, ports))
    try:
        code = p.process.wait(timeout=30)
    except sidecar.subprocess.TimeoutExpired:
        p.process.kill()
        code = "it did not end"
    p.reader.join()
    words = [x for x in p.said if "listening" not in x and "ending" not in x and
             "reloaded" not in x]
    print(f"# {count}, seed {SEED}, {p.process.pid}")
    tap.case("it lives through all that", alive)
    tap.case("it ends in order", code == 0, code)
    tap.case("without a word of complaint", not words, "".join(words[:200]))
    tap.case("polite clients get what they asked for", not wrong,
             "\n".join(map(str, [len(wrong), *wrong[:10]])))
    tap.case("there was something to do", count["answers"] > 20 and
             count["rude"] > 20 and count["reloads"] > 2, count)
    for f in faults:
        f.process.kill()
        f.process.wait()
    tap.finish()


main()
