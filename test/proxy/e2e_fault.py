#!/usr/bin/env python3
"""e2e_fault.py BIDE: faults on purpose: who may ask for them, what the policy makes
of them, and that nobody is blamed or left in the dark."""
import json
import urllib.error
import urllib.request

from parts import (Origin, admin, ask, counted, fields, get, metric, ok,
                   proxied, run, says, tap, until)
from sidecar import FAST, OPEN

ON = b"X-Bide-Fault: on\r\n"
TRUSTED = "  trusted: [127.0.0.1]\n"
TOKEN = "a-token-for-the-tests"
ADMIN = f"  admin: 127.0.0.1:0\n  admin_access: {{ token: {TOKEN} }}\n"
ABORT = ", fault: { abort: 503 }"


def brief(a):
    return a.status, a.fields.get("x-bide-attempts"), a.fields.get("x-bide-reason")


def switch(p, path):
    request = urllib.request.Request(
        admin(p) + f"api/deps/{path}", method="POST",
        headers={"Authorization": f"Bearer {TOKEN}"})
    try:
        with urllib.request.urlopen(request) as r:
            return r.status
    except urllib.error.HTTPError as e:
        return e.code


def state(p):
    with urllib.request.urlopen(admin(p) + "api/state") as r:
        return json.load(r)


def who_may_ask():
    for trusted in (True, False):
        o = Origin(says(ok()))
        with proxied(o, more=TRUSTED if trusted else "", route=ABORT,
                     log=True) as p:
            tap.case("nobody asks: no faults", brief(ask(p, get())) ==
                     (200, "1", None))
            got = ask(p, get("/", ON))
            if trusted:
                tap.case("a trusted client asks, and the policy sees a 503 as any",
                         brief(got) == (503, "4", "attempts") and
                         got.fields.get("x-bide-fault") == "abort", got)
                tap.case("the endpoint never saw it", len(o.heads) == 1, o.heads)
            else:
                tap.case("a client that is not trusted asks in vain",
                         brief(got) == (200, "1", None), got)
            for value in (b"off", b"On", b"on, on", b"", b"1"):
                got = ask(p, get("/", b"X-Bide-Fault: " + value + b"\r\n"))
                tap.case(f"{value} is not on", got.status == 200, got)
            tap.case("endpoints do not see the field",
                     not any("x-bide-fault" in fields(h) for h in o.heads))
    o = Origin(says(ok()))
    with proxied(o, more=TRUSTED) as p:
        tap.case("a route without faults has none",
                 brief(ask(p, get("/", ON))) == (200, "1", None))
        tap.case("... and passes no word of it on",
                 "x-bide-fault" not in fields(o.heads[0]))


def as_a_real_one():
    o = Origin(says(ok()))
    with proxied(o, more=TRUSTED, route=ABORT) as p:
        post = ask(p, get("/", ON + b"Content-Length: 1\r\n", b"POST") + b"x")
        tap.case("a POST that failed on purpose is not sent again",
                 brief(post) == (503, "1", "not_idempotent"), post)
        head = ask(p, get("/", ON, b"HEAD"), "HEAD")
        tap.case("HEAD, too", brief(head) == (503, "4", "attempts"), head)
        old = ask(p, get("/", ON, version=b"1.0"))
        tap.case("HTTP/1.0, too", brief(old) == (503, "4", "attempts"), old)
    for status, want in ((404, (404, "1", "permanent")),
                         (429, (429, "4", "attempts"))):
        o = Origin(says(ok()))
        with proxied(o, more=TRUSTED,
                     route=f", fault: {{ abort: {status} }}") as p:
            got = ask(p, get("/", ON))
            tap.case(f"a {status} is judged as one", brief(got) == want, got)
    o = Origin(says(ok()))
    policy = FAST + ", attempts: 1, budget: { kind: off }, " \
        "breaker: { kind: count, window_calls: 4, min_calls: 4 }"
    with proxied(o, o, policy=policy, more=TRUSTED + ADMIN, route=ABORT,
                 upstream=", ejection: { consecutive: 1 }") as p:
        for _ in range(4):
            ask(p, get("/", ON))
        got = ask(p, get())
        tap.case("the breaker sees it", brief(got) == (503, "0", "breaker_open"),
                 got)
        up = [e["state"] for e in state(p)["deps"][0]["endpoints"]]
        tap.case("no endpoint is ejected for it", set(up) == {"up"}, up)


