#!/usr/bin/env python3
"""slow.py BIDE: slow clients do not hold endpoints. Bodies that are not there yet
need no connection, answers that nobody reads yet none any more, and whoever is too
slow for too long is told so, or left."""
import socket
import threading

from attack import (OPEN, PATIENCE, Answer, Origin, Peer, ask, attacked,
                    connect, crowd, drip, get, has_ended, leave, ok, run, sent,
                    series, tap, until)

ONE = ", pool: { connections: 1, connecting: 1, idle: 1 }"
BIG = 12_000_000   # fits the buffer for answers below, and no socket's
LONG = 64 << 20    # fits none


def talk(o, peer):
    """Answers with as many bytes as the path says; reads a body to its end."""
    while head := o.request(peer):
        name = head.split(b" ")[1].lstrip(b"/")
        if name == b"hang":
            peer.gone()
            return
        n = int(name) if name.isdigit() else 2
        if not peer.send(ok(b"x" * n)):
            return


def bodies_that_are_not_there():
    o = Origin(talk)
    with attacked(o, policy=OPEN, upstream=ONE) as p:
        clients = crowd(p, 50, get("/", b"Content-Length: 1000\r\n", b"PUT") +
                        b"x" * 999)
        chunked = crowd(p, 50, get("/", b"Transfer-Encoding: chunked\r\n",
                                   b"PUT") + b"3e8\r\n" + b"x" * 999)
        for c in clients + chunked:
            sent(c)
        tap.case("a hundred bodies that lack a byte hold no connection",
                 ask(p, get()).status == 200 and len(o.heads) == 1, o.heads)
        for c in clients:
            c.send(b"x")
        for c in chunked:
            c.send(b"x\r\n0\r\n\r\n")
        got = [Answer(c).status for c in clients + chunked]
        tap.case("and are sent when it comes", set(got) == {200}, got)
        leave(clients + chunked)


def drops(more, path="/", head=b"Content-Length: 10000000\r\n", first=b"",
          policy=OPEN, data=b"x"):
    """A body that comes drop by drop; what its client hears in the end."""
    o = Origin(talk)
    with attacked(o, policy=policy, upstream=ONE, more=more) as p:
        c = connect(p)
        c.send(get(path, head, b"PUT") + first)
        answer = drip(c, data)
        got = [ask(p, get()).status for _ in range(3)]
        tap.case("afterwards others are served", set(got) == {200}, got)
        c.close()
        return answer


def told_408(what, answer):
    tap.case(f"{what}: ends with 408", answer is not None and
             answer.startswith(b"HTTP/1.1 408 "), answer and answer[:300])
    tap.case(f"{what}: and the reason `upload`", answer is not None and
             b"x-bide-reason: upload\r\n" in answer.lower(),
             answer and answer[:300])


def uploads_by_the_drop():
    rate = "  timeouts: { body: 1s }\n  limits: { body_rate: 1000 }\n"
    told_408("20 bytes a second where 1000 are asked for", drops(rate))
    told_408("the same beyond what is kept", drops(rate, first=b"x" * 100000))
    told_408("the same in chunks", drops(
        rate, head=b"Transfer-Encoding: chunked\r\n", data=b"1\r\nx\r\n"))
    told_408("as it comes, 20 bytes a second where 100 are asked for",
             drops("  timeouts: { body: 1s }\n"))


def longer_than_the_deadline():
    """At a rate that is good enough, but without end."""
    for first in (b"", b"x" * 100000):
        told_408(f"a body over the deadline, {len(first)} bytes at once", drops(
            "", policy=OPEN + ", deadline: 1s", data=b"x" * 500, first=first,
            head=b"Content-Length: 1000000000\r\n"))


