#!/usr/bin/env python3
"""e2e_forged.py BIDE: what clients say that is not theirs to say: whom a request came
from, fields that decide here and are then taken away, names of hosts that go round a
route, bodies that become the request of somebody else."""
import json

import sidecar
from parts import (Origin, ask, end, fields, get, ok, proxied, run, says, tap)

FORWARDED = ("For", "Host", "Proto", "Client-Cert", "Port", "Prefix", "Scheme", "Ssl",
             "Server", "Proto-Version", "By")
FORGED = b"".join(b"X-Forwarded-%s: forged\r\n" % name.encode()
                  for name in FORWARDED) + \
    b"X-FORWARDED-PORT: forged\r\nx-forwarded-: forged\r\nX-Real-IP: forged\r\n" \
    b"Forwarded: for=forged\r\nX-Forwarder: kept\r\nX-Real-IPs: kept\r\n"


def forwarded():
    for trusted in (False, True):
        o = Origin(says(ok()))
        with proxied(o, more="  trusted: [127.0.0.1]\n" if trusted else "") as p:
            a = ask(p, get("/", FORGED))
            f = fields(o.heads[0])
            forged = sorted(n for n in f if "forged" in f[n])
            if trusted:
                tap.case("who is trusted may say from whom it came", {
                    "x-real-ip", "forwarded", "x-forwarded-port", "x-forwarded-",
                    "x-forwarded-ssl", "x-forwarded-host"} <= set(forged), f)
            else:
                tap.case("who is not may not, by whatever name", a.status == 200 and
                         not forged and f["x-forwarded-for"] == "127.0.0.1", forged)
            tap.case("other names are nobody's business", f["x-forwarder"] == "kept"
                     and f["x-real-ips"] == "kept", f)
            chunked = get("/", b"Transfer-Encoding: chunked\r\n", b"PUT")
            for name in (b"X-Forwarded-Port", b"X-Real-IP"):
                a = ask(p, chunked + b"1\r\nx\r\n0\r\n" + name + b": 1\r\n\r\n")
                tap.case("a trailer cannot bring them either", a.status == 400 and
                         a.fields["x-bide-reason"] == "trailer", a)


def guarded_by(match, up, guarded, more=""):
    """A route with that condition to one origin, and one for the rest."""
    return sidecar.Sidecar(sidecar.config([up.port], more=more).replace(
        "  routes:\n", f"""  routes:
    - {{ match: {{ {match} }}, upstream: two }}
""").replace("  upstreams:\n", f"""  upstreams:
    two: {{ endpoints: "http://127.0.0.1:{guarded.port}" }}
"""), log=True)


def named_by_connection():
    up, guarded = Origin(says(ok(b"up"))), Origin(says(ok(b"two")))
    p = guarded_by("header: X-Internal", up, guarded)
    tap.case("a field decides the route",
             ask(p, get("/", b"X-Internal: 1\r\n")).body == b"two")
    for more in (b"X-Internal: 1\r\nConnection: X-Internal\r\n",
                 b"Connection: close, x-internal\r\nX-Internal: 1\r\n"):
        a = ask(p, get("/", more))
        tap.case("but not one that Connection takes away", a.body == b"up" and
                 "x-internal" not in fields(up.heads[-1]), (a, up.heads))
    end(p)
    up.stop()
    guarded.stop()


def request_id():
    o = Origin(says(ok()))
    p = sidecar.Sidecar(sidecar.config([o.port], more="  request_id: generate\n"),
                        log=True)
    ask(p, get("/", b"X-Request-Id: forged\r\nConnection: X-Request-Id\r\n"))
    ask(p, get("/", b"X-Request-Id: mine\r\n"))
    sidecar.ended("ids", p)
    o.stop()
    sent = [fields(h).get("x-request-id") for h in o.heads]
    with open(p.log, encoding="utf-8") as f:
        logged = [json.loads(x).get("request_id") for x in f]
    tap.case("an id that Connection takes away is none: one is made", sent[0] and
             sent[0] != "forged", sent)
    tap.case("and one that is kept is kept", sent[1] == "mine", sent)
    tap.case("the log has what the origin has", logged == sent, (logged, sent))


def final_dot():
    up, guarded = Origin(says(ok(b"up"))), Origin(says(ok(b"two")))
    for match in ("host: pay.example", "host: '*.example'"):
        p = guarded_by(match, up, guarded)
        for host in (b"pay.example", b"pay.example.", b"PAY.example.:80"):
            a = ask(p, b"GET / HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
            tap.case(f"{match}: {host} is that host, and goes on as it came",
                     a.body == b"two" and host in guarded.heads[-1], a)
        for host in (b"pay.example..", b"example.", b"."):
            a = ask(p, b"GET / HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
            tap.case(f"{match}: {host} is not", a.body != b"two", a)
        end(p)
    up.stop()
    guarded.stop()


def deaf(origin, peer):
    """Takes no request to have a body, and what follows a head for the next."""
    while head := peer.head():
        origin.heads.append(head)
        path = head.split(b" ")[1]
        body = b"" if head.startswith(b"HEAD") else path
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(path) + body)


INNER = b"GET /evil HTTP/1.1\r\nX: "


def body_that_is_not_read():
    for method in (b"GET", b"HEAD", b"DELETE", b"OPTIONS", b"TRACE"):
        for more, body in (
                (b"Content-Length: %d\r\n" % len(INNER), INNER),
                (b"Transfer-Encoding: chunked\r\n",
                 b"%x\r\n%s\r\n0\r\n\r\n" % (len(INNER), INNER))):
            o = Origin(deaf)
            with proxied(o) as p:
                ask(p, get("/a", more, method) + body, method.decode())
                a = ask(p, get("/victim"))
                tap.case(f"{method}, {more}: the next one gets its own answer",
                         a.status == 200 and a.body == b"/victim" and
                         o.connections == 2, (a, o.heads, o.connections))
    o = Origin(says(ok()))
    with proxied(o) as p:
        for data in (get(), get("/", b"Content-Length: 0\r\n", b"DELETE"),
                     get("/", b"Content-Length: 1\r\n", b"POST") + b"x", get()):
            ask(p, data)
        tap.case("others share a connection as before", len(o.heads) == 4 and
                 o.connections == 1, o.connections)


run(forwarded, named_by_connection, request_id, final_dot, body_that_is_not_read)
