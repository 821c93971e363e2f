#!/usr/bin/env python3
"""e2e_owner.py BIDE: who owns the retries: chains of sidecars, of commands, and of
applications that know nothing of bide, with every request counted at the end."""
import contextlib
import os
import re
import subprocess
import sys
import time

from parts import Origin, ask, fields, get, ok, run, says, tap
from sidecar import BIDE, FAST, OPEN, Sidecar, config

NO = ok(b"no", b"", b"503 X")
APP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools",
                   "instrumented.py")
KEYED = OPEN + ", idempotency: { key: generate }"


@contextlib.contextmanager
def sidecar(port, policy=OPEN, **options):
    p = Sidecar(config([port], policy, **options))
    try:
        yield p
    finally:
        p.stop()


@contextlib.contextmanager
def app(port, *words):
    """The application, as a process of its own; its port."""
    process = subprocess.Popen([sys.executable, APP, str(port), *words],
                               stdout=subprocess.PIPE)
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def origin(answer):
    o = Origin(says(answer))
    try:
        yield o
    finally:
        o.stop()


def failing():
    return origin(NO)


def claims(o):
    return [fields(h).get("x-bide-attempt") for h in o.heads]


def bide(*words, **environment):
    env = tap.environment(**environment)
    return subprocess.run([BIDE, *words], env=env, capture_output=True,
                          timeout=120, check=False)


# ===== through an application =====

def through_an_application():
    with failing() as o, sidecar(o.port) as below, app(below.port) as a, \
            sidecar(a) as above:
        got = ask(above, get())
        tap.case("sidecar, application, sidecar: as many as one layer makes",
                 len(o.heads) == 4 and got.status == 503 and
                 got.fields["x-bide-attempts"] == "4", (len(o.heads), got))
        tap.case("each with the claim of the layer that makes them",
                 claims(o) == [f"{n}; max=4" for n in (1, 2, 3, 4)], claims(o))
        tap.case("as baggage too", [fields(h)["baggage"] for h in o.heads] ==
                 [f"bide.attempt={n},bide.max=4" for n in (1, 2, 3, 4)], o.heads)
    with failing() as o, sidecar(o.port) as below, app(below.port, "forget") as a, \
            sidecar(a) as above:
        ask(above, get())
        tap.case("without its baggage they would multiply", len(o.heads) == 16,
                 len(o.heads))


def deadlines_through_an_application():
    limited = OPEN + ", deadline: 1h"
    with origin(ok()) as o, sidecar(o.port) as below, app(below.port) as a, \
            sidecar(a, limited) as above:
        ask(above, get())
        left = int(fields(o.heads[0])["x-bide-timeout-ms"])
        until = int(re.search(r"bide\.deadline=(\d+)",
                              fields(o.heads[0])["baggage"])[1])
        tap.case("the deadline comes through", 0 < left <= 3600000 and
                 abs(until / 1000 - time.time() - left / 1000) < 600,
                 (left, until))


def baggage_of_others():
    with origin(ok()) as o, sidecar(o.port) as p:
        ask(p, get("/", b"Baggage: tenant=acme;p=q, bide.attempt=9,bide.max=1\r\n"
                   b"baggage: user=%C3%A9,bide.deadline=77\r\n"))
        seen = [line for line in o.heads[0].split(b"\r\n")
                if line.lower().startswith(b"baggage:")]
        tap.case("members of others are kept, ours are replaced", seen ==
                 [b"Baggage: tenant=acme;p=q,user=%C3%A9,bide.attempt=1,"
                  b"bide.max=4"], seen)
        full = ",".join(f"k{n}=v" for n in range(64))
        ask(p, get("/", b"Baggage: " + full.encode() + b"\r\n"))
        tap.case("where there is no room, theirs come before ours",
                 fields(o.heads[1])["baggage"] == full and
                 claims(o)[1] == "1; max=4", o.heads[1])
        ask(p, get("/", b"Baggage: secret=1\r\nConnection: baggage\r\n"))
        tap.case("what Connection names ends here",
                 fields(o.heads[2])["baggage"] == "bide.attempt=1,bide.max=4",
                 o.heads[2])


# ===== who claims =====

