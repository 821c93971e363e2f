#!/usr/bin/env python3
"""e2e_upstreams.py BIDE: origins that fail, go and come back. Several endpoints;
clients that leave; connections that are closed just as they are used; a real nginx
that is restarted under load."""
import http.client
import os
import signal
import threading
import time

import sidecar
from parts import (Answer, Nginx, Origin, all_gone, ask, connect, counted, get,
                   has_nginx, ok, proxied, run, says, stopped, tap, until)
from sidecar import OPEN

fault = sidecar.Fault()


def several():
    good, bad = Origin(says(ok(b"good"))), Origin(says(ok(b"bad", b"", b"503 X")))
    with proxied(good, bad, upstream=", ejection: { open: 1h }") as p:
        got = [ask(p, get()) for _ in range(60)]
        tap.case("a retry goes to the other endpoint: no call fails",
                 all(a.body == b"good" for a in got), got)
        twice = [a for a in got if a.fields["x-bide-attempts"] == "2"]
        tap.case("and needs one retry at most", bad.heads and
                 len(twice) == len(bad.heads) and all(
                     a.fields["x-bide-attempts"] in ("1", "2") for a in got),
                 (len(twice), len(bad.heads)))
        before = len(bad.heads)
        for _ in range(60):
            ask(p, get())
        tap.case("one that fails is taken out, and gets no more requests",
                 5 <= before <= 20 and len(bad.heads) == before,
                 (before, len(bad.heads)))
    a, b = Origin(says(ok(b"a"))), Origin(says(ok(b"b")))
    with proxied(a, b) as p:
        for _ in range(200):
            ask(p, get())
        tap.case("endpoints share the load", 40 < len(a.heads) < 160 and
                 len(a.heads) + len(b.heads) == 200, (len(a.heads),
                                                      len(b.heads)))


def recovery():
    well = threading.Event()

    def talk(o, peer):
        while o.request(peer):
            peer.send(ok(b"sick") if well.is_set() else
                      ok(b"bad", b"", b"503 X"))
    good, sick = Origin(says(ok(b"good"))), Origin(talk)
    with proxied(good, sick, upstream=", slow_start: 0ms, ejection: "
                 "{ consecutive: 3, open: 200ms }") as p:
        until(lambda: ask(p, get()) and len(sick.heads) >= 3)
        well.set()
        tap.case("an endpoint that is well again gets requests again", until(
            lambda: ask(p, get()).body == b"sick"), len(sick.heads))


def wordy_checks():
    checks = []

    def talk(o, peer):
        while head := o.request(peer):
            if b"/check" not in head:
                peer.send(ok(b"wordy"))
                continue
            peer.send(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" +
                      ok(more=b"Set-Cookie: " + b"y" * 8000 + b"\r\n"))
            checks.append(head)
    wordy, plain = Origin(talk), Origin(says(ok(b"plain")))
    with proxied(wordy, plain, upstream=", slow_start: 0ms, health: { path: "
                 "/check, every: 100ms, timeout: 100ms }") as p:
        until(lambda: len(checks) > 4)  # three that fail would put it out
        tap.case("a check may be answered with hints first, and a long head",
                 until(lambda: ask(p, get()).body == b"wordy"))


def shares():
    """What all workers may have together, where it cannot be shared evenly."""
    go = threading.Event()

    def talk(o, peer):
        while o.request(peer):
            go.wait(20)
            peer.send(ok())
    o = Origin(talk)
    with proxied(o, policy=OPEN + ", attempt_timeout: 1m",
                 upstream=", pool: { connections: 5 }",
                 more="  workers: 2\n  admin: 127.0.0.1:0\n") as p:
        clients = [connect(p) for _ in range(40)]
        for c in clients:
            c.send(get())
        until(lambda: o.connections + counted(p, "waited_for_link") == 40)
        tap.case("two workers share five connections", o.connections == 5,
                 o.connections)
        go.set()
        tap.case("and serve 40 clients", all(Answer(c).status == 200
                                             for c in clients))


