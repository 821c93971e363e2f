#!/usr/bin/env python3
"""half_close.py BIDE: a client that has sent its request and closes its sending half
gets the answer of the attempt that is running; no further attempt is made for
it."""
import select
import socket
import threading

from attack import (CLOSE_WAIT, FAST, Answer, Origin, ask, attacked, connect,
                    get, ok, run, sockets, tap, until)

SLOW = ", budget: { kind: off }, breaker: { kind: off }"


class Held(Origin):
    """Answers those who ask for /held when it is told to, others at once."""

    def __init__(self, answer):
        self.answer = answer
        self.go = threading.Event()
        super().__init__(Held.talk_to)

    def talk_to(self, peer):
        while head := self.request(peer):
            if b" /held" in head:
                self.go.wait(60)
                peer.send(self.answer)
            else:
                peer.send(ok())


def noticed(p, c):
    """The sidecar has been told of the end of the client's half, and has served
    somebody else since."""
    until(lambda: left(c) or sockets((CLOSE_WAIT,), local=p.port))
    return ask(p, get("/other")).status == 200


def left(c):
    """Whether the sidecar has answered, or closed."""
    return bool(select.select([c.socket], [], [], 0)[0])


def held(data, answer, policy=FAST + SLOW):
    """What a client gets who sends this and closes its half; the heads that the
    origin saw of it."""
    o = Held(answer)
    with attacked(o, policy=policy) as p:
        c = connect(p)
        c.send(data)
        c.socket.shutdown(socket.SHUT_WR)
        until(lambda: left(c) or any(b" /held" in h for h in o.heads))
        noticed(p, c)
        o.go.set()
        a = Answer(c)
        rest = c.all()
        tap.case("others are served", ask(p, get("/other")).status == 200)
        return a, rest, [h for h in o.heads if b" /held" in h]


def answers():
    for what, data in [
            ("GET", get("/held")),
            ("PUT", get("/held", b"Content-Length: 3\r\n", b"PUT") + b"abc"),
            ("HTTP/1.0", get("/held", version=b"1.0")),
            ("chunks", get("/held", b"Transfer-Encoding: chunked\r\n", b"POST") +
             b"3\r\nabc\r\n0\r\n\r\n")]:
        a, rest, heads = held(data, ok(b"yours"))
        tap.case(f"{what}, then half closed: the answer comes", a.status == 200 and
                 a.body == b"yours" and rest == b"" and len(heads) == 1,
                 (a, rest, heads))
    a, rest, heads = held(get("/held"), ok(b"x" * 1000000))
    tap.case("all of a long one", len(a.body) == 1000000, len(a.body))


def failures():
    """The attempt that runs is the last."""
    a, _, heads = held(get("/held"), ok(b"no", status=b"503 Busy"))
    tap.case("a failure is passed on, and not tried again", a.status == 503 and
             len(heads) == 1, (a, heads))
    a, _, heads = held(get("/held"), b"garbage\r\n\r\n")
    tap.case("and one without an answer: 502", a.status == 502 and
             len(heads) == 1, (a, heads))


def pipelined():
    """Two in one piece, then half closed: both are answered."""
    o = Held(ok(b"first"))
    with attacked(o, policy=FAST) as p:
        c = connect(p)
        c.send(get("/held") + get("/second"))
        c.socket.shutdown(socket.SHUT_WR)
        until(lambda: left(c) or o.heads)
        noticed(p, c)
        o.go.set()
        one = Answer(c)
        tap.case("of two in one piece the first is answered", one.body ==
                 b"first", one)
        c.all()


def halves():
    """A request that is not whole by then is none."""
    o = Held(ok())
    with attacked(o, policy=FAST) as p:
        for data in (b"GET /held HTTP/1.1\r\nHo",
                     get("/held", b"Content-Length: 3\r\n", b"PUT") + b"ab",
                     get("/held", b"Transfer-Encoding: chunked\r\n", b"PUT") +
                     b"3\r\nabc\r\n"):
            c = connect(p)
            c.send(data)
            c.socket.shutdown(socket.SHUT_WR)
            got = c.all()
            tap.case("half a request is no request", not o.heads and
                     b" 200 " not in got, (data, o.heads, got))
            c.close()


run(answers, failures, pipelined, halves)
