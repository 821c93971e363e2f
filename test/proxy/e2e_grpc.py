#!/usr/bin/env python3
"""e2e_grpc.py BIDE: gRPC through the sidecar, with real clients and servers (Debian's
python3-grpcio), and origins that answer what no gRPC server would."""
import os
import subprocess
import sys
import threading
from concurrent import futures

SYSTEM = "/usr/bin/python3"  # for which Debian has packaged gRPC
try:
    import grpc
except ImportError:
    if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM):
        print("1..0 # SKIP no python3-grpcio")
        sys.exit(0)
    os.execv(SYSTEM, [SYSTEM, *sys.argv])

import http2_peer as http2
from parts import PATIENCE, proxied, run, tap, until
from ports import free_port
from sidecar import FAST, Sidecar, config

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples", "grpc")
LISTED = FAST + ", retry_on: { grpc: [UNAVAILABLE] }, budget: { kind: off }"
PLAIN = FAST + ", budget: { kind: off }"


# ===== a server whose behaviour each case writes down =====

class Server:
    """Calls `answer(n, request or iterator, context)` for the n-th run of a method."""

    def __init__(self, answer, kind="unary_unary", port=0):
        self.answer, self.runs = answer, 0
        self.seen = []  # invocation metadata, by run
        self.lock = threading.Lock()
        self.server = grpc.server(futures.ThreadPoolExecutor(max_workers=16))
        handler = getattr(grpc, f"{kind}_rpc_method_handler")
        self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
            "shop.Cart", {"Add": handler(self.run)}),))
        self.port = self.server.add_insecure_port(f"127.0.0.1:{port}")
        self.server.start()

    def run(self, request, context):
        with self.lock:
            self.runs += 1
            n = self.runs
            self.seen.append(dict(context.invocation_metadata()))
        return self.answer(n, request, context)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stop(0)


def channel(p):
    return grpc.insecure_channel(f"127.0.0.1:{p.port}",
                                 options=[("grpc.enable_retries", 0)])


class Ended:
    def __init__(self, call):
        try:
            self.value = call()
            self.code, self.why, self.trailers = "OK", "", {}
        except grpc.RpcError as e:
            self.value = None
            self.code, self.why = e.code().name, e.details()
            self.trailers = {**dict(e.initial_metadata() or ()),
                             **dict(e.trailing_metadata() or ())}

    def __repr__(self):
        return f"{self.code} {self.value} {self.why} {self.trailers}"


def ask(p, request=b"x", path="/shop.Cart/Add", timeout=PATIENCE, metadata=None):
    with channel(p) as c:
        return Ended(lambda: c.unary_unary(path)(request, timeout=timeout, metadata=metadata))


class Sides:
    """A server, and a sidecar before it."""

    def __init__(self, answer, policy=LISTED, kind="unary_unary", **more):
        self.server = Server(answer, kind)
        self.sidecar = Sidecar(config([self.server.port], policy, **more))

    def __enter__(self):
        return self.server, self.sidecar

    def __exit__(self, *_):
        self.sidecar.stop()
        self.server.server.stop(0)


def fails(times, code=grpc.StatusCode.UNAVAILABLE, trailers=()):
    def answer(n, request, context):
        if n <= times:
            context.set_trailing_metadata(tuple(trailers))
            context.abort(code, "on purpose")
        return request
    return answer


# ===== the example, as the documentation has it =====

def example(*flags, every=20, calls=200, policy=LISTED):
    port = free_port()
    server = subprocess.Popen([SYSTEM, f"{EXAMPLES}/server.py", str(port), "--fail-every",
                               str(every), *flags], stdout=subprocess.PIPE)
    try:
        server.stdout.readline()
        p = Sidecar(config([port], policy))

        def count(to):
            out = subprocess.run([SYSTEM, f"{EXAMPLES}/client.py", f"127.0.0.1:{to}",
                                  str(calls)], capture_output=True, text=True, timeout=60)
            return out.stdout.strip() + out.stderr[-300:]
        direct, through = count(port), count(p.port)
        p.stop()
    finally:
        server.kill()
        server.wait()
    return direct, through


