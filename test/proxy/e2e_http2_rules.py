#!/usr/bin/env python3
"""e2e_http2_rules.py BIDE: the rules of RFC 9113, a row each (test/net/http2_rules.txt),
against `bide proxy`, by a client that sends raw frames. What is wrong ends its stream
or its connection as the table says, no endpoint sees a malformed request, and where
only the stream ends the next one is served. Then limits, reached and just not
reached."""
import os

import h2raw
import tap
from parts import Origin, all_gone, counted, ok, proxied, run

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "net",
                     "http2_rules.txt")


def talk(origin, peer):
    """Answers at once, but not what is asked for at /wait."""
    while head := origin.request(peer):
        if b" /wait" in head.split(b"\r\n")[0]:
            peer.head()  # until the sidecar hangs up
            return
        if not peer.send(ok()):
            return


def rules():
    with proxied(Origin(talk)) as p:
        for name, frames, expected in h2raw.rules(TABLE):
            raw = h2raw.Raw(p.port)
            raw.send(h2raw.frames(frames))
            came = h2raw.outcome(raw.ping())
            tap.case(name, came == expected, f"{came}; expected {expected}")
            if not came.startswith("goaway"):
                answer = raw.get(101)
                tap.case(f"{name}: the next request is served",
                         answer == (200, b"ok"), answer)
            raw.close()


def counts():
    """Connections that a client ended are not among those that we closed with an error."""
    with proxied(Origin(talk), more="  admin: 127.0.0.1:0\n") as p:
        raw = h2raw.Raw(p.port)
        raw.send(h2raw.frame(1, 1, 5, h2raw.request(b"GET", b"/") + h2raw.field(b"A", b"b")))
        raw.get(3)  # one stream is malformed, the other is not
        raw.close()
        h2raw.Raw(p.port).close()
        raw = h2raw.Raw(p.port)
        raw.send(h2raw.frame(6, 1, 0, bytes(8)))
        raw.until(lambda f: f[0] == "GOAWAY")
        raw.close()
        tap.case("a client that leaves has not failed; one that breaks a rule has",
                 all_gone(p) and (counted(p, "http2_clients"), counted(p, "http2_failed")) ==
                 (3, 1), counted(p, "http2_failed"))


def malformed():
    """Requests whose head is wrong: none of them gets any further."""
    with proxied(origin := Origin(talk)) as p:
        rows = [row for row in h2raw.rules(TABLE)
                if row[2] == "reset 1 PROTOCOL_ERROR" and ";" not in row[1]]
        for _, frames, _ in rows:
            raw = h2raw.Raw(p.port)
            raw.send(h2raw.frames(frames))
            raw.ping()
            raw.close()
        h2raw.Raw(p.port).get(1)
        tap.case(f"no endpoint has seen any of {len(rows)} malformed requests",
                 len(origin.heads) == 1 and len(rows) > 60, origin.heads)


def flood(p, one, most):
    """So many are taken, and one more is not."""
    for n, expected in ((most, "fine"), (most + 1, "goaway ENHANCE_YOUR_CALM")):
        raw = h2raw.Raw(p.port)
        data = b"".join(one(i) for i in range(n))
        for at in range(0, len(data), 2000):
            raw.send(data[at:at + 2000])
        # The PING itself counts.
        came = h2raw.outcome(f for f in raw.ping() if f[0] != "RST_STREAM")
        yield n, came == expected, came
        raw.close()


def limits():
    ping = h2raw.frame(6, 0, 0, bytes(8))
    bad = h2raw.request(b"GET", b"/") + h2raw.field(b"A", b"b")
    head = h2raw.request(b"GET", b"/wait")
    kinds = {
        "control frames": (lambda i: ping, 30 - 1),
        "errors": (lambda i: h2raw.frame(1, 2 * i + 1, 5, bad), 20),
        "resets": (lambda i: h2raw.frame(1, 2 * i + 1, 5, head) +
                   h2raw.frame(3, 2 * i + 1, 0, b"\0\0\0\x08"), 15),
    }
    # So few that none comes back while they are sent.
    more = "  http2: { control: 30, errors: 20, resets: 15 }"
    with proxied(Origin(talk), more=more) as p:
        for name, (one, most) in kinds.items():
            for n, right, came in flood(p, one, most):
                tap.case(f"{n} {name}, {most} allowed", right, came)


def streams():
    with proxied(Origin(talk), more="  http2: { streams: 5 }") as p:
        raw = h2raw.Raw(p.port)
        head = h2raw.request(b"GET", b"/wait")
        for i in range(5):
            raw.send(h2raw.frame(1, 2 * i + 1, 5, head))
        tap.case("5 streams of 5", h2raw.outcome(raw.ping()) == "fine")
        raw.send(h2raw.frame(1, 11, 5, head))
        came = h2raw.outcome(raw.ping())
        tap.case("a sixth is refused", came == "reset 11 REFUSED_STREAM", came)
        raw.close()


def heads():
    with proxied(Origin(talk)) as p:
        for what, fields in (("too many fields", [(b"a", b"b")] * 120),
                             ("too many bytes", [(b"a", b"b" * 8000)] * 3)):
            raw = h2raw.Raw(p.port)
            block = h2raw.request(b"GET", b"/") + b"".join(
                h2raw.field(*f) for f in fields)
            raw.send(h2raw.frame(1, 1, 1, block[:16000]) +
                     h2raw.frame(9, 1, 4, block[16000:]))
            seen = raw.until(lambda f: f[2] == 1)
            tap.case(f"{what}: 431", seen and seen[-1][0] == "HEADERS" and
                     h2raw.status(seen[-1][3]) == 431, seen[-2:])
            answer = raw.get(3)
            tap.case(f"{what}: the next request is served",
                     answer == (200, b"ok"), answer)
            raw.close()


run(rules, counts, malformed, limits, streams, heads)
