#!/usr/bin/env python3
"""hygiene.py BIDE: fields that mean something else to the origin than to us, and
requests that go in circles."""
import origins
import payloads
from attack import (ADMIN, FAST, OPEN, Answer, Origin, Sidecar, ask, attacked,
                    config, connect, ended, fields, free_port, get, ok, run,
                    says, series, tap)

FORGED = {"X_Forwarded_For": "10.9.8.7", "X_Real_IP": "10.9.8.7",
          "x_forwarded_proto": "https", "Content_Length": "5",
          "X-Forwarded_Host": "evil.example", "_": "x", "A_B": "c",
          "X_Bide_Attempt": "3", "Proxy": "http://evil.example",
          "PROXY": "http://evil.example", "pRoXy": "http://evil.example"}


def names():
    o = Origin(says(ok()))
    with attacked(o, policy=OPEN) as p:
        for name, value in FORGED.items():
            a = ask(p, get("/", f"{name}: {value}\r\nX-Kept: yes\r\n".encode()))
            seen = fields(o.heads[-1]) if o.heads else {}
            tap.case(f"{name} does not reach the origin", a.status == 200 and
                     name.lower() not in seen and seen.get("x-kept") == "yes",
                     (a, seen))
            o.heads.clear()
        ask(p, get("/", b"Proxy-Connection: x\r\nX-Proxy: y\r\n"
                   b"Proxy_Authorization: z\r\n"))
        seen = fields(o.heads[-1])
        tap.case("names that only look like it are kept", seen.get("x-proxy") ==
                 "y", seen)


def trailers():
    """Nor do they in trailers, which may be refused for them."""
    o = Origin(says(ok()))
    with attacked(o, policy=OPEN) as p:
        a = ask(p, get("/", b"Transfer-Encoding: chunked\r\n", b"PUT") +
                b"3\r\nabc\r\n0\r\nX_Forwarded_For: 10.9.8.7\r\n"
                b"Proxy: evil\r\n\r\n")
        seen = b"".join(o.heads + o.bodies)
        tap.case("nor do they in trailers", a.status in (200, 400) and
                 b"X_Forwarded_For" not in seen and b"evil" not in seen, seen)


def kept_by_choice():
    o = Origin(says(ok()))
    with attacked(o, policy=OPEN, more="  headers: { underscores: true }\n") as p:
        ask(p, get("/", b"A_B: c\r\n"))
        tap.case("`headers.underscores` keeps them", b"A_B: c" in o.heads[-1],
                 o.heads)


def smuggled():
    """To a server that takes one for the other, an underscore name is a way to
    smuggle."""
    o = origins.Careless("chunks")
    with attacked(o, policy=OPEN + ", attempts: 1") as p:
        for _, _, text in payloads.underscores():
            c = connect(p)
            c.send(text.replace("{P}", "/p").replace("{E}", "/ev").encode())
            Answer(c)
            c.close()
        victim = ask(p, get("/victim"))
        tap.case("nothing is smuggled by an underscore", "/ev" not in o.seen() and
                 victim.body == b"/victim", (o.seen(), victim))


def max_forwards():
    o = Origin(says(ok()))
    with attacked(o, policy=OPEN) as p:
        for method in (b"OPTIONS", b"TRACE"):
            a = ask(p, get("/", b"Max-Forwards: 0\r\nAuthorization: secret\r\n"
                           b"Cookie: secret\r\n", method))
            tap.case(f"{method.decode()} with Max-Forwards: 0 is answered here",
                     200 <= a.status < 500 and not o.heads, (a, o.heads))
            tap.case("without what is secret", b"secret" not in a.body, a)
            o.heads.clear()
        for given, seen in ((b"1", "0"), (b"7", "6")):
            a = ask(p, get("/", b"Max-Forwards: " + given + b"\r\n", b"OPTIONS"))
            got = fields(o.heads[-1]).get("max-forwards") if o.heads else None
            tap.case(f"Max-Forwards: {given.decode()} is {seen} at the origin",
                     got == seen, (a, o.heads))
        a = ask(p, get("/", b"Max-Forwards: 0\r\n"))
        tap.case("for other methods it means nothing", a.status == 200, a)
        for wrong in (b"-1", b"x", b"99999999999999999999"):
            o.heads.clear()
            a = ask(p, get("/", b"Max-Forwards: " + wrong + b"\r\n", b"OPTIONS"))
            tap.case(f"Max-Forwards: {wrong.decode()} does no harm", a.status in
                     (200, 400), a)


def text(port, to):
    return config([to], policy=FAST, more=ADMIN).replace(
        "listen: 127.0.0.1:0", f"listen: 127.0.0.1:{port}")


def loops():
    mine = free_port()
    p = Sidecar(text(mine, mine))
    a = ask(p, get())
    tap.case("a sidecar in front of itself: 508, and says `loop`",
             a.status == 508 and a.fields.get("x-bide-reason") == "loop", a)
    n = series(p, "bide_proxy_requests_total") or series(p, "bide_calls_total")
    tap.case("and it does not go round for long", n <= 20, n)
    tap.case("it ends", ended(p) == 0)
    one, two = free_port(), free_port()
    p, q = Sidecar(text(one, two)), Sidecar(text(two, one))
    a = ask(p, get())
    tap.case("two in a circle: 508", a.status == 508, a)
    tap.case("they end", ended(p) == 0 and ended(q) == 0)


def chains():
    """Several in a row are no circle."""
    o = Origin(says(ok()))
    row, port = [], o.port
    for _ in range(4):
        row.append(Sidecar(config([port], policy=FAST)))
        port = row[-1].port
    a = ask(row[-1], get("/", b"Via: 1.1 bide, 1.0 other (bide), 1.1 bide\r\n"))
    tap.case("four in a row are no circle, whatever a client says of its way",
             a.status == 200, a)
    for p in row:
        tap.case("it ends", ended(p) == 0)
    o.stop()


run(names, trailers, kept_by_choice, smuggled, max_forwards, loops, chains)
