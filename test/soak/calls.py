#!/usr/bin/env python3
"""calls.py BIDE [CALLS]: gRPC calls over HTTP/2, 10 % of them with faults of every kind that a
stream can have; each is counted at both ends. A call gets exactly one answer, its own, with
the status that the script leads to, and runs just as often as the policy allows: what was
listed is retried, what was provably not begun goes again, and what broke without a status is
not sent twice. Without a number, 10 000 calls; `make soak` makes a million.

Meanwhile one of two endpoints goes away (GOAWAY) and comes back, again and again, and the
sidecar reloads: that must not show."""
import collections
import random
import sys
import threading
import time

import http2_peer as http2
from parts import proxied, run, tap
from sidecar import FAST

CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
CLIENTS, AT_ONCE, RELOADS = 4, 32, 50
GRPC = [("content-type", "application/grpc"), ("te", "trailers")]
HEAD = [(":status", "200"), ("content-type", "application/grpc")]
POLICY = (FAST + ", attempts: 3, budget: { kind: off }, breaker: { kind: off }, "
          "retry_on: { grpc: [UNAVAILABLE] }")

# How the first run of a call ends; the status that its client gets; how often it runs.
# "refused" is reset with REFUSED_STREAM before it ran, and so does not count. After a
# message nothing is sent again, unless the status came so soon that none was passed on.
FAULTS = {
    "unavailable": ("0", 2), "metadata_first": ("0", 2), "aborted": ("10", 1),
    "internal": ("13", 1), "refused": ("0", 1), "reset": ("14", 1),
    "reset_after_head": ("14", 1), "cancel": ("14", 1), "no_error": ("14", 1),
    "html": ("14", 1), "no_status": ("2", 1), "always": ("14", 3),
    "after_message": ("14", 1), "pushback_0": ("0", 2), "pushback_no": ("14", 1),
}


def message(text):
    return b"\0" + len(text).to_bytes(4, "big") + text


def right(name, status, ran):
    fault = name.partition(" ")[2]
    want = FAULTS.get(fault, ("0", 1))
    late = ("metadata_first", "14", 1)  # over grpc.hold, on a busy machine
    return (status, ran) == want or (fault, status, ran) in (
        ("after_message", "0", 2), late)


class Server:
    """Both endpoints; knows how often each call ran."""

    def __init__(self):
        self.lock = threading.Lock()
        self.ran, self.refused = collections.Counter(), set()

    def handle(self, c, s):
        c.until(lambda: s.ended or s.reset is not None or c.closed)
        if not s.ended:
            return
        name = s.body[5:].decode()
        fault = name.partition(" ")[2]
        with self.lock:
            if fault == "refused" and name not in self.refused:
                self.refused.add(name)
                c.rst(s, 7)
                s.done = True
                return
            self.ran[name] += 1
            first = self.ran[name] == 1
        if fault not in ("", "refused") and (first or fault == "always"):
            self.fail(c, s, fault)
        else:
            c.head(s, HEAD)
            c.send(s, s.body)
            c.head(s, [("grpc-status", "0")], True)
        s.done = True

    def fail(self, c, s, fault):
        status = {"unavailable": "14", "always": "14", "metadata_first": "14",
                  "after_message": "14", "pushback_0": "14", "pushback_no": "14",
                  "aborted": "10", "internal": "13"}.get(fault)
        if fault in ("reset", "cancel", "no_error"):
            c.rst(s, {"reset": 2, "cancel": 8, "no_error": 0}[fault])
        elif fault == "reset_after_head":
            c.head(s, HEAD)
            c.rst(s, 2)
        elif fault == "html":
            c.head(s, [(":status", "503"), ("content-type", "text/html")])
            c.send(s, b"<html>", True)
        elif fault == "no_status":
            c.head(s, HEAD, True)
        elif fault in ("metadata_first", "after_message"):
            c.head(s, HEAD)
            if fault == "after_message":
                c.send(s, s.body)
            c.head(s, [("grpc-status", status)], True)
        else:
            more = {"pushback_0": "0", "pushback_no": "-1"}.get(fault)
            c.head(s, [*HEAD, ("grpc-status", status)] +
                   ([("grpc-retry-pushback-ms", more)] if more else []), True)


class Caller(threading.Thread):
    def __init__(self, port, names):
        super().__init__()
        self.port, self.names, self.lost, self.garbled = port, names, [], []
        self.ended, self.said = {}, {}

    def take(self, name, s):
        status = s.trailers.get("grpc-status") or s.fields.get("grpc-status")
        if s.reset is not None and s.status == 200 and "reset_after_head" in name:
            status = "14"  # the head was passed on after grpc.hold, and it broke then
        self.ended[name] = status
        self.said[name] = s.fields
        if status is None:
            self.lost.append((name, repr(s)))
        elif status == "0" and s.body != message(name.encode()):
            self.garbled.append((name, repr(s)))

    def run(self):
        c = http2.Client(self.port)
        for at in range(0, len(self.names), AT_ONCE):
            batch = self.names[at:at + AT_ONCE]
            asked = [(n, c.ask("POST", "/shop.Cart/Add", GRPC, message(n.encode())))
                     for n in batch]
            for name, s in asked:
                self.take(name, c.answer(s))
            if c.closed or c.goaways:
                c.close()
                c = http2.Client(self.port)
            c.streams.clear()
        c.close()


def calls():
    rng = random.Random(17)
    kinds = sorted(FAULTS)
    names = [f"call-{i}" + (f" {rng.choice(kinds)}" if rng.random() < 0.1 else "")
             for i in range(CALLS)]
    server = Server()
    stays, goes = http2.Origin(server.handle), http2.Origin(server.handle)
    port, over = goes.port, threading.Event()
    with proxied(stays, port, policy=POLICY) as p:
        began = time.monotonic()
        callers = [Caller(p.port, names[k::CLIENTS]) for k in range(CLIENTS)]
        for t in callers:
            t.start()
        reloads = 0
        while any(t.is_alive() for t in callers):
            goes.stop(gently=True)
            goes = http2.Origin(server.handle, port=port)
            if reloads < RELOADS or CALLS > 100000:
                p.reload()
                reloads += 1
            over.wait(0.2 if CALLS <= 20000 else 1)
        for t in callers:
            t.join()
        goes.stop()
        took = time.monotonic() - began
    lost = [x for t in callers for x in t.lost]
    garbled = [x for t in callers for x in t.garbled]
    wrong = [(n, t.ended[n], server.ran[n], t.said[n]) for t in callers for n in t.ended
             if not right(n, t.ended[n], server.ran[n])]
    print(f"# {CALLS} calls, {sum(' ' in n for n in names)} with faults, {reloads} "
          f"reloads, {took:.0f} s")
    tap.case("no call is lost", not lost and sum(
        len(t.ended) for t in callers) == CALLS, lost[:3])
    tap.case("each gets its own answer", not garbled, garbled[:3])
    tap.case("each ends as its script says, and ran as often as the policy allows",
             not wrong, (len(wrong), wrong[:5]))


run(calls)
