#!/usr/bin/env python3
"""e2e_streams.py BIDE: HTTP/1.1 and HTTP/2, at either side, in every combination. Each
row is a way in which a request or a response can be: what the other side sees of it
is the same, whatever either of them speaks."""
import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time

import http2_peer as http2
import parts
from parts import Answer, connect, fields, proxied, run, tap, until
from ports import free_port
from sidecar import BIDE, FAST

BIG = bytes(range(256)) * 4096  # 1 MiB
MANY = [(f"x-{i}", "v" * 200) for i in range(70)]
arrived = threading.Event()  # half of what /cut says, at the client


# ===== origins: each talks by what the path says =====

class Reply:
    """To a request, whatever carries it."""

    def row(self, path, method):
        if path == "/get":
            self.head(200, [("x-a", "1")], length=5)
            self.data(b"hello", True)
        elif path == "/big":
            self.head(200, [], length=None)
            self.data(BIG, True)
        elif path == "/echo":
            body = self.body()
            self.head(200, [("x-saw-length", self.fields.get("content-length", "-")),
                            ("x-saw-trailer", self.trailers.get("x-t", "-"))],
                      length=len(body))
            self.data(body, True)
        elif path == "/trailers":
            self.head(200, [], length=None)
            self.data(b"body", False)
            self.end([("x-sum", "42")])
        elif path == "/many-trailers":
            self.head(200, [], length=None)
            self.data(b"body", False)
            self.end(MANY)
        elif path == "/hints":
            self.interim(103, [("link", "</a.css>")])
            self.head(200, [], length=2)
            self.data(b"ok", True)
        elif path == "/early":
            self.head(413, [], length=4)
            self.data(b"full", True)
        elif path == "/cut":
            self.head(200, [], length=None)
            arrived.clear()
            self.data(b"half", False)
            arrived.wait(parts.PATIENCE)
            self.cut()
        elif path == "/reset":
            self.cut()
        elif path == "/head":
            self.head(200, MANY, length=0)
            self.data(b"", True)


class Reply1(Reply):
    def __init__(self, peer, head):
        self.peer, self.fields, self.trailers = peer, fields(head), {}
        self.chunked = False

    def body(self):
        if self.fields.get("transfer-encoding") == "chunked":
            body, self.trailers = self.peer.chunks()
            return body
        return self.peer.take(int(self.fields.get("content-length", 0)))

    def lines(self, status, more):
        self.peer.send((f"HTTP/1.1 {status} X\r\n" + "".join(
            f"{n}: {v}\r\n" for n, v in more) + "\r\n").encode())

    def interim(self, status, more):
        self.lines(status, more)

    def head(self, status, more, length):
        self.chunked = length is None
        self.lines(status, [*more, ("transfer-encoding", "chunked") if self.chunked
                            else ("content-length", length)])

    def data(self, data, last):
        if self.method == "HEAD":
            return
        if self.chunked:
            data = f"{len(data):x}\r\n".encode() + data + b"\r\n"
        self.peer.send(data)
        if last and self.chunked:
            self.peer.send(b"0\r\n\r\n")

    def end(self, trailers):
        self.peer.send(b"0\r\n" + "".join(
            f"{n}: {v}\r\n" for n, v in trailers).encode() + b"\r\n")

    def cut(self):
        self.peer.reset()


class Reply2(Reply):
    def __init__(self, c, s):
        self.c, self.s, self.fields, self.trailers = c, s, s.fields, {}

    def body(self):
        self.c.until(lambda: self.s.ended or self.c.closed)
        self.trailers = self.s.trailers
        return self.s.body

    def interim(self, status, more):
        self.c.head(self.s, [(":status", str(status)), *more])

    def head(self, status, more, length):
        more = [(":status", str(status)), *more]
        if length is not None:
            more.append(("content-length", str(length)))
        self.c.head(self.s, more)

    def data(self, data, last):
        self.c.send(self.s, b"" if self.method == "HEAD" else data, last)

    def end(self, trailers):
        self.c.head(self.s, trailers, True)

    def cut(self):
        self.c.rst(self.s, 2)


