#!/usr/bin/env python3
"""One effect: whatever the client, the origin or the process does between a claim
and its answer. e2e_idempotency_effect.py BIDE"""
import signal
import subprocess
import threading

import sidecar
from parts import (Answer, ask, connect, counted, get, run, tap,
                   until)
from payments import Payments, guarded, pay

ADMIN = "  admin: 127.0.0.1:0\n"

# The policy would retry whatever it may.
EAGER = ("attempts: 3, backoff: { base: 1ms, cap: 2ms }, budget: { kind: off }, "
         "breaker: { kind: off }, unreachable: { wait: none }")


def door(more="", **how):
    origin = Payments()
    how.setdefault("policy", EAGER)
    return origin, guarded(origin, more=ADMIN + how.pop("also", ""),
                           route=", idempotency: { accept: required%s }" % more,
                           **how)


def reason(a):
    return a.fields.get("x-bide-reason")


def repeat(p, key, **how):
    """As a client does that is told to come again."""
    got = []

    def done():
        got[:] = [ask(p, pay(key, **how))]
        return reason(got[0]) != "idempotency_in_progress"
    until(done)
    return got[0]


def replayed(a):
    return a.fields.get("idempotent-replayed") == "true"


def logged(p, status):
    with open(p.log, encoding="utf-8") as f:
        return f.read().count(f'"status":{status}')


# ===== the origin =====

def retries():
    origin, sidecar_ = door()
    with sidecar_ as p:
        a = ask(p, pay("a", do="first:status=503"))
        tap.case("503 is retried: it says that nothing was done",
                 a.status == 201 and origin.effects["a"] == 2, a)
        a = ask(p, pay("b", do="first:status=500"))
        tap.case("500 is not", a.status == 500 and origin.effects["b"] == 1, a)
        a = ask(p, pay("c", do="reset"))
        tap.case("nor is a connection that broke after it was sent",
                 a.status == 502 and origin.effects["c"] == 1, a)
        a = ask(p, pay("c"))
        tap.case("... which is then in progress", a.status == 409 and
                 reason(a) == "idempotency_in_progress", a)
        heads = origin.heads
        tap.case("a key that was accepted claims no retries",
                 not any(b"X-Bide-Attempt:" in h for h in heads), heads)
        a = ask(p, pay("d", do="first:status=500",
                       more=b"X-Bide-Idempotent: true\r\n"))
        tap.case("... whatever the client says", a.status == 500, a)


def lost():
    origin, sidecar_ = door(", lease: 2s")
    with sidecar_ as p:
        a = ask(p, pay("k", do="reset"))
        tap.case("the answer is lost", a.status == 502, a)
        a = repeat(p, "k")
        tap.case("after the lease: unknown, and final", a.status == 409 and
                 reason(a) == "idempotency_unknown" and
                 a.fields.get("x-bide-retry") == "no", a)
        tap.case("... with one effect", origin.effects["k"] == 1)
        a = ask(p, pay("cut", do="cut"))
        tap.case("an answer that broke off is lost, too", a.status == 502, a)
        tap.case("... and none of it is ever replayed",
                 reason(repeat(p, "cut")) == "idempotency_unknown" and
                 origin.effects["cut"] == 1)
    origin, sidecar_ = door(", lease: 2s, on_unknown: retry",
                           policy="attempts: 1, budget: { kind: off }")
    with sidecar_ as p:
        ask(p, pay("k", do="reset"))
        a = repeat(p, "k")
        tap.case("on_unknown: retry: processed again", a.status == 201 and
                 origin.effects["k"] == 2 and not replayed(a), a)
        tap.case("... and kept", replayed(ask(p, pay("k"))))
    origin, sidecar_ = door(", on_unknown: retry")
    with sidecar_ as p:
        a = ask(p, pay("k", do="first:reset"))
        tap.case("... by the policy as well, at once", a.status == 201 and
                 origin.effects["k"] == 2 and
                 any(b"X-Bide-Attempt: 1" in h for h in origin.heads), a)


