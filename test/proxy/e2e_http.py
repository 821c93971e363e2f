#!/usr/bin/env python3
"""e2e_http.py BIDE: what RFC 9112 asks of a proxy, seen from both of its ends: the
client's bytes, and the bytes that reach the origin."""
import socket
import threading

from fault import Fault
from parts import (Answer, Origin, ask, connect, fields, get, ok, proxied, run,
                   says, tap)

CLOSE = b"Connection: close\r\n"


def keep_alive():
    o = Origin(says(ok()))
    with proxied(o) as p:
        c = connect(p)
        got = []
        for i in range(5):
            c.send(get(f"/{i}"))
            got.append(Answer(c).status)
        tap.case("five requests of one client use one connection to the origin",
                 got == [200] * 5 and o.connections == 1,
                 (got, o.connections))
        c.send(get("/last", CLOSE))
        a = Answer(c)
        tap.case("Connection: close is answered and obeyed",
                 a.status == 200 and a.fields["connection"] == "close" and
                 c.all() == b"", a)
        tap.case("and stays on its hop", ask(p, get("/")).status == 200 and
                 o.connections == 1 and
                 not any("connection" in fields(h) for h in o.heads), o.heads)


def pipelining():
    first = threading.Event()

    def talk(o, peer):
        while head := o.request(peer):
            path = head.split(b" ")[1]
            if path == b"/0":
                first.wait(30)
            peer.send(ok(path))
    o = Origin(talk)
    with proxied(o) as p:
        c = connect(p)
        c.send(b"".join(get(f"/{i}") for i in range(30)))
        first.set()
        got = [Answer(c).body for _ in range(30)]
        tap.case("thirty requests in one piece are answered in their order",
                 got == [b"/%d" % i for i in range(30)], got)
        c.send(get("/a", b"Content-Length: 4\r\n", b"PUT") + b"GET " +
               get("/b", b"Transfer-Encoding: chunked\r\n", b"PUT") +
               b"3\r\nGET\r\n0\r\n\r\n" + get("/c"))
        got = [Answer(c).body for _ in range(3)]
        tap.case("also behind bodies that look like requests",
                 got == [b"/a", b"/b", b"/c"] and
                 o.bodies[-3:] == [b"GET ", b"GET", b""], (got, o.bodies[-3:]))


def answers_and_bodies():
    """Of many kinds and sizes, against the fault server."""
    def pieces(n, size):
        for _ in range(n):
            yield b"z" * size
    fault = Fault()
    with proxied(fault.ports["http"]) as p:
        for what, code, length in [("200;n=100", 200, 100),
                                   ("200;n=100000;chunked", 200, 100000),
                                   ("200;n=3000000", 200, 3000000),
                                   ("204", 204, 0), ("304", 304, 0),
                                   ("404;n=5", 404, 5)]:
            status, head, body = p.request(path=fault.path(what)[0])
            tap.case(f"passes {what} on", status == code and
                     len(body) == length and head["x-bide-attempts"] == "1" and
                     head["via"].startswith("1.1 bide-"), (status, head))
        for what, body, length in [("a small one", b"y" * 100, 100),
                                   ("one over the bound", b"y" * 3000000, 3000000),
                                   ("chunks", pieces(50, 997), 49850),
                                   ("chunks over the bound", pieces(500, 997),
                                    498500)]:
            path, name = fault.path("200;body=ok")
            status, _, answer = p.request("PUT", path, body)
            seen = fault.count(name)
            tap.case(f"passes a body on: {what}", status == 200 and
                     answer == b"ok" and seen["complete"] == 1 and
                     seen["seen"][0]["body"] == length, (status, answer, seen))
    fault.stop()


