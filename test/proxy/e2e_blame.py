#!/usr/bin/env python3
"""Whose fault it was: a client cannot shut a healthy service for everybody, nor
bring the sidecar down, whatever it does with its own time, its body or its answer.
e2e_blame.py BIDE"""
import re
import socket
import threading
import urllib.request

import sidecar
from parts import (Origin, Peer, Answer, ask, connect, get, ok, proxied, run,
                   says, tap, until)

# A breaker that is quick to open, with the endpoint's own beside it.
TOUCHY = ("backoff: { base: 1ms, cap: 2ms }, attempts: 2, breaker: { min_calls: 5, "
          "failure_rate: 50%, open: 1m }")
ADMIN = "  admin: 127.0.0.1:0\n"


def metrics(p):
    admin = next(line for line in p.said if "admin endpoint at" in line)
    with urllib.request.urlopen(admin.split()[-1] + "metrics") as r:
        return r.read().decode()


def openings(p):
    """How often the breaker of the service, or of an endpoint, has opened."""
    return sum(int(n) for n in re.findall(
        r'^bide_breaker_transitions_total{[^}]*to="open"} (\d+)', metrics(p), re.M))


def ended_by(p, reason):
    """Calls that the engine ended for this reason."""
    found = re.search(rf'^bide_refused_total{{[^}}]*reason="{reason}"}} (\d+)',
                      metrics(p), re.M)
    return int(found[1]) if found else 0


def is_well(p, what, data=None):
    """The breaker never opened, and an honest request is answered right after."""
    tap.case(f"{what}: no breaker opened", openings(p) == 0, metrics(p))
    a = ask(p, data or get("/honest"))
    tap.case(f"{what}: an honest request is answered", a.status == 200, a)


# ===== time that was never given =====

def hasty_clients():
    """40 requests that give 5 ms to an origin that takes 50: it is well."""
    release = threading.Event()

    def talk(origin, peer):
        while head := origin.request(peer):
            if b"/hasty" in head:
                release.wait(0.05)
            if not peer.send(ok()):
                return

    with proxied(Origin(talk), policy=TOUCHY, more=ADMIN, log=True) as p:
        answers = [ask(p, get("/hasty", b"X-Bide-Timeout-Ms: 5\r\n"))
                   for _ in range(40)]
        tap.case("a client that gives too little time is told so",
                 {a.status for a in answers} <= {504, 200} and
                 any(a.fields.get("x-bide-reason") == "client_timeout"
                     for a in answers), answers)
        tap.case("... and counted so", ended_by(p, "client_timeout") > 20,
                 metrics(p))
        is_well(p, "hasty clients")
        release.set()


def hasty_clients_of_two_endpoints():
    """... and no endpoint is put out for it either."""
    release = threading.Event()

    def talk(origin, peer):
        while head := origin.request(peer):
            if b"/hasty" in head:
                release.wait(0.05)
            if not peer.send(ok()):
                return

    with proxied(Origin(talk), Origin(talk), policy=TOUCHY, more=ADMIN,
                 upstream=", ejection: { consecutive: 2 }") as p:
        for _ in range(40):
            ask(p, get("/hasty", b"X-Bide-Timeout-Ms: 5\r\n"))
        is_well(p, "hasty clients of two endpoints")
        ups = re.findall(r"^bide_endpoint_up{[^}]*} (\d)", metrics(p), re.M)
        tap.case("neither endpoint is out", ups == ["1", "1"], metrics(p))
        release.set()


def stalled(p, path="/stall", sent=70 << 10, more=b""):
    c = connect(p)
    c.send(b"PUT " + path.encode() + b" HTTP/1.1\r\nHost: x\r\n" + more +
           b"Content-Length: %d\r\n\r\n" % (1 << 20) + bytes(sent))
    return c


def stalled_uploads():
    """40 uploads that stall behind what is kept, under a deadline: it is well.
    So is it with those that stall just where streaming would begin."""
    for what, sent in (("stalled uploads", 70 << 10),
                       ("uploads that stall at the bound", (64 << 10) + 1)):
        with proxied(Origin(says(ok())), policy=TOUCHY + ", deadline: 500ms",
                     more=ADMIN, log=True) as p:
            clients = [stalled(p, sent=sent) for _ in range(40)]
            answers = [Answer(c) for c in clients]
            tap.case(f"{what} are given up, by their own fault",
                     {a.status for a in answers} == {408} and
                     {a.fields.get("x-bide-reason") for a in answers} ==
                     {"upload"}, answers)
            tap.case(f"{what} are counted so", ended_by(p, "upload") == 40,
                     metrics(p))
            is_well(p, what)
            for c in clients:
                c.close()


def late_uploads():
    """A body that comes so late that nothing is left of the deadline: what the
    origin was given is too little to be judged by."""
    gate = threading.Event()

    def talk(origin, peer):
        while head := origin.request(peer):
            if b"/late" in head:
                gate.wait()
            if not peer.send(ok()):
                return

    with proxied(Origin(talk), policy=TOUCHY + ", deadline: 600ms",
                 more=ADMIN) as p:
        clients = [connect(p) for _ in range(20)]
        for c in clients:
            c.send(b"PUT /late HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na")
        threading.Event().wait(0.5)  # of the clients' own making
        for c in clients:
            c.send(b"b")
        answers = [Answer(c) for c in clients]
        tap.case("late uploads end with the deadline",
                 {a.status for a in answers} <= {504, 408}, answers)
        gate.set()
        is_well(p, "late uploads")


