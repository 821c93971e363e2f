#!/usr/bin/env python3
"""e2e_fallback.py BIDE: what is answered when the policy has given up: a static
answer, or that of another upstream; which endings count, what is never told, and
that the failure stays visible."""
import contextlib
import json
import socket
import urllib.request

import sidecar
from parts import (CLOSE_WAIT, Answer, Origin, admin, ask, connect, counted,
                   end, fields, get, metric, ok, proxied, run, says, sockets,
                   tap, until)
from ports import free_port
from sidecar import FAST, OPEN

STATIC = ', fallback: { status: 200, body: "[]", content_type: application/json }'
LATER = ', fallback: { body: "try later" }'
ADMIN = "  admin: 127.0.0.1:0\n"
BUSY = ok(b"busy", status=b"503 Busy")
POST = get("/", b"Content-Length: 1\r\n", b"POST") + b"x"


def brief(a):
    f = a.fields
    return (a.status, a.body, f.get("x-bide-fallback"), f.get("x-bide-reason"),
            f.get("x-bide-attempts"))


@contextlib.contextmanager
def two(first, second, fallback="upstream: other", policy=OPEN, other=OPEN,
        more="", log=False):
    """A sidecar with two upstreams; the route to the first falls back on the
    second."""
    p = sidecar.Sidecar(f"""
version: 1
policies:
  default: {{ {policy} }}
  other: {{ {other} }}
proxy:
  listen: 127.0.0.1:0
{ADMIN}{more}
  routes:
    - {{ upstream: up, fallback: {{ {fallback}, policy: other }} }}
  upstreams:
    up: {{ endpoints: ["http://127.0.0.1:{first.port}"] }}
    other: {{ endpoints: ["http://127.0.0.1:{second.port}"] }}
""", log=log)
    try:
        yield p
    finally:
        end(p)
        for o in (first, second):
            with contextlib.suppress(AttributeError):
                o.stop()


class Nobody:
    """An address where nobody listens."""

    def __init__(self):
        self.port = free_port()


def static_answers():
    o = Origin(says(BUSY))
    with proxied(o, more=ADMIN, route=STATIC, log=True) as p:
        got = ask(p, get())
        tap.case("exhausted retries: the static answer", brief(got) ==
                 (200, b"[]", "static", "attempts", "4") and
                 got.fields["content-type"] == "application/json", got)
        head = ask(p, get("/", method=b"HEAD"), "HEAD")
        tap.case("HEAD: its head", brief(head)[:3] == (200, b"", "static") and
                 head.fields["content-length"] == "2", head)
        post = ask(p, POST)
        tap.case("a POST is not told that it worked", brief(post) ==
                 (503, b"busy", None, "not_idempotent", "1"), post)
        put = ask(p, get("/", method=b"PUT"))
        tap.case("nor is a PUT", brief(put) == (503, b"busy", None, "attempts",
                                                "4"), put)
        peer = connect(p)
        for _ in range(3):
            peer.send(get())
            got = Answer(peer)
        peer.close()
        tap.case("the connection goes on", got.status == 200 and
                 got.body == b"[]", got)
        tap.case("each is counted", counted(p, "fallback_static") == 5 and
                 counted(p, "fallback_missed") == 2)
        failed = metric(p, r'bide_calls_total\{[^}]*result="failure"[^}]*\}')
        tap.case("the failures stay visible", failed == 7, failed)
    _, log = p.stop()
    tap.case("the log tells", [line.get("fallback") for line in log] ==
             ["static"] * 2 + [None] * 2 + ["static"] * 3 and
             log[0]["reason"] == "attempts", log)


