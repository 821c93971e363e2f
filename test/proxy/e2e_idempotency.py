#!/usr/bin/env python3
"""The door: draft-ietf-httpapi-idempotency-key-header-07 row by row, who may use a
key, and what is kept. e2e_idempotency.py BIDE"""
import json
import threading

from parts import Answer, ask, connect, counted, run, tap, until
from payments import Payments, guarded, pay

ONCE = ", idempotency: { accept: required%s }"
ADMIN = "  admin: 127.0.0.1:0\n"


def door(more="", **how):
    """A sidecar with such a route, and the origin behind it."""
    origin = Payments()
    return origin, guarded(origin, route=ONCE % more, **how)


def is_problem(what, a, status, reason, final=False):
    """An answer of the sidecar's own."""
    try:
        body = json.loads(a.body)
    except ValueError:
        body = {}
    tap.case(what, a.status == status and
             a.fields.get("x-bide-reason") == reason and
             a.fields.get("content-type") == "application/problem+json" and
             body.get("type") == f"urn:bide:problem:{reason}" and
             body.get("status") == status and
             (a.fields.get("x-bide-retry") == "no") == final, a)


def same(a, b):
    """A replay, but for what says so."""
    mine = {"idempotent-replayed", "x-bide-attempts", "content-length",
            "transfer-encoding", "connection", "x-bide-reason", "x-bide-retry"}

    def kept(x):
        return {k: v for k, v in x.fields.items() if k not in mine}
    return (a.status, kept(a), a.body) == (b.status, kept(b), b.body)


def is_replay(what, first, a):
    tap.case(what, a.fields.get("idempotent-replayed") == "true" and
             same(first, a), f"{first}\n{a}")


# ===== the draft =====

def first_and_repeat():
    origin, sidecar = door()
    with sidecar as p:
        first = ask(p, pay('"8e03978e"'))
        tap.case("the first use is processed", first.status == 201 and
                 first.fields["location"] == "/charges/1" and
                 "idempotent-replayed" not in first.fields, first)
        tap.case("the key is passed on",
                 b'Idempotency-Key: "8e03978e"' in origin.heads[0], origin.heads)
        is_replay("the second gets the same, and is told so", first,
                  ask(p, pay('"8e03978e"')))
        is_replay("a bare key is the quoted one", first, ask(p, pay("8e03978e")))
        tap.case("the origin was asked once", origin.total == 1, origin.effects)
        other = ask(p, pay("8E03978E"))
        tap.case("case counts", other.body != first.body and origin.total == 2)


INVALID = {
    "empty": b"", "an empty string": b'""', "a list": b'"a", "b"',
    "a list of tokens": b"a, b", "no closing quote": b'"a', "a quote inside": b'"a"b"',
    "a bad escape": b'"a\\n"', "a control": b'"a\tb"', "not ASCII": b"caf\xc3\xa9",
    "not ASCII in a string": b'"caf\xc3\xa9"', "parameters": b'"a";b=1',
    "256 bytes": b"k" * 256, "256 bytes in a string": b'"' + b"k" * 256 + b'"',
    "two words": b"a b", "8000 bytes": b"k" * 8000,
}
VALID = {
    "255 bytes": b"k" * 255, "255 bytes in a string": b'"' + b"j" * 255 + b'"',
    "escapes": b'"a\\"b\\\\c"', "blanks in a string": b'"a b"', "a UUID":
    b"8e03978e-40d5-43dd-bc93-6894a57f9324", "base64": b"YWJj+/==",
}


def keys():
    origin, sidecar = door()
    with sidecar as p:
        is_problem("no key", ask(p, pay()), 400, "idempotency_missing")
        for what, key in INVALID.items():
            is_problem(f"invalid: {what}", ask(p, pay(key)), 400,
                       "idempotency_invalid")
        a = ask(p, pay("a", more=b"Idempotency-Key: a\r\n"))
        is_problem("invalid: sent twice", a, 400, "idempotency_invalid")
        a = ask(p, pay("a", more=b"Connection: Idempotency-Key\r\n"))
        is_problem("invalid: taken off by Connection", a, 400,
                   "idempotency_invalid")
        tap.case("... none of which reached the origin", origin.total == 0)
        for what, key in VALID.items():
            a = ask(p, pay(key))
            tap.case(f"valid: {what}", a.status == 201, a)
        tap.case("... each once", origin.total == len(VALID), origin.effects)