def lost_later():
    """An answer of `release` says that nothing was done; what was sent after it, and
    was lost, may have been."""
    class Then(Payments):
        def plan(self, head, key):
            do, n = super().plan(head, key)
            later = key.partition("-")[2]
            return ({"status": "503"} if self.effects[key] == 1 else
                    {later: ""} if self.effects[key] == 2 else do), n

    origin = Then()
    with guarded(origin, policy=EAGER, more=ADMIN,
                 route=", idempotency: { accept: required, lease: 2s }") as p:
        for later in ("reset", "cut"):
            key = f"k-{later}"
            a = ask(p, pay(key))
            tap.case(f"503, then {later}: the client is not told that nothing was done",
                     a.status == 502 and origin.effects[key] == 2, a)
            a = repeat(p, key)
            tap.case("... and after the lease it is unknown", a.status == 409 and
                     reason(a) == "idempotency_unknown", a)
            tap.case("... and not done again", origin.effects[key] == 2,
                     origin.effects)


def not_sent():
    origin, sidecar_ = door()
    with sidecar_ as p:
        origin.stop()
        a = ask(p, pay("k"))
        tap.case("nobody there: not sent", a.status == 502, a)
        back = Payments.__new__(Payments)
        back.__dict__.update(lock=threading.Lock(), effects=origin.effects,
                             gate=threading.Event(), waiting=0)
        super(Payments, back).__init__(Payments.serve_one, origin.port)
        a = ask(p, pay("k"))
        tap.case("... and the next use is a first", a.status == 201 and
                 not replayed(a), a)
        back.stop()


def refused():
    """Its own breaker is open."""
    breaker = "breaker: { consecutive: 1, open: 1h }"
    origin, sidecar_ = door(policy="attempts: 1, budget: { kind: off }, " + breaker)
    with sidecar_ as p:
        ask(p, pay("opens", do="status=500"))
        a = ask(p, pay("k"))
        tap.case("refused by bide itself", a.status == 503 and
                 reason(a) == "breaker_open" and origin.effects["k"] == 0, a)
        tap.case("... which releases the key",
                 counted(p, "idempotency_released") == 1 and
                 counted(p, "idempotency_lost") == 0)
        said = p.reload(p.text.replace(breaker, "breaker: { kind: off }"))
        a = ask(p, pay("k"))
        tap.case("... whose next use is a first", "reloaded" in said and
                 a.status == 201 and not replayed(a), a)


# ===== the client =====

def hang_up():
    origin, sidecar_ = door(log=True)
    with sidecar_ as p:
        for how in ("close", "reset"):
            origin.hold()
            before = origin.waiting
            c = connect(p)
            c.send(pay(how, do="wait"))
            until(lambda: origin.waiting == before + 1)
            getattr(c, how)()
            # One that has closed may only have no more to send: it is not known yet.
            tap.case(f"a client that left ({how}) does not cancel what was sent",
                     how == "close" or
                     until(lambda: counted(p, "idempotency_detached") == 1))
            a = ask(p, pay(how))
            tap.case("... it is in progress", reason(a) ==
                     "idempotency_in_progress", a)
            origin.let()
            a = repeat(p, how)
            tap.case("... and the repeat gets its answer", replayed(a) and
                     a.status == 201 and origin.effects[how] == 1, a)
        c = connect(p)
        c.send(pay("held", do="size=200000 wait"))
        c.socket.shutdown(1)
        a = Answer(c)
        tap.case("one that only sends no more gets its answer",
                 a.status == 201 and len(a.body) == 200000, a)
        c = connect(p)
        c.send(pay("half", b"x" * 1000)[:-1])
        c.close()
        a = repeat(p, "half", body=b"x" * 1000)
        tap.case("half a request is none", a.status == 201 and not replayed(a), a)
        until(lambda: counted(p, "cancelled") >= 3)
        tap.case("the log has a line for each that is known to have left",
                 until(lambda: logged(p, 499) in (2, 3)), logged(p, 499))


