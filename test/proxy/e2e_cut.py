#!/usr/bin/env python3
"""e2e_cut.py BIDE: an answer that was cut off never looks whole. One that ends with
its connection can only be told from a cut one by how that ended: it goes to clients
of HTTP/1.1 in chunks, and a client of HTTP/1.0 sees a reset."""
import contextlib
import os
import socket
import ssl
import threading

import certificate
import sidecar
from parts import (PATIENCE, Answer, Origin, Peer, ask, connect, end, fields, get,
                   ok, proxied, run, says, tap, until)

HERE = sidecar.work.name
TLS = f"  tls: {{ certificate: {HERE}/own.pem, key: {HERE}/own.key }}\n"
HEAD = b"HTTP/1.1 200 OK\r\nX-From: origin\r\n\r\n"
BODY = b"twenty bytes of text" * 1000


class Reader:
    """Reads to the end: the bytes, and whether the end was clean."""

    def __init__(self, s):
        self.data, self.clean = b"", True
        try:
            while piece := s.recv(65536):
                self.data += piece
        except OSError:  # a reset; TLS that was not closed
            self.clean = False
        s.close()

    def __repr__(self):
        return f"{len(self.data)} {self.data[:300]!r} {self.data[-30:]!r} " \
               f"{self.clean}"

    def body(self):
        return self.data.partition(b"\r\n\r\n")[2]


def plain(p):
    return socket.create_connection(("127.0.0.1", p.port), PATIENCE)


def over_tls(p):
    context = ssl.create_default_context(cafile=os.path.join(HERE, "own.pem"))
    return context.wrap_socket(plain(p), server_hostname="x.example",
                               suppress_ragged_eofs=False)


def fetch(p, version=b"1.1", wrap=plain, path="/"):
    s = wrap(p)
    s.sendall(get(path, b"Connection: close\r\n", version=version))
    return Reader(s)


def unchunked(data):
    """The body of a chunked answer, and whether all of it is there."""
    body = b""
    while data:
        size, found, rest = data.partition(b"\r\n")
        n = int(size, 16) if found else 0
        if n == 0:
            return body, data == b"0\r\n\r\n"
        body, data = body + rest[:n], rest[n + 2:]
    return body, False


def closing(how, head=HEAD, body=BODY):
    """A talk that ends its answer by closing (how), once its client has all."""
    def talk(origin, peer):
        origin.request(peer)
        peer.send(head + body)
        origin.sent = True
        if how is Peer.reset:  # a reset overtakes what was not read yet
            origin.go.wait(PATIENCE)
        how(peer)
    return talk


@contextlib.contextmanager
def reset_when(o, p, version, wrap=plain):
    """A client that has read all of the body when the origin resets."""
    o.go.clear()
    s = wrap(p)
    s.sendall(get("/", b"Connection: close\r\n", version=version))
    data = b""
    while data.count(b"twenty") < 1000:
        data += s.recv(65536)
    o.go.set()
    r = Reader(s)
    r.data = data + r.data
    yield r


def origin(how, **what):
    o = Origin(closing(how, **what))
    o.go = threading.Event()
    return o


def clean_ends():
    o = origin(Peer.close)
    with proxied(o) as p:
        r = fetch(p)
        tap.case("an answer that ends with its connection comes in chunks",
                 b"\r\nTransfer-Encoding: chunked\r\n" in r.data and r.clean and
                 unchunked(r.body()) == (BODY, True), r)
        c = connect(p)
        c.send(get() + get())
        a, b = Answer(c), Answer(c)
        tap.case("and the client's connection serves again",
                 a.body == b.body == BODY and b.status == 200 and
                 "connection" not in a.fields, (a, b))
        c.close()
        r = fetch(p, b"1.0")
        tap.case("to HTTP/1.0 it comes as it is", r.clean and r.body() == BODY and
                 b"chunked" not in r.data, r)
    with proxied(origin(Peer.close), more=TLS) as p:
        for version in (b"1.1", b"1.0"):
            r = fetch(p, version, over_tls)
            tap.case(f"to a client by TLS, HTTP/{version.decode()}, it is whole",
                     seems_whole(r) and r.clean and b"text" in r.body(), r)
    o = origin(Peer.close, body=b"")
    with proxied(o) as p:
        a = ask(p, get())
        tap.case("an empty one too", a.status == 200 and a.body == b"" and
                 a.fields["transfer-encoding"] == "chunked", a)
        a = ask(p, get(method=b"HEAD"), "HEAD")
        tap.case("HEAD has no chunks", a.status == 200 and
                 "transfer-encoding" not in a.fields, a)


def many_sizes():
    """Around the size of a buffer, and in many small pieces."""
    sizes = [1, 15, 16, 17, 255, 4096, 16384, 18000] + \
        list(range(18300, 18440, 7)) + [36864, 100000, 300000]

    def talk(o, peer):
        n = int(o.request(peer).split(b"/")[1].split()[0])
        data = HEAD + bytes(i % 251 for i in range(n))
        if n == 4096:
            for i in range(len(data)):
                peer.send(data[i:i + 1])
        else:
            peer.send(data)

    o = Origin(talk)
    with proxied(o) as p:
        c = connect(p)
        wrong = []
        for n in sizes:
            c.send(get(f"/{n}"))
            a = Answer(c)
            if a.body != bytes(i % 251 for i in range(n)):
                wrong.append((n, len(a.body)))
        tap.case("of any size", not wrong, wrong)
        c.close()