def all_out():
    first, second = Origin(says(ok(b"1", b"", b"503 X"))), Origin(
        says(ok(b"2", b"", b"503 X")))
    with proxied(first, second, upstream=", ejection: "
                 "{ consecutive: 2, open: 1h, max_ejected: 50% }") as p:
        for _ in range(20):
            a = ask(p, get())
        tap.case("not all endpoints are taken out at once",
                 a.status == 503 and a.body in (b"1", b"2") and
                 a.fields["x-bide-reason"] == "attempts" and
                 max(len(first.heads), len(second.heads)) >= 20,
                 (a, len(first.heads), len(second.heads)))


def clients_that_leave():
    seen, gone = threading.Event(), threading.Event()

    def talk(o, peer):
        while head := o.request(peer):
            if b"/body" in head:
                peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc")
            seen.set()
            peer.gone()
            gone.set()
    # One that only closes may have closed its sending half, and still wait: the
    # kernel tells the two apart when something is written (attack/half_close.py).
    for path, leave in [("/wait", "reset"), ("/body", "reset")]:
        o = Origin(talk)
        seen.clear()
        gone.clear()
        with proxied(o) as p:
            c = connect(p)
            c.send(get(path))
            seen.wait(20)
            if path == "/body":
                c.head()
                c.take(3)  # unread, they would make a reset of the close
            getattr(c, leave)()
            tap.case(f"a client's {leave} at {path} cancels the attempt",
                     gone.wait(20) and len(o.heads) == 1)
    o = Origin(says(ok(b"busy", b"Retry-After: 2\r\n", b"503 Busy"), ok()))
    with proxied(o, log=True) as p:
        c = connect(p)
        c.send(get())
        until(lambda: o.heads)
        time.sleep(0.1)  # the call is waiting now, most likely
        c.close()
        time.sleep(2.5)
        tap.case("a client that leaves during a wait leaves no retry behind",
                 len(o.heads) == 1, o.heads)
        _, log = p.stop()
        tap.case("and is logged as cancelled", [x["reason"] for x in log] ==
                 ["cancelled"], log)


def clients_that_leave_are_logged():
    """During the wait for an answer, amid an answer, amid a body."""
    with proxied(fault.ports["http"], log=True) as p:
        path, name = fault.path("stall")
        c = connect(p)
        c.send(get(path))
        until(lambda: fault.count(name)["requests"] > 0)
        c.reset()
        c = connect(p)
        c.send(get(fault.path("200;n=50000000")[0]))
        c.take(1000)
        c.close()
        c = connect(p)
        c.send(get("/", b"Content-Length: 10\r\n", b"PUT") + b"abc")
        c.close()
        all_gone(p)
        _, log = p.stop()
        tap.case("whoever leaves is logged as 499, cancelled", sorted(
            (x["status"], x["reason"]) for x in log)[1:] ==
            [(499, "cancelled")] * 2 and
            {x["reason"] for x in log} == {"cancelled"}, log)


def regress_clients_that_leave_at_once():
    """The sidecar hears of a request and of its client's end at the same moment: it
    stands still meanwhile."""
    def talk(o, peer):
        o.heads.append(peer.head())
        gone.append(peer.gone())
    length = b"Content-Length: %d\r\n"
    for what, first, rest in [
            ("a request", b"", get()),
            ("one with a body", b"", get("/", length % 5, b"PUT") + b"hello"),
            ("the end of a body", get("/", length % 5, b"PUT"), b"hello"),
            ("the end of a streamed body", get("/", length % 100000, b"PUT") +
             b"x" * 70000, b"x" * 30000)]:
        for leave in ("reset",):
            gone, o = [], Origin(talk)
            with proxied(o, policy=OPEN + ", attempt_timeout: none",
                         log=True) as p:
                c = connect(p)
                c.send(first)
                until(lambda n=len(first): n < 70000 or o.heads)
                os.kill(p.pid, signal.SIGSTOP)
                until(lambda: stopped(p))
                c.send(rest)
                getattr(c, leave)()
                os.kill(p.pid, signal.SIGCONT)
                tap.case(f"regress: a client's {leave} beside {what} is noticed",
                         all_gone(p) and until(lambda: len(gone) == len(o.heads)),
                         (o.heads, gone))
                _, log = p.stop()
                tap.case("and logged as cancelled", [x["reason"] for x in log] ==
                         ["cancelled"], log)


