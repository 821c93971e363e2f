#!/usr/bin/env python3
"""breaker.py BIDE: what clients do with their own time must not shut a healthy
service for others. Each attack, then honest requests: they are answered, and no
breaker has opened, no endpoint is out, no budget is spent."""
import threading

from attack import (FAST, Answer, Origin, ask, attacked, crowd, get, honest,
                    leave, named, ok, opened, run, series, tap, until)

HOSTILE = 40
# A breaker that is quick to open and stays so.
POLICY = FAST + ", breaker: { min_calls: 10, open: 5m }"


def patient(o, peer):
    """Reads all of a request and answers; never for those who ask to hang."""
    while head := o.request(peer):
        if b" /hang" in head:
            peer.gone()
            return
        if not peer.send(ok()):
            return


def unharmed(what, p, reason, answers=()):
    """Honest clients are served as if nothing had been."""
    got = honest(p, 20)
    tap.case(f"{what}: then honest requests are answered", set(got) == {200}, got)
    tap.case(f"{what}: no breaker has opened", opened(p) == 0, opened(p))
    up = series(p, "bide_endpoint_up")
    tap.case(f"{what}: no endpoint is out", up >= 1, up)
    tap.case(f"{what}: the reason has a name", named(p, reason) or any(
        a.fields.get("x-bide-reason") == reason for a in answers),
        [(a.status, a.fields.get("x-bide-reason")) for a in answers][:5])


def clipped(more=b"X-Bide-Timeout-Ms: 5\r\n", path="/hang"):
    def attack(p):
        clients = crowd(p, HOSTILE, get(path, more))
        answers = [Answer(c) for c in clients]
        leave(clients)
        return answers
    return attack


def short_timeouts():
    """(a), from anybody and from those who are trusted: the rule is the same."""
    for who, more in [("anybody", ""), ("trusted", "  trusted: 127.0.0.1\n")]:
        o = Origin(patient)
        with attacked(o, policy=POLICY, more=more) as p:
            tap.case("it serves", honest(p, 1) == [200])
            answers = clipped()(p)
            tap.case(f"5 ms of {who} end as a timeout", {a.status for a in answers}
                     <= {503, 504}, {a.status for a in answers})
            unharmed(f"timeouts of {who}", p, "client_timeout", answers)


def short_timeouts_in_turn():
    """One after the other, between honest ones, with one that tries to open it by
    a row of failures."""
    o = Origin(patient)
    with attacked(o, policy=FAST + ", breaker: { min_calls: 10, open: 5m, "
                  "consecutive: 5 }") as p:
        for _ in range(HOSTILE):
            ask(p, get("/hang", b"X-Bide-Timeout-Ms: 1\r\n"))
        unharmed("timeouts in a row", p, "client_timeout")


def slow_origin():
    """The issue's own: an origin that takes 50 ms, and clients who give it 5."""
    def talk(o, peer):
        while o.request(peer):
            threading.Event().wait(0.05)
            if not peer.send(ok()):
                return
    o = Origin(talk)
    with attacked(o, policy=FAST) as p:
        clipped(path="/")(p)
        got = honest(p, 20)
        tap.case("50 ms against 5: honest requests are answered",
                 set(got) == {200}, got)
        tap.case("and no breaker has opened", opened(p) == 0)


def long_answers():
    """An origin that repeats what it is asked for: a client can make its heads longer
    than the sidecar takes."""
    def talk(o, peer):
        while head := o.request(peer):
            if b" /old" in head and not peer.send(
                    b"HTTP/1.1 301 Moved\r\nLocation: /" + b"x" * 20000 +
                    b"\r\nContent-Length: 0\r\n\r\n"):
                return
            if b" /old" not in head and not peer.send(ok()):
                return
    o = Origin(talk)
    with attacked(o, policy=POLICY) as p:
        answers = [ask(p, get("/old")) for _ in range(HOSTILE)]
        tap.case("answers that are too long end with 502",
                 {a.status for a in answers} == {502}, answers[:2])
        unharmed("answers that are too long", p, "permanent", answers)