def talk(origin, peer):
    while head := peer.head():
        origin.heads.append(head)
        method, path, _ = head.decode().split(" ", 2)
        r = Reply1(peer, head)
        r.method = method
        r.row(path, method)
        if path == "/early":
            return


def handle(c, s):
    r = Reply2(c, s)
    r.method = s.fields[":method"]
    r.row(s.fields[":path"], r.method)


# ===== clients =====

class Seen:
    def __init__(self, status, found, body, trailers, interim, whole):
        self.status, self.fields, self.body = status, found, body
        self.trailers, self.interim, self.whole = trailers, interim, whole

    def __repr__(self):
        return (f"{self.status} {self.fields} {self.body[:100]!r} {self.trailers} "
                f"interim {self.interim} whole {self.whole}")


def ask1(p, method, path, body=None, chunked=False, trailers=(), more=()):
    peer = connect(p)
    lines = [f"{method} {path} HTTP/1.1", "host: example.org",
             *(f"{n}: {v}" for n, v in more)]
    data = b""
    if chunked:
        lines.append("transfer-encoding: chunked")
        if body:
            data = f"{len(body):x}\r\n".encode() + body + b"\r\n"
        data += b"0\r\n" + "".join(
            f"{n}: {v}\r\n" for n, v in trailers).encode() + b"\r\n"
    elif body is not None:
        lines.append(f"content-length: {len(body)}")
        data = body
    peer.send("\r\n".join(lines).encode() + b"\r\n\r\n")
    sender = threading.Thread(target=peer.send, args=(data,), daemon=True)
    sender.start()
    if path == "/cut":
        parts.until(lambda: b"half" in peer.socket.recv(4096, socket.MSG_PEEK))
        arrived.set()
    interim = []
    a = Answer(peer, method)
    while 100 <= a.status < 200:
        interim.append((a.status, a.fields))
        a = Answer(peer, method)
    chunks = a.fields.get("transfer-encoding") == "chunked"
    whole = a.status != 0 and (not chunks or not peer.rest and not ended(peer))
    return Seen(a.status, a.fields, a.body, a.trailers, interim, whole)


def ended(peer):
    """Whether the connection ends in the middle of chunks: nothing but that could
    follow at once."""
    peer.socket.settimeout(0.5)
    try:
        return peer.socket.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def ask2(p, method, path, body=None, chunked=False, trailers=(), more=()):
    c = http2.Client(p.port)
    more = list(more)
    if body is not None and not chunked:
        more.append(("content-length", str(len(body))))
    if chunked and body is None:
        body = b""
    s = c.ask(method, path, more, body, list(trailers) or None)
    if path == "/cut":
        c.until(lambda: s.body)
        arrived.set()
    c.answer(s)
    c.close()
    return Seen(s.status, s.fields, s.body, s.trailers, s.interim,
                s.ended and s.reset in (None, 0))


# ===== rows =====

