#!/usr/bin/env python3
"""e2e_policy.py BIDE: sections 4 and 6 of the design through the sidecar: a table of
scripts for the fault server, and what the client and the server must see of each.
Then waits, deadlines, keys, nested layers, hedges and breakers."""
import json
import re
import threading
import time
import urllib.request

import sidecar
from parts import (PATIENCE, Answer, Origin, ask, connect, counted, fields, get,
                   ok, proxied, run, says, tap, until)
from ports import free_port
from sidecar import FAST, OPEN

fault = sidecar.Fault()
KEY = {"Idempotency-Key": "k-1"}
PROBLEM = ("503{};h=Content-Type:application/problem%2Bjson;"
           "body=%7B%22retryable%22%3Afalse%7D,200")

# what, method, script, headers, status, attempts, reason (None: none).
ROWS = [
    ("GET: two 503, then 200", "GET", "503,503,200", {}, 200, 3, None),
    ("GET: 503, then a reset, then 200", "GET", "503,reset,200", {}, 200, 3, None),
    ("GET: 500 is transient", "GET", "500,200", {}, 200, 2, None),
    ("GET: 502", "GET", "502,200", {}, 200, 2, None),
    ("GET: 504", "GET", "504,200", {}, 200, 2, None),
    ("GET: 408", "GET", "408,200", {}, 200, 2, None),
    ("GET: 425", "GET", "425,200", {}, 200, 2, None),
    ("GET: 429 without a hint", "GET", "429,200", {}, 200, 2, None),
    ("GET: 400 is permanent", "GET", "400,200", {}, 400, 1, "permanent"),
    ("GET: 404", "GET", "404,200", {}, 404, 1, "permanent"),
    ("GET: 501", "GET", "501,200", {}, 501, 1, "permanent"),
    ("GET: 505", "GET", "505,200", {}, 505, 1, "permanent"),
    ("GET: 302 is a success", "GET", "302;to=/x,200", {}, 302, 1, None),
    ("GET: 304 is a success", "GET", "304,200", {}, 304, 1, None),
    ("GET: closed without an answer", "GET", "close,200", {}, 200, 2, None),
    ("GET: reset without an answer", "GET", "reset,200", {}, 200, 2, None),
    ("GET: half a head, closed", "GET", "200;cut=head,200", {}, 200, 2, None),
    ("GET: half a head, reset", "GET", "200;rst=head,200", {}, 200, 2, None),
    ("HEAD", "HEAD", "503,200", {}, 200, 2, None),
    ("PUT", "PUT", "503,200", {}, 200, 2, None),
    ("DELETE", "DELETE", "reset,200", {}, 200, 2, None),
    ("OPTIONS", "OPTIONS", "reset,200", {}, 200, 2, None),
    ("TRACE", "TRACE", "503,200", {}, 200, 2, None),
    ("POST: reset after it was sent", "POST", "reset,200", {}, 502, 1,
     "not_idempotent"),
    ("POST: closed after it was sent", "POST", "close,200", {}, 502, 1,
     "not_idempotent"),
    ("POST: 503 may be the end of its processing", "POST", "503,200", {}, 503, 1,
     "not_idempotent"),
    ("POST: half a head", "POST", "200;cut=head,200", {}, 502, 1,
     "not_idempotent"),
    ("PATCH: reset after it was sent", "PATCH", "reset,200", {}, 502, 1,
     "not_idempotent"),
    ("an unknown method", "FROB", "reset,200", {}, 502, 1, "not_idempotent"),
    ("POST with a key: reset", "POST", "reset,200", KEY, 200, 2, None),
    ("PATCH with a key: 503", "PATCH", "503,200", KEY, 200, 2, None),
    ("the last of four answers", "GET", "503;body=a,503;body=b,502;body=c,500",
     {}, 500, 4, "attempts"),
    ("no answer at all", "GET", "reset", {}, 502, 4, "attempts"),
    ("a hint that is too long", "GET", "503;h=Retry-After:301,200", {}, 503, 1,
     "hint_too_long"),
    ("a hint that is too long, with 429", "GET", "429;h=Retry-After:3600,200", {},
     429, 1, "hint_too_long"),
    ("a hint that is too long, as a date", "GET",
     "503;h=Retry-After:Fri, 31 Dec 9999 23:59:59 GMT,200", {}, 503, 1,
     "hint_too_long"),
    ("a hint that is none", "GET", "503;h=Retry-After:soon,200", {}, 200, 2,
     None),
    ("a negative hint", "GET", "503;h=Retry-After:-1,200", {}, 200, 2, None),
    ("a date in the past", "GET",
     "503;h=Retry-After:Sun, 06 Nov 1994 08:49:37 GMT,200", {}, 200, 2, None),
    ("do not retry", "GET", "503;h=X-Bide-Retry:no,200", {}, 503, 1,
     "server_refused"),
    ("do not retry, in problem details", "GET", PROBLEM.format(""), {}, 503, 1,
     "server_refused"),
    ("do not retry, in chunks of them", "GET", PROBLEM.format(";chunked"), {}, 503,
     1, "server_refused"),
    ("negative pushback", "GET", "503;h=grpc-retry-pushback-ms:-1,200", {}, 503,
     1, "server_refused"),
    ("a layer above", "GET", "503,200", {"X-Bide-Attempt": "1"}, 503, 1,
     "upstream_retries"),
    ("a layer above, and a good answer", "GET", "200",
     {"X-Bide-Attempt": "3"}, 200, 1, None),
]


