#!/usr/bin/env python3
"""e2e_strict.py BIDE: what two servers could understand differently is understood
by neither: refused with 400, the connection closed, and nothing of it reaches the
origin. The same for answers, which become 502. Then header fields that belong to
one hop, and the limits."""
import re

from parts import (Answer, Origin, ask, connect, fields, get, ok, proxied, run,
                   says, tap)

POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
TE = POST + b"Transfer-Encoding: chunked\r\n\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
NAME = "1[.]1 bide-[0-9a-f]{8}"

# Each is followed by a request that must not be seen as one.
REQUESTS = {
    "a length and chunks": POST + b"Content-Length: 6\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": POST + b"Transfer-Encoding: chunked\r\n"
    b"Content-Length: 6\r\n\r\n0\r\n\r\n",
    "two lengths": POST + b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n",
    "the same length twice": POST + b"Content-Length: 3\r\n"
    b"Content-Length: 3\r\n\r\nabc",
    "two lengths in one line": POST + b"Content-Length: 3, 3\r\n\r\nabc",
    "a length with a plus": POST + b"Content-Length: +3\r\n\r\nabc",
    "a length with a minus": POST + b"Content-Length: -3\r\n\r\nabc",
    "a length in hex": POST + b"Content-Length: 0x3\r\n\r\nabc",
    "a length with a space in it": POST + b"Content-Length: 1 2\r\n\r\nabc",
    "a length with a fraction": POST + b"Content-Length: 3.0\r\n\r\nabc",
    "an empty length": POST + b"Content-Length: \r\n\r\nabc",
    "a length over 64 bits": POST +
    b"Content-Length: 18446744073709551619\r\n\r\nabc",
    "a length with a vertical tab": POST + b"Content-Length: \x0b3\r\n\r\nabc",
    "an encoding that is not known": POST + b"Transfer-Encoding: xchunked\r\n\r\n",
    "chunked, twice": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n"
    b"0\r\n\r\n",
    "chunked, in two lines": POST + b"Transfer-Encoding: chunked\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked, then identity": POST + b"Transfer-Encoding: chunked\r\n"
    b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "chunked, not last": POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n"
    b"0\r\n\r\n",
    "chunked in quotes": POST + b"Transfer-Encoding: \"chunked\"\r\n\r\n"
    b"0\r\n\r\n",
    "chunked behind a vertical tab": POST +
    b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "chunked with a NUL": POST + b"Transfer-Encoding: chunked\0\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": b"POST / HTTP/1.0\r\nHost: x\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": POST + b"Content-Length : 3\r\n\r\nabc",
    "a tab before the colon": POST + b"Transfer-Encoding\t: chunked\r\n\r\n"
    b"0\r\n\r\n",
    "a folded line": POST + b"X: a\r\n Content-Length: 3\r\n\r\nabc",
    "a first field that is folded": b"POST / HTTP/1.1\r\n Host: x\r\n\r\n",
    "a line without a colon": POST + b"Content-Length 3\r\n\r\n",
    "a field without a name": POST + b": 3\r\n\r\n",
    "a NUL in a value": POST + b"X: a\0b\r\n\r\n",
    "a NUL in a name": POST + b"X\0: a\r\n\r\n",
    "a CR in a value": POST + b"X: a\rContent-Length: 3\r\n\r\n",
    "bare LF after the request line": b"POST / HTTP/1.1\nHost: x\r\n\r\n",
    "bare LF after a field": POST + b"X: a\nY: b\r\n\r\n",
    "bare LF at the end of the head": POST + b"X: a\r\n\n",
    "bare LF before a request": b"\n" + POST + b"Content-Length: 0\r\n\r\n",
    "LF and LF before a request": b"\n\n\r\n" + POST + b"\r\n",
    "bare CR before a request": b"\r" + POST + b"\r\n",
    "two spaces in the request line": b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a tab in the request line": b"GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "a space before the method": b" GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a space in the target": b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
    "a NUL in the target": b"GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n",
    "no version": b"GET /\r\nHost: x\r\n\r\n",
    "a small http": b"GET / http/1.1\r\nHost: x\r\n\r\n",
    "a version of one digit": b"GET / HTTP/1\r\nHost: x\r\n\r\n",
    "a version of three digits": b"GET / HTTP/1.10\r\nHost: x\r\n\r\n",
    "no Host": b"GET / HTTP/1.1\r\n\r\n",
    "two Hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "a Host that is none": b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
    "a Host with a path": b"GET / HTTP/1.1\r\nHost: a/b@c\r\n\r\n",
    "a target that is no path": b"GET x HTTP/1.1\r\nHost: x\r\n\r\n",
    "a chunk size that is none": TE + b"zz\r\nabc\r\n0\r\n\r\n",
    "a chunk size with 0x": TE + b"0x3\r\nabc\r\n0\r\n\r\n",
    "a chunk size with a plus": TE + b"+3\r\nabc\r\n0\r\n\r\n",
    "a chunk size with a minus": TE + b"-3\r\nabc\r\n0\r\n\r\n",
    "a chunk size over 64 bits": TE + b"10000000000000003\r\nabc\r\n0\r\n\r\n",
    "an empty chunk size": TE + b"\r\nabc\r\n0\r\n\r\n",
    "a space before a chunk size": TE + b" 3\r\nabc\r\n0\r\n\r\n",
    "a chunk that is longer than it says": TE + b"3\r\nabcd\r\n0\r\n\r\n",
    "a chunk that ends in LF": TE + b"3\r\nabc\n0\r\n\r\n",
    "a chunk size that ends in LF": TE + b"3\nabc\r\n0\r\n\r\n",
    "LF in a chunk's extension": TE + b"3;a\nb\r\nabc\r\n0\r\n\r\n",
    "CR in a chunk's extension": TE + b"3;a\rb\r\nabc\r\n0\r\n\r\n",
    "LF in the trailers": TE + b"0\r\nX: a\n\r\n",
    "a folded trailer": TE + b"0\r\nX: a\r\n b\r\n\r\n",
    "TLS where there is none": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" +
    b"\0" * 32 + b"\r\n\r\n",
    "a preface of HTTP/2 that is none": b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
}


