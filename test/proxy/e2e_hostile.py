#!/usr/bin/env python3
"""e2e_hostile.py BIDE: clients and origins that mean harm, and a machine that runs
out of things: the sidecar goes on serving those who behave, in bounded memory."""
import random
import re
import resource
import select
import socket
import time

import sidecar
from parts import (PATIENCE, Answer, Origin, Peer, all_gone, ask, connect, get,
                   ok, proxied, rests, run, says, tap, until)
from sidecar import OPEN

IDLE = 10000


def rss(p):
    with open(f"/proc/{p.pid}/smaps_rollup", encoding="ascii") as f:
        return int(re.search(r"^Rss: +(\d+)", f.read(), re.M)[1]) * 1024


def sanitized():
    """Memory of such builds says nothing."""
    with open(sidecar.BIDE + "-proxy", "rb") as f:
        data = f.read()
    return b"__asan_" in data or b"__tsan_" in data


def slow_clients():
    o = Origin(says(ok()))
    with proxied(o, more="  timeouts: { header: 1s, body: 1s, idle: 1m }\n") as p:
        crowd = [connect(p) for _ in range(200)]
        for c in crowd:
            c.send(b"GET / HTTP/1.1\r\nHo")
        tap.case("beside 200 half requests a whole one is served",
                 ask(p, get()).status == 200)
        got = [c.all() for c in crowd]
        tap.case("and they are told that they took too long",
                 all(x.startswith(b"HTTP/1.1 408 ") for x in got), got[:3])
        c = connect(p)
        c.send(b"GET / HTTP/1.1\r\n")
        n = 0
        while c.send(b"X: y\r\n") and n < 1000:  # a byte at a time does not help
            time.sleep(0.02)
            n += 1
            if select.select([c.socket], [], [], 0)[0]:
                break
        tap.case("a head that comes drop by drop is given up", n < 500 and
                 c.all().startswith(b"HTTP/1.1 408 "), n)
        c = connect(p)
        c.send(get("/", b"Content-Length: 10\r\n", b"PUT") + b"abc")
        a = Answer(c)
        tap.case("a body that does not come is given up", a.status == 408 and
                 c.all() == b"", a)
        tap.case("no half request reached the origin", len(o.heads) == 1, o.heads)
    o = Origin(says(ok()))
    with proxied(o, more="  timeouts: { idle: 1s }\n") as p:
        c = connect(p)
        tap.case("a connection without a request is closed, without a word",
                 c.all() == b"")
        c = connect(p)
        c.send(get())
        Answer(c)
        tap.case("and one that is idle after its answer", c.all() == b"")


def slow_readers():
    """A client that does not read must not make us keep what the origin says."""
    n = 64 << 20

    def talk(o, peer):
        while o.request(peer):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % n)
            for _ in range(n >> 16):
                if not peer.send(b"z" * 65536):
                    return
    o = Origin(talk)
    with proxied(o, more="  timeouts: { write: 500ms }\n") as p:
        before = rss(p)
        crowd = [connect(p) for _ in range(8)]
        for c in crowd:
            c.send(get())
        for c in crowd:
            c.head()
        time.sleep(0.2)
        grown = rss(p) - before
        tap.case("eight answers of 64 MB that nobody reads stay at the origin",
                 grown < 8 << 20 or sanitized(), grown)
        all_gone(p)
        got = [len(c.all()) for c in crowd]
        tap.case("and after a while those clients are left",
                 all(x < n for x in got), got)


def uploads():
    """Bodies that never end, towards an origin that does not read."""
    def talk(o, peer):
        peer.head()
        time.sleep(2)
    o = Origin(talk)
    with proxied(o, policy=OPEN + ", attempts: 1") as p:
        before = rss(p)
        crowd = [connect(p) for _ in range(8)]
        for c in crowd:
            c.send(get("/", b"Transfer-Encoding: chunked\r\n", b"PUT"))
            c.socket.setblocking(False)
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        end = time.monotonic() + 1
        while time.monotonic() < end:
            for c in crowd:
                try:
                    c.socket.send(chunk)
                except OSError:
                    pass
        grown = rss(p) - before
        tap.case("eight bodies without end stay with their clients",
                 grown < 8 << 20 or sanitized(), grown)