def script(text):
    """A script with its commas in values kept."""
    return text.replace(", ", "%2C%20").replace(" ", "%20")


def claim(method, headers, attempt):
    """What an attempt tells the server: the claim of the layer above, or its own if
    it could be made again."""
    if "X-Bide-Attempt" in headers:
        return headers["X-Bide-Attempt"]
    safe = method not in ("POST", "PATCH", "FROB") or headers.get("Idempotency-Key")
    return f"{attempt}; max=4" if safe else ""


def rows():
    p = sidecar.Sidecar(sidecar.config([fault.ports["http"]]), log=True)
    for what, method, text, headers, status, attempts, reason in ROWS:
        path, name = fault.path(script(text))
        body = b"payload" if method in ("POST", "PUT", "PATCH", "FROB") else None
        got, head, data = p.request(method, path, body, headers)
        seen = fault.count(name)
        tap.case(what, got == status and
                 head["x-bide-attempts"] == str(attempts) and
                 head.get("x-bide-reason") == reason, (got, head, data))
        numbers = [s["attempt"] for s in seen["seen"]]
        tap.case(f"{what}: and at the server", seen["requests"] == attempts and
                 numbers == [claim(method, headers, i + 1)
                             for i in range(attempts)] and
                 all(s["body"] == len(body or b"") for s in seen["seen"]), seen)
    log = sidecar.ended("the table", p)
    tap.case("the log has a line for each", len(log) == len(ROWS), len(log))
    for row, line in zip(ROWS, log):
        tap.case(f"{row[0]}: and in the log",
                 (line["method"], line["status"], line["attempts"],
                  line["reason"]) == (row[1], row[4], row[5],
                                      row[6] or "success"), line)
    want = {"time", "client", "method", "path", "status", "attempts",
            "waited_ms", "reason", "took_ms", "upstream", "policy", "endpoint"}
    tap.case("a line tells all of it", want <= set(log[0]), log[0])


def closes(o, peer):
    """Answers as old servers do, without a length; the second time not at all."""
    head = o.request(peer)
    if b"/problem" in head:
        peer.send(b"HTTP/1.1 503 X\r\nContent-Type: application/problem+json\r\n"
                  b"\r\n{\"type\": \"about:blank\", ")
        peer.send(b"\"retryable\": false}")
    elif len(o.heads) == 1:
        peer.send(b"HTTP/1.0 503 Busy\r\n\r\nre")
        peer.send(b"al")
    else:
        peer.reset()


def bodies():
    with proxied(fault.ports["http"]) as p:
        _, head, data = p.request(path=fault.path("503;body=one,reset")[0])
        tap.case("giving up passes the last real answer on",
                 data == b"one" and head["x-bide-reason"] == "attempts", head)
        _, head, data = p.request(path=fault.path("503;n=200000")[0])
        tap.case("however long it is", len(data) == 200000 and
                 head["x-bide-attempts"] == "4", (head, len(data)))
    o = Origin(closes)
    with proxied(o, policy=OPEN + ", attempts: 2") as p:
        a = ask(p, get())
        tap.case("also one that ends with its connection", a.status == 503 and
                 a.body == b"real" and a.fields["x-bide-attempts"] == "2", a)
        a = ask(p, get("/problem"))
        tap.case("of which a problem is read, too",
                 a.fields["x-bide-reason"] == "server_refused" and
                 a.fields["x-bide-attempts"] == "1", a)
    with proxied(fault.ports["http"]) as p:
        status, head, data = p.request(path=fault.path("reset")[0])
        problem = json.loads(data)
        tap.case("and a problem document where there was none",
                 head["content-type"] == "application/problem+json" and
                 problem["status"] == status == 502 and
                 {"type", "title"} <= set(problem), (head, data))
        for size, attempts, reason in [(65536, 2, None),
                                       (100000, 1, "not_replayable"),
                                       (5000000, 1, "not_replayable")]:
            path, name = fault.path("503,200")
            status, head, _ = p.request("PUT", path, b"x" * size)
            seen = fault.count(name)
            tap.case(f"a body of {size} bytes is sent {attempts} times",
                     head["x-bide-attempts"] == str(attempts) and
                     head.get("x-bide-reason") == reason and
                     [s["body"] for s in seen["seen"]] == [size] * attempts,
                     (status, head, seen))