def only_those_who_could_retry_claim():
    rows = (("attempts: 1", b"GET", "4"), ("", b"POST", "4"))
    for policy, method, attempts in rows:
        above = OPEN + (", " + policy if policy else "")
        body = b"Content-Length: 1\r\n"
        with failing() as o, sidecar(o.port, KEYED) as below, \
                sidecar(below.port, above) as top:
            got = ask(top, get("/", body, method) + b"x")
            what = policy or "POST without a key"
            tap.case(f"{what} above: the sidecar below retries",
                     len(o.heads) == 4 and got.fields["x-bide-attempts"] == "1",
                     (len(o.heads), got))
            tap.case(f"{what} above: and it is the one that claims",
                     claims(o) == [f"{n}; max={attempts}" for n in (1, 2, 3, 4)],
                     claims(o))
    with failing() as o, sidecar(o.port, OPEN + ", attempts: 1") as below, \
            sidecar(below.port) as top:
        ask(top, get())
        tap.case("a layer that makes one attempt passes the claim on",
                 claims(o) == [f"{n}; max=4" for n in (1, 2, 3, 4)], claims(o))
    with failing() as o, sidecar(o.port, OPEN + ", attempts: 1") as p:
        ask(p, get())
        tap.case("and claims nothing itself", claims(o) == [None] and
                 "baggage" not in fields(o.heads[0]), o.heads)
    with failing() as o, sidecar(o.port, OPEN + ", nested: retry, attempts: 2") as \
            below, sidecar(below.port, OPEN + ", attempts: 3") as top:
        ask(top, get())
        tap.case("nested: retry retries, and claims", claims(o) ==
                 ["1; max=2", "2; max=2"] * 3, claims(o))


def commands():
    with failing() as o, sidecar(o.port) as p:
        url = f"http://127.0.0.1:{p.port}/"

        def made(*words, **environment):
            before = len(o.heads)
            bide(*words, **environment)
            return len(o.heads) - before, claims(o)[before:]

        fetch = (BIDE, "fetch", "-s", "--base", "1ms")
        above = ("run", "-q", "--base", "1ms", "--attempts")
        got = made(*above, "3", "--", *fetch, url)
        tap.case("bide run, bide fetch, sidecar: the first owns the retries", got ==
                 (3, ["1; max=3", "2; max=3", "3; max=3"]), got)
        got = made(*above, "1", "--", *fetch, "--attempts", "2", url)
        tap.case("bide run --attempts 1: bide fetch owns them", got ==
                 (2, ["1; max=2", "2; max=2"]), got)
        got = made(*above, "1", "--", *fetch, "--attempts", "1", url)
        tap.case("neither retries: the sidecar owns them", got ==
                 (4, [f"{n}; max=4" for n in (1, 2, 3, 4)]), got)
        got = made("run", "-q", "--at-most-once", "--", *fetch, "--attempts", "1",
                   url)
        tap.case("bide run --at-most-once claims nothing", got[0] == 4, got)
        got = made("run", "-q", "--attempts", "2", "--base", "1ms", "--", *fetch,
                   "--nested", "retry", "--attempts", "3", url)
        tap.case("--nested retry retries all the same", got ==
                 (6, ["1; max=3", "2; max=3", "3; max=3"] * 2), got)
        got = made("fetch", "-s", "--base", "1ms", "--attempts", "2", "--tell",
                   "nobody", url)
        tap.case("bide fetch --tell nobody tells nobody", got[0] == 8, got)
        got = made("fetch", "-s", "--attempts", "2", "--base", "1ms", "-H",
                   "baggage: a=b,bide.attempt=5,bide.max=6", url)
        tap.case("bide fetch heeds a claim that it is to pass on", got ==
                 (1, ["5; max=6"]) and fields(o.heads[-1])["baggage"] ==
                 "a=b,bide.attempt=5,bide.max=6", (got, o.heads[-1]))
    out = bide("run", "-q", "--attempts", "4", "--", "sh", "-c", "echo $BAGGAGE",
               BAGGAGE="tenant=acme,bide.max=9").stdout
    tap.case("bide run keeps the baggage of others", out ==
             b"tenant=acme,bide.attempt=1,bide.max=4\n", out)
    out = bide("run", "-q", "--attempts", "1", "--", "sh", "-c",
               "echo ${BAGGAGE-none}", BAGGAGE="bide.max=9").stdout
    tap.case("and leaves none behind that is stale", out == b"none\n", out)


