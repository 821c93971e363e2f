#!/usr/bin/env python3
"""e2e_http2_clock.py BIDE: what HTTP/2 does by the clock, which stands still here and is
moved: PINGs, connections that are renewed, connections that end in good order. And how a
dead endpoint is found, by the kernel's clock."""
import ctypes
import os
import socket

import h2raw
from clock import Clock
from h2raw import frame
from parts import Origin, connect, get, proxied, run, says, ok, tap, until

# Nothing else ends in the hours that pass.
QUIET = "  timeouts: { idle: 20h, tunnel: 20h, write: 20h }\n"
POLICY = "attempts: 1, attempt_timeout: 20h"
LONG = ", protocol: http2, body_timeout: 20h, pool: { idle_timeout: 20h, max_age: %s }"
MINUTE = 60
ANY = 2**31 - 1


class Asker:
    """Requests by HTTP/1.1, each on a connection of its own, to a server whose frames
    are seen."""

    def __init__(self, p, server):
        self.p, self.server = p, server

    def ask(self):
        """Where it has arrived: the connection, and the stream."""
        before = {(c, s) for c in self.server.all for s in c.asked()}
        peer = connect(self.p)
        peer.send(get())
        found = []

        def arrived():
            found[:] = {(c, s) for c in list(self.server.all)
                        for s in c.asked()} - before
            return found
        until(arrived)
        return (*found[0], peer)

    def whole(self):
        """One that is answered; the connection that it came on."""
        c, stream, peer = self.ask()
        c.answer(stream)
        good = peer.head().startswith(b"HTTP/1.1 200")
        peer.close()
        return c if good else None


def pings(c):
    return [f for f in c.of("PING") if not f[1] & 1]


def answer_ping(c):
    c.send(frame(6, 0, 1, pings(c)[-1][3]))


# ===== PING =====

def asks_whether_it_is_there():
    clock, server = Clock(), h2raw.Server()
    with proxied(server, upstream=LONG % "none", policy=POLICY, more=QUIET,
                 popen=clock.popen) as p:
        a = Asker(p, server)
        c, stream, peer = a.ask()
        clock.move(5 * MINUTE - 1)
        a.whole()
        tap.case("a call of 4:59 minutes: no PING", not pings(c), c.frames)
        clock.move(2)
        tap.case("after five there is one", until(lambda: len(pings(c)) == 1), c.frames)
        answer_ping(c)
        clock.move(5 * MINUTE - 1)
        a.whole()
        tap.case("... and no second before another five", len(pings(c)) == 1, c.frames)
        clock.move(2)
        tap.case("... but then", until(lambda: len(pings(c)) == 2), c.frames)
        answer_ping(c)
        c.answer(stream)
        tap.case("the call ends well", peer.head().startswith(b"HTTP/1.1 200"))
        peer.close()
        for _ in range(4):  # in one go it would be one timer
            clock.move(5 * MINUTE + 1)
            until(lambda: False, 0.1)
        same = a.whole()
        tap.case("without a call there is none, for 20 minutes", same is c and
                 len(pings(c)) == 2 and len(server.all) == 1, (server.all, c.frames))
        clock.run()
    clock.close()


def asks_less_often():
    clock, server = Clock(), h2raw.Server()
    with proxied(server, upstream=LONG % "none", policy=POLICY, more=QUIET,
                 popen=clock.popen) as p:
        a = Asker(p, server)
        c, stream, peer = a.ask()
        clock.move(5 * MINUTE + 1)
        until(lambda: len(pings(c)) == 1)
        for name, code, text in (("another reason", 11, b"calm down"),
                                 ("another code", 0, b"too_many_pings")):
            c.send(frame(7, 0, 0, stream.to_bytes(4, "big") + code.to_bytes(4, "big") +
                         text))
            c.answer(stream)
            peer.head()
            peer.close()
            c, stream, peer = a.ask()
            clock.move(5 * MINUTE + 1)
            tap.case(f"GOAWAY with {name}: PING after five minutes, as before",
                     until(lambda c=c: len(pings(c)) == 1), c.frames)
        wait = 5 * MINUTE
        for _ in range(2):
            c.send(frame(7, 0, 0, stream.to_bytes(4, "big") + b"\0\0\0\x0b" +
                         b"too_many_pings"))
            c.answer(stream)
            peer.head()
            peer.close()
            c, stream, peer = a.ask()
            clock.move(wait * 2 - 1)
            a.whole()
            tap.case(f"too_many_pings: none before {wait * 2 // 60} minutes",
                     not pings(c), c.frames)
            clock.move(2)
            tap.case("... and then one", until(lambda c=c: len(pings(c)) == 1), c.frames)
            wait *= 2
        peer.close()
        clock.run()
    clock.close()


# ===== renewal =====

def renewed_by_age():
    """Ten minutes, a tenth more or less."""
    clock, server = Clock(), h2raw.Server()
    early = late = 0
    with proxied(server, upstream=LONG % "10m", policy=POLICY, more=QUIET,
                 popen=clock.popen) as p:
        a, bad = Asker(p, server), []
        for i in range(20):
            c = a.whole()
            clock.move(9 * MINUTE - 1)
            if a.whole() is not c:
                bad.append(f"{i}: before nine minutes")
            clock.move(MINUTE + 1)
            if a.whole() is not c:
                early += 1
            else:
                late += 1
                clock.move(MINUTE + 1)
                if a.whole() is c:
                    bad.append(f"{i}: not after eleven minutes")
            if not until(lambda c=c: c.of("END")):
                bad.append(f"{i}: it is not closed")
            if [f[3][4:8] for f in c.of("GOAWAY")] != [bytes(4)]:
                bad.append(f"{i}: {c.of('GOAWAY')}")
        tap.case("20 connections are renewed between 9 and 11 minutes, with a GOAWAY",
                 not bad, bad)
        tap.case("... some before ten and some after", early > 0 and late > 0,
                 (early, late))
        clock.run()
    clock.close()


