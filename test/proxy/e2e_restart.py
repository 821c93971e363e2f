#!/usr/bin/env python3
"""e2e_restart.py BIDE: a restart is not a failure. Calls that find nobody wait
together and all arrive, once each; they are refused only when it takes too long;
with several endpoints nobody waits at all."""
import concurrent.futures
import contextlib
import socket
import subprocess
import threading
import time

from parts import ESTABLISHED, Origin, ok, run, sockets, tap, until
from ports import free_port
from sidecar import BIDE, FAST, Sidecar, config

CALLS = 40
# Long enough for any machine; the calls wait for the origin, not for this.
PATIENT = "unreachable: { wait: 2m }"


class Restarting:
    """An origin that leaves and comes back to its port, answers with its name, and
    remembers what it was asked through all its lives."""

    def __init__(self, name="here", answers=()):
        self.name, self.port = name, free_port()
        self.heads, self.bodies, self.peers = [], [], set()
        self.answers = list(answers)  # before those that are its name
        self.lock = threading.Lock()
        self.come()

    def talk(self, origin, peer):
        self.peers.add(peer)
        while origin.request(peer):
            with self.lock:
                answer = self.answers.pop(0) if self.answers else \
                    ok(self.name.encode())
            if not peer.send(answer):
                return

    def come(self):
        self.origin = Origin(lambda origin, peer: self.talk(origin, peer), self.port)

    def leave(self):
        """As a process that ends: no listener, and no connection."""
        self.origin.stop()
        for peer in self.peers:
            with contextlib.suppress(OSError):
                peer.socket.shutdown(socket.SHUT_RDWR)
        self.peers = set()
        self.heads += self.origin.heads
        self.bodies += self.origin.bodies

    @property
    def asked(self):
        return len(self.heads)


def played(p, origin, method, body, first=True):
    """Calls that come while it is away; what they came to, with those that had
    ended before it was back."""
    if first:
        p.request()  # so that there is a connection to lose
    origin.leave()
    before = origin.asked
    with concurrent.futures.ThreadPoolExecutor(CALLS) as pool:
        found = [pool.submit(p.request, method, f"/{i}", body)
                 for i in range(CALLS)]
        until(lambda: sockets((ESTABLISHED,), local=p.port) >= CALLS)
        early = [f for f in found if f.done()]
        origin.come()
        got = [f.result()[0] for f in found]
    origin.leave()
    paths = [head.split(b" ")[1] for head in origin.heads[before:]]
    origin.come()
    return got, early, sorted(paths)


def no_call_is_lost():
    for policy in "", PATIENT:
        origin = Restarting()
        p = Sidecar(config([origin.port], policy))
        for method, body in (("GET", None), ("POST", None), ("POST", b"x" * 5000),
                             ("PATCH", b"{}")):
            got, early, paths = played(p, origin, method, body)
            what = f"{method} {'with' if body else 'without'} a body" + \
                (", as it comes" if not policy else "")
            tap.case(f"{what}: nobody is sent away", not early, early)
            tap.case(f"{what}: all are answered", got == [200] * CALLS, got)
            tap.case(f"{what}: each is asked once", paths ==
                     sorted(f"/{i}".encode() for i in range(CALLS)), paths)
        tap.case("bodies arrive whole", b"x" * 5000 in origin.bodies)
        p.stop()
        origin.leave()


def never_there():
    """Until the origin starts for the first time, too."""
    origin = Restarting()
    p = Sidecar(config([origin.port], PATIENT))
    got, early, _ = played(p, origin, "GET", None, first=False)
    tap.case("calls that came first wait for its first start",
             not early and got == [200] * CALLS, got)
    p.stop()
    origin.leave()


def refused_in_the_end():
    origin = Restarting()
    p = Sidecar(config([origin.port], "unreachable: { wait: 100ms, knock: 50ms }"),
                log=True)
    p.request()
    origin.leave()
    status, fields, _ = p.request()
    tap.case("nobody comes back: refused", status == 503 and
             fields["x-bide-reason"] == "unreachable", (status, fields))
    tap.case("and told when to ask again", "retry-after" in fields, fields)
    origin.come()
    tap.case("when it is back, it is found", until(lambda: p.request()[0] == 200))
    _, log = p.stop()
    tap.case("the log says why", "unreachable" in {x.get("reason") for x in log},
             log[:2])
    origin.leave()


NO = ok(b"no", b"", b"503 No")
BREAKER = (FAST + ", attempts: 1, budget: { kind: off }, breaker: { min_calls: 3, "
           "failure_rate: 50%, open: 300ms, open_max: 300ms, probes: 1 }")


def held():
    """An open breaker: refuses, or lets calls wait."""
    for how in "fail", "wait":
        origin = Restarting(answers=[NO] * 3)
        p = Sidecar(config([origin.port], f"{BREAKER}, when_refused: {how}"))
        first = [p.request()[0] for _ in range(3)]
        tap.case(f"{how}: failures open the breaker", first == [503] * 3, first)
        with concurrent.futures.ThreadPoolExecutor(CALLS) as pool:
            got = list(pool.map(lambda _: p.request()[:2], range(CALLS)))
        reasons = {f.get("x-bide-reason") for status, f in got if status != 200}
        if how == "wait":
            tap.case("wait: all get through", not reasons, reasons)
        else:
            tap.case("fail: some are refused, by the breaker",
                     reasons == {"breaker_open"}, reasons)
        p.stop()
        origin.leave()


def held_with_a_deadline():
    origin = Restarting(answers=[NO] * 3)
    p = Sidecar(config([origin.port], BREAKER.replace("300ms", "10m") +
                       ", when_refused: wait, deadline: 300ms"))
    for _ in range(3):
        p.request()
    status, fields, _ = p.request()
    tap.case("a wait ends with the deadline", status in (503, 504) and
             fields["x-bide-attempts"] == "0", (status, fields))
    p.stop()
    origin.leave()


def one_after_the_other():
    a, b = Restarting("a"), Restarting("b")
    p = Sidecar(config([a.port, b.port], PATIENT))
    for away, there in ((a, b), (b, a), (a, b)):
        p.request()
        away.leave()
        with concurrent.futures.ThreadPoolExecutor(CALLS) as pool:
            got = [x[0::2] for x in pool.map(lambda _: p.request("POST", "/", b"x"),
                                             range(CALLS))]
        tap.case(f"{away.name} is away: {there.name} answers all",
                 got == [(200, there.name.encode())] * CALLS, got)
        away.come()
    p.stop()
    a.leave()
    b.leave()


def fetch():
    port = free_port()
    commands = [subprocess.Popen([BIDE, "fetch", "-s", *more,
                                  f"http://127.0.0.1:{port}/"],
                                 env=tap.environment(no_proxy="*"),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for more in ([], ["-d", "x"], ["--preset", "service"])]
    time.sleep(1)  # for each to have found nobody
    early = [c.poll() for c in commands if c.poll() is not None]
    origin = Restarting()
    origin.leave()
    origin.port = port
    origin.come()
    got = [(*c.communicate(timeout=120), c.returncode) for c in commands]
    tap.case("bide fetch waits for a port that opens later", not early and
             got == [(b"here", b"", 0)] * 3, got)
    origin.leave()


run(no_call_is_lost, never_there, refused_in_the_end, held, held_with_a_deadline,
    one_after_the_other, fetch)
