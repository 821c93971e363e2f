#!/usr/bin/env python3
"""e2e_grpc_ends.py BIDE: how calls over HTTP/2 end: streams that are reset with and without
an answer, hedges and what becomes of the loser, clients that cancel, connections that are
renewed; and gRPC-Web, which is not gRPC."""
import json
import time
import urllib.request

import h2raw
import http2_peer as http2
import parts
from clock import Clock
from collector import Collector
from parts import admin, fields, proxied, run, tap, until
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
    clock = Clock()
    with proxied(o, policy=policy, popen=clock.popen) as p:
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
        tap.case("30 calls that their client cancels are reset upstream (CANCEL), at once: "
                 "no time passes",
                 [g[0] for g in gone] == [8] * 30, gone)
        print(f"# median {sorted(took)[len(took) // 2] * 1000 if took else -1:.1f} ms; the "
              "sidecar's clock stood still")
        s = c.get("POST", "/shop.Cart/Add", [*GRPC, ("x-quick", "1")], MESSAGE)
        tap.case("... and count against nobody", s.trailers.get("grpc-status") == "0",
                 repr(s))
        c.close()
        clock.run()
    clock.close()


# ===== connections =====

class Shy(http2.Origin):
    """Closes the first connections at once, as a server does that is about to restart."""

    def serve(self):
        for _ in range(2):
            self.socket.accept()[0].close()
        super().serve()


def regress_closed_before_settings():
    o = Shy(answer)
    with proxied(o, policy=PLAIN) as p:
        c = http2.Client(p.port)
        s = c.answer(call(c))
        tap.case("an endpoint that closes before its SETTINGS got nothing: the call goes "
                 "again", s.trailers.get("grpc-status") == "0" and o.seen.qsize() == 1,
                 repr(s))
        c.close()


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


# ===== what watchers see =====

def watched():
    """Protocol, streams and status: in metrics, spans, the log, and the dashboard's
    state."""
    def handler(c, s):
        c.until(lambda: s.ended)
        if o.seen.qsize() == 1:
            c.head(s, HEAD)
            c.head(s, [("grpc-status", "14")], True)
            return
        if s.fields.get("x-wait"):
            c.until(lambda: s.reset is not None or c.closed)
            return
        answer(c, s)
    o = http2.Origin(handler)
    spans = Collector()
    more = ("  admin: 127.0.0.1:0\n"
            f"  telemetry: {{ otlp: \"http://127.0.0.1:{spans.server_port}\", "
            "sample: 100%, log: stderr }")
    with proxied(o, policy=LISTED, more=more, log=True) as p:
        c = http2.Client(p.port)
        s = c.answer(call(c))
        tap.case("a call is retried", s.trailers.get("grpc-status") == "0", repr(s))
        tap.case("spans follow the conventions for gRPC", spans.has(
            b"rpc.system", b"rpc.service", b"shop.Cart", b"rpc.method", b"Add",
            b"rpc.grpc.status_code", b"UNAVAILABLE", b"network.protocol.version"))
        waits = c.ask("POST", "/shop.Cart/Add", [*GRPC, ("x-wait", "1")], MESSAGE)
        until(lambda: o.seen.qsize() == 3)
        raw = h2raw.Raw(p.port)
        raw.send(h2raw.frame(4, 0, 0, b"\0\2\0\0\0\2"))
        raw.until(lambda f: f[0] == "GOAWAY")
        raw.close()
        flood = h2raw.Raw(p.port)
        flood.send(h2raw.frame(2, 1, 0, bytes(5)) * 1500)
        flood.until(lambda f: f[0] == "GOAWAY")
        flood.close()

        def asked(path):
            with urllib.request.urlopen(admin(p) + path) as r:
                return r.read().decode()

        def shown():
            return asked("metrics")
        for line in ('bide_endpoint_http2_connections{upstream="up",'
                     f'endpoint="127.0.0.1:{o.port}"}} 1',
                     "bide_proxy_http2_streams_total 2",
                     "bide_proxy_grpc_ok_total 1",
                     'bide_proxy_http2_closed_total{why="setting"} 1',
                     'bide_proxy_http2_closed_total{why="control"} 1',
                     'bide_proxy_http2_closed_total{why="resets"} 0'):
            tap.case(f"metrics have {line}", until(lambda line=line: line in shown(), 5),
                     [x for x in shown().splitlines() if "http2" in x])
        state = json.loads(asked("api/state"))
        whole = json.loads(asked("api/state?dep=" + state["deps"][0]["name"]))
        end = [e for d in whole["deps"] for e in d.get("endpoints", ())]
        tap.case("the dashboard has the endpoint's protocol, and its streams",
                 end and (end[0]["http2"], end[0]["in_flight"]) == (1, 1), end)
        failed = [d for d in state["decisions"] if d["attempt"] == 1]
        tap.case("... and how the attempt ended", failed and
                 (failed[0].get("protocol"), failed[0].get("grpc_status")) ==
                 ("HTTP/2", "UNAVAILABLE"), failed)
        tap.case("so has the log of decisions", until(lambda: any(
            '"protocol":"HTTP/2"' in x and '"grpc_status":"UNAVAILABLE"' in x
            for x in p.said)), p.said)
        c.rst(waits)
        c.close()

        def logged():
            with open(p.log, encoding="utf-8") as f:
                return [json.loads(x) for x in f]
        tap.case("... and the access log", until(lambda: any(
            (x.get("protocol"), x.get("grpc_status"), x["attempts"]) ==
            ("HTTP/2", "OK", 2) for x in logged())), logged())


# ===== answers that end without a status =====

def no_status_after_a_message():
    def silent(c, s):
        c.until(lambda: s.ended)
        c.head(s, HEAD)
        c.send(s, MESSAGE, True)

    def breaks(c, s):
        c.until(lambda: s.ended)
        c.head(s, HEAD)
        c.send(s, MESSAGE)
        c.rst(s, 2)
    for handler, code, what in ((silent, "2", "ends without a status: UNKNOWN"),
                                (breaks, "14", "breaks off: UNAVAILABLE")):
        o = http2.Origin(handler)
        with proxied(o, policy=LISTED) as p:
            c = http2.Client(p.port)
            s = c.answer(call(c))
            tap.case(f"an answer that has begun and {what}", s.body == MESSAGE and
                     s.trailers.get("grpc-status") == code and s.reset is None and
                     "grpc-message" in s.trailers and o.seen.qsize() == 1, repr(s))
            c.close()


run(no_error, hedges, cancels, regress_closed_before_settings, renewed, web,
    no_status_after_a_message, watched)