# ===== our own line =====

def small_pool(n):
    return f", pool: {{ connections: {n}, idle: {n}, connecting: {n} }}"


def line_behind_uploads():
    """Stalled uploads pin a small pool: those in line time out, and that is none of
    the service's fault."""
    with proxied(Origin(says(ok())), policy=TOUCHY + ", attempt_timeout: 300ms",
                 more=ADMIN + "  timeouts: { body: 1m }\n",
                 upstream=small_pool(2), log=True) as p:
        stuck = [stalled(p) for _ in range(2)]
        until(lambda: re.search(r"^bide_proxy_connects_total 2$", metrics(p), re.M))
        inside = [connect(p) for _ in range(20)]
        for c in inside:
            c.send(get("/inside"))
        answers = [Answer(c) for c in inside]
        refused = [a for a in answers if a.status != 200]
        tap.case("who waits for a connection in vain is told so",
                 {(a.status, a.fields.get("x-bide-reason"),
                   a.fields.get("x-bide-retry")) for a in refused} <=
                 {(503, "connection_wait", "no")}, answers)
        tap.case("no breaker opened behind uploads that stall", openings(p) == 0,
                 metrics(p))
        for c in stuck:
            c.close()
        is_well(p, "after uploads that stalled")


def line_behind_readers():
    """Clients that do not read do the same to a small pool."""
    def talk(origin, peer):
        while head := origin.request(peer):
            if b"/big" not in head:
                peer.send(ok())
                continue
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1 << 26))
            for _ in range(64):
                if not peer.send(bytes(1 << 20)):
                    return

    with proxied(Origin(talk), policy=TOUCHY + ", attempt_timeout: 300ms",
                 more=ADMIN, upstream=small_pool(2)) as p:
        readers = [p.connect(receive_buffer=4096) for _ in range(2)]
        for s in readers:
            s.sendall(get("/big"))
        heads = [Peer(s).head() for s in readers]
        tap.case("both got their answer's head",
                 all(h.startswith(b"HTTP/1.1 200") for h in heads), heads)
        inside = [connect(p) for _ in range(20)]
        for c in inside:
            c.send(get("/inside"))
        answers = [Answer(c) for c in inside]
        tap.case("in line behind them: an answer, or no connection",
                 {(a.status, a.fields.get("x-bide-reason")) for a in answers} <=
                 {(200, None), (503, "connection_wait")}, answers)
        tap.case("no breaker opened behind readers that are slow",
                 openings(p) == 0, metrics(p))
        for s in readers:
            s.close()
        is_well(p, "after slow readers")


def line_is_not_the_services_time():
    """What stood in line gets the whole attempt_timeout from its connection on."""
    gate, asked = threading.Event(), []

    def talk(origin, peer):
        while head := origin.request(peer):
            asked.append(head)
            if b"/slow" in head:
                gate.wait()
            if not peer.send(ok()):
                return

    with proxied(Origin(talk), policy=TOUCHY + ", attempt_timeout: 10s",
                 more=ADMIN, upstream=small_pool(1)) as p:
        first, second = connect(p), connect(p)
        first.send(get("/slow"))
        until(lambda: len(asked) == 1)
        second.send(get("/second"))
        until(lambda: re.search(r"^bide_proxy_waited_for_link_total 1$",
                                metrics(p), re.M))
        gate.set()
        answers = [Answer(first), Answer(second)]
        tap.case("who stood in line is served", [a.status for a in answers] ==
                 [200, 200], answers)
        is_well(p, "after a line")


# ===== hedges =====

def hedged_calls_that_hang():
    """Found: such a call ended as refused by the budget, 503. It is a timeout,
    however little is left of the budget for hedges."""
    for what, policy in [
            ("one hedge", "hedge: { after: 10ms, max: 1, extra_load: 5% }"),
            ("three hedges", "hedge: { after: 10ms, max: 3, extra_load: 100% }"),
            ("none left in the budget", "hedge: { after: 10ms, max: 2 }, "
             "budget: { kind: window, floor: 0/s }"),
            ("a deadline", "hedge: { after: 10ms, max: 2 }, deadline: 300ms")]:
        o = Origin(lambda o, peer: o.request(peer) and peer.gone())
        with proxied(o, policy=sidecar.FAST + ", breaker: { kind: off }, attempts: 1"
                     ", attempt_timeout: 300ms, " + policy) as p:
            clients = [connect(p) for _ in range(8)]
            for c in clients:
                c.send(get())
            ends = {(a.status, a.fields.get("x-bide-reason"))
                    for a in map(Answer, clients)}
            tap.case(f"a hedged call to an origin that hangs, {what}: 504",
                     ends <= {(504, "attempts"), (504, "deadline")}, ends)


if __name__ == "__main__":
    socket.setdefaulttimeout(60)
    run(hasty_clients, hasty_clients_of_two_endpoints, stalled_uploads, late_uploads,
        line_behind_uploads, line_behind_readers, line_is_not_the_services_time,
        hedged_calls_that_hang)
