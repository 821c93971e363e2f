#!/usr/bin/env python3
"""Keys in the wrong hands: what strangers, floods and odd messages can do at the
door. e2e_idempotency_hostile.py BIDE"""
import threading

from h2raw import Raw, field, frame, request, status
from parts import (Answer, Origin, ask, connect, counted, metric, ok,
                   rests, run, tap, until)
from payments import Payments, guarded, pay

ADMIN = "  admin: 127.0.0.1:0\n"
CALM = ("attempts: 1, budget: { kind: off }, breaker: { kind: off }, "
        "unreachable: { wait: none }")


def door(more="", also="", **how):
    origin = Payments()
    return origin, guarded(origin, policy=CALM, more=ADMIN + also,
                           route=", idempotency: { accept: required%s }" % more,
                           **how)


def reason(a):
    return a.fields.get("x-bide-reason")


def smuggled():
    """Fields that could be read in two ways never reach two readings."""
    origin, sidecar_ = door(", caller: X-Account")
    with sidecar_ as p:
        rows = {
            "an underscore": b"Idempotency_Key: b\r\n",
            "another case": b"IDEMPOTENCY-KEY: b\r\n",
            "a folded line": b"X: 1\r\n Idempotency-Key: b\r\n",
            "a NUL": b"X-Account: a\0b\r\n",
            "a long caller": b"X-Account: " + b"a" * 256 + b"\r\n",
            "an underscored caller": b"X_Account: other\r\n",
        }
        for what, more in rows.items():
            a = ask(p, pay("a", more=b"X-Account: 1\r\n" + more))
            fine = what in ("an underscore", "an underscored caller")
            tap.case(f"smuggled: {what}", a.status == (201 if fine else 400), a)
        tap.case("... one effect of them all", origin.effects == {"a": 1},
                 origin.effects)
        seen = b"".join(origin.heads)
        tap.case("... and the origin saw one key", b"_Key" not in seen and
                 b": b" not in seen, seen)


def pipelined():
    """Repeats in one breath, on one connection and between others."""
    origin, sidecar_ = door()
    with sidecar_ as p:
        c = connect(p)
        c.send(b"".join(pay(k) for k in ("a", "a", "b", "a", "b")))
        answers = [Answer(c) for _ in range(5)]
        tap.case("pipelined repeats: each in its place",
                 [a.status for a in answers] == [201] * 5 and
                 ["idempotent-replayed" in a.fields for a in answers] ==
                 [False, True, False, True, True], answers)
        tap.case("... one effect each", origin.effects == {"a": 1, "b": 1})
        c.close()
        c = connect(p)
        c.send(pay("c").replace(b"HTTP/1.1", b"HTTP/1.0")
               .replace(b"Host: x.example\r\n", b""))
        tap.case("HTTP/1.0 has keys, too", c.all().startswith(b"HTTP/1.1 201"))
        a = ask(p, pay("e", more=b"Expect: 100-continue\r\n"))
        tap.case("... and so has who expects 100", a.status in (100, 201), a)
        a = ask(p, pay("u", b"", more=b"Connection: upgrade\r\n"
                       b"Upgrade: websocket\r\n"))
        tap.case("an upgrade is none", a.status == 201 and
                 b"websocket" not in b"".join(origin.heads), a)


def early_on_http2():
    """An answer that comes before the end of its request: some clients drop it if
    its stream is reset at once, though without an error."""
    origin, sidecar_ = door()
    with sidecar_ as p:
        c = Raw(p.port)
        c.send(frame(1, 1, 4, request(b"POST", b"/pay")))
        seen = c.until(lambda f: f[2] == 1 and f[1] & 1 or f[0] == "GOAWAY")
        tap.case("HTTP/2: refused before the body is there",
                 status(next(f[3] for f in seen if f[0] == "HEADERS")) == 400 and
                 b"idempotency_missing" in seen[-1][3], seen)
        c.send(frame(0, 1, 0, b"amount"))
        seen = c.ping()
        c.send(frame(0, 1, 1, b"=10"))
        seen += c.ping()
        tap.case("... whose rest may still come",
                 not any(f[0] in ("RST_STREAM", "GOAWAY") for f in seen), seen)
        tap.case("... and ends it", c.get(3) is not None and
                 until(lambda: rests(p)))
        c.send(frame(1, 5, 4, request(b"POST", b"/pay")))
        seen = c.until(lambda f: f[0] in ("RST_STREAM", "GOAWAY"))
        tap.case("... but not for ever", seen[-1][0] == "RST_STREAM" and
                 seen[-1][2:] == (5, bytes(4)), seen[-1:])
        c.close()
        tap.case("... none of them asks anybody", origin.total <= 1)