def garbage():
    o = Origin(says(ok()))
    with proxied(o) as p:
        rng = random.Random(6)
        good = get("/path?q=1", b"Content-Length: 5\r\nX-Y: z\r\n",
                   b"PUT") + b"hello"
        for i in range(400):
            data = bytearray(good)
            for _ in range(rng.randint(1, 6)):
                at = rng.randrange(len(data))
                kind = rng.randrange(3)
                if kind == 0:
                    data[at] = rng.randrange(256)
                elif kind == 1:
                    del data[at]
                else:
                    data.insert(at, rng.choice(b"\r\n\0 :;,\t\xff"))
            c = connect(p)
            c.send(bytes(data))
            c.socket.shutdown(socket.SHUT_WR)
            c.all()
            c.close()
        for i in range(100):
            c = connect(p)
            c.send(rng.randbytes(rng.randint(1, 3000)))
            c.close() if i % 2 else c.reset()
        tap.case("after 500 clients that talk nonsense it serves",
                 ask(p, get()).status == 200 and p.process.poll() is None)


def descriptors():
    """With few descriptors: those who came are served, the rest hears 503."""
    o = Origin(says(ok()))
    limit = 64
    with proxied(o, popen={"preexec_fn": lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (limit, limit))}) as p:
        kept = connect(p)
        kept.send(get())
        Answer(kept)
        crowd = []
        for _ in range(300):
            c = connect(p)
            c.send(get("/", b"Connection: close\r\n"))
            crowd.append(c)
        kept.send(get("/kept"))
        a = Answer(kept)
        tap.case("whoever was there first goes on", a.status == 200, a)
        got = [Answer(c).status for c in crowd]
        tap.case("of a crowd each gets 200 or 503, nobody is left without",
                 set(got) <= {200, 503} and 200 in got, (got.count(200),
                                                         got.count(503),
                                                         got.count(0)))
        idle = [connect(p) for _ in range(200)]
        tap.case("and it does not spin while they last", until(
            lambda: rests(p)))
        for c in idle:
            c.close()
        kept.close()
        tap.case("afterwards all is well", until(
            lambda: ask(p, get()).status == 200))


def idle_crowd():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    n = min(IDLE, hard - 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    o = Origin(says(ok()))
    with proxied(o, more="  timeouts: { idle: 10m }\n") as p:
        for _ in range(50):
            ask(p, get())
        before = rss(p)
        crowd = []
        for _ in range(n):
            s = socket.create_connection(("127.0.0.1", p.port), PATIENCE)
            s.sendall(get())
            s.recv(4096)
            crowd.append(s)
        each = (rss(p) - before) / n
        print(f"# {n} idle connections: {each:.0f} bytes each, "
              f"{rss(p) / 1e6:.1f} MB in all")
        tap.case(f"{n} idle connections take at most 512 bytes each",
                 each <= 512 or sanitized(), each)
        tap.case("beside them others are served", ask(p, get()).status == 200)
        good = 0
        for s in crowd[::100]:
            s.sendall(get())
            good += Answer(Peer(s)).status == 200
        tap.case("and they themselves", good == len(crowd[::100]), good)
        for s in crowd:
            s.close()


def too_many():
    o = Origin(says(ok()))
    with proxied(o, more="  limits: { connections: 10 }\n") as p:
        crowd = [connect(p) for _ in range(10)]  # let in in this order
        a = Answer(connect(p))
        tap.case("over limits.connections: 503, when to come back, and closed",
                 a.status == 503 and a.fields.get("connection") == "close", a)
        crowd.pop().close()
        tap.case("a place that is left is taken", until(
            lambda: ask(p, get()).status == 200))


def memory():
    """limits.memory: whoever comes when there is none left is told."""
    o = Origin(says(ok()))
    with proxied(o, more="  limits: { memory: 1MiB, replay: 1MiB }\n") as p:
        crowd = [connect(p) for _ in range(80)]
        for c in crowd:
            c.send(b"GET / HTT")
        got = [c.all()[9:12] for c in crowd[60:]]
        tap.case("over the memory a request is told so", set(got) == {b"503"}, got)
        for c in crowd:
            c.close()
        until(lambda: ask(p, get()).status == 200)
        status, head, _ = p.request("PUT", "/", b"x" * 2000000)
        tap.case("a body too", status == 503 and
                 head["x-bide-reason"] == "memory", (status, head))


def origin_without_end():
    """A failed attempt's answer is kept in case there is no better: not so."""
    def talk(o, peer):
        o.request(peer)
        peer.send(b"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n")
        while peer.send(b"10000\r\n" + b"z" * 65536 + b"\r\n"):
            pass
    o = Origin(talk)
    with proxied(o, policy=OPEN + ", attempt_timeout: 1s") as p:
        before = rss(p)
        c = connect(p)
        c.send(get())
        head = c.head()
        time.sleep(0.5)
        grown = rss(p) - before
        tap.case("a failure with a body without end is not kept in memory",
                 b" 503 " in head and (grown < 8 << 20 or sanitized()),
                 (head, grown, len(o.heads)))


run(slow_clients, slow_readers, uploads, garbage, descriptors, too_many, memory,
    origin_without_end, idle_crowd)
