#!/usr/bin/env python3
"""e2e_endpoints.py BIDE: which endpoint gets a request: names, health checks,
ejection and its limit, bounds of the pools."""
import http.client
import os
import threading
import time

import sidecar
from fault import Fault
from parts import Origin, ok, run, tap, until
from sidecar import OPEN, Sidecar, config


class Named(Origin):
    """Answers with its own name; is ill, or fails, when told so."""

    def __init__(self, name, port=0, address="127.0.0.1"):
        self.name, self.ill, self.fails = name, False, False
        self.checks = self.requests = self.at_once = self.most = 0
        self.lock, self.wait = threading.Lock(), 0
        super().__init__(Named.answer, port, address)

    def answer(self, peer):
        while head := peer.head():
            check = b" /health " in head or b" /health?deep=1 " in head
            with self.lock:
                self.checks += check
                self.requests += not check
                self.at_once += not check
                self.most = max(self.most, self.at_once)
            time.sleep(0 if check else self.wait)
            with self.lock:
                self.at_once -= not check
            bad = self.ill if check else self.fails
            peer.send(ok(self.name.encode(), status=b"503 No" if bad else b"200 OK"))


def answered_by(p, n=20):
    return {p.request()[2] for _ in range(n)}


def health():
    a, b = Named("a"), Named("b")
    p = Sidecar(config([a.port, b.port], upstream=", health: { "
                       "path: /health?deep=1, every: 100ms, timeout: 100ms, "
                       "unhealthy: 2, healthy: 2 }, slow_start: 0s"))
    tap.case("both endpoints are asked how they are",
             until(lambda: a.checks > 1 and b.checks > 1))
    tap.case("and both get requests", until(lambda: len(answered_by(p)) == 2))
    a.ill = True
    tap.case("one that is ill gets none",
             until(lambda: answered_by(p) == {b"b"}))
    b.ill = True
    seen = b.checks
    until(lambda: b.checks > seen + 4)
    tap.case("but the last one is used, ill or not",
             b"b" in answered_by(p, 40))
    a.ill = b.ill = False
    tap.case("one that is well again comes back",
             until(lambda: len(answered_by(p)) == 2))
    sidecar.ended("health", p)


def ejection():
    origins = [Named(str(i)) for i in range(4)]
    text = config([o.port for o in origins], OPEN + ", attempts: 1",
                  upstream=", ejection: { consecutive: 3, open: 1h, "
                  "max_ejected: 50% }, slow_start: 0s")
    for o in origins[:3]:
        o.fails = True
    p = Sidecar(text)
    for _ in range(100):
        p.request()
    before = [o.requests for o in origins]
    for _ in range(50):
        p.request()
    used = [o.requests - n for o, n in zip(origins, before)]
    tap.case("of three that fail two are out, and no more",
             sum(n > 0 for n in used[:3]) == 1 and used[3] > 0, used)
    sidecar.ended("ejection", p)
    p = Sidecar(text.replace("open: 1h", "open: 200ms"))
    for _ in range(100):
        p.request()
    for o in origins:
        o.fails = False
    tap.case("all come back", until(lambda: len(answered_by(p)) == 4))
    sidecar.ended("coming back", p)