def in_any_pieces():
    o = Origin(says(ok()))
    with proxied(o) as p:
        c = connect(p)
        for byte in get("/slow"):
            c.send(bytes([byte]))
        a = Answer(c)
        tap.case("a request may come byte by byte", a.status == 200 and
                 o.heads[-1].startswith(b"GET /slow "), (a, o.heads))
        for piece in (get("/a", b"Transfer-Encoding: chunked\r\n", b"POST") +
                      b"5\r\nhel", b"lo\r\n3\r", b"\nabc\r\n0\r\nX-T: ",
                      b"1\r\n\r\n" + get("/b")):
            c.send(piece)
        got = [Answer(c).status for _ in range(2)]
        tap.case("chunks and trailers may come in any pieces",
                 got == [200, 200] and o.bodies[-2:] == [b"helloabc", b""],
                 (got, o.bodies))
        c.close()


def chunked():
    def talk(o, peer):
        while o.request(peer):
            peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                      b"Trailer: X-Sum\r\n\r\n4;ext=1\r\nwiki\r\n")
            peer.send(b"5\r\npedia\r\n0\r\nX-Sum: 42\r\n\r\n")
    o = Origin(talk)
    with proxied(o) as p:
        c = connect(p)
        c.send(get("/", b"Transfer-Encoding: chunked\r\nTrailer: X-T\r\n",
                   b"PUT"))
        c.send(b"3;a=\"b\"\r\nabc\r\n")
        c.send(b"00a\r\n0123456789\r\n0\r\nX-T: end\r\n\r\n")
        a = Answer(c)
        tap.case("a chunked request arrives whole",
                 o.bodies == [b"abc0123456789"],
                 (o.heads, o.bodies))
        tap.case("and framed in one way only",
                 ("content-length" in fields(o.heads[0])) !=
                 ("transfer-encoding" in fields(o.heads[0])), o.heads)
        tap.case("a chunked answer arrives whole", a.body == b"wikipedia", a)
        tap.case("with its trailers", a.trailers == {"x-sum": "42"}, a)
        old = ask(p, get("/", version=b"1.0"))
        tap.case("an HTTP/1.0 client gets it without chunks or trailers",
                 old.body == b"wikipedia" and
                 "transfer-encoding" not in old.fields, old)


def expect():
    def talk(o, peer):
        while head := peer.head():
            if b"/no" in head:
                peer.send(ok(b"no", CLOSE, b"417 Expectation Failed"))
                return
            if "expect" in fields(head):
                peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            peer.send(ok(peer.body(head)))
    o = Origin(talk)
    with proxied(o) as p:
        c = connect(p)
        c.send(get("/yes", b"Expect: 100-continue\r\nContent-Length: 5\r\n",
                   b"PUT"))
        first = Answer(c)  # before any byte of the body
        c.send(b"hello")
        second = Answer(c)
        tap.case("100 Continue comes before the body, the answer after it",
                 first.status == 100 and second.status == 200 and
                 second.body == b"hello", (first, second))
        c = connect(p)
        c.send(get("/both", b"Expect: 100-continue\r\nContent-Length: 5\r\n",
                   b"PUT") + b"hello")
        a = Answer(c)
        a = Answer(c) if a.status == 100 else a
        tap.case("a client that does not wait for it is served too",
                 a.status == 200 and a.body == b"hello", a)
        c = connect(p)
        c.send(get("/no", b"Expect: 100-continue\r\nContent-Length: 5\r\n",
                   b"PUT"))
        a = Answer(c)
        if a.status == 100:
            c.send(b"hello")
            a = Answer(c)
        tap.case("an origin that does not want the body says so",
                 a.status == 417, a)
        a = ask(p, get("/odd", b"Expect: coffee\r\n"))
        tap.case("another expectation is not met, or passed on",
                 a.status in (200, 417), a)