def attempts_of(p):
    """As its admin endpoint counts them."""
    url = re.search(r"http://\S+/", "".join(p.said))[0]
    with urllib.request.urlopen(url + "metrics", timeout=PATIENCE) as r:
        return int(re.search(rb"^bide_proxy_attempts_total (\d+)", r.read(),
                             re.M)[1])


def not_sent():
    with proxied(fault.ports["closed"]) as p:
        for method in ("GET", "POST"):
            status, head, _ = p.request(method, "/", b"x")
            tap.case(f"{method} that cannot connect is tried four times",
                     (status, head["x-bide-attempts"], head["x-bide-reason"]) ==
                     (502, "4", "attempts"), (status, head))
    # Refused at first, then there: POST is safe to send.
    port = free_port()
    slower = OPEN.replace("1ms, cap: 2ms", "100ms, cap: 100ms, floor: 100ms")
    with proxied(port, policy=slower + ", attempts: 1000",
                 more="  admin: 127.0.0.1:0\n") as p:
        c = connect(p)
        c.send(get("/", b"Content-Length: 2\r\n", b"POST") + b"hi")
        until(lambda: attempts_of(p) > 1)
        o = Origin(says(ok()), port)
        a = Answer(c)
        tap.case("POST goes through once somebody listens",
                 a.status == 200 and o.bodies == [b"hi"] and
                 int(a.fields["x-bide-attempts"]) > 1, (a, o.bodies))
        o.stop()


def unreachable():
    """By default, what reaches nobody waits for somebody, and costs no attempt."""
    short = FAST + ", attempts: 2, unreachable: { wait: 50ms }"
    with proxied(fault.ports["closed"], policy=short) as p:
        for method in ("GET", "POST"):
            status, head, body = p.request(method, "/", b"x")
            tap.case(f"{method} that reaches nobody is given up after a while",
                     (status, head["x-bide-reason"]) == (503, "unreachable") and
                     "retry-after" in head, (status, head, body))
    port = free_port()
    with proxied(port, policy=FAST + ", attempts: 2, unreachable: { wait: 1m }",
                 more="  admin: 127.0.0.1:0\n") as p:
        c = connect(p)
        c.send(get("/", b"Content-Length: 2\r\n", b"POST") + b"hi")
        until(lambda: attempts_of(p) > 2)
        o = Origin(says(ok()), port)
        a = Answer(c)
        tap.case("one that waits is sent once somebody is there, and costs no "
                 "attempt", a.status == 200 and o.bodies == [b"hi"] and
                 int(a.fields["x-bide-attempts"]) > 2, (a, o.bodies))
        o.stop()


def overrides():
    for trusted, attempts in (("", "4"), ("  trusted: [127.0.0.0/8]\n", "2")):
        with proxied(fault.ports["http"], more=trusted) as p:
            _, head, _ = p.request(path=fault.path("503")[0],
                                   headers={"X-Bide-Attempts-Max": "2"})
            tap.case("overrides count " + ("where trusted" if trusted else "not"),
                     head["x-bide-attempts"] == attempts and
                     head["x-bide-reason"] == "attempts", head)


def keys():
    with proxied(fault.ports["http"],
                 policy=OPEN + ", idempotency: { key: generate }") as p:
        found = []
        for _ in range(2):
            path, name = fault.path("reset,503,200")
            status, head, _ = p.request("POST", path, b"x")
            found.append([s["key"] for s in fault.count(name)["seen"]])
            tap.case("a generated key makes a POST safe to retry",
                     status == 200 and head["x-bide-attempts"] == "3", head)
        tap.case("it is the same on all attempts of a call, and of that call only",
                 len(found[0]) == 3 and len(set(found[0])) == 1 and found[0][0]
                 and found[0][0] != found[1][0], found)
        tap.case("it is a structured-field string", all(
            re.fullmatch('"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"', key)
            for key in found[0] + found[1]), found)
        path, name = fault.path("reset,200")
        p.request("POST", path, b"x", {"Idempotency-Key": "mine"})
        keys_seen = [s["key"] for s in fault.count(name)["seen"]]
        tap.case("a client's own key stays", keys_seen == ["mine"] * 2, keys_seen)