def requests():
    o = Origin(says(ok()))
    with proxied(o) as p:
        for what, data in REQUESTS.items():
            c = connect(p)
            c.send(data + SMUGGLED)
            a = Answer(c)
            rest = c.all()
            statuses = (400, 505) if "version" in what or "HTTP/2" in what else (
                400, 501) if "not known" in what else (400,)
            tap.case(f"refused: {what}", a.status in statuses and rest == b"" and
                     a.fields.get("connection") == "close",
                     (data, a, rest))
        seen = [h for h in o.heads if b"/smuggled" in h]
        tap.case("and nothing was smuggled", not seen, seen)
        tap.case("nor did a half of them get through as a whole",
                 all(b"chunked" in h.lower() for h in o.heads), o.heads)
        a = ask(p, b"\r\n" + get())
        tap.case("one empty line before a request is passed over",
                 a.status == 200, a)


ANSWERS = {
    "a length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
    b"Content-Length: 5\r\n\r\nokabc",
    "a length with a plus": b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
    "bare LF": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "a folded line": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n"
    b"Content-Length: 2\r\n\r\nok",
    "a space before the colon": b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
    "a NUL": b"HTTP/1.1 200 OK\r\nX: \0\r\nContent-Length: 2\r\n\r\nok",
    "a status of two digits": b"HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok",
    "a status of four digits": b"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok",
    "a status of 99": b"HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok",
    "another protocol": b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n\r\n",
    "HTTP/2": b"\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80\0\x04\0\1\0\0\r\n\r\n",
    "zeros": b"\0" * 4096,
    "a head without end": b"HTTP/1.1 200 OK\r\n" + b"X: " + b"a" * 100000,
    "fields without end": b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 20000,
    "an unknown encoding": b"HTTP/1.1 200 OK\r\n"
    b"Transfer-Encoding: rot13, chunked, x\r\n\r\n0\r\n\r\n",
}