def interim():
    o = Origin(says(b"HTTP/1.1 102 Processing\r\n\r\n"
                    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"
                    b"Connection: x-hop\r\nX-Hop: 1\r\n\r\n" + ok()))
    with proxied(o) as p:
        c = connect(p)
        c.send(get())
        got = [Answer(c) for _ in range(3)]
        tap.case("interim answers are passed on, in order",
                 [a.status for a in got] == [102, 103, 200] and
                 got[1].fields.get("link") == "</a>", got)
        tap.case("without what belongs to their hop",
                 "x-hop" not in got[1].fields, got)
        old = ask(p, get(version=b"1.0"))
        tap.case("an HTTP/1.0 client gets none", old.status == 200, old)
    o = Origin(says(b"HTTP/1.1 100 Continue\r\n\r\n" * 3000 + ok()))
    with proxied(o) as p:
        c = connect(p)
        c.send(get(more=CLOSE))
        data = c.all()
        tap.case("an origin that says 100 without end is bounded or borne",
                 data.count(b"HTTP/1.1 200") + data.count(b"HTTP/1.1 502") == 1,
                 data[-300:])


def no_bodies():
    o = Origin(says(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n"
        b"ETag: \"a\"\r\n\r\n", ok(b"end")))
    with proxied(o) as p:
        c = connect(p)
        got = []
        for method in (b"HEAD", b"HEAD", b"GET", b"GET", b"GET"):
            c.send(get(method=method))
            got.append(Answer(c, method.decode()))
        tap.case("HEAD, 204 and 304 have no body, and the connection goes on",
                 [a.status for a in got] == [200, 200, 204, 304, 200] and
                 got[4].body == b"end" and c.rest == b"" and
                 o.connections == 1, (got, c.rest, o.connections))
        tap.case("HEAD tells the length that GET would have",
                 got[0].fields.get("content-length") == "1000", got[0])
        tap.case("204 tells none, 304 keeps its tag",
                 "content-length" not in got[2].fields and
                 "transfer-encoding" not in got[2].fields and
                 got[3].fields.get("etag") == '"a"', got[2:4])
    o = Origin(says(b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
                    ok(b"end")))
    with proxied(o) as p:
        a = ask(p, get())
        tap.case("a length on a 204 is not passed on",
                 "content-length" not in a.fields, a)


def websocket():
    def talk(o, peer):
        head = peer.head()
        o.heads.append(head)
        if b"/busy" in head:
            peer.send(ok(b"busy", CLOSE, b"503 Busy"))
            return
        peer.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                  b"Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9k"
                  b"YGzzhZRbK+xOo=\r\n\r\n")
        while piece := peer.take(1024):
            peer.send(piece[::-1])
        peer.send(b"ended")
    o = Origin(talk)
    wants = (b"Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
             b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
             b"Sec-WebSocket-Version: 13\r\n")
    with proxied(o) as p:
        c = connect(p)
        c.send(get("/chat", wants))
        a = Answer(c)
        frame = bytes(range(256)) * 4
        good = True
        for _ in range(100):
            c.send(frame)
            good = good and c.take(1024) == frame[::-1]
        tap.case("an upgrade passes, and bytes after it both ways unchanged",
                 a.status == 101 and good and
                 a.fields["upgrade"].lower() == "websocket" and
                 "upgrade" in a.fields["connection"].lower() and
                 fields(o.heads[0])["upgrade"] == "websocket", (a, o.heads))
        c.socket.shutdown(socket.SHUT_WR)
        tap.case("and the end of one direction leaves the other",
                 c.all() == b"ended")
        c = connect(p)
        c.send(get("/chat", wants) + frame)
        tap.case("what comes with the request goes through, too",
                 Answer(c).status == 101 and c.take(1024) == frame[::-1])
        c.close()
        a = ask(p, get("/busy", wants))
        tap.case("an upgrade is not retried", a.status == 503 and
                 a.body == b"busy" and len(o.heads) == 3, (a, len(o.heads)))
    o = Origin(says(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n"
                    b"Connection: upgrade\r\n\r\nsmuggled"))
    with proxied(o) as p:
        a = ask(p, get())
        tap.case("101 that nobody asked for is no answer", a.status == 502, a)

    def h2c(o, peer):
        while head := o.request(peer):
            peer.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n"
                      b"Connection: upgrade\r\n\r\n"
                      if b"pgrade:" in head else ok())
    with proxied(Origin(h2c)) as p:
        for value in (b"h2c", b"websocket, H2C", b"foo/1\r\nUpgrade: h2c"):
            a = ask(p, get("/", b"Connection: Upgrade, HTTP2-Settings\r\n"
                           b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n"
                           b"Upgrade: " + value + b"\r\n"))
            tap.case(f"{value} is no way past the routes", a.status == 200, a)