def many_slow_uploads():
    """Streams in all connections: too slow to be let, so that others come to
    theirs."""
    o = Origin(talk)
    with attacked(o, policy=OPEN + ", attempt_timeout: 1m", upstream=ONE,
                  more="  timeouts: { body: 1s }\n  limits: { body_rate: 1000 }\n"
                  ) as p:
        clients = crowd(p, 4, get("/", b"Content-Length: 1000000\r\n", b"PUT") +
                        b"x" * 70000)
        stop = threading.Event()

        def trickle():
            while not stop.wait(0.05):
                for c in clients:
                    c.send(b"x")
        thread = threading.Thread(target=trickle, daemon=True)
        thread.start()
        answer = ask(p, get())
        stop.set()
        thread.join()
        tap.case("beside slow uploads and one connection a request is served",
                 answer.status == 200, answer)
        leave(clients)


def answers_that_wait():
    """The answer is kept for a slow reader; its endpoint is free."""
    o = Origin(talk)
    with attacked(o, policy=OPEN, upstream=ONE,
                  more="  limits: { answer_buffer: 16MiB }\n") as p:
        slow = crowd(p, 5, get(f"/{BIG}"), 4096)
        tap.case("five answers are kept for those who do not read", until(
            lambda: len(o.heads) == 5), len(o.heads))
        tap.case("and one connection is enough for others",
                 ask(p, get()).status == 200)
        for c in slow:  # now they read as fast as they can
            c.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, 65535)
            c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        got = [Answer(c) for c in slow]
        tap.case("whoever reads late gets all of it", all(
            a.status == 200 and len(a.body) == BIG for a in got),
            [(a.status, len(a.body)) for a in got])
        leave(slow)


def readers_by_the_drop():
    """An answer that is too long to be kept holds a connection: not for one who
    reads a byte now and then."""
    o = Origin(talk)
    with attacked(o, policy=OPEN, upstream=ONE, more="  timeouts: { write: 1s }\n"
                  "  limits: { answer_rate: 100000 }\n") as p:
        c = Peer(p.connect(4096))
        c.send(get(f"/{LONG}"))
        n = 0

        def read():
            nonlocal n
            try:
                piece = c.socket.recv(64)
            except OSError:
                piece = b""
            n += len(piece)
            return not piece
        tap.case("a reader of a few bytes at a time is left", until_slowly(read) and
                 n < LONG, n)
        tap.case("and others are served", ask(p, get()).status == 200)
        c.close()


def until_slowly(what):
    stop = threading.Event()
    for _ in range(PATIENCE * 20):
        if what():
            return True
        stop.wait(0.05)
    return False


def good_readers():
    """Nobody who reads as fast as is asked for is left."""
    o = Origin(talk)
    with attacked(o, policy=OPEN, upstream=ONE, more="  timeouts: { write: 5s, "
                  "body: 5s }\n") as p:
        status, _, body = p.request(path=f"/{LONG}")
        tap.case("64 MB reach one who reads", len(body) == LONG, len(body))
        a = ask(p, get("/", b"Content-Length: 20000000\r\n", b"PUT") +
                b"x" * 20000000)
        tap.case("20 MB come from one who writes", a.status == 200 and
                 len(o.bodies[-1]) == 20000000, a)


def total_time():
    """timeouts.request: from the first byte of a head to the last of its answer."""
    o = Origin(talk)
    with attacked(o, policy=OPEN, more="  timeouts: { request: 1s }\n") as p:
        a = ask(p, get("/hang"))
        tap.case("a request that takes too long: 504 request_timeout",
                 a.status == 504 and
                 a.fields.get("x-bide-reason") == "request_timeout", a)
        c = connect(p)
        c.send(get("/", b"Content-Length: 1000\r\n", b"PUT") + b"abc")
        a = Answer(c)
        tap.case("one that is not whole by then: 408", a.status == 408, a)
        c.close()
        c = Peer(p.connect(4096))
        c.send(get(f"/{LONG}"))
        c.head()
        tap.case("one that is being answered is cut off", until(
            lambda: series(p, "bide_proxy_requests_in_flight") == 0))
        rest = c.all()
        tap.case("which its client sees", len(rest) < LONG and
                 has_ended(c.socket) != "open", len(rest))
        c.close()


run(bodies_that_are_not_there, uploads_by_the_drop, longer_than_the_deadline,
    many_slow_uploads, answers_that_wait, readers_by_the_drop, good_readers,
    total_time)