def deadline():
    origin, sidecar_ = door(log=True)
    with sidecar_ as p:
        c = connect(p)
        c.send(pay("k", do="wait", more=b"X-Bide-Timeout-Ms: 100\r\n") +
               pay("next") + get("/after"))
        a = Answer(c)
        tap.case("a client without time is told so", a.status == 504 and
                 reason(a) == "deadline" and "retry-after" in a.fields, a)
        a = Answer(c)
        tap.case("... its next request is served", a.status == 201 and
                 origin.effects["next"] == 1, a)
        tap.case("... and the one after", Answer(c).status == 201)
        tap.case("... the first goes on", reason(ask(p, pay("k"))) ==
                 "idempotency_in_progress" and
                 counted(p, "idempotency_detached") == 1)
        origin.let()
        a = repeat(p, "k")
        tap.case("... and its answer is kept", replayed(a) and
                 origin.effects["k"] == 1, a)
        tap.case("logged once", until(lambda: logged(p, 504) == 1) and
                 logged(p, 499) == 0, (logged(p, 504), logged(p, 499)))
    origin, sidecar_ = door(also="  timeouts: { request: 300ms }\n")
    with sidecar_ as p:
        a = ask(p, pay("k", do="wait"))
        tap.case("timeouts.request: the same", a.status == 504, a)
        origin.let()
        tap.case("... answer kept", replayed(repeat(p, "k")) and
                 origin.effects["k"] == 1)
    origin, sidecar_ = door(", lease: 2s", policy="attempts: 3, attempt_timeout: "
                           "300ms, budget: { kind: off }")
    with sidecar_ as p:
        a = ask(p, pay("k", do="wait"))
        tap.case("an attempt's own timeout ends it: the answer is lost",
                 a.status == 504 and origin.effects["k"] == 1, a)
        tap.case("... and unknown after the lease",
                 reason(repeat(p, "k")) == "idempotency_unknown")
        origin.let()


def fetch():
    """A client of bide's own: it waits for a key that is in progress, and takes the
    rest for final."""
    origin, sidecar_ = door()
    with sidecar_ as p:
        def start(key, amount="10"):
            return subprocess.Popen(
                [sidecar.BIDE, "fetch", "-f", "--idempotency-key", key, "-d",
                 f"amount={amount}", f"http://127.0.0.1:{p.port}/pay"],
                env=tap.environment(), stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
        c = connect(p)
        c.send(pay("k", do="wait"))
        until(lambda: origin.waiting == 1)
        client = start("k")
        tap.case("a client that meets its key in progress ...",
                 until(lambda: counted(p, "idempotency_in_progress") >= 1))
        origin.let()
        done = Answer(c)
        out, err = client.communicate(timeout=60)
        tap.case("... waits, and gets the answer", client.returncode == 0 and
                 out == done.body and origin.effects["k"] == 1, (out, err))
        client = start("k", "11")
        _, err = client.communicate(timeout=60)
        tap.case("422 is final", client.returncode != 0 and
                 counted(p, "idempotency_mismatch") == 1, err)
        for _ in range(3):
            start("auto").communicate(timeout=60)
        keys = [k for k in origin.effects if k != "k"]
        tap.case("auto: a key for each call", len(keys) == 3 and
                 all(len(k) == 36 for k in keys), keys)


# ===== the process =====

def terminate():
    origin, sidecar_ = door(log=True)
    with sidecar_ as p:
        left, stays = connect(p), connect(p)
        left.send(pay("left", do="wait"))
        stays.send(pay("stays", do="wait"))
        until(lambda: origin.waiting == 2)
        left.reset()
        until(lambda: counted(p, "idempotency_detached") == 1)
        p.process.send_signal(signal.SIGTERM)
        until(lambda: any("ending" in x for x in p.said))
        tap.case("SIGTERM waits for both", p.process.poll() is None)
        origin.let()
        a = Answer(stays)
        tap.case("... the client gets its answer", a.status == 201, a)
        tap.case("... and it ends", p.process.wait(30) == 0)
        tap.case("... after both were done", origin.total == 2)


def reload():
    origin, sidecar_ = door()
    with sidecar_ as p:
        first = ask(p, pay("k"))
        c = connect(p)
        c.send(pay("w", do="wait"))
        until(lambda: origin.waiting == 1)
        said = p.reload(p.text.replace("attempts: 3", "attempts: 2"))
        tap.case("a reload", "reloaded" in said, said)
        a = ask(p, pay("k"))
        tap.case("... keeps what is known", replayed(a) and a.body == first.body, a)
        tap.case("... and what is in progress",
                 reason(ask(p, pay("w"))) == "idempotency_in_progress")
        origin.let()
        done = Answer(c)
        tap.case("... until it is done", done.status == 201 and
                 repeat(p, "w").body == done.body)
        said = p.reload(p.text.replace("accept: required", "accept: off"))
        tap.case("without it, keys pass", "reloaded" in said and
                 ask(p, pay("k")).status == 201 and origin.effects["k"] == 2)
        said = p.reload(p.text.replace("accept: off", "accept: required"))
        tap.case("... and back", "reloaded" in said and
                 ask(p, pay("new")).status == 201 and
                 replayed(ask(p, pay("new"))))


run(retries, lost, lost_later, not_sent, refused, hang_up, deadline, fetch, terminate,
    reload)