def methods_and_targets():
    o = Origin(says(ok()))
    with proxied(o) as p:
        for method in (b"PROPFIND", b"M-SEARCH", b"PURGE", b"get", b"X",
                       b"!#$%&'*+.^_`|~0z"):
            a = ask(p, get("/m", method=method))
            tap.case(f"the method {method.decode()} is passed on",
                     a.status == 200 and o.heads[-1].startswith(method + b" /m "),
                     (a, o.heads[-1:]))
        ask(p, b"GET http://other.example:81/p?q=1 HTTP/1.1\r\n"
            b"Host: liar.example\r\n\r\n")
        head = o.heads[-1]
        tap.case("absolute-form becomes origin-form, and its host counts",
                 head.startswith(b"GET /p?q=1 HTTP/1.1\r\n") and
                 fields(head)["host"] == "other.example:81", head)
        ask(p, b"OPTIONS http://other.example HTTP/1.1\r\nHost: x\r\n\r\n")
        tap.case("OPTIONS of a whole server is asked as *",
                 o.heads[-1].startswith(b"OPTIONS * "), o.heads[-1])
        ask(p, b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
        tap.case("also when it was asked so", o.heads[-1].startswith(
            b"OPTIONS * "), o.heads[-1])
        odd = "/a%2e%2e/./..//b;c=%00?x=%7Cy&z[]={}"
        ask(p, get(odd))
        tap.case("the path is passed on as it came",
                 o.heads[-1].split(b" ")[1] == odd.encode(), o.heads[-1])


def old_clients():
    o = Origin(says(ok(), ok(), ok(b"last")))
    with proxied(o) as p:
        c = connect(p)
        c.send(b"GET / HTTP/1.0\r\n\r\n")
        a = Answer(c)
        tap.case("an HTTP/1.0 client needs no Host, and is hung up on",
                 a.status == 200 and c.all() == b"" and
                 o.heads[0].startswith(b"GET / HTTP/1.1\r\n") and
                 "host" in fields(o.heads[0]), (a, o.heads))
        c = connect(p)
        c.send(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
        a = Answer(c)
        tap.case("unless it asks to be kept", a.status == 200 and
                 a.fields["connection"].lower() == "keep-alive", a)
        c.send(b"GET /last HTTP/1.0\r\n\r\n")
        a = Answer(c)
        tap.case("and it is", a.body == b"last" and c.all() == b"", a)


def ends_with_connection():
    def talk(o, peer):
        o.request(peer)
        peer.send(b"HTTP/1.0 200 OK\r\nServer: old\r\n\r\nuntil ")
        peer.send(b"the end")
    o = Origin(talk)
    with proxied(o) as p:
        a = ask(p, get())
        tap.case("an HTTP/1.0 origin's answer ends with its connection",
                 a.status == 200 and a.body == b"until the end" and
                 a.head.startswith(b"HTTP/1.1 "), a)
        a = ask(p, get(version=b"1.0"))
        tap.case("for an HTTP/1.0 client too", a.body == b"until the end", a)


run(keep_alive, pipelining, answers_and_bodies, in_any_pieces, chunked, expect,
    interim, no_bodies, websocket, methods_and_targets, old_clients,
    ends_with_connection)