ROWS = [
    ("GET", dict(method="GET", path="/get"),
     lambda a: (a.status, a.body, a.fields.get("x-a"), a.whole) ==
     (200, b"hello", "1", True)),
    ("1 MiB of unknown length", dict(method="GET", path="/big"),
     lambda a: a.status == 200 and a.body == BIG),
    ("HEAD", dict(method="HEAD", path="/get"),
     lambda a: (a.status, a.body, a.fields.get("content-length")) ==
     (200, b"", "5")),
    ("POST with a length", dict(method="POST", path="/echo", body=b"x" * 1000),
     lambda a: (a.body, a.fields["x-saw-length"]) == (b"x" * 1000, "1000")),
    ("POST of 1 MiB", dict(method="POST", path="/echo", body=BIG),
     lambda a: a.body == BIG),
    ("POST without a length",
     dict(method="POST", path="/echo", body=b"y" * 1000, chunked=True),
     lambda a: (a.body, a.fields["x-saw-length"]) == (b"y" * 1000, "-")),
    ("POST with trailers", dict(method="POST", path="/echo", body=b"z", chunked=True,
                                trailers=[("x-t", "there")]),
     lambda a: (a.body, a.fields["x-saw-trailer"]) == (b"z", "there")),
    ("POST of nothing", dict(method="POST", path="/echo", body=b""),
     lambda a: (a.status, a.body) == (200, b"")),
    ("trailers of a response", dict(method="GET", path="/trailers"),
     lambda a: (a.body, a.trailers.get("x-sum")) == (b"body", "42")),
    ("many trailers of a response", dict(method="GET", path="/many-trailers"),
     lambda a: (a.body, len(a.trailers)) == (b"body", len(MANY))),
    ("many trailers of a request", dict(method="POST", path="/echo", body=b"z", chunked=True,
                                        trailers=[*MANY, ("x-t", "there")]),
     lambda a: (a.body, a.fields["x-saw-trailer"]) == (b"z", "there")),
    ("too many trailers", dict(method="POST", path="/echo", body=b"z", chunked=True,
                               trailers=[(f"a-{i}", "v") for i in range(150)]),
     lambda a: a.status == 431),
    ("an interim response", dict(method="GET", path="/hints"),
     lambda a: [x for x, _ in a.interim] == [103] and
     a.interim[0][1].get("link") == "</a.css>" and a.body == b"ok"),
    ("an early answer", dict(method="POST", path="/early", body=BIG),
     lambda a: (a.status, a.body) == (413, b"full")),
    ("cut short", dict(method="GET", path="/cut"),
     lambda a: a.status == 200 and not a.whole),
    ("reset, POST", dict(method="POST", path="/reset", body=b"once"),
     lambda a: a.status == 502 and
     a.fields.get("x-bide-reason") == "not_idempotent"),
    ("many fields in a response", dict(method="GET", path="/head"),
     lambda a: a.status == 200 and a.fields.get("x-69") == "v" * 200),
    ("many fields in a request", dict(method="GET", path="/get", more=MANY[:60]),
     lambda a: a.status == 200),
    ("a head that is too long", dict(method="GET", path="/get",
                                     more=[(f"a-{i}", "v" * 1000) for i in range(20)]),
     lambda a: a.status == 431),
    ("too many fields", dict(method="GET", path="/get",
                             more=[(f"a-{i}", "v") for i in range(150)]),
     lambda a: a.status == 431),
]


def matrix():
    for speaks in ("http1", "http2"):
        o = parts.Origin(talk) if speaks == "http1" else http2.Origin(handle)
        with proxied(o, upstream=f", protocol: {speaks}") as p:
            for name, ask in (("HTTP/1.1", ask1), ("HTTP/2", ask2)):
                for what, how, right in ROWS:
                    a = ask(p, **how)
                    good = False
                    try:
                        good = right(a)
                    except KeyError:
                        pass
                    tap.case(f"{name} to {speaks}: {what}", good, repr(a))


# ===== a slow reader, and others beside it =====

def slow_reader():
    """One stream that is not read stops no other of its connection."""
    for speaks in ("http1", "http2"):
        o = parts.Origin(talk) if speaks == "http1" else http2.Origin(handle)
        with proxied(o, upstream=f", protocol: {speaks}") as p:
            c = http2.Client(p.port, stalls=True)
            slow = c.ask("GET", "/big")
            c.until(lambda: len(slow.body) >= 65535)
            others = [c.get("GET", "/get") for _ in range(5)]
            tap.case(f"{speaks}: others go on beside a stream that is not read",
                     all(s.body == b"hello" for s in others) and
                     not slow.ended, repr(others))
            c.stalls = False
            with c.heard:
                c.h2.increment_flow_control_window(len(slow.body), slow.number)
                c.flush()
            c.answer(slow)
            tap.case(f"{speaks}: and it gets all of it then", slow.body == BIG,
                     repr(slow))
            c.close()


# ===== the endpoint's limit of streams =====