def answers():
    for what, data in ANSWERS.items():
        o = Origin(says(data))
        with proxied(o) as p:
            a = ask(p, get())
            tap.case(f"no answer: {what}", a.status == 502 and
                     a.fields.get("content-type") == "application/problem+json"
                     and a.fields.get("x-bide-attempts") == "1" and
                     a.fields.get("x-bide-reason") == "permanent", a)
    # Bytes behind an answer are nobody's: the next request must not get them.
    o = Origin(says(ok(b"one") + ok(b"poison"), ok(b"two")))
    with proxied(o) as p:
        c = connect(p)
        c.send(get("/1"))
        first = Answer(c)
        c.send(get("/2"))
        second = Answer(c)
        tap.case("what follows an answer is not the next one",
                 first.body == b"one" and second.body == b"two",
                 (first, second))
    # A chunked body that breaks: the client must not take it for whole.
    for what, bad in [("a bad chunk", b"2\r\nok\r\nzz\r\n"),
                      ("a chunk that is cut off", b"5\r\nok"),
                      ("no last chunk", b"2\r\nok\r\n")]:
        def talk(o, peer, bad=bad):
            o.request(peer)
            peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                      bad)
        o = Origin(talk)
        with proxied(o) as p:
            c = connect(p)
            c.send(get("/", b"Connection: close\r\n"))
            data = c.all()
            tap.case(f"an answer broken by {what} does not look whole",
                     not data.endswith(b"0\r\n\r\n"), data)


def hop_by_hop():
    o = Origin(says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                    b"Connection: keep-alive, X-Theirs\r\nX-Theirs: 1\r\n"
                    b"Keep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n"
                    b"X-Kept: 1\r\n\r\nok"))
    with proxied(o) as p:
        a = ask(p, get("/", b"Connection: X-Mine, keep-alive , , X-Other\r\n"
                       b"Connection: X-Third\r\nX-Mine: 1\r\nX-Other: 2\r\n"
                       b"x-third: 3\r\nKeep-Alive: 5\r\nTE: trailers, deflate\r\n"
                       b"Proxy-Connection: keep-alive\r\nUpgrade: h2c\r\n"
                       b"X-Kept: 4\r\nCookie: a=b\r\n"))
        f = fields(o.heads[0])
        for name in ("connection", "x-mine", "x-other", "x-third", "keep-alive",
                     "te", "proxy-connection", "upgrade"):
            tap.case(f"a request's {name} stays on its hop", name not in f or
                     (name == "te" and f[name] == "trailers"), f)
        tap.case("other fields go on", f["x-kept"] == "4" and f["cookie"] == "a=b",
                 f)
        for name in ("x-theirs", "keep-alive", "proxy-connection"):
            tap.case(f"an answer's {name} stays on its hop",
                     name not in a.fields, a)
        tap.case("others come back", a.fields["x-kept"] == "1", a)
        for name in (b"Content-Length", b"Host", b"Transfer-Encoding"):
            c = connect(p)
            c.send(get("/", b"Connection: " + name + b"\r\n"
                       b"Content-Length: 44\r\n", b"PUT") + SMUGGLED)
            a = Answer(c)
            tap.case(f"Connection cannot take {name.decode()} away",
                     a.status == 400 and c.all() == b"" and len(o.heads) == 1,
                     (a, o.heads))


def forwarded():
    rows = [("", "", {"x-forwarded-for": "127.0.0.1", "via": NAME,
                      "x-forwarded-proto": "http", "x-forwarded-host": None}),
            ("for: append", "  trusted: [127.0.0.1]\n",
             {"x-forwarded-for": "6.6.6.6, 127.0.0.1"}),
            ("for: replace", "  trusted: [127.0.0.1]\n",
             {"x-forwarded-for": "127.0.0.1"}),
            ("for: off, proto: false, via: false", "",
             {"x-forwarded-for": None, "x-forwarded-proto": None, "via": None}),
            ("host: true", "", {"x-forwarded-host": "x.example"})]
    for options, trusted, want in rows:
        o = Origin(says(ok()))
        with proxied(o, more=trusted + f"  forwarded: {{ {options} }}\n") as p:
            a = ask(p, get("/", b"X-Forwarded-For: 6.6.6.6\r\n"
                           b"X-Forwarded-Proto: https\r\n"
                           b"X-Forwarded-Host: evil.example\r\n"))
            f = fields(o.heads[0])
            if trusted:  # what a trusted client says may stand
                want = {k: v for k, v in want.items() if k == "x-forwarded-for"}
            tap.case(f"forwarded: {options or 'by default'}"
                     f"{', trusted' if trusted else ''}",
                     all(f.get(k) == v or (k == "via" and v and
                                           re.fullmatch(v, f[k]))
                         for k, v in want.items()), (f, want))
            tap.case("and Via on the answer", ("via" in a.fields) ==
                     ("via: false" not in options), a)
    o = Origin(says(ok()))
    with proxied(o) as p:
        ask(p, get("/", b"Via: 1.0 first\r\n"))
        tap.case("Via is added to", re.fullmatch(
            "1.0 first, " + NAME, fields(o.heads[0])["via"]), o.heads)