def examples():
    direct, through = example()
    tap.case("without the sidecar a twentieth of the calls fails",
             direct == "190 OK, 10 UNAVAILABLE; the handler ran 200 times", direct)
    ran = int(through.split("ran ")[1].split()[0]) if "ran " in through else 0
    tap.case("through it none does, and the handler ran for each attempt",
             through.startswith("200 OK;") and 208 <= ran <= 213, through)
    _, through = example("--headers-first")
    tap.case("... also if the metadata is sent before the status",
             through.startswith("200 OK;"), through)
    _, through = example(every=5, policy=FAST + ", retry_on: { grpc: [UNAVAILABLE] }, "
                         "budget: { ratio: 50% }")
    tap.case("... and if a fifth fails, with a budget for it",
             through.startswith("200 OK;"), through)


# ===== which calls are sent again =====

def unlisted():
    with Sides(fails(2), PLAIN) as (server, p):
        e = ask(p)
        tap.case("UNAVAILABLE that nobody listed is not sent again",
                 e.code == "UNAVAILABLE" and server.runs == 1 and
                 e.trailers.get("x-bide-reason") == "not_idempotent", repr(e))
        ask(p)
        tap.case("... and the log names the line to add, once",
                 until(lambda: any("retry_on" in x for x in p.said)) and
                 sum("retry_on" in x for x in p.said) == 1, p.said)
    with Sides(fails(1), PLAIN, route=", idempotent: true") as (server, p):
        e = ask(p)
        tap.case("... unless the route is idempotent", e.code == "OK" and server.runs == 2,
                 repr(e))
    with Sides(fails(1, grpc.StatusCode.INTERNAL), LISTED) as (server, p):
        e = ask(p)
        tap.case("a code that is not listed is the client's", e.code == "INTERNAL" and
                 server.runs == 1 and e.why == "on purpose", repr(e))
    listed = LISTED.replace("UNAVAILABLE", "ABORTED, UNAVAILABLE")
    with Sides(fails(1, grpc.StatusCode.ABORTED), listed) as (server, p):
        e = ask(p)
        tap.case("one that is listed is sent again", e.code == "OK" and server.runs == 2,
                 repr(e))


def told_attempts():
    with Sides(fails(2)) as (server, p):
        ask(p)
        seen = [s.get("grpc-previous-rpc-attempts") for s in server.seen]
        tap.case("attempts say how many were before", seen == [None, "1", "2"], seen)
        ask(p, metadata=(("grpc-previous-rpc-attempts", "3"),))
        tap.case("... beside those of the client",
                 server.seen[-1].get("grpc-previous-rpc-attempts") == "3", server.seen[-1])


def pushback():
    slow = LISTED.replace("base: 1ms, cap: 2ms", "base: 60s, cap: 60s, floor: 60s")
    with Sides(fails(1, trailers=[("grpc-retry-pushback-ms", "0")]), slow) as (server, p):
        e = ask(p)
        tap.case("a pushback of 0 goes at once", e.code == "OK" and server.runs == 2, repr(e))
    for value in ("-1", "soon"):
        with Sides(fails(1, trailers=[("grpc-retry-pushback-ms", value)])) as (server, p):
            e = ask(p)
            tap.case(f"a pushback of {value} ends it", e.code == "UNAVAILABLE" and
                     server.runs == 1 and
                     e.trailers.get("x-bide-reason") == "server_refused", repr(e))


def broken():
    def cut(c, s):
        c.rst(s, 2)
    o = http2.Origin(cut)
    with proxied(o, policy=LISTED) as p:
        e = ask(p)
        tap.case("a stream that breaks without a status is not sent again",
                 e.code == "UNAVAILABLE" and o.seen.qsize() == 1 and
                 e.trailers.get("x-bide-reason") == "not_idempotent", f"{e} {o.seen.qsize()}")


# ===== answers that are none of gRPC's =====