def one_stream():
    """A server that allows one stream, 64 calls at once."""
    running, most, lock = [0], [0], threading.Lock()

    def handler(c, s):
        with lock:
            running[0] += 1
        open_now = sum(1 for x in c.streams.values()
                       if x.reset is None and not hasattr(x, "done"))
        most[0] = max(most[0], open_now)
        time.sleep(0.01)
        s.done = True
        c.head(s, [(":status", "200"), ("content-length", "2")])
        c.send(s, b"ok", True)
    o = http2.Origin(handler, streams=1)
    with proxied(o, upstream=", protocol: http2, pool: { connections: 8, "
                 "connecting: 4, idle: 4 }") as p:
        c = http2.Client(p.port)
        asked = [c.ask("POST", "/", body=b"x") for _ in range(64)]
        for s in asked:
            c.answer(s)
        tap.case("64 calls at once on streams of one each: 64 OK",
                 [s.status for s in asked] == [200] * 64,
                 repr([s for s in asked if s.status != 200][:3]))
        tap.case("each was made once, on no more than 8 connections",
                 o.seen.qsize() == 64 and len(o.connections) <= 8,
                 f"{o.seen.qsize()} {len(o.connections)}")
        tap.case("its limit was never exceeded", most[0] <= 1, most[0])
        c.close()


# ===== put aside =====

def put_aside():
    """REFUSED_STREAM: a POST goes again at once, once free."""
    first = [True]

    def handler(c, s):
        c.until(lambda: s.ended)
        if first[0]:
            first[0] = False
            c.rst(s, 7)
            return
        c.head(s, [(":status", "200")], True)
    o = http2.Origin(handler)
    with proxied(o, upstream=", protocol: http2", policy="attempts: 1") as p:
        a = ask1(p, "POST", "/", body=b"x")
        tap.case("a POST that was refused unread goes again, though there is but one "
                 "attempt", a.status == 200, repr(a))

    def refuses(c, s):
        c.rst(s, 7)
    o = http2.Origin(refuses)
    with proxied(o, upstream=", protocol: http2", policy="attempts: 2, " + FAST) as p:
        a = ask1(p, "POST", "/", body=b"x")
        tap.case("one that refuses all is asked once for free, and twice as attempts",
                 a.status == 502 and o.seen.qsize() == 3, f"{a} {o.seen.qsize()}")


def put_aside_by_fetch():
    """libbide-curl does the same, on a connection of its own."""
    for times, attempts in ((1, 1), (2, 2), (3, 3)):
        asked = [0]

        def handler(c, s, asked=asked, times=times):
            c.until(lambda: s.ended)
            asked[0] += 1
            if asked[0] <= times:
                c.rst(s, 7)
                return
            c.head(s, [(":status", "200"), ("content-length", "2")])
            c.send(s, b"ok", True)
        o = http2.Origin(handler)
        for allowed, good in ((attempts, True), (attempts - 1, False)):
            asked[0] = 0
            if allowed == 0:
                continue
            out = subprocess.run(
                [BIDE, "fetch", "-s", "--http2-prior-knowledge", "-d", "x=1",
                 "--attempts", str(allowed), f"http://127.0.0.1:{o.port}/"],
                capture_output=True, timeout=60)
            tap.case(f"bide fetch: a POST that is refused {times} times, with {allowed} "
                     f"attempts", (out.stdout == b"ok") == good and
                     asked[0] == allowed + 1, f"{asked[0]} {out}")
        o.stop()


# ===== cancelling =====

def cancels():
    """A client that resets its stream: the endpoint's is reset, the connection stays."""
    gone = []

    def handler(c, s):
        if s.fields[":path"] == "/get":
            handle(c, s)
            return
        c.until(lambda: s.reset is not None or c.closed)
        gone.append(s.reset)
    o = http2.Origin(handler)
    with proxied(o, upstream=", protocol: http2") as p:
        c = http2.Client(p.port)
        s = c.ask("GET", "/wait")
        until(lambda: o.seen.qsize() == 1)
        c.rst(s)
        tap.case("a cancelled stream is cancelled upstream",
                 until(lambda: gone == [8]), repr(gone))
        tap.case("the connections go on", c.get("GET", "/get").body == b"hello" and
                 len(o.connections) == 1, repr(o.connections))
        c.close()


# ===== going away =====