def endings():
    rows = [("404", ok(b"no", status=b"404 No"), (404, b"no", None, "permanent")),
            ("501", ok(b"no", status=b"501 No"), (501, b"no", None, "permanent")),
            ("200", ok(b"yes"), (200, b"yes", None, None)),
            ("429", ok(b"slow", status=b"429 Slow"),
             (429, b"slow", None, "attempts")),
            ("500", ok(b"no", status=b"500 No"),
             (503, b"try later", "static", "attempts")),
            ("X-Bide-Retry: no", ok(b"no", b"X-Bide-Retry: no\r\n", b"503 No"),
             (503, b"try later", "static", "server_refused")),
            ("an answer that is none", b"gibberish\r\n\r\n",
             (503, b"try later", "static", "permanent")),
            ("a large 503", ok(b"x" * 100000, status=b"503 Busy"),
             (503, b"try later", "static", "attempts"))]
    for what, answer, want in rows:
        o = Origin(says(answer))
        with proxied(o, route=LATER) as p:
            got = ask(p, get())
            tap.case(f"{what}: {want[2] or 'passed on'}", brief(got)[:4] == want,
                     got)
            post = ask(p, POST)
            tap.case(f"{what}: POST, too", (post.status, post.body) == want[:2],
                     post)
    with proxied(free_port(), route=LATER) as p:
        got = ask(p, get())
        tap.case("nobody there", brief(got) == (503, b"try later", "static",
                                                "attempts", "4"), got)
        lost = ask(p, b"GET / HTTP/1.1\r\n\r\n")
        tap.case("a request that is none gets no fallback", lost.status == 400 and
                 "x-bide-fallback" not in lost.fields, lost)
    policy = FAST + ", attempts: 1, budget: { kind: off }, " \
        "breaker: { kind: count, window_calls: 2, min_calls: 2, open: 5m }"
    o = Origin(says(BUSY))
    with proxied(o, policy=policy, route=LATER) as p:
        ask(p, get()), ask(p, get())
        got = ask(p, get())
        tap.case("an own refusal", brief(got) ==
                 (503, b"try later", "static", "breaker_open", "0") and
                 got.fields.get("x-bide-retry") == "no" and
                 int(got.fields.get("retry-after", 0)) > 0, got)
        tap.case("the fallback does not close the breaker", len(o.heads) == 2)


def large_static():
    body = "y" * 60000
    o = Origin(says(BUSY))
    with proxied(o, route=f', fallback: {{ status: 200, body: "{body}" }}') as p:
        for version in (b"1.1", b"1.0"):
            got = ask(p, get(version=version))
            tap.case("a static answer larger than a buffer", got.status == 200 and
                     got.body == body.encode(), got.head)


def another_upstream():
    up, other = Origin(says(BUSY)), Origin(says(ok(b"other")))
    with two(up, other, log=True) as p:
        got = ask(p, get("/a?b"))
        tap.case("the other upstream answers", brief(got) ==
                 (200, b"other", "upstream", "attempts", "5"), got)
        tap.case("... what was asked", other.heads[0].startswith(b"GET /a?b "),
                 other.heads)
        put = ask(p, get("/", b"Content-Length: 9000\r\n", b"PUT") + b"z" * 9000)
        tap.case("a body goes along", put.body == b"other" and
                 other.bodies[1] == b"z" * 9000, put)
        post = ask(p, POST)
        tap.case("a POST that may have been processed does not", brief(post) ==
                 (503, b"busy", None, "not_idempotent", "1") and
                 len(other.heads) == 2, post)
        keyed = ask(p, get("/", b"Content-Length: 1\r\nIdempotency-Key: k\r\n",
                           b"POST") + b"x")
        tap.case("one with a key does", keyed.body == b"other" and
                 fields(other.heads[2])["idempotency-key"] == "k", keyed)
        tap.case("counted", counted(p, "fallback_upstream") == 3 and
                 counted(p, "fallback_missed") == 1)
        with urllib.request.urlopen(admin(p) + "api/state") as r:
            deps = {d["name"]: d["calls"] for d in json.load(r)["deps"]}
        tap.case("each dependency counts its own", deps["up/default"] ==
                 {"first_success": 0, "late_success": 0, "failure": 4} and
                 deps["other/other"] == {"first_success": 3, "late_success": 0,
                                         "failure": 0}, deps)
    _, log = p.stop()
    tap.case("the log tells", [(line.get("fallback"), line["upstream"])
                               for line in log] ==
             [("upstream", "other")] * 2 + [(None, "up"), ("upstream", "other")],
             log)
    other = Origin(says(ok(b"other")))
    with two(Nobody(), other) as p:
        post = ask(p, POST)
        tap.case("a POST that was never sent may go there", brief(post)[:3] ==
                 (200, b"other", "upstream") and other.bodies == [b"x"], post)


