#!/usr/bin/env python3
"""e2e_given_back.py BIDE: what a request holds (a place in flight, a unit of the
budget, a probe of a breaker, a connection of the pool) is given back whichever way
the request ends. Clients leave at every moment; afterwards all is as before."""
import random
import select
import time

import sidecar
from parts import (Answer, Origin, all_gone, ask, connect, get, ok, proxied,
                   run, tap, until)

rng = random.Random(7)


def leave(peer):
    if rng.random() < 0.5:
        peer.reset()
    else:
        peer.close()


def requests_that_leave(p, n, path="/"):
    """Some at once, each of which leaves after a moment or at once."""
    for _ in range(n):
        peers = [connect(p) for _ in range(rng.randint(1, 5))]
        for peer in peers:
            what = rng.choice((get(path), get(path, b"Content-Length: 100000\r\n",
                                              b"PUT") + b"x" * 70000,
                               get(path, b"Content-Length: 10\r\n", b"POST") +
                               b"x" * 5))
            peer.send(what)
        time.sleep(rng.choice((0, 0.001, 0.01, 0.03)))
        for peer in peers:
            leave(peer)


def slow_unless(fine):
    """Answers what begins with /fine; others wait for a while, or fail."""
    def talk(origin, peer):
        while head := peer.head():
            if head.split(b" ")[1].startswith(fine):
                origin.heads.append(head)
                peer.send(ok())
                continue
            luck = rng.random()
            if luck < 0.3:
                peer.send(ok(b"no", status=b"503 No"))
            elif luck < 0.4:
                peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
                peer.gone()
                return
            elif luck < 0.5:
                return
            else:
                time.sleep(0.02)
                if not peer.send(ok()):
                    return
    return talk


def serves(name, p, reason=None):
    a = ask(p, get("/fine"))
    tap.case(f"{name}: serves as before", a.status == 200 and
             a.fields["x-bide-attempts"] == "1", (a, reason))


def places_in_flight():
    for more in ("in_flight: 1", "in_flight: 1, queue: 3", "in_flight: 2, queue: 1"):
        with proxied(Origin(slow_unless(b"/fine")),
                     policy=sidecar.OPEN + f", limits: {{ {more} }}") as p:
            requests_that_leave(p, 60)
            all_gone(p)
            serves(f"limits {more}", p)


def connections_of_a_pool():
    for more in ("connections: 1", "connections: 2, idle: 0", "connecting: 1"):
        with proxied(Origin(slow_unless(b"/fine")),
                     upstream=f", pool: {{ {more} }}") as p:
            requests_that_leave(p, 60)
            serves(f"pool {more}", p)


def units_of_the_budget():
    """Calls that are cancelled while they wait have not spent anything."""
    def talk(origin, peer):
        while head := peer.head():
            again = b"X-Bide-Attempt: 1; max=2\r\n" not in head
            peer.send(ok() if again and b"/fine" in head
                      else ok(b"no", status=b"503 No"))

    for budget in ("kind: in_flight, ratio: 1%", "kind: window, floor: 1/s, "
                   "window: 1s"):
        with proxied(Origin(talk), policy="attempts: 2, breaker: { kind: off }, "
                     "backoff: { base: 10s, floor: 5s }, "
                     f"budget: {{ {budget} }}") as p:
            for _ in range(30):
                peer = connect(p)
                peer.send(get("/wait"))
                time.sleep(0.02)
                leave(peer)
            all_gone(p)
            peer = connect(p)
            peer.send(get("/fine"))
            # A refused retry would be answered at once, with the 503.
            said, _, _ = select.select([peer.socket], [], [], 1)
            tap.case(f"budget {budget.split(',')[0]}: there is still some",
                     not said, said and peer.head())
            leave(peer)