def mismatches():
    origin, sidecar = door(", methods: [POST, PUT]")
    with sidecar as p:
        ask(p, pay("k", path="/pay?a=1"))
        others = {
            "body": pay("k", b"amount=11", path="/pay?a=1"),
            "method": pay("k", path="/pay?a=1", method=b"PUT"),
            "path": pay("k", path="/paz?a=1"),
            "query": pay("k", path="/pay?a=2"), "no query": pay("k"),
            "caller": pay("k", path="/pay?a=1", more=b"Authorization: other\r\n"),
        }
        answers = [ask(p, data) for data in others.values()]
        for what, a in zip(others, answers):
            is_problem(f"another {what}", a, 422, "idempotency_mismatch", True)
        tap.case("... and it does not say which differs",
                 len({a.body for a in answers}) == 1, answers)
        tap.case("... and none was processed", origin.total == 1)
        a = ask(p, pay("k", path="/pay?a=1").replace(b"amount=10", b"9\r\namount=10")
                .replace(b"Content-Length: 9\r\n\r\n9", b"Transfer-Encoding: "
                         b"chunked\r\n\r\n9") + b"\r\n0\r\n\r\n")
        tap.case("the same body in chunks is the same request",
                 a.fields.get("idempotent-replayed") == "true", a)


def in_progress():
    origin, sidecar = door(", lease: 3s")
    with sidecar as p:
        first = connect(p)
        first.send(pay("k", do="wait"))
        until(lambda: origin.waiting == 1)
        a = ask(p, pay("k"))
        is_problem("in flight", a, 409, "idempotency_in_progress")
        tap.case("... with Retry-After, at once", a.fields.get("retry-after") == "1")
        is_problem("a mismatch wins", ask(p, pay("k", b"other")), 422,
                   "idempotency_mismatch", True)
        # The lease is renewed while the first is at work: two of them pass.
        tap.case("it stays in flight past its lease, while its owner lives",
                 not until(lambda: ask(p, pay("k")).fields["x-bide-reason"] !=
                           "idempotency_in_progress", 7))
        origin.let()
        done = Answer(first)
        is_replay("then done", done, ask(p, pay("k")))
        tap.case("once", origin.total == 1)


def elsewhere():
    origin, sidecar = door()
    with sidecar as p:
        for _ in range(2):
            a = ask(p, pay("k", method=b"PUT"))
            tap.case("other methods pass", a.status == 201 and
                     "idempotent-replayed" not in a.fields, a)
        tap.case("... with their key", all(b"Idempotency-Key: k" in h
                                           for h in origin.heads))
        tap.case("... and nothing is kept", origin.effects["k"] == 2)
    origin = Payments()
    with guarded(origin, route=", idempotency: { accept: optional }") as p:
        for _ in range(2):
            ask(p, pay())
        tap.case("optional: without a key they pass", origin.total == 2)
        is_replay("optional: with one they are done once", ask(p, pay("k")),
                  ask(p, pay("k")))
        is_problem("optional: a bad key is refused", ask(p, pay("")), 400,
                   "idempotency_invalid")


def routes():
    origin = Payments()
    with guarded(origin, route=", match: { path: /a }, idempotency: { accept: "
                 "required } }\n    - { upstream: up, idempotency: { accept: "
                 "required }") as p:
        one, two = ask(p, pay("k", path="/a")), ask(p, pay("k", path="/b"))
        tap.case("keys are per route", (one.status, two.status) == (201, 201) and
                 origin.total == 2, (one, two))


# ===== callers =====

