#!/usr/bin/env python3
"""crash.py BIDE: a traced request whose answer is cut off, by the origin or by a
client that stops reading, must not end the sidecar. It has a reason with a name, in
the span, the access log and the metrics."""
import json
import os
import threading

from collector import Collector
from attack import (PATIENCE, Origin, Peer, all_gone, ask, attacked, connect, get,
                    named, ok, run, tap, until, work)

PARENT = b"traceparent: 00-%s-b7ad6b7169203331-01\r\n"
LONG = 64 << 20


def cut(how):
    """An origin that says a part and then ends it so, where the path says so."""
    def talk(o, peer):
        while head := o.request(peer):
            if b" /cut" not in head:
                peer.send(ok())
                continue
            if b"chunked" in how:
                peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                          b"5\r\nhello\r\n")
            else:
                peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" +
                          b"x" * 100000)
            o.passed_on.wait(PATIENCE)
            return peer.reset() if b"reset" in how else None
    return talk


def cut_off(p, o, more=b""):
    """What a client gets that is cut off after the head of its answer."""
    o.passed_on.clear()
    c = connect(p)
    c.send(get("/cut", b"Connection: close\r\n" + more))
    head = c.head()
    o.passed_on.set()
    c.all()
    c.close()
    return head


def telemetry(collector, sample, form):
    return (f"  telemetry: {{ otlp: \"http://127.0.0.1:{collector.server_port}\","
            f" sample: {sample}, format: {form} }}\n")


def origins_that_cut():
    collector = Collector()
    for n, (how, sample, form) in enumerate([
            (b"close", "0%", "protobuf"), (b"reset", "0%", "json"),
            (b"close chunked", "0%", "json"), (b"reset chunked", "100%",
                                               "protobuf")]):
        trace = b"%032x" % (0xabc0 + n)
        o = Origin(cut(how))
        with attacked(o, more=telemetry(collector, sample, form)) as p:
            o.passed_on = threading.Event()
            got = [cut_off(p, o, PARENT % trace) for _ in range(5)]
            tap.case(f"{how.decode()}, sample {sample}: the client sees a part",
                     all(g.startswith(b"HTTP/1.1 200") for g in got), got)
            tap.case("and it goes on serving", ask(p, get()).status == 200)
            name = trace if form == "json" else bytes.fromhex(trace.decode())
            tap.case("the span arrives, with the reason cut_short",
                     collector.has(name, b"cut_short"),
                     [b[:400] for b in collector.got[-3:]])


def clients_that_stop_reading():
    collector = Collector()
    trace = b"%032x" % 0xdef

    def talk(o, peer):
        while head := o.request(peer):
            if b" /cut" not in head:
                peer.send(ok())
                continue
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % LONG)
            while peer.send(b"x" * 65536):
                pass
            return
    o = Origin(talk)
    with attacked(o, more=telemetry(collector, "0%", "protobuf") +
                  "  timeouts: { write: 300ms }\n") as p:
        crowd = [Peer(p.connect(4096)) for _ in range(5)]
        for c in crowd:
            c.send(get("/cut", PARENT % trace))
        all_gone(p)
        tap.case("clients that do not read: it goes on serving",
                 ask(p, get()).status == 200)
        tap.case("the span arrives, with a reason", collector.has(
            bytes.fromhex(trace.decode()), b"bide.reason"),
            [b[:400] for b in collector.got[-3:]])
        for c in crowd:
            c.close()


def named_everywhere():
    o = Origin(cut(b"close"))
    decisions = os.path.join(work.name, "decisions.jsonl")
    with attacked(o, log=True, more=f"  telemetry: {{ log: {decisions} }}\n") as p:
        o.passed_on = threading.Event()
        cut_off(p, o)
        tap.case("the metrics name it", until(lambda: named(p, "cut_short")))
        for what, log in (("access log", p.log), ("log of decisions", decisions)):
            tap.case(f"the {what} names it", until(lambda path=log: any(
                x.get("reason") == "cut_short" for x in lines(path))), lines(log))


def lines(path):
    try:
        with open(path, encoding="utf-8") as f:
            return [json.loads(x) for x in f if x.endswith("\n")]
    except FileNotFoundError:
        return []


run(origins_that_cut, clients_that_stop_reading, named_everywhere)