def foreign():
    for status, code in ((502, "UNAVAILABLE"), (404, "UNIMPLEMENTED"), (403, "PERMISSION_DENIED"),
                         (401, "UNAUTHENTICATED"), (400, "INTERNAL"), (418, "UNKNOWN")):
        def html(c, s, status=status):
            c.head(s, [(":status", str(status)), ("content-type", "text/html")])
            c.send(s, b"<html>", end=True)
        o = http2.Origin(html)
        with proxied(o, policy="attempts: 1") as p:
            e = ask(p)
            tap.case(f"HTML with {status} becomes {code}", e.code == code and
                     f"HTTP status {status}" in e.why, repr(e))

    def silent(c, s):
        c.head(s, [(":status", "200"), ("content-type", "application/grpc")], end=True)
    o = http2.Origin(silent)
    with proxied(o, policy="attempts: 1") as p:
        e = ask(p)
        tap.case("an answer without any status becomes UNKNOWN", e.code == "UNKNOWN", repr(e))


GRPC = [("content-type", "application/grpc"), ("te", "trailers")]
HEAD = [(":status", "200"), ("content-type", "application/grpc")]
MESSAGE = b"\0\0\0\0\1x"


def framed():
    """A length does not keep the trailers from the client, and trailers without a status do
    not keep a status from it."""
    def says(head, body, trailers):
        def answer(c, s):
            c.until(lambda: s.ended)
            c.head(s, HEAD + head)
            c.send(s, body, trailers is None) if body else None
            c.head(s, trailers, True) if trailers else None
        return answer
    for name, head, body, trailers, code, runs in (
            ("a length, and trailers", [("content-length", "6")], MESSAGE,
             [("grpc-status", "0")], "0", 1),
            ("a length of 0, and a listed status in the trailers", [("content-length", "0")],
             b"", [("grpc-status", "14")], "14", 2),
            ("a length, and no trailers", [("content-length", "6")], MESSAGE, None, "2", 1),
            ("trailers without a status", [], MESSAGE, [("x-a", "b")], "2", 1)):
        o = http2.Origin(says(head, body, trailers))
        with proxied(o, policy=LISTED + ", attempts: 2") as p:
            c = http2.Client(p.port)
            a = c.get("POST", "/shop.Cart/Add", GRPC, MESSAGE)
            tap.case(f"{name}: {code}", a.trailers.get("grpc-status") == code and
                     a.body == body and o.seen.qsize() == runs, (a, o.seen.qsize()))
            c.close()


def silent_after_hold():
    """The head has been passed on, for nothing followed it; and then nothing does."""
    def answer(c, s):
        c.until(lambda: s.ended)
        c.head(s, HEAD)
        passed.wait(PATIENCE)
        c.send(s, b"", True)
    passed = threading.Event()
    o = http2.Origin(answer)
    with proxied(o, policy=LISTED) as p:
        c = http2.Client(p.port)
        s = c.ask("POST", "/shop.Cart/Add", GRPC, MESSAGE)
        c.until(lambda: s.status)
        passed.set()
        c.answer(s)
        tap.case("an answer that is a head, and later its end: UNKNOWN",
                 s.trailers.get("grpc-status") == "2" and s.ended, s)
        c.close()


def too_large():
    o = http2.Origin(lambda c, s: c.head(s, HEAD + [("x", "v" * 9000), ("y", "v" * 9000)]))
    with proxied(o, policy=LISTED) as p:
        e = ask(p)
        tap.case("a head that is too large, of an answer: RESOURCE_EXHAUSTED",
                 e.code == "RESOURCE_EXHAUSTED", repr(e))
    o = http2.Origin(lambda c, s: None)
    with proxied(o) as p:
        c = http2.Client(p.port)
        a = c.get("POST", "/shop.Cart/Add", GRPC, MESSAGE,
                  trailers=[(f"x{i}", "v") for i in range(101)])
        tap.case("trailers that are too large: RESOURCE_EXHAUSTED",
                 a.fields.get("grpc-status") == "8", a)
        for name, more in (("101 fields", [(f"x{i}", "v") for i in range(101)]),
                           ("17 KiB of them", [("x", "v" * 9000), ("y", "v" * 9000)])):
            a = c.get("POST", "/shop.Cart/Add", GRPC + more, MESSAGE)
            tap.case(f"{name}: RESOURCE_EXHAUSTED", a.fields.get("grpc-status") == "8" and
                     a.status == 200, a)
        c.close()