def flood():
    """Ten thousand keys of nobody in particular, most of them malformed."""
    origin, sidecar_ = door()
    with sidecar_ as p:
        def client(n):
            c = connect(p)
            for i in range(60):
                c.send(pay(f"{n}-{i}"))
                Answer(c)
            c.close()
            for i in range(40):
                ask(p, pay(b'"' + b"\\" * i))
        threads = [threading.Thread(target=client, args=(n,)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.case("a flood of keys: each once", origin.total == 480 and
                 max(origin.effects.values()) == 1, origin.total)
        tap.case("... and it rests afterwards", until(lambda: rests(p)))


def leavers():
    """Clients that leave at every moment: nothing is sent twice, nothing stays."""
    origin, sidecar_ = door(", lease: 2s")
    origin.let()
    with sidecar_ as p:
        whole = pay("k0", b"x" * 300)
        for n in range(0, len(whole), 23):
            c = connect(p)
            c.send(whole.replace(b"k0", b"k%d" % n)[:n])
            (c.reset if n % 2 else c.close)()
        for n in range(40):
            c = connect(p)
            c.send(pay(f"w{n}", do="size=100000"))
            (c.reset if n % 2 else c.close)()
        for n in range(40):  # at the same moment as another
            one, other = connect(p), connect(p)
            one.send(pay(f"b{n}"))
            other.send(pay(f"b{n}"))
            one.reset()
            Answer(other)
            other.close()
        tap.case("clients that left: no key twice",
                 max(origin.effects.values()) == 1, origin.effects)
        for n in range(40):
            until(lambda n=n: ask(p, pay(f"w{n}")).status == 201)
        tap.case("... and all can be had afterwards",
                 max(origin.effects.values()) == 1 and
                 all(origin.effects[f"w{n}"] == 1 for n in range(40)),
                 origin.effects)
        tap.case("... nobody stays", until(
            lambda: sidecar_clients(p) == 0) and until(lambda: rests(p)))


def sidecar_clients(p):
    return int(metric(p, "bide_proxy_clients")) + \
        int(metric(p, "bide_proxy_requests_in_flight"))


def short_deadlines():
    """A client that gives no time at all cannot pile up requests without end."""
    origin, sidecar_ = door(also="  limits: { connections: 20 }\n")
    with sidecar_ as p:
        c = connect(p)
        n = 60
        for i in range(n):
            c.send(pay(f"d{i}", do="wait", more=b"X-Bide-Timeout-Ms: 5\r\n"))
        first = Answer(c)
        tap.case("a deadline of 5 ms", first.status == 504, first)
        until(lambda: counted(p, "idempotency_detached") >= 18)
        tap.case("... leaves no more behind than there may be clients",
                 counted(p, "idempotency_detached") <= 20)
        origin.let()
        answers = [Answer(c) for _ in range(n - 1)]
        tap.case("... and all are answered", {a.status for a in answers} <=
                 {201, 504}, {a.status for a in answers})
        tap.case("... each once", max(origin.effects.values()) == 1)


def resets():
    """Streams of HTTP/2 that are reset go on, too: a connection that did it without end
    would leave any number behind."""
    for limits, most in (("connections: 20", 20), ("per_client: { connections: 5 }", 5)):
        origin, sidecar_ = door(also="  workers: 1\n  limits: { %s }\n" % limits)
        with sidecar_ as p:
            c, n = Raw(p.port), 30

            def post(stream, do):
                c.send(frame(1, stream, 5, request(b"POST", b"/pay") + field(
                    b"idempotency-key", b"k%d" % stream) + field(b"x-do", do)))
            for i in range(n):
                post(2 * i + 1, b"wait")
            until(lambda: origin.waiting == n)
            for i in range(n):
                c.send(frame(3, 2 * i + 1, 0, b"\0\0\0\x08"))
            tap.case(f"{most} places: what is reset goes on", until(
                lambda: counted(p, "idempotency_detached") == n) and
                metric(p, "bide_proxy_clients") > most)
            post(1001, b"wait")
            seen = c.until(lambda f: f[2] == 1001 and f[1] & 1)
            tap.case("... and no other may until there is room",
                     status(next(f[3] for f in seen if f[2] == 1001)) == 503 and
                     b"urn:bide:problem:connections" in seen[-1][3], seen)
            origin.let()
            until(lambda: sidecar_clients(p) <= 1)
            post(1003, b"")
            seen = c.until(lambda f: f[2] == 1003 and f[1] & 1)
            tap.case("... as then there is",
                     status(next(f[3] for f in seen if f[2] == 1003)) == 201 and
                     set(origin.effects.values()) == {1} and origin.total == n + 1,
                     (seen, origin.effects))
            c.close()


def hostile_origin():
    """Answers that want to be more than one, or never end."""
    def talk(origin, peer):
        while head := origin.request(peer):
            if b"split" in head:
                peer.send(b"HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n")
            elif b"slow" in head:
                peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
                peer.more()
                return
            elif b"early" in head:
                peer.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok())
            else:
                peer.send(ok(more=b"X-Long: " + b"y" * 9000 + b"\r\n"))

    origin = Origin(talk)
    with guarded(origin, policy=CALM, upstream=", body_timeout: 1s",
                 route=", idempotency: { accept: required }") as p:
        a = ask(p, pay("split"))
        tap.case("a malformed answer is lost", a.status == 502, a)
        a = ask(p, pay("slow"))
        tap.case("one that stalls as well", a.status == 502, a)
        tap.case("... and neither is ever replayed",
                 ask(p, pay("split")).status == 409 and
                 ask(p, pay("slow")).status == 409)
        c = connect(p)
        c.send(pay("early"))
        hint, a = Answer(c), Answer(c)
        tap.case("interim answers pass", (hint.status, a.status) == (103, 200))
        a = ask(p, pay("early"))
        tap.case("... and are not kept", a.status == 200 and
                 "link" not in a.fields, a)
        one, two = ask(p, pay("long")), ask(p, pay("long"))
        tap.case("long fields are kept", one.fields["x-long"] ==
                 two.fields["x-long"], two)


run(smuggled, pipelined, early_on_http2, flood, leavers, short_deadlines, resets,
    hostile_origin)