def callers():
    origin, sidecar = door()
    with sidecar as p:
        mine = [b"Authorization: Bearer mine\r\n"]
        first = ask(p, pay("k", more=mine[0]))
        is_replay("the same Authorization", first, ask(p, pay("k", more=mine[0])))
        for other in (b"", b"Authorization: Bearer yours\r\n",
                      b"Cookie: Bearer mine\r\n", mine[0] + mine[0]):
            is_problem("nobody else reads it", ask(p, pay("k", more=other)), 422,
                       "idempotency_mismatch", True)
        first = ask(p, pay("c", more=b"Cookie: a=1\r\n"))
        is_replay("without one, the Cookie", first,
                  ask(p, pay("c", more=b"Cookie: a=1\r\n")))
        is_problem("... another Cookie", ask(p, pay("c", more=b"Cookie: a=2\r\n")),
                   422, "idempotency_mismatch", True)
        first = ask(p, pay("b", more=mine[0] + b"Cookie: a=1\r\n"))
        is_replay("with one, the Cookie does not matter", first,
                  ask(p, pay("b", more=mine[0] + b"Cookie: a=2\r\n")))
    origin, sidecar = door(", caller: X-Account")
    with sidecar as p:
        one = ask(p, pay("k", more=b"X-Account: 1\r\nAuthorization: a\r\n"))
        two = ask(p, pay("k", b"amount=7", more=b"X-Account: 2\r\n"))
        tap.case("one key of two callers is two operations",
                 (one.status, two.status, origin.total) == (201, 201, 2))
        is_replay("a caller may change its token", one,
                  ask(p, pay("k", more=b"X-Account: 1\r\nAuthorization: b\r\n")))
        a = ask(p, pay("k", more=b"X-Account: 1\r\nX-Account: 2\r\n"))
        is_problem("two names at once", a, 400, "idempotency_invalid")
        first = ask(p, pay("n", more=b"Authorization: a\r\n"))
        is_problem("without a name, the Authorization counts",
                   ask(p, pay("n", more=b"Authorization: b\r\n")), 422,
                   "idempotency_mismatch", True)
        tap.case("... once", first.status == 201 and origin.effects["n"] == 1)
    by_host()


def by_host():
    """Anybody may send any Host: it tells operations apart, and proves nothing."""
    origin, sidecar = door(", caller: Host")
    with sidecar as p:
        mine = b"Authorization: Bearer mine\r\n"
        first = ask(p, pay("k", more=mine))
        for other in (b"", b"Authorization: Bearer yours\r\n"):
            is_problem("to know the Host is not enough", ask(p, pay("k", more=other)),
                       422, "idempotency_mismatch", True)
        is_replay("its case does not matter", first,
                  ask(p, pay("k", more=mine).replace(b"x.example", b"X.Example")))
        is_replay("that of an absolute target counts", first,
                  ask(p, pay("k", path="http://x.example/pay", more=mine)
                      .replace(b"Host: x.example", b"Host: y.example")))
        two = ask(p, pay("k", b"amount=7", more=mine)
                  .replace(b"x.example", b"y.example"))
        tap.case("another Host is another caller",
                 (two.status, origin.total) == (201, 2), two)


# ===== what is kept =====

def kept():
    origin, sidecar = door(", max_body: 4KiB")
    with sidecar as p:
        first = ask(p, pay("f", do="cookie hop"))
        a = ask(p, pay("f"))
        tap.case("end-to-end fields, repeated ones too",
                 a.fields["x-many"] == "one, two" and
                 a.fields["location"] == first.fields["location"], a)
        tap.case("never Set-Cookie, nor hop-by-hop",
                 "set-cookie" in first.fields and "set-cookie" not in a.fields and
                 "x-private" not in a.fields, a)
        for how in ("chunked", "close", "size=0", "size=4096", "status=200",
                    "status=404", "status=303", "status=422", "size=4096 chunked"):
            first = ask(p, pay(f'"{how}"', do=how))
            is_replay(f"an answer: {how}", first, ask(p, pay(f'"{how}"')))
            tap.case("... without trailers",
                     not ask(p, pay(f'"{how}"')).trailers)
        for how in ("size=4097", "size=300000", "size=4097 chunked",
                    "size=70000 close"):
            first = ask(p, pay(f'"{how}"', do=how))
            size = int(how.split()[0][5:])
            tap.case(f"too large ({how}): its client gets all of it",
                     first.status == 201 and len(first.body) == size, first)
            is_problem("... the repeat a conflict", ask(p, pay(f'"{how}"')), 409,
                       "idempotency_too_large", True)
            tap.case("... and no second effect", origin.effects[how] == 1)
        a = ask(p, pay("large", b"x" * 4096))
        tap.case("a body of max_body", a.status == 201, a)
        a = ask(p, pay("larger", b"x" * 4097))
        tap.case("one byte more: 413", a.status == 413, a)
        whole = b"x" * 5000
        a = ask(p, pay("chunks", whole).replace(
            b"Content-Length: 5000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"
            b"%x\r\n" % len(whole)) + b"\r\n0\r\n\r\n")
        tap.case("... in chunks, too", a.status == 413 and
                 not origin.effects["chunks"], a)
        a = ask(p, pay(None, b"x" * 9000, method=b"PUT"))
        tap.case("... but only with a key", a.status == 201, a)
    with guarded(Payments(), route=ONCE % ", max_body: 16MiB") as p:
        body = bytes(range(256)) * 12000
        first, a = (ask(p, pay("big", body, do="size=3000000")) for _ in range(2))
        is_replay("3 MB, with a limit to match", first, a)


