#!/usr/bin/env python3
"""e2e_http2_open.py BIDE: endpoints whose connections open and can take no request: each
counts as one that could not be opened, and not as a reason to open another at once."""
import contextlib
import socket
import threading

import h2raw
import http2_peer as http2
from h2raw import frame
from parts import proxied, run, tap, until
from sidecar import OPEN

ATTEMPTS = 3
POLICY = OPEN + f", attempts: {ATTEMPTS}"
SETTINGS = frame(4, 0, 0)
NO_STREAMS = frame(4, 0, 0, b"\0\3\0\0\0\0")


class Greeter:
    """Says this to whoever connects, and nothing else."""

    def __init__(self, words):
        self.words, self.all = words, []
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                s = self.socket.accept()[0]
                self.all.append(s)
                s.sendall(self.words)

    def stop(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        for s in self.all:
            s.close()


def useless():
    for name, goaway in (
            ("that goes away in the same breath", bytes(8)),
            ("... that is about to", b"\x7f\xff\xff\xff" + bytes(4)),
            ("... with ENHANCE_YOUR_CALM", bytes(7) + b"\x0b")):
        o = Greeter(SETTINGS + frame(7, 0, 0, goaway))
        with proxied(o, policy=POLICY, upstream=", protocol: http2") as p:
            c = http2.Client(p.port)
            s = c.get("POST", "/", (), b"x")
            tap.case(f"a connection {name}: one for each attempt", s.status == 502 and
                     len(o.all) == ATTEMPTS, (s, len(o.all)))
            c.close()
    o = Greeter(SETTINGS + frame(6, 0, 0, b"short"))
    with proxied(o, policy=POLICY, upstream=", protocol: http2") as p:
        c = http2.Client(p.port)
        s = c.get("POST", "/", (), b"x")
        tap.case("a connection that breaks the protocol at once is a malformed answer",
                 s.status == 502 and len(o.all) == 1, (s, len(o.all)))
        c.close()


class Gate(h2raw.Server):
    """Allows no stream, until it is told to; then one at a time."""

    def __init__(self):
        super().__init__(NO_STREAMS[9:])

    def opens(self):
        for c in self.all:
            c.send(frame(4, 0, 0, b"\0\3\0\0\0\1"))

    def serve_all(self, n):
        done = set()

        def look():
            for c in list(self.all):
                for s in c.asked():
                    if (c, s) not in done:
                        done.add((c, s))
                        c.answer(s)
            return len(done) == n
        return until(look)


def later():
    o = Gate()
    with proxied(o, policy=POLICY, upstream=", protocol: http2") as p:
        c = http2.Client(p.port)
        asked = [c.ask("POST", "/", (), b"x") for _ in range(5)]
        until(lambda: o.all and any(f[0] == "SETTINGS" and f[1] & 1 for f in o.all[0].frames))
        tap.case("an endpoint that allows no stream yet gets no request",
                 not o.all[0].asked(), o.all[0].frames)
        tap.case("... and one connection", len(o.all) == 1, len(o.all))
        o.opens()
        served = o.serve_all(5)
        for s in asked:
            c.answer(s)
        tap.case("... and all of them when it allows one", served and
                 all(s.status == 200 for s in asked), [s.status for s in asked])
        c.close()
    o = Greeter(NO_STREAMS)
    with proxied(o, policy=POLICY + ", attempt_timeout: none",
                 upstream=", protocol: http2, pool: { connect_timeout: 300ms }") as p:
        c = http2.Client(p.port)
        s = c.get("POST", "/", (), b"x")
        tap.case("one that never does: one connection for each attempt", s.status == 504 and
                 len(o.all) == ATTEMPTS, (s, len(o.all)))
        c.close()


run(useless, later)