# ===== refusals of bide's own =====

def matches():
    def routes(match):
        return f", match: {{ grpc: {match} }}"
    for match, code in (("shop.Cart", "OK"), ("shop.Cart/Add", "OK"), ("shop.Car", "UNIMPLEMENTED"),
                        ("shop.Cart/Ad", "UNIMPLEMENTED"), ("shop.Cart/Addd", "UNIMPLEMENTED"),
                        ("shop.Carts", "UNIMPLEMENTED")):
        with Sides(fails(0), PLAIN, route=routes(match)) as (_, p):
            e = ask(p)
            tap.case(f"match: {{ grpc: {match} }} {code}", e.code == code, repr(e))
    with Sides(fails(0), PLAIN, route=routes("shop.Cart")) as (_, p):
        status, _, _ = p.request("POST", "/shop.Cart/Add", b"{}")
        tap.case("... takes nothing but gRPC", status == 404, status)


def refusals():
    with Sides(fails(0), PLAIN) as (server, p):
        p.reload(p.text.replace("upstream: up", "match: { path: /other }, upstream: up"))
        e = ask(p)
        tap.case("no route: UNIMPLEMENTED", e.code == "UNIMPLEMENTED" and server.runs == 0,
                 repr(e))
    with Sides(fails(0), PLAIN + ", breaker: { mode: forced_open }") as (server, p):
        e = ask(p)
        tap.case("an open breaker: UNAVAILABLE, with a pushback", e.code == "UNAVAILABLE" and
                 "grpc-retry-pushback-ms" in e.trailers and server.runs == 0 and
                 e.trailers.get("x-bide-reason") == "breaker_open", repr(e))

    gate = threading.Event()

    def waits(n, request, context):
        gate.wait(PATIENCE)
        return request
    with Sides(waits, PLAIN + ", limits: { in_flight: 1 }") as (server, p):
        with channel(p) as c:
            first = c.unary_unary("/shop.Cart/Add").future(b"x", timeout=PATIENCE)
            until(lambda: server.runs == 1)
            e = ask(p)
            gate.set()
            tap.case("over a cap: RESOURCE_EXHAUSTED", e.code == "RESOURCE_EXHAUSTED" and
                     first.result() == b"x", repr(e))


def trailers_only():
    """What is refused has a status, a message, and no more than that."""
    def breaks(c, s):
        c.until(lambda: s.ended)
        c.rst(s, 2)
    none = "budget: { ratio: 0%, floor: 0 }, breaker: { kind: off }"
    for name, handler, policy, more, code, pushback in (
            ("a deadline", lambda c, s: None, f"{PLAIN}, deadline: 200ms", [], "4", None),
            ("the client's deadline", lambda c, s: None, PLAIN,
             [("grpc-timeout", "200m")], "4", None),
            ("an empty budget", breaks, f"{FAST}, {none}", [], "14", "-1"),
            ("an open breaker", breaks, f"{PLAIN}, breaker: {{ mode: forced_open }}", [],
             "14", "-1")):
        o = http2.Origin(handler)
        with proxied(o, policy=policy, route=", idempotent: true") as p:
            c = http2.Client(p.port)
            a = c.get("POST", "/shop.Cart/Add", GRPC + more, MESSAGE)
            tap.case(f"{name}: {code}, trailers only, with a message",
                     (a.status, a.fields.get("grpc-status"), a.body, a.trailers) ==
                     (200, code, b"", {}) and a.fields.get("grpc-message") and
                     a.fields.get("grpc-retry-pushback-ms") == pushback, a)
            c.close()