def kept_alive_race():
    """Each connection is closed after its nth answer, without a word before."""
    for n in (1, 2, 7):
        def talk(o, peer, n=n):
            for _ in range(n):
                if not o.request(peer):
                    return
                peer.send(ok())
        o = Origin(talk)
        with proxied(o, log=True) as p:
            c = connect(p)
            statuses = []
            for _ in range(300):
                c.send(get())
                statuses.append(Answer(c).status)
            tap.case(f"an origin that closes after each {n}: all GETs succeed",
                     statuses == [200] * 300, statuses)
            tap.case("and each was done once", len(o.heads) == 300, len(o.heads))
        o = Origin(talk)
        with proxied(o) as p:
            c = connect(p)
            statuses, odd = [], []
            for _ in range(300):
                c.send(get("/", b"Content-Length: 2\r\n", b"POST") + b"hi")
                a = Answer(c)
                statuses.append(a.status)
                if a.status != 200:
                    odd.append(a.fields.get("x-bide-reason"))
            tap.case("POSTs: those that may have been processed are not retried",
                     set(odd) <= {"not_idempotent"} and
                     len(o.heads) == statuses.count(200),
                     (statuses, odd, len(o.heads)))


def race_on_arrival():
    """The worst case: the origin closes a kept connection when, and because, the
    request has arrived."""
    def talk(o, peer):
        o.request(peer)
        peer.send(ok())
        o.request(peer)
    o = Origin(talk)
    with proxied(o) as p:
        c = connect(p)
        got = []
        for _ in range(100):
            c.send(get())
            got.append(Answer(c).status)
        tap.case("a GET on a kept connection that dies is sent again",
                 got == [200] * 100, got)
    o = Origin(talk)
    with proxied(o) as p:
        c = connect(p)
        got = []
        for i in range(100):
            c.send(get(f"/{i}", b"Content-Length: 2\r\n", b"POST") + b"hi")
            got.append(Answer(c).status)
        paths = [h.split(b" ")[1] for h in o.heads]
        tap.case("a POST is not", len(paths) == len(set(paths)) == 100 and
                 502 in got, (got, len(paths)))


def broken():
    short = OPEN + ", attempt_timeout: 200ms"
    for what, script, policy, status in [
            ("never answers", "stall", short, 504),
            ("stalls in its head", "200;stall=head", short, 504),
            ("trickles its head", "200;trickle=100", short, 504),
            ("closes at once", "close", OPEN, 502),
            ("resets at once", "reset", OPEN, 502),
            ("closes in its head", "200;cut=head", OPEN, 502),
            ("resets in its head", "200;rst=head", OPEN, 502)]:
        with proxied(fault.ports["http"], policy=policy) as p:
            got, head, _ = p.request(path=fault.path(script)[0])
            tap.case(f"an origin that {what}", got == status and
                     head["x-bide-attempts"] == "4", (got, head))
    for what, script in [("stalls in its body", "200;n=1000;stall=body"),
                         ("closes in its body", "200;n=1000;cut=body"),
                         ("resets in its body", "200;n=1000;rst=body"),
                         ("closes in a chunk", "200;n=1000;chunked;cut=body"),
                         ("says less than it promised", "200;n=100;lie=10")]:
        with proxied(fault.ports["http"], upstream=", body_timeout: 200ms") as p:
            c = connect(p)
            path, name = fault.path(script)
            c.send(get(path, b"Connection: close\r\n"))
            data = c.all()
            head, _, body = data.partition(b"\r\n\r\n")
            # What broke before any of it was passed on may be tried again.
            broken_off = b" 200 " in head and len(body) < 1000 and not body.endswith(
                b"\r\n0\r\n\r\n")
            gave_up = b" 502 " in head and b"X-Bide-Attempts: 4" in head
            tap.case(f"an origin that {what}: no client takes it for whole",
                     (broken_off or gave_up) and
                     fault.count(name)["requests"] <= 4, data)
            path, name = fault.path(script)
            c = connect(p)
            c.send(get(path, b"Connection: close\r\n", b"POST"))
            c.all()
            tap.case("and a POST is sent once",
                     fault.count(name)["requests"] == 1, fault.count(name))
    with proxied(fault.ports["http"], policy=short) as p:
        _, head, data = p.request(path=fault.path("200;body=abcdefgh;pause=400")[0])
        tap.case("a body may take longer than an attempt's head",
                 data == b"abcdefgh", (head, data))