def probes_held():
    """A breaker is half-open, the service is well: uploads that stop take no place of
    those who would show it."""
    down = [1]

    def talk(o, peer):
        while head := o.request(peer):
            if not peer.send(ok(status=b"500 Down") if down else ok()):
                return
    o = Origin(talk)
    policy = FAST + ", breaker: { min_calls: 5, open: 100ms, open_max: 100ms }"
    with attacked(o, policy=policy) as p:
        until(lambda: ask(p, get()).fields.get("x-bide-reason") == "breaker_open")
        down.clear()
        part = b"x" * 70000
        clients = crowd(p, 8, get("/up", b"Content-Length: 1000000\r\n", b"POST") +
                        part)
        tap.case("uploads that stop do not keep a breaker shut",
                 until(lambda: honest(p, 5) == [200] * 5))
        leave(clients)


def stalled_uploads(p, n):
    return crowd(p, n, get("/up", b"Content-Length: 1000000\r\n", b"PUT") +
                 b"x" * 70000)


def uploads():
    """(b): 70 kB of a megabyte, and then silence, under a deadline."""
    for policy in ("deadline: 1s", "deadline: 1s, attempts: 1"):
        o = Origin(patient)
        with attacked(o, policy=f"{POLICY}, {policy}") as p:
            tap.case("it serves", honest(p, 1) == [200])
            clients = stalled_uploads(p, HOSTILE)
            answers = [Answer(c) for c in clients]
            tap.case(f"uploads that stall, {policy}: they are ended", all(
                a.status in (0, 408, 504) for a in answers),
                {a.status for a in answers})
            unharmed(f"uploads that stall, {policy}", p, "upload", answers)
            leave(clients)


def two_endpoints():
    """Neither is taken out for it."""
    a, b = Origin(patient), Origin(patient)
    with attacked(a, b, policy=POLICY + ", deadline: 1s") as p:
        clipped()(p)
        clients = stalled_uploads(p, HOSTILE)
        for c in clients:
            Answer(c)
        up = series(p, "bide_endpoint_up")
        tap.case("clients take no endpoint out", up == 2, up)
        tap.case("and open no breaker", opened(p) == 0 and
                 set(honest(p)) == {200})
        leave(clients)


def the_line(what, attack):
    """(c): all connections are held; those who wait in line for one, and give up,
    say nothing about the service."""
    o = Origin(endless)
    with attacked(o, policy=POLICY + ", attempt_timeout: 2s, attempts: 1",
                  upstream=", pool: { connections: 4, connecting: 4, idle: 4 }",
                  more="  timeouts: { write: 10m, body: 10m }\n"
                  ) as p:
        clients = attack(p)
        tap.case(f"{what}: all of them are taken", until(
            lambda: series(p, "bide_endpoint_connections") == 4))
        waiting = crowd(p, HOSTILE, get("/honest"))
        answers = [Answer(c) for c in waiting]
        leave(waiting)
        tap.case(f"{what}: no breaker opens meanwhile", opened(p) == 0 and not any(
            a.fields.get("x-bide-reason") == "breaker_open" for a in answers),
            [(a.status, a.fields.get("x-bide-reason")) for a in answers][-3:])
        leave(clients)
        tap.case(f"{what}: when they have left, others are served", until(
            lambda: ask(p, get("/honest")).status == 200))
        if {a.status for a in answers} != {200}:
            unharmed(what, p, "connection_wait", answers)
        tap.case(f"{what}: no breaker has opened", opened(p) == 0)


def endless(o, peer):
    """As `patient`; those who ask for it get an answer without end."""
    while head := o.request(peer):
        if b" /long" not in head:
            if not peer.send(ok()):
                return
            continue
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n")
        while peer.send(b"x" * 65536):
            pass
        return


def line_of_uploads():
    the_line("uploads in all connections", lambda p: stalled_uploads(p, 12))


def line_of_readers():
    the_line("readers in all connections",
             lambda p: crowd(p, 12, get("/long"), 4096))


def many_uploads():
    """The issue's own: 1 100 uploads against the 1 024 connections that there
    are as it comes."""
    o = Origin(patient)
    with attacked(o, policy=POLICY + ", attempt_timeout: 2s, attempts: 1"
                  ) as p:
        clients = stalled_uploads(p, 1100)
        waiting = crowd(p, HOSTILE, get("/honest"))
        for c in waiting:
            Answer(c)
        leave(clients + waiting)
        tap.case("1 100 uploads have left: others are served", until(
            lambda: ask(p, get("/honest")).status == 200))
        tap.case("and no breaker has opened", opened(p) == 0, opened(p))


run(short_timeouts, short_timeouts_in_turn, slow_origin, long_answers, probes_held,
    uploads, two_endpoints,
    line_of_uploads, line_of_readers, many_uploads)
