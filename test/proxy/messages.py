#!/usr/bin/env python3
"""messages.py BIDE: HTTP/1.1 through the sidecar: framing, keep-alive, pipelining,
upgrades, old clients, and requests that are none."""
import socket

import sidecar
import tap
from sidecar import Fault, Scripted, Sidecar, config

CLOSE = b"Connection: close\r\n\r\n"
fault = Fault()
p = Sidecar(config([fault.ports["http"]]))


def get(path, more=b"\r\n", version=b"1.1"):
    return (b"GET " + path.encode() + b" HTTP/" + version +
            b"\r\nHost: x\r\n" + more)


def script(text):
    return fault.path(text)[0]


def answers():
    for what, code, length in [("200;n=100", 200, 100),
                               ("200;n=100000;chunked", 200, 100000),
                               ("200;n=3000000", 200, 3000000),
                               ("204", 204, 0), ("304", 304, 0),
                               ("404;n=5", 404, 5)]:
        status, head, body = p.request(path=script(what))
        tap.case(f"passes {what} on", status == code and len(body) == length and
                 head["x-bide-attempts"] == "1" and head["via"].startswith("1.1 bide-"),
                 (status, head, len(body)))
    status, head, body = p.request("HEAD", script("200;n=50"))
    tap.case("HEAD has a length and no body", status == 200 and body == b"" and
             head["content-length"] == "50", (status, head, body))


def pieces(n, size):
    for _ in range(n):
        yield b"z" * size


def uploads():
    for what, body, length in [("a small one", b"y" * 100, 100),
                               ("one over the bound", b"y" * 3000000, 3000000),
                               ("chunks", pieces(50, 997), 49850),
                               ("chunks over the bound", pieces(500, 997),
                                498500)]:
        path, name = fault.path("200;body=ok")
        status, _, answer = p.request("PUT", path, body)
        seen = fault.count(name)
        tap.case(f"passes a body on: {what}", status == 200 and answer == b"ok"
                 and seen["complete"] == 1 and seen["seen"][0]["body"] == length,
                 (status, answer, seen))


