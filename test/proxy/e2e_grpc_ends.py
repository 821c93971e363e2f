#!/usr/bin/env python3
"""e2e_grpc_ends.py BIDE: how calls over HTTP/2 end: streams that are reset with and without
an answer, hedges and what becomes of the loser, clients that cancel, connections that are
renewed; and gRPC-Web, which is not gRPC."""
import time

import http2_peer as http2
import parts
from parts import fields, proxied, run, tap, until
from sidecar import FAST

GRPC = [("content-type", "application/grpc"), ("te", "trailers")]
HEAD = [(":status", "200"), ("content-type", "application/grpc")]
MESSAGE = b"\0\0\0\0\1x"
PLAIN = FAST + ", budget: { kind: off }"
LISTED = PLAIN + ", retry_on: { grpc: [UNAVAILABLE] }"


def call(c, **more):
    return c.ask("POST", "/shop.Cart/Add", GRPC, MESSAGE, **more)


def answer(c, s, code="0"):
    c.head(s, HEAD)
    c.send(s, MESSAGE)
    c.head(s, [("grpc-status", code)], True)


# ===== RST_STREAM with NO_ERROR =====

def no_error():
    """A server that needs no more of the request may say so (RFC 9113, 8.1)."""
    def enough(c, s):
        answer(c, s)
        c.rst(s, 0)
    with proxied(http2.Origin(enough), policy=LISTED) as p:
        c = http2.Client(p.port)
        s = c.answer(call(c, end=False))
        tap.case("NO_ERROR after the trailers: all of the answer counts",
                 s.body == MESSAGE and s.trailers.get("grpc-status") == "0", repr(s))
        c.close()

    def breaks(c, s):
        c.until(lambda: s.ended)
        c.head(s, HEAD)
        c.rst(s, 0)
    o = http2.Origin(breaks)
    with proxied(o, policy=LISTED) as p:
        c = http2.Client(p.port)
        s = c.answer(call(c))
        tap.case("NO_ERROR before the trailers: broken, and not sent again",
                 s.fields.get("grpc-status") == "14" and o.seen.qsize() == 1 and
                 s.fields.get("x-bide-reason") == "not_idempotent", repr(s))
        c.close()

    def once(c, s):
        c.until(lambda: s.ended)
        if o.seen.qsize() == 1:
            c.rst(s, 0)
        else:
            answer(c, s)
    o = http2.Origin(once)
    with proxied(o, policy=PLAIN, route=", idempotent: true") as p:
        c = http2.Client(p.port)
        s = c.answer(call(c))
        tap.case("... but on a route that says that it is safe",
                 s.trailers.get("grpc-status") == "0" and o.seen.qsize() == 2, repr(s))
        c.close()


# ===== hedges =====

def hedges():
    lost = []

    def handler(c, s):
        c.until(lambda: s.ended)
        if len(c.origin_seen) == 1:  # the first that comes waits, and loses
            c.until(lambda: s.reset is not None or c.closed)
            lost.append(s.reset)
        else:
            answer(c, s)
    seen = []

    def counted(c, s):
        seen.append(s)
        c.origin_seen = list(seen)
        handler(c, s)
    a, b = http2.Origin(counted), http2.Origin(counted)
    hedged = PLAIN + ", attempts: 1, hedge: { max: 1, after: 30ms, extra_load: 100% }"
    with proxied(a, b, policy=hedged, route=", idempotent: true") as p:
        c = http2.Client(p.port)
        s = c.answer(call(c))
        tap.case("a hedge answers", s.trailers.get("grpc-status") == "0", repr(s))
        tap.case("... and the loser's stream is reset with CANCEL",
                 until(lambda: lost == [8]), lost)
        c.close()


# ===== cancelling =====

def cancels():
    gone = []

    def handler(c, s):
        if s.fields.get("x-quick"):
            answer(c, s)
            return
        c.until(lambda: s.reset is not None or c.closed)
        gone.append((s.reset, time.monotonic()))
    o = http2.Origin(handler)
    policy = LISTED + ", breaker: { min_calls: 5 }"
    with proxied(o, policy=policy) as p:
        c = http2.Client(p.port)
        took = []
        for i in range(30):
            s = call(c)
            until(lambda: o.seen.qsize() == i + 1)
            began = time.monotonic()
            c.rst(s)
            if not until(lambda: len(gone) == i + 1):
                break
            took.append(gone[-1][1] - began)
        tap.case("30 calls that their client cancels are reset upstream (CANCEL), each",
                 [g[0] for g in gone] == [8] * 30, gone)
        took.sort()
        tap.case("... soon: half of them within a tenth of a second",
                 len(took) == 30 and took[15] < 0.1, took)
        print(f"# median {took[len(took) // 2] * 1000:.1f} ms")
        s = c.get("POST", "/shop.Cart/Add", [*GRPC, ("x-quick", "1")], MESSAGE)
        tap.case("... and count against nobody", s.trailers.get("grpc-status") == "0",
                 repr(s))
        c.close()


# ===== connections =====

def renewed():
    o = http2.Origin(answer)
    with proxied(o, policy=PLAIN, upstream=", pool: { max_age: 1s }") as p:
        c = http2.Client(p.port)
        ended = []

        def ask():
            ended.append(c.answer(call(c)).trailers.get("grpc-status"))
            return len(o.connections) >= 3
        tap.case("connections are renewed after max_age", until(ask), o.connections)
        tap.case("... and no call fails of it", set(ended) == {"0"}, set(ended))
        c.close()


# ===== what is not gRPC =====

def web():
    """gRPC-Web has its trailers in the body; nothing of it is held or judged."""
    body = MESSAGE + b"\x80\0\0\0\x10grpc-status: 14\r\n"

    def talk(origin, peer):
        while origin.request(peer):
            peer.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc-web+proto\r\n"
                      b"content-length: %d\r\n\r\n" % len(body) + body)
    o = parts.Origin(talk)
    with proxied(o, policy=LISTED) as p:
        web_type = {"content-type": "application/grpc-web+proto"}
        status, found, got = p.request("POST", "/shop.Cart/Add", MESSAGE, web_type)
        tap.case("gRPC-Web passes over HTTP/1.1", (status, got) == (200, body) and
                 found["content-type"] == "application/grpc-web+proto", (status, got))
        c = http2.Client(p.port)
        s = c.get("POST", "/shop.Cart/Add", list(web_type.items()), MESSAGE)
        tap.case("... and from HTTP/2 to HTTP/1.1", (s.status, s.body) == (200, body),
                 repr(s))
        tap.case("... once each, as it came", len(o.heads) == 2 and all(
            fields(h)["content-type"] == "application/grpc-web+proto" for h in o.heads),
                 o.heads)
        c.close()


run(no_error, hedges, cancels, renewed, web)