def drains():
    """SIGTERM: two GOAWAYs, what is under way is answered, then it ends."""
    go = threading.Event()

    def handler(c, s):
        go.wait(parts.PATIENCE)
        c.head(s, [(":status", "200")], True)
    o = http2.Origin(handler)
    with proxied(o, upstream=", protocol: http2") as p:
        c = http2.Client(p.port)
        s = c.ask("GET", "/")
        until(lambda: o.seen.qsize() == 1)
        p.process.terminate()
        c.until(lambda: len(c.goaways) >= 2)
        tap.case("two GOAWAYs: any, then the last that counts",
                 c.goaways[:2] == [(2**31 - 1, 0), (s.number, 0)], repr(c.goaways))
        go.set()
        c.answer(s)
        tap.case("what was under way is answered", s.status == 200, repr(s))
        tap.case("and the connection closed", c.until(lambda: c.closed))
        p.process.wait(parts.PATIENCE)


def goaway():
    """An endpoint that goes away in good order fails nothing."""
    def handler(c, s):
        c.until(lambda: s.ended)
        c.head(s, [(":status", "200")], True)
        with c.heard:
            c.h2.close_connection(0, last_stream_id=s.number)
            c.flush()
    o = http2.Origin(handler)
    with proxied(o, upstream=", protocol: http2", policy="attempts: 1") as p:
        a = [ask1(p, "POST", "/", body=b"x").status for _ in range(10)]
        tap.case("GOAWAY after each answer: 10 POSTs, 10 OK", a == [200] * 10, a)


# ===== restarts =====

SECONDS = float(os.environ.get("BIDE_SOAK_SECONDS", "4"))


def restarts():
    """One of two endpoints is restarted again and again, in good order, and the sidecar
    reloads: no POST fails, and none is done twice."""
    done, lock = {}, threading.Lock()

    def handler(c, s):
        c.until(lambda: s.ended or c.closed)
        time.sleep(0.002)
        with lock:
            done[s.body] = done.get(s.body, 0) + 1
        c.head(s, [(":status", "200"), ("content-length", "2")])
        c.send(s, b"ok", True)
    stays, goes = http2.Origin(handler), http2.Origin(handler)
    port = goes.port
    with proxied(stays, port, upstream=", protocol: http2", policy="attempts: 2, " +
                 FAST) as p:
        bad, asked, over = [], [0], threading.Event()

        def work(k):
            c = http2.Client(p.port)
            n = 0
            while not over.is_set():
                s = c.get("POST", "/", body=f"{k}-{n}".encode())
                n += 1
                if s.status != 200:
                    bad.append(repr(s))
                if c.closed or c.goaways:
                    c.close()
                    c = http2.Client(p.port)
            with lock:
                asked[0] += n
            c.close()
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            goes.stop(gently=True)
            p.reload()
            goes = http2.Origin(handler, port=port)
            time.sleep(0.5)
        over.set()
        for t in threads:
            t.join()
        goes.stop()
        tap.case("an endpoint that restarts fails no POST", not bad, bad[:3])
        tap.case("and none is done twice", asked[0] == len(done) and
                 set(done.values()) == {1},
                 f"{asked[0]} asked, {len(done)} done, "
                 f"{[x for x in done.items() if x[1] != 1][:3]}")


# ===== real peers =====

