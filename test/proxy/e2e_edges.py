#!/usr/bin/env python3
"""e2e_edges.py BIDE: routes, and where two rules meet: long uploads and failures,
early answers, layers that both add fields, limits of the policy, pipelines that end
badly."""
import contextlib
import json
import re
import socket
import threading

import sidecar
from parts import (PATIENCE, Answer, Origin, all_gone, ask, connect, fields,
                   get, ok, proxied, run, says, tap, until)
from sidecar import OPEN, Sidecar

fault = sidecar.Fault()
LONG = bytes(i * 7 % 256 for i in range(5 << 20))


def request(method="GET", target="/", host="x", more=""):
    return (f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n").encode()


def routes():
    names = ("exact", "host", "below", "method", "value", "header", "prefix")
    origins = {n: Origin(says(ok(n.encode()))) for n in names}
    rules = {"exact": "exact: /api/status", "host": "host: api.example",
             "below": "host: '*.shop.example'",
             "method": "path: /api/, method: DELETE",
             "value": "header: X-Tenant, value: gold", "header":
             "header: X-Canary", "prefix": "path: /api/"}
    text = f"version: 1\npolicies:\n  default: {{ {OPEN} }}\nproxy:\n"
    text += "  listen: 127.0.0.1:0\n  routes:\n"
    for n in names:
        text += f"    - {{ match: {{ {rules[n]} }}, upstream: {n} }}\n"
    text += "  upstreams:\n"
    for n in names:
        text += (f"    {n}: {{ endpoints: "
                 f"[\"http://127.0.0.1:{origins[n].port}\"] }}\n")
    p = Sidecar(text)
    for data, want in [
            (request(target="/api/status"), "exact"),
            (request(target="/api/status?a=b"), "exact"),
            (request(target="/api/status/"), "prefix"),
            (request(target="/api/x"), "prefix"),
            (request(target="/api"), None),
            (request(target="/"), None),
            (request(host="api.example"), "host"),
            (request(host="API.Example:8080"), "host"),
            (request(host="api.example.evil"), None),
            (request(target="http://api.example/", host="x"), "host"),
            (request(host="a.shop.example"), "below"),
            (request(host="a.b.shop.example"), "below"),
            (request(host="shop.example"), None),
            (request(host="ashop.example"), None),
            (request("DELETE", "/api/x"), "method"),
            (request("delete", "/api/x"), "prefix"),
            (request(more="X-Tenant: gold\r\n"), "value"),
            (request(more="x-tenant:   gold  \r\n"), "value"),
            (request(more="X-Tenant: golden\r\n"), None),
            (request(more="X-Canary:\r\n"), "header"),
            (request("DELETE", "/api/x", "api.example"), "host")]:
        a = ask(p, data)
        line = data.replace(b"\r\n", b" | ").decode()
        tap.case(f"route of {line}: {want}",
                 a.body == want.encode() if want else a.status == 404 and
                 json.loads(a.body)["status"] == 404, a)
    sidecar.ended("routes", p)
    for o in origins.values():
        o.stop()


def long_uploads():
    o = Origin(says(ok()))
    with proxied(fault.ports["closed"], o) as p:
        got = [p.request("PUT", "/", LONG)[0] for _ in range(6)]
        tap.case("a long body survives an endpoint that refuses: it was not sent",
                 got == [200] * 6 and all(b == LONG for b in o.bodies),
                 (got, [len(b) for b in o.bodies]))
        status, head, _ = p.request("POST", "/", iter([LONG[:9999]] * 50))
        tap.case("so does one in chunks", status == 200 and
                 o.bodies[-1] == LONG[:9999] * 50, (status, head))

    def early(o, peer):
        o.heads.append(peer.head())
        peer.send(ok(b"too large", b"Connection: close\r\n", b"413 No"))
        peer.gone()  # reads on, as RFC 9112 9.6 has it
    o = Origin(early)
    with proxied(o) as p:
        for size in (100, 65536, 5 << 20):
            c = connect(p)
            sender = threading.Thread(target=c.send, args=(
                get("/", b"Content-Length: %d\r\n" % size, b"PUT") +
                LONG[:size],))
            sender.start()
            a = Answer(c)
            tap.case(f"an answer before all of {size} bytes are read is passed on",
                     a.status == 413 and a.body == b"too large" and
                     a.fields.get("x-bide-reason") == "permanent", a)
            with contextlib.suppress(OSError):
                c.socket.shutdown(socket.SHUT_RDWR)
            sender.join()
            c.close()


def regress_full_buffers():
    """A request that fills the sidecar's buffers to the last byte: the connection
    serves the next one, too. (An empty buffer without room was read into, and what
    came of that was taken for the end.)"""
    o = Origin(says(ok()))
    with proxied(o) as p:
        size, kept = 16384 + 2048, 65536    # of a buffer; limits.replay
        for whole in (size, 2 * size, None):
            c = connect(p)
            good = 0
            for _ in range(20):
                more = b"Content-Length: %06d\r\n"
                if whole:
                    body = b"b" * (whole - len(get("/", more % 0, b"PUT")))
                else:
                    body = b"b" * (kept + size)
                c.send(get("/", more % len(body), b"PUT") + body)
                good += Answer(c).status == 200
            c.close()
            tap.case(f"requests of {whole or 'a full stream'}, one after the other",
                     good == 20, good)


def smuggled_by_early_answers():
    """The origin answers before the body has come; the rest of it must not be
    read as a request, by us or by the origin."""
    go = threading.Event()

    def talk(o, peer):
        while head := peer.head():
            o.heads.append(head)
            peer.send(ok(b"early"))
            go.set()
    o = Origin(talk)
    with proxied(o) as p:
        c = connect(p)
        n = 200000
        c.send(get("/first", b"Content-Length: %d\r\n" % n, b"PUT") +
               b"x" * (n - 1000))
        go.wait(PATIENCE)
        a = Answer(c)
        evil = get("/smuggled")
        c.send(evil + b"x" * (1000 - len(evil)))
        c.send(get("/second"))
        c.socket.shutdown(socket.SHUT_WR)
        rest = c.all()
        tap.case("of a body that comes after its answer nothing is a request",
                 a.body == b"early" and
                 not any(h.startswith(b"GET /smuggled") for h in o.heads) and
                 rest.count(b"HTTP/1.1 ") <= 1, (a, rest, o.heads))


def layers():
    with proxied(fault.ports["http"]) as below, proxied(below.port) as above:
        for script, attempts, reason in [("200", 1, None), ("404", 1, "permanent"),
                                         ("503", 4, "attempts")]:
            a = ask(above, get(fault.path(script)[0]))
            lines = a.head.lower().split(b"\r\n")
            counts = [x for x in lines if x.startswith(b"x-bide-attempts:")]
            reasons = [x for x in lines if x.startswith(b"x-bide-reason:")]
            tap.case(f"of two layers the client hears one account ({script})",
                     counts == [b"x-bide-attempts: %d" % attempts] and
                     reasons == ([b"x-bide-reason: " + reason.encode()]
                                 if reason else []), a)
            names = re.fullmatch("1.1 (bide-[0-9a-f]{8}), 1.1 (bide-[0-9a-f]{8})",
                                 a.fields["via"])
            tap.case("and of both in Via", names and names[1] != names[2], a)
    o = Origin(says(ok()))
    with proxied(o) as p:
        ask(p, get("/", b"X-Bide-Attempt: 7\r\nX-Bide-Timeout-Ms: 5000\r\n"))
        head = o.heads[0].lower()
        tap.case("what a layer above said goes on once",
                 head.count(b"x-bide-attempt:") == 1 and
                 head.count(b"x-bide-timeout-ms:") == 1, head)
    o = Origin(says(ok(b"x", b"X-Bide-Attempts: 99\r\nX-Bide-Reason: lies\r\n")))
    with proxied(o) as p:
        a = ask(p, get())
        tap.case("an origin cannot tell the client's story",
                 a.fields["x-bide-attempts"] == "1" and
                 "x-bide-reason" not in a.fields, a)


def in_flight():
    go = threading.Event()

    def talk(o, peer):
        while o.request(peer):
            go.wait(PATIENCE)
            peer.send(ok())
    o = Origin(talk)
    with proxied(o, policy=OPEN + ", limits: { in_flight: 2 }") as p:
        busy = [connect(p) for _ in range(2)]
        for c in busy:
            c.send(get())
        until(lambda: len(o.heads) == 2)
        a = ask(p, get())
        tap.case("over the cap in flight: 503, do not retry",
                 a.status == 503 and a.fields["x-bide-retry"] == "no" and
                 a.fields["x-bide-attempts"] == "0" and
                 a.fields["content-type"] == "application/problem+json", a)
        go.set()
        got = [Answer(c).status for c in busy]
        tap.case("those in flight are served, and places are given back",
                 got == [200, 200] and ask(p, get()).status == 200, got)
        for c in busy:
            c.close()
        go.clear()
        for _ in range(5):  # each leaves a place as it is cancelled
            before = len(o.heads)
            gone = [connect(p) for _ in range(2)]
            for c in gone:
                c.send(get())
            until(lambda n=before: len(o.heads) == n + 2)
            for c in gone:
                c.reset()  # one that only closes may still want its answer
            all_gone(p)
        go.set()
        tap.case("clients that leave give their places back", until(
            lambda: ask(p, get()).status == 200))


def budget():
    o = Origin(says(ok(b"no", b"", b"503 X")))
    with proxied(o, policy="backoff: { base: 1ms, cap: 1ms }, breaker: "
                 "{ kind: off }, budget: { floor: 0.01/s, ratio: 10%, window: 1000s }",
                 upstream=", ejection: { consecutive: 0, failure_rate: 100% }"
                 ) as p:
        got = [ask(p, get()) for _ in range(100)]
        retries = len(o.heads) - 100
        tap.case("without successes an outage gets the floor of retries only",
                 10 <= retries <= 20, retries)
        tap.case("a call that got none says so, with the real answer",
                 got[-1].fields["x-bide-reason"] == "budget" and
                 got[-1].body == b"no" and got[-1].status == 503, got[-1])


def pipelines():
    o = Origin(says(ok()))
    with proxied(o) as p:
        c = connect(p)
        c.send(get("/1") + get("/2") + b"NONSENSE\r\n\r\n" + get("/3"))
        got = [Answer(c) for _ in range(3)]
        tap.case("nonsense behind good requests: they are served, it is not",
                 [a.status for a in got] == [200, 200, 400] and
                 c.all() == b"" and len(o.heads) == 2, (got, o.heads))
        c = connect(p)
        c.send(get("/1") + get("/2", b"Connection: close\r\n") + get("/3"))
        got = [Answer(c).status for _ in range(2)]
        tap.case("behind Connection: close nothing is served",
                 got == [200, 200] and c.all() == b"" and len(o.heads) == 4,
                 (got, len(o.heads)))
        c = connect(p)
        c.send(get("/1") * 1000)
        got = [Answer(c).status for _ in range(1000)]
        tap.case("a thousand at once", got == [200] * 1000, len(got))
        c = connect(p)
        c.send(get("/1") * 3)
        c.socket.shutdown(socket.SHUT_WR)
        data = c.all()
        # A half-closed client may be taken for one that has left, but what it
        # gets must be whole.
        tap.case("a client that closes its side behind them gets whole answers",
                 data == b"" or data.endswith(b"\r\n\r\nok"), data)


def bodies_and_methods():
    o = Origin(says(ok()))
    with proxied(o) as p:
        for method in (b"GET", b"DELETE", b"OPTIONS", b"FROB"):
            a = ask(p, get("/", b"Content-Length: 5\r\n", method) + b"hello")
            tap.case(f"{method.decode()} may have a body", a.status == 200 and
                     o.bodies[-1] == b"hello", (a, o.bodies[-1]))
        ask(p, get("/", b"", b"POST"))
        tap.case("POST may have none", fields(o.heads[-1]).get(
            "content-length", "0") == "0", o.heads[-1])
        a = ask(p, get("/", b"Content-Length: 0\r\n", b"POST"))
        tap.case("or an empty one", a.status == 200 and fields(
            o.heads[-1]).get("content-length") == "0", o.heads[-1])
        a = ask(p, b"CONNECT a.example:80 HTTP/1.1\r\nHost: a.example:80\r\n\r\n")
        tap.case("CONNECT is not for us", a.status == 405 and
                 a.fields["connection"] == "close", a)


def regress_other_protocol():
    """A gRPC server, asked by a browser: SETTINGS, and nothing of HTTP/1.1."""
    o = Origin(says(bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])))
    with proxied(o) as p:
        a = ask(p, get())
        tap.case("an endpoint of HTTP/2 alone is named as such",
                 a.status == 502 and b"speaks HTTP/2, and not HTTP/1.1" in a.body and
                 b"`protocol`" in a.body and b"failed: url" not in a.body, a)


run(routes, long_uploads, regress_full_buffers, smuggled_by_early_answers, layers,
    in_flight, budget, pipelines, bodies_and_methods, regress_other_protocol)
