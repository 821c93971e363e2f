#!/usr/bin/env python3
"""e2e_shed.py BIDE: when places in flight are short, retries of a layer above are
refused first, then requests of low priority; what waits for a place goes by
priority."""
import threading

from parts import (Answer, Origin, ask, connect, get, metric, ok, proxied, run,
                   tap, until)

LIMITS = "attempts: 1, budget: {{ kind: off }}, breaker: {{ kind: off }}, " \
         "limits: {{ {} }}"
TRUSTED = "  trusted: [127.0.0.1]\n"
ROUTE = ", priority: { header: X-Priority }"


class Holding:
    """An origin that answers when it is told to, and says who has come."""

    def __init__(self):
        self.origin = Origin(self.talk)
        self.came, self.gates, self.lock = [], {}, threading.Lock()

    def gate(self, path):
        with self.lock:
            return self.gates.setdefault(path, threading.Event())

    def talk(self, origin, peer):
        while head := origin.request(peer):
            path = head.split()[1].decode()
            with self.lock:
                self.came.append(path)
            self.gate(path).wait(20)
            peer.send(ok(path.encode()))

    def here(self, *paths):
        return until(lambda: set(paths) <= set(self.came))


def send(p, path, more=b""):
    peer = connect(p)
    peer.send(get(path, more))
    return peer


def answered(peer):
    answer = Answer(peer)
    peer.close()
    return answer


def refused(what, answer, reason):
    f = answer.fields
    tap.case(what, answer.status == 503 and f.get("x-bide-reason") == reason and
             f.get("x-bide-retry") == "no" and f.get("x-bide-attempts") == "0"
             and int(f.get("retry-after", 0)) >= 1, answer)


def queued(p):
    return int(metric(p, r"bide_queued\{[^}]*\}"))


def who_is_refused_first():
    h = Holding()
    with proxied(h.origin, policy=LIMITS.format("in_flight: 5, shed: 60%"),
                 more=TRUSTED, route=ROUTE) as p:
        waiting = [send(p, f"/{i}") for i in range(3)]
        tap.case("three are in flight", h.here("/0", "/1", "/2"), h.came)
        refused("a retry of a layer above is refused first",
                ask(p, get("/r", b"X-Bide-Attempt: 2\r\n")), "shed_retry")
        refused("... of high priority, too",
                ask(p, get("/r", b"X-Bide-Attempt: 2\r\nX-Priority: high\r\n")),
                "shed_retry")
        waiting.append(send(p, "/3", b"X-Priority: low\r\n"))
        tap.case("low priority still gets a place", h.here("/3"), h.came)
        for value in (b"low", b"u=4", b"u=7, i", b"i,u=5"):
            refused(f"{value}: is refused next",
                    ask(p, get("/l", b"X-Priority: " + value + b"\r\n")),
                    "shed_priority")
        waiting.append(send(p, "/4", b"X-Bide-Attempt: 1\r\n"))
        tap.case("a first attempt of a layer above is not", h.here("/4"), h.came)
        full = ask(p, get("/f", b"X-Priority: u=0\r\n"))
        tap.case("when all are taken, everybody is refused", full.status == 503
                 and full.fields["x-bide-reason"] == "in_flight", full)
        for i, peer in enumerate(waiting):
            h.gate(f"/{i}").set()
            got = answered(peer)
            tap.case(f"those in flight are answered: {i}", got.status == 200, got)
        h.gate("/late").set()
        late = ask(p, get("/late", b"X-Bide-Attempt: 2\r\nX-Priority: low\r\n"))
        tap.case("afterwards nobody is refused", late.status == 200, late)
        tap.case("what was refused was never sent",
                 sorted(h.came) == ["/0", "/1", "/2", "/3", "/4", "/late"],
                 h.came)


def a_reserve_for_high():
    for trusted in (True, False):
        h = Holding()
        with proxied(h.origin, policy=LIMITS.format("in_flight: 2, reserve: 50%"),
                     more=TRUSTED if trusted else "", route=ROUTE) as p:
            first = send(p, "/n")
            h.here("/n")
            refused("the reserve is not for what is normal",
                    ask(p, get("/m")), "shed_priority")
            refused("nor for what Connection takes away", ask(p, get(
                "/c", b"X-Priority: high\r\nConnection: X-Priority\r\n")),
                    "shed_priority")
            h.gate("/h").set()
            high = ask(p, get("/h", b"X-Priority: high\r\n"))
            if trusted:
                tap.case("a trusted client's high priority gets it",
                         high.status == 200, high)
            else:
                refused("a client that is not trusted is normal at best", high,
                        "shed_priority")
            h.gate("/n").set()
            answered(first)


def the_line_goes_by_priority():
    h = Holding()
    with proxied(h.origin, policy=LIMITS.format(
            "in_flight: 1, queue: 10, queue_timeout: 20s"),
            more=TRUSTED + "  admin: 127.0.0.1:0\n", route=ROUTE) as p:
        first = send(p, "/first")
        h.here("/first")
        line = []
        for path, value in (("/n1", b"normal"), ("/n2", b"u=3"), ("/h1", b"u=1"),
                            ("/h0", b"u=0"), ("/h2", b"high")):
            line.append((path, send(p, path,
                                    b"X-Priority: " + value + b"\r\n")))
            tap.case(f"{path} waits", until(lambda: queued(p) == len(line)),
                     queued(p))
        for path in ("/first", "/h0", "/h1", "/h2", "/n1", "/n2"):
            h.here(path)
            h.gate(path).set()
        for path, peer in line:
            got = answered(peer)
            tap.case(f"{path} is answered", got.status == 200, got)
        answered(first)
        tap.case("the line goes by priority, then by who came first",
                 h.came == ["/first", "/h0", "/h1", "/h2", "/n1", "/n2"], h.came)


def words_that_say_nothing():
    h = Holding()
    with proxied(h.origin, policy=LIMITS.format("in_flight: 3, shed: 10%"),
                 route=ROUTE) as p:
        first = send(p, "/first")
        h.here("/first")
        for value in (b"", b"u", b"u=", b"u=9", b"u=-1", b"lowest", b",,,",
                      b"u=33", b"\"low\"", b"x" * 4000):
            path = f"/v{len(h.came)}"
            h.gate(path).set()
            got = ask(p, get(path, b"X-Priority: " + value + b"\r\n"))
            tap.case(f"{value[:9]} is normal", got.status == 200, got)
        h.gate("/first").set()
        answered(first)


run(who_is_refused_first, a_reserve_for_high, the_line_goes_by_priority,
    words_that_say_nothing)