def resets():
    o = origin(Peer.reset)
    with proxied(o, log=True) as p:
        with reset_when(o, p, b"1.1") as r:
            body, whole = unchunked(r.body())
            tap.case("a reset leaves the last chunk out", body == BODY and
                     not whole, r)
        with reset_when(o, p, b"1.0") as r:
            tap.case("and is passed on to HTTP/1.0", r.body() == BODY and
                     not r.clean, r)
    o = origin(Peer.reset)
    with proxied(o, more=TLS) as p:
        for version in (b"1.1", b"1.0"):
            with reset_when(o, p, version, over_tls) as r:
                tap.case(f"TLS is not closed after it: {version.decode()}",
                         b"twenty" in r.data and not r.clean, r)


def seems_whole(r):
    """Whether a client would take it for a whole answer, by what its head says."""
    head, _, body = r.data.partition(b"\r\n\r\n")
    f = fields(head + b"\r\n")
    if f.get("transfer-encoding") == "chunked":
        return unchunked(body)[1]
    if "content-length" in f:
        return len(body) == int(f["content-length"])
    return bool(head) and r.clean


def is_cut(r):
    """Or never begun: the sidecar may have seen the end first."""
    return r.data.startswith(b"HTTP/1.1 502") or not seems_whole(r)


def announced_ends():
    """A length, or chunks, of which there is less."""
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for name, head, body in (
            ("a length", b"HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n", BODY),
            ("half a chunk", chunked, b"7530\r\n" + BODY),
            ("no last chunk", chunked, b"5\r\nhello\r\n")):
        for how in (Peer.close, Peer.reset):
            for wrap, more in ((over_tls, TLS), (plain, "")):
                o = origin(how, head=head, body=body)
                o.go.set()
                with proxied(o, more=more, policy=sidecar.OPEN +
                             ", attempts: 1") as p:
                    for version in (b"1.1", b"1.0"):
                        r = fetch(p, version, wrap)
                        tap.case(
                            f"{name} that is not kept is seen ({how.__name__}, "
                            f"HTTP/{version.decode()}, {wrap.__name__})", is_cut(r)
                            and not (wrap is over_tls and r.clean and
                                     b" 502 " not in r.data), r)


def endpoints_of_tls():
    """Whether TLS was closed is all that tells."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(HERE, "own.pem"),
                            os.path.join(HERE, "own.key"))

    def talk(o, peer):
        s = context.wrap_socket(peer.socket, server_side=True)
        peer.socket = s
        o.request(peer)
        s.sendall(HEAD + BODY)
        if b"/clean" in o.heads[-1]:
            with contextlib.suppress(OSError):
                s.unwrap()
        elif b"/reset" in o.heads[-1]:
            peer.reset()

    o = Origin(talk)
    text = sidecar.config([o.port], upstream=f", tls: {{ ca: {HERE}/own.pem }}",
                          policy=sidecar.OPEN + ", attempts: 1")
    p = sidecar.Sidecar(text.replace("http://", "https://"))
    for version in (b"1.1", b"1.0"):
        number = version.decode()
        a = ask(p, get("/clean", version=version))
        tap.case(f"an endpoint that closes TLS has said all, HTTP/{number}",
                 a.body == BODY and a.status == 200, a)
        for path, what in (("/", "does not"), ("/reset", "resets it")):
            r = fetch(p, version, path=path)
            tap.case(f"one that {what} is cut off, HTTP/{number}", is_cut(r), r)
    end(p)
    o.stop()


def drained():
    """What is cut off by the end of the sidecar is seen, too."""
    def talk(o, peer):
        o.request(peer)
        peer.send(HEAD + BODY)
        peer.gone()

    o = Origin(talk)
    with proxied(o, more="  timeouts: { drain: 100ms }\n") as p:
        s = plain(p)
        s.sendall(get("/", version=b"1.0"))
        data = b""
        while len(data) < len(BODY):
            data += s.recv(65536)
        p.process.terminate()
        r = Reader(s)
        tap.case("an answer that the end of the sidecar cuts off", not r.clean, r)
        until(lambda: p.process.poll() is not None)


def saved():
    """An answer that was kept in case nothing better comes."""
    o = Origin(lambda o, peer: (o.request(peer), peer.send(
        b"HTTP/1.0 503 Later\r\nX-Last: yes\r\n\r\ncome back")))
    with proxied(o, policy=sidecar.OPEN + ", attempts: 3") as p:
        a = ask(p, get())
        tap.case("a kept answer is whole", a.status == 503 and
                 a.body == b"come back" and a.fields["x-bide-attempts"] == "3", a)
        a = ask(p, get(version=b"1.0"))
        tap.case("for HTTP/1.0 too", a.body == b"come back", a)
    o = Origin(says(ok()))
    with proxied(o) as p:
        tap.case("others are as they were", ask(p, get()).body == b"ok")


if __name__ == "__main__":
    certificate.make(HERE, "own")
    run(clean_ends, many_sizes, resets, announced_ends, endpoints_of_tls, drained,
        saved)