def both_fail():
    up, other = Origin(says(BUSY)), Origin(says(ok(b"no", status=b"502 No")))
    with two(up, other) as p:
        got = ask(p, get())
        tap.case("the other fails, too: its answer", brief(got) ==
                 (502, b"no", "upstream", "attempts", "8"), got)
        tap.case("... and no third is asked", len(up.heads) == 4 and
                 len(other.heads) == 4)
    up = Origin(says(BUSY))
    with two(up, Nobody()) as p:
        got = ask(p, get())
        tap.case("nobody there: the first upstream's answer", brief(got)[:4] ==
                 (503, b"busy", None, "attempts"), got)
    with two(Nobody(), Nobody()) as p:
        got = ask(p, get())
        tap.case("nobody anywhere: why the first was given up",
                 got.status == 502 and brief(got)[2:] == (None, "attempts", "8"),
                 got)
    up, other = Origin(says(BUSY)), Origin(says(ok(b"no", status=b"404 No")))
    with two(up, other) as p:
        got = ask(p, get())
        tap.case("a 404 from there is an answer", brief(got)[:3] ==
                 (404, b"no", "upstream"), got)
    up = Origin(says(BUSY))
    with two(up, Nobody(), 'status: 200, body: "last", upstream: other') as p:
        got = ask(p, get())
        tap.case("then the static answer", brief(got)[:4] ==
                 (200, b"last", "static", "attempts"), got)


def the_other_has_its_own_breaker():
    up, other = Origin(says(BUSY)), Origin(says(ok(b"no", status=b"500 No")))
    with two(up, other, policy=OPEN + ", attempts: 1",
             other="attempts: 1, breaker: { kind: count, window_calls: 2, "
                   "min_calls: 2, open: 5m }") as p:
        for _ in range(5):
            got = ask(p, get())
        tap.case("it opens, and only that", len(other.heads) == 2 and
                 len(up.heads) == 5 and got.body == b"busy", got)


def in_pieces():
    """A body that is passed on as it comes cannot go to the other one."""
    up, other = Origin(says(BUSY)), Origin(says(ok(b"other")))
    with two(up, other, more="  limits: { replay: 1KiB }\n") as p:
        got = ask(p, get("/", b"Content-Length: 200000\r\n", b"PUT") +
                  b"z" * 200000)
        tap.case("a body that is gone is not sent elsewhere", not other.heads and
                 got.status == 503, got)
    other = Origin(says(ok(b"other")))
    with two(Nobody(), other, more="  limits: { replay: 1KiB }\n") as p:
        got = ask(p, get("/", b"Content-Length: 200000\r\n", b"PUT") +
                  b"z" * 200000)
        tap.case("one that was never begun is", got.body == b"other" and
                 other.bodies == [b"z" * 200000], got)


def a_client_that_leaves():
    gate = []

    def talk(origin, peer):
        origin.request(peer)
        gate.append(peer)
        peer.gone()
    up, other = Origin(says(BUSY)), Origin(talk)
    with two(up, other) as p:
        peer = connect(p)
        peer.send(get())
        until(lambda: gate)
        peer.reset()
        tap.case("a client that leaves meanwhile is noticed",
                 until(lambda: counted(p, "cancelled") == 1))
    held = []

    def holding(origin, peer):
        while origin.request(peer):
            held.append(peer)
            until(lambda: len(held) > 1)
            peer.send(BUSY)
    up, other = Origin(holding), Origin(says(ok(b"other")))
    with two(up, other, policy=OPEN + ", attempts: 1") as p:
        peer = connect(p)
        peer.send(get())
        until(lambda: held)
        peer.socket.shutdown(socket.SHUT_WR)
        until(lambda: sockets((CLOSE_WAIT,), local=p.port))
        counted(p, "requests")
        held.append(None)
        got = Answer(peer)
        tap.case("for one that sends no more nobody else is asked",
                 got.status == 503 and not other.heads, (got, other.heads))
        peer.close()


def by_reload():
    up, other = Origin(says(BUSY)), Origin(says(ok(b"other")))
    with two(up, other) as p:
        tap.case("before", ask(p, get()).body == b"other")
        p.reload(p.text.replace("fallback: { upstream: other, policy: other }",
                                'fallback: { status: 200, body: "new" }'))
        tap.case("a reload changes it", ask(p, get()).body == b"new")
        p.reload(p.text.replace(', fallback: { status: 200, body: "new" }', ""))
        tap.case("and takes it away", ask(p, get()).body == b"busy")


run(static_answers, endings, large_static, another_upstream, both_fail,
    the_other_has_its_own_breaker, in_pieces, a_client_that_leaves, by_reload)