def silent():
    quick = OPEN + ", attempt_timeout: 500ms"
    for what, name, policy, method, status, attempts, reason in [
            ("resets connections", "reset", OPEN, b"GET", 502, "4", "attempts"),
            ("accepts and says nothing", "silent", quick, b"GET", 504, "4",
             "attempts"),
            ("says nothing to a POST", "silent", quick, b"POST", 504, "1",
             "not_idempotent")]:
        with proxied(fault.ports[name], policy=policy) as p:
            a = ask(p, get("/", b"Content-Length: 0\r\n", method))
            tap.case(f"an origin that {what}", a.status == status and
                     a.fields["x-bide-attempts"] == attempts and
                     a.fields["x-bide-reason"] == reason, a)


def refused():
    """One of two endpoints is not there."""
    with proxied(fault.ports["closed"], fault.ports["http"], log=True) as p:
        good = sum(p.request(path="/s/200")[0] == 200 for _ in range(40))
        _, log = p.stop()
        tap.case("a retry goes elsewhere where nobody listens", good == 40, good)
        tap.case("and that endpoint is left out before long",
                 sum(line["attempts"] for line in log) <= 60, log[-1])


def workload(p, stop, statuses):
    """GETs on kept connections, until told to stop."""
    c = None
    while not stop.is_set():
        try:
            r = None
            c = c or http.client.HTTPConnection("127.0.0.1", p.port, timeout=60)
            c.request("GET", "/file")
            r = c.getresponse()
            body = r.read()
            statuses.append((r.status, len(body),
                             r.getheader("X-Bide-Reason")))
        except (http.client.HTTPException, OSError) as e:
            statuses.append(("cut off" if r else repr(e), 0, None))
            c = None


def restarts():
    if not has_nginx():
        tap.case("nginx is here; SKIP", True)
        return
    n = Nginx(requests=50)
    n.file("file", b"z" * 5000)
    policy = ("attempts: 1000, backoff: { base: 20ms, cap: 50ms }, "
              "budget: { kind: off }, breaker: { kind: off }")
    with proxied(n.port, policy=policy) as p:
        stop, statuses = threading.Event(), []
        threads = [threading.Thread(target=workload, args=(p, stop, statuses))
                   for _ in range(8)]
        for t in threads:
            t.start()
        for _ in range(6):
            before = len(statuses)
            until(lambda: len(statuses) > before + 50)
            n.kill()
            time.sleep(0.1)
            n.start()
        stop.set()
        for t in threads:
            t.join()
        # A body that had begun when nginx was killed cannot be saved.
        odd = [s for s in statuses if s[:2] != (200, 5000)]
        tap.case("nginx is restarted in a loop under load, and no GET fails",
                 len(statuses) > 300 and all(s[0] == "cut off"
                                             for s in odd) and len(odd) < 10,
                 (len(statuses), odd))
    n.stop()


def files(p):
    return len(os.listdir(f"/proc/{p.pid}/fd"))


def nothing_leaks():
    """After failures of all kinds as many descriptors are open as before."""
    with proxied(fault.ports["http"], policy=OPEN + ", attempt_timeout: 50ms",
                 upstream=", body_timeout: 100ms, pool: { idle: 0 }") as p:
        ask(p, get(fault.path("200")[0]))
        until(lambda: False, 0.1)
        before = files(p)
        for _ in range(5):
            for script in ("503", "reset", "close", "stall", "200;cut=head",
                           "200;n=9999;cut=body", "200;n=9999;stall=body"):
                c = connect(p)
                c.send(get(fault.path(script)[0], b"Connection: close\r\n"))
                c.gone()
                c.close()
        tap.case("no descriptor leaks", until(lambda: files(p) <= before),
                 (before, files(p)))


run(several, refused, recovery, wordy_checks, shares, all_out, clients_that_leave,
    clients_that_leave_are_logged,
    regress_clients_that_leave_at_once, kept_alive_race, race_on_arrival,
    broken, silent, restarts, nothing_leaks)
