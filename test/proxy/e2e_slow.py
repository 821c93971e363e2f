#!/usr/bin/env python3
"""e2e_slow.py BIDE: slow clients hold no endpoints. What they send too slowly is
answered 408, what they read slowly is kept for them, within bounds, and the
connection to the endpoint serves others meanwhile."""
import contextlib
import os
import re
import select
import signal
import socket
import ssl
import threading
import time
import urllib.request

import certificate
import sidecar
from e2e_cut import TLS, Reader
from parts import (PATIENCE, Answer, Origin, Peer, all_gone, ask, connect,
                   counted, end, get, ok, proxied, run, says, tap, until)

ADMIN = "  admin: 127.0.0.1:0\n"
BODY = bytes(i % 251 for i in range(200_000))
MUCH = 3_000_000


def slow(p, data=b"", wrap=None):
    """A client for whom the kernels keep little: some 90 kB."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    s.settimeout(PATIENCE)
    s.connect(("127.0.0.1", p.port))
    if wrap:
        s = wrap(s)
    peer = Peer(s)
    peer.send(data)
    return peer


def gauge(p, name):
    admin = next(line for line in p.said if "admin endpoint at" in line)
    with urllib.request.urlopen(admin.split()[-1] + "metrics") as r:
        return int(float(re.search(rf"^bide_proxy_{name} (\S+)",
                                   r.read().decode(), re.M)[1]))


def trickle(peer, piece=b"x", most=2000):
    """A bit at a time, until it is answered."""
    n = 0
    while n < most and not select.select([peer.socket], [], [], 0.01)[0]:
        if not peer.send(piece):
            break
        n += 1
    return n < most


def refused(peer):
    """It is told that it was too slow, and that is the end."""
    a = Answer(peer)
    return a.status == 408 and a.fields["x-bide-reason"] == "upload" and \
        a.fields["connection"] == "close" and peer.more() is False, a


# ===== uploads =====

PUT = get("/", b"Content-Length: 100000\r\n", b"PUT")


def uploads():
    o = Origin(says(ok()))
    with proxied(o, more="  timeouts: { body: 1s }\n"
                 "  limits: { body_rate: 10000 }\n", log=True) as p:
        c = connect(p)
        c.send(PUT)
        tap.case("a body that comes byte by byte is given up", trickle(c))
        tap.case("with 408", *refused(c))
        c = connect(p)
        c.send(get("/", b"Transfer-Encoding: chunked\r\n", b"POST"))
        tap.case("in chunks, too", trickle(c, b"1\r\nx\r\n"))
        tap.case("with 408, too", *refused(c))
        c = connect(p)
        c.send(PUT + b"x" * 60000)
        tap.case("what it sent quickly is no credit for ever", trickle(c))
        tap.case("and it gets 408", *refused(c))
        tap.case("nothing of these went to the endpoint", not o.heads, o.heads)
        a = ask(p, PUT + b"x" * 100000)
        tap.case("a body at a decent rate is served", a.status == 200, a)
        end(p)
        with open(p.log, encoding="utf-8") as f:
            log = f.read()
        tap.case("the log says why", log.count('"reason":"upload"') == 3, log)


def streamed(o, peer):
    """A talk: reads whatever comes, and answers when it is all there."""
    head = peer.head()
    if head:
        o.heads.append(head)
        if len(peer.take(100000)) == 100000:
            peer.send(ok())
        o.ends += 1


BREAKER = (sidecar.FAST + ", attempts: 3, budget: { kind: off }, "
           "breaker: { window: 10s, min_calls: 5, failure_rate: 20%, open: 1m }")


def uploads_that_are_streamed():
    """The service is not to blame for them, nor are they tried again."""
    o = Origin(streamed)
    o.ends = 0
    with proxied(o, more="  timeouts: { body: 1s }\n"
                 "  limits: { body_rate: 10000, replay: 1000 }\n",
                 policy=BREAKER) as p:
        crowd = [connect(p) for _ in range(10)]
        for i, c in enumerate(crowd):
            c.send(PUT + b"x" * (1000 if i % 2 else 5000))
        until(lambda: len(o.heads) == 10)
        tap.case("byte by byte beyond the bound", trickle(crowd[0]))
        got = [refused(c) for c in crowd]
        tap.case("all are given up", all(x[0] for x in got), got)
        tap.case("once each", {x[1].fields["x-bide-attempts"] for x in got} ==
                 {"1"}, got)
        tap.case("their connections to the endpoint too",
                 until(lambda: o.ends == 10), o.ends)
        a = ask(p, PUT + b"x" * 100000)
        tap.case("and the breaker is closed", a.status == 200, a)


def uploads_beyond_the_deadline():
    for name, replay in (("kept", 65536), ("streamed", 1000)):
        o = Origin(streamed)
        o.ends = 0
        limits = f"  limits: {{ body_rate: 0, replay: {replay} }}\n"
        with proxied(o, more=limits, policy=BREAKER + ", deadline: 500ms") as p:
            crowd = [connect(p) for _ in range(10)]
            for c in crowd:
                c.send(PUT + b"x" * 5000)
            tap.case(f"a {name} body that is longer than the deadline",
                     trickle(crowd[0]))
            got = [refused(c) for c in crowd]
            tap.case("ends with 408", all(x[0] for x in got), got)
        o = Origin(streamed)
        o.ends = 0
        with proxied(o, more=limits, policy=BREAKER) as p:
            c = connect(p)
            c.send(get("/", b"Content-Length: 100000\r\n"
                       b"X-Bide-Timeout-Ms: 300\r\n", b"PUT") + b"x" * 5000)
            tap.case(f"a {name} body that is longer than its client's deadline",
                     trickle(c))
            tap.case("ends with 408, too", *refused(c))
            a = ask(p, PUT + b"x" * 100000)
            tap.case("others are served", a.status == 200, a)


# ===== all of a request =====

def silence(o, peer):
    while b"/ok" in o.request(peer):
        peer.send(ok())
    if b"/part" in o.heads[-1]:
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart")
    if b"/up" in o.heads[-1]:
        peer.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n"
                  b"Upgrade: it\r\n\r\n")
    peer.gone()


def requests_that_take_too_long():
    o = Origin(silence)
    with proxied(o, more="  timeouts: { request: 1s }\n", log=True) as p:
        c = connect(p)
        c.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
        tap.case("a head that never ends", trickle(c, b"X: y\r\n"))
        tap.case("is too slow", *refused(c))
        c = connect(p)
        c.send(PUT)
        tap.case("a body that never ends", trickle(c))
        tap.case("is too slow, too", *refused(c))
        a = ask(p, get())
        tap.case("an answer that never comes: 504", a.status == 504 and
                 a.fields["x-bide-reason"] == "request_timeout", a)
        c = connect(p)
        c.send(get("/part"))
        head = c.head()
        tap.case("one that never ends is cut off", b"200 OK" in head and
                 c.all() == b"part", head)
        c = connect(p)
        for _ in range(6):  # together longer than one may take
            c.send(get("/ok"))
            tap.case("each request has its own time", Answer(c).status == 200)
            time.sleep(0.25)
        c.send(get("/up", b"Connection: upgrade\r\nUpgrade: it\r\n"))
        tap.case("an upgrade ends it", b" 101 " in c.head())
        gone = select.select([c.socket], [], [], 2)[0]
        tap.case("and what follows is no request", not gone)
        c.close()


# ===== answers =====

def small_pool():
    o = Origin(says(ok(BODY)))
    with proxied(o, upstream=", pool: { connections: 2 }", more=ADMIN) as p:
        crowd = [slow(p, get()) for _ in range(10)]
        tap.case("slow readers do not hold the two connections",
                 until(lambda: len(o.heads) == 10), len(o.heads))
        a = ask(p, get())
        tap.case("an honest request gets through", a.body == BODY, a)
        tap.case("on a connection that was there", o.connections == 2,
                 o.connections)
        got = [Answer(c).body == BODY for c in crowd]
        tap.case("and each slow reader gets all of it", all(got), got)
        tap.case("nothing is held then", until(
            lambda: gauge(p, "held_bytes") == 0), gauge(p, "held_bytes"))
        crowd[0].send(get() * 3)
        got = [Answer(crowd[0]).body == BODY for _ in range(3)]
        tap.case("its connection serves on, with requests in line", all(got), got)


def framed(body):
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 999]), body[i:i + 999])
                      for i in range(0, len(body), 999))
    return {
        b"/length": ok(body),
        b"/chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                    chunks + b"0\r\nX-Trailer: yes\r\n\r\n",
        b"/close": b"HTTP/1.0 200 OK\r\n\r\n" + body,
    }


def framings():
    """Each way an answer can end, for old and new clients, with and without TLS."""
    answers = framed(BODY)

    def talk(o, peer):
        while head := o.request(peer):
            path = head.split()[1]
            peer.send(answers[path])
            if path == b"/close":
                return

    context = ssl.create_default_context(cafile=os.path.join(
        sidecar.work.name, "own.pem"))
    for wrap in (None, lambda s: context.wrap_socket(
            s, server_hostname="x.example", suppress_ragged_eofs=False)):
        o = Origin(talk)
        with proxied(o, upstream=", pool: { connections: 1 }",
                     more=ADMIN + (TLS if wrap else "")) as p:
            for path in answers:
                for version in (b"1.0", b"1.1"):
                    n = len(o.heads)
                    crowd = [slow(p, get(path.decode(), b"Connection: close\r\n",
                                         version=version), wrap)
                             for _ in range(3)]
                    until(lambda n=n: len(o.heads) == n + 3)
                    got = [Answer(c) for c in crowd]
                    tap.case(f"{path.decode()} to HTTP/{version.decode()}"
                             f"{' over TLS' if wrap else ''}: three at once over "
                             "one connection", len(o.heads) == n + 3 and
                             all(a.body == BODY for a in got),
                             (len(o.heads) - n, [len(a.body) for a in got]))
            c = slow(p, get("/length", method=b"HEAD") + get("/length"), wrap)
            tap.case("HEAD before it", Answer(c, "HEAD").status == 200 and
                     Answer(c).body == BODY)


def endless(o, peer):
    """A talk: as much as is taken."""
    o.request(peer)
    peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % MUCH)
    o.sent = 0
    peer.socket.settimeout(None)
    with contextlib.suppress(OSError):
        while o.sent < MUCH:
            o.sent += peer.socket.send(b"m" * min(65536, MUCH - o.sent))


def bounded():
    o = Origin(endless)
    with proxied(o, more=ADMIN + "  limits: { answer_buffer: 100KiB }\n") as p:
        c = slow(p, get())
        tap.case("a long answer is held up to the bound", until(
            lambda: 60 << 10 < gauge(p, "held_bytes") <= 100 << 10),
            gauge(p, "held_bytes"))
        tap.case("and all of it comes", len(Answer(c).body) == MUCH)
    o = Origin(endless)
    with proxied(o, more=ADMIN + "  limits: { answer_buffer: 0 }\n") as p:
        c = slow(p, get())
        until(lambda: counted(p, "bytes_out") > 0)
        tap.case("without a buffer too", len(Answer(c).body) == MUCH)
    o = Origin(endless)
    with proxied(o, more=ADMIN + "  limits: { memory: 4MiB }\n") as p:
        crowd = [slow(p, get()) for _ in range(200)]
        until(lambda: counted(p, "requests") + counted(p, "shed") >= 200)
        most = max(gauge(p, "held_bytes") for _ in range(50))
        tap.case("200 slow readers take half of the memory, at the most",
                 0 < most <= 2 << 20, most)
        for c in crowd:
            c.close()
        tap.case("others are served when they have left", until(
            lambda: len(ask(p, get()).body) == MUCH))
        tap.case("and nothing is held", until(
            lambda: gauge(p, "held_bytes") == 0), gauge(p, "held_bytes"))


def readers_below_the_rate():
    o = Origin(endless)
    limits = "  limits: { answer_rate: 100MiB }\n  timeouts: { write: 1s }\n"
    with proxied(o, more=limits, log=True) as p:
        c = slow(p, get())
        got = 0
        while piece := read(c, 1000):
            got += len(piece)
            time.sleep(0.01)
        tap.case("who reads too slowly while an endpoint waits is cut off",
                 got < MUCH, got)
        tap.case("and the endpoint's connection with it", until(
            lambda: "cut_short" in log_of(p)), log_of(p))
    o = Origin(says(ok(BODY)))
    with proxied(o, more=limits.replace("1s", "3s")) as p:
        c = slow(p, get())
        got = b""
        while len(got) < len(BODY) and (piece := read(c, 1000)):
            got += piece
            time.sleep(0.02)
        got += c.take(len(BODY) + got.index(b"\r\n\r\n") + 4 - len(got))
        tap.case("who holds no endpoint may be as slow", got.endswith(BODY),
                 len(got))
    o = Origin(endless)
    with proxied(o, more="  timeouts: { write: 1s }\n", log=True) as p:
        c = slow(p, get())
        tap.case("who reads nothing is cut off", until(
            lambda: "cut_short" in log_of(p)))
        c.close()


def read(peer, n):
    try:
        return peer.socket.recv(n)
    except ConnectionError:
        return b""


def log_of(p):
    if not os.path.exists(p.log):
        return ""
    with open(p.log, encoding="utf-8") as f:
        return f.read()


def streams():
    """An event is there when it was sent, also after a jam."""
    o = Origin(None)
    o.next = threading.Semaphore(0)

    def talk(o, peer):
        o.request(peer)
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                  b"Transfer-Encoding: chunked\r\n\r\n")
        for i in range(100):
            if not o.next.acquire(timeout=PATIENCE):
                return
            event = b"data: %d\n\n" % i * (15000 if i == 50 else 1)
            peer.send(b"%x\r\n%s\r\n" % (len(event), event))
        peer.send(b"0\r\n\r\n")

    o.talk = talk
    with proxied(o, more=ADMIN) as p:
        c = slow(p, get())
        c.head()
        for i in range(100):
            o.next.release()
            if i == 50:
                until(lambda: gauge(p, "held_bytes") > 0)
            want = b"data: %d\n\n" % i * (15000 if i == 50 else 1)
            size = int(c.through(b"\r\n"), 16)
            if size != len(want) or c.take(size + 2) != want + b"\r\n":
                tap.case("each event comes as it was sent", False, (i, size))
                return
        tap.case("each event comes as it was sent", c.take(5) == b"0\r\n\r\n")


def cut_answers():
    """What came before the cut still reaches a slow reader, and no end does."""
    part = BODY[:150_000]

    def talk(o, peer):
        head = o.request(peer)
        peer.send((b"HTTP/1.1 200 OK\r\n\r\n" if b"/close" in head else
                   b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n") + part)
        o.go.wait(PATIENCE)
        peer.reset() if b"/close" in head else peer.close()
        o.cut.set()

    o = Origin(talk)
    o.go, o.cut = threading.Event(), threading.Event()
    with proxied(o, more=ADMIN) as p:
        for path, version in (("/length", b"1.1"), ("/close", b"1.1"),
                              ("/close", b"1.0")):
            o.go.clear()
            o.cut.clear()
            c = slow(p, get(path, version=version))
            until(lambda: gauge(p, "held_bytes") >= 18432)
            o.go.set()
            o.cut.wait(PATIENCE)
            r = Reader(c.socket)
            tap.case(f"{path} HTTP/{version.decode()}: what there was comes",
                     r.data.count(part[-251:]) >= 1 or len(r.data) > 149_000, r)
            tap.case("... and its end does not", not r.clean if version == b"1.0"
                     else not r.data.endswith(b"0\r\n\r\n"), r)


def held_while_others_go():
    """A reload, leaving clients, and the end, while answers are held."""
    o = Origin(says(ok(BODY)))
    with proxied(o, more=ADMIN) as p:
        crowd = [slow(p, get()) for _ in range(20)]
        until(lambda: len(o.heads) == 20 and gauge(p, "held_bytes") > 20 * 50000)
        for c in crowd[10:]:
            c.close()
        said = p.reload(p.text.replace("up: {", "up: { slow_start: 1s,"))
        tap.case("a reload while answers are held", "reloaded" in said, said)
        tap.case("those who leave give up what is held for them", until(
            lambda: gauge(p, "held_bytes") < 11 * 120000), gauge(p, "held_bytes"))
        got = [Answer(c).body == BODY for c in crowd[:5]]
        tap.case("those who stay get all of it", all(got), got)
        p.process.send_signal(signal.SIGTERM)
        got = [Answer(c).body == BODY for c in crowd[5:10]]
        tap.case("at the end, too", all(got), got)
        tap.case("and then it ends", until(lambda: p.process.poll() == 0))


def uploads_beside_answers():
    """An endpoint that answers before it has read all: who sends first and reads
    then gets stuck if nobody takes what it sends."""
    n = 5_000_000

    def talk(o, peer):
        peer.head()
        peer.send(ok(BODY))
        o.got = len(peer.take(n))

    o = Origin(talk)
    with proxied(o, more="  timeouts: { write: 3s }\n") as p:
        c = slow(p, get("/", b"Content-Length: %d\r\n" % n, b"PUT"))
        sent = c.send(b"x" * n)
        a = Answer(c)
        tap.case("a client that reads its answer last gets it", sent and
                 a.body == BODY, (sent, a))
        all_gone(p)


if __name__ == "__main__":
    certificate.make(sidecar.work.name, "own")
    run(uploads, uploads_that_are_streamed, uploads_beyond_the_deadline,
        requests_that_take_too_long, small_pool, framings, bounded,
        readers_below_the_rate, streams, cut_answers, held_while_others_go,
        uploads_beside_answers)