def timeouts():
    left = []

    def slow(n, request, context):
        left.append(context.time_remaining())
        until(lambda: not context.is_active())
        return request
    with Sides(slow) as (server, p):
        e = ask(p, timeout=4)
        tap.case("the client's timeout ends it", e.code == "DEADLINE_EXCEEDED", repr(e))
        tap.case("... and the server knows it", until(lambda: left) and 0 < left[0] < 5, left)

    def quick(n, request, context):
        left.append(context.time_remaining())
        return request
    with Sides(quick) as (server, p):
        ask(p, timeout=3600)
        # gRPC's own clients round up: to 3610 s here, or to the minute.
        tap.case("a timeout of an hour stays one", 3000 < left[-1] <= 3660, left[-1])
        c = http2.Client(p.port)
        for bad in ("5", "S", "123456789S", "-1S", "1x", ""):
            a = c.get("POST", "/shop.Cart/Add", [
                ("content-type", "application/grpc"), ("te", "trailers"),
                ("grpc-timeout", bad)], b"\0\0\0\0\1x")
            tap.case(f"grpc-timeout: {bad!r} is INTERNAL, and named",
                     a.fields.get("grpc-status") == "13" and
                     "grpc-timeout" in a.fields.get("grpc-message", ""), repr(a))
        tap.case("... and reaches no server", server.runs == 1, server.runs)
        c.close()


# ===== streams of messages =====

def streams():
    def count(n, request, context):
        for i in range(3):
            yield request + b"%d" % i
    with Sides(count, kind="unary_stream") as (server, p), channel(p) as c:
        got = list(c.unary_stream("/shop.Cart/Add")(b"m", timeout=PATIENCE))
        tap.case("a stream of answers", got == [b"m0", b"m1", b"m2"], got)

    def join(n, requests, context):
        return b",".join(requests)
    with Sides(join, kind="stream_unary") as (server, p), channel(p) as c:
        e = Ended(lambda: c.stream_unary("/shop.Cart/Add")(iter([b"a", b"b", b"c"]),
                                                           timeout=PATIENCE))
        tap.case("a stream of requests", e.value == b"a,b,c", repr(e))

    with Sides(join, kind="stream_unary") as (server, p), channel(p) as c:
        def slowly():
            for m in (b"a", b"b", b"c"):
                yield m
                until(lambda: server.runs == 1)  # what came is with the server
        e = Ended(lambda: c.stream_unary("/shop.Cart/Add")(slowly(), timeout=PATIENCE))
        tap.case("... that comes piece by piece", e.value == b"a,b,c", repr(e))

    def echo(n, requests, context):
        for r in requests:
            yield r
    with Sides(echo, kind="stream_stream") as (server, p), channel(p) as c:
        heard = []
        more = threading.Semaphore(1)

        def asks():
            for i in range(5):
                more.acquire(timeout=PATIENCE)
                yield b"ping %d" % i
        for answer in c.stream_stream("/shop.Cart/Add")(asks(), timeout=PATIENCE):
            heard.append(answer)
            more.release()
        tap.case("questions that each wait for the answer before",
                 heard == [b"ping %d" % i for i in range(5)], heard)

    def greets(n, requests, context):
        context.send_initial_metadata((("x-hello", "yes"),))
        for r in requests:
            yield r
    with Sides(greets, kind="stream_stream") as (server, p), channel(p) as c:
        greeted = threading.Event()

        def asks_then():
            if greeted.wait(PATIENCE):
                yield b"now"
        call = c.stream_stream("/shop.Cart/Add")(asks_then(), timeout=PATIENCE)
        hello = dict(call.initial_metadata()).get("x-hello")
        greeted.set()
        tap.case("who waits for the metadata to go on sending has it at once",
                 hello == "yes" and list(call) == [b"now"], hello)