def connections():
    out = p.raw(get(script("200;body=first")) +
                get(script("200;body=second"), CLOSE))
    tap.case("two requests in one piece are answered in order",
             out.count(b"HTTP/1.1 200") == 2 and
             out.index(b"\r\n\r\nfirst") < out.index(b"\r\n\r\nsecond"), out)
    out = p.raw(b"POST " + script("200;body=a").encode() +
                b" HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" +
                get(script("200;body=b"), CLOSE))
    tap.case("a request behind a body is found",
             out.count(b"HTTP/1.1 200") == 2, out)
    out = p.raw(*[bytes([c]) for c in get(script("200;body=slow"), CLOSE)])
    tap.case("a request may come byte by byte", out.endswith(b"slow"), out)
    out = p.raw(b"POST " + script("200;body=a").encode() +
                b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
                b"lo\r\n3\r", b"\nabc\r\n0\r\nX-T: ",
                b"1\r\n\r\n" + get(script("200;body=b"), CLOSE))
    tap.case("chunks and trailers may come in any pieces",
             out.count(b"HTTP/1.1 200") == 2, out)
    out = p.raw(b"POST " + script("200;body=a").encode() +
                b" HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                b"Expect: 100-continue\r\n" + CLOSE, b"abc")
    tap.case("100 Continue is said at most once, and first",
             out.count(b"100 Continue") <= 1 and b"HTTP/1.1 200" in out, out)


def old_clients():
    out = p.raw(get(script("200;chunked;body=abc"), version=b"1.0"))
    tap.case("HTTP/1.0 gets no chunks", out.endswith(b"\r\n\r\nabc") and
             b"chunked" not in out, out)
    out = p.raw(get(script("200;body=abc"), b"Connection: keep-alive\r\n\r\n",
                    b"1.0") + get(script("200;body=def"), version=b"1.0"))
    tap.case("HTTP/1.0 may keep its connection", b"abc" in out and
             out.endswith(b"def") and b"Connection: keep-alive" in out, out)
    out = p.raw(b"GET http://other.example" + script("200;body=abc").encode() +
                b" HTTP/1.1\r\nHost: x\r\n" + CLOSE)
    tap.case("absolute-form is understood", out.endswith(b"abc"), out)


def refusals():
    post = b"POST / HTTP/1.1\r\nHost: x\r\n"
    for what, data, status in [
            ("length and chunks", post + b"Content-Length: 3\r\n"
             b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("two lengths", post + b"Content-Length: 3\r\n"
             b"Content-Length: 3\r\n\r\nabc", 400),
            ("bare LF", b"GET / HTTP/1.1\nHost: x\n\n", 400),
            ("a folded line", get("/", b"A: b\r\n c\r\n\r\n"), 400),
            ("a bad chunk", post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
             400),
            ("no Host", b"GET / HTTP/1.1\r\n\r\n", 400),
            ("too many lines", get("/", b"A: b\r\n" * 150 + b"\r\n"), 431),
            ("a long line", get("/", b"A: " + b"b" * 20000 + b"\r\n\r\n"), 431),
            ("CONNECT", b"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 405)]:
        out = p.raw(data)
        tap.case(f"refuses {what}",
                 out.startswith(b"HTTP/1.1 %d" % status) and
                 b"Connection: close" in out, out)


def interim():
    s = Scripted(lambda c: c.sendall(
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))
    q = Sidecar(config([s.port]))
    out = q.raw(get("/", CLOSE))
    tap.case("103 is passed on", out.startswith(
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK") and
        out.endswith(b"hi"), out)
    sidecar.ended("interim answers", q)


def echo(c):
    c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
              b"Upgrade: websocket\r\n\r\nhello")
    while data := c.recv(4096):
        c.sendall(data.upper())
    c.sendall(b"BYE")


def upgrade():
    s = Scripted(echo)
    q = Sidecar(config([s.port]))
    c = q.connect()
    c.sendall(get("/ws", b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
                  b"early"))
    out = b""
    while b"EARLY" not in out:
        out += c.recv(4096)
    c.sendall(b"late")
    while b"LATE" not in out:
        out += c.recv(4096)
    c.shutdown(socket.SHUT_WR)
    out += sidecar.everything(c)
    tap.case("an upgrade becomes a tunnel, both ways",
             out.startswith(b"HTTP/1.1 101") and b"hello" in out and
             out.endswith(b"BYE") and b"pgrade: websocket" in s.heads[0], out)
    sidecar.ended("upgrades", q)


def headers():
    def answer(c):
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Hop: 1\r\n"
                  b"Connection: close, X-Hop\r\n\r\n")
    s = Scripted(answer)
    q = Sidecar(config([s.port]))
    out = q.raw(get("/a?b=c", b"Connection: close, X-Mine\r\nX-Mine: 1\r\n"
                    b"Keep-Alive: 5\r\nTE: trailers\r\nX-Forwarded-For: 6.6.6.6"
                    b"\r\nX-End: 2\r\n\r\n"))
    head = s.heads[0].lower()
    tap.case("hop-by-hop fields stay on their hop",
             not any(x in head for x in [b"x-mine", b"keep-alive", b"te:",
                                         b"connection"]) and
             b"x-end: 2" in head and b"x-hop" not in out.lower(), (head, out))
    tap.case("the endpoint is told who asks, and who does not count",
             b"x-forwarded-for: 127.0.0.1\r\n" in head and
             b"x-forwarded-proto: http\r\n" in head and b"via: 1.1 bide-" in head
             and b"x-bide-attempt: 1\r\n" in head and b"6.6.6.6" not in head and
             head.startswith(b"get /a?b=c http/1.1\r\n"), head)
    sidecar.ended("header fields", q)


for part in (answers, uploads, connections, old_clients, refusals, interim,
             upgrade, headers):
    part()
sidecar.ended("all of it", p)
fault.stop()
tap.finish()