def hints():
    """How long a wait takes is asked of the server, which may only say that it was
    not shorter than it asked for."""
    times = []

    def talk(o, peer):
        while head := o.request(peer):
            times.append(time.monotonic())
            name = head.split(b" ")[1][1:].decode()
            peer.send(ok(b"busy", WAITS[name], b"429 Busy")
                      if len(times) == 1 else ok())
    WAITS = {"seconds": b"Retry-After: 1\r\n",
             "ms": b"retry-after-ms: 300\r\n",
             "azure": b"x-ms-retry-after-ms: 300\r\n",
             "ratelimit": b"RateLimit-Reset: 1\r\n",
             "pushback": b"grpc-retry-pushback-ms: 300\r\n"}
    o = Origin(talk)
    with proxied(o) as p:
        for name in WAITS:
            times.clear()
            a = ask(p, get("/" + name))
            least = 1 if name in ("seconds", "ratelimit") else 0.3
            tap.case(f"the wait is not shorter than {name} asks",
                     a.status == 200 and len(times) == 2 and
                     times[1] - times[0] >= least, (a, times))
    o = Origin(says(ok(b"busy", b"Retry-After: 60\r\n", b"503 Busy"), ok()))
    with proxied(o, policy=OPEN + ", deadline: 59s", log=True) as p:
        a = ask(p, get())
        tap.case("a hint that does not fit the deadline ends the call",
                 a.status == 503 and a.body == b"busy" and
                 a.fields["x-bide-reason"] == "deadline" and
                 len(o.heads) == 1, a)
        _, log = p.stop()
        tap.case("without sleeping first", log[0]["waited_ms"] == 0, log)


def deadlines():
    with proxied(fault.ports["http"],
                 policy=OPEN + ", deadline: 30s, attempt_timeout: 10s") as p:
        for sent, most in [(None, 30000), ("5000", 5000), ("90000", 30000),
                           ("nonsense", 30000), ("-5", 30000)]:
            path, name = fault.path("503,200")
            headers = {"X-Bide-Timeout-Ms": sent} if sent else {}
            status, _, _ = p.request(path=path, headers=headers)
            left = [int(s["timeout_ms"] or -1) for s in
                    fault.count(name)["seen"]]
            tap.case(f"of a deadline of {sent} ms and 30 s what is left is told",
                     status == 200 and len(left) == 2 and
                     most - 5000 < left[1] <= left[0] <= most, (status, left))
        path, name = fault.path("stall,200")
        status, head, data = p.request(path=path,
                                       headers={"X-Bide-Timeout-Ms": "150"})
        tap.case("a deadline in the request ends an attempt that stalls",
                 status == 504 and head["x-bide-reason"] == "client_timeout" and
                 json.loads(data)["status"] == 504, (status, head, data))
        status, head, _ = p.request(path=fault.path("200")[0],
                                    headers={"X-Bide-Timeout-Ms": "0"})
        tap.case("nothing left is nothing done", status == 504 and
                 head["x-bide-attempts"] == "0", (status, head))
    with proxied(fault.ports["http"]) as p:
        path, name = fault.path("200")
        p.request(path=path)
        tap.case("without any deadline none is told",
                 fault.count(name)["seen"][0]["timeout_ms"] == "")
    with proxied(fault.ports["http"],
                 policy=OPEN + ", attempt_timeout: 1s") as p:
        path, name = fault.path("stall,200;stall=head,200;body=third")
        status, head, data = p.request(path=path)
        tap.case("an attempt that stalls is given up and tried again",
                 (status, data, head["x-bide-attempts"]) ==
                 (200, b"third", "3"), (status, head, data))
        path, name = fault.path("stall,200")
        status, head, _ = p.request("POST", path, b"x")
        tap.case("but not a POST", (status, head["x-bide-reason"]) ==
                 (504, "not_idempotent"), (status, head))


