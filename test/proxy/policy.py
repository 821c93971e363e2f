#!/usr/bin/env python3
"""policy.py BIDE: the policy in front of any client: what is retried, what is not,
and what the client is told."""
import http.client
import json

import sidecar
import tap
from sidecar import FAST, OPEN, Fault, Scripted, Sidecar, config

fault = Fault()
PROBLEM = ("503{};h=Content-Type:application/problem%2Bjson;"
           "body=%7B%22retryable%22%3Afalse%7D,200")


calls = 0


def judged(p, what, script, status, attempts, reason=None, body=None,
           method="GET", send=None, headers=None):
    """One call: what came back, and how often it was tried."""
    global calls
    calls += 1
    path, name = fault.path(script)
    got = p.request(method, path, send, headers)
    head = got[1]
    tap.case(what, got[0] == status and head["x-bide-attempts"] == str(attempts)
             and head.get("x-bide-reason") == reason and
             (body is None or got[2] == body), got)
    return got, fault.count(name)


def rules():
    p = Sidecar(config([fault.ports["http"]]), log=True)
    _, seen = judged(p, "a failure is retried", "503,reset,200;body=ok", 200, 3,
                     body=b"ok")
    tap.case("each attempt has its number",
             [x["attempt"] for x in seen["seen"]] == ["1", "2", "3"], seen)
    judged(p, "the last answer is passed on", "503;body=last", 503, 4,
           "attempts", b"last")
    judged(p, "also if an attempt without an answer came after it",
           "503;body=one,reset", 503, 4, "attempts", b"one")
    got, _ = judged(p, "without any answer there is a problem", "reset", 502, 4,
                    "attempts")
    tap.case("which is one of RFC 9457", json.loads(got[2])["status"] == 502 and
             got[1]["content-type"] == "application/problem+json", got)
    judged(p, "POST may have been processed", "reset,200", 502, 1,
           "not_idempotent", method="POST", send=b"x")
    judged(p, "POST with a key is retried", "reset,200", 200, 2, method="POST",
           send=b"x", headers={"Idempotency-Key": "k"})
    _, seen = judged(p, "a body is sent again", "503,200", 200, 2, method="PUT",
                     send=b"y" * 60000)
    tap.case("as a whole", seen["complete"] == 2, seen)
    judged(p, "a body over the bound is not", "503,200", 503, 1,
           "not_replayable", method="PUT", send=b"y" * 300000)
    judged(p, "404 is no reason to try again", "404", 404, 1, "permanent")
    judged(p, "a hint may be too long", "429;h=Retry-After:3600,200", 429, 1,
           "hint_too_long")
    judged(p, "a server may say no", "503;h=X-Bide-Retry:no,200", 503, 1,
           "server_refused")
    judged(p, "in problem details too", PROBLEM.format(""), 503, 1,
           "server_refused")
    judged(p, "in chunks too", PROBLEM.format(";chunked"), 503, 1,
           "server_refused")
    judged(p, "a layer above owns the retries", "503,200", 503, 1,
           "upstream_retries", headers={"X-Bide-Attempt": "1"})
    judged(p, "half a head is retried", "200;cut=head,200;body=x", 200, 2,
           body=b"x")
    _, seen = judged(p, "the caller's deadline counts", "stall", 504, 1,
                     "client_timeout", headers={"X-Bide-Timeout-Ms": "200"})
    tap.case("and is passed on", 0 < int(seen["seen"][0]["timeout_ms"]) <= 200,
             seen)
    log = sidecar.ended("rules", p)
    tap.case("each request has its line in the log", len(log) == calls and
             log[0]["attempts"] == 3 and log[0]["reason"] == "success" and
             log[1]["reason"] == "attempts" and log[0]["upstream"] == "up",
             log[:2])


def overrides():
    for trusted, attempts, reason in [("", 4, "attempts"),
                                      ("  trusted: [127.0.0.0/8]\n", 2,
                                       "attempts")]:
        p = Sidecar(config([fault.ports["http"]], more=trusted))
        judged(p, "overrides count " + ("where trusted" if trusted else "not"),
               "503", 503, attempts, reason,
               headers={"X-Bide-Attempts-Max": "2"})
        sidecar.ended("overrides", p)


def transports():
    for what, name, status, method, attempts, reason in [
            ("refused", "closed", 502, "POST", 4, "attempts"),
            ("reset", "reset", 502, "GET", 4, "attempts"),
            ("silent", "silent", 504, "GET", 4, "attempts"),
            ("silent, for a POST", "silent", 504, "POST", 1, "not_idempotent")]:
        p = Sidecar(config([fault.ports[name]],
                           OPEN + ", attempt_timeout: 100ms"))
        status_got, head, _ = p.request(method, "/", b"x" if method == "POST"
                                        else None)
        tap.case(f"an endpoint that is {what}", status_got == status and
                 head["x-bide-attempts"] == str(attempts) and
                 head["x-bide-reason"] == reason, (status_got, head))
        sidecar.ended(what, p)


def shared_state():
    p = Sidecar(config([fault.ports["http"]], FAST))
    for _ in range(60):
        status, head, body = p.request(path="/s/503")
    tap.case("the breaker refuses, and says when to come back",
             status == 503 and head["x-bide-reason"] == "breaker_open" and
             head["x-bide-retry"] == "no" and int(head["retry-after"]) > 0 and
             head["x-bide-attempts"] == "0" and
             json.loads(body)["retryable"] is False, (status, head, body))
    sidecar.ended("breaker", p)
    p = Sidecar(config([fault.ports["http"]],
                       FAST + ", breaker: { kind: off }"))
    for _ in range(60):
        status, head, body = p.request(path="/s/503;body=theirs")
    tap.case("without budget the endpoint's own answer is passed on",
             (status, head["x-bide-reason"], body) == (503, "budget", b"theirs"),
             (status, head, body))
    sidecar.ended("budget", p)


def endpoints():
    p = Sidecar(config([fault.ports["closed"], fault.ports["http"]]), log=True)
    good = sum(p.request(path="/s/200")[0] == 200 for _ in range(40))
    log = sidecar.ended("endpoints", p)
    tap.case("a retry goes elsewhere", good == 40, good)
    tap.case("an endpoint that fails is left out",
             sum(line["attempts"] for line in log) <= 60, log[-1])


def hedges():
    p = Sidecar(config([fault.ports["http"]], "attempts: 1, hedge: { max: 1, "
                       "after: 20ms, extra_load: 100% }"))
    judged(p, "a slow attempt gets company", "stall,200;body=h", 200, 2,
           body=b"h")
    sidecar.ended("hedges", p)


def broken_bodies():
    p = Sidecar(config([fault.ports["http"]]), log=True)
    try:
        got = p.request(path=fault.path("200;n=100000;cut=body")[0])
    except (http.client.IncompleteRead, ConnectionResetError):
        got = None
    tap.case("an answer that broke off is seen to be broken", got is None, got)
    log = sidecar.ended("broken bodies", p)
    tap.case("and logged so", log[0]["reason"] == "cut_short", log)
    s = Scripted(lambda c: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
                                     b"Content-Length: 2\r\n\r\nab"))
    p = Sidecar(config([s.port]))
    status, head, _ = p.request()
    tap.case("an answer that is none is not passed on", status == 502 and
             head["x-bide-reason"] == "permanent", (status, head))
    sidecar.ended("garbage", p)


for part in (rules, overrides, transports, shared_state, endpoints, hedges,
             broken_bodies):
    part()
fault.stop()
tap.finish()