# ===== third parties, and strangers =====

def third_parties():
    with origin(ok()) as o, sidecar(
            o.port, OPEN + ", deadline: 1h", more="  headers: { bide: false }\n") as p:
        ask(p, get("/", b"Baggage: a=b,bide.attempt=2,bide.max=3\r\n"
                   b"X-Bide-Attempt: 2; max=3\r\n"))
        ask(p, get("/", b"Baggage: bide.attempt=2,bide.max=3\r\n"))
        f = fields(o.heads[0])
        tap.case("headers.bide: false tells endpoints nothing of it",
                 f["baggage"] == "a=b" and not [n for n in f if "bide" in n] and
                 "baggage" not in fields(o.heads[1]), o.heads)


def foreign_claims():
    fields_of = {"envoy": b"x-envoy-attempt-count: 1\r\n",
                 "grpc": b"grpc-previous-rpc-attempts: 1\r\n",
                 "aws": b"amz-sdk-request: attempt=1; max=3\r\n"}
    for who, field in fields_of.items():
        for trusted in (True, False):
            policy = OPEN + (f", trust: {{ {who}: true }}" if trusted else "")
            with failing() as o, sidecar(o.port, policy) as p:
                got = ask(p, get("/", field))
                tap.case(f"{who} that is {'' if trusted else 'not '}trusted",
                         len(o.heads) == (1 if trusted else 4) and
                         got.fields["x-bide-reason"] ==
                         ("upstream_retries" if trusted else "attempts"), got)
    with origin(ok()) as o, sidecar(o.port, OPEN + ", trust: { grpc: true }, "
                                     "deadline: 2h") as p:
        for value, most in ((b"1H", 3600000), (b"9H", 7200000)):
            ask(p, get("/", b"grpc-timeout: " + value + b"\r\n"))
            left = int(fields(o.heads[-1])["x-bide-timeout-ms"])
            tap.case(f"grpc-timeout {value.decode()} can only shorten the deadline",
                     most - 600000 < left <= most, left)
    refusal = ok(b"no", b"x-envoy-overloaded: true\r\n", b"503 X")
    with origin(refusal) as o, sidecar(o.port, OPEN + ", trust: { envoy: true }") as p:
        got = ask(p, get())
        tap.case("an Envoy that is overloaded is not asked again",
                 len(o.heads) == 1 and
                 got.fields["x-bide-reason"] == "server_refused", got)


def strangers():
    """A claim costs whoever makes it, and nobody else."""
    lies = (b"X-Bide-Attempt: 1; max=9\r\n", b"Baggage: bide.attempt=1,bide.max=9\r\n",
            b"X-Bide-Timeout-Ms: 99999999999\r\nBaggage: "
            b"bide.deadline=99999999999999\r\n")
    policy = FAST + ", budget: { kind: off }, breaker: { kind: off }, deadline: 1h"
    with failing() as o, sidecar(o.port, policy, more="  trusted: [10.0.0.0/8]\n") as p:
        for lie in lies:
            ask(p, get("/", lie))
        left = [int(fields(h)["x-bide-timeout-ms"]) for h in o.heads]
        tap.case("nobody gets more time than the policy gives",
                 all(0 < ms <= 3600000 for ms in left), left)
        before = len(o.heads)
        ask(p, get())
        tap.case("others are retried as before", len(o.heads) - before == 4,
                 len(o.heads) - before)
        before = len(o.heads)
        for lie in (b"X-Bide-Attempt: 1; max=1\r\n", b"X-Bide-Attempt: x\r\n",
                    b"Baggage: bide.attempt=2,bide.max=1\r\n",
                    b"Baggage: " + b"a" * 8200 + b",bide.attempt=1\r\n",
                    b"Baggage: bide.deadline=1\r\n", b"Baggage: ,=;,\r\n"):
            ask(p, get("/", lie))
        tap.case("what is no claim changes nothing", len(o.heads) - before == 24,
                 len(o.heads) - before)


run(through_an_application, deadlines_through_an_application, baggage_of_others,
    only_those_who_could_retry_claim, commands, third_parties, foreign_claims,
    strangers)