def real_peers():
    """curl and h2load before it, nghttpd and nginx behind it."""
    if not shutil.which("nghttpd") or not shutil.which("h2load"):
        tap.case("# skip: nghttpd or h2load is not installed", True)
        return
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "big"), "wb") as f:
            f.write(BIG)
        port = free_port()
        server = subprocess.Popen(["nghttpd", "--no-tls", "-d", d, str(port)],
                                  stdout=subprocess.DEVNULL)
        try:
            until(lambda: listens(port))
            with proxied(port, upstream=", protocol: http2") as p:
                url = f"http://127.0.0.1:{p.port}/big"
                for flag in ("--http1.1", "--http2-prior-knowledge"):
                    out = subprocess.run(["curl", "-s", flag, url],
                                         capture_output=True, timeout=60)
                    tap.case(f"curl {flag} to nghttpd", out.stdout == BIG)
                    out = subprocess.run(
                        [BIDE, "fetch", "-s", flag, "-o", os.devnull, "-w",
                         "%{http_version}", url], capture_output=True, timeout=60)
                    tap.case(f"bide fetch {flag}", out.stdout ==
                             (b"1.1" if flag == "--http1.1" else b"2"), out)
                out = subprocess.run(["h2load", "-n", "2000", "-c", "4", "-m", "32",
                                      url[:-3] + "none"], capture_output=True,
                                     timeout=120, text=True).stdout
                tap.case("h2load to nghttpd: each is answered",
                         "2000 done" in out and "2000 4xx" in out, out)
        finally:
            server.kill()
            server.wait()
    o = parts.Origin(talk)
    with proxied(o) as p:
        out = subprocess.run(["h2load", "-n", "1000", "-c", "2", "-m", "16",
                              f"http://127.0.0.1:{p.port}/get"], capture_output=True,
                             timeout=120, text=True).stdout
        tap.case("h2load to HTTP/1.1: each is answered", "1000 2xx" in out, out)


def listens(port):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


# ===== WebSocket =====

def websocket():
    """RFC 8441: an extended CONNECT is an Upgrade for an endpoint of HTTP/1.1."""
    def echo(origin, peer):
        head = peer.head()
        origin.heads.append(head)
        peer.send(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n"
                  b"upgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n")
        while peer.more():
            peer.send(peer.rest)
            peer.rest = b""
    o = parts.Origin(echo)
    with proxied(o) as p:
        c = http2.Client(p.port)
        with c.heard:
            s = http2.Stream(c.h2.get_next_available_stream_id())
            c.streams[s.number] = s
            c.head(s, [(":method", "CONNECT"), (":protocol", "websocket"),
                       (":scheme", "http"), (":path", "/chat"),
                       (":authority", "example.org"),
                       ("sec-websocket-version", "13")])
        c.until(lambda: s.status)
        c.send(s, b"hello")
        c.until(lambda: s.body == b"hello")
        tap.case("WebSocket over HTTP/2: bytes go both ways",
                 (s.status, s.body) == (200, b"hello"), repr(s))
        head = fields(o.heads[0]) if o.heads else {}
        tap.case("the endpoint sees an Upgrade",
                 o.heads[0].startswith(b"GET /chat HTTP/1.1\r\n") and
                 head.get("upgrade") == "websocket", repr(o.heads))
        c.send(s, b"", True)
        tap.case("and its end", c.until(lambda: s.ended), repr(s))
        c.close()


# ===== which protocol =====

def auto():
    """Without TLS: gRPC by HTTP/2, all else by HTTP/1.1."""
    o = parts.Origin(talk)
    with proxied(o) as p:
        a = ask2(p, "GET", "/get")
        tap.case("auto: all but gRPC goes by HTTP/1.1", a.body == b"hello", repr(a))
    o = http2.Origin(handle)
    with proxied(o) as p:
        a = ask2(p, "POST", "/echo", body=b"\0\0\0\0\0", chunked=True,
                 more=[("content-type", "application/grpc"), ("te", "trailers")])
        s = o.seen.get(timeout=parts.PATIENCE)
        tap.case("auto: gRPC goes by HTTP/2, and says te: trailers",
                 a.fields.get("grpc-status") == "2" and  # it does not speak gRPC
                 s.fields.get("te") == "trailers",
                 f"{a} {s.fields}")


def no_h2c_upgrade():
    o = parts.Origin(talk)
    with proxied(o) as p:
        a = ask1(p, "GET", "/get", more=[
            ("connection", "upgrade, http2-settings"), ("upgrade", "h2c"),
            ("http2-settings", "AAMAAABkAAQAAP__")])
        tap.case("Upgrade: h2c stays HTTP/1.1", a.status == 200 and
                 b"h2c" not in o.heads[0], repr(a))


run(matrix, slow_reader, one_stream, put_aside, put_aside_by_fetch, cancels, drains, goaway, restarts,
    real_peers, websocket, auto, no_h2c_upgrade)