def released():
    origin, sidecar = door(policy="attempts: 1, budget: { kind: off }")
    with sidecar as p:
        for status in (401, 403, 407, 408, 425, 429, 503):
            a = ask(p, pay(f"r{status}", do=f"status={status}"))
            b = ask(p, pay(f"r{status}"))
            tap.case(f"{status} releases the key", a.status == status and
                     b.status == 201 and "idempotent-replayed" not in b.fields,
                     (a, b))
        for status in (400, 404, 409, 418, 500, 502, 504):
            a = ask(p, pay(f"k{status}", do=f"status={status}"))
            is_replay(f"{status} is kept", a, ask(p, pay(f"k{status}")))
    origin, sidecar = door(", release: [418, 500-502]",
                           policy="attempts: 1, budget: { kind: off }")
    with sidecar as p:
        for status, again in ((418, 201), (501, 201), (503, 503)):
            ask(p, pay(f"r{status}", do=f"first:status={status}"))
            a = ask(p, pay(f"r{status}"))
            tap.case(f"release: {status}", a.status == again, a)
    origin, sidecar = door(", on_unknown: retry",
                           policy="attempts: 1, budget: { kind: off }")
    with sidecar as p:
        for status in (500, 502, 504):
            ask(p, pay(f"u{status}", do=f"status={status}"))
            a = ask(p, pay(f"u{status}"))
            tap.case(f"on_unknown: retry releases {status}", a.status == 201, a)


def counts():
    origin = Payments()
    with guarded(origin, route=ONCE % "", more=ADMIN, log=True) as p:
        for data in (pay("k"), pay("k"), pay("k", b"x"), pay(), pay('"')):
            ask(p, data)
        got = {n: counted(p, f"idempotency_{n}") for n in (
            "claims", "kept", "replays", "mismatch", "missing", "invalid")}
        tap.case("metrics", set(got.values()) == {1}, got)
        until(lambda: open(p.log, encoding="utf-8").read().count("\n") == 5)
        with open(p.log, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        tap.case("the access log", [x.get("idempotency") for x in lines] ==
                 ["first", "replayed", "mismatch", None, None], lines)


def crowd():
    """16 clients with one key."""
    for workers in (1, 4):
        origin = Payments()
        with guarded(origin, route=ONCE % "", more=f"  workers: {workers}\n") as p:
            answers = []

            def client():
                while True:
                    a = ask(p, pay("k"))
                    answers.append(a)
                    if a.status != 409:
                        return
            threads = [threading.Thread(target=client) for _ in range(16)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            done = [a for a in answers if a.status == 201]
            tap.case(f"16 clients, one effect ({workers} workers)",
                     origin.total == 1 and len(done) == 16 and
                     len({a.body for a in done}) == 1 and
                     sum("idempotent-replayed" not in a.fields for a in done) == 1,
                     origin.effects)


run(first_and_repeat, keys, mismatches, in_progress, elsewhere, routes,
    callers, kept, released, counts, crowd)