def limits():
    o = Origin(says(ok()))
    more = ("  limits: { headers: 20, header_bytes: 2KiB, body_bytes: 1000 }\n")
    with proxied(o, more=more, log=True) as p:
        for what, data, statuses in [
                ("too many fields", get("/", b"A: b\r\n" * 30), (431,)),
                ("a field that is too long", get("/", b"A: " + b"b" * 3000 +
                                                 b"\r\n"), (431,)),
                ("fields that are too long together",
                 get("/", (b"A: " + b"b" * 200 + b"\r\n") * 15), (431,)),
                ("a target that is too long", get("/" + "a" * 3000), (414, 431)),
                ("a method without end", b"A" * 5000, (400, 414, 431, 501)),
                ("a body that is too long", get("/", b"Content-Length: 1001\r\n",
                                                b"PUT"), (413,)),
                ("chunks that are too long",
                 get("/", b"Transfer-Encoding: chunked\r\n", b"PUT") +
                 b"3e9\r\n" + b"x" * 1001 + b"\r\n0\r\n\r\n", (413,)),
                ("a length that is huge", get("/", b"Content-Length: "
                                              b"9223372036854775807\r\n",
                                              b"PUT"), (413,))]:
            c = connect(p)
            c.send(data + SMUGGLED)  # perhaps amid the body
            a = Answer(c)
            tap.case(f"{what}: {' or '.join(map(str, statuses))}, and closed",
                     a.status in statuses and c.all() == b"" and
                     (a.status != 413 or
                      a.fields["x-bide-reason"] == "body_too_large"), a)
        a = ask(p, get("/", b"Content-Length: 1000\r\n", b"PUT") + b"x" * 1000)
        tap.case("just what is allowed is allowed", a.status == 200, a)
        tap.case("nothing behind a refused body is taken for a request",
                 not any(b"/smuggled" in h for h in o.heads), o.heads)
        tap.case("and only what is allowed reached the origin",
                 [len(b) for b in o.bodies if len(b) == 1000] == [1000] and
                 not [b for b in o.bodies if len(b) > 1000],
                 [len(b) for b in o.bodies])
        _, log = p.stop()
        tap.case("and each that is too large is logged so", [
            x["reason"] for x in log if x["status"] == 413] ==
            ["body_too_large"] * 3, log)


def trailers():
    """Those that are longer than a head may be, in a sidecar whose buffers are
    only a little longer than that."""
    long = b"0\r\n" + b"X-T: " + b"v" * 5000 + b"\r\n\r\n"
    chunks = b"Transfer-Encoding: chunked\r\n"
    o = Origin(says(b"HTTP/1.1 200 OK\r\n" + chunks + b"\r\n5\r\nhello\r\n" +
                    long))
    for replay in ("64KiB", "0"):
        with proxied(o.port, more="  limits: { header_bytes: 1KiB, "
                     f"replay: {replay} }}\n") as p:
            c = connect(p)
            c.send(get("/", chunks, b"PUT") + b"5\r\nhello\r\n" + long)
            a = Answer(c)
            tap.case(f"trailers that are too long, replay {replay}: 431, and "
                     "closed", a.status == 431 and c.all() == b"", a)
            c = connect(p)
            c.send(get("/", b"Connection: close\r\n"))
            tap.case("and an answer with such is not passed on, nor waited "
                     "for", b"X-T" not in c.all())
    o.stop()


run(requests, answers, hop_by_hop, forwarded, limits, trailers)
