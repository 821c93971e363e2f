#!/usr/bin/env python3
"""e2e_descriptors.py BIDE: with 64 descriptors, several workers and slow origins
everybody gets an answer, the service is not blamed, and nothing spins."""
import collections
import os
import resource
import threading

from parts import (Answer, Origin, ask, connect, get, ok, proxied, rests, run,
                   says, tap, until)
from sidecar import FAST, OPEN

LIMIT = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                  (64, 64))}
REASONS = {None, "connections", "descriptors"}


class Held:
    """An origin that answers nobody until it is let go."""

    def __init__(self):
        self.go = threading.Event()
        self.origin = Origin(self.talk)

    def talk(self, origin, peer):
        while origin.request(peer):
            self.go.wait()
            peer.send(ok())


def crowd_of(p, n, path="/"):
    crowd = [connect(p) for _ in range(n)]
    for c in crowd:
        c.send(get(path, b"Connection: close\r\n"))
    return crowd


def answers(crowd):
    got = collections.Counter()
    for c in crowd:
        a = Answer(c)
        got[a.status, a.fields.get("x-bide-reason")] += 1
        c.close()
    return got


def fair(got):
    return {status for status, _ in got} <= {200, 503} and \
        {reason for _, reason in got} <= REASONS


def slow_origin(workers):
    """More clients than descriptors, and an origin that takes its time."""
    held = Held()
    with proxied(held.origin, policy=f"{FAST}, attempt_timeout: 20s",
                 more=f"  workers: {workers}\n", popen=LIMIT) as p:
        crowd = crowd_of(p, 200)
        until(lambda: len(held.origin.heads) > 0)
        quiet = until(lambda: rests(p))
        held.go.set()
        got = answers(crowd)
        tap.case(f"{workers} workers: each of 200 gets 200 or 503", fair(got) and
                 got[200, None] > 0, got)
        tap.case(f"{workers} workers: nothing spins meanwhile", quiet)
        tap.case(f"{workers} workers: the service has no bad name for it", until(
            lambda: ask(p, get()).status == 200) and
                 [ask(p, get()).status for _ in range(20)] == [200] * 20)


def silent_origin():
    """Nobody is answered in time: those that had a connection hear that, the
    others that there was none to be had."""
    held = Held()
    with proxied(held.origin, policy=f"{OPEN}, attempts: 1, attempt_timeout: 1s",
                 more="  workers: 3\n", popen=LIMIT) as p:
        got = answers(crowd_of(p, 100))
        held.go.set()
        tap.case("an origin that is silent: each gets 503 or 504, with a reason",
                 {s for s, _ in got} <= {503, 504} and
                 all(reason for _, reason in got), got)
        tap.case("and is served when the origin speaks",
                 until(lambda: ask(p, get()).status == 200))


def none_left():
    """Requests that take long have all the descriptors: another one waits for
    one as long as its attempt may take, and is told."""
    held = Held()
    with proxied(held.origin, policy=f"{OPEN}, attempt_timeout: 60s",
                 popen=LIMIT) as p:
        p.reload(p.text.replace("policies:\n", "policies:\n  quick: { extends: "
                                "default, attempt_timeout: 200ms }\n").replace(
            "  routes:\n", "  routes:\n    - { match: { path: /quick }, upstream: "
            "up, policy: quick }\n"))
        crowd = crowd_of(p, 28)
        until(lambda: len(os.listdir(f"/proc/{p.pid}/fd")) >= 58)
        a = ask(p, get("/quick"))
        tap.case("where none is left a request is told so", a.status == 503 and
                 a.fields["x-bide-reason"] == "descriptors" and
                 a.fields["x-bide-retry"] == "no", a)
        held.go.set()
        got = answers(crowd)
        tap.case("and those that came first are served",
                 got == {(200, None): 28}, got)


def two_upstreams():
    """Connections that are kept for one do not keep the other from being
    served."""
    a, b = Origin(says(ok(b"a"))), Origin(says(ok(b"b")))
    more = ("  workers: 2\n")
    with proxied(a, policy=f"{FAST}, attempts: 1", more=more, popen=LIMIT) as p:
        text = p.text.replace("  routes:\n", "  routes:\n    - { match: { path: "
                              "/b }, upstream: b }\n") + \
            f'    b: {{ endpoints: ["http://127.0.0.1:{b.port}"] }}\n'
        p.reload(text)
        peers = crowd_of(p, 60)
        first = answers(peers)
        got = [ask(p, get("/b")) for _ in range(20)]
        tap.case("the second upstream is served", all(x.body == b"b" for x in got),
                 (first, got))
        crowd = crowd_of(p, 60) + crowd_of(p, 60, "/b")
        both = answers(crowd)
        tap.case("and both beside each other", fair(both) and both[200, None] > 0,
                 both)
    b.stop()


def crowds():
    """Many more than there are descriptors for: each gets its answer, or 503."""
    for workers in (1, 2, 4):
        with proxied(Origin(says(ok())), policy=OPEN, popen=LIMIT,
                     more=f"  workers: {workers}\n") as p:
            got = answers(crowd_of(p, 500))
            tap.case(f"500 clients, {workers} workers: each gets 200 or 503",
                     fair(got) and got[200, None] > 0, got)
            tap.case("afterwards all is well", until(
                lambda: ask(p, get()).status == 200))


def idle_crowd():
    """Those who hold a connection and ask for nothing are not served before those
    who ask."""
    with proxied(Origin(says(ok())), policy=OPEN, popen=LIMIT) as p:
        idle = [connect(p) for _ in range(200)]
        got = answers(crowd_of(p, 20))
        tap.case("beside 200 idle ones each gets an answer", fair(got), got)
        for c in idle:
            c.close()
        tap.case("and when they have left, theirs", until(
            lambda: ask(p, get()).status == 200))


run(lambda: slow_origin(1), lambda: slow_origin(4), silent_origin, none_left,
    two_upstreams, crowds, idle_crowd)