def pools():
    a = Named("a")
    a.wait = 0.05
    p = Sidecar(config([a.port], upstream=", pool: { connections: 2, "
                       "connecting: 1 }"))
    got = []
    threads = [threading.Thread(target=lambda: got.append(p.request()[0]))
               for _ in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    tap.case("no more connections than allowed, and all are served",
             got == [200] * 12 and a.most <= 2, (got, a.most))
    sidecar.ended("pools", p)


def names():
    text = config([fault.ports["http"]])
    p = Sidecar(text.replace("http://127.0.0.1", "http://localhost"))
    tap.case("an endpoint may have a name", p.request(path="/s/200")[0] == 200)
    sidecar.ended("names", p)
    p = Sidecar(text.replace("http://127.0.0.1", "http://nowhere.invalid"))
    status, head, body = p.request(path="/s/200")
    tap.case("one that is not known (yet) is a failure like others",
             status == 502 and head["x-bide-attempts"] == "4" and b"dns" in body,
             (status, head, body))
    tap.case("and was told of at the start",
             any("nowhere.invalid" in line for line in p.said), p.said)
    p.stop()


class Name:
    """An endpoint's name, and the addresses that it has."""

    def __init__(self, *addresses):
        self.file = os.path.join(sidecar.work.name, "hosts")
        self.now_is(*addresses)

    def now_is(self, *addresses):
        with open(self.file + ".new", "w", encoding="ascii") as f:
            f.writelines(f"moves.example {a}\n" for a in addresses)
        os.rename(self.file + ".new", self.file)

    def is_asked_for(self):
        """Waits for a question after this, and for all that came of it: the
        next one."""
        def asked():
            return os.path.getsize(self.file + ".asked")
        before = asked()
        until(lambda: asked() >= before + 2)

    def sidecar(self, port):
        text = config([port], upstream=", resolve: 100ms")
        return Sidecar(text.replace("http://127.0.0.1", "http://moves.example"),
                       environment={"LD_PRELOAD": os.environ["BIDE_FAKE_DNS"],
                                    "BIDE_TEST_HOSTS": self.file})


def names_move():
    """One client, on a connection of its own, so that bide could always use the
    connection to the endpoint that it has."""
    a = Named("a")
    b = Named("b", a.port, "127.0.0.2")
    name = Name("127.0.0.1")
    p = name.sidecar(a.port)
    c = http.client.HTTPConnection("127.0.0.1", p.port, timeout=30)

    def says():
        c.request("GET", "/")
        return c.getresponse().read()

    tap.case("a name leads to its address", says() == b"a")
    name.now_is("127.0.0.2")
    tap.case("and to the next, when it has moved", until(lambda: says() == b"b"))
    tap.case("to that alone", {says() for _ in range(20)} == {b"b"})
    name.now_is()
    name.is_asked_for()
    tap.case("it stays where it was while nobody knows it", says() == b"b")
    name.now_is("127.0.0.2", "127.0.0.1")
    name.is_asked_for()
    kept = {says() for _ in range(20)}
    tap.case("a further address breaks no connection to the first",
             kept == {b"b"}, kept)
    c.close()
    sidecar.ended("names_move", p)
    name = Name()
    p = name.sidecar(a.port)
    lost = p.request()[0]
    name.now_is("127.0.0.1")
    tap.case("a name that is not known at first is asked for again",
             lost == 502 and until(lambda: p.request()[2] == b"a"), lost)
    p.stop()


def hosts(**lines):
    """Writes what names mean; `silent` is no answer at all."""
    file = os.path.join(sidecar.work.name, "names")
    with open(file + ".new", "w", encoding="ascii") as f:
        f.writelines(f"{name}.example {address}\n"
                     for name, address in lines.items())
    os.rename(file + ".new", file)
    return {"LD_PRELOAD": os.environ["BIDE_FAKE_DNS"], "BIDE_TEST_HOSTS": file}


def silent_config(port, resolve="100ms", more="", slow="10s"):
    return f"""
version: 1
policies: {{ default: {{ {OPEN}, attempt_timeout: {slow} }} }}
proxy:
  listen: 127.0.0.1:0
  telemetry: {{ otlp: "http://quiet.example:{port}", metrics: 100ms }}
  routes:
    - {{ match: {{ path: /quiet }}, upstream: quiet }}
    - {{ match: {{ path: /both }}, upstream: both }}
    - {{ upstream: well }}
  upstreams:
    quiet: {{ endpoints: ["http://quiet.example:{port}"], resolve: {resolve} {more} }}
    both: {{ endpoints: ["http://quiet.example:{port}", "http://127.0.0.1:{port}"] }}
    well: {{ endpoints: ["http://well.example:{port}"], resolve: {resolve} {more} }}
"""


def silent_names():
    """A name server that says nothing about one name delays nothing else."""
    a = Named("a")
    b = Named("b", a.port, "127.0.0.2")
    known = hosts(quiet="silent", well="127.0.0.1")
    p = Sidecar(silent_config(a.port), environment=known)
    tap.case("it listens, and serves others", p.request()[0] == 200)
    tap.case("the other endpoint of an upstream is used",
             [p.request(path="/both")[0] for _ in range(10)] == [200] * 10)
    got = []
    waiting = threading.Thread(
        target=lambda: got.append(p.request(path="/quiet")))
    waiting.start()
    said = p.reload(silent_config(a.port, more=", body_timeout: 7s"))
    tap.case("a reload is not held up", "reloaded" in said and
             p.request()[0] == 200, said)
    hosts(quiet="silent", well="127.0.0.2")
    tap.case("other names are followed", until(lambda: p.request()[2] == b"b"))
    hosts(quiet="silent", well="silent")
    said = p.reload(silent_config(a.port))
    tap.case("addresses that were known stay", "reloaded" in said and
             p.request()[2] == b"b", said)
    waiting.join()
    hosts(quiet="127.0.0.1", well="127.0.0.2")
    tap.case("a name that speaks at last is used",
             until(lambda: p.request(path="/quiet")[2] == b"a"), got)
    hosts(quiet="silent", well="silent")
    sidecar.ended("silent_names", p)

    hosts(quiet="silent", well="127.0.0.1")
    p = Sidecar(silent_config(a.port), environment=known)
    waiting = threading.Thread(
        target=lambda: got.append(p.request(path="/quiet")))
    del got[:]
    waiting.start()
    p.request()
    hosts(quiet="127.0.0.1", well="127.0.0.1")
    waiting.join()
    tap.case("a request that came first waits for the name",
             got[0][0] == 200 and got[0][1]["x-bide-attempts"] == "1", got)
    sidecar.ended("waiting for a name", p)

    hosts(quiet="silent", well="127.0.0.1")
    p = Sidecar(silent_config(a.port, slow="50ms"), environment=known)
    got = p.request(path="/quiet")
    tap.case("and not longer than an attempt may take", got[0] == 502 and
             b"dns" in got[2], got)
    hosts(quiet="127.0.0.1", well="127.0.0.1")
    tap.case("and is served when it is known",
             until(lambda: p.request(path="/quiet")[0] == 200))
    sidecar.ended("an attempt's time", p)


def names_again():
    """A lookup that failed is repeated sooner than `resolve`."""
    a = Named("a")
    Named("b", a.port, "127.0.0.2")
    known = hosts(quiet="127.0.0.1", well="127.0.0.1")
    p = Sidecar(silent_config(a.port, "1h"), environment=known)
    first = p.request()[2]
    hosts(quiet="127.0.0.1")
    asked = os.path.getsize(known["BIDE_TEST_HOSTS"] + ".asked")
    p.reload()
    until(lambda: os.path.getsize(known["BIDE_TEST_HOSTS"] + ".asked") >
          asked + 2)
    stays = p.request()[2]
    hosts(quiet="127.0.0.1", well="127.0.0.2")
    tap.case("a name that failed is asked for again, soon",
             until(lambda: p.request()[2] == b"b"))
    tap.case("and has stayed where it was", first == stays == b"a",
             (first, stays))
    sidecar.ended("names_again", p)


fault = Fault()
run(health, ejection, pools, names, names_move, silent_names, names_again)