def probes_of_an_endpoint():
    """The one request that may find out whether an endpoint is well again leaves
    before it has."""
    state = {"ill": True, "stall": False}

    def moody(origin, peer):
        while head := peer.head():
            origin.heads.append(head)
            if state["stall"]:
                peer.gone()
                return
            peer.send(ok(b"no", status=b"500 No") if state["ill"] else ok())

    ill, well = Origin(moody), Origin(slow_unless(b"/"))
    with proxied(ill, well, policy=sidecar.OPEN + ", attempts: 1",
                 upstream=", ejection: { consecutive: 3, open: 50ms }, "
                 "slow_start: 0ms") as p:
        until(lambda: (ask(p, get()), len(ill.heads) >= 3)[1])
        state["stall"] = True
        seen = len(ill.heads)
        for _ in range(50):
            peers = [connect(p) for _ in range(4)]
            for peer in peers:
                peer.send(get())
            time.sleep(0.02)
            for peer in peers:
                peer.reset()  # one that only closes may still want its answer
            if len(ill.heads) > seen + 2:
                break
        state.update(ill=False, stall=False)
        seen = len(ill.heads)

        def asked(n):
            return ask(p, get()) and len(ill.heads) >= seen + n
        # A probe that is lost is taken back after 10 s: that would be too late.
        back = until(lambda: asked(1), 6) and until(lambda: asked(20))
        tap.case("an endpoint comes back though its probes were abandoned", back,
                 (seen, len(ill.heads), len(well.heads)))


def a_deadline_that_has_passed():
    o = Origin(slow_unless(b"/"))
    with proxied(o) as p:
        for ms in (b"0", b"00", b"000000000000000"):
            a = ask(p, get("/", b"X-Bide-Timeout-Ms: " + ms + b"\r\n"))
            tap.case(f"a deadline of {ms.decode()} ms: 504, and no attempt",
                     a.status == 504 and a.fields["x-bide-attempts"] == "0" and
                     a.fields["x-bide-reason"] == "deadline" and not o.heads, a)
        for ms in (b"-1", b"99999999999999999999", b"x", b""):
            a = ask(p, get("/", b"X-Bide-Timeout-Ms: " + ms + b"\r\n"))
            tap.case(f"one of {ms.decode()!r} is none", a.status == 200, a)
        a = ask(p, get("/", b"X-Bide-Timeout-Ms: 900000000000\r\n"))
        tap.case("one of 28 years is passed on", a.status == 200 and
                 b"X-Bide-Timeout-Ms: " in o.heads[-1], o.heads[-1])


def expectations_and_retries():
    """One "100 Continue", however many attempts there are."""
    def talk(origin, peer):
        while origin.request(peer):
            n = len(origin.heads)
            peer.send(ok(b"no", status=b"503 No") if n < 3 else ok())

    o = Origin(talk)
    with proxied(o) as p:
        peer = connect(p)
        peer.send(get("/", b"Content-Length: 5\r\nExpect: 100-continue\r\n"
                      b"Connection: close\r\n", b"PUT"))
        first = peer.head()
        peer.send(b"hello")
        rest = peer.all()
        tap.case("a body that was waited for is sent at each attempt",
                 first == b"HTTP/1.1 100 Continue\r\n\r\n" and
                 rest.startswith(b"HTTP/1.1 200") and rest.count(b"HTTP/1.1") == 1
                 and o.bodies == [b"hello"] * 3 and
                 not any(b"xpect" in h for h in o.heads), (first, rest, o.bodies))


def a_streamed_body_is_sent_once():
    def talk(origin, peer):
        head = peer.head()
        origin.heads.append(head)
        peer.take(100_000)
        peer.reset()

    o = Origin(talk)
    with proxied(o) as p:
        peer = connect(p)
        peer.send(get("/", b"Content-Length: 200000\r\n", b"PUT") + b"x" * 150000)
        a = Answer(peer)
        tap.case("a body that is gone is not sent again", a.status == 502 and
                 a.fields["x-bide-reason"] == "not_replayable" and
                 len(o.heads) == 1, (a, len(o.heads)))


run(places_in_flight, connections_of_a_pool, units_of_the_budget,
    probes_of_an_endpoint, a_deadline_that_has_passed, expectations_and_retries,
    a_streamed_body_is_sent_once)
