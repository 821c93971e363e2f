#!/usr/bin/env python3
"""e2e_stream_faults.py BIDE: the ways in which a stream of HTTP/2 fails, by the names under
which they appear: in the response, in the access log and in the log of decisions; what `bide
replay` makes of that log; and what `bide explain` says of each."""
import json
import os
import subprocess

import h2raw
import http2_peer as http2
from h2raw import CODES, frame
from parts import proxied, run, tap, until
from sidecar import BIDE, FAST, work

GRPC = [("content-type", "application/grpc"), ("te", "trailers")]
HEAD = b"\x88" + h2raw.field(b"content-type", b"application/grpc")
MESSAGE = b"\0\0\0\0\1x"
POLICY = (FAST + ", attempts: 2, budget: { kind: off }, breaker: { kind: off }, "
          "retry_on: { grpc: [UNAVAILABLE] }")


def status(code, *more):
    return h2raw.field(b"grpc-status", b"%d" % code) + b"".join(
        h2raw.field(*f) for f in more)


def rst(code):
    return lambda c, s: c.send(frame(3, s, 0, code.to_bytes(4, "big")))


def goaway(c, s):
    c.send(frame(7, 0, 0, bytes(8)))


def hangs_up(c, s):
    c.socket.shutdown(2)


def bare(c, s):
    c.send(frame(1, s, 5, HEAD))


def trailers(*words):
    return lambda c, s: c.send(frame(1, s, 5, HEAD + status(*words)))


calling = []  # the client's side


def late(c, s):
    """The status comes after grpc.hold, when the head has been passed on."""
    c.send(frame(1, s, 4, HEAD))
    until(lambda: calling[-1].status)
    c.send(frame(1, s, 5, status(14)))


def pushback(value):
    return trailers(14, (b"grpc-retry-pushback-ms", value))


# What the endpoint does; then how the call ended: grpc_status, reason, fault, stream, attempts.
BROKEN = ("UNAVAILABLE", "not_idempotent", "reset")
ROWS = [
    ("RST_STREAM REFUSED_STREAM", rst(7),
     "UNAVAILABLE", "attempts", "refused_stream", "REFUSED_STREAM", 3),
    ("GOAWAY below it", goaway,
     "UNAVAILABLE", "attempts", "refused_stream", "GOAWAY", 3),
    *((f"RST_STREAM {CODES[n]}", rst(n), *BROKEN, CODES[n], 1)
      for n in range(14) if n != 7),
    ("RST_STREAM with a code that nobody knows", rst(0xbeef), *BROKEN, "unknown", 1),
    ("the connection ends", hangs_up, *BROKEN, "CONNECTION", 1),
    ("no status", bare, "UNKNOWN", "success", None, None, 1),
    ("a listed status", trailers(14), "UNAVAILABLE", "attempts", None, None, 2),
    ("a status that is not", trailers(13), "INTERNAL", "permanent", None, None, 1),
    ("a pushback that says stop", pushback(b"-1"),
     "UNAVAILABLE", "server_refused", None, None, 1),
    ("a pushback of 1 ms", pushback(b"1"), "UNAVAILABLE", "attempts", None, None, 2),
    ("a status after grpc.hold", late, "UNAVAILABLE", "success", None, None, 1),
]


def lines(p):
    with open(p.log, encoding="utf-8") as f:
        return [json.loads(x) for x in f]


class Failing:
    """Does the same to each request, on all its connections."""

    def __init__(self, act):
        self.server, self.act, self.over = h2raw.Server(), act, False
        self.done = set()

    def serve(self, until_what):
        def look():
            for c in list(self.server.all):
                ended = {f[2] for f in c.frames if f[0] in ("DATA", "HEADERS") and f[1] & 1}
                for s in ended:
                    if (c, s) not in self.done:
                        self.done.add((c, s))
                        self.act(c, s)
            return until_what()
        return until(look)


def names():
    logs = []
    for name, act, code, reason, fault, stream, attempts in ROWS:
        o = Failing(act)
        with proxied(o.server, policy=POLICY, log=True,
                     more="  telemetry: { log: stderr }\n") as p:
            c = http2.Client(p.port)
            s = c.ask("POST", "/shop.Cart/Add", GRPC, MESSAGE)
            calling.append(s)
            o.serve(lambda s=s: s.ended or s.reset is not None)
            until(lambda p=p: lines(p))
            line = lines(p)[0]
            got = tuple(line.get(k) for k in (
                "grpc_status", "reason", "fault", "stream", "attempts"))
            tap.case(f"{name}: the access log", got == (code, reason, fault, stream,
                                                        attempts), line)
            if reason != "success":
                tap.case(f"{name}: the response", s.fields.get("x-bide-reason") == reason,
                         repr(s))
            if fault:
                want = (f'"fault":"{fault}"', f'"stream":"{stream}"')
                tap.case(f"{name}: the log of decisions", until(
                    lambda p=p, want=want: any(all(w in x for w in want)
                                               for x in p.said)), p.said)
            logs.append((name, line))
            c.close()
    replayed(logs)


FILE = os.path.join(work.name, "policy.yaml")
with open(FILE, "w", encoding="ascii") as policy:
    policy.write("version: 1\npolicies:\n"
                 "  default: { retry_on: { grpc: [UNAVAILABLE] } }\n")


# What the policy makes of each: how a call ends that always meets it, and after how many.
MET = {"refused_stream": ("attempts", 5), "reset": ("not_idempotent", 1),
       "UNAVAILABLE": ("attempts", 4), "INTERNAL": ("permanent", 1),
       "UNKNOWN": ("permanent", 1)}


def replayed(logs):
    """Each row's line, by itself: every attempt meets what the log says."""
    for name, line in logs:
        text = json.dumps(line) + "\n"
        out = subprocess.run(
            [BIDE, "replay", "--policy", FILE, "--log", "json", "--calls", "--json",
             "-"], input=text, capture_output=True,
            text=True, timeout=60)
        rows = [json.loads(x) for x in out.stdout.splitlines() if x.startswith("{")]
        met = line["grpc_status"]
        if line["reason"] != "success":
            met = line.get("fault", met)
        tap.case(f"{name}: replay meets {met}", rows and MET[met] == (
            rows[0].get("reason"), rows[0].get("attempts")),
                 (out.stdout[:600], out.stderr[:300]))


def explained():
    def explain(*words):
        return subprocess.run([BIDE, "explain", *words], capture_output=True, text=True,
                              timeout=60).stdout
    said = explain("--method", "POST", "--error", "refused_stream")
    tap.case("explain: a stream that was refused goes again, whatever its method",
             "the request was not processed" in said and "Retry at once" in said, said)
    for _, _, _, reason, fault, stream, _ in ROWS:
        if stream:
            said = explain("--method", "POST", "--error", stream)
            tap.case(f"explain --error {stream}: {fault}", f"error {fault} ({stream})" in
                     said and (reason == "attempts") == ("Retry at once" in said), said)
    said = explain("--method", "POST", "--error", "reset")
    tap.case("explain: one that was reset does not", "Stop: " in said and
             "(not_idempotent)" in said, said)
    said = explain("--method", "POST", "--grpc", "UNAVAILABLE", "--policy", FILE)
    tap.case("explain: a listed status does", "Retry in " in said and
             "gRPC UNAVAILABLE" in said, said)
    said = explain("--method", "POST", "--grpc", "UNAVAILABLE", "--header",
                   "grpc-retry-pushback-ms: -1", "--policy", FILE)
    tap.case("explain: ... unless its pushback says stop", "(server_refused)" in
             said, said)


run(names, explained)