def held_up():
    o = Origin(says(ok()))
    with proxied(o, more=TRUSTED + ADMIN,
                 route=", fault: { delay: 50ms }") as p:
        got = ask(p, get("/", ON))
        tap.case("a delay only delays", brief(got) == (200, "1", None), got)
        tap.case("... and is counted", counted(p, "faults_injected") == 1)
    o = Origin(says(ok()))
    with proxied(o, policy=OPEN + ", attempts: 2, attempt_timeout: 20ms",
                 more=TRUSTED, route=", fault: { delay: 1h }") as p:
        got = ask(p, get("/", ON))
        tap.case("one that is longer than the attempt may take times out",
                 brief(got) == (504, "2", "attempts"), got)
        post = ask(p, get("/", ON + b"Content-Length: 1\r\n", b"POST") + b"x")
        tap.case("... and may have been processed, for all one knows",
                 brief(post) == (504, "1", "not_idempotent"), post)
        tap.case("... though nobody was asked", not o.heads, o.heads)
    o = Origin(says(ok()))
    with proxied(o, more=TRUSTED,
                 route=", fault: { delay: 10ms, abort: 500 }") as p:
        got = ask(p, get("/", ON))
        tap.case("first the delay, then the answer",
                 brief(got) == (500, "4", "attempts") and not o.heads, got)


def a_share():
    o = Origin(says(ok()))
    with proxied(o, policy=OPEN + ", attempts: 1", more=TRUSTED + ADMIN,
                 route=", fault: { abort: 503, share: 20% }") as p:
        got = [ask(p, get("/", ON)).status for _ in range(400)]
        # 400 draws at 20 %: 40 or 130 would be ten sigma off.
        tap.case("about a share of them", 40 < got.count(503) < 130 and
                 got.count(200) + got.count(503) == 400, got.count(503))
        tap.case("all counted", counted(p, "faults_injected") == got.count(503))


def by_the_admin():
    o = Origin(says(ok()))
    with proxied(o, more=ADMIN, route=ABORT, log=True) as p:
        tap.case("they are off at first", ask(p, get()).status == 200 and
                 not state(p)["deps"][0]["faults"] and
                 metric(p, "bide_proxy_faults_on") == 0)
        tap.case("the admin switches them on",
                 switch(p, "up%2Fdefault/fault/on") == 200)
        tap.case("which is said on standard error", until(
            lambda: any("fault injection for up/default is on" in x
                        for x in p.said)), p.said)
        got = ask(p, get())
        tap.case("for everybody", brief(got) == (503, "4", "attempts"), got)
        tap.case("it is there to see", state(p)["deps"][0]["faults"] is True and
                 metric(p, "bide_proxy_faults_on") == 1 and
                 counted(p, "faults_injected") == 4)
        p.reload()
        tap.case("a reload that changes nothing leaves them on",
                 ask(p, get()).status == 503)
        tap.case("a wrong word is refused",
                 switch(p, "up%2Fdefault/fault/maybe") == 400)
        tap.case("a dependency that is none, too",
                 switch(p, "nobody/fault/on") == 409)
        tap.case("and off", switch(p, "up%2Fdefault/fault/off") == 200 and
                 ask(p, get()).status == 200 and
                 metric(p, "bide_proxy_faults_on") == 0)
    _, log = p.stop()
    tap.case("the log tells", [bool(line.get("injected")) for line in log] ==
             [False, True, True, False], log)
    o = Origin(says(ok()))
    with proxied(o, more=ADMIN) as p:
        tap.case("where no route has faults there are none to switch on",
                 switch(p, "up%2Fdefault/fault/on") == 409)


run(who_may_ask, as_a_real_one, held_up, a_share, by_the_admin)