def streams_again():
    def join(n, requests, context):
        if n == 1:
            context.abort(grpc.StatusCode.UNAVAILABLE, "on purpose")
        return b",".join(requests)
    with Sides(join, kind="stream_unary") as (server, p), channel(p) as c:
        e = Ended(lambda: c.stream_unary("/shop.Cart/Add")(iter([b"a", b"b", b"c"]),
                                                           timeout=PATIENCE))
        tap.case("messages that were kept are sent again", e.value == b"a,b,c" and
                 server.runs == 2, f"{e} {server.runs}")
    big = [bytes(20000)] * 20
    with Sides(join, kind="stream_unary") as (server, p), channel(p) as c:
        sent = threading.Event()

        def asks():
            yield from big
            sent.set()
        e = Ended(lambda: c.stream_unary("/shop.Cart/Add")(asks(), timeout=PATIENCE))
        tap.case("more than limits.replay cannot be sent again, or was not sent yet",
                 e.code == "UNAVAILABLE" and server.runs == 1 or e.code == "OK", repr(e))


    def reads_all(n, requests, context):
        heard.append(sum(len(r) for r in requests))
        context.abort(grpc.StatusCode.UNAVAILABLE, "on purpose")
    heard = []
    with Sides(reads_all, kind="stream_unary") as (server, p), channel(p) as c:
        e = Ended(lambda: c.stream_unary("/shop.Cart/Add")(iter(big), timeout=PATIENCE))
        tap.case("more than limits.replay, all of it with the server: not_replayable",
                 e.code == "UNAVAILABLE" and heard == [400000] and
                 e.trailers.get("x-bide-reason") == "not_replayable", f"{e} {heard}")

    passed_on = threading.Event()

    def half(n, request, context):
        yield b"one"
        passed_on.wait(PATIENCE)  # a status beside the message would be read before that
        context.abort(grpc.StatusCode.UNAVAILABLE, "half way")
    with Sides(half, kind="unary_stream") as (server, p), channel(p) as c:
        got = []
        try:
            for m in c.unary_stream("/shop.Cart/Add")(b"x", timeout=PATIENCE):
                got.append(m)
                passed_on.set()
            code = "OK"
        except grpc.RpcError as e:
            code = e.code().name
        tap.case("after a message nothing is sent again", got == [b"one"] and
                 code == "UNAVAILABLE" and server.runs == 1, f"{got} {code} {server.runs}")


# ===== restarts =====

CALLS = int(os.environ.get("BIDE_GRPC_CALLS", "3000"))  # 20000: about half a minute
RELOADS = 50


def restarts():
    """One of two servers is restarted again and again, and the sidecar reloads: no call
    fails, and none runs twice."""
    ran, lock = {}, threading.Lock()

    def once(n, request, context):
        with lock:
            ran[request] = ran.get(request, 0) + 1
        return request
    stays, goes = Server(once), Server(once)
    # gRPC's core does not run what comes while it shuts down, and says CANCELLED.
    listed = LISTED.replace("UNAVAILABLE", "UNAVAILABLE, CANCELLED")
    p = Sidecar(config([stays.port, goes.port], listed))
    bad, over = [], threading.Event()

    def work(k):
        with channel(p) as c:
            add = c.unary_unary("/shop.Cart/Add")
            for i in range(k, CALLS, 8):
                e = Ended(lambda i=i: add(b"%d" % i, timeout=3 * PATIENCE))
                if e.code != "OK":
                    bad.append(repr(e))
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    reloads = restarted = 0
    while any(t.is_alive() for t in threads) or reloads < RELOADS:
        goes.server.stop(5).wait()
        goes = Server(once, port=goes.port)
        restarted += 1
        for _ in range(5):
            p.reload()
            reloads += 1
        over.wait(0.3)
    for t in threads:
        t.join()
    p.stop()
    stays.server.stop(0)
    goes.server.stop(0)
    tap.case(f"{CALLS} calls, a server restarted {restarted} times, {reloads} reloads: "
             "none fails", not bad, bad[:3])
    tap.case("... and none runs twice", len(ran) == CALLS and set(ran.values()) == {1},
             [x for x in ran.items() if x[1] != 1][:5])


def cancels():
    ended = threading.Event()

    def waits(n, request, context):
        context.add_callback(ended.set)
        until(ended.is_set)
        return request
    with Sides(waits) as (server, p), channel(p) as c:
        call = c.unary_unary("/shop.Cart/Add").future(b"x", timeout=PATIENCE)
        until(lambda: server.runs == 1)
        call.cancel()
        tap.case("a call that its client cancels is cancelled at the server",
                 ended.wait(PATIENCE))


run(examples, matches, unlisted, told_attempts, pushback, broken, foreign, framed,
    silent_after_hold, too_large, refusals, trailers_only, timeouts, streams, streams_again,
    restarts, cancels)