# ===== the end, in good order =====

def says_goodbye(raw, what, last):
    """The first GOAWAY and a PING; then, when that is answered and not before, the
    second."""
    seen = raw.until(lambda f: f[0] == "PING" and not f[1] & 1)
    ping = seen[-1][3] if seen else b""
    away = [int.from_bytes(f[3][:4], "big") for f in seen if f[0] == "GOAWAY"]
    tap.case(f"{what}: the first GOAWAY names no stream, and a PING follows",
             away == [ANY] and len(ping) == 8, seen)
    for i in range(3):
        raw.send(frame(6, 0, 0, b"fence %02d" % i))
        seen = raw.until(lambda f: f[0] == "PING" and f[1] & 1)
        tap.case("... there is no second before it is answered",
                 not [f for f in seen if f[0] == "GOAWAY"], seen)
    raw.send(frame(6, 0, 1, ping))
    seen = raw.until(lambda f: f[0] == "GOAWAY")
    tap.case("... and then there is, with the last stream",
             seen and seen[-1][0] == "GOAWAY" and
             seen[-1][3] == last.to_bytes(4, "big") + bytes(4), seen)


def ends_by_idleness():
    clock = Clock()
    with proxied(Origin(says(ok())), popen=clock.popen) as p:
        raw = h2raw.Raw(p.port)
        tap.case("a request", raw.get(1) == (200, b"ok"))
        clock.move(74)
        tap.case("a client that is idle for 74 seconds is served", raw.get(3) ==
                 (200, b"ok"))
        clock.move(76)
        says_goodbye(raw, "idle for 76 seconds", 3)
        tap.case("... and it is closed", not [f for f in raw.until(lambda f: False)
                                               if f[0] != "PING"])
        raw.close()
        clock.run()
    clock.close()


def ends_by_signal():
    clock, server = Clock(), h2raw.Server()
    with proxied(server, upstream=LONG % "none", policy=POLICY, more=QUIET,
                 popen=clock.popen) as p:
        raw = h2raw.Raw(p.port)
        raw.send(frame(1, 1, 5, h2raw.request(b"GET", b"/")))
        until(lambda: server.all and server.all[0].asked())
        p.process.terminate()
        says_goodbye(raw, "SIGTERM", 1)
        server.all[0].answer(1)
        seen = raw.until(lambda f: False)
        tap.case("what was under way is answered, and the connection closed",
                 ("HEADERS", 1) in [(f[0], f[2]) for f in seen], seen)
        raw.close()
        tap.case("... and the process ends", p.process.wait(20) == 0)
        clock.run()
    clock.close()


def regress_idle_at_the_signal():
    """Who is idle then has not heard of it yet: it is not closed before it has answered,
    and what it asks until then is served."""
    clock = Clock()
    with proxied(Origin(says(ok())), popen=clock.popen) as p:
        raw = h2raw.Raw(p.port)
        tap.case("a request", raw.get(1) == (200, b"ok"))
        p.process.terminate()
        seen = raw.until(lambda f: f[0] == "PING" and not f[1] & 1)
        ping = seen[-1][3] if seen else b""
        clock.move(1)
        for _ in range(3):  # time has passed there, too
            raw.ping()
        tap.case("idle at SIGTERM: it may ask until it has answered the PING",
                 raw.get(3) == (200, b"ok"))
        raw.send(frame(6, 0, 1, ping))
        seen = raw.until(lambda f: f[0] == "GOAWAY")
        tap.case("... and is told then which one was the last",
                 seen and seen[-1][0] == "GOAWAY" and
                 seen[-1][3] == (3).to_bytes(4, "big") + bytes(4), seen)
        raw.until(lambda f: False)
        raw.close()
        tap.case("... and closed", p.process.wait(20) == 0)
        clock.run()
    clock.close()


# ===== a peer that is dead =====

TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_USER_TIMEOUT = 4, 5, 18
PIDFD_GETFD = 438


def options(p, port):
    """Of its connections to that port, as the kernel has them; None: we may not look."""
    libc, found = ctypes.CDLL(None, use_errno=True), []
    pidfd = os.pidfd_open(p.pid)
    for name in os.listdir(f"/proc/{p.pid}/fd"):
        fd = libc.syscall(PIDFD_GETFD, pidfd, int(name), 0)
        if fd < 0 and ctypes.get_errno() in (1, 38):
            return None
        if fd < 0:
            continue
        try:
            with socket.socket(fileno=fd) as s:
                if s.getpeername()[1] == port:
                    found.append([s.getsockopt(socket.IPPROTO_TCP, o) for o in (
                        TCP_USER_TIMEOUT, TCP_KEEPIDLE, TCP_KEEPINTVL)] +
                        [s.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)])
        except (OSError, IndexError, TypeError):
            pass
    os.close(pidfd)
    return found


def dead_peers_are_found():
    """In 20 seconds, by the kernel: 5 until it asks, 15 without an answer."""
    server = h2raw.Server()
    with proxied(server, upstream=", protocol: http2") as p:
        Asker(p, server).whole()
        found = options(p, server.port)
        if found is None:
            tap.case("# skip: the kernel does not let us look", True)
            return
        tap.case("a connection to an endpoint is given up after 15 seconds without an "
                 "answer, and asked after 5", found == [[15000, 5, 5, 1]], found)


run(asks_whether_it_is_there, asks_less_often, renewed_by_age, ends_by_idleness,
    ends_by_signal, regress_idle_at_the_signal, dead_peers_are_found)