def nested():
    with proxied(fault.ports["http"], policy=OPEN + ", nested: retry") as p:
        path, _ = fault.path("503,200")
        status, head, _ = p.request(path=path, headers={"X-Bide-Attempt": "2"})
        tap.case("nested: retry retries below another layer", status == 200 and
                 head["x-bide-attempts"] == "2", (status, head))
    with proxied(fault.ports["http"]) as below, proxied(below.port) as above:
        path, name = fault.path("503,503,200")
        status, head, _ = above.request(path=path)
        seen = fault.count(name)
        tap.case("of two sidecars in a row one retries", status == 200 and
                 seen["requests"] == 3 and head["x-bide-attempts"] == "3",
                 (status, head, seen))
    with proxied(fault.ports["http"], policy=FAST) as below, \
            proxied(below.port) as above:
        for _ in range(40):
            above.request(path="/s/503")
        status, head, _ = above.request(path="/s/200")
        tap.case("a refusal below is not retried above", status == 503 and
                 head["x-bide-reason"] == "server_refused" and
                 head["x-bide-attempts"] == "1" and
                 head["x-bide-retry"] == "no", (status, head))


def hedges():
    gone = []

    def talk(o, peer):
        while head := o.request(peer):
            if fields(head)["x-bide-attempt"] == "1; max=2":
                gone.append(peer.gone())
                return
            peer.send(ok(b"hedge"))
    o = Origin(talk)
    with proxied(o, policy="attempts: 1, hedge: { after: 50ms, max: 1, "
                 "extra_load: 100% }") as p:
        a = ask(p, get())
        tap.case("the hedge answers", a.status == 200 and a.body == b"hedge" and
                 a.fields["x-bide-attempts"] == "2", a)
        tap.case("and the one that lost is cancelled", until(lambda: gone),
                 gone)
        tap.case("attempts have their numbers",
                 sorted(fields(h)["x-bide-attempt"] for h in o.heads) ==
                 ["1; max=2", "2; max=2"], o.heads)
    with proxied(fault.ports["http"], policy="attempts: 1, hedge: { after: 50ms,"
                 " max: 1, extra_load: 100% }") as p:
        path, name = fault.path("200;wait=300")
        status, _, _ = p.request("POST", path, b"x")
        tap.case("a POST is not hedged", status == 200 and
                 fault.count(name)["requests"] == 1)
        path, name = fault.path("503,200;body=b")
        status, head, data = p.request(path=path)
        tap.case("a failure sends the hedge at once", (status, data) ==
                 (200, b"b"), (status, head, data))


def hedges_in_line():
    go = threading.Event()

    def talk(o, peer):
        while o.request(peer):
            go.wait(20)
            peer.send(ok())
    o = Origin(talk)
    with proxied(o, policy="attempts: 1, attempt_timeout: 1m, hedge: { "
                 "after: 1ms, max: 1, extra_load: 100% }",
                 more="  admin: 127.0.0.1:0\n",
                 upstream=", pool: { connections: 1 }") as p:
        first, second = connect(p), connect(p)
        first.send(get("/1", b"", b"POST"))
        until(lambda: o.heads)
        second.send(get("/2"))
        until(lambda: counted(p, "waited_for_link") == 2)
        go.set()
        a = Answer(second)
        tap.case("one that had to wait keeps its number beside its hedge",
                 fields(o.heads[1])["x-bide-attempt"] == "1; max=2" and
                 a.fields["x-bide-attempts"] == "2", (o.heads, a))


def breakers():
    with proxied(fault.ports["http"], policy=FAST + ", breaker: { open: 3s }"
                 ", budget: { kind: off }", upstream=", ejection: "
                 "{ consecutive: 0, failure_rate: 100% }") as p:
        until(lambda: p.request(path="/s/503?id=b")[1].get("x-bide-reason") ==
              "breaker_open")
        before = fault.count("b")["requests"]
        status, head, data = p.request(path="/s/200?id=c")
        tap.case("the breaker opens, and says so", status == 503 and
                 head["x-bide-reason"] == "breaker_open" and
                 head["x-bide-retry"] == "no" and head["x-bide-attempts"] == "0"
                 and json.loads(data)["status"] == 503 and
                 json.loads(data)["retryable"] is False, (head, data))
        tap.case("with whole seconds to wait", head["retry-after"].isdigit() and
                 int(head["retry-after"]) >= 1, head)
        tap.case("nothing reaches the server meanwhile", fault.count("c")
                 ["requests"] == 0 and fault.count("b")["requests"] == before)
        tap.case("it closes again when the server is well", until(
            lambda: [p.request(path="/s/200?id=d")[0] for _ in range(5)] ==
            [200] * 5))


run(rows, bodies, not_sent, unreachable, overrides, keys, hints, deadlines,
    nested, hedges, hedges_in_line, breakers)
